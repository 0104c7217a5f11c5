//! Known failures of other systems between a query and its noise, and one test for each that it
//! cannot happen here. The others are in `crates/mizan-cli/tests/peers_failures.rs` and
//! `release/tests/peers_failures.rs`.
#![allow(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test may panic"
)]

use mizan_sql::{
    BoundedPlan, Bounds, Catalogue, Dataset, DatasetColumn, GroupBounding, Measure, Privacy, Type,
    plan,
};

use crate::DataFusion;
use crate::engine::Engine;
use crate::exact::{Cell, ExactAggregates};

/// The dataset `visits` in a file: u, x from 0 to 10, a word.
fn catalogue(source: String) -> Catalogue {
    let column = |name: &str, kind, bounds| DatasetColumn {
        bounds,
        ..DatasetColumn::new(name, kind)
    };
    let visits = Dataset {
        files: Vec::new(),
        name: "visits".to_owned(),
        source,
        privacy: Some(Privacy {
            unit: vec!["u".to_owned()],
            account: "all".to_owned(),
            rows_per_unit: Some(2),
            groups_per_unit: Some(3),
        }),
        columns: vec![
            column("u", Type::Integer, None),
            column("x", Type::Number, Bounds::new(0.0, 10.0)),
            column("word", Type::Text, None),
        ],
    };
    let mut catalogue = Catalogue::default();
    catalogue.add(visits).unwrap();
    catalogue
}

fn planned(sql: &str) -> BoundedPlan {
    let planned = plan(sql, &catalogue("visits.csv".to_owned()));
    planned.unwrap_or_else(|refusal| panic!("{}", refusal.show(sql)))
}

/// The exact integers of a query over these rows.
fn run(sql: &str, rows: &str) -> ExactAggregates {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("visits.csv");
    std::fs::write(&path, format!("u,x,word\n{rows}")).unwrap();
    let catalogue = catalogue(path.to_string_lossy().into_owned());
    let engine = DataFusion::new().unwrap();
    let version = engine.version(&catalogue.datasets["visits"]).unwrap();
    let plan = plan(sql, &catalogue).unwrap();
    let execution = engine.run(&plan, &catalogue, &[version], [3; 16]);
    execution.unwrap().exact
}

/// In OpenDP 0.16 a filled NaN could be distinguished from a NULL.
#[test]
fn opendp_nan_fill_distinguishable() {
    for value in ["x", "COALESCE(x, 5)", "CASE WHEN x = x THEN x ELSE 1 END"] {
        let sql = format!(
            "SELECT COUNT({value}) AS n, SUM({value}) AS s, MEDIAN({value}) AS m, \
             COUNT(*) FILTER (WHERE {value} > 3) AS f FROM visits"
        );
        let with = |cell: &str| run(&sql, &format!("1,4,a\n2,{cell},b\n3,{cell},c\n"));
        let nothing = with("");
        assert_eq!(with("NaN"), nothing, "{value}");
        assert_eq!(with("-nan"), nothing, "{value}");
        assert_eq!(with("none"), nothing, "{value}");
    }
}

/// OpenDP 0.16 assumed that rows were truncated although the column had been redefined: it
/// claimed ρ 0.5 where it was 5000.
#[test]
fn opendp_truncation_belief_that_survives_redefinition() {
    // The contribution of a unit, in the unit of the query.
    let most = |sql: &str| {
        let plan = planned(sql);
        let statistic = &plan.statistics[0];
        match &statistic.measure {
            Measure::Sum(_, grid) => statistic.sensitivity() as f64 * grid.step(),
            _ => statistic.sensitivity() as f64,
        }
    };
    let clamped = "SELECT u, LEAST(GREATEST(x, 0), 1) AS x FROM visits";
    let sql = format!("SELECT SUM(x) AS s FROM ({clamped}) t");
    assert_eq!(most(&sql), 2.0);
    let sql = format!("SELECT SUM(x) AS s FROM (SELECT u, x * 5000 AS x FROM ({clamped}) t) t");
    assert_eq!(most(&sql), 10_000.0);
    // A relation with one row per unit loses that property in a join or a union.
    let single = "SELECT u, COUNT(*) AS n FROM visits GROUP BY u";
    assert_eq!(
        most(&format!("SELECT COUNT(*) AS n FROM ({single}) t")),
        1.0
    );
    for twice in [
        format!("SELECT COUNT(*) AS n FROM ({single}) s JOIN visits v ON s.u = v.u"),
        format!("SELECT COUNT(*) AS n FROM ({single} UNION ALL {single}) t"),
    ] {
        assert_eq!(most(&twice), 2.0, "{twice}");
    }
    // A column with the name of the unit is not the unit.
    for sql in [
        "SELECT COUNT(*) AS n FROM (SELECT 1 AS u FROM visits) a JOIN visits b ON a.u = b.u",
        "SELECT COUNT(*) AS n FROM (SELECT u % 2 AS u, COUNT(*) AS n FROM visits GROUP BY 1) t",
    ] {
        assert!(
            plan(sql, &catalogue("visits.csv".to_owned())).is_err(),
            "{sql}"
        );
    }
}

/// OpenDP 0.16 with `keep="first"` kept k - 1 groups of a unit and charged for k.
#[test]
fn opendp_keep_first_keeps_one_too_few() {
    let rows: String = (0..9).map(|word| format!("1,4,w{word}\n")).collect();
    let sql = "SELECT word, COUNT(*) AS n FROM visits GROUP BY word";
    let plan = planned(sql);
    assert_eq!(
        (plan.groups_per_unit, plan.group_bounding),
        (3, GroupBounding::SampleGroups)
    );
    let exact = run(sql, &rows);
    assert_eq!(exact.len(), 3, "{exact:?}");
    for cells in exact.values() {
        assert_eq!(cells, &[Cell::Integer(1), Cell::Integer(1)]);
    }
}

/// Qrlew 0.9 left noise to the engine. Here the engine is never asked for noise.
#[test]
fn qrlew_noise_of_the_engine() {
    for sql in [
        "SELECT word, COUNT(*) AS n, AVG(x) AS m FROM visits GROUP BY word",
        "SELECT MEDIAN(v.x) AS m FROM visits v JOIN visits w ON v.u = w.u",
    ] {
        let rows = "1,4,a\n1,5,b\n2,6,a\n";
        assert_eq!(run(sql, rows), run(sql, rows), "{sql}");
    }
}
