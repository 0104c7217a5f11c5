//! Differential privacy for Rust: a certified accountant, exact noise, a privacy-budget ledger and
//! private SQL.
//!
//! A privacy event describes a mechanism. The accountant bounds what it costs:
//!
//! ```
//! use mizan::{Accountant, Delta, PrivacyEvent};
//!
//! # fn main() -> Result<(), mizan::Error> {
//! // DP-SGD: 10,000 steps, each with Gaussian noise on a sample of 1 %.
//! let training: PrivacyEvent = "10000 * poisson(0.01, gaussian(1.1))".parse()?;
//! let cost = Accountant::of(&training).epsilon(Delta::at_most("1e-5")?)?;
//! println!("epsilon is at most {}, by {}", cost.upper, cost.method.name());
//! assert!(cost.upper.get() < 5.1926);
//! # Ok(())
//! # }
//! ```
//!
//! # What is where
//!
//! | task | names | feature |
//! | --- | --- | --- |
//! | describe a mechanism | [`PrivacyEvent`], [`EventTemplate`] | |
//! | ε at a δ, δ at an ε, every method compared | [`Accountant`], [`MethodBound`], [`Comparison`], [`Method`] | |
//! | the whole curve | [`Accountant::profile`], [`TradeOff`], [`RenyiCurve`], [`FiniteDistribution`] | |
//! | the noise that a target needs | [`calibrate`], [`Calibration`] | |
//! | draw exact noise, add it to answers | [`Noise`], [`Mechanism`], [`Entropy`] | `noise` |
//! | keep a budget that cannot be overspent | [`Ledger`], [`NewAccount`], [`Location`], [`Outcome`], [`Done`] | `ledger` |
//! | answer SQL with differential privacy | [`QueryService`], [`Dataset`], [`Catalogue`] | `query` |
//!
//! The features `ledger` and `noise` are on by default. A program that only accounts needs neither:
//! `mizan = { path = "mizan/crates/mizan", default-features = false }`, the path of a clone, compiles
//! neither DataFusion nor a database. `query` compiles DataFusion, which takes most of the time to
//! build; `postgres` adds queries over tables of PostgreSQL.
//!
//! # Numbers as they are typed
//!
//! 1.1 is not a double. The parser of events rounds each parameter to the side where the event costs
//! more, and [`Delta::at_most`] and [`Epsilon::at_most`] round a target to the stronger guarantee.
//! So an upper bound of the accountant holds for the decimals in the text, with every rounding error
//! included; and so does a lower bound, where a method has one.
//!
//! # Errors
//!
//! Every function returns an error with a message that says what was wrong, a stable
//! [`code`](Error::code) and a [`help`](Error::help). All of them convert into [`Error`], so that
//! `?` works in one function over all parts.
//!
//! # Below this crate
//!
//! This crate has no logic of its own: its names come from `mizan-core`, `mizan-accounting`,
//! `mizan-noise`, `mizan-ledger`, `mizan-sql` and `mizan-engine`, which have more names for special
//! purposes. Both can be used together. The book has a chapter, *From Rust*.
#![cfg_attr(
    not(all(feature = "ledger", feature = "noise", feature = "query")),
    allow(
        rustdoc::broken_intra_doc_links,
        reason = "the names of features that are off have no pages"
    )
)]

mod error;
#[cfg(feature = "query")]
mod query;

pub use error::Error;

/// The bounds of one event, as it was typed.
///
/// ```
/// use mizan::{Accountant, Delta, Epsilon};
///
/// # fn main() -> Result<(), mizan::Error> {
/// let accountant = Accountant::of(&"30 * rr(0.6)".parse()?);
/// let epsilon = accountant.epsilon(Delta::at_most("1e-6")?)?;
/// let delta = accountant.delta(Epsilon::at_most("4")?)?;
/// println!("ε ≤ {} at δ = 1e-6; δ ≤ {} at ε = 4", epsilon.upper, delta.upper);
///
/// // The exact value is between both bounds.
/// let exact = epsilon.bracket();
/// assert!(exact.upper.get() - exact.lower.get() < 1e-9);
///
/// // Every method that applies.
/// for bound in accountant.epsilon_by_all(Delta::at_most("1e-6")?).bounds {
///     println!("{:22} {}", bound.method.name(), bound.upper);
/// }
/// # Ok(())
/// # }
/// ```
#[doc(inline)]
pub use mizan_accounting::Accountant;
/// Rényi divergences by definition.
///
/// ```
/// use mizan::{FiniteDistribution, Order};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let (p, q) = (FiniteDistribution::new(&[0.5, 0.5])?, FiniteDistribution::new(&[0.75, 0.25])?);
/// let divergence = p.divergence(&q, Order::new(2.0)?)?;
/// assert!(divergence.lower <= divergence.upper);
/// # Ok(())
/// # }
/// ```
#[doc(inline)]
pub use mizan_accounting::FiniteDistribution;
/// The Rényi curve of an event, at any real order.
///
/// ```
/// use mizan::{Accountant, Order, Probability};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let curve = Accountant::of(&"100 * laplace(20)".parse()?).renyi_curve()?;
/// println!("{}", curve.at(Order::new(8.0)?).upper);
/// // What it means for a person: an outcome with the probability 0.001 without their data.
/// let outcome = curve.bad_outcome(Probability::new(0.001)?);
/// assert!(outcome.high.get() < 0.02);
/// # Ok(())
/// # }
/// ```
#[doc(inline)]
pub use mizan_accounting::RenyiCurve;
/// What an attacker who sees the output can achieve.
///
/// ```
/// use mizan::{Accountant, Probability};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let trade_off = Accountant::of(&"gaussian(1)".parse()?).trade_off(100)?;
/// let missed = trade_off.false_negative(Probability::new(0.05)?);
/// println!("with 5 % false positives an attacker misses at least {}", missed.lower);
/// assert!(trade_off.advantage().upper.get() < 0.39);
/// # Ok(())
/// # }
/// ```
#[doc(inline)]
pub use mizan_accounting::TradeOff;
/// Solves for the `?` of a template: the least noise, or the largest value of another parameter,
/// with which the event costs at most (ε, δ).
///
/// ```
/// use mizan::{Delta, Epsilon, EventTemplate, calibrate};
///
/// # fn main() -> Result<(), mizan::Error> {
/// let template = EventTemplate::parse("10000 * poisson(0.01, gaussian(?))")?;
/// let found = calibrate(&template, Epsilon::at_most("1")?, Delta::at_most("1e-5")?)?;
/// println!("sigma = {}: {}", found.decimal(&template), found.event);
/// assert!(found.cost.upper.get() <= 1.0);
/// # Ok(())
/// # }
/// ```
#[doc(inline)]
pub use mizan_accounting::calibrate::solve as calibrate;
#[doc(inline)]
pub use mizan_accounting::{
    calibrate::Calibration,
    methods::{Comparison, Method, MethodBound},
};

/// The slack δ: P(S) ≤ e^ε Q(S) + δ for every set S of outcomes. Keep it far below one over the number
/// of people.
///
/// ```
/// # fn main() -> Result<(), mizan::Error> {
/// let delta = mizan::Delta::at_most("1e-6")?;
/// assert!(delta.get() <= 1e-6);
/// assert!(mizan::Delta::at_most("1.5").is_err());
/// # Ok(())
/// # }
/// ```
#[doc(inline)]
pub use mizan_core::Delta;
/// A bound ε on the privacy loss, in nats.
///
/// ```
/// # fn main() -> Result<(), mizan::Error> {
/// // 1.1 is not a double: as a target it is rounded down, as a cost up.
/// let target = mizan::Epsilon::at_most("1.1")?;
/// assert!(target < mizan::Epsilon::at_least("1.1")?);
/// # Ok(())
/// # }
/// ```
#[doc(inline)]
pub use mizan_core::Epsilon;
/// An event with a `?` in place of one number, for [`calibrate`].
///
/// ```
/// # fn main() -> Result<(), mizan::Error> {
/// let template = mizan::EventTemplate::parse("10 * discrete-gaussian(?)")?;
/// assert_eq!(template.parameter(), "sigma");
/// assert_eq!(template.fill_typed("20")?.to_string(), "10 * discrete-gaussian(20)");
/// # Ok(())
/// # }
/// ```
#[doc(inline)]
pub use mizan_core::EventTemplate;
/// A mechanism, as far as its cost is concerned: `+` composes, `COUNT *` repeats.
///
/// ```
/// use mizan::PrivacyEvent;
///
/// # fn main() -> Result<(), mizan::Error> {
/// let event: PrivacyEvent = "100 * (rr(0.52) + laplace(20)) + gaussian(10)".parse()?;
/// assert_eq!(event.children().len(), 2);
/// assert_eq!(PrivacyEvent::from_json(&event.to_json())?, event);
///
/// let error = "gausian(10)".parse::<PrivacyEvent>().unwrap_err();
/// assert!(error.help().contains("gaussian"));
/// # Ok(())
/// # }
/// ```
#[doc(inline)]
pub use mizan_core::PrivacyEvent;
#[doc(inline)]
pub use mizan_core::{Bracket, Code, Order, Probability};

#[cfg(feature = "noise")]
#[doc(inline)]
pub use mizan_noise::Confidence;
/// A cryptographic source of random bits, with keys from the operating system.
///
/// ```
/// # fn main() -> Result<(), mizan::Error> {
/// let mut entropy = mizan::Entropy::system()?;
/// let noise = mizan::Noise::of(&"discrete-laplace(10)".parse()?)?.expect("noise on integers");
/// println!("{}", 1200 + noise.draw(&mut entropy)?);
/// # Ok(())
/// # }
/// ```
#[cfg(feature = "noise")]
#[doc(inline)]
pub use mizan_noise::Entropy;
/// Adds exact noise to integers, as its privacy event says.
///
/// ```
/// use mizan::{Entropy, Mechanism};
///
/// # fn main() -> Result<(), mizan::Error> {
/// let mechanism = Mechanism::of(&"discrete-laplace(2)".parse()?)?.expect("noise on integers");
/// let mut histogram = [120, 7, 0];
/// mechanism.release(&mut Entropy::system()?, &mut histogram)?;
/// println!("{histogram:?} costs {}", mechanism.event());
/// # Ok(())
/// # }
/// ```
#[cfg(feature = "noise")]
#[doc(inline)]
pub use mizan_noise::Mechanism;
/// Exact noise on the integers, and how large it can be.
///
/// ```
/// use mizan::{Confidence, Entropy, Noise};
///
/// # fn main() -> Result<(), mizan::Error> {
/// let noise = Noise::of(&"discrete-gaussian(20)".parse()?)?.expect("noise on integers");
/// let mut draws = [0; 10];
/// noise.fill(&mut Entropy::system()?, &mut draws)?;
/// println!("{draws:?}, and 95 % of all draws are within ±{}", noise.half_width(Confidence::new(0.95)?)?);
/// assert_eq!(noise.half_width(Confidence::new(0.95)?)?, 39);
/// # Ok(())
/// # }
/// ```
#[cfg(feature = "noise")]
#[doc(inline)]
pub use mizan_noise::Noise;

/// A budget that cannot be overspent: every charge is durable before the release, and a charge that
/// does not fit is denied.
///
/// ```
/// use mizan::{AccountName, Delta, Epsilon, Ledger, Location, NewAccount, Outcome, RequestId};
///
/// # fn main() -> Result<(), mizan::Error> {
/// # let folder = tempfile::tempdir().unwrap();
/// # let (file, state) = (folder.path().join("mizan.db"), folder.path().join("state"));
/// let ledger = Ledger::init(&Location::File(file), &state)?;
/// let census = AccountName::new("census")?;
/// let (epsilon, delta) = (Epsilon::at_most("1")?, Delta::at_most("1e-6")?);
/// ledger.create_account(None, NewAccount::approximate(census.clone(), epsilon, delta)?)?;
///
/// let account = ledger.account_named(&census)?.expect("just created").account.number();
/// let report = RequestId::from_text("report-7");
/// let done = ledger.spend(Some(report), account, &"gaussian(20)".parse()?)?;
/// match done.outcome {
///     Outcome::Released { .. } if done.fresh => println!("release now, once: {}", done.receipt),
///     Outcome::Released { .. } => println!("charged before: publish the output that is stored"),
///     _ => println!("denied: release nothing"),
/// }
/// # assert!(done.fresh);
///
/// // A charge covers one release. Retry with the same id only if `spend` gave no result. Never add
/// // noise again under a charge that is not fresh.
/// let again = ledger.spend(Some(report), account, &"gaussian(20)".parse()?)?;
/// assert!(matches!(again.outcome, Outcome::Released { .. }) && !again.fresh);
///
/// let too_much = ledger.spend(None, account, &"gaussian(0.5)".parse()?)?;
/// assert!(matches!(too_much.outcome, Outcome::Denied(_)));
/// # Ok(())
/// # }
/// ```
#[cfg(feature = "ledger")]
#[doc(inline)]
pub use mizan_ledger::Ledger;
#[cfg(feature = "ledger")]
#[doc(inline)]
pub use mizan_ledger::{
    AccountName, Done, Location, NewAccount, Outcome, RequestId, Witnesses, default_state_dir,
};

#[cfg(feature = "query")]
#[doc(inline)]
pub use mizan_engine::{AnswerCell, QueryOutcome, Quote, SpendTarget};
#[cfg(feature = "query")]
#[doc(inline)]
pub use mizan_sql::{Catalogue, Dataset, Privacy};
#[cfg(feature = "query")]
pub use query::QueryService;

/// The README and the chapter of the book, whose code runs as tests of this crate.
#[cfg(all(doctest, feature = "query"))]
#[allow(
    rustdoc::invalid_codeblock_attributes,
    reason = "README marks shell blocks that the tests of the book do not run"
)]
mod pages {
    #[doc = include_str!("../../../README.md")]
    mod readme {}
    #[doc = include_str!("../../../docs/book/from-rust.md")]
    mod from_rust {}
}
