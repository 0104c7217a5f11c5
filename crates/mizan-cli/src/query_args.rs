//! The arguments of `quote` and `query`, and the text of an answer.

use std::io::Read as _;

use mizan_api::messages::Message as _;
use mizan_api::names::Names;
pub(crate) use mizan_api::query::bars;
use mizan_api::query::{QueryRequest, plain};
use mizan_core::Delta;
use mizan_engine::{Answer, AnswerCell, ChoiceReason, EngineSet, QueryService, SpendTarget};
use mizan_ledger::Ledger;
use mizan_report::{Column, Table, number};
use mizan_sql::{Catalogue, Effect, Note, Value};

use crate::catalogue_file::CatalogueFile;
use crate::engine::EngineArguments;
use crate::failure::Failure;
use crate::ledger_args::LedgerArguments;
use crate::output::{self, Output, shortened};

/// The longest query that is read from standard input, in bytes.
const LONGEST: u64 = 2 << 20;

/// A query as typed, with the options of `quote` and `query`.
#[derive(Debug, clap::Args)]
pub(crate) struct QueryArguments {
    /// A SELECT with aggregates, or `-` for standard input
    #[arg(value_name = "SQL")]
    pub(crate) sql: String,

    /// Spend at most this epsilon [default: a tenth of the account's epsilon]
    #[arg(
        long,
        value_name = "E",
        allow_hyphen_values = true,
        conflicts_with = "accuracy"
    )]
    pub(crate) epsilon: Option<String>,

    /// Choose epsilon so that the 95 % error of the first aggregate is at most W
    #[arg(long, value_name = "W", allow_hyphen_values = true)]
    pub(crate) accuracy: Option<String>,

    /// Reserved delta for the threshold that hides small groups [default: a
    /// twentieth of what is left]
    #[arg(long, value_name = "D", allow_hyphen_values = true)]
    pub(crate) threshold_delta: Option<String>,

    /// Show every limit and note in full, and how the noise was chosen
    #[arg(long, visible_alias = "why")]
    pub(crate) explain: bool,

    #[command(flatten)]
    pub(crate) engine: EngineArguments,

    #[command(flatten)]
    pub(crate) catalogue: CatalogueFile,

    #[command(flatten)]
    pub(crate) ledger: LedgerArguments,
}

impl QueryArguments {
    pub(crate) fn sql(&self) -> Result<String, Failure> {
        if self.sql != "-" {
            return Ok(self.sql.clone());
        }
        let mut text = String::new();
        let read = std::io::stdin()
            .lock()
            .take(LONGEST)
            .read_to_string(&mut text);
        read.map_err(|error| Failure::file("read", "standard input", &error))?;
        Ok(text)
    }

    /// The target, epsilon or accuracy, and the share of the reserved delta.
    fn spending(&self) -> Result<(SpendTarget, Option<Delta>), Failure> {
        let given = |text: &Option<String>| text.as_deref().map(Into::into);
        let request = QueryRequest {
            sql: String::new(),
            epsilon: given(&self.epsilon),
            accuracy: given(&self.accuracy),
            threshold_delta: given(&self.threshold_delta),
        };
        let names = Names::CommandLine;
        Ok((
            request.spend_target(names)?,
            request.threshold_delta(names)?,
        ))
    }

    /// Runs `ask` with the ledger, the catalogue and the engine of the arguments.
    pub(crate) fn with_query_service<T>(
        &self,
        ledger: &Ledger,
        ask: impl FnOnce(
            &QueryService<'_, EngineSet>,
            &str,
            SpendTarget,
        ) -> Result<T, mizan_engine::QueryError>,
    ) -> Result<T, Failure> {
        let catalogue = self.catalogue.read()?;
        let (sql, (spend_target, share)) = (self.sql()?, self.spending()?);
        let (_, sql) = mizan_sql::statement(&sql);
        with_query_service(ledger, &catalogue, &self.engine, sql, |service| {
            ask(&service.threshold_delta(share), sql, spend_target)
        })
    }
}

/// Runs `ask`; errors show their place in the SQL text.
pub(crate) fn with_query_service<T>(
    ledger: &Ledger,
    catalogue: &Catalogue,
    engine: &EngineArguments,
    sql: &str,
    ask: impl FnOnce(QueryService<'_, EngineSet>) -> Result<T, mizan_engine::QueryError>,
) -> Result<T, Failure> {
    let engine = engine.open()?;
    let service = QueryService::new(ledger, catalogue, &engine);
    ask(service).map_err(|error| Failure::of_query_error(&error, sql))
}

/// The rows as text: bars if every row has one estimate, else a table.
pub(crate) fn rows_text(answer: &Answer, output: Output) -> String {
    match bars(answer) {
        Some(bars) => output.terminal.bars(&bars),
        None => table(answer, output),
    }
}

fn table(answer: &Answer, output: Output) -> String {
    if answer.rows.is_empty() {
        return "no rows\n".to_owned();
    }
    let first = answer.rows.first().into_iter().flatten();
    let columns = answer.columns.iter().zip(first).map(|(name, cell)| {
        let name = shortened(&plain(name), 24);
        if matches!(cell, AnswerCell::Estimate { .. }) {
            Column::number(name)
        } else {
            Column::text(name)
        }
    });
    let mut table = Table::new(columns).ascii(output.terminal.ascii);
    for row in &answer.rows {
        table.row(row.iter().map(cell_text));
    }
    format!("{table}\n")
}

fn cell_text(cell: &AnswerCell) -> String {
    match cell {
        AnswerCell::Key(value) => shortened(&plain(&value.to_string()), 30),
        AnswerCell::Estimate { value, low, high } => {
            // A quantile of a group that is too small has an interval and no value.
            if value.is_null() && low.is_some() {
                return "NULL (too few rows)".to_owned();
            }
            match (value, value.as_f64(), end(low), end(high)) {
                (Value::Integer(_), Some(value), Some(low), Some(high)) => {
                    number::within(value, low, high, 15)
                }
                (_, Some(value), Some(low), Some(high)) => number::within(value, low, high, 6),
                _ => value_text(value),
            }
        }
    }
}

fn value_text(value: &Value) -> String {
    match value {
        Value::Integer(_) => value
            .as_f64()
            .map_or_else(String::new, |x| number::grouped(x, 15)),
        Value::Number(x) => number::grouped(*x, 6),
        _ => shortened(&plain(&value.to_string()), 30),
    }
}

fn end(end: &Option<Value>) -> Option<f64> {
    end.as_ref().and_then(Value::as_f64)
}

/// The contribution bounds of an answer, in lines of at most 80 columns.
pub(crate) fn clamping_text(clamping: &[Effect], has_margin: bool) -> String {
    if clamping.is_empty() {
        return "No contribution bound can affect this answer.\n".to_owned();
    }
    let one = |effect: &Effect| output::wrapped(&effect.english(), "  ", "    ");
    let all: String = clamping.iter().map(one).collect();
    let excluded = match has_margin {
        true => " (their effect is not included in the ±)",
        false => "",
    };
    format!("Contribution bounds{excluded}:\n{all}")
}

/// Notes, in lines of at most 80 columns.
pub(crate) fn notes_text(notes: &[Note]) -> String {
    let note = |note: &Note| {
        let text = format!("note: {}", note.english());
        output::wrapped(&text, "  ", "        ")
    };
    notes.iter().map(note).collect()
}

/// How the noise was chosen, in lines of at most 80 columns.
pub(crate) fn why_text(why: &[ChoiceReason]) -> String {
    let one = |reason: &ChoiceReason| output::wrapped(&reason.english(), "  ", "    ");
    why.iter().map(one).collect()
}
