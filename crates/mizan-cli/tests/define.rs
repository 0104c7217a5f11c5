//! `--define NAME=FILE`: user-defined mechanisms from JSON and CSV.

use crate::common::{Run, folder, json, run};
use std::path::Path;

/// Writes a file and gives the value for `--define`.
fn define(folder: &Path, name: &str, file: &str, contents: &[u8]) -> String {
    let path = folder.join(file);
    std::fs::write(&path, contents).unwrap();
    format!("{name}={}", path.display())
}

fn account(expression: &str, definitions: &[&str]) -> Run {
    let mut arguments = vec!["account", expression, "--delta", "1e-6"];
    for definition in definitions {
        arguments.extend(["--define", definition]);
    }
    run(&arguments)
}

#[test]
fn a_name_stands_for_the_event_of_the_file_in_every_command() {
    let folder = folder("define-events");
    let survey = br#"{"event": "rr", "p": 0.75}"#;
    let survey = define(&folder, "survey", "survey.json", survey);
    let noise = define(
        &folder,
        "noise",
        "NOISE.JSON",
        br#"{"event": "gaussian", "sigma": 4}"#,
    );
    let expected = account("10 * rr(0.75) + gaussian(4)", &[]).done();
    let named = account("10 * survey + noise()", &[&survey, &noise]).done();
    assert_eq!(named, expected);
    for command in [
        vec!["curve", "survey"],
        vec!["risk", "survey", "--baseline", "0.01"],
        vec!["group", "survey", "--size", "2"],
        vec![
            "calibrate",
            "survey + gaussian(?)",
            "--epsilon",
            "3",
            "--delta",
            "1e-6",
        ],
        vec![
            "calibrate",
            "? * noise",
            "--epsilon",
            "3",
            "--delta",
            "1e-6",
        ],
    ] {
        let defined = ["--define", &survey, "--define", &noise];
        json(&[command.as_slice(), &defined].concat());
        let without = run(&command);
        assert_eq!(without.code, 2, "{without:?}");
        assert!(without.stderr.contains("MZ1103"), "{without:?}");
    }
}

/// The output shows what was read, whether or not this version can account for it.
#[test]
fn outcomes_and_losses_are_read_from_both_formats() {
    let folder = folder("define-outcomes");
    for (file, contents, event) in [
        (
            "a.csv",
            &b"p,q\n0.75,0.25\n0.25,0.75\n"[..],
            "finite(0.75:0.25, 0.25:0.75)",
        ),
        (
            "b.csv",
            b"\xef\xbb\xbf P , Q\r\n\r\n 0.75 , 0.25 \r\n.25,7.5e-1",
            "finite(0.75:0.25, 0.25:0.75)",
        ),
        (
            "c.csv",
            b"loss,probability\n0.5,0.75\ninf,0.25\n",
            "finite(losses, 0.5:0.75, inf:0.25)",
        ),
        (
            "d.json",
            br#"{"p": [0.75, 0.25], "q": [0.25, 0.75]}"#,
            "finite(0.75:0.25, 0.25:0.75)",
        ),
        (
            "e.json",
            br#"{"losses": [0.5], "probabilities": [0.75], "infinite": 0.25}"#,
            "finite(losses, 0.5:0.75, inf:0.25)",
        ),
    ] {
        let mine = define(&folder, "mine", file, contents);
        let named = account("mine + pure(1)", &[&mine]);
        let written = account(&format!("{event} + pure(1)"), &[]);
        assert_eq!(named.stdout, written.stdout, "{file}");
        assert_eq!(named.stderr, written.stderr, "{file}");
    }
}

#[test]
fn bad_files_and_names_are_refused_with_the_place() {
    let folder = folder("define-bad");
    let refused = |definition: &str, code: &str, words: &str| {
        let run = account("mine", &[definition]);
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{run:?}");
        assert!(run.stderr.starts_with(&format!("error[{code}]")), "{run:?}");
        assert!(run.stderr.contains(words), "{run:?}");
        assert!(run.stderr.contains("\nhelp: "), "{run:?}");
    };
    for (file, contents, code, words) in [
        ("empty.csv", &b""[..], "MZ0005", "is empty"),
        ("blank.json", b" \n", "MZ0005", "is empty"),
        ("header.csv", b"p,q", "MZ1132", "at least one outcome"),
        (
            "names.csv",
            b"x,y\n1,1",
            "MZ0006",
            "line 1: expected the header",
        ),
        ("none.csv", b"0.5,0.5\n0.5,0.5", "MZ0006", "line 1"),
        (
            "three.csv",
            b"p,q\n1,1\n0,0,0",
            "MZ0006",
            "line 3: expected two numbers",
        ),
        (
            "nan.csv",
            b"p,q\n\nnan,1",
            "MZ0006",
            "line 3: p must be a number",
        ),
        (
            "word.csv",
            b"p,q\n1,one",
            "MZ0006",
            "line 2: q must be a number, got \"one\"",
        ),
        (
            "range.csv",
            b"p,q\n1,1.5",
            "MZ0006",
            "line 2: q must be between 0 and 1",
        ),
        (
            "minus.csv",
            b"loss,probability\n-inf,1",
            "MZ0006",
            "leave it out",
        ),
        (
            "twice.csv",
            b"loss,probability\ninf,.5\ninf,.5",
            "MZ0006",
            "line 3: the loss inf",
        ),
        (
            "huge.csv",
            b"loss,probability\n1e999,1",
            "MZ0006",
            "line 2: loss must be a number",
        ),
        (
            "sum.csv",
            b"p,q\n0.5,0.5\n0.5,0.4",
            "MZ1134",
            "the q add up to 0.9",
        ),
        ("latin.csv", b"p,q\n\xff\xfe", "MZ0003", "not UTF-8"),
        ("text.json", b"p,q", "MZ1116", "not JSON"),
        ("array.json", b"[1]", "MZ1117", "expected an object"),
        (
            "short.json",
            br#"{"p": [1], "q": []}"#,
            "MZ1137",
            "1 p for 0 q",
        ),
        (
            "nan.json",
            br#"{"p": [NaN], "q": [1]}"#,
            "MZ1116",
            "not JSON",
        ),
        // Two values for one key are ambiguous.
        (
            "twice.json",
            br#"{"event": "rr", "p": 0.6, "p": 0.9}"#,
            "MZ1116",
            "the key p appears twice",
        ),
        ("data.txt", b"p,q\n1,1", "MZ0004", "neither .json nor .csv"),
    ] {
        refused(&define(&folder, "mine", file, contents), code, words);
    }
    let large = vec![b'\n'; (16 << 20) + 1];
    refused(
        &define(&folder, "mine", "large.csv", &large),
        "MZ1113",
        "at most",
    );
    refused("mine=nowhere.csv", "MZ0002", "nowhere.csv");
    refused("mine", "MZ0010", "NAME=FILE");
    refused("mine=", "MZ0004", "");
    let good = define(&folder, "good", "good.csv", b"p,q\n1,1");
    let path = good.split_once('=').unwrap().1;
    refused(
        &format!("gaussian={path}"),
        "MZ1138",
        "`gaussian` is a word",
    );
    refused(
        &format!("my mechanism={path}"),
        "MZ1139",
        "cannot be the name",
    );
    refused(&format!("={path}"), "MZ1139", "cannot be the name");
    refused(&good, "MZ1103", "no event called `mine`");
    let twice = account("good", &[&good, &good]);
    assert!(twice.stderr.contains("MZ1140"), "{twice:?}");
}
