//! Why an audit fails.

use mizan_core::Code;
use mizan_noise::NoiseError;
use thiserror::Error;

/// Why an audit fails.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum AuditError {
    /// There is no sampler for a part of the event.
    #[error("`{event}` cannot be sampled: {reason}")]
    NotSampled {
        /// The part, shortened if it is long.
        event: String,
        /// What it is instead.
        reason: NotSampled,
    },
    /// A run would take too many draws.
    #[error("a run draws {draws} times; an audit takes at most {most}")]
    TooManyDraws {
        /// As many as the event has mechanisms, counts included.
        draws: u64,
        /// The most.
        most: u64,
    },
    /// The composition has too many different mechanisms.
    #[error("the event has more than {most} different mechanisms")]
    TooManyKinds {
        /// The most.
        most: usize,
    },
    /// The number of runs is out of range.
    #[error("the number of runs must be from {least} to {most}, got {given}")]
    Samples {
        /// As it was given.
        given: u64,
        /// The least.
        least: u64,
        /// The most, for this event.
        most: u64,
    },
    /// The confidence is not a probability strictly between 0 and 1.
    #[error("the confidence must be above 0 and below 1, got {confidence}")]
    Confidence {
        /// As it was given.
        confidence: f64,
    },
    /// The size of a reconstruction is out of range.
    #[error("the number of {what} must be from {least} to {most}, got {given}")]
    Size {
        /// Of people, or of queries.
        what: &'static str,
        /// As it was given.
        given: u64,
        /// The least.
        least: u64,
        /// The most.
        most: u64,
    },
    /// The sampler itself failed.
    #[error(transparent)]
    Noise(#[from] NoiseError),
}

/// Why an event has no sampler.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum NotSampled {
    /// Real numbers are not released.
    #[error("it is noise on real numbers, which is never released")]
    Continuous,
    /// A guarantee without a mechanism.
    #[error("it is a guarantee, not a mechanism")]
    Guarantee,
    /// Sampling, shuffling or a group, which an audit does not run.
    #[error("sampling, shuffling and groups cannot be audited")]
    People,
}

impl AuditError {
    /// The code that the command line, the server and SQL share.
    #[must_use]
    pub const fn code(&self) -> Code {
        match self {
            Self::NotSampled { .. } => Code::MZ1501,
            Self::TooManyDraws { .. } => Code::MZ1502,
            Self::TooManyKinds { .. } => Code::MZ1503,
            Self::Samples { .. } => Code::MZ1504,
            Self::Confidence { .. } => Code::MZ1505,
            Self::Size { .. } => Code::MZ1506,
            Self::Noise(error) => error.code(),
        }
    }

    /// What to do about it.
    #[must_use]
    pub const fn help(&self) -> &'static str {
        match self {
            Self::NotSampled { reason, .. } => match reason {
                NotSampled::Continuous => {
                    "audit the noise that is released: discrete-gaussian(SIGMA) or discrete-laplace(SCALE)"
                }
                NotSampled::Guarantee => {
                    "audit a mechanism: discrete-laplace, discrete-gaussian, rr, exponential, or a composition of these"
                }
                NotSampled::People => "audit the mechanism inside by itself",
            },
            Self::TooManyDraws { .. } => "audit fewer rounds: each of them is drawn anew",
            Self::TooManyKinds { .. } => "audit the mechanisms a few at a time",
            Self::Samples { .. } => {
                "stay in this range: it is shorter where a run takes many draws"
            }
            Self::Confidence { .. } => "a bound that is wrong once in a million is 0.999999",
            Self::Size { .. } => "256 people and four times as many queries show it all",
            Self::Noise(error) => error.help(),
        }
    }
}
