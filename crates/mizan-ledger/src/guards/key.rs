//! The signing key and the public key of a ledger, as files and lines of text. The signing key is
//! read only to sign.

use std::fmt;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use zeroize::Zeroizing;

use crate::evidence::checksummed_line::{parse_line, to_line};
use crate::evidence::{Checkpoint, CheckpointKey, TextError};
use crate::ledger::LedgerError;
use crate::log::Digest;
use crate::log::ids::{from_hex, hex};

const SECRET_PREFIX: &str = "mizan-key-1";
const PUBLIC_PREFIX: &str = "mizan-pub-1";
const CHECKPOINT_PREFIX: &str = "mizan-checkpoint-1";

/// The public key of a ledger, which verifies its checkpoints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PublicKey([u8; 32]);

impl PublicKey {
    /// From its bytes.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Its bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hex = Digest::from_bytes(self.0);
        f.write_str(&to_line(format_args!("{PUBLIC_PREFIX}:{hex}")))
    }
}

impl FromStr for PublicKey {
    type Err = TextError;

    fn from_str(text: &str) -> Result<Self, TextError> {
        let [hex] = parse_line("public key", PUBLIC_PREFIX, text)?;
        from_hex(hex).map(Self).ok_or(TextError {
            what: "public key",
            reason: "it has not 64 hexadecimal digits",
        })
    }
}

impl fmt::Display for Checkpoint {
    /// One line: the 120 bytes in hexadecimal digits, with a checksum.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hex: String = self.encode().into_iter().flat_map(hex).collect();
        f.write_str(&to_line(format_args!("{CHECKPOINT_PREFIX}:{hex}")))
    }
}

impl FromStr for Checkpoint {
    type Err = TextError;

    fn from_str(text: &str) -> Result<Self, TextError> {
        let [hex] = parse_line("checkpoint", CHECKPOINT_PREFIX, text)?;
        let bytes = from_hex::<120>(hex);
        let checkpoint = bytes.and_then(|bytes| Self::decode(&bytes).ok());
        checkpoint.ok_or(TextError {
            what: "checkpoint",
            reason: "it has not 240 hexadecimal digits",
        })
    }
}

/// The key files of a ledger.
pub(crate) struct KeyFiles {
    secret: PathBuf,
    public: PathBuf,
}

impl KeyFiles {
    pub(crate) fn within(directory: &Path) -> Self {
        Self {
            secret: directory.join("key"),
            public: directory.join("key.pub"),
        }
    }

    /// Writes a new key file, readable by its owner only.
    pub(crate) fn create(&self, seed: &[u8; 32]) -> Result<PublicKey, LedgerError> {
        let public = PublicKey(CheckpointKey::from_seed(seed).public_key());
        let hex = Digest::from_bytes(*seed);
        let line = Zeroizing::new(to_line(format_args!("{SECRET_PREFIX}:{hex}")));
        write_new(&self.secret, &line, true)
            .and_then(|()| write_new(&self.public, &public.to_string(), false))
            .map_err(|error| LedgerError::state_dir(&self.secret, error))?;
        Ok(public)
    }

    pub(crate) fn public(&self) -> Option<PublicKey> {
        fs::read_to_string(&self.public).ok()?.parse().ok()
    }

    /// The signing key, if its file is readable by its owner only.
    pub(crate) fn secret(&self) -> Result<CheckpointKey, LedgerError> {
        let unreadable = |error: io::Error| match error.kind() {
            io::ErrorKind::NotFound => LedgerError::KeyMissing {
                key: self.secret.clone(),
            },
            _ => LedgerError::state_dir(&self.secret, error),
        };
        if is_shared(&self.secret).map_err(unreadable)? {
            let key = self.secret.clone();
            return Err(LedgerError::KeyShared { key });
        }
        let text = Zeroizing::new(fs::read_to_string(&self.secret).map_err(unreadable)?);
        let [hex] = parse_line("signing key", SECRET_PREFIX, &text)?;
        let seed = from_hex(hex).map(Zeroizing::new).ok_or(TextError {
            what: "signing key",
            reason: "it has not 64 hexadecimal digits",
        })?;
        Ok(CheckpointKey::from_seed(&seed))
    }
}

fn write_new(path: &Path, line: &str, secret: bool) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    if secret {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    #[cfg(not(unix))]
    let _ = secret;
    let mut file = options.open(path)?;
    file.write_all(line.as_bytes())?;
    file.write_all(b"\n")?;
    file.sync_all()
}

/// Whether users other than the owner may read a file.
fn is_shared(path: &Path) -> io::Result<bool> {
    let about = fs::metadata(path)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        Ok(about.permissions().mode() & 0o077 != 0)
    }
    #[cfg(not(unix))]
    {
        let _ = about;
        Ok(false)
    }
}
