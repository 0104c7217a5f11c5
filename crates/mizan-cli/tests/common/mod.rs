//! Runs the program and captures its output.

pub(crate) mod lab;
#[cfg(all(unix, feature = "postgres"))]
pub(crate) mod network;
#[cfg(feature = "ballista")]
pub(crate) mod nodes;
#[cfg(all(unix, feature = "postgres"))]
pub(crate) mod server;
pub(crate) mod visits;

use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

/// Long enough for a loaded machine, short enough to tell a hang.
const PATIENCE: Duration = Duration::from_secs(10);

/// What one run left behind.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// The program, ready to be given arguments, with a plain environment.
pub(crate) fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mizan"));
    for name in ["NO_COLOR", "TERM", "LC_ALL", "LC_CTYPE", "LANG"] {
        command.env_remove(name);
    }
    command
}

pub(crate) fn run(arguments: &[&str]) -> Run {
    run_with(arguments, b"")
}

/// Runs the program with this on its standard input.
pub(crate) fn run_with(arguments: &[&str], stdin: &[u8]) -> Run {
    let mut command = program();
    command
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let (mut input, mut output, mut complaints) = (
        child.stdin.take().unwrap(),
        child.stdout.take().unwrap(),
        child.stderr.take().unwrap(),
    );
    std::thread::scope(|scope| {
        // The program may stop reading early, which is its right.
        scope.spawn(move || input.write_all(stdin));
        let stdout = scope.spawn(move || text(&mut output));
        let stderr = scope.spawn(move || text(&mut complaints));
        let code = wait(&mut child);
        Run {
            code,
            stdout: stdout.join().unwrap(),
            stderr: stderr.join().unwrap(),
        }
    })
}

fn text(source: &mut impl Read) -> String {
    let mut bytes = Vec::new();
    source.read_to_end(&mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

/// The exit code; a run that does not end is ended and fails the test.
pub(crate) fn wait(child: &mut Child) -> i32 {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status.code().expect("ended by a signal");
        }
        if start.elapsed() > PATIENCE {
            child.kill().unwrap();
            child.wait().unwrap();
            panic!("still running after {PATIENCE:?}");
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

impl Run {
    /// Done, and nothing to complain about.
    pub(crate) fn done(self) -> String {
        assert_eq!(self.code, 0, "{self:?}");
        assert_eq!(self.stderr, "");
        self.stdout
    }

    pub(crate) fn json(self) -> Value {
        let text = self.done();
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
    }
}

/// Runs with `--format json` and reads the answer.
pub(crate) fn json(arguments: &[&str]) -> Value {
    run(&[arguments, &["--format", "json"]].concat()).json()
}

/// A fresh folder of its own for a test.
pub(crate) fn folder(name: &str) -> std::path::PathBuf {
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).unwrap();
    path
}
