//! Queries of an account with a Gaussian clock: prices that hold only for what was charged, and raises.

use mizan_core::Epsilon;
use mizan_ledger::{Account, Charge, Digest, Ledger, RequestId};
use mizan_sql::{Catalogue, Value};

use super::super::{Prepared, QueryError, QueryOutcome, QueryService, SpendTarget};
use super::retries::{answered, with_notes};
use super::{Changing, QUERY, budget, catalogue, ledger};

/// The same charge as of [`QUERY`]: a person moves either count by at most one.
const OTHER: &str = "SELECT COUNT(*) FROM visits WHERE note = 'a'";

/// Laplace noise: its price holds at the remainder of the reservation only.
fn target() -> SpendTarget {
    SpendTarget::Epsilon(Epsilon::new(0.5).unwrap())
}

fn account(ledger: &Ledger) -> Account {
    ledger.accounts().unwrap()[0].account.clone()
}

fn raise(ledger: &Ledger, epsilon: f64) {
    let (account, to) = (account(ledger), budget(epsilon, account(ledger).orders()));
    let own = account.budget().reserved_delta();
    let raised = account.budget().raised(to.target(), own, account.orders());
    ledger
        .raise(None, account.number(), raised.unwrap())
        .unwrap();
}

/// Reserves a query under an id, and then charges another one.
fn reserve(ledger: &Ledger, id: RequestId, prepared: &Prepared, query: Option<Digest>) {
    let charge = Charge {
        query,
        ..prepared.charge.clone()
    };
    assert!(ledger.reserve(Some(id), charge).unwrap().fresh);
    let event = "gaussian(10)".parse().unwrap();
    ledger
        .spend(None, account(ledger).number(), &event)
        .unwrap();
}

/// A reservation under a name pays for the query that was reserved. Another one with the same charge
/// could have been chosen in view of answers since, and nothing of it was started. So could the data,
/// if they changed.
#[test]
fn a_reserved_name_pays_for_its_query_only() {
    for changed in [false, true] {
        reserved_and_asked_again(changed);
    }
}

fn reserved_and_asked_again(changed: bool) {
    let folder = tempfile::tempdir().unwrap();
    let ledger = ledger(folder.path(), 3.0);
    // The first call is that of the reservation.
    let engine = Changing::new(if changed { 1 } else { u32::MAX });
    let catalogue = with_notes(None);
    let service = QueryService::new(&ledger, &catalogue, &engine);
    let prepared = service.prepare(QUERY, target()).unwrap();
    let other = service.prepare(OTHER, target()).unwrap();
    assert_eq!(prepared.charge, other.charge);
    let versions = service.versions(&prepared.plan).unwrap();
    let stamp = super::super::stamp(&prepared, &versions);
    let stamp = service.keyed(&prepared, stamp).unwrap();
    let query = service.keyed_for_name(stamp);
    let id = RequestId::from_text("report");
    reserve(&ledger, id, &prepared, Some(query.unwrap()));
    let before = account(&ledger);
    let error = service.query(OTHER, target(), Some("report")).unwrap_err();
    assert_eq!(error.code(), "MZ1732");
    assert!(error.to_string().contains("for another request"), "{error}");
    assert_eq!((engine.runs.get(), account(&ledger)), (0, before));
    let again = service.query(QUERY, target(), Some("report"));
    if changed {
        assert_eq!(again.unwrap_err().code(), "MZ1732");
        assert_eq!(engine.runs.get(), 0);
        return;
    }
    let first = answered(again);
    assert!(!first.repeated && first.done.id == id);
    assert_eq!(engine.runs.get(), 1);
}

/// The same for a query without a name, if another query was reserved under the id that it has.
#[test]
fn a_query_without_a_name_takes_no_charge_of_another() {
    for (query, code) in [(Some(Digest::of(&[b"another"])), "MZ1732"), (None, "")] {
        let folder = tempfile::tempdir().unwrap();
        let ledger = ledger(folder.path(), 3.0);
        let (catalogue, engine) = (with_notes(None), Changing::new(u32::MAX));
        let service = QueryService::new(&ledger, &catalogue, &engine);
        let prepared = service.prepare(QUERY, target()).unwrap();
        let versions = service.versions(&prepared.plan).unwrap();
        let stamp = super::super::stamp(&prepared, &versions);
        let stamp = service.keyed(&prepared, stamp).unwrap();
        let id = service.last_attempt(&prepared, &stamp).unwrap();
        reserve(&ledger, id, &prepared, query);
        let found = service.query(QUERY, target(), None);
        let found = found.map_or_else(|error: QueryError| error.code().to_string(), |_| "".into());
        assert_eq!(found, code);
        assert_eq!(engine.runs.get(), u32::from(code.is_empty()));
    }
}

/// A table in which a person is in so many of 20 public groups.
fn in_groups(groups: u64) -> Catalogue {
    let keys = (0..20).map(|key| Value::Text(key.to_string()));
    let mut catalogue = with_notes(Some(keys.collect()));
    let visits = catalogue.datasets.get_mut("visits").unwrap();
    let privacy = visits.privacy.as_mut().unwrap();
    privacy.groups_per_unit = Some(groups);
    catalogue
}

/// The family of the noise depends on the share of the account that the query takes. After a raise
/// that would be another family, and the same query another one: it would be charged twice.
#[test]
fn a_raise_does_not_change_the_noise_of_a_query() {
    let grouped = "SELECT note, COUNT(*) AS n FROM visits GROUP BY note";
    let engine = Changing::new(u32::MAX);
    let folders = [0; 3].map(|_| tempfile::tempdir().unwrap());
    let created = [(0, 1.0), (1, 1.0), (2, 9.0)];
    let [before, raised, large] =
        created.map(|(place, epsilon): (usize, f64)| ledger(folders[place].path(), epsilon));
    raise(&raised, 9.0);
    let mut differ = Vec::new();
    for groups in 1..=16 {
        for epsilon in [0.3, 0.9, 0.99, 1.5] {
            let catalogue = in_groups(groups);
            let target = SpendTarget::Epsilon(Epsilon::new(epsilon).unwrap());
            let noise = |ledger: &Ledger| {
                let service = QueryService::new(ledger, &catalogue, &engine);
                let prepared = service.prepare(grouped, target).unwrap();
                prepared.noise_plan.bytes()
            };
            assert_eq!(noise(&raised), noise(&before), "{groups} {epsilon}");
            if noise(&large) != noise(&before) {
                differ.push((groups, epsilon));
            }
        }
    }
    assert!(!differ.is_empty(), "no query tells the budgets apart");

    // From the answer to its repetition.
    let folder = tempfile::tempdir().unwrap();
    let ledger = ledger(folder.path(), 1.0);
    let catalogue = catalogue();
    let service = QueryService::new(&ledger, &catalogue, &engine);
    let ask = || match service.query(QUERY, target(), None).unwrap() {
        QueryOutcome::Answered(answered) => answered,
        QueryOutcome::Denied(_) => panic!("the charge fits"),
    };
    let first = ask();
    raise(&ledger, 9.0);
    let spent = account(&ledger);
    let again = ask();
    assert!(again.repeated && again.done.id == first.done.id);
    assert_eq!(account(&ledger), spent);
}
