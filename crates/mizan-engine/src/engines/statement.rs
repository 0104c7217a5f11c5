//! What an engine is asked to run.
//!
//! A statement is SQL that any engine can run. One that has an operator for a part
//! of it finds here what the operator needs.

use mizan_sql::{Clip, Value};

/// A statement, and what its columns are after the keys.
#[derive(Clone, Debug)]
pub(crate) struct Statement {
    /// The SQL.
    pub(crate) text: String,
    /// Tables that its relation reads, each of which may read those before it.
    pub(crate) firsts: Vec<First>,
    /// S3, and the like for values: tables that it reads, each of which may read those
    /// before it.
    pub(crate) limits: Vec<First>,
    /// The same as a whole, where units have several rows to add up.
    pub(crate) per_unit: Option<PerUnit>,
    /// What it computes.
    pub(crate) shape: Shape,
}

impl Statement {
    /// The statement with nothing left to an operator.
    pub(crate) fn plain_sql(&self) -> String {
        let tables = self.firsts.iter().chain(&self.limits);
        let tables: Vec<String> = tables
            .map(|first| format!("{} AS ({})", first.table, first.text))
            .collect();
        match tables.is_empty() {
            true => self.text.clone(),
            false => format!("WITH {} {}", tables.join(", "), self.text),
        }
    }
}

/// A table: of each unit in a query, or of each unit in each group, the first, by the
/// salted hash of these and of what is ranked.
#[derive(Clone, Debug)]
pub(crate) struct First {
    /// What statements call it.
    pub(crate) table: String,
    /// Its rows, in SQL.
    pub(crate) text: String,
    /// The query: columns of the unit (and keys), what is ranked, others.
    pub(crate) rows: String,
    /// How many columns tell whose they are.
    pub(crate) by: usize,
    /// How many columns are ranked.
    pub(crate) ranked: usize,
    /// What is counted.
    pub(crate) of: Counted,
    /// How many of a unit there are at most.
    pub(crate) most: u64,
}

/// What of a unit is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Counted {
    /// Rows, of which nothing but what is ranked is read later.
    Rows,
    /// Groups: rows of which all that is ranked is the same.
    Groups,
    /// Rows with a value, of which nothing else is read later. Others stay.
    Values,
    /// Different values. Rows without one stay.
    DistinctValues,
}

impl Counted {
    /// Whether rows of which all that is ranked is the same are one.
    pub(crate) const fn is_distinct(self) -> bool {
        matches!(self, Self::Groups | Self::DistinctValues)
    }

    /// Whether rows count of which all that is ranked is nothing; otherwise they stay.
    pub(crate) const fn counts_nothing(self) -> bool {
        matches!(self, Self::Rows | Self::Groups)
    }
}

/// S1 to S4 of sums: for each group its keys, how many units there are, and the
/// total of each contribution.
#[derive(Clone, Debug)]
pub(crate) struct PerUnit {
    /// S0: columns of the unit, the keys, values.
    pub(crate) rows: String,
    /// How many columns the unit has.
    pub(crate) units: usize,
    /// How many keys there are.
    pub(crate) keys: usize,
    /// How many groups of a unit count, if others are dropped.
    pub(crate) most: Option<u64>,
    /// To what units are clipped, if they are.
    pub(crate) clip: Option<Clip>,
    /// What is added up.
    pub(crate) contributions: Vec<Contribution>,
    /// Who needs neither cap nor clamping.
    pub(crate) few: Option<Few>,
}

/// Units with few rows: no limit concerns them, whatever the rows are, so their rows
/// need not be told apart.
#[derive(Clone, Debug)]
pub(crate) struct Few {
    /// A dataset of which the rows that are added up are a part, if looking at all its
    /// units first is worth the while.
    pub(crate) dataset: Option<String>,
    /// How many rows of a unit are few.
    pub(crate) rows: u64,
    /// S0, with rows of other groups too.
    pub(crate) all: String,
    /// The groups.
    pub(crate) groups: Vec<Vec<Value>>,
    /// The same in SQL: before and after the condition that a row's unit, by its names
    /// `u0`, `u1`, ..., has more rows.
    #[cfg_attr(not(feature = "ballista"), allow(dead_code, reason = "for clusters"))]
    pub(crate) apart: (String, String),
}

/// What a unit adds to a group.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Contribution {
    /// Of what, by the places of values.
    pub(crate) of: Of,
    /// The least.
    pub(crate) low: i64,
    /// The most.
    pub(crate) high: i64,
}

impl Contribution {
    /// The most in absolute value.
    pub(crate) fn sensitivity(&self) -> u64 {
        self.low.unsigned_abs().max(self.high.unsigned_abs())
    }
}

/// What is taken from the rows of a unit in a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Of {
    /// One, whatever they are.
    Unit,
    /// How many there are.
    Rows,
    /// How many have this value.
    Count(usize),
    /// The sum of this value; zero, whatever the limits, if no row has it.
    Sum(usize),
    /// The same, of so many average rows if more have the value.
    Scaled(usize, i64),
}

/// What a statement computes for each group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// How many units, then a column for each of these statistics.
    Sums(Vec<usize>),
    /// How many units or rows there were, then the value of this statistic.
    Distinct(usize),
    /// A row per bin of this statistic: the bin (or `NULL` for rows without a
    /// value, which do not count), and how many.
    Histogram(usize),
}
