//! Byte arrays of a column as values. Text that is not UTF-8 or too long, and decimals of more
//! than sixteen bytes, are `NULL`.

use std::sync::Arc;

use datafusion::arrow::array::{
    Array, ArrayRef, AsArray, BinaryViewArray, Decimal128Array, StringViewArray,
};
use datafusion::arrow::buffer::{NullBuffer, ScalarBuffer};
use datafusion::arrow::datatypes::DataType;
use datafusion::common::{Result, exec_err};

/// The longest text of a file.
pub(super) const MAX_TEXT: usize = mizan_sql::LONGEST_STORED_TEXT;

/// A column of a file converted to the type of the schema.
pub(super) fn value(array: &ArrayRef, wanted: &DataType) -> Result<ArrayRef> {
    match (array.data_type(), wanted) {
        (DataType::BinaryView, DataType::Utf8View) => {
            Ok(Arc::new(text_of_bytes(array.as_binary_view())?))
        }
        (DataType::Utf8View, DataType::Utf8View) => {
            let texts = array.as_string_view();
            if are_short(texts.views()) {
                return Ok(Arc::clone(array));
            }
            Ok(Arc::new(text_of_bytes(&texts.clone().to_binary_view())?))
        }
        (DataType::BinaryView, DataType::Decimal128(digits, scale)) => {
            let decimals = decimals(array.as_binary_view());
            Ok(Arc::new(
                decimals.with_precision_and_scale(*digits, *scale)?,
            ))
        }
        (found, wanted) if found == wanted => Ok(Arc::clone(array)),
        (found, wanted) => exec_err!("{found} where {wanted} was declared"),
    }
}

/// Whether all texts are within the limit: the first four bytes of a view are the length.
#[allow(clippy::cast_possible_truncation, reason = "the lower half is meant")]
fn are_short(views: &[u128]) -> bool {
    views.iter().all(|view| *view as u32 as usize <= MAX_TEXT)
}

/// Does not copy if all bytes are valid text.
fn text_of_bytes(bytes: &BinaryViewArray) -> Result<StringViewArray> {
    if are_short(bytes.views())
        && let Ok(texts) = bytes.clone().to_string_view()
    {
        return Ok(texts);
    }
    let is_text = |value: &[u8]| value.len() <= MAX_TEXT && std::str::from_utf8(value).is_ok();
    let valid: Vec<bool> = bytes
        .iter()
        .map(|value| value.is_some_and(is_text))
        .collect();
    // A view of zeros is the empty text.
    let views = bytes.views().iter().zip(&valid);
    let views: ScalarBuffer<u128> = views
        .map(|(view, valid)| if *valid { *view } else { 0 })
        .collect();
    let nulls = NullBuffer::from(valid);
    let texts = StringViewArray::try_new(views, bytes.data_buffers().to_vec(), Some(nulls))?;
    Ok(texts)
}

/// Decimals in two's complement, most significant byte first.
fn decimals(bytes: &BinaryViewArray) -> Decimal128Array {
    let decimal = |bytes: &[u8]| {
        if bytes.is_empty() || bytes.len() > 16 {
            return None;
        }
        let negative = bytes.first().is_some_and(|first| first & 0x80 != 0);
        let start = if negative { -1_i128 } else { 0 };
        Some(
            bytes
                .iter()
                .fold(start, |value, byte| (value << 8) | i128::from(*byte)),
        )
    };
    bytes.iter().map(|bytes| bytes.and_then(decimal)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(values: Vec<Option<&[u8]>>) -> Vec<Option<String>> {
        let array: ArrayRef = Arc::new(BinaryViewArray::from(values));
        let texts = value(&array, &DataType::Utf8View).unwrap();
        let texts = texts.as_string_view().iter();
        texts.map(|text| text.map(str::to_owned)).collect()
    }

    #[test]
    fn bytes_that_are_not_text_are_null_and_no_others() {
        let long = "a text of more than twelve bytes".as_bytes();
        let broken = b"a text of more than twelve bytes\xff".as_slice();
        let text = |text: &str| Some(text.to_owned());
        let found = texts(vec![
            Some(b"a"),
            None,
            Some(long),
            Some(b""),
            Some("é".as_bytes()),
        ]);
        let long_text = text("a text of more than twelve bytes");
        assert_eq!(
            found,
            [text("a"), None, long_text.clone(), text(""), text("é")]
        );
        let found = texts(vec![
            Some(b"a"),
            Some(b"\xff"),
            Some(long),
            Some(broken),
            None,
        ]);
        assert_eq!(found, [text("a"), None, long_text, None, None]);
    }

    #[test]
    fn text_that_is_too_long_is_null() {
        let most = vec![b'x'; MAX_TEXT];
        let more = vec![b'x'; MAX_TEXT + 1];
        let found = texts(vec![Some(&more), Some(&most), Some(b"y")]);
        assert_eq!(found[0], None);
        assert_eq!(found[1].as_ref().map(String::len), Some(MAX_TEXT));
        let array: ArrayRef = Arc::new(StringViewArray::from(vec![
            std::str::from_utf8(&more).unwrap(),
            "y",
        ]));
        let found = value(&array, &DataType::Utf8View).unwrap();
        assert!(found.is_null(0) && found.is_valid(1));
    }

    #[test]
    fn decimals_have_any_length_up_to_sixteen() {
        let array: ArrayRef = Arc::new(BinaryViewArray::from(vec![
            Some(&[0x01, 0x00][..]),
            Some(&[0xff]),
            Some(&[0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
            Some(&[0; 17]),
            Some(&[]),
            None,
        ]));
        let found = value(&array, &DataType::Decimal128(20, 2)).unwrap();
        let found: Decimal128Array = found.as_primitive().clone();
        let expected = [Some(256), Some(-1), Some(i128::MIN), None, None, None];
        assert_eq!(found.iter().collect::<Vec<_>>(), expected);
    }
}
