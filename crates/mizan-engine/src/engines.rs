//! Engines, and the way from a bounded plan to their SQL.
//!
//! - [`dialect`]: what differs from engine to engine;
//! - [`expressions`], [`relations`], [`statements`]: a plan as text, the same for
//!   all of them; [`clipped`] is the part of units in too many groups, [`first`] of
//!   limits;
//! - [`statement`]: that text, and what operators may do instead;
//! - [`fan_out`]: what joins with public tables make of one row;
//! - [`plan_bound`]: what a plan may take, by the [`size_class`] of its datasets;
//! - [`idle`]: limits that change nothing, for engines that can tell;
//! - [`gather`]: rows of results to exact integers; [`thread`]: where they work;
//! - [`datafusion`]: the embedded engine; [`postgres`]: a database; [`ballista`]: a
//!   cluster that runs DataFusion's SQL;
//! - [`worker`]: the embedded engine in a process of its own;
//! - [`by_source`]: whichever the source of a dataset asks for.

#[cfg(feature = "ballista")]
pub(crate) mod ballista;
pub(crate) mod by_source;
pub(crate) mod clipped;
pub(crate) mod datafusion;
pub(crate) mod dialect;
pub(crate) mod expressions;
pub(crate) mod fan_out;
pub(crate) mod first;
pub(crate) mod gather;
#[cfg(test)]
pub(crate) mod generate;
pub(crate) mod idle;
pub(crate) mod plan_bound;
#[cfg(feature = "postgres")]
pub(crate) mod postgres;
#[cfg(test)]
pub(crate) mod questions;
pub(crate) mod relations;
#[cfg(test)]
pub(crate) mod reproductions;
pub(crate) mod size_class;
pub(crate) mod statement;
pub(crate) mod statements;
pub(crate) mod thread;
pub(crate) mod worker;
