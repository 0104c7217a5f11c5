//! From a query to a bounded plan.
//!
//! The text is parsed within limits (`parse`) and its syntax is checked (`screen`). DataFusion's
//! planner resolves names with the catalogue and a list of functions only (`context`, `functions`).
//! The plan is then built anew: below the topmost aggregate from unit-local relations (`rows`,
//! `joins`, `within`, all through `local`), above it as post-processing (`answer`). Every step has
//! an allow-list and refuses the rest.

mod aggregate_call;
mod answer;
mod calls;
mod complexity;
mod context;
mod functions;
mod grid;
mod groups;
mod intervals;
mod joins;
mod limits;
mod local;
mod measures;
mod rows;
mod scalar;
mod screen;
mod sql_text;
mod tables;
mod typed;
mod unit_aggregates;

use datafusion_common::{DataFusionError, SchemaError};
use datafusion_expr::LogicalPlan;
use datafusion_sql::planner::SqlToRel;
use datafusion_sql::sqlparser::ast::Statement;

use crate::catalogue::{Catalogue, similar};
use crate::parse;
use crate::plan::BoundedPlan;
use crate::refusal::{Reason, Refusal, TextSpan};

/// The stack of the planner thread: expressions within the limits of `parse` nest up to some
/// thousands of levels in the planner.
const STACK: usize = 128 << 20;

/// The bounded plan of a query, or the reason for its refusal. Reads no data.
///
/// # Errors
///
/// A refusal, with its place if that is known.
pub fn plan(sql: &str, catalogue: &Catalogue) -> Result<BoundedPlan, Refusal> {
    let internal = |what: &str| {
        Refusal::new(
            Reason::Internal,
            what.to_owned(),
            "please report this query; nothing was read or charged",
        )
    };
    std::thread::scope(|scope| {
        std::thread::Builder::new()
            .name("planner".to_owned())
            .stack_size(STACK)
            .spawn_scoped(scope, || bind(sql, catalogue))
            .map_err(|_| internal("there is no thread for the planner"))?
            .join()
            .unwrap_or_else(|_| Err(internal("the planner failed on this query")))
    })
}

fn bind(sql: &str, catalogue: &Catalogue) -> Result<BoundedPlan, Refusal> {
    let (query, words) = parse::parse(sql)?;
    screen::screen(&query, catalogue)?;
    let context = context::Context::new(catalogue);
    let planned = SqlToRel::new(&context)
        .sql_statement_to_plan(Statement::Query(query))
        .map_err(|error| from_planner(&error))?;
    if matches!(
        planned,
        LogicalPlan::Ddl(_) | LogicalPlan::Dml(_) | LogicalPlan::Copy(_)
    ) {
        return Err(Refusal::new(
            Reason::NotSelect,
            "only SELECT is answered",
            "Mizan reads only; use SELECT",
        ));
    }
    rows::Binder::new(catalogue, &words).answer(&planned)
}

/// Turns an error of the planner into a refusal in Mizan's words.
fn from_planner(error: &DataFusionError) -> Refusal {
    let place = error
        .diagnostic()
        .and_then(|diagnostic| TextSpan::of(diagnostic.span));
    let refusal = match error.find_root() {
        DataFusionError::SchemaError(problem, _) => of_schema(problem),
        DataFusionError::Collection(errors) => match errors.first() {
            Some(first) => from_planner(first),
            None => other(error),
        },
        _ => other(error),
    };
    refusal.at(place)
}

fn of_schema(problem: &SchemaError) -> Refusal {
    match problem {
        SchemaError::FieldNotFound {
            field,
            valid_fields,
        } => {
            let known = || valid_fields.iter().map(|field| field.name.as_str());
            let mut help = match similar(&field.name, known()) {
                Some(other) if other != other.to_lowercase() => {
                    format!("did you mean \"{other}\", with its quotes? ")
                }
                Some(other) => format!("did you mean {other}? "),
                None => String::new(),
            };
            let names: Vec<&str> = known().take(30).collect();
            help.push_str(&if names.is_empty() {
                "there are no columns here".to_owned()
            } else {
                format!("columns are {}", names.join(", "))
            });
            Refusal::new(
                Reason::UnknownColumn,
                format!("there is no column {}", cut(&field.flat_name())),
                help,
            )
            .at(TextSpan::of(field.spans.first()))
        }
        SchemaError::AmbiguousReference { field } => Refusal::new(
            Reason::UnknownColumn,
            format!("{} could be a column of several tables", cut(&field.name)),
            format!("write the table too, as in t.{}", cut(&field.name)),
        )
        .at(TextSpan::of(field.spans.first())),
        SchemaError::DuplicateQualifiedField { name, .. }
        | SchemaError::DuplicateUnqualifiedField { name } => Refusal::new(
            Reason::SameName,
            format!("two columns are called {}", cut(name)),
            "give tables and columns different names with AS",
        ),
    }
}

/// Shortens a name for a message.
fn cut(name: &str) -> String {
    name.chars().take(80).collect()
}

fn other(error: &DataFusionError) -> Refusal {
    let text = error.find_root().strip_backtrace();
    let text = text
        .trim_start_matches("Error during planning: ")
        .trim_start_matches("This feature is not implemented: ");
    let first = text.lines().next().unwrap_or_default();
    let short: String = first.chars().take(300).collect();
    // DataFusion 55 reports these three as `DataFusionError::Plan`, which has only a text.
    let says = |what: &str| text.contains(what);
    if says("cannot be nested") {
        return Refusal::new(
            Reason::Aggregate,
            "an aggregate stands inside another aggregate",
            "use aggregates in SELECT, HAVING and ORDER BY, not inside each other",
        );
    }
    if says("non-boolean predicate") {
        return Refusal::new(
            Reason::Types,
            "WHERE, HAVING or ON has something other than a condition",
            "compare it with something",
        );
    }
    if says("require unique expression names") {
        return Refusal::new(
            Reason::SameName,
            "two columns that are selected have the same name",
            "give one of them another name with AS",
        );
    }
    Refusal::new(
        Reason::Planner,
        format!("the query cannot be planned: {short}"),
        "check names, types and GROUP BY; give columns names of their own with AS",
    )
}
