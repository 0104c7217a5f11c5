//! The directory of an executor for shuffled rows, which are private. Only its owner may read
//! it, and it is deleted with the executor. Directories of killed executors are deleted by the
//! next one in the same place.

use std::fs::{self, DirBuilder, File};
use std::io;
use std::path::{Path, PathBuf};

use super::super::error::NodeError;

const PREFIX: &str = "mizan-executor-";

/// Locked while the executor runs.
const LOCK: &str = "lock";

/// A directory that is deleted when this is dropped.
#[derive(Debug)]
pub(super) struct WorkDir {
    path: PathBuf,
    _lock: File,
}

impl WorkDir {
    /// Creates a directory in `within`.
    pub(super) fn make(within: &Path) -> Result<Self, NodeError> {
        let failed = |error: io::Error| NodeError::WorkDirectory {
            path: within.to_path_buf(),
            reason: error.kind().to_string(),
        };
        let within = fs::canonicalize(within).map_err(failed)?;
        remove_abandoned(&within).map_err(failed)?;
        let mut number = 0_u32;
        loop {
            let name = format!("{PREFIX}{}-{number}", std::process::id());
            let path = within.join(name);
            match private_dir(&path) {
                Ok(()) => {
                    let lock = File::create(path.join(LOCK)).map_err(failed)?;
                    lock.try_lock()
                        .map_err(|_| failed(io::ErrorKind::ResourceBusy.into()))?;
                    return Ok(Self { path, _lock: lock });
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    number = number.saturating_add(1);
                }
                Err(error) => return Err(failed(error)),
            }
        }
    }

    /// Its path.
    pub(super) fn path(&self) -> Result<&str, NodeError> {
        self.path.to_str().ok_or_else(|| NodeError::WorkDirectory {
            path: self.path.clone(),
            reason: "its path is not valid text".to_owned(),
        })
    }
}

impl Drop for WorkDir {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}

fn private_dir(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Deletes directories whose executors no longer run.
fn remove_abandoned(within: &Path) -> io::Result<()> {
    for entry in fs::read_dir(within)? {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str());
        if !name.is_some_and(|name| name.starts_with(PREFIX)) {
            continue;
        }
        // A directory without a lock is being created.
        let Ok(lock) = File::open(path.join(LOCK)) else {
            continue;
        };
        if lock.try_lock().is_ok() {
            let _ = fs::remove_dir_all(&path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_directory_is_private_and_is_deleted() {
        let within = tempfile::tempdir().unwrap();
        let one = WorkDir::make(within.path()).unwrap();
        let two = WorkDir::make(within.path()).unwrap();
        assert_ne!(one.path(), two.path());
        let path = PathBuf::from(one.path().unwrap());
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = fs::metadata(&path).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o700);
        }
        fs::create_dir(path.join("job")).unwrap();
        drop(one);
        assert!(!path.exists());
        assert!(Path::new(two.path().unwrap()).exists());
    }

    #[test]
    fn abandoned_directories_are_deleted_and_used_ones_are_not() {
        let within = tempfile::tempdir().unwrap();
        let used = WorkDir::make(within.path()).unwrap();
        let left = within.path().join(format!("{PREFIX}left"));
        fs::create_dir(&left).unwrap();
        fs::write(left.join(LOCK), "").unwrap();
        let other = within.path().join("precious");
        fs::create_dir(&other).unwrap();
        let next = WorkDir::make(within.path()).unwrap();
        assert!(!left.exists() && other.exists());
        assert!(Path::new(used.path().unwrap()).exists());
        drop(next);
    }

    #[test]
    fn a_missing_parent_directory_is_an_error() {
        let within = tempfile::tempdir().unwrap();
        let error = WorkDir::make(&within.path().join("none")).unwrap_err();
        assert_eq!(error.code(), "MZ1934");
    }
}
