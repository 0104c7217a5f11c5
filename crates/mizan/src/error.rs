//! One error for all parts, so that `?` works in a function that uses several of them.

use mizan_accounting::Unsupported;
use mizan_accounting::calibrate::CalibrationError;
use mizan_accounting::divergence::DistributionError;
use mizan_accounting::methods::Refusal;
use mizan_core::{Code, EventError, UnitError};

/// Defines the error: one variant for each error of the crates below.
macro_rules! errors {
    ($($Variant:ident($Error:ty) $(in $feature:literal)?, $doc:literal;)*) => {
        /// An error of any part of this crate.
        ///
        /// Each variant has the error of one part, whose fields have the numbers. Programs decide by
        /// the [`code`](Self::code), never by the text of a message.
        ///
        /// ```
        /// use mizan::{Accountant, Delta};
        ///
        /// fn cost(event: &str) -> Result<f64, mizan::Error> {
        ///     Ok(Accountant::of(&event.parse()?).epsilon(Delta::at_most("1e-6")?)?.upper.get())
        /// }
        /// let error = cost("gausian(1)").unwrap_err();
        /// assert_eq!(error.code(), "MZ1103");
        /// println!("{error}\n{}", error.help());
        /// ```
        #[derive(Debug, thiserror::Error)]
        #[non_exhaustive]
        pub enum Error {
            $(
                #[doc = $doc]
                $(#[cfg(feature = $feature)])?
                #[error(transparent)]
                $Variant(#[from] $Error),
            )*
        }

        impl Error {
            /// The stable code; `docs/errors.md` lists all of them.
            #[must_use]
            pub fn code(&self) -> Code {
                match self {
                    $($(#[cfg(feature = $feature)])? Self::$Variant(error) => error.code(),)*
                }
            }

            /// What to do about it.
            #[must_use]
            pub fn help(&self) -> String {
                match self {
                    $($(#[cfg(feature = $feature)])? Self::$Variant(error) => error.help().into(),)*
                }
            }
        }
    };
}

impl Error {
    /// The place in the text of an event or a query that the error is about, as two lines with a
    /// caret.
    ///
    /// ```
    /// let text = "100 * gaussian(ten)";
    /// let error = mizan::Error::from(text.parse::<mizan::PrivacyEvent>().unwrap_err());
    /// assert!(error.caret(text).unwrap().ends_with('^'));
    /// ```
    #[must_use]
    pub fn caret(&self, text: &str) -> Option<String> {
        match self {
            Self::Event(error) => error.caret(),
            #[cfg(feature = "query")]
            Self::Query(error) => error.refusal()?.caret(text),
            _ => {
                let _ = text;
                None
            }
        }
    }
}

errors! {
    Quantity(UnitError), "A number is outside of the range of its quantity.";
    Event(EventError), "A text is not a privacy event.";
    NoBound(Refusal), "No accounting method has a bound.";
    Unsupported(Unsupported), "A part of the event has no bound of this kind.";
    Calibration(CalibrationError), "No value meets the target.";
    Distribution(DistributionError), "Numbers are not a probability distribution.";
    Noise(mizan_noise::NoiseError) in "noise", "Noise cannot be drawn.";
    Name(mizan_ledger::money::NameError) in "ledger", "A name cannot be that of an account.";
    Budget(mizan_ledger::BudgetError) in "ledger", "A budget does not guarantee its target.";
    Cost(mizan_ledger::money::CostError) in "ledger", "An event has no cost.";
    Ledger(mizan_ledger::LedgerError) in "ledger",
        "The ledger refuses a request, or cannot be read or written.";
    Verification(mizan_ledger::evidence::VerifyError) in "ledger",
        "The log of the ledger does not verify.";
    Evidence(mizan_ledger::evidence::TextError) in "ledger",
        "The text of a receipt or a checkpoint is damaged.";
    Catalogue(mizan_sql::CatalogueError) in "query", "The description of a dataset is not valid.";
    Data(mizan_engine::EngineError) in "query", "The data of a dataset cannot be read.";
    Registration(mizan_engine::RegistrationError) in "query", "A dataset is not registered.";
    Query(mizan_engine::QueryError) in "query", "A query has no answer.";
}
