//! Event templates: what `?` may stand for.

use crate::{Count, Domain, EventTemplate, ParameterValue, PrivacyEvent, Round};

fn template(text: &str) -> EventTemplate {
    EventTemplate::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn whole(low: u64, high: Count) -> Domain {
    let low = Count::new(low).unwrap();
    Domain::Whole { low, high }
}

#[test]
fn the_parameter_is_known_with_its_range_and_side() {
    let real = |low, high| Domain::Real { low, high };
    let (tiny, huge, most) = (f64::MIN_POSITIVE, f64::MAX, Count::MAX);
    let below_one = 1.0_f64.next_down();
    let hundred = Count::new(100).unwrap();
    for (text, parameter, side, domain) in [
        ("gaussian(?)", "sigma", Round::Down, real(tiny, huge)),
        ("gaussian(3, ?)", "sensitivity", Round::Up, real(tiny, huge)),
        (
            "2*laplace(scale = ?)",
            "scale",
            Round::Down,
            real(tiny, huge),
        ),
        ("rr(?)", "p", Round::Up, real(0.5, below_one)),
        ("rr(?, 4)", "p", Round::Up, real(0.25, below_one)),
        (
            "rr(categories=5, p=?)",
            "p",
            Round::Up,
            real(0.2, below_one),
        ),
        ("rr(0.25, ?)", "categories", Round::Up, whole(4, most)),
        ("rr(0.75, ?)", "categories", Round::Up, whole(2, most)),
        ("pure(?)", "epsilon", Round::Up, real(0.0, huge)),
        (
            "approximate(1, ?)",
            "delta",
            Round::Up,
            real(0.0, below_one),
        ),
        ("rdp(2, ?)", "epsilon", Round::Up, real(0.0, huge)),
        ("rdp(2:0.1, 4:?)", "epsilon", Round::Up, real(0.0, huge)),
        ("zcdp(?)", "rho", Round::Up, real(0.0, huge)),
        ("cdp(1, ?)", "tau", Round::Up, real(0.0, huge)),
        ("gdp(?)", "mu", Round::Up, real(0.0, huge)),
        ("? * pure(1)", "count", Round::Up, whole(1, most)),
        ("group(3, ?*pure(1))", "count", Round::Up, whole(1, most)),
        ("group(?, pure(1))", "size", Round::Up, whole(1, most)),
        ("poisson(?, gaussian(1))", "q", Round::Up, real(tiny, 1.0)),
        (
            "poisson(0.1, gaussian(?))",
            "sigma",
            Round::Down,
            real(tiny, huge),
        ),
        ("tree(1, ?)", "steps", Round::Up, whole(1, most)),
        ("matrix(1, ?)", "norm", Round::Up, real(tiny, huge)),
        ("shuffle(?, rr(0.75))", "n", Round::Down, whole(1, most)),
        (
            "without-replacement(?, 7, pure(1))",
            "n",
            Round::Down,
            whole(7, most),
        ),
        (
            "without-replacement(100, ?, pure(1))",
            "m",
            Round::Up,
            whole(1, hundred),
        ),
        (
            "discrete-gaussian(1, ?)",
            "sensitivity",
            Round::Up,
            real(1.0, huge),
        ),
        (
            "discrete-laplace(1, ?)",
            "sensitivity",
            Round::Up,
            whole(1, most),
        ),
    ] {
        let template = template(text);
        assert_eq!(template.parameter(), parameter, "{text}");
        assert_eq!(template.costly(), side, "{text}");
        assert_eq!(template.domain(), domain, "{text}");
        assert_eq!(template.text(), text);
        let (low, high) = match domain {
            Domain::Real { low, high } => (ParameterValue::Real(low), ParameterValue::Real(high)),
            Domain::Whole { low, high } => {
                (ParameterValue::Whole(low), ParameterValue::Whole(high))
            }
        };
        for end in [low, high] {
            template
                .fill(end)
                .unwrap_or_else(|error| panic!("{text}: {error}"));
        }
    }
}

#[test]
fn a_double_enters_as_it_is() {
    for value in [1.1, 0.1 + 0.2, 1e-9, 1.0 / 3.0, 1e300] {
        let PrivacyEvent::Gaussian { sigma, .. } = template("gaussian(?)")
            .fill(ParameterValue::Real(value))
            .unwrap()
        else {
            panic!("gaussian")
        };
        assert_eq!(sigma.get(), value);
    }
    let three = ParameterValue::Whole(Count::new(3).unwrap());
    assert_eq!(
        template(" ? *pure(1)+ pure(2)")
            .fill(three)
            .unwrap()
            .to_string(),
        "3 * pure(1) + pure(2)"
    );
    assert_eq!(template("2*rr( ? , 3)").fill_text("0.5"), "2*rr( 0.5 , 3)");
    let typed = template("gaussian(?)").fill_typed("1.1").unwrap();
    assert_eq!(typed, "gaussian(1.1)".parse().unwrap());
}

#[test]
fn values_outside_the_range_are_refused() {
    let code = |text: &str, value| template(text).fill(value).unwrap_err().code();
    assert_eq!(code("gaussian(?)", ParameterValue::Real(0.0)), "MZ1110");
    assert_eq!(
        code("gaussian(?)", ParameterValue::Real(f64::NAN)),
        "MZ1109"
    );
    assert_eq!(code("rr(?)", ParameterValue::Real(0.3)), "MZ1121");
    assert_eq!(code("? * pure(1)", ParameterValue::Real(1.5)), "MZ1110");
}

#[track_caller]
fn refused(text: &str, caret: &str, code: &str, message: &str) {
    let error = EventTemplate::parse(text).unwrap_err();
    assert_eq!(error.code(), code, "{error}");
    assert!(error.to_string().contains(message), "{error}");
    assert!(!error.help().is_empty());
    let shown = error.caret().unwrap_or_else(|| format!("{text}\n"));
    assert_eq!(shown, format!("{text}\n{caret}"));
}

#[test]
fn one_question_mark_in_place_of_a_number() {
    refused("gaussian(1)", "", "MZ1118", "there is no `?`");
    refused("", "", "MZ1101", "no event");
    refused("gaussian(?, ?)", "            ^", "MZ1119", "a second `?`");
    refused(
        "? * gaussian(?)",
        "             ^",
        "MZ1119",
        "a second `?`",
    );
    refused("?", "^", "MZ1120", "cannot stand for an event");
    refused("2 * ?", "    ^", "MZ1120", "cannot stand for an event");
    refused("group(2, ?)", "         ^", "MZ1120", "an event");
    refused("pure(1) ?", "        ^", "MZ1120", "");
    refused("rdp(?, 1)", "    ^", "MZ1120", "an order");
    refused("rdp(?:1, 3:2)", "    ^", "MZ1120", "an order");
    refused("finite(?:1)", "       ^", "MZ1120", "a number of `finite`");
    refused(
        "finite(1:?)",
        "         ^",
        "MZ1120",
        "a number of `finite`",
    );
    refused("finite(losses, 0:?)", "                 ^", "MZ1120", "");
    refused("finite(losses, ?:1)", "               ^", "MZ1120", "");
    refused("gaussian(?", "          ^", "MZ1102", "found the end");
    refused("gaussian(-?)", "         ^", "MZ1102", "found `-`");
    refused("gaussian(?1)", "          ^", "MZ1102", "found `1`");
    refused("gaussian(?, 0)", "            ^", "MZ1110", "sensitivity");
}
