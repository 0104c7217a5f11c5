//! Numbers the distinct rows of some columns.

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, AsArray, RecordBatch};
use datafusion::arrow::datatypes::{DataType, Int64Type, SchemaRef};
use datafusion::common::Result;
use datafusion::logical_expr::EmitTo;
use datafusion::physical_plan::aggregates::group_values::{GroupValues, new_group_values};
use datafusion::physical_plan::aggregates::order::GroupOrdering;

use super::compact::Compact;

/// The distinct rows of some columns, numbered in order of first occurrence.
pub(super) struct Numbers {
    numbering: Numbering,
    columns: std::ops::Range<usize>,
    /// The schema of those columns.
    schema: SchemaRef,
    of_rows: Vec<usize>,
}

enum Numbering {
    /// No columns: all rows are equal.
    One,
    /// A column of integers, as long as they are close together.
    Compact(Compact),
    /// Any columns.
    Any(Box<dyn GroupValues>),
}

impl Numbers {
    /// Empty, for these columns.
    pub(super) fn new(schema: &SchemaRef, columns: std::ops::Range<usize>) -> Result<Self> {
        let places: Vec<usize> = columns.clone().collect();
        let schema = Arc::new(schema.project(&places)?);
        let mut kinds = schema.fields().iter().map(|field| field.data_type());
        let numbering = match (kinds.next(), kinds.next()) {
            (None, _) => Numbering::One,
            (Some(DataType::Int64), None) => Numbering::Compact(Compact::default()),
            _ => Numbering::Any(any(&schema)?),
        };
        Ok(Self {
            numbering,
            columns,
            schema,
            of_rows: Vec::new(),
        })
    }

    /// How many distinct rows there are.
    pub(super) fn len(&self) -> usize {
        match &self.numbering {
            Numbering::One => 1,
            Numbering::Compact(numbering) => numbering.len(),
            Numbering::Any(numbering) => numbering.len(),
        }
    }

    /// Numbers the rows of a batch.
    pub(super) fn number(&mut self, batch: &RecordBatch) -> Result<()> {
        let columns = super::columns(batch, self.columns.clone())?;
        self.intern(columns, batch.num_rows())
    }

    /// Numbers the distinct rows of another instance, in their order.
    pub(super) fn merge(&mut self, others: Self) -> Result<()> {
        let rows = others.len();
        self.intern(&others.into_values()?, rows)
    }

    /// The numbers of the rows of the last batch.
    pub(super) fn of_rows(&self) -> &[usize] {
        &self.of_rows
    }

    fn intern(&mut self, columns: &[ArrayRef], rows: usize) -> Result<()> {
        if rows == 0 || matches!(self.numbering, Numbering::One) {
            self.of_rows.resize(rows, 0);
            return Ok(());
        }
        if let (Numbering::Compact(numbering), [column]) = (&mut self.numbering, columns) {
            let Some(integers) = column.as_primitive_opt::<Int64Type>() else {
                return super::unexpected();
            };
            if numbering.number(integers, &mut self.of_rows)? {
                return Ok(());
            }
            // Numbers are assigned in order, so they stay the same.
            let integers = std::mem::take(numbering).into_values();
            let mut numbering = any(&self.schema)?;
            numbering.intern(&[integers], &mut self.of_rows)?;
            self.numbering = Numbering::Any(numbering);
        }
        match &mut self.numbering {
            Numbering::Any(numbering) => numbering.intern(columns, &mut self.of_rows),
            _ => super::unexpected(),
        }
    }

    /// The columns, by number.
    pub(super) fn into_values(self) -> Result<Vec<ArrayRef>> {
        match self.numbering {
            Numbering::Compact(numbering) => Ok(vec![numbering.into_values()]),
            Numbering::Any(mut numbering) if !numbering.is_empty() => numbering.emit(EmitTo::All),
            _ => Ok(Vec::new()),
        }
    }
}

fn any(schema: &SchemaRef) -> Result<Box<dyn GroupValues>> {
    new_group_values(Arc::clone(schema), &GroupOrdering::None)
}

#[cfg(test)]
mod tests {
    use datafusion::arrow::array::{Int64Array, StringViewArray};
    use datafusion::arrow::datatypes::{Field, Schema};

    use super::*;

    fn batch(integers: &[Option<i64>], texts: &[&str]) -> RecordBatch {
        let fields = vec![
            Field::new("u0", DataType::Int64, true),
            Field::new("k0", DataType::Utf8View, true),
        ];
        let columns: Vec<ArrayRef> = vec![
            Arc::new(Int64Array::from(integers.to_vec())),
            Arc::new(StringViewArray::from(texts.to_vec())),
        ];
        RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).unwrap()
    }

    #[test]
    fn numbers_stay_when_integers_turn_out_to_lie_far_apart() {
        let near = batch(&[Some(7), Some(5), Some(7)], &["", "", ""]);
        let far = batch(&[Some(i64::MIN), Some(5), None, Some(7)], &["", "", "", ""]);
        let mut numbers = Numbers::new(&near.schema(), 0..1).unwrap();
        numbers.number(&near).unwrap();
        assert_eq!(numbers.of_rows(), [0, 1, 0]);
        numbers.number(&far).unwrap();
        assert_eq!(numbers.of_rows(), [2, 1, 3, 0]);
        numbers.number(&near).unwrap();
        assert_eq!(numbers.of_rows(), [0, 1, 0]);
        assert_eq!(numbers.len(), 4);
    }

    #[test]
    fn merged_rows_get_numbers() {
        let one = batch(&[Some(1), Some(2), Some(1)], &["a", "b", "b"]);
        let other = batch(&[Some(2), Some(3), Some(1)], &["b", "a", "a"]);
        for (columns, expected) in [
            (0..0, vec![0]),
            (0..1, vec![1, 2, 0]),
            (1..2, vec![1, 0]),
            (0..2, vec![1, 3, 0]),
        ] {
            let mut numbers = Numbers::new(&one.schema(), columns.clone()).unwrap();
            numbers.number(&one).unwrap();
            let mut others = Numbers::new(&one.schema(), columns.clone()).unwrap();
            others.number(&other).unwrap();
            numbers.merge(others).unwrap();
            assert_eq!(numbers.of_rows(), expected, "{columns:?}");
            // Numbering nothing changes nothing.
            let before = numbers.len();
            numbers
                .merge(Numbers::new(&one.schema(), columns.clone()).unwrap())
                .unwrap();
            assert_eq!(numbers.len(), before);
        }
    }
}
