//! The accounting methods side by side: the ε of an event at a δ, and the δ at an ε.
//!
//! Every method that applies is computed. Each result is a proven bound, so the smallest one is the
//! answer.

mod comparison;

pub use comparison::Comparison;

use mizan_core::{Bracket, Code, Count, Delta, Epsilon, Interval, Order, PrivacyEvent};

use crate::clock::{self, Unpriced};
use crate::composition::advanced::Mean;
use crate::composition::concentrated::{concentrated, gaussian_square, zero_concentrated};
use crate::composition::optimal::Optimal;
use crate::composition::parts::{parts, sum};
use crate::convert::Effort;
use crate::numeric::mechanism::{Mechanism, one_kind_of_neighbours};
use crate::{
    Engine, GaussianProfile, PrivacyProfile, RenyiConversion, RenyiCurve, Unsupported,
    basic_composition, walk,
};

/// An accounting method.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Method {
    /// The sum of the largest losses; needs no δ.
    Pure,
    /// Epsilons add, deltas add.
    Basic,
    /// Dwork, Rothblum and Vadhan 2010.
    Advanced,
    /// Dwork and Rothblum 2016, Theorem 1: half the mean.
    ConcentratedAdvanced,
    /// Kairouz, Oh and Viswanath 2015; Murtagh and Vadhan 2016.
    Optimal,
    /// Concentrated differential privacy.
    Cdp,
    /// Zero-concentrated differential privacy.
    Zcdp,
    /// The sum of the Rényi curves at the best order, converted optimally.
    Renyi,
    /// A Gaussian mechanism that dominates discrete Gaussian noise and what is beside it.
    GaussianDominating,
    /// The exact profile of Gaussian noise.
    GaussianExact,
    /// The loss of the whole composition, bracketed numerically.
    Numeric,
}

impl Method {
    /// Every method of this version, the simplest first.
    pub const ALL: [Self; 11] = [
        Self::Pure,
        Self::Basic,
        Self::Advanced,
        Self::ConcentratedAdvanced,
        Self::Optimal,
        Self::Cdp,
        Self::Zcdp,
        Self::Renyi,
        Self::GaussianDominating,
        Self::GaussianExact,
        Self::Numeric,
    ];

    /// The name on the command line and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pure => "pure",
            Self::Basic => "basic",
            Self::Advanced => "advanced",
            Self::ConcentratedAdvanced => "concentrated-advanced",
            Self::Optimal => "optimal",
            Self::Cdp => "cdp",
            Self::Zcdp => "zcdp",
            Self::Renyi => "renyi",
            Self::GaussianDominating => "gaussian-dominating",
            Self::GaussianExact => "gaussian-exact",
            Self::Numeric => "numeric",
        }
    }

    /// The name in a sentence.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Pure => "pure differential privacy",
            Self::Basic => "basic composition",
            Self::Advanced => "advanced composition",
            Self::ConcentratedAdvanced => "advanced composition by concentrated DP",
            Self::Optimal => "optimal composition",
            Self::Cdp => "concentrated DP (CDP)",
            Self::Zcdp => "zero-concentrated DP (zCDP)",
            Self::Renyi => "Rényi DP",
            Self::GaussianDominating => "a Gaussian mechanism that dominates",
            Self::GaussianExact => "the exact curve of Gaussian noise",
            Self::Numeric => "numerical composition",
        }
    }

    /// Its reference.
    pub fn reference(self) -> &'static str {
        match self {
            Self::Pure => "Dwork, McSherry, Nissim and Smith 2006",
            Self::Basic => "Dwork, Kenthapadi, McSherry, Mironov and Naor 2006",
            Self::Advanced => "Dwork, Rothblum and Vadhan 2010, Theorem III.3",
            Self::ConcentratedAdvanced => "Dwork and Rothblum 2016, Theorem 1.1",
            Self::Optimal => "Kairouz, Oh and Viswanath 2015; Murtagh and Vadhan 2016",
            Self::Cdp => "Dwork and Rothblum 2016, Theorem 3.4",
            Self::Zcdp => "Bun and Steinke 2016, Lemma 2.3",
            Self::Renyi => "Mironov 2017, Proposition 1; Asoodeh et al. 2021",
            Self::GaussianDominating => "docs/spec/mathematics.md 4.9",
            Self::GaussianExact => "Balle and Wang 2018, Theorem 8",
            Self::Numeric => "Zhu, Dong and Wang 2022; docs/accountant.md",
        }
    }

    /// The method of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|method| method.name() == name)
    }
}

/// A bound by one method.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MethodBound<T> {
    /// The method.
    pub method: Method,
    /// A certified upper bound: the guarantee.
    pub upper: T,
    /// A certified lower bound of the exact value, where the method has one.
    pub lower: Option<T>,
    /// The order that was used, where there is one.
    pub order: Option<Order>,
    /// The engine, for the method `numeric`.
    pub engine: Option<Engine>,
}

impl MethodBound<Epsilon> {
    /// Both bounds; without a lower bound the lower end is 0.
    pub fn bracket(&self) -> Bracket<Epsilon> {
        Bracket {
            lower: self.lower.unwrap_or(Epsilon::ZERO),
            upper: self.upper,
        }
    }
}

impl MethodBound<Delta> {
    /// Both bounds; without a lower bound the lower end is 0.
    pub fn bracket(&self) -> Bracket<Delta> {
        Bracket {
            lower: self.lower.unwrap_or(Delta::ZERO),
            upper: self.upper,
        }
    }
}

/// Why a method gives no bound.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// A part of the event has no guarantee of the kind.
    #[error(transparent)]
    Unsupported(#[from] Unsupported),
    /// The parts fail more often than the target allows.
    #[error("the deltas of the parts add up to {total:e}, above the target")]
    DeltaSpent {
        /// The sum of the parts.
        total: f64,
        /// The δ of the target.
        target: f64,
    },
    /// The bound is infinite.
    #[error("no finite epsilon follows at this delta")]
    NoBound {
        /// The smallest δ that has an ε, from above, where it is known.
        least: Option<Delta>,
    },
}

impl Refusal {
    /// The stable code of this error.
    pub fn code(&self) -> Code {
        match self {
            Self::Unsupported(error) => error.code(),
            Self::DeltaSpent { .. } => Code::MZ1204,
            Self::NoBound { .. } => Code::MZ1205,
        }
    }

    /// What to do about it.
    pub fn help(&self) -> String {
        match self {
            Self::Unsupported(error) => error.help(),
            Self::DeltaSpent { total, .. } => format!("ask for a delta of at least {total:e}"),
            Self::NoBound { least: Some(least) } => format!(
                "the loss is infinite with a probability of {:e}: ask for a delta of at least that",
                six_digits_above(least.get())
            ),
            Self::NoBound { least: None } => {
                "report more orders, or ask for a larger delta".to_owned()
            }
        }
    }

    /// The part of the event that the method cannot account for, if that is why.
    pub fn part(&self) -> Option<&Unsupported> {
        match self {
            Self::Unsupported(part) => Some(part),
            Self::DeltaSpent { .. } | Self::NoBound { .. } => None,
        }
    }

    /// The δ to ask for instead, where it is known.
    pub fn named_delta(&self) -> Option<f64> {
        match self {
            Self::DeltaSpent { total, .. } => Some(*total),
            Self::NoBound { least } => least.map(Delta::get),
            Self::Unsupported(_) => None,
        }
    }

    fn no_bound(least: Delta, asked: Delta) -> Self {
        Self::NoBound {
            least: (least > asked).then_some(least),
        }
    }
}

/// A number in six digits, not below it.
pub(crate) fn six_digits_above(value: f64) -> f64 {
    let six = |value: f64| format!("{value:.5e}").parse::<f64>().unwrap_or(value);
    let nearest = six(value);
    if nearest >= value {
        nearest
    } else {
        six(value * (1.0 + 1e-5)).max(value)
    }
}

/// Whether every part of an event can be accounted for by some method; if not, the error names the
/// part and its path.
///
/// # Errors
///
/// The first part that no method of this version takes.
///
/// ```
/// use mizan_accounting::methods;
/// assert!(methods::supports(&"gaussian(1) + approximate(1, 1e-9)".parse()?).is_ok());
/// let error = methods::supports(&"pure(1) + shuffle(10, gaussian(1))".parse()?).unwrap_err();
/// assert_eq!(error.path(), "event[1]");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn supports(event: &PrivacyEvent) -> Result<(), Unsupported> {
    one_kind_of_neighbours(event)?;
    walk::each_mechanism(event, |_, part, path| match part {
        PrivacyEvent::Approximate { .. } => Ok(()),
        part => match RenyiCurve::of(part) {
            Ok(_) => Ok(()),
            // What may fail on a sample has a pair, if not a curve.
            Err(_) if Mechanism::of(part).is_ok() => Ok(()),
            Err(error) => Err(Unsupported::new(part, path, error.reason())),
        },
    })
}

/// The comparison of one method alone.
pub fn single<T>(method: Method, result: Result<MethodBound<T>, Refusal>) -> Comparison<T> {
    match result {
        Ok(bound) => Comparison {
            bounds: vec![bound],
            refusals: Vec::new(),
        },
        Err(refusal) => Comparison {
            bounds: Vec::new(),
            refusals: vec![(method, refusal)],
        },
    }
}

/// The ε of an event at a given δ, by every method that applies.
pub fn epsilon(event: &PrivacyEvent, delta: Delta) -> Comparison<Epsilon> {
    // A group is priced once for all methods.
    match walk::without_groups(event) {
        Ok(priced) => {
            Comparison::of(|method| epsilon_by(method, &priced, delta)).for_groups_of(event)
        }
        Err(error) => Comparison::of(|_| Err(Refusal::from(error.clone()))),
    }
}

/// The δ of an event at a given ε, by every method that applies.
pub fn delta(event: &PrivacyEvent, epsilon: Epsilon) -> Comparison<Delta> {
    delta_of_all(event, epsilon, Effort::Full)
}

/// The same with less effort: bounds that may be larger, in less time.
pub(crate) fn delta_of_all(
    event: &PrivacyEvent,
    epsilon: Epsilon,
    effort: Effort,
) -> Comparison<Delta> {
    match walk::without_groups(event) {
        Ok(priced) => Comparison::of(|method| delta_with(method, &priced, epsilon, effort))
            .for_groups_of(event),
        Err(error) => Comparison::of(|_| Err(Refusal::from(error.clone()))),
    }
}

/// The ε of an event at a given δ by one method.
///
/// # Errors
///
/// The method does not apply to this event.
pub fn epsilon_by(
    method: Method,
    event: &PrivacyEvent,
    delta: Delta,
) -> Result<MethodBound<Epsilon>, Refusal> {
    epsilon_with(method, event, delta, Effort::Full)
}

/// The same with less effort: a bound that may be larger, in less time.
pub(crate) fn epsilon_with(
    method: Method,
    event: &PrivacyEvent,
    delta: Delta,
    effort: Effort,
) -> Result<MethodBound<Epsilon>, Refusal> {
    one_kind_of_neighbours(event)?;
    let target = Interval::from(delta.get());
    let mut bound = MethodBound {
        method,
        upper: Epsilon::INFINITE,
        lower: None,
        order: None,
        engine: None,
    };
    bound.upper = match method {
        Method::Pure => pure_epsilon(event)?,
        Method::Basic => {
            let (epsilon, total) = basic_composition(event)?;
            if total > delta {
                return Err(Refusal::DeltaSpent {
                    total: total.get(),
                    target: delta.get(),
                });
            }
            epsilon.upper
        }
        Method::Advanced => advanced(Mean::Original, event, target)?,
        Method::ConcentratedAdvanced => advanced(Mean::Halved, event, target)?,
        Method::Optimal => {
            let parts = parts(event)?;
            let Bracket { lower, upper } = Optimal::new(&parts, target.ln().middle())
                .epsilon(target)
                .ok_or_else(|| spent(event, target))?;
            bound.lower = is_worst_case(event).then(|| Epsilon::saturating(lower));
            Epsilon::saturating(upper)
        }
        Method::Cdp => {
            let loss = concentrated(event)?;
            let best = RenyiCurve::concentrated(loss.mean, loss.variance)
                .epsilon(delta, RenyiConversion::Optimal);
            bound.order = Some(best.order);
            best.bound
        }
        Method::Zcdp => {
            let rho = zero_concentrated(event)?;
            let best = RenyiCurve::zero_concentrated(rho).epsilon(delta, RenyiConversion::Optimal);
            bound.order = Some(best.order);
            best.bound
        }
        Method::Renyi => {
            let best = RenyiCurve::of(event)?.epsilon(delta, RenyiConversion::Optimal);
            bound.order = Some(best.order);
            best.bound
        }
        Method::GaussianDominating => {
            clock::is_dominated(event)?;
            clock::epsilon(event, delta).map_err(Unpriced::into_unsupported)?
        }
        Method::GaussianExact => {
            let Bracket { lower, upper } =
                GaussianProfile::from_square(gaussian_square(event)?).epsilon(delta);
            bound.lower = Some(lower);
            upper
        }
        Method::Numeric => {
            let profile = PrivacyProfile::of(event)?;
            let (Bracket { lower, upper }, engine) = profile
                .epsilon_with(delta, effort)
                .ok_or_else(|| Refusal::no_bound(profile.least_delta(), delta))?;
            bound.engine = Some(engine);
            bound.lower = profile.is_exact().then_some(lower);
            upper
        }
    };
    if bound.upper.is_finite() {
        Ok(bound)
    } else {
        Err(Refusal::NoBound { least: None })
    }
}

/// The δ of an event at a given ε by one method.
///
/// # Errors
///
/// The method does not apply to this event.
pub fn delta_by(
    method: Method,
    event: &PrivacyEvent,
    epsilon: Epsilon,
) -> Result<MethodBound<Delta>, Refusal> {
    delta_with(method, event, epsilon, Effort::Full)
}

fn delta_with(
    method: Method,
    event: &PrivacyEvent,
    epsilon: Epsilon,
    effort: Effort,
) -> Result<MethodBound<Delta>, Refusal> {
    one_kind_of_neighbours(event)?;
    let target = Interval::from(epsilon.get());
    let mut bound = MethodBound {
        method,
        upper: Delta::saturating(1.0),
        lower: None,
        order: None,
        engine: None,
    };
    bound.upper = match method {
        Method::Pure => delta_of(pure_epsilon(event)?, epsilon),
        Method::Basic => {
            // With probability 1 - δ₀ the composition is ε₀-DP.
            let (total, failing) = basic_composition(event)?;
            let bounded = delta_of(total.upper, epsilon).get();
            Delta::saturating(mizan_core::directed::add_up(failing.get(), bounded))
        }
        Method::Advanced => Delta::saturating(Mean::Original.delta(&parts(event)?, target).upper()),
        Method::ConcentratedAdvanced => {
            Delta::saturating(Mean::Halved.delta(&parts(event)?, target).upper())
        }
        Method::Optimal => {
            let parts = parts(event)?;
            let around = Mean::Tight.delta(&parts, target).ln().upper();
            let Bracket { lower, upper } = Optimal::new(&parts, around).delta(epsilon.get());
            bound.lower = is_worst_case(event).then(|| Delta::saturating(lower));
            Delta::saturating(upper)
        }
        Method::Cdp | Method::Zcdp | Method::Renyi => {
            let curve = match method {
                Method::Cdp => {
                    let loss = concentrated(event)?;
                    RenyiCurve::concentrated(loss.mean, loss.variance)
                }
                Method::Zcdp => RenyiCurve::zero_concentrated(zero_concentrated(event)?),
                _ => RenyiCurve::of(event)?,
            };
            let best = curve.delta(epsilon, RenyiConversion::Optimal);
            bound.order = Some(best.order);
            best.bound
        }
        Method::GaussianDominating => {
            clock::is_dominated(event)?;
            clock::delta(event, epsilon).map_err(Unpriced::into_unsupported)?
        }
        Method::GaussianExact => {
            let Bracket { lower, upper } =
                GaussianProfile::from_square(gaussian_square(event)?).delta(epsilon);
            bound.lower = Some(lower);
            upper
        }
        Method::Numeric => {
            let profile = PrivacyProfile::of(event)?;
            let (Bracket { lower, upper }, engine) = profile
                .delta_with(epsilon, effort)
                .ok_or(Refusal::NoBound { least: None })?;
            bound.engine = Some(engine);
            bound.lower = profile.is_exact().then_some(lower);
            upper
        }
    };
    Ok(bound)
}

/// Whether the parts are the worst that their (ε, δ) allow, so that the optimum
/// over all mechanisms with these is the exact value of the event.
fn is_worst_case(event: &PrivacyEvent) -> bool {
    let mut worst = true;
    let looked_at = walk::each_mechanism(event, |_, part, _| {
        worst &= match part {
            PrivacyEvent::Pure { .. } | PrivacyEvent::Approximate { .. } => true,
            PrivacyEvent::RandomizedResponse(response) => response.categories() == Count::TWO,
            _ => false,
        };
        Ok(())
    });
    looked_at.is_ok() && worst
}

fn advanced(mean: Mean, event: &PrivacyEvent, target: Interval) -> Result<Epsilon, Refusal> {
    let epsilon = mean
        .epsilon(&parts(event)?, target)
        .ok_or_else(|| spent(event, target))?;
    Ok(Epsilon::saturating(epsilon.upper()))
}

/// The δs of the parts add up to more than the target.
fn spent(event: &PrivacyEvent, target: Interval) -> Refusal {
    let total = parts(event).map_or(Interval::ONE, |parts| sum(&parts, |part| part.delta));
    Refusal::DeltaSpent {
        total: total.upper(),
        target: target.upper(),
    }
}

/// The sum of the largest losses, when nothing can fail.
fn pure_epsilon(event: &PrivacyEvent) -> Result<Epsilon, Refusal> {
    RenyiCurve::of(event)?; // refuses what can fail, by name
    Ok(basic_composition(event)?.0.upper)
}

/// What a pure ε₀ says at another ε.
fn delta_of(pure: Epsilon, epsilon: Epsilon) -> Delta {
    RenyiConversion::Optimal.delta(Order::INFINITE, pure, epsilon)
}
