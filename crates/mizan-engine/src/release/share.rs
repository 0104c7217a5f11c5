//! The share of an account that a release takes.
//!
//! An account with a Gaussian clock admits a charge if the clock or some order has room for it. Two
//! of these are worth comparing for the noise of queries: the clock, on which variances add up, and
//! the order ∞, at which largest losses add up to the epsilon of the account. The release takes a
//! share of each, and the smaller one counts, because charges of one kind fill that one last. Shares
//! are of the whole account, whatever is left of it, so that a repeated query gets the same noise.

use mizan_accounting::clock::Price;
use mizan_accounting::methods::{self, Method};
use mizan_core::{Delta, Epsilon, PrivacyEvent};
use mizan_ledger::money::Variance;

use super::choose::as_f64;
use super::price::without_failures;

/// How much wider an interval may be for a smaller share of the account.
///
/// Between the families this is a matter of 4 to 13 groups per unit (DESIGN.md). There Gaussian
/// noise takes less than half of the share of Laplace noise, which is worth more than the 1.25² that
/// the interval loses.
pub(super) const WIDER: f64 = 1.25;

/// The whole of an account with a Gaussian clock.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct AccountClock {
    /// The epsilon of the account: the limit on the sum of largest losses.
    pub epsilon: Epsilon,
    /// The whole variance of its clock.
    pub variance: Variance,
}

impl AccountClock {
    /// The share of the account that an event takes; None if it does not fit.
    pub(super) fn share(&self, event: &PrivacyEvent) -> Option<f64> {
        let event = without_failures(event);
        let whole = self.variance.femto();
        let price = Price::of(&event).ok();
        let taken = price.and_then(|price| price.taken(whole));
        let by_clock = taken.map(|taken| as_f64(taken) / as_f64(whole));
        let loss = methods::epsilon_by(Method::Pure, &event, Delta::ZERO).ok();
        let by_loss = loss.map(|loss| loss.upper.get() / self.epsilon.get());
        let shares = [by_clock, by_loss].into_iter().flatten();
        // A share that is not a number is none.
        shares.filter(|share| *share <= 1.0).reduce(f64::min)
    }
}

/// Whether one share is smaller than the other. What does not fit is larger than any share.
pub(super) fn is_smaller(one: Option<f64>, other: Option<f64>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => one < other,
        (one, other) => one.is_some() && other.is_none(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(text: &str) -> Option<f64> {
        // The account (1, 1e-6), of which a tenth of delta is reserved and the clock has 0.8.
        let account = AccountClock {
            epsilon: Epsilon::new(1.0).unwrap(),
            variance: Variance::from_femto(54_293_000_000_000),
        };
        account.share(&text.parse().unwrap())
    }

    fn is_near(share: Option<f64>, value: f64) {
        assert!(
            share.is_some_and(|share| (share / value - 1.0).abs() < 1e-3),
            "{share:?} for {value}"
        );
    }

    #[test]
    fn the_cheaper_one_counts() {
        // One loss of a tenth is a tenth of the sum of losses, and a fifth of the clock.
        is_near(share("discrete-laplace(10)"), 0.1);
        // A hundred losses of a thousandth, and the same sum: little of the clock.
        is_near(share("100 * discrete-laplace(1000)"), 1e-4 / 0.054_293);
        is_near(share("gaussian(20)"), 0.0025 / 0.054_293);
        is_near(
            share("gaussian(20) + approximate(0, 1e-9)"),
            0.0025 / 0.054_293,
        );
        assert_eq!(share("gaussian(4)"), None);
        assert_eq!(share("pure(1.5)"), None);
        assert_eq!(share("zcdp(1e-6)"), None);
    }

    #[test]
    fn what_does_not_fit_is_larger() {
        assert!(is_smaller(Some(0.9), None) && is_smaller(Some(0.1), Some(0.2)));
        assert!(!is_smaller(None, Some(0.9)) && !is_smaller(None, None));
        assert!(!is_smaller(Some(0.2), Some(0.2)));
    }
}
