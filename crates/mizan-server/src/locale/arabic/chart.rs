//! The words of charts in Arabic. A picture has no `<bdi>`: characters of direction
//! stand in its place.

use mizan_api::messages::Label;
use mizan_report::{Figure, Panel};

/// Charts are left to right; what follows is not.
const RIGHT_TO_LEFT: char = '\u{2067}';

/// What follows is left to right.
const FORMULA: char = '\u{2066}';

/// What follows has the direction of its first letter.
const ISOLATE: char = '\u{2068}';

/// The end of each of them.
const END: char = '\u{2069}';

/// A word of a chart.
pub(in super::super) fn label(label: &Label) -> String {
    match label {
        Label::Order => words("الرتبة α"),
        Label::CurveOf { event } => with("منحنى ميزانية ريني للحدث ", event),
        Label::ListedOrders => words("الرتب المذكورة"),
        Label::Reveals { event } => with("ما يكشفه الحدث ", event),
        Label::PrivacyProfile => words("ملف الخصوصية"),
        Label::ExactAtLeast => words("الحدّ الأدنى للقيمة الدقيقة"),
        Label::TradeOff => words("دالة المقايضة للمهاجم"),
        Label::FalsePositives => words("إيجابيات كاذبة"),
        Label::FalseNegatives => words("سلبيات كاذبة"),
        Label::NoAttackBelow => words("حدّ لا يقع دونه أي هجوم"),
        Label::SomeAttackNotAbove => words("حدّ يبلغه هجوم ما أو ينزل دونه"),
        Label::BestAttack => words("أفضل هجوم"),
        Label::Guessing => words("التخمين"),
        Label::LeftOf { account } => with("المتبقي من ", account),
        Label::LogEntry => words("قيد السجل"),
        Label::LeftPercent => words("المتبقي، %"),
        Label::BasicMechanisms => words("الخصوصية التفاضلية لريني للآليات الأساسية"),
        Label::RandomizedResponse => words("الاستجابة العشوائية"),
        Label::LaplaceNoise => words("ضوضاء لابلاس"),
        Label::GaussianNoise => words("ضوضاء غاوس"),
        Label::BadOutcome => words("ازدياد احتمال نتيجة سيئة بعد n جولة"),
        Label::RandomizedResponseRisk { strength, baseline } => {
            risk("الاستجابة العشوائية", strength, baseline)
        }
        Label::LaplaceRisk { strength, baseline } => risk("لابلاس", strength, baseline),
        Label::IncreaseBound => words("الحدّ الأعلى للازدياد"),
        Label::Naive => words("التركيب البسيط"),
        Label::AdvancedBestDelta => words("التركيب المتقدم، أفضل δ"),
        Label::Proposition4 => words("القضية 4"),
        Label::RenyiProposition10 => words("ريني، القضية 10"),
        Label::Exact => words("القيمة الدقيقة"),
        Label::Rounds {
            truthful,
            scale,
            sigma,
        } => {
            let [truthful, scale, sigma] =
                [truthful, scale, sigma].map(|value| formula(&format!("({value})")));
            words(&format!(
                "n جولة من الاستجابة العشوائية {truthful} وضوضاء لابلاس {scale} وضوضاء غاوس {sigma}"
            ))
        }
        Label::IncreaseAt { baseline } => {
            words(&format!("الازدياد، {}", formula(&probability(baseline))))
        }
        Label::BestOrderAt { baseline } => {
            words(&format!("أفضل رتبة، {}", formula(&probability(baseline))))
        }
        Label::AllOrders => words("كل الرتب"),
        Label::ThirteenOrders => words("13 رتبة"),
    }
}

/// What a chart shows, for those who do not see it.
pub(in super::super) fn description(figure: &Figure) -> String {
    let panel = |panel: &Panel| {
        let names = panel.series.iter().map(|series| isolated(&series.name));
        let names = names.collect::<Vec<_>>().join("، ");
        let title = match panel.title.is_empty() {
            true => String::new(),
            false => format!("{}: ", isolated(&panel.title)),
        };
        format!(
            "{title}{} مقابل {}؛ المنحنيات: {names}.",
            isolated(&panel.y.label),
            isolated(&panel.x.label)
        )
    };
    let panels = figure.panels.iter().map(panel);
    words(&panels.collect::<Vec<_>>().join(" "))
}

fn words(text: &str) -> String {
    format!("{RIGHT_TO_LEFT}{text}{END}")
}

/// Words before a name.
fn with(text: &str, name: &str) -> String {
    words(&format!("{text}{}", isolated(name)))
}

fn risk(mechanism: &str, strength: &str, baseline: &str) -> String {
    let (strength, baseline) = (formula(strength), formula(&probability(baseline)));
    words(&format!("{mechanism}، {strength}، {baseline}"))
}

fn probability(baseline: &str) -> String {
    format!("Pr = {baseline}")
}

/// A formula stays on one line.
fn formula(text: &str) -> String {
    let text = text.replace(' ', "\u{a0}");
    format!("{FORMULA}{text}{END}")
}

fn isolated(text: &str) -> String {
    format!("{ISOLATE}{text}{END}")
}

#[cfg(test)]
mod tests {
    use mizan_report::{Axis, Series};

    use super::*;

    #[test]
    fn names_and_formulas_have_their_own_direction() {
        assert_eq!(label(&Label::LeftPercent), "\u{2067}المتبقي، %\u{2069}");
        let account = "a&b".to_owned();
        assert_eq!(
            label(&Label::LeftOf { account }),
            "\u{2067}المتبقي من \u{2068}a&b\u{2069}\u{2069}"
        );
    }

    #[test]
    fn a_description_names_axes_and_curves() {
        let panel = Panel::new("", Axis::linear("n"), Axis::linear("ε"));
        let panel = panel.with(Series::new("renyi", Vec::new()));
        let text = description(&Figure::new("").with(panel));
        let hidden = |c: char| matches!(c, RIGHT_TO_LEFT | FORMULA | ISOLATE | END);
        assert_eq!(text.replace(hidden, ""), "ε مقابل n؛ المنحنيات: renyi.");
    }
}
