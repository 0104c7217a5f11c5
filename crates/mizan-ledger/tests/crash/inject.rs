//! Fault injection: the process is killed, or receives an I/O error or a full disk, at the N-th
//! write, sync, open ... of a fixed workload. Every outcome that it received is in the log, and
//! running the workload again gives the log of a run without faults, byte for byte.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::common::check::verify;
use crate::common::child;
use crate::common::lab::Directory;
use crate::common::workload::{Event, finish, reference, run};
use mizan_ledger::store::Sqlite;
use mizan_test_support::long_run;

/// Whatever SQLite and the ledger do to files.
const CALLS: &str = "write,pwrite64,pread64,fsync,fdatasync,ftruncate,openat,unlink,unlinkat,link,linkat,rename,fallocate";

const FAULTS: [&str; 3] = ["signal=KILL", "error=EIO", "error=ENOSPC"];

/// Not a test of its own: makes a ledger, or does the work on one.
#[test]
fn child() {
    let Some(words) = child::words() else { return };
    let path = Path::new(&words[1]);
    if words[0] == "create" {
        match Sqlite::create(path) {
            Ok(_) => child::say("created"),
            Err(error) => child::say(&format!("failed {}", error.code())),
        }
        return;
    }
    let done = run(path, |event| match event {
        Event::Received(told) => child::say(&told.to_line()),
        Event::Failed(error) => child::say(&format!("failed {}", error.code())),
    });
    if done.is_ok() {
        child::say("done");
    }
}

/// What is to be done on a ledger in a directory of its own.
struct Stage {
    phase: &'static str,
    directory: Directory,
}

impl Stage {
    fn new(phase: &'static str) -> Self {
        let stage = Self {
            phase,
            directory: Directory::in_memory(),
        };
        if phase == "work" {
            drop(Sqlite::create(&stage.path()).unwrap());
        }
        stage
    }

    fn path(&self) -> PathBuf {
        self.directory.path().join("ledger")
    }

    fn play(&self, before: &[&str]) -> (Vec<String>, String, bool) {
        let path = self.path();
        let words = [self.phase, path.to_str().unwrap()];
        child::listen(
            child::command(module_path!(), before, &words)
                .spawn()
                .unwrap(),
        )
    }

    /// What must hold whatever happened; then the work is done to its end.
    fn check(&self, lines: &[String]) {
        let path = self.path();
        if self.phase == "create" && !path.exists() {
            assert!(!lines.contains(&"created".to_owned()), "it is gone");
            drop(Sqlite::create(&path).unwrap());
        }
        let checked = verify(&Sqlite::open(&path).unwrap());
        if self.phase == "create" {
            assert!(checked.log.is_empty());
        }
        if lines.contains(&"done".to_owned()) {
            assert!(checked.log == *reference());
        }
        finish(&path, &child::told(lines));
    }
}

fn has_strace() -> bool {
    let there = Command::new("strace")
        .args(["-qq", "-o", "/dev/null", "true"])
        .status();
    let there = there.is_ok_and(|status| status.success());
    if !there {
        eprintln!("skipped: strace is missing or may not trace; scripts/test installs it");
    }
    there
}

/// Everything one run calls, in order: thread, call, the rest of the line.
fn calls(phase: &'static str) -> Vec<(String, String, String)> {
    let stage = Stage::new(phase);
    let trace = stage.directory.path().join("trace");
    let traced = format!("trace={CALLS}");
    let options = [
        "-f",
        "-qq",
        "-s",
        "80",
        "-e",
        "signal=none",
        "-e",
        &traced,
        "-o",
    ];
    let before: Vec<&str> = [&["strace"], &options[..], &[trace.to_str().unwrap()]].concat();
    let (lines, all, well) = stage.play(&before);
    assert!(well, "{all}");
    stage.check(&lines);
    let text = std::fs::read_to_string(&trace).unwrap();
    let call = |line: &str| {
        let (thread, rest) = line.split_once(' ')?;
        let (name, rest) = rest.trim_start().split_once('(')?;
        let plain = !name.starts_with('<');
        plain.then(|| (thread.to_owned(), name.to_owned(), rest.to_owned()))
    };
    text.lines().filter_map(call).collect()
}

/// One fault at one call: the phase, the call, which of its kind, the fault.
type Case = (&'static str, String, usize, &'static str);

/// Every call of every thread. strace counts for each thread on its own, so
/// that the N-th of several threads are one case.
fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for phase in ["create", "work"] {
        let mut counts: BTreeMap<(String, String), usize> = BTreeMap::new();
        for (thread, name, _) in calls(phase) {
            *counts.entry((name, thread)).or_default() += 1;
        }
        let mut most: BTreeMap<String, usize> = BTreeMap::new();
        for ((name, _), count) in counts {
            let known = most.entry(name).or_default();
            *known = count.max(*known);
        }
        for (name, count) in most {
            for fault in FAULTS {
                let name = name.clone();
                cases.extend((1..=count).map(|at| (phase, name.clone(), at, fault)));
            }
        }
    }
    cases
}

#[test]
fn a_fault_at_every_system_call() {
    if !has_strace() {
        return;
    }
    reference();
    let all = cases();
    assert!(all.len() > 1000, "{} cases", all.len());
    let (step, time) = if long_run() {
        (1, Duration::from_secs(7200))
    } else {
        (all.len() / 300, Duration::from_secs(45))
    };
    let chosen: Vec<&Case> = all.iter().step_by(step).collect();
    let (next, begun) = (AtomicUsize::new(0), Instant::now());
    let hits: Mutex<BTreeMap<&str, [usize; 2]>> = Mutex::default();
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while begun.elapsed() < time {
                    let case = chosen.get(next.fetch_add(1, Ordering::Relaxed));
                    let Some((phase, name, at, fault)) = case else {
                        break;
                    };
                    let inject = format!("inject={name}:{fault}:when={at}");
                    let trace = format!("trace={name}");
                    let options = [
                        "-f",
                        "-qq",
                        "-e",
                        "signal=none",
                        "-e",
                        &trace,
                        "-e",
                        &inject,
                    ];
                    let before = [&["strace"], &options[..], &["-o", "/dev/null"]].concat();
                    let stage = Stage::new(phase);
                    let (lines, all, well) = stage.play(&before);
                    let failed = lines.iter().any(|line| line.starts_with("failed"));
                    let hit = if *fault == FAULTS[0] {
                        !well
                    } else {
                        failed || !well
                    };
                    let mut hits = hits.lock().unwrap();
                    let [tried, hitting] = hits.entry(fault).or_default();
                    (*tried, *hitting) = (*tried + 1, *hitting + usize::from(hit));
                    drop(hits);
                    let checked = std::panic::catch_unwind(|| stage.check(&lines));
                    assert!(checked.is_ok(), "{phase} {inject}\n{all}");
                }
            });
        }
    });
    let hits = hits.into_inner().unwrap();
    println!(
        "{} cases, every {step}th: tried and noticed {hits:?}",
        all.len()
    );
    for (fault, [tried, hitting]) in hits {
        assert!(tried >= 20, "{fault}: only {tried} in time");
        // Kills are always noticed; some errors SQLite mends on its own.
        let least = if fault == FAULTS[0] {
            tried * 9 / 10
        } else {
            tried / 10
        };
        assert!(hitting >= least, "{fault}: {hitting} of {tried}");
    }
}

/// There is a sync before every outcome that a client receives.
#[test]
fn no_outcome_is_returned_before_it_is_synced() {
    if !has_strace() {
        return;
    }
    let (mut synced, mut told) = (0, 0);
    for (_, name, rest) in calls("work") {
        if name == "fdatasync" || name == "fsync" {
            synced += 1;
        }
        // The id has 32 digits; a dash would stand for a retry.
        if name == "write" && rest.starts_with("2, \"\\n@0000") {
            told += 1;
            assert!(synced > 0, "{rest}");
            synced = 0;
        }
    }
    assert_eq!(told, reference().len());
}

/// A limit on the size of files, with the signal and without.
#[test]
fn files_that_may_not_grow() {
    reference();
    for (signal, blocks) in [
        ("", 60),
        ("", 90),
        ("trap '' XFSZ; ", 60),
        ("trap '' XFSZ; ", 90),
    ] {
        let stage = Stage::new("work");
        let script = format!("{signal}ulimit -f {blocks}; exec \"$0\" \"$@\"");
        let (lines, all, _) = stage.play(&["sh", "-c", &script]);
        assert!(!lines.contains(&"done".to_owned()), "it fitted: {all}");
        stage.check(&lines);
    }
}

/// A disk that is full, for real.
#[test]
fn a_disk_without_room() {
    reference();
    let directory = Directory::new();
    let place = directory.path().to_str().unwrap();
    let mount = |words: &[&str]| Command::new("mount").args(words).output();
    let options = ["-t", "tmpfs", "-o", "size=64k", "tmpfs", place];
    if !mount(&options).is_ok_and(|done| done.status.success()) {
        eprintln!("skipped: only root may mount a small disk");
        return;
    }
    let done = std::panic::catch_unwind(|| {
        let mut full = 0;
        for kilobytes in (40..600).step_by(24) {
            let resize = |size: usize| {
                let option = format!("remount,size={size}k");
                assert!(mount(&["-o", &option, place]).unwrap().status.success());
            };
            resize(kilobytes);
            let path = directory.path().join("ledger");
            let created = Sqlite::create(&path).map(drop);
            let mut told = Vec::new();
            if created.is_ok() {
                let done = run(&path, |event| match event {
                    Event::Received(line) => told.push(line),
                    Event::Failed(_) => {}
                });
                full += usize::from(done.is_err());
            }
            resize(8192);
            if !path.exists() {
                drop(Sqlite::create(&path).unwrap());
            }
            finish(&path, &told);
            for file in std::fs::read_dir(directory.path()).unwrap() {
                std::fs::remove_file(file.unwrap().path()).unwrap();
            }
        }
        assert!(full >= 3, "the disk was full {full} times");
    });
    let gone = Command::new("umount").arg(place).status().unwrap();
    assert!(gone.success() && done.is_ok(), "{done:?}");
}
