//! Alternatives to a charge that does not fit: the same event with more noise, or fewer times.

use mizan_accounting::clock::is_amplified;
use mizan_core::{
    Count, DiscreteGaussian, DiscreteLaplace, Epsilon, Mu, PrivacyEvent, Rho, Round, Scale, Sigma,
    Tau, parse_decimal,
};

use crate::money::{Account, Cost, admit_in_state, conditional_prices, how_many};

/// An event that fits in place of a charge that does not.
#[derive(Clone, Debug, PartialEq)]
pub enum Alternative {
    /// The same event, fewer times.
    Fewer(PrivacyEvent),
    /// The same event with more noise.
    Noisier(PrivacyEvent),
}

impl Alternative {
    /// The event that fits.
    #[must_use]
    pub const fn event(&self) -> &PrivacyEvent {
        match self {
            Self::Fewer(event) | Self::Noisier(event) => event,
        }
    }
}

/// The largest factor by which noise is increased; more would be of no use.
const MOST_NOISE: f64 = 1e6;

/// The largest charges of the same form that fit a chain of accounts, from the charged account up
/// to the root. The cost of each was computed, and fits.
///
/// ```
/// use mizan_core::{Delta, Epsilon};
/// use mizan_ledger::money::{Weight, alternatives};
/// use mizan_ledger::*;
/// let (orders, delta) = (Orders::standard(), Delta::new(1e-6)?);
/// let (epsilon, clock) = (Epsilon::new(1.0)?, Weight::ZERO);
/// let budget = Budget::approximate(epsilon, delta, DeltaAmount::ZERO, clock, &orders)?;
/// let name = AccountName::new("census")?;
/// let account = Account::new(AccountNumber::new(0), name, None, orders, budget);
/// let asked = "30 * gaussian(20)".parse()?;
/// let fitting = alternatives(std::iter::once(&account), &asked);
/// let texts: Vec<_> = fitting.iter().map(|s| s.event().to_string()).collect();
/// assert_eq!(texts, ["18 * gaussian(20)", "30 * gaussian(25.5)"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn alternatives<'a>(
    chain: impl Iterator<Item = &'a Account> + Clone,
    asked: &PrivacyEvent,
) -> Vec<Alternative> {
    let Some(account) = chain.clone().next() else {
        return Vec::new();
    };
    let orders = account.orders();
    let admits = |cost: &Cost, event: &PrivacyEvent| {
        let conditional = conditional_prices(cost, event, chain.clone());
        conditional.is_some_and(|prices| admit_in_state(chain.clone(), cost, &prices).is_ok())
    };
    let fits =
        |event: &PrivacyEvent| Cost::of(event, orders).is_ok_and(|cost| admits(&cost, event));
    // A certified price of a plan takes longer than all others together.
    let fits_as_plan = |event: &PrivacyEvent| {
        let plan = || Cost::to(event, account, chain.clone().skip(1));
        fits(event) || is_amplified(event) && plan().is_ok_and(|cost| admits(&cost, event))
    };
    let fewer = || {
        let PrivacyEvent::Repeat { count, event } = asked else {
            return None;
        };
        let times = |count: u64| {
            let count = Count::new(count).ok()?;
            let event = event.clone();
            Some(PrivacyEvent::Repeat { count, event }).filter(&fits_as_plan)
        };
        // At least as many as fit as separate charges. One charge may cost less, because each
        // separate cost is rounded up.
        let one_by_one = how_many(chain.clone(), &Cost::of(event, orders).ok()?);
        let mut low = one_by_one.min(count.get());
        let mut high = count.get();
        if times(low).is_none() {
            low = 0;
        }
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if times(middle).is_some() {
                low = middle;
            } else {
                high = middle;
            }
        }
        times(low).map(Alternative::Fewer)
    };
    let noisier = || {
        let with = |factor: f64| noisier(asked, factor).filter(&fits);
        with(MOST_NOISE)?;
        let (mut low, mut high) = (0.0, MOST_NOISE.ln());
        // To a thousandth: the result is printed with three digits.
        while high - low > 1e-3 {
            let middle = 0.5 * (low + high);
            if with(middle.exp()).is_some() {
                high = middle;
            } else {
                low = middle;
            }
        }
        with(high.exp()).map(Alternative::Noisier)
    };
    fewer().into_iter().chain(noisier()).collect()
}

/// The event with `factor` times the noise, in numbers of three digits on the side that costs
/// less. None if the event has no noise parameter.
fn noisier(event: &PrivacyEvent, factor: f64) -> Option<PrivacyEvent> {
    // Rounded to the side to which the parser rounds, so that it prints as three digits.
    let up = |value: f64| three_digits(value * factor, f64::ceil, Round::Down);
    let down = |value: f64| three_digits(value / factor, f64::floor, Round::Up);
    let inside = |event: &PrivacyEvent| noisier(event, factor).map(Box::new);
    let epsilon = |epsilon: Epsilon| Epsilon::new(down(epsilon.get())).ok();
    Some(match event {
        PrivacyEvent::Gaussian { sigma, sensitivity } => PrivacyEvent::Gaussian {
            sigma: Sigma::new(up(sigma.get())).ok()?,
            sensitivity: *sensitivity,
        },
        PrivacyEvent::Laplace { scale, sensitivity } => PrivacyEvent::Laplace {
            scale: Scale::new(up(scale.get())).ok()?,
            sensitivity: *sensitivity,
        },
        PrivacyEvent::DiscreteGaussian(noise) => {
            let sigma = Sigma::new(up(noise.sigma().get())).ok()?;
            PrivacyEvent::DiscreteGaussian(DiscreteGaussian::new(sigma, noise.sensitivity()).ok()?)
        }
        PrivacyEvent::DiscreteLaplace(noise) => {
            let scale = Scale::new(up(noise.scale().get())).ok()?;
            PrivacyEvent::DiscreteLaplace(DiscreteLaplace::new(scale, noise.sensitivity()).ok()?)
        }
        PrivacyEvent::Tree {
            sigma,
            steps,
            sensitivity,
        } => PrivacyEvent::Tree {
            sigma: Sigma::new(up(sigma.get())).ok()?,
            steps: *steps,
            sensitivity: *sensitivity,
        },
        PrivacyEvent::Matrix { sigma, norm } => PrivacyEvent::Matrix {
            sigma: Sigma::new(up(sigma.get())).ok()?,
            norm: *norm,
        },
        PrivacyEvent::Exponential { epsilon: given } => PrivacyEvent::Exponential {
            epsilon: epsilon(*given)?,
        },
        PrivacyEvent::Pure { epsilon: given } => PrivacyEvent::Pure {
            epsilon: epsilon(*given)?,
        },
        PrivacyEvent::Approximate {
            epsilon: given,
            delta,
        } => PrivacyEvent::Approximate {
            epsilon: epsilon(*given)?,
            delta: *delta,
        },
        // ρ falls with the square of the noise.
        PrivacyEvent::ZeroConcentrated { rho } => PrivacyEvent::ZeroConcentrated {
            rho: Rho::new(down(rho.get() / factor)).ok()?,
        },
        PrivacyEvent::Concentrated { mu, tau } => PrivacyEvent::Concentrated {
            mu: Mu::new(down(mu.get() / factor)).ok()?,
            tau: Tau::new(down(tau.get())).ok()?,
        },
        PrivacyEvent::GaussianDp { mu } => PrivacyEvent::GaussianDp {
            mu: Mu::new(down(mu.get())).ok()?,
        },
        PrivacyEvent::Poisson { q, event } => PrivacyEvent::Poisson {
            q: *q,
            event: inside(event)?,
        },
        PrivacyEvent::Group { size, event } => PrivacyEvent::Group {
            size: *size,
            event: inside(event)?,
        },
        PrivacyEvent::Repeat { count, event } => PrivacyEvent::Repeat {
            count: *count,
            event: inside(event)?,
        },
        PrivacyEvent::Compose(events) => {
            let events = events.iter().map(|event| noisier(event, factor));
            PrivacyEvent::Compose(events.collect::<Option<_>>()?)
        }
        // Their noise is not a single number.
        _ => return None,
    })
}

/// A number of three digits, through its decimal so that it prints as such.
fn three_digits(value: f64, round: fn(f64) -> f64, side: Round) -> f64 {
    if !(value > 0.0 && value.is_finite()) {
        return value;
    }
    let unit = value.log10().floor() - 2.0;
    let digits = round(value / 10f64.powf(unit));
    let text = format!("{digits}e{unit}");
    parse_decimal(&text, side).unwrap_or(value)
}
