//! What is known about the data, publicly: datasets, whose rows they hold, what
//! columns hold, and the owner's limits. Nothing here is read from private rows.

mod check;
mod error;
mod json;
mod text;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

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
    /// The name in questions.
    pub name: String,
    /// Where it is: a path, or a URL.
    pub source: String,
    /// Whose rows these are; None for a table about nobody.
    pub privacy: Option<Privacy>,
    /// Its columns, in order.
    pub columns: Vec<DatasetColumn>,
    /// The files that it was seen to have, wherever they are now. Empty if that was not
    /// recorded, as in older catalogues, and for tables of a database.
    pub files: Vec<FileIdentity>,
}

/// What a file keeps when it is moved or renamed. A copy of it is another file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct FileIdentity {
    /// The device that it is on.
    pub device: u64,
    /// Its number there (inode).
    pub inode: u64,
    /// When it was created, in nanoseconds since 1970, if the system knows: numbers of
    /// files that were removed are used again.
    pub created: Option<u64>,
}

impl FileIdentity {
    /// Whether both are the same file.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        let created = match (self.created, other.created) {
            (Some(one), Some(other)) => one == other,
            _ => true,
        };
        self.device == other.device && self.inode == other.inode && created
    }
}

/// Whose rows, and how much of each unit counts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Privacy {
    /// The columns that tell whose a row is.
    pub unit: Vec<String>,
    /// The account in the ledger that pays.
    pub account: String,
    /// The most rows of a unit that count in a group.
    pub rows_per_unit: Option<u64>,
    /// The most groups of a unit that count.
    pub groups_per_unit: Option<u64>,
}

/// A column.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DatasetColumn {
    /// Its name.
    pub name: String,
    /// What it holds; what does not read as that is `NULL`.
    pub kind: Type,
    /// What values are clamped to.
    pub bounds: Option<Bounds>,
    /// What the total of a unit (in a group) is clamped to, where tighter than
    /// rows times bounds.
    pub unit_bounds: Option<Bounds>,
    /// The values that may be keys of groups.
    pub keys: Option<Vec<Value>>,
}

impl Catalogue {
    /// A dataset, by its name as it is written.
    ///
    /// # Errors
    ///
    /// If there is none; says which name is like it.
    pub fn dataset(&self, name: &str) -> Result<&Dataset, CatalogueError> {
        self.datasets
            .get(name)
            .ok_or_else(|| CatalogueError::NoDataset {
                name: name.to_owned(),
                similar: similar(name, self.datasets.keys().map(String::as_str)),
            })
    }

    /// Takes in a dataset that is well described and new.
    ///
    /// # Errors
    ///
    /// See [`Dataset::check`]; or the name is taken.
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
    /// A column, by its name as it is written.
    ///
    /// # Errors
    ///
    /// If there is none; says which name is like it.
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

/// The candidate that differs from an unknown name in case or by a typo, if one
/// does.
#[must_use]
pub fn similar<'a>(unknown: &str, candidates: impl Iterator<Item = &'a str>) -> Option<String> {
    let wanted = unknown.to_lowercase();
    // The distance takes time in proportion to the product of the lengths.
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
