//! The table of the event language: names, parameters, defaults, meanings. Text, JSON and help use
//! it.

use super::decimal::Round;
use crate::units::Range;

/// A kind of event that has a name and fixed parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EventKind {
    Gaussian,
    Laplace,
    DiscreteGaussian,
    DiscreteLaplace,
    RandomizedResponse,
    Exponential,
    Pure,
    Approximate,
    Renyi,
    ZeroConcentrated,
    Concentrated,
    GaussianDp,
    Finite,
    Tree,
    Matrix,
    Poisson,
    WithoutReplacement,
    Shuffle,
    Group,
    /// Written `COUNT * event` in text.
    Repeat,
    /// Written `event + event` in text.
    Compose,
}

/// How an event of a kind is written, and what it means.
#[derive(Clone, Copy, Debug)]
pub(super) struct EventSyntax {
    pub(super) name: &'static str,
    pub(super) parameters: &'static [Parameter],
    pub(super) meaning: &'static str,
}

/// A parameter of an event.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Parameter {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
}

/// What a parameter holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind {
    /// A real number; a decimal goes to the side where the event costs more.
    Number {
        range: Range,
        costly: Round,
        default: Option<f64>,
    },
    /// A whole number, and the side where the event costs more.
    Count { costly: Round, default: Option<u64> },
    /// Another event.
    Event,
}

impl Parameter {
    const fn number(name: &'static str, range: Range, costly: Round) -> Self {
        Self {
            name,
            kind: Kind::Number {
                range,
                costly,
                default: None,
            },
        }
    }

    const fn count(name: &'static str, costly: Round) -> Self {
        Self {
            name,
            kind: Kind::Count {
                costly,
                default: None,
            },
        }
    }

    /// The key in JSON: an inner event is what its event is an event *of*.
    pub(super) const fn key(&self) -> &'static str {
        match self.kind {
            Kind::Event => "of",
            _ => self.name,
        }
    }
}

// More noise costs less, and so do more people to hide among; more of anything
// else costs more. A Rényi bound at one order holds at every smaller order.
const SIGMA: Parameter = Parameter::number("sigma", Range::Positive, Round::Down);
const SCALE: Parameter = Parameter::number("scale", Range::Positive, Round::Down);
pub(super) const PROBABILITY: Parameter =
    Parameter::number("probability", Range::UnitInterval, Round::Up);
const NORM: Parameter = Parameter::number("norm", Range::Positive, Round::Up);
pub(super) const P: Parameter = Parameter::number("p", Range::UnitInterval, Round::Up);
pub(super) const Q: Parameter = Parameter::number("q", Range::UnitInterval, Round::Up);
const RHO: Parameter = Parameter::number("rho", Range::NonNegative, Round::Up);
const MU: Parameter = Parameter::number("mu", Range::NonNegative, Round::Up);
const TAU: Parameter = Parameter::number("tau", Range::NonNegative, Round::Up);
const DELTA: Parameter = Parameter::number("delta", Range::UnitInterval, Round::Up);
pub(super) const EPSILON: Parameter = Parameter::number("epsilon", Range::NonNegative, Round::Up);
pub(super) const ORDER: Parameter = Parameter::number("order", Range::FromOne, Round::Down);
/// The word before the pairs of a finite mechanism that are losses.
pub(super) const LOSSES: &str = "losses";
const SENSITIVITY: Parameter = Parameter {
    name: "sensitivity",
    kind: Kind::Number {
        range: Range::Positive,
        costly: Round::Up,
        default: Some(1.0),
    },
};
const CATEGORIES: Parameter = Parameter {
    name: "categories",
    kind: Kind::Count {
        costly: Round::Up,
        default: Some(2),
    },
};
const N: Parameter = Parameter::count("n", Round::Down);
const M: Parameter = Parameter::count("m", Round::Up);
const SIZE: Parameter = Parameter::count("size", Round::Up);
const STEPS: Parameter = Parameter::count("steps", Round::Up);
pub(super) const COUNT: Parameter = Parameter::count("count", Round::Up);
const EVENT: Parameter = Parameter {
    name: "event",
    kind: Kind::Event,
};

impl EventKind {
    /// The kinds that are called by name in text.
    pub(super) const NAMED: [Self; 19] = [
        Self::Gaussian,
        Self::Laplace,
        Self::DiscreteGaussian,
        Self::DiscreteLaplace,
        Self::RandomizedResponse,
        Self::Exponential,
        Self::Pure,
        Self::Approximate,
        Self::Renyi,
        Self::ZeroConcentrated,
        Self::Concentrated,
        Self::GaussianDp,
        Self::Finite,
        Self::Tree,
        Self::Matrix,
        Self::Poisson,
        Self::WithoutReplacement,
        Self::Shuffle,
        Self::Group,
    ];

    /// The table.
    #[rustfmt::skip]
    pub(super) const fn syntax(self) -> EventSyntax {
        const fn syntax(name: &'static str, parameters: &'static [Parameter], meaning: &'static str) -> EventSyntax {
            EventSyntax { name, parameters, meaning }
        }
        match self {
            Self::Gaussian => syntax("gaussian", &[SIGMA, SENSITIVITY], "Gaussian noise on a function of L2 sensitivity"),
            Self::Laplace => syntax("laplace", &[SCALE, SENSITIVITY], "Laplace noise on a function of L1 sensitivity"),
            Self::DiscreteGaussian => syntax("discrete-gaussian", &[SIGMA, SENSITIVITY], "Gaussian noise on whole numbers, L2 sensitivity"),
            Self::DiscreteLaplace => syntax("discrete-laplace", &[SCALE, SENSITIVITY], "Laplace noise on whole numbers, L1 sensitivity"),
            Self::RandomizedResponse => syntax("rr", &[P, CATEGORIES], "randomized response, truthful with probability p"),
            Self::Exponential => syntax("exponential", &[EPSILON], "the exponential mechanism (bounded range)"),
            Self::Pure => syntax("pure", &[EPSILON], "any epsilon-DP mechanism"),
            Self::Approximate => syntax("approximate", &[EPSILON, DELTA], "any (epsilon, delta)-DP mechanism"),
            Self::Renyi => syntax("rdp", &[ORDER, EPSILON], "a reported Rényi guarantee"),
            Self::ZeroConcentrated => syntax("zcdp", &[RHO], "any zero-concentrated DP mechanism"),
            Self::Concentrated => syntax("cdp", &[MU, TAU], "any (mean-)concentrated DP mechanism"),
            Self::GaussianDp => syntax("gdp", &[MU], "any Gaussian-DP mechanism"),
            Self::Finite => syntax("finite", &[], "a mechanism of your own: p with the person, q without, per outcome"),
            Self::Tree => syntax("tree", &[SIGMA, STEPS, SENSITIVITY], "sums over a binary tree (DP-FTRL), each person in one step"),
            Self::Matrix => syntax("matrix", &[SIGMA, NORM], "a matrix mechanism: Gaussian noise on C x, norm = largest ||C u||"),
            Self::Poisson => syntax("poisson", &[Q, EVENT], "on a sample that each person joins with probability q"),
            Self::WithoutReplacement => syntax("without-replacement", &[N, M, EVENT], "on m of n people; neighbours replace one"),
            Self::Shuffle => syntax("shuffle", &[N, EVENT], "n people run a local randomizer, a shuffler forgets who"),
            Self::Group => syntax("group", &[SIZE, EVENT], "the same for groups of people"),
            Self::Repeat => syntax("repeat", &[COUNT, EVENT], "the same event over and over"),
            Self::Compose => syntax("compose", &[], "events one after the other"),
        }
    }

    /// The kind that is called by this name in text.
    pub(super) fn named(name: &str) -> Option<Self> {
        Self::NAMED
            .into_iter()
            .find(|kind| kind.syntax().name == name)
    }

    /// The kind of this name in JSON.
    pub(super) fn tagged(name: &str) -> Option<Self> {
        Self::named(name).or_else(|| {
            [Self::Repeat, Self::Compose]
                .into_iter()
                .find(|kind| kind.syntax().name == name)
        })
    }
}

impl EventSyntax {
    /// The call with its parameters and their defaults.
    pub(super) fn signature(&self) -> String {
        if self.name == EventKind::Finite.syntax().name {
            return "finite(p:q, ...) or finite(losses, loss:probability, ...)".into();
        }
        let parameters: Vec<String> = self
            .parameters
            .iter()
            .map(|parameter| match parameter.kind {
                Kind::Number {
                    default: Some(value),
                    ..
                } => format!("{}={value}", parameter.name),
                Kind::Count {
                    default: Some(value),
                    ..
                } => format!("{}={value}", parameter.name),
                _ => parameter.name.to_owned(),
            })
            .collect();
        format!("{}({})", self.name, parameters.join(", "))
    }

    /// The position and the parameter of this name.
    pub(super) fn parameter(&self, name: &str) -> Option<(usize, Parameter)> {
        self.parameters
            .iter()
            .copied()
            .enumerate()
            .find(|(_, parameter)| parameter.name == name)
    }
}

/// What people call events elsewhere.
const SYNONYMS: [(&str, &str); 17] = [
    ("randomized-response", "rr"),
    ("randomised-response", "rr"),
    ("normal", "gaussian"),
    ("geometric", "discrete-laplace"),
    ("renyi", "rdp"),
    ("concentrated", "cdp"),
    ("zero-concentrated", "zcdp"),
    ("subsample", "poisson"),
    ("subsampled", "poisson"),
    ("dp-ftrl", "tree"),
    ("ftrl", "tree"),
    ("tree-aggregation", "tree"),
    ("matrix-mechanism", "matrix"),
    ("shuffling", "shuffle"),
    ("pld", "finite"),
    ("losses", "finite"),
    ("discrete", "finite"),
];

/// The name that was probably meant by an unknown one.
pub(super) fn closest_name(unknown: &str) -> Option<&'static str> {
    let wanted = unknown.to_lowercase().replace('_', "-");
    let synonym = SYNONYMS
        .iter()
        .find(|(other, _)| *other == wanted)
        .map(|(_, name)| *name);
    synonym.or_else(|| {
        closest(
            &wanted,
            EventKind::NAMED.iter().map(|kind| kind.syntax().name),
        )
    })
}

/// The candidate that differs from `unknown` by a typo, if one does.
pub(super) fn closest<'a>(
    unknown: &str,
    candidates: impl Iterator<Item = &'a str>,
) -> Option<&'a str> {
    // Longer names are too far from all of ours to be worth the comparison.
    if unknown.len() > 64 {
        return None;
    }
    candidates
        .map(|name| (strsim::osa_distance(unknown, name), name))
        .filter(|(distance, name)| *distance <= 1 + name.len() / 5 && *distance < name.len())
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_finds_itself() {
        for kind in EventKind::NAMED {
            assert_eq!(EventKind::named(kind.syntax().name), Some(kind));
            assert_eq!(EventKind::tagged(kind.syntax().name), Some(kind));
        }
        assert_eq!(EventKind::named("repeat"), None);
        assert_eq!(EventKind::tagged("repeat"), Some(EventKind::Repeat));
    }

    #[test]
    fn typos_and_synonyms_find_the_name() {
        for (typed, meant) in [
            ("gausian", "gaussian"),
            ("Gaussian", "gaussian"),
            ("discrete_gaussian", "discrete-gaussian"),
            ("lapalce", "laplace"),
            ("renyi", "rdp"),
            ("zCDP", "zcdp"),
            ("randomized_response", "rr"),
            ("DP_FTRL", "tree"),
            ("pld", "finite"),
            ("shuffel", "shuffle"),
        ] {
            assert_eq!(closest_name(typed), Some(meant), "{typed}");
        }
        for nothing in ["", "x", "banana", "ميزان", &"gaussian".repeat(1000)] {
            assert_eq!(closest_name(nothing), None, "{nothing}");
        }
    }

    #[test]
    fn signatures_show_defaults() {
        assert_eq!(
            EventKind::RandomizedResponse.syntax().signature(),
            "rr(p, categories=2)"
        );
        assert_eq!(
            EventKind::Gaussian.syntax().signature(),
            "gaussian(sigma, sensitivity=1)"
        );
    }
}
