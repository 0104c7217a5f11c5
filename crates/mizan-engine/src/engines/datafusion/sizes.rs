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
use crate::engines::relations;
use crate::engines::size_class::SizeClass;
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

/// Size classes by the version of files: a server computes each once.
static KNOWN: LazyLock<ByteBoundedCache<SizeClass>> =
    LazyLock::new(|| ByteBoundedCache::new(1 << 20));

/// The size classes of all datasets of a plan.
pub(in crate::engines) fn sizes(
    plan: &BoundedPlan,
    catalogue: &Catalogue,
    lines: Lines,
) -> Result<Sizes, EngineError> {
    let names = plan.datasets.iter().chain(&plan.public);
    let sized = names.map(|name| {
        let dataset = relations::dataset(catalogue, name)?;
        Ok((name.clone(), size_class(dataset, lines)?))
    });
    sized.collect()
}

fn size_class(dataset: &Dataset, lines: Lines) -> Result<Arc<SizeClass>, EngineError> {
    let source = Source::open(dataset)?;
    let key = key(&source.version()?, dataset, lines);
    if let Some(known) = KNOWN.get(&key) {
        return Ok(known);
    }
    let files = source.paths().len();
    let found = match source.rows {
        Some(rows) => {
            let places = 0..dataset.columns.len();
            let columns = places.map(|place| {
                let shared = source.decoded_bytes(place)?;
                Ok((column_bytes(&source, place)?, shared))
            });
            let columns = columns.collect::<Result<Vec<(u64, u64)>, EngineError>>()?;
            SizeClass::of_columns(rows, columns, files)
        }
        None => {
            let (bytes, names) = source.text_size()?;
            let found = SizeClass::of_text(bytes, names, dataset.columns.len(), files);
            match lines {
                Lines::Unknown => found,
                Lines::Counted => found.with_lines(source.paths())?,
            }
        }
    };
    let found = Arc::new(found);
    let bytes = size_of::<SizeClass>() + 16 * found.columns.len();
    KNOWN.keep(key, &found, bytes);
    Ok(found)
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
