//! `mizan dataset show`: the public description of a dataset.

use mizan_report::{Column, Table};
use mizan_sql::{Dataset, DatasetColumn, Type, Value};

use crate::catalogue_file::CatalogueFile;
use crate::failure::Failure;
use crate::output::{Output, shortened};

/// Show a dataset: columns, bounds, public keys and contribution bounds
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  mizan dataset show visits")]
pub(crate) struct Arguments {
    /// Name of the dataset
    #[arg(value_name = "NAME")]
    name: String,

    #[command(flatten)]
    catalogue: CatalogueFile,
}

pub(super) fn run(arguments: &Arguments, output: Output) -> Result<String, Failure> {
    let dataset = arguments.catalogue.dataset(&arguments.name)?;
    Ok(output.either(|| dataset.to_json(), || text(&dataset, output)))
}

pub(super) fn text(dataset: &Dataset, output: Output) -> String {
    let mut text = match &dataset.privacy {
        None => format!("{}: public, {}\n", dataset.name, dataset.source),
        Some(privacy) => {
            let limit = |limit: Option<u64>| limit.map_or("not set".to_owned(), |n| n.to_string());
            format!(
                "{}: {}\n  privacy unit: {}; account: {}\n  contribution bounds: rows per unit {}, groups per unit {}\n",
                dataset.name,
                shortened(&dataset.source, 60),
                privacy.unit.join(" and "),
                privacy.account,
                limit(privacy.rows_per_unit),
                limit(privacy.groups_per_unit)
            )
        }
    };
    let mut table = Table::new([
        Column::text("column"),
        Column::text("type"),
        Column::text("bounds"),
        Column::text("public keys"),
    ])
    .ascii(output.terminal.ascii);
    for column in &dataset.columns {
        let bounds = column.bounds.map_or_else(String::new, |bounds| {
            format!(
                "{} to {}",
                edge(column, bounds.low),
                edge(column, bounds.high)
            )
        });
        let keys = column.keys.as_ref().map_or_else(String::new, |keys| {
            let all = keys.iter().map(ToString::to_string).collect::<Vec<_>>();
            shortened(&all.join(", "), 30)
        });
        let name = shortened(&column.name, 24);
        table.row([name, column.kind.name().to_owned(), bounds, keys]);
    }
    text.push_str(&format!("{table}\n"));
    text
}

/// An end of bounds in the column's own type.
#[expect(clippy::cast_possible_truncation, reason = "bounds of dates are days")]
fn edge(column: &DatasetColumn, value: f64) -> Value {
    match column.kind {
        Type::Date => Value::Date(value as i32),
        Type::Timestamp => Value::Timestamp(value as i64),
        Type::Integer => Value::Integer(value as i64),
        _ => Value::number(value),
    }
}
