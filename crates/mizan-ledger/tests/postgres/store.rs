//! A ledger in PostgreSQL: what is refused at opening, which changes are impossible, and several
//! concurrent handles. `crash.rs` has crashes of connections and servers.

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::common::check::verify;
use crate::common::{charge, id, is_damaged, one_account, pico, reserve};
use mizan_ledger::state::{LedgerView, MAX_EVENT_BYTES, Request};
use mizan_ledger::store::{Postgres, Store, Submission};
use mizan_ledger::*;
use mizan_test_support::postgres_server::{Database, Server};

/// A ledger with one account of ε = 1 at two orders.
fn ledger(server: &Server) -> Database {
    let database = server.database("");
    one_account(&Postgres::create(&database.url()).unwrap());
    database
}

fn execute(store: &Postgres, number: u64, request: Request) -> Outcome {
    let receipt = store.execute(Submission::new(0, id(number), request));
    receipt.unwrap().outcome
}

/// The code and the sentence with which a database is refused.
fn refused(database: &Database) -> (&'static str, String) {
    let error = Postgres::open(&database.url()).unwrap_err();
    assert!(!error.help().is_empty());
    (error.code().as_str(), error.to_string())
}

#[test]
fn what_is_no_ledger_is_refused() {
    let server = Server::shared();
    let database = server.database("");
    let (code, sentence) = refused(&database);
    assert_eq!(code, "MZ1761");
    assert!(sentence.contains(&database.name), "{sentence}");
    database.shell("CREATE SCHEMA mizan").unwrap();
    assert_eq!(refused(&database).0, "MZ1761");
    let exists = Postgres::create(&database.url()).unwrap_err();
    assert_eq!(exists.code(), "MZ1773");

    let database = ledger(&server);
    let exists = Postgres::create(&database.url()).unwrap_err();
    assert_eq!(exists.code(), "MZ1773");
    for version in [2, 0] {
        let sql = format!("UPDATE mizan.format SET version = {version}");
        database.shell(&sql).unwrap();
        let (code, sentence) = refused(&database);
        assert_eq!(code, "MZ1762");
        assert!(
            sentence.contains(&format!("format {version}")),
            "{sentence}"
        );
    }
    database.shell("DELETE FROM mizan.format").unwrap();
    assert_eq!(refused(&database).0, "MZ1763");
    database
        .shell("INSERT INTO mizan.format VALUES (1, 1)")
        .unwrap();
    verify(&Postgres::open(&database.url()).unwrap());
}

#[test]
fn a_server_that_could_lose_entries_is_refused() {
    let server = Server::shared();
    let database = ledger(&server);
    let set = |value: &str| {
        let sql = format!(
            "ALTER DATABASE {} SET synchronous_commit = {value}",
            database.name
        );
        database.shell(&sql).unwrap();
    };
    for value in ["off", "local", "remote_write"] {
        set(value);
        let (code, sentence) = refused(&database);
        assert_eq!(code, "MZ1769", "{value}");
        assert!(sentence.contains(value), "{sentence}");
        assert_eq!(Postgres::create(&database.url()).unwrap_err().code(), code);
    }
    for value in ["on", "remote_apply"] {
        set(value);
        execute(&Postgres::open(&database.url()).unwrap(), 1, reserve(1));
    }
    let latin = server.database("ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0");
    assert_eq!(Postgres::create(&latin.url()).unwrap_err().code(), "MZ1769");
}

#[test]
fn a_server_without_syncs_and_a_standby_are_refused() {
    let server = Server::own();
    let database = ledger(&server);
    for setting in ["fsync", "full_page_writes"] {
        let set = |value: &str| {
            let mut client = server.client();
            let sql = format!("ALTER SYSTEM SET {setting} = {value}");
            client.batch_execute(&sql).unwrap();
            client.execute("SELECT pg_reload_conf()", &[]).unwrap();
            // Sessions see it when the server got round to it.
            for _ in 0..100 {
                let mut client = server.client();
                let row = client.query_one("SELECT current_setting($1)", &[&setting]);
                if row.unwrap().get::<_, String>(0) == value {
                    return;
                }
                thread::sleep(Duration::from_millis(50));
            }
            panic!("{setting} stays");
        };
        set("off");
        let (code, sentence) = refused(&database);
        assert_eq!(code, "MZ1769");
        assert!(sentence.contains(setting), "{sentence}");
        set("on");
        Postgres::open(&database.url()).unwrap();
    }
    std::fs::write(server.data().join("standby.signal"), "").unwrap();
    server.crash();
    assert_eq!(refused(&database).0, "MZ1770");
    std::fs::remove_file(server.data().join("standby.signal")).unwrap();
}

#[test]
fn a_password_is_never_said() {
    for url in [
        "postgres://me:hunter2@localhost:1/ledger",
        "postgres://me:hunter2@%2Fnowhere/ledger",
    ] {
        let error = Postgres::open(url).unwrap_err();
        assert_eq!(error.code(), "MZ1772");
        assert!(!format!("{error} {error:?}").contains("hunter2"));
    }
    let database = ledger(&Server::shared());
    let url = database.url().replace("postgres@", "postgres:hunter2@");
    let store = Postgres::open(&url).unwrap();
    assert!(!format!("{store:?}").contains("hunter2"));
    // Everything that can be said once the database is gone.
    let sql = format!("DROP DATABASE {} WITH (FORCE)", database.name);
    Server::shared().client().batch_execute(&sql).unwrap();
    let error = store.head().unwrap_err();
    assert!(!format!("{error} {error:?}").contains("hunter2"));
}

#[test]
fn the_log_and_answers_cannot_be_changed() {
    let database = ledger(&Server::shared());
    for role in ["origin", "replica"] {
        for sql in [
            "UPDATE mizan.log SET bytes = ''",
            "DELETE FROM mizan.log",
            "TRUNCATE mizan.log",
            "INSERT INTO mizan.log VALUES (0, '') ON CONFLICT (seq) DO UPDATE SET bytes = ''",
            "UPDATE mizan.answers SET bytes = ''",
            "DELETE FROM mizan.answers",
            "TRUNCATE mizan.answers",
        ] {
            let sql = format!("SET session_replication_role = {role}; {sql}");
            database.shell(&sql).unwrap_err();
        }
    }
    verify(&Postgres::open(&database.url()).unwrap());
}

#[test]
fn tables_that_were_changed_are_refused() {
    // What is done, and how it is undone.
    let steps = [
        (
            "DROP TRIGGER stays ON mizan.log",
            "CREATE TRIGGER stays BEFORE UPDATE OR DELETE OR TRUNCATE ON mizan.log FOR EACH STATEMENT EXECUTE FUNCTION mizan.refuse(); ALTER TABLE mizan.log ENABLE ALWAYS TRIGGER stays",
        ),
        (
            "ALTER TABLE mizan.answers DISABLE TRIGGER stays",
            "ALTER TABLE mizan.answers ENABLE ALWAYS TRIGGER stays",
        ),
        (
            "ALTER TABLE mizan.answers ENABLE TRIGGER stays",
            "ALTER TABLE mizan.answers ENABLE ALWAYS TRIGGER stays",
        ),
        (
            "ALTER TABLE mizan.records SET UNLOGGED",
            "ALTER TABLE mizan.records SET LOGGED",
        ),
        ("CREATE TABLE mizan.more (x int)", "DROP TABLE mizan.more"),
        (
            "CREATE RULE more AS ON INSERT TO mizan.log DO ALSO NOTHING",
            "DROP RULE more ON mizan.log",
        ),
        (
            "ALTER TABLE mizan.head ALTER ledger SET NOT NULL",
            "ALTER TABLE mizan.head ALTER ledger DROP NOT NULL",
        ),
        (
            "ALTER TABLE mizan.accounts DROP CONSTRAINT accounts_name_key",
            "ALTER TABLE mizan.accounts ADD UNIQUE (name)",
        ),
        (
            "UPDATE mizan.head SET size = 1",
            "UPDATE mizan.head SET size = 2",
        ),
        (
            "UPDATE mizan.head SET accounts = -1",
            "UPDATE mizan.head SET accounts = 1",
        ),
        (
            "CREATE TABLE saved AS TABLE mizan.head; DELETE FROM mizan.head",
            "INSERT INTO mizan.head SELECT * FROM saved",
        ),
        (
            "UPDATE mizan.head SET ledger = NULL",
            "UPDATE mizan.head SET ledger = saved.ledger FROM saved",
        ),
        (
            "UPDATE mizan.head SET frontier = ''",
            "UPDATE mizan.head SET frontier = saved.frontier FROM saved",
        ),
        // The log cannot be undone: last.
        ("INSERT INTO mizan.log VALUES (2, '')", ""),
    ];
    let database = ledger(&Server::shared());
    for (change, undo) in steps {
        Postgres::open(&database.url()).unwrap();
        database.shell(change).unwrap();
        assert_eq!(refused(&database).0, "MZ1763", "{change}");
        database.shell(undo).unwrap();
    }
}

#[test]
fn rows_that_the_log_does_not_bear_out_are_refused() {
    for sql in [
        "UPDATE mizan.accounts SET created = 0",
        "UPDATE mizan.accounts SET created = 9",
        "UPDATE mizan.accounts SET name = 'two'",
        "UPDATE mizan.accounts SET spent = ''",
        "UPDATE mizan.accounts SET raised = 1",
        "UPDATE mizan.accounts SET neighbours = 3",
        "UPDATE mizan.records SET first = 0, last = 0",
    ] {
        let database = ledger(&Server::shared());
        database.shell(sql).unwrap();
        is_damaged(&Postgres::open(&database.url()).unwrap(), sql);
    }
}

#[test]
fn what_other_hands_changed_under_a_handle_is_noticed() {
    let database = ledger(&Server::shared());
    let store = Postgres::open(&database.url()).unwrap();
    execute(&store, 1, reserve(400));
    let code = |number| {
        let error = store.execute(Submission::new(0, id(number), reserve(1)));
        error.unwrap_err().code().as_str()
    };
    let saved = "CREATE TABLE saved AS TABLE mizan.head; \
                 CREATE TABLE sums AS TABLE mizan.accounts";
    database.shell(saved).unwrap();
    // Sums that would let everything be spent again.
    let zero = "UPDATE mizan.accounts SET pending = spent";
    database.shell(zero).unwrap();
    assert_eq!(code(2), "MZ1763");
    database
        .shell("UPDATE mizan.accounts a SET pending = sums.pending FROM sums")
        .unwrap();
    execute(&store, 3, reserve(400));
    // An older copy of everything in its place: the charge of 3 is gone.
    database
        .shell(
            "ALTER TABLE mizan.log DISABLE TRIGGER stays; \
             DELETE FROM mizan.log WHERE seq = 3; DELETE FROM mizan.records WHERE first = 3; \
             ALTER TABLE mizan.log ENABLE ALWAYS TRIGGER stays; \
             DELETE FROM mizan.head; INSERT INTO mizan.head SELECT * FROM saved; \
             UPDATE mizan.accounts a SET pending = sums.pending FROM sums",
        )
        .unwrap();
    assert_eq!(code(4), "MZ1763");
    // A new handle cannot detect it; a high-water mark outside of the database does.
    verify(&Postgres::open(&database.url()).unwrap());
}

/// Two handles are what two processes are to the server.
#[test]
fn handles_on_one_ledger_never_overspend() {
    let database = ledger(&Server::shared());
    let stores = [0, 1].map(|_| Postgres::open(&database.url()).unwrap());
    let reserved = AtomicU64::new(0);
    thread::scope(|scope| {
        for thread in 0..16 {
            let (stores, reserved) = (&stores, &reserved);
            scope.spawn(move || {
                for round in 0..20 {
                    // Each id is asked by a thread of either handle.
                    let number = 100 * (thread / 2) + round;
                    let request = Submission::new(0, id(number), reserve(10));
                    let receipt = stores[usize::from(thread % 2 == 1)]
                        .execute(request)
                        .unwrap();
                    if receipt.position.is_some() && receipt.outcome == Outcome::Reserved {
                        reserved.fetch_add(1, Ordering::Relaxed);
                    }
                }
            });
        }
    });
    assert_eq!(reserved.into_inner(), 100);
    for store in &stores {
        let state = verify(store).state;
        assert_eq!(state.size(), 2 + 160);
        let taken = state.account(AccountNumber::new(0)).unwrap().taken();
        assert_eq!(taken.amounts().next().unwrap().pico(), 1_000_000_000_000);
    }
}

#[test]
fn steps_of_a_charge_in_one_batch() {
    let database = ledger(&Server::shared());
    let (one, two) = (
        Postgres::open(&database.url()).unwrap(),
        Postgres::open(&database.url()).unwrap(),
    );
    // While the head is held, requests of both handles wait and become batches.
    let mut holder = database.client();
    let mut held = holder.transaction().unwrap();
    held.execute("SELECT one FROM mizan.head FOR UPDATE", &[])
        .unwrap();
    thread::scope(|scope| {
        let (one, two) = (&one, &two);
        let mut waiting = Vec::new();
        for number in 0..40_u64 {
            let store = if number % 2 == 0 { one } else { two };
            waiting.push(scope.spawn(move || {
                let answer = number.to_be_bytes().to_vec();
                execute(store, number, reserve(10));
                execute(store, number, Request::Start);
                let commit = Submission::commit(0, id(number), pico(&[1, 1]), answer).unwrap();
                store.execute(commit).unwrap();
            }));
        }
        thread::sleep(Duration::from_millis(300));
        held.rollback().unwrap();
    });
    for number in 0..40_u64 {
        let answer = two.answer(id(number)).unwrap().unwrap();
        assert_eq!(answer, number.to_be_bytes());
    }
    assert_eq!(verify(&one).state.size(), 2 + 120);
}

#[test]
fn large_entries_and_answers() {
    let database = ledger(&Server::shared());
    let store = Postgres::open(&database.url()).unwrap();
    thread::scope(|scope| {
        for number in 0..8_u64 {
            let store = &store;
            scope.spawn(move || {
                let mut request = charge(0, pico(&[1, 1]));
                request.event = "x".repeat(MAX_EVENT_BYTES);
                execute(store, number, Request::Reserve(request));
                execute(store, number, Request::Start);
                let answer = vec![7; 3 << 20];
                let commit = Submission::commit(0, id(number), pico(&[1, 1]), answer).unwrap();
                store.execute(commit).unwrap();
            });
        }
    });
    assert!(store.entries(0).unwrap().len() < 26, "a page is bounded");
    assert_eq!(verify(&store).state.size(), 26);
    assert_eq!(store.answer(id(7)).unwrap().unwrap().len(), 3 << 20);
}

#[test]
fn a_writer_that_does_not_let_go_is_waited_for_so_long() {
    let database = ledger(&Server::shared());
    let store = Postgres::open(&database.url()).unwrap();
    let mut holder = database.client();
    let mut held = holder.transaction().unwrap();
    held.execute("SELECT one FROM mizan.head FOR UPDATE", &[])
        .unwrap();
    let begun = Instant::now();
    let error = store
        .execute(Submission::new(0, id(1), reserve(1)))
        .unwrap_err();
    assert_eq!(error.code(), "MZ1764");
    assert!(begun.elapsed() > Duration::from_secs(9));
    assert_eq!(
        store.head().unwrap().size,
        2,
        "readers do not wait for writers"
    );
    held.rollback().unwrap();
    assert_eq!(execute(&store, 1, reserve(1)), Outcome::Reserved);
}

/// All machines that share the ledger derive the same ids, whichever asks for the key
/// first.
#[test]
fn machines_that_share_a_ledger_have_one_key_of_ids() {
    let server = Server::shared();
    let database = ledger(&server);
    let of = Digest::of(&[b"x"]);
    let under = |store: &Postgres| store.id_key().unwrap().unwrap().digest(&of);
    let found: Vec<Digest> = thread::scope(|scope| {
        let handles: Vec<_> = (0..4)
            .map(|_| scope.spawn(|| under(&Postgres::open(&database.url()).unwrap())))
            .collect();
        let found = handles.into_iter().map(|handle| handle.join().unwrap());
        found.collect()
    });
    assert!(found.iter().all(|other| *other == found[0]));
    let store = Postgres::open(&database.url()).unwrap();
    assert_eq!(under(&store), found[0]);
    verify(&store);
    let report = mizan_ledger::evidence::verify(&store, &Witnesses::default(), |_, _| ()).unwrap();
    assert_eq!(report.answers, 0);
    // It can be written to after that, as before.
    assert_eq!(execute(&store, 1, reserve(1)), Outcome::Reserved);
}
