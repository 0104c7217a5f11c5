//! Damaged files: for all bytes of a file, adding it and querying it end in a result or an
//! error that reveals nothing of its cells.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use datafusion::arrow::array::{
    ArrayRef, BooleanArray, Date32Array, Decimal128Array, DictionaryArray, Float64Array,
    Int32Array, RecordBatch, StringArray, StructArray, TimestampMicrosecondArray,
};
use datafusion::arrow::datatypes::{DataType, Field, Int8Type};
use mizan_core::SplitMix64;
use mizan_sql::Type;
use mizan_test_support::long_run;
use mizan_test_support::mutants::{csv_files, mutant};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;

use super::files::{catalogue, run};
use super::parquet::{layouts, write_texts};
use crate::engine::EngineError;
use crate::engines::datafusion::{check_rows, inspect};

const SECRET: &str = "SECRET of one person";

/// The number of mutants in a quick run and in a long one.
const MUTANTS: (usize, usize) = (600, 10_000);

/// Columns of many types, including the secret text, in three row groups.
fn many_types(path: &Path, properties: WriterProperties) {
    let field = Arc::new(Field::new("f", DataType::Int32, true));
    let inner: ArrayRef = Arc::new(Int32Array::from_iter_values(0..30));
    let words = || (0..30).map(|row| (row % 7 != 0).then(|| format!("{SECRET} {}", row % 3)));
    let coded: DictionaryArray<Int8Type> = words()
        .map(|word| word.unwrap_or_default())
        .collect::<Vec<_>>()
        .iter()
        .map(String::as_str)
        .collect();
    let decimals = Decimal128Array::from_iter_values((0..30).map(|row| row * 100 - 7));
    let decimals = decimals.with_precision_and_scale(20, 2).unwrap();
    let columns: Vec<(&str, ArrayRef)> = vec![
        (
            "u",
            Arc::new(Int32Array::from_iter_values((0..30).map(|row| row / 2))),
        ),
        (
            "a",
            Arc::new(Float64Array::from_iter_values((0..30).map(f64::from))),
        ),
        (
            "b",
            Arc::new(
                (0..30)
                    .map(|row| Some(row % 2 == 0))
                    .collect::<BooleanArray>(),
            ),
        ),
        ("c", Arc::new(Date32Array::from_iter_values(0..30))),
        (
            "d",
            Arc::new(TimestampMicrosecondArray::from_iter_values(0..30)),
        ),
        ("e", Arc::new(decimals)),
        ("f", Arc::new(StructArray::from(vec![(field, inner)]))),
        ("g", Arc::new(coded)),
        ("x", Arc::new(words().collect::<StringArray>())),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let file = fs::File::create(path).unwrap();
    let mut writer = ArrowWriter::try_new(file, batch.schema(), Some(properties)).unwrap();
    for group in 0..3 {
        writer.write(&batch.slice(group * 10, 10)).unwrap();
        writer.flush().unwrap();
    }
    writer.close().unwrap();
}

/// Small files of every layout.
fn parquet_files(directory: &Path) -> Vec<Vec<u8>> {
    let path = directory.join("whole.parquet");
    let mut files = Vec::new();
    let text =
        |row: usize| (!row.is_multiple_of(5)).then(|| format!("{SECRET} {}", row % 4).into_bytes());
    let texts: Vec<_> = (0..40).map(text).collect();
    for properties in layouts() {
        write_texts(&path, "(UTF8)", &texts, 15, properties);
        files.push(fs::read(&path).unwrap());
    }
    let codecs = [
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::ZSTD(ZstdLevel::default()),
        Compression::GZIP(Default::default()),
    ];
    for codec in codecs {
        many_types(
            &path,
            WriterProperties::builder().set_compression(codec).build(),
        );
        files.push(fs::read(&path).unwrap());
    }
    files
}

/// The steps of `mizan dataset add` for a file, and then a query.
fn add_and_ask(path: &Path) -> Result<(), EngineError> {
    let found = inspect(path)?;
    let columns: Vec<(&str, Type)> = (found.columns.iter())
        .map(|(name, kind)| (name.as_str(), kind.unwrap_or(Type::Text)))
        .collect();
    let mut catalogue = catalogue(path, &columns);
    let dataset = catalogue.datasets.get_mut("t").unwrap();
    let privacy = dataset.privacy.as_mut().unwrap();
    privacy.unit = vec![
        columns
            .first()
            .map_or_else(String::new, |(name, _)| (*name).to_owned()),
    ];
    if dataset.check().is_err() {
        return Ok(());
    }
    check_rows(&catalogue.datasets["t"], &|_, _| ())?;
    run(&catalogue).map(drop)
}

#[test]
fn mutants_are_read_or_refused() {
    crate::silence_engine_panics();
    let directory = tempfile::tempdir().unwrap();
    let mutants = if long_run() { MUTANTS.1 } else { MUTANTS.0 };
    let (parquet, csv) = (parquet_files(directory.path()), csv_files(SECRET));
    let whole = directory.path().join("whole.parquet");
    let as_written = catalogue(&whole, &[("u", Type::Integer), ("x", Type::Text)]);
    for (format, files) in [("parquet", &parquet), ("csv", &csv)] {
        let path = directory.path().join(format!("whole.{format}"));
        for file in files {
            fs::write(&path, file).unwrap();
            assert_eq!(add_and_ask(&path), Ok(()));
        }
    }
    let (mut read, mut refused) = (0, 0);
    for seed in 0..mutants {
        let mut numbers = SplitMix64::new(seed as u64);
        // CSV has fewer code paths.
        let (format, files) = if seed % 5 == 0 {
            ("csv", &csv)
        } else {
            ("parquet", &parquet)
        };
        let bytes = mutant(&mut numbers, files, seed / 5 % files.len());
        let path = directory.path().join(format!("whole.{format}"));
        fs::write(&path, bytes).unwrap();
        let mut found = vec![add_and_ask(&path)];
        if format == "parquet" && seed % 10 == 1 {
            // Damaged after the dataset was added.
            found.push(run(&as_written).map(drop));
        }
        for found in found {
            match found {
                Ok(()) => read += 1,
                Err(error) => {
                    refused += 1;
                    let text = format!("{error} {}", error.help());
                    assert!(!text.contains("SECRET"), "{seed}: {text}");
                }
            }
        }
    }
    eprintln!("{mutants} mutants: {read} read, {refused} refused");
    assert!(
        read > mutants / 10 && refused > mutants / 10,
        "{read} {refused}"
    );
}
