//! Counted nouns in Arabic: صف واحد، صفّان، 3 صفوف، 11 صفًّا، 100 صف.

use mizan_api::messages::count_text;

/// A noun with the forms that numbers ask for.
pub(in crate::locale) struct Noun {
    /// One of it, with the word for one.
    one: &'static str,
    /// Two as a subject.
    two: &'static str,
    /// Two as an object, or after a preposition.
    two_oblique: &'static str,
    /// After 3 to 10.
    few: &'static str,
    /// After 11 to 99.
    many: &'static str,
    /// After whole hundreds, and after one or two more.
    hundred: &'static str,
}

/// The place of a counted noun in its sentence.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::locale) enum Case {
    /// A subject.
    Nominative,
    /// After a preposition.
    Oblique,
}

pub(in crate::locale) const ROW: Noun = Noun {
    one: "صف واحد",
    two: "صفّان",
    two_oblique: "صفّين",
    few: "صفوف",
    many: "صفًّا",
    hundred: "صف",
};

pub(in crate::locale) const GROUP: Noun = Noun {
    one: "فئة واحدة",
    two: "فئتان",
    two_oblique: "فئتين",
    few: "فئات",
    many: "فئة",
    hundred: "فئة",
};

pub(in crate::locale) const STATISTIC: Noun = Noun {
    one: "إحصاءة واحدة",
    two: "إحصاءتان",
    two_oblique: "إحصاءتين",
    few: "إحصاءات",
    many: "إحصاءة",
    hundred: "إحصاءة",
};

pub(in crate::locale) const PERSON: Noun = Noun {
    one: "شخص واحد",
    two: "شخصان",
    two_oblique: "شخصين",
    few: "أشخاص",
    many: "شخصًا",
    hundred: "شخص",
};

pub(in crate::locale) const PART: Noun = Noun {
    one: "جزء واحد",
    two: "جزءان",
    two_oblique: "جزأين",
    few: "أجزاء",
    many: "جزءًا",
    hundred: "جزء",
};

pub(in crate::locale) const TIME: Noun = Noun {
    one: "مرة واحدة",
    two: "مرتان",
    two_oblique: "مرتين",
    few: "مرات",
    many: "مرة",
    hundred: "مرة",
};

pub(in crate::locale) const DAY: Noun = Noun {
    one: "يوم واحد",
    two: "يومان",
    two_oblique: "يومين",
    few: "أيام",
    many: "يومًا",
    hundred: "يوم",
};

pub(in crate::locale) const MICROSECOND: Noun = Noun {
    one: "ميكروثانية واحدة",
    two: "ميكروثانيتان",
    two_oblique: "ميكروثانيتين",
    few: "ميكروثوانٍ",
    many: "ميكروثانية",
    hundred: "ميكروثانية",
};

pub(in crate::locale) const COMBINATION: Noun = Noun {
    one: "تركيبة واحدة",
    two: "تركيبتان",
    two_oblique: "تركيبتين",
    few: "تركيبات",
    many: "تركيبة",
    hundred: "تركيبة",
};

pub(in crate::locale) const QUERY: Noun = Noun {
    one: "سؤال واحد",
    two: "سؤالان",
    two_oblique: "سؤالين",
    few: "أسئلة",
    many: "سؤالًا",
    hundred: "سؤال",
};

pub(in crate::locale) const ENTRY: Noun = Noun {
    one: "قيد واحد",
    two: "قيدان",
    two_oblique: "قيدين",
    few: "قيود",
    many: "قيدًا",
    hundred: "قيد",
};

pub(in crate::locale) const RUN: Noun = Noun {
    one: "تجربة واحدة",
    two: "تجربتان",
    two_oblique: "تجربتين",
    few: "تجارب",
    many: "تجربة",
    hundred: "تجربة",
};

/// A number with its noun.
pub(in crate::locale) fn counted(count: u64, noun: &Noun, case: Case) -> String {
    counted_as(count, &count_text(count), noun, case)
}

/// The same, with the number as the page writes it.
pub(in crate::locale) fn counted_as(count: u64, text: &str, noun: &Noun, case: Case) -> String {
    let form = match (count, count % 100) {
        (1, _) => return noun.one.to_owned(),
        (2, _) if case == Case::Nominative => return noun.two.to_owned(),
        (2, _) => return noun.two_oblique.to_owned(),
        (_, 3..=10) => noun.few,
        (_, 11..=99) => noun.many,
        _ => noun.hundred,
    };
    format!("{text} {form}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nouns_follow_their_number() {
        let rows = |count| counted(count, &ROW, Case::Nominative);
        for (count, text) in [
            (0, "0 صف"),
            (1, "صف واحد"),
            (2, "صفّان"),
            (3, "3 صفوف"),
            (10, "10 صفوف"),
            (11, "11 صفًّا"),
            (99, "99 صفًّا"),
            (100, "100 صف"),
            (102, "102 صف"),
            (103, "103 صفوف"),
            (111, "111 صفًّا"),
            (1024, "1,024 صفًّا"),
        ] {
            assert_eq!(rows(count), text);
        }
        assert_eq!(counted(2, &GROUP, Case::Oblique), "فئتين");
    }
}
