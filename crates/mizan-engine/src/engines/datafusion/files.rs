//! Files as tables: finding them, knowing their columns, without reading rows.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, Schema, SchemaRef};
use datafusion::catalog::TableProvider;
use datafusion::common::Result;
use datafusion::datasource::file_format::parquet::ParquetFormat;
use datafusion::datasource::listing::{
    ListingOptions, ListingTable, ListingTableConfig, ListingTableUrl,
};
use datafusion::error::DataFusionError;
use datafusion::parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use mizan_sql::{Dataset, DatasetColumn, Type};
use url::Url;

use super::csv::scan::CsvFile;
use super::csv::{self, CsvTable};
use super::source::source_type;
use super::values::data_type;
use crate::engine::EngineError;
use crate::engines::by_source::Inspected;
use crate::engines::relations::{fits_unit, is_unit};
use crate::version::{Files, Format, Version, unreadable};

/// The columns of a file or a directory of files; the schema of Parquet says what
/// they hold.
pub(crate) fn inspect(path: &Path) -> Result<Inspected, EngineError> {
    let files = Files::find(path)?;
    let first = files.paths.first().map_or(path, |first| first.as_path());
    let mut found = Inspected::default();
    if files.format == Format::Csv {
        let names = csv::header(first)?.into_iter();
        found.columns = names.map(|name| (name, None)).collect();
        return Ok(found);
    }
    for field in parquet_footer(first)?.0.fields() {
        let name = field.name().clone();
        match source_type(field.data_type()) {
            Some(kind) => found.columns.push((name, Some(kind))),
            None => found.left_out.push((name, field.data_type().to_string())),
        }
    }
    Ok(found)
}

/// The files of a dataset, and the columns of the catalogue as they have them.
pub(in crate::engines) struct Source {
    files: Files,
    /// The catalogue's columns.
    pub(in crate::engines) schema: SchemaRef,
    /// How many rows the files say that they have, if they do.
    #[cfg_attr(not(feature = "ballista"), allow(dead_code, reason = "for clusters"))]
    pub(in crate::engines) rows: Option<u64>,
}

impl Source {
    /// Finds the files and checks that all have the catalogue's columns.
    pub(in crate::engines) fn open(dataset: &Dataset) -> Result<Self, EngineError> {
        let files = Files::find(Path::new(&dataset.source))?;
        let mut schema: Option<Schema> = None;
        let mut rows = Some(0_u64);
        for path in &files.paths {
            let (found, rows_here) = match files.format {
                Format::Csv => (csv::schema(path)?, None),
                Format::Parquet => parquet_footer(path)?,
            };
            rows = rows
                .zip(rows_here)
                .map(|(all, here)| all.saturating_add(here));
            let of_file = columns(dataset, files.format, path, &found)?;
            match &schema {
                None => schema = Some(of_file),
                Some(first) => same_types(dataset, path, first, &of_file)?,
            }
        }
        Ok(Self {
            files,
            schema: Arc::new(schema.unwrap_or_else(Schema::empty)),
            rows,
        })
    }

    /// The version of the files.
    pub(in crate::engines) fn version(&self) -> Result<Version, EngineError> {
        self.files.version()
    }

    /// The files.
    #[cfg_attr(not(feature = "ballista"), allow(dead_code, reason = "for clusters"))]
    pub(in crate::engines) fn paths(&self) -> &[PathBuf] {
        &self.files.paths
    }

    /// The table.
    pub(in crate::engines) fn table(&self) -> Result<Arc<dyn TableProvider>> {
        let schema = Arc::clone(&self.schema);
        if self.files.format == Format::Csv {
            let files = self.files.paths.iter().cloned().map(CsvFile::here);
            return Ok(Arc::new(CsvTable::new(schema, files.collect())));
        }
        let mut urls = Vec::with_capacity(self.files.paths.len());
        for path in &self.files.paths {
            let url = Url::from_file_path(path)
                .map_err(|()| DataFusionError::Plan("a path is no URL".into()))?;
            urls.push(ListingTableUrl::try_new(url, None)?);
        }
        let options =
            ListingOptions::new(Arc::new(ParquetFormat::default())).with_file_extension("");
        let config = ListingTableConfig::new_with_multi_paths(urls)
            .with_listing_options(options)
            .with_schema(schema);
        Ok(Arc::new(ListingTable::try_new(config)?))
    }
}

/// The columns of the catalogue in a file: of CSV as they are declared, for so it
/// is read; text as DataFusion holds it best.
fn columns(
    dataset: &Dataset,
    format: Format,
    path: &Path,
    found: &Schema,
) -> Result<Schema, EngineError> {
    let mut fields = Vec::with_capacity(dataset.columns.len());
    for column in &dataset.columns {
        let mut same_name = found
            .fields()
            .iter()
            .filter(|field| *field.name() == column.name);
        let (Some(field), None) = (same_name.next(), same_name.next()) else {
            return Err(EngineError::NoColumn {
                path: path.to_path_buf(),
                column: column.name.clone(),
            });
        };
        let fits = match format {
            // What does not read as the declared type is nothing.
            Format::Csv => true,
            Format::Parquet => holds(field.data_type(), dataset, column),
        };
        if !fits {
            return Err(EngineError::BadColumn {
                path: path.to_path_buf(),
                column: column.name.clone(),
                found: field.data_type().to_string(),
                wanted: column.kind,
            });
        }
        let kind = match field.data_type() {
            _ if format == Format::Csv => data_type(column.kind),
            DataType::Utf8 | DataType::LargeUtf8 => DataType::Utf8View,
            other => other.clone(),
        };
        let field = field.as_ref().clone();
        fields.push(field.with_data_type(kind).with_nullable(true));
    }
    Ok(Schema::new(fields))
}

/// Whether a typed column may stand for a declared one. What the owner did not see is
/// not converted: a file whose column is of another type now is another file. And no
/// conversion may make one unit of several, or nobody of somebody.
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

/// Whether no value is nothing because it is beyond 64 bits.
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

/// Parts of a dataset hold the same: DataFusion would cast what differs, and some
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
                found: format!("{}, not {} as before", other.data_type(), first.data_type()),
                wanted: column.kind,
            });
        }
    }
    Ok(())
}

/// The columns of a file, and how many rows it says that it has.
fn parquet_footer(path: &Path) -> Result<(SchemaRef, Option<u64>), EngineError> {
    let file = File::open(path).map_err(|error| unreadable(path, &error))?;
    let metadata = ArrowReaderMetadata::load(&file, ArrowReaderOptions::new());
    let metadata = metadata.map_err(|_| EngineError::BadParquet {
        path: path.to_path_buf(),
    })?;
    let rows = metadata.metadata().file_metadata().num_rows();
    Ok((Arc::clone(metadata.schema()), u64::try_from(rows).ok()))
}
