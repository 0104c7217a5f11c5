//! `mizan dataset list`: all datasets.

use mizan_report::{Column, Table};
use serde_json::json;

use crate::failure::Failure;
use crate::output::{Output, shortened};
use crate::shelf::Shelf;

/// List the datasets
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  mizan dataset list\n  mizan dataset list --format json")]
pub(crate) struct Arguments {
    #[command(flatten)]
    shelf: Shelf,
}

pub(super) fn run(arguments: &Arguments, output: Output) -> Result<String, Failure> {
    let catalogue = arguments.shelf.read()?;
    let datasets = catalogue.datasets.values();
    Ok(output.either(
        || json!({"datasets": datasets.clone().map(mizan_sql::Dataset::to_json).collect::<Vec<_>>()}),
        || {
            if catalogue.datasets.is_empty() {
                return "no datasets; add one with `mizan dataset add`\n".to_owned();
            }
            let mut table = Table::new([
                Column::text("dataset"),
                Column::text("unit"),
                Column::text("account"),
                Column::text("file"),
            ])
            .ascii(output.terminal.ascii);
            for dataset in datasets.clone() {
                let privacy = dataset.privacy.as_ref();
                let unit = privacy.map_or("public".to_owned(), |p| p.unit.join(", "));
                let account = privacy.map_or("", |p| p.account.as_str());
                let cells = [(&*dataset.name, 20), (&unit, 16), (account, 16)];
                let mut row: Vec<String> = cells
                    .map(|(text, longest)| shortened(text, longest))
                    .to_vec();
                let file = std::path::Path::new(&dataset.source).file_name();
                let file = file.map(|file| file.to_string_lossy().into_owned());
                row.push(shortened(&file.unwrap_or_default(), 22));
                table.row(row);
            }
            format!("{table}\n")
        },
    ))
}
