//! Empirical privacy audits: attacks that measure what a mechanism reveals.
//!
//! - [`audit()`]: runs a mechanism on two neighbouring inputs and computes a lower bound of its ε,
//!   with a stated confidence. [`Released`] runs the mechanisms of Mizan itself; [`Subject`] is any
//!   other.
//! - [`Reconstruction`]: the attack of Dinur and Nissim, which recovers secret bits from answers that
//!   are too accurate.
//!
//! ```
//! use mizan_audit::{Confidence, Plan, Released, audit};
//! use mizan_core::{Delta, Epsilon};
//!
//! let mut noise = Released::of(&"discrete-laplace(1)".parse()?)?;
//! let plan = Plan::new(20_000, Confidence::new(0.999999)?, Delta::ZERO)?;
//! let found = audit(&mut noise, plan, &mut |_| ())?;
//! assert!(found.lower_bound.get() > 0.5, "not far below the truth");
//! assert!(!found.contradicts(Epsilon::new(1.0)?));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod attack;
mod audit;
mod binomial;
mod choose;
mod clopper_pearson;
mod confidence;
mod error;
mod histogram;
mod part;
mod reconstruct;
mod released;
mod subject;

pub use attack::{Attack, Feature, Hits, Region};
pub use audit::{Audit, Plan, audit};
pub use confidence::Confidence;
pub use error::{AuditError, NotSampled};
pub use histogram::Histogram;
pub use reconstruct::{PRICED_AT, Point, Reconstruction};
pub use released::Released;
pub use subject::{Subject, World};
