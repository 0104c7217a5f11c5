//! Child processes of a test: the test binary again, with one test that reads its task from an
//! environment variable and prints the outcomes it received, one line each, on stderr.

use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use super::check::ClientRecord;

/// What a child is to do; a test named `child` reads it.
const CHILD: &str = "MIZAN_TEST_CHILD";

/// Lines that are meant; the rest is what the test harness and panics print.
const MARK: &str = "\n@";

/// The words for this process, if it is a child.
pub(crate) fn words() -> Option<Vec<String>> {
    let words = std::env::var(CHILD).ok()?;
    Some(words.split('\t').map(str::to_owned).collect())
}

/// A command that runs this binary with the test `child` of a module (as
/// `module_path!` names it), after the words of `before`, such as `strace` and its
/// options.
pub(crate) fn command(module: &str, before: &[&str], words: &[&str]) -> Command {
    let test = match module.split_once("::") {
        Some((_, module)) => format!("{module}::child"),
        None => "child".to_owned(),
    };
    let this = std::env::current_exe().unwrap();
    let mut line: Vec<&std::ffi::OsStr> = before.iter().map(|word| word.as_ref()).collect();
    line.push(this.as_os_str());
    let mut command = Command::new(line[0]);
    command
        .args(&line[1..])
        .args(["--exact", &test, "--nocapture", "--test-threads=1"])
        .env(CHILD, words.join("\t"))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    command
}

/// Says a line in one write, so that lines of threads do not mix and a kill
/// leaves whole lines or none.
pub(crate) fn say(line: &str) {
    let line = format!("{MARK}{line}\n");
    std::io::stderr().write_all(line.as_bytes()).unwrap();
}

/// What a child said, to its end, and how it ended.
pub(crate) fn listen(mut child: Child) -> (Vec<String>, String, bool) {
    let mut said = Vec::new();
    child.stderr.take().unwrap().read_to_end(&mut said).unwrap();
    let ended = child.wait().unwrap();
    let (lines, all) = lines(&said);
    (lines, all, ended.success())
}

/// What a child said until it was killed after some time, if it was.
pub(crate) fn run_for(command: &mut Command, time: Option<Duration>) -> Vec<String> {
    let mut child = command.spawn().unwrap();
    let mut errors = child.stderr.take().unwrap();
    // The child would block if stderr were not read.
    let listener = thread::spawn(move || {
        let mut said = Vec::new();
        errors.read_to_end(&mut said).unwrap();
        said
    });
    if let Some(time) = time {
        thread::sleep(time);
        child.kill().unwrap();
    }
    let ended = child.wait().unwrap();
    let (lines, all) = lines(&listener.join().unwrap());
    assert!(time.is_some() || ended.success(), "{all}");
    lines
}

fn lines(said: &[u8]) -> (Vec<String>, String) {
    let all = String::from_utf8_lossy(said).into_owned();
    // A line that was cut off has no end.
    let whole = all
        .split_inclusive('\n')
        .filter(|line| line.ends_with('\n'));
    let lines = whole.filter_map(|line| line.strip_prefix('@'));
    let lines = lines.map(|line| line.trim_end().to_owned()).collect();
    (lines, all)
}

/// The lines with an outcome that a client received.
pub(crate) fn told(lines: &[String]) -> Vec<ClientRecord> {
    lines
        .iter()
        .filter_map(|line| ClientRecord::from_line(line))
        .collect()
}
