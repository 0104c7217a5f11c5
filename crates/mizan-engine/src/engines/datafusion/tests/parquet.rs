//! Parquet files with one invalid cell: its value is `NULL`, and all other rows are unchanged.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use mizan_sql::{Type, Value};
use parquet::basic::{Compression, Encoding};
use parquet::data_type::{ByteArray, ByteArrayType, Int64Type};
use parquet::file::properties::{WriterProperties, WriterPropertiesBuilder, WriterVersion};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

use super::files::{catalogue, counts, run};
use crate::engines::datafusion::parquet::footer::Footer;
use crate::engines::datafusion::parquet::text_bytes::text_bytes;
use crate::engines::datafusion::sizes::{Lines, sized, text_class};
use crate::engines::datafusion::{check_rows, inspect};
use crate::engines::size_class::TextClass;

/// Writes units, from 0, and texts of arbitrary bytes, in row groups of `group` rows. The
/// schema declares the type of the texts.
pub(in crate::engines) fn write_texts(
    path: &Path,
    schema: &str,
    texts: &[Option<Vec<u8>>],
    group: usize,
    properties: WriterPropertiesBuilder,
) {
    let schema = format!("message t {{ required int64 u; optional binary x {schema}; }}");
    let schema = Arc::new(parse_message_type(&schema).unwrap());
    let file = File::create(path).unwrap();
    let properties = Arc::new(properties.build());
    let mut writer = SerializedFileWriter::new(file, schema, properties).unwrap();
    for (number, texts) in texts.chunks(group).enumerate() {
        let start = i64::try_from(number * group).unwrap();
        let units: Vec<i64> = (start..).take(texts.len()).collect();
        let mut rows = writer.next_row_group().unwrap();
        let mut column = rows.next_column().unwrap().unwrap();
        column
            .typed::<Int64Type>()
            .write_batch(&units, None, None)
            .unwrap();
        column.close().unwrap();
        let mut column = rows.next_column().unwrap().unwrap();
        let levels: Vec<i16> = texts.iter().map(|text| text.is_some().into()).collect();
        let values: Vec<ByteArray> = texts
            .iter()
            .flatten()
            .cloned()
            .map(ByteArray::from)
            .collect();
        let written = column.typed::<ByteArrayType>();
        written.write_batch(&values, Some(&levels), None).unwrap();
        column.close().unwrap();
        rows.close().unwrap();
    }
    writer.close().unwrap();
}

/// The layouts in which writers store text.
pub(in crate::engines) fn layouts() -> Vec<WriterPropertiesBuilder> {
    let plain = || WriterProperties::builder().set_dictionary_enabled(false);
    vec![
        WriterProperties::builder(),
        plain(),
        plain().set_column_encoding("x".into(), Encoding::DELTA_BYTE_ARRAY),
        plain().set_column_encoding("x".into(), Encoding::DELTA_LENGTH_BYTE_ARRAY),
        WriterProperties::builder().set_compression(Compression::SNAPPY),
        plain()
            .set_data_page_size_limit(64)
            .set_compression(Compression::LZ4_RAW),
        WriterProperties::builder().set_writer_version(WriterVersion::PARQUET_2_0),
    ]
}

#[test]
fn text_that_is_not_utf8_is_null_and_changes_nothing_else() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.parquet");
    let word = |unit: usize| Some(format!("word {}, which is long", unit % 5).into_bytes());
    let whole: Vec<Option<Vec<u8>>> = (0..20_000).map(word).collect();
    let text = |number: usize| Value::Text(format!("word {number}, which is long"));
    for schema in ["(UTF8)", "(STRING)", "(JSON)"] {
        for (layout, properties) in layouts().into_iter().enumerate() {
            for place in [0, 7001, 8192, 19_999] {
                let mut texts = whole.clone();
                // Invalid bytes, NULL, and a character split over two cells.
                let mut put = |by: usize, cell: Option<&[u8]>| {
                    texts[(place + by) % 20_000] = cell.map(<[u8]>::to_vec);
                };
                put(0, Some(b"\xff and more than twelve bytes"));
                put(5, None);
                put(10, Some(b"\xc3"));
                put(11, Some(b"\xa9"));
                put(15, Some(b"a long text, and in the end \xc3"));
                put(16, Some(b"\xa9 is where a long text begins"));
                write_texts(&path, schema, &texts, 7000, properties.clone());
                let columns = [("u", Type::Integer), ("x", Type::Text)];
                let catalogue = catalogue(&path, &columns);
                let mut expected = vec![(Value::Null, 6)];
                for number in 0..5 {
                    let lost = match (number + 5 - place % 5) % 5 {
                        0 => 4,
                        1 => 2,
                        _ => 0,
                    };
                    expected.push((text(number), 4000 - lost));
                }
                assert_eq!(counts(&catalogue), expected, "{schema} {layout} {place}");
                check_rows(&catalogue.datasets["t"], &|_, _| ()).unwrap();
            }
        }
    }
}

/// The decoded size of texts that share prefixes is computed from their lengths.
#[test]
fn lengths_of_texts_that_share_prefixes_are_counted() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.parquet");
    let prefix = "a prefix that is rather long ".repeat(40);
    let text = |row: usize| match row % 7 {
        0 => None,
        1 => Some(Vec::new()),
        2 => Some(format!("{row}").into_bytes()),
        _ => Some(format!("{}{row}", &prefix[..row * 31 % 1100]).into_bytes()),
    };
    let versions = [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0];
    let codecs = [Compression::UNCOMPRESSED, Compression::SNAPPY];
    for rows in [0, 1, 2, 33, 5_000] {
        let texts: Vec<Option<Vec<u8>>> = (0..rows).map(text).collect();
        let bytes: usize = texts.iter().flatten().map(Vec::len).sum();
        for (version, codec) in versions.into_iter().zip(codecs) {
            let properties = WriterProperties::builder()
                .set_dictionary_enabled(false)
                .set_writer_version(version)
                .set_compression(codec)
                .set_column_encoding("x".into(), Encoding::DELTA_BYTE_ARRAY);
            write_texts(&path, "(UTF8)", &texts, 1_500, properties);
            let footer = Arc::new(Footer::read(&path).unwrap());
            let field = Arc::new(footer.schema.field(1).clone());
            let found = text_bytes(std::slice::from_ref(&footer), &field, u64::MAX);
            let found = found.unwrap();
            assert_eq!(found.shared, bytes as u64, "{rows} {version:?}");
            let unit = Arc::new(footer.schema.field(0).clone());
            let found = text_bytes(&[footer], &unit, u64::MAX).unwrap();
            assert_eq!((found.all, found.shared), (0, 0));
        }
    }
}

/// A small file of long texts that share a prefix: all are read, a few at a time, and the size
/// class includes their decoded size.
#[test]
fn texts_that_share_a_long_prefix_are_read_in_steps() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.parquet");
    let prefix = "z".repeat(200_000);
    let rows: usize = 2_000;
    let texts = (0..rows).map(|row| Some(format!("{prefix}{row}").into_bytes()));
    let texts: Vec<Option<Vec<u8>>> = texts.collect();
    let properties = WriterProperties::builder()
        .set_dictionary_enabled(false)
        .set_column_encoding("x".into(), Encoding::DELTA_BYTE_ARRAY);
    write_texts(&path, "(UTF8)", &texts, rows, properties);
    assert!(path.metadata().unwrap().len() < 1 << 20);
    let catalogue = catalogue(&path, &[("u", Type::Integer), ("x", Type::Text)]);
    check_rows(&catalogue.datasets["t"], &|_, _| ()).unwrap();
    let plan = mizan_sql::plan(
        "SELECT COUNT(DISTINCT u) FROM t WHERE x LIKE 'z%'",
        &catalogue,
    )
    .unwrap();
    let sized = sized(&plan, &catalogue, Lines::Unknown).unwrap();
    let class = |place: usize| text_class(&sized, "t", place).unwrap();
    let decoded = (rows * 200_000).next_power_of_two() as u64;
    assert_eq!(class(0), TextClass::of(0, 0));
    assert_eq!(class(1), TextClass::of(decoded, decoded));
}

/// The unit is text: rows whose unit is not UTF-8 belong to no unit.
#[test]
fn a_unit_that_is_not_utf8_is_null() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.parquet");
    let units = ["a", "b", "a"].map(|unit| Some(unit.as_bytes().to_vec()));
    let units = [&units[..], &[Some(b"\xff".to_vec()), None]].concat();
    for properties in layouts() {
        write_texts(&path, "(UTF8)", &units, 10, properties);
        let mut catalogue = catalogue(&path, &[("x", Type::Text)]);
        let dataset = catalogue.datasets.get_mut("t").unwrap();
        dataset.privacy.as_mut().unwrap().unit = vec!["x".into()];
        let text = |text: &str| Value::Text(text.into());
        assert_eq!(counts(&catalogue), [(text("a"), 1), (text("b"), 1)]);
    }
}

/// A decimal with more bytes than its type is NULL; the library panics there.
#[test]
fn decimals_of_any_length() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.parquet");
    let cells = [vec![1, 44], vec![0; 17], vec![], vec![255], vec![0, 1, 44]];
    let cells: Vec<Option<Vec<u8>>> = cells.into_iter().map(Some).chain([None]).collect();
    write_texts(
        &path,
        "(DECIMAL(10, 2))",
        &cells,
        4,
        WriterProperties::builder(),
    );
    let found = inspect(&path).unwrap();
    assert_eq!(found.columns[1], ("x".to_owned(), Some(Type::Number)));
    let catalogue = catalogue(&path, &[("u", Type::Integer), ("x", Type::Number)]);
    let number = |value: f64| Value::Number(value);
    let expected = [(Value::Null, 3), (number(-0.01), 1), (number(3.0), 2)];
    assert_eq!(counts(&catalogue), expected);
    // Decimals of variable length with more than 38 digits cannot be used.
    write_texts(
        &path,
        "(DECIMAL(50, 2))",
        &cells,
        4,
        WriterProperties::builder(),
    );
    assert_eq!(inspect(&path).unwrap().left_out.len(), 1);
}

/// Damaged pages are found when a dataset is added, and the error names the column.
#[test]
fn damage_is_found_when_a_dataset_is_added() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.parquet");
    let texts: Vec<Option<Vec<u8>>> = (0..100)
        .map(|unit| Some(format!("SECRET{unit}").into_bytes()))
        .collect();
    let snappy = || WriterProperties::builder().set_compression(Compression::SNAPPY);
    write_texts(&path, "(UTF8)", &texts, 50, snappy());
    let catalogue = catalogue(&path, &[("u", Type::Integer), ("x", Type::Text)]);
    let dataset = &catalogue.datasets["t"];
    check_rows(dataset, &|_, _| ()).unwrap();
    let whole = std::fs::read(&path).unwrap();
    // The first text page starts with the length of the first text.
    let first = whole
        .windows(7)
        .position(|bytes| bytes == b"SECRET0")
        .unwrap();
    let mut damaged = whole.clone();
    damaged[first - 2] = 0x7f;
    std::fs::write(&path, &damaged).unwrap();
    let error = check_rows(dataset, &|_, _| ()).unwrap_err();
    assert_eq!(error.code(), "MZ1936");
    let text = error.to_string();
    assert!(text.contains("the column \"x\" of row group 1"), "{text}");
    assert!(!text.contains("SECRET"), "{text}");
    assert!(run(&catalogue).is_err());
    // A truncated file, and a missing one.
    std::fs::write(&path, &whole[..whole.len() - 9]).unwrap();
    assert_eq!(
        check_rows(dataset, &|_, _| ()).unwrap_err().code(),
        "MZ1905"
    );
    std::fs::remove_file(&path).unwrap();
    assert_eq!(
        check_rows(dataset, &|_, _| ()).unwrap_err().code(),
        "MZ1901"
    );
}
