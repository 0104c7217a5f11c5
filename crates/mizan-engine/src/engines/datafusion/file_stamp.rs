//! Files with their state at planning time.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use datafusion::common::{Result, exec_err};
use datafusion::error::DataFusionError;

use crate::data_file;

/// A file, with its state when the query was planned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::engines) struct StampedFile {
    /// Its path.
    pub(in crate::engines) path: PathBuf,
    /// Its length and modification time in seconds, if they are checked.
    pub(in crate::engines) seen: Option<(u64, u64)>,
}

impl StampedFile {
    /// A file that is read by the process that planned the query.
    pub(in crate::engines) const fn here(path: PathBuf) -> Self {
        Self { path, seen: None }
    }

    /// The same with its current state: other machines that read it must see the same state.
    #[cfg_attr(not(feature = "ballista"), allow(dead_code, reason = "for clusters"))]
    pub(in crate::engines) fn as_seen(&self) -> std::io::Result<Self> {
        let metadata = fs::metadata(&self.path)?;
        let since = metadata.modified()?.duration_since(UNIX_EPOCH);
        let second = since.map_or(0, |since| since.as_secs());
        Ok(Self {
            path: self.path.clone(),
            seen: Some((metadata.len(), second)),
        })
    }

    /// Fails if the state of the file changed.
    pub(super) fn check(&self) -> Result<()> {
        if self.seen.is_some() && self.as_seen()?.seen != self.seen {
            return exec_err!("another file");
        }
        Ok(())
    }
}

/// Opens a regular file, in a scan.
pub(super) fn open(path: &Path) -> Result<File> {
    data_file::open(path).map_err(|error| DataFusionError::External(Box::new(error)))
}
