//! Limits on the size of a plan, so that every engine plans it in little time and memory, and its
//! rows take little more memory than the stored data.
//!
//! The limits are measured: `tests/adversarial.rs` has queries at each of them, and
//! `planning_at_the_limits` of `mizan-engine` reports their time and memory.

use super::rows::Binder;
use crate::expr::Expr;
use crate::plan::{BoundedPlan, Key};
use crate::refusal::{Reason, Refusal};
use crate::relation::Relation;
use crate::size::{self, Size};

/// The most expression nodes and relation columns, with every projection expanded, counted once for
/// each statement of the plan.
const MAX_NODES: u64 = 10_000;

/// The greatest depth of an expression with every projection expanded: engines walk it recursively.
const MAX_DEPTH: u64 = 100;

/// The most operators of a relation.
const MAX_RELATIONS: u64 = 200;

/// The most joins, and the most columns of all joins together: planners try several join orders and
/// look at every column of each join.
const MAX_JOINS: u64 = 16;
const MAX_JOINED_COLUMNS: u64 = 1_500;

/// The most statements: each distinct count and each quantile of another expression has its own.
const MAX_STATEMENTS: u64 = 50;

/// The most key values of public groups, counted once for each statement.
const MAX_LISTED: u64 = 200_000;

/// The most copies of stored texts that the computed texts of a row can hold. An engine needs that
/// many times the memory of the stored texts.
const MAX_COPIES: u64 = 64;

/// The most bytes of literals in the computed texts of a row. A million rows then have 4 GB.
const MAX_LITERAL_BYTES: u64 = 4_096;

impl Binder<'_> {
    /// Refuses a relation that is too large before anything is computed from it.
    pub(super) fn check_rows<'e>(
        &self,
        relation: &Relation,
        keys: &[Key],
        measured: impl IntoIterator<Item = &'e Expr>,
    ) -> Result<(), Refusal> {
        let size = Size::of(relation, keys, measured);
        check(
            size.nodes,
            MAX_NODES,
            "nodes of expressions, each column counted with all that it stands for",
        )?;
        check(
            size.depth,
            MAX_DEPTH,
            "levels of expressions, each column counted with all that it stands for",
        )?;
        check(
            size.relations,
            MAX_RELATIONS,
            "tables, subqueries, joins and conditions, each use of a WITH counted",
        )?;
        check(size.joins, MAX_JOINS, "joins, each use of a WITH counted")?;
        check(
            size.joined_columns,
            MAX_JOINED_COLUMNS,
            "columns in its joins",
        )?;
        let text = size.text;
        let (found, most, what) = if text.copies > MAX_COPIES {
            (text.copies, MAX_COPIES, "copies of stored texts")
        } else if text.literal_bytes > MAX_LITERAL_BYTES {
            (
                text.literal_bytes,
                MAX_LITERAL_BYTES,
                "bytes of written texts",
            )
        } else {
            return Ok(());
        };
        Err(Refusal::new(
            Reason::TextGrowth,
            format!(
                "the texts that are computed for each row can have {found} {what}; the most is {most}"
            ),
            "concatenate fewer and shorter texts; a comparison with a long text is not limited",
        )
        .at(self.words.place("concat")))
    }

    /// Refuses a plan with too many statements, or with too much work in them.
    pub(super) fn check_plan(&self, plan: &BoundedPlan) -> Result<(), Refusal> {
        let statements = size::statements(&plan.statistics);
        check(
            statements,
            MAX_STATEMENTS,
            "quantiles and distinct counts of different expressions",
        )?;
        let listed = size::listed(&plan.groups).saturating_mul(statements);
        check(
            listed,
            MAX_LISTED,
            "public groups, counted for each quantile and distinct count",
        )?;
        let statistics = plan.statistics.iter();
        let measured = statistics.filter_map(|one| one.measure.argument());
        let nodes = Size::of(&plan.relation, &plan.keys, measured).nodes;
        check(
            nodes.saturating_mul(statements),
            MAX_NODES,
            "nodes of expressions, counted for each quantile and distinct count",
        )
    }
}

fn check(found: u64, most: u64, what: &str) -> Result<(), Refusal> {
    if found <= most {
        return Ok(());
    }
    Err(Refusal::new(
        Reason::TooComplex,
        format!("the query has {found} {what}; the most is {most}"),
        "simplify the query, or split it into several",
    ))
}
