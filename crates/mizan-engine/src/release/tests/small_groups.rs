//! Quantiles of groups with very few rows: NULL where the release shows it, a note where
//! nothing does.

use mizan_sql::{AggregateName, Groups, Note, QuantileRank, RankTarget, Share};

use super::super::noise_plan::StatisticMechanism;
use super::super::quantile_target::QuantileTarget;
use super::super::{Answer, AnswerCell, Released, answer, choose, release};
use super::*;

const QUANTILES: [f64; 4] = [0.0, 0.5, 0.9, 1.0];

/// Two groups with the given numbers of rows.
fn answered(statistics: &[Statistic], aggregates: &[Aggregate], rows: [usize; 2]) -> Answer {
    let keys = ["a", "b"].map(text);
    let groups = Groups::Public(keys.to_vec());
    let plan = plan(Some(groups), 1, statistics.to_vec(), aggregates.to_vec());
    let noise_plan = choose(&plan, &request(1.0, 1e-6)).unwrap();
    let first = 5 - statistics.len();
    let exact: ExactAggregates = keys
        .into_iter()
        .zip(rows)
        .filter(|(_, rows)| *rows > 0)
        .map(|(key, rows)| (key, cells(&people(rows))[first..].to_vec()))
        .collect();
    let released = release(&noise_plan, &plan, &exact).unwrap();
    let bytes = released.to_bytes(usize::MAX).unwrap();
    assert_eq!(Released::from_bytes(&bytes).unwrap(), released);
    answer(&plan, &noise_plan, &released).unwrap()
}

fn is_null(cell: &AnswerCell) -> bool {
    let AnswerCell::Estimate { value, low, high } = cell else {
        panic!("{cell:?}");
    };
    if value.is_null() {
        let ends = (Some(Value::number(0.0)), Some(Value::number(200.0)));
        assert_eq!((low, high), (&ends.0, &ends.1), "all of the bounds");
    } else {
        assert_eq!((low, high), (&None, &None));
    }
    value.is_null()
}

/// An empty group and one of 20,000 rows. The count of the empty one and its unit count would
/// both have to exceed `ln(20 N)` > 10 scales of their noise: probability 10⁻¹⁸ for each of
/// 1,200 values.
#[test]
fn an_empty_group_has_no_quantiles() {
    let mut aggregates = vec![count()];
    aggregates.extend(QUANTILES.map(quantile));
    for _ in 0..300 {
        let answer = answered(&statistics(1), &aggregates, [0, 20_000]);
        assert!(answer.rows[0][2..].iter().all(is_null));
        assert!(!answer.rows[1][2..].iter().any(is_null));
        assert_eq!(answer.ranks.iter().filter(|rank| rank.is_some()).count(), 4);
        let note = Note::TooFewRows {
            aggregate: AggregateName::Column("a2".into()),
            groups: Some(Share { count: 1, all: 2 }),
        };
        assert!(answer.notes.contains(&note));
        let unknown = |note: &Note| matches!(note, Note::QuantileRank(rank) if !rank.count_known);
        assert!(!answer.notes.iter().any(unknown));
    }
}

/// Without a count nothing says how many rows there are: the value is shown, with a note that
/// it may be arbitrary.
#[test]
fn without_a_count_a_note_says_it() {
    let aggregates = [Aggregate::Quantile {
        histogram: 0,
        at: 0.5,
        kind: Type::Number,
    }];
    let answer = answered(&statistics(1)[4..], &aggregates, [0, 20_000]);
    assert!(!answer.rows.iter().any(|row| is_null(&row[1])));
    let error = answer.ranks[1].unwrap();
    assert!(error.rows > 10 && error.arbitrary_up_to == 2 * error.rows);
    let note = Note::QuantileRank(QuantileRank {
        aggregate: AggregateName::Column("a0".into()),
        rows: error.rows,
        target: RankTarget::Quantile,
        equal_rows: None,
        before_ordering: false,
        arbitrary_up_to: error.arbitrary_up_to,
        count_known: false,
    });
    assert_eq!(answer.notes, [note]);
}

/// A tree releases its number of rows. The empty one would need noise of 8 standard deviations
/// at its root, which has a probability below 7 · 10⁻¹⁰ by Chernoff's inequality.
#[test]
fn an_empty_tree_has_no_quantiles() {
    let aggregates: Vec<Aggregate> = (1..40)
        .map(|place| Aggregate::Quantile {
            histogram: 0,
            at: f64::from(place) / 40.0,
            kind: Type::Number,
        })
        .collect();
    let answer = answered(&statistics(1)[4..], &aggregates, [0, 100_000]);
    assert!(answer.rows[0][1..].iter().all(is_null));
    assert!(!answer.rows[1][1..].iter().any(is_null));
}

/// Up to the stated group size all ranks are within the rank error; with one more row they are
/// not.
#[test]
fn arbitrary_means_that_every_rank_is_in_reach() {
    for error in [1, 7, 40] {
        let targets = [
            QuantileTarget::fraction(1, 2),
            QuantileTarget::fraction(9, 10),
            QuantileTarget::fraction(1, 4),
            QuantileTarget::FromLow(error),
            QuantileTarget::FromHigh(error),
        ];
        for target in targets {
            let reaches_all = |rows: u64| {
                let target = match target {
                    QuantileTarget::Fraction { a, b } => a as f64 * rows as f64 / b as f64,
                    QuantileTarget::FromLow(k) => k as f64,
                    QuantileTarget::FromHigh(k) => rows as f64 - k as f64,
                };
                target - error as f64 <= 1e-9 && target + error as f64 >= rows as f64 - 1e-9
            };
            let limit = target.covered_by(error);
            assert!((0..=limit).all(reaches_all), "{target:?} {error}");
            assert!(!reaches_all(limit + 1), "{target:?} {error}");
        }
    }
}

/// Stored trees of versions that did not store the number of rows are still read.
#[test]
fn trees_of_earlier_versions_are_read() {
    let aggregates: Vec<Aggregate> = (1..40).map(|at| quantile(f64::from(at) / 40.0)).collect();
    let plan = plan(None, 1, statistics(1), aggregates);
    let noise_plan = choose(&plan, &request(1.0, 1e-6)).unwrap();
    assert!(matches!(
        noise_plan.noise.mechanisms[4],
        StatisticMechanism::Tree { .. }
    ));
    let released = release(&noise_plan, &plan, &one_group(&people(50_000))).unwrap();
    let mut json: serde_json::Value =
        serde_json::from_slice(&released.to_bytes(usize::MAX).unwrap()).unwrap();
    let cell = &mut json["groups"][0]["cells"][4];
    *cell = cell["values"].clone();
    let old = Released::from_bytes(json.to_string().as_bytes()).unwrap();
    let rows = |released: &Released| answer(&plan, &noise_plan, released).unwrap().rows;
    assert_eq!(rows(&old), rows(&released));
}
