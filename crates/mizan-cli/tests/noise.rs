//! `mizan noise`: its text, its files and its JSON.

use crate::common::{folder, run};

fn integers(text: &str) -> Vec<i64> {
    text.lines().map(|line| line.parse().unwrap()).collect()
}

#[test]
fn integers_one_per_line() {
    for (event, largest) in [
        ("discrete-laplace(2)", 200),
        ("discrete-gaussian(50)", 2000),
        ("rr(0.75, 4)", 3),
    ] {
        let done = run(&["noise", event, "--count", "1000"]);
        assert_eq!((done.code, done.stderr.as_str()), (0, ""), "{event}");
        let drawn = integers(&done.stdout);
        assert_eq!(drawn.len(), 1000);
        assert!(drawn.iter().all(|x| x.abs() <= largest), "{event}");
        assert!(drawn.iter().any(|&x| x != drawn[0]), "{event}");
    }
}

/// Two runs share nothing: no seed is reachable.
#[test]
fn runs_differ() {
    let arguments = ["noise", "discrete-gaussian(1e9)", "--count", "20"];
    assert_ne!(run(&arguments).stdout, run(&arguments).stdout);
}

#[test]
fn a_file_and_a_histogram() {
    let folder = folder("noise");
    let table = folder.join("noise.csv");
    let path = table.to_str().unwrap();
    let done = run(&[
        "noise",
        "discrete-laplace(3)",
        "--count",
        "70000",
        "--out",
        path,
    ]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(done.stdout.contains("70000 draws of discrete-laplace(3)"));
    assert!(done.stdout.contains("standard deviation 4."));
    assert!(done.stdout.lines().all(|line| line.chars().count() <= 80));
    let written = std::fs::read_to_string(&table).unwrap();
    let (heading, values) = written.split_once('\n').unwrap();
    assert_eq!(heading, "value");
    assert_eq!(integers(values).len(), 70_000);
}

#[test]
fn json_has_the_values() {
    let done = run(&["noise", "rr(0.75)", "--count", "50", "--format", "json"]);
    let document: serde_json::Value = serde_json::from_str(&done.stdout).unwrap();
    assert_eq!(document["count"], 50);
    assert_eq!(document["values"].as_array().unwrap().len(), 50);
    let many = run(&[
        "noise", "rr(0.75)", "--count", "1000001", "--format", "json",
    ]);
    assert_eq!(many.code, 2);
    assert!(many.stderr.contains("MZ1622") && many.stderr.contains("--out"));
}

#[test]
fn noise_that_cannot_be_drawn_names_noise_that_can() {
    for (event, count, code, help) in [
        ("gaussian(1.5)", "5", "MZ1621", "discrete-gaussian(1.5)"),
        ("laplace(2)", "5", "MZ1621", "discrete-laplace(2)"),
        ("pure(1)", "5", "MZ1621", "discrete-laplace"),
        ("2 * discrete-laplace(2)", "5", "MZ1621", "discrete-laplace"),
        ("discrete-laplace(1e-9)", "5", "MZ1602", "0.0005"),
        (
            "discrete-gaussian(1e30)",
            "5",
            "MZ1602",
            "18446744073709551615",
        ),
        ("discrete-laplace(0)", "5", "MZ1110", "above 0"),
        ("discrete-laplace(-1)", "5", "MZ1110", "above 0"),
        ("discrete-laplace(nan)", "5", "MZ1109", "decimal"),
        ("discrete-laplace(√2)", "5", "MZ11", ""),
        ("", "5", "MZ1101", "write an event"),
        ("discrete-laplace(2)", "0", "MZ1005", "1e6"),
        ("discrete-laplace(2)", "-1", "MZ1005", "1e6"),
        ("discrete-laplace(2)", "1e18", "MZ1005", "1000000000000"),
        ("discrete-laplace(2)", "many", "MZ1", "help"),
        (
            "discrete-gaussian(1.8e19)",
            "100",
            "MZ1607",
            "smaller scale",
        ),
    ] {
        let done = run(&["noise", event, "--count", count]);
        assert_eq!(done.code, 2, "{event}");
        assert!(
            done.stderr.contains(code) && done.stderr.contains(help),
            "{}",
            done.stderr
        );
        assert!(done.stdout.is_empty());
    }
}

/// A file that was there stays as it was if the draw fails, and nothing is left
/// beside it. One draw in 250,000 is beyond 64 bits, so that none of ten million is has a
/// chance of 4e-18. (Of one million: 0.018, which was seen.)
#[test]
fn a_file_appears_when_it_is_complete() {
    let folder = folder("noise-whole");
    let file = folder.join("noise.txt");
    std::fs::write(&file, "before").unwrap();
    let path = file.to_str().unwrap();
    let wide = "discrete-gaussian(2e18)";
    let done = run(&["noise", wide, "--count", "10000000", "--out", path]);
    assert_eq!(done.code, 2, "{}", done.stdout);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "before");
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1);
}

#[test]
fn files_that_cannot_be_written() {
    for path in ["/nonexistent/noise.csv", "/dev/full"] {
        let done = run(&[
            "noise",
            "discrete-laplace(2)",
            "--count",
            "100000",
            "--out",
            path,
        ]);
        assert_eq!(done.code, 2);
        assert!(done.stderr.contains("MZ0002"), "{}", done.stderr);
    }
}
