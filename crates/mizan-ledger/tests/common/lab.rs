//! Stores to test, in directories that are deleted afterwards.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use mizan_ledger::store::{Fault, Postgres, Sim, Sqlite, Store};

use mizan_test_support::postgres_server::{Database, Server};

/// A directory of its own, removed when dropped.
#[derive(Debug)]
pub(crate) struct Directory(PathBuf);

impl Directory {
    pub(crate) fn new() -> Self {
        Self::below(&std::env::temp_dir())
    }

    /// Where syncing costs nothing, for tests that are not about the disk.
    pub(crate) fn in_memory() -> Self {
        let memory = Path::new("/dev/shm");
        if memory.is_dir() {
            Self::below(memory)
        } else {
            Self::new()
        }
    }

    fn below(directory: &Path) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("mizan-ledger-{}-{number}", std::process::id());
        let path = directory.join(name);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    Sim,
    Sqlite,
    Postgres,
}

/// A store that can be closed and opened again.
pub(crate) enum Lab {
    Sim(Sim),
    Sqlite(Sqlite, Directory),
    Postgres(Box<Postgres>, Database),
}

impl Lab {
    pub(crate) fn new(kind: Kind) -> Self {
        match kind {
            Kind::Sim => Self::Sim(Sim::new()),
            Kind::Sqlite => {
                let directory = Directory::in_memory();
                let store = Sqlite::create(&directory.path().join("ledger")).unwrap();
                Self::Sqlite(store, directory)
            }
            Kind::Postgres => {
                let database = Server::shared().plain_database();
                let store = Postgres::create(&database.url()).unwrap();
                Self::Postgres(Box::new(store), database)
            }
        }
    }

    pub(crate) fn store(&self) -> &dyn Store {
        match self {
            Self::Sim(store) => store,
            Self::Sqlite(store, _) => store,
            Self::Postgres(store, _) => store.as_ref(),
        }
    }

    pub(crate) fn fail_next(&self, fault: Fault) {
        match self {
            Self::Sim(store) => store.fail_next(fault),
            _ => panic!("only the simulated store fails on demand"),
        }
    }

    pub(crate) fn reopen(self) -> Self {
        match self {
            Self::Sim(store) => Self::Sim(store.reopen().unwrap()),
            Self::Sqlite(store, directory) => {
                drop(store);
                let store = Sqlite::open(&directory.path().join("ledger")).unwrap();
                Self::Sqlite(store, directory)
            }
            Self::Postgres(store, database) => {
                drop(store);
                let store = Postgres::open(&database.url()).unwrap();
                Self::Postgres(Box::new(store), database)
            }
        }
    }
}
