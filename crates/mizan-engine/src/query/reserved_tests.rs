//! The reserved delta: queries with private groups do not exhaust it quickly, take the share
//! that the analyst chose, and cost nothing when they are repeated.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::cast_precision_loss,
    reason = "tests may panic"
)]

use std::cell::Cell;
use std::collections::BTreeMap;

use mizan_core::{Delta, Epsilon};
use mizan_ledger::{
    AccountName, AccountView, Budget, DeltaAmount, Ledger, Location, NewAccount, Orders, RequestId,
};
use mizan_sql::{BoundedPlan, Catalogue, Dataset, DatasetColumn, Privacy, Type, Value};

use super::{Answered, Denied, PriceCache, QueryOutcome, QueryService, SpendTarget, reserved};
use crate::engine::{Engine, EngineError, Version};
use crate::exact::{self, ExactAggregates, Execution};

/// One group with many people.
struct OneWard {
    version: Version,
    runs: Cell<u32>,
}

impl OneWard {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        std::fs::write(&path, "person\n").unwrap();
        let files = crate::version::Files::find(&path).unwrap();
        Self {
            version: files.version().unwrap(),
            runs: Cell::new(0),
        }
    }
}

impl Engine for OneWard {
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
        _: [u8; 16],
    ) -> Result<Execution, EngineError> {
        self.runs.set(self.runs.get() + 1);
        let cells = plan
            .statistics
            .iter()
            .map(|_| exact::Cell::Integer(1 << 20));
        let key = plan.keys.iter().map(|_| Value::Text("a".into()));
        let exact = ExactAggregates::from([(key.collect(), cells.collect())]);
        Ok(Execution::plain_sql(exact))
    }
}

fn catalogue() -> Catalogue {
    let column = |name: &str, kind| DatasetColumn::new(name, kind);
    let visits = Dataset {
        name: "visits".into(),
        source: "visits.csv".into(),
        files: Vec::new(),
        privacy: Some(Privacy {
            unit: vec!["person".into()],
            account: "visits".into(),
            rows_per_unit: Some(1),
            groups_per_unit: Some(1),
        }),
        columns: vec![column("person", Type::Integer), column("ward", Type::Text)],
    };
    Catalogue {
        datasets: BTreeMap::from([("visits".to_owned(), visits)]),
    }
}

fn ledger(folder: &std::path::Path) -> Ledger {
    let ledger = Ledger::init(&Location::File(folder.join("mizan.db")), folder).unwrap();
    let orders = Orders::standard();
    let delta = Delta::new(1e-6).unwrap();
    let own = Budget::usual_reserved_delta(delta);
    let epsilon = Epsilon::new(100.0).unwrap();
    let account = NewAccount {
        name: AccountName::new("visits").unwrap(),
        parent: None,
        budget: Budget::approximate(
            epsilon,
            delta,
            own,
            mizan_ledger::money::Weight::ZERO,
            &orders,
        )
        .unwrap(),
        orders,
    };
    ledger.create_account(None, account).unwrap();
    ledger
}

fn query_text(place: usize) -> String {
    format!("SELECT ward, COUNT(*) AS n FROM visits WHERE ward <> 'w{place}' GROUP BY ward")
}

fn spend_target() -> SpendTarget {
    SpendTarget::Epsilon(Epsilon::new(0.1).unwrap())
}

fn reply<E: Engine>(
    service: &QueryService<'_, E>,
    place: usize,
    name: Option<&str>,
) -> QueryOutcome {
    service
        .query(&query_text(place), spend_target(), name)
        .unwrap()
}

fn ask<E: Engine>(service: &QueryService<'_, E>, place: usize) -> Box<Answered> {
    match reply(service, place, None) {
        QueryOutcome::Answered(answered) => answered,
        QueryOutcome::Denied(denied) => panic!("{:?}", denied.reserved),
    }
}

fn denied<E: Engine>(
    service: &QueryService<'_, E>,
    place: usize,
    name: Option<&str>,
) -> Box<Denied> {
    match reply(service, place, name) {
        QueryOutcome::Answered(_) => panic!("the charge does not fit"),
        QueryOutcome::Denied(denied) => denied,
    }
}

fn view(ledger: &Ledger) -> AccountView {
    ledger.accounts().unwrap().remove(0)
}

fn taken(ledger: &Ledger) -> u64 {
    view(ledger).account.taken().reserved_delta().atto()
}

fn left(ledger: &Ledger) -> u64 {
    let view = view(ledger);
    view.account.budget().reserved_delta().atto() - taken(ledger)
}

fn in_delta(atto: u64) -> Delta {
    Delta::new(atto as f64 / 1e18).unwrap()
}

/// A hundred queries are answered and their thresholds grow slowly. Then the test spends nearly
/// all of the reserved delta, and queries are answered until the smallest share does not fit.
#[test]
fn the_reserved_delta_does_not_run_out_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = ledger(folder.path());
    let (catalogue, engine) = (catalogue(), OneWard::new());
    let price_cache = PriceCache::default();
    let service = QueryService::new(&ledger, &catalogue, &engine)
        .with_price_cache(&price_cache, "c".to_owned());
    let threshold = |answered: &Answered| answered.released.noise.threshold.unwrap().above;
    let quote = service.quote(&query_text(0), spend_target()).unwrap();
    assert!((200..400).contains(&quote.about), "{}", quote.about);
    let first = ask(&service, 0);
    let mut last = threshold(&first);
    for place in 1..100 {
        let before = left(&ledger);
        let answered = ask(&service, place);
        assert!(!answered.repeated && !answered.answer.rows.is_empty());
        assert!(threshold(&answered) >= last);
        last = threshold(&answered);
        let share = before - left(&ledger);
        assert!(share * 22 > before && share * 20 <= before + 20, "{share}");
    }
    let bound = threshold(&first);
    assert!(last > bound && last < bound * 3 / 2, "{bound} {last}");
    // Repeated queries are free, although they would take another share now.
    let before = (taken(&ledger), engine.runs.get());
    for place in [0, 42, 99] {
        let again = ask(&service, place);
        assert!(again.repeated);
        if place == 0 {
            assert_eq!(again.done.id, first.done.id);
            assert_eq!((&again.answer, again.delta), (&first.answer, first.delta));
        }
    }
    assert_eq!((taken(&ledger), engine.runs.get()), before);
    // All but 40 times the smallest share.
    let first_share = DeltaAmount::cost(reserved::first(&view(&ledger).account)).atto();
    let rest = first_share / 1_000_000 * 40;
    let most = QueryService::new(&ledger, &catalogue, &engine);
    let most = most.threshold_delta(Some(in_delta(left(&ledger) - rest)));
    ask(&most, 1000);
    let mut more = 0;
    let refused = loop {
        match reply(&service, 2000 + more, None) {
            QueryOutcome::Answered(_) => more += 1,
            QueryOutcome::Denied(denied) => break denied,
        }
    };
    assert!((20..80).contains(&more), "{more}");
    let reserved = refused.reserved.unwrap();
    assert!(reserved.is_short() && reserved.account == "visits");
    assert_eq!(reserved.left.atto(), left(&ledger));
    let quote = service.quote(&query_text(3000), spend_target()).unwrap();
    assert!(!quote.fits && quote.about == 0 && quote.reserved.unwrap().is_short());
    // An analyst who chooses the share can still take what is left.
    let rest = QueryService::new(&ledger, &catalogue, &engine);
    let rest = rest.threshold_delta(Some(in_delta(left(&ledger) / 2)));
    ask(&rest, 4000);
    // Stored answers are still free.
    assert!(ask(&service, 7).repeated);
}

/// A query takes no more than the chosen share, finds its answer again, and is a different
/// query than the one with the default share.
#[test]
fn a_query_chooses_its_share() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = ledger(folder.path());
    let (catalogue, engine) = (catalogue(), OneWard::new());
    let service = || QueryService::new(&ledger, &catalogue, &engine);
    let share = Delta::new(1e-8).unwrap();
    let chosen = service().threshold_delta(Some(share));
    let first = ask(&chosen, 0);
    assert!(taken(&ledger) <= 10_000_000_000 && taken(&ledger) > 9_999_000_000);
    let before = taken(&ledger);
    assert!(ask(&chosen, 0).repeated);
    assert_eq!(taken(&ledger), before);
    let usual = ask(&service(), 0);
    assert!(!usual.repeated && usual.done.id != first.done.id);
    // An answered query with a chosen share needs nothing of the reserved delta.
    let all = in_delta(left(&ledger));
    ask(&service().threshold_delta(Some(all)), 1);
    let refused = denied(&chosen, 2, None);
    assert!(refused.reserved.unwrap().is_short());
    assert!(ask(&chosen, 0).repeated && ask(&service(), 0).repeated);
    // Public groups take no share, so it is the same query.
    let all = "SELECT COUNT(*) FROM visits";
    let ask = |service: QueryService<'_, OneWard>| match service
        .query(all, spend_target(), None)
        .unwrap()
    {
        QueryOutcome::Answered(answered) => answered,
        QueryOutcome::Denied(_) => panic!("the charge fits"),
    };
    let one = ask(service());
    let other = ask(service().threshold_delta(Some(share)));
    assert!(!one.repeated && other.repeated && one.done.id == other.done.id);
    assert_eq!(service().quote(all, spend_target()).unwrap().reserved, None);
}

/// Stored answers of earlier versions, which always took the first share, have the stamp that
/// the query has now, whatever is left.
#[test]
fn a_query_is_identified_whatever_is_left() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = ledger(folder.path());
    let (catalogue, engine) = (catalogue(), OneWard::new());
    let service = QueryService::new(&ledger, &catalogue, &engine);
    let prepared = service.prepare(&query_text(0), spend_target()).unwrap();
    let plan = prepared.plan.digest();
    let noise_plan = prepared.noise_plan.bytes();
    let parts: [&[u8]; 4] = [
        b"mizan-question-1",
        &plan,
        engine.version.as_bytes(),
        &noise_plan,
    ];
    let earlier = mizan_ledger::Digest::of(&parts);
    for place in 1..4 {
        ask(&service, place);
    }
    let later = service.prepare(&query_text(0), spend_target()).unwrap();
    assert_ne!(later.noise_plan.bytes(), noise_plan);
    assert_eq!(super::stamp(&later, &[engine.version]), earlier);
}

/// A charge without an answer is continued with the share that it was made with.
#[test]
fn a_charge_without_an_answer_keeps_its_share() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = ledger(folder.path());
    let (catalogue, engine) = (catalogue(), OneWard::new());
    let service = QueryService::new(&ledger, &catalogue, &engine);
    ask(&service, 1);
    let prepared = service.prepare(&query_text(0), spend_target()).unwrap();
    let stamp = super::stamp(&prepared, &[engine.version]);
    let stamp = service.keyed(&prepared, stamp).unwrap();
    let id = service.last_attempt(&prepared, &stamp).unwrap();
    ledger.reserve(Some(id), prepared.charge.clone()).unwrap();
    ledger.start(id).unwrap();
    let named = RequestId::from_text("report");
    ledger.reserve(Some(named), prepared.charge).unwrap();
    for place in 2..20 {
        ask(&service, place);
    }
    let before = taken(&ledger);
    let answered = ask(&service, 0);
    assert_eq!(answered.done.id, id);
    assert_eq!(taken(&ledger), before);
    let QueryOutcome::Answered(answered) = reply(&service, 0, Some("report")) else {
        panic!("the charge fits");
    };
    assert!(!answered.repeated && answered.done.id == named);
    assert_eq!(taken(&ledger), before);
    for place in 20..30 {
        ask(&service, place);
    }
    let QueryOutcome::Answered(again) = reply(&service, 0, Some("report")) else {
        panic!("the query was answered");
    };
    assert!(again.repeated && again.answer == answered.answer);
}

/// A denied name stays denied, although the query would take another share now.
#[test]
fn a_refused_name_stays_refused() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = ledger(folder.path());
    let (catalogue, engine) = (catalogue(), OneWard::new());
    let service = QueryService::new(&ledger, &catalogue, &engine);
    let most = spend_target_of(150.0);
    let ask_most = |name| service.query(&query_text(0), most, Some(name)).unwrap();
    ask(&service, 1);
    ask(&service, 2);
    let QueryOutcome::Denied(first) = ask_most("report") else {
        panic!("the charge does not fit");
    };
    assert!(first.done.fresh && !first.reserved.unwrap().is_short());
    for place in 3..8 {
        ask(&service, place);
    }
    let QueryOutcome::Denied(again) = ask_most("report") else {
        panic!("the name must stay refused");
    };
    assert!(!again.done.fresh);
}

fn spend_target_of(epsilon: f64) -> SpendTarget {
    SpendTarget::Epsilon(Epsilon::new(epsilon).unwrap())
}
