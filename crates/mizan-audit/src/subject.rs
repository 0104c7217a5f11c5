//! The subject of an audit: a mechanism that can be run on two neighbouring inputs.

use crate::AuditError;

/// One of the two neighbouring inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum World {
    /// The input without the person.
    Without,
    /// The input with the person.
    With,
}

/// A mechanism as a black box, on two inputs that differ in one person.
///
/// An output is one number. The subject chooses which: post-processing of an output keeps its
/// guarantee.
///
/// ```
/// use mizan_audit::{AuditError, Confidence, Plan, Subject, World, audit};
/// use mizan_core::{Delta, Epsilon};
///
/// /// "Randomized response" that is never randomized.
/// struct Honest;
/// impl Subject for Honest {
///     fn run(&mut self, world: World, outputs: &mut [f64]) -> Result<(), AuditError> {
///         outputs.fill(if world == World::With { 1.0 } else { 0.0 });
///         Ok(())
///     }
/// }
///
/// let plan = Plan::new(10_000, Confidence::new(0.999999)?, Delta::ZERO)?;
/// let found = audit(&mut Honest, plan, &mut |_| ())?;
/// assert!(found.lower_bound.get() > 5.0);
/// assert!(found.contradicts(Epsilon::new(1.0)?));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Subject {
    /// Runs the mechanism once for each element of `outputs`.
    ///
    /// # Errors
    ///
    /// The mechanism cannot be run.
    fn run(&mut self, world: World, outputs: &mut [f64]) -> Result<(), AuditError>;
}
