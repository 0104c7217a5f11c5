//! The ledger of a command: its location, and opening it.

use std::ffi::OsString;
use std::io::Read as _;
use std::path::{Path, PathBuf};

pub(crate) use mizan_api::budget::view::log_json;
pub(crate) use mizan_api::lookup::{account, name_of};
use mizan_api::names::Names;
use mizan_core::Code;
use mizan_ledger::{Ledger, Location, RequestId, default_state_dir};

use crate::failure::Failure;
use crate::output::{eprint, wrapped};

/// The default file.
const DEFAULT: &str = "mizan.db";

/// The option that names the ledger.
#[derive(Debug, clap::Args)]
pub(crate) struct LedgerArguments {
    /// Ledger: a file or postgres://... [default: MIZAN_LEDGER, else mizan.db]
    #[arg(long, value_name = "LEDGER", global = true)]
    ledger: Option<OsString>,
}

impl LedgerArguments {
    pub(crate) fn location(&self) -> Location {
        let set = std::env::var_os("MIZAN_LEDGER").filter(|value| !value.is_empty());
        let argument = self.ledger.clone().or(set);
        Location::parse(&argument.unwrap_or_else(|| DEFAULT.into()))
    }

    /// Opens the ledger for writing and prints its notes.
    pub(crate) fn open(&self) -> Result<Ledger, Failure> {
        let location = self.existing()?;
        let ledger = Ledger::open(&location, &default_state_dir()?)?;
        for note in ledger.notes() {
            eprint(&wrapped(&format!("note: {note}"), "", "  "));
        }
        Ok(ledger)
    }

    /// Opens the ledger for reading. Refuses a copy that is older than the high-water mark.
    pub(crate) fn read(&self) -> Result<Ledger, Failure> {
        let mut ledger = Ledger::read(&self.existing()?)?;
        if let Ok(state) = default_state_dir() {
            ledger.check_mark(&state)?;
            ledger.see_running(&state);
        }
        Ok(ledger)
    }

    /// Opens the ledger for inspection. An older copy is a warning.
    pub(crate) fn look_into(&self) -> Result<Ledger, Failure> {
        let ledger = Ledger::read(&self.existing()?)?;
        if let Ok(state) = default_state_dir()
            && let Err(error) = ledger.check_mark(&state)
        {
            eprint(&format!("warning[{}]: {error}\n", error.code()));
        }
        Ok(ledger)
    }

    /// Whether an output file may be written: never over a ledger.
    pub(crate) fn may_write(&self, path: &Path) -> Result<(), Failure> {
        let refused = || {
            Failure::new(
                Code::MZ1793,
                format!("{} is a database and is not overwritten", path.display()),
                "name another file",
            )
        };
        let Ok(there) = path.canonicalize() else {
            return Ok(());
        };
        if let Location::File(ledger) = self.location()
            && let Ok(ledger) = ledger.canonicalize()
        {
            let beside = |ending: &str| {
                let mut name = ledger.clone().into_os_string();
                name.push(ending);
                PathBuf::from(name)
            };
            if ["", "-wal", "-shm"]
                .iter()
                .any(|ending| beside(ending) == there)
            {
                return Err(refused());
            }
        }
        let mut header = [0; 16];
        let read = std::fs::File::open(&there).and_then(|mut file| file.read_exact(&mut header));
        if read.is_ok() && &header == b"SQLite format 3\0" {
            return Err(refused());
        }
        Ok(())
    }

    /// The location, if a ledger file exists there.
    pub(crate) fn existing(&self) -> Result<Location, Failure> {
        let location = self.location();
        // Only SQLite may open its file, so this reads metadata.
        if let Location::File(path) = &location
            && let Err(error) = std::fs::metadata(path)
            && error.kind() == std::io::ErrorKind::NotFound
        {
            return Err(Failure::new(
                Code::MZ1794,
                format!("there is no ledger {}", path.display()),
                "create one with `mizan init`, or name one with --ledger or MIZAN_LEDGER",
            ));
        }
        Ok(location)
    }
}

/// The id of the request, if the option was given.
pub(crate) fn request_id(text: Option<&str>) -> Result<Option<RequestId>, Failure> {
    mizan_api::lookup::request_id(text, Names::CommandLine)
}
