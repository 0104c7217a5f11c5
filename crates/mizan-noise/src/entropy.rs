//! The source of randomness: ChaCha20 under keys from the operating system.
//!
//! Every operation that draws begins with a fresh key and wipes it at its end
//! ([`Entropy::operation`]); a long operation takes a new key every mebibyte. So two processes after
//! a `fork`, or a virtual machine that is restored twice, never share a stream, and the memory
//! between operations reveals nothing about draws. The cost is one system call per operation.
//!
//! There is no other source. Seeded and scripted sources exist only in the tests of this crate
//! (`cfg(test)`).

use chacha20::ChaCha20;
use chacha20::cipher::{KeyIvInit, StreamCipher};
use zeroize::Zeroize;

use crate::NoiseError;

/// Words generated at a time: 32 blocks of ChaCha20, small enough to stay in cache.
const BUFFERED: usize = 256;

/// Words under one key: a mebibyte.
const WORDS_PER_KEY: usize = 1 << 17;

/// A cryptographic source of random bits.
///
/// Its keys come from the operating system only; if that fails, the draw fails.
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
    /// The number of keys used so far.
    #[cfg(test)]
    pub(crate) keys: usize,
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
    /// A source with keys from the operating system.
    ///
    /// # Errors
    ///
    /// The operating system returns no random bytes.
    pub fn system() -> Result<Self, NoiseError> {
        let mut entropy = Self::of(Source::System(None));
        entropy.operation(Self::word)?;
        Ok(entropy)
    }

    fn of(source: Source) -> Self {
        Self {
            source,
            buffer: [0; BUFFERED],
            next: BUFFERED,
            left: 0,
            #[cfg(test)]
            keys: 0,
        }
    }

    /// Draws under a fresh key, which is wiped afterwards.
    pub(crate) fn operation<T>(
        &mut self,
        draw: impl FnOnce(&mut Self) -> Result<T, NoiseError>,
    ) -> Result<T, NoiseError> {
        self.forget();
        let drawn = draw(self);
        self.forget();
        drawn
    }

    fn forget(&mut self) {
        match &mut self.source {
            Source::System(cipher) => {
                *cipher = None;
                self.buffer.zeroize();
                self.next = BUFFERED;
                self.left = 0;
            }
            // Scripts and seeds continue across operations, so that tests can predict them.
            #[cfg(test)]
            _ => {}
        }
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

    /// Fills the buffer and returns its first word.
    #[cold]
    #[inline(never)]
    fn refill(&mut self) -> Result<u64, NoiseError> {
        match &mut self.source {
            Source::System(cipher) => {
                if self.left == 0 {
                    *cipher = None;
                }
                let cipher = match cipher {
                    Some(cipher) => cipher,
                    None => {
                        self.left = WORDS_PER_KEY;
                        #[cfg(test)]
                        {
                            self.keys += 1;
                        }
                        cipher.insert(fresh_key()?)
                    }
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
        let [first, ..] = self.buffer;
        Ok(first)
    }
}

impl Drop for Entropy {
    fn drop(&mut self) {
        // The cipher wipes its own key.
        self.buffer.zeroize();
    }
}

impl std::fmt::Debug for Entropy {
    /// Prints nothing of its state.
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
    let cipher = ChaCha20::new(&key.into(), &[0; 12].into());
    key.zeroize();
    Ok(cipher)
}

fn generate(cipher: &mut ChaCha20, buffer: &mut [u64; BUFFERED]) {
    let mut bytes = [0; BUFFERED * 8];
    cipher.apply_keystream(&mut bytes);
    for (word, bytes) in buffer.iter_mut().zip(bytes.as_chunks().0) {
        *word = u64::from_le_bytes(*bytes);
    }
    bytes.zeroize();
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

    /// Every public operation uses a fresh key, and leaves nothing that a copy of the process could
    /// continue with.
    #[test]
    fn operations_take_new_keys() {
        use crate::{ExponentialMechanism, Mechanism, PermuteAndFlip, TruncatedGeometric};
        let mut entropy = Entropy::system().unwrap();
        let mut keys = entropy.keys;
        let mut check = |entropy: &Entropy, what: &str| {
            assert!(entropy.keys > keys, "{what} took no key");
            keys = entropy.keys;
            assert!(matches!(entropy.source, Source::System(None)), "{what}");
            assert!(entropy.buffer.iter().all(|&word| word == 0), "{what}");
            assert_eq!((entropy.next, entropy.left), (BUFFERED, 0), "{what}");
        };
        let epsilon = mizan_core::Epsilon::new(1.0).unwrap();
        let event = "discrete-laplace(5)".parse().unwrap();
        let noise = crate::Noise::of(&event).unwrap().unwrap();
        let mizan_core::PrivacyEvent::DiscreteLaplace(laplace) = event else {
            unreachable!()
        };
        let mechanism = Mechanism::laplace(laplace).unwrap();
        noise.draw(&mut entropy).unwrap();
        check(&entropy, "draw");
        noise.fill(&mut entropy, &mut [0; 3]).unwrap();
        check(&entropy, "fill");
        mechanism.release(&mut entropy, &mut [0; 3]).unwrap();
        check(&entropy, "release");
        mechanism.prepare(&mut entropy, 3).unwrap();
        check(&entropy, "prepare");
        let exponential = ExponentialMechanism::new(epsilon, 1).unwrap();
        exponential.select(&mut entropy, &[1, 2]).unwrap();
        check(&entropy, "exponential");
        let permute = PermuteAndFlip::new(epsilon, 1).unwrap();
        permute.select(&mut entropy, &[1, 2]).unwrap();
        check(&entropy, "permute and flip");
        let keys_of = TruncatedGeometric::new(epsilon, mizan_core::Delta::new(0.1).unwrap());
        keys_of.unwrap().select(&mut entropy, &[3]).unwrap();
        check(&entropy, "keys");
        let event = "rr(0.75)".parse().unwrap();
        let mizan_core::PrivacyEvent::RandomizedResponse(event) = event else {
            unreachable!()
        };
        let response = crate::RandomizedResponse::new(event);
        response.respond(&mut entropy, &mut [1]).unwrap();
        check(&entropy, "respond");
    }

    #[test]
    fn long_operations_change_keys() {
        let mut entropy = Entropy::system().unwrap();
        let before = entropy.keys;
        let words = |entropy: &mut Entropy| {
            (0..3 * WORDS_PER_KEY).try_for_each(|_| entropy.word().map(|_| ()))
        };
        entropy.operation(words).unwrap();
        assert_eq!(entropy.keys - before, 3);
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
