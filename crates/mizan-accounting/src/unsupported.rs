//! Why a method has no bound for an event.

use std::fmt::Write;

use mizan_core::{Code, PrivacyEvent};

/// A part of an event that a method cannot account for. No part is ever left out silently: with one
/// such part the method has no bound.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("`{event}` {reason}")]
pub struct Unsupported {
    event: String,
    path: String,
    reason: Reason,
}

/// Why a method cannot account for a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Reason {
    /// With some probability the loss is unbounded.
    #[error("may fail with unbounded loss, so it has no Rényi guarantee at any order")]
    MayFail,
    /// The loss has no upper bound.
    #[error("has unbounded loss, so it has no pure epsilon")]
    Unbounded,
    /// The noise is not Gaussian.
    #[error("is not Gaussian noise, so the exact Gaussian formula does not apply")]
    NotGaussian,
    /// No Gaussian mechanism is known to dominate it.
    #[error("has no Gaussian mechanism that is known to dominate it")]
    NotDominated,
    /// The method is for discrete Gaussian noise.
    #[error("has no discrete Gaussian noise, for which this method is made")]
    NotDiscreteGaussian,
    /// No mean and subgaussian parameter are known.
    #[error("has no known concentrated guarantee")]
    NotConcentrated,
    /// The reported orders are too small to bound the loss of the group.
    #[error("reports orders too small for a group of this size")]
    GroupTooLarge,
    /// The loss of one person does not bound that of a second.
    #[error("says nothing about a group: the loss of each further person may be infinite")]
    NoGroup,
    /// A parameter for the group is beyond doubles.
    #[error("has parameters too large for doubles when taken for the group")]
    GroupOverflow,
    /// More levels than can be rewritten for a group.
    #[error("nests too deeply to be rewritten for a group")]
    TooDeep,
    /// Only a bound is known, not a pair of distributions.
    #[error("is known by a bound only, not by the distribution of its loss")]
    NoPair,
    /// Exchanging the two inputs changes the loss.
    #[error(
        "has another loss when the two inputs are exchanged, which a sample of fixed size needs to be the same"
    )]
    NotSymmetric,
    /// Guarantees for different neighbouring relations do not compose.
    #[error(
        "is about other neighbours than the rest: poisson adds or removes a person, without-replacement and shuffle replace one"
    )]
    MixedNeighbours,
    /// A discrete Gaussian vector that can move in several coordinates.
    #[error("can move several coordinates at once, for which the worst loss is not known")]
    ManyDirections,
    /// More outcomes or compositions than the numerical accountant takes.
    #[error("is too large for the numerical accountant")]
    TooLarge,
    /// What is shuffled is not pure, or not of one person.
    #[error(
        "shuffles a mechanism that is not a local randomizer with a pure epsilon; for others no amplification is known"
    )]
    NotLocal,
    /// The accounting of this event is not built yet.
    #[error("cannot be accounted by this version of Mizan")]
    NotYet,
}

/// The start of a text. An event may have a million outcomes, so the rest is
/// not even written.
struct Start {
    text: String,
    left: usize,
}

impl Write for Start {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        for c in text.chars() {
            if self.left == 0 {
                self.text.push('…');
                return Err(std::fmt::Error);
            }
            self.left -= 1;
            self.text.push(c);
        }
        Ok(())
    }
}

impl Reason {
    /// The stable code of this reason.
    #[must_use]
    pub const fn code(self) -> Code {
        match self {
            Self::MayFail => Code::MZ1201,
            Self::Unbounded => Code::MZ1202,
            Self::NotYet => Code::MZ1203,
            Self::NotGaussian | Self::NotDominated | Self::NotDiscreteGaussian => Code::MZ1207,
            Self::GroupTooLarge => Code::MZ1209,
            Self::TooDeep => Code::MZ1210,
            Self::GroupOverflow => Code::MZ1211,
            Self::NotConcentrated => Code::MZ1208,
            Self::NoPair => Code::MZ1212,
            Self::NotSymmetric => Code::MZ1213,
            Self::MixedNeighbours => Code::MZ1214,
            Self::ManyDirections => Code::MZ1215,
            Self::TooLarge => Code::MZ1216,
            Self::NotLocal => Code::MZ1217,
            Self::NoGroup => Code::MZ1218,
        }
    }
}

impl Unsupported {
    pub(crate) fn new(event: &PrivacyEvent, path: &dyn Fn() -> String, reason: Reason) -> Self {
        let mut start = Start {
            text: String::new(),
            left: 60,
        };
        // It fails where it is cut, which is what is wanted.
        let _ = write!(start, "{event}");
        Self {
            event: start.text,
            path: path(),
            reason,
        }
    }

    /// The same part, refused for another reason.
    pub(crate) const fn of_part(event: String, path: String, reason: Reason) -> Self {
        Self {
            event,
            path,
            reason,
        }
    }

    /// The reason.
    pub fn reason(&self) -> Reason {
        self.reason
    }

    /// The part, cut where it is long.
    pub fn event(&self) -> &str {
        &self.event
    }

    /// The path of the part in the event.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The stable code of this error.
    pub fn code(&self) -> Code {
        self.reason.code()
    }

    /// What to do about it.
    pub fn help(&self) -> String {
        match self.reason {
            Reason::MayFail => "`mizan account --method basic` adds epsilons and deltas",
            Reason::Unbounded => "`mizan account --method renyi` takes a delta",
            Reason::GroupOverflow => "ask for a smaller group",
            Reason::TooDeep => "nest fewer compositions inside each other",
            Reason::GroupTooLarge => "report larger orders, or inf",
            Reason::NotSymmetric => "use poisson(...), or a symmetric mechanism",
            Reason::NoGroup => {
                "write the pair for the whole group, or take group(SIZE, approximate(EPSILON, DELTA))"
            }
            Reason::NotLocal => "shuffle rr(...), laplace(...) or pure(EPSILON)",
            Reason::MixedNeighbours => "account for the two kinds of neighbours apart",
            Reason::NotGaussian
            | Reason::NotDominated
            | Reason::NotDiscreteGaussian
            | Reason::NotConcentrated
            | Reason::NoPair
            | Reason::ManyDirections
            | Reason::TooLarge => "`mizan account --method renyi` takes other events too",
            Reason::NotYet => {
                "replace it by a guarantee you know, such as pure(EPSILON) or zcdp(RHO)"
            }
        }
        .to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_event_is_cut() {
        let shown = |text: &str| {
            let event = text.parse().unwrap();
            let error = Unsupported::new(&event, &|| "here".to_owned(), Reason::NotYet);
            error.to_string()
        };
        assert!(shown("tree(1, 7)").starts_with("`tree(1, 7)` cannot"));
        let long = shown(&vec!["pure(1)"; 1000].join("+"));
        assert!(long.starts_with("`pure(1) + pure(1) + "), "{long}");
        assert!(long.contains("…` cannot"), "{long}");
        assert!(long.chars().count() < 150);
    }
}
