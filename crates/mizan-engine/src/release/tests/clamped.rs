//! Intervals at natural bounds: for all noise they have a positive width, contain the shown
//! value, and lie within the range of the statistic.

use mizan_sql::{Expr, Function, Groups, OutputColumn};
use proptest::prelude::*;

use super::super::interval::Interval;
use super::super::noise_plan::{NoisePlan, StatisticMechanism, Threshold};
use super::super::released::{Group, NoisyCell, Released};
use super::super::{AnswerCell, answer, choose};
use super::*;

fn aggregates() -> Vec<Aggregate> {
    let mut all = vec![count(), Aggregate::Count { of: 0 }, sum(), mean()];
    for (sample, root) in [(false, false), (true, false), (false, true), (true, true)] {
        all.push(variance(sample, root));
    }
    all
}

/// A plan of one group, with a column that clamps a sum at zero.
fn plan_of(groups: Groups) -> BoundedPlan {
    let mut plan = plan(Some(groups), 1, statistics(1)[..4].to_vec(), aggregates());
    let zero = Expr::Literal(Value::number(0.0), Type::Number);
    plan.output.columns.push(OutputColumn {
        name: "positive".into(),
        expression: Expr::call(Function::Greatest, [Expr::column(3), zero]),
        kind: Type::Number,
    });
    plan
}

/// A release of these noisy integers, with noise of a given family and size.
fn released(
    plan: &BoundedPlan,
    gaussian: bool,
    size: f64,
    noisy: &[i64],
    threshold: Option<u64>,
) -> (NoisePlan, Released) {
    let mut noise_plan = choose(plan, &request(1.0, 1e-6)).unwrap();
    let mechanism = |sensitivity: u64| {
        let scale = size * sensitivity as f64;
        if gaussian {
            StatisticMechanism::Gaussian {
                sigma: scale,
                sensitivity,
            }
        } else {
            StatisticMechanism::Laplace { scale, sensitivity }
        }
    };
    noise_plan.noise.mechanisms = [1, 1, 800, 2500].map(mechanism).to_vec();
    noise_plan.noise.threshold = threshold.map(|above| Threshold { above, delta: 1e-9 });
    let released = Released {
        noise: noise_plan.noise.clone(),
        groups: vec![Group {
            key: text("a"),
            cells: noisy.iter().map(|&n| NoisyCell::Integer(n)).collect(),
        }],
    };
    (noise_plan, released)
}

/// The natural range of each column.
const RANGES: [(f64, f64); 9] = [
    (0.0, f64::INFINITY),
    (0.0, f64::INFINITY),
    (f64::NEG_INFINITY, f64::INFINITY),
    (0.0, 200.0),
    (0.0, 10_000.0),
    (0.0, 20_000.0),
    (0.0, 100.0),
    (0.0, 142.0),
    (0.0, f64::INFINITY),
];

fn check(
    plan: &BoundedPlan,
    noise_plan: &NoisePlan,
    released: &Released,
) -> Result<(), TestCaseError> {
    let answer = answer(plan, noise_plan, released).unwrap();
    for (place, cell) in answer.rows[0].iter().skip(1).enumerate() {
        let AnswerCell::Estimate { value, low, high } = cell else {
            panic!("{cell:?}");
        };
        let number = |value: &Value| value.as_f64().unwrap();
        let (low, high) = (low.as_ref().map(number), high.as_ref().map(number));
        let (Some(low), Some(high)) = (low, high) else {
            panic!("{place}: {cell:?}");
        };
        let value = number(value);
        prop_assert!(low < high, "{place} has no width: {low} {high}");
        prop_assert!(low <= value && value <= high, "{place}: {cell:?}");
        let (least, most) = RANGES[place];
        prop_assert!(least <= low && high <= most, "{place}: {cell:?}");
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// For any outcome of the noise, of any positive size.
    #[test]
    fn intervals_keep_their_width(
        gaussian: bool,
        size in 1.0..1000.0_f64,
        units in -200_000_i64..200_000,
        rows in -200_000_i64..200_000,
        sum in -200_000_000_i64..200_000_000,
        squares in -500_000_000_i64..500_000_000,
    ) {
        let plan = plan_of(Groups::Public(vec![text("a")]));
        let (noise_plan, released) = released(&plan, gaussian, size, &[units, rows, sum, squares], None);
        check(&plan, &noise_plan, &released)?;
    }

    /// The same for private groups whose unit count is above the threshold.
    #[test]
    fn intervals_of_shown_groups_keep_their_width(
        gaussian: bool,
        size in 1.0..100.0_f64,
        above in 1_u64..3000,
        more in 1_i64..3000,
        rows in -5000_i64..5000,
        sum in -5_000_000_i64..5_000_000,
        squares in -9_000_000_i64..9_000_000,
    ) {
        let plan = plan_of(Groups::Private);
        let units = i64::try_from(above).unwrap() + more;
        let noisy = [units, rows, sum, squares];
        let (noise_plan, released) = released(&plan, gaussian, size, &noisy, Some(above));
        check(&plan, &noise_plan, &released)?;
    }

    /// The clamped interval contains the intersection of the interval with the natural range.
    #[test]
    fn clamping_keeps_coverage(
        estimate in -100.0..100.0_f64,
        below in 0.001..100.0_f64,
        above in 0.001..100.0_f64,
        least in -20.0..0.0_f64,
        most in 0.001..20.0_f64,
        at in 0.0..1.0_f64,
    ) {
        let truth = least + at * (most - least);
        let (low, high) = (estimate - below, estimate + above);
        let interval = Interval::clamped((low, high), estimate, (least, most)).unwrap();
        prop_assert!(interval.low < interval.high);
        prop_assert!(least <= interval.low && interval.high <= most);
        let shown = estimate.clamp(least, most);
        prop_assert!(interval.low <= shown + 1e-9 && shown <= interval.high + 1e-9);
        if low <= truth && truth <= high {
            prop_assert!(interval.low <= truth && truth <= interval.high);
        }
    }
}
