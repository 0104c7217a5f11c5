//! The secret that people hold: `mizan_<role>_<64 digits>_<8 digits>`.
//!
//! 256 random bits, so guessing needs no slow hash to be hopeless; a prefix by which
//! scanners for leaked secrets find it; a checksum by which a slip of the keyboard
//! is told from a token that is not known. Stored is the SHA-256 of the whole text.

use std::fmt;

use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use super::{IdentityError, Role};

/// Random bytes of a token.
const BYTES: usize = 32;

/// Digits of its checksum.
const CHECKED: usize = 8;

/// A token. It is shown once, when it is made, and wiped.
pub struct Secret(Zeroizing<String>);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

impl Secret {
    /// Draws one.
    ///
    /// # Errors
    ///
    /// The system gives no random numbers.
    pub fn draw(role: Role) -> Result<Self, IdentityError> {
        let mut bytes = Zeroizing::new([0_u8; BYTES]);
        getrandom::fill(bytes.as_mut_slice()).map_err(|_| IdentityError::NoRandomness)?;
        let mut text = Zeroizing::new(format!("mizan_{role}_"));
        text.push_str(&Zeroizing::new(hex(bytes.as_slice())));
        let check = checksum(&text);
        text.push('_');
        text.push_str(&check);
        Ok(Self(text))
    }

    /// What is given to who shall hold it.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// What is stored of it.
    #[must_use]
    pub fn hash(&self) -> TokenHash {
        TokenHash::of(&self.0)
    }
}

/// The SHA-256 of a token.
#[derive(Clone, Copy)]
pub struct TokenHash([u8; 32]);

impl fmt::Debug for TokenHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TokenHash")
    }
}

impl TokenHash {
    fn of(text: &str) -> Self {
        Self(Sha256::digest(text.as_bytes()).into())
    }

    /// The hash of what was presented, if it has the form of a token.
    #[must_use]
    pub fn presented(text: &str) -> Option<Self> {
        let longest = "mizan_analyst_".len() + 2 * BYTES + 1 + CHECKED;
        if text.len() > longest || !text.is_ascii() {
            return None;
        }
        let (checked, check) = text.rsplit_once('_')?;
        let mut parts = checked.split('_');
        let (mizan, role, digits) = (parts.next()?, parts.next()?, parts.next()?);
        let formed = mizan == "mizan"
            && Role::from_name(role).is_some()
            && digits.len() == 2 * BYTES
            && parts.next().is_none();
        // The checksum is no secret.
        (formed && checksum(checked) == check).then(|| Self::of(text))
    }

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

    /// Whether it is another, in the same time wherever they differ.
    #[must_use]
    pub fn is(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }

    /// What a token is called: the first digits of its hash, which say nothing
    /// about it.
    #[must_use]
    pub fn id(&self) -> String {
        hex(self.0.first_chunk::<8>().unwrap_or(&[0; 8]))
    }
}

fn checksum(text: &str) -> String {
    let digest: [u8; 32] = Sha256::digest([b"mizan token\n", text.as_bytes()].concat()).into();
    hex(digest.first_chunk::<{ CHECKED / 2 }>().unwrap_or(&[0; 4]))
}

/// Hexadecimal digits.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_known_by_its_hash_and_a_slip_by_its_checksum() {
        let secret = Secret::draw(Role::Analyst).unwrap();
        let text = secret.reveal().to_owned();
        assert!(text.starts_with("mizan_analyst_"), "{text}");
        assert!(TokenHash::presented(&text).unwrap().is(&secret.hash()));
        let other = Secret::draw(Role::Analyst).unwrap();
        assert!(!other.hash().is(&secret.hash()));
        for place in 0..text.len() {
            let mut bytes = text.clone().into_bytes();
            bytes[place] = if bytes[place] == b'0' { b'1' } else { b'0' };
            let slip = String::from_utf8(bytes).unwrap();
            assert!(TokenHash::presented(&slip).is_none(), "{slip}");
        }
    }

    #[test]
    fn what_has_no_form_is_no_token() {
        let digits = "0".repeat(64);
        let sealed = |text: String| format!("{text}_{}", checksum(&text));
        assert!(TokenHash::presented(&sealed(format!("mizan_owner_{digits}"))).is_some());
        for text in [
            String::new(),
            "mizan".to_owned(),
            "x".repeat(1_000_000),
            sealed(format!("mizan_king_{digits}")),
            sealed(format!("mizan_owner_{digits}0")),
            sealed(format!("mizan_owner_{digits}_")),
            sealed(format!("Mizan_owner_{digits}")),
            format!("mizan_owner_{digits}_00000000"),
        ] {
            assert!(TokenHash::presented(&text).is_none());
        }
    }
}
