//! Queries that failed after their charge, and quotes whose limits cannot be checked.

use std::cell::Cell;

use mizan_core::Epsilon;
use mizan_ledger::Ledger;
use mizan_sql::{BoundedPlan, Catalogue, Dataset, Note};

use super::super::{QueryError, QueryOutcome, QueryService, SpendTarget};
use super::{Changing, QUERY, catalogue, ledger};
use crate::engine::{Engine, EngineError, Version};
use crate::exact::Execution;

/// An engine that fails after the charge while the flag is set.
struct Failing {
    fails: Cell<bool>,
    engine: Changing,
}

impl Engine for Failing {
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
        match self.fails.get() {
            true => Err(EngineError::OutOfMemory),
            false => self.engine.run(plan, catalogue, versions, salt),
        }
    }
}

/// A query that fails after its charge reveals a few bits, whatever the cause. So an account
/// with too many queries that failed refuses the next one before its charge. A failed query
/// continues under its own charge, and counts all the same. A query whose charge was settled is
/// charged anew.
#[test]
fn charges_without_an_answer_are_limited() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = ledger(folder.path(), 1000.0);
    let catalogue = catalogue();
    let engine = Failing {
        fails: Cell::new(true),
        engine: Changing::new(u32::MAX),
    };
    let service = QueryService::new(&ledger, &catalogue, &engine);
    let spend_target = SpendTarget::Epsilon(Epsilon::new(0.1).unwrap());
    let ask = |sql: &str, name: Option<&str>| service.query(sql, spend_target, name);
    let sql = |number: usize| format!("SELECT COUNT(*) FROM visits WHERE person > {number}");
    let mut ids = Vec::new();
    for number in 0..mizan_ledger::evidence::MAX_UNANSWERED {
        let name = (number == 1).then_some("named");
        assert!(
            service
                .quote(&sql(99), spend_target)
                .unwrap()
                .notes
                .is_empty()
        );
        match ask(&sql(number), name).unwrap_err() {
            QueryError::AfterCharge { id, .. } => ids.push(id),
            error => panic!("{error}"),
        }
    }
    let size = ledger.head().unwrap().size;
    for name in [None, Some("new")] {
        let error = ask(&sql(99), name).unwrap_err();
        assert_eq!(error.code(), "MZ1795");
        assert!(error.help().contains("Nothing was charged"));
    }
    assert_eq!(ledger.head().unwrap().size, size);
    let quote = service.quote(&sql(99), spend_target).unwrap();
    let refused = Note::UnansweredCharges { count: 8, limit: 8 };
    assert_eq!(quote.notes, [refused]);
    // Failed queries continue, and count until they are settled.
    engine.fails.set(false);
    let QueryOutcome::Answered(answered) = ask(&sql(0), None).unwrap() else {
        panic!("it is charged already");
    };
    assert!(!answered.repeated && answered.done.id == ids[0]);
    assert_eq!(ask(&sql(99), None).unwrap_err().code(), "MZ1795");
    assert!(!ledger.settle(ids[0]).unwrap().fresh);
    assert!(matches!(
        ask(&sql(99), None).unwrap(),
        QueryOutcome::Answered(_)
    ));
    // The data owner settles the others.
    for id in &ids[1..4] {
        ledger.settle(*id).unwrap();
    }
    let error = ask(&sql(1), Some("named")).unwrap_err();
    assert_eq!(error.code(), "MZ1997");
    for repeated in [false, true] {
        let QueryOutcome::Answered(answered) = ask(&sql(2), None).unwrap() else {
            panic!("the charge fits");
        };
        assert_eq!(answered.repeated, repeated);
        assert_ne!(answered.done.id, ids[2]);
    }
    ledger
        .verify(&mizan_ledger::Witnesses::default(), |_, _| ())
        .unwrap();
}

/// If the data owner settles a charge while its query runs, no answer is shown.
#[test]
fn a_query_whose_charge_was_settled_shows_nothing() {
    struct Settling<'a>(&'a Ledger, Changing);

    impl Engine for Settling<'_> {
        fn check_joins(&self, _: &BoundedPlan, _: &Catalogue) -> Result<(), EngineError> {
            Ok(())
        }

        fn version(&self, dataset: &Dataset) -> Result<Version, EngineError> {
            self.1.version(dataset)
        }

        fn run(
            &self,
            plan: &BoundedPlan,
            catalogue: &Catalogue,
            versions: &[Version],
            salt: [u8; 16],
        ) -> Result<Execution, EngineError> {
            let account = self.0.accounts().unwrap()[0].account.clone();
            for charge in self.0.unanswered(&account).unwrap() {
                self.0.settle(charge.id).unwrap();
            }
            self.1.run(plan, catalogue, versions, salt)
        }
    }

    let folder = tempfile::tempdir().unwrap();
    let ledger = ledger(folder.path(), 10.0);
    let catalogue = catalogue();
    let settling = Settling(&ledger, Changing::new(u32::MAX));
    let error = QueryService::new(&ledger, &catalogue, &settling).query(
        QUERY,
        SpendTarget::DefaultShare,
        None,
    );
    assert_eq!(error.unwrap_err().code(), "MZ1997");
    let engine = settling.1;
    let service = QueryService::new(&ledger, &catalogue, &engine);
    let QueryOutcome::Answered(answered) = service
        .query(QUERY, SpendTarget::DefaultShare, None)
        .unwrap()
    else {
        panic!("the charge fits");
    };
    assert!(!answered.repeated);
}

/// A quote says when its limits could not be checked: data that cannot be reached are a note, a
/// check that exceeds its limits is an error.
#[test]
fn a_quote_says_whether_its_limits_were_checked() {
    struct Checking(EngineError);

    impl Engine for Checking {
        fn check_joins(&self, _: &BoundedPlan, _: &Catalogue) -> Result<(), EngineError> {
            Err(self.0.clone())
        }

        fn version(&self, _: &Dataset) -> Result<Version, EngineError> {
            Err(self.0.clone())
        }

        fn run(
            &self,
            _: &BoundedPlan,
            _: &Catalogue,
            _: &[Version],
            _: [u8; 16],
        ) -> Result<Execution, EngineError> {
            Err(self.0.clone())
        }
    }

    let folder = tempfile::tempdir().unwrap();
    let ledger = ledger(folder.path(), 10.0);
    let catalogue = catalogue();
    let quote = |error: EngineError| {
        let engine = Checking(error);
        let quote =
            QueryService::new(&ledger, &catalogue, &engine).quote(QUERY, SpendTarget::DefaultShare);
        quote.map(|quote| quote.notes).map_err(|error| error.code())
    };
    let gone = EngineError::Unreadable {
        path: "/secret/visits.csv".into(),
        reason: "gone".into(),
    };
    let notes = quote(gone).unwrap();
    let code = "MZ1901".to_owned();
    assert_eq!(notes, [Note::LimitsNotChecked { code }]);
    assert!(quote(EngineError::Disconnected).is_ok());
    for (error, code) in [
        (EngineError::CountingMemory, "MZ1942"),
        (EngineError::CountingTime { seconds: 60 }, "MZ1943"),
        (EngineError::Failed { doing: "counting" }, "MZ1911"),
        (EngineError::OutOfMemory, "MZ1961"),
    ] {
        assert_eq!(quote(error).unwrap_err(), code);
    }
}
