//! Queries that are denied, and data that change while a query is processed.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests may panic"
)]

mod retries;
mod unanswered;

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use mizan_core::{Delta, Epsilon};
use mizan_ledger::log::Status;
use mizan_ledger::{
    AccountName, Budget, Charge, Digest, Ledger, Location, NewAccount, Orders, RequestId,
};
use mizan_sql::{BoundedPlan, Catalogue, Dataset, DatasetColumn, Privacy, Type};

use super::{Answered, QueryError, QueryOutcome, QueryService, SpendTarget};
use crate::engine::{Engine, EngineError, Version};
use crate::exact::{self, ExactAggregates, Execution};

const QUERY: &str = "SELECT COUNT(*) FROM visits";

/// An engine whose data change after a number of calls of `version`.
struct Changing {
    told: Cell<u32>,
    /// The call from which on the version differs.
    from: u32,
    runs: Cell<u32>,
    files: RefCell<Vec<Version>>,
}

impl Changing {
    fn new(from: u32) -> Self {
        // Two files have two versions.
        let folder = tempfile::tempdir().unwrap();
        let version = |name: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, "person\n").unwrap();
            crate::version::Files::find(&path)
                .unwrap()
                .version()
                .unwrap()
        };
        Self {
            told: Cell::new(0),
            from,
            runs: Cell::new(0),
            files: RefCell::new(vec![version("a.csv"), version("b.csv")]),
        }
    }
}

impl Engine for Changing {
    fn check_joins(&self, _: &BoundedPlan, _: &Catalogue) -> Result<(), EngineError> {
        Ok(())
    }

    fn version(&self, _: &Dataset) -> Result<Version, EngineError> {
        let told = self.told.get();
        self.told.set(told + 1);
        let files = self.files.borrow();
        let gone = || EngineError::Changed {
            dataset: "visits".into(),
        };
        let found = files.get(usize::from(told >= self.from));
        found.copied().ok_or_else(gone)
    }

    fn run(
        &self,
        plan: &BoundedPlan,
        catalogue: &Catalogue,
        versions: &[Version],
        _: [u8; 16],
    ) -> Result<Execution, EngineError> {
        self.runs.set(self.runs.get() + 1);
        if self.version(&catalogue.datasets["visits"])? != versions[0] {
            return Err(EngineError::Changed {
                dataset: "visits".into(),
            });
        }
        let cells = plan.statistics.iter().map(|_| exact::Cell::Integer(100));
        let exact = ExactAggregates::from([(Vec::new(), cells.collect())]);
        Ok(Execution::plain_sql(exact))
    }
}

fn catalogue() -> Catalogue {
    let person = DatasetColumn::new("person", Type::Integer);
    let visits = Dataset {
        files: Vec::new(),
        name: "visits".into(),
        source: "visits.csv".into(),
        privacy: Some(Privacy {
            unit: vec!["person".into()],
            account: "visits".into(),
            rows_per_unit: Some(1),
            groups_per_unit: Some(1),
        }),
        columns: vec![person],
    };
    Catalogue {
        datasets: BTreeMap::from([("visits".to_owned(), visits)]),
    }
}

fn budget(epsilon: f64, orders: &Orders) -> Budget {
    let delta = Delta::new(1e-6).unwrap();
    let own = Budget::usual_reserved_delta(delta);
    let clock = mizan_ledger::money::Weight::ZERO;
    Budget::approximate(Epsilon::new(epsilon).unwrap(), delta, own, clock, orders).unwrap()
}

fn ledger(folder: &std::path::Path, epsilon: f64) -> Ledger {
    let ledger = Ledger::init(&Location::File(folder.join("mizan.db")), folder).unwrap();
    let orders = Orders::standard();
    let account = NewAccount {
        name: AccountName::new("visits").unwrap(),
        parent: None,
        budget: budget(epsilon, &orders),
        orders,
    };
    ledger.create_account(None, account).unwrap();
    ledger
}

/// A query that was denied several times is answered once the budget is raised, and is free
/// after that.
#[test]
fn a_denied_query_is_answered_after_a_raise() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = ledger(folder.path(), 0.5);
    let (catalogue, engine) = (catalogue(), Changing::new(u32::MAX));
    let service = QueryService::new(&ledger, &catalogue, &engine);
    let spend_target = SpendTarget::Epsilon(Epsilon::new(1.0).unwrap());
    let mut ids = Vec::new();
    for _ in 0..37 {
        let QueryOutcome::Denied(denied) = service.query(QUERY, spend_target, None).unwrap() else {
            panic!("the charge does not fit");
        };
        assert!(denied.done.fresh);
        ids.push(denied.done.id);
    }
    assert_eq!(engine.runs.get(), 0);
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 37);
    let account = ledger.accounts().unwrap()[0].account.clone();
    let more = budget(5.0, &Orders::standard());
    let more = account
        .budget()
        .raised(more.target(), more.reserved_delta(), account.orders())
        .unwrap();
    ledger.raise(None, account.number(), more).unwrap();
    for repeated in [false, true, true] {
        let QueryOutcome::Answered(answered) = service.query(QUERY, spend_target, None).unwrap()
        else {
            panic!("the charge fits");
        };
        assert_eq!(answered.repeated, repeated);
    }
    assert_eq!(engine.runs.get(), 1);
}

/// If data change between the charge and the start, the charge is voided.
#[test]
fn data_that_change_before_the_start_void_the_charge() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = ledger(folder.path(), 5.0);
    let (catalogue, engine) = (catalogue(), Changing::new(1));
    let service = QueryService::new(&ledger, &catalogue, &engine);
    let before = ledger.accounts().unwrap()[0].account.clone();
    let error = service
        .query(QUERY, SpendTarget::DefaultShare, None)
        .unwrap_err();
    assert_eq!(error.code(), "MZ1908");
    assert!(!matches!(error, QueryError::AfterCharge { .. }));
    assert_eq!(engine.runs.get(), 0);
    assert_eq!(ledger.accounts().unwrap()[0].account, before);
    // A query about the new data is answered.
    let reply = service
        .query(QUERY, SpendTarget::DefaultShare, None)
        .unwrap();
    assert!(matches!(reply, QueryOutcome::Answered(_)));
}

/// If data change after the start, rows may have been read: the charge stands, and the error
/// says so and what to do.
#[test]
fn data_that_change_after_the_start_leave_the_charge() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = ledger(folder.path(), 5.0);
    let (catalogue, engine) = (catalogue(), Changing::new(2));
    let service = QueryService::new(&ledger, &catalogue, &engine);
    let error = service
        .query(QUERY, SpendTarget::DefaultShare, None)
        .unwrap_err();
    let QueryError::AfterCharge { id, .. } = &error else {
        panic!("{error}");
    };
    let id: RequestId = *id;
    assert!(error.help().contains("another query"), "{}", error.help());
    assert!(error.help().contains(&id.to_string()));
    let record = ledger.record(id).unwrap().unwrap();
    assert!(matches!(record.status, Status::Started(_)));
    let reply = service
        .query(QUERY, SpendTarget::DefaultShare, None)
        .unwrap();
    assert!(matches!(reply, QueryOutcome::Answered(_)));
}

/// An engine during whose run another process answers the same query.
struct Overtaken<'a> {
    ledger: &'a Ledger,
    overtaken: Cell<bool>,
    engine: Changing,
}

impl Engine for Overtaken<'_> {
    fn check_joins(&self, _: &BoundedPlan, _: &Catalogue) -> Result<(), EngineError> {
        Ok(())
    }

    fn version(&self, dataset: &Dataset) -> Result<Version, EngineError> {
        self.engine.version(dataset)
    }

    fn run(
        &self,
        plan: &BoundedPlan,
        catalogue: &Catalogue,
        versions: &[Version],
        salt: [u8; 16],
    ) -> Result<Execution, EngineError> {
        if !self.overtaken.replace(true) {
            let answered = without_noise(&QueryService::new(self.ledger, catalogue, self));
            assert!(!answered.repeated);
        }
        self.engine.run(plan, catalogue, versions, salt)
    }
}

/// Noise other than 0 has a probability of about e^-80 here.
fn without_noise<E: Engine>(service: &QueryService<'_, E>) -> Box<Answered> {
    let spend_target = SpendTarget::Epsilon(Epsilon::new(80.0).unwrap());
    let QueryOutcome::Answered(answered) = service.query(QUERY, spend_target, None).unwrap() else {
        panic!("the charge fits");
    };
    answered
}

/// Two processes draw the same noise for one charge: one of them reports a new answer, the
/// other a repetition at no cost.
#[test]
fn an_equal_draw_of_another_process_is_a_repetition() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = ledger(folder.path(), 100.0);
    let (catalogue, engine) = (catalogue(), Changing::new(u32::MAX));
    let engine = Overtaken {
        ledger: &ledger,
        overtaken: Cell::new(false),
        engine,
    };
    let answered = without_noise(&QueryService::new(&ledger, &catalogue, &engine));
    assert_eq!(engine.engine.runs.get(), 2);
    assert!(answered.repeated);
}

/// A name is the id of its entry. A charge for a release elsewhere under the same id is a
/// different request, whichever came first.
#[test]
fn a_name_is_the_id_of_one_release() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = ledger(folder.path(), 10.0);
    let (catalogue, engine) = (catalogue(), Changing::new(u32::MAX));
    let service = QueryService::new(&ledger, &catalogue, &engine);
    let ask_named = |name: &str| service.query(QUERY, SpendTarget::DefaultShare, Some(name));
    let QueryOutcome::Answered(first) = ask_named("report 7").unwrap() else {
        panic!("the charge fits");
    };
    assert_eq!(first.done.id, RequestId::from_text("report 7"));
    let account = ledger.accounts().unwrap()[0].account.number();
    let spend = |name: &str| {
        let id = RequestId::from_text(name);
        ledger.spend(Some(id), account, &first.event)
    };
    assert_eq!(spend("report 7").unwrap_err().code(), "MZ1732");
    // The reverse: the id is charged elsewhere before the query, or while it runs.
    spend("report 8").unwrap();
    assert_eq!(ask_named("report 8").unwrap_err().code(), "MZ1732");
    let uuid = "01020304-0506-0708-090a-0b0c0d0e0f10";
    let id = RequestId::from_text(uuid);
    let charge = Charge::of(&first.event, &ledger.accounts().unwrap()[0].account).unwrap();
    ledger.reserve(Some(id), charge).unwrap();
    ledger.start(id).unwrap();
    spend(uuid).unwrap();
    assert_eq!(ask_named(uuid).unwrap_err().code(), "MZ1732");
    assert_eq!(
        engine.runs.get(),
        1,
        "no data were read for the other queries"
    );
    // An answer under a name is available although the data are deleted.
    engine.files.borrow_mut().clear();
    let QueryOutcome::Answered(again) = ask_named("report 7").unwrap() else {
        panic!("the query was answered");
    };
    assert!(again.repeated && again.done.id == first.done.id);
    assert_eq!(ask_named("report 9").unwrap_err().code(), "MZ1908");
}

/// A query without a name has an id too. Giving that id as a name asks the same query. If
/// another charge used the id, the query moves to its next id.
#[test]
fn the_id_of_a_query_is_a_name_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = ledger(folder.path(), 10.0);
    let (catalogue, engine) = (catalogue(), Changing::new(u32::MAX));
    let service = QueryService::new(&ledger, &catalogue, &engine);
    let ask = |spend_target: SpendTarget, name: Option<&str>| match service
        .query(QUERY, spend_target, name)
        .unwrap()
    {
        QueryOutcome::Answered(answered) => answered,
        QueryOutcome::Denied(_) => panic!("the charge fits"),
    };
    let first = ask(SpendTarget::DefaultShare, None);
    let again = ask(SpendTarget::DefaultShare, Some(&first.done.id.to_string()));
    assert!(again.repeated && again.done.id == first.done.id);
    // Reserved without an answer; then its id is charged for a release elsewhere.
    let spend_target = SpendTarget::Epsilon(Epsilon::new(0.5).unwrap());
    let prepared = service.prepare(QUERY, spend_target).unwrap();
    let versions = service.versions(&prepared.plan).unwrap();
    let stamp = super::stamp(&prepared, &versions);
    let stamp = service.keyed(&prepared, stamp).unwrap();
    let id = service.last_attempt(&prepared, &stamp).unwrap();
    ledger.reserve(Some(id), prepared.charge.clone()).unwrap();
    ledger.start(id).unwrap();
    ledger
        .spend(
            Some(id),
            prepared.charge.account,
            &prepared.noise_plan.event(),
        )
        .unwrap();
    // And its next id is used for an entry that is not a charge.
    let orders = Orders::standard();
    let taken = service.last_attempt(&prepared, &stamp).unwrap();
    let other = NewAccount {
        name: AccountName::new("other").unwrap(),
        parent: None,
        budget: budget(1.0, &orders),
        orders,
    };
    ledger.create_account(Some(taken), other).unwrap();
    let next = ask(spend_target, None);
    assert!(!next.repeated && next.done.id != id && next.done.id != taken);
    let again = ask(spend_target, None);
    assert!(again.repeated && again.done.id == next.done.id);
}

/// Ids use the key of the ledger: an analyst who knows the plan and guesses the version of the
/// data cannot compute them. Every process that opens the ledger can.
#[test]
fn ids_have_a_key_that_the_ledger_keeps() {
    let folder = tempfile::tempdir().unwrap();
    let (catalogue, engine) = (catalogue(), Changing::new(u32::MAX));
    let place = Location::File(folder.path().join("mizan.db"));
    let first = {
        let ledger = ledger(folder.path(), 10.0);
        let service = QueryService::new(&ledger, &catalogue, &engine);
        let prepared = service.prepare(QUERY, SpendTarget::DefaultShare).unwrap();
        let versions = service.versions(&prepared.plan).unwrap();
        let unkeyed = super::stamp(&prepared, &versions);
        let guessed = service.last_attempt(&prepared, &unkeyed).unwrap();
        let QueryOutcome::Answered(first) = service
            .query(QUERY, SpendTarget::DefaultShare, None)
            .unwrap()
        else {
            panic!("the charge fits");
        };
        assert_ne!(first.done.id, guessed);
        let stored = ledger.answer(first.done.id).unwrap().unwrap();
        assert!(!stored.starts_with(unkeyed.as_bytes()));
        first
    };
    // Another state directory with the same ledger.
    let state = tempfile::tempdir().unwrap();
    let shared = Ledger::open(&place, state.path()).unwrap();
    let service = QueryService::new(&shared, &catalogue, &engine);
    let QueryOutcome::Answered(again) = service
        .query(QUERY, SpendTarget::DefaultShare, None)
        .unwrap()
    else {
        panic!("the query was answered");
    };
    assert!(again.repeated && again.done.id == first.done.id);
    // Another ledger has another key.
    let folder = tempfile::tempdir().unwrap();
    let other = ledger(folder.path(), 10.0);
    let digest = Digest::of(&[b"x"]);
    let under = |ledger: &Ledger| ledger.id_key().unwrap().unwrap().digest(&digest);
    assert_ne!(under(&other), under(&shared));
}

/// Answers that were stored before ids had a key are found at no cost. A reservation under such
/// an id is not continued: an analyst could have made it to test a guess about the data.
#[test]
fn answers_under_ids_without_a_key_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = ledger(folder.path(), 10.0);
    let (catalogue, engine) = (catalogue(), Changing::new(u32::MAX));
    let service = QueryService::new(&ledger, &catalogue, &engine);
    let prepared = service.prepare(QUERY, SpendTarget::DefaultShare).unwrap();
    let versions = service.versions(&prepared.plan).unwrap();
    let unkeyed = super::stamp(&prepared, &versions);
    let id = service.last_attempt(&prepared, &unkeyed).unwrap();
    ledger.reserve(Some(id), prepared.charge.clone()).unwrap();
    ledger.start(id).unwrap();
    let keyed = service.keyed(&prepared, unkeyed).unwrap();
    assert_ne!(keyed, unkeyed);
    assert_ne!(service.last_attempt(&prepared, &keyed).unwrap(), id);
    // As earlier versions stored it.
    let cells = prepared.plan.statistics.iter();
    let cells = cells.map(|_| exact::Cell::Integer(100)).collect();
    let exact = ExactAggregates::from([(Vec::new(), cells)]);
    let released = crate::release::release(&prepared.noise_plan, &prepared.plan, &exact).unwrap();
    let bytes = super::sealed(&unkeyed, &released).unwrap();
    ledger
        .commit(id, prepared.charge.cost.clone(), bytes)
        .unwrap();
    let spent = ledger.accounts().unwrap()[0].account.clone();
    for name in [None, Some(id.to_string())] {
        let reply = service
            .query(QUERY, SpendTarget::DefaultShare, name.as_deref())
            .unwrap();
        let QueryOutcome::Answered(found) = reply else {
            panic!("the query was answered");
        };
        assert!(found.repeated && found.done.id == id);
    }
    assert_eq!(engine.runs.get(), 0);
    assert_eq!(ledger.accounts().unwrap()[0].account, spent);
}

/// A ledger that an earlier version wrote before ids had a key (testdata/ledger/README.md): the
/// id of its query is found, and creating a key does not change that.
#[test]
fn a_ledger_without_an_id_key_opens_and_its_ids_are_found() {
    let old = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../testdata/ledger/unkeyed-ids.ledger");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("old.ledger");
    std::fs::copy(old, &path).unwrap();
    let ledger = Ledger::open(&Location::File(path), folder.path()).unwrap();
    let id = RequestId::from_text("e40ccbce-5188-bcf1-7fb2-48e290ff35ab");
    let stored = ledger.answer(id).unwrap().unwrap();
    assert!(ledger.id_key().unwrap().is_some());
    assert_eq!(ledger.answer(id).unwrap().unwrap(), stored);
    let looked_for = super::ids::id_of(&ledger, &[&stored[..32], &[0; 4]]);
    assert_eq!(looked_for, id);
    let report = mizan_ledger::evidence::verify(
        ledger.store(),
        &mizan_ledger::Witnesses::default(),
        |_, _| (),
    );
    assert_eq!(report.unwrap().answers, 1);
}
