//! Self-tests of a running server: attacks on its noise, and a comparison of its accountant
//! with closed forms of the paper.

use mizan_accounting::RenyiCurve;
use mizan_api::failure::Failure;
use mizan_audit::{Confidence, Released, audit};
use mizan_core::{Delta, Epsilon, Order, PrivacyEvent};
use mizan_report::number;

use super::super::numbers;
use crate::locale::{Markup, Strings, fill, plural};
use crate::problem::Problem;
use crate::service::Service;

/// Runs of a mechanism on each input.
const RUNS: u64 = 200_000;

/// A correct server fails one of the attacks once in a million runs of the tests.
const CONFIDENCE: f64 = 0.999_999_7;

/// Mechanisms, and the pure ε that each claims.
const ATTACKED: [(&str, f64); 3] = [
    ("discrete-laplace(1)", 1.0),
    ("discrete-laplace(10)", 0.1),
    // ln(3): the odds of the truth at p = 3/4.
    ("rr(0.75)", 1.098_612_288_668_110),
];

/// Closed forms: the event, the order, the cost in the paper.
const FORMS: [(&str, f64, f64); 3] = [
    // Corollary 3: α/(2σ²).
    ("gaussian(2)", 8.0, 1.0),
    // Proposition 1: curves add up.
    ("4 * gaussian(4)", 6.0, 0.75),
    // Proposition 6 at infinity: 1/λ.
    ("laplace(5)", f64::INFINITY, 0.2),
];

/// The result of a test.
pub(super) struct SelfTest {
    pub(super) name: Markup,
    pub(super) found: Markup,
    pub(super) passed: bool,
}

/// Runs all tests.
pub(super) async fn run(t: &'static Strings, service: &Service) -> Result<Vec<SelfTest>, Problem> {
    let mut tests = Vec::new();
    for (event, claimed) in ATTACKED {
        tests.push(
            service
                .compute(move |_| Ok(attacked(t, event, claimed)?))
                .await?,
        );
    }
    for (event, order, expected) in FORMS {
        tests.push(
            service
                .compute(move |_| Ok(compared(t, event, order, expected)?))
                .await?,
        );
    }
    Ok(tests)
}

fn attacked(t: &Strings, event: &str, claimed: f64) -> Result<SelfTest, Failure> {
    let parsed: PrivacyEvent = event.parse()?;
    let mut released = Released::of(&parsed)?;
    let plan = released.plan(RUNS, Confidence::new(CONFIDENCE)?, Delta::ZERO)?;
    let found = audit(&mut released, plan, &mut |_| ())?;
    // The claim is rounded to a double, and the attack may be above it by that rounding.
    let passed = !found.contradicts(Epsilon::saturating(claimed.next_up()));
    let claimed = number::nearest(claimed, 4);
    let lower = number::down(found.lower_bound.get(), 4);
    let values = [
        ("claimed", claimed.as_str()),
        ("runs", &numbers::counted(t, RUNS, plural::RUNS)),
        ("found", &lower),
    ];
    Ok(SelfTest {
        name: fill(t.audit_self_noise, &[("event", event)]),
        found: fill(t.audit_self_noise_found, &values),
        passed,
    })
}

fn compared(t: &Strings, event: &str, order: f64, expected: f64) -> Result<SelfTest, Failure> {
    let parsed: PrivacyEvent = event.parse()?;
    let curve = RenyiCurve::of(&parsed)?;
    let at = match order.is_finite() {
        true => Order::new(order)?,
        false => Order::INFINITE,
    };
    let bracket = curve.at(at);
    let (lower, upper) = (bracket.lower.get(), bracket.upper.get());
    let passed = lower <= expected.next_up()
        && expected.next_down() <= upper
        && upper <= expected * 1.000_001;
    let order = if order.is_finite() {
        number::nearest(order, 3)
    } else {
        "∞".to_owned()
    };
    let values = [
        ("order", order.as_str()),
        ("found", &number::epsilon_up(upper, 6)),
        ("expected", &number::nearest(expected, 6)),
    ];
    Ok(SelfTest {
        name: fill(t.audit_self_form, &[("event", event)]),
        found: fill(t.audit_self_form_found, &values),
        passed,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::locale::Language;

    #[test]
    fn closed_forms_hold_and_wrong_ones_do_not() {
        let t = Language::English.strings();
        for (event, order, expected) in FORMS {
            assert!(
                compared(t, event, order, expected).unwrap().passed,
                "{event}"
            );
            assert!(
                !compared(t, event, order, expected * 1.01).unwrap().passed,
                "{event}"
            );
            assert!(
                !compared(t, event, order, expected * 0.99).unwrap().passed,
                "{event}"
            );
        }
    }

    #[test]
    fn a_false_claim_is_refuted() {
        let t = Language::English.strings();
        assert!(!attacked(t, "discrete-laplace(1)", 0.8).unwrap().passed);
    }
}
