//! Files of the hunt for failures: CSV of any bytes, and Parquet whose pages hold what
//! the schema does not allow.
#![allow(
    clippy::cast_possible_truncation,
    reason = "any value of the smaller type will do"
)]

use std::fs::File;
use std::io::{Error, Result, Write as _};
use std::path::Path;
use std::sync::Arc;

use datafusion::parquet::data_type::{
    BoolType, ByteArray, ByteArrayType, DataType, DoubleType, FloatType, Int32Type, Int64Type,
};
use datafusion::parquet::file::properties::WriterProperties;
use datafusion::parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use datafusion::parquet::schema::parser::parse_message_type;
use mizan_sql::{DatasetColumn, Type, Value};

use super::super::dice::Dice;
use super::world::{Cell, Rows, Target, World};

/// How a table is stored.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Format {
    Csv,
    Parquet {
        columns: Vec<Physical>,
        /// Rows of a row group.
        group: usize,
        dictionary: bool,
        statistics: bool,
    },
}

/// How a column of Parquet holds its cells: the type of its schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Physical(&'static str);

const BOOLEAN: [Physical; 1] = [Physical("BOOLEAN {}")];
const UNIT: [Physical; 1] = [Physical("INT64 {}")];
const INTEGER: [Physical; 4] = [
    Physical("INT64 {}"),
    Physical("INT32 {}"),
    Physical("INT64 {} (INTEGER(64,false))"),
    Physical("INT64 {} (DECIMAL(18,0))"),
];
const NUMBER: [Physical; 4] = [
    Physical("DOUBLE {}"),
    Physical("FLOAT {}"),
    Physical("INT64 {} (DECIMAL(18,3))"),
    Physical("INT32 {} (DECIMAL(9,2))"),
];
const TEXT: [Physical; 2] = [
    Physical("BYTE_ARRAY {} (UTF8)"),
    Physical("BYTE_ARRAY {} (STRING)"),
];
const DATE: [Physical; 1] = [Physical("INT32 {} (DATE)")];
const TIMESTAMP: [Physical; 4] = [
    Physical("INT64 {} (TIMESTAMP(MICROS,false))"),
    Physical("INT64 {} (TIMESTAMP(MILLIS,true))"),
    Physical("INT64 {} (TIMESTAMP(NANOS,false))"),
    Physical("INT64 {} (TIMESTAMP(MICROS,true))"),
];

impl Format {
    /// A random one for these columns.
    pub(super) fn new(dice: &mut Dice<'_>, columns: &[DatasetColumn]) -> Self {
        if dice.one_in(3) {
            return Self::Csv;
        }
        let physical = columns.iter().map(|column| {
            let all: &[Physical] = match column.kind {
                _ if column.name == "u" => &UNIT,
                Type::Boolean => &BOOLEAN,
                Type::Integer => &INTEGER,
                Type::Number => &NUMBER,
                Type::Text => &TEXT,
                Type::Date => &DATE,
                Type::Timestamp => &TIMESTAMP,
            };
            dice.pick(all).unwrap_or(Physical("INT64 {}"))
        });
        Self::Parquet {
            columns: physical.collect(),
            group: dice.pick(&[1, 7, 1000]).unwrap_or(1000),
            dictionary: dice.one_in(2),
            statistics: dice.one_in(2),
        }
    }

    pub(super) const fn extension(&self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::Parquet { .. } => "parquet",
        }
    }
}

/// Writes the files of a world with a target.
pub(crate) fn write(world: &World, target: &Target) -> Result<()> {
    for (place, table) in world.tables.iter().enumerate() {
        let Some(dataset) = world.catalogue.datasets.get(&table.name) else {
            continue;
        };
        let (path, rows) = (Path::new(&dataset.source), world.rows(place, target));
        match &table.format {
            Format::Csv => csv(path, &dataset.columns, &rows)?,
            format => parquet(path, &dataset.columns, format, &rows)?,
        }
    }
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

fn parquet(path: &Path, columns: &[DatasetColumn], format: &Format, rows: &Rows) -> Result<()> {
    let Format::Parquet {
        columns: physical,
        group,
        dictionary,
        statistics,
    } = format
    else {
        return Ok(());
    };
    let fields = columns
        .iter()
        .zip(physical)
        .map(|(column, physical)| format!("OPTIONAL {};", physical.0.replace("{}", &column.name)));
    let message = format!("message m {{ {} }}", fields.collect::<String>());
    let schema = Arc::new(parse_message_type(&message).map_err(Error::other)?);
    let mut properties = WriterProperties::builder().set_dictionary_enabled(*dictionary);
    if !statistics {
        use datafusion::parquet::file::properties::EnabledStatistics;
        properties = properties.set_statistics_enabled(EnabledStatistics::None);
    }
    let file = File::create(path)?;
    let writer = SerializedFileWriter::new(file, schema, Arc::new(properties.build()));
    let mut writer = writer.map_err(Error::other)?;
    for rows in rows.chunks((*group).max(1)) {
        let mut chunk = writer.next_row_group().map_err(Error::other)?;
        for (place, physical) in physical.iter().enumerate() {
            let cells = rows.iter().map(|row| row.get(place).unwrap_or(&Cell::Null));
            let Some(mut column) = chunk.next_column().map_err(Error::other)? else {
                break;
            };
            pages(&mut column, *physical, cells)?;
            column.close().map_err(Error::other)?;
        }
        chunk.close().map_err(Error::other)?;
    }
    writer.close().map_err(Error::other)?;
    Ok(())
}

/// Writes a dataset whose columns are of the usual types.
#[cfg(test)]
pub(crate) fn plain_parquet(dataset: &mizan_sql::Dataset, rows: &Rows) -> Result<()> {
    let usual = |column: &DatasetColumn| match column.kind {
        Type::Boolean => BOOLEAN[0],
        Type::Integer => INTEGER[0],
        Type::Number => NUMBER[0],
        Type::Text => TEXT[0],
        Type::Date => DATE[0],
        Type::Timestamp => TIMESTAMP[0],
    };
    let format = Format::Parquet {
        columns: dataset.columns.iter().map(usual).collect(),
        group: 1000,
        dictionary: false,
        statistics: true,
    };
    parquet(Path::new(&dataset.source), &dataset.columns, &format, rows)
}

/// Writes the cells of a column. What the physical type cannot hold is NULL.
fn pages<'a>(
    column: &mut SerializedColumnWriter<'_>,
    physical: Physical,
    cells: impl Iterator<Item = &'a Cell>,
) -> Result<()> {
    let kind = physical.0.split(' ').next().unwrap_or_default();
    match kind {
        "BOOLEAN" => put::<BoolType>(column, cells, |cell| match cell {
            Cell::Boolean(value) => Some(*value),
            _ => None,
        }),
        "INT32" => put::<Int32Type>(column, cells, |cell| match cell {
            Cell::Day(day) => Some(*day),
            // The lower bits: of extremes still extremes.
            other => whole(other).map(|value| value as i32),
        }),
        "INT64" => put::<Int64Type>(column, cells, whole),
        "FLOAT" => put::<FloatType>(column, cells, |cell| match cell {
            Cell::Number(value) => Some(*value as f32),
            _ => None,
        }),
        "DOUBLE" => put::<DoubleType>(column, cells, |cell| match cell {
            Cell::Number(value) => Some(*value),
            _ => None,
        }),
        _ => put::<ByteArrayType>(column, cells, |cell| match cell {
            Cell::Bytes(bytes) | Cell::Raw(bytes) => Some(ByteArray::from(bytes.clone())),
            _ => None,
        }),
    }
}

fn whole(cell: &Cell) -> Option<i64> {
    match cell {
        Cell::Integer(value) | Cell::Time(value) => Some(*value),
        Cell::Number(value) => Some((*value * 1000.0) as i64),
        _ => None,
    }
}

fn put<'a, T: DataType>(
    column: &mut SerializedColumnWriter<'_>,
    cells: impl Iterator<Item = &'a Cell>,
    value: impl Fn(&Cell) -> Option<T::T>,
) -> Result<()> {
    let (mut values, mut levels) = (Vec::new(), Vec::new());
    for cell in cells {
        let found = value(cell);
        levels.push(i16::from(found.is_some()));
        values.extend(found);
    }
    let written = column
        .typed::<T>()
        .write_batch(&values, Some(&levels), None);
    written.map(drop).map_err(Error::other)
}
