//! S1 to S4 of sums as an operator.
//!
//! As SQL, rows are grouped by unit and keys, twice and with an exchange between,
//! and then by keys. Here each partition of the rows numbers its units and its
//! groups and adds up in flat memory; partitions are merged once, at the end. All
//! numbers are integers, so it does not matter which rows are where.

mod cap;
mod clip;
mod compact;
mod numbers;
mod slots;
#[cfg(test)]
mod tests;
mod totals;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::{Result, exec_err};
use datafusion::error::DataFusionError;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::physical_plan::ExecutionPlanProperties;
use datafusion::prelude::SessionContext;
use futures::TryStreamExt;
use mizan_sql::Value;
use tokio::task::JoinSet;

use self::numbers::Numbers;
use self::slots::{Pair, Slots};
use self::totals::Totals;
use super::values::Values;
use crate::engines::statement::PerUnit;
use crate::order::Salt;

/// The rows that the statement gives: keys, how many units, totals.
pub(super) async fn per_unit(
    context: &SessionContext,
    asked: &PerUnit,
    salt: &Salt,
) -> Result<Vec<Vec<Value>>> {
    let rows = context.sql(&asked.rows).await?;
    let rows = rows.create_physical_plan().await?;
    let mut parts = JoinSet::new();
    for partition in 0..rows.output_partitioning().partition_count() {
        let stream = rows.execute(partition, context.task_ctx())?;
        parts.spawn(Part::new(&rows.schema(), asked)?.of(stream));
    }
    let mut whole: Option<Part> = None;
    while let Some(part) = parts.join_next().await {
        let part = part.map_err(|error| DataFusionError::External(error.into()))??;
        whole = Some(match whole {
            Some(other) => other.merged(part)?,
            None => part,
        });
    }
    whole.map_or(Ok(Vec::new()), |whole| whole.per_group(asked, salt))
}

/// What some of the rows add up to.
struct Part {
    units: Numbers,
    groups: Numbers,
    slots: Slots,
    totals: Totals,
    /// Where the values begin.
    values: usize,
    /// The slots of the rows of a batch.
    of_rows: Vec<u32>,
}

impl Part {
    /// No rows.
    fn new(schema: &SchemaRef, asked: &PerUnit) -> Result<Self> {
        let values = asked.units + asked.keys;
        let Some(number) = schema.fields().len().checked_sub(values) else {
            return unexpected();
        };
        Ok(Self {
            units: Numbers::new(schema, 0..asked.units)?,
            groups: Numbers::new(schema, asked.units..values)?,
            slots: Slots::default(),
            totals: Totals::new(number, &asked.contributions),
            values,
            of_rows: Vec::new(),
        })
    }

    /// All of these rows.
    async fn of(mut self, mut rows: SendableRecordBatchStream) -> Result<Self> {
        while let Some(batch) = rows.try_next().await? {
            self.add(&batch)?;
        }
        Ok(self)
    }

    fn add(&mut self, batch: &RecordBatch) -> Result<()> {
        self.units.number(batch)?;
        self.groups.number(batch)?;
        let of_rows = self.units.of_rows().iter().zip(self.groups.of_rows());
        let pairs = of_rows.map(pair);
        self.slots.find(
            pairs,
            self.units.len(),
            self.groups.len(),
            &mut self.of_rows,
        )?;
        let values = batch.columns().get(self.values..).unwrap_or_default();
        self.totals
            .add(&self.of_rows, values, self.slots.pairs().len())
    }

    /// Both together. The numbers of the smaller one become those of the other.
    fn merged(mut self, mut other: Self) -> Result<Self> {
        if other.slots.pairs().len() > self.slots.pairs().len() {
            std::mem::swap(&mut self, &mut other);
        }
        self.units.merge(other.units)?;
        self.groups.merge(other.groups)?;
        let (units, groups) = (self.units.of_rows(), self.groups.of_rows());
        let pairs = other.slots.into_pairs().into_iter().map(|old| {
            let unit = units.get(old.unit as usize).unwrap_or(&usize::MAX);
            let group = groups.get(old.group as usize).unwrap_or(&usize::MAX);
            pair((unit, group))
        });
        self.slots.find(
            pairs,
            self.units.len(),
            self.groups.len(),
            &mut self.of_rows,
        )?;
        self.totals
            .merge(other.totals, &self.of_rows, self.slots.pairs().len());
        Ok(self)
    }

    /// S3 and S4.
    fn per_group(self, asked: &PerUnit, salt: &Salt) -> Result<Vec<Vec<Value>>> {
        let number = self.groups.len();
        let keys = self.groups.into_values()?;
        let pairs = self.slots.pairs();
        let counts = match asked.most {
            Some(most) => {
                let most = usize::try_from(most).unwrap_or(usize::MAX);
                let units = self.units.into_values()?;
                Some(cap::counts(pairs, &units, &keys, most, salt)?)
            }
            None => None,
        };
        let mut units = vec![0_i64; number];
        let counted = |slot: usize| {
            let counts = counts.as_ref().and_then(|counts| counts.get(slot));
            counts.is_none_or(|counts| *counts)
        };
        let counting = || pairs.iter().enumerate().filter(|(slot, _)| counted(*slot));
        for (_, pair) in counting() {
            add_to(&mut units, pair, 1);
        }
        let clipped = asked
            .clip
            .map(|clip| clip::Factors::new(clip, pairs, &self.totals, &asked.contributions));
        let totals = asked.contributions.iter().map(|contribution| {
            let mut totals = vec![0_i64; number];
            for (slot, pair) in counting() {
                let whole = self.totals.contribution(slot, contribution);
                let counts = match &clipped {
                    Some(factors) => factors.clipped(pair, whole, contribution),
                    None => whole,
                };
                add_to(&mut totals, pair, counts);
            }
            totals
        });
        let totals: Vec<Vec<i64>> = totals.collect();
        let keys = keys.iter().map(|key| Values::new(key));
        let keys = keys.collect::<Result<Vec<_>>>()?;
        // A group of which nothing counts is none.
        let groups = units.iter().enumerate().filter(|(_, units)| **units > 0);
        let rows = groups.map(|(group, units)| {
            let keys = keys.iter().map(|key| key.get(group));
            let totals = totals.iter().filter_map(|totals| totals.get(group));
            let numbers = std::iter::once(units).chain(totals).copied();
            keys.chain(numbers.map(Value::Integer)).collect()
        });
        Ok(rows.collect())
    }
}

/// Adds what a unit contributes to its group. So many bounded contributions as there
/// can be units do not overflow (C4).
fn add_to(totals: &mut [i64], pair: &Pair, contribution: i64) {
    if let Some(total) = totals.get_mut(pair.group as usize) {
        *total = total.saturating_add(contribution);
    }
}

/// Numbers beyond what fits get no slot: all units and groups before them have one,
/// and there are no more slots than that.
fn pair((unit, group): (&usize, &usize)) -> Pair {
    Pair {
        unit: u32::try_from(*unit).unwrap_or(u32::MAX),
        group: u32::try_from(*group).unwrap_or(u32::MAX),
    }
}

fn small(place: usize) -> Result<u32> {
    match u32::try_from(place) {
        Ok(place) => Ok(place),
        Err(_) => exec_err!("too many units"),
    }
}

/// What the plan and its rows do not allow.
fn unexpected<T>() -> Result<T> {
    exec_err!("rows are not as planned")
}
