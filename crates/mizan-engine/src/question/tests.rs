//! Questions that are denied, and data that change under them.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests may panic"
)]

mod unanswered;

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use mizan_core::{Delta, Epsilon};
use mizan_ledger::log::Status;
use mizan_ledger::{
    AccountName, Budget, Charge, Digest, Ledger, Location, NewAccount, Orders, RequestId,
};
use mizan_sql::{BoundedPlan, Catalogue, Dataset, DatasetColumn, Privacy, Type};

use super::{Answered, Desk, QuestionError, Reply, Wish};
use crate::engine::{Engine, EngineError, Version};
use crate::exact::{self, Exact, Execution};

const QUESTION: &str = "SELECT COUNT(*) FROM visits";

/// An engine whose data change when it has told their version so many times.
struct Changing {
    told: Cell<u32>,
    /// From which telling on they are others.
    from: u32,
    runs: Cell<u32>,
    files: RefCell<Vec<Version>>,
}

impl Changing {
    fn new(from: u32) -> Self {
        // Two files make two versions.
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
        let exact = Exact::from([(Vec::new(), cells.collect())]);
        Ok(Execution::plain_sql(exact))
    }
}

fn catalogue() -> Catalogue {
    let person = DatasetColumn {
        name: "person".into(),
        kind: Type::Integer,
        bounds: None,
        unit_bounds: None,
        keys: None,
    };
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

/// However often it was denied, it is answered once the budget is raised; and
/// from then on it is free.
#[test]
fn what_was_denied_is_answered_when_there_is_more() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = ledger(folder.path(), 0.5);
    let (catalogue, engine) = (catalogue(), Changing::new(u32::MAX));
    let desk = Desk::new(&ledger, &catalogue, &engine);
    let wish = Wish::Epsilon(Epsilon::new(1.0).unwrap());
    let mut ids = Vec::new();
    for _ in 0..37 {
        let Reply::Denied(denied) = desk.query(QUESTION, wish, None).unwrap() else {
            panic!("it does not fit");
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
        let Reply::Answered(answered) = desk.query(QUESTION, wish, None).unwrap() else {
            panic!("it fits");
        };
        assert_eq!(answered.repeated, repeated);
    }
    assert_eq!(engine.runs.get(), 1);
}

/// Data that change between the charge and the start cost nothing.
#[test]
fn what_changed_before_it_was_read_is_given_back() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = ledger(folder.path(), 5.0);
    let (catalogue, engine) = (catalogue(), Changing::new(1));
    let desk = Desk::new(&ledger, &catalogue, &engine);
    let before = ledger.accounts().unwrap()[0].account.clone();
    let error = desk.query(QUESTION, Wish::Usual, None).unwrap_err();
    assert_eq!(error.code(), "MZ1908");
    assert!(!matches!(error, QuestionError::AfterCharge { .. }));
    assert_eq!(engine.runs.get(), 0);
    assert_eq!(ledger.accounts().unwrap()[0].account, before);
    // About the new data it is answered.
    let reply = desk.query(QUESTION, Wish::Usual, None).unwrap();
    assert!(matches!(reply, Reply::Answered(_)));
}

/// If they change after the start, they may have been read: the charge stands,
/// and the error says so and what to do.
#[test]
fn what_changed_while_it_was_read_stays_charged() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = ledger(folder.path(), 5.0);
    let (catalogue, engine) = (catalogue(), Changing::new(2));
    let desk = Desk::new(&ledger, &catalogue, &engine);
    let error = desk.query(QUESTION, Wish::Usual, None).unwrap_err();
    let QuestionError::AfterCharge { id, .. } = &error else {
        panic!("{error}");
    };
    let id: RequestId = *id;
    assert!(
        error.help().contains("another question"),
        "{}",
        error.help()
    );
    assert!(error.help().contains(&id.to_string()));
    let record = ledger.record(id).unwrap().unwrap();
    assert!(matches!(record.status, Status::Started(_)));
    let reply = desk.query(QUESTION, Wish::Usual, None).unwrap();
    assert!(matches!(reply, Reply::Answered(_)));
}

/// While this engine runs, somebody else asks the same and is quicker.
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
            let answered = without_noise(&Desk::new(self.ledger, catalogue, self));
            assert!(!answered.repeated);
        }
        self.engine.run(plan, catalogue, versions, salt)
    }
}

/// Noise other than 0 has a chance of e^-80 or so here.
fn without_noise<E: Engine>(desk: &Desk<'_, E>) -> Box<Answered> {
    let wish = Wish::Epsilon(Epsilon::new(80.0).unwrap());
    let Reply::Answered(answered) = desk.query(QUESTION, wish, None).unwrap() else {
        panic!("it fits");
    };
    answered
}

/// Two who draw the same for one charge: one of them was told of it first, and
/// the other that it cost nothing more.
#[test]
fn who_draws_what_was_drawn_already_repeats_it() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = ledger(folder.path(), 100.0);
    let (catalogue, engine) = (catalogue(), Changing::new(u32::MAX));
    let engine = Overtaken {
        ledger: &ledger,
        overtaken: Cell::new(false),
        engine,
    };
    let answered = without_noise(&Desk::new(&ledger, &catalogue, &engine));
    assert_eq!(engine.engine.runs.get(), 2);
    assert!(answered.repeated);
}

/// The name of a question is the id of its entry. A charge for a release elsewhere
/// under the same id is something else, whichever came first.
#[test]
fn a_name_is_the_id_of_one_release() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = ledger(folder.path(), 10.0);
    let (catalogue, engine) = (catalogue(), Changing::new(u32::MAX));
    let desk = Desk::new(&ledger, &catalogue, &engine);
    let asked = |name: &str| desk.query(QUESTION, Wish::Usual, Some(name));
    let Reply::Answered(first) = asked("report 7").unwrap() else {
        panic!("it fits");
    };
    assert_eq!(first.done.id, RequestId::from_text("report 7"));
    let account = ledger.accounts().unwrap()[0].account.number();
    let spend = |name: &str| {
        let id = RequestId::from_text(name);
        ledger.spend(Some(id), account, &first.event)
    };
    assert_eq!(spend("report 7").unwrap_err().code(), "MZ1732");
    // The other way round: charged before it is asked, or while it is.
    spend("report 8").unwrap();
    assert_eq!(asked("report 8").unwrap_err().code(), "MZ1732");
    let uuid = "01020304-0506-0708-090a-0b0c0d0e0f10";
    let id = RequestId::from_text(uuid);
    let charge = Charge::of(&first.event, &ledger.accounts().unwrap()[0].account).unwrap();
    ledger.reserve(Some(id), charge).unwrap();
    ledger.start(id).unwrap();
    spend(uuid).unwrap();
    assert_eq!(asked(uuid).unwrap_err().code(), "MZ1732");
    assert_eq!(engine.runs.get(), 1, "nothing was read for the others");
    // What was answered under a name is, also when the data are gone.
    engine.files.borrow_mut().clear();
    let Reply::Answered(again) = asked("report 7").unwrap() else {
        panic!("it was answered");
    };
    assert!(again.repeated && again.done.id == first.done.id);
    assert_eq!(asked("report 9").unwrap_err().code(), "MZ1908");
}

/// A question without a name has an id too. Who gives that asks the same question; if
/// somebody used it up for something else, the question goes on to its next id.
#[test]
fn the_id_of_a_question_is_a_name_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = ledger(folder.path(), 10.0);
    let (catalogue, engine) = (catalogue(), Changing::new(u32::MAX));
    let desk = Desk::new(&ledger, &catalogue, &engine);
    let ask = |wish: Wish, name: Option<&str>| match desk.query(QUESTION, wish, name).unwrap() {
        Reply::Answered(answered) => answered,
        Reply::Denied(_) => panic!("it fits"),
    };
    let first = ask(Wish::Usual, None);
    let again = ask(Wish::Usual, Some(&first.done.id.to_string()));
    assert!(again.repeated && again.done.id == first.done.id);
    // Left behind, charged and not answered; then charged for something elsewhere.
    let wish = Wish::Epsilon(Epsilon::new(0.5).unwrap());
    let prepared = desk.prepare(QUESTION, wish).unwrap();
    let versions = desk.versions(&prepared.plan).unwrap();
    let stamp = super::stamp(&prepared, &versions);
    let stamp = desk.keyed(&prepared, stamp).unwrap();
    let id = desk.last_attempt(&prepared, &stamp).unwrap();
    ledger.reserve(Some(id), prepared.charge.clone()).unwrap();
    ledger.start(id).unwrap();
    ledger
        .spend(Some(id), prepared.charge.account, &prepared.recipe.event())
        .unwrap();
    // And its next id for something that is no charge at all.
    let orders = Orders::standard();
    let taken = desk.last_attempt(&prepared, &stamp).unwrap();
    let other = NewAccount {
        name: AccountName::new("other").unwrap(),
        parent: None,
        budget: budget(1.0, &orders),
        orders,
    };
    ledger.create_account(Some(taken), other).unwrap();
    let next = ask(wish, None);
    assert!(!next.repeated && next.done.id != id && next.done.id != taken);
    let again = ask(wish, None);
    assert!(again.repeated && again.done.id == next.done.id);
}

/// Ids are under the key of the ledger: an analyst who knows the plan and guesses the version
/// of the data cannot compute them, and all who open the ledger can.
#[test]
fn ids_have_a_key_that_the_ledger_keeps() {
    let folder = tempfile::tempdir().unwrap();
    let (catalogue, engine) = (catalogue(), Changing::new(u32::MAX));
    let place = Location::File(folder.path().join("mizan.db"));
    let first = {
        let ledger = ledger(folder.path(), 10.0);
        let desk = Desk::new(&ledger, &catalogue, &engine);
        let prepared = desk.prepare(QUESTION, Wish::Usual).unwrap();
        let versions = desk.versions(&prepared.plan).unwrap();
        let unkeyed = super::stamp(&prepared, &versions);
        let guessed = desk.last_attempt(&prepared, &unkeyed).unwrap();
        let Reply::Answered(first) = desk.query(QUESTION, Wish::Usual, None).unwrap() else {
            panic!("it fits");
        };
        assert_ne!(first.done.id, guessed);
        let stored = ledger.answer(first.done.id).unwrap().unwrap();
        assert!(!stored.starts_with(unkeyed.as_bytes()));
        first
    };
    // Elsewhere, with the same ledger.
    let state = tempfile::tempdir().unwrap();
    let shared = Ledger::open(&place, state.path()).unwrap();
    let desk = Desk::new(&shared, &catalogue, &engine);
    let Reply::Answered(again) = desk.query(QUESTION, Wish::Usual, None).unwrap() else {
        panic!("it was answered");
    };
    assert!(again.repeated && again.done.id == first.done.id);
    // Another ledger has another key.
    let folder = tempfile::tempdir().unwrap();
    let other = ledger(folder.path(), 10.0);
    let digest = Digest::of(&[b"x"]);
    let under = |ledger: &Ledger| ledger.id_key().unwrap().unwrap().digest(&digest);
    assert_ne!(under(&other), under(&shared));
}

/// What was answered before ids had a key is found again at no cost. What was only
/// reserved under such an id is not gone on with: an analyst could have done that, to
/// find out whether a guess is right.
#[test]
fn answers_under_ids_without_a_key_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = ledger(folder.path(), 10.0);
    let (catalogue, engine) = (catalogue(), Changing::new(u32::MAX));
    let desk = Desk::new(&ledger, &catalogue, &engine);
    let prepared = desk.prepare(QUESTION, Wish::Usual).unwrap();
    let versions = desk.versions(&prepared.plan).unwrap();
    let unkeyed = super::stamp(&prepared, &versions);
    let id = desk.last_attempt(&prepared, &unkeyed).unwrap();
    ledger.reserve(Some(id), prepared.charge.clone()).unwrap();
    ledger.start(id).unwrap();
    let keyed = desk.keyed(&prepared, unkeyed).unwrap();
    assert_ne!(keyed, unkeyed);
    assert_ne!(desk.last_attempt(&prepared, &keyed).unwrap(), id);
    // As it was stored then.
    let cells = prepared.plan.statistics.iter();
    let cells = cells.map(|_| exact::Cell::Integer(100)).collect();
    let exact = Exact::from([(Vec::new(), cells)]);
    let released = crate::release::release(&prepared.recipe, &prepared.plan, &exact).unwrap();
    let bytes = super::sealed(&unkeyed, &released);
    ledger
        .commit(id, prepared.charge.cost.clone(), bytes)
        .unwrap();
    let spent = ledger.accounts().unwrap()[0].account.clone();
    for name in [None, Some(id.to_string())] {
        let reply = desk.query(QUESTION, Wish::Usual, name.as_deref()).unwrap();
        let Reply::Answered(found) = reply else {
            panic!("it was answered");
        };
        assert!(found.repeated && found.done.id == id);
    }
    assert_eq!(engine.runs.get(), 0);
    assert_eq!(ledger.accounts().unwrap()[0].account, spent);
}

/// A ledger that the program wrote before ids had a key (testdata/ledger/README.md):
/// the id of its query is the one that is looked for, and a key does no harm to it.
#[test]
fn a_ledger_from_before_opens_and_its_ids_are_those_looked_for() {
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
