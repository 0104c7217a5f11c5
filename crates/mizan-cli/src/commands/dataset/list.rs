//! `mizan dataset list`: the datasets of the catalogue.

use mizan_report::{Column, Table};
use serde_json::json;

use crate::catalogue_file::CatalogueFile;
use crate::failure::Failure;
use crate::output::{Output, shortened};

/// List the datasets
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  mizan dataset list\n  mizan dataset list --format json")]
pub(crate) struct Arguments {
    #[command(flatten)]
    catalogue: CatalogueFile,
}

pub(super) fn run(arguments: &Arguments, output: Output) -> Result<String, Failure> {
    let catalogue = arguments.catalogue.read()?;
    let datasets = catalogue.datasets.values();
    Ok(output.either(
        || json!({"datasets": datasets.clone().map(mizan_sql::Dataset::to_json).collect::<Vec<_>>()}),
        || {
            if catalogue.datasets.is_empty() {
                return "no datasets; add one with `mizan dataset add`\n".to_owned();
            }
            let mut table = Table::new([
                Column::text("dataset"),
                Column::text("privacy unit"),
                Column::text("account"),
                Column::text("source"),
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
                row.push(shortened(last_part(&dataset.source), 22));
                table.row(row);
            }
            format!("{table}\n")
        },
    ))
}

/// The name of a file, or of a table.
fn last_part(source: &str) -> &str {
    let place = match mizan_engine::is_table(source) {
        true => source.split('?').next().unwrap_or(source),
        false => source,
    };
    place.rsplit('/').next().unwrap_or(place)
}
