//! What an engine is asked to run.
//!
//! A statement is SQL that any engine can run. One that has an operator for a part
//! of it finds here what the operator needs.

/// A statement, and what its columns are after the keys.
#[derive(Clone, Debug)]
pub(crate) struct Statement {
    /// The SQL.
    pub(crate) text: String,
    /// What it reads as the table [`FirstGroups::TABLE`], if groups are capped.
    pub(crate) first_groups: Option<FirstGroups>,
    /// The same as a whole, where units have several rows to add up.
    pub(crate) per_unit: Option<PerUnit>,
    /// What it computes.
    pub(crate) shape: Shape,
}

impl Statement {
    /// The statement with nothing left to an operator.
    pub(crate) fn plain_sql(&self) -> String {
        match &self.first_groups {
            Some(first) => {
                let (table, text) = (FirstGroups::TABLE, &self.text);
                format!("WITH {table} AS ({}) {text}", first.text)
            }
            None => self.text.clone(),
        }
    }
}

/// S3: the rows of a query in the first groups of their units.
#[derive(Clone, Debug)]
pub(crate) struct FirstGroups {
    /// These rows, in SQL.
    pub(crate) text: String,
    /// The query: columns of the unit, the keys, others.
    pub(crate) rows: String,
    /// How many columns the unit has.
    pub(crate) units: usize,
    /// How many keys there are.
    pub(crate) keys: usize,
    /// How many groups of a unit count.
    pub(crate) most: u64,
}

impl FirstGroups {
    /// What statements call it.
    pub(crate) const TABLE: &str = "first_groups";
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
    /// How many groups of a unit count, if they are capped.
    pub(crate) most: Option<u64>,
    /// What is added up.
    pub(crate) contributions: Vec<Contribution>,
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
