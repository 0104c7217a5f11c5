//! The Rényi divergence of two finite distributions, by its definition.
//!
//! With l = ln(p/q) the moment is written beyond the tangent of the
//! exponential, f(x) = e^x - 1 - x, so that every term is non-negative and
//! nothing cancels, however close the distributions and however close the
//! order to one:
//!
//! > e^((α-1) D_α) - 1 = Σ p [ f((α-1) l) + (α-1) f(-l) ] + (α-1) Q(p = 0).
//!
//! # Reference
//! Mironov 2017, Definition 3. Outcomes that only P has make every order
//! infinite; outcomes that only Q has count as 0^α = 0.

use mizan_core::directed::DirectedSum;
use mizan_core::{Bracket, Code, Epsilon, Interval, Order, Probability};

use crate::curves::{Between, Position};

/// A probability distribution over finitely many outcomes.
#[derive(Clone, Debug, PartialEq)]
pub struct FiniteDistribution {
    probabilities: Vec<Interval>,
}

/// Why numbers are not a distribution, or two distributions not a pair.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DistributionError {
    /// No outcomes.
    #[error("a distribution needs at least one outcome")]
    Empty,
    /// A number that is not a probability.
    #[error("outcome {index} has probability {value}, which is not in [0, 1]")]
    NotAProbability {
        /// The outcome, counted from one.
        index: usize,
        /// The number given.
        value: f64,
    },
    /// The sum is not one.
    #[error("the probabilities add up to {sum}, not to 1")]
    NotNormalised {
        /// The sum.
        sum: f64,
    },
    /// The two distributions are over different outcomes.
    #[error("p has {p} outcomes and q has {q}")]
    DifferentSizes {
        /// Outcomes of the first.
        p: usize,
        /// Outcomes of the second.
        q: usize,
    },
}

impl DistributionError {
    /// The stable code of this error.
    pub fn code(&self) -> Code {
        match self {
            Self::Empty => Code::MZ1301,
            Self::NotAProbability { .. } => Code::MZ1302,
            Self::NotNormalised { .. } => Code::MZ1303,
            Self::DifferentSizes { .. } => Code::MZ1304,
        }
    }

    /// What to do about it.
    pub fn help(&self) -> String {
        match self {
            Self::Empty => "write the probabilities like 0.25,0.75",
            Self::NotAProbability { .. } => "every probability lies between 0 and 1",
            Self::NotNormalised { .. } => "divide by the sum, or write fractions such as 1/3",
            Self::DifferentSizes { .. } => {
                "give both the same outcomes in the same order; use 0 where one cannot occur"
            }
        }
        .to_owned()
    }
}

impl FiniteDistribution {
    /// The distribution with these probabilities.
    ///
    /// If the doubles add up to exactly one they are taken as they stand. If
    /// the sum is off by no more than their rounding (such as ten times 0.1),
    /// each stands for the number it was rounded from.
    ///
    /// # Errors
    ///
    /// There are none, one is not a probability, or they do not add up to one.
    pub fn new(probabilities: &[f64]) -> Result<Self, DistributionError> {
        let exact = probabilities.iter().map(|&p| Interval::from(p));
        let exact = Self::enclosed(exact.collect());
        let Err(DistributionError::NotNormalised { .. }) = exact else {
            return exact;
        };
        let rounded = probabilities.iter().map(|&p| {
            if p == 0.0 {
                Interval::ZERO
            } else {
                Interval::new(p.next_down(), p.next_up().min(1.0))
            }
        });
        Self::enclosed(rounded.collect())
    }

    /// The distribution whose probabilities lie in these intervals, as when
    /// they were written as decimals or fractions.
    ///
    /// # Errors
    ///
    /// As for [`new`](Self::new); no choice within the intervals adds up to one.
    pub fn enclosed(probabilities: Vec<Interval>) -> Result<Self, DistributionError> {
        if probabilities.is_empty() {
            return Err(DistributionError::Empty);
        }
        let mut sum = DirectedSum::default();
        for (index, p) in probabilities.iter().enumerate() {
            if !(p.lower() >= 0.0 && p.upper() <= 1.0) {
                return Err(DistributionError::NotAProbability {
                    index: index + 1,
                    value: p.upper(),
                });
            }
            sum.add(p.lower(), p.upper());
        }
        if sum.lower() <= 1.0 && 1.0 <= sum.upper() {
            Ok(Self { probabilities })
        } else {
            Err(DistributionError::NotNormalised { sum: sum.upper() })
        }
    }

    /// Two outcomes, of which the first has this probability.
    pub fn two_outcomes(p: Probability) -> Self {
        let p = Interval::from(p.get());
        let rest = (Interval::ONE - p).non_negative().min(Interval::ONE);
        Self {
            probabilities: vec![p, rest],
        }
    }

    /// D_α(self ‖ other), certified.
    ///
    /// # Errors
    ///
    /// The distributions have different numbers of outcomes.
    ///
    /// ```
    /// use mizan_accounting::FiniteDistribution;
    /// use mizan_core::Order;
    ///
    /// let p = FiniteDistribution::new(&[0.5, 0.5])?;
    /// let q = FiniteDistribution::new(&[0.75, 0.25])?;
    /// let divergence = p.divergence(&q, Order::INFINITE)?;
    /// assert!((divergence.upper.get() - 2f64.ln()).abs() < 1e-15);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn divergence(
        &self,
        other: &Self,
        order: Order,
    ) -> Result<Bracket<Epsilon>, DistributionError> {
        let (p, q) = (self.probabilities.len(), other.probabilities.len());
        if p != q {
            return Err(DistributionError::DifferentSizes { p, q });
        }
        Ok(self.enclosure(other, order).non_negative().into())
    }

    fn enclosure(&self, other: &Self, order: Order) -> Interval {
        let mut common = Vec::with_capacity(self.probabilities.len());
        let mut only_q = Interval::ZERO;
        for (&p, &q) in self.probabilities.iter().zip(&other.probabilities) {
            if p == Interval::ZERO {
                only_q = only_q + q;
            } else if q == Interval::ZERO {
                return Interval::INFINITE;
            } else {
                common.push(Outcome::new(p, q));
            }
        }
        match Position::of(order) {
            Position::One => sum(common.iter().map(|outcome| outcome.beyond)) + only_q,
            Position::Between(order) => moment(&common, only_q, order),
            Position::Infinite => common
                .iter()
                .map(|outcome| outcome.loss)
                .reduce(Interval::max)
                .unwrap_or(Interval::INFINITE),
        }
    }
}

/// An outcome that both distributions have.
struct Outcome {
    p: Interval,
    /// l = ln(p/q).
    loss: Interval,
    /// p f(-l) = q - p + p l, the share of the divergence at order one.
    beyond: Interval,
}

impl Outcome {
    fn new(p: Interval, q: Interval) -> Self {
        let loss = log_ratio(p, q);
        let beyond = if loss.upper() < -1.0 {
            // q is the largest of the three, and e^-l may be beyond doubles.
            (q - p + p * loss).non_negative()
        } else {
            p * (-loss).exp_beyond_tangent()
        };
        Self { p, loss, beyond }
    }
}

fn moment(common: &[Outcome], only_q: Interval, Between { b, .. }: Between) -> Interval {
    let largest = common
        .iter()
        .map(|outcome| (b * outcome.loss).upper())
        .fold(f64::NEG_INFINITY, f64::max);
    if largest < 600.0 {
        let beyond = common
            .iter()
            .map(|Outcome { p, loss, beyond }| *p * (b * *loss).exp_beyond_tangent() + b * *beyond);
        (sum(beyond) + b * only_q).ln_1p() / b
    } else {
        let scaled = sum(common
            .iter()
            .map(|outcome| outcome.p * (b * outcome.loss - largest).exp()));
        (scaled.ln() + largest) / b
    }
}

/// ln(p/q), accurate also where the two are close.
fn log_ratio(p: Interval, q: Interval) -> Interval {
    let relative = (p - q) / q;
    if relative.abs().upper() < 0.5 {
        relative.ln_1p()
    } else {
        (p / q).ln()
    }
}

/// The sum of many enclosed numbers.
pub(crate) fn sum(terms: impl Iterator<Item = Interval>) -> Interval {
    let mut sum = DirectedSum::default();
    terms.for_each(|term| sum.add(term.lower(), term.upper()));
    Interval::new(sum.lower(), sum.upper())
}
