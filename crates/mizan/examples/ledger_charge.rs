//! Charges a budget before a release, and is denied when it does not fit.
//!
//! `cargo run --release -p mizan --example ledger_charge`

use std::error::Error;
use std::path::Path;

use mizan::{
    AccountName, Delta, Epsilon, Ledger, Location, NewAccount, Outcome, PrivacyEvent, RequestId,
};

/// Charges an event, and says whether this run may release it now.
///
/// A charge covers one release. Retry with the same id only if `spend` gave no result. Never add
/// noise again under a charge that is not fresh.
fn charge(ledger: &Ledger, id: &str, event: &PrivacyEvent) -> Result<bool, Box<dyn Error>> {
    let census = AccountName::new("census")?;
    let census = ledger
        .account_named(&census)?
        .ok_or("there is no account census")?;
    let id = RequestId::from_text(id);
    let done = ledger.spend(Some(id), census.account.number(), event)?;
    println!("{event}: {}", done.receipt);
    // If an earlier run was charged under this id, it may have released already. Publish the output
    // that it stored, or charge again under a new id.
    Ok(done.fresh && matches!(done.outcome, Outcome::Released { .. }))
}

fn run(folder: &Path) -> Result<(), Box<dyn Error>> {
    // The ledger is one SQLite file, or a PostgreSQL database. The state directory has its keys and
    // a high-water mark that detects an old copy of the ledger: keep it on another disk.
    let location = Location::File(folder.join("mizan.db"));
    let ledger = Ledger::init(&location, &folder.join("state"))?;

    let (epsilon, delta) = (Epsilon::at_most("1")?, Delta::at_most("1e-6")?);
    let census = NewAccount::approximate(AccountName::new("census")?, epsilon, delta)?;
    ledger.create_account(None, census)?;

    // The charge is durable before `charge` returns. Only then may the noise be added.
    let event: PrivacyEvent = "discrete-gaussian(20)".parse()?;
    assert!(charge(&ledger, "report-7", &event)?);

    // A second run finds the charge: it costs nothing, is not fresh and allows no second release.
    assert!(!charge(&ledger, "report-7", &event)?);

    // This one would break the guarantee of the account: it is denied, and nothing is charged.
    assert!(!charge(&ledger, "report-8", &"gaussian(1)".parse()?)?);

    // An auditor computes every charge again from the log.
    let report = ledger.verify(&Default::default(), |_, _| {})?;
    assert_eq!((report.committed, report.denied), (1, 1));
    println!(
        "verified: {} charge and {} denial",
        report.committed, report.denied
    );
    ledger.close()?;
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    run(folder.path())?;
    Ok(())
}

#[test]
fn runs() {
    main().unwrap();
}
