//! Known failures of other systems with noise and thresholds, and tests that they cannot happen
//! here. The others are in `crates/mizan-cli/tests/peers_failures.rs`.

use mizan_sql::Groups;

use super::super::noise_plan::StatisticMechanism;
use super::super::{choose, release};
use super::*;

/// OpenDP 0.16 ignored in δ the probability that the noise is exactly at the threshold.
#[test]
fn opendp_threshold_mass_at_tau() {
    let units = statistics(1)[..1].to_vec();
    let plan = plan(
        Some(Groups::Private),
        1,
        units,
        vec![Aggregate::Count { of: 0 }],
    );
    let noise_plan = choose(&plan, &request(1.0, 1e-6)).unwrap();
    let StatisticMechanism::Truncated { epsilon, delta } = noise_plan.noise.mechanisms[0] else {
        panic!("{noise_plan:?}");
    };
    // A unit alone in its group is shown if 1 + noise > τ: noise of τ itself is enough.
    let above = noise_plan.noise.threshold.unwrap().above;
    let mass = |noise: u64| (-epsilon * noise as f64).exp();
    let total = 2.0 * (0..=above).map(mass).sum::<f64>() - 1.0;
    let at_tau = mass(above) / total;
    assert!(at_tau > 0.0 && at_tau <= delta, "{at_tau} {delta}");
    assert!(delta <= 0.5e-6);
    // It is nearly all of δ: without it, the claimed δ would be about zero.
    assert!(at_tau > delta / 4.0, "{at_tau} {delta}");
}

/// OpenDP 0.16 added counts of a tree in 32 bits, which overflowed.
#[test]
fn opendp_i32_wrap_in_a_tree() {
    const MANY: i64 = 1 << 33;
    // No fraction is at a third, where one value ends and the next begins.
    let fractions: Vec<f64> = (1..40).map(|place| f64::from(place) / 40.0).collect();
    let quantiles = fractions.iter().map(|at| quantile(*at)).collect();
    let plan = plan(None, 1, statistics(1), quantiles);
    let noise_plan = choose(&plan, &request(2.0, 1e-6)).unwrap();
    assert!(matches!(
        noise_plan.noise.mechanisms[4],
        StatisticMechanism::Tree { .. }
    ));
    let mut cells = cells(&[]);
    cells[4] = Cell::Histogram([(-800, MANY), (0, MANY), (800, MANY)].into());
    let exact = ExactAggregates::from([(Vec::new(), cells)]);
    // The nearest rank is 2^33 / 40 away; the noise is at most some thousands wide.
    let released = release(&noise_plan, &plan, &exact).unwrap();
    let found = released.groups[0].cells[4]
        .quantiles()
        .expect("a histogram");
    let expected = fractions.iter().map(|at| match at * 3.0 {
        third if third < 1.0 => -800,
        third if third < 2.0 => 0,
        _ => 800,
    });
    assert!(found.iter().copied().eq(expected), "{found:?}");
}
