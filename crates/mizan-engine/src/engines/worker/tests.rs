//! Worker processes that misbehave, and the encoding of plans and integers for the pipe.
//! `crates/mizan-cli/tests/workers.rs` uses the real worker.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests may panic"
)]

use std::fmt::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use super::*;
use crate::engines::generate::{self, Rng};
use crate::engines::test_queries;

const LONG: Duration = Duration::from_secs(600);

/// Visits in a file, and plans over them.
fn catalogue_and_plans(directory: &Path) -> (Catalogue, Vec<BoundedPlan>) {
    let mut catalogue = test_queries::catalogue();
    let mut text = "person,ward,cost,age,day,at,paid,note\n".to_owned();
    for row in 0..5_000_i64 {
        let ward = ["dental", "eyes", "é", "other"][usize::try_from(row % 4).unwrap()];
        let (person, cost, age) = (row * row % 997, row % 131, row % 90);
        writeln!(
            text,
            "p{person},{ward},{cost}.25,{age},2022-02-03,2022-02-03T04:05:06Z,true,n{row}"
        )
        .unwrap();
    }
    let path = directory.join("visits.csv");
    std::fs::write(&path, text).unwrap();
    let visits = catalogue.datasets.get_mut("visits").unwrap();
    visits.source = path.to_str().unwrap().to_owned();
    let plans = [
        "SELECT COUNT(*) FROM visits",
        "SELECT ward, COUNT(*), AVG(cost), SUM(age) FROM visits GROUP BY ward",
        "SELECT age, COUNT(DISTINCT person) FROM visits GROUP BY age",
        "SELECT MEDIAN(cost) FROM visits",
    ];
    let plans = plans.map(|sql| mizan_sql::plan(sql, &catalogue).unwrap());
    (catalogue, plans.to_vec())
}

fn versions(catalogue: &Catalogue, plan: &BoundedPlan) -> Vec<Version> {
    let engine = DataFusion::with_partitions(2).unwrap();
    let names = plan.datasets.iter().chain(&plan.public);
    let version = |name| engine.version(&catalogue.datasets[name]).unwrap();
    names.map(version).collect()
}

fn workers(program: &Path, time: Duration) -> Workers {
    let limits = QueryLimits {
        memory: 1 << 30,
        time,
    };
    Workers::new(
        program.to_owned(),
        limits,
        DataFusion::with_partitions(2).unwrap(),
    )
}

/// The integers of a plan are the same in the process and over the pipe.
#[test]
fn integers_are_the_same_over_the_pipe() {
    let directory = tempfile::tempdir().unwrap();
    let (catalogue, plans) = catalogue_and_plans(directory.path());
    let workers = workers(Path::new("unused"), LONG);
    for plan in &plans {
        let versions = versions(&catalogue, plan);
        let salt = [9; 16];
        let here = workers.engine.run(plan, &catalogue, &versions, salt);
        let request = workers.run_request(plan, &catalogue, &versions, salt);
        let request: Request = frame::read(&mut &request.unwrap()[..], LONGEST_REQUEST).unwrap();
        let Task::Run(run) = &request.task else {
            panic!("another task");
        };
        assert_eq!(&run.plan, plan);
        let engine = child::engine(&request).unwrap();
        let answer = child::answer(&engine, run, &request.catalogue);
        let answer = frame::encode(&answer).unwrap();
        let there: Result<Execution, EngineError> =
            frame::read(&mut &answer[..], u64::MAX).unwrap();
        assert!(here.as_ref().is_ok_and(|found| !found.exact.is_empty()));
        assert_eq!(here, there);
    }
}

#[test]
fn plans_and_errors_survive_the_pipe() {
    let mut rng = Rng::new(11);
    for _ in 0..300 {
        let catalogue = generate::catalogue(&mut rng);
        let plan = generate::plan(&mut rng, &catalogue);
        let frame = frame::encode(&(&plan, &catalogue)).unwrap();
        let read: (BoundedPlan, Catalogue) = frame::read(&mut &frame[..], 1 << 30).unwrap();
        assert_eq!(read, (plan, catalogue));
    }
    let errors = [
        EngineError::BadHeader {
            path: "a.csv".into(),
            reason: "why",
        },
        EngineError::Changed {
            dataset: "visits".into(),
        },
        EngineError::Failed { doing: "running" },
        EngineError::OutOfMemory,
    ];
    for error in errors {
        let sent: Result<Execution, EngineError> = Err(error);
        let frame = frame::encode(&sent).unwrap();
        let read: Result<Execution, EngineError> = frame::read(&mut &frame[..], 1000).unwrap();
        assert_eq!(read, sent);
    }
}

#[cfg(unix)]
mod scripts {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    /// The error of a query whose worker is this script.
    fn run(script: &str, time: Duration) -> EngineError {
        let directory = tempfile::tempdir().unwrap();
        let (catalogue, plans) = catalogue_and_plans(directory.path());
        let versions = versions(&catalogue, &plans[0]);
        let program = directory.path().join("worker");
        std::fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        let workers = workers(&program, time);
        // Another test that is starting a process may still hold the script open.
        loop {
            let answer = workers.run(&plans[0], &catalogue, &versions, [1; 16]);
            match answer.unwrap_err() {
                EngineError::NoWorker { reason } if reason.contains("busy") => {}
                error => return error,
            }
        }
    }

    #[test]
    fn a_worker_that_ends_without_an_answer_is_an_error() {
        for script in [
            "exit 0",
            "exit 2",
            "kill -9 $$",
            "kill -6 $$",
            "echo nonsense",
            // It sends the request back, which is not an answer.
            "exec cat",
            "printf 'mizan run-plan 1'",
        ] {
            assert_eq!(run(script, LONG), EngineError::OutOfMemory, "{script}");
        }
    }

    #[test]
    fn a_worker_is_ended_at_its_deadline() {
        let late = run("exec sleep 1000", Duration::from_millis(1200));
        assert_eq!(late, EngineError::DeadlineExceeded { seconds: 1 });
    }

    /// A count that does not end is ended at its time limit, and refused.
    #[test]
    fn a_counting_worker_is_ended_at_its_deadline() {
        let directory = tempfile::tempdir().unwrap();
        let program = directory.path().join("worker");
        std::fs::write(&program, "#!/bin/sh\nexec sleep 1000\n").unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        let limits = QueryLimits {
            memory: 1 << 30,
            time: LONG,
        };
        let program = WorkerProgram::new(program, limits);
        let (catalogue, plans) = catalogue_and_plans(directory.path());
        let begun = Instant::now();
        let cache = crate::engines::fan_out::FanOutCache::default();
        let version = |_: &str| Some(Version::of([1; 32]));
        let error = loop {
            let error = cache.count(&plans[0].relation, version, || {
                let mut counter = Counter::new(&program, 2, &BTreeMap::new(), &catalogue)?;
                counter.count(&plans[0].relation, begun + Duration::from_secs(1))
            });
            match error.unwrap_err() {
                // Another test that is starting a process may still hold the script open.
                EngineError::NoWorker { reason } if reason.contains("busy") => {}
                error => break error,
            }
        };
        assert_eq!(error, EngineError::CountingTime { seconds: 60 });
        assert!(begun.elapsed() < Duration::from_secs(30));
    }

    #[test]
    fn a_missing_program_is_an_error_before_the_charge() {
        let directory = tempfile::tempdir().unwrap();
        let (catalogue, plans) = catalogue_and_plans(directory.path());
        let workers = workers(&directory.path().join("none"), LONG);
        let error = workers.prepare(&plans[0], &catalogue).unwrap_err();
        assert_eq!(error.code(), "MZ1964");
    }
}
