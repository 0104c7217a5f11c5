//! Parquet files of the failure audit, whose pages contain values that the schema does not
//! allow.
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "any value of the other type will do"
)]

use std::fs::File;
use std::io::{Error, Result};
use std::path::Path;
use std::sync::Arc;

use mizan_sql::{DatasetColumn, Type};
use parquet::basic::Encoding;
use parquet::data_type::{
    BoolType, ByteArray, ByteArrayType, DataType, DoubleType, FixedLenByteArrayType, FloatType,
    Int32Type, Int64Type, Int96, Int96Type,
};
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterVersion};
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::ColumnPath;

use super::super::dice::Dice;
use super::world::{Cell, Rows};

/// The layout of a Parquet file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "each is a choice of its own")]
pub(crate) struct Layout {
    columns: Vec<Physical>,
    /// Rows per row group.
    group: usize,
    dictionary: bool,
    statistics: bool,
    /// Data pages of version 2.
    second: bool,
    /// One page for each row.
    small_pages: bool,
    /// Delta encodings where there is no dictionary.
    deltas: bool,
    /// A repeated column that is not in the catalogue, before all others.
    nested: bool,
    /// A row group without rows at the end.
    empty_group: bool,
}

/// The physical type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Physical(&'static str);

const BOOLEAN: [Physical; 1] = [Physical("BOOLEAN {}")];
const UNIT: [Physical; 3] = [
    Physical("INT64 {}"),
    Physical("INT32 {}"),
    Physical("INT64 {} (DECIMAL(18,0))"),
];
const INTEGER: [Physical; 7] = [
    Physical("INT64 {}"),
    Physical("INT32 {}"),
    Physical("INT32 {} (INTEGER(8,true))"),
    Physical("INT32 {} (INTEGER(16,false))"),
    Physical("INT32 {} (DECIMAL(9,0))"),
    Physical("INT64 {} (INTEGER(64,false))"),
    Physical("INT64 {} (DECIMAL(18,0))"),
];
const NUMBER: [Physical; 8] = [
    Physical("DOUBLE {}"),
    Physical("DOUBLE {}"),
    Physical("FIXED_LEN_BYTE_ARRAY (2) {} (FLOAT16)"),
    Physical("FIXED_LEN_BYTE_ARRAY (16) {} (DECIMAL(38,37))"),
    Physical("BYTE_ARRAY {} (DECIMAL(38,20))"),
    Physical("FLOAT {}"),
    Physical("INT64 {} (DECIMAL(18,3))"),
    Physical("INT32 {} (DECIMAL(9,2))"),
];
const TEXT: [Physical; 2] = [
    Physical("BYTE_ARRAY {} (UTF8)"),
    Physical("BYTE_ARRAY {} (STRING)"),
];
const DATE: [Physical; 1] = [Physical("INT32 {} (DATE)")];
const TIMESTAMP: [Physical; 5] = [
    Physical("INT96 {}"),
    Physical("INT64 {} (TIMESTAMP(MICROS,false))"),
    Physical("INT64 {} (TIMESTAMP(MILLIS,true))"),
    Physical("INT64 {} (TIMESTAMP(NANOS,false))"),
    Physical("INT64 {} (TIMESTAMP(MICROS,true))"),
];

impl Physical {
    /// The delta encoding of this type.
    fn deltas(self) -> Option<Encoding> {
        match self.0.split(' ').next() {
            Some("INT32" | "INT64") => Some(Encoding::DELTA_BINARY_PACKED),
            Some("BYTE_ARRAY" | "FIXED_LEN_BYTE_ARRAY") => Some(Encoding::DELTA_BYTE_ARRAY),
            _ => None,
        }
    }
}

impl Layout {
    /// A random layout for these columns.
    pub(super) fn new(dice: &mut Dice<'_>, columns: &[DatasetColumn]) -> Self {
        let physical = columns.iter().map(|column| {
            let all: &[Physical] = match column.kind {
                Type::Integer if column.name == "u" => &UNIT,
                Type::Boolean => &BOOLEAN,
                Type::Integer => &INTEGER,
                Type::Number => &NUMBER,
                Type::Text => &TEXT,
                Type::Date => &DATE,
                Type::Timestamp => &TIMESTAMP,
            };
            dice.pick(all).unwrap_or(Physical("INT64 {}"))
        });
        Self {
            columns: physical.collect(),
            group: dice.pick(&[1, 7, 1000]).unwrap_or(1000),
            dictionary: dice.one_in(2),
            statistics: dice.one_in(2),
            second: dice.one_in(3),
            small_pages: dice.one_in(4),
            deltas: dice.one_in(3),
            nested: dice.one_in(5),
            empty_group: dice.one_in(8),
        }
    }
}

/// Writes a file.
pub(super) fn write(
    path: &Path,
    columns: &[DatasetColumn],
    layout: &Layout,
    rows: &Rows,
) -> Result<()> {
    let physical = &layout.columns;
    let fields = columns
        .iter()
        .zip(physical)
        .map(|(column, physical)| format!("OPTIONAL {};", physical.0.replace("{}", &column.name)));
    let nested = if layout.nested {
        "REPEATED INT32 extra;"
    } else {
        ""
    };
    let message = format!("message m {{ {nested} {} }}", fields.collect::<String>());
    let schema = Arc::new(parse_message_type(&message).map_err(Error::other)?);
    let mut properties = WriterProperties::builder().set_dictionary_enabled(layout.dictionary);
    if !layout.statistics {
        properties = properties.set_statistics_enabled(EnabledStatistics::None);
    }
    if layout.second {
        properties = properties.set_writer_version(WriterVersion::PARQUET_2_0);
    }
    if layout.small_pages {
        properties = properties
            .set_data_page_row_count_limit(1)
            .set_write_batch_size(1);
    }
    for (column, physical) in columns.iter().zip(physical) {
        if let Some(encoding) = physical
            .deltas()
            .filter(|_| layout.deltas && !layout.dictionary)
        {
            let path = ColumnPath::from(&*column.name);
            properties = properties.set_column_encoding(path, encoding);
        }
    }
    let file = File::create(path)?;
    let writer = SerializedFileWriter::new(file, schema, Arc::new(properties.build()));
    let mut writer = writer.map_err(Error::other)?;
    let empty: &[Vec<Cell>] = &[];
    let last = layout.empty_group.then_some(empty);
    for rows in rows.chunks(layout.group.max(1)).chain(last) {
        let mut chunk = writer.next_row_group().map_err(Error::other)?;
        if layout.nested
            && let Some(mut column) = chunk.next_column().map_err(Error::other)?
        {
            repeated(&mut column, rows.len())?;
            column.close().map_err(Error::other)?;
        }
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

/// Writes a dataset with the usual physical types.
#[cfg(test)]
pub(crate) fn write_plain(dataset: &mizan_sql::Dataset, rows: &Rows) -> Result<()> {
    let usual = |column: &DatasetColumn| match column.kind {
        Type::Boolean => BOOLEAN[0],
        Type::Integer => INTEGER[0],
        Type::Number => NUMBER[0],
        Type::Text => TEXT[0],
        Type::Date => DATE[0],
        Type::Timestamp => TIMESTAMP[0],
    };
    let layout = Layout {
        columns: dataset.columns.iter().map(usual).collect(),
        group: 1000,
        statistics: true,
        ..Layout::default()
    };
    write(Path::new(&dataset.source), &dataset.columns, &layout, rows)
}

/// Writes the cells of a column. A value that the physical type cannot hold becomes NULL.
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
            // The lower bits. Extreme values stay extreme.
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
        "INT96" => put::<Int96Type>(column, cells, |cell| match cell {
            Cell::Time(time) => Some(int96(*time)),
            _ => None,
        }),
        "FIXED_LEN_BYTE_ARRAY" => put::<FixedLenByteArrayType>(column, cells, |cell| match cell {
            Cell::Number(value) if physical.0.contains("FLOAT16") => {
                Some(ByteArray::from(half(*value).to_le_bytes().to_vec()).into())
            }
            Cell::Number(value) => {
                Some(ByteArray::from(wide(*value).to_be_bytes().to_vec()).into())
            }
            _ => None,
        }),
        _ => put::<ByteArrayType>(column, cells, |cell| match cell {
            Cell::Bytes(bytes) | Cell::Raw(bytes) => Some(ByteArray::from(bytes.clone())),
            Cell::Number(value) => Some(ByteArray::from(decimal(*value))),
            _ => None,
        }),
    }
}

/// Julian days and nanoseconds, also beyond the range of timestamps.
fn int96(time: i64) -> Int96 {
    const DAY: i64 = 86_400_000_000;
    let nanoseconds = time.rem_euclid(DAY) * 1000;
    let day = time.div_euclid(DAY) + 2_440_588;
    let mut value = Int96::new();
    value.set_data(nanoseconds as u32, (nanoseconds >> 32) as u32, day as u32);
    value
}

/// A half-precision float of the same kind.
fn half(value: f64) -> u16 {
    match value {
        value if value.is_nan() => 0x7e00,
        f64::INFINITY => 0x7c00,
        f64::NEG_INFINITY => 0xfc00,
        value if value > 1e4 => 0x7bff,
        value if value < -1e4 => 0xfbff,
        0.0 => 0x8000,
        _ => 0x3800,
    }
}

/// A decimal of 16 bytes; extreme values have more digits than declared.
fn wide(value: f64) -> i128 {
    match value {
        value if value > 1e300 => i128::MAX,
        value if value < -1e300 => i128::MIN,
        value => ((value * 1000.0) as i128).saturating_mul(1 << 80),
    }
}

/// A decimal of any number of bytes, including zero.
fn decimal(value: f64) -> Vec<u8> {
    match value {
        value if value.is_nan() => Vec::new(),
        f64::INFINITY => vec![0x7f; 17],
        f64::MAX => vec![0xff; 40],
        value => ((value * 1000.0) as i64).to_be_bytes().to_vec(),
    }
}

/// Lists of two values in every third row, empty lists in others.
fn repeated(column: &mut SerializedColumnWriter<'_>, rows: usize) -> Result<()> {
    let (mut values, mut defined, mut repeats) = (Vec::new(), Vec::new(), Vec::new());
    for row in 0..rows {
        let filled = row % 3 == 0;
        defined.push(i16::from(filled));
        repeats.push(0);
        if filled {
            defined.push(1);
            repeats.push(1);
            values.extend([1, 2]);
        }
    }
    let column = column.typed::<Int32Type>();
    let written = column.write_batch(&values, Some(&defined), Some(&repeats));
    written.map(drop).map_err(Error::other)
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
