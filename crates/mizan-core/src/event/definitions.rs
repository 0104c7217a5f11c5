//! User-defined names of events.

use super::lexer::{Lexer, TokenKind};
use super::names::{self, EventKind};
use super::snippet::quote;
use super::{EventError, EventProblem, PrivacyEvent};
use std::collections::BTreeMap;

/// The longest name, in characters.
const MAX_NAME: usize = 64;

/// Names that stand for events in a text.
///
/// ```
/// use mizan_core::{Definitions, PrivacyEvent};
///
/// let mut definitions = Definitions::default();
/// definitions.define("survey", "rr(0.75)".parse()?)?;
/// let event = PrivacyEvent::parse_with("10 * survey + gaussian(2)", &definitions)?;
/// assert_eq!(event.to_string(), "10 * rr(0.75) + gaussian(2)");
/// # Ok::<(), mizan_core::EventError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Definitions(BTreeMap<String, Defined>);

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Defined {
    pub(super) event: PrivacyEvent,
    /// The number of events in it.
    pub(super) size: usize,
}

impl Definitions {
    /// Defines `name` as `event`.
    ///
    /// # Errors
    ///
    /// The name is not a word, has a meaning already, or is given twice.
    pub fn define(&mut self, name: &str, event: PrivacyEvent) -> Result<(), EventError> {
        let mut lexer = Lexer::new(name);
        let word = lexer.next();
        let whole = word.kind == TokenKind::Word && word.text == name;
        if !whole || name.chars().count() > MAX_NAME {
            return Err(EventProblem::NotAName { name: quote(name) }.into());
        }
        if EventKind::tagged(name).is_some() {
            return Err(EventProblem::NameTaken { name: name.into() }.into());
        }
        let size = size(&event);
        let defined = Defined { event, size };
        match self.0.insert(name.to_owned(), defined) {
            None => Ok(()),
            Some(_) => Err(EventProblem::DefinedTwice { name: name.into() }.into()),
        }
    }

    pub(super) fn get(&self, name: &str) -> Option<&Defined> {
        self.0.get(name)
    }

    /// The name, of a definition or of the language, that was probably meant.
    pub(super) fn closest_name(&self, unknown: &str) -> Option<String> {
        names::closest(unknown, self.0.keys().map(String::as_str))
            .or_else(|| names::closest_name(unknown))
            .map(str::to_owned)
    }
}

/// The number of events in an event.
fn size(event: &PrivacyEvent) -> usize {
    let mut size = 0;
    let mut waiting = vec![event];
    while let Some(event) = waiting.pop() {
        size += 1;
        waiting.extend(event.children());
    }
    size
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<PrivacyEvent, EventError> {
        let mut definitions = Definitions::default();
        definitions.define("mine", "finite(0.6:0.4, 0.4:0.6)".parse()?)?;
        definitions.define("nightly_run", "pure(1) + pure(2)".parse()?)?;
        PrivacyEvent::parse_with(text, &definitions)
    }

    #[test]
    fn a_name_stands_for_its_event_with_and_without_parentheses() {
        for text in [
            "mine + group(2, mine)",
            "mine() + group(2, mine( ))",
            "mine+group(event=mine, size=2)",
        ] {
            assert_eq!(
                read(text).unwrap().to_string(),
                "finite(0.6:0.4, 0.4:0.6) + group(2, finite(0.6:0.4, 0.4:0.6))"
            );
        }
        assert_eq!(
            read("3*nightly_run").unwrap().to_string(),
            "3 * (pure(1) + pure(2))"
        );
    }

    #[test]
    fn what_is_not_defined_is_not_guessed() {
        let error = read("pure(1) + mien").unwrap_err();
        assert_eq!(
            (error.code().as_str(), error.help().as_str()),
            ("MZ1103", "did you mean `mine`?")
        );
        let error = read("mine(1)").unwrap_err();
        assert!(
            error.to_string().contains("expected `)`, found `1`"),
            "{error}"
        );
        assert_eq!(error.caret().unwrap(), "mine(1)\n     ^");
        assert!("mine".parse::<PrivacyEvent>().is_err());
    }

    #[test]
    fn names_are_words_without_a_meaning() {
        let mut definitions = Definitions::default();
        let pure: PrivacyEvent = "pure(1)".parse().unwrap();
        let mut code = |name: &str| {
            definitions
                .define(name, pure.clone())
                .map_err(|e| e.code().as_str())
        };
        assert_eq!(code("ميزان"), Ok(()));
        assert_eq!(code("ميزان"), Err("MZ1140"));
        for taken in ["gaussian", "finite", "repeat", "compose"] {
            assert_eq!(code(taken), Err("MZ1138"), "{taken}");
        }
        for bad in ["", " ", "a b", " a", "1a", "a(", "?", "-a", &"x".repeat(65)] {
            assert_eq!(code(bad), Err("MZ1139"), "{bad}");
        }
    }

    #[test]
    fn definitions_do_not_multiply_without_end() {
        let mut definitions = Definitions::default();
        let many = PrivacyEvent::Compose(vec!["pure(1)".parse().unwrap(); 1000]);
        definitions.define("many", many).unwrap();
        let text = vec!["many"; 2000].join("+");
        let error = PrivacyEvent::parse_with(&text, &definitions).unwrap_err();
        assert_eq!(error.code(), "MZ1115");
    }
}
