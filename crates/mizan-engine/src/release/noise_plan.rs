//! The noise plan of a release: everything that is decided before private data is read.
//!
//! It says which mechanism each statistic gets, which groups are shown, and what it all costs.
//! It depends on the bounded plan and the request only.

use mizan_core::{
    Count, Delta, DiscreteGaussian, DiscreteLaplace, Epsilon, PrivacyEvent, Rho, Scale,
    Sensitivity, Sigma, directed,
};
use mizan_noise::{Confidence, ExactScale, Mechanism, Noise, NoiseError, TruncatedGeometric};
use mizan_sql::{BoundedPlan, GroupBounding, Groups};

use super::quantile_target::QuantileTarget;
use super::reason::ChoiceReason;
use super::released::Released;
use super::{ReleaseError, price, recursive};

/// The mechanism for a statistic of every group.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum StatisticMechanism {
    /// Discrete Laplace noise.
    Laplace {
        /// Its scale, in steps of the statistic.
        scale: f64,
        /// How much one unit changes the statistic in one group.
        sensitivity: u64,
    },
    /// Discrete Gaussian noise.
    Gaussian {
        /// Its sigma, in steps of the statistic.
        sigma: f64,
        /// How much one unit changes the statistic in one group.
        sensitivity: u64,
    },
    /// Truncated geometric noise, for the unit counts of private groups.
    Truncated {
        /// The epsilon of one group.
        epsilon: f64,
        /// The delta of one group.
        delta: f64,
    },
    /// Quantiles of a histogram, each by the exponential mechanism.
    Select {
        /// The epsilon of each quantile in one group.
        epsilon: f64,
        /// The most rows of one unit.
        rows: u64,
        /// The target ranks.
        targets: Vec<QuantileTarget>,
    },
    /// Several quantiles of a histogram by the Kaplan-Schnapp-Stemmer recursion; minimum and
    /// maximum separately.
    Recursive {
        /// The epsilon of each depth, and of each of minimum and maximum, in one group.
        epsilon: f64,
        /// The most rows of one unit.
        rows: u64,
        /// The target ranks.
        targets: Vec<QuantileTarget>,
    },
    /// Many quantiles of a histogram, from a tree of noisy counts.
    Tree {
        /// The mechanism for each count: Laplace or Gaussian noise.
        noise: Box<Self>,
        /// The number of levels of the tree.
        levels: u32,
        /// The target ranks.
        targets: Vec<QuantileTarget>,
    },
}

impl StatisticMechanism {
    /// The additive noise, if there is any. For truncated noise this is the untruncated noise
    /// of the same rate, which is wider.
    pub(crate) fn noise(&self) -> Result<Option<Noise>, ReleaseError> {
        Ok(match self {
            Self::Laplace { .. } | Self::Gaussian { .. } => Some(self.mechanism()?.noise().clone()),
            Self::Truncated { epsilon, .. } => {
                let scale = ExactScale::from_f64((1.0 / epsilon).next_up().max(LEAST_SCALE))?;
                Some(Noise::Laplace(mizan_noise::DiscreteLaplace::new(scale)))
            }
            Self::Select { .. } | Self::Recursive { .. } | Self::Tree { .. } => None,
        })
    }

    /// The target ranks, in the order of the released values.
    pub(crate) fn targets(&self) -> Option<&[QuantileTarget]> {
        match self {
            Self::Select { targets, .. }
            | Self::Recursive { targets, .. }
            | Self::Tree { targets, .. } => Some(targets),
            Self::Laplace { .. } | Self::Gaussian { .. } | Self::Truncated { .. } => None,
        }
    }

    /// The least a with `P(|noise| <= a) >= 1 - missed`, or slightly more.
    pub(crate) fn half_width(&self, missed: f64) -> Result<Option<f64>, ReleaseError> {
        let Some(noise) = self.noise()? else {
            return Ok(None);
        };
        let width = noise.half_width(Confidence::new(1.0 - missed)?)?;
        #[allow(clippy::cast_precision_loss, reason = "rounded up where it is inexact")]
        let nearest = width as f64;
        let width = if width >> 53 == 0 {
            nearest
        } else {
            nearest.next_up()
        };
        Ok(Some(match self {
            Self::Truncated { .. } => width.min(self.bound()?),
            _ => width,
        }))
    }

    fn bound(&self) -> Result<f64, ReleaseError> {
        #[allow(clippy::cast_precision_loss, reason = "a bound from above is enough")]
        Ok(self
            .truncated()?
            .map_or(f64::INFINITY, |keys| keys.bound() as f64))
    }

    /// The mechanism that adds Laplace or Gaussian noise.
    pub(crate) fn mechanism(&self) -> Result<Mechanism, ReleaseError> {
        match self.event()? {
            PrivacyEvent::DiscreteLaplace(event) => Ok(Mechanism::laplace(event)?),
            PrivacyEvent::DiscreteGaussian(event) => Ok(Mechanism::gaussian(event)?),
            _ => Err(ReleaseError::Plan {
                what: "a statistic is released by another mechanism",
            }),
        }
    }

    /// The truncated geometric mechanism.
    pub(crate) fn truncated(&self) -> Result<Option<TruncatedGeometric>, ReleaseError> {
        Ok(match self {
            Self::Truncated { epsilon, delta } => {
                let (epsilon, delta) = (Epsilon::new(*epsilon), Delta::new(*delta));
                let (Ok(epsilon), Ok(delta)) = (epsilon, delta) else {
                    return Err(ReleaseError::TooWide);
                };
                Some(TruncatedGeometric::new(epsilon, delta)?)
            }
            _ => None,
        })
    }

    /// What one group costs a unit.
    pub(crate) fn event(&self) -> Result<PrivacyEvent, ReleaseError> {
        let wide = |_| ReleaseError::TooWide;
        match self {
            Self::Laplace { scale, sensitivity } => {
                let scale = Scale::new(*scale).map_err(wide)?;
                let event = DiscreteLaplace::new(scale, sensitivity_of(*sensitivity)?);
                let event = event.map_err(|_| ReleaseError::TooWide)?;
                Ok(PrivacyEvent::DiscreteLaplace(event))
            }
            Self::Gaussian { sigma, sensitivity } => {
                let sigma = Sigma::new(*sigma).map_err(wide)?;
                let event = DiscreteGaussian::new(sigma, sensitivity_of(*sensitivity)?);
                let event = event.map_err(|_| ReleaseError::TooWide)?;
                Ok(PrivacyEvent::DiscreteGaussian(event))
            }
            Self::Truncated { epsilon, delta } => Ok(PrivacyEvent::Approximate {
                epsilon: Epsilon::new(*epsilon).map_err(wide)?,
                delta: Delta::new(*delta).map_err(wide)?,
            }),
            Self::Select {
                epsilon, targets, ..
            } => {
                let epsilon = Epsilon::new(*epsilon).map_err(wide)?;
                let count = u64::try_from(targets.len()).unwrap_or(u64::MAX);
                repeated(count, PrivacyEvent::Exponential { epsilon })
            }
            Self::Recursive {
                epsilon, targets, ..
            } => {
                let epsilon = Epsilon::new(*epsilon).map_err(wide)?;
                repeated(
                    recursive::selections(targets),
                    PrivacyEvent::Exponential { epsilon },
                )
            }
            Self::Tree { noise, levels, .. } => repeated(u64::from(*levels), noise.event()?),
        }
    }
}

/// The least scale that noise is sampled with.
pub(crate) const LEAST_SCALE: f64 = 1.0 / 1024.0;

/// The largest scale.
pub(crate) const LARGEST_SCALE: f64 = 1.8e19;

fn sensitivity_of(sensitivity: u64) -> Result<Sensitivity, ReleaseError> {
    // Contributions are below 2^53.
    #[allow(clippy::cast_precision_loss, reason = "contributions are below 2^30")]
    Sensitivity::new(sensitivity.max(1) as f64).map_err(|_| ReleaseError::TooWide)
}

/// The composition of `count` copies of an event; an empty composition for zero.
pub(crate) fn repeated(count: u64, event: PrivacyEvent) -> Result<PrivacyEvent, ReleaseError> {
    Ok(match count {
        0 => PrivacyEvent::Compose(Vec::new()),
        1 => event,
        _ => PrivacyEvent::Repeat {
            count: Count::new(count).map_err(|_| ReleaseError::TooWide)?,
            event: Box::new(event),
        },
    })
}

/// The threshold of partition selection: a private group is shown if its noisy number of units
/// is above it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Threshold {
    /// A group is shown if its noisy number of units is strictly above this.
    pub(crate) above: u64,
    /// The probability that a group is shown that contains only the unit in which two
    /// neighbouring datasets differ, over all groups of that unit. Charged as reserved delta,
    /// unless the event of the noise includes it.
    pub(crate) delta: f64,
}

/// The noise of a release: everything but the data that its output depends on.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct NoiseParameters {
    /// The most groups that a unit is in.
    pub(crate) groups_per_unit: u64,
    /// The mechanism of each statistic.
    pub(crate) mechanisms: Vec<StatisticMechanism>,
    /// Which groups are shown; None if all are.
    pub(crate) threshold: Option<Threshold>,
}

impl NoiseParameters {
    /// The mechanism of a statistic.
    pub(crate) fn mechanism(&self, statistic: usize) -> Result<&StatisticMechanism, ReleaseError> {
        self.mechanisms.get(statistic).ok_or(ReleaseError::Plan {
            what: "no such statistic",
        })
    }
}

/// The noise plan of a release, with its cost.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct NoisePlan {
    pub(super) noise: NoiseParameters,
    group_bounding: GroupBounding,
    event: PrivacyEvent,
    epsilon: Epsilon,
    delta: Delta,
    why: Vec<ChoiceReason>,
}

impl NoisePlan {
    pub(super) fn new(
        noise: NoiseParameters,
        charged: Charged,
        epsilon: f64,
        delta: f64,
        why: Vec<ChoiceReason>,
    ) -> Result<Self, ReleaseError> {
        let (groups, mechanisms) = (noise.groups_per_unit, &noise.mechanisms);
        Ok(Self {
            event: event(groups, mechanisms, noise.threshold, charged)?,
            noise,
            group_bounding: charged.group_bounding,
            epsilon: Epsilon::saturating(epsilon),
            delta: Delta::saturating(delta),
            why,
        })
    }

    /// The event of a release.
    ///
    /// # Guarantee
    ///
    /// At most `groups_per_unit` groups differ between neighbouring datasets, and each
    /// statistic of such a group by at most its sensitivity. So the composition of that many
    /// scalar mechanisms covers the vector of all groups. Groups that do not differ cost
    /// nothing. A group that contains only the unit in question is shown with at most the
    /// probability of the threshold, which is the approximate event.
    ///
    /// If units are clipped, any number of groups may differ: see [`clipped_event`].
    pub(crate) fn event(&self) -> PrivacyEvent {
        self.event.clone()
    }

    /// The plan that the engine runs: the contribution bounding across groups depends on the
    /// noise.
    pub(crate) fn apply_to(&self, plan: BoundedPlan) -> BoundedPlan {
        BoundedPlan {
            group_bounding: self.group_bounding,
            ..plan
        }
    }

    /// Whether a plan has the contribution bounding across groups of this noise plan.
    pub(super) fn is_for(&self, plan: &BoundedPlan) -> bool {
        let statistics = self.noise.mechanisms.len() == plan.statistics.len();
        statistics && self.group_bounding == plan.group_bounding
    }

    /// The certified epsilon of the event at [`delta`](Self::delta), by the best method.
    pub(crate) const fn epsilon(&self) -> Epsilon {
        self.epsilon
    }

    /// The delta at which epsilon is certified.
    pub(crate) const fn delta(&self) -> Delta {
        self.delta
    }

    /// Why this noise was chosen.
    pub(crate) fn why(&self) -> Vec<ChoiceReason> {
        self.why.clone()
    }

    /// The threshold of partition selection: groups with at most this many units after
    /// noise are hidden. None if the groups are public.
    pub(crate) fn threshold(&self) -> Option<u64> {
        self.noise.threshold.map(|threshold| threshold.above)
    }

    /// The noise plan as bytes: the same for the same noise, whatever was requested.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.noise.to_bytes()
    }

    /// A bound on the bytes of a stored release ([`Released::bytes_bound`]).
    pub(crate) fn bytes_bound(&self, groups: &Groups) -> usize {
        Released::bytes_bound(&self.noise, groups)
    }
}

/// What the event depends on besides the noise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Charged {
    /// The contribution bounding across groups.
    pub(crate) group_bounding: GroupBounding,
    /// Whether the account, or one above it, has a Gaussian clock.
    pub(crate) on_clock: bool,
}

/// The event of these mechanisms in this many groups.
pub(crate) fn event(
    groups: u64,
    mechanisms: &[StatisticMechanism],
    threshold: Option<Threshold>,
    charged: Charged,
) -> Result<PrivacyEvent, ReleaseError> {
    if charged.group_bounding == GroupBounding::ClipL2 {
        return clipped_event(groups, mechanisms, charged.on_clock);
    }
    let mut parts = Vec::with_capacity(mechanisms.len());
    let mut fails_apart = threshold;
    for mechanism in mechanisms {
        if matches!(mechanism, StatisticMechanism::Truncated { .. }) {
            fails_apart = None;
        }
        match mechanism.event()? {
            PrivacyEvent::Compose(none) if none.is_empty() => {}
            event => parts.push(event),
        }
    }
    let groups = groups.max(1);
    let all = match parts.split_first() {
        None => PrivacyEvent::Compose(Vec::new()),
        // Equal mechanisms: one event, repeated.
        Some((first, rest)) if rest.iter().all(|part| part == first) => {
            let parts = u64::try_from(parts.len()).unwrap_or(u64::MAX);
            let count = groups.checked_mul(parts).ok_or(ReleaseError::TooWide)?;
            repeated(count, first.clone())?
        }
        Some(_) => repeated(groups, PrivacyEvent::Compose(parts))?,
    };
    Ok(match fails_apart {
        Some(Threshold { delta, .. }) => PrivacyEvent::Compose(vec![
            all,
            PrivacyEvent::Approximate {
                epsilon: Epsilon::ZERO,
                delta: Delta::new(delta).map_err(|_| ReleaseError::NoDelta)?,
            },
        ]),
        None => all,
    })
}

/// The event of Gaussian noise where units are clipped to the norm of `groups` full groups.
///
/// # Guarantee
///
/// One unit changes the integers of all groups by a vector x with `Σ (x / B)² <= C m` for C
/// groups, m statistics and the sensitivity B of each (`mizan_sql::clip`). So `Σ (x / σ)² <= μ²`
/// with `μ² = C m max (B/σ)²`, for any number of groups that the vector spans, and a unit of C
/// full groups reaches it.
///
/// - For accounts without a Gaussian clock the event is ρ-zCDP with ρ = μ²/2, rounded up. Discrete
///   Gaussian noise under a shift by the integer x has a Rényi divergence of order α of at most
///   `α x² / 2σ²` (Canonne, Kamath and Steinke 2020, Proposition 5), and divergences of
///   independent noise add up.
/// - On a clock, where zCDP has no price, it is discrete Gaussian noise of the
///   least σ and a whole squared norm of at least `μ² σ²`. If all σ are equal, that is what the
///   noise is. If not, its price on the clock holds too (docs/spec/mathematics.md 4.9), and its
///   Rényi curve is `α n² / 2σ²` from σ = 2 on, which is at least the bound above. Privacy loss
///   distributions of several coordinates are not computed (MZ1215).
fn clipped_event(
    groups: u64,
    mechanisms: &[StatisticMechanism],
    on_clock: bool,
) -> Result<PrivacyEvent, ReleaseError> {
    let (mut most, mut least_sigma) = (0.0_f64, f64::INFINITY);
    for mechanism in mechanisms {
        let StatisticMechanism::Gaussian { sigma, sensitivity } = mechanism else {
            return Err(ReleaseError::Plan {
                what: "units are clipped, and the noise is not Gaussian",
            });
        };
        let ratio = directed::div_up(as_f64_up(*sensitivity), *sigma);
        most = most.max(directed::mul_up(ratio, ratio));
        least_sigma = least_sigma.min(*sigma);
    }
    let statistics = u64::try_from(mechanisms.len()).unwrap_or(u64::MAX);
    let parts = as_f64_up(groups.max(1).saturating_mul(statistics));
    let wide = |_| ReleaseError::TooWide;
    if on_clock && least_sigma >= LEAST_NORM_SIGMA && least_sigma.is_finite() {
        let variance = directed::mul_up(least_sigma, least_sigma);
        let square = directed::mul_up(directed::mul_up(parts, most), variance);
        // The event takes the whole part of its squared sensitivity.
        let norm = price::spent(directed::add_up(square, 1.0).sqrt().next_up());
        let noise = DiscreteGaussian::new(
            Sigma::new(least_sigma).map_err(wide)?,
            Sensitivity::new(norm).map_err(wide)?,
        );
        return Ok(PrivacyEvent::DiscreteGaussian(
            noise.map_err(|_| ReleaseError::TooWide)?,
        ));
    }
    let rho = price::spent(directed::mul_up(parts / 2.0, most));
    let rho = Rho::new(rho).map_err(wide)?;
    Ok(PrivacyEvent::ZeroConcentrated { rho })
}

/// From this σ on the Rényi curve of discrete Gaussian noise over a norm has no correction. Clipped
/// contributions are in steps of 2⁻¹⁰, so that only noise that hides nothing has less.
const LEAST_NORM_SIGMA: f64 = 2.0;

/// The nearest double that is not below.
#[allow(clippy::cast_precision_loss, reason = "rounded up where it is inexact")]
fn as_f64_up(value: u64) -> f64 {
    let nearest = value as f64;
    if value >> 53 == 0 {
        nearest
    } else {
        nearest.next_up()
    }
}

/// The least integer threshold for Gaussian noise on unit counts, by bisection.
///
/// # Guarantee
///
/// `P(1 + noise > threshold) <= delta / groups`, so the probability that any of `groups` groups
/// of one unit each is shown is at most `delta`.
pub(crate) fn gaussian_threshold(
    noise: &Noise,
    groups: u64,
    delta: f64,
) -> Result<u64, ReleaseError> {
    #[allow(clippy::cast_precision_loss, reason = "rounded to the safe side below")]
    let groups = (groups.max(1) as f64).next_up();
    let allowed = mizan_core::directed::div_down(delta, groups);
    // P(X >= t) is half of P(|X| > t - 1), for t >= 1.
    let fits =
        |threshold: u64| threshold >= 1 && noise.tail(u128::from(threshold - 1)) * 0.5 <= allowed;
    let (mut fails, mut holds) = (0, 1);
    while !fits(holds) {
        fails = holds;
        holds = holds
            .checked_mul(2)
            .filter(|&wide| wide <= 1 << 62)
            .ok_or(ReleaseError::Noise(NoiseError::Overflow { bits: 64 }))?;
    }
    while holds - fails > 1 {
        let middle = u64::midpoint(fails, holds);
        if fits(middle) {
            holds = middle;
        } else {
            fails = middle;
        }
    }
    Ok(holds)
}
