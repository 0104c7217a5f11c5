//! How many equal releases fit into a budget, as lines of JSON: `scripts/bench filter` compares them
//! with peers and prints a table.
//!
//! `bench_filter [DIRECTORY]`: the directory of temporary ledgers. Every count is that of a ledger
//! which charges until it refuses:
//!
//! - `old`: an account without a clock and with a quarter of δ reserved;
//! - `hybrid`: an account with the usual clock and a tenth of δ reserved;
//! - `quarter`: an account with the usual clock and a quarter of δ reserved.
//!
//! `optimum` is the largest number for which the numerical accountant certifies (ε, δ), had the
//! releases been fixed in advance. null where it has no profile.
#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "a benchmark may panic"
)]

use std::path::{Path, PathBuf};

use mizan_accounting::PrivacyProfile;
use mizan_core::{Count, Delta, Epsilon, PrivacyEvent};
use mizan_ledger::money::Weight;
use mizan_ledger::{
    AccountName, AccountNumber, Budget, DeltaAmount, Ledger, Location, NewAccount, Orders, Outcome,
};

/// The table: every release at every budget.
const BUDGETS: [(f64, f64); 4] = [(0.5, 1e-6), (1.0, 1e-6), (3.0, 1e-7), (10.0, 1e-9)];
const RELEASES: [(&str, &str); 10] = [
    ("gaussian(10)", "gaussian(10)"),
    ("gaussian(20)", "gaussian(20)"),
    ("gaussian(40)", "gaussian(40)"),
    ("laplace(20)", "laplace(20)"),
    ("laplace(40)", "laplace(40)"),
    ("laplace(100)", "laplace(100)"),
    ("laplace(20) + gaussian(20)", "laplace(20) + gaussian(20)"),
    (
        "laplace(100) + gaussian(100)",
        "laplace(100) + gaussian(100)",
    ),
    ("exponential(0.1)", ""),
    // A group by of ten groups for each person, with a threshold. For the optimum the noise is taken
    // as continuous.
    (
        "10 * discrete-gaussian(40) + threshold",
        "10 * gaussian(40) + threshold",
    ),
];

/// The part of δ that the threshold of one group by takes. A tenth of δ pays for a thousand.
const THRESHOLD: f64 = 1e-4;

/// An event of the table; None if there is none.
fn event(text: &str, delta: f64) -> Option<PrivacyEvent> {
    let threshold = format!("approximate(0, {:e})", THRESHOLD * delta);
    text.replace("threshold", &threshold).parse().ok()
}

/// Budgets and releases for which nothing was tuned.
const HELD_OUT_BUDGETS: [(f64, f64); 3] = [(0.7, 3e-7), (2.0, 1e-5), (5.0, 1e-8)];
const HELD_OUT: [(&str, &str); 9] = [
    ("gaussian(13)", "gaussian(13)"),
    ("gaussian(33)", "gaussian(33)"),
    ("gaussian(75)", "gaussian(75)"),
    ("discrete-gaussian(25)", "gaussian(25)"),
    ("laplace(33)", "laplace(33)"),
    ("laplace(57)", "laplace(57)"),
    ("laplace(130)", "laplace(130)"),
    ("laplace(57) + gaussian(80)", "laplace(57) + gaussian(80)"),
    (
        "3 * laplace(200) + gaussian(50)",
        "3 * laplace(200) + gaussian(50)",
    ),
];

fn main() {
    let directory = std::env::args()
        .nth(1)
        .map_or_else(std::env::temp_dir, PathBuf::from);
    let directory = directory.join(format!("mizan-bench-filter-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    rows(&directory, "table", &BUDGETS, &RELEASES);
    rows(&directory, "held out", &HELD_OUT_BUDGETS, &HELD_OUT);
    std::fs::remove_dir_all(&directory).unwrap();
}

fn rows(directory: &Path, set: &str, budgets: &[(f64, f64)], releases: &[(&str, &str)]) {
    for &release in releases {
        for &budget in budgets {
            row(directory, set, release, budget);
        }
    }
}

fn row(directory: &Path, set: &str, (release, fixed): (&str, &str), (epsilon, delta): (f64, f64)) {
    let one = event(release, delta).unwrap();
    let event = |text| event(text, delta);
    let budget = (Epsilon::new(epsilon).unwrap(), Delta::new(delta).unwrap());
    let old = fitting(directory, &one, budget, (Weight::ZERO, 4));
    let hybrid = fitting(directory, &one, budget, (Budget::usual_clock(), 10));
    let quarter = fitting(directory, &one, budget, (Budget::usual_clock(), 4));
    let optimum = event(fixed).map(|event| optimum(&event, budget));
    let optimum = optimum.map_or_else(|| "null".to_owned(), |count| count.to_string());
    println!(
        "{{\"set\": \"{set}\", \"release\": \"{release}\", \"epsilon\": {epsilon}, \
         \"delta\": {delta:e}, \"old\": {old}, \"hybrid\": {hybrid}, \"quarter\": {quarter}, \"optimum\": {optimum}}}"
    );
}

/// How many charges a new ledger accepts, with the given weight of its clock and part of δ reserved.
fn fitting(
    directory: &Path,
    event: &PrivacyEvent,
    (epsilon, delta): (Epsilon, Delta),
    (clock, part): (Weight, u64),
) -> u64 {
    let file = directory.join("ledger.db");
    let ledger = Ledger::init(&Location::from(file), &directory.join("state")).unwrap();
    let orders = Orders::standard();
    let reserved = DeltaAmount::from_atto(DeltaAmount::budget(delta).atto() / part);
    let budget = Budget::approximate(epsilon, delta, reserved, clock, &orders).unwrap();
    let account = NewAccount {
        name: AccountName::new("data").unwrap(),
        parent: None,
        orders,
        budget,
    };
    ledger.create_account(None, account).unwrap();
    let mut count = 0;
    loop {
        let done = ledger.spend(None, AccountNumber::new(0), event).unwrap();
        if matches!(done.outcome, Outcome::Denied(_)) {
            break;
        }
        count += 1;
    }
    drop(ledger);
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            std::fs::remove_dir_all(path).unwrap();
        } else {
            std::fs::remove_file(path).unwrap();
        }
    }
    count
}

/// The largest number of releases, fixed in advance, that the numerical accountant certifies.
fn optimum(event: &PrivacyEvent, (epsilon, delta): (Epsilon, Delta)) -> u64 {
    let fits = |count: u64| {
        let count = Count::new(count).unwrap();
        let event = Box::new(event.clone());
        let profile = PrivacyProfile::of(&PrivacyEvent::Repeat { count, event }).unwrap();
        profile.delta(epsilon).unwrap().upper <= delta
    };
    let (mut fitting, mut beyond) = (0, 1);
    while fits(beyond) {
        (fitting, beyond) = (beyond, 2 * beyond);
    }
    while beyond - fitting > 1 {
        let middle = fitting + (beyond - fitting) / 2;
        if fits(middle) {
            fitting = middle;
        } else {
            beyond = middle;
        }
    }
    fitting
}
