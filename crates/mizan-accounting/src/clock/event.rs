//! The price of an event.
//!
//! A charge that is a composition is priced part by part, and a part costs less the more the parts
//! after it leave. How much that is depends on the order in which the parts run, which may depend on
//! answers. Three facts decide what each part may count on.
//!
//! - A pure part is dominated by randomized response RR(ε0), and Laplace noise by one shift of Δ:
//!   pairs that depend on nothing. The part answers with a function of a draw from that pair,
//!   whichever mechanism is chosen later. So the draws of all such parts may be made before anything
//!   else runs, in any order: each counts on all other parts, and on those of its kind after it.
//! - The pair that dominates a discrete Gaussian part or a part of bounded range is chosen when the
//!   part runs and may depend on answers of other parts. Such parts cannot be put in an order, so
//!   each counts on the remainder of the whole charge only. Of equal parts all but the last one are
//!   followed by others of the same price, whatever runs between them.
//! - Gaussian noise costs the same everywhere.

use std::collections::BTreeMap;

use mizan_core::{DiscreteGaussian, Interval, PrivacyEvent};

use super::symmetric::Symmetric;
use super::{Price, Unpriced, UnpricedReason, femto, lattice_noise, range};
use crate::composition::concentrated::gaussian_ratio;
use crate::curves::response_loss;
use crate::numeric::local_epsilon;
use crate::numeric::mechanism::{Mechanism, one_kind_of_neighbours};
use crate::numeric::pair::Pair;
use crate::{Reason, Unsupported, walk};

impl Price {
    /// A price of an event, certified: at every remainder at least the price that the theorems of
    /// [`clock`](super) give.
    ///
    /// The δ of `approximate` parts is not in it. The ledger adds these up separately.
    ///
    /// # Errors
    ///
    /// A part has no price; the error names the part.
    pub fn of(event: &PrivacyEvent) -> Result<Self, Unpriced> {
        Ok(Parts::of(event)?.price())
    }
}

/// How deep samples may nest; the readers allow far less.
const DEEPEST: usize = 1000;

/// Above so many different pure parts they are priced in groups.
const MOST_LOSSES: usize = 100;

/// The parts of an event that consists of pure parts and Laplace noise only: the largest loss of
/// each, and how many are alike. None if there is another part.
pub(super) fn symmetric_parts(event: &PrivacyEvent) -> Option<Vec<(Symmetric, f64, u64)>> {
    if walk::nests_deeper_than(event, DEEPEST) {
        return None;
    }
    let mut parts = Parts::new();
    parts.add(Interval::ONE, event).ok()?;
    let others = !parts.lattice.is_empty() || !parts.ranges.is_empty();
    if others || parts.gaussian != Interval::ZERO {
        return None;
    }
    let of = |mechanism, losses: Losses| {
        let part = move |(bits, count)| (mechanism, f64::from_bits(bits), count);
        losses.into_iter().map(part)
    };
    let pure = of(Symmetric::Response, parts.pure);
    Some(pure.chain(of(Symmetric::Laplace, parts.laplace)).collect())
}

/// Whether some part of an event is pure or Laplace noise.
pub(super) fn has_symmetric_part(event: &PrivacyEvent) -> bool {
    Parts::of(event).is_ok_and(|parts| !parts.pure.is_empty() || !parts.laplace.is_empty())
}

/// Whether some part of an event is a mechanism with unbounded loss on a sample. [`Price::of`] does
/// not count the amplification by sampling of such a part; [`plan_price`](super::plan_price) does.
#[must_use]
pub fn is_amplified(event: &PrivacyEvent) -> bool {
    let mut found = false;
    let walked = walk::each_mechanism(event, |_, part, _| {
        let sampled = matches!(
            part,
            PrivacyEvent::Poisson { .. } | PrivacyEvent::WithoutReplacement(_)
        );
        found |= sampled && matches!(largest_loss(part), Ok(None));
        Ok(())
    });
    walked.is_ok() && found
}

/// What a charge consists of.
pub(super) struct Parts {
    /// The variance of all Gaussian parts.
    pub(super) gaussian: Interval,
    /// Discrete Gaussian parts, with how often each runs.
    pub(super) lattice: Vec<(DiscreteGaussian, u64)>,
    /// The largest loss of each pure part, with how many parts have it.
    pub(super) pure: Losses,
    /// The same of Laplace noise.
    pub(super) laplace: Losses,
    /// The range of the loss of each part of bounded range.
    pub(super) ranges: Losses,
}

/// The bits of losses, which are ordered as the losses are, and how often each occurs.
pub(super) type Losses = BTreeMap<u64, u64>;

impl Parts {
    /// The parts of an event.
    pub(super) fn of(event: &PrivacyEvent) -> Result<Self, Unpriced> {
        if walk::nests_deeper_than(event, DEEPEST) {
            return Err(Unpriced::new(
                event,
                &|| "event".to_owned(),
                Reason::TooDeep.into(),
            ));
        }
        one_kind_of_neighbours(event)?;
        let mut parts = Self::new();
        parts.add(Interval::ONE, event)?;
        for losses in [&mut parts.pure, &mut parts.laplace, &mut parts.ranges] {
            if losses.len() > MOST_LOSSES {
                *losses = rounded_up(losses);
            }
        }
        Ok(parts)
    }

    const fn new() -> Self {
        Self {
            gaussian: Interval::ZERO,
            lattice: Vec::new(),
            pure: BTreeMap::new(),
            laplace: BTreeMap::new(),
            ranges: BTreeMap::new(),
        }
    }

    /// Adds an event that runs so many times.
    fn add(&mut self, count: Interval, event: &PrivacyEvent) -> Result<(), Unpriced> {
        let mut unpriced = None;
        let walked = walk::each_mechanism(event, |times, part, path| {
            self.add_part(count * times, part).map_err(|reason| {
                unpriced = Some(Unpriced::new(part, path, reason));
                Unsupported::new(part, path, Reason::NotYet)
            })
        });
        match unpriced {
            Some(unpriced) => Err(unpriced),
            None => Ok(walked?),
        }
    }

    fn add_part(&mut self, count: Interval, part: &PrivacyEvent) -> Result<(), UnpricedReason> {
        if let Some(ratio) = gaussian_ratio(part) {
            self.gaussian = self.gaussian + ratio.square() * count;
            return Ok(());
        }
        let loss = match part {
            PrivacyEvent::DiscreteGaussian(noise) => {
                self.lattice.push((*noise, times(count)));
                return Ok(());
            }
            PrivacyEvent::ZeroConcentrated { .. } | PrivacyEvent::Concentrated { .. } => {
                return Err(UnpricedReason::Moments);
            }
            PrivacyEvent::Renyi(points) => match points.as_slice().last() {
                Some((order, epsilon)) if !order.is_finite() => epsilon.get(),
                _ => return Err(UnpricedReason::Moments),
            },
            // What is done with a sample costs at most as much on the whole data.
            PrivacyEvent::Poisson { event, .. } => match largest_loss(part).ok().flatten() {
                Some(loss) => loss,
                None => return self.add_sampled(count, event),
            },
            PrivacyEvent::WithoutReplacement(sampling) => match largest_loss(part).ok().flatten() {
                Some(loss) => loss,
                None => return self.add_sampled(count, sampling.event()),
            },
            PrivacyEvent::Laplace { scale, sensitivity } => {
                let loss = ratio(sensitivity.get(), scale.get());
                include(&mut self.laplace, loss, times(count));
                return Ok(());
            }
            PrivacyEvent::Exponential { epsilon } => {
                include(&mut self.ranges, epsilon.get(), times(count));
                return Ok(());
            }
            _ => largest_loss(part)?.ok_or(UnpricedReason::Unbounded)?,
        };
        include(&mut self.pure, loss, times(count));
        Ok(())
    }

    fn add_sampled(&mut self, count: Interval, inner: &PrivacyEvent) -> Result<(), UnpricedReason> {
        self.add(count, inner).map_err(|unpriced| unpriced.reason())
    }

    fn price(self) -> Price {
        let ranges = priced(&self.ranges, range::of);
        let mut fixed = priced(&self.pure, |loss| tabulated(Symmetric::Response, loss));
        fixed.extend(priced(&self.laplace, |loss| {
            tabulated(Symmetric::Laplace, loss)
        }));
        let lattice: Vec<_> = self
            .lattice
            .iter()
            .map(|(noise, count)| {
                (
                    Price::tabulated(|left| lattice_noise::price(noise, left)),
                    *count,
                )
            })
            .collect();
        let gaussian = femto::units_up(self.gaussian);
        Price::tabulated(|left| {
            let mut price = gaussian?;
            for (part, count) in lattice.iter().chain(&ranges) {
                price = price.checked_add(part.one_by_one(*count, left)?)?;
            }
            for (part, count) in &fixed {
                let after = left.checked_add(price)?;
                price = price.checked_add(part.one_by_one(*count, after)?)?;
            }
            Some(price)
        })
    }
}

/// The price of one of each group of equal parts, and how many there are.
fn priced(losses: &Losses, price: impl Fn(f64) -> Price) -> Vec<(Price, u64)> {
    let part = |(&bits, &count): (&u64, &u64)| (price(f64::from_bits(bits)), count);
    losses.iter().map(part).collect()
}

fn include(losses: &mut Losses, loss: f64, count: u64) {
    let before = losses.entry(loss.to_bits()).or_default();
    *before = before.saturating_add(count);
}

fn tabulated(mechanism: Symmetric, loss: f64) -> Price {
    Price::tabulated(|left| mechanism.price(loss, left))
}

/// At least a count. Counts beyond 64 bits have no price anyway.
fn times(count: Interval) -> u64 {
    let whole = count.upper().ceil();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a cast of doubles saturates"
    )]
    let whole = whole as u64;
    whole
}

/// The largest loss of a mechanism in either direction. None if it has none.
fn largest_loss(part: &PrivacyEvent) -> Result<Option<f64>, UnpricedReason> {
    Ok(match part {
        PrivacyEvent::Pure { epsilon } | PrivacyEvent::Approximate { epsilon, .. } => {
            Some(epsilon.get())
        }
        PrivacyEvent::Laplace { scale, sensitivity } => Some(ratio(sensitivity.get(), scale.get())),
        PrivacyEvent::DiscreteLaplace(noise) => {
            Some(ratio(noise.sensitivity().get(), noise.scale().get()))
        }
        PrivacyEvent::RandomizedResponse(response) => Some(response_loss(response).0.upper()),
        // Shuffling is done to the answers.
        PrivacyEvent::Shuffle { event, .. } => Some(local_epsilon(event)?),
        _ => {
            let Mechanism { remove, add, .. } = Mechanism::of(part)?;
            let pairs = [Some(remove), add];
            let loss = |pair: &Pair| {
                let fails = pair.infinite_mass().upper() > 0.0;
                let largest = pair.largest_loss().upper();
                (!fails && largest < f64::INFINITY).then(|| largest.max(0.0))
            };
            let each: Option<Vec<f64>> = pairs.iter().flatten().map(loss).collect();
            each.map(|each| each.into_iter().fold(0.0, f64::max))
        }
    })
}

fn ratio(large: f64, small: f64) -> f64 {
    (Interval::from(large) / small).upper()
}

/// The same parts, each with a slightly larger loss of eight binary digits.
fn rounded_up(losses: &Losses) -> Losses {
    const DIGITS_LEFT_OUT: u32 = 52 - 8;
    let mut groups = Losses::new();
    for (&bits, &count) in losses {
        let rounded = bits.div_ceil(1 << DIGITS_LEFT_OUT) << DIGITS_LEFT_OUT;
        include(&mut groups, f64::from_bits(rounded), count);
    }
    groups
}
