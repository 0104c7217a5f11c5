//! The speed of a ledger, compared with a bare SQLite loop of the same inserts and with the disk:
//! `scripts/bench ledger` prints it as a table.
//!
//! `bench_ledger [DIRECTORY] [ENTRIES]`: the directory to write to, and the size of the log to open
//! and to verify.
#![allow(
    clippy::cast_precision_loss,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a benchmark may panic"
)]

use std::io::{Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use mizan_core::Epsilon;
use mizan_ledger::money::Variance;
use mizan_ledger::state::Request;
use mizan_ledger::store::Submission;
use mizan_ledger::{
    AccountName, AccountNumber, Body, Budget, Charge, Digest, Entry, Ledger, Location, NewAccount,
    Orders, RequestId, Witnesses,
};
use rusqlite::{Connection, params};

/// Rounds in which both take turns, and how long each lasts.
const ROUNDS: usize = 9;
const ROUND: Duration = Duration::from_millis(800);

fn main() {
    let mut arguments = std::env::args().skip(1);
    let directory = arguments
        .next()
        .map_or_else(std::env::temp_dir, PathBuf::from);
    let entries: u64 = arguments
        .next()
        .map_or(1_000_000, |text| text.parse().unwrap());
    let directory = directory.join(format!("mizan-bench-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    println!("| what | ledger | beside | ratio | goal |");
    println!("| --- | --- | --- | --- | --- |");
    for spends in [1, 21, 85] {
        throughput(&directory, spends);
    }
    lone(&directory);
    long(&directory, entries);
    std::fs::remove_dir_all(&directory).unwrap();
}

fn made(directory: &Path, name: &str) -> (Ledger, Charge) {
    let location = Location::from(directory.join(name));
    let ledger = Ledger::init(&location, &directory.join("state")).unwrap();
    let orders = Orders::standard();
    let delta = mizan_core::Delta::new(1e-6).unwrap();
    let epsilon = Epsilon::new(1e6).unwrap();
    let reserved_delta = Budget::usual_reserved_delta(delta);
    let budget = Budget::approximate(
        epsilon,
        delta,
        reserved_delta,
        Budget::usual_clock(),
        &orders,
    )
    .unwrap();
    let name = AccountName::new("all").unwrap();
    let account = NewAccount {
        name,
        parent: None,
        orders,
        budget,
    };
    ledger.create_account(None, account).unwrap();
    let account = ledger.account(AccountNumber::new(0)).unwrap().account;
    assert!(account.budget().clock().is_some());
    let charge = Charge::of(&"gaussian(1e6)".parse().unwrap(), &account).unwrap();
    (ledger, charge)
}

/// As spread over the index as random ids are.
fn id(number: u64) -> RequestId {
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&Digest::of(&[&number.to_be_bytes()]).as_bytes()[..16]);
    RequestId::from_bytes(bytes)
}

fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    u64::try_from(since.as_millis()).unwrap()
}

/// The three requests of a spend.
fn spend(charge: &Charge) -> [Request; 3] {
    let commit = Request::Commit {
        cost: charge.cost.clone(),
        answer: Digest::of(&[]),
    };
    [Request::Reserve(charge.clone()), Request::Start, commit]
}

/// Spends in batches, one transaction each, in turns with a bare loop.
fn throughput(directory: &Path, spends: u64) {
    let (ledger, charge) = made(directory, &format!("ours-{spends}.db"));
    drop(made(directory, &format!("bare-{spends}.db")));
    let mut bare = Bare::open(&directory.join(format!("bare-{spends}.db")), &charge);
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    let next = AtomicU64::new(0);
    for _ in 0..ROUNDS {
        // Two clients, so that one asks while the other's batch is synced.
        let client = || {
            rate(spends, || {
                let number = next.fetch_add(spends, Ordering::Relaxed);
                let submissions = (number..number + spends).flat_map(|number| {
                    spend(&charge).map(|request| Submission::new(now(), id(number), request))
                });
                let results = ledger.store().execute_all(submissions.collect());
                assert!(results.iter().all(Result::is_ok));
            })
        };
        ours.push(std::thread::scope(|scope| {
            let other = scope.spawn(client);
            client() + other.join().unwrap()
        }));
        theirs.push(rate(spends, || bare.batch(spends)));
    }
    let (ours, theirs) = (median(&mut ours), median(&mut theirs));
    println!(
        "| durable spends a second, {spends} a sync | {ours:.0} | bare SQLite loop {theirs:.0} | {:.2} | 0.9 |",
        ours / theirs
    );
}

fn rate(spends: u64, mut batch: impl FnMut()) -> f64 {
    let (begin, mut done) = (Instant::now(), 0);
    while begin.elapsed() < ROUND {
        batch();
        done += spends;
    }
    done as f64 / begin.elapsed().as_secs_f64()
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// The same rows as the ledger writes, by a loop that decides nothing.
struct Bare {
    connection: Connection,
    entries: [Vec<u8>; 3],
    sums: Vec<u8>,
    frontier: Vec<u8>,
    size: i64,
}

impl Bare {
    fn open(path: &Path, charge: &Charge) -> Self {
        let connection = Connection::open(path).unwrap();
        connection
            .pragma_update(None, "synchronous", "FULL")
            .unwrap();
        let size = connection
            .query_row("SELECT size FROM head", [], |row| row.get(0))
            .unwrap();
        let commit = Body::Committed {
            cost: charge.cost.clone(),
            answer: Digest::of(&[]),
        };
        let reserved = Body::Reserved {
            charge: charge.clone(),
            clock: [Variance::from_femto(1000)].into(),
        };
        let bodies = [reserved, Body::Started, commit];
        let entries = bodies.map(|body| {
            let (unix_ms, id) = (0, id(0));
            Entry { unix_ms, id, body }.encode()
        });
        Self {
            connection,
            entries,
            // A sum at each order, of reserved deltas, and four of the clock.
            sums: vec![0; 16 * (charge.cost.amounts().len() + 5)],
            frontier: vec![0; 32 * 16],
            size,
        }
    }

    fn batch(&mut self, spends: u64) {
        let transaction = self.connection.transaction().unwrap();
        {
            let prepare = |sql| transaction.prepare_cached(sql).unwrap();
            let mut log = prepare("INSERT INTO log VALUES (?, ?)");
            let mut record = prepare("INSERT INTO records VALUES (?, ?, ?)");
            let mut node = prepare("INSERT INTO nodes VALUES (?, ?, ?)");
            for _ in 0..spends {
                let first = self.size;
                let id = id(first.unsigned_abs());
                for entry in &self.entries {
                    log.execute(params![self.size, entry]).unwrap();
                    self.size += 1;
                    if self.size % 256 == 0 {
                        let hash = [0_u8; 32];
                        node.execute(params![8, self.size / 256 - 1, hash]).unwrap();
                    }
                }
                let last = self.size - 1;
                record.execute(params![id.as_bytes(), first, last]).unwrap();
            }
            let sql = "UPDATE accounts SET spent = ?, pending = ? WHERE number = 0";
            prepare(sql).execute(params![self.sums, self.sums]).unwrap();
            let sql = "UPDATE head SET size = ?, frontier = ?";
            prepare(sql)
                .execute(params![self.size, self.frontier])
                .unwrap();
        }
        transaction.commit().unwrap();
    }
}

/// Makes a log longer than so many entries.
fn append(ledger: &Ledger, charge: &Charge, entries: u64) {
    let mut number = 0;
    while ledger.head().unwrap().size < entries {
        let submissions = (number..number + 85).flat_map(|number| {
            spend(charge).map(|request| Submission::new(now(), id(number), request))
        });
        let results = ledger.store().execute_all(submissions.collect());
        assert!(results.iter().all(Result::is_ok));
        number += 85;
    }
}

/// A spend of a single client, with the high-water mark, beside a sync of the disk.
fn lone(directory: &Path) {
    let (ledger, charge) = made(directory, "lone.db");
    // The write-ahead log grows to its full size once, and is written over then.
    append(&ledger, &charge, 120_000);
    let event = "gaussian(1e6)".parse().unwrap();
    let mut file = std::fs::File::create(directory.join("sync")).unwrap();
    file.write_all(&vec![7; 32 << 20]).unwrap();
    file.sync_all().unwrap();
    file.rewind().unwrap();
    let (mut ours, mut syncs) = (Vec::new(), Vec::new());
    for _ in 0..400 {
        let begin = Instant::now();
        ledger.spend(None, AccountNumber::new(0), &event).unwrap();
        ours.push(begin.elapsed().as_secs_f64() * 1e3);
        // What a spend appends to the write-ahead log, about.
        let begin = Instant::now();
        file.write_all(&[7; 7 * 4096]).unwrap();
        file.sync_data().unwrap();
        syncs.push(begin.elapsed().as_secs_f64() * 1e3);
    }
    let (ours, sync) = (median(&mut ours), median(&mut syncs));
    println!(
        "| a lone spend | {ours:.2} ms | a sync {sync:.2} ms | {:.2} | 1.5 |",
        ours / sync
    );
}

/// Opening and verifying a long log.
fn long(directory: &Path, entries: u64) {
    let (ledger, charge) = made(directory, "long.db");
    append(&ledger, &charge, entries);
    ledger.close().unwrap();
    let location = Location::from(directory.join("long.db"));
    let begin = Instant::now();
    let ledger = Ledger::open(&location, &directory.join("state")).unwrap();
    let open = begin.elapsed().as_secs_f64();
    let size = ledger.head().unwrap().size;
    println!(
        "| opening {size} entries | {:.2} ms | | | 1 s |",
        open * 1e3
    );
    let begin = Instant::now();
    ledger.verify(&Witnesses::default(), |_, _| ()).unwrap();
    let verify = begin.elapsed().as_secs_f64();
    println!("| verifying {size} entries | {verify:.2} s | | | 20 s |");
}
