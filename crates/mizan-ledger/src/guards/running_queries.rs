//! The queries that run now, of all processes that share a state directory.
//!
//! The log does not tell a query that runs from one that failed after its charge. So a query has a
//! file in the state directory, which its process holds locked. When the process ends, for any
//! reason, the operating system releases the lock. A file that is not locked is left from a
//! process that was killed.
//!
//! Queries of other machines, and of processes with another state directory, are not found: their
//! charges count as charges without an answer until they are answered.

use std::collections::BTreeSet;
use std::fs::{self, File, TryLockError};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use crate::guards::state_dir::make_private;
use crate::ledger::{LedgerError, random_id};
use crate::log::RequestId;

/// The most queries that run at once.
///
/// Each of them passed the limit on charges without an answer before the others ended, so all of
/// them can fail after that.
pub const MAX_RUNNING: usize = 256;

/// The directory of the files.
#[derive(Debug)]
pub(crate) struct RunningQueries {
    directory: PathBuf,
}

/// The file of a query that runs, until the value is dropped.
#[derive(Debug)]
pub(crate) struct RunningQuery {
    path: PathBuf,
    /// Holds the lock.
    _file: File,
}

impl Drop for RunningQuery {
    fn drop(&mut self) {
        // If it stays, it is not locked any more.
        let _ = fs::remove_file(&self.path);
    }
}

impl RunningQueries {
    /// Those of a ledger with this directory.
    pub(crate) fn within(directory: &Path) -> Self {
        Self {
            directory: directory.join("running"),
        }
    }

    /// Registers a query, unless [`MAX_RUNNING`] others run. Queries that are registered at the
    /// same time count each other.
    pub(crate) fn register(&self, id: RequestId) -> Result<RunningQuery, LedgerError> {
        let query = self.create(id)?;
        let all = self.files()?.len();
        if all > MAX_RUNNING && self.ids()?.len() > MAX_RUNNING {
            return Err(LedgerError::TooManyRunning);
        }
        Ok(query)
    }

    /// The ids of the queries that run, once for each time that one runs.
    pub(crate) fn ids(&self) -> Result<Vec<RequestId>, LedgerError> {
        let mut running = Vec::new();
        for (id, path) in self.files()? {
            if is_locked(&path).map_err(|error| LedgerError::state_dir(&path, error))? {
                running.push(id);
            }
        }
        Ok(running)
    }

    /// A file has its name once it is locked.
    fn create(&self, id: RequestId) -> Result<RunningQuery, LedgerError> {
        let unique = random_id()?;
        let draft = self.directory.join(format!("new.{unique}"));
        let path = self.directory.join(format!("{id}.{unique}"));
        let make = || -> io::Result<RunningQuery> {
            make_private(&self.directory)?;
            let file = File::create_new(&draft)?;
            file.try_lock()?;
            fs::rename(&draft, &path)?;
            Ok(RunningQuery {
                path: path.clone(),
                _file: file,
            })
        };
        make().map_err(|error| LedgerError::state_dir(&path, error))
    }

    /// The files and their ids.
    fn files(&self) -> Result<BTreeSet<(RequestId, PathBuf)>, LedgerError> {
        let list = || -> io::Result<BTreeSet<(RequestId, PathBuf)>> {
            let mut files = BTreeSet::new();
            let entries = match fs::read_dir(&self.directory) {
                Err(error) if error.kind() == ErrorKind::NotFound => return Ok(files),
                entries => entries?,
            };
            for entry in entries {
                let entry = entry?;
                let name = entry.file_name();
                let id = name.to_str().and_then(|name| name.split_once('.'));
                if let Some(id) = id.and_then(|(id, _)| RequestId::from_hex(id)) {
                    files.insert((id, entry.path()));
                }
            }
            Ok(files)
        };
        list().map_err(|error| LedgerError::state_dir(&self.directory, error))
    }
}

/// Whether a process holds a file. One that is left is removed.
fn is_locked(path: &Path) -> io::Result<bool> {
    let file = match File::open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
        file => file?,
    };
    // Processes that look at the same time do not exclude each other.
    match file.try_lock_shared() {
        Err(TryLockError::WouldBlock) => return Ok(true),
        Err(TryLockError::Error(error)) => return Err(error),
        Ok(()) => {}
    }
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(false),
    }
}
