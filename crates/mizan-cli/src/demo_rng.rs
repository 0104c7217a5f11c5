//! Random choices for the data of the demo, from a seed. No noise is drawn from them.

use mizan_core::SplitMix64;

/// Numbers of a seed. Not for noise: they are predictable.
#[derive(Debug)]
pub(crate) struct DemoRng(SplitMix64);

impl From<u64> for DemoRng {
    fn from(seed: u64) -> Self {
        Self(SplitMix64::new(seed))
    }
}

impl DemoRng {
    /// Uniform in [0, 1).
    pub(crate) fn part(&mut self) -> f64 {
        self.0.uniform()
    }

    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.0.below(end)
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
