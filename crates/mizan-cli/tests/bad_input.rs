//! Bad input: exit code 2, an error code and a next step on standard error,
//! nothing on standard output, and neither a panic nor a hang.

use std::process::Stdio;

use crate::common::{Run, folder, program, run, run_with, wait};
use serde_json::Value;

/// The code of a refusal in the form every error has.
#[track_caller]
fn refused(run: &Run) -> String {
    assert_eq!(run.code, 2, "{run:?}");
    assert_eq!(run.stdout, "", "{run:?}");
    assert!(!run.stderr.contains("panicked"), "{run:?}");
    let code = run.stderr.strip_prefix("error[").unwrap_or_default();
    let code = code.split(']').next().unwrap_or_default();
    assert!(is_code(code), "no code: {run:?}");
    let help = run.stderr.lines().find(|line| line.starts_with("help: "));
    assert!(help.is_some_and(|help| help.len() > 8), "no help: {run:?}");
    code.to_owned()
}

fn is_code(code: &str) -> bool {
    code.strip_prefix("MZ").is_some_and(|digits| {
        digits.len() == 4 && digits.chars().all(|digit| digit.is_ascii_digit())
    })
}

/// Refused in both formats, with the same code; the text of the error.
#[track_caller]
fn refuses(arguments: &[&str]) -> String {
    let text = run(arguments);
    let code = refused(&text);
    let json = run(&[arguments, &["--format", "json"]].concat());
    assert_eq!((json.code, json.stdout.as_str()), (2, ""), "{json:?}");
    let error: Value = serde_json::from_str(&json.stderr)
        .unwrap_or_else(|error| panic!("{error}: {}", json.stderr));
    assert_eq!(error["error"]["code"], code.as_str(), "{error}");
    for key in ["message", "help"] {
        let words = error["error"][key].as_str().unwrap_or_default();
        assert!(!words.is_empty(), "{key} is missing: {error}");
    }
    text.stderr
}

/// An event that cannot be: refused by all commands that take events.
#[track_caller]
fn no_event(expression: &str) -> String {
    refuses(&["curve", expression]);
    refuses(&["account", expression, "--epsilon", "1"]);
    refuses(&["account", expression, "--delta", "1e-6"])
}

#[test]
fn impossible_noise() {
    for value in [
        "0", "-1", "nan", "NaN", "inf", "-inf", "1e400", "-0", "0x10", "1,5,7",
    ] {
        for name in [
            "gaussian",
            "laplace",
            "discrete-gaussian",
            "discrete-laplace",
        ] {
            let error = no_event(&format!("{name}({value})"));
            assert!(error.contains(name), "{error}");
        }
    }
    // The parameter, its range, the value, and a caret below it.
    let error = no_event("gaussian(-1)");
    for part in ["sigma", "above 0", "-1", "\n         ^"] {
        assert!(error.contains(part), "{part} is missing:\n{error}");
    }
}

#[test]
fn impossible_answers() {
    let error = no_event("rr(0.4)");
    assert!(
        error.contains("truthful") && error.contains("chance"),
        "{error}"
    );
    assert!(
        error.contains("rr(0.6)"),
        "the way out is missing:\n{error}"
    );
    for certain in ["rr(1)", "rr(1.0)", "rr(0.99999999999999999999)"] {
        let error = no_event(certain);
        assert!(error.contains("infinite"), "{error}");
    }
    for p in ["-0.1", "1.1", "nan", "1e400"] {
        no_event(&format!("rr({p})"));
    }
    no_event("rr(0.1, 5)");
    no_event("rr(0.6, 1)");
    no_event("rr(0.6, 2.5)");
}

#[test]
fn impossible_deltas() {
    for delta in [
        "0", "1", "2", "-1", "nan", "inf", "1e-400", "", "one", "1e400", "١",
    ] {
        let error = refuses(&["account", "gaussian(1)", "--delta", delta]);
        assert!(error.contains("delta"), "{error}");
    }
}

#[test]
fn impossible_epsilons() {
    for epsilon in ["-1", "nan", "inf", "1e400", "", "one"] {
        let error = refuses(&["account", "gaussian(1)", "--epsilon", epsilon]);
        assert!(error.contains("epsilon"), "{error}");
    }
}

#[test]
fn impossible_orders() {
    for orders in ["0.5", "-1", "0", "nan", "", ",", "1,,2", "2;3", "grid"] {
        let error = refuses(&["curve", "gaussian(1)", "--orders", orders]);
        assert!(error.contains("order"), "{error}");
        refuses(&["divergence", "--p", "1", "--q", "1", "--orders", orders]);
    }
}

#[test]
fn impossible_distributions() {
    let against = |p: &str| refuses(&["divergence", "--p", p, "--q", "0.5,0.5"]);
    for p in [
        "0.5,0.4",
        "0.5,0.6",
        "-0.5,1.5",
        "nan,1",
        "inf,0",
        "1",
        "",
        ",",
        "1/0,0",
        "0/0,1",
        "a,b",
        "0.5,0.25,0.25",
        "1/3,1/3",
        "1e400,0",
        "1//2,0.5",
    ] {
        against(p);
    }
}

#[test]
fn text_that_is_not_an_event() {
    for text in [
        "",
        " ",
        "\n",
        "(",
        ")",
        "()",
        "gaussian",
        "gaussian(",
        "gaussian(1",
        "gaussian(1))",
        "gaussian()",
        "gaussian(1) +",
        "+ gaussian(1)",
        "gaussian(1) gaussian(2)",
        "* gaussian(1)",
        "0 * gaussian(1)",
        "-1 * gaussian(1)",
        "1.5 * gaussian(1)",
        "1e3 * rr(0.4)",
        "99999999999999999999 * gaussian(1)",
        "gaussian(1, 2, 3)",
        "gaussian(sigma=1, sigma=2)",
        "gaussian(speed=1)",
        "gaussian(?)",
        "rdp()",
        "rdp(2:1, 2:2)",
        "rdp(0.5:1)",
        "approximate(1, 1)",
        "poisson(2, gaussian(1))",
        "without-replacement(5, 6, gaussian(1))",
        "discrete-laplace(1, 1.5)",
        "discrete-gaussian(1, 0.5)",
        "group(0, gaussian(1))",
        "1",
        "\0",
        "gaussian(1);rm",
        "gaussian[1]",
        "{",
        "{}",
        "[]",
        "{\"event\": \"gaussian\"}",
        "{\"event\": \"unknown\"}",
        "{\"event\": \"gaussian\", \"sigma\": 1e400}",
    ] {
        if text.contains('\0') {
            // Arguments cannot hold it, a pipe can.
            refused(&run_with(&["curve", "-"], text.as_bytes()));
        } else {
            no_event(text);
        }
    }
}

#[test]
fn the_closest_event_is_suggested() {
    for (typo, meant) in [
        ("gausian(1)", "gaussian"),
        ("laplac(1)", "laplace"),
        ("Gaussian(1)", "gaussian"),
        ("poison(0.1, gaussian(1))", "poisson"),
        ("zcpd(1)", "zcdp"),
    ] {
        let error = no_event(typo);
        assert!(error.contains(meant), "{error}");
    }
}

#[test]
fn other_scripts_get_a_clear_error() {
    for text in [
        "غاوسي(1)",
        "gaussian(١٫١)",
        "gaussian(1) + 😀",
        "高斯(1)",
        "gaussian(１)",
        "ga\u{0301}ussian(1)",
        "\u{202e}gaussian(1)",
        "gaussian\u{a0}(1)\u{feff}x",
        "gaussian(1)\u{2028}+",
    ] {
        no_event(text);
    }
    // The caret stands below the character that is meant.
    let error = no_event("gaussian(1) + 高");
    assert!(error.contains("\n              ^"), "{error}");
}

#[test]
fn ten_megabytes_of_text() {
    let here = folder("ten-megabytes");
    let long = [
        "gaussian(1) + ".repeat(750_000),
        " ".repeat(10_000_000) + "x",
        "9".repeat(10_000_000),
        "x".repeat(10_000_000),
        format!("gaussian({}1)", "0".repeat(10_000_000)),
        "ع".repeat(5_000_000),
        format!("{{\"event\": \"{}\"}}", "y".repeat(10_000_000)),
        format!("{{\"event\": {}", "[".repeat(10_000_000)),
    ];
    for (index, text) in long.iter().enumerate() {
        let piped = run_with(&["account", "-", "--delta", "1e-6"], text.as_bytes());
        refused(&piped);
        // A long text is not thrown back at the person.
        assert!(piped.stderr.len() < 10_000, "{} bytes", piped.stderr.len());
        let file = here.join(format!("{index}.txt"));
        std::fs::write(&file, text).unwrap();
        let argument = format!("@{}", file.display());
        refused(&run(&["curve", &argument]));
        std::fs::remove_file(&file).unwrap();
    }
}

/// Longer than anything that is read, and cut within a character.
#[test]
fn more_than_is_ever_read() {
    for text in ["x".repeat(40_000_000), "ع".repeat(20_000_000)] {
        let piped = run_with(&["curve", "-"], text.as_bytes());
        refused(&piped);
        assert!(
            piped.stderr.contains("bytes"),
            "too long is what is wrong: {}",
            piped.stderr
        );
    }
}

#[test]
fn a_million_parentheses() {
    for depth in [100, 100_000, 400_000, 1_000_000] {
        let nested = format!("{}gaussian(1){}", "(".repeat(depth), ")".repeat(depth));
        refused(&run_with(
            &["account", "-", "--delta", "1e-6"],
            nested.as_bytes(),
        ));
        let open = "(".repeat(depth);
        refused(&run_with(&["curve", "-"], open.as_bytes()));
        let groups = "group(2,".repeat(depth.min(120_000));
        refused(&run_with(&["curve", "-"], groups.as_bytes()));
        let json = "{\"event\": \"repeat\", \"count\": 2, \"of\": ".repeat(depth.min(300_000));
        refused(&run_with(&["curve", "-"], json.as_bytes()));
    }
}

#[test]
fn input_that_is_not_text() {
    for bytes in [
        &b"gaussian(1\xff)"[..],
        &[0xff, 0xfe, 0x00],
        &[0xc3],
        &[0xed, 0xa0, 0x80],
    ] {
        refused(&run_with(&["account", "-", "--delta", "1e-6"], bytes));
    }
}

#[test]
fn files_that_cannot_be_read() {
    let here = folder("unreadable");
    let file = here.join("file.txt");
    std::fs::write(&file, "gaussian(1)").unwrap();
    for path in [
        here.join("missing.txt"),
        here.clone(),
        file.join("below-a-file"),
        "/proc/1/mem".into(),
        "".into(),
    ] {
        let argument = format!("@{}", path.display());
        let error = refuses(&["account", &argument, "--delta", "1e-6"]);
        assert!(error.contains("cannot read"), "{error}");
    }
}

#[test]
fn files_that_cannot_be_written() {
    let here = folder("unwritable");
    let file = here.join("file.txt");
    std::fs::write(&file, "kept").unwrap();
    let below = file.join("figures");
    for out in [below.to_str().unwrap(), "/proc/figures", "/dev/null"] {
        refuses(&["figure", "1", "--out", out]);
    }
    for svg in [
        below.to_str().unwrap(),
        here.to_str().unwrap(),
        "/proc/x.svg",
        "/dev/full",
        "",
    ] {
        refuses(&["curve", "gaussian(1)", "--svg", svg]);
    }
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "kept");
}

#[test]
fn unknown_commands() {
    for arguments in [
        &["acount"][..],
        &["account"],
        &["account", "gaussian(1)"],
        &["figure"],
        &["figure", "9"],
        &["figure", "x"],
        &["table"],
        &["table", "7"],
        &["completions", "dos"],
        &["curve"],
        &["divergence", "--p", "1"],
        &[
            "account",
            "gaussian(1)",
            "--delta",
            "1e-6",
            "--epsilon",
            "1",
        ],
        &[
            "account",
            "gaussian(1)",
            "--delta",
            "1e-6",
            "--method",
            "magic",
        ],
        &["account", "gaussian(1)", "--delta"],
        &["curve", "gaussian(1)", "--colour"],
    ] {
        refuses(arguments);
    }
    refused(&run(&["curve", "gaussian(1)", "--format", "xml"]));
}

/// Without a command the help is shown, and the exit code is 2.
#[test]
fn no_command_at_all() {
    let nothing = run(&[]);
    assert_eq!((nothing.code, nothing.stdout.as_str()), (2, ""));
    assert!(nothing.stderr.contains("Usage"), "{}", nothing.stderr);
}

#[test]
fn events_without_an_accountant_are_named() {
    // A curve that is only known, on a sample, of a size that is not.
    let expression = "laplace(1) + 10 * shuffle(100, gaussian(1))";
    let error = no_event(expression);
    assert!(error.contains("shuffle(100, gaussian(1))"), "{error}");
    for method in ["pure", "basic", "renyi"] {
        refuses(&["account", expression, "--delta", "1e-6", "--method", method]);
    }
    refuses(&[
        "account",
        "gaussian(1)",
        "--delta",
        "1e-6",
        "--method",
        "pure",
    ]);
    refuses(&["account", "approximate(1, 1e-3)", "--delta", "1e-6"]);
    refuses(&["curve", "approximate(1, 1e-3)"]);
}

/// A disk that is full, with text and with JSON.
#[test]
fn a_full_disk_is_an_error() {
    for arguments in [
        &["account", "gaussian(1)", "--delta", "1e-6"][..],
        &["curve", "gaussian(1)", "--format", "json"],
        &["completions", "zsh"],
        &["man"],
        &["--help"],
        &["--version"],
        &["table", "2"],
    ] {
        let full = std::fs::File::options()
            .write(true)
            .open("/dev/full")
            .unwrap();
        let output = program().args(arguments).stdout(full).output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {stderr}");
        assert!(stderr.contains("MZ0002"), "{arguments:?}: {stderr}");
        assert!(!stderr.contains("panicked"), "{stderr}");
    }
}

/// A closed pipe, such as of `head`, is not an error.
#[test]
fn a_closed_pipe_is_quiet() {
    for arguments in [
        &["completions", "zsh"][..],
        &["curve", "gaussian(1)", "--orders", "default"],
        &["man"],
        &["--help"],
    ] {
        let mut child = program()
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let code = wait(&mut child);
        let mut stderr = String::new();
        std::io::Read::read_to_string(&mut child.stderr.take().unwrap(), &mut stderr).unwrap();
        assert_eq!((code, stderr.as_str()), (0, ""), "{arguments:?}");
    }
}

/// Standard error is closed: still the right exit code.
#[test]
fn a_closed_standard_error_changes_nothing() {
    let full = std::fs::File::options()
        .write(true)
        .open("/dev/full")
        .unwrap();
    let status = program()
        .args(["curve", "gaussian(0)"])
        .stdout(Stdio::null())
        .stderr(full)
        .status()
        .unwrap();
    assert_eq!(status.code(), Some(2));
}

/// Every flag of the commands about people.
#[test]
fn impossible_risks_and_groups() {
    for bad in [
        "", "0", "1", "2", "-0.5", "nan", "inf", "1e400", "half", "٠٫٥", "0,5",
    ] {
        refuses(&["risk", "gaussian(1)", "--baseline", bad]);
        refuses(&["risk", "gaussian(1)", "--baseline", "0.1", "--prior", bad]);
    }
    for bad in ["", "0", "-1", "nan", "inf", "1e400", "two"] {
        refuses(&["risk", "gaussian(1)", "--baseline", "0.1", "--beta", bad]);
        refuses(&["group", "gaussian(1)", "--size", bad]);
        refuses(&[
            "account",
            "gaussian(1)",
            "--delta",
            "1e-6",
            "--population",
            bad,
        ]);
    }
    for bad in ["1.5", "9007199254740993", "99999999999999999999", "٣"] {
        refuses(&["group", "gaussian(1)", "--size", bad]);
    }
    refuses(&["risk", "gaussian(1)"]);
    refuses(&["risk", "approximate(1, 1e-5)", "--baseline", "0.1"]);
    refuses(&["group", "gaussian(1)"]);
    refuses(&["group", "finite(1:0.5, 0:0.5)", "--size", "2"]);
    refuses(&["group", "rdp(2, 0.1)", "--size", "1000000"]);
    refuses(&[
        "group",
        "approximate(1, 0.1)",
        "--size",
        "9",
        "--delta",
        "1e-6",
    ]);
}

/// Every flag of the calibration.
#[test]
fn impossible_calibrations() {
    let calibrate = |expression: &str, epsilon: &str, delta: &str| {
        refuses(&[
            "calibrate",
            expression,
            "--epsilon",
            epsilon,
            "--delta",
            delta,
        ]);
    };
    for bad in [
        "",
        "gaussian(1)",
        "gaussian(?, ?)",
        "rdp(?, 1)",
        "finite(?:1)",
        "? * ?",
        "group(2, ?)",
        "gaussian(?) + pure(2)",
        "? * pure(2)",
        "?",
        "gaussian(?",
        "غاوس(?)",
    ] {
        calibrate(bad, "1", "1e-6");
    }
    for bad in ["", "-1", "nan", "inf", "1e400", "one"] {
        calibrate("gaussian(?)", bad, "1e-6");
        calibrate("gaussian(?)", "1", bad);
    }
    for bad in ["0", "1", "2"] {
        calibrate("gaussian(?)", "1", bad);
    }
    refuses(&["figure", "4"]);
    refuses(&["table", "3"]);
}
