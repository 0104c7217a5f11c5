//! Serializes plans: as Ballista's own codecs do, with files as paths and columns, so that
//! every node reads them with our total readers.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ballista_core::serde::{BallistaLogicalExtensionCodec, BallistaPhysicalExtensionCodec};
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::catalog::TableProvider;
use datafusion::common::{Result, TableReference, plan_err};
use datafusion::datasource::file_format::FileFormatFactory;
use datafusion::execution::TaskContext;
use datafusion::logical_expr::{Extension, LogicalPlan, ScalarUDF};
use datafusion::physical_plan::ExecutionPlan;
use datafusion_proto::logical_plan::LogicalExtensionCodec;
use datafusion_proto::physical_plan::{PhysicalExtensionCodec, PhysicalProtoConverterExtension};
use mizan_sql::Type;
use serde_json::{Value, json};

use crate::engines::datafusion::csv::CsvTable;
use crate::engines::datafusion::csv::scan::{Csv, csv_scan};
use crate::engines::datafusion::file_scan::Scan as PieceScan;
use crate::engines::datafusion::file_stamp::StampedFile;
use crate::engines::datafusion::parquet::ParquetTable;
use crate::engines::datafusion::parquet::scan::{Parquet, ParquetFile, parquet_scan};
use crate::engines::datafusion::values::data_type;

/// The prefix of CSV scans; Ballista has no such prefix.
const CSV: &[u8] = b"mizan csv 1\n";
/// The prefix of Parquet scans.
const PARQUET: &[u8] = b"mizan parquet 1\n";

/// For logical plans, from the client to the scheduler.
#[derive(Debug, Default)]
pub(super) struct LogicalCodec(BallistaLogicalExtensionCodec);

impl LogicalExtensionCodec for LogicalCodec {
    fn try_decode(
        &self,
        buf: &[u8],
        inputs: &[LogicalPlan],
        ctx: &TaskContext,
    ) -> Result<Extension> {
        self.0.try_decode(buf, inputs, ctx)
    }

    fn try_encode(&self, node: &Extension, buf: &mut Vec<u8>) -> Result<()> {
        self.0.try_encode(node, buf)
    }

    fn try_decode_table_provider(
        &self,
        buf: &[u8],
        table_ref: &TableReference,
        schema: SchemaRef,
        ctx: &TaskContext,
    ) -> Result<Arc<dyn TableProvider>> {
        if let Some(buf) = buf.strip_prefix(CSV) {
            return Ok(Arc::new(CsvTable::new(schema, files_of(&read(buf)?)?)));
        }
        if let Some(buf) = buf.strip_prefix(PARQUET) {
            let files = parquet_files(files_of(&read(buf)?)?);
            return Ok(Arc::new(ParquetTable::new(schema, files)));
        }
        self.0
            .try_decode_table_provider(buf, table_ref, schema, ctx)
    }

    fn try_encode_table_provider(
        &self,
        table_ref: &TableReference,
        node: Arc<dyn TableProvider>,
        buf: &mut Vec<u8>,
    ) -> Result<()> {
        if let Some(table) = node.downcast_ref::<CsvTable>() {
            write(buf, CSV, &json!({"files": files_json(&table.files)?}));
        } else if let Some(table) = node.downcast_ref::<ParquetTable>() {
            let files = files_json(&seen_files(&table.files))?;
            write(buf, PARQUET, &json!({"files": files}));
        } else {
            return self.0.try_encode_table_provider(table_ref, node, buf);
        }
        Ok(())
    }

    fn try_decode_file_format(
        &self,
        buf: &[u8],
        ctx: &TaskContext,
    ) -> Result<Arc<dyn FileFormatFactory>> {
        self.0.try_decode_file_format(buf, ctx)
    }

    fn try_encode_file_format(
        &self,
        buf: &mut Vec<u8>,
        node: Arc<dyn FileFormatFactory>,
    ) -> Result<()> {
        self.0.try_encode_file_format(buf, node)
    }

    fn try_decode_udf(&self, name: &str, buf: &[u8]) -> Result<Arc<ScalarUDF>> {
        self.0.try_decode_udf(name, buf)
    }
}

/// For physical plans, from the scheduler to executors.
#[derive(Debug, Default)]
pub(super) struct PhysicalCodec(BallistaPhysicalExtensionCodec);

impl PhysicalExtensionCodec for PhysicalCodec {
    fn try_decode(
        &self,
        buf: &[u8],
        inputs: &[Arc<dyn ExecutionPlan>],
        ctx: &TaskContext,
        proto_converter: &dyn PhysicalProtoConverterExtension,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        if let Some(buf) = buf.strip_prefix(CSV) {
            let scan = read(buf)?;
            let (Some(columns), Some(groups)) = (columns_of(&scan), groups_of(&scan, number))
            else {
                return plan_err!("not a scan of CSV files");
            };
            let limit = scan.get("limit").and_then(number);
            return Ok(csv_scan(columns, files_of(&scan)?, &groups, limit));
        }
        if let Some(buf) = buf.strip_prefix(PARQUET) {
            let scan = read(buf)?;
            let piece = |piece: &Value| Some((number(piece.get(0)?)?, number(piece.get(1)?)?));
            let (Some(columns), Some(groups)) = (types_of(&scan), groups_of(&scan, piece)) else {
                return plan_err!("not a scan of Parquet files");
            };
            let limit = scan.get("limit").and_then(number);
            let files = parquet_files(files_of(&scan)?);
            return Ok(parquet_scan(columns, files, &groups, None, limit));
        }
        self.0.try_decode(buf, inputs, ctx, proto_converter)
    }

    fn try_encode(
        &self,
        node: Arc<dyn ExecutionPlan>,
        buf: &mut Vec<u8>,
        proto_converter: &dyn PhysicalProtoConverterExtension,
    ) -> Result<()> {
        if let Some(scan) = PieceScan::<Parquet>::of(node.as_ref()) {
            let scan = json!({
                "columns": types_json(&scan.schema),
                "files": files_json(&seen_files(&scan.files))?,
                "groups": scan.groups,
                "limit": scan.limit,
            });
            write(buf, PARQUET, &scan);
            return Ok(());
        }
        let Some(scan) = PieceScan::<Csv>::of(node.as_ref()) else {
            return self.0.try_encode(node, buf, proto_converter);
        };
        let Some(columns) = columns_json(&scan.schema) else {
            return plan_err!("a column of no type");
        };
        let scan = json!({
            "columns": columns,
            "files": files_json(&scan.files)?,
            "groups": scan.groups,
            "limit": scan.limit,
        });
        write(buf, CSV, &scan);
        Ok(())
    }
}

fn write(buf: &mut Vec<u8>, what: &[u8], json: &Value) {
    buf.extend_from_slice(what);
    buf.extend_from_slice(json.to_string().as_bytes());
}

fn read(buf: &[u8]) -> Result<Value> {
    match serde_json::from_slice(buf) {
        Ok(json) => Ok(json),
        Err(_) => plan_err!("not files"),
    }
}

fn parquet_files(files: Vec<StampedFile>) -> Arc<[Arc<ParquetFile>]> {
    let files = files.into_iter().map(ParquetFile::new);
    files.map(Arc::new).collect()
}

fn seen_files(files: &[Arc<ParquetFile>]) -> Vec<StampedFile> {
    files.iter().map(|file| file.file.clone()).collect()
}

/// Files with their current state, unless a state is recorded.
pub(super) fn files_json(files: &[StampedFile]) -> Result<Value> {
    let mut all = Vec::with_capacity(files.len());
    for file in files {
        let file = match file.seen {
            Some(_) => file.clone(),
            None => file.as_seen()?,
        };
        let Some(path) = file.path.to_str() else {
            return plan_err!("a path is not valid text");
        };
        let (length, changed) = file.seen.unwrap_or_default();
        all.push(json!([path, length, changed]));
    }
    Ok(Value::Array(all))
}

/// Parses files.
pub(super) fn files_of(json: &Value) -> Result<Vec<StampedFile>> {
    let file = |file: &Value| {
        let number = |place: usize| file.get(place).and_then(Value::as_u64);
        Some(StampedFile {
            path: PathBuf::from(Path::new(file.get(0)?.as_str()?)),
            seen: Some((number(1)?, number(2)?)),
        })
    };
    let files = json.get("files").and_then(Value::as_array);
    match files.and_then(|files| files.iter().map(file).collect()) {
        Some(files) => Ok(files),
        None => plan_err!("not files"),
    }
}

fn columns_json(schema: &Schema) -> Option<Vec<Value>> {
    let column = |field: &Arc<Field>| {
        let kind = Type::ALL
            .into_iter()
            .find(|kind| data_type(*kind) == *field.data_type());
        Some(json!([field.name(), kind?.name()]))
    };
    schema.fields().iter().map(column).collect()
}

fn columns_of(json: &Value) -> Option<SchemaRef> {
    let field = |column: &Value| {
        let (name, kind) = (column.get(0)?.as_str()?, column.get(1)?.as_str()?);
        let kind = Type::ALL.into_iter().find(|known| known.name() == kind)?;
        Some(Field::new(name, data_type(kind), true))
    };
    let fields = json.get("columns")?.as_array()?.iter().map(field);
    Some(Arc::new(Schema::new(fields.collect::<Option<Vec<_>>>()?)))
}

/// The columns of Parquet files, with their Arrow types.
fn types_json(schema: &Schema) -> Vec<Value> {
    let fields = schema.fields().iter();
    let column = |field: &Arc<Field>| json!([field.name(), field.data_type().to_string()]);
    fields.map(column).collect()
}

fn types_of(json: &Value) -> Option<SchemaRef> {
    let field = |column: &Value| {
        let (name, kind) = (column.get(0)?.as_str()?, column.get(1)?.as_str()?);
        Some(Field::new(name, kind.parse::<DataType>().ok()?, true))
    };
    let fields = json.get("columns")?.as_array()?.iter().map(field);
    Some(Arc::new(Schema::new(fields.collect::<Option<Vec<_>>>()?)))
}

fn number(json: &Value) -> Option<usize> {
    usize::try_from(json.as_u64()?).ok()
}

fn groups_of<T>(json: &Value, one: impl Fn(&Value) -> Option<T>) -> Option<Vec<Vec<T>>> {
    let group = |group: &Value| group.as_array()?.iter().map(&one).collect();
    json.get("groups")?.as_array()?.iter().map(group).collect()
}

#[cfg(test)]
mod tests {
    use datafusion::arrow::datatypes::TimeUnit;
    use datafusion_proto::physical_plan::DefaultPhysicalProtoConverter;

    use super::*;

    #[test]
    fn scans_of_csv_come_back_as_they_were() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a é \"b\".csv");
        std::fs::write(&path, "x\n1\n").unwrap();
        let kinds = Type::ALL.map(|kind| Field::new(kind.name(), data_type(kind), true));
        let schema = Arc::new(Schema::new(kinds.to_vec()));
        let files = vec![StampedFile::here(path.clone()), StampedFile::here(path)];
        let scan = csv_scan(Arc::clone(&schema), files, &[vec![1], vec![0]], Some(7));
        let (codec, converter) = (PhysicalCodec::default(), DefaultPhysicalProtoConverter {});
        let mut buf = Vec::new();
        codec.try_encode(scan, &mut buf, &converter).unwrap();
        let context = TaskContext::default();
        let back = codec.try_decode(&buf, &[], &context, &converter).unwrap();
        let parts = PieceScan::<Csv>::of(back.as_ref()).unwrap();
        assert_eq!(parts.schema, schema);
        assert_eq!(parts.groups, [[1], [0]]);
        assert_eq!(parts.limit, Some(7));
        assert_eq!(parts.files[0].seen.map(|seen| seen.0), Some(4));
        // A modified file is a different file.
        std::fs::write(&parts.files[0].path, "x\n1\n2\n").unwrap();
        assert_ne!(parts.files[0].as_seen().unwrap(), parts.files[0]);
    }

    #[test]
    fn scans_of_parquet_come_back_as_they_were() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a é \"b\".parquet");
        std::fs::write(&path, "not yet").unwrap();
        let zone = DataType::Timestamp(TimeUnit::Second, Some("+01:00".into()));
        let kinds = [
            DataType::Utf8View,
            DataType::UInt16,
            DataType::Float16,
            DataType::Date64,
            DataType::Decimal128(38, -2),
            DataType::Decimal256(50, 7),
            DataType::Timestamp(TimeUnit::Nanosecond, None),
            zone,
            DataType::Boolean,
            DataType::Null,
        ];
        let fields = kinds.map(|kind| Field::new(format!("é{kind}"), kind, true));
        let schema = Arc::new(Schema::new(fields.to_vec()));
        let files = parquet_files(vec![StampedFile::here(path)]);
        let pieces = [vec![(0, 2), (0, 1)], vec![(0, 0)]];
        let scan = parquet_scan(Arc::clone(&schema), files, &pieces, None, Some(3));
        let (codec, converter) = (PhysicalCodec::default(), DefaultPhysicalProtoConverter {});
        let mut buf = Vec::new();
        codec.try_encode(scan, &mut buf, &converter).unwrap();
        let context = TaskContext::default();
        let back = codec.try_decode(&buf, &[], &context, &converter).unwrap();
        let parts = PieceScan::<Parquet>::of(back.as_ref()).unwrap();
        assert_eq!(parts.schema, schema);
        assert_eq!(parts.groups, pieces);
        assert_eq!(parts.limit, Some(3));
        assert_eq!(parts.files[0].file.seen.map(|seen| seen.0), Some(7));
    }

    #[test]
    fn invalid_scans_are_rejected() {
        let (codec, converter) = (PhysicalCodec::default(), DefaultPhysicalProtoConverter {});
        let context = TaskContext::default();
        for rest in [
            "",
            "{}",
            "{\"columns\":[[\"x\",\"money\"]],\"files\":[],\"groups\":[]}",
        ] {
            let buf = [CSV, rest.as_bytes()].concat();
            assert!(codec.try_decode(&buf, &[], &context, &converter).is_err());
        }
        let odd = Schema::new(vec![Field::new("x", DataType::Float32, true)]);
        assert_eq!(columns_json(&odd), None);
    }
}
