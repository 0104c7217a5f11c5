//! Counted nouns of the pages: "1 row", "12 rows"; صف واحد، صفّان، 3 صفوف، 12 صفًّا، 100 صف.

use super::Language;
use super::arabic::plural::{Case, ENTRY, GROUP, Noun, QUERY, ROW, RUN, counted_as};

/// A noun in both languages, with its case in the Arabic sentences that use it.
#[derive(Clone, Copy)]
pub(crate) struct Counted {
    /// One, and several.
    english: [&'static str; 2],
    arabic: &'static Noun,
    case: Case,
}

/// Rows, as a subject.
pub(crate) const ROWS: Counted = Counted {
    english: ["row", "rows"],
    arabic: &ROW,
    case: Case::Nominative,
};

/// Groups, as a subject.
pub(crate) const GROUPS: Counted = Counted {
    english: ["group", "groups"],
    arabic: &GROUP,
    case: Case::Nominative,
};

/// Queries, after a preposition.
pub(crate) const QUERIES: Counted = Counted {
    english: ["query", "queries"],
    arabic: &QUERY,
    case: Case::Oblique,
};

/// Entries of the log, as a subject.
pub(crate) const ENTRIES: Counted = Counted {
    english: ["entry", "entries"],
    arabic: &ENTRY,
    case: Case::Nominative,
};

/// Runs of a mechanism, after a preposition.
pub(crate) const RUNS: Counted = Counted {
    english: ["run", "runs"],
    arabic: &RUN,
    case: Case::Oblique,
};

/// A number of things, with the form of the noun that the number asks for. `text` is the
/// number as the page writes it.
pub(crate) fn counted(language: Language, number: u64, text: &str, noun: Counted) -> String {
    match language {
        Language::English => {
            let [one, several] = noun.english;
            format!("{text} {}", if number == 1 { one } else { several })
        }
        Language::Arabic => counted_as(number, text, noun.arabic, noun.case),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(language: Language, number: u64, noun: Counted) -> String {
        counted(language, number, &number.to_string(), noun)
    }

    #[test]
    fn arabic_nouns_have_the_form_and_the_case_of_their_sentence() {
        let arabic = |number, noun| text(Language::Arabic, number, noun);
        assert_eq!(arabic(2, ROWS), "صفّان");
        assert_eq!(arabic(12, ROWS), "12 صفًّا");
        assert_eq!(arabic(2, GROUPS), "فئتان");
        assert_eq!(arabic(1, QUERIES), "سؤال واحد");
        assert_eq!(arabic(2, QUERIES), "سؤالين");
        assert_eq!(arabic(5, QUERIES), "5 أسئلة");
        assert_eq!(arabic(40, ENTRIES), "40 قيدًا");
        assert_eq!(arabic(200_000, RUNS), "200000 تجربة");
    }

    #[test]
    fn english_nouns_are_singular_for_one_only() {
        for (number, expected) in [
            (0, "0 rows"),
            (1, "1 row"),
            (2, "2 rows"),
            (101, "101 rows"),
        ] {
            assert_eq!(text(Language::English, number, ROWS), expected);
        }
    }
}
