//! The statements that an engine runs.
//!
//! A statement is SQL that any engine can run. An engine with an operator for a part of it
//! finds the parameters of the operator here.

use mizan_sql::{Clip, Value};

/// A statement, and the meaning of its columns after the keys.
#[derive(Clone, Debug)]
pub(crate) struct Statement {
    /// The SQL.
    pub(crate) text: String,
    /// Tables that its relation reads, each of which may read those before it.
    pub(crate) row_limits: Vec<RowLimit>,
    /// Group sampling (S3) and value limits: tables that the statement reads, each of which may
    /// read those before it.
    pub(crate) limits: Vec<RowLimit>,
    /// The parameters of the operator for sums, where units have several rows to add up.
    pub(crate) per_unit: Option<PerUnit>,
    /// The statistics that it computes.
    pub(crate) layout: ResultLayout,
}

impl Statement {
    /// The statement in plain SQL, without operators.
    pub(crate) fn plain_sql(&self) -> String {
        let tables = self.row_limits.iter().chain(&self.limits);
        let tables: Vec<String> = tables
            .map(|limit| format!("{} AS ({})", limit.table, limit.text))
            .collect();
        match tables.is_empty() {
            true => self.text.clone(),
            false => format!("WITH {} {}", tables.join(", "), self.text),
        }
    }
}

/// A row limit: for each unit in a query, or for each unit in each group, the first rows by the
/// salted hash of these columns and the ranked ones.
#[derive(Clone, Debug)]
pub(crate) struct RowLimit {
    /// The name of its table in statements.
    pub(crate) table: String,
    /// Its rows, in SQL.
    pub(crate) text: String,
    /// The input query: columns of the unit (and keys), ranked columns, others.
    pub(crate) rows: String,
    /// The number of columns of the unit and keys.
    pub(crate) by: usize,
    /// The number of ranked columns.
    pub(crate) ranked: usize,
    /// What the limit counts.
    pub(crate) of: LimitedItem,
    /// The limit for each unit.
    pub(crate) limit: u64,
}

/// What a limit counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LimitedItem {
    /// Rows. No columns but the ranked ones are read later.
    Rows,
    /// Groups: rows with equal ranked columns count once.
    Groups,
    /// Rows with a value; no other column is read later. Rows without a value are all kept.
    Values,
    /// Distinct values. Rows without a value are all kept.
    DistinctValues,
}

impl LimitedItem {
    /// Whether rows with equal ranked columns count once.
    pub(crate) const fn is_distinct(self) -> bool {
        matches!(self, Self::Groups | Self::DistinctValues)
    }

    /// Whether rows whose ranked columns are all NULL count; otherwise they are all kept.
    pub(crate) const fn counts_nulls(self) -> bool {
        matches!(self, Self::Rows | Self::Groups)
    }
}

/// S1 to S4 of sums: for each group its keys, the number of units, and the total of each
/// contribution.
#[derive(Clone, Debug)]
pub(crate) struct PerUnit {
    /// S0: columns of the unit, the keys, values.
    pub(crate) rows_sql: String,
    /// The number of columns of the unit.
    pub(crate) units: usize,
    /// The number of keys.
    pub(crate) keys: usize,
    /// The group limit of a unit, if groups are sampled.
    pub(crate) most: Option<u64>,
    /// The clip, if units are clipped.
    pub(crate) clip: Option<Clip>,
    /// The contributions to add up.
    pub(crate) contributions: Vec<Contribution>,
    /// The light units, if there can be any.
    pub(crate) light_units: Option<LightUnits>,
}

/// Light units: units with so few rows that no contribution bound can affect them. Their rows
/// can be added up by group without separating units.
#[derive(Clone, Debug)]
pub(crate) struct LightUnits {
    /// The dataset of which the rows are a subset, if a scan of all its units beforehand is
    /// worthwhile.
    pub(crate) dataset: Option<String>,
    /// The most rows of a light unit.
    pub(crate) max_rows: u64,
    /// S0 without the condition on groups.
    pub(crate) ungrouped_sql: String,
    /// The groups.
    pub(crate) groups: Vec<Vec<Value>>,
    /// The statement in SQL: the parts before and after the condition that the unit of a row,
    /// with columns `u0`, `u1`, ..., is heavy.
    #[cfg_attr(not(feature = "ballista"), allow(dead_code, reason = "for clusters"))]
    pub(crate) heavy_unit_split: (String, String),
}

/// The contribution of a unit to a group.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Contribution {
    /// Its definition, by positions of values.
    pub(crate) of: ContributionKind,
    /// Its lower bound.
    pub(crate) low: i64,
    /// Its upper bound.
    pub(crate) high: i64,
}

impl Contribution {
    /// The largest absolute value.
    pub(crate) fn sensitivity(&self) -> u64 {
        self.low.unsigned_abs().max(self.high.unsigned_abs())
    }
}

/// The contribution before clamping, from the rows of a unit in a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ContributionKind {
    /// One for every unit.
    Unit,
    /// The number of rows.
    Rows,
    /// The number of rows with this value.
    Count(usize),
    /// The sum of this value; zero if no row has it, whatever the bounds.
    Sum(usize),
    /// The same sum; with more rows than the limit, the limit times the mean.
    Scaled(usize, i64),
}

/// The columns that a statement computes for each group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ResultLayout {
    /// The number of units, then a column for each of these statistics.
    Sums(Vec<usize>),
    /// The number of units or rows, then the value of this statistic.
    Distinct(usize),
    /// One row for each bin of this statistic: the bin (or `NULL` for rows without a value,
    /// which do not count) and its number of rows.
    Histogram(usize),
}
