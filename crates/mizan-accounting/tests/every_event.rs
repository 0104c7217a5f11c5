//! What every method says about every kind of event, as one table; and that the pages name every
//! method.
//!
//! A new kind of event fails this test until it has a row, so that a method which was forgotten
//! shows: in its row the method is missing, or the code says that this version cannot do it
//! (MZ1203). CONTRIBUTING.md lists the places of an event.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test may panic"
)]

use mizan_accounting::{clock, group_privacy, methods};
use mizan_core::{Count, Delta, PrivacyEvent};

/// An event of each kind, in the order of the vocabulary.
const EXAMPLES: [(&str, &str); 19] = [
    ("gaussian", "gaussian(2)"),
    ("laplace", "laplace(2)"),
    ("discrete-gaussian", "discrete-gaussian(2)"),
    ("discrete-laplace", "discrete-laplace(2)"),
    ("rr", "rr(0.75)"),
    ("exponential", "exponential(0.5)"),
    ("pure", "pure(0.5)"),
    ("approximate", "approximate(0.5, 1e-9)"),
    ("rdp", "rdp(8, 0.5)"),
    ("zcdp", "zcdp(0.1)"),
    ("cdp", "cdp(0.1, 0.3)"),
    ("gdp", "gdp(0.5)"),
    ("finite", "finite(0.5:0.4, 0.5:0.6)"),
    ("tree", "tree(4, 10)"),
    ("matrix", "matrix(2, 1)"),
    ("poisson", "poisson(0.1, gaussian(2))"),
    (
        "without-replacement",
        "without-replacement(10, 2, gaussian(2))",
    ),
    ("shuffle", "shuffle(1000, rr(0.75))"),
    ("group", "group(2, gaussian(2))"),
];

/// For each kind: the methods that give an ε at δ = 1e-6; the neighbours that it is about; its pair
/// on a sample of fixed size, which shows whether exchanging the inputs changes nothing; its price
/// on the clock; and the event that covers a group of two. A refusal is a code or a reason.
const TABLE: &str = "
gaussian | cdp zcdp renyi gaussian-exact numeric | any | ok | ok | gaussian(2, 2)
laplace | pure basic advanced concentrated-advanced optimal cdp zcdp renyi numeric | any | ok | ok | laplace(2, 2)
discrete-gaussian | cdp zcdp renyi gaussian-dominating numeric | any | ok | ok | discrete-gaussian(2, 2)
discrete-laplace | pure basic advanced concentrated-advanced optimal cdp zcdp renyi numeric | any | ok | ok | discrete-laplace(2, 2)
rr | pure basic advanced concentrated-advanced optimal cdp zcdp renyi numeric | any | ok | ok | 2 * rr(0.75)
exponential | pure basic advanced concentrated-advanced optimal cdp zcdp renyi numeric | any | ok | ok | exponential(1)
pure | pure basic advanced concentrated-advanced optimal cdp zcdp renyi numeric | any | ok | ok | pure(1)
approximate | basic advanced concentrated-advanced optimal numeric | any | ok | ok | approximate(1, 2.64872127070013e-9)
rdp | renyi | any | MZ1212 | Moments | rdp(4:1.0773502691896263, 4.2666666666624:1.0714285714286593)
zcdp | zcdp renyi | any | MZ1212 | Moments | zcdp(0.4)
cdp | cdp zcdp renyi | any | MZ1212 | Moments | zcdp(0.18000000000000015)
gdp | cdp zcdp renyi gaussian-exact numeric | any | ok | ok | gdp(1)
finite | pure basic advanced concentrated-advanced optimal cdp zcdp renyi numeric | add or remove | MZ1214 | ok | pure(0.44628710262842169)
tree | cdp zcdp renyi gaussian-exact numeric | any | ok | ok | tree(4, 10, 2)
matrix | cdp zcdp renyi gaussian-exact numeric | any | ok | ok | matrix(2, 2)
poisson | renyi numeric | add or remove | MZ1214 | ok | poisson(0.19000000000000008, gaussian(2, 2))
without-replacement | renyi numeric | replace | MZ1212 | ok | without-replacement(10, 4, gaussian(2, 2))
shuffle | pure basic advanced concentrated-advanced optimal cdp zcdp renyi numeric | replace | ok | ok | without-replacement(1000, 1000, pure(2.197224577336221))
group | cdp zcdp renyi gaussian-exact numeric | any | ok | ok | gaussian(2, 4)
";

/// Why there is none, or "ok".
fn said<T, E>(result: Result<T, E>, why: impl Fn(&E) -> String) -> String {
    result
        .err()
        .map_or_else(|| "ok".to_owned(), |error| why(&error))
}

fn row(name: &str, text: &str) -> String {
    let read = |text: &str| text.parse::<PrivacyEvent>().unwrap();
    let event = read(text);
    let delta = Delta::new(1e-6).unwrap();
    let bounds = methods::epsilon(&event, delta).bounds;
    let names: Vec<&str> = bounds.iter().map(|bound| bound.method.name()).collect();
    let beside = |other: &str| methods::supports(&read(&format!("{text} + {other}"))).is_ok();
    let neighbours = match (
        beside("poisson(0.1, pure(0))"),
        beside("without-replacement(2, 1, pure(0))"),
    ) {
        (true, true) => "any",
        (true, false) => "add or remove",
        (false, true) => "replace",
        (false, false) => "none",
    };
    let sampled = read(&format!("without-replacement(10, 2, {text})"));
    let sampled = methods::epsilon_by(methods::Method::Numeric, &sampled, delta);
    let price = clock::Price::of(&event);
    let group = match group_privacy(Count::new(2).unwrap(), &event) {
        Ok(group) => group.to_string(),
        Err(reason) => reason.code().to_string(),
    };
    format!(
        "{name} | {} | {neighbours} | {} | {} | {group}",
        names.join(" "),
        said(sampled, |error| error.code().to_string()),
        said(price, |error| format!("{:?}", error.reason())),
    )
}

#[test]
fn every_kind_of_event_has_its_row() {
    let known = EXAMPLES.map(|(name, _)| name);
    let vocabulary = PrivacyEvent::vocabulary();
    let vocabulary: Vec<&str> = vocabulary.iter().map(|help| help.name).collect();
    assert_eq!(
        vocabulary, known,
        "a kind of event is new: see \"An event\" in CONTRIBUTING.md, then give it an example and \
         a row here"
    );
    let found = EXAMPLES.map(|(name, text)| row(name, text)).join("\n");
    assert_eq!(found, TABLE.trim(), "the rows are now\n{found}\n");
}

#[test]
fn the_pages_name_every_method() {
    let page = |path: &str| {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        std::fs::read_to_string(root.join(path)).unwrap()
    };
    for path in ["docs/spec/command-line.md", "docs/spec/mathematics.md"] {
        let text = page(path);
        for method in methods::Method::ALL {
            let name = format!("`{}`", method.name());
            assert!(
                text.contains(&name),
                "{path} does not name the method {name}"
            );
        }
    }
}
