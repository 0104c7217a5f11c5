//! Languages: which one a browser asks for, and the sentences of each.
//!
//! `catalogue.rs` has the sentences of the pages, the registry ([`mizan_core::Code`]) those
//! of error codes. Messages of the libraries are values: `mizan_api::messages` renders them
//! in English, `arabic/` in Arabic. `plural.rs` has counted nouns. Mathematics, SQL and
//! numbers are left to right inside Arabic (`bidi.rs`).

mod arabic;
mod bidi;
mod catalogue;
pub(crate) mod plural;

use mizan_api::account::RefusedMethod;
use mizan_api::messages::{Label, LabelText, Message};
use mizan_report::Figure;

pub use arabic::Arabic;
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

    /// Wrong phrases of earlier versions, and words for what has another name in
    /// `docs/glossary-ar.md`.
    const WRONG_ARABIC: &[&str] = &[
        // The fifteen faults of the review.
        "معشي",
        "معش ",
        "عشر الوعد",
        "على الأكثر هذا ε",
        "بقدر ما يلزم",
        "الأسئلة المماثلة التي تتسع",
        "لا يتسع له المتبقي",
        "النموذج يدفع",
        "مرة من 100",
        "الخصوم",
        "كما يقول",
        "يحتسب لكل واحد",
        "من الصفوف على الأكثر",
        "من المجموعات على الأكثر",
        "بالصدفة",
        "الجارات",
        "المقترح 10",
        "المقترح 4",
        "خط الأساس",
        // Its further remarks.
        "المجموعات",
        "لم يضع شيء",
        "معطيات الدالة",
        "محصور في",
        // One term for one thing: مالك البيانات, مشغل الخادم, أبلغ, تجربة, تخصم منه كلفة.
        "المالك",
        "من يشغل الخادم",
        "أخبر ",
        "تشغيلة",
        "يدفع عن",
        "تدريب خاص",
    ];

    #[test]
    fn wrong_arabic_phrases_do_not_come_back() {
        let pages = [
            include_str!("catalogue.rs"),
            include_str!("plural.rs"),
            include_str!("arabic/account.rs"),
            include_str!("arabic/answer.rs"),
            include_str!("arabic/chart.rs"),
            include_str!("arabic/mod.rs"),
            include_str!("arabic/plural.rs"),
        ];
        let codes = mizan_core::Code::all().flat_map(|code| [code.title(), code.next_step()]);
        let texts = codes.map(|text| text.arabic).chain(pages);
        for text in texts {
            // Compared without vowel signs.
            let vowels = |c: &char| ('\u{64b}'..='\u{652}').contains(c);
            let text: String = text.chars().filter(|c| !vowels(c)).collect();
            for wrong in WRONG_ARABIC {
                assert!(!text.contains(wrong), "{wrong}: {text}");
            }
        }
    }

    #[test]
    fn roles_have_no_article() {
        let t = Language::Arabic.strings();
        for role in [t.role_owner, t.role_analyst, t.role_auditor, t.role_runner] {
            assert!(!role.starts_with("ال"), "{role}");
        }
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
}
