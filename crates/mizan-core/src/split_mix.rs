//! SplitMix64, a seeded pseudo-random generator: for the data of the demo, of audits and of tests.
//! Its output is predictable, so no noise is drawn from it: `mizan-noise` does not use it.

/// SplitMix64.
///
/// # Reference
/// Steele, Lea and Flood, *Fast splittable pseudorandom number generators*, OOPSLA 2014.
///
/// ```
/// let mut numbers = mizan_core::SplitMix64::new(0);
/// assert_eq!(numbers.word(), 0xe220_a839_7b1d_cdaf);
/// ```
#[derive(Clone, Debug)]
pub struct SplitMix64(u64);

impl SplitMix64 {
    /// The generator of a seed.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The state. A choice by it does not change those after it.
    #[must_use]
    pub const fn state(&self) -> u64 {
        self.0
    }

    /// The next 64 bits.
    pub const fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`, or zero if `end` is zero; uniform up to a relative error of
    /// `end` / 2^64.
    pub fn below(&mut self, end: u64) -> u64 {
        self.word() % end.max(1)
    }

    /// A place in a list of this length, which is not zero.
    #[expect(clippy::cast_possible_truncation, reason = "below a usize")]
    pub fn place(&mut self, length: usize) -> usize {
        self.below(length as u64) as usize
    }

    /// Uniform in [0, 1), a multiple of 2^-53.
    #[expect(clippy::cast_precision_loss, reason = "53 bits fit")]
    pub fn uniform(&mut self) -> f64 {
        (self.word() >> 11) as f64 / (1_u64 << 53) as f64
    }
}
