//! Translates SQL to bounded private plans. This crate never reads data.
//!
//! DataFusion's planner resolves a query. This crate then makes a [`BoundedPlan`] from it: exact
//! integers per group, which one privacy unit can change by a known amount only, and the
//! post-processing of these integers after noise is added. Constructs outside of the supported
//! language are refused by name.
//!
//! Comments cite the conditions C1 to C10 and the stages S0 to S4 of docs/spec/private-sql.md.

mod bind;
mod bounds;
mod canonical;
pub mod catalogue;
pub mod clip;
mod domain;
mod eval;
mod explain;
pub mod expr;
mod message;
mod parse;
pub mod plan;
mod quantized;
pub mod read;
mod refusal;
pub mod relation;
mod show;
mod size;
pub mod time;
mod typing;
pub mod value;

pub use bind::plan;
pub use catalogue::{
    Catalogue, CatalogueError, Dataset, DatasetColumn, FileIdentity, MAX_COLUMNS, Privacy,
};
pub use clip::Clip;
pub use explain::Tree;
pub use expr::{Expr, Function, TimePart, TimeUnit};
pub use message::{AggregateName, Effect, End, Note, QuantileRank, RankTarget, RowBounding, Share};
pub use parse::{MAX_TEXT, statement};
pub use plan::{
    Aggregate, BoundedPlan, GroupBounding, Groups, Key, MAX_CONTRIBUTION, MAX_JOINED, MAX_ROWS,
    MAX_UNITS, Measure, Order, Output, OutputColumn, Statistic,
};
pub use refusal::{Reason, Refusal, TextSpan};
pub use relation::{Bounds, Column, Join, Operator, Quantized, Relation, UnitAggregate};
pub use size::{PlanSize, TextGrowth};
pub use typing::TypeProblem;
pub use value::{LONGEST_COMPUTED_TEXT, LONGEST_STORED_TEXT, Type, Value};
