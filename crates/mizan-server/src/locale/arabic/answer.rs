//! The messages of quotes and answers: limits, notes, and the choice of the noise.

use mizan_api::messages::{account_share_text, count_text, width_text};
use mizan_api::query::plain;
use mizan_engine::{Accuracy, ChoiceReason, NoiseKind};
use mizan_report::number;
use mizan_sql::{Effect, End, Note, QuantileRank, RankTarget, RowBounding, Share, Type};

use super::plural::{COMBINATION, Case, DAY, GROUP, MICROSECOND, Noun, ROW, STATISTIC, counted};
use super::{Arabic, name};
use crate::locale::{Markup, fill};

fn rows(count: u64, case: Case) -> String {
    counted(count, &ROW, case)
}

fn groups(count: u64) -> String {
    counted(count, &GROUP, Case::Oblique)
}

/// A sentence about one range.
fn range(sentence: &str, column: &str, low: &str, high: &str) -> Markup {
    fill(
        sentence,
        &[("column", column), ("low", low), ("high", high)],
    )
}

impl Arabic for Effect {
    fn arabic(&self) -> Markup {
        match self {
            Self::GroupsSampled { limit } => fill(
                "يُحتسب كل شخص في {groups} على الأكثر (تُختار عشوائيًّا إن كان في أكثر من ذلك).",
                &[("groups", &groups(*limit))],
            ),
            Self::GroupsClipped { limit } => fill(
                "من كان في أكثر من {groups} يُحتسب في فئاته كلها، بعد قصّ مساهمته بالمعيار [[L2]] إلى ما يعادل {groups}.",
                &[("groups", &groups(*limit))],
            ),
            Self::RowsPerGroup { limit, bounding } => {
                let how: Vec<&str> = bounding.iter().map(|how| bounding_sentence(*how)).collect();
                let colon = if how.is_empty() { "" } else { ": " };
                fill(
                    &format!(
                        "يُحتسب لكل شخص في كل فئة {{rows}} على الأكثر{colon}{}.",
                        how.join("؛ ")
                    ),
                    &[
                        ("rows", &rows(*limit, Case::Nominative)),
                        ("weight", &rows(*limit, Case::Oblique)),
                        ("limit", &count_text(*limit)),
                    ],
                )
            }
            Self::JoinedRows { limit } => fill(
                "يدخل لكل شخص في كل جانب من الربط {rows} على الأكثر (تُختار عشوائيًّا إن كان له أكثر).",
                &[("rows", &rows(*limit, Case::Nominative))],
            ),
            Self::Clamped {
                dataset,
                column,
                low,
                high,
            } => range(
                "تُحصر قيم {column} في المدى من {low} إلى {high}.",
                &plain(&format!("{dataset}.{column}")),
                &low.to_string(),
                &high.to_string(),
            ),
            Self::TotalPerGroup { low, high } => range(
                "يُحصر مجموع قيم كل شخص في الفئة الواحدة في المدى من {low} إلى {high}.",
                "",
                &low.to_string(),
                &high.to_string(),
            ),
            Self::UnitCount { column, limit } => fill(
                "تُحصر قيمة {column} لكل شخص في {limit} على الأكثر، وهو حدّ الصفوف المعلن.",
                &[("column", &plain(column)), ("limit", &count_text(*limit))],
            ),
            Self::UnitTotal { column, low, high } => range(
                "تُحصر قيمة {column} لكل شخص في المدى من {low} إلى {high}.",
                &plain(column),
                &low.to_string(),
                &high.to_string(),
            ),
            Self::Grid {
                aggregate,
                step,
                kind,
            } => fill(
                "يُحسب {aggregate} بخطوات مقدارها {step}.",
                &[
                    ("aggregate", &plain(aggregate)),
                    ("step", &step_text(*step, *kind)),
                ],
            ),
            Self::AtBound {
                aggregate,
                end,
                groups,
            } => {
                let end = match end {
                    End::Lower => "حدّه الأدنى",
                    End::Upper => "حدّه الأعلى",
                };
                shared(
                    &format!("{{name}} عند {end} (ضمن ضوضائه)"),
                    *groups,
                    ": ربما بلغه بسبب الحصر.",
                    &name(aggregate),
                )
            }
        }
    }
}

/// What happens to the rows of a person beyond the row limit.
const fn bounding_sentence(how: RowBounding) -> &'static str {
    match how {
        RowBounding::CountCapped => "[[COUNT]] تحدّ عدد صفوف الشخص بـ{limit}",
        RowBounding::ValuesSampled => {
            "[[COUNT(DISTINCT)]] تختار عشوائيًّا {limit} على الأكثر من القيم المختلفة للشخص"
        }
        RowBounding::SumClamped => {
            "[[SUM]] تحصر مجموع قيم الشخص في حدود القيمة الواحدة مضروبةً في {limit}"
        }
        RowBounding::SumsScaled => {
            "[[AVG]] و[[VAR]] و[[STDDEV]] تخفّض وزن من له صفوف أكثر إلى وزن {weight}"
        }
        RowBounding::RowsSampled => "المئينات تُحسب من عيّنة عشوائية من {weight} للشخص",
    }
}

/// A sentence with ` في {count} من أصل {all}` in it, where there are groups.
fn shared(before: &str, share: Option<Share>, after: &str, name: &str) -> Markup {
    let Some(share) = share else {
        return fill(&format!("{before}{after}"), &[("name", name)]);
    };
    fill(
        &format!("{before} في {{count}} من أصل {{all}}{after}"),
        &[
            ("name", name),
            ("count", &groups(share.count)),
            ("all", &count_text(share.all)),
        ],
    )
}

/// A distance: a number, days or microseconds.
fn step_text(step: f64, kind: Type) -> String {
    let unit: Option<&Noun> = match kind {
        Type::Date => Some(&DAY),
        Type::Timestamp => Some(&MICROSECOND),
        Type::Boolean | Type::Integer | Type::Number | Type::Text => None,
    };
    match unit.zip(whole(step)) {
        Some((unit, step)) => counted(step, unit, Case::Nominative),
        None => number::nearest(step, 10),
    }
}

/// A whole number of things.
fn whole(value: f64) -> Option<u64> {
    // The text of a whole number has no fraction and no exponent.
    let counts = value.fract() == 0.0 && (0.0..1e15).contains(&value);
    counts.then(|| format!("{value:.0}").parse().ok()).flatten()
}

impl Arabic for Note {
    fn arabic(&self) -> Markup {
        match self {
            Self::DeclaredGroups { count } => fill(
                "تُعرض الفئات المعلنة كلها ({count})، حتى الفارغة منها. وتُستبعد الصفوف ذات القيم الأخرى.",
                &[("count", &counted(*count, &GROUP, Case::Nominative))],
            ),
            Self::DiscoveredGroups => {
                fill("تُخفى الفئات التي فيها أشخاص قلائل، فقد توجد فئات أخرى.", &[])
            }
            Self::TooManyCombinations { limit } => fill(
                "للفئات المعلنة أكثر من {limit}، ولذلك تُكتشف الفئات في البيانات نفسها.",
                &[("limit", &counted(*limit, &COMBINATION, Case::Oblique))],
            ),
            Self::ThresholdedGroups { threshold } => fill(
                "تُخفى الفئات التي يقل عدد أشخاصها عن نحو {threshold}. والأعداد التي تزيد على ذلك قليلًا منحازة إلى الأعلى؛ وتُمدّ فتراتها إلى الأسفل تعويضًا عن ذلك.",
                &[("threshold", &count_text(*threshold))],
            ),
            Self::SelectedByNoise => fill(
                "اختيرت الصفوف بحسب قيمها بعد إضافة الضوضاء. تصح فترات الثقة على الفئات كلها مجتمعةً، لكنها أقل صحة في الفئات التي اختيرت بفارق ضئيل.",
                &[],
            ),
            Self::QuantileRank(rank) => rank.arabic(),
            Self::TooFewRows { aggregate, groups } => shared(
                "{name} بلا قيمة",
                *groups,
                ": عدد الصفوف (بعد إضافة الضوضاء) لا يكفي لهذا المئين.",
                &name(aggregate),
            ),
            Self::LimitsNotChecked { code } => fill(
                "لم تُفحص حدود الربط والذاكرة والوقت: تعذّرت قراءة البيانات الآن ({code}).",
                &[("code", code)],
            ),
            Self::UnansweredCharges { count, limit } => fill(
                "عدد الأسئلة التي فشلت بعد خصم كلفتها من الحساب، أو من حساب فوقه: {count}. وتُرفض الأسئلة متى بلغ {limit}.",
                &[("count", &count.to_string()), ("limit", &limit.to_string())],
            ),
        }
    }
}

impl Arabic for QuantileRank {
    fn arabic(&self) -> Markup {
        let mut sentence =
            "{name}: بثقة [[95 %]] لا يبعد موضعه في الترتيب أكثر من {rows} عن ".to_owned();
        let row = match self.target {
            RankTarget::Quantile => {
                sentence += "موضع المئين الصحيح";
                0
            }
            RankTarget::FromLeast(row) => {
                sentence += "الصف رقم {row} بدءًا من أصغر قيمة";
                row
            }
            RankTarget::FromGreatest(row) => {
                sentence += "الصف رقم {row} بدءًا من أكبر قيمة";
                row
            }
        };
        if self.equal_rows.is_some() {
            sentence += "، ما لم تتساوَ قيم أكثر من {equal}";
        }
        if self.before_ordering {
            sentence += " (قبل ترتيب المئينات)";
        }
        sentence += ". وفي فئة لا تزيد على {small} تكون قيمته اعتباطية";
        if !self.count_known {
            sentence += "؛ أضف [[COUNT]] للقيم نفسها لتعرف في أي الفئات";
        }
        sentence += ".";
        let (rows, small) = (
            rows(self.rows, Case::Oblique),
            rows(self.arbitrary_up_to, Case::Oblique),
        );
        let equal = counted(self.equal_rows.unwrap_or(0), &ROW, Case::Oblique);
        fill(
            &sentence,
            &[
                ("name", &name(&self.aggregate)),
                ("rows", &rows),
                ("row", &count_text(row)),
                ("equal", &equal),
                ("small", &small),
            ],
        )
    }
}

const fn noise_name(noise: NoiseKind) -> &'static str {
    match noise {
        NoiseKind::DiscreteLaplace => "ضوضاء لابلاس المتقطعة",
        NoiseKind::DiscreteGaussian => "ضوضاء غاوس المتقطعة",
        NoiseKind::ExponentialMechanism => "الآلية الأسية",
        NoiseKind::LaplaceTree => "شجرة أعداد بضوضاء لابلاس المتقطعة",
        NoiseKind::GaussianTree => "شجرة أعداد بضوضاء غاوس المتقطعة",
    }
}

/// How accurate a noise is: a sentence, and the values of `{accurate}` and `{name}`.
fn accuracy(accuracy: &Accuracy) -> (&'static str, String, String) {
    match accuracy {
        Accuracy::Threshold { units } => (
            "تُخفى الفئات التي يقل عدد أشخاصها عن نحو {accurate}",
            count_text(*units),
            String::new(),
        ),
        Accuracy::HalfWidth { aggregate, width } => (
            "هامش الخطأ [[± {accurate}]] في {name} (بثقة [[95 %]])",
            width_text(*width),
            name(aggregate),
        ),
        Accuracy::SumHalfWidth { aggregate, width } => (
            "هامش الخطأ [[± {accurate}]] في المجموع الذي يُحسب منه {name} (بثقة [[95 %]])",
            width_text(*width),
            name(aggregate),
        ),
        Accuracy::Rank {
            aggregate,
            rows: width,
        } => (
            "يبعد {name} عن موضعه الصحيح بما لا يزيد على {accurate} (بثقة [[95 %]])",
            whole(*width).map_or_else(|| width_text(*width), |count| rows(count, Case::Oblique)),
            name(aggregate),
        ),
    }
}

impl Arabic for ChoiceReason {
    fn arabic(&self) -> Markup {
        match self {
            Self::Chosen {
                noise,
                accuracy: accurate,
            } => {
                let (sentence, accurate, name) = accuracy(accurate);
                fill(
                    &format!("اختيرت {}: {sentence}.", noise_name(*noise)),
                    &[("accurate", &accurate), ("name", &name)],
                )
            }
            Self::Other {
                noise,
                accuracy: accurate,
                epsilon,
            } => {
                let (sentence, accurate, name) = accuracy(accurate);
                fill(
                    &format!(
                        "ولو استُعملت {} عند [[ε {{epsilon}}]] لكانت النتيجة: {sentence}.",
                        noise_name(*noise)
                    ),
                    &[
                        ("accurate", &accurate),
                        ("name", &name),
                        ("epsilon", &number::epsilon_up(*epsilon, 3)),
                    ],
                )
            }
            Self::OtherImpossible { noise, failure } => fill(
                &format!(
                    "أما {} فغير ممكنة: {}",
                    noise_name(*noise),
                    failure.code().title().arabic
                ),
                &[],
            ),
            Self::Split {
                statistics,
                groups: count,
            } => fill(
                "تُقسَّم ε على {statistics} و{groups} لكل شخص.",
                &[
                    (
                        "statistics",
                        &counted(*statistics, &STATISTIC, Case::Oblique),
                    ),
                    ("groups", &groups(*count)),
                ],
            ),
            Self::Clipped { groups: count } => fill(
                "من كان في أكثر من {groups} تُقصّ مساهمته بالمعيار [[L2]] ويبقى محتسبًا في فئاته كلها، ولا يزيد ذلك الكلفة.",
                &[("groups", &groups(*count))],
            ),
            Self::Cost {
                epsilon,
                delta,
                renyi,
            } => fill(
                "الكلفة [[ε {epsilon}]] عند [[δ {delta}]]، وتُسجَّل في الدفتر بحسب الخصوصية التفاضلية لريني كلفةً تكافئ [[ε {renyi}]].",
                &[
                    ("epsilon", &number::epsilon_up(*epsilon, 3)),
                    ("delta", &number::delta_up(*delta)),
                    ("renyi", &number::epsilon_up(*renyi, 3)),
                ],
            ),
            Self::Share {
                epsilon,
                delta,
                share,
                other,
                decided,
            } => {
                let mut sentence = String::from("الكلفة [[ε {epsilon}]] عند [[δ {delta}]]، ");
                sentence += match share {
                    Some(_) => "وتأخذ {share} من الحساب كله",
                    None => "ولا تتسع لها ساعة الحساب",
                };
                if let Some((noise, share)) = other {
                    let noise = noise_name(*noise);
                    sentence += &match share {
                        Some(_) => format!("، ولأخذت {noise} {{other}}"),
                        None => format!("، ولما اتسعت لـ{noise}"),
                    };
                }
                sentence += match decided {
                    true => "؛ والحصة الأصغر هي التي رجّحت.",
                    false => ".",
                };
                let share_of =
                    |share: Option<f64>| share.map_or_else(String::new, account_share_text);
                fill(
                    &sentence,
                    &[
                        ("epsilon", &number::epsilon_up(*epsilon, 3)),
                        ("delta", &number::delta_up(*delta)),
                        ("share", &share_of(*share)),
                        ("other", &share_of(other.and_then(|(_, share)| share))),
                    ],
                )
            }
            Self::QuantileRank(rank) => rank.arabic(),
        }
    }
}

#[cfg(test)]
mod tests {
    use mizan_sql::{AggregateName, Value};

    use super::*;

    fn seen(message: &impl Arabic) -> String {
        let html = message.arabic().0;
        let html = html.replace("<bdi dir=\"ltr\">", "");
        let text = html.replace("<bdi>", "").replace("</bdi>", "");
        text.replace('\u{a0}', " ")
    }

    #[test]
    fn limits_have_counted_nouns_and_isolated_names() {
        let rows = |limit| {
            let bounding = vec![RowBounding::CountCapped, RowBounding::SumsScaled];
            seen(&Effect::RowsPerGroup { limit, bounding })
        };
        assert!(rows(2).starts_with("يُحتسب لكل شخص في كل فئة صفّان على الأكثر"));
        assert!(rows(12).starts_with("يُحتسب لكل شخص في كل فئة 12 صفًّا على الأكثر"));
        assert_eq!(
            seen(&Effect::GroupsSampled { limit: 2 }),
            "يُحتسب كل شخص في فئتين على الأكثر (تُختار عشوائيًّا إن كان في أكثر من ذلك)."
        );
        let clamped = Effect::Clamped {
            dataset: "visits".into(),
            column: "cost".into(),
            low: Value::number(0.0),
            high: Value::number(500.0),
        };
        assert_eq!(
            clamped.arabic().0,
            "تُحصر قيم <bdi>visits.cost</bdi> في المدى من <bdi>0</bdi> إلى <bdi>500</bdi>."
        );
        let at_bound = Effect::AtBound {
            aggregate: AggregateName::Place(2),
            end: End::Upper,
            groups: Some(Share { count: 2, all: 5 }),
        };
        assert_eq!(
            seen(&at_bound),
            "التجميع رقم 2 عند حدّه الأعلى (ضمن ضوضائه) في فئتين من أصل 5: ربما بلغه بسبب الحصر."
        );
        assert_eq!(step_text(4.0, Type::Date), "4 أيام");
        assert_eq!(step_text(0.25, Type::Number), "0.25");
    }

    #[test]
    fn a_quantile_says_its_rank() {
        let rank = QuantileRank {
            aggregate: AggregateName::Column("m".into()),
            rows: 40,
            target: RankTarget::Quantile,
            equal_rows: Some(3),
            before_ordering: false,
            arbitrary_up_to: 80,
            count_known: false,
        };
        assert_eq!(
            seen(&rank),
            "m: بثقة 95 % لا يبعد موضعه في الترتيب أكثر من 40 صفًّا عن موضع المئين الصحيح، ما لم تتساوَ قيم أكثر من 3 صفوف. وفي فئة لا تزيد على 80 صفًّا تكون قيمته اعتباطية؛ أضف COUNT للقيم نفسها لتعرف في أي الفئات."
        );
    }

    #[test]
    fn the_choice_of_the_noise_is_told() {
        let chosen = ChoiceReason::Chosen {
            noise: NoiseKind::DiscreteLaplace,
            accuracy: Accuracy::HalfWidth {
                aggregate: AggregateName::Column("n".into()),
                width: 12.5,
            },
        };
        assert_eq!(
            seen(&chosen),
            "اختيرت ضوضاء لابلاس المتقطعة: هامش الخطأ ± 12.5 في n (بثقة 95 %)."
        );
        let share = ChoiceReason::Share {
            epsilon: 0.31,
            delta: 1e-6,
            share: Some(0.079),
            other: Some((NoiseKind::DiscreteLaplace, Some(0.1))),
            decided: true,
        };
        assert_eq!(
            seen(&share),
            "الكلفة ε 0.31 عند δ 1e-6، وتأخذ 7.9 % من الحساب كله، ولأخذت ضوضاء لابلاس المتقطعة 10 %؛ \
             والحصة الأصغر هي التي رجّحت."
        );
        let split = ChoiceReason::Split {
            statistics: 3,
            groups: 2,
        };
        assert_eq!(seen(&split), "تُقسَّم ε على 3 إحصاءات وفئتين لكل شخص.");
    }
}
