//! Optimal composition: the tightest bound that follows from the (ε, δ) of the parts.
//!
//! Every (ε, δ)-DP mechanism is a post-processing of one that fails with
//! probability δ and otherwise is randomized response with losses ±ε. So the
//! optimum is the profile of a sum of independent two-point losses, under which
//! the number of +ε is binomial with success probability e^ε/(1 + e^ε).
//!
//! - equal parts, or few kinds of them: all sums are enumerated, exactly;
//! - many different parts: a lattice. Murtagh and Vadhan show that the exact
//!   value is #P-complete and round every ε up to a common grid, which costs in
//!   first order of its step; splitting the losses costs in second order;
//! - always: the closed form of Kairouz, Oh and Viswanath, Theorem 3.5.
//!
//! # Reference
//! Kairouz, Oh and Viswanath 2015, Theorems 3.3 and 3.5; Murtagh and Vadhan
//! 2016, Theorem 1.5.

use mizan_core::{Bracket, Interval};

use super::advanced::Mean;
use super::parts::{Part, delta_left, delta_total, sum};
use crate::numeric::pair::{Base, FiniteLoss, Pair, Sampling};
use crate::numeric::{LatticeProfile, LatticeTarget};

/// The profile of an optimal composition, from above and from below.
pub(crate) struct Optimal<'a> {
    parts: &'a [Part],
    /// None where there are too many different parts even for the lattice.
    profile: Option<LatticeProfile>,
}

impl<'a> Optimal<'a> {
    /// Prepares the profile for use around δ = e^`ln_delta`.
    pub(crate) fn new(parts: &'a [Part], ln_delta: f64) -> Self {
        Self {
            parts,
            profile: profile(parts, ln_delta),
        }
    }

    /// The ε at a total δ; None if the parts' own δ leave nothing.
    pub(crate) fn epsilon(&self, delta: Interval) -> Option<Bracket<f64>> {
        let left = delta_left(self.parts, delta);
        if left.lower() < 0.0 {
            return None;
        }
        let all = sum(self.parts, |part| part.epsilon).upper();
        let closed = if left.lower() > 0.0 {
            closed_form(self.parts, left).upper()
        } else {
            f64::INFINITY
        };
        let (mut lower, mut upper) = (0.0, all.min(closed));
        if let Some(bracket) = self.profile.as_ref().and_then(|it| it.epsilon(left)) {
            (lower, upper) = (bracket.lower, bracket.upper.min(upper));
        }
        Some(Bracket { lower, upper })
    }

    /// The total δ at an ε.
    pub(crate) fn delta(&self, epsilon: f64) -> Bracket<f64> {
        let total = |inner: Interval| delta_total(self.parts, inner.non_negative());
        let whole: Vec<Part> = without_deltas(self.parts);
        let closed = total(Mean::Tight.delta(&whole, Interval::from(epsilon))).upper();
        match &self.profile {
            Some(profile) => {
                let Bracket { lower, upper } = profile.delta(epsilon);
                Bracket {
                    lower: total(Interval::from(lower)).lower(),
                    upper: total(Interval::from(upper)).upper().min(closed),
                }
            }
            None => Bracket {
                lower: 0.0,
                upper: closed,
            },
        }
    }
}

/// The composition of randomized responses with these losses.
fn profile(parts: &[Part], ln_delta: f64) -> Option<LatticeProfile> {
    let pairs = kinds(parts)?.into_iter().map(|(epsilon, count)| {
        let pair = Pair {
            base: Base::Finite(FiniteLoss::two_point(epsilon)),
            sampling: Sampling::Whole,
        };
        (pair, count)
    });
    LatticeProfile::new(&pairs.collect::<Vec<_>>(), LatticeTarget::LnDelta(ln_delta))
}

/// Theorem 3.5 of Kairouz, Oh and Viswanath: M + √(2 S ln(e + √S/δ)) or
/// M + √(2 S ln 1/δ), whichever is less.
pub(crate) fn closed_form(parts: &[Part], delta: Interval) -> Interval {
    let mean = sum(parts, |part| part.epsilon * (part.epsilon * 0.5).tanh());
    let variance = sum(parts, |part| part.epsilon.square());
    let e = Interval::ONE.exp();
    let root = (e + variance.sqrt() / delta).ln();
    let first = mean + (variance * root * 2.0).sqrt();
    Mean::Tight
        .epsilon(&without_deltas(parts), delta)
        .map_or(first, |second| first.min(second))
}

fn without_deltas(parts: &[Part]) -> Vec<Part> {
    parts
        .iter()
        .map(|part| Part {
            delta: Interval::ZERO,
            ..*part
        })
        .collect()
}

/// The different epsilons and how often each occurs.
pub(crate) fn kinds(parts: &[Part]) -> Option<Vec<(Interval, u64)>> {
    let mut sorted: Vec<&Part> = parts
        .iter()
        .filter(|part| part.epsilon != Interval::ZERO)
        .collect();
    sorted.sort_by(|a, b| a.epsilon.upper().total_cmp(&b.epsilon.upper()));
    let mut kinds: Vec<(Interval, u64)> = Vec::new();
    for part in sorted {
        let count = part.count.upper();
        if !(part.count.lower() == count && (1.0..=9.007_199_254_740_992e15).contains(&count)) {
            return None;
        }
        // Exact: the count is a whole number up to 2^53.
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "checked above"
        )]
        let count = count as u64;
        match kinds.last_mut() {
            Some((epsilon, total)) if *epsilon == part.epsilon => {
                *total = total.checked_add(count)?
            }
            _ => kinds.push((part.epsilon, count)),
        }
    }
    Some(kinds)
}
