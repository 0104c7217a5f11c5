//! Group privacy of trees, matrices, samples, shuffles and user-defined mechanisms.

use mizan_accounting::{PrivacyProfile, Reason, RenyiCurve, group_privacy};
use mizan_core::{Count, Delta, Epsilon, Order, PrivacyEvent};

fn event(text: &str) -> PrivacyEvent {
    text.parse().unwrap()
}

fn grouped(size: u64, text: &str) -> Result<String, Reason> {
    let group = group_privacy(Count::new(size).unwrap(), &event(text))?;
    Ok(group.to_string())
}

#[test]
fn sensitivities_grow_with_the_group() {
    for (size, text, expected) in [
        (3, "tree(2, 7)", "tree(2, 7, 3)"),
        (3, "tree(2, 7, 0.5)", "tree(2, 7, 1.5)"),
        (4, "matrix(2, 1.5)", "matrix(2, 6)"),
        (2, "poisson(1, gaussian(1))", "poisson(1, gaussian(1, 2))"),
        (
            2,
            "3 * poisson(1, poisson(1, pure(1)))",
            "3 * poisson(1, poisson(1, pure(2)))",
        ),
        (
            3,
            "without-replacement(100, 10, laplace(2))",
            "without-replacement(100, 30, laplace(2, 3))",
        ),
        (
            11,
            "without-replacement(100, 10, laplace(2))",
            "without-replacement(100, 100, laplace(2, 11))",
        ),
        (
            2,
            "shuffle(100, pure(1))",
            "without-replacement(100, 100, pure(2))",
        ),
        (1, "shuffle(100, pure(1))", "shuffle(100, pure(1))"),
        // Groups inside a sample are priced too.
        (
            1,
            "poisson(0.5, group(3, gaussian(1)))",
            "poisson(0.5, gaussian(1, 3))",
        ),
    ] {
        assert_eq!(grouped(size, text).as_deref(), Ok(expected), "{text}");
    }
}

#[test]
fn rates_are_rounded_up_and_stay_rates() {
    for (size, q) in [
        (3, 0.1_f64),
        (1 << 53, 1e-20),
        (1 << 53, 1e-300),
        (1000, 0.999),
    ] {
        let group = grouped(size, &format!("poisson({q}, pure(1e-9))"));
        let group = group.unwrap_or_else(|reason| panic!("{size} {q}: {reason}"));
        let rate: f64 = group[8..].split(',').next().unwrap().parse().unwrap();
        let truth = -((-q).ln_1p() * size as f64).exp_m1();
        assert!(rate >= truth * (1.0 - 1e-15) && rate <= 1.0, "{group}");
        assert!(rate <= truth * (1.0 + 1e-14), "{group}: {truth}");
    }
}

/// Two people in a Poisson sample: the true mixture is never above the bound.
#[test]
fn a_pair_of_people_in_a_sample() {
    for (q, sigma) in [(0.1_f64, 1.0_f64), (0.5, 2.0), (0.01, 0.7)] {
        let group = event(&format!("group(2, poisson({q}, gaussian({sigma})))"));
        let profile = PrivacyProfile::of(&group).unwrap();
        assert!(!profile.is_exact());
        let density = |x: f64, mean: f64| (-((x - mean) / sigma).powi(2) / 2.0).exp();
        for epsilon in [0.0, 0.1, 0.5, 1.0, 2.0_f64] {
            let (step, mut remove, mut add) = (1e-3 * sigma, 0.0, 0.0);
            for i in -12_000..14_000 {
                let x = f64::from(i) * step;
                let without = density(x, 0.0);
                let with = (1.0 - q).powi(2) * without
                    + 2.0 * q * (1.0 - q) * density(x, 1.0)
                    + q * q * density(x, 2.0);
                remove += (with - epsilon.exp() * without).max(0.0);
                add += (without - epsilon.exp() * with).max(0.0);
            }
            let scale = 1e-3 / (2.0 * std::f64::consts::PI).sqrt();
            let truth = f64::max(remove, add) * scale;
            let bound = profile.delta(Epsilon::new(epsilon).unwrap()).unwrap();
            assert_eq!(bound.lower.get(), 0.0);
            let upper = bound.upper.get();
            assert!(
                truth <= upper * (1.0 + 1e-5),
                "{q} {sigma} {epsilon}: {truth} {upper}"
            );
        }
    }
}

#[test]
fn bounded_losses_add_up() {
    let pair = "finite(0.75:0.25, 0.25:0.75)";
    let curve = RenyiCurve::of(&event(&format!("group(3, {pair})"))).unwrap();
    let largest = curve.at(Order::INFINITE).upper.get();
    assert!(largest >= 3.0 * 3.0_f64.ln() && largest < 3.0 * 3.0_f64.ln() + 1e-12);
    let profile = PrivacyProfile::of(&event(&format!("group(3, {pair})"))).unwrap();
    assert!(!profile.is_exact());
    // Replaced people do not compose with added ones, in a group or not.
    let mixed = "group(2, shuffle(9, pure(1))) + poisson(0.1, gaussian(1))";
    let error = PrivacyProfile::of(&event(mixed)).unwrap_err();
    assert_eq!(error.reason(), Reason::MixedNeighbours);
    let shuffled = PrivacyProfile::of(&event("group(2, shuffle(9, pure(1)))")).unwrap();
    let most = shuffled.epsilon(Delta::ZERO).unwrap();
    assert_eq!(most.upper.get(), 2.0);
}

#[test]
fn unbounded_losses_are_refused() {
    let unbounded = "finite(0.5:0, 0.5:0.5, 0:0.5)";
    assert_eq!(grouped(2, unbounded), Err(Reason::NoGroup));
    assert!(grouped(1, unbounded).is_ok());
    assert_eq!(grouped(2, "shuffle(9, gaussian(1))"), Err(Reason::NotLocal));
    assert_eq!(
        grouped(2, "shuffle(9, pure(1e308))"),
        Err(Reason::GroupOverflow)
    );
    let error = RenyiCurve::of(&event(&format!("group(2, {unbounded})"))).unwrap_err();
    assert_eq!(error.code(), "MZ1218");
    assert!(error.help().contains("approximate"));
}
