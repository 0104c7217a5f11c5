//! Errors of texts that are not events.

use crate::{EventError, EventProblem, MAX_DEPTH, MAX_TEXT_BYTES, PrivacyEvent};
use std::time::{Duration, Instant};

fn read(text: &str) -> Result<PrivacyEvent, EventError> {
    text.parse()
}

#[track_caller]
fn refused(text: &str) -> EventError {
    read(text).unwrap_err()
}

/// The error of a text whose offender is marked by the caret on its own line.
#[track_caller]
fn check(text: &str, caret: &str, message: &str, help: &str) {
    let error = refused(text);
    assert_eq!(
        error.caret().as_deref(),
        Some(format!("{text}\n{caret}").as_str()),
        "{error}"
    );
    let shown = error.to_string();
    assert!(shown.contains(message), "{shown}");
    assert!(!shown.contains('\n'), "{shown}");
    assert!(error.help().contains(help), "{}", error.help());
}

#[test]
fn the_grammar_points_at_what_it_did_not_expect() {
    check(
        "gaussian(1)+",
        "            ^",
        "expected an event, found the end",
        "joins",
    );
    check(
        "gaussian(1",
        "          ^",
        "expected `,` or `)`, found the end",
        "NAME(arguments)",
    );
    check(
        "(gaussian(1)",
        "            ^",
        "expected `+` or `)`, found the end",
        "",
    );
    check(
        "gaussian(1))",
        "           ^",
        "expected `+` or the end, found `)`",
        "",
    );
    check("gaussian(1) x", "            ^", "found `x`", "");
    check("gaussian", "        ^", "expected `(` after the name", "");
    check(
        "3 gaussian(1)",
        "  ^",
        "expected `*` after the count",
        "COUNT *",
    );
    check(
        "2 * 3 * pure(1)",
        "    ^",
        "expected an event, found `3`",
        "",
    );
    check(
        "gaussian(1,)",
        "           ^",
        "expected a number, found `)`",
        "",
    );
    check(
        "pure(1) * 2",
        "        ^",
        "expected `+` or the end, found `*`",
        "repeats",
    );
    check("rdp(2:0.1, 4)", "            ^", "expected `:`", "");
    check("-1 * pure(1)", "^", "expected an event, found `-`", "");
}

#[test]
fn names_are_looked_up_and_the_closest_is_suggested() {
    check(
        "gausian(1)",
        "^",
        "there is no event called `gausian`",
        "did you mean `gaussian`?",
    );
    check(
        "2*(pure(1)+Laplace(1))",
        "           ^",
        "`Laplace`",
        "`laplace`",
    );
    check(
        "banana(1)",
        "^",
        "`banana`",
        "the events are gaussian, laplace,",
    );
}

#[test]
fn arguments_are_matched_with_parameters() {
    check(
        "gaussian()",
        "^",
        "gaussian: sigma is missing",
        "gaussian(sigma, sensitivity=1)",
    );
    check("gaussian(sensitivity=2)", "^", "sigma is missing", "");
    check(
        "gaussian(1, 2, 3)",
        "               ^",
        "takes 2 arguments at most",
        "write gaussian(",
    );
    check(
        "gaussian(1, sigma=2)",
        "            ^",
        "sigma is given twice",
        "keep one",
    );
    check(
        "gaussian(sd=2)",
        "         ^",
        "no parameter called `sd`",
        "sigma, sensitivity=1",
    );
    check(
        "gaussian(sigma=1, 2)",
        "                  ^",
        "without a name",
        "write gaussian(",
    );
    check(
        "poisson(gaussian(1), 0.1)",
        "        ^",
        "poisson: q must be a number",
        "",
    );
    check(
        "poisson(0.1)",
        "^",
        "poisson: event is missing",
        "poisson(q, event)",
    );
    check(
        "poisson(0.1, 3)",
        "              ^",
        "expected `*` after the count",
        "",
    );
}

#[test]
fn values_name_the_parameter_and_its_range() {
    let above = "gaussian: sigma must be above 0, and finite, got";
    for bad in ["0", "-1", "inf", "1e400", "-inf"] {
        check(
            &format!("gaussian({bad})"),
            "         ^",
            &format!("{above} {bad}"),
            "",
        );
    }
    check(
        "gaussian(nan)",
        "         ^",
        "must be a number above 0, and finite, found `nan`",
        "",
    );
    check(
        "gaussian(1, 0)",
        "            ^",
        "sensitivity must be above 0",
        "",
    );
    check("pure(-0.1)", "     ^", "epsilon must be 0 or more", "");
    check(
        "approximate(1, 2)",
        "               ^",
        "delta must be between 0 and 1",
        "",
    );
    check(
        "rdp(0.5, 1)",
        "    ^",
        "order must be 1 or more (`inf` is allowed), got 0.5",
        "",
    );
    check(
        "rdp(2:inf)",
        "      ^",
        "epsilon must be 0 or more, and finite, got inf",
        "",
    );
    check(
        "group(1.5, pure(1))",
        "      ^",
        "size must be a whole number from 1 to 2^53",
        "",
    );
    check(
        "0*gaussian(1)",
        "^",
        "count must be a whole number from 1 to 2^53, got 0",
        "",
    );
    check(
        "1.5*gaussian(1)",
        "^",
        "count must be a whole number from 1 to 2^53, got 1.5",
        "",
    );
    check(
        "gaussian(?)",
        "         ^",
        "`mizan calibrate`",
        "put a number",
    );
    check("?*gaussian(1)", "^", "`mizan calibrate`", "");
}

#[test]
fn rules_between_parameters_point_at_the_parameter() {
    check(
        "rr(0.3)",
        "   ^",
        "0.3 is below chance, 1/2",
        "write rr(0.7)",
    );
    check(
        "rr(categories=4, p=0.2)",
        "                   ^",
        "0.2 is below chance, 1/4",
        "0.25",
    );
    check(
        "rr(1)",
        "   ^",
        "always true, so its pure epsilon is infinite",
        "below 1",
    );
    check(
        "rr(0.99999999999999999999)",
        "   ^",
        "with p = 1",
        "counts as 1",
    );
    check(
        "rr(0.6, 1)",
        "        ^",
        "categories must be 2 or more",
        "two possible answers",
    );
    check("poisson(0, pure(1))", "        ^", "q must be above 0", "");
    check(
        "poisson(1.5, pure(1))",
        "        ^",
        "q must be between 0 and 1, got 1.5",
        "",
    );
    check(
        "approximate(1, 1)",
        "               ^",
        "delta must be below 1",
        "",
    );
    check(
        "discrete-laplace(3, 1.5)",
        "                    ^",
        "whole number, got 1.5",
        "round up",
    );
    check(
        "discrete-gaussian(3, 0.5)",
        "                     ^",
        "1 or more, got 0.5",
        "",
    );
    check(
        "without-replacement(5, 6, pure(1))",
        "                       ^",
        "m = 6 people",
        "",
    );
    check("rdp(2:0.1, 2:0.2)", "^", "order 2 appears twice", "smaller");
}

#[test]
fn chance_itself_is_allowed() {
    for text in [
        "rr(0.5)",
        "rr(0.33333333333333334, 3)",
        "rr(0.2, 5)",
        "rr(0.1, 10)",
        "rr(0.01, 100)",
    ] {
        assert!(read(text).is_ok(), "{text}");
    }
    assert_eq!(refused("rr(0.33333333333333, 3)").code(), "MZ1121");
}

#[test]
fn no_text_is_no_event() {
    for text in ["", " ", "\n\t \r\n"] {
        assert_eq!(refused(text).problem(), &EventProblem::Empty);
        assert_eq!(refused(text).code(), "MZ1101");
    }
}

#[test]
fn letters_of_any_script_count_one_column_each() {
    check("ميزان(1)", "^", "no event called `ميزان`", "the events are");
    check("pure(ميزان)", "     ^", "found `ميزان`", "");
    check(
        "pure(1) + غاوس(1)",
        "          ^",
        "no event called `غاوس`",
        "",
    );
    check("pure(١)", "     ^", "must be a number", "such as 2, 0.5");
    check("pure(1) 🦀", "        ^", "found `🦀`", "");
}

#[test]
fn only_the_line_at_fault_is_shown() {
    let error = refused("pure(1) +\n  gausian(2) +\n pure(3)");
    assert_eq!(error.caret().unwrap(), "  gausian(2) +\n  ^");
    assert!(
        error.to_string().ends_with("(at line 2, column 3)"),
        "{error}"
    );
}

#[test]
fn hostile_text_is_refused_at_once() {
    let million = 1_000_000;
    let start = Instant::now();
    assert_eq!(
        refused(&"(".repeat(million)).problem(),
        &EventProblem::TooDeep
    );
    assert_eq!(
        refused(&"group(2,".repeat(million / 10)).problem(),
        &EventProblem::TooDeep
    );
    assert_eq!(
        refused(&"2*(".repeat(million / 10)).problem(),
        &EventProblem::TooDeep
    );
    let long = refused(&" ".repeat(10 << 20));
    assert!(
        matches!(long.problem(), EventProblem::TooLong { .. }),
        "{long}"
    );
    assert_eq!(refused(&"x".repeat(2 << 20)).code(), "MZ1113");
    let name = refused(&"x".repeat(million));
    assert!(name.to_string().len() < 200 && name.caret().unwrap().len() < 200);
    assert_eq!(
        refused(&format!("pure({})", "1".repeat(million))).code(),
        "MZ1111"
    );
    let wide = refused(&format!("{}!", "pure(1)+".repeat(MAX_TEXT_BYTES / 9)));
    assert!(
        wide.caret()
            .unwrap()
            .lines()
            .all(|line| line.chars().count() <= 77)
    );
    assert!(
        start.elapsed() < Duration::from_secs(5),
        "{:?}",
        start.elapsed()
    );
}

#[test]
fn depth_is_allowed_up_to_the_limit() {
    let nested = |n: usize| format!("{}pure(1){}", "(".repeat(n), ")".repeat(n));
    assert!(read(&nested(MAX_DEPTH - 1)).is_ok());
    assert_eq!(refused(&nested(MAX_DEPTH)).code(), "MZ1114");
    // Products nest by themselves: one event each, one parenthesis each.
    let products = |n: usize| format!("{}pure(1){}", "2*group(2,".repeat(n), ")".repeat(n));
    assert!(read(&products(MAX_DEPTH / 2 - 1)).is_ok());
    assert_eq!(refused(&products(MAX_DEPTH / 2)).code(), "MZ1114");
}

#[test]
fn a_long_sum_is_read() {
    let sum = vec!["rr(.6)"; 100_000].join("+");
    let PrivacyEvent::Compose(events) = read(&sum).unwrap() else {
        panic!("a sum")
    };
    assert_eq!(events.len(), 100_000);
}

#[test]
fn numbers_go_to_the_costly_side() {
    let PrivacyEvent::Gaussian { sigma, sensitivity } = read("gaussian(1.1, 0.3)").unwrap() else {
        panic!("gaussian")
    };
    assert_eq!(
        (sigma.get(), sensitivity.get()),
        (1.1_f64.next_down(), 0.3_f64.next_up())
    );
    let PrivacyEvent::Renyi(points) = read("rdp(1.1:0.3)").unwrap() else {
        panic!("rdp")
    };
    let (order, epsilon) = points.as_slice()[0];
    assert_eq!(
        (order.get(), epsilon.get()),
        (1.1_f64.next_down(), 0.3_f64.next_up())
    );
}

#[test]
fn the_vocabulary_can_be_listed() {
    let words = PrivacyEvent::vocabulary();
    let rr = words.iter().find(|word| word.name == "rr").unwrap();
    assert_eq!(rr.signature, "rr(p, categories=2)");
}

/// Just below chance a larger p is cheaper: such decimals are refused or moved
/// clear of chance, never rounded to the cheap side.
#[test]
fn decimals_next_to_chance_are_safe() {
    let p = |text: &str| match text.parse::<PrivacyEvent>() {
        Ok(PrivacyEvent::RandomizedResponse(response)) => Some(response.p().get()),
        _ => None,
    };
    assert_eq!(p("rr(0.3333333333333333, 3)"), None);
    let moved = p("rr(0.0909090909090909, 11)").unwrap();
    assert!(moved.next_down().mul_add(11.0, -1.0) > 0.0);
    assert!(p("rr(0.49999999999999999)").unwrap() > 0.5);
    assert_eq!(p("rr(0.5)"), Some(0.5));
}

#[test]
fn a_mechanism_of_ones_own_is_checked_outcome_by_outcome() {
    check("finite()", "^", "at least one outcome", "finite(p:q, ...)");
    check("finite(0.5, 0.5)", "          ^", "expected `:`", "");
    check("finite(0.5:0.5,)", "               ^", "found `)`", "");
    check(
        "finite(0.5:0.5, 0.4:0.5)",
        "^",
        "the p add up to 0.9, not to 1",
        "every outcome",
    );
    check(
        "finite(1.5:1)",
        "       ^",
        "p must be between 0 and 1, got 1.5",
        "",
    );
    check("finite(1:nan)", "         ^", "finite: q must be", "");
    check(
        "finite(losses, 0.1:0.5)",
        "^",
        "the probabilities add up to 0.5",
        "",
    );
    check("finite(losses)", "^", "at least one outcome", "");
    check(
        "finite(losses, -1:1)",
        "^",
        "in total 2.718281828459045, above 1",
        "ln(p/q)",
    );
    check(
        "finite(losses, -inf:0.5, 0:0.5)",
        "               ^",
        "finite number, got -inf",
        "`inf`",
    );
    check(
        "finite(losses, inf:0.5, inf:0.5)",
        "                        ^",
        "inf is given twice",
        "",
    );
    check(
        "finite(losses, x:1)",
        "               ^",
        "loss must be",
        "",
    );
    check("finite(1e400:1)", "       ^", "got 1e400", "");
}

#[test]
fn learning_and_shuffling_are_read() {
    check("tree(1)", "^", "steps is missing", "tree(sigma, steps, ");
    check("tree(1, 0)", "        ^", "steps must be a whole", "");
    check("matrix(1)", "^", "norm is missing", "matrix(sigma, norm)");
    check("matrix(1, 0)", "          ^", "norm must be above 0", "");
    check("shuffle(10)", "^", "event is missing", "");
    check("shuffle(0, pure(1))", "        ^", "n must be a whole", "");
    let spelled = read("tree(steps=3, sigma=2) + shuffle(event=pure(1), n=5)").unwrap();
    assert_eq!(spelled.to_string(), "tree(2, 3) + shuffle(5, pure(1))");
    assert_eq!(spelled.depth(), 3);
}
