//! A seeded pseudo-random generator (SplitMix64) for the data of the demo and the cases
//! of `audit sql`. No noise is drawn from it.

/// SplitMix64. Not for noise: its output is predictable.
#[derive(Debug)]
pub(crate) struct DemoRng(u64);

impl From<u64> for DemoRng {
    fn from(seed: u64) -> Self {
        Self(seed)
    }
}

impl DemoRng {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Uniform in [0, 1).
    #[expect(clippy::cast_precision_loss, reason = "53 bits fit")]
    pub(crate) fn part(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.next() % end.max(1)
    }

    /// One item, chosen with probability proportional to its weight.
    pub(crate) fn one_of<'a, T>(
        &mut self,
        items: &'a [T],
        weight: impl Fn(&T) -> u64,
    ) -> Option<&'a T> {
        let mut place = self.below(items.iter().map(&weight).sum());
        items.iter().find(|item| {
            let found = place < weight(item);
            place = place.saturating_sub(weight(item));
            found
        })
    }

    /// Approximately normal: the sum of twelve uniform numbers, minus 6.
    pub(crate) fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.part()).sum::<f64>() - 6.0
    }
}
