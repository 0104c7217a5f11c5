//! Events as JSON: the form, and the errors of invalid documents.

use crate::{EventError, MAX_DEPTH, MAX_JSON_BYTES, PrivacyEvent};
use serde_json::{Value, json};

#[track_caller]
fn refused(value: Value) -> EventError {
    PrivacyEvent::from_json(&value).unwrap_err()
}

#[track_caller]
fn check(value: Value, path: &str, message: &str) {
    let error = refused(value);
    assert_eq!(error.path(), Some(path), "{error}");
    assert!(error.to_string().contains(message), "{error}");
    assert!(
        error.to_string().ends_with(&format!("(at {path})")),
        "{error}"
    );
    assert!(!error.help().is_empty());
}

#[test]
fn the_shape_is_the_documented_one() {
    let event: PrivacyEvent =
        "3*gaussian(1.5) + poisson(0.5, rr(0.75)) + group(2, without-replacement(9, 3, pure(1))) \
         + rdp(inf:1, 2:0.25)"
            .parse()
            .unwrap();
    let expected = json!({"event": "compose", "events": [
        {"event": "repeat", "count": 3, "of": {"event": "gaussian", "sigma": 1.5, "sensitivity": 1.0}},
        {"event": "poisson", "q": 0.5, "of": {"event": "rr", "p": 0.75, "categories": 2}},
        {"event": "group", "size": 2, "of":
            {"event": "without-replacement", "n": 9, "m": 3, "of": {"event": "pure", "epsilon": 1.0}}},
        {"event": "rdp", "points": [
            {"order": 2.0, "epsilon": 0.25}, {"order": "inf", "epsilon": 1.0}]},
    ]});
    assert_eq!(event.to_json(), expected);
    assert_eq!(PrivacyEvent::from_json(&expected), Ok(event));
    assert!(
        expected["events"][0]
            .to_string()
            .starts_with(r#"{"event":"repeat","count":3"#)
    );
}

#[test]
fn doubles_are_taken_as_they_are_and_defaults_may_be_left_out() {
    let event = PrivacyEvent::from_json_str(r#"{"event": "gaussian", "sigma": 1.1}"#).unwrap();
    let PrivacyEvent::Gaussian { sigma, sensitivity } = event else {
        panic!("gaussian")
    };
    assert_eq!((sigma.get(), sensitivity.get()), (1.1, 1.0));
    let whole = json!({"event": "repeat", "count": 1e6, "of": {"event": "pure", "epsilon": 1}});
    assert_eq!(
        PrivacyEvent::from_json(&whole).unwrap().to_string(),
        "1000000 * pure(1)"
    );
}

#[test]
fn errors_carry_the_path_to_the_offender() {
    let pure = json!({"event": "pure", "epsilon": 1});
    check(
        json!({"event": "compose", "events": [pure, pure, pure,
            {"event": "repeat", "count": 2, "of": {"event": "gaussian", "sigma": 0}}]}),
        "$.events[3].of.sigma",
        "gaussian: sigma must be above 0, and finite, got 0",
    );
    check(json!([]), "$", "expected an object, found an array");
    check(json!({"sigma": 1}), "$", "the key `event`");
    check(
        json!({"event": 3}),
        "$.event",
        "expected the name of an event, found a number",
    );
    check(
        json!({"event": "gausian", "sigma": 1}),
        "$.event",
        "no event called `gausian`",
    );
    check(
        json!({"event": "pure", "epsilon": 1, "eps": 2}),
        "$.eps",
        "no parameter called `eps`",
    );
    check(
        json!({"event": "pure", "epsilon": "1"}),
        "$.epsilon",
        "expected a number, found a string",
    );
    check(
        json!({"event": "pure", "epsilon": "inf"}),
        "$.epsilon",
        "must be 0 or more, and finite",
    );
    check(
        json!({"event": "pure", "epsilon": null}),
        "$.epsilon",
        "found null",
    );
    check(json!({"event": "pure"}), "$", "pure: epsilon is missing");
    check(
        json!({"event": "poisson", "q": 0.5}),
        "$",
        "poisson: of is missing",
    );
    check(
        json!({"event": "compose"}),
        "$",
        "compose: events is missing",
    );
    check(
        json!({"event": "compose", "events": pure}),
        "$.events",
        "expected an array",
    );
    check(
        json!({"event": "repeat", "count": 0, "of": pure}),
        "$.count",
        "from 1 to 2^53, got 0",
    );
    check(
        json!({"event": "repeat", "count": 1.5, "of": pure}),
        "$.count",
        "got 1.5",
    );
    check(
        json!({"event": "repeat", "count": -1, "of": pure}),
        "$.count",
        "got -1",
    );
    check(
        json!({"event": "rr", "p": 0.3}),
        "$.p",
        "0.3 is below chance, 1/2",
    );
    check(
        json!({"event": "rdp", "points": []}),
        "$.points",
        "at least one order",
    );
    check(
        json!({"event": "rdp", "points": [{"order": 2, "epsilon": 1}, {"order": 0.5, "epsilon": 1}]}),
        "$.points[1].order",
        "order must be 1 or more",
    );
    check(
        json!({"event": "rdp", "points": [{"order": 2}]}),
        "$.points[0]",
        "epsilon is missing",
    );
}

#[test]
fn text_that_is_not_json_is_refused() {
    for (text, message) in [
        ("", "not JSON"),
        ("gaussian(1)", "not JSON"),
        (
            r#"{"event": "pure", "epsilon": 1e400}"#,
            "number out of range",
        ),
        (r#"{"event": "pure", "epsilon": NaN}"#, "not JSON"),
        (
            r#"{"event": "pure", "epsilon": 1} x"#,
            "trailing characters",
        ),
    ] {
        let error = PrivacyEvent::from_json_str(text).unwrap_err();
        assert_eq!(error.code(), "MZ1116", "{text}");
        assert!(error.to_string().contains(message), "{error}");
    }
    let long = " ".repeat(MAX_JSON_BYTES + 1);
    assert_eq!(
        PrivacyEvent::from_json_str(&long).unwrap_err().code(),
        "MZ1113"
    );
    let deep = "[".repeat(1_000_000);
    assert_eq!(
        PrivacyEvent::from_json_str(&deep).unwrap_err().code(),
        "MZ1116"
    );
}

#[test]
fn the_deepest_event_fits_json_readers() {
    let nested = |levels: usize| {
        let rdp: PrivacyEvent = "rdp(2:1, 3:2)".parse().unwrap();
        (1..levels).fold(rdp, |event, _| PrivacyEvent::Compose(vec![event]))
    };
    let deepest = nested(MAX_DEPTH);
    assert_eq!(deepest.depth(), MAX_DEPTH);
    let text = deepest.to_json().to_string();
    assert_eq!(PrivacyEvent::from_json_str(&text), Ok(deepest));
    assert_eq!(refused(nested(MAX_DEPTH + 1).to_json()).code(), "MZ1114");
}

#[test]
fn mechanisms_of_ones_own_are_columns() {
    for (text, value) in [
        (
            "finite(0.75:0.25, 0.25:0.75)",
            json!({"event": "finite", "p": [0.75, 0.25], "q": [0.25, 0.75]}),
        ),
        (
            "finite(losses, 0.5:0.75, inf:0.25)",
            json!({"event": "finite", "losses": [0.5], "probabilities": [0.75], "infinite": 0.25}),
        ),
        (
            "tree(2, 7)",
            json!({"event": "tree", "sigma": 2.0, "steps": 7, "sensitivity": 1.0}),
        ),
        (
            "matrix(2, 3)",
            json!({"event": "matrix", "sigma": 2.0, "norm": 3.0}),
        ),
        (
            "shuffle(9, pure(1))",
            json!({"event": "shuffle", "n": 9, "of": {"event": "pure", "epsilon": 1.0}}),
        ),
    ] {
        let event: PrivacyEvent = text.parse().unwrap();
        assert_eq!(event.to_json(), value);
        assert_eq!(PrivacyEvent::from_json(&value), Ok(event));
    }
    check(
        json!({"event": "finite", "p": [1], "q": [0.5, 0.5]}),
        "$",
        "there are 1 p for 2 q",
    );
    check(
        json!({"event": "finite", "p": [1], "q": ["x"]}),
        "$.q[0]",
        "expected a number, found a string",
    );
    check(
        json!({"event": "finite", "p": [2], "q": [1]}),
        "$.p[0]",
        "p must be between 0 and 1, got 2",
    );
    check(
        json!({"event": "finite", "losses": [0], "probabilities": [1], "p": [1]}),
        "$.p",
        "no parameter called `p`",
    );
    check(
        json!({"event": "finite", "losses": [null], "probabilities": [1]}),
        "$.losses[0]",
        "found null",
    );
    check(
        json!({"event": "finite", "losses": [0], "probabilities": [1], "infinite": -1}),
        "$.infinite",
        "infinite must be between 0 and 1",
    );
    check(json!({"event": "finite"}), "$", "p is missing");
    check(
        json!({"event": "shuffle", "n": 3, "of": {"event": "finite", "p": [], "q": []}}),
        "$.of",
        "at least one outcome",
    );
}
