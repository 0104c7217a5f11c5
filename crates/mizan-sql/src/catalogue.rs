//! What is known about the data, publicly: datasets, whose rows they hold, what
//! columns hold, and the owner's limits. Nothing here is read from private rows.

use std::collections::BTreeMap;

use crate::relation::Bounds;
use crate::value::{Type, Value};

/// All datasets, by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Catalogue {
    /// The datasets.
    pub datasets: BTreeMap<String, Dataset>,
}

/// A dataset: a file or a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Dataset {
    /// The name in questions.
    pub name: String,
    /// Where it is: a path, or a URL.
    pub source: String,
    /// Whose rows these are; None for a table about nobody.
    pub privacy: Option<Privacy>,
    /// Its columns, in order.
    pub columns: Vec<DatasetColumn>,
}

/// Whose rows, and how much of each unit counts.
#[derive(Clone, Debug, PartialEq)]
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
#[derive(Clone, Debug, PartialEq)]
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
