//! The files of a dataset, and a digest that changes when they do.
//!
//! The digest covers the metadata of each file: path, identity, length and times of change. The
//! time of change (`ctime`) cannot be set back by ordinary means, so an edited file has another
//! version even if its length and modification time are the same.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use mizan_sql::FileIdentity;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::data_file::{self, unreadable};
use crate::engine::EngineError;

/// The version of a dataset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Version([u8; 32]);

impl Version {
    /// The version with this digest.
    pub(crate) const fn of(digest: [u8; 32]) -> Self {
        Self(digest)
    }

    /// Its bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

/// The format of the files of a dataset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Format {
    /// Comma-separated text; the first line has names.
    Csv,
    /// Apache Parquet.
    Parquet,
}

impl Format {
    fn of(path: &Path) -> Option<Self> {
        let extension = path.extension()?.to_str()?.to_ascii_lowercase();
        match extension.as_str() {
            "csv" => Some(Self::Csv),
            "parquet" => Some(Self::Parquet),
            _ => None,
        }
    }
}

/// The files of a dataset: one file, or all files directly in a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Files {
    /// Their format.
    pub(crate) format: Format,
    /// Their paths, in order.
    pub(crate) paths: Vec<PathBuf>,
}

impl Files {
    /// Finds the files of a source.
    pub(crate) fn find(source: &Path) -> Result<Self, EngineError> {
        let path = fs::canonicalize(source).map_err(|error| unreadable(source, &error))?;
        let metadata = fs::metadata(&path).map_err(|error| unreadable(source, &error))?;
        if metadata.is_dir() {
            return Self::in_directory(&path);
        }
        // The given name decides, then the target of a link.
        let format = Format::of(source).or_else(|| Format::of(&path));
        let format = format.ok_or_else(|| EngineError::UnknownFormat {
            path: source.to_path_buf(),
        })?;
        Ok(Self {
            format,
            paths: vec![path],
        })
    }

    fn in_directory(directory: &Path) -> Result<Self, EngineError> {
        let mut paths = Vec::new();
        let entries = fs::read_dir(directory).map_err(|error| unreadable(directory, &error))?;
        for entry in entries {
            let path = entry.map_err(|error| unreadable(directory, &error))?.path();
            let hidden = path
                .file_name()
                .and_then(|name| name.to_str())
                .is_none_or(|name| name.starts_with(['.', '_']));
            if let (false, Some(format)) = (hidden, Format::of(&path)) {
                paths.push((format, path));
            }
        }
        paths.sort_by(|a, b| a.1.cmp(&b.1));
        match paths.first() {
            Some(&(format, _)) if paths.iter().all(|(other, _)| *other == format) => Ok(Self {
                format,
                paths: paths.into_iter().map(|(_, path)| path).collect(),
            }),
            _ => Err(EngineError::NoFiles {
                path: directory.to_path_buf(),
            }),
        }
    }

    /// The current version of the files, which are regular files.
    pub(crate) fn version(&self) -> Result<Version, EngineError> {
        let mut digest = Sha256::new();
        digest.update(b"mizan dataset version 1");
        for path in &self.paths {
            let metadata = data_file::metadata(path)?;
            let name = path.as_os_str().as_encoded_bytes();
            digest.update((name.len() as u64).to_be_bytes());
            digest.update(name);
            for part in identity(&metadata) {
                digest.update(part.to_be_bytes());
            }
        }
        Ok(Version(digest.finalize().into()))
    }
}

/// Whether two sources have a file in common, under any name. Sources that do not exist have no
/// files.
pub(crate) fn share_files(one: &Path, other: &Path) -> bool {
    let files = |source: &Path| {
        let paths = Files::find(source).map_or_else(|_| Vec::new(), |files| files.paths);
        let files = paths.iter().filter_map(|path| place(path));
        files.collect::<BTreeSet<_>>()
    };
    !files(one).is_disjoint(&files(other))
}

/// The identities of the files of a source, which do not change when files are moved. None for
/// sources that do not exist, and on systems without inode numbers.
pub(crate) fn file_identities(source: &Path) -> Vec<FileIdentity> {
    let paths = Files::find(source).map_or_else(|_| Vec::new(), |files| files.paths);
    paths
        .iter()
        .filter_map(|path| file_identity(path))
        .collect()
}

#[cfg(unix)]
fn file_identity(path: &Path) -> Option<FileIdentity> {
    use std::os::unix::fs::MetadataExt;
    use std::time::UNIX_EPOCH;
    let metadata = fs::metadata(path).ok()?;
    let created = metadata.created().ok();
    let created = created.and_then(|created| created.duration_since(UNIX_EPOCH).ok());
    Some(FileIdentity {
        device: metadata.dev(),
        inode: metadata.ino(),
        created: created.and_then(|since| u64::try_from(since.as_nanos()).ok()),
    })
}

#[cfg(not(unix))]
fn file_identity(_path: &Path) -> Option<FileIdentity> {
    None
}

/// The device and the inode of a file.
#[cfg(unix)]
fn place(path: &Path) -> Option<(u64, u64)> {
    file_identity(path).map(|file| (file.device, file.inode))
}

#[cfg(not(unix))]
fn place(path: &Path) -> Option<PathBuf> {
    fs::canonicalize(path).ok()
}

#[cfg(unix)]
fn identity(metadata: &fs::Metadata) -> Vec<i128> {
    use std::os::unix::fs::MetadataExt;
    vec![
        metadata.dev().into(),
        metadata.ino().into(),
        metadata.size().into(),
        metadata.mtime().into(),
        metadata.mtime_nsec().into(),
        metadata.ctime().into(),
        metadata.ctime_nsec().into(),
    ]
}

#[cfg(not(unix))]
fn identity(metadata: &fs::Metadata) -> Vec<i128> {
    use std::time::UNIX_EPOCH;
    let modified = metadata.modified().ok();
    let since = modified.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    let nanos = since.and_then(|time| i128::try_from(time.as_nanos()).ok());
    vec![metadata.len().into(), nanos.unwrap_or(-1)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_changes_with_the_file_and_only_then() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.csv");
        fs::write(&path, "x\n1\n").unwrap();
        let files = Files::find(&path).unwrap();
        let first = files.version().unwrap();
        assert_eq!(first, files.version().unwrap());
        std::thread::sleep(std::time::Duration::from_millis(20));
        fs::write(&path, "x\n2\n").unwrap();
        assert_ne!(first, files.version().unwrap());
    }

    #[test]
    fn a_directory_has_files_of_one_format() {
        let directory = tempfile::tempdir().unwrap();
        let empty = Files::find(directory.path()).unwrap_err();
        assert_eq!(empty.code(), "MZ1903");
        fs::write(directory.path().join("b.csv"), "x\n").unwrap();
        fs::write(directory.path().join("a.CSV"), "x\n").unwrap();
        fs::write(directory.path().join("_SUCCESS"), "").unwrap();
        let files = Files::find(directory.path()).unwrap();
        assert_eq!(files.paths.len(), 2);
        fs::write(directory.path().join("c.parquet"), "").unwrap();
        assert!(Files::find(directory.path()).is_err());
        assert_eq!(
            Files::find(&directory.path().join("none.csv"))
                .unwrap_err()
                .code(),
            "MZ1901"
        );
    }
}
