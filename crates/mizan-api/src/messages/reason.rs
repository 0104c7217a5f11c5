//! Sentences about how the noise of a query was chosen.

use mizan_engine::{Accuracy, ChoiceReason, NoiseKind};
use mizan_report::number;
use serde_json::{Map, Value};

use super::{Message, count_text, counted, fields, name_json, name_text, width_text};
use crate::number::finite;

impl Message for ChoiceReason {
    fn kind(&self) -> &'static str {
        match self {
            Self::Chosen { .. } => "chosen_noise",
            Self::Other { .. } => "other_noise",
            Self::OtherImpossible { .. } => "other_noise_impossible",
            Self::Split { .. } => "epsilon_split",
            Self::Clipped { .. } => "clipped",
            Self::Cost { .. } => "cost",
            Self::Share { .. } => "share_of_account",
            Self::QuantileRank(rank) => rank.kind(),
        }
    }

    fn fields(&self) -> Map<String, Value> {
        match self {
            Self::Chosen { noise, accuracy } => fields([
                ("noise", noise_json(*noise)),
                ("accuracy", accuracy_json(accuracy)),
            ]),
            Self::Other {
                noise,
                accuracy,
                epsilon,
            } => fields([
                ("noise", noise_json(*noise)),
                ("accuracy", accuracy_json(accuracy)),
                ("epsilon", finite(*epsilon).into()),
            ]),
            Self::OtherImpossible { noise, failure } => fields([
                ("noise", noise_json(*noise)),
                ("code", failure.code().to_string().into()),
            ]),
            Self::Split { statistics, groups } => fields([
                ("statistics", (*statistics).into()),
                ("groups", (*groups).into()),
            ]),
            Self::Clipped { groups } => fields([("groups", (*groups).into())]),
            Self::Cost {
                epsilon,
                delta,
                renyi,
            } => fields([
                ("epsilon", finite(*epsilon).into()),
                ("delta", (*delta).into()),
                ("renyi_epsilon", finite(*renyi).into()),
            ]),
            Self::Share {
                epsilon,
                delta,
                share,
                other,
                decided,
            } => {
                let (other_noise, other_share) = (*other).unzip();
                fields([
                    ("epsilon", finite(*epsilon).into()),
                    ("delta", (*delta).into()),
                    ("share", (*share).into()),
                    ("other_noise", other_noise.map_or(Value::Null, noise_json)),
                    ("other_share", other_share.flatten().into()),
                    ("decided", (*decided).into()),
                ])
            }
            Self::QuantileRank(rank) => rank.fields(),
        }
    }

    fn english(&self) -> String {
        match self {
            Self::Chosen { noise, accuracy } => {
                format!(
                    "{} noise is chosen: {}.",
                    noise_text(*noise),
                    accuracy_text(accuracy)
                )
            }
            Self::Other {
                noise,
                accuracy,
                epsilon,
            } => format!(
                "{} noise at ε {} would give: {}.",
                noise_text(*noise),
                number::epsilon_up(*epsilon, 3),
                accuracy_text(accuracy)
            ),
            Self::OtherImpossible { noise, failure } => {
                format!("{} noise is not possible: {failure}.", noise_text(*noise))
            }
            Self::Split { statistics, groups } => format!(
                "ε is split over {} and {} per person.",
                counted(*statistics, "statistic"),
                counted(*groups, "group")
            ),
            Self::Clipped { groups } => format!(
                "A person in more than {} is clipped in L2 norm and stays in all of them, which \
                 costs no more.",
                counted(*groups, "group")
            ),
            Self::Cost {
                epsilon,
                delta,
                renyi,
            } => format!(
                "It costs ε {} at δ {}, recorded in the ledger as a Rényi-DP cost equivalent to \
                 ε {}.",
                number::epsilon_up(*epsilon, 3),
                number::delta_up(*delta),
                number::epsilon_up(*renyi, 3)
            ),
            Self::Share {
                epsilon,
                delta,
                share,
                other,
                decided,
            } => {
                let mut text = format!(
                    "It costs ε {} at δ {} and takes {} of the whole account",
                    number::epsilon_up(*epsilon, 3),
                    number::delta_up(*delta),
                    share_text(*share)
                );
                if let Some((noise, share)) = other {
                    text += &format!(
                        "; {} noise would take {}",
                        match noise {
                            NoiseKind::DiscreteLaplace => "discrete Laplace",
                            NoiseKind::DiscreteGaussian => "discrete Gaussian",
                        },
                        share_text(*share)
                    );
                }
                text += match decided {
                    true => ". The smaller share decided.",
                    false => ".",
                };
                text
            }
            Self::QuantileRank(rank) => rank.english(),
        }
    }
}

/// The share of an account, as a percentage.
#[must_use]
pub fn share_text(share: Option<f64>) -> String {
    match share {
        Some(share) => format!("{} %", number::nearest(100.0 * share, 2)),
        None => "more than all".to_owned(),
    }
}

const fn noise_text(noise: NoiseKind) -> &'static str {
    match noise {
        NoiseKind::DiscreteLaplace => "Discrete Laplace",
        NoiseKind::DiscreteGaussian => "Discrete Gaussian",
    }
}

fn noise_json(noise: NoiseKind) -> Value {
    Value::from(match noise {
        NoiseKind::DiscreteLaplace => "discrete_laplace",
        NoiseKind::DiscreteGaussian => "discrete_gaussian",
    })
}

fn accuracy_text(accuracy: &Accuracy) -> String {
    match accuracy {
        Accuracy::Threshold { units } => format!(
            "groups with fewer than about {} people are hidden",
            count_text(*units)
        ),
        Accuracy::HalfWidth { aggregate, width } => {
            format!(
                "± {} on {} (95 %)",
                width_text(*width),
                name_text(aggregate)
            )
        }
        Accuracy::SumHalfWidth { aggregate, width } => format!(
            "± {} on the sum behind {} (95 %)",
            width_text(*width),
            name_text(aggregate)
        ),
        Accuracy::Rank { aggregate, rows } => format!(
            "the rank of {} is within {} rows (95 %)",
            name_text(aggregate),
            width_text(*rows)
        ),
    }
}

fn accuracy_json(accuracy: &Accuracy) -> Value {
    Value::Object(match accuracy {
        Accuracy::Threshold { units } => fields([("threshold", (*units).into())]),
        Accuracy::HalfWidth { aggregate, width } => fields([
            ("aggregate", name_json(aggregate)),
            ("half_width", finite(*width).into()),
        ]),
        Accuracy::SumHalfWidth { aggregate, width } => fields([
            ("aggregate", name_json(aggregate)),
            ("sum_half_width", finite(*width).into()),
        ]),
        Accuracy::Rank { aggregate, rows } => fields([
            ("aggregate", name_json(aggregate)),
            ("rank_error", finite(*rows).into()),
        ]),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_told() {
        let reason = |other, decided| ChoiceReason::Share {
            epsilon: 0.31,
            delta: 1e-6,
            share: Some(0.0789),
            other,
            decided,
        };
        let laplace = NoiseKind::DiscreteLaplace;
        assert_eq!(
            reason(Some((laplace, Some(0.1))), true).english(),
            "It costs ε 0.31 at δ 1e-6 and takes 7.9 % of the whole account; discrete Laplace noise \
             would take 10 %. The smaller share decided."
        );
        let alone = reason(Some((laplace, None)), false);
        assert!(
            alone.english().ends_with("would take more than all."),
            "{}",
            alone.english()
        );
        assert!(
            reason(None, false)
                .english()
                .ends_with("of the whole account.")
        );
        let json = Value::Object(reason(None, false).fields());
        assert_eq!(json["share"], 0.0789);
        assert_eq!(json["other_noise"], Value::Null);
    }
}
