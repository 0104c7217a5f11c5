//! All rows by group, as if no limit concerned anybody; those whom one may concern told
//! apart beside.

use std::sync::Arc;

use datafusion::arrow::array::{BooleanArray, RecordBatch};
use datafusion::arrow::compute::filter_record_batch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::Result;

use super::super::tally::Many;
use super::listed::Listed;
use super::sums::Sums;
use super::told_apart::ToldApart;
use super::totals::Totals;
use super::{Part, small, unexpected};
use crate::engines::statement::{Few, Of, PerUnit};
use crate::order::Salt;

/// What some of the rows add up to.
pub(super) struct Together {
    groups: Listed,
    /// Slots are groups.
    totals: Totals,
    /// Who has many rows, if anybody, and their rows.
    many: Option<Arc<Many>>,
    told_apart: ToldApart,
    units: usize,
    /// Where the values begin.
    values: usize,
    of_rows: Vec<u32>,
    hashes: Vec<u64>,
}

impl Together {
    /// No rows.
    pub(super) fn new(
        schema: &SchemaRef,
        asked: &PerUnit,
        groups: Listed,
        many: Option<Arc<Many>>,
    ) -> Result<Self> {
        let values = asked.units + asked.keys;
        let Some(number) = schema.fields().len().checked_sub(values) else {
            return unexpected();
        };
        Ok(Self {
            groups,
            totals: Totals::new(number, &asked.contributions),
            many,
            told_apart: ToldApart::new(schema, asked)?,
            units: asked.units,
            values,
            of_rows: Vec::new(),
            hashes: Vec::new(),
        })
    }

    /// The totals of each group. There are more rows than units, but not where there
    /// is none.
    pub(super) fn sums(self, asked: &PerUnit, few: &Few, salt: &Salt) -> Result<Sums> {
        let all = asked.contributions.iter();
        let all: Vec<Of> = all.map(|contribution| contribution.of).collect();
        let groups = few.groups.iter().enumerate().map(|(group, keys)| {
            let numbers = std::iter::once(&Of::Rows).chain(&all);
            let numbers = numbers.map(|of| self.totals.unclamped(group, *of));
            (keys.clone(), numbers.collect())
        });
        let sums = Sums::new(groups.collect());
        sums.plus(self.told_apart.corrections(asked, salt)?)
    }

    /// The listed groups' rows of those with many.
    fn of_many(&mut self, batch: &RecordBatch) -> Result<Option<RecordBatch>> {
        let Some(many) = &self.many else {
            return Ok(None);
        };
        let units = batch.columns().get(..self.units).unwrap_or_default();
        let is_theirs = many.rows(units, &mut self.hashes)?;
        let groups = is_theirs.zip(&self.of_rows);
        let theirs: BooleanArray = groups
            .map(|(is_theirs, group)| Some(is_theirs && self.groups.is_listed(*group)))
            .collect();
        if theirs.true_count() == 0 {
            return Ok(None);
        }
        Ok(Some(filter_record_batch(batch, &theirs)?))
    }
}

impl Part for Together {
    fn add(&mut self, batch: &RecordBatch) -> Result<()> {
        let columns = batch.columns();
        let keys = columns.get(self.units..self.values).unwrap_or_default();
        self.groups
            .find(keys, batch.num_rows(), &mut self.of_rows)?;
        let values = columns.get(self.values..).unwrap_or_default();
        self.totals.add(&self.of_rows, values, self.groups.len())?;
        match self.of_many(batch)? {
            Some(theirs) => self.told_apart.add(&theirs),
            None => Ok(()),
        }
    }

    fn merged(mut self, other: Self) -> Result<Self> {
        let groups = self.groups.len();
        let same = (0..small(groups)?).collect::<Vec<u32>>();
        self.totals.merge(other.totals, &same, groups);
        self.told_apart = self.told_apart.merged(other.told_apart)?;
        Ok(self)
    }
}
