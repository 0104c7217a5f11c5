//! A cluster of processes that end with this one: each is this test program, started again to
//! run one test that is a node.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use datafusion::arrow::array::RecordBatch;
use mizan_sql::{BoundedPlan, Catalogue};
use parquet::arrow::ArrowWriter;

use super::super::{
    Address, Ballista, Executor, Scheduler, cluster_status, run_executor, run_scheduler,
};
use crate::engine::{Engine, EngineError};
use crate::engines::test_queries;
use crate::exact::{ExactAggregates, ExecutionPath};
use crate::oracle::Data;

const ROLE: &str = "MIZAN_TEST_NODE";
const WORK_DIR: &str = "MIZAN_TEST_WORK_DIR";

/// Runs a plan on an engine. Its operators must compute the result: a fallback to plain SQL is
/// a defect that the result would not show.
pub(super) fn run(
    engine: &impl Engine,
    plan: &BoundedPlan,
    catalogue: &Catalogue,
    salt: [u8; 16],
) -> Result<ExactAggregates, EngineError> {
    engine.prepare(plan, catalogue)?;
    let names = plan.datasets.iter().chain(&plan.public);
    let versions = names.map(|name| engine.version(&catalogue.datasets[name]));
    let versions = versions.collect::<Result<Vec<_>, _>>()?;
    let execution = engine.run(plan, catalogue, &versions, salt)?;
    assert_eq!(execution.path, ExecutionPath::Operators, "{plan:?}");
    Ok(execution.exact)
}

/// A node, which exits when its standard input closes.
pub(super) struct Node {
    child: Child,
    pub(super) address: Address,
}

impl Node {
    /// Starts a node; executors receive the address of the scheduler.
    fn start(role: &str, work_dir: &Path) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "--nocapture", "--test-threads=1"])
            .arg("engines::ballista::tests::cluster::a_node_in_its_own_process")
            .env(ROLE, role)
            .env(WORK_DIR, work_dir)
            // Another working directory, so that no relative path works by chance.
            .current_dir(work_dir)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let address = lines.find_map(|line| {
            let line = line.unwrap();
            Some(line.split_once("listens on ")?.1.parse().unwrap())
        });
        // The output is drained; the thread is not joined.
        std::thread::spawn(move || lines.for_each(drop));
        Self {
            child,
            address: address.unwrap_or_else(|| panic!("no node {role}")),
        }
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

/// A scheduler and its executors.
pub(super) struct Cluster {
    pub(super) scheduler: Node,
    _executors: Vec<Node>,
    pub(super) directory: tempfile::TempDir,
}

impl Cluster {
    /// A cluster with this number of executors of two tasks each.
    pub(super) fn of(executors: usize) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let scheduler = Node::start("scheduler", directory.path());
        let role = scheduler.address.to_string();
        let nodes: Vec<Node> = (0..executors)
            .map(|_| Node::start(&role, directory.path()))
            .collect();
        let start = Instant::now();
        while cluster_status(&scheduler.address).unwrap().executors.len() < executors {
            assert!(start.elapsed() < Duration::from_secs(60), "no executors");
            std::thread::sleep(Duration::from_millis(20));
        }
        Self {
            scheduler,
            _executors: nodes,
            directory,
        }
    }

    pub(super) fn engine(&self) -> Ballista {
        Ballista::new(self.scheduler.address.clone())
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Writes these rows as Parquet files, in several parts, and their paths into the
    /// catalogue.
    pub(super) fn fill(
        &self,
        name: &str,
        catalogue: &mut Catalogue,
        data: &Data,
        mut parts: impl FnMut() -> usize,
    ) {
        for (dataset, declared) in &mut catalogue.datasets {
            let directory = self.path(name).join(dataset);
            fs::create_dir_all(&directory).unwrap();
            let batch = test_queries::batch(declared, &data[dataset]);
            let size = batch.num_rows().div_ceil(parts().max(1)).max(1);
            for (place, from) in (0..batch.num_rows().max(1)).step_by(size).enumerate() {
                let length = size.min(batch.num_rows().saturating_sub(from));
                let path = directory.join(format!("{place}.parquet"));
                write(&path, &batch.slice(from, length));
            }
            declared.source = directory.to_str().unwrap().to_owned();
        }
    }
}

fn write(path: &Path, batch: &RecordBatch) {
    let file = File::create(path).unwrap();
    let mut writer = ArrowWriter::try_new(file, batch.schema(), None).unwrap();
    writer.write(batch).unwrap();
    writer.close().unwrap();
}

/// Does nothing unless it is started as a node.
#[test]
fn a_node_in_its_own_process() {
    let Ok(role) = std::env::var(ROLE) else {
        return;
    };
    std::thread::spawn(|| {
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        std::process::exit(0);
    });
    let listen: Address = "127.0.0.1:0".parse().unwrap();
    let say = |address: &Address| println!("listens on {address}");
    let ended = match role.as_str() {
        "scheduler" => {
            let scheduler = Scheduler {
                listen,
                advertise: None,
                trusted_network: false,
            };
            run_scheduler(&scheduler, say)
        }
        scheduler => {
            let executor = Executor {
                scheduler: scheduler.parse().unwrap(),
                listen,
                advertise: None,
                trusted_network: false,
                work_dir: std::env::var_os(WORK_DIR).unwrap().into(),
                cores: 2,
            };
            run_executor(&executor, say)
        }
    };
    println!("{ended:?}");
}
