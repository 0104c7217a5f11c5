//! Random choices of a test, from a generator that the caller provides.

/// A source of random choices.
pub(crate) struct Dice<'a>(pub(crate) &'a mut dyn FnMut() -> u64);

impl Dice<'_> {
    /// From 0 to below `end`, which is not zero.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        (self.0)() % end.max(1)
    }

    /// True with probability `1 / many`.
    pub(crate) fn one_in(&mut self, many: u64) -> bool {
        self.below(many) == 0
    }

    /// One of several items.
    pub(crate) fn pick<T: Clone>(&mut self, items: &[T]) -> Option<T> {
        let place = self.below(items.len() as u64);
        items.get(usize::try_from(place).unwrap_or(0)).cloned()
    }

    /// One of several texts; the empty text if there are none.
    pub(crate) fn word<'t>(&mut self, items: &[&'t str]) -> &'t str {
        self.pick(items).unwrap_or_default()
    }

    /// From `low` to `high`, both included.
    pub(crate) fn between(&mut self, low: i64, high: i64) -> i64 {
        let span = high.saturating_sub(low).unsigned_abs().saturating_add(1);
        let offset = i64::try_from(self.below(span)).unwrap_or(0);
        low.saturating_add(offset)
    }
}
