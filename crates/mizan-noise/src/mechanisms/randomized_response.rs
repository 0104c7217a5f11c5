//! k-ary randomized response: the true answer with probability `p`, otherwise a uniform one of the
//! others.

use mizan_core::PrivacyEvent;
use num_bigint::BigUint;

use crate::exact::lazy::LazyUniform;
use crate::exact::rational::Rational;
use crate::samplers::uniform::Below;
use crate::{Entropy, NoiseError};

/// Randomized response over two or more answers, exactly.
///
/// # Guarantee
///
/// Each answer stays with probability `p`, exactly the double of the event, and becomes each of the
/// other `k - 1` with probability `(1 - p)/(k - 1)`. Every response takes the same work, whatever
/// the true answer.
///
/// ```
/// use mizan_core::{Count, Probability};
/// use mizan_noise::{Entropy, RandomizedResponse};
/// let event = mizan_core::RandomizedResponse::new(Probability::new(0.75)?, Count::TWO)?;
/// let response = RandomizedResponse::new(event);
/// let mut answers = [1; 100];
/// response.respond(&mut Entropy::system()?, &mut answers)?;
/// assert!(answers.iter().all(|&answer| answer < 2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct RandomizedResponse {
    event: mizan_core::RandomizedResponse,
    /// `⌊p 2^64⌋`.
    threshold: u64,
    /// The rest of `p` beyond 64 bits, mostly zero.
    p: Rational,
    categories: u64,
    others: Below,
}

impl RandomizedResponse {
    /// The mechanism of an event.
    #[must_use]
    pub fn new(event: mizan_core::RandomizedResponse) -> Self {
        let p = Rational::from_f64(event.p().get());
        let categories = event.categories().get();
        Self {
            event,
            threshold: u64::try_from(&p.scaled_down(64)).unwrap_or(u64::MAX),
            p,
            categories,
            others: Below::new(categories - 1),
        }
    }

    /// The privacy event of a response.
    #[must_use]
    pub fn event(&self) -> PrivacyEvent {
        PrivacyEvent::RandomizedResponse(self.event)
    }

    /// The number of categories.
    #[must_use]
    pub const fn categories(&self) -> u64 {
        self.categories
    }

    /// Replaces every answer by a response. Answers are numbered from zero.
    ///
    /// # Errors
    ///
    /// An answer is not below the number of categories, or there is no randomness; all answers are
    /// zero then.
    pub fn respond(&self, entropy: &mut Entropy, answers: &mut [u64]) -> Result<(), NoiseError> {
        let strange = answers.iter().position(|&truth| truth >= self.categories);
        let responded = match strange {
            Some(position) => Err(NoiseError::Category {
                position,
                categories: self.categories,
            }),
            None => entropy.operation(|entropy| {
                if self.categories == 2 {
                    self.respond_binary(entropy, answers)
                } else {
                    self.respond_many(entropy, answers)
                }
            }),
        };
        if responded.is_err() {
            // The true answers must not be released by mistake.
            answers.fill(0);
        }
        responded
    }

    fn respond_binary(&self, entropy: &mut Entropy, answers: &mut [u64]) -> Result<(), NoiseError> {
        for answer in answers {
            *answer ^= u64::from(!self.is_truthful(entropy)?);
        }
        Ok(())
    }

    fn respond_many(&self, entropy: &mut Entropy, answers: &mut [u64]) -> Result<(), NoiseError> {
        for answer in answers {
            let truthful = u64::from(self.is_truthful(entropy)?).wrapping_neg();
            // One of the others: those from the true answer on move up by one. Drawn even if it is
            // not needed.
            let other = self.others.draw(entropy)?;
            let other = other + u64::from(other >= *answer);
            *answer = (*answer & truthful) | (other & !truthful);
        }
        Ok(())
    }

    #[inline]
    fn is_truthful(&self, entropy: &mut Entropy) -> Result<bool, NoiseError> {
        let word = entropy.word()?;
        if word == self.threshold {
            return self.beyond_a_word(word, entropy);
        }
        Ok(word < self.threshold)
    }

    #[cold]
    fn beyond_a_word(&self, word: u64, entropy: &mut Entropy) -> Result<bool, NoiseError> {
        let enclosure =
            |bits| -> (BigUint, BigUint) { (self.p.scaled_down(bits), self.p.scaled_up(bits)) };
        LazyUniform::new(word, 64).falls_below(entropy, enclosure)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use mizan_core::{Count, Probability};

    use super::*;

    fn of(p: f64, categories: u64) -> RandomizedResponse {
        RandomizedResponse::new(
            mizan_core::RandomizedResponse::new(
                Probability::new(p).unwrap(),
                Count::new(categories).unwrap(),
            )
            .unwrap(),
        )
    }

    /// The truth at word `p 2^64 - 1`, a lie at the next: the probability is p
    /// to the last bit.
    #[test]
    fn the_coin_turns_exactly_at_p() {
        let response = of(0.75, 2);
        for (word, truthful) in [
            (0, true),
            ((3 << 62) - 1, true),
            (3 << 62, false),
            (u64::MAX, false),
        ] {
            let mut answers = [1];
            // A word more: the threshold itself asks for it, in vain.
            let mut entropy = Entropy::scripted([word, 0]);
            response.respond(&mut entropy, &mut answers).unwrap();
            assert_eq!(answers[0] == 1, truthful, "{word}");
        }
    }

    /// A p of more than 64 bits: 2^-40 with 53 significant bits turns within
    /// the second word.
    #[test]
    fn bits_beyond_a_word_count() {
        let p = 2.0_f64.powi(-40) * (1.0 + f64::EPSILON);
        let response = of(p, 1 << 41);
        // p 2^128 = 2^88 + 2^36.
        for (second, truthful) in [(0, true), ((1 << 36) - 1, true), (1 << 36, false)] {
            let mut answers = [7];
            let mut entropy = Entropy::scripted([1 << 24, second, 1 << 60, 1 << 60]);
            response.respond(&mut entropy, &mut answers).unwrap();
            assert_eq!(answers[0] == 7, truthful, "{second}");
        }
    }

    /// Four categories: each quarter of the words gives each of the others.
    #[test]
    fn the_others_are_as_likely() {
        let response = of(0.5, 4);
        for truth in 0..4 {
            let mut seen = Vec::new();
            for third in 0..3u64 {
                let mut answers = [truth];
                let word = u64::MAX / 3 * third + (1 << 60);
                let mut entropy = Entropy::scripted([u64::MAX, word]);
                response.respond(&mut entropy, &mut answers).unwrap();
                seen.push(answers[0]);
            }
            let expected: Vec<u64> = (0..4).filter(|&other| other != truth).collect();
            assert_eq!(seen, expected);
        }
    }

    #[test]
    fn what_is_refused() {
        let mut answers = [0, 1, 2];
        let refused = of(0.75, 2).respond(&mut Entropy::seeded(1), &mut answers);
        assert_eq!(
            refused,
            Err(NoiseError::Category {
                position: 2,
                categories: 2
            })
        );
        assert_eq!(answers, [0, 0, 0]);
        let mut answers = [1, 1];
        assert!(
            of(0.75, 2)
                .respond(&mut Entropy::failing(), &mut answers)
                .is_err()
        );
        assert_eq!(answers, [0, 0]);
    }
}
