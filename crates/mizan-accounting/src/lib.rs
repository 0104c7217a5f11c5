//! The accountant: from privacy events to guarantees.
//!
//! [`Accountant`] has the bounds of one event, as it was typed. A
//! [`PrivacyEvent`](mizan_core::PrivacyEvent) takes two paths. It becomes a [`RenyiCurve`], which
//! is evaluated at an order and converted to (ε, δ). And it becomes dominating pairs, whose privacy
//! loss distribution gives a certified bracket of its [`PrivacyProfile`]. [`methods`] computes every
//! method that applies and compares them, for parameters that are doubles.
//!
//! Every result is a certified upper bound, rounding included. The crate is pure: no files, no
//! clocks, no randomness.
//!
//! ```
//! use mizan_accounting::methods;
//! use mizan_core::{Delta, PrivacyEvent};
//!
//! let event: PrivacyEvent = "100 * (rr(0.52) + laplace(20) + gaussian(10))".parse()?;
//! let all = methods::epsilon(&event, Delta::new(1e-6)?);
//! let best = all.best().expect("this event has a loss distribution");
//! assert_eq!(best.method.name(), "numeric");
//! assert!(best.upper.get() < 7.02);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod accountant;
pub mod calibrate;
pub mod clock;
mod composition;
mod convert;
mod curves;
pub mod divergence;
mod forms;
mod grid;
mod guarantees;
mod hockey_stick;
pub mod methods;
mod minimize;
mod numeric;
mod optimal_order;
mod trade_off;
mod unsupported;
mod walk;

pub use accountant::Accountant;
pub use composition::basic_composition;
pub use convert::{GaussianProfile, RenyiConversion, RenyiOdometer, to_cdp, to_gdp, to_zcdp};
pub use curves::RenyiCurve;
pub use divergence::FiniteDistribution;
pub use forms::{ClosedForm, closed_forms};
pub use grid::OrderGrid;
pub use guarantees::{BadOutcome, BayesFactor, ExactIncrease, Increase, group_privacy, posterior};
pub use numeric::{Engine, PrivacyProfile};
pub use optimal_order::AtOrder;
pub use trade_off::TradeOff;
pub use unsupported::{Reason, Unsupported};
