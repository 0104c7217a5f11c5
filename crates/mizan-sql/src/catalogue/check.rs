//! Checks the description of a dataset.

use std::collections::BTreeSet;

use super::{CatalogueError, Dataset, DatasetColumn, Privacy};
use crate::plan::MAX_CONTRIBUTION;
use crate::relation::Bounds;
use crate::time;
use crate::value::{Type, Value};

/// The longest names, in characters.
pub(super) const NAME_CHARACTERS: usize = 128;

/// The longest paths and URLs, in characters.
const SOURCE_CHARACTERS: usize = 4096;

/// The most columns of a dataset.
pub const MAX_COLUMNS: usize = 10_000;

/// The most keys of a column.
const KEYS: usize = 100_000;

/// The longest key, in bytes.
const KEY_BYTES: usize = 4096;

impl Dataset {
    /// Checks names, bounds, keys and limits.
    ///
    /// # Errors
    ///
    /// The first problem found.
    pub fn check(&self) -> Result<(), CatalogueError> {
        name("a dataset", &self.name)?;
        let length = self.source.chars().count();
        if length == 0 || length > SOURCE_CHARACTERS || self.source.contains(char::is_control) {
            return Err(CatalogueError::BadSource {
                source_text: shortened(&self.source),
            });
        }
        if self.columns.is_empty() || self.columns.len() > MAX_COLUMNS {
            return Err(CatalogueError::Columns {
                dataset: self.name.clone(),
                found: self.columns.len(),
            });
        }
        let mut names = BTreeSet::new();
        for (place, column) in self.columns.iter().enumerate() {
            if !is_name(&column.name) {
                return Err(CatalogueError::BadColumnName {
                    position: place.saturating_add(1),
                    bytes: column.name.len(),
                });
            }
            column.check()?;
            if !names.insert(column.name.as_str()) {
                return Err(CatalogueError::ColumnTwice {
                    dataset: self.name.clone(),
                    column: column.name.clone(),
                });
            }
        }
        match &self.privacy {
            Some(privacy) => self.check_privacy(privacy),
            None => Ok(()),
        }
    }

    fn check_privacy(&self, privacy: &Privacy) -> Result<(), CatalogueError> {
        name("an account", &privacy.account)?;
        let unit = |reason| CatalogueError::Unit {
            dataset: self.name.clone(),
            reason,
        };
        if privacy.unit.is_empty() {
            return Err(unit("not known"));
        }
        let mut names = BTreeSet::new();
        for column in &privacy.unit {
            let found = self.column(column)?;
            // Clamping or rounding could merge several people into one unit. Removing one of them
            // would then change that unit instead of removing it.
            if found.bounds.is_some() || found.unit_bounds.is_some() {
                return Err(unit("given bounds, which would make several people one"));
            }
            if matches!(found.kind, Type::Number | Type::Timestamp) {
                return Err(unit(
                    "a number or a timestamp, which rounds several people to one",
                ));
            }
            if !names.insert(column) {
                return Err(unit("named twice"));
            }
        }
        let limits = [
            ("rows per unit", privacy.rows_per_unit),
            ("groups per unit", privacy.groups_per_unit),
        ];
        let most = MAX_CONTRIBUTION.unsigned_abs();
        for (limit, value) in limits {
            if value.is_some_and(|value| !(1..=most).contains(&value)) {
                return Err(CatalogueError::Limit {
                    dataset: self.name.clone(),
                    limit,
                    most: MAX_CONTRIBUTION,
                });
            }
        }
        Ok(())
    }
}

impl DatasetColumn {
    fn check(&self) -> Result<(), CatalogueError> {
        for bounds in [self.bounds, self.unit_bounds].into_iter().flatten() {
            self.check_bounds(bounds)?;
        }
        if self.unit_bounds.is_some() && !self.kind.is_numeric() {
            return Err(self.bad_bounds("are of totals, which only numeric types have"));
        }
        match &self.keys {
            Some(keys) => self.check_keys(keys),
            None => Ok(()),
        }
    }

    pub(super) fn bad_bounds(&self, reason: &'static str) -> CatalogueError {
        CatalogueError::Bounds {
            column: self.name.clone(),
            kind: self.kind,
            reason,
        }
    }

    fn check_bounds(&self, bounds: Bounds) -> Result<(), CatalogueError> {
        let Some(Bounds { low, high }) = Bounds::new(bounds.low, bounds.high) else {
            return Err(self.bad_bounds("must be finite, the lower first"));
        };
        let days = (f64::from(time::FIRST_DAY), f64::from(time::LAST_DAY) + 1.0);
        let (least, most) = match self.kind {
            Type::Boolean | Type::Text => return Err(self.bad_bounds("make no sense")),
            Type::Number => return Ok(()),
            Type::Integer => (-9_223_372_036_854_775_808.0, 9_223_372_036_854_775_808.0),
            Type::Date => (days.0, days.1 - 1.0),
            Type::Timestamp => (days.0 * 86_400e6, days.1 * 86_400e6),
        };
        if low.fract() != 0.0 || high.fract() != 0.0 {
            return Err(self.bad_bounds("must be whole"));
        }
        if low < least || high > most {
            return Err(self.bad_bounds("are beyond what the type holds"));
        }
        Ok(())
    }

    pub(super) fn bad_keys(&self, reason: &'static str) -> CatalogueError {
        CatalogueError::Keys {
            column: self.name.clone(),
            kind: self.kind,
            reason,
        }
    }

    fn check_keys(&self, keys: &[Value]) -> Result<(), CatalogueError> {
        if keys.is_empty() || keys.len() > KEYS {
            return Err(self.bad_keys("must be 1 to 100000"));
        }
        let mut seen = BTreeSet::new();
        for key in keys {
            let right = match key {
                Value::Null => true,
                Value::Number(value) => self.kind == Type::Number && value.is_finite(),
                Value::Text(text) => self.kind == Type::Text && text.len() <= KEY_BYTES,
                Value::Date(day) => self.kind == Type::Date && time::midnight(*day).is_some(),
                Value::Timestamp(at) => self.kind == Type::Timestamp && time::day_of(*at).is_some(),
                other => other.type_of() == Some(self.kind),
            };
            if !right {
                return Err(self.bad_keys("must be values of that type, not too long"));
            }
            if !seen.insert(key) {
                return Err(self.bad_keys("must be different"));
            }
            // Values are clamped, so a key outside of the bounds never occurs.
            if let (Some(bounds), Some(value)) = (self.bounds, key.as_f64())
                && !(bounds.low..=bounds.high).contains(&value)
            {
                return Err(self.bad_keys("must lie within its bounds"));
            }
        }
        Ok(())
    }
}

/// A name has 1 to 128 characters and no control characters.
fn name(of: &'static str, name: &str) -> Result<(), CatalogueError> {
    match is_name(name) {
        true => Ok(()),
        false => Err(CatalogueError::BadName {
            of,
            name: shortened(name),
        }),
    }
}

fn is_name(name: &str) -> bool {
    let length = name.chars().count();
    (1..=NAME_CHARACTERS).contains(&length) && !name.contains(char::is_control)
}

/// The name of a column of a file, as part of a message: in quotes, or its length if it is long
/// or has control characters, such as line ends. The name may be cells, if a line end or a quote
/// of a CSV header is damaged.
#[must_use]
pub fn shown_name(name: &str) -> String {
    const SHOWN: usize = 64;
    match name.len() > SHOWN || name.contains(char::is_control) {
        true => format!("(a name of {} bytes)", name.len()),
        false => format!("{name:?}"),
    }
}

/// The beginning of a text, for a message.
pub(super) fn shortened(text: &str) -> String {
    const SHOWN: usize = 60;
    let mut short: String = text.chars().take(SHOWN).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}
