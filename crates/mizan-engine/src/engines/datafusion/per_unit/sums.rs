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
        let Some(groups) = numbers.first().map(Vec::len) else {
            return super::unexpected();
        };
        let of_group = |group: usize| {
            let of_group = numbers.iter().map(|numbers| numbers.get(group).copied());
            let Some(numbers) = of_group.collect() else {
                return super::unexpected();
            };
            Ok((keys.iter().map(|key| key.get(group)).collect(), numbers))
        };
        Ok(Self::new((0..groups).map(of_group).collect::<Result<_>>()?))
    }

    /// The result rows. Groups without units are left out.
    pub(super) fn rows(self) -> Result<Vec<Vec<Value>>> {
        let mut rows = Vec::with_capacity(self.groups.len());
        for (mut row, numbers) in self.groups {
            let Some(units) = numbers.first() else {
                return super::unexpected();
            };
            if *units > 0 {
                row.extend(numbers.into_iter().map(Value::Integer));
                rows.push(row);
            }
        }
        Ok(rows)
    }
}

/// Adds to the total of a group. Bounded contributions of at most `MAX_UNITS` units do not
/// overflow (C4), nor do values of at most `MAX_ROWS` rows.
pub(super) fn add_to(totals: &mut [i64], group: u32, contribution: i64) -> Result<()> {
    let Some(total) = totals.get_mut(group as usize) else {
        return super::unexpected();
    };
    *total = total.saturating_add(contribution);
    Ok(())
}
