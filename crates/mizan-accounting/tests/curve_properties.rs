//! Properties of every Rényi curve, over random events of every kind:
//! limits at the ends, growth, convexity, monotone parameters, composition,
//! and which mechanism dominates which.
//!
//! Curves come as brackets, so an inequality between exact values is checked
//! as lower <= upper: it can only fail if a bound is wrong.

use crate::common::random::{
    at, concentrated, config, discrete_gaussian, discrete_laplace, event, exponential, gaussian,
    gaussian_dp, laplace, log_uniform, loss, mechanism, noise, order, pure, randomized_response,
    repeat, reported, sensitivity, squared_sensitivity, truthful, whole_sensitivity,
    zero_concentrated,
};
use mizan_accounting::RenyiCurve;
use mizan_core::{Bracket, Epsilon, PrivacyEvent};
use proptest::prelude::*;

fn curve(event: &PrivacyEvent) -> RenyiCurve {
    RenyiCurve::of(event).unwrap_or_else(|error| panic!("{event}: {error}"))
}

/// (lower, upper) of a curve at an order.
fn bounds(curve: &RenyiCurve, order: f64) -> (f64, f64) {
    let Bracket { lower, upper } = curve.at(at(order));
    (lower.get(), upper.get())
}

fn upper(curve: &RenyiCurve, order: f64) -> f64 {
    bounds(curve, order).1
}

fn relative(a: f64, b: f64) -> f64 {
    if a == b { 0.0 } else { (a - b).abs() / b.abs() }
}

/// At most, as far as rounding outside of the library can tell.
fn at_most(a: f64, b: f64) -> bool {
    a <= b * (1.0 + 1e-12) + 1e-300
}

proptest! {
    #![proptest_config(config(2000))]

    #[test]
    fn brackets_are_ordered_and_finite(event in event(), order in order()) {
        for order in [1.0, order, f64::INFINITY] {
            let (lower, upper) = bounds(&curve(&event), order);
            prop_assert!(lower >= 0.0 && lower <= upper, "{event} at {order}: [{lower:e}, {upper:e}]");
            if order.is_finite() {
                prop_assert!(upper.is_finite(), "{event} at {order}: {upper:e}");
            }
        }
    }

    /// The guarantee of 1e-12, for every mechanism with a closed form: the
    /// discrete Gaussian on vectors has none beyond a searched size.
    #[test]
    fn brackets_are_tight(event in mechanism(), order in order()) {
        if matches!(&event, PrivacyEvent::DiscreteGaussian(noise) if noise.sensitivity().get() > 60.0) {
            return Ok(());
        }
        for order in [1.0, order, f64::INFINITY] {
            let (lower, upper) = bounds(&curve(&event), order);
            let close = upper == lower || upper - lower <= 1e-12 * upper || upper - lower <= 1e-300;
            prop_assert!(close, "{event} at {order}: [{lower:e}, {upper:e}] {:e}", (upper - lower) / upper);
        }
    }

    #[test]
    fn order_one_is_the_limit_from_above(event in event()) {
        // The mean and the slope of concentrated privacy have nothing to do
        // with each other, so a step of 1e-9 may be a long one.
        if has_concentrated(&event) {
            return Ok(());
        }
        let curve = curve(&event);
        let (one, above) = (upper(&curve, 1.0), upper(&curve, 1.0 + 1e-9));
        prop_assert!(relative(above, one) <= 1e-6, "{event}: {one:e} at 1, {above:e} just above");
    }

    #[test]
    fn infinity_is_the_limit_of_large_orders(event in event()) {
        let curve = curve(&event);
        let pure = upper(&curve, f64::INFINITY);
        // Every mechanism of the event must be near its limit, and the largest
        // loss says nothing of the smallest, so the order is simply enormous.
        let far = upper(&curve, 1e25);
        if pure.is_finite() {
            prop_assert!(relative(far, pure) <= 1e-6, "{event}: {pure:e} at inf, {far:e} before");
        } else {
            let farther = upper(&curve, 1e60);
            prop_assert!(farther > 1e12, "{event}: {farther:e}");
        }
    }

    #[test]
    fn curves_grow_with_the_order(event in event(), a in order(), b in order()) {
        let curve = curve(&event);
        let (low, high) = (a.min(b), a.max(b));
        for (less, more) in [(1.0, low), (low, high), (high, f64::INFINITY)] {
            let (less_lower, more_upper) = (bounds(&curve, less).0, upper(&curve, more));
            prop_assert!(less_lower <= more_upper, "{event}: {less_lower:e} at {less}, {more_upper:e} at {more}");
        }
    }

    /// K(α) = (α-1) ε(α) is convex: at the middle it is below the chord.
    #[test]
    fn moments_are_convex(event in event(), a in order(), b in order()) {
        let curve = curve(&event);
        let middle = 0.5 * (a + b);
        if middle == a || middle == b {
            return Ok(());
        }
        // Just above 1 the middle is not halfway, for want of doubles.
        let share = (middle - a) / (b - a);
        let moment_of_middle = (middle - 1.0) * bounds(&curve, middle).0;
        let chord = (1.0 - share) * (a - 1.0) * upper(&curve, a) + share * (b - 1.0) * upper(&curve, b);
        prop_assert!(at_most(moment_of_middle, chord), "{event} at {a}, {b}: {moment_of_middle:e} above {chord:e}");
    }

    #[test]
    fn more_noise_never_costs_more(
        (a, b) in (noise(), noise()), s in sensitivity(),
        square in squared_sensitivity(), whole in whole_sensitivity(), order in order(),
    ) {
        let (little, much) = (a.min(b), a.max(b));
        let pairs = [
            (gaussian(much, s), gaussian(little, s)),
            (laplace(much, s), laplace(little, s)),
            (discrete_gaussian(much, square), discrete_gaussian(little, square)),
            (discrete_laplace(much, whole), discrete_laplace(little, whole)),
        ];
        for (less, more) in &pairs {
            prop_assert_not_above(less, more, order)?;
        }
    }

    /// The same close together, where the discrete curves have structure.
    #[test]
    fn a_little_more_noise_never_costs_more(
        sigma in log_uniform(0.05, 5.0), step in log_uniform(1e-6, 1.0),
        square in squared_sensitivity(), whole in whole_sensitivity(), order in order(),
    ) {
        let much = sigma * (1.0 + step);
        prop_assert_not_above(&discrete_gaussian(much, square), &discrete_gaussian(sigma, square), order)?;
        prop_assert_not_above(&discrete_laplace(much, whole), &discrete_laplace(sigma, whole), order)?;
    }

    #[test]
    fn more_sensitivity_never_costs_less(
        noise in noise(), (a, b) in (sensitivity(), sensitivity()),
        (c, d) in (squared_sensitivity(), squared_sensitivity()),
        (e, f) in (whole_sensitivity(), whole_sensitivity()), order in order(),
    ) {
        let pairs = [
            (gaussian(noise, a.min(b)), gaussian(noise, a.max(b))),
            (laplace(noise, a.min(b)), laplace(noise, a.max(b))),
            (discrete_gaussian(noise, c.min(d)), discrete_gaussian(noise, c.max(d))),
            (discrete_laplace(noise, e.min(f)), discrete_laplace(noise, e.max(f))),
        ];
        for (less, more) in &pairs {
            prop_assert_not_above(less, more, order)?;
        }
    }

    #[test]
    fn weaker_promises_never_cost_less(
        (a, b) in (loss(), loss()), (c, d) in (loss(), loss()),
        (p, q) in (truthful(), truthful()), order in order(),
    ) {
        let (small, large) = (a.min(b), a.max(b));
        let pairs = [
            (exponential(small), exponential(large)),
            (pure(small), pure(large)),
            (zero_concentrated(small), zero_concentrated(large)),
            (gaussian_dp(small), gaussian_dp(large)),
            (concentrated(small, c.min(d)), concentrated(large, c.max(d))),
            (randomized_response(p.min(q), 2), randomized_response(p.max(q), 2)),
            (randomized_response(p.min(q), 7), randomized_response(p.max(q), 7)),
        ];
        for (less, more) in &pairs {
            prop_assert_not_above(less, more, order)?;
        }
    }

    /// Proposition 1 with equal parts. A peer forgets the count of randomized
    /// response.
    #[test]
    fn repetition_costs_as_often(event in mechanism(), p in truthful(), count in 1_u64..1_000_000, order in order()) {
        let times = u32::try_from(count).map(f64::from).unwrap();
        for (count, times, event) in [(count, times, event), (1000, 1000.0, randomized_response(p, 2))] {
            let (once, often) = (curve(&event), curve(&repeat(count, event.clone())));
            for order in [1.0, order, f64::INFINITY] {
                let (expected, computed) = (times * upper(&once, order), upper(&often, order));
                prop_assert!(
                    relative(computed, expected) <= 1e-12 || (computed - expected).abs() <= 1e-300,
                    "{count} times {event} at {order}: {computed:e}, expected {expected:e}"
                );
                prop_assert!(bounds(&often, order).0 <= expected);
            }
        }
    }

    /// Proposition 1 with different parts, nested or not.
    #[test]
    fn composition_costs_the_sum(events in prop::collection::vec(event(), 1..8), order in order()) {
        for order in [1.0, order, f64::INFINITY] {
            let expected: f64 = events.iter().map(|event| upper(&curve(event), order)).sum();
            let composed = curve(&PrivacyEvent::Compose(events.clone()));
            let (lower, upper) = bounds(&composed, order);
            prop_assert!(relative(upper, expected) <= 1e-12, "{upper:e}, expected {expected:e}");
            prop_assert!(lower <= expected);
        }
    }

    /// Every mechanism whose loss never exceeds ε is a post-processing of
    /// pure(ε), so it costs no more at any order.
    #[test]
    fn pure_dominates_all_of_the_same_largest_loss(event in mechanism(), order in order()) {
        let bounded = curve(&event);
        let largest = upper(&bounded, f64::INFINITY);
        if !largest.is_finite() {
            return Ok(());
        }
        let pure = pure(largest);
        for order in [1.0, order, f64::INFINITY] {
            let (lower, most) = (bounds(&bounded, order).0, upper(&curve(&pure), order));
            prop_assert!(lower <= most, "{event} at {order}: {lower:e} above {most:e} of {pure}");
        }
    }

    /// Binary randomized response is the worst pair: it costs all of pure(ε).
    #[test]
    fn randomized_response_costs_as_much_as_pure(p in truthful(), order in order()) {
        let response = curve(&randomized_response(p, 2));
        let pure = curve(&pure(upper(&response, f64::INFINITY)));
        for order in [1.0, order, f64::INFINITY] {
            let (computed, expected) = (upper(&response, order), upper(&pure, order));
            prop_assert!(relative(computed, expected) <= 1e-11, "{p} at {order}: {computed:e}, {expected:e}");
        }
    }

    /// A bounded range ε is less than a largest loss ε.
    #[test]
    fn exponential_costs_less_than_pure(epsilon in loss(), order in order()) {
        for order in [1.0, order, f64::INFINITY] {
            prop_assert_not_above(&exponential(epsilon), &pure(epsilon), order)?;
            // zCDP with η²/8 (Rogers and Steinke 2021).
            if order.is_finite() {
                let rho = epsilon * epsilon / 8.0 * (1.0 + 1e-15);
                prop_assert_not_above(&exponential(epsilon), &zero_concentrated(rho), order)?;
            }
        }
    }

    /// Pure ε-DP is zero-concentrated with ρ = ε tanh(ε/2) (docs/spec/mathematics.md 3.10).
    #[test]
    fn pure_costs_less_than_its_concentrated_bound(epsilon in loss(), order in order()) {
        let rho = epsilon * (0.5 * epsilon).tanh() * (1.0 + 1e-14);
        prop_assert_not_above(&pure(epsilon), &zero_concentrated(rho), order)?;
        prop_assert_not_above(&pure(epsilon), &zero_concentrated(rho), 1.0)?;
    }

    /// Canonne, Kamath and Steinke 2020: θ is largest at whole numbers.
    #[test]
    fn discrete_gaussian_costs_less_than_gaussian(
        sigma in prop_oneof![noise(), log_uniform(0.05, 2.0)], s in squared_sensitivity(), order in order(),
    ) {
        prop_assert_not_above(&discrete_gaussian(sigma, s), &gaussian(sigma, s), order)?;
        let (discrete, continuous) = (curve(&discrete_gaussian(sigma, s)), curve(&gaussian(sigma, s)));
        prop_assert!(at_most(upper(&discrete, order), upper(&continuous, order)));
    }

    /// The other way round for Laplace noise. Both moments are
    /// (1-h) e^((α-1)T) + h e^(-αT), which falls with h. With s = 2α-1 >= 1,
    /// h = (1 - 1/s)/2 for Laplace and h = (1 - tanh(x)/tanh(sx))/2, x = τ/2,
    /// for its discrete sibling; tanh is concave with tanh 0 = 0, so
    /// tanh(sx) <= s tanh(x) and the discrete h is the smaller one.
    #[test]
    fn discrete_laplace_costs_more_than_laplace(scale in noise(), s in whole_sensitivity(), order in order()) {
        for order in [1.0, order, f64::INFINITY] {
            prop_assert_not_above(&laplace(scale, s), &discrete_laplace(scale, s), order)?;
        }
    }

    /// Points of a true curve, exact or exaggerated, with or without ∞: what
    /// is concluded for any order is never below the truth.
    #[test]
    fn reported_points_are_sound(
        truth in prop_oneof![
            (log_uniform(1e-3, 1e3), Just(1.0)).prop_map(|(noise, s)| laplace(noise, s)),
            truthful().prop_map(|p| randomized_response(p, 2)),
            log_uniform(1e-3, 1e3).prop_map(|noise| gaussian(noise, 1.0)),
            event(),
        ],
        orders in prop::collection::btree_set(1_u64..1_000_000_000_000_000, 1..10),
        careless in prop::collection::vec(prop_oneof![Just(1.0), log_uniform(1.0, 10.0)], 11),
        at_one in any::<bool>(), at_infinity in any::<bool>(), wanted in order(),
    ) {
        let truth_curve = curve(&truth);
        // Whole numbers spread over 15 decades stand for orders up to 1e7.
        let mut orders: Vec<f64> = orders
            .into_iter()
            .map(|n| 1.0 + u32::try_from(n % 1_000_003).map(f64::from).unwrap() * 10f64.powi(-i32::try_from(n % 7).unwrap()))
            .collect();
        if at_one {
            orders.push(1.0);
        }
        if at_infinity && upper(&truth_curve, f64::INFINITY).is_finite() {
            orders.push(f64::INFINITY);
        }
        orders.sort_by(f64::total_cmp);
        orders.dedup();
        let points: Vec<(f64, f64)> = orders
            .iter()
            .zip(&careless)
            .map(|(&order, factor)| (order, upper(&truth_curve, order) * factor))
            .collect();
        let concluded = curve(&reported(&points));
        let between = orders.windows(2).map(|pair| 0.5 * (pair[0] + pair[1]));
        let wanted: Vec<f64> = between.chain([1.0, 1.0 + 1e-9, wanted, f64::INFINITY]).chain(orders.clone()).collect();
        for order in wanted {
            let (lower, bound) = (bounds(&truth_curve, order).0, upper(&concluded, order));
            prop_assert!(lower <= bound, "{truth} as {points:?} at {order}: {bound:e} below {lower:e}");
        }
        for (order, epsilon) in points {
            let bound = upper(&concluded, order);
            prop_assert!(at_most(bound, epsilon), "{truth} at {order}: {bound:e} above the report {epsilon:e}");
        }
    }

    /// A curve concluded from reports grows with the order too.
    #[test]
    fn reported_points_give_a_growing_curve(
        points in prop::collection::btree_map(1_u32..5000, loss(), 1..8), a in order(), b in order(),
    ) {
        let points: Vec<(f64, f64)> = points
            .into_iter()
            .map(|(order, epsilon)| (1.0 + f64::from(order) / 16.0, epsilon))
            .collect();
        let concluded = curve(&reported(&points));
        let (low, high) = (a.min(b), a.max(b));
        for (less, more) in [(1.0, low), (low, high), (high, f64::INFINITY)] {
            prop_assert!(bounds(&concluded, less).0 <= upper(&concluded, more), "{points:?} at {less}, {more}");
        }
    }
}

fn has_concentrated(event: &PrivacyEvent) -> bool {
    matches!(event, PrivacyEvent::Concentrated { .. })
        || event.children().iter().any(has_concentrated)
}

/// The exact price of `less` is not above that of `more`.
fn prop_assert_not_above(
    less: &PrivacyEvent,
    more: &PrivacyEvent,
    order: f64,
) -> Result<(), TestCaseError> {
    let (lower, most) = (bounds(&curve(less), order).0, upper(&curve(more), order));
    prop_assert!(
        lower <= most,
        "at order {order}: {less} costs {lower:e}, {more} only {most:e}"
    );
    Ok(())
}

#[test]
fn nothing_costs_nothing() {
    for free in [
        pure(0.0),
        exponential(0.0),
        zero_concentrated(0.0),
        gaussian_dp(0.0),
        concentrated(0.0, 0.0),
        concentrated(3.0, 0.0),
        randomized_response(0.5, 2),
        randomized_response(0.25, 4),
    ] {
        for order in [1.0, 1.0 + 1e-9, 2.0, 1e6, f64::INFINITY] {
            let price = curve(&free).at(at(order)).upper;
            assert_eq!(price, Epsilon::ZERO, "{free} at {order}");
        }
    }
}

/// The analytic limits of docs/spec/mathematics.md 2.1-2.3.
#[test]
fn the_ends_are_the_analytic_limits() {
    let check = |event: PrivacyEvent, one: f64, infinity: f64| {
        let curve = curve(&event);
        assert!(relative(upper(&curve, 1.0), one) < 1e-14, "{event}");
        assert!(
            relative(upper(&curve, f64::INFINITY), infinity) < 1e-14,
            "{event}"
        );
    };
    for p in [0.51_f64, 0.52, 0.6, 0.75, 0.9, 0.99] {
        let loss = (p / (1.0 - p)).ln();
        check(randomized_response(p, 2), (2.0 * p - 1.0) * loss, loss);
    }
    for t in [0.5_f64, 1.0, 2.0, 8.0] {
        check(laplace(1.0 / t, 1.0), t + (-t).exp_m1(), t);
        check(laplace(1.0, t), t + (-t).exp_m1(), t);
    }
    for sigma in [0.5, 1.0, 4.0, 1e3] {
        let event = gaussian(sigma, 1.0);
        check(event, 0.5 / (sigma * sigma), f64::INFINITY);
    }
}
