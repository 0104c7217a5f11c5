//! The catalogue: the public description of the data. It has the datasets, the privacy unit of
//! each, the columns and the limits that the data owner declared. Nothing in it is read from
//! private rows.

mod check;
mod error;
mod json;
mod text;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use self::check::{MAX_COLUMNS, shown_name};
pub use self::error::CatalogueError;
use crate::relation::Bounds;
use crate::value::{Type, Value};

/// All datasets, by name.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Catalogue {
    /// The datasets.
    pub datasets: BTreeMap<String, Dataset>,
}

/// A dataset: a file or a table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Dataset {
    /// Its name in queries.
    pub name: String,
    /// Its location: a path or a URL.
    pub source: String,
    /// The privacy unit and its limits; None for a public table.
    pub privacy: Option<Privacy>,
    /// Its columns, in order.
    pub columns: Vec<DatasetColumn>,
    /// The files that it had when it was added, wherever they are now. Empty for database tables
    /// and in older catalogues, which do not record files.
    pub files: Vec<FileIdentity>,
}

/// What identifies a file after it is moved or renamed. A copy of the file has another identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct FileIdentity {
    /// Its device.
    pub device: u64,
    /// Its inode number on that device.
    pub inode: u64,
    /// Its time of creation in nanoseconds since 1970, if the system knows it: inode numbers are
    /// used again after a file is removed.
    pub created: Option<u64>,
}

impl FileIdentity {
    /// Whether both identify the same file.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        let created = match (self.created, other.created) {
            (Some(one), Some(other)) => one == other,
            _ => true,
        };
        self.device == other.device && self.inode == other.inode && created
    }
}

/// The privacy unit of a dataset and the limits on its contribution.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Privacy {
    /// The columns that identify the unit of a row.
    pub unit: Vec<String>,
    /// The account in the ledger that pays for queries.
    pub account: String,
    /// The most rows of a unit that are counted in a group.
    pub rows_per_unit: Option<u64>,
    /// The most groups that a unit contributes to.
    pub groups_per_unit: Option<u64>,
}

/// A column.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DatasetColumn {
    /// Its name.
    pub name: String,
    /// The type of its values; a value that does not parse as it is `NULL`.
    pub kind: Type,
    /// The bounds that values are clamped to.
    pub bounds: Option<Bounds>,
    /// The bounds that a unit's total in a group is clamped to, if they are tighter than rows times
    /// bounds.
    pub unit_bounds: Option<Bounds>,
    /// The declared values, if the column may be a public key.
    pub keys: Option<Vec<Value>>,
}

impl DatasetColumn {
    /// A column without bounds and keys.
    #[must_use]
    pub fn new(name: impl Into<String>, kind: Type) -> Self {
        Self {
            name: name.into(),
            kind,
            bounds: None,
            unit_bounds: None,
            keys: None,
        }
    }

    /// The column with the bounds `low` to `high`; without bounds unless they are finite and in
    /// order.
    #[must_use]
    pub fn bounded(self, low: f64, high: f64) -> Self {
        Self {
            bounds: Bounds::new(low, high),
            ..self
        }
    }

    /// The column with these declared values.
    #[must_use]
    pub fn with_keys(self, keys: Vec<Value>) -> Self {
        Self {
            keys: Some(keys),
            ..self
        }
    }
}

impl FromIterator<Dataset> for Catalogue {
    fn from_iter<T: IntoIterator<Item = Dataset>>(datasets: T) -> Self {
        let named = datasets.into_iter().map(|one| (one.name.clone(), one));
        Self {
            datasets: named.collect(),
        }
    }
}

impl Catalogue {
    /// The dataset of this exact name.
    ///
    /// # Errors
    ///
    /// If it does not exist; the error suggests a similar name.
    pub fn dataset(&self, name: &str) -> Result<&Dataset, CatalogueError> {
        self.datasets
            .get(name)
            .ok_or_else(|| CatalogueError::NoDataset {
                name: name.to_owned(),
                similar: similar(name, self.datasets.keys().map(String::as_str)),
            })
    }

    /// Adds a dataset.
    ///
    /// # Errors
    ///
    /// [`Dataset::check`] refuses it, or the name is taken.
    pub fn add(&mut self, dataset: Dataset) -> Result<(), CatalogueError> {
        dataset.check()?;
        if self.datasets.contains_key(&dataset.name) {
            return Err(CatalogueError::DatasetTwice { name: dataset.name });
        }
        self.datasets.insert(dataset.name.clone(), dataset);
        Ok(())
    }
}

impl Dataset {
    /// The column of this exact name.
    ///
    /// # Errors
    ///
    /// If it does not exist; the error suggests a similar name.
    pub fn column(&self, name: &str) -> Result<&DatasetColumn, CatalogueError> {
        let found = self.columns.iter().find(|column| column.name == name);
        found.ok_or_else(|| self.no_column(name))
    }

    fn no_column(&self, name: &str) -> CatalogueError {
        CatalogueError::NoColumn {
            dataset: self.name.clone(),
            column: name.to_owned(),
            similar: similar(name, self.columns.iter().map(|column| column.name.as_str())),
        }
    }
}

/// The candidate that differs from an unknown name in case or by a typo, if there is one.
#[must_use]
pub fn similar<'a>(unknown: &str, candidates: impl Iterator<Item = &'a str>) -> Option<String> {
    let wanted = unknown.to_lowercase();
    // The edit distance takes time in proportion to the product of the lengths.
    if wanted.len() > 2 * check::NAME_CHARACTERS {
        return None;
    }
    candidates
        .map(|name| {
            let distance = strsim::osa_distance(&wanted, &name.to_lowercase());
            (distance, name)
        })
        .filter(|(distance, name)| {
            let length = name.chars().count();
            *distance <= 1 + length / 5 && *distance < length
        })
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name.to_owned())
}
