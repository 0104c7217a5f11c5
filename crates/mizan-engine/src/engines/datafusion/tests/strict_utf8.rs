//! DataFusion's own Parquet reader fails on text that is not UTF-8. The failure audit finds it.

use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, Schema};
use datafusion::catalog::TableProvider;
use datafusion::datasource::file_format::parquet::ParquetFormat;
use datafusion::datasource::listing::{
    ListingOptions, ListingTable, ListingTableConfig, ListingTableUrl,
};
use mizan_sql::{BoundedPlan, Catalogue, Dataset};
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};

use super::super::files::Source;
use super::super::{DataFusion, Tables};
use super::planted::{hunt, is_clean, is_found};
use crate::audit::failure::{Attack, capped_engine};
use crate::engine::{Engine, EngineError};
use crate::exact::Execution;
use crate::version::Version;

/// DataFusion's own Parquet reader, which fails on text that is not UTF-8.
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
    is_found(&hunt(&engine, Attack::Encoding), "strict UTF-8", 10);
    is_clean(Attack::Encoding);
}
