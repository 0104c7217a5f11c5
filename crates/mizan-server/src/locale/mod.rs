//! Languages: which one a browser asks for, and the sentences of each.
//!
//! `catalogue.rs` has the sentences of the pages, `lines.rs` those of the libraries; the
//! registry ([`mizan_core::Code`]) has those of error codes. `plural.rs` has counted nouns.
//! Mathematics, SQL and numbers are left to right inside Arabic (`bidi.rs`).

mod bidi;
mod catalogue;
mod lines;
pub(crate) mod plural;

use std::borrow::Cow;

use bidi::escape;
pub use bidi::{Markup, fill};
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

    /// The language that an `Accept-Language` header prefers.
    #[must_use]
    pub fn accepted(header: &str) -> Self {
        let mut best = (Self::English, 0.0_f64);
        for item in header.split(',').take(32) {
            let (code, rest) = item.split_once(';').unwrap_or((item, ""));
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

/// A sentence of a library in the language of a page.
#[derive(Clone, Debug)]
pub struct Line {
    /// The sentence.
    pub text: String,
    /// Whether it is English inside a page of another language.
    pub foreign: bool,
}

/// A problem in the language of a page.
#[derive(Clone, Debug)]
pub struct ProblemText {
    /// What is wrong.
    pub what: Markup,
    /// What to do.
    pub next: Markup,
    /// The English message of the library, where another language is shown above: it has
    /// the names and the numbers.
    pub original: Option<String>,
}

impl Strings {
    /// A sentence as HTML: `[[…]]` and Latin words in Arabic are left to right.
    #[must_use]
    pub fn html(&self, sentence: &str) -> Markup {
        fill(sentence, &[])
    }
}

impl Language {
    /// A sentence of a library.
    #[must_use]
    pub fn line(self, english: &str) -> Line {
        let known = match self {
            Self::English => None,
            Self::Arabic => lines::arabic(english),
        };
        Line {
            foreign: self != Self::English && known.is_none(),
            text: known.unwrap_or_else(|| english.to_owned()),
        }
    }

    /// A problem, by its code.
    #[must_use]
    pub fn problem_text(self, problem: &Problem) -> ProblemText {
        match self {
            Self::English => ProblemText {
                what: bidi::isolated(&problem.detail),
                next: bidi::isolated(&problem.help),
                original: None,
            },
            Self::Arabic => ProblemText {
                what: bidi::isolated(problem.code.title().arabic),
                next: bidi::isolated(problem.code.next_step().arabic),
                original: Some(format!("{}. {}.", problem.detail, problem.help)),
            },
        }
    }

    /// A chart with its words in this language. Axes stay as they are.
    #[must_use]
    pub fn chart(self, svg: String) -> String {
        match self {
            Self::English => svg,
            Self::Arabic => {
                let tags = ["text", "title", "desc"];
                tags.iter().fold(svg, |svg, tag| with_words(&svg, tag))
            }
        }
    }
}

/// Charts are left to right; what stands between these is not.
const RIGHT_TO_LEFT: char = '\u{2067}';

/// The end of it.
const END: char = '\u{2069}';

/// Puts Arabic where an element of a chart has words that are known.
fn with_words(svg: &str, tag: &str) -> String {
    let (open, close) = (format!("<{tag}"), format!("</{tag}>"));
    let mut made = String::with_capacity(svg.len());
    let mut rest = svg;
    while let Some(at) = rest.find(&close) {
        let (before, after) = rest.split_at(at);
        let words = before.rfind(&open).and_then(|start| {
            let begin = start + before.get(start..)?.find('>')? + 1;
            Some((before.get(..begin)?, before.get(begin..)?))
        });
        match words.and_then(|(head, words)| Some((head, lines::arabic(&plain(words))?))) {
            Some((head, arabic)) => {
                made.push_str(head);
                made.push(RIGHT_TO_LEFT);
                escape(&mut made, &arabic);
                made.push(END);
            }
            None => made.push_str(before),
        }
        made.push_str(&close);
        rest = after.get(close.len()..).unwrap_or_default();
    }
    made.push_str(rest);
    made
}

/// Text of a chart without its escapes.
fn plain(escaped: &str) -> Cow<'_, str> {
    if !escaped.contains('&') {
        return Cow::Borrowed(escaped);
    }
    let all = [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#39;", "'"),
        ("&apos;", "'"),
        ("&amp;", "&"),
    ];
    let plain = all.iter().fold(escaped.to_owned(), |text, (from, to)| {
        text.replace(from, to)
    });
    Cow::Owned(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accept_language_decides() {
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
    fn a_problem_in_arabic_has_the_english_message_below() {
        let problem = Problem::not_found("this dataset");
        let text = Language::Arabic.problem_text(&problem);
        assert!(text.what.0.contains("غير موجود"));
        let original = text.original.unwrap();
        assert!(
            original.starts_with("this dataset does not exist"),
            "{original}"
        );
        let english = Language::English.problem_text(&problem);
        assert_eq!((english.what.0, english.original), (problem.detail, None));
    }

    #[test]
    fn a_chart_has_its_words_in_arabic_and_keeps_the_rest() {
        let svg = "<svg><title>What is left of a&amp;b</title><text x=\"1\">left, %</text><text>17</text></svg>";
        let made = Language::Arabic.chart(svg.to_owned());
        assert!(
            made.contains("<text x=\"1\">\u{2067}المتبقي، %\u{2069}</text><text>17</text>"),
            "{made}"
        );
        assert!(
            made.contains("a&amp;b") && !made.contains("What is left"),
            "{made}"
        );
        assert_eq!(Language::English.chart(svg.to_owned()), svg);
    }
}
