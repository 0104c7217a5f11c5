//! The statements for a cluster: first those that find heavy units, so that light units need no
//! contribution bounding, then the plan.

use std::collections::BTreeMap;

use mizan_sql::{BoundedPlan, Catalogue, MAX_JOINED, Relation, Type, Value};

use super::session::Session;
use super::tally::{Says, counters};
use crate::engine::EngineError;
use crate::engines::datafusion::dialect::DataFusionDialect;
use crate::engines::datafusion::functions::Does;
use crate::engines::datafusion::{add, among, failed, rows};
use crate::engines::gather::Gather;
use crate::engines::statement::{Few, Statement};
use crate::engines::statements::statements;
use crate::engines::{idle, relations};
use crate::exact::Exact;
use crate::order::Salt;

/// With more heavy units than this, all units are bounded one by one.
const MOST_MANY: usize = 100_000;

/// The statements of a plan, and the session to run them.
pub(super) struct Asked<'a> {
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
enum How {
    /// With a count-min sketch: an overestimate, but the result of a task does not grow with
    /// the number of units.
    Tallied,
    /// Exactly, grouped by unit.
    Exactly,
}

impl Asked<'_> {
    /// Runs a plan without counting.
    pub(super) async fn run_whole(&self, plan: &BoundedPlan) -> Result<Exact, EngineError> {
        let mut gather = Gather::new(plan);
        for statement in statements(self.dialect, self.catalogue, plan, self.salt)? {
            self.gather(&statement.plain_sql(), &statement, &mut gather)
                .await?;
        }
        Ok(gather.finish())
    }

    /// Runs a plan without the row limits that no unit exceeds, and bounds heavy units only.
    pub(super) async fn run_counted(&self, plan: &BoundedPlan) -> Result<Exact, EngineError> {
        let mut counted = plan.clone();
        for how in [How::Tallied, How::Exactly] {
            let most = self.most_rows(&counted.relation, how).await?;
            counted.relation = idle::without_idle(counted.relation, &most);
        }
        let mut gather = Gather::new(plan);
        for statement in statements(self.dialect, self.catalogue, &counted, self.salt)? {
            let few = statement
                .per_unit
                .as_ref()
                .and_then(|sums| sums.few.as_ref());
            let text = match few {
                Some(few) => self.apart(few).await?,
                None => None,
            };
            let text = text.unwrap_or_else(|| statement.plain_sql());
            self.gather(&text, &statement, &mut gather).await?;
        }
        Ok(gather.finish())
    }

    async fn gather(
        &self,
        text: &str,
        statement: &Statement,
        gather: &mut Gather,
    ) -> Result<(), EngineError> {
        self.session
            .run(text, |batch| add(gather, &statement.shape, batch))
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
    async fn most_rows(&self, relation: &Relation, how: How) -> Result<idle::Most, EngineError> {
        let mut counted = Vec::new();
        let mut texts = Vec::new();
        for dataset in idle::limited(relation) {
            let Some(units) = self.units(dataset)? else {
                continue;
            };
            let (place, by, text) = (counted.len(), units.columns(), &units.text);
            texts.push(match (how, counters(units.rows, MAX_JOINED)) {
                (How::Tallied, None) => continue,
                (How::Tallied, Some(counters)) => format!(
                    "SELECT {place} AS p, {}({counters}, {by}) AS n FROM ({text}) AS t",
                    Says::Most.name()
                ),
                (How::Exactly, _) => format!(
                    "SELECT {place} AS p, MAX(n) AS n FROM \
                     (SELECT COUNT(*) AS n FROM ({text}) AS t GROUP BY {by}) AS t"
                ),
            });
            counted.push(dataset.to_owned());
        }
        let mut most = idle::Most::new();
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
    async fn apart(&self, few: &Few) -> Result<Option<String>, EngineError> {
        let Some(dataset) = &few.dataset else {
            return Ok(None);
        };
        let Some(units) = self.units(dataset)? else {
            return Ok(None);
        };
        let bits = match self.tallied(&units, few.rows).await? {
            Some(bits) => Some(bits),
            None => self.exactly(&units, few.rows).await?,
        };
        let names: Vec<String> = (0..units.kinds.len())
            .map(|place| format!("u{place}"))
            .collect();
        let (before, after) = &few.apart;
        Ok(bits.map(|bits| {
            let condition = format!(
                "{}({}, {})",
                Does::Among.name(),
                among::literal(&bits),
                names.join(", ")
            );
            format!("{before}{condition}{after}")
        }))
    }

    /// A Bloom filter of the units that may have more than `few` rows, if there are not too
    /// many of them.
    async fn tallied(&self, units: &Units, few: u64) -> Result<Option<Vec<u8>>, EngineError> {
        let Some(counters) = counters(units.rows, few) else {
            return Ok(None);
        };
        let text = format!(
            "SELECT {}({counters}, {few}, {}) AS bits FROM ({}) AS t",
            Says::Many.name(),
            units.columns(),
            units.text
        );
        let mut bits = None;
        self.session
            .run(&text, |batch| {
                bits = bits.take().or_else(|| among::bits_of(batch));
                Ok(())
            })
            .await?;
        Ok(bits.and_then(|bits| among::folded(bits, MOST_MANY)))
    }

    /// A Bloom filter of the units that have more than `few` rows, if there are not too many of
    /// them.
    async fn exactly(&self, units: &Units, few: u64) -> Result<Option<Vec<u8>>, EngineError> {
        let by = units.columns();
        let text = format!(
            "SELECT {by} FROM (SELECT {by}, COUNT(*) AS n FROM ({}) AS t GROUP BY {by}) AS t \
             WHERE n > {} LIMIT {}",
            units.text,
            few.min(i64::MAX.unsigned_abs()),
            MOST_MANY + 1
        );
        let mut many = Vec::new();
        self.each_row(&text, |row| many.push(row)).await?;
        if many.len() > MOST_MANY {
            return Ok(None);
        }
        let bits = among::bits(&many, &units.kinds).map_err(failed("planning"))?;
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
