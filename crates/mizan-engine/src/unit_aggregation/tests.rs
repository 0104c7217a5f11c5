//! The value has everything that a plan says about its integers, and survives serialisation.

use super::*;
use crate::audit::parity::Case;

/// The statistics of a plan, from its aggregation alone.
fn statistics(aggregation: &UnitAggregation) -> Vec<Statistic> {
    let value = |place: usize| {
        let RowValue {
            expression,
            quantized,
        } = aggregation.values[place].clone();
        (expression, quantized)
    };
    let with_steps = |place: usize| {
        let (expression, quantized) = value(place);
        (expression, quantized.unwrap())
    };
    let of = |statistic: &GroupStatistic| match *statistic {
        GroupStatistic::Sum(place) => {
            let Contribution { of, low, high } = aggregation.contributions[place];
            let measure = match of {
                ContributionKind::Unit => Measure::Units,
                ContributionKind::Rows => Measure::Rows,
                ContributionKind::Count(place) => Measure::Count(value(place).0),
                ContributionKind::Sum(place) => {
                    let (expression, how) = with_steps(place);
                    Measure::Sum(expression, how)
                }
                ContributionKind::Scaled(place, rows) => {
                    let (expression, how) = with_steps(place);
                    Measure::Scaled(expression, how, rows)
                }
            };
            Statistic { measure, low, high }
        }
        GroupStatistic::Values(statistic) => {
            let measure = match statistic.measure {
                ValueMeasure::Distinct => Measure::Distinct(value(statistic.value).0),
                ValueMeasure::Histogram => {
                    let (expression, how) = with_steps(statistic.value);
                    Measure::Histogram(expression, how)
                }
            };
            let high = statistic
                .limit
                .map_or(i64::MAX, |most| i64::try_from(most).unwrap());
            let low = 0;
            Statistic { measure, low, high }
        }
    };
    aggregation.statistics.iter().map(of).collect()
}

/// The oracle reads the aggregation, not the plan: so the aggregation must have lost nothing.
#[test]
fn an_aggregation_determines_what_the_plan_computes() {
    for seed in 0..2_000 {
        let plan = Case::of(seed).plan;
        let aggregation = UnitAggregation::of(&plan).unwrap();
        let one_row = plan.relation.one_row_per_unit;
        let found = statistics(&aggregation);
        assert_eq!(found.len(), plan.statistics.len(), "seed {seed}");
        for (mut found, expected) in found.into_iter().zip(&plan.statistics) {
            if found.high == i64::MAX {
                assert!(one_row && expected.high >= 1, "seed {seed}");
                found.high = expected.high;
            }
            assert_eq!(&found, expected, "seed {seed}");
        }
        let BoundedPlan {
            relation,
            keys,
            groups,
            groups_per_unit,
            group_bounding,
            ..
        } = plan;
        assert_eq!(aggregation.input, relation);
        assert_eq!(aggregation.keys, keys);
        match (&aggregation.groups, &groups) {
            (Groups::Public(found), Groups::Public(expected)) => {
                assert!(found.is_sorted() && expected.iter().all(|one| found.contains(one)));
                assert!(found.iter().all(|one| expected.contains(one)));
            }
            (found, expected) => assert_eq!(found, expected),
        }
        let expected = match group_bounding {
            GroupBounding::SampleGroups if !one_row => UnitBounding::SampleGroups(groups_per_unit),
            GroupBounding::SampleGroups | GroupBounding::NotNeeded => UnitBounding::NotNeeded,
            GroupBounding::ClipL2 => UnitBounding::ClipL2(groups_per_unit),
        };
        assert_eq!(aggregation.bounding, expected);
        let bytes = postcard::to_allocvec(&aggregation).unwrap();
        let read: UnitAggregation = postcard::from_bytes(&bytes).unwrap();
        assert_eq!(read, aggregation);
    }
}

#[test]
fn an_aggregation_is_shown_as_a_tree() {
    let catalogue = crate::engines::test_queries::catalogue();
    let sql = "SELECT ward, COUNT(*), AVG(cost), COUNT(DISTINCT note) FROM visits \
               WHERE age > 17 AND note LIKE 'a%' GROUP BY ward";
    let plan = mizan_sql::plan(sql, &catalogue).unwrap();
    let shown = UnitAggregation::of(&plan).unwrap().explain().to_string();
    println!("{shown}");
    for part in [
        "by ward: 4 public groups\n",
        "statistic 1: rows; each unit's contribution is clamped to [0, 4]\n",
        "distinct values of note, at most 4 of each unit (sampled)\n",
        "of a unit in more than 2 groups 2 are sampled\n",
        "note LIKE 'a%'",
        "rows of visits: person, ward, cost, age, ",
    ] {
        assert!(shown.contains(part), "{part}\n{shown}");
    }
}
