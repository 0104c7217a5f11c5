//! Planted bugs: the embedded engine without one of its protections. The hunt for
//! failures finds each of them, and finds nothing with the protection in place.

use std::sync::Arc;

use datafusion::arrow::array::StringViewArray;
use datafusion::arrow::datatypes::{DataType, Schema};
use datafusion::catalog::TableProvider;
use datafusion::common::Result;
use datafusion::datasource::file_format::parquet::ParquetFormat;
use datafusion::datasource::listing::{
    ListingOptions, ListingTable, ListingTableConfig, ListingTableUrl,
};
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use datafusion::parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use mizan_sql::{BoundedPlan, Catalogue, Dataset, Function, Type, Value};

use super::super::files::Source;
use super::super::functions::Does;
use super::super::values::Values;
use super::super::{DataFusion, Planted, Tables};
use crate::audit::failure::tests::seeds;
use crate::audit::failure::{
    Asked, Attack, FailureAudit, Hunt, Target, World, capped_engine, on_files,
};
use crate::engine::{Engine, EngineError};
use crate::exact::Execution;
use crate::version::Version;

/// How many pairs find a bug.
const PAIRS: u64 = 160;

fn hunt(engine: &impl Engine, only: Attack) -> FailureAudit {
    let folder = tempfile::tempdir().unwrap();
    let hunt = Hunt {
        folder: folder.path().to_str().unwrap(),
        pairs: PAIRS,
        only: Some(only),
    };
    let run =
        |world: &World, target: &Target, asked: &[Asked]| on_files(engine, world, target, asked);
    hunt.run(&mut seeds(11), run, |_| ()).unwrap()
}

/// A planted bug shows as an outcome that differs.
fn is_found(audit: &FailureAudit, attack: Attack) {
    let differs = |found: &&crate::Violation| found.what.contains("a failure after the charge");
    let found = audit.violations.iter().filter(differs).count();
    println!("{attack}: {found} of {} pairs", audit.pairs);
    assert!(found > 0, "{attack}: {audit:?}");
}

fn is_clean(attack: Attack) {
    let audit = hunt(&capped_engine().unwrap(), attack);
    assert!(audit.violations.is_empty(), "{:#?}", audit.violations);
}

/// A concatenation without a limit, under the name of ours.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Concat(Signature);

impl ScalarUDFImpl for Concat {
    fn name(&self) -> &'static str {
        "mizan_concat_text"
    }

    fn signature(&self) -> &Signature {
        &self.0
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Utf8View)
    }

    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let rows = arguments.number_rows;
        let parts = arguments.args.iter().map(|part| part.to_array(rows));
        let parts = parts.collect::<Result<Vec<_>>>()?;
        let parts = parts.iter().map(|part| Values::new(part));
        let parts = parts.collect::<Result<Vec<_>>>()?;
        let joined = (0..rows).map(|row| {
            let texts = parts.iter().map(|part| match part.get(row) {
                Value::Text(text) => Some(text),
                _ => None,
            });
            texts.collect::<Option<String>>()
        });
        let joined: StringViewArray = joined.collect();
        Ok(ColumnarValue::Array(Arc::new(joined)))
    }
}

/// What sessions know in place of our concatenation.
pub(in crate::engines::datafusion) fn concat_without_limit() -> ScalarUDF {
    let name = Does::Call(Function::Concat, Type::Text).name();
    assert_eq!(name, "mizan_concat_text");
    let signature = Signature::variadic_any(Volatility::Immutable);
    ScalarUDF::new_from_impl(Concat(signature))
}

/// Concatenations without a limit.
#[test]
fn texts_without_a_limit_are_found() {
    let mut engine = capped_engine().unwrap();
    engine.planted = Some(Planted::NoTextLimit);
    is_found(&hunt(&engine, Attack::TextGrowth), Attack::TextGrowth);
    is_clean(Attack::TextGrowth);
}

/// Public tables may multiply rows as they like.
struct NoJoinBound(DataFusion);

impl Engine for NoJoinBound {
    fn check_joins(&self, _: &BoundedPlan, _: &Catalogue) -> Result<(), EngineError> {
        Ok(())
    }

    fn version(&self, dataset: &Dataset) -> Result<Version, EngineError> {
        self.0.version(dataset)
    }

    fn run(
        &self,
        plan: &BoundedPlan,
        catalogue: &Catalogue,
        versions: &[Version],
        salt: [u8; 16],
    ) -> Result<Execution, EngineError> {
        self.0.run(plan, catalogue, versions, salt)
    }
}

#[test]
fn joins_without_a_bound_are_found() {
    let engine = NoJoinBound(capped_engine().unwrap());
    is_found(&hunt(&engine, Attack::Join), Attack::Join);
    is_clean(Attack::Join);
}

/// DataFusion's own reader of Parquet, which fails at text that is not UTF-8.
struct StrictUtf8(DataFusion);

impl StrictUtf8 {
    fn table(dataset: &Dataset) -> Arc<dyn TableProvider> {
        let file = std::fs::File::open(&dataset.source).unwrap();
        let metadata = ArrowReaderMetadata::load(&file, ArrowReaderOptions::new()).unwrap();
        let fields = dataset.columns.iter().map(|column| {
            let field = metadata
                .schema()
                .field_with_name(&column.name)
                .unwrap()
                .clone();
            match field.data_type() {
                DataType::Utf8 => field.with_data_type(DataType::Utf8View),
                _ => field,
            }
        });
        let schema = Schema::new(fields.collect::<Vec<_>>());
        let options =
            ListingOptions::new(Arc::new(ParquetFormat::default())).with_file_extension("");
        let url = ListingTableUrl::parse(&dataset.source).unwrap();
        let config = ListingTableConfig::new(url)
            .with_listing_options(options)
            .with_schema(Arc::new(schema));
        Arc::new(ListingTable::try_new(config).unwrap())
    }
}

impl Engine for StrictUtf8 {
    fn check_joins(&self, plan: &BoundedPlan, catalogue: &Catalogue) -> Result<(), EngineError> {
        self.0.check_joins(plan, catalogue)
    }

    fn version(&self, dataset: &Dataset) -> Result<Version, EngineError> {
        self.0.version(dataset)
    }

    fn run(
        &self,
        plan: &BoundedPlan,
        catalogue: &Catalogue,
        _: &[Version],
        salt: [u8; 16],
    ) -> Result<Execution, EngineError> {
        let mut tables = Tables::new();
        for name in plan.datasets.iter().chain(&plan.public) {
            let dataset = &catalogue.datasets[name];
            let table = match dataset.source.ends_with(".csv") {
                true => Source::open(dataset)?.table(),
                false => Self::table(dataset),
            };
            tables.insert(name.clone(), table);
        }
        self.0.run_on(plan, catalogue, &tables, &salt)
    }
}

#[test]
fn strict_utf8_is_found() {
    let engine = StrictUtf8(capped_engine().unwrap());
    is_found(&hunt(&engine, Attack::Encoding), Attack::Encoding);
    is_clean(Attack::Encoding);
}
