//! The statements for a cluster: first those that find heavy units, so that light units need no
//! contribution bounding, then the plan.

use std::collections::BTreeMap;

use mizan_sql::{Catalogue, MAX_JOINED, Relation, Type, Value};

use super::count_min::{CounterSummary, counters};
use super::session::Session;
use crate::engine::EngineError;
use crate::engines::datafusion::dialect::DataFusionDialect;
use crate::engines::datafusion::functions::Does;
use crate::engines::datafusion::{add, bloom, failed, rows};
use crate::engines::lower_sql::expressions::join;
use crate::engines::lower_sql::{SqlLowering, relations};
use crate::engines::redundant_limits;
use crate::engines::result_collector::ResultCollector;
use crate::exact::ExactAggregates;
use crate::sampling_hash::Salt;
use crate::unit_aggregation::{Part, UnitAggregation};

/// With more heavy units than this, all units are bounded one by one.
const MOST_HEAVY_UNITS: usize = 100_000;

/// The statements of a plan, and the session to run them.
pub(super) struct ClusterQuery<'a> {
    pub(super) session: &'a Session,
    pub(super) dialect: &'a DataFusionDialect,
    pub(super) catalogue: &'a Catalogue,
    /// The number of rows of datasets in which the ids can be read without the other columns.
    pub(super) rows: &'a BTreeMap<String, u64>,
    pub(super) salt: &'a Salt,
}

/// The units of a dataset whose rows are counted.
struct Units {
    /// A query of the columns of the unit.
    text: String,
    kinds: Vec<Type>,
    /// The number of rows.
    rows: u64,
}

impl Units {
    /// The names of the columns of the unit.
    fn columns(&self) -> String {
        let names: Vec<String> = (0..self.kinds.len())
            .map(|place| format!("c{place}"))
            .collect();
        names.join(", ")
    }
}

/// How rows of units are counted.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CountMethod {
    /// With a count-min sketch: an overestimate, but the result of a task does not grow with
    /// the number of units.
    Sketched,
    /// Exactly, grouped by unit.
    Exact,
}

impl ClusterQuery<'_> {
    fn lowered<'b>(
        &'b self,
        aggregation: &'b UnitAggregation,
    ) -> Result<SqlLowering<'b>, EngineError> {
        SqlLowering::new(self.dialect, self.catalogue, aggregation, self.salt)
    }

    /// Computes an aggregation without counting.
    pub(super) async fn run_whole(
        &self,
        aggregation: &UnitAggregation,
    ) -> Result<ExactAggregates, EngineError> {
        let lowering = self.lowered(aggregation)?;
        let mut collector = ResultCollector::new(aggregation);
        for part in aggregation.parts() {
            self.collect(&lowering.statement(part), part, &mut collector)
                .await?;
        }
        Ok(collector.finish())
    }

    /// Computes an aggregation without the row limits that no unit exceeds, and bounds heavy
    /// units only.
    pub(super) async fn run_counted(
        &self,
        aggregation: &UnitAggregation,
    ) -> Result<ExactAggregates, EngineError> {
        let mut input = aggregation.input.clone();
        for method in [CountMethod::Sketched, CountMethod::Exact] {
            let most = self.most_rows(&input, method).await?;
            input = redundant_limits::remove_redundant_limits(input, &most);
        }
        let aggregation = aggregation.over(input);
        let lowering = self.lowered(&aggregation)?;
        let mut collector = ResultCollector::new(&aggregation);
        for part in aggregation.parts() {
            let text = match part {
                Part::Sums => self.heavy_units_only(&lowering).await?,
                Part::Values(..) => None,
            };
            let text = text.unwrap_or_else(|| lowering.statement(part));
            self.collect(&text, part, &mut collector).await?;
        }
        Ok(collector.finish())
    }

    async fn collect(
        &self,
        text: &str,
        part: Part,
        collector: &mut ResultCollector,
    ) -> Result<(), EngineError> {
        self.session
            .run(text, |batch| add(collector, part, batch))
            .await
    }

    /// The units of a dataset's rows, if reading them takes much less than reading all columns.
    fn units(&self, dataset: &str) -> Result<Option<Units>, EngineError> {
        let Some(rows) = self.rows.get(dataset).copied() else {
            return Ok(None);
        };
        let declared = relations::dataset(self.catalogue, dataset)?;
        let unit = declared.privacy.iter().flat_map(|privacy| &privacy.unit);
        let kind = |unit: &String| {
            let column = declared.columns.iter().find(|column| column.name == *unit);
            column.map(|column| column.kind)
        };
        let kinds: Option<Vec<Type>> = unit.map(kind).collect();
        let text = relations::units(self.dialect, self.catalogue, dataset)?;
        Ok(text
            .zip(kinds)
            .map(|(text, kinds)| Units { text, kinds, rows }))
    }

    /// The most rows of a unit in the datasets below row limits.
    async fn most_rows(
        &self,
        relation: &Relation,
        method: CountMethod,
    ) -> Result<redundant_limits::MostRows, EngineError> {
        let mut counted = Vec::new();
        let mut texts = Vec::new();
        for dataset in redundant_limits::limited(relation) {
            let Some(units) = self.units(dataset)? else {
                continue;
            };
            let (place, by, text) = (counted.len(), units.columns(), &units.text);
            texts.push(match (method, counters(units.rows, MAX_JOINED)) {
                (CountMethod::Sketched, None) => continue,
                (CountMethod::Sketched, Some(counters)) => format!(
                    "SELECT {place} AS p, {}({counters}, {by}) AS n FROM ({text}) AS t",
                    CounterSummary::MostRows.name()
                ),
                (CountMethod::Exact, _) => format!(
                    "SELECT {place} AS p, MAX(n) AS n FROM \
                     (SELECT COUNT(*) AS n FROM ({text}) AS t GROUP BY {by}) AS t"
                ),
            });
            counted.push(dataset.to_owned());
        }
        let mut most = redundant_limits::MostRows::new();
        if texts.is_empty() {
            return Ok(most);
        }
        let each = |row: Vec<Value>| {
            if let [Value::Integer(place), Value::Integer(rows)] = row.as_slice() {
                let dataset = usize::try_from(*place)
                    .ok()
                    .and_then(|place| counted.get(place));
                most.extend(dataset.map(|dataset| (dataset.clone(), rows.unsigned_abs())));
            }
        };
        self.each_row(&texts.join(" UNION ALL "), each).await?;
        Ok(most)
    }

    /// The statement for sums in which only heavy units are bounded one by one. With one group
    /// a scan of the ids beforehand is not worthwhile.
    async fn heavy_units_only(
        &self,
        lowering: &SqlLowering<'_>,
    ) -> Result<Option<String>, EngineError> {
        let aggregation = lowering.aggregation;
        let dataset = redundant_limits::source(&aggregation.input);
        let dataset = dataset.filter(|_| !aggregation.keys.is_empty());
        let (Some(dataset), Some(light_rows)) = (dataset, aggregation.light_rows()) else {
            return Ok(None);
        };
        let Some(units) = self.units(dataset)? else {
            return Ok(None);
        };
        let bits = match self.heavy_by_sketch(&units, light_rows).await? {
            Some(bits) => Some(bits),
            None => self.heavy_by_counting(&units, light_rows).await?,
        };
        Ok(bits.map(|bits| {
            lowering.sums_with_heavy_units(|unit| {
                let (among, bits) = (Does::Among.name(), bloom::literal(&bits));
                format!("{among}({bits}, {})", join(unit, ", "))
            })
        }))
    }

    /// A Bloom filter of the units that may have more than `light` rows, if there are not too
    /// many of them.
    async fn heavy_by_sketch(
        &self,
        units: &Units,
        light_rows: u64,
    ) -> Result<Option<Vec<u8>>, EngineError> {
        let Some(counters) = counters(units.rows, light_rows) else {
            return Ok(None);
        };
        let text = format!(
            "SELECT {}({counters}, {light_rows}, {}) AS bits FROM ({}) AS t",
            CounterSummary::HeavyUnits.name(),
            units.columns(),
            units.text
        );
        let mut bits = None;
        self.session
            .run(&text, |batch| {
                bits = bits.take().or_else(|| bloom::bits_of(batch));
                Ok(())
            })
            .await?;
        Ok(bits.and_then(|bits| bloom::folded(bits, MOST_HEAVY_UNITS)))
    }

    /// A Bloom filter of the units that have more than `light` rows, if there are not too many of
    /// them.
    async fn heavy_by_counting(
        &self,
        units: &Units,
        light_rows: u64,
    ) -> Result<Option<Vec<u8>>, EngineError> {
        let by = units.columns();
        let text = format!(
            "SELECT {by} FROM (SELECT {by}, COUNT(*) AS n FROM ({}) AS t GROUP BY {by}) AS t \
             WHERE n > {} LIMIT {}",
            units.text,
            light_rows.min(i64::MAX.unsigned_abs()),
            MOST_HEAVY_UNITS + 1
        );
        let mut heavy = Vec::new();
        self.each_row(&text, |row| heavy.push(row)).await?;
        if heavy.len() > MOST_HEAVY_UNITS {
            return Ok(None);
        }
        let bits = bloom::bits(&heavy, &units.kinds).map_err(failed("planning"))?;
        Ok(Some(bits))
    }

    /// Calls `each` for each row of a result.
    async fn each_row(
        &self,
        text: &str,
        mut each: impl FnMut(Vec<Value>),
    ) -> Result<(), EngineError> {
        self.session
            .run(text, |batch| {
                for row in rows(batch)? {
                    each(row);
                }
                Ok(())
            })
            .await
    }
}
