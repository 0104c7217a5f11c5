//! The result: numbers by group.

use datafusion::arrow::array::ArrayRef;
use datafusion::common::Result;
use mizan_sql::Value;

use super::super::values::Values;

/// For each group its keys and its numbers: the number of units, or a number that is zero
/// exactly if there are none; then totals.
#[derive(Debug)]
pub(super) struct Sums {
    groups: Vec<(Vec<Value>, Vec<i64>)>,
}

impl Sums {
    /// From distinct groups.
    pub(super) const fn new(groups: Vec<(Vec<Value>, Vec<i64>)>) -> Self {
        Self { groups }
    }

    /// From columns: the keys by group, the numbers by group.
    pub(super) fn of_columns(keys: &[ArrayRef], numbers: &[Vec<i64>]) -> Result<Self> {
        let keys = keys.iter().map(|key| Values::new(key));
        let keys = keys.collect::<Result<Vec<_>>>()?;
        let groups = numbers.first().map_or(0, Vec::len);
        let groups = (0..groups).map(|group| {
            let keys = keys.iter().map(|key| key.get(group));
            let numbers = numbers.iter().filter_map(|numbers| numbers.get(group));
            (keys.collect(), numbers.copied().collect())
        });
        Ok(Self::new(groups.collect()))
    }

    /// The result rows. Groups without units are left out.
    pub(super) fn rows(self) -> Vec<Vec<Value>> {
        let groups = self.groups.into_iter();
        let groups = groups.filter(|(_, numbers)| numbers.first().is_some_and(|units| *units > 0));
        let rows = groups.map(|(mut row, numbers)| {
            row.extend(numbers.into_iter().map(Value::Integer));
            row
        });
        rows.collect()
    }
}

/// Adds to the total of a group. Bounded contributions of at most `MAX_UNITS` units do not
/// overflow (C4), nor do values of at most `MAX_ROWS` rows.
pub(super) fn add_to(totals: &mut [i64], group: u32, contribution: i64) {
    if let Some(total) = totals.get_mut(group as usize) {
        *total = total.saturating_add(contribution);
    }
}
