//! The statements for a cluster: first those that find heavy units, so that light units need no
//! contribution bounding, then the plan.

use std::collections::BTreeMap;

use mizan_sql::{BoundedPlan, Catalogue, MAX_JOINED, Relation, Type, Value};

use super::count_min::{CounterSummary, counters};
use super::session::Session;
use crate::engine::EngineError;
use crate::engines::datafusion::dialect::DataFusionDialect;
use crate::engines::datafusion::functions::Does;
use crate::engines::datafusion::{add, bloom, failed, rows};
use crate::engines::result_collector::ResultCollector;
use crate::engines::statement::{LightUnits, Statement};
use crate::engines::statements::statements;
use crate::engines::{redundant_limits, relations};
use crate::exact::ExactAggregates;
use crate::sampling_hash::Salt;

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
    /// Runs a plan without counting.
    pub(super) async fn run_whole(
        &self,
        plan: &BoundedPlan,
    ) -> Result<ExactAggregates, EngineError> {
        let mut collector = ResultCollector::new(plan);
        for statement in statements(self.dialect, self.catalogue, plan, self.salt)? {
            self.collect_rows(&statement.plain_sql(), &statement, &mut collector)
                .await?;
        }
        Ok(collector.finish())
    }

    /// Runs a plan without the row limits that no unit exceeds, and bounds heavy units only.
    pub(super) async fn run_counted(
        &self,
        plan: &BoundedPlan,
    ) -> Result<ExactAggregates, EngineError> {
        let mut counted = plan.clone();
        for method in [CountMethod::Sketched, CountMethod::Exact] {
            let most = self.most_rows(&counted.relation, method).await?;
            counted.relation = redundant_limits::remove_redundant_limits(counted.relation, &most);
        }
        let mut collector = ResultCollector::new(plan);
        for statement in statements(self.dialect, self.catalogue, &counted, self.salt)? {
            let light = statement
                .per_unit
                .as_ref()
                .and_then(|sums| sums.light_units.as_ref());
            let text = match light {
                Some(light) => self.heavy_unit_split(light).await?,
                None => None,
            };
            let text = text.unwrap_or_else(|| statement.plain_sql());
            self.collect_rows(&text, &statement, &mut collector).await?;
        }
        Ok(collector.finish())
    }

    async fn collect_rows(
        &self,
        text: &str,
        statement: &Statement,
        collector: &mut ResultCollector,
    ) -> Result<(), EngineError> {
        self.session
            .run(text, |batch| add(collector, &statement.layout, batch))
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

    /// The statement for sums in which only heavy units are bounded one by one.
    async fn heavy_unit_split(&self, light: &LightUnits) -> Result<Option<String>, EngineError> {
        let Some(dataset) = &light.dataset else {
            return Ok(None);
        };
        let Some(units) = self.units(dataset)? else {
            return Ok(None);
        };
        let bits = match self.heavy_by_sketch(&units, light.max_rows).await? {
            Some(bits) => Some(bits),
            None => self.heavy_by_counting(&units, light.max_rows).await?,
        };
        let names: Vec<String> = (0..units.kinds.len())
            .map(|place| format!("u{place}"))
            .collect();
        let (before, after) = &light.heavy_unit_split;
        Ok(bits.map(|bits| {
            let condition = format!(
                "{}({}, {})",
                Does::Among.name(),
                bloom::literal(&bits),
                names.join(", ")
            );
            format!("{before}{condition}{after}")
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
