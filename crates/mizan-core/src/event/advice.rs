//! The code of each problem with a privacy event, and what to do about it.

use super::EventProblem;
use super::decimal::{Round, format_decimal};
use super::names::EventKind;
use crate::Code;
use crate::units::{Count, Probability, plain};

impl EventProblem {
    /// The stable code of this problem.
    #[must_use]
    pub const fn code(&self) -> Code {
        match self {
            Self::Empty => Code::MZ1101,
            Self::Expected { .. } => Code::MZ1102,
            Self::UnknownEvent { .. } => Code::MZ1103,
            Self::UnknownParameter { .. } => Code::MZ1104,
            Self::DuplicateParameter { .. } => Code::MZ1105,
            Self::MissingParameter { .. } => Code::MZ1106,
            Self::TooManyArguments { .. } => Code::MZ1107,
            Self::PositionalAfterNamed { .. } => Code::MZ1108,
            Self::NotANumber { .. } => Code::MZ1109,
            Self::Value { .. } => Code::MZ1110,
            Self::TooManyDigits { .. } => Code::MZ1111,
            Self::Placeholder => Code::MZ1112,
            Self::TooLong { .. } => Code::MZ1113,
            Self::TooDeep => Code::MZ1114,
            Self::TooManyEvents => Code::MZ1115,
            Self::NotJson { .. } => Code::MZ1116,
            Self::WrongType { .. } => Code::MZ1117,
            Self::NoPlaceholder => Code::MZ1118,
            Self::TwoPlaceholders => Code::MZ1119,
            Self::NotSolvable { .. } => Code::MZ1120,
            Self::BelowChance { .. } => Code::MZ1121,
            Self::AlwaysTruthful => Code::MZ1122,
            Self::OneCategory => Code::MZ1123,
            Self::SensitivityBelowOne { .. } => Code::MZ1124,
            Self::SensitivityNotWhole { .. } => Code::MZ1125,
            Self::SampleTooLarge { .. } => Code::MZ1126,
            Self::NoPoints => Code::MZ1127,
            Self::DuplicateOrder { .. } => Code::MZ1128,
            Self::InfiniteBound { .. } => Code::MZ1129,
            Self::DeltaOne => Code::MZ1130,
            Self::NeverSampled => Code::MZ1131,
            Self::NoOutcomes => Code::MZ1132,
            Self::TooManyOutcomes { .. } => Code::MZ1133,
            Self::NotADistribution { .. } => Code::MZ1134,
            Self::LossesTooSmall { .. } => Code::MZ1135,
            Self::LossNotFinite { .. } => Code::MZ1136,
            Self::UnequalColumns { .. } => Code::MZ1137,
            Self::NameTaken { .. } => Code::MZ1138,
            Self::NotAName { .. } => Code::MZ1139,
            Self::DefinedTwice { .. } => Code::MZ1140,
        }
    }

    /// What to do about it.
    #[must_use]
    pub fn help(&self) -> String {
        match self {
            Self::Empty => "write an event, such as `gaussian(1.1)`".into(),
            Self::Expected { .. } => {
                "an event reads NAME(arguments); `+` joins events, `COUNT *` repeats one".into()
            }
            Self::UnknownEvent {
                closest: Some(name),
                ..
            } => format!("did you mean `{name}`?"),
            Self::UnknownEvent { closest: None, .. } => {
                let names = EventKind::NAMED.map(|kind| kind.syntax().name);
                format!("the events are {}", names.join(", "))
            }
            Self::UnknownParameter { signature, .. }
            | Self::TooManyArguments { signature, .. }
            | Self::PositionalAfterNamed { signature, .. } => format!("write {signature}"),
            Self::DuplicateParameter { parameter, .. } => format!("keep one {parameter}"),
            Self::MissingParameter { event, parameter } => {
                let syntax = EventKind::tagged(event).map(EventKind::syntax);
                syntax.map_or_else(
                    || format!("add {parameter}"),
                    |syntax| format!("add {parameter}: {}", syntax.signature()),
                )
            }
            Self::NotANumber { parameter, .. } => {
                format!("write {parameter} as a decimal such as 2, 0.5 or 1e-6")
            }
            Self::Value { unit, .. } => unit.help(),
            Self::TooManyDigits { .. } => {
                "17 digits tell any two doubles apart; leave out the rest".into()
            }
            Self::Placeholder => {
                "put a number in its place, or solve for it with `mizan calibrate`".into()
            }
            Self::TooLong { .. } => "write repeated events as `COUNT * event`".into(),
            Self::TooDeep => "take away parentheses that are not needed".into(),
            Self::TooManyEvents => "join equal events into one with a count".into(),
            Self::NotJson { .. } => {
                r#"an event in JSON reads {"event": "gaussian", "sigma": 1.1}"#.into()
            }
            Self::WrongType { expected, .. } => format!("put {expected} here"),
            Self::BelowChance { p, categories } => below_chance_help(*p, *categories),
            Self::AlwaysTruthful => "choose p below 1 (a p within 1e-16 of 1 counts as 1)".into(),
            Self::OneCategory => "a question needs at least two possible answers".into(),
            Self::SensitivityBelowOne { .. } => {
                "whole numbers that differ are at least 1 apart; use `gaussian` for others".into()
            }
            Self::SensitivityNotWhole { .. } => {
                "whole numbers move by whole numbers; round up, or use `laplace` for others".into()
            }
            Self::SampleTooLarge { .. } => "write without-replacement(n, m, event), m <= n".into(),
            Self::NoPoints => "write rdp(order, epsilon) or rdp(2:0.1, 4:0.2)".into(),
            Self::DuplicateOrder { .. } => "keep the smaller of the two bounds".into(),
            Self::InfiniteBound { .. } => "leave this order out; it promises nothing".into(),
            Self::DeltaOne => "choose a delta far below one in the number of people".into(),
            Self::NeverSampled => "leave the event out: it touches no one's data".into(),
            Self::NoOutcomes => "write finite(p:q, ...), one pair per outcome".into(),
            Self::TooManyOutcomes { .. } => "join outcomes with the same ratio p/q".into(),
            Self::NotADistribution { .. } => {
                "list every outcome; the sum may be off by 1e-9 at most".into()
            }
            Self::LossesTooSmall { .. } => {
                "a loss is ln(p/q), its probability is p: with the person".into()
            }
            Self::LossNotFinite { .. } => {
                "give the probability of an infinite loss by itself, as `inf` or `infinite`; \
                 leave out what never happens with the person"
                    .into()
            }
            Self::NoPlaceholder => "put `?` in place of one number, as in gaussian(?)".into(),
            Self::TwoPlaceholders => "put numbers in place of all `?` but one".into(),
            Self::NotSolvable { .. } => {
                "put `?` in place of one number or count, as in gaussian(?) or ? * pure(0.1)".into()
            }
            Self::NameTaken { .. } => "choose a name that is not a word of the language".into(),
            Self::NotAName { .. } => {
                "a name is letters, digits, `-` and `_`, starts with a letter \
                 and has 64 characters at most"
                    .into()
            }
            Self::DefinedTwice { .. } => "give each name one event".into(),
            Self::UnequalColumns { .. } => "give one number per outcome in each".into(),
        }
    }

    /// The parameter that a rule between parameters is best shown at.
    pub(super) const fn parameter(&self) -> Option<&'static str> {
        match self {
            Self::BelowChance { .. } | Self::AlwaysTruthful => Some("p"),
            Self::OneCategory => Some("categories"),
            Self::SensitivityBelowOne { .. } | Self::SensitivityNotWhole { .. } => {
                Some("sensitivity")
            }
            Self::SampleTooLarge { .. } => Some("m"),
            Self::DeltaOne => Some("delta"),
            Self::NeverSampled => Some("q"),
            _ => None,
        }
    }
}

/// The smallest double that is not below 1/k.
pub(super) fn chance(categories: Count) -> f64 {
    let k = categories.as_f64();
    let nearest = 1.0 / k;
    if nearest.mul_add(k, -1.0) < 0.0 {
        nearest.next_up()
    } else {
        nearest
    }
}

fn below_chance_help(p: Probability, categories: Count) -> String {
    if categories > Count::TWO {
        return format!(
            "below 1/{categories} the mechanism lies more often than chance would; \
             choose p from {} up to below 1",
            format_decimal(chance(categories), Round::Up)
        );
    }
    if p.get() <= 0.0 {
        return "an answer that is never true reveals the true answer; choose p from 0.5 up to below 1"
            .into();
    }
    format!(
        "below 1/2 the mechanism lies more often than chance would; \
         with two categories rr(p) costs what rr(1-p) costs: write rr({})",
        plain(1.0 - p.get())
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn randomized_response_below_chance_is_explained() {
        let two = EventProblem::BelowChance {
            p: Probability::new(0.3_f64.next_up()).unwrap(),
            categories: Count::TWO,
        };
        assert!(
            two.to_string().contains("; 0.3 is below chance, 1/2"),
            "{two}"
        );
        assert!(two.help().ends_with("write rr(0.7)"), "{}", two.help());

        let never = EventProblem::BelowChance {
            p: Probability::new(0.0).unwrap(),
            categories: Count::TWO,
        };
        assert!(never.help().contains("reveals the true answer"));

        let five = EventProblem::BelowChance {
            p: Probability::new(0.1).unwrap(),
            categories: Count::new(5).unwrap(),
        };
        assert!(five.help().contains("from 0.2 up"), "{}", five.help());
    }
}
