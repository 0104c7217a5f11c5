//! Counted nouns: "1 row", "12 rows"; صف واحد، صفّان، 3 صفوف، 12 صفًّا، 100 صف.
//!
//! Arabic has a form for one, for two, for a remainder by 100 from 3 to 10, for one from 11
//! to 99, and for all other numbers (CLDR's plural categories). One and two are written as
//! words, because the noun alone says the number.

use super::Language;

/// A noun with the forms that numbers ask for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Noun {
    /// One, and several.
    english: [&'static str; 2],
    /// One, two, 3 to 10, 11 to 99, and 100.
    arabic: [&'static str; 5],
}

/// Rows, as the subject of a sentence.
pub(crate) const ROWS: Noun = Noun {
    english: ["row", "rows"],
    arabic: ["صف واحد", "صفّان", "صفوف", "صفًّا", "صف"],
};

/// Groups, as the subject of a sentence.
pub(crate) const GROUPS: Noun = Noun {
    english: ["group", "groups"],
    arabic: ["فئة واحدة", "فئتان", "فئات", "فئة", "فئة"],
};

/// Queries, after a preposition.
pub(crate) const QUERIES: Noun = Noun {
    english: ["query", "queries"],
    arabic: ["سؤال واحد", "سؤالين", "أسئلة", "سؤالًا", "سؤال"],
};

/// Entries of the log, as the subject of a sentence.
pub(crate) const ENTRIES: Noun = Noun {
    english: ["entry", "entries"],
    arabic: ["قيد واحد", "قيدان", "قيود", "قيدًا", "قيد"],
};

/// Runs of a mechanism, after a preposition.
pub(crate) const RUNS: Noun = Noun {
    english: ["run", "runs"],
    arabic: ["تشغيلة واحدة", "تشغيلتين", "تشغيلات", "تشغيلة", "تشغيلة"],
};

/// A number of things, with the form of the noun that the number asks for. `text` is the
/// number as the page writes it.
pub(crate) fn counted(language: Language, number: u64, text: &str, noun: Noun) -> String {
    match language {
        Language::English => {
            let [one, several] = noun.english;
            format!("{text} {}", if number == 1 { one } else { several })
        }
        Language::Arabic => {
            let [one, two, few, many, other] = noun.arabic;
            match (number, number % 100) {
                (1, _) => one.to_owned(),
                (2, _) => two.to_owned(),
                (_, 3..=10) => format!("{text} {few}"),
                (_, 11..=99) => format!("{text} {many}"),
                _ => format!("{text} {other}"),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arabic(number: u64, noun: Noun) -> String {
        counted(Language::Arabic, number, &number.to_string(), noun)
    }

    #[test]
    fn arabic_nouns_have_the_form_that_the_number_asks_for() {
        for (number, expected) in [
            (0, "0 صف"),
            (1, "صف واحد"),
            (2, "صفّان"),
            (3, "3 صفوف"),
            (10, "10 صفوف"),
            (11, "11 صفًّا"),
            (12, "12 صفًّا"),
            (99, "99 صفًّا"),
            (100, "100 صف"),
            (101, "101 صف"),
            (102, "102 صف"),
            (103, "103 صفوف"),
            (110, "110 صفوف"),
            (111, "111 صفًّا"),
            (200, "200 صف"),
            (1_000_000, "1000000 صف"),
        ] {
            assert_eq!(arabic(number, ROWS), expected);
        }
        assert_eq!(arabic(2, GROUPS), "فئتان");
        assert_eq!(arabic(5, QUERIES), "5 أسئلة");
        assert_eq!(arabic(2, QUERIES), "سؤالين");
        assert_eq!(arabic(40, ENTRIES), "40 قيدًا");
        assert_eq!(arabic(200_000, RUNS), "200000 تشغيلة");
    }

    #[test]
    fn english_nouns_are_singular_for_one_only() {
        for (number, expected) in [
            (0, "0 rows"),
            (1, "1 row"),
            (2, "2 rows"),
            (101, "101 rows"),
        ] {
            let text = number.to_string();
            assert_eq!(counted(Language::English, number, &text, ROWS), expected);
        }
    }
}
