//! Languages: which one a visitor reads, and how a sentence is filled.
//!
//! `catalogue.rs` has the sentences of the pages in both languages, the registry
//! ([`mizan_core::Code`]) those of error codes. Messages of the libraries are values:
//! `mizan_api::messages` renders them in English, `arabic/` in Arabic. Mathematics, SQL
//! and numbers keep their own direction inside Arabic: what is filled in stands in a
//! `<bdi>` of its own.

mod arabic;
mod catalogue;

use std::fmt;

use askama::filters::HtmlSafe;
use mizan_api::account::RefusedMethod;
use mizan_api::messages::{Label, LabelText, Message};
use mizan_report::Figure;

pub use arabic::Arabic;
pub use catalogue::Strings;
use catalogue::{ARABIC, ENGLISH};

use crate::problem::Problem;

/// A language of the pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// English, left to right.
    English,
    /// Arabic, right to left.
    Arabic,
}

impl Language {
    /// The language of a code, such as `ar` or `ar-EG`.
    #[must_use]
    pub fn from_code(code: &str) -> Option<Self> {
        let first = code.split(['-', '_']).next().unwrap_or_default().trim();
        match first.to_ascii_lowercase().as_str() {
            "en" => Some(Self::English),
            "ar" => Some(Self::Arabic),
            _ => None,
        }
    }

    /// The best that an `Accept-Language` header asks for.
    #[must_use]
    pub fn accepted(header: &str) -> Self {
        let mut best = (Self::English, 0.0_f64);
        for wish in header.split(',').take(32) {
            let (code, rest) = wish.split_once(';').unwrap_or((wish, ""));
            let weight = rest.trim().strip_prefix("q=");
            let weight = weight.map_or(1.0, |text| text.trim().parse().unwrap_or(0.0));
            if let Some(language) = Self::from_code(code)
                && weight > best.1
            {
                best = (language, weight);
            }
        }
        best.0
    }

    /// For `lang`.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::Arabic => "ar",
        }
    }

    /// For `dir`.
    #[must_use]
    pub const fn direction(self) -> &'static str {
        match self {
            Self::English => "ltr",
            Self::Arabic => "rtl",
        }
    }

    /// The other one.
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::English => Self::Arabic,
            Self::Arabic => Self::English,
        }
    }

    /// Its sentences.
    #[must_use]
    pub fn strings(self) -> &'static Strings {
        match self {
            Self::English => &ENGLISH,
            Self::Arabic => &ARABIC,
        }
    }
}

/// A problem for somebody.
#[derive(Clone, Debug)]
pub struct Told {
    /// What is wrong.
    pub what: String,
    /// What to do.
    pub next: String,
    /// What the library says, where that is not what is shown above: it has the
    /// names and the numbers.
    pub original: Option<String>,
}

impl Language {
    /// A message of a library.
    #[must_use]
    pub fn say(self, message: &(impl Message + Arabic)) -> Markup {
        match self {
            Self::English => Markup::text(&message.english()),
            Self::Arabic => message.arabic(),
        }
    }

    /// Why a method of the accountant does not apply.
    #[must_use]
    pub fn refused(self, method: &RefusedMethod) -> Markup {
        match self {
            Self::English => Markup::text(&method.reason),
            Self::Arabic => arabic::refused(method),
        }
    }

    /// A problem, by its code.
    #[must_use]
    pub fn told(self, problem: &Problem) -> Told {
        match self {
            Self::English => Told {
                what: problem.detail.clone(),
                next: problem.help.clone(),
                original: None,
            },
            Self::Arabic => Told {
                what: problem.code.title().arabic.to_owned(),
                next: problem.code.next_step().arabic.to_owned(),
                original: Some(format!("{}. {}.", problem.detail, problem.help)),
            },
        }
    }

    /// The words of charts.
    #[must_use]
    pub fn labels(self) -> LabelText {
        match self {
            Self::English => Label::english,
            Self::Arabic => arabic::label,
        }
    }

    /// A chart whose labels are in this language, as SVG.
    #[must_use]
    pub fn svg(self, figure: Figure) -> String {
        match self {
            Self::English => figure.to_svg(),
            Self::Arabic => {
                let description = arabic::description(&figure);
                figure.described(description).to_svg()
            }
        }
    }
}

/// HTML that was escaped where it had to be.
#[derive(Clone, Debug, Default)]
pub struct Markup(pub String);

impl Markup {
    /// Of plain text.
    #[must_use]
    pub fn text(text: &str) -> Self {
        let mut html = String::with_capacity(text.len());
        escape(&mut html, text);
        Self(html)
    }
}

impl fmt::Display for Markup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl HtmlSafe for Markup {}

/// Fills the placeholders of a sentence; each value keeps its own direction, and
/// what stands in `[[…]]` is a formula: left to right in every language.
#[must_use]
pub fn fill(sentence: &str, values: &[(&str, &str)]) -> Markup {
    let mut html = String::with_capacity(sentence.len() + 64);
    let mut rest = sentence;
    while let Some(at) = rest.find(['{', '[', ']']) {
        let (before, after) = rest.split_at(at);
        escape(&mut html, before);
        rest = if let Some(after) = after.strip_prefix("[[") {
            html.push_str("<bdi dir=\"ltr\">");
            after
        } else if let Some(after) = after.strip_prefix("]]") {
            html.push_str("</bdi>");
            after
        } else if let Some((name, after)) = after
            .strip_prefix('{')
            .and_then(|after| after.split_once('}'))
        {
            let value = values.iter().find(|(key, _)| *key == name);
            html.push_str("<bdi>");
            escape(&mut html, value.map_or("", |(_, value)| value));
            html.push_str("</bdi>");
            after
        } else {
            // A bracket that is only a bracket.
            let mut characters = after.chars();
            characters.next();
            html.extend(after.chars().next());
            characters.as_str()
        };
    }
    escape(&mut html, rest);
    Markup(html)
}

fn escape(html: &mut String, text: &str) {
    for c in text.chars() {
        match c {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '"' => html.push_str("&quot;"),
            '\'' => html.push_str("&#39;"),
            c => html.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_says_the_language() {
        for (header, language) in [
            ("", Language::English),
            ("ar", Language::Arabic),
            ("ar-EG,ar;q=0.9,en;q=0.8", Language::Arabic),
            ("de,en;q=0.5,ar;q=0.4", Language::English),
            ("en;q=0.1, ar-SA;q=0.7", Language::Arabic),
            ("ar;q=0", Language::English),
            ("ar;q=nonsense", Language::English),
        ] {
            assert_eq!(Language::accepted(header), language, "{header}");
        }
    }

    #[test]
    fn a_problem_is_told_in_arabic_with_the_words_of_the_library_below() {
        let problem = Problem::not_found("this dataset");
        let told = Language::Arabic.told(&problem);
        assert!(told.what.contains("غير موجود"));
        let original = told.original.unwrap();
        assert!(
            original.starts_with("this dataset is not there"),
            "{original}"
        );
        let english = Language::English.told(&problem);
        assert_eq!((english.what, english.original), (problem.detail, None));
    }

    #[test]
    fn a_message_is_escaped_in_english_and_isolated_in_arabic() {
        let clamped = mizan_sql::Effect::UnitTotal {
            column: "<b>".to_owned(),
            low: 0.0,
            high: 5.0,
        };
        let english = Language::English.say(&clamped).0;
        assert!(english.starts_with("&lt;b&gt; of each person"), "{english}");
        let arabic = Language::Arabic.say(&clamped).0;
        assert!(arabic.contains("<bdi>&lt;b&gt;</bdi>"), "{arabic}");
    }

    #[test]
    fn a_chart_has_its_words_in_one_language() {
        let draw = |language: Language| {
            let words = language.labels();
            let axis = |label| mizan_report::Axis::linear(words(&label));
            let panel =
                mizan_report::Panel::new("", axis(Label::LogEntry), axis(Label::LeftPercent));
            language.svg(Figure::new("").with(panel))
        };
        let english = draw(Language::English);
        assert!(english.contains("left, %") && english.contains("against"));
        let arabic = draw(Language::Arabic);
        assert!(arabic.contains("المتبقي، %") && arabic.contains("مقابل"));
        assert!(!arabic.contains("left, %") && !arabic.contains("against"));
    }

    #[test]
    fn what_is_filled_in_is_escaped_and_apart() {
        let html = fill("part of {parent}", &[("parent", "<b>")]);
        assert_eq!(html.0, "part of <bdi>&lt;b&gt;</bdi>");
        let html = fill("[[ε ≤ {e}]] [1]", &[("e", "[[2]]")]);
        assert_eq!(html.0, "<bdi dir=\"ltr\">ε ≤ <bdi>[[2]]</bdi></bdi> [1]");
    }
}
