//! Texts that a dictionary repeats: their decoded bytes are counted before the charge.

use std::path::Path;
use std::sync::Arc;

use mizan_sql::{Catalogue, Type};
use parquet::basic::Compression;
use parquet::file::properties::{WriterProperties, WriterPropertiesBuilder, WriterVersion};

use super::files::{by_last, catalogue};
use super::parquet::write_texts;
use crate::engine::EngineError;
use crate::engines::datafusion::parquet::footer::Footer;
use crate::engines::datafusion::parquet::text_bytes::text_bytes;
use crate::engines::datafusion::sizes::{Lines, sized, text_class};
use crate::engines::datafusion::{DataFusion, check_rows};
use crate::engines::plan_bound::PlanBound;
use crate::engines::size_class::TextClass;

type Texts = Vec<Option<Vec<u8>>>;

fn write(
    path: &Path,
    texts: &Texts,
    group: usize,
    properties: WriterPropertiesBuilder,
) -> Catalogue {
    write_texts(path, "(UTF8)", texts, group, properties);
    let catalogue = catalogue(path, &[("u", Type::Integer), ("x", Type::Text)]);
    check_rows(&catalogue.datasets["t"], &|_, _| ()).unwrap();
    catalogue
}

fn bytes(texts: &Texts) -> u64 {
    texts.iter().flatten().map(|text| text.len() as u64).sum()
}

fn found(path: &Path, enough: u64) -> u64 {
    let footer = Arc::new(Footer::read(path).unwrap());
    let field = Arc::new(footer.schema.field(1).clone());
    let found = text_bytes(&[footer], &field, enough).unwrap();
    assert_eq!(found.shared, 0);
    found.all
}

/// The count is exact for every version, codec and pattern of NULL, with small pages.
#[test]
fn texts_of_dictionaries_are_counted() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.parquet");
    let long = "a text that is rather long ".repeat(9);
    let text = |row: usize| match row % 11 {
        0 | 7 => None,
        1 => Some(Vec::new()),
        2..=4 => Some(long.as_bytes()[..row * 37 % 240].to_vec()),
        _ => Some(format!("{}", row / 300).into_bytes()),
    };
    let versions = [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0];
    let codecs = [Compression::UNCOMPRESSED, Compression::SNAPPY];
    for rows in [0, 1, 2, 33, 5_000] {
        let nulls: Texts = vec![None; rows];
        for texts in [(0..rows).map(text).collect(), nulls] {
            for version in versions {
                for codec in codecs {
                    let properties = WriterProperties::builder()
                        .set_writer_version(version)
                        .set_compression(codec)
                        .set_data_page_row_count_limit(700)
                        .set_write_batch_size(100);
                    write(&path, &texts, 1_500, properties);
                    assert_eq!(found(&path, 0), bytes(&texts), "{rows} {version:?}");
                    assert_eq!(found(&path, u64::MAX), 0);
                }
            }
        }
    }
}

/// A writer that gives up its dictionary: the texts after it count as their pages.
#[test]
fn a_dictionary_for_some_of_the_pages() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.parquet");
    let text = |row: usize| format!("{row} {}", "x".repeat(row % 50)).into_bytes();
    let texts: Texts = (0..5_000).map(|row| Some(text(row))).collect();
    let properties = WriterProperties::builder()
        .set_dictionary_page_size_limit(10_000)
        .set_data_page_row_count_limit(200)
        .set_write_batch_size(100);
    write(&path, &texts, 10_000, properties);
    let (exact, all) = (bytes(&texts), found(&path, 0));
    // Each text in a plain page has four bytes for its length, and texts before have none.
    assert!(exact + 10_000 < all, "{exact} {all}");
    assert!(all < exact + 19_500, "{exact} {all}");
}

fn bound(catalogue: &Catalogue, sql: &str) -> Result<PlanBound, EngineError> {
    let plan = mizan_sql::plan(sql, catalogue).unwrap();
    let engine = DataFusion::with_partitions(2).unwrap();
    engine.bound(&plan, catalogue, Lines::Unknown)
}

/// One long text in many rows of a small file. The rows are in the estimate of time, and only
/// of a query that reads the column.
#[test]
fn a_long_text_of_a_dictionary_is_in_the_bound() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.parquet");
    let rows = 1_000_usize;
    let long = vec![b'a'; 100_000];
    let texts = |long: &[u8]| -> Texts { vec![Some(long.to_vec()); rows] };
    let properties = || {
        WriterProperties::builder()
            .set_dictionary_page_size_limit(1 << 30)
            .set_compression(Compression::SNAPPY)
    };
    let short = write(&path, &texts(b"short"), rows, properties());
    let like = "SELECT COUNT(DISTINCT u) FROM t WHERE x LIKE '%b%'";
    let untouched = "SELECT COUNT(DISTINCT u) FROM t WHERE u > 3";
    let before = [like, untouched].map(|sql| bound(&short, sql).unwrap());
    let catalogue = write(&path, &texts(&long), rows, properties());
    assert!(path.metadata().unwrap().len() < 1 << 20);
    let plan = mizan_sql::plan(like, &catalogue).unwrap();
    let sized = sized(&plan, &catalogue, Lines::Unknown).unwrap();
    let decoded = (rows as u64 * 100_000).next_power_of_two();
    assert_eq!(text_class(&sized, "t", 1), Ok(TextClass::of(decoded, 0)));
    let after = [like, untouched].map(|sql| bound(&catalogue, sql).unwrap());
    // A nanosecond for each byte, at least.
    assert!(after[0].nanoseconds > decoded, "{after:?}");
    assert!(before[0].nanoseconds < decoded / 10, "{before:?}");
    assert_eq!(before[1], after[1]);
    let engine = DataFusion::with_partitions(2).unwrap();
    let grouped = engine.bound(&by_last(&catalogue), &catalogue, Lines::Unknown);
    assert!(grouped.unwrap().memory > decoded);
}
