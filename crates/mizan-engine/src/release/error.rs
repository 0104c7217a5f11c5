//! Why a query cannot be released. No error depends on private rows.

use mizan_core::Code;
use mizan_noise::NoiseError;

/// Why a query cannot be released.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ReleaseError {
    /// Epsilon is zero or not finite.
    #[error("an answer needs an epsilon above 0, not {epsilon}")]
    Epsilon {
        /// The requested epsilon.
        epsilon: f64,
    },
    /// The half width is not a positive number.
    #[error("an answer cannot be accurate to +-{half_width}")]
    Accuracy {
        /// The requested half width.
        half_width: f64,
    },
    /// The error of the first aggregate depends on the data, so it cannot be a target.
    #[error("the accuracy of {what} depends on the data, so it cannot be a target")]
    Unpredictable {
        /// The kind of the first aggregate.
        what: &'static str,
    },
    /// No budget is large enough for this accuracy.
    #[error("no epsilon makes the first aggregate accurate to +-{half_width}")]
    TooAccurate {
        /// The requested half width.
        half_width: f64,
    },
    /// Private groups need a reserved delta.
    #[error("groups that come from the data need an account with a reserved delta")]
    NoDelta,
    /// The noise exceeds 64-bit integers.
    #[error("this epsilon needs noise wider than 64-bit integers")]
    TooWide,
    /// No mechanism satisfies the requested guarantee.
    #[error("no noise satisfies epsilon {epsilon} at delta {delta:e}")]
    Impossible {
        /// The requested epsilon.
        epsilon: f64,
        /// The requested delta.
        delta: f64,
    },
    /// The plan is inconsistent: an index is out of range.
    #[error("the plan is inconsistent: {what}")]
    Plan {
        /// What is wrong.
        what: &'static str,
    },
    /// The result of the engine does not have the shape of the plan.
    #[error("the engine returned a table of another shape than the plan's")]
    Shape,
    /// The answer of public groups could be longer than what a ledger stores.
    #[error("the answer could be too large for the ledger")]
    TooLarge,
    /// A stored answer cannot be read.
    #[error("the stored answer cannot be read: {what}")]
    Stored {
        /// What is wrong.
        what: &'static str,
    },
    /// The noise cannot be sampled.
    #[error(transparent)]
    Noise(#[from] NoiseError),
}

impl ReleaseError {
    /// The stable code of this error.
    #[must_use]
    pub const fn code(&self) -> Code {
        match self {
            Self::Epsilon { .. } => Code::MZ1950,
            Self::Accuracy { .. } => Code::MZ1951,
            Self::Unpredictable { .. } => Code::MZ1952,
            Self::TooAccurate { .. } => Code::MZ1953,
            Self::NoDelta => Code::MZ1954,
            Self::TooWide => Code::MZ1955,
            Self::Impossible { .. } => Code::MZ1956,
            Self::Plan { .. } => Code::MZ1957,
            Self::Shape => Code::MZ1958,
            Self::TooLarge => Code::MZ1767,
            Self::Stored { .. } => Code::MZ1959,
            Self::Noise(error) => error.code(),
        }
    }

    /// What the analyst or the data owner can do about it.
    #[must_use]
    pub fn help(&self) -> String {
        match self {
            Self::Epsilon { .. } => "use an epsilon such as 0.1 or 1",
            Self::Accuracy { .. } => "give a positive half width, such as 50",
            Self::Unpredictable { .. } => {
                "give an epsilon, or put a COUNT or a SUM first: their accuracy is known"
            }
            Self::TooAccurate { .. } => "request a larger half width",
            Self::NoDelta => {
                "list the keys in the catalogue, or use an account of an epsilon and a delta such as 1e-6"
            }
            Self::TooWide => "use a larger epsilon, or lower the bounds and limits",
            Self::Impossible { .. } => "use a larger epsilon",
            Self::Plan { .. } | Self::Shape => "nothing was released; please report this",
            Self::TooLarge => "request fewer groups or columns, or shorter keys; nothing was charged",
            Self::Stored { .. } => "the ledger is damaged or of a newer version: run mizan ledger verify",
            Self::Noise(error) => error.help(),
        }
        .to_owned()
    }
}
