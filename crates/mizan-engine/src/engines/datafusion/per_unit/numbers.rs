//! A number for every different row of some columns.

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, RecordBatch};
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::Result;
use datafusion::logical_expr::EmitTo;
use datafusion::physical_plan::aggregates::group_values::{GroupValues, new_group_values};
use datafusion::physical_plan::aggregates::order::GroupOrdering;

/// The rows of some columns, numbered in the order in which they came.
pub(super) struct Numbers {
    /// Nothing if there are no columns: all rows are the same.
    known: Option<Box<dyn GroupValues>>,
    columns: std::ops::Range<usize>,
    of_rows: Vec<usize>,
}

impl Numbers {
    /// None yet, of these columns.
    pub(super) fn new(schema: &SchemaRef, columns: std::ops::Range<usize>) -> Result<Self> {
        let known = if columns.is_empty() {
            None
        } else {
            let places: Vec<usize> = columns.clone().collect();
            let schema = Arc::new(schema.project(&places)?);
            Some(new_group_values(schema, &GroupOrdering::None)?)
        };
        Ok(Self {
            known,
            columns,
            of_rows: Vec::new(),
        })
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.known.as_ref().map_or(1, |known| known.len())
    }

    /// Numbers the rows of a batch.
    pub(super) fn number(&mut self, batch: &RecordBatch) -> Result<()> {
        let columns = batch.columns().get(self.columns.clone());
        self.intern(columns.unwrap_or_default(), batch.num_rows())
    }

    /// Numbers what others have numbered, in their order.
    pub(super) fn merge(&mut self, others: Self) -> Result<()> {
        let rows = others.len();
        self.intern(&others.into_values()?, rows)
    }

    /// The numbers of the rows that were numbered last.
    pub(super) fn of_rows(&self) -> &[usize] {
        &self.of_rows
    }

    fn intern(&mut self, columns: &[ArrayRef], rows: usize) -> Result<()> {
        match &mut self.known {
            Some(known) if rows > 0 => known.intern(columns, &mut self.of_rows)?,
            _ => self.of_rows.resize(rows, 0),
        }
        Ok(())
    }

    /// The columns, by number.
    pub(super) fn into_values(self) -> Result<Vec<ArrayRef>> {
        match self.known {
            Some(mut known) if !known.is_empty() => known.emit(EmitTo::All),
            _ => Ok(Vec::new()),
        }
    }
}
