//! A user-defined mechanism as a pair of finite distributions: its outputs with and without a privacy
//! unit.
//!
//! It is given as two probabilities per outcome, or as a privacy loss distribution. The numbers are
//! the doubles nearest to the input; distributions are normalised, so small errors of the sums do
//! not matter.

use super::{EventError, EventProblem};
use crate::directed::DirectedSum;
use crate::units::Range;
use std::sync::Arc;

/// How far the sum of the probabilities of a finite mechanism may be from 1.
const TOLERANCE: f64 = 1e-9;

/// The largest number of outcomes of a finite mechanism.
const MAX_OUTCOMES: usize = 1_000_000;

/// The outputs of a mechanism on two neighbouring inputs, when they are finite
/// distributions.
///
/// ```
/// use mizan_core::FinitePair;
///
/// let response = FinitePair::new(&[(0.75, 0.25), (0.25, 0.75)])?;
/// assert!(FinitePair::new(&[(0.75, 0.25), (0.2, 0.75)]).is_err());
/// let losses = FinitePair::from_losses(&[(0.1, 0.9)], 0.1)?;
/// assert_ne!(response, losses);
/// # Ok::<(), mizan_core::EventError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct FinitePair(FiniteOutcomes);

/// The outcomes as they were given: a loss is not recomputed from
/// probabilities, where it would lose digits.
#[derive(Clone, Debug, PartialEq)]
pub enum FiniteOutcomes {
    /// For each outcome its probability with the person and without. Each
    /// column adds up to 1, but for the last digits, and counts as scaled to.
    Probabilities(Arc<[(f64, f64)]>),
    /// The privacy-loss distribution.
    Losses {
        /// For each outcome the loss ln(p/q) and its probability p; together
        /// with `infinite` they count as scaled to add up to 1. What p e^-loss
        /// lacks to 1 is an outcome that never happens with the person.
        atoms: Arc<[(f64, f64)]>,
        /// The probability of an outcome that never happens without the person.
        infinite: f64,
    },
}

impl FinitePair {
    /// One (p, q) per outcome: its probability with the person, and without.
    ///
    /// # Errors
    ///
    /// There are no outcomes or more than a million, a number is not a probability, or a column does
    /// not add up to 1 within 1e-9.
    pub fn new(outcomes: &[(f64, f64)]) -> Result<Self, EventError> {
        limit(outcomes.len())?;
        let mut checked = Vec::with_capacity(outcomes.len());
        for &(p, q) in outcomes {
            checked.push((probability("p", p)?, probability("q", q)?));
        }
        adds_up("p", checked.iter().map(|outcome| outcome.0))?;
        adds_up("q", checked.iter().map(|outcome| outcome.1))?;
        Ok(Self(FiniteOutcomes::Probabilities(checked.into())))
    }

    /// One (loss, probability) per outcome, and the probability `infinite` of
    /// an infinite loss. The loss is ln(p/q), the probability is p.
    ///
    /// # Errors
    ///
    /// There are no outcomes or more than a million, a number is not a probability or not a finite
    /// loss, the probabilities do not add up to 1 within 1e-9, or the p e^-loss add up to more.
    pub fn from_losses(atoms: &[(f64, f64)], infinite: f64) -> Result<Self, EventError> {
        limit(atoms.len() + usize::from(infinite != 0.0))?;
        let infinite = probability("infinite", infinite)?;
        let mut checked = Vec::with_capacity(atoms.len());
        for &(loss, p) in atoms {
            if !loss.is_finite() {
                return Err(EventProblem::LossNotFinite { loss }.into());
            }
            // The sum of the two zeros is the positive one.
            checked.push((loss + 0.0, probability("probability", p)?));
        }
        let probabilities = checked.iter().map(|atom| atom.1);
        adds_up("probabilities", probabilities.chain([infinite]))?;
        // Under the logarithm neither factor overflows.
        let without: f64 = checked
            .iter()
            .filter(|atom| atom.1 > 0.0)
            .map(|(loss, p)| (p.ln() - loss).exp())
            .sum();
        if without > 1.0 + TOLERANCE {
            return Err(EventProblem::LossesTooSmall { sum: without }.into());
        }
        let atoms = checked.into();
        Ok(Self(FiniteOutcomes::Losses { atoms, infinite }))
    }

    /// The outcomes, in the form and the order they were given.
    #[must_use]
    pub const fn outcomes(&self) -> &FiniteOutcomes {
        &self.0
    }
}

fn limit(outcomes: usize) -> Result<(), EventProblem> {
    match outcomes {
        0 => Err(EventProblem::NoOutcomes),
        _ if outcomes > MAX_OUTCOMES => Err(EventProblem::TooManyOutcomes {
            outcomes,
            most: MAX_OUTCOMES,
        }),
        _ => Ok(()),
    }
}

fn probability(name: &'static str, value: f64) -> Result<f64, EventProblem> {
    let event = "finite";
    let checked = Range::UnitInterval.check(name, value);
    checked.map_err(|unit| EventProblem::Value { event, unit })
}

fn adds_up(
    column: &'static str,
    probabilities: impl Iterator<Item = f64>,
) -> Result<(), EventProblem> {
    let mut sum = DirectedSum::default();
    for p in probabilities {
        sum.add(p, p);
    }
    if sum.upper() < 1.0 - TOLERANCE || sum.lower() > 1.0 + TOLERANCE {
        let sum = 0.5 * (sum.lower() + sum.upper());
        return Err(EventProblem::NotADistribution { column, sum });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(result: Result<FinitePair, EventError>) -> &'static str {
        result.unwrap_err().code().as_str()
    }

    #[test]
    fn columns_are_distributions() {
        assert!(FinitePair::new(&[(1.0, 1.0)]).is_ok());
        assert!(FinitePair::new(&[(0.1, 0.1); 10]).is_ok());
        assert!(FinitePair::new(&[(0.5, 0.0), (0.5, 1.0)]).is_ok());
        assert_eq!(code(FinitePair::new(&[])), "MZ1132");
        let many = vec![(1e-7, 1e-7); MAX_OUTCOMES + 1];
        assert_eq!(code(FinitePair::new(&many)), "MZ1133");
        let short = FinitePair::new(&[(0.5, 0.5), (0.5, 0.4)]).unwrap_err();
        assert_eq!(short.code(), "MZ1134");
        assert_eq!(short.to_string(), "finite: the q add up to 0.9, not to 1");
        assert_eq!(code(FinitePair::new(&[(0.6, 0.5), (0.5, 0.5)])), "MZ1134");
        for bad in [-0.1, 1.5, f64::NAN, f64::INFINITY] {
            assert_eq!(code(FinitePair::new(&[(bad, 1.0), (0.5, 0.0)])), "MZ1110");
        }
    }

    #[test]
    fn losses_are_a_distribution_too() {
        let e = 0.5_f64;
        let p = e.exp() / (1.0 + e.exp());
        assert!(FinitePair::from_losses(&[(e, p), (-e, 1.0 - p)], 0.0).is_ok());
        assert!(FinitePair::from_losses(&[], 1.0).is_ok());
        assert!(FinitePair::from_losses(&[(700.0, 1.0)], 0.0).is_ok());
        assert!(FinitePair::from_losses(&[(0.0, 1.0), (-1e300, 0.0)], 0.0).is_ok());
        assert_eq!(code(FinitePair::from_losses(&[], 0.0)), "MZ1132");
        assert_eq!(code(FinitePair::from_losses(&[(0.1, 0.5)], 0.4)), "MZ1134");
        assert_eq!(code(FinitePair::from_losses(&[(-0.1, 1.0)], 0.0)), "MZ1135");
        assert_eq!(
            code(FinitePair::from_losses(&[(-1e300, 1.0)], 0.0)),
            "MZ1135"
        );
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert_eq!(code(FinitePair::from_losses(&[(bad, 1.0)], 0.0)), "MZ1136");
            assert_eq!(code(FinitePair::from_losses(&[(0.0, 1.0)], bad)), "MZ1110");
        }
    }
}
