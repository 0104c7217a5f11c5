//! The state directory: high-water marks and signing keys of the ledgers that a machine uses. It is
//! separate from the databases, so that restoring one does not restore the other.

use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::ledger::LedgerError;
use crate::log::LedgerId;

/// The default state directory: `$MIZAN_STATE_DIR`, else `$XDG_STATE_HOME/mizan`, else
/// `~/.local/state/mizan`.
///
/// # Errors
///
/// None of the variables is set.
pub fn default_state_dir() -> Result<PathBuf, LedgerError> {
    choose(|name| env::var_os(name).map(PathBuf::from))
}

fn choose(variable: impl Fn(&str) -> Option<PathBuf>) -> Result<PathBuf, LedgerError> {
    let set = |name: &str| variable(name).filter(|path| !path.as_os_str().is_empty());
    set("MIZAN_STATE_DIR")
        // The XDG specification says to ignore a relative path.
        .or_else(|| {
            let path = set("XDG_STATE_HOME").filter(|path| path.is_absolute())?;
            Some(path.join("mizan"))
        })
        .or_else(|| set("HOME").map(|home| home.join(".local/state/mizan")))
        .ok_or(LedgerError::NoStateDir)
}

/// The directory of one ledger, created if it does not exist.
pub(crate) fn directory_of(state_dir: &Path, ledger: LedgerId) -> Result<PathBuf, LedgerError> {
    let directory = state_dir.join(ledger.to_string());
    make_private(&directory).map_err(|error| LedgerError::state_dir(&directory, error))?;
    Ok(directory)
}

/// Syncs a directory, so that its file names survive a power failure.
pub(crate) fn sync_directory(directory: &Path) -> io::Result<()> {
    // Other systems cannot open a directory.
    if cfg!(unix) {
        fs::File::open(directory)?.sync_all()?;
    }
    Ok(())
}

/// Creates a directory that other users cannot read, if it does not exist.
pub(crate) fn make_private(directory: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt;
        builder.mode(0o700);
    }
    builder.create(directory)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_variable_decides() {
        let with = |known: &[(&str, &str)]| {
            choose(|name| {
                let found = known.iter().find(|(known, _)| *known == name);
                found.map(|(_, path)| PathBuf::from(path))
            })
        };
        let all = [
            ("MIZAN_STATE_DIR", "/a"),
            ("XDG_STATE_HOME", "/b"),
            ("HOME", "/c"),
        ];
        assert_eq!(with(&all).unwrap(), Path::new("/a"));
        assert_eq!(with(&all[1..]).unwrap(), Path::new("/b/mizan"));
        assert_eq!(with(&all[2..]).unwrap(), Path::new("/c/.local/state/mizan"));
        let relative = [("MIZAN_STATE_DIR", ""), ("XDG_STATE_HOME", "b"), all[2]];
        assert_eq!(with(&relative).unwrap(), Path::new("/c/.local/state/mizan"));
        assert_eq!(with(&[]).unwrap_err().code(), "MZ1778");
    }
}
