//! Engines, and the translation of a bounded plan into their SQL.
//!
//! - [`dialect`]: the differences between engines;
//! - [`expressions`], [`relations`], [`statements`]: a plan as SQL, the same for all of them;
//!   [`clipped`] writes L2 clipping, [`row_limit`] row limits;
//! - [`statement`]: the SQL, and what operators need to replace parts of it;
//! - [`fan_out`]: how many rows joins with public tables make of one private row;
//! - [`plan_bound`]: bounds on the memory and time of a plan, by the [`size_class`] of its
//!   datasets;
//! - [`redundant_limits`]: removes row limits that no unit exceeds, for engines that count rows;
//! - [`result_collector`]: result rows to exact integers; [`thread`]: the threads of engines;
//! - [`datafusion`]: the embedded engine; [`postgres`]: a database; [`ballista`]: a cluster
//!   that runs DataFusion's SQL;
//! - [`worker`]: the embedded engine in a separate process;
//! - [`dispatch`]: selects the engine by the source of a dataset.

#[cfg(feature = "ballista")]
pub(crate) mod ballista;
pub(crate) mod clipped;
pub(crate) mod datafusion;
pub(crate) mod dialect;
pub(crate) mod dispatch;
pub(crate) mod expressions;
pub(crate) mod fan_out;
#[cfg(test)]
pub(crate) mod generate;
pub(crate) mod plan_bound;
#[cfg(feature = "postgres")]
pub(crate) mod postgres;
pub(crate) mod redundant_limits;
pub(crate) mod relations;
#[cfg(test)]
pub(crate) mod reproductions;
pub(crate) mod result_collector;
pub(crate) mod row_limit;
pub(crate) mod size_class;
pub(crate) mod statement;
pub(crate) mod statements;
#[cfg(test)]
pub(crate) mod test_queries;
pub(crate) mod thread;
pub(crate) mod worker;
