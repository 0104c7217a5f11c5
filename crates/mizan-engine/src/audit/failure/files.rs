//! Files of the failure audit: CSV of arbitrary bytes, or Parquet.

use std::io::{Result, Write as _};
use std::path::Path;

use mizan_sql::{DatasetColumn, Value};

use super::super::dice::Dice;
use super::parquet::{self, Layout};
use super::world::{Cell, Rows, Target, World};

/// How a table is stored.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Format {
    Csv,
    Parquet(Layout),
}

impl Format {
    /// A random format for these columns.
    pub(super) fn new(dice: &mut Dice<'_>, columns: &[DatasetColumn]) -> Self {
        if dice.one_in(3) {
            return Self::Csv;
        }
        Self::Parquet(Layout::new(dice, columns))
    }

    pub(super) const fn extension(&self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::Parquet(_) => "parquet",
        }
    }
}

/// Writes the files of a world with a target. Public files are written once: they are the same
/// for all neighbours.
pub(crate) fn write(world: &World, target: &Target) -> Result<()> {
    for (place, table) in world.tables.iter().enumerate() {
        let Some(dataset) = world.catalogue.datasets.get(&table.name) else {
            continue;
        };
        if dataset.privacy.is_none() && world.public_written.get() {
            continue;
        }
        let (path, rows) = (Path::new(&dataset.source), world.rows(place, target));
        match &table.format {
            Format::Csv => csv(path, &dataset.columns, &rows)?,
            Format::Parquet(layout) => parquet::write(path, &dataset.columns, layout, &rows)?,
        }
    }
    world.public_written.set(true);
    Ok(())
}

fn csv(path: &Path, columns: &[DatasetColumn], rows: &Rows) -> Result<()> {
    let names: Vec<&str> = columns.iter().map(|column| &*column.name).collect();
    let mut bytes = names.join(",").into_bytes();
    bytes.push(b'\n');
    for row in rows {
        for (place, cell) in row.iter().enumerate() {
            if place > 0 {
                bytes.push(b',');
            }
            match cell {
                Cell::Null => {}
                Cell::Raw(raw) => bytes.extend(raw),
                Cell::Bytes(text) => {
                    bytes.push(b'"');
                    for byte in text {
                        bytes.extend(if *byte == b'"' {
                            b"\"\""
                        } else {
                            std::slice::from_ref(byte)
                        });
                    }
                    bytes.push(b'"');
                }
                Cell::Integer(value) => write!(bytes, "{value}")?,
                Cell::Number(value) => write!(bytes, "{value:e}")?,
                Cell::Boolean(value) => write!(bytes, "{value}")?,
                Cell::Day(day) => write!(bytes, "{}", Value::Date(*day))?,
                Cell::Time(time) => write!(bytes, "{}", Value::Timestamp(*time))?,
            }
        }
        bytes.push(b'\n');
    }
    std::fs::write(path, bytes)
}
