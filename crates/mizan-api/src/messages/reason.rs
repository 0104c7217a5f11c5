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
                    "{} is chosen: {}.",
                    noise_text(*noise),
                    accuracy_text(accuracy)
                )
            }
            Self::Other {
                noise,
                accuracy,
                epsilon,
            } => format!(
                "{} at ε {} would give: {}.",
                noise_text(*noise),
                number::epsilon_up(*epsilon, 3),
                accuracy_text(accuracy)
            ),
            Self::OtherImpossible { noise, failure } => {
                format!("{} is not possible: {failure}.", noise_text(*noise))
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
                    "It costs ε {} at δ {} and {}.",
                    number::epsilon_up(*epsilon, 3),
                    number::delta_up(*delta),
                    match share {
                        Some(share) =>
                            format!("takes {} of the whole account", account_share_text(*share)),
                        None => "does not fit the clock of the account".to_owned(),
                    }
                );
                match other {
                    Some((noise, Some(share))) => {
                        let noise = noise_text(*noise);
                        text += &format!(" {noise} would take {}.", account_share_text(*share));
                    }
                    Some((noise, None)) => {
                        text += &format!(" {} would not fit it.", noise_text(*noise));
                    }
                    None => {}
                }
                if *decided {
                    text += " The smaller share decided.";
                }
                text
            }
            Self::QuantileRank(rank) => rank.english(),
        }
    }
}

/// The share of an account, as a percentage.
#[must_use]
pub fn account_share_text(share: f64) -> String {
    format!("{} %", number::epsilon_up(100.0 * share, 2))
}

const fn noise_text(noise: NoiseKind) -> &'static str {
    match noise {
        NoiseKind::DiscreteLaplace => "Discrete Laplace noise",
        NoiseKind::DiscreteGaussian => "Discrete Gaussian noise",
        NoiseKind::ExponentialMechanism => "The exponential mechanism",
        NoiseKind::LaplaceTree => "A tree of counts with discrete Laplace noise",
        NoiseKind::GaussianTree => "A tree of counts with discrete Gaussian noise",
    }
}

fn noise_json(noise: NoiseKind) -> Value {
    Value::from(match noise {
        NoiseKind::DiscreteLaplace => "discrete_laplace",
        NoiseKind::DiscreteGaussian => "discrete_gaussian",
        NoiseKind::ExponentialMechanism => "exponential_mechanism",
        NoiseKind::LaplaceTree => "laplace_tree",
        NoiseKind::GaussianTree => "gaussian_tree",
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
            "rank error of {} at most {} (95 %)",
            name_text(aggregate),
            // Whole rows, so that it is the number of the note.
            number::grouped_up(*rows, 15)
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
            "It costs ε 0.31 at δ 1e-6 and takes 7.9 % of the whole account. Discrete Laplace noise \
             would take 10 %. The smaller share decided."
        );
        let told = |reason: ChoiceReason, end: &str| {
            let text = reason.english();
            assert!(text.ends_with(end), "{text}");
        };
        told(
            reason(Some((laplace, None)), false),
            "of the whole account. Discrete Laplace noise would not fit it.",
        );
        told(reason(None, false), "takes 7.9 % of the whole account.");
        let json = Value::Object(reason(None, false).fields());
        assert_eq!(json["share"], 0.0789);
        assert_eq!(json["other_noise"], Value::Null);
    }
}
