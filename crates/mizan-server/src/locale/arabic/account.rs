//! The messages of the accountant and of the verification of the log.

use mizan_api::messages::{AccountWarning, EventPart, VerifyWarning};
use mizan_report::number;

use super::Arabic;
use super::plural::{Case, PART, PERSON, TIME, counted};
use crate::locale::{Markup, fill};

impl Arabic for AccountWarning {
    fn arabic(&self) -> Markup {
        match *self {
            Self::RoundedDelta { delta } => fill(
                "لا يختلف مجموع قيم [[δ]] للأجزاء عن المطلوب إلا بفرق التقريب؛ وهذه النتيجة عند [[δ = {delta}]].",
                &[("delta", &format!("{delta:e}"))],
            ),
            Self::LargeDelta { delta, population } => fill(
                "[[δ {delta}]] ليست أصغر كثيرًا من [[1/{population}]]: قد تكشف آلية عند هذه القيمة بيانات نحو {revealed} من الأشخاص كشفًا كاملًا. اختر [[δ]] أصغر من {better}.",
                &[
                    ("delta", &number::nearest(delta, 3)),
                    ("population", &number::nearest(population, 6)),
                    ("revealed", &Self::revealed(delta, population)),
                    ("better", &Self::better_delta(population)),
                ],
            ),
        }
    }
}

impl Arabic for EventPart {
    fn arabic(&self) -> Markup {
        match self {
            Self::Compose { count } => fill(
                "تركيب من {count}",
                &[("count", &counted(*count, &PART, Case::Oblique))],
            ),
            Self::Repeat { count } => fill(
                "{count}",
                &[("count", &counted(*count, &TIME, Case::Oblique))],
            ),
            Self::Group { size } => fill(
                "لمجموعة من {size}",
                &[("size", &counted(*size, &PERSON, Case::Oblique))],
            ),
            Self::Mechanism { formula } => fill("[[{formula}]]", &[("formula", formula)]),
        }
    }
}

impl Arabic for VerifyWarning {
    fn arabic(&self) -> Markup {
        match self {
            Self::SignaturesNotChecked => fill(
                "لم تُفحص توقيعات نقاط التحقق: أعطِ المفتاح العام بالخيار [[--public-key]].",
                &[],
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_an_event_are_counted() {
        let html = EventPart::Compose { count: 2 }.arabic().0;
        assert_eq!(html, "تركيب من <bdi>جزأين</bdi>");
        let html = EventPart::Repeat { count: 100 }.arabic().0;
        assert_eq!(html, "<bdi>100 مرة</bdi>");
        let html = EventPart::Group { size: 3 }.arabic().0;
        assert_eq!(html, "لمجموعة من <bdi>3 أشخاص</bdi>");
    }
}
