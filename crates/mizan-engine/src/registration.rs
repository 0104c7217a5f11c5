//! Registers datasets: what a new dataset is checked for before queries may read it.
//!
//! Two datasets over the same rows must share one budget and one privacy unit: two budgets for the
//! same rows add up to a larger one, public rows have none, and a guarantee for the units of one
//! column does not protect the units of another.

use mizan_core::Code;
use mizan_ledger::money::NameError;
use mizan_ledger::{AccountName, Ledger, LedgerError};
use mizan_sql::{Catalogue, CatalogueError, Dataset, DatasetColumn, Privacy, Type};

use crate::engine::EngineError;
use crate::engines::dispatch::{Inspected, check_columns, check_rows, record_files, share_data};

/// Why a dataset is not registered.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RegistrationError {
    /// Its description is not valid, or its name is taken.
    #[error(transparent)]
    Catalogue(#[from] CatalogueError),
    /// Its data cannot be read, or do not have its columns.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The ledger cannot be read.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// The name of its account is not valid.
    #[error(transparent)]
    Name(#[from] NameError),
    /// The ledger does not have its account.
    #[error("the ledger has no account {account}, which this dataset is charged to")]
    NoAccount {
        /// The name of the account.
        account: String,
    },
    /// Some of its rows have another budget or another privacy unit.
    #[error("some of these rows are in the catalogue as `{dataset}`, {}", match privacy {
        Some(privacy) => format!(
            "with the budget `{}` and the unit {}", privacy.account, privacy.unit.join(", ")
        ),
        None => "as public".to_owned(),
    })]
    OnOtherTerms {
        /// The name of the existing dataset.
        dataset: String,
        /// Its privacy unit and its budget; None if it is public.
        privacy: Option<Privacy>,
    },
}

impl RegistrationError {
    /// The stable code of this error.
    #[must_use]
    pub fn code(&self) -> Code {
        match self {
            Self::Catalogue(error) => error.code(),
            Self::Engine(error) => error.code(),
            Self::Ledger(error) => error.code(),
            Self::Name(error) => error.code(),
            Self::NoAccount { .. } => Code::MZ1990,
            Self::OnOtherTerms { .. } => Code::MZ1876,
        }
    }

    /// What to do about it.
    #[must_use]
    pub fn help(&self) -> String {
        match self {
            Self::Catalogue(error) => error.help(),
            Self::Engine(error) => error.help(),
            Self::Ledger(error) => error.help(),
            Self::Name(error) => error.help().to_owned(),
            Self::NoAccount { .. } => "create the account first".to_owned(),
            Self::OnOtherTerms { dataset, privacy } => match privacy {
                Some(_) => format!("ask about `{dataset}`, or use its account and its unit"),
                None => "public rows have no budget: use other rows".to_owned(),
            },
        }
    }
}

impl Inspected {
    /// The dataset of these columns. A column without a type is text until a type is declared.
    #[must_use]
    pub fn dataset(&self, name: String, source: String, privacy: Option<Privacy>) -> Dataset {
        let column = |(name, kind): &(String, Option<Type>)| {
            DatasetColumn::new(name, kind.unwrap_or(Type::Text))
        };
        Dataset {
            files: Vec::new(),
            name,
            source,
            privacy,
            columns: self.columns.iter().map(column).collect(),
        }
    }
}

/// An existing dataset that shares rows with the new one under another budget or privacy unit.
/// Accounts below the same topmost account share its budget.
///
/// # Errors
///
/// The ledger cannot be read, or the name of an account is not valid.
pub fn on_other_terms<'a>(
    catalogue: &'a Catalogue,
    new: &Dataset,
    ledger: Option<&Ledger>,
) -> Result<Option<&'a Dataset>, RegistrationError> {
    let top = |dataset: &Dataset| match (&dataset.privacy, ledger) {
        (Some(privacy), Some(ledger)) => topmost(ledger, &privacy.account).map(Some),
        (privacy, _) => Ok(privacy.as_ref().map(|privacy| privacy.account.clone())),
    };
    let unit = |dataset: &Dataset| dataset.privacy.as_ref().map(|privacy| privacy.unit.clone());
    let terms = (top(new)?, unit(new));
    for old in catalogue.datasets.values() {
        if share_data(old, new) && (top(old)?, unit(old)) != terms {
            return Ok(Some(old));
        }
    }
    Ok(None)
}

/// The name of the topmost account above an account; its own name if it is new.
fn topmost(ledger: &Ledger, name: &str) -> Result<String, RegistrationError> {
    let mut top = name.to_owned();
    let mut next = ledger.account_named(&AccountName::new(name)?)?;
    while let Some(found) = next {
        top = found.account.name().to_string();
        next = match found.account.parent() {
            Some(parent) => Some(ledger.account(parent)?),
            None => None,
        };
    }
    Ok(top)
}

/// Adds a dataset to a catalogue after all checks: its description, its columns, all rows of Parquet
/// files, its account, and that no other dataset has its rows on other terms.
///
/// # Errors
///
/// A check fails; the catalogue is unchanged then.
pub fn register(
    catalogue: &mut Catalogue,
    dataset: Dataset,
    ledger: &Ledger,
) -> Result<(), RegistrationError> {
    dataset.check()?;
    check_columns(&dataset)?;
    check_rows(&dataset, &|_, _| {})?;
    if let Some(privacy) = &dataset.privacy {
        let account = AccountName::new(&privacy.account)?;
        if ledger.account_named(&account)?.is_none() {
            let account = privacy.account.clone();
            return Err(RegistrationError::NoAccount { account });
        }
    }
    if let Some(old) = on_other_terms(catalogue, &dataset, Some(ledger))? {
        return Err(RegistrationError::OnOtherTerms {
            dataset: old.name.clone(),
            privacy: old.privacy.clone(),
        });
    }
    catalogue.add(dataset)?;
    // Files that were written again since.
    for known in catalogue.datasets.values_mut() {
        record_files(known);
    }
    Ok(())
}
