//! The price of an event.
//!
//! A charge that is a composition is priced part by part. Parts with a fixed dominating pair may be
//! put in any order, whatever depends on their answers, because the pairs do not. So randomized
//! response, which dominates the pure parts, is taken to run first, and each answer is priced with
//! all that follows left: the price falls with the remainder. Discrete Gaussian noise, whose pair
//! depends on the data, is priced with nothing but the remainder of the whole charge left, and
//! Gaussian noise costs the same everywhere.

use std::collections::BTreeMap;

use mizan_core::{DiscreteGaussian, Interval, PrivacyEvent};

use super::{Price, Unpriced, UnpricedReason, femto, lattice_noise, pure, range};
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
        if walk::nests_deeper_than(event, DEEPEST) {
            return Err(Unpriced::new(
                event,
                &|| "event".to_owned(),
                Reason::TooDeep.into(),
            ));
        }
        one_kind_of_neighbours(event)?;
        let mut parts = Parts::new();
        parts.add(Interval::ONE, event)?;
        Ok(parts.price())
    }
}

/// Equal parts of an event that are pure.
pub(super) struct PureParts {
    /// The largest loss of one.
    pub(super) loss: f64,
    pub(super) count: u64,
    /// The price of one.
    pub(super) price: Price,
}

/// The parts of an event, if all of them are pure.
pub(super) fn pure_parts(event: &PrivacyEvent) -> Option<Vec<PureParts>> {
    if walk::nests_deeper_than(event, DEEPEST) {
        return None;
    }
    let mut parts = Parts::new();
    parts.add(Interval::ONE, event).ok()?;
    let pure = parts.gaussian == Interval::ZERO && parts.lattice.is_empty();
    pure.then(|| parts.pure_parts())
}

/// How deep samples may nest; the readers allow far less.
const DEEPEST: usize = 1000;

/// Above so many different pure parts they are priced in groups.
const MOST_LOSSES: usize = 100;

/// What a charge consists of.
struct Parts {
    /// The variance of all Gaussian parts.
    gaussian: Interval,
    /// Discrete Gaussian parts, with how often each runs.
    lattice: Vec<(DiscreteGaussian, u64)>,
    /// The largest loss of each pure part, with how many parts have it.
    pure: Losses,
    /// The range of the loss of each part of bounded range.
    ranges: Losses,
}

/// The bits of losses, which are ordered as the losses are, and how often each occurs.
type Losses = BTreeMap<u64, u64>;

impl Parts {
    const fn new() -> Self {
        Self {
            gaussian: Interval::ZERO,
            lattice: Vec::new(),
            pure: BTreeMap::new(),
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

    /// The parts that are pure, with the price of each: first those whose price is the same
    /// everywhere.
    fn pure_parts(&self) -> Vec<PureParts> {
        let parts = |losses: &Losses, price: fn(f64) -> Price| {
            let part = |(&bits, &count): (&u64, &u64)| PureParts {
                loss: f64::from_bits(bits),
                count,
                price: price(f64::from_bits(bits)),
            };
            losses.iter().map(part).collect::<Vec<_>>()
        };
        let mut all = parts(&self.ranges, range::of);
        all.extend(parts(&self.pure, price_of_loss));
        all
    }

    fn price(mut self) -> Price {
        for losses in [&mut self.pure, &mut self.ranges] {
            if losses.len() > MOST_LOSSES {
                *losses = rounded_up(losses);
            }
        }
        let pure = self.pure_parts();
        let lattice = self
            .lattice
            .iter()
            .map(|(noise, count)| {
                Price::tabulated(|left| lattice_noise::price(noise, left)).repeated(*count)
            })
            .fold(Price::constant(0), |sum, price| sum.plus(&price));
        let gaussian = femto::units_up(self.gaussian);
        Price::tabulated(|left| {
            let mut price = lattice.at_remainder(left)?.checked_add(gaussian?)?;
            for part in &pure {
                let after = left.checked_add(price)?;
                price = price.checked_add(part.price.one_by_one(part.count, after)?)?;
            }
            Some(price)
        })
    }
}

fn include(losses: &mut Losses, loss: f64, count: u64) {
    let before = losses.entry(loss.to_bits()).or_default();
    *before = before.saturating_add(count);
}

fn price_of_loss(loss: f64) -> Price {
    Price::tabulated(|left| pure::price(loss, left))
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
    let ratio = |large: f64, small: f64| (Interval::from(large) / small).upper();
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
