//! Pipes and devices with the names of data files: they are refused, and nothing waits for them.

use std::path::Path;
use std::time::Duration;

use mizan_sql::Type;

use super::files::{catalogue, run};
use crate::engine::EngineError;
use crate::engines::datafusion::sizes::{Lines, sized};
use crate::engines::datafusion::{check_rows, inspect};

type Step = fn(&Path) -> Result<(), EngineError>;

/// Every step that opens the files of a dataset, each on a thread of its own, so that a step
/// that waits fails the test.
fn refused(path: &Path) {
    refused_by("inspect", |path| inspect(path).map(drop), path);
    refused_after_inspection(path);
}

fn refused_after_inspection(path: &Path) {
    let steps: [(&str, Step); 3] = [
        ("check", |path| {
            check_rows(&columns(path).datasets["t"], &|_, _| ())
        }),
        ("size", |path| {
            let catalogue = columns(path);
            let plan = mizan_sql::plan("SELECT COUNT(DISTINCT u) FROM t", &catalogue).unwrap();
            sized(&plan, &catalogue, Lines::Counted).map(drop)
        }),
        ("run", |path| run(&columns(path)).map(drop)),
    ];
    for (name, step) in steps {
        refused_by(name, step, path);
    }
}

fn refused_by(name: &str, step: Step, path: &Path) {
    let (send, receive) = std::sync::mpsc::channel();
    let path = path.to_path_buf();
    std::thread::spawn(move || send.send(step(&path)));
    let ended = receive.recv_timeout(Duration::from_secs(20));
    let ended = ended.unwrap_or_else(|_| panic!("{name} waits"));
    assert_eq!(ended.unwrap_err().code(), "MZ1901", "{name}");
}

fn columns(path: &Path) -> mizan_sql::Catalogue {
    catalogue(path, &[("u", Type::Integer), ("x", Type::Text)])
}

fn pipe(path: &Path) {
    rustix::fs::mkfifoat(rustix::fs::CWD, path, 0o600.into()).unwrap();
}

#[test]
fn pipes_and_devices_are_refused() {
    for format in ["csv", "parquet"] {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join(format!("a.{format}"));
        pipe(&path);
        refused(&path);
        refused(directory.path());
        let link = directory.path().join(format!("link.{format}"));
        std::os::unix::fs::symlink("/dev/zero", &link).unwrap();
        refused(&link);
    }
}

/// A directory whose second file is replaced by a pipe.
#[test]
fn a_file_that_becomes_a_pipe_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    for name in ["a.csv", "b.csv"] {
        std::fs::write(directory.path().join(name), "u,x\n1,a\n").unwrap();
    }
    run(&columns(directory.path())).unwrap();
    let second = directory.path().join("b.csv");
    std::fs::remove_file(&second).unwrap();
    pipe(&second);
    refused_after_inspection(directory.path());
}
