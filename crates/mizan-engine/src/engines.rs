//! Engines: each lowers a [`UnitAggregation`](crate::unit_aggregation::UnitAggregation) to what it
//! can run.
//!
//! - [`lower_sql`]: to SQL, the same for all engines but for their dialects;
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
pub(crate) mod datafusion;
pub(crate) mod dispatch;
pub(crate) mod fan_out;
#[cfg(test)]
pub(crate) mod generate;
pub(crate) mod lower_sql;
pub(crate) mod plan_bound;
#[cfg(feature = "postgres")]
pub(crate) mod postgres;
pub(crate) mod redundant_limits;
#[cfg(test)]
pub(crate) mod reproductions;
pub(crate) mod result_collector;
pub(crate) mod size_class;
#[cfg(test)]
pub(crate) mod test_queries;
pub(crate) mod thread;
pub(crate) mod worker;
