//! The secret text of a token: `mizan_<role>_<64 digits>_<8 digits>`.
//!
//! It has 256 random bits, so that a fast hash suffices; a prefix that scanners for leaked
//! secrets find; and a checksum that tells a typing error from an unknown token. The token
//! file stores the SHA-256 of the whole text.

use std::fmt;

use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use super::{IdentityError, Role};

/// Random bytes of a token.
const BYTES: usize = 32;

/// Digits of its checksum.
const CHECKED: usize = 8;

/// The secret text of a token. It is shown once, at its creation, and wiped from memory.
pub struct Secret(Zeroizing<String>);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

impl Secret {
    /// Draws a secret.
    ///
    /// # Errors
    ///
    /// The operating system provides no random numbers.
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

    /// The text, for the holder of the token.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// The hash that is stored.
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
        // The checksum is not a secret.
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

    /// Whether two hashes are equal, in constant time.
    #[must_use]
    pub fn is(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }

    /// The id of a token: the first digits of its hash, which reveal nothing about the
    /// secret.
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
    fn the_checksum_finds_typing_errors() {
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
    fn text_of_another_form_is_not_a_token() {
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
