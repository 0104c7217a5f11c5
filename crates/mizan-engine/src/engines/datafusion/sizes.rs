//! The size classes of files, computed without reading values.

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use datafusion::datasource::physical_plan::FileScanConfig;
use datafusion::datasource::source::DataSourceExec;
use datafusion::execution::session_state::{SessionState, SessionStateBuilder};
use mizan_sql::{BoundedPlan, Catalogue, Dataset};

use super::failed;
use super::files::Source;
use crate::byte_cache::ByteBoundedCache;
use crate::engine::EngineError;
use crate::engines::lower_sql::relations;
use crate::engines::size_class::{SizeClass, TextClass};
use crate::version::Version;

/// Size classes of the datasets of a plan, by name.
pub(in crate::engines) type Sizes = BTreeMap<String, Arc<SizeClass>>;

/// Whether the lines of CSV files are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lines {
    /// Not counted: as many as the bytes allow.
    Unknown,
    /// Counted, which reads each file once.
    Counted,
}

/// Size classes, and the classes of texts, by the version of files: a server computes each once.
static KNOWN: LazyLock<ByteBoundedCache<SizeClass>> =
    LazyLock::new(|| ByteBoundedCache::new(1 << 20));
static KNOWN_TEXTS: LazyLock<ByteBoundedCache<TextClass>> =
    LazyLock::new(|| ByteBoundedCache::new(1 << 20));

/// A dataset and its size class.
pub(in crate::engines) struct SizedDataset {
    source: Source,
    /// The cache key of its size class.
    key: String,
    size: Arc<SizeClass>,
}

/// Datasets of a plan by name.
pub(in crate::engines) type SizedDatasets = BTreeMap<String, SizedDataset>;

/// All datasets of a plan with their size classes.
pub(in crate::engines) fn sized(
    plan: &BoundedPlan,
    catalogue: &Catalogue,
    lines: Lines,
) -> Result<SizedDatasets, EngineError> {
    let names = plan.datasets.iter().chain(&plan.public);
    let sized = names.map(|name| {
        let dataset = relations::dataset(catalogue, name)?;
        Ok((name.clone(), SizedDataset::open(dataset, lines)?))
    });
    sized.collect()
}

/// The size classes of datasets.
pub(in crate::engines) fn classes(datasets: &SizedDatasets) -> Sizes {
    let classes = datasets.iter();
    let classes = classes.map(|(name, dataset)| (name.clone(), Arc::clone(&dataset.size)));
    classes.collect()
}

/// The class of the texts of a column. It is computed for the columns that a query reads, since
/// the dictionaries of Parquet files are read for it.
pub(in crate::engines) fn text_class(
    datasets: &SizedDatasets,
    name: &str,
    place: usize,
) -> Result<TextClass, EngineError> {
    let dataset = datasets.get(name);
    let dataset = dataset.ok_or_else(|| EngineError::NotInCatalogue {
        dataset: name.to_owned(),
    })?;
    let key = format!("{place} {}", dataset.key);
    if let Some(known) = KNOWN_TEXTS.get(&key) {
        return Ok(*known);
    }
    let size = &dataset.size;
    let encoded = size.columns.get(place).copied();
    let encoded = encoded.ok_or(EngineError::Failed {
        doing: "opening tables",
    })?;
    let enough = size.usual_text(encoded);
    let found = dataset.source.text_bytes(place, enough)?;
    let found = Arc::new(TextClass::of(found.all, found.shared));
    KNOWN_TEXTS.keep(key, &found, size_of::<TextClass>());
    Ok(*found)
}

impl SizedDataset {
    fn open(dataset: &Dataset, lines: Lines) -> Result<Self, EngineError> {
        let source = Source::open(dataset)?;
        let key = key(&source.version()?, dataset, lines);
        let size = match KNOWN.get(&key) {
            Some(known) => known,
            None => {
                let found = Arc::new(size_class(&source, dataset, lines)?);
                let bytes = size_of::<SizeClass>() + 16 * found.columns.len();
                KNOWN.keep(key.clone(), &found, bytes);
                found
            }
        };
        Ok(Self { source, key, size })
    }
}

fn size_class(source: &Source, dataset: &Dataset, lines: Lines) -> Result<SizeClass, EngineError> {
    let files = source.paths().len();
    if let Some(rows) = source.rows {
        let places = 0..dataset.columns.len();
        let columns = places.map(|place| column_bytes(source, place));
        let columns = columns.collect::<Result<Vec<u64>, EngineError>>()?;
        return Ok(SizeClass::of_columns(rows, columns, files));
    }
    let (bytes, names) = source.text_size()?;
    let found = SizeClass::of_text(bytes, names, dataset.columns.len(), files);
    match lines {
        Lines::Unknown => Ok(found),
        Lines::Counted => found.with_lines(source.paths()),
    }
}

/// The cache key of a size class: the files, and the columns that are read.
fn key(version: &Version, dataset: &Dataset, lines: Lines) -> String {
    let mut key = format!("{lines:?} ");
    for byte in version.as_bytes() {
        key.push_str(&format!("{byte:02x}"));
    }
    for column in &dataset.columns {
        key.push('\0');
        key.push_str(&column.name);
    }
    key
}

/// The encoded bytes of a column of Parquet files, estimated from footers as in their scan.
fn column_bytes(source: &Source, place: usize) -> Result<u64, EngineError> {
    static STATE: LazyLock<SessionState> = LazyLock::new(|| SessionStateBuilder::new().build());
    let table = source.table();
    let columns = vec![place];
    let scan = table.scan(&*STATE, Some(&columns), &[], None);
    let scan = futures::executor::block_on(scan).map_err(failed("opening tables"))?;
    let no_size = EngineError::Failed {
        doing: "opening tables",
    };
    let source = scan.downcast_ref::<DataSourceExec>();
    let source: &dyn Any = match source {
        Some(source) => source.data_source().as_ref(),
        None => return Err(no_size),
    };
    let config = source.downcast_ref::<FileScanConfig>();
    let statistics = config.map(FileScanConfig::statistics);
    let bytes = statistics.and_then(|found| found.total_byte_size.get_value().copied());
    bytes.map(|bytes| bytes as u64).ok_or(no_size)
}
