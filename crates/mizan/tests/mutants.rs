//! Damaged files through the real program: it ends with 0, 1 or 2, prints no panic and
//! no cell, and takes a bounded amount of memory. And files that were moved.
#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests"
)]

mod common;
#[path = "../../mizan-engine/src/engines/datafusion/tests/mutate.rs"]
mod mutate;

use common::lab::Lab;
use common::visits::{lab, people};
use mutate::{Numbers, csv_files, mutant};

const SECRET: &str = "SECRET of one person";

#[test]
fn mutants_of_files_end_in_an_answer_or_an_error() {
    let mut lab = Lab::empty("mutants");
    lab.run(&["init"]).done();
    // Address space, in kilobytes: an allocation of what a file claims would abort.
    let limit = r#"ulimit -v 8000000; exec "$0" "$@""#;
    lab.within = ["sh", "-c", limit].map(str::to_owned).to_vec();
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let whole = std::fs::read(root.join("../../testdata/sql/visits.parquet")).unwrap();
    let parquet = vec![whole];
    let csv = csv_files(SECRET);
    let mut codes = [0; 3];
    for seed in 0..60_u64 {
        let mut numbers = Numbers(seed.wrapping_mul(7919));
        let (format, files) = match seed % 3 {
            0 => ("csv", &csv),
            _ => ("parquet", &parquet),
        };
        let place = numbers.below(files.len());
        let path = lab.folder.join(format!("f{seed}.{format}"));
        std::fs::write(&path, mutant(&mut numbers, files, place)).unwrap();
        let unit = if format == "csv" { "u" } else { "person" };
        let (name, from) = (format!("t{seed}"), path.to_str().unwrap());
        let add = ["dataset", "add", &name, "--from", from, "--unit", unit];
        let terms = [
            "--epsilon",
            "1",
            "--delta",
            "1e-6",
            "--max-rows-per-unit",
            "3",
        ];
        let sql = format!("SELECT COUNT(*) FROM {name}");
        let ask = ["query", &sql, "--epsilon", "0.1"];
        let mut runs = vec![lab.run(&[&add[..], &terms].concat())];
        if runs[0].code == 0 {
            runs.push(lab.run(&ask));
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
        std::fs::remove_file(&path).unwrap();
    }
    assert!(codes[0] > 5 && codes[2] > 5, "{codes:?}");
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
