//! A separate schema on the server that tests share.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicU32, Ordering};

use mizan_sql::{
    BoundedPlan, Catalogue, Dataset, DatasetColumn, Expr, GroupBounding, Groups, Key, Measure,
    Output, Privacy, Statistic, Type, Value,
};
use postgres::{Client, NoTls};

use super::super::Postgres;
use crate::engine::{Engine, EngineError};
use crate::engines::generate;
use crate::exact::ExactAggregates;
use crate::oracle::Data;

/// Runs a plan on PostgreSQL.
pub(super) fn run(
    plan: &BoundedPlan,
    catalogue: &Catalogue,
    salt: [u8; 16],
) -> Result<ExactAggregates, EngineError> {
    let engine = Postgres::default();
    engine.prepare(plan, catalogue)?;
    let names = plan.datasets.iter().chain(&plan.public);
    let versions = names.map(|name| engine.version(&catalogue.datasets[name]));
    let versions = versions.collect::<Result<Vec<_>, _>>()?;
    Ok(engine.run(plan, catalogue, &versions, salt)?.exact)
}

/// A catalogue with one dataset `t` of these columns, of which the first is the unit.
pub(super) fn one_table(source: &str, columns: &[(&str, Type)]) -> Catalogue {
    let declared = columns
        .iter()
        .map(|(name, kind)| DatasetColumn::new(*name, *kind));
    let dataset = Dataset {
        files: Vec::new(),
        name: "t".to_owned(),
        source: source.to_owned(),
        privacy: Some(Privacy {
            unit: vec![columns[0].0.to_owned()],
            account: "all".to_owned(),
            rows_per_unit: None,
            groups_per_unit: None,
        }),
        columns: declared.collect(),
    };
    let mut catalogue = Catalogue::default();
    catalogue.datasets.insert("t".to_owned(), dataset);
    catalogue
}

/// A plan that counts the units for each value of expressions over the columns of `t`, in which
/// every row is a separate unit.
pub(super) fn by_values(catalogue: &Catalogue, expressions: &[Expr]) -> BoundedPlan {
    let mut relation = generate::scan(catalogue, "t");
    relation.one_row_per_unit = true;
    let keys = expressions.iter().map(|expression| Key {
        name: "k".to_owned(),
        kind: expression.type_of(&relation.columns).unwrap(),
        expression: expression.clone(),
    });
    BoundedPlan {
        datasets: vec!["t".into()],
        public: vec![],
        keys: keys.collect(),
        groups: match expressions {
            [] => Groups::Public(vec![vec![]]),
            _ => Groups::Private,
        },
        groups_per_unit: 1,
        group_bounding: GroupBounding::NotNeeded,
        statistics: vec![Statistic {
            measure: Measure::Units,
            low: 0,
            high: 1,
        }],
        relation,
        output: Output::default(),
        clamping: vec![],
        notes: vec![],
    }
}

/// A schema that is dropped with this value.
pub(super) struct Schema {
    pub(super) client: Client,
    pub(super) name: String,
    address: String,
}

impl Schema {
    /// None if there is no server.
    pub(super) fn new() -> Option<Self> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let Ok(address) = std::env::var("MIZAN_TEST_POSTGRES") else {
            eprintln!("skipped: no MIZAN_TEST_POSTGRES");
            return None;
        };
        let mut client = Client::connect(&address, NoTls).unwrap();
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("engine_{}_{number}", std::process::id());
        client
            .batch_execute(&format!("CREATE SCHEMA {name}"))
            .unwrap();
        client
            .batch_execute(&format!("SET search_path = {name}"))
            .unwrap();
        Some(Self {
            client,
            name,
            address,
        })
    }

    /// The address of one of its tables.
    pub(super) fn source(&self, table: &str) -> String {
        format!("{}/{}.{table}", self.address, self.name)
    }

    pub(super) fn run(&mut self, sql: &str) {
        self.client.batch_execute(sql).unwrap();
    }

    /// Replaces all tables by tables with these rows, and writes their addresses into the
    /// catalogue. NULL is sometimes NaN or infinity, zero is sometimes minus zero.
    pub(super) fn fill(
        &mut self,
        catalogue: &mut Catalogue,
        data: &Data,
        mut chance: impl FnMut() -> bool,
    ) {
        for (name, dataset) in &mut catalogue.datasets {
            dataset.source = self.source(name);
            let columns: Vec<String> = dataset
                .columns
                .iter()
                .map(|column| {
                    format!(
                        "\"{}\" {}",
                        column.name.replace('"', "\"\""),
                        declared(column.kind)
                    )
                })
                .collect();
            let mut sql = format!(
                "DROP TABLE IF EXISTS {name}; CREATE TABLE {name} ({});",
                columns.join(", ")
            );
            for rows in data[name].chunks(1000) {
                let rows: Vec<String> = rows
                    .iter()
                    .map(|row| {
                        let values = row.iter().zip(&dataset.columns);
                        let values: Vec<String> = values
                            .map(|(value, column)| literal(value, column.kind, &mut chance))
                            .collect();
                        format!("({})", values.join(", "))
                    })
                    .collect();
                write!(sql, "INSERT INTO {name} VALUES {};", rows.join(", ")).unwrap();
            }
            self.run(&sql);
        }
    }
}

impl Drop for Schema {
    fn drop(&mut self) {
        let drop = format!("DROP SCHEMA {} CASCADE", self.name);
        let _ = self.client.batch_execute(&drop);
    }
}

const fn declared(kind: Type) -> &'static str {
    match kind {
        Type::Boolean => "boolean",
        Type::Integer => "bigint",
        Type::Number => "double precision",
        Type::Text => "text",
        Type::Date => "date",
        Type::Timestamp => "timestamp",
    }
}

/// The ranges of days and microseconds in PostgreSQL.
const DAYS: std::ops::Range<i32> = -2_440_588..2_145_042_906;
const TIMES: std::ops::Range<i64> = -210_866_803_200_000_000..9_223_339_708_800_000_000;

/// A value as PostgreSQL can hold it: days and times out of its range become NULL.
pub(super) fn held(value: &Value) -> Value {
    match value {
        Value::Date(day) if !DAYS.contains(day) => Value::Null,
        Value::Timestamp(time) if !TIMES.contains(time) => Value::Null,
        other => other.clone(),
    }
}

/// A literal.
fn literal(value: &Value, kind: Type, chance: &mut impl FnMut() -> bool) -> String {
    match value {
        Value::Null => match kind {
            Type::Number if chance() => "'NaN'".to_owned(),
            Type::Date | Type::Timestamp if chance() => "'infinity'".to_owned(),
            Type::Date | Type::Timestamp if chance() => "'-infinity'".to_owned(),
            _ => "NULL".to_owned(),
        },
        Value::Boolean(value) => value.to_string(),
        Value::Integer(value) => format!("'{value}'"),
        Value::Number(value) if *value == 0.0 && chance() => "'-0'".to_owned(),
        Value::Number(value) => format!("'{value:?}'"),
        Value::Text(value) => format!("'{}'", value.replace('\'', "''")),
        Value::Date(day) => format!("DATE '1970-01-01' + '{day}'::int4"),
        // Intervals of microseconds are integers: no double is involved.
        Value::Timestamp(time) => format!(
            "TIMESTAMP '1970-01-01' + make_interval(days => {}) + '{} microseconds'::interval",
            time.div_euclid(86_400_000_000),
            time.rem_euclid(86_400_000_000)
        ),
    }
}
