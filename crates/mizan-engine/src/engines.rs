//! Engines, and the translation of a bounded plan into their SQL.
//!
//! - [`dialect`]: the differences between engines;
//! - [`expressions`], [`relations`], [`statements`]: a plan as SQL, the same for all of them;
//!   [`clipped`] writes L2 clipping, [`first`] row limits;
//! - [`statement`]: the SQL, and what operators need to replace parts of it;
//! - [`fan_out`]: how many rows joins with public tables make of one private row;
//! - [`plan_bound`]: bounds on the memory and time of a plan, by the [`size_class`] of its
//!   datasets;
//! - [`idle`]: removes row limits that no unit exceeds, for engines that count rows;
//! - [`gather`]: result rows to exact integers; [`thread`]: the threads of engines;
//! - [`datafusion`]: the embedded engine; [`postgres`]: a database; [`ballista`]: a cluster
//!   that runs DataFusion's SQL;
//! - [`worker`]: the embedded engine in a separate process;
//! - [`by_source`]: selects the engine by the source of a dataset.

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
