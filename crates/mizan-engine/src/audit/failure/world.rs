//! Worlds of the failure audit: small datasets in real files, in which one unit, the target,
//! has the worst rows that a file can hold.

#[cfg(test)]
use mizan_sql::Value;
use mizan_sql::{Catalogue, Type};

use super::super::dice::Dice;
use super::super::world;
use super::files::Format;

/// The unit whose rows differ between neighbours.
pub(crate) const TARGET: i64 = 666;

/// A cell, as a file holds it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Cell {
    Null,
    /// A text that may be invalid UTF-8; quoted in CSV.
    Bytes(Vec<u8>),
    /// The same, without quotes in CSV.
    Raw(Vec<u8>),
    Integer(i64),
    Number(f64),
    Boolean(bool),
    Day(i32),
    Time(i64),
}

/// Rows of a dataset.
pub(crate) type Rows = Vec<Vec<Cell>>;

/// A dataset: rows that both neighbours have. Those of the target are added.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    pub(crate) name: String,
    pub(crate) format: Format,
    pub(crate) others: Rows,
}

/// Datasets without the target.
#[derive(Clone, Debug)]
pub(crate) struct World {
    pub(crate) catalogue: Catalogue,
    pub(crate) tables: Vec<Table>,
    pub(crate) salt: [u8; 16],
    /// Texts of units other than the target: words, numbers or days. Where all of them are
    /// numbers, only the target has a text that is not a number.
    plain_texts: &'static [&'static str],
    /// Whether the files of public tables have been written.
    pub(super) public_written: std::cell::Cell<bool>,
}

/// The rows of the target in each table of a world.
pub(crate) type Target = Vec<Rows>;

impl World {
    /// A random world, with its files in `folder`.
    pub(crate) fn new(dice: &mut Dice<'_>, folder: &str) -> Self {
        let mut catalogue = world::catalogue(dice, folder);
        if let Some(visits) = catalogue.datasets.get_mut("visits") {
            let column = |name, kind| world::column(name, kind, None, None);
            visits.columns.push(column("note", Type::Text));
            visits.columns.push(column("at", Type::Timestamp));
        }
        if dice.one_in(4) {
            for dataset in catalogue.datasets.values_mut() {
                let units = dataset.columns.iter_mut();
                for unit in units.filter(|column| column.name == "u") {
                    unit.kind = Type::Text;
                }
            }
        }
        let units = 1 + dice.below(6);
        let plain_texts = dice.pick(&PLAIN_TEXTS).unwrap_or_default();
        let mut tables = Vec::new();
        for dataset in catalogue.datasets.values_mut() {
            let format = Format::new(dice, &dataset.columns);
            let name = dataset.name.clone();
            dataset.source = format!("{folder}/{name}.{}", format.extension());
            let most = match &*name {
                "labels" => dice.pick(&[0, 3, 30, 200, 200, 1_000]).unwrap_or(3),
                _ => dice.below(30),
            };
            let fanout = 1 + dice.below(12);
            let rows = (0..most).map(|row| {
                let cells = dataset.columns.iter().map(|column| match &*column.name {
                    "u" => unit(i64::try_from(dice.below(units)).unwrap_or(0), column.kind),
                    "k" => Cell::Integer(i64::try_from(row % fanout).unwrap_or(0)),
                    _ => plain(dice, column.kind, plain_texts),
                });
                cells.collect()
            });
            let others = rows.collect();
            tables.push(Table {
                name,
                format,
                others,
            });
        }
        let salt = super::super::salt(dice);
        Self {
            catalogue,
            tables,
            salt,
            plain_texts,
            public_written: std::cell::Cell::new(false),
        }
    }

    /// Rows of the target: worst-case ones or harmless ones.
    pub(crate) fn target(&self, dice: &mut Dice<'_>, worst: bool) -> Target {
        // If there are many rows, texts are short, so that the memory of a join stays small.
        let count = dice.pick(&[1, 1, 2, 5, 40]).unwrap_or(1);
        let longest = match count {
            1 | 2 => LONGEST_STORED,
            5 => 5_000,
            _ => 64,
        };
        let rows = |dice: &mut Dice<'_>, table: &Table| {
            let dataset = self.catalogue.datasets.get(&table.name);
            let Some(dataset) = dataset.filter(|dataset| dataset.privacy.is_some()) else {
                return Rows::new();
            };
            let count = if table.name == "visits" {
                count
            } else {
                1 + dice.below(3)
            };
            // An unclosed quote makes one text of the rest of the file. All texts are short
            // then, so that this text does not exceed the limit of stored texts.
            // Where units are texts, a line break in a later text could begin a row of another
            // unit, which the data owner declares not to happen (SECURITY.md).
            let open_quotes =
                table.format == Format::Csv && !self.has_text_units() && dice.one_in(2);
            let longest = if open_quotes {
                longest.min(SHORT)
            } else {
                longest
            };
            let rows = (0..count).map(|_| {
                let cells = dataset.columns.iter().map(|column| match &*column.name {
                    // An invalid unit: such rows are left out.
                    "u" if worst && dice.one_in(16) => cell_without_unit(dice, &table.format),
                    "u" => unit(TARGET, column.kind),
                    "yes" if worst => Cell::Boolean(true),
                    _ if worst => nasty(dice, column.kind, longest, &table.format, open_quotes),
                    _ => plain(dice, column.kind, self.plain_texts),
                });
                cells.collect()
            });
            rows.collect()
        };
        self.tables.iter().map(|table| rows(dice, table)).collect()
    }

    /// Whether units are texts.
    pub(super) fn has_text_units(&self) -> bool {
        let visits = self.catalogue.datasets.get("visits");
        let unit = visits.and_then(|visits| visits.columns.first());
        unit.is_some_and(|unit| unit.kind == Type::Text)
    }

    /// How many rows the public table has.
    pub(super) fn public_rows(&self) -> u64 {
        let public = self.tables.iter().find(|table| table.name == "labels");
        public.map_or(0, |table| table.others.len() as u64)
    }

    /// The rows of a table, with those of the target at the end.
    pub(crate) fn rows(&self, place: usize, target: &Target) -> Rows {
        let others = self.tables.get(place).map(|table| table.others.clone());
        let mut rows = others.unwrap_or_default();
        rows.extend(target.get(place).into_iter().flatten().cloned());
        rows
    }
}

/// Texts of harmless rows.
const PLAIN_TEXTS: [&[&str]; 4] = [
    &["k1", "k2", "", "a b", "é"],
    &["k1", "k2", "k3"],
    &["1", "12", "7", "-3"],
    &["2024-03-01", "2023-12-31", "2024-01-15"],
];

/// The longest text of a target with unclosed quotes: two rows of three such texts stay below
/// the limits of the audit.
const SHORT: usize = 10_000;

/// The longest text that a target stores.
pub(crate) const LONGEST_STORED: usize = 100 << 10;

/// The id of a unit.
fn unit(id: i64, kind: Type) -> Cell {
    match kind {
        Type::Text => Cell::Bytes(id.to_string().into()),
        _ => Cell::Integer(id),
    }
}

/// An invalid unit id: NULL, or bytes that are not an id.
fn cell_without_unit(dice: &mut Dice<'_>, format: &Format) -> Cell {
    match *format == Format::Csv && dice.one_in(2) {
        true => Cell::Raw(b"\xff\xfe".to_vec()),
        false => Cell::Null,
    }
}

/// A cell that every reader accepts.
fn plain(dice: &mut Dice<'_>, kind: Type, texts: &[&str]) -> Cell {
    if dice.one_in(10) {
        return Cell::Null;
    }
    match kind {
        Type::Integer => Cell::Integer(dice.between(-2, 13)),
        Type::Number => Cell::Number(dice.between(-6, 6) as f64 / 4.0),
        Type::Text => Cell::Bytes(dice.word(texts).into()),
        Type::Date => Cell::Day(i32::try_from(dice.between(19_650, 19_850)).unwrap_or(0)),
        Type::Timestamp => Cell::Time(1_700_000_000_000_000 + dice.between(0, 1 << 40)),
        Type::Boolean => Cell::Boolean(dice.one_in(4)),
    }
}

/// A cell that tries to make readers fail.
fn nasty(
    dice: &mut Dice<'_>,
    kind: Type,
    longest: usize,
    format: &Format,
    open_quotes: bool,
) -> Cell {
    if dice.one_in(12) {
        return Cell::Null;
    }
    let ends = [
        i64::MIN,
        i64::MIN + 1,
        i64::MAX,
        i64::MAX - 1,
        -1,
        0,
        1 << 53,
    ];
    match kind {
        Type::Integer => match dice.below(3) {
            0 => Cell::Integer(dice.between(-2, 13)),
            _ => Cell::Integer(dice.pick(&ends).unwrap_or(0)),
        },
        Type::Number => {
            let ends = [
                f64::NAN,
                f64::INFINITY,
                f64::NEG_INFINITY,
                f64::MAX,
                f64::MIN,
                f64::MIN_POSITIVE,
                5e-324,
                -0.0,
                9.3e18,
                -9.3e18,
                0.1,
            ];
            Cell::Number(dice.pick(&ends).unwrap_or(0.0))
        }
        Type::Text => text(dice, longest, format, open_quotes),
        Type::Date => {
            let ends = [i32::MIN, i32::MAX, -719_529, 2_932_896, -1, 0, 19_700];
            Cell::Day(dice.pick(&ends).unwrap_or(0))
        }
        Type::Timestamp => Cell::Time(dice.pick(&ends).unwrap_or(0)),
        Type::Boolean => Cell::Boolean(dice.one_in(2)),
    }
}

fn text(dice: &mut Dice<'_>, longest: usize, format: &Format, open_quotes: bool) -> Cell {
    let length = dice.pick(&[
        1,
        3,
        60,
        900,
        5_000,
        20_000,
        40_000,
        60_000,
        65_536,
        LONGEST_STORED,
    ]);
    let length = length.unwrap_or(1).min(longest);
    let bytes: Vec<u8> = match dice.below(14) {
        11 | 12 => {
            let texts: [&[u8]; 10] = [
                b"2024-02-30",
                b"9999-12-31T23:59:60.9999999999",
                b"292277026596-12-04 15:30:08",
                b"-0001-01-01",
                b"-9223372036854775809",
                b"0x7fffffffffffffff",
                b" +1 ",
                b"1e-400",
                "\u{fffe}\u{202e}\u{301}".as_bytes(),
                b"tru\xe2",
            ];
            dice.pick(&texts).unwrap_or_default().to_vec()
        }
        0..=3 => vec![b'x'; length],
        4 => "é".repeat(length / 2).into(),
        5 => "\u{10ffff}".repeat(length / 4).into(),
        6 => b"\xff\xfe".to_vec(),
        7 => [&vec![b'k'; length - 1], b"\xc3".as_slice()].concat(),
        8 => b"\xed\xa0\x80 a lone surrogate".to_vec(),
        9 => b"a\0b".to_vec(),
        10 => b"99999999999999999999999999999999999999999e999999999".to_vec(),
        _ => b"a\"b,c\r\nd".to_vec(),
    };
    if *format != Format::Csv || dice.one_in(2) {
        return Cell::Bytes(bytes);
    }
    // Outside of quotes some bytes have a meaning. The rows of the target are the last of a
    // file, so an unclosed quote affects only its own rows.
    let odd: [&[u8]; 6] = [
        b"a\rb",
        b"a\r1,5,7,0.5,0.5,k1,k2",
        b"\r",
        b"a\"b",
        b"\"shut\"more",
        if open_quotes { b"\"open" } else { b"\"\"" },
    ];
    let apart = |byte: &u8| b"\",\n\r".contains(byte);
    match dice.one_in(3) || bytes.iter().any(apart) {
        true => Cell::Raw(dice.pick(&odd).unwrap_or_default().to_vec()),
        false => Cell::Raw(bytes),
    }
}

/// The value of a cell, as a database holds it.
#[cfg(test)]
pub(crate) fn value(cell: &Cell) -> Value {
    match cell {
        Cell::Null => Value::Null,
        Cell::Bytes(bytes) | Cell::Raw(bytes) => {
            let text = String::from_utf8(bytes.clone()).ok();
            // A database cannot store zero bytes in texts.
            let text = text.filter(|text| !text.contains('\0'));
            text.map_or(Value::Null, Value::Text)
        }
        Cell::Integer(value) => Value::Integer(*value),
        Cell::Number(value) => Value::number(*value),
        Cell::Boolean(value) => Value::Boolean(*value),
        Cell::Day(value) => Value::Date(*value),
        Cell::Time(value) => Value::Timestamp(*value),
    }
}
