//! The catalogue of test queries, and short descriptions of plans.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use mizan_sql::*;

fn column(name: &str, kind: Type) -> DatasetColumn {
    DatasetColumn::new(name, kind)
}

fn bounded(name: &str, kind: Type, low: f64, high: f64) -> DatasetColumn {
    column(name, kind).bounded(low, high)
}

fn keyed(name: &str, keys: &[&str]) -> DatasetColumn {
    let keys = keys.iter().map(|key| Value::Text((*key).into()));
    column(name, Type::Text).with_keys(keys.collect())
}

fn dataset(name: &str, privacy: Option<Privacy>, columns: Vec<DatasetColumn>) -> (String, Dataset) {
    let dataset = Dataset {
        files: Vec::new(),
        name: name.into(),
        source: format!("{name}.csv"),
        privacy,
        columns,
    };
    (name.into(), dataset)
}

fn privacy(
    unit: &[&str],
    account: &str,
    rows: Option<u64>,
    groups: Option<u64>,
) -> Option<Privacy> {
    Some(Privacy {
        unit: unit.iter().map(|name| (*name).into()).collect(),
        account: account.into(),
        rows_per_unit: rows,
        groups_per_unit: groups,
    })
}

/// Visits of people to clinics, and related tables.
#[must_use]
pub fn catalogue() -> Catalogue {
    use Type::{Boolean, Date, Integer, Number, Text, Timestamp};
    let minutes = DatasetColumn {
        unit_bounds: Bounds::new(0.0, 600.0),
        ..bounded("minutes", Integer, 0.0, 240.0)
    };
    let mut datasets = BTreeMap::from([
        dataset(
            "visits",
            privacy(&["person"], "clinic", Some(20), Some(5)),
            vec![
                column("person", Integer),
                bounded("day", Date, 19_723.0, 20_088.0),
                column("at", Timestamp),
                keyed("city", &["Ankara", "Berlin", "Cairo"]),
                column("clinic", Text),
                bounded("cost", Number, 0.0, 1000.0),
                minutes,
                bounded("age", Integer, 0.0, 120.0),
                column("score", Integer),
                column("insured", Boolean),
            ],
        ),
        dataset(
            "people",
            privacy(&["person"], "clinic", Some(1), Some(1)),
            vec![
                column("person", Integer),
                column("born", Date),
                keyed("sex", &["f", "m"]),
                bounded("income", Number, 0.0, 200_000.0),
            ],
        ),
        dataset(
            "cities",
            None,
            vec![
                column("city", Text),
                keyed("country", &["DE", "EG", "TR"]),
                bounded("population", Integer, 0.0, 2e7),
            ],
        ),
        dataset(
            "loose",
            privacy(&["who"], "clinic", None, None),
            vec![
                column("who", Text),
                bounded("x", Number, -1.0, 1.0),
                column("k", Text),
            ],
        ),
        dataset(
            "elsewhere",
            privacy(&["person"], "bank", Some(3), Some(3)),
            vec![
                column("person", Integer),
                bounded("amount", Number, 0.0, 10.0),
            ],
        ),
        dataset(
            "pairs",
            privacy(&["house", "member"], "clinic", Some(4), Some(2)),
            vec![
                column("house", Integer),
                column("member", Integer),
                bounded("x", Number, -8.0, 8.0),
            ],
        ),
        dataset(
            "Mixed Case",
            privacy(&["UserId"], "clinic", Some(2), Some(2)),
            vec![
                column("UserId", Integer),
                bounded("Total", Integer, 0.0, 9.0),
            ],
        ),
        dataset(
            "broken",
            privacy(&["absent"], "clinic", Some(2), Some(2)),
            vec![column("x", Integer)],
        ),
    ]);
    datasets.extend(tpch());
    Catalogue { datasets }
}

/// TPC-H with the customer as the unit of every private table.
fn tpch() -> Vec<(String, Dataset)> {
    use Type::{Date, Integer, Number, Text};
    let private = |unit: &str, rows, groups| privacy(&[unit], "tpch", Some(rows), Some(groups));
    vec![
        dataset(
            "customer",
            private("c_custkey", 1, 1),
            vec![
                column("c_custkey", Integer),
                column("c_nationkey", Integer),
                keyed("c_mktsegment", &["AUTOMOBILE", "BUILDING"]),
                bounded("c_acctbal", Number, -1000.0, 10_000.0),
            ],
        ),
        dataset(
            "orders",
            private("o_custkey", 50, 10),
            vec![
                column("o_orderkey", Integer),
                column("o_custkey", Integer),
                bounded("o_orderdate", Date, 8_035.0, 10_440.0),
                bounded("o_totalprice", Number, 0.0, 600_000.0),
            ],
        ),
        dataset(
            "lineitem",
            private("l_custkey", 200, 10),
            vec![
                column("l_custkey", Integer),
                column("l_orderkey", Integer),
                column("l_partkey", Integer),
                column("l_suppkey", Integer),
                bounded("l_quantity", Number, 1.0, 50.0),
                bounded("l_extendedprice", Number, 0.0, 105_000.0),
                bounded("l_discount", Number, 0.0, 0.1),
                bounded("l_tax", Number, 0.0, 0.08),
                keyed("l_returnflag", &["A", "N", "R"]),
                keyed("l_linestatus", &["F", "O"]),
                bounded("l_shipdate", Date, 8_035.0, 10_565.0),
                column("l_shipmode", Text),
                column("l_shipinstruct", Text),
            ],
        ),
        dataset(
            "part",
            None,
            vec![
                column("p_partkey", Integer),
                column("p_type", Text),
                column("p_brand", Text),
                column("p_container", Text),
                bounded("p_size", Integer, 1.0, 50.0),
            ],
        ),
        dataset(
            "supplier",
            None,
            vec![column("s_suppkey", Integer), column("s_nationkey", Integer)],
        ),
        dataset(
            "nation",
            None,
            vec![
                column("n_nationkey", Integer),
                keyed("n_name", &["CHINA", "INDIA", "JAPAN"]),
                column("n_regionkey", Integer),
            ],
        ),
        dataset(
            "region",
            None,
            vec![column("r_regionkey", Integer), column("r_name", Text)],
        ),
    ]
}

/// A case of a file: a name, a query, and the expected lines.
#[derive(Clone, Debug)]
pub struct Case {
    /// Its comment lines.
    pub name: String,
    /// The query.
    pub sql: String,
    /// The lines that begin with `=>`.
    pub expected: Vec<String>,
}

/// Cases are separated by empty lines. Each has comment lines, the query, and lines that begin with
/// `=>`.
#[must_use]
pub fn cases(text: &str) -> Vec<Case> {
    let mut cases = Vec::new();
    for block in text.split("\n\n") {
        let lines = || block.lines().filter(|line| !line.trim().is_empty());
        let starts = |line: &&str, with: &str| line.starts_with(with);
        let sql: Vec<&str> = lines()
            .filter(|line| !starts(line, "--") && !starts(line, "=>"))
            .collect();
        if sql.is_empty() {
            continue;
        }
        cases.push(Case {
            name: lines()
                .filter(|line| starts(line, "--"))
                .map(|line| line.trim_start_matches('-').trim())
                .collect::<Vec<_>>()
                .join(" "),
            sql: sql.join("\n"),
            expected: lines()
                .filter(|line| starts(line, "=>"))
                .map(|line| line.trim_start_matches("=>").trim().to_owned())
                .collect(),
        });
    }
    cases
}

/// The essential numbers of a plan: groups and the limit per unit, statistics with the contribution
/// of a unit, and the columns of the answer.
#[must_use]
pub fn summary(plan: &BoundedPlan) -> Vec<String> {
    let mut lines = Vec::new();
    let names: Vec<&str> = plan.keys.iter().map(|key| key.name.as_str()).collect();
    let groups = match &plan.groups {
        Groups::Public(groups) if plan.keys.is_empty() => {
            assert_eq!(groups.len(), 1);
            "one group".to_owned()
        }
        Groups::Public(groups) => format!("{} public groups by {}", groups.len(), names.join(", ")),
        Groups::Private => format!("private groups by {}", names.join(", ")),
    };
    let enforced = match plan.group_bounding {
        GroupBounding::NotNeeded => "",
        _ => " enforced",
    };
    lines.push(format!(
        "{groups}; {} per unit{enforced}",
        plan.groups_per_unit
    ));
    let mut statistics = Vec::new();
    for statistic in &plan.statistics {
        let what = match &statistic.measure {
            Measure::Units => "units".to_owned(),
            Measure::Rows => "rows".to_owned(),
            Measure::Count(_) => "count".to_owned(),
            Measure::Distinct(_) => "distinct".to_owned(),
            Measure::Sum(_, grid) | Measure::Scaled(_, grid, _) => {
                let what = if grid.squared { "squares" } else { "sum" };
                let mut text = format!("{what}(2^{}", grid.exponent);
                if grid.centre != 0.0 {
                    write!(text, " from {}", grid.centre).unwrap();
                }
                text + ")"
            }
            Measure::Histogram(_, grid) => {
                format!(
                    "histogram(2^{} from {}, {} steps)",
                    grid.exponent,
                    grid.centre,
                    grid.range().1
                )
            }
        };
        statistics.push(format!("{what} {}..{}", statistic.low, statistic.high));
    }
    lines.push(statistics.join("; "));
    let columns = plan.output.columns.iter();
    let columns: Vec<String> = columns
        .map(|column| format!("{} {}", column.name, column.kind))
        .collect();
    let mut answer = columns.join(", ");
    if plan.output.having.is_some() {
        answer.push_str("; having");
    }
    if !plan.output.order.is_empty() {
        write!(answer, "; order by {}", plan.output.order.len()).unwrap();
    }
    if plan.output.offset > 0 {
        write!(answer, "; offset {}", plan.output.offset).unwrap();
    }
    if let Some(limit) = plan.output.limit {
        write!(answer, "; limit {limit}").unwrap();
    }
    lines.push(answer);
    lines
}
