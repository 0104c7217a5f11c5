//! What a plan may be made of, so that every engine plans it in little time and
//! memory, and its rows take little more room than what is stored.
//!
//! The limits are measured: `tests/adversarial.rs` has questions at each of them, and
//! `planning_at_the_limits` of `mizan-engine` says what they take.

use super::rows::Binder;
use crate::expr::Expr;
use crate::plan::{BoundedPlan, Key};
use crate::refusal::{Reason, Refusal};
use crate::relation::Relation;
use crate::size::{self, Size};

/// The most nodes of expressions and columns of relations, every projection written
/// out and counted once for each statement of the plan.
const MAX_NODES: u64 = 10_000;

/// The deepest expression, every projection written out: engines walk them recursively.
const MAX_DEPTH: u64 = 100;

/// The most operators of a relation.
const MAX_RELATIONS: u64 = 200;

/// The most joins, and the most columns of all of them together: planners try orders of
/// joins, and look at every column of each.
const MAX_JOINS: u64 = 16;
const MAX_JOINED_COLUMNS: u64 = 1_500;

/// The most statements: each distinct count and each quantile of another expression
/// has one.
const MAX_STATEMENTS: u64 = 50;

/// The most values of groups, counted once for each statement.
const MAX_LISTED: u64 = 200_000;

/// How many copies of stored texts the texts of a row may be. An engine needs so many
/// times the memory that the texts take.
const MAX_COPIES: u64 = 64;

/// How many bytes of literals the texts of a row may have. A million rows have 4 GB.
const MAX_LITERAL_BYTES: u64 = 4_096;

impl Binder<'_> {
    /// Refuses what is too large before anything is computed of it.
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
            "concatenate fewer and shorter texts; comparing with a long text is no such use",
        )
        .at(self.words.place("concat")))
    }

    /// Refuses what has too many statements, or too much in each.
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
        format!("the question has {found} {what}; the most is {most}"),
        "ask something simpler, or ask in parts",
    ))
}
