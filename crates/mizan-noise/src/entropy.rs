//! Where randomness comes from: ChaCha20 under keys of the operating system.
//!
//! Every operation that draws begins with a key that nobody has used before
//! ([`Entropy::begin`]), and a long operation takes a new key every mebibyte.
//! So two processes after a `fork`, or a virtual machine restored twice, never
//! share a stream, and what is in memory says nothing about earlier draws. The
//! price is one system call an operation.
//!
//! There is no other source: seeded and scripted ones exist in this crate's
//! own tests only, where `cfg(test)` compiles them.

use chacha20::ChaCha20;
use chacha20::cipher::{KeyIvInit, StreamCipher};

use crate::NoiseError;

/// Words made at a time: 32 blocks of ChaCha20, small enough to stay in cache.
const BUFFERED: usize = 256;

/// Words under one key: a mebibyte.
const WORDS_PER_KEY: usize = 1 << 17;

/// A cryptographic source of random bits.
///
/// It is made from the operating system and from nothing else; if that fails,
/// the draw fails.
///
/// ```
/// use mizan_noise::{DiscreteLaplace, Entropy, ExactScale};
/// let mut entropy = Entropy::system()?;
/// let noise = DiscreteLaplace::new(ExactScale::new(3, 2)?).draw(&mut entropy)?;
/// assert!(noise.abs() < 1000);
/// # Ok::<(), mizan_noise::NoiseError>(())
/// ```
pub struct Entropy {
    source: Source,
    buffer: [u64; BUFFERED],
    /// The next word of the buffer.
    next: usize,
    /// Words left under the current key.
    left: usize,
}

enum Source {
    System(Option<ChaCha20>),
    #[cfg(test)]
    Seeded(ChaCha20),
    #[cfg(test)]
    Scripted(std::collections::VecDeque<u64>),
    #[cfg(test)]
    Failing,
}

impl Entropy {
    /// The operating system's randomness.
    ///
    /// # Errors
    ///
    /// The operating system has none to give.
    pub fn system() -> Result<Self, NoiseError> {
        let mut entropy = Self::of(Source::System(None));
        entropy.refill()?;
        Ok(entropy)
    }

    fn of(source: Source) -> Self {
        Self {
            source,
            buffer: [0; BUFFERED],
            next: BUFFERED,
            left: 0,
        }
    }

    /// Forgets what is buffered: what follows comes under a fresh key.
    pub(crate) fn begin(&mut self) {
        #[cfg(test)]
        if !matches!(self.source, Source::System(_)) {
            return;
        }
        self.buffer.fill(0);
        self.next = BUFFERED;
        self.left = 0;
    }

    /// 64 random bits.
    #[inline]
    pub(crate) fn word(&mut self) -> Result<u64, NoiseError> {
        if let Some(&word) = self.buffer.get(self.next) {
            self.next += 1;
            return Ok(word);
        }
        self.refill()
    }

    /// Twice 64 random bits.
    #[inline]
    pub(crate) fn pair(&mut self) -> Result<(u64, u64), NoiseError> {
        if let Some(&[first, second]) = self
            .buffer
            .get(self.next..)
            .and_then(|left| left.first_chunk())
        {
            self.next += 2;
            return Ok((first, second));
        }
        Ok((self.word()?, self.word()?))
    }

    /// Fills the buffer and gives its first word.
    #[cold]
    #[inline(never)]
    fn refill(&mut self) -> Result<u64, NoiseError> {
        match &mut self.source {
            Source::System(cipher) => {
                if self.left == 0 {
                    *cipher = None;
                    self.left = WORDS_PER_KEY;
                }
                let cipher = match cipher {
                    Some(cipher) => cipher,
                    None => cipher.insert(fresh_key()?),
                };
                generate(cipher, &mut self.buffer);
                self.left = self.left.saturating_sub(BUFFERED);
            }
            #[cfg(test)]
            Source::Seeded(cipher) => generate(cipher, &mut self.buffer),
            #[cfg(test)]
            Source::Scripted(words) => {
                self.next = BUFFERED;
                return words.pop_front().ok_or(NoiseError::Entropy {
                    reason: "the script has ended".to_owned(),
                });
            }
            #[cfg(test)]
            Source::Failing => {
                return Err(NoiseError::Entropy {
                    reason: "it was asked to fail".to_owned(),
                });
            }
        }
        self.next = 1;
        Ok(self.buffer.first().copied().unwrap_or_default())
    }
}

impl std::fmt::Debug for Entropy {
    /// Says nothing about its state.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Entropy")
    }
}

fn fresh_key() -> Result<ChaCha20, NoiseError> {
    let mut key = [0; 32];
    getrandom::fill(&mut key).map_err(|error| NoiseError::Entropy {
        reason: error.to_string(),
    })?;
    // A key is used once, so the nonce need not differ.
    Ok(ChaCha20::new(&key.into(), &[0; 12].into()))
}

fn generate(cipher: &mut ChaCha20, buffer: &mut [u64; BUFFERED]) {
    let mut bytes = [0; BUFFERED * 8];
    cipher.apply_keystream(&mut bytes);
    for (word, bytes) in buffer.iter_mut().zip(bytes.as_chunks().0) {
        *word = u64::from_le_bytes(*bytes);
    }
}

#[cfg(test)]
impl Entropy {
    /// The same words for the same seed.
    pub(crate) fn seeded(seed: u64) -> Self {
        let mut key = [0; 32];
        for (place, byte) in key.iter_mut().zip(seed.to_le_bytes()) {
            *place = byte;
        }
        Self::of(Source::Seeded(ChaCha20::new(&key.into(), &[0; 12].into())))
    }

    /// These words, and then an error.
    pub(crate) fn scripted(words: impl IntoIterator<Item = u64>) -> Self {
        Self::of(Source::Scripted(words.into_iter().collect()))
    }

    /// A source that is broken.
    pub(crate) fn failing() -> Self {
        Self::of(Source::Failing)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// The first block of ChaCha20 with a zero key and nonce, RFC 8439 A.1.
    #[test]
    fn the_stream_is_chacha20() {
        let mut entropy = Entropy::seeded(0);
        let bytes = entropy.word().unwrap().to_le_bytes();
        assert_eq!(bytes, [0x76, 0xb8, 0xe0, 0xad, 0xa0, 0xf1, 0x3d, 0x90]);
    }

    /// Operations share nothing: a copy of the whole state, as `fork` makes
    /// one, goes on with other words.
    #[test]
    fn operations_take_new_keys() {
        let mut parent = Entropy::system().unwrap();
        let first = parent.word().unwrap();
        let mut child = Entropy::of(Source::System(None));
        child.buffer = parent.buffer;
        child.next = parent.next;
        child.left = parent.left;
        assert_eq!(
            parent.word().unwrap(),
            child.word().unwrap(),
            "a copy it is"
        );
        parent.begin();
        child.begin();
        let (ours, theirs) = (parent.word().unwrap(), child.word().unwrap());
        assert_ne!(ours, theirs);
        assert_ne!(ours, first);
    }

    #[test]
    fn long_operations_change_keys() {
        let mut entropy = Entropy::system().unwrap();
        entropy.begin();
        let mut seen = std::collections::HashSet::new();
        for _ in 0..3 * WORDS_PER_KEY {
            assert!(
                seen.insert(entropy.word().unwrap()),
                "a repeated word: 2^-27 by chance"
            );
        }
    }

    #[test]
    fn a_broken_source_is_an_error() {
        assert!(matches!(
            Entropy::failing().word(),
            Err(NoiseError::Entropy { .. })
        ));
    }

    #[test]
    fn debug_says_nothing() {
        assert_eq!(format!("{:?}", Entropy::seeded(7)), "Entropy");
    }
}
