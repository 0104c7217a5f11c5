//! `mizan dataset bounds`: estimates the bounds of a column privately, charges for it
//! and stores them in the catalogue.

use mizan_engine::FoundBounds;
use mizan_report::number;
use mizan_sql::Bounds;
use serde_json::json;

use crate::catalogue_file::CatalogueFile;
use crate::commands::query;
use crate::engine::EngineArguments;
use crate::failure::Failure;
use crate::input;
use crate::interrupt;
use crate::ledger_args::LedgerArguments;
use crate::output::{CommandOutput, Output};
use crate::query_args::with_query_service;

/// Estimate the bounds of a column privately, and store them
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The bounds exclude values of about one unit in a hundred, or of as many as the
noise hides in a small dataset. The command charges the account once; the bounds
replace declared ones, and queries use them at no further cost.

Examples:
  mizan dataset bounds visits cost
  mizan dataset bounds visits cost --epsilon 0.2")]
pub(crate) struct Arguments {
    /// Name of the dataset
    #[arg(value_name = "NAME")]
    name: String,

    /// Column of integers or numbers
    #[arg(value_name = "COLUMN")]
    column: String,

    /// Spend at most this epsilon [default: a tenth of the account's epsilon]
    #[arg(long, value_name = "E", allow_hyphen_values = true)]
    epsilon: Option<String>,

    #[command(flatten)]
    engine: EngineArguments,

    #[command(flatten)]
    catalogue: CatalogueFile,

    #[command(flatten)]
    ledger: LedgerArguments,
}

pub(super) fn run(arguments: &Arguments, output: Output) -> Result<CommandOutput, Failure> {
    let spend_target = match &arguments.epsilon {
        Some(text) => mizan_engine::SpendTarget::Epsilon(input::epsilon(text, "--epsilon")?.value),
        None => mizan_engine::SpendTarget::DefaultShare,
    };
    let dataset = arguments.catalogue.dataset(&arguments.name)?;
    let catalogue = arguments.catalogue.read()?;
    let ledger = arguments.ledger.open()?;
    interrupt::tell_of_charges(output);
    let found = with_query_service(&ledger, &catalogue, &arguments.engine, "", |service| {
        service.find_bounds(&arguments.name, &arguments.column, spend_target)
    })?;
    ledger.close()?;
    let (bounds, answered) = match found {
        FoundBounds::Found(bounds, answered) => (bounds, answered),
        FoundBounds::Denied(denied) => {
            return Ok(CommandOutput::refused(output.either(
                || mizan_api::query::denied_json(&denied),
                || query::denied_text(&denied, None, output),
            )));
        }
    };
    let columns = dataset.columns.iter();
    let replaced = columns
        .filter(|column| column.name == arguments.column)
        .find_map(|column| column.bounds)
        .filter(|replaced| *replaced != bounds);
    arguments.catalogue.change(|catalogue| {
        let dataset = catalogue.datasets.get_mut(&arguments.name);
        let columns = dataset.into_iter().flat_map(|dataset| &mut dataset.columns);
        for column in columns.filter(|column| column.name == arguments.column) {
            column.bounds = Some(bounds);
        }
        Ok(())
    })?;
    Ok(CommandOutput::done(output.either(
        || {
            json!({
                "dataset": arguments.name,
                "column": arguments.column,
                "low": bounds.low,
                "high": bounds.high,
                "replaced": replaced.map(|old| json!({"low": old.low, "high": old.high})),
                "receipt": answered.done.receipt.to_string(),
                "repeated": answered.repeated,
                "spent": {
                    "epsilon": if answered.repeated { 0.0 } else { answered.epsilon.get() },
                    "delta": if answered.repeated { 0.0 } else { answered.delta.get() },
                    "event": answered.event.to_string(),
                },
            })
        },
        || {
            let shown = |bounds: Bounds| {
                let [low, high] = [bounds.low, bounds.high].map(|end| number::grouped(end, 9));
                format!("{low} to {high}")
            };
            let replaced = replaced.map_or(String::new(), |old| {
                format!("they replace the bounds {}\n", shown(old))
            });
            let spent = match answered.repeated {
                true => "stored answer, nothing spent".to_owned(),
                false => format!(
                    "spent ε {} at δ {}",
                    number::epsilon_up(answered.epsilon.get(), 4),
                    number::delta_up(answered.delta.get())
                ),
            };
            format!(
                "bounds of {}.{}: {} (about 1 unit in 100 has values outside)\n\
                 values outside are clamped to them from now on\n\
                 {replaced}{spent}\nreceipt {}\n",
                arguments.name,
                arguments.column,
                shown(bounds),
                answered.done.receipt
            )
        },
    )))
}
