//! A ledger for one test, and the program that works on it.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use super::{Run, folder, program};

/// A folder with a ledger and a state directory of its own: as good as a machine.
pub(crate) struct Lab {
    pub(crate) folder: PathBuf,
    /// A ledger that is elsewhere.
    pub(crate) shared: Option<String>,
    /// What the program is run by, if not by itself.
    pub(crate) within: Vec<String>,
}

impl Lab {
    /// A lab without a ledger.
    pub(crate) fn empty(name: &str) -> Self {
        let folder = folder(name);
        std::fs::create_dir_all(folder.join("books")).unwrap();
        Self {
            folder,
            shared: None,
            within: Vec::new(),
        }
    }

    /// Another machine that keeps its budgets there.
    pub(crate) fn sharing(name: &str, ledger: &str) -> Self {
        Self {
            shared: Some(ledger.to_owned()),
            ..Self::empty(name)
        }
    }

    /// A ledger with the account census, (1, 1e-6).
    pub(crate) fn new(name: &str) -> Self {
        let lab = Self::empty(name);
        lab.run(&["init"]).done();
        let create = ["budget", "create", "census", "--epsilon", "1"];
        lab.run(&[&create[..], &["--delta", "1e-6"]].concat())
            .done();
        lab
    }

    pub(crate) fn ledger(&self) -> PathBuf {
        self.folder.join("books/mizan.db")
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Run {
        let child = self.start(arguments);
        let output = child.wait_with_output().unwrap();
        Run {
            code: output.status.code().expect("ended by a signal"),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    pub(crate) fn start(&self, arguments: &[&str]) -> std::process::Child {
        let ledger = match &self.shared {
            Some(ledger) => ledger.into(),
            None => self.ledger().into_os_string(),
        };
        let mut program = program();
        if let [first, others @ ..] = self.within.as_slice() {
            let mut within = Command::new(first);
            within.args(others).arg(program.get_program());
            program = within;
        }
        if self.shared.is_some() {
            program.current_dir(&self.folder);
        }
        program
            .args(arguments)
            .env("MIZAN_LEDGER", ledger)
            .env("MIZAN_STATE_DIR", self.folder.join("state"))
            .env("MIZAN_CATALOGUE", self.folder.join("books/datasets.json"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    }

    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        self.run(&[arguments, &["--format", "json"]].concat())
            .json()
    }

    /// What a refusal says, as JSON.
    pub(crate) fn refused(&self, arguments: &[&str]) -> Value {
        let run = self.run(&[arguments, &["--format", "json"]].concat());
        assert_eq!(run.code, 1, "{run:?}");
        serde_json::from_str(&run.stdout).unwrap()
    }

    /// An error with this code, and a next step.
    pub(crate) fn fails(&self, arguments: &[&str], code: &str) {
        let run = self.run(arguments);
        assert_eq!(run.code, 2, "{arguments:?}: {run:?}");
        let begins = format!("error[{code}]: ");
        assert!(
            run.stderr.contains(&begins),
            "{arguments:?}: {}",
            run.stderr
        );
        assert!(run.stderr.contains("\nhelp: "), "{}", run.stderr);
        assert!(!run.stderr.contains("panicked"), "{}", run.stderr);
    }

    pub(crate) fn size(&self) -> u64 {
        self.json(&["budget", "list"])["log"]["size"]
            .as_u64()
            .unwrap()
    }

    pub(crate) fn copy(&self, to: &Path) {
        // The last process to close it has checkpointed the write-ahead log.
        std::fs::copy(self.ledger(), to).unwrap();
    }
}

/// The names in an object.
pub(crate) fn keys(value: &Value) -> Vec<&str> {
    value
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect()
}
