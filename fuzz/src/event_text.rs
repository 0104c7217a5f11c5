//! The text and the JSON of privacy events.
//!
//! - Any bytes are an event or an error with a code and a next step.
//! - An event prints as text that is read as the same event and prints the same again. So does its
//!   JSON.
//! - A text with one `?` is a template whose places can be filled.

use std::collections::BTreeSet;

use mizan_core::{EventError, EventTemplate, MAX_DEPTH, PrivacyEvent};

/// Checks the properties for a text.
pub fn check(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    match text.parse::<PrivacyEvent>() {
        Ok(event) => {
            assert_eq!(printed_and_read(&event), event, "read from its own text");
            check_event(&event);
        }
        Err(error) => check_error(&error),
    }
    match PrivacyEvent::from_json_str(text) {
        Ok(event) => {
            // A composition of one event prints as that event, so it is read as another one.
            let read = printed_and_read(&event);
            assert_eq!(printed_and_read(&read), read, "read from its own text");
            check_event(&event);
        }
        Err(error) => check_error(&error),
    }
    match EventTemplate::parse(text) {
        Ok(template) => {
            for value in ["1", "2", "0.7", "1e-9", "inf", "x"] {
                match template.fill_typed(value) {
                    Ok(event) => check_event(&event),
                    Err(error) => check_error(&error),
                }
            }
        }
        Err(error) => check_error(&error),
    }
}

/// The event that the text of an event is read as; it has the same text.
fn printed_and_read(event: &PrivacyEvent) -> PrivacyEvent {
    let text = event.to_string();
    let read: PrivacyEvent = text.parse().expect("an event reads its own text");
    assert_eq!(read.to_string(), text, "the same text again");
    read
}

fn check_event(event: &PrivacyEvent) {
    assert!(event.depth() <= MAX_DEPTH);
    let json = event.to_json();
    assert_eq!(PrivacyEvent::from_json(&json).as_ref(), Ok(event));
    let text = json.to_string();
    assert_eq!(PrivacyEvent::from_json_str(&text).as_ref(), Ok(event));
    // It costs at most as much, and is an event too.
    let relaxed = event.relaxed();
    assert_eq!(relaxed.depth(), event.depth());
    let json = relaxed.to_json();
    assert_eq!(PrivacyEvent::from_json(&json), Ok(relaxed));
}

fn check_error(error: &EventError) {
    assert!(error.code().as_str().starts_with("MZ1"), "{error}");
    assert_eq!(error.to_string().lines().count(), 1, "{error}");
    assert!(!error.help().is_empty(), "{error}");
    if let Some(caret) = error.caret() {
        assert_eq!(caret.lines().count(), 2, "{caret}");
    }
}

/// Events of every kind, and some mistakes.
#[must_use]
pub fn seeds() -> Vec<Vec<u8>> {
    let texts = [
        "gaussian(1.1)",
        "gaussian(sigma=1.1, sensitivity=2)",
        "laplace(20, 0.5)",
        "discrete-gaussian(5)",
        "discrete-laplace(20, 3)",
        "rr(0.3333333333333334, 3)",
        "exponential(0.5)",
        "approximate(0.1, 1e-9)",
        "rdp(1.5:0.1, 4:0.2, inf:1)",
        "zcdp(0.5)",
        "cdp(0.1, 0.3)",
        "gdp(1)",
        "finite(0.75:0.25, 0.25:0.75)",
        "finite(losses, 0.1:0.3, -0.2:0.2, inf:0.5)",
        "tree(10, 1000, 2.5)",
        "matrix(1.1, 3.3)",
        "shuffle(1000, rr(0.75))",
        "without-replacement(60000, 256, zcdp(0.5))",
        "10_000 * poisson(0.01, gaussian(1.1))",
        "1e4*(((rr(.75,2)))) + group(3, pure(0.2) + gdp(1))",
        "10000 * poisson(0.01, gaussian(?))",
        "? * gaussian(5)",
        "gausian(1)",
        "gaussian(0)",
        "rr(0.5",
    ];
    let events = texts.iter().filter_map(|text| text.parse().ok());
    let json = events.map(|event: PrivacyEvent| event.to_json().to_string());
    let texts = texts.iter().map(|text| (*text).to_owned());
    texts.chain(json).map(String::into_bytes).collect()
}

/// The names of events and of their parameters, and some numbers.
#[must_use]
pub fn words() -> BTreeSet<String> {
    let mut words = BTreeSet::from(["inf", "losses", "1e-9", "?"].map(str::to_owned));
    for help in PrivacyEvent::vocabulary() {
        let of_signature = help
            .signature
            .split(|c: char| !c.is_alphanumeric() && c != '-');
        words.extend(
            of_signature
                .filter(|word| !word.is_empty())
                .map(str::to_owned),
        );
    }
    words
}
