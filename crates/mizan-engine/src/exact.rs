//! The exact integers of a bounded plan, as an engine returns them. They never
//! leave this crate without noise.

use std::collections::BTreeMap;

use mizan_sql::Value;

/// A statistic of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cell {
    /// A bounded sum.
    Integer(i64),
    /// How many rows have each quantized value; those without are left out.
    Histogram(BTreeMap<i64, i64>),
}

/// What an engine computed: for each group in the data, a cell for each
/// statistic. Public groups without rows are not in it, private groups are all
/// in it.
#[allow(unreachable_pub, reason = "in the signature of a public trait")]
pub type Exact = BTreeMap<Vec<Value>, Vec<Cell>>;
