//! Opens data files. Only regular files are opened: a pipe without a writer would block the
//! reader, and a device may have no end.

use std::fs::{self, File, Metadata, OpenOptions};
use std::path::Path;

use crate::engine::EngineError;

/// Opens a regular file, or a link to one, without blocking.
pub(crate) fn open(path: &Path) -> Result<File, EngineError> {
    // Opening a device can have side effects, so its metadata are checked first.
    metadata(path)?;
    let file = nonblocking().open(path);
    let file = file.map_err(|error| unreadable(path, &error))?;
    // The file may have been replaced since.
    let opened = file.metadata().map_err(|error| unreadable(path, &error))?;
    regular(path, opened)?;
    Ok(file)
}

/// The metadata of a regular file, or of the target of a link to one.
pub(crate) fn metadata(path: &Path) -> Result<Metadata, EngineError> {
    let found = fs::metadata(path).map_err(|error| unreadable(path, &error))?;
    regular(path, found)
}

fn regular(path: &Path, metadata: Metadata) -> Result<Metadata, EngineError> {
    match metadata.is_file() {
        true => Ok(metadata),
        false => Err(EngineError::Unreadable {
            path: path.to_path_buf(),
            reason: "it is not a regular file".to_owned(),
        }),
    }
}

/// Options for reading. A pipe without a writer opens at once; regular files ignore this flag.
fn nonblocking() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOCTTY;
        options.custom_flags(flags.bits().cast_signed());
    }
    options
}

/// The error for a file that cannot be opened.
pub(crate) fn unreadable(path: &Path, error: &std::io::Error) -> EngineError {
    EngineError::Unreadable {
        path: path.to_path_buf(),
        reason: error.kind().to_string(),
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_pipe_opens_without_a_writer_and_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("a.csv");
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, 0o600.into()).unwrap();
        // As if the pipe had replaced a file after the first check.
        let file = nonblocking().open(&pipe).unwrap();
        assert!(regular(&pipe, file.metadata().unwrap()).is_err());
        let link = folder.path().join("link.csv");
        std::os::unix::fs::symlink("/dev/zero", &link).unwrap();
        for path in [&pipe, &link, &folder.path().to_path_buf()] {
            let error = open(path).unwrap_err();
            assert_eq!(error.code(), "MZ1901");
            assert!(error.to_string().contains("not a regular file"), "{error}");
        }
        fs::write(folder.path().join("b.csv"), "x\n").unwrap();
        std::os::unix::fs::symlink("b.csv", folder.path().join("c.csv")).unwrap();
        assert!(open(&folder.path().join("c.csv")).is_ok());
    }
}
