//! The queries that run now, and those that failed, of all processes that share a state directory.
//!
//! The log does not tell a query that runs from one that failed after its charge, nor that an
//! answered query failed before. So a query has a file in `running/`, which its process holds
//! locked. When the process ends, for any reason, the operating system releases the lock. If a
//! query fails, its file is moved to `failed/`, under the id of the charge. It stays there until the
//! data owner settles the charge, also if a repetition of the query is answered.
//!
//! A process that is killed leaves a file that is not locked. The next process removes it. Rows do
//! not kill a process: queries over files run in a worker, and the process reports how it ended.
//! The charge of such a query counts from the log until it is answered.
//!
//! Queries of other machines, and of processes with another state directory, are not found: their
//! charges count as failed until they are answered, and no longer.

use std::collections::BTreeSet;
use std::fs::{self, File, TryLockError};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use crate::guards::state_dir::make_private;
use crate::ledger::{LedgerError, random_id};
use crate::log::RequestId;

/// The most queries that run at once.
///
/// Each of them passed the limit on failed queries before the others ended, so all of them can fail
/// after that.
pub const MAX_RUNNING: usize = 256;

/// The directories of the files.
#[derive(Debug)]
pub(crate) struct RunningQueries {
    directory: PathBuf,
    failed: PathBuf,
}

/// The file of a query that runs, until the value is dropped.
#[derive(Debug)]
pub(crate) struct RunningQuery {
    path: PathBuf,
    /// Its name if the query fails.
    failed: PathBuf,
    has_failed: bool,
    /// Holds the lock.
    _file: File,
}

impl RunningQuery {
    /// The query failed after its charge.
    pub(crate) const fn fail(&mut self) {
        self.has_failed = true;
    }
}

impl Drop for RunningQuery {
    fn drop(&mut self) {
        // A file that stays is not locked any more, and the next process removes it.
        let _ = match self.has_failed {
            true => fs::rename(&self.path, &self.failed),
            false => fs::remove_file(&self.path),
        };
    }
}

impl RunningQueries {
    /// Those of a ledger with this directory.
    pub(crate) fn within(directory: &Path) -> Self {
        Self {
            directory: directory.join("running"),
            failed: directory.join("failed"),
        }
    }

    /// Registers a query, unless [`MAX_RUNNING`] others run. Queries that are registered at the
    /// same time count each other.
    pub(crate) fn register(&self, id: RequestId) -> Result<RunningQuery, LedgerError> {
        let query = self.create(id)?;
        let all = files(&self.directory)?.len();
        if all > MAX_RUNNING && self.ids()?.len() > MAX_RUNNING {
            return Err(LedgerError::TooManyRunning);
        }
        Ok(query)
    }

    /// The ids of the queries that run, once for each time that one runs.
    pub(crate) fn ids(&self) -> Result<Vec<RequestId>, LedgerError> {
        let mut running = Vec::new();
        for (id, path) in files(&self.directory)? {
            let is_running = is_locked(&path).and_then(|is_locked| {
                if !is_locked {
                    remove(&path)?;
                }
                Ok(is_locked)
            });
            if is_running.map_err(|error| LedgerError::state_dir(&path, error))? {
                running.push(id);
            }
        }
        Ok(running)
    }

    /// The ids of the queries that failed.
    pub(crate) fn failed(&self) -> Result<BTreeSet<RequestId>, LedgerError> {
        let files = files(&self.failed)?;
        Ok(files.into_iter().map(|(id, _)| id).collect())
    }

    /// Forgets that a query failed. Returns whether it had.
    pub(crate) fn forget(&self, id: RequestId) -> Result<bool, LedgerError> {
        let path = self.failed.join(id.to_string());
        match fs::remove_file(&path) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
            Err(error) => Err(LedgerError::state_dir(&path, error)),
        }
    }

    /// A file has its name once it is locked.
    fn create(&self, id: RequestId) -> Result<RunningQuery, LedgerError> {
        let unique = random_id()?;
        let draft = self.directory.join(format!("new.{unique}"));
        let path = self.directory.join(format!("{id}.{unique}"));
        let make = || -> io::Result<RunningQuery> {
            make_private(&self.directory)?;
            make_private(&self.failed)?;
            let file = File::create_new(&draft)?;
            file.try_lock()?;
            fs::rename(&draft, &path)?;
            Ok(RunningQuery {
                path: path.clone(),
                failed: self.failed.join(id.to_string()),
                has_failed: false,
                _file: file,
            })
        };
        make().map_err(|error| LedgerError::state_dir(&path, error))
    }
}

/// The files of a directory and their ids.
fn files(directory: &Path) -> Result<BTreeSet<(RequestId, PathBuf)>, LedgerError> {
    let list = || -> io::Result<BTreeSet<(RequestId, PathBuf)>> {
        let mut files = BTreeSet::new();
        let entries = match fs::read_dir(directory) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(files),
            entries => entries?,
        };
        for entry in entries {
            let entry = entry?;
            let name = entry.file_name();
            let id = name.to_str().and_then(|name| name.split('.').next());
            if let Some(id) = id.and_then(RequestId::from_hex) {
                files.insert((id, entry.path()));
            }
        }
        Ok(files)
    };
    list().map_err(|error| LedgerError::state_dir(directory, error))
}

/// Removes a file. Another process may have removed it.
fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Whether a process holds a file. The process of one that is gone has ended it.
fn is_locked(path: &Path) -> io::Result<bool> {
    let file = match File::open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
        file => file?,
    };
    // Processes that look at the same time do not exclude each other.
    match file.try_lock_shared() {
        Err(TryLockError::WouldBlock) => Ok(true),
        Err(TryLockError::Error(error)) => Err(error),
        Ok(()) => Ok(false),
    }
}
