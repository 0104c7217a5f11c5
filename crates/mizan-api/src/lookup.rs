//! Looks up accounts and ids in a ledger by their names.

use mizan_core::Code;
use mizan_ledger::{AccountName, AccountNumber, AccountView, Ledger, RequestId};

use crate::failure::Failure;
use crate::names::Names;

/// The account with this name.
///
/// # Errors
///
/// The account does not exist.
pub fn account(ledger: &Ledger, name: &str) -> Result<AccountView, Failure> {
    let name = AccountName::new(name)?;
    ledger.account_named(&name)?.ok_or_else(|| {
        Failure::new(
            Code::MZ1735,
            format!("there is no account {name}"),
            "see them with `mizan budget list`, or make it with `mizan budget create`",
        )
    })
}

/// The name of an account; a damaged log may lack it.
#[must_use]
pub fn name_of(ledger: &Ledger, number: AccountNumber) -> String {
    let found = ledger.store().account(number).ok().flatten();
    found.map_or_else(|| number.to_string(), |found| found.name().to_string())
}

/// The id of a request, if one was given.
///
/// # Errors
///
/// The id is empty.
pub fn request_id(text: Option<&str>, names: Names) -> Result<Option<RequestId>, Failure> {
    match text {
        Some("") => {
            let id = names.option("id");
            Err(Failure::new(
                Code::MZ1749,
                format!("{id} is empty"),
                format!("give a UUID or any text of your own, or leave {id} out"),
            ))
        }
        text => Ok(text.map(RequestId::from_text)),
    }
}
