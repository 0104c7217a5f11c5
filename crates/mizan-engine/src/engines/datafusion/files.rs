//! Files as tables: finds them and determines their columns, without reading rows.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::catalog::TableProvider;
use datafusion::common::Result;
use mizan_sql::{BoundedPlan, Catalogue, Dataset, DatasetColumn, Type};

use super::csv::{self, CsvTable};
use super::file_stamp::StampedFile;
use super::parquet::ParquetTable;
use super::parquet::check::check;
use super::parquet::footer::Footer;
use super::parquet::scan::ParquetFile;
use super::parquet::text_bytes::{TextBytes, text_bytes};
use super::source::source_type;
use super::values::data_type;
use crate::data_file;
use crate::engine::{EngineError, bad};
use crate::engines::dispatch::Inspected;
use crate::engines::lower_sql::relations::{self, fits_unit, is_unit};
use crate::engines::thread::on_own_thread;
use crate::exact::Execution;
use crate::version::{Files, Format, Version};

/// The columns of a file or a directory of files, with the types of the Parquet schema.
pub(crate) fn inspect(path: &Path) -> Result<Inspected, EngineError> {
    let files = Files::find(path)?;
    let first = files.paths.first().map_or(path, |first| first.as_path());
    let mut found = Inspected::default();
    if files.format == Format::Csv {
        let names = csv::header(first)?.into_iter();
        found.columns = names.map(|name| (name, None)).collect();
        return Ok(found);
    }
    let footer = on_own_thread(|| Footer::read(first))?;
    let declared = footer.declared.fields().iter();
    for (field, declared) in footer.schema.fields().iter().zip(declared) {
        let name = field.name().clone();
        match source_type(field.data_type()) {
            Some(kind) => found.columns.push((name, Some(kind))),
            None => found
                .left_out
                .push((name, shown_type(declared.data_type()))),
        }
    }
    Ok(found)
}

/// Decodes all columns of a dataset once. Any bytes are valid CSV, so CSV files are skipped.
/// `progress` receives the numbers of decoded rows and of all rows.
pub(crate) fn check_rows(
    dataset: &Dataset,
    progress: &(dyn Fn(u64, u64) + Sync),
) -> Result<(), EngineError> {
    let source = Source::open(dataset)?;
    check(&source.footers, &source.schema, progress)
}

/// Opens the files of datasets.
pub(in crate::engines) fn open_all<'a>(
    names: impl IntoIterator<Item = &'a String>,
    catalogue: &Catalogue,
) -> Result<BTreeMap<String, Source>, EngineError> {
    let open = |name: &String| {
        let dataset = relations::dataset(catalogue, name)?;
        Ok((name.clone(), Source::open(dataset)?))
    };
    names.into_iter().map(open).collect()
}

/// Runs a plan over its files, which must have these versions before and after.
pub(in crate::engines) fn at_versions(
    plan: &BoundedPlan,
    catalogue: &Catalogue,
    versions: &[Version],
    run: impl FnOnce(BTreeMap<String, Source>) -> Result<Execution, EngineError>,
) -> Result<Execution, EngineError> {
    let names = || plan.datasets.iter().chain(&plan.public);
    if names().count() != versions.len() {
        return Err(bad("there is not a version for every dataset"));
    }
    let open = || -> Result<BTreeMap<String, Source>, EngineError> {
        let sources = open_all(names(), catalogue)?;
        for (name, version) in names().zip(versions) {
            let found = sources.get(name).map(Source::version).transpose()?;
            unchanged(name, version, found)?;
        }
        Ok(sources)
    };
    let execution = run(open()?);
    // A change of the data may be the cause of a failure, and is reported then.
    open()?;
    execution
}

/// Whether a dataset has the expected version.
pub(in crate::engines) fn unchanged(
    dataset: &str,
    expected: &Version,
    found: Option<Version>,
) -> Result<(), EngineError> {
    if found == Some(*expected) {
        return Ok(());
    }
    Err(EngineError::Changed {
        dataset: dataset.to_owned(),
    })
}

/// The files of a dataset, and the schema of its catalogue columns in them.
pub(in crate::engines) struct Source {
    files: Files,
    /// The footers of Parquet files, in the order of the files.
    footers: Vec<Arc<Footer>>,
    /// The columns of the catalogue.
    pub(in crate::engines) schema: SchemaRef,
    /// The number of rows, if the files store it.
    pub(in crate::engines) rows: Option<u64>,
}

impl Source {
    /// Finds the files and checks that all have the catalogue's columns.
    pub(in crate::engines) fn open(dataset: &Dataset) -> Result<Self, EngineError> {
        let files = Files::find(Path::new(&dataset.source))?;
        // Parsing a footer may recurse deeply.
        let footers = on_own_thread(|| match files.format {
            Format::Csv => Ok(Vec::new()),
            Format::Parquet => {
                let footers = files
                    .paths
                    .iter()
                    .map(|path| Footer::read(path).map(Arc::new));
                footers.collect::<Result<_, _>>()
            }
        })?;
        let mut schema: Option<Schema> = None;
        let rows = (files.format == Format::Parquet).then(|| {
            let rows = footers.iter().map(|footer: &Arc<Footer>| footer.rows());
            rows.fold(0, u64::saturating_add)
        });
        for (place, path) in files.paths.iter().enumerate() {
            let of_file = match footers.get(place) {
                None => columns(dataset, Format::Csv, path, &*csv::schema(path)?)?,
                Some(footer) => columns(dataset, Format::Parquet, path, &footer.schema)?,
            };
            match &schema {
                None => schema = Some(of_file),
                Some(first) => same_types(dataset, path, first, &of_file)?,
            }
        }
        Ok(Self {
            files,
            footers,
            schema: Arc::new(schema.unwrap_or_else(Schema::empty)),
            rows,
        })
    }

    /// The version of the files.
    pub(in crate::engines) fn version(&self) -> Result<Version, EngineError> {
        self.files.version()
    }

    /// The files.
    pub(in crate::engines) fn paths(&self) -> &[PathBuf] {
        &self.files.paths
    }

    /// The decoded bytes of the texts of a column, if they may have more than `enough`.
    pub(super) fn text_bytes(&self, place: usize, enough: u64) -> Result<TextBytes, EngineError> {
        match self.schema.fields().get(place) {
            Some(field) => text_bytes(&self.footers, field, enough),
            None => Err(EngineError::Failed {
                doing: "opening tables",
            }),
        }
    }

    /// For CSV files: their bytes, and the number of names in the shortest header.
    pub(super) fn text_size(&self) -> Result<(u64, usize), EngineError> {
        let (mut bytes, mut names) = (0_u64, usize::MAX);
        for path in &self.files.paths {
            let metadata = data_file::metadata(path)?;
            bytes = bytes.saturating_add(metadata.len());
            names = names.min(csv::header(path)?.len());
        }
        Ok((bytes, names))
    }

    /// The table.
    pub(in crate::engines) fn table(&self) -> Arc<dyn TableProvider> {
        let schema = Arc::clone(&self.schema);
        let files = self.files.paths.iter().cloned().map(StampedFile::here);
        if self.files.format == Format::Csv {
            return Arc::new(CsvTable::new(schema, files.collect()));
        }
        let files = files.zip(&self.footers);
        let files = files
            .map(|(file, footer)| Arc::new(ParquetFile::with_footer(file, Arc::clone(footer))));
        Arc::new(ParquetTable::new(schema, files.collect()))
    }
}

/// The columns of the catalogue in a file. For CSV these are the declared types, since fields
/// are parsed as them.
fn columns(
    dataset: &Dataset,
    format: Format,
    path: &Path,
    found: &Schema,
) -> Result<Schema, EngineError> {
    let mut fields = Vec::with_capacity(dataset.columns.len());
    // The field of each name; None if several have it.
    let mut by_name: HashMap<&str, Option<&Field>> = HashMap::new();
    for field in found.fields() {
        let field = field.as_ref();
        let entry = by_name.entry(field.name());
        entry.and_modify(|one| *one = None).or_insert(Some(field));
    }
    for column in &dataset.columns {
        let field = by_name.get(column.name.as_str()).copied().flatten();
        let Some(field) = field else {
            return Err(EngineError::NoColumn {
                path: path.to_path_buf(),
                column: column.name.clone(),
            });
        };
        let fits = match format {
            // A field that does not parse as the declared type is NULL.
            Format::Csv => true,
            Format::Parquet => holds(field.data_type(), dataset, column),
        };
        if !fits {
            return Err(EngineError::BadColumn {
                path: path.to_path_buf(),
                column: column.name.clone(),
                found: shown_type(field.data_type()),
                wanted: column.kind,
            });
        }
        let kind = match field.data_type() {
            _ if format == Format::Csv => data_type(column.kind),
            found => found.clone(),
        };
        let field = field.clone();
        fields.push(field.with_data_type(kind).with_nullable(true));
    }
    Ok(Schema::new(fields))
}

/// A type for a message. The name of a nested type contains the names of its fields.
fn shown_type(kind: &DataType) -> String {
    const SHOWN: usize = 64;
    let name = kind.to_string();
    match name.len() > SHOWN || name.contains(char::is_control) {
        true => "values of a nested type".to_owned(),
        false => name,
    }
}

/// Whether a column of a file may be read as the declared type. A file whose column has another
/// type than when it was added is rejected instead of converted. And no conversion may merge
/// units or lose one.
fn holds(found: &DataType, dataset: &Dataset, column: &DatasetColumn) -> bool {
    let Some(kind) = source_type(found) else {
        return false;
    };
    if is_unit(dataset, column) {
        return fits_unit(kind, column.kind) && is_whole(found);
    }
    let widens = [(Type::Integer, Type::Number), (Type::Date, Type::Timestamp)];
    kind == column.kind || widens.contains(&(kind, column.kind))
}

/// Whether all values fit into 64 bits, so that none becomes NULL.
fn is_whole(found: &DataType) -> bool {
    match found {
        DataType::UInt64 => false,
        DataType::Decimal32(digits, scale)
        | DataType::Decimal64(digits, scale)
        | DataType::Decimal128(digits, scale)
        | DataType::Decimal256(digits, scale) => i32::from(*digits) - i32::from(*scale) <= 18,
        DataType::Dictionary(_, values) => is_whole(values),
        _ => true,
    }
}

/// All files of a dataset must have the same types: DataFusion would cast the others, and some
/// of its casts fail on some rows.
fn same_types(
    dataset: &Dataset,
    path: &Path,
    first: &Schema,
    other: &Schema,
) -> Result<(), EngineError> {
    let pairs = first.fields().iter().zip(other.fields());
    for ((first, other), column) in pairs.zip(&dataset.columns) {
        if first.data_type() != other.data_type() {
            return Err(EngineError::BadColumn {
                path: path.to_path_buf(),
                column: column.name.clone(),
                found: format!(
                    "{}, not {} as before",
                    shown_type(other.data_type()),
                    shown_type(first.data_type())
                ),
                wanted: column.kind,
            });
        }
    }
    Ok(())
}
