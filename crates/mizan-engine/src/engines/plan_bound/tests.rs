//! The bound of a plan: what it depends on, and which plans it refuses.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use mizan_sql::{BoundedPlan, Catalogue};

use super::{PlanBound, Setting};
use crate::engine::{Engine as _, EngineError};
use crate::engines::datafusion::DataFusion;
use crate::engines::datafusion::sizes::Lines;
use crate::engines::fan_out::cases;
use crate::engines::size_class::{SizeClass, TextClass};
use crate::engines::test_queries::{self, TEST_QUERIES};
use crate::engines::worker::Workers;
use crate::query_limits::QueryLimits;

const SETTING: Setting = Setting {
    partitions: 2,
    keeps: 128 << 20,
    counts_texts: false,
};

type Sizes = BTreeMap<String, Arc<SizeClass>>;

/// All datasets of a catalogue with this number of rows, and of bytes in each column.
fn sizes(catalogue: &Catalogue, rows: u64, bytes: u64, text: bool) -> Sizes {
    let datasets = catalogue.datasets.iter();
    let sizes = datasets.map(|(name, dataset)| {
        let columns = dataset.columns.len();
        let size = match text {
            true => SizeClass::of_text(bytes, columns, columns, 1),
            false => SizeClass::of_columns(rows, vec![bytes; columns], 1),
        };
        (name.clone(), Arc::new(size))
    });
    sizes.collect()
}

fn bound(
    plan: &BoundedPlan,
    catalogue: &Catalogue,
    sizes: &Sizes,
    setting: Setting,
    fan_out: u64,
) -> PlanBound {
    let bound = PlanBound::of(
        plan,
        catalogue,
        sizes,
        setting,
        &mut |_, _| Ok(TextClass::default()),
        &mut |_| Ok(fan_out),
    );
    bound.unwrap()
}

/// Queries of all kinds, and their catalogue.
fn plans() -> Vec<(Catalogue, BoundedPlan)> {
    let asked = TEST_QUERIES
        .iter()
        .map(|sql| (test_queries::catalogue(), *sql));
    let joins = cases::ANSWERED.iter().map(|sql| (cases::catalogue(), *sql));
    let plans = asked.chain(joins).map(|(catalogue, sql)| {
        let plan = mizan_sql::plan(sql, &catalogue);
        let plan = plan.unwrap_or_else(|refusal| panic!("{}", refusal.show(sql)));
        (catalogue, plan)
    });
    plans.collect()
}

#[test]
fn more_rows_bytes_partitions_or_matches_never_need_less() {
    let numbers = [0, 1, 1000, 1 << 20, 1 << 33, 1 << 50, u64::MAX];
    for (catalogue, plan) in plans() {
        let of = |rows: u64, bytes: u64, partitions: u64, fan_out: u64, text: bool| {
            let sizes = sizes(&catalogue, rows, bytes, text);
            let setting = Setting {
                partitions,
                ..SETTING
            };
            bound(&plan, &catalogue, &sizes, setting, fan_out)
        };
        let least = of(0, 0, 0, 0, false);
        assert!(least.memory > 0);
        for text in [false, true] {
            let mut before = [of(0, 0, 0, 0, text); 4];
            for number in numbers {
                let now = [
                    of(number, 1000, 2, 1, text),
                    of(1000, number, 2, 1, text),
                    of(1000, 1000, number, 1, text),
                    of(1000, 1000, 2, number, text),
                ];
                for (before, now) in before.iter().zip(now) {
                    assert!(now.memory >= before.memory && now.nanoseconds >= before.nanoseconds);
                }
                before = now;
            }
        }
    }
}

#[test]
fn a_higher_limit_refuses_no_more() {
    let at = PlanBound {
        memory: 1 << 30,
        nanoseconds: 5_000_000_000,
    };
    let check = |memory: u64, seconds: u64| {
        let time = Duration::from_secs(seconds);
        at.check(&QueryLimits { memory, time })
            .map_err(|error| error.code().as_str())
    };
    assert_eq!(check(1 << 30, 5), Ok(()));
    assert_eq!(check(u64::MAX, u64::MAX), Ok(()));
    assert_eq!(check((1 << 30) - 1, 5), Err("MZ1965"));
    assert_eq!(check(1 << 30, 4), Err("MZ1966"));
    assert_eq!(check(0, 0), Err("MZ1965"));
    let most = PlanBound {
        memory: u64::MAX,
        nanoseconds: u64::MAX,
    };
    let limits = QueryLimits::of_machine(1);
    assert_eq!(most.check(&limits).unwrap_err().code(), "MZ1965");
}

#[test]
fn a_refusal_says_what_helps() {
    let memory = EngineError::MayExceedMemory {
        bytes: (4 << 30) + 1,
        limit: 1 << 30,
    };
    let text = memory.to_string();
    assert_eq!(
        text,
        "the query may need 4.1 GiB of memory, and its limit is 1 GiB"
    );
    assert!(memory.help().contains("--query-memory"));
    let time = EngineError::MayExceedTime {
        seconds: 601,
        limit: 600,
    };
    assert!(time.to_string().contains("601 s"), "{time}");
    assert!(time.help().contains("--query-timeout"));
    for error in [memory, time] {
        let help = error.help().to_lowercase();
        assert!(!error.is_of_data() && help.contains("nothing was charged"));
    }
}

/// A file with the notes of this many people.
fn notes(directory: &Path, people: u32) -> Catalogue {
    let mut catalogue = test_queries::catalogue();
    let mut text = "person,ward,cost,age,day,at,paid,note\n".to_owned();
    for person in 0..people {
        writeln!(
            text,
            "p{person:07},eyes,1.25,30,2022-02-03,,true,n{person:07}"
        )
        .unwrap();
    }
    let path = directory.join(format!("visits-{people}.csv"));
    std::fs::write(&path, text).unwrap();
    let visits = catalogue.datasets.get_mut("visits").unwrap();
    visits.source = path.to_str().unwrap().to_owned();
    catalogue
}

fn workers(directory: &Path, memory: u64, seconds: u64) -> Workers {
    let program = directory.join("worker");
    std::fs::write(&program, "").unwrap();
    let limits = QueryLimits {
        memory,
        time: Duration::from_secs(seconds),
    };
    let engine = DataFusion::with_partitions(2).unwrap();
    Workers::new(program, limits, engine)
}

/// A query with a text for each unit, which the analyst makes long.
fn attack() -> String {
    format!(
        "SELECT COUNT(*) FROM (SELECT person, MAX(note || '{}') AS m FROM visits \
         GROUP BY person) t WHERE m > 'n'",
        "x".repeat(2_000)
    )
}

/// With padded texts, an exact count of units would decide whether there is an answer: both
/// neighbours are refused before the charge with the same message.
#[test]
fn padded_texts_of_units_are_refused_for_neighbours_alike() {
    let folder = tempfile::tempdir().unwrap();
    let workers = workers(folder.path(), 1 << 30, 600);
    let refused = |people: u32| {
        let catalogue = notes(folder.path(), people);
        let plan = mizan_sql::plan(&attack(), &catalogue).unwrap();
        let error = workers.prepare(&plan, &catalogue).unwrap_err();
        assert_eq!(workers.check_limits(&plan, &catalogue), Err(error.clone()));
        error
    };
    let error = refused(200_000);
    assert_eq!(error.code(), "MZ1965");
    assert_eq!(refused(200_001), error);
    // A dataset of few people is answered, and so is the query without padding.
    let few = notes(folder.path(), 1_000);
    let plan = mizan_sql::plan(&attack(), &few).unwrap();
    assert_eq!(workers.prepare(&plan, &few), Ok(()));
    let many = notes(folder.path(), 200_000);
    let plain = "SELECT COUNT(*) FROM (SELECT person, MAX(note) AS m FROM visits \
                 GROUP BY person) t WHERE m > 'n'";
    let plan = mizan_sql::plan(plain, &many).unwrap();
    assert_eq!(workers.prepare(&plan, &many), Ok(()));
}

/// A LIKE reads each character once for each character of its pattern.
#[test]
fn work_that_takes_too_long_is_refused_for_neighbours_alike() {
    let folder = tempfile::tempdir().unwrap();
    let workers = workers(folder.path(), 1 << 34, 10);
    let pattern = "a%".repeat(400);
    let sql = format!(
        "SELECT COUNT(*) FROM visits WHERE note LIKE '{pattern}' OR note LIKE '{pattern}b'"
    );
    let outcome = |people: u32| {
        let catalogue = notes(folder.path(), people);
        let plan = mizan_sql::plan(&sql, &catalogue).unwrap();
        workers.prepare(&plan, &catalogue)
    };
    let error = outcome(200_000).unwrap_err();
    assert_eq!(error.code(), "MZ1966", "{error}");
    assert_eq!(outcome(200_001), Err(error));
    assert_eq!(outcome(100), Ok(()));
}

/// Neighbours of one size class have the same bound for every query.
#[test]
fn neighbours_of_one_size_class_have_the_same_bound() {
    let folder = tempfile::tempdir().unwrap();
    let engine = DataFusion::with_partitions(2).unwrap();
    for (one, other) in [(600, 601), (800, 1000), (3_000, 3_001)] {
        let (one, other) = (notes(folder.path(), one), notes(folder.path(), other));
        for sql in TEST_QUERIES.iter().filter(|sql| !sql.contains("people")) {
            let Ok(plan) = mizan_sql::plan(sql, &one) else {
                continue;
            };
            if !plan.public.is_empty() {
                continue;
            }
            for lines in [Lines::Unknown, Lines::Counted] {
                let bound = |catalogue| engine.bound(&plan, catalogue, lines).unwrap();
                assert_eq!(bound(&one), bound(&other), "{sql}");
            }
        }
    }
}

/// The bound of texts after a join in which a private row matches `fan_out` public rows.
fn joined(select: &str, fan_out: u64) -> PlanBound {
    let catalogue = cases::catalogue();
    let sizes = sizes(&catalogue, 1 << 12, 1 << 18, false);
    let plan = mizan_sql::plan(select, &catalogue);
    let plan = plan.unwrap_or_else(|refusal| panic!("{}", refusal.show(select)));
    bound(&plan, &catalogue, &sizes, SETTING, fan_out)
}

/// Texts that are held after a join count as often as it repeats them; texts that are computed
/// and dropped count by slices.
#[test]
fn texts_after_joins_count_with_their_repetitions() {
    let from = "FROM visits v CROSS JOIN large c";
    // One text for each group, or for each pair of a unit and a text.
    for held in [
        format!("SELECT COUNT(DISTINCT v.ward || c.label) {from}"),
        format!(
            "SELECT COUNT(*) FROM (SELECT v.person AS person, v.ward || c.label AS t, COUNT(*) \
             AS n {from} GROUP BY v.person, v.ward || c.label) q WHERE n > 1"
        ),
    ] {
        let (one, many) = (joined(&held, 1), joined(&held, 1000));
        let texts = 1000 << 18;
        assert!(many.memory > one.memory + texts, "{held} {one:?} {many:?}");
    }
    // A text for each unit is not repeated by the join.
    let of_units = format!(
        "SELECT COUNT(*) FROM (SELECT v.person AS person, MAX(v.ward) AS m {from} GROUP BY \
         v.person) q WHERE m > 'a'"
    );
    let computed = format!("SELECT COUNT(*) {from} WHERE LENGTH(v.ward || c.label) > 3");
    for sql in [of_units, computed] {
        let (one, many) = (joined(&sql, 1), joined(&sql, 1000));
        let most = one.memory + (200 << 20);
        assert!(many.memory < most, "{sql} {one:?} {many:?}");
    }
    // The time includes the text functions after the join.
    let pattern = "z".repeat(500);
    let like = format!("SELECT COUNT(*) {from} WHERE (v.ward || c.label) LIKE '%{pattern}y'");
    let (one, many) = (joined(&like, 1), joined(&like, 1000));
    assert!(
        many.nanoseconds > 900 * (one.nanoseconds / 2),
        "{one:?} {many:?}"
    );
}

/// A missing column would lower the bound, so it is an error.
#[test]
fn a_plan_without_its_columns_has_no_bound() {
    let catalogue = test_queries::catalogue();
    let plan = mizan_sql::plan(
        "SELECT ward, COUNT(*) FROM visits GROUP BY ward",
        &catalogue,
    );
    let mut plan = plan.unwrap();
    let sizes = sizes(&catalogue, 1000, 1000, false);
    let bound = |plan: &BoundedPlan| {
        let texts = &mut |_: &str, _| Ok(TextClass::default());
        PlanBound::of(plan, &catalogue, &sizes, SETTING, texts, &mut |_| Ok(1))
            .map_err(|error| error.code())
    };
    assert!(bound(&plan).is_ok());
    plan.keys[0].expression = mizan_sql::Expr::Column(99);
    assert_eq!(bound(&plan).unwrap_err(), "MZ1910");
}

#[test]
fn unusual_files_and_limits_have_a_bound() {
    let folder = tempfile::tempdir().unwrap();
    let workers = workers(folder.path(), 1 << 30, 600);
    let sql = "SELECT ward, COUNT(*), SUM(cost), MEDIAN(age) FROM visits GROUP BY ward";
    // No rows.
    let mut catalogue = notes(folder.path(), 0);
    let plan = mizan_sql::plan(sql, &catalogue).unwrap();
    assert_eq!(workers.prepare(&plan, &catalogue), Ok(()));
    // Without a file there is no header: an error, not a bound.
    let visits = catalogue.datasets.get_mut("visits").unwrap();
    let privacy = visits.privacy.as_mut().unwrap();
    (privacy.rows_per_unit, privacy.groups_per_unit) = (Some(1 << 20), Some(1 << 20));
    let plan = mizan_sql::plan(
        "SELECT ward, COUNT(*) FROM visits GROUP BY ward",
        &catalogue,
    );
    let plan = plan.unwrap();
    assert_eq!(workers.prepare(&plan, &catalogue), Ok(()));
    let path = folder.path().join("empty.csv");
    std::fs::write(&path, "").unwrap();
    let visits = catalogue.datasets.get_mut("visits").unwrap();
    visits.source = path.to_str().unwrap().to_owned();
    let error = workers.check_limits(&plan, &catalogue).unwrap_err();
    assert_eq!(error.code(), "MZ1904");
    std::fs::remove_file(path).unwrap();
    let error = workers.check_limits(&plan, &catalogue).unwrap_err();
    assert_eq!(error.code(), "MZ1901");
}
