//! Queries that are repeated under their charge: one draw, one sample of rows, and failures that
//! count although a repetition is answered.

use std::cell::{Cell, RefCell};

use mizan_core::Epsilon;
use mizan_ledger::{Ledger, RequestId};
use mizan_sql::{BoundedPlan, Catalogue, Dataset, DatasetColumn, Type, Value};

use super::super::{Answered, QueryError, QueryOutcome, QueryService, SpendTarget};
use super::{Changing, catalogue, ledger};
use crate::engine::{Engine, EngineError, Version};
use crate::exact::{self, ExactAggregates, Execution};

const GROUPED: &str = "SELECT note, COUNT(*) AS n FROM visits GROUP BY note";

/// What an engine returns.
#[derive(Clone, Copy, PartialEq)]
enum Returns {
    /// Groups with these keys: how many, of how many characters, and which.
    Keys(usize, usize, char),
    /// A table of another shape than the plan's.
    OtherShape,
    /// An error, at every second run.
    Failures,
}

/// An engine that records the salts of its runs.
struct Recording {
    returns: Returns,
    salts: RefCell<Vec<[u8; 16]>>,
    version: Version,
    is_second: Cell<bool>,
}

impl Recording {
    fn new(returns: Returns) -> Self {
        let version = Changing::new(u32::MAX).files.borrow()[0];
        Self {
            returns,
            salts: RefCell::default(),
            version,
            is_second: Cell::new(true),
        }
    }

    fn runs(&self) -> usize {
        self.salts.borrow().len()
    }
}

impl Engine for Recording {
    fn check_joins(&self, _: &BoundedPlan, _: &Catalogue) -> Result<(), EngineError> {
        Ok(())
    }

    fn version(&self, _: &Dataset) -> Result<Version, EngineError> {
        Ok(self.version)
    }

    fn run(
        &self,
        plan: &BoundedPlan,
        _: &Catalogue,
        _: &[Version],
        salt: [u8; 16],
    ) -> Result<Execution, EngineError> {
        self.salts.borrow_mut().push(salt);
        let cells = plan
            .statistics
            .iter()
            .map(|_| exact::Cell::Integer(1 << 40));
        let mut cells: Vec<exact::Cell> = cells.collect();
        let keys: Vec<Vec<Value>> = match self.returns {
            Returns::Keys(count, length, filler) => (0..count)
                .map(|place| {
                    vec![Value::Text(
                        place.to_string() + &filler.to_string().repeat(length),
                    )]
                })
                .collect(),
            Returns::OtherShape => {
                cells.clear();
                vec![vec![Value::Null]]
            }
            Returns::Failures => {
                self.is_second.set(!self.is_second.get());
                if !self.is_second.get() {
                    return Err(EngineError::OutOfMemory);
                }
                vec![Vec::new()]
            }
        };
        let exact = keys.into_iter().map(|key| (key, cells.clone()));
        Ok(Execution::plain_sql(exact.collect::<ExactAggregates>()))
    }
}

/// The catalogue with a text column.
fn with_notes(keys: Option<Vec<Value>>) -> Catalogue {
    let mut catalogue = catalogue();
    let visits = catalogue.datasets.get_mut("visits").unwrap();
    visits.columns.push(DatasetColumn {
        keys,
        ..DatasetColumn::new("note", Type::Text)
    });
    catalogue
}

fn target() -> SpendTarget {
    SpendTarget::Epsilon(Epsilon::new(0.1).unwrap())
}

fn answered(outcome: Result<QueryOutcome, QueryError>) -> Box<Answered> {
    match outcome.unwrap() {
        QueryOutcome::Answered(answered) => answered,
        QueryOutcome::Denied(_) => panic!("the charge fits"),
    }
}

fn size(ledger: &Ledger) -> u64 {
    ledger.head().unwrap().size
}

/// Whether an answer is too large is decided by one draw of the noise, and stays so: a
/// repetition draws nothing. The message does not tell how large it is.
#[test]
fn an_answer_that_is_too_large_is_one_draw() {
    // 270 texts of 64 KiB are above 16 MiB. A control character becomes six in JSON.
    for (count, filler) in [(270, 'x'), (45, '\u{1}')] {
        let folder = tempfile::tempdir().unwrap();
        let ledger = ledger(folder.path(), 1000.0);
        let catalogue = with_notes(None);
        let engine = Recording::new(Returns::Keys(count, 64 << 10, filler));
        let service = QueryService::new(&ledger, &catalogue, &engine);
        for (place, name) in [None, Some("named")].into_iter().enumerate() {
            let mut sizes = Vec::new();
            for _ in 0..20 {
                let error = service.query(GROUPED, target(), name).unwrap_err();
                assert_eq!(error.code(), "MZ1767");
                assert_eq!(error.to_string(), "the answer is too large for the ledger");
                sizes.push(size(&ledger));
                // The share of the reserved delta that a new charge would take is another one.
                let other = Recording::new(Returns::Keys(1, 1, 'x'));
                let other = QueryService::new(&ledger, &catalogue, &other);
                let sql = format!("{GROUPED} LIMIT {}", sizes.len());
                answered(other.query(&sql, target(), Some(&format!("{place} {sql}"))));
            }
            assert_eq!(engine.runs(), place + 1);
            // Reserved, started, committed; nothing after that.
            assert!(
                sizes.windows(2).all(|pair| pair[1] == pair[0] + 3),
                "{sizes:?}"
            );
        }
        // It is spent in full, and not a failure.
        let account = ledger.accounts().unwrap()[0].account.clone();
        assert_eq!(ledger.unanswered(&account).unwrap(), []);
        ledger
            .verify(&mizan_ledger::Witnesses::default(), |_, _| ())
            .unwrap();
    }
}

/// The largest answer below the limit is stored.
#[test]
fn a_large_answer_is_stored() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = ledger(folder.path(), 1000.0);
    let catalogue = with_notes(None);
    let engine = Recording::new(Returns::Keys(40, 64 << 10, '\u{1}'));
    let service = QueryService::new(&ledger, &catalogue, &engine);
    for repeated in [false, true] {
        let answered = answered(service.query(GROUPED, target(), None));
        assert_eq!(answered.repeated, repeated);
        assert_eq!(answered.answer.rows.len(), 40);
    }
    assert_eq!(engine.runs(), 1);
}

/// Declared keys bound the answer, so a query whose answer could be too large is refused before its
/// charge.
#[test]
fn declared_keys_bound_the_answer_before_the_charge() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = ledger(folder.path(), 1000.0);
    let keys = |length: usize| -> Option<Vec<Value>> {
        let keys = (0..1000).map(|place| place.to_string() + &"\u{1}".repeat(length));
        Some(keys.map(Value::Text).collect())
    };
    let engine = Recording::new(Returns::Keys(1, 1, 'x'));
    let before = size(&ledger);
    let catalogue = with_notes(keys(4000));
    let service = QueryService::new(&ledger, &catalogue, &engine);
    for error in [
        service.quote(GROUPED, target()).unwrap_err(),
        service.query(GROUPED, target(), None).unwrap_err(),
    ] {
        assert_eq!(error.code(), "MZ1767");
        assert!(error.help().contains("nothing was charged"));
    }
    assert_eq!((size(&ledger), engine.runs()), (before, 0));
    let catalogue = with_notes(keys(2000));
    let service = QueryService::new(&ledger, &catalogue, &engine);
    assert_eq!(
        answered(service.query(GROUPED, target(), None))
            .answer
            .rows
            .len(),
        1000
    );
}

/// A release that fails is final too, and counts as a failure.
#[test]
fn a_release_that_fails_is_final() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = ledger(folder.path(), 1000.0);
    let catalogue = with_notes(None);
    let engine = Recording::new(Returns::OtherShape);
    let service = QueryService::new(&ledger, &catalogue, &engine);
    for name in [None, Some("named")] {
        let errors = (0..3).map(|_| service.query(GROUPED, target(), name).unwrap_err());
        let errors: Vec<String> = errors
            .map(|error| format!("{} {error} {}", error.code(), error.help()))
            .collect();
        assert!(errors[0].starts_with("MZ1998"));
        assert!(errors.iter().all(|error| *error == errors[0]));
    }
    assert_eq!(engine.runs(), 2);
    let account = ledger.accounts().unwrap()[0].account.clone();
    let failed = ledger.unanswered(&account).unwrap();
    assert!(failed.len() == 2 && failed.iter().all(|charge| charge.answered));
}

/// Every try under a charge samples the same rows, another charge samples others.
#[test]
fn every_try_under_a_charge_has_the_same_salt() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = ledger(folder.path(), 1000.0);
    let catalogue = catalogue();
    let engine = Recording::new(Returns::Failures);
    let service = QueryService::new(&ledger, &catalogue, &engine);
    for name in [None, Some("named")] {
        assert!(service.query(super::QUERY, target(), name).is_err());
        answered(service.query(super::QUERY, target(), name));
    }
    let salts = engine.salts.borrow();
    assert_eq!(salts[0], salts[1]);
    assert_eq!(salts[2], salts[3]);
    assert_ne!(salts[0], salts[2]);
    assert_eq!(
        salts[2],
        ledger.salt(RequestId::from_text("named")).unwrap()
    );
}

/// A query that failed counts for the limit, although its repetition was answered.
#[test]
fn failures_count_although_repetitions_are_answered() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = ledger(folder.path(), 1000.0);
    let catalogue = catalogue();
    let engine = Recording::new(Returns::Failures);
    let service = QueryService::new(&ledger, &catalogue, &engine);
    let name = |number: usize| format!("query {number}");
    for number in 0..8 {
        let ask = || service.query(super::QUERY, target(), Some(&name(number)));
        assert_eq!(ask().unwrap_err().code(), "MZ1961");
        assert!(!answered(ask()).repeated);
    }
    let before = size(&ledger);
    for id in [None, Some("ninth")] {
        let error = service.query(super::QUERY, target(), id).unwrap_err();
        assert_eq!(error.code(), "MZ1795");
    }
    assert_eq!((size(&ledger), engine.runs()), (before, 16));
    // The data owner settles one. Its answer stays, and nothing is written.
    let first = RequestId::from_text(&name(0));
    let done = ledger.settle(first).unwrap();
    assert!(!done.fresh && done.id == first);
    assert_eq!(size(&ledger), before);
    assert!(answered(service.query(super::QUERY, target(), Some(&name(0)))).repeated);
    let error = service.query(super::QUERY, target(), Some("ninth"));
    assert_eq!(error.unwrap_err().code(), "MZ1961");
}
