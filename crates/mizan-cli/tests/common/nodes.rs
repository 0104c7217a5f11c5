//! A cluster for a test: a scheduler and executors as processes that end with the test.
#![allow(dead_code, reason = "each test uses its own part")]

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use super::program;

/// A running node.
pub(crate) struct Node {
    child: Child,
    pub(crate) address: String,
}

impl Node {
    /// Starts one, in a network namespace of its own if it is named, and waits until
    /// it says where it is.
    pub(crate) fn start(namespace: Option<&str>, arguments: &[&str]) -> Self {
        let mut command = match namespace {
            None => program(),
            Some(name) => {
                let mut command = Command::new("ip");
                command.args(["netns", "exec", name, env!("CARGO_BIN_EXE_mizan")]);
                command
            }
        };
        let mut child = command
            .arg("cluster")
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        stdout.read_line(&mut line).unwrap();
        let address = line.trim().to_owned();
        let node = Self { child, address };
        assert!(!node.address.is_empty(), "{arguments:?} did not start");
        node
    }

    /// Sends it a signal.
    pub(crate) fn signal(&self, name: &str) {
        signal(&self.child, name);
    }

    /// Ends it, and waits until it has.
    pub(crate) fn end(&mut self, name: &str) -> Option<i32> {
        self.signal(name);
        self.child.wait().unwrap().code()
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Sends a signal to a process.
pub(crate) fn signal(child: &Child, name: &str) {
    let id = child.id().to_string();
    let sent = Command::new("kill").args([name, &id]).status().unwrap();
    assert!(sent.success(), "kill {name}");
}

/// A scheduler and two executors.
pub(crate) struct Cluster {
    pub(crate) scheduler: Node,
    pub(crate) executors: Vec<Node>,
}

impl Cluster {
    pub(crate) fn new(work_dir: &Path) -> Self {
        let scheduler = Node::start(None, &["scheduler", "--listen", "127.0.0.1:0"]);
        let mut cluster = Self {
            scheduler,
            executors: Vec::new(),
        };
        for _ in 0..2 {
            cluster.add(work_dir);
        }
        cluster.wait(2);
        cluster
    }

    /// Starts another executor.
    pub(crate) fn add(&mut self, work_dir: &Path) {
        let place = ["--scheduler", &self.scheduler.address, "--cores", "1"];
        let work_dir = ["--work-dir", work_dir.to_str().unwrap()];
        let node = Node::start(None, &[&["executor"], &place[..], &work_dir].concat());
        self.executors.push(node);
    }

    /// Waits for so many executors.
    pub(crate) fn wait(&self, executors: usize) {
        let executors = executors.to_string();
        let wait = ["--scheduler", &self.scheduler.address, "--wait", &executors];
        let run = super::run(&[&["cluster", "status"], &wait[..]].concat());
        assert_eq!(run.code, 0, "{run:?}");
    }
}
