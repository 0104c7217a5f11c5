//! Prices against values of 60-digit arithmetic (testdata/golden/clock.json), and their properties.

mod adversaries;
mod certified;

use mizan_core::{DiscreteGaussian, Epsilon, Interval, PrivacyEvent, Scale, Sensitivity, Sigma};
use proptest::prelude::*;
use serde_json::Value;

use super::symmetric::Symmetric;
use super::{Price, REMAINDERS, UnpricedReason, conditional_price, lattice_noise, limit};
use crate::numeric::golden;

/// A result, known to 25 digits.
fn result(record: &Value, name: &str) -> f64 {
    match record[name].as_str().unwrap() {
        "inf" => f64::INFINITY,
        text => text.parse().unwrap(),
    }
}

fn number(record: &Value, name: &str) -> f64 {
    record[name].as_f64().unwrap()
}

fn units(record: &Value, name: &str) -> u64 {
    record[name].as_str().unwrap().parse().unwrap()
}

/// Units of a price above the truth: at least 0, less than one, and 1e-6 of it where it is large.
fn check(price: Option<u64>, truth: f64, record: &Value) {
    let truth = truth * 1e15;
    let Some(price) = price else {
        assert!(truth > 1.8e19, "no price, but {truth}: {record}");
        return;
    };
    let price = price as f64;
    assert!(
        price >= truth * (1.0 - 1e-15),
        "{price} is below {truth}: {record}"
    );
    assert!(
        price <= truth * (1.0 + 1e-6) + 2.0,
        "{price} is far above {truth}: {record}"
    );
}

#[test]
fn pure_prices() {
    for record in golden("clock.json", "pure") {
        let price = Symmetric::Response.price(number(&record, "epsilon"), units(&record, "left"));
        check(price, result(&record, "price"), &record);
    }
}

#[test]
fn laplace_prices() {
    for record in golden("clock.json", "laplace") {
        let price = Symmetric::Laplace.price(number(&record, "epsilon"), units(&record, "left"));
        check(price, result(&record, "price"), &record);
    }
}

/// Checks the band prices of events, and returns how many are smaller than the price anywhere.
fn check_band(list: &str, event: impl Fn(f64) -> PrivacyEvent) -> u32 {
    let mut smaller = 0;
    for record in golden("clock.json", list) {
        let (e1, before) = (number(&record, "e1"), units(&record, "before"));
        let epsilon = Epsilon::new(e1).unwrap();
        let event = event(number(&record, "epsilon"));
        let price = conditional_price(&event, epsilon, Epsilon::ZERO, before);
        let truth = result(&record, "price") * 1e15;
        let Some(price) = price else {
            assert!(truth.is_infinite(), "{record}");
            continue;
        };
        let anywhere = Price::of(&event).unwrap().taken(before);
        smaller += u32::from(price < anywhere.unwrap_or(u64::MAX));
        let price = price as f64;
        assert!(
            price >= truth * (1.0 - 1e-15),
            "{price} below {truth}: {record}"
        );
        let most = truth * (1.0 + 1e-6) + 200.0;
        assert!(price <= most, "{price} far above {truth}: {record}");
    }
    smaller
}

#[test]
fn band_prices() {
    let smaller = check_band("band", |loss| PrivacyEvent::Pure {
        epsilon: Epsilon::new(loss).unwrap(),
    });
    assert!(smaller > 30, "only {smaller}");
    let smaller = check_band("laplace_band", |loss| PrivacyEvent::Laplace {
        scale: Scale::new(1.0).unwrap(),
        sensitivity: Sensitivity::new(loss).unwrap(),
    });
    assert!(smaller > 20, "only {smaller}");
}

#[test]
fn lattice_prices() {
    let mut priced = 0;
    for record in golden("clock.json", "lattice") {
        let sigma = Sigma::new(number(&record, "sigma")).unwrap();
        let noise = DiscreteGaussian::new(sigma, Sensitivity::ONE).unwrap();
        let price = lattice_noise::price(&noise, units(&record, "left"));
        let (truth, lower) = (result(&record, "price"), result(&record, "lower"));
        assert!(lower <= truth);
        if let Some(price) = price {
            priced += 1;
            assert!(price as f64 >= lower * 1e15 * (1.0 - 1e-15), "{record}");
            let excess = (truth - 1.0 / sigma.get().powi(2)) * 1e15;
            let ours = price as f64 - 1e15 / sigma.get().powi(2);
            // Sums over waves are bounded by their first terms.
            assert!(
                ours <= 1.5 * excess.max(0.0) + 1e-6 * truth * 1e15 + 3.0,
                "{ours} {excess} {record}"
            );
        }
    }
    assert!(priced > 45, "only {priced} have a price");
}

#[test]
fn limits() {
    for record in golden("clock.json", "limits") {
        let epsilon = Epsilon::new(number(&record, "epsilon")).unwrap();
        let found = limit(epsilon, Interval::from(number(&record, "ln_delta")));
        let truth = result(&record, "variance") * 1e15;
        if truth.is_infinite() {
            continue;
        }
        let found = found as f64;
        assert!(found <= truth * (1.0 + 1e-15), "{found} above: {record}");
        assert!(found >= truth * (1.0 - 1e-11) - 1.0, "{found}: {record}");
    }
}

#[test]
fn extreme_budgets() {
    let ln = |delta: f64| Interval::from(delta).ln();
    assert_eq!(limit(Epsilon::ZERO, ln(1e-300)), 0);
    assert_eq!(limit(Epsilon::saturating(1e9), ln(1e-6)), u64::MAX - 1);
    assert_eq!(
        limit(Epsilon::saturating(1.0), Interval::from(f64::NEG_INFINITY)),
        0
    );
    assert!(limit(Epsilon::ZERO, ln(1e-6)) > 0);
    let small = limit(Epsilon::saturating(1e-3), ln(1e-300));
    // About ε²/(2 ln 1/δ).
    assert!((720_000..750_000).contains(&small), "{small}");
}

fn price_of(text: &str) -> Price {
    Price::of(&text.parse().unwrap()).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn refused(text: &str) -> UnpricedReason {
    let event: PrivacyEvent = text.parse().unwrap();
    Price::of(&event).unwrap_err().reason()
}

#[test]
fn gaussian_noise_costs_the_same_everywhere() {
    let tenth = 10_000_000_000_000;
    for text in [
        "gaussian(10)",
        "gaussian(20, 2)",
        "matrix(10, 1)",
        "gdp(0.1)",
        "4 * gaussian(20)",
        "tree(20, 15)",
        "group(2, gaussian(20))",
        "approximate(0, 0.1) + gaussian(10)",
    ] {
        let price = price_of(text);
        for at in price.at().iter().flatten() {
            assert!((tenth..tenth + 10).contains(at), "{text} {at}");
        }
    }
    assert_eq!(price_of("gaussian(1e300)").at(), &[Some(1); 24]);
}

#[test]
fn an_event_without_noise_of_a_gaussian_kind_has_no_price() {
    for text in [
        "zcdp(0.1)",
        "cdp(0.1, 0.2)",
        "rdp(2:0.1)",
        "gaussian(1) + zcdp(1)",
    ] {
        assert_eq!(refused(text), UnpricedReason::Moments, "{text}");
    }
    assert_eq!(
        refused("finite(losses, 1:0.5, inf:0.5)"),
        UnpricedReason::Unbounded
    );
    let error = Price::of(&"gaussian(1) + 2 * zcdp(1)".parse().unwrap()).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("`zcdp(1)` (event[1].of) is known by"),
        "{error}"
    );
}

#[test]
fn pure_events_cost_what_their_largest_loss_costs() {
    let pure = price_of("pure(0.5)");
    for text in [
        "discrete-laplace(4, 2)",
        "approximate(0.5, 1e-9)",
        "group(5, pure(0.1))",
        "rdp(2:0.1, inf:0.5)",
        "shuffle(1000, pure(0.5))",
    ] {
        let price = price_of(text);
        for (price, pure) in price.at().iter().flatten().zip(pure.at().iter().flatten()) {
            assert!(price.abs_diff(*pure) <= 10 + pure / 1_000_000_000, "{text}");
        }
    }
    let odds = price_of("finite(0.6:0.4, 0.4:0.6)").at()[4].unwrap();
    assert!(odds.abs_diff(price_of("rr(0.6)").at()[4].unwrap()) < 10_000_000);
    // Of bounded range: the same as half the loss with nothing left, and almost so elsewhere.
    let range = price_of("exponential(1)");
    assert_eq!(range.at()[23], pure.at()[23]);
    assert!(range.at()[0].unwrap() as f64 <= 1.06 * pure.at()[0].unwrap() as f64);
    // Laplace noise has smaller losses too.
    let laplace = price_of("laplace(2)");
    assert_eq!(laplace, price_of("laplace(4, 2)"));
    assert!((laplace.at()[0].unwrap() as f64) < 0.88 * pure.at()[0].unwrap() as f64);
    // The loss of a sample is smaller.
    let sampled = price_of("poisson(0.1, laplace(2))");
    assert!(sampled.at()[0].unwrap() * 50 < pure.at()[0].unwrap());
    // What is unbounded costs as much on a sample.
    assert_eq!(
        price_of("poisson(0.1, gaussian(2))"),
        price_of("gaussian(2)")
    );
}

#[test]
fn a_composition_is_never_dearer_than_the_sum_of_its_parts() {
    let (one, noise) = (price_of("laplace(20)"), price_of("discrete-gaussian(20)"));
    let both = price_of("discrete-gaussian(20) + 7 * laplace(20)");
    let sum = noise.plus(&one.repeated(7));
    for (both, sum) in both.at().iter().zip(sum.at()) {
        if let Some(sum) = sum {
            assert!(both.unwrap() <= *sum);
        }
    }
    // The last of many leaves nothing, the others do.
    let many = price_of("100 * laplace(20)");
    let hundredfold = one.repeated(100);
    let (last, dear) = (many.at()[23].unwrap(), hundredfold.at()[23].unwrap());
    assert!((last as f64) < 0.70 * dear as f64, "{last} {dear}");
    assert!(last > one.repeated(100).at()[0].unwrap());
}

#[test]
fn many_different_parts_are_priced_in_groups() {
    let text: Vec<String> = (1..=1500)
        .map(|n| format!("pure({})", 1e-3 + 1e-7 * f64::from(n)))
        .collect();
    let price = price_of(&text.join(" + "));
    let all_alike = price_of("1500 * pure(0.00115)");
    for (price, alike) in price
        .at()
        .iter()
        .flatten()
        .zip(all_alike.at().iter().flatten())
    {
        assert!(*price <= *alike + alike / 50);
    }
    assert!(price.at()[0].unwrap() > price_of("1500 * pure(0.00105)").at()[0].unwrap());
}

#[test]
fn discrete_gaussian_noise_costs_as_much_as_gaussian_noise() {
    let (discrete, continuous) = (price_of("discrete-gaussian(20)"), price_of("gaussian(20)"));
    let price = continuous.at()[0].unwrap();
    for (at, left) in discrete.at().iter().zip(REMAINDERS) {
        match at {
            Some(at) if left > 200_000_000_000 => assert!(at - price <= 5, "{left} {at}"),
            Some(at) => assert!(*at >= price),
            None => assert!(left < 100_000_000_000, "{left}"),
        }
    }
    // A vector of norm 3 costs as much as Gaussian noise moved by 3, whatever its dimension.
    let (vector, line) = (
        price_of("discrete-gaussian(20, 3)"),
        price_of("gaussian(20, 3)"),
    );
    assert!(vector.at()[4].unwrap() - line.at()[4].unwrap() <= 5);
    // Only whole vectors differ.
    assert_eq!(price_of("discrete-gaussian(20, 3.1)"), vector);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// A price falls with the remainder, before it is tabulated, and rises with the loss.
    #[test]
    fn pure_prices_fall_with_the_remainder(
        ln_epsilon in -9.0f64..3.0,
        left in 0u64..10_000_000_000_000_000,
        more in 0.0f64..2.0,
    ) {
        let epsilon = ln_epsilon.exp();
        let at = |epsilon, left| Symmetric::Response.price(epsilon, left).unwrap() as f64;
        let here = at(epsilon, left);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "below 2^64")]
        let further = (left as f64 * (1.0 + more)) as u64 + 1;
        prop_assert!(at(epsilon, further) <= here * (1.0 + 1e-8) + 3.0);
        prop_assert!(at(epsilon * (1.0 + 0.1 * more), left) >= here * (1.0 - 1e-8) - 3.0);
        // Between the limits far away and without anything left.
        let root = (epsilon / 2.0).cosh().ln() * 8.0;
        prop_assert!(here >= root * 1e15 * (1.0 - 1e-9) - 3.0);
        prop_assert!(here <= 1.001 * std::f64::consts::FRAC_PI_2 * epsilon * epsilon * 1e15 + 3.0);
    }
}
