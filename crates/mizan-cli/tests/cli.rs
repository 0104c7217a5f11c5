//! The contract of the command line: the JSON that programs read, the files
//! that figures become, and the help that people read.

use crate::common::{folder, json, program, run, run_with};
use serde_json::Value;

const TRIO: &str = "100 * (rr(0.52) + laplace(20) + gaussian(10))";

fn keys(value: &Value) -> Vec<&str> {
    let object = value.as_object().unwrap_or_else(|| panic!("{value}"));
    object.keys().map(String::as_str).collect()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value}"))
}

#[track_caller]
fn close(computed: f64, expected: f64) {
    assert!(
        (computed - expected).abs() <= 1e-12 * expected.abs(),
        "{computed:e}, expected {expected:e}"
    );
}

#[test]
fn account_at_a_delta() {
    let account = json(&["account", TRIO, "--delta", "1e-6"]);
    for key in ["expression", "delta", "epsilon", "methods", "warnings"] {
        assert!(keys(&account).contains(&key), "{key} is missing: {account}");
    }
    assert_eq!(account["expression"], TRIO);
    assert_eq!(number(&account["delta"]), 1e-6);
    assert_eq!(keys(&account["epsilon"]), ["upper", "lower", "method"]);
    assert!(account["warnings"].as_array().unwrap().is_empty());
    for method in account["methods"].as_array().unwrap() {
        assert_eq!(keys(method), ["name", "upper", "lower", "order"]);
    }
    // The exact value is 7.018985893727861; Rényi accounting comes near.
    let upper = number(&account["epsilon"]["upper"]);
    assert!((7.018..7.48).contains(&upper), "{upper}");
}

#[test]
fn account_at_an_epsilon_swaps_the_roles() {
    let account = json(&["account", "gaussian(1)", "--epsilon", "1"]);
    assert_eq!(number(&account["epsilon"]), 1.0);
    assert_eq!(keys(&account["delta"]), ["upper", "lower", "method"]);
    // The exact value is 0.126936737507.
    let upper = number(&account["delta"]["upper"]);
    assert!((0.1269..0.25).contains(&upper), "{upper}");
}

#[test]
fn account_reports_the_best_method() {
    let account = json(&["account", "3 * laplace(2) + rr(0.75)", "--delta", "1e-6"]);
    let methods = account["methods"].as_array().unwrap();
    let by_name = |name: &str| {
        let found = methods.iter().find(|method| method["name"] == name);
        found.unwrap_or_else(|| panic!("{name} is missing: {account}"))
    };
    let uppers = methods.iter().map(|method| number(&method["upper"]));
    let least = uppers.fold(f64::INFINITY, f64::min);
    assert_eq!(number(&account["epsilon"]["upper"]), least);
    // Without an order there is null; with one a number or "inf".
    assert!(by_name("pure")["order"].is_null() && by_name("pure")["lower"].is_null());
    assert!(by_name("basic")["order"].is_null());
    let order = &by_name("renyi")["order"];
    assert!(order.is_number() || order == "inf", "{order}");
}

#[test]
fn account_by_one_method() {
    for (method, expected) in [("pure", 2.0), ("basic", 2.0)] {
        let account = json(&[
            "account",
            "4 * laplace(2)",
            "--delta",
            "1e-6",
            "--method",
            method,
        ]);
        close(number(&account["epsilon"]["upper"]), expected);
        assert_eq!(account["epsilon"]["method"], method);
        assert_eq!(account["methods"].as_array().unwrap().len(), 1);
    }
    let account = json(&[
        "account",
        "100 * pure(0.1)",
        "--delta",
        "1e-6",
        "--method",
        "renyi",
    ]);
    assert_eq!(account["epsilon"]["method"], "renyi");
}

/// The count of randomized response matters (a peer says 1.0987 here).
#[test]
fn account_does_not_forget_the_count() {
    let account = json(&["account", "100 * rr(0.75)", "--delta", "1e-6"]);
    let upper = number(&account["epsilon"]["upper"]);
    assert!((94.289..100.0).contains(&upper), "{upper}");
}

#[test]
fn account_text() {
    let text = run(&["account", TRIO, "--delta", "1e-6", "--why"]).done();
    for word in ["renyi", "Mironov", "Canonne", "tightest", "13 orders"] {
        assert!(text.contains(word), "{word} is missing:\n{text}");
    }
    assert!(!text.contains('\u{1b}'), "colour without a terminal");
}

/// Typed, as JSON, from a file and from standard input: the same answer.
#[test]
fn events_come_from_anywhere() {
    let typed = run(&["curve", "2 * laplace(3)", "--format", "json"]).done();
    let event = r#"{"event": "repeat", "count": 2, "of": {"event": "laplace", "scale": 3}}"#;
    let as_json = json(&["curve", event]);
    let typed_json: Value = serde_json::from_str(&typed).unwrap();
    assert_eq!(as_json["curve"], typed_json["curve"]);

    let piped = run_with(&["curve", "-", "--format", "json"], b"  2 * laplace(3)\n");
    assert_eq!(piped.done(), typed);
    let file = folder("from-file").join("event.txt");
    std::fs::write(&file, "2 * laplace(3)\n").unwrap();
    let argument = format!("@{}", file.display());
    assert_eq!(run(&["curve", &argument, "--format", "json"]).done(), typed);
}

#[test]
fn curve_at_listed_orders() {
    let curve = json(&["curve", "gaussian(2)", "--orders", "1,1.5,4,inf"]);
    assert_eq!(curve["expression"], "gaussian(2)");
    let points = curve["curve"].as_array().unwrap();
    assert_eq!(points.len(), 4);
    for (point, (order, epsilon)) in points.iter().zip([(1.0, 0.125), (1.5, 0.1875), (4.0, 0.5)]) {
        assert_eq!(number(&point["order"]), order);
        close(number(&point["epsilon"]), epsilon);
    }
    assert_eq!(points[3]["order"], "inf");
    assert!(points[3]["epsilon"].is_null(), "infinity is null");

    let pure = json(&["curve", "laplace(1)", "--orders", "inf"]);
    close(number(&pure["curve"][0]["epsilon"]), 1.0);
}

#[test]
fn curve_on_named_grids() {
    for (grid, size) in [("paper", 13), ("default", 70)] {
        let curve = json(&["curve", "rr(0.6)", "--orders", grid]);
        assert_eq!(curve["curve"].as_array().unwrap().len(), size, "{grid}");
    }
    // The paper's orders are what is shown if nothing is said.
    let (said, unsaid) = (
        json(&["curve", "rr(0.6)", "--orders", "paper"]),
        json(&["curve", "rr(0.6)"]),
    );
    assert_eq!(said, unsaid);
}

#[test]
fn curve_draws_a_picture() {
    let path = folder("curve-svg").join("curve.svg");
    let text = run(&["curve", "laplace(1)", "--svg", path.to_str().unwrap()]).done();
    assert!(text.contains("curve.svg"));
    let svg = std::fs::read_to_string(&path).unwrap();
    assert!(svg.starts_with("<svg") || svg.starts_with("<?xml"), "{svg}");
    assert!(svg.trim_end().ends_with("</svg>"));
}

#[test]
fn divergence_both_ways() {
    let arguments = [
        "divergence",
        "--p",
        "0.5,0.5",
        "--q",
        "0.75,0.25",
        "--orders",
        "1,2,inf",
    ];
    let rows = json(&arguments);
    let rows = rows["divergence"].as_array().unwrap();
    let kullback_leibler =
        |p: [f64; 2], q: [f64; 2]| -> f64 { p.iter().zip(q).map(|(p, q)| p * (p / q).ln()).sum() };
    let (p, q) = ([0.5, 0.5], [0.75, 0.25]);
    close(number(&rows[0]["forward"]), kullback_leibler(p, q));
    close(number(&rows[0]["backward"]), kullback_leibler(q, p));
    close(number(&rows[1]["forward"]), (4f64 / 3.0).ln());
    close(number(&rows[1]["backward"]), 1.25f64.ln());
    close(number(&rows[2]["forward"]), 2f64.ln());
    close(number(&rows[2]["backward"]), 1.5f64.ln());
    assert_eq!(rows[2]["order"], "inf");
}

#[test]
fn divergence_of_fractions_and_zeros() {
    let rows = json(&[
        "divergence",
        "--p",
        "1/3,2/3,0",
        "--q",
        "1/3,1/3,1/3",
        "--orders",
        "2",
    ]);
    // Σ p²/q = 1/3 + 4/3, and nothing for the outcome p does not have.
    close(number(&rows["divergence"][0]["forward"]), (5f64 / 3.0).ln());
    assert!(
        rows["divergence"][0]["backward"].is_null(),
        "infinite: {rows}"
    );
}

/// Formulas of docs/spec/mathematics.md 2.1 to 2.3, in their stable forms.
fn formula(series: &str, a: f64) -> f64 {
    let parameter: f64 = series.rsplit(' ').next().unwrap().parse().unwrap();
    let b = a - 1.0;
    if series.starts_with('p') {
        let loss = (parameter / (1.0 - parameter)).ln();
        if a == 1.0 {
            (2.0 * parameter - 1.0) * loss
        } else {
            let ratio = ((-loss).exp() - (-(2.0 * a - 1.0) * loss).exp())
                / (1.0 + (-(2.0 * a - 1.0) * loss).exp());
            loss - ratio.ln_1p() / b
        }
    } else if series.starts_with("1/λ") {
        if a == 1.0 {
            parameter + (-parameter).exp_m1()
        } else {
            let saved = b * ((1.0 - 2.0 * a) * parameter).exp_m1() / (2.0 * a - 1.0);
            parameter + saved.ln_1p() / b
        }
    } else {
        a / (2.0 * parameter * parameter)
    }
}

#[test]
fn figure_1_has_the_papers_curves() {
    let out = folder("figure-1").join("made/on/demand");
    let files = json(&["figure", "1", "--out", out.to_str().unwrap()]);
    assert_eq!(files["figure"], 1);
    assert_eq!(files["files"].as_array().unwrap().len(), 2);
    let svg = std::fs::read_to_string(out.join("figure-1.svg")).unwrap();
    assert!(svg.contains("<svg") && svg.trim_end().ends_with("</svg>"));

    let csv = std::fs::read_to_string(out.join("figure-1.csv")).unwrap();
    let mut lines = csv.lines();
    assert_eq!(lines.next(), Some("panel,series,x,y"));
    let mut series: Vec<String> = Vec::new();
    let (mut first, mut last) = (f64::INFINITY, 0.0_f64);
    for line in lines {
        let cells: Vec<&str> = line.split(',').collect();
        let [_, name, x, y] = cells[..] else {
            panic!("{line}");
        };
        let (x, y): (f64, f64) = (x.parse().unwrap(), y.parse().unwrap());
        let expected = formula(name, x);
        assert!(
            (y - expected).abs() <= 1e-12 * expected,
            "{line}: expected {expected:e}"
        );
        if series.last().map(String::as_str) != Some(name) {
            series.push(name.to_owned());
        }
        (first, last) = (first.min(x), last.max(x));
    }
    assert_eq!((first, last), (1.0, 10.0));
    let expected = [
        "p = 0.55",
        "p = 0.6",
        "p = 0.75",
        "1/λ = 0.25",
        "1/λ = 0.5",
        "1/λ = 1",
        "σ = 4",
        "σ = 3",
        "σ = 2",
    ];
    assert_eq!(series, expected);
}

#[test]
fn table_2_has_the_three_mechanisms() {
    let table = json(&["table", "2"]);
    let rows = table["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 3);
    for row in rows {
        let example = row["example"].as_str().unwrap();
        let curve = json(&["curve", example, "--orders", "1,2,4,10,inf"]);
        for (in_table, on_curve) in row["curve"]
            .as_array()
            .unwrap()
            .iter()
            .zip(curve["curve"].as_array().unwrap())
        {
            assert_eq!(in_table["order"], on_curve["order"]);
            assert_eq!(in_table["epsilon"], on_curve["epsilon"], "{example}");
        }
    }
    let text = run(&["table", "2"]).done();
    for word in ["Randomized response", "Laplace", "Gaussian", "α/(2σ²)"] {
        assert!(text.contains(word), "{word} is missing:\n{text}");
    }
}

#[test]
fn completions_for_every_shell() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = run(&["completions", shell]).done();
        for command in ["account", "curve", "divergence", "figure", "table"] {
            assert!(script.contains(command), "{shell}: {command} is missing");
        }
    }
}

#[test]
fn manual_page() {
    let page = run(&["man"]).done();
    assert!(page.contains(".TH mizan 1"), "{page}");
    assert!(page.contains("account"));
}

/// The help of every command, of its subcommands too, fits a terminal of 80 columns.
#[test]
fn help_fits_eighty_columns() {
    fn names(help: &str) -> Vec<String> {
        let (_, commands) = help.split_once("Commands:\n").unwrap_or_default();
        let lines = commands.lines().take_while(|line| line.starts_with("  "));
        let lines = lines.filter(|line| !line.starts_with("   "));
        let names = lines.filter_map(|line| line.split_whitespace().next());
        let names = names.filter(|name| *name != "help");
        names.map(str::to_owned).collect()
    }
    let mut commands: Vec<Vec<String>> = vec![Vec::new()];
    let mut seen = 0;
    while let Some(command) = commands.pop() {
        let mut arguments: Vec<&str> = command.iter().map(String::as_str).collect();
        arguments.push("--help");
        let help = run(&arguments).done();
        for line in help.lines() {
            assert!(line.chars().count() <= 80, "{command:?}: {line}");
        }
        for name in names(&help) {
            commands.push([&command[..], &[name]].concat());
        }
        seen += 1;
    }
    assert!(seen > 40, "{seen} commands");
}

#[test]
fn help_has_examples() {
    let help = run(&["--help"]).done();
    assert!(help.contains("Examples"), "{help}");
    for command in [
        "account",
        "curve",
        "divergence",
        "figure",
        "table",
        "completions",
        "man",
    ] {
        assert!(help.contains(command), "{command} is missing:\n{help}");
        let of_command = run(&[command, "--help"]).done();
        assert!(of_command.contains("Examples"), "{command}:\n{of_command}");
        assert!(of_command.contains("Usage: mizan"), "{of_command}");
    }
}

/// Every example that the help prints works (but for files that are not here).
#[test]
fn examples_of_the_help_work() {
    let here = folder("examples");
    std::fs::write(here.join("releases.txt"), "gaussian(3) + laplace(2)").unwrap();
    let mut tried = 0;
    for command in [
        "account",
        "curve",
        "divergence",
        "risk",
        "group",
        "calibrate",
        "figure",
        "table",
        "completions",
    ] {
        let help = run(&[command, "--help"]).done();
        for line in help.lines().filter_map(|line| line.strip_prefix("  ")) {
            let Some(example) = line.trim_start().strip_prefix("mizan ") else {
                continue;
            };
            // Without redirections into the system and without remarks.
            let example = example.split(" > ").next().unwrap();
            let example = example.split("     ").next().unwrap();
            let mut shell = std::process::Command::new("sh");
            let line = format!("{} {example}", env!("CARGO_BIN_EXE_mizan"));
            let output = shell
                .args(["-c", &line])
                .current_dir(&here)
                .output()
                .unwrap();
            assert!(output.status.success(), "{example}: {output:?}");
            tried += 1;
        }
    }
    assert!(tried >= 12, "only {tried} examples");
}

#[test]
fn version() {
    let version = run(&["--version"]).done();
    assert_eq!(version, format!("mizan {}\n", env!("CARGO_PKG_VERSION")));
}

/// A pipe gets no colour, and NO_COLOR changes nothing.
#[test]
fn output_into_a_pipe_is_plain() {
    let with = program()
        .env("NO_COLOR", "1")
        .args(["curve", "gaussian(2)"])
        .output()
        .unwrap();
    assert_eq!(
        String::from_utf8(with.stdout).unwrap(),
        run(&["curve", "gaussian(2)"]).done()
    );
}
