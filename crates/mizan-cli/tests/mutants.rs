//! Damaged files through the real program: it ends with 0, 1 or 2, prints no panic and
//! no cell, and takes a bounded amount of memory. And files that were moved.
#![cfg(unix)]

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::common::lab::Lab;
use crate::common::visits::{lab, people};
use mizan_core::SplitMix64;
use mizan_test_support::long_run;
use mizan_test_support::mutants::{csv_files, mutant};

const SECRET: &str = "SECRET of one person";

/// The number of mutants in a quick run and in a long one.
const MUTANTS: (u64, u64) = (60, 10_000);

/// The mutants of a ledger: a catalogue of many datasets is slow to add to.
const OF_A_LEDGER: u64 = 100;

/// How many runs of the program ended with each code.
type Codes = [usize; 3];

#[test]
fn mutants_of_files_end_in_an_answer_or_an_error() {
    let mutants = if long_run() { MUTANTS.1 } else { MUTANTS.0 };
    let next = AtomicU64::new(0);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let codes = std::thread::scope(|scope| {
        let work = || {
            let mut codes = Codes::default();
            loop {
                let first = next.fetch_add(OF_A_LEDGER, Ordering::Relaxed);
                if first >= mutants {
                    return codes;
                }
                let seeds = first..mutants.min(first + OF_A_LEDGER);
                add(&mut codes, run_mutants(seeds));
            }
        };
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        workers
            .into_iter()
            .fold(Codes::default(), |mut all, worker| {
                add(&mut all, worker.join().unwrap());
                all
            })
    });
    eprintln!("{mutants} mutants: runs that ended with 0, 1, 2: {codes:?}");
    assert!(codes[0] > 5 && codes[2] > 5, "{codes:?}");
}

fn add(all: &mut Codes, more: Codes) {
    for (all, more) in all.iter_mut().zip(more) {
        *all += more;
    }
}

/// Adds each mutant as a dataset and queries it. Every fourth one replaces a file that was added
/// before.
fn run_mutants(seeds: Range<u64>) -> Codes {
    let mut lab = Lab::empty(&format!("mutants-{}", seeds.start));
    lab.run(&["init"]).done();
    // Address space, in kilobytes: an allocation of what a file claims would abort.
    let limit = r#"ulimit -v 8000000; exec "$0" "$@""#;
    lab.within = ["sh", "-c", limit].map(str::to_owned).to_vec();
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let whole = std::fs::read(root.join("../../testdata/sql/visits.parquet")).unwrap();
    let parquet = vec![whole];
    let csv = csv_files(SECRET);
    let path = |name: &str, format: &str| lab.folder.join(format!("{name}.{format}"));
    let ask = |name: &str| {
        let sql = format!("SELECT COUNT(*) FROM {name}");
        lab.run(&["query", &sql, "--epsilon", "0.01"])
    };
    let add = |name: &str, format: &str| {
        let unit = if format == "csv" { "u" } else { "person" };
        let from = path(name, format);
        let add = ["dataset", "add", name, "--from", from.to_str().unwrap()];
        let terms = ["--unit", unit, "--epsilon", "9", "--delta", "1e-6"];
        let rows = ["--max-rows-per-unit", "3"];
        lab.run(&[&add[..], &terms, &rows].concat())
    };
    for (format, file) in [("csv", &csv[0]), ("parquet", &parquet[0])] {
        std::fs::write(path(format, format), file).unwrap();
        add(format, format).done();
    }
    let mut codes = Codes::default();
    for seed in seeds {
        let mut numbers = SplitMix64::new(seed.wrapping_mul(7919));
        let (format, files) = match seed % 3 {
            0 => ("csv", &csv),
            _ => ("parquet", &parquet),
        };
        let place = numbers.below(files.len());
        let bytes = mutant(&mut numbers, files, place);
        let mut runs = Vec::new();
        if seed % 4 == 3 {
            std::fs::write(path(format, format), bytes).unwrap();
            runs.push(ask(format));
            // An account with several failures after the charge refuses queries.
            if runs[0].code == 2 {
                lab.run(&["budget", "settle", format]);
            }
        } else {
            let name = format!("t{seed}");
            std::fs::write(path(&name, format), bytes).unwrap();
            runs.push(add(&name, format));
            if runs[0].code == 0 {
                runs.push(ask(&name));
            }
            std::fs::remove_file(path(&name, format)).unwrap();
        }
        for run in runs {
            assert!((0..=2).contains(&run.code), "{seed}: {run:?}");
            codes[usize::try_from(run.code).unwrap()] += 1;
            assert!(!run.stderr.contains("panicked"), "{seed}: {run:?}");
            let refused = run.code != 0;
            assert!(
                !(refused && run.stderr.contains("SECRET")),
                "{seed}: {run:?}"
            );
        }
    }
    std::fs::remove_dir_all(&lab.folder).unwrap();
    codes
}

/// A private file is known by its device and inode, wherever it is moved.
#[test]
fn a_moved_file_keeps_its_budget() {
    let lab = lab("moved", &people());
    let at = |name: &str| lab.folder.join(name);
    let add = |name: &str, path: &std::path::Path, terms: &[&str]| {
        let add = ["dataset", "add", name, "--from", path.to_str().unwrap()];
        lab.run(&[&add[..], terms].concat())
    };
    let copy = at("copy.csv");
    std::fs::copy(at("visits.csv"), &copy).unwrap();
    std::fs::rename(at("visits.csv"), at("moved.csv")).unwrap();
    std::os::unix::fs::symlink(at("moved.csv"), at("link.csv")).unwrap();
    std::fs::hard_link(at("moved.csv"), at("hard.csv")).unwrap();
    std::fs::create_dir(at("folder")).unwrap();
    std::fs::hard_link(at("moved.csv"), at("folder/part.csv")).unwrap();
    let budget = ["--unit", "person", "--epsilon", "4", "--delta", "1e-6"];
    for name in ["moved.csv", "link.csv", "hard.csv", "folder"] {
        for terms in [&["--public"][..], &budget] {
            let run = add("again", &at(name), terms);
            assert_eq!(run.code, 2, "{run:?}");
            assert!(run.stderr.contains("MZ1876"), "{run:?}");
            assert!(run.stderr.contains("`visits`"), "{run:?}");
        }
    }
    // On the same terms it may be added again; a copy is another file, and so is one
    // that takes its place.
    let same = ["--unit", "person", "--account", "visits"];
    assert_eq!(add("same", &at("moved.csv"), &same).code, 0);
    assert_eq!(add("copy", &copy, &["--public"]).code, 0);
    std::fs::write(at("other.csv"), "city\nCairo\n").unwrap();
    assert_eq!(add("other", &at("other.csv"), &["--public"]).code, 0);
}

/// A quote that stays open makes a name of the cells after it. No message shows them.
#[test]
fn a_broken_header_shows_no_cells() {
    let lab = Lab::empty("headers");
    lab.run(&["init"]).done();
    let path = lab.folder.join("open.csv");
    let cells = format!("1,{SECRET}\n").repeat(3);
    let long = "SECRET".repeat(30);
    let headers = [
        (
            format!("u,\"name\n{cells}"),
            "the name of column 2, of 74 bytes, cannot be used",
        ),
        (
            format!("u,{long}\n{long}"),
            "the name of column 2, of 180 bytes, cannot be used",
        ),
        (
            "u,\"SECRET\ta\u{c}\"\n1,2\n".to_owned(),
            "the name of column 2, of 9 bytes, cannot be used",
        ),
    ];
    for (text, message) in headers {
        std::fs::write(&path, text).unwrap();
        let add = ["dataset", "add", "open", "--from", path.to_str().unwrap()];
        let terms = ["--unit", "u", "--epsilon", "1", "--delta", "1e-6"];
        let run = lab.run(&[&add[..], &terms].concat());
        assert_eq!(run.code, 2, "{run:?}");
        assert!(run.stderr.contains("MZ1863"), "{run:?}");
        assert!(run.stderr.contains(message), "{run:?}");
        assert!(!run.stderr.contains("SECRET"), "{run:?}");
    }
}

/// Lines that end in a carriage return alone are refused; within a row it is text.
#[test]
fn a_carriage_return_does_not_end_a_line() {
    let lab = Lab::empty("returns");
    lab.run(&["init"]).done();
    let path = lab.folder.join("old.csv");
    std::fs::write(&path, "u,x\r1,a\r2,b\r").unwrap();
    let add = ["dataset", "add", "old", "--from", path.to_str().unwrap()];
    let terms = ["--unit", "u", "--epsilon", "1", "--delta", "1e-6"];
    let run = lab.run(&[&add[..], &terms].concat());
    assert_eq!(run.code, 2, "{run:?}");
    assert!(run.stderr.contains("MZ1904"), "{run:?}");
    assert!(run.stderr.contains("carriage return"), "{run:?}");
}
