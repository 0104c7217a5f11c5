//! All rows by group, as if no limit concerned anybody; those whom one may concern told
//! apart beside.

use std::sync::Arc;

use datafusion::arrow::array::{BooleanArray, RecordBatch};
use datafusion::arrow::compute::filter_record_batch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::Result;

use super::super::tally::{Many, Tally};
use super::kept::Kept;
use super::listed::Listed;
use super::sums::Sums;
use super::told_apart::ToldApart;
use super::totals::Totals;
use super::{Part, small, unexpected};
use crate::engines::statement::{Few, Of, PerUnit};
use crate::order::Salt;

/// Who has many rows.
pub(super) enum Who {
    /// Them, if there are any.
    Known(Option<Arc<Many>>),
    /// It is found out when all rows were counted, and until then all are kept.
    Counting(Tally, Kept),
}

/// What some of the rows add up to.
pub(super) struct Together {
    groups: Listed,
    /// Slots are groups.
    totals: Totals,
    who: Who,
    /// The rows of those who have many.
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
        who: Who,
    ) -> Result<Self> {
        let values = asked.units + asked.keys;
        let Some(number) = schema.fields().len().checked_sub(values) else {
            return unexpected();
        };
        Ok(Self {
            groups,
            totals: Totals::new(number, &asked.contributions),
            who,
            told_apart: ToldApart::new(schema, asked)?,
            units: asked.units,
            values,
            of_rows: Vec::new(),
            hashes: Vec::new(),
        })
    }

    /// The totals of each group. There are more rows than units, but not where there
    /// is none.
    pub(super) fn sums(mut self, asked: &PerUnit, few: &Few, salt: &Salt) -> Result<Sums> {
        if let Who::Counting(tally, kept) = std::mem::replace(&mut self.who, Who::Known(None))
            && let Some(many) = tally.more_than(few.rows)
        {
            for batch in kept.into_batches() {
                self.tell_apart(&many, &batch)?;
            }
        }
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

    /// Adds the listed groups' rows of those with many.
    fn tell_apart(&mut self, many: &Many, batch: &RecordBatch) -> Result<()> {
        let units = batch.columns().get(..self.units).unwrap_or_default();
        let theirs = many.rows(units, &mut self.hashes)?;
        let theirs: BooleanArray = theirs.map(Some).collect();
        if theirs.true_count() == 0 {
            return Ok(());
        }
        let mut theirs = filter_record_batch(batch, &theirs)?;
        self.find_groups(&theirs)?;
        let listed = self.of_rows.iter();
        let listed = listed.map(|group| Some(self.groups.is_listed(*group)));
        let listed: BooleanArray = listed.collect();
        if listed.true_count() < theirs.num_rows() {
            theirs = filter_record_batch(&theirs, &listed)?;
        }
        self.told_apart.add(&theirs)
    }

    fn find_groups(&mut self, batch: &RecordBatch) -> Result<()> {
        let keys = batch.columns().get(self.units..self.values);
        let keys = keys.unwrap_or_default();
        self.groups.find(keys, batch.num_rows(), &mut self.of_rows)
    }
}

impl Part for Together {
    fn add(&mut self, batch: &RecordBatch) -> Result<()> {
        self.find_groups(batch)?;
        let columns = batch.columns();
        let values = columns.get(self.values..).unwrap_or_default();
        self.totals.add(&self.of_rows, values, self.groups.len())?;
        match &mut self.who {
            Who::Known(None) => Ok(()),
            Who::Known(Some(many)) => {
                let many = Arc::clone(many);
                self.tell_apart(&many, batch)
            }
            Who::Counting(tally, kept) => {
                tally.add_units(columns.get(..self.units).unwrap_or_default())?;
                kept.add(batch)
            }
        }
    }

    fn merged(mut self, other: Self) -> Result<Self> {
        let groups = self.groups.len();
        let same = (0..small(groups)?).collect::<Vec<u32>>();
        self.totals.merge(other.totals, &same, groups);
        self.told_apart = self.told_apart.merged(other.told_apart)?;
        self.who = match (self.who, other.who) {
            (Who::Counting(tally, kept), Who::Counting(others, of_others)) => {
                Who::Counting(tally.merged(others)?, kept.merged(of_others))
            }
            (Who::Known(many), _) => Who::Known(many),
            _ => return unexpected(),
        };
        Ok(self)
    }
}
