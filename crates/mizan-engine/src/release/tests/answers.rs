//! Answers: columns, order, conditions, notes.

use mizan_sql::{AggregateName, Expr, Function, Groups, Note, Order, QuantileRank, RankTarget};

use super::super::noise_plan::{NoisePlan, StatisticMechanism};
use super::super::released::{Group, NoisyCell, Released};
use super::super::{AnswerCell, ChoiceReason, answer, choose};
use super::*;

/// Noise of known scale around given numbers.
fn released(plan: &BoundedPlan, groups: &[(&str, i64, i64)]) -> (NoisePlan, Released) {
    let gaussian = |sigma: f64| StatisticMechanism::Gaussian {
        sigma,
        sensitivity: 1,
    };
    let mut noise_plan = choose(plan, &request(1.0, 1e-6)).unwrap();
    noise_plan.noise.mechanisms = vec![gaussian(5.0), gaussian(5.0), gaussian(800.0)];
    let group = |&(key, n, s): &(&str, i64, i64)| Group {
        key: text(key),
        cells: vec![
            NoisyCell::Integer(n),
            NoisyCell::Integer(n),
            NoisyCell::Integer(s),
        ],
    };
    let released = Released {
        noise: noise_plan.noise.clone(),
        groups: groups.iter().map(group).collect(),
    };
    (noise_plan, released)
}

fn public() -> BoundedPlan {
    let keys = ["a", "b", "c", "d"].map(text).to_vec();
    plan(
        Some(Groups::Public(keys)),
        1,
        statistics(1)[..3].to_vec(),
        vec![count(), sum(), mean()],
    )
}

fn interval(cell: &AnswerCell) -> (f64, f64, f64) {
    let AnswerCell::Estimate {
        value,
        low: Some(low),
        high: Some(high),
    } = cell
    else {
        panic!("{cell:?}");
    };
    (
        low.as_f64().unwrap(),
        value.as_f64().unwrap(),
        high.as_f64().unwrap(),
    )
}

#[test]
fn values_and_intervals() {
    let plan = public();
    let (noise_plan, released) = released(
        &plan,
        &[
            ("a", 100, -4000),
            ("b", -7, 50),
            ("c", 3, 4000),
            ("d", -90, 0),
        ],
    );
    let answer = answer(&plan, &noise_plan, &released).unwrap();
    let [a, b, c, d] = &answer.rows[..] else {
        panic!("four rows");
    };
    assert_eq!(a[0], AnswerCell::Key(Value::Text("a".into())));
    // The half width of discrete Gaussian noise of sigma 5 is 10.
    assert_eq!(interval(&a[1]), (90.0, 100.0, 110.0));
    let (low, value, high) = interval(&a[2]);
    assert_eq!(value, 100.0 * 100.0 - 500.0);
    // 1.96 √((800/8)² + (5·100)²), and half a step of each lattice.
    let half = 1.96 * 100.0_f64.hypot(500.0) + 50.0 + 1.0;
    assert!((value - low - half).abs() < 1.0 && (high - value - half).abs() < 1.0);
    let (low, value, high) = interval(&a[3]);
    assert_eq!(value, 95.0);
    // The noise of the sum over 100 rows: 1.96 · 100 / 100, and slightly more.
    assert!(
        low < 93.1 && low > 92.5 && high > 96.8 && high < 97.5,
        "{low} {high}"
    );
    // Counts are not negative, and the mean of a group that may be empty has the whole range.
    assert_eq!(interval(&b[1]), (0.0, 0.0, 10.0));
    assert_eq!(interval(&b[3]), (0.0, 100.0, 200.0));
    assert_eq!(interval(&c[3]), (0.0, 200.0, 200.0));
    // Noise far below zero does not make a count look exact.
    assert_eq!(interval(&d[1]), (0.0, 0.0, 10.0));
}

#[test]
fn conditions_order_and_limits_come_after_noise() {
    let mut plan = public();
    let (noise_plan, released) = released(
        &plan,
        &[("a", 10, 0), ("b", 50, 0), ("c", 30, 0), ("d", 50, 0)],
    );
    let n = Expr::column(1);
    plan.output.having = Some(Expr::call(
        Function::Greater,
        [n.clone(), Expr::integer(10)],
    ));
    plan.output.order = vec![
        Order {
            expression: n,
            descending: true,
            nulls_first: false,
        },
        Order {
            expression: Expr::column(0),
            descending: true,
            nulls_first: false,
        },
    ];
    let names = |plan: &BoundedPlan| -> Vec<String> {
        let rows = answer(plan, &noise_plan, &released).unwrap().rows;
        rows.iter()
            .map(|row| match row[0].value() {
                Value::Text(name) => name.clone(),
                other => panic!("{other:?}"),
            })
            .collect()
    };
    assert_eq!(names(&plan), ["d", "b", "c"]);
    let notes = |plan: &BoundedPlan| answer(plan, &noise_plan, &released).unwrap().notes;
    assert_eq!(notes(&plan), [Note::SelectedByNoise]);
    assert!(notes(&public()).is_empty());
    plan.output.offset = 1;
    plan.output.limit = Some(1);
    assert_eq!(names(&plan), ["b"]);
    plan.output.offset = u64::MAX;
    assert!(names(&plan).is_empty());
}

#[test]
fn notes_say_what_is_missing() {
    let mut plan = plan(
        Some(Groups::Private),
        3,
        statistics(1),
        vec![quantile(0.5), quantile(1.0)],
    );
    plan.notes.push(Note::DiscoveredGroups);
    let noise_plan = choose(&plan, &request(1.0, 1e-6)).unwrap();
    let released = Released {
        noise: noise_plan.noise.clone(),
        groups: Vec::new(),
    };
    let answer = answer(&plan, &noise_plan, &released).unwrap();
    assert_eq!(answer.notes.len(), 4);
    assert_eq!(answer.notes[0], Note::DiscoveredGroups);
    assert!(matches!(
        answer.notes[1],
        Note::ThresholdedGroups { threshold } if threshold > 0
    ));
    let ranks = answer.notes[2..].iter().map(|note| match note {
        Note::QuantileRank(rank) => rank.clone(),
        other => panic!("{other:?}"),
    });
    let ranks: Vec<QuantileRank> = ranks.collect();
    assert_eq!(ranks[0].aggregate, AggregateName::Column("a0".into()));
    assert_eq!(ranks[0].target, RankTarget::Quantile);
    assert!(matches!(ranks[1].target, RankTarget::FromGreatest(_)));
    assert!(ranks[1].before_ordering);
    assert_eq!(answer.columns, ["city", "a0", "a1"]);
    let why = noise_plan.why();
    let reasons: Vec<_> = ranks.into_iter().map(ChoiceReason::QuantileRank).collect();
    assert_eq!(why[why.len() - 2..], reasons);
}
