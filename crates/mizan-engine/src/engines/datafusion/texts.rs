//! Concatenation, which is NULL instead of an error if the result is too long, and NULLIF of
//! texts.
//!
//! DataFusion's own concatenation has no limit, and fails where the texts of a batch have 2^31
//! bytes together. Here no text is longer than `LONGEST_COMPUTED_TEXT`, and texts lie in blocks
//! of 2 MiB, of which an array may have many.

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, StringViewArray, StringViewBuilder};
use datafusion::arrow::buffer::NullBuffer;
use datafusion::common::Result;
use datafusion::logical_expr::ColumnarValue;
use mizan_sql::LONGEST_COMPUTED_TEXT;

use super::values::Values;

/// `Function::Concat` of every row.
pub(super) fn concat(arguments: &[ColumnarValue], rows: usize) -> Result<ArrayRef> {
    // An argument that is the same for all rows is an array of one.
    let mut arrays = Vec::with_capacity(arguments.len());
    for argument in arguments {
        arrays.push(match argument {
            ColumnarValue::Array(array) => (Arc::clone(array), false),
            ColumnarValue::Scalar(value) => (value.to_array()?, true),
        });
    }
    let mut parts = Vec::with_capacity(arrays.len());
    for (array, constant) in &arrays {
        parts.push((Values::new(array)?, *constant));
    }
    let mut builder = StringViewBuilder::with_capacity(rows);
    let mut text = String::new();
    for row in 0..rows {
        text.clear();
        let fits = parts.iter().all(|(values, constant)| {
            match values.text(if *constant { 0 } else { row }) {
                Some(part) if part.len() <= LONGEST_COMPUTED_TEXT - text.len() => {
                    text.push_str(part);
                    true
                }
                _ => false,
            }
        });
        builder.append_option(fits.then_some(text.as_str()));
    }
    Ok(Arc::new(builder.finish()))
}

/// `Function::NullIf` of every row, without copying texts.
pub(super) fn null_if(
    texts: &StringViewArray,
    other: &ColumnarValue,
    rows: usize,
) -> Result<ArrayRef> {
    let (others, constant) = match other {
        ColumnarValue::Array(array) => (Arc::clone(array), false),
        ColumnarValue::Scalar(value) => (value.to_array()?, true),
    };
    let (values, others) = (Values::new(texts)?, Values::new(&others)?);
    let valid = (0..rows).map(|row| {
        let text = values.text(row);
        text.is_some() && text != others.text(if constant { 0 } else { row })
    });
    let valid: Vec<bool> = valid.collect();
    let chosen = StringViewArray::try_new(
        texts.views().clone(),
        texts.data_buffers().to_vec(),
        Some(NullBuffer::from(valid)),
    )?;
    Ok(Arc::new(chosen))
}

#[cfg(test)]
mod tests {
    use datafusion::arrow::array::AsArray;
    use datafusion::common::ScalarValue;

    use super::*;

    fn view(text: &str) -> ColumnarValue {
        ColumnarValue::Scalar(ScalarValue::Utf8View(Some(text.to_owned())))
    }

    #[test]
    fn texts_above_the_limit_are_null() {
        let texts = StringViewArray::from(vec![Some("a"), Some("aé"), None, Some("")]);
        let column = ColumnarValue::Array(Arc::new(texts));
        let rest = view(&"x".repeat(LONGEST_COMPUTED_TEXT - 1));
        let found = concat(&[column.clone(), rest.clone()], 4).unwrap();
        let lengths: Vec<Option<usize>> = found
            .as_string_view()
            .iter()
            .map(|text| text.map(str::len))
            .collect();
        let (all, less) = (LONGEST_COMPUTED_TEXT, LONGEST_COMPUTED_TEXT - 1);
        assert_eq!(lengths, [Some(all), None, None, Some(less)]);
        // Neither the order of parts nor later parts matter.
        let found = concat(&[rest.clone(), column, view("")], 4).unwrap();
        assert_eq!(found.null_count(), 2);
        assert_eq!(concat(&[rest.clone(), rest], 1).unwrap().null_count(), 1);
    }

    #[test]
    fn null_if_of_equal_texts_is_null() {
        let long = "a text of more than twelve bytes";
        let texts = StringViewArray::from(vec![Some("a"), None, Some(long), Some("b")]);
        let chosen = |other: ColumnarValue| {
            let found = null_if(&texts, &other, 4).unwrap();
            let found = found.as_string_view().iter();
            found
                .map(|text| text.map(str::to_owned))
                .collect::<Vec<_>>()
        };
        let [a, b, long_text] = ["a", "b", long].map(|text| Some(text.to_owned()));
        assert_eq!(
            chosen(view("a")),
            [None, None, long_text.clone(), b.clone()]
        );
        assert_eq!(chosen(view(long)), [a.clone(), None, None, b.clone()]);
        let others = StringViewArray::from(vec![None, Some("a"), Some(long), Some("c")]);
        let others = ColumnarValue::Array(Arc::new(others));
        assert_eq!(chosen(others), [a, None, None, b]);
    }

    /// Offsets within a block stay far below 2^31, for any number of blocks.
    #[test]
    fn many_long_texts_lie_in_many_blocks() {
        let rows = 1000;
        let texts = StringViewArray::from(vec!["a"; rows]);
        let column = ColumnarValue::Array(Arc::new(texts));
        let rest = view(&"x".repeat(LONGEST_COMPUTED_TEXT - 1));
        let found = concat(&[column, rest], rows).unwrap();
        assert_eq!((found.len(), found.null_count()), (rows, 0));
        let found = found.as_string_view();
        assert!(found.value(rows - 1).ends_with('x'));
        let blocks = found.data_buffers();
        assert!(blocks.len() > 20 && blocks.iter().all(|block| block.len() <= 2 << 20));
    }
}
