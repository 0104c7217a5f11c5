//! Parses what data owners write on the command line about columns.
//!
//! ```text
//! age=integer                              a type
//! age=0:110   day=2024-01-01:2024-12-31    bounds
//! city=Bern,"a,b","",NULL                  keys
//! ```
//!
//! The name of a column may contain `=`: the longest name that exists is taken. If the upper bound of
//! a timestamp is a day, the interval ends with the end of that day.

use super::check::shortened;
use super::{CatalogueError, Dataset, DatasetColumn};
use crate::relation::Bounds;
use crate::time;
use crate::value::{Type, Value};

impl Type {
    /// Parses the name of a type, or a name that databases use for it.
    ///
    /// # Errors
    ///
    /// If the name is unknown.
    pub fn parse(text: &str) -> Result<Self, CatalogueError> {
        match text.trim().to_ascii_lowercase().as_str() {
            "boolean" | "bool" => Ok(Self::Boolean),
            "integer" | "int" | "bigint" | "smallint" => Ok(Self::Integer),
            "number" | "double" | "float" | "real" | "decimal" | "numeric" => Ok(Self::Number),
            "text" | "string" | "varchar" | "char" => Ok(Self::Text),
            "date" => Ok(Self::Date),
            "timestamp" | "datetime" => Ok(Self::Timestamp),
            _ => Err(CatalogueError::NoType {
                text: shortened(text),
            }),
        }
    }
}

impl Dataset {
    /// Declares the type of a column: `age=integer`. Types must be declared before bounds and keys,
    /// which are parsed as values of them.
    ///
    /// # Errors
    ///
    /// If the text does not parse, or the column or type does not exist.
    pub fn declare_type(&mut self, text: &str) -> Result<(), CatalogueError> {
        let (place, kind) = self.split(text, "COLUMN=TYPE, such as age=integer")?;
        let kind = Type::parse(kind)?;
        self.change(place, |column| column.kind = kind);
        Ok(())
    }

    /// Declares the bounds of a column: `age=0:110`.
    ///
    /// # Errors
    ///
    /// If the text does not parse, the column does not exist, or its type has no bounds.
    pub fn declare_bounds(&mut self, text: &str) -> Result<(), CatalogueError> {
        let (place, bounds) = self.read_bounds(text)?;
        self.change(place, |column| column.bounds = Some(bounds));
        Ok(())
    }

    /// Declares the bounds of a unit's total of a column in a group: `spent=0:500`.
    ///
    /// # Errors
    ///
    /// As [`Dataset::declare_bounds`].
    pub fn declare_unit_bounds(&mut self, text: &str) -> Result<(), CatalogueError> {
        let (place, bounds) = self.read_bounds(text)?;
        self.change(place, |column| column.unit_bounds = Some(bounds));
        Ok(())
    }

    /// Declares the keys of a column: `city=a,b,c`.
    ///
    /// # Errors
    ///
    /// If the text does not parse, the column does not exist, or a key is not of its type.
    pub fn declare_keys(&mut self, text: &str) -> Result<(), CatalogueError> {
        const FORM: &str = "COLUMN=a,b,c with \"a,b\" for a comma and NULL for no value";
        let (place, rest) = self.split(text, FORM)?;
        let column = self
            .columns
            .get(place)
            .ok_or_else(|| self.no_column(text))?;
        let mut keys = Vec::new();
        for item in items(rest).ok_or_else(|| bad_argument(text, FORM))? {
            let key = match item {
                Item::Plain(text) if text == "NULL" => Value::Null,
                Item::Plain(text) | Item::Quoted(text) => match column.kind.read(&text) {
                    Value::Null => {
                        return Err(column.bad_keys("must be values of that type, not too long"));
                    }
                    key => key,
                },
            };
            keys.push(key);
        }
        let mut changed = column.clone();
        changed.keys = Some(keys);
        self.change(place, |column| *column = changed);
        Ok(())
    }

    fn change(&mut self, place: usize, change: impl FnOnce(&mut DatasetColumn)) {
        if let Some(column) = self.columns.get_mut(place) {
            change(column);
        }
    }

    fn read_bounds(&self, text: &str) -> Result<(usize, Bounds), CatalogueError> {
        let (place, rest) = self.split(text, "COLUMN=LOW:HIGH, such as age=0:110")?;
        let column = self
            .columns
            .get(place)
            .ok_or_else(|| self.no_column(text))?;
        Ok((place, column.read_bounds(rest)?))
    }

    /// The place of the column before a `=`, and the text after it.
    fn split<'a>(
        &self,
        text: &'a str,
        form: &'static str,
    ) -> Result<(usize, &'a str), CatalogueError> {
        let after = |column: &DatasetColumn| text.strip_prefix(&column.name)?.strip_prefix('=');
        let found = self.columns.iter().enumerate();
        let found = found.filter_map(|(place, column)| Some((place, after(column)?)));
        if let Some(found) = found.min_by_key(|(_, rest)| rest.len()) {
            return Ok(found);
        }
        match text.split_once('=') {
            Some((name, _)) => Err(self.no_column(name)),
            None => Err(bad_argument(text, form)),
        }
    }
}

impl DatasetColumn {
    /// Parses `LOW:HIGH` as values of this column.
    ///
    /// # Errors
    ///
    /// If they are not two values of its type.
    pub fn read_bounds(&self, text: &str) -> Result<Bounds, CatalogueError> {
        if matches!(self.kind, Type::Boolean | Type::Text) {
            return Err(self.bad_bounds("make no sense"));
        }
        // Times have colons too, so each colon is tried as the separator.
        let colons = text.match_indices(':').map(|(place, _)| place);
        let mut pairs = colons.filter_map(|place| {
            let (low, high) = (text.get(..place)?, text.get(place + 1..)?);
            Some((end(low, self.kind, false)?, end(high, self.kind, true)?))
        });
        let Some((low, high)) = pairs.next() else {
            return Err(self.bad_bounds("must be LOW:HIGH, two values of that type"));
        };
        Bounds::new(low, high).ok_or_else(|| self.bad_bounds("must be finite, the lower first"))
    }
}

#[allow(
    clippy::cast_precision_loss,
    reason = "bounds are doubles, and any are as good"
)]
fn end(text: &str, kind: Type, last: bool) -> Option<f64> {
    match kind.read(text) {
        Value::Integer(value) => Some(value as f64),
        Value::Number(value) => Some(value),
        Value::Date(day) => Some(f64::from(day)),
        Value::Timestamp(at) if last && !Type::Date.read(text).is_null() => {
            Some((at + time::DAY - 1) as f64)
        }
        Value::Timestamp(at) => Some(at as f64),
        Value::Null | Value::Boolean(_) | Value::Text(_) => None,
    }
}

fn bad_argument(text: &str, form: &'static str) -> CatalogueError {
    CatalogueError::Argument {
        text: shortened(text),
        form,
    }
}

/// A part of a list.
enum Item {
    /// An unquoted item, without surrounding spaces.
    Plain(String),
    /// An item in double quotes; two double quotes in it stand for one.
    Quoted(String),
}

/// The items of a comma-separated list. None if a quote is not closed, text stands next to a quoted
/// item, or an item is empty.
fn items(text: &str) -> Option<Vec<Item>> {
    let mut found = Vec::new();
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches(' ');
        let (item, after) = match rest.strip_prefix('"') {
            Some(quoted) => {
                let (item, after) = quoted_item(quoted)?;
                (Item::Quoted(item), after.trim_start_matches(' '))
            }
            None => {
                let (item, after) = rest.split_at_checked(rest.find(',').unwrap_or(rest.len()))?;
                let item = item.trim_end_matches(' ');
                if item.is_empty() || item.contains('"') {
                    return None;
                }
                (Item::Plain(item.to_owned()), after)
            }
        };
        found.push(item);
        if after.is_empty() {
            return Some(found);
        }
        rest = after.strip_prefix(',')?;
    }
}

/// The text before the closing quotes, and the text after them.
fn quoted_item(text: &str) -> Option<(String, &str)> {
    let mut item = String::new();
    let mut rest = text;
    loop {
        let (before, after) = rest.split_once('"')?;
        item.push_str(before);
        match after.strip_prefix('"') {
            Some(after) => {
                item.push('"');
                rest = after;
            }
            None => return Some((item, after)),
        }
    }
}
