//! Random plans with row limits in some places, and with units clipped.

use mizan_sql::{
    BoundedPlan, Column, Expr, GroupBounding, Groups, Key, MAX_CONTRIBUTION, Measure, Operator,
    Relation, Type, Value,
};

use super::Rng;

/// Clips units in most plans that allow it. From many others, removes what prevents it:
/// statistics that are not sums over units, and keys that hardly any unit has.
pub(crate) fn clipped(rng: &mut Rng, plan: BoundedPlan) -> BoundedPlan {
    let mut sums = plan.clone();
    let columns = plan.relation.columns.iter().enumerate();
    let integer = |(place, column): &(usize, &Column)| {
        column.kind == Type::Integer && !plan.relation.unit.contains(place)
    };
    if let Some((place, _)) = columns.into_iter().find(integer)
        && rng.chance(60)
    {
        let values = (-2..5).map(Value::Integer).chain([Value::Null]);
        sums.keys = vec![Key {
            name: "k0".to_owned(),
            expression: Expr::Column(place),
            kind: Type::Integer,
        }];
        sums.groups = Groups::Public(values.map(|value| vec![value]).collect());
        sums.group_bounding = GroupBounding::SampleGroups;
    }
    if rng.chance(70) {
        sums.statistics.retain(|statistic| {
            !matches!(
                statistic.measure,
                Measure::Distinct(_) | Measure::Histogram(..)
            )
        });
    }
    let clipped = sums.clipped().filter(|plan| !plan.statistics.is_empty());
    clipped.filter(|_| rng.chance(67)).unwrap_or(plan)
}

/// In many plans, sums over a public list of groups that no unit can exceed, with contribution
/// bounds close to the rows of people: the case in which light units are not bounded one by
/// one.
pub(crate) fn uncapped(rng: &mut Rng, mut plan: BoundedPlan) -> BoundedPlan {
    let columns = plan.relation.columns.iter().enumerate();
    let integer = |(place, column): &(usize, &Column)| {
        column.kind == Type::Integer && !plan.relation.unit.contains(place)
    };
    let key = columns.into_iter().find(integer).map(|(place, _)| place);
    let (Some(place), true) = (
        key,
        plan.group_bounding != GroupBounding::ClipL2 && rng.chance(60),
    ) else {
        return plan;
    };
    let mut statistics = plan.statistics.clone();
    statistics.retain(|statistic| {
        !matches!(
            statistic.measure,
            Measure::Units | Measure::Distinct(_) | Measure::Histogram(..)
        )
    });
    if statistics.is_empty() {
        return plan;
    }
    for statistic in &mut statistics {
        let rows = 2 + rng.below(6) as i64;
        let (least, most) = match &mut statistic.measure {
            Measure::Sum(_, how) => how.range(),
            Measure::Scaled(_, how, of) => {
                *of = rows;
                how.range()
            }
            _ => (0, 1),
        };
        let spare = rng.below(2) as i64;
        statistic.low = (rows * least.min(0) - spare).max(-MAX_CONTRIBUTION);
        statistic.high = (rows * most.max(0) + spare).min(MAX_CONTRIBUTION);
    }
    let values = (-2..5).map(Value::Integer).chain([Value::Null]);
    let groups: Vec<Vec<Value>> = values.map(|value| vec![value]).collect();
    plan.keys = vec![Key {
        name: "k0".to_owned(),
        expression: Expr::Column(place),
        kind: Type::Integer,
    }];
    plan.groups_per_unit = groups.len() as u64;
    plan.groups = Groups::Public(groups);
    plan.group_bounding = GroupBounding::NotNeeded;
    plan.statistics = statistics;
    plan
}

/// Adds row limits in some places of a plan.
pub(crate) fn first_rows(rng: &mut Rng, mut plan: BoundedPlan) -> BoundedPlan {
    fn limit(rng: &mut Rng, relation: &mut Relation) {
        for input in relation.inputs_mut() {
            limit(rng, input);
        }
        if relation.unit.is_empty() || rng.chance(70) {
            return;
        }
        let places = 0..relation.columns.len();
        let read = places.filter(|place| relation.unit.contains(place) || rng.chance(70));
        *relation = Relation {
            operator: Operator::LimitRowsPerUnit {
                read: read.collect(),
                rows: 1 + rng.below(4) as u64,
                input: Box::new(relation.clone()),
            },
            ..relation.clone()
        };
    }
    limit(rng, &mut plan.relation);
    plan
}
