//! Walker's alias method in integers: an outcome from 63 random bits, with probability proportional
//! to its integer weight.
//!
//! The 2⁶³ values of the bits are divided into columns of equal size, and each column between at
//! most two outcomes, so that every outcome owns as many values as its weight. Nothing is rounded.

/// Bits that choose an outcome.
pub(super) const BITS: u32 = 63;

/// The sum of all weights.
pub(super) const TOTAL: u64 = 1 << BITS;

#[derive(Clone, Debug)]
pub(super) struct Alias {
    /// A column: from where on it belongs to another outcome, and to which;
    /// packed, so that the table fits the fastest cache.
    columns: Vec<u64>,
    /// There are 2^`log_columns` columns.
    log_columns: u32,
}

impl Alias {
    /// From weights that sum to [`TOTAL`]; at least two of them.
    pub(super) fn new(weights: &[u64]) -> Self {
        assert_eq!(
            weights.iter().map(|&w| u128::from(w)).sum::<u128>(),
            u128::from(TOTAL)
        );
        let log_columns = weights.len().max(2).next_power_of_two().ilog2();
        let size = TOTAL >> log_columns;
        let count = 1usize << log_columns;
        let mut left: Vec<u64> = weights.to_vec();
        left.resize(count, 0);
        // Columns whose own outcome does not fill them, and outcomes with more
        // than a column.
        let (mut poor, mut rich): (Vec<usize>, Vec<usize>) =
            (0..count).partition(|&at| left.get(at).is_some_and(|&weight| weight < size));
        let mut columns: Vec<u64> = (0..count).map(|at| pack(size, at, log_columns)).collect();
        while let (Some(small), Some(&large)) = (poor.pop(), rich.last()) {
            let own = left.get(small).copied().unwrap_or(0);
            if let Some(column) = columns.get_mut(small) {
                *column = pack(own, large, log_columns);
            }
            if let Some(weight) = left.get_mut(large) {
                *weight -= size - own;
                if *weight < size {
                    rich.pop();
                    poor.push(large);
                }
            }
        }
        Self {
            columns,
            log_columns,
        }
    }

    /// Loads the whole table into the cache. Common outcomes own parts of many columns and rare ones
    /// only their own: if some columns were in the cache and others not, timing would distinguish
    /// these outcomes.
    pub(super) fn warm(&self) {
        /// Columns in a line of the cache.
        const LINE: usize = 8;
        let lines = self.columns.iter().step_by(LINE);
        std::hint::black_box(lines.fold(0, |all, column| all ^ column));
    }

    /// The outcome that owns these 63 bits.
    #[inline]
    pub(super) fn outcome(&self, bits: u64) -> u64 {
        let log_size = BITS - self.log_columns;
        let at = bits >> log_size;
        let within = bits & ((1 << log_size) - 1);
        // The index is below the number of columns: it has that many bits.
        let column = usize::try_from(at)
            .ok()
            .and_then(|at| self.columns.get(at))
            .copied()
            .unwrap_or(0);
        let other = column & ((1 << self.log_columns) - 1);
        // Without a branch: it could not be predicted, and its timing would leak.
        std::hint::select_unpredictable(within < column >> self.log_columns, at, other)
    }

    /// How many of the 2⁶³ values each outcome owns, counted from the table.
    #[cfg(test)]
    pub(super) fn owned(&self) -> Vec<u64> {
        let size = TOTAL >> self.log_columns;
        let mut owned = vec![0; self.columns.len()];
        for (at, column) in self.columns.iter().enumerate() {
            let threshold = column >> self.log_columns;
            owned[at] += threshold;
            owned[usize::try_from(column & ((1 << self.log_columns) - 1)).unwrap()] +=
                size - threshold;
        }
        owned
    }
}

/// A threshold of at most 2^(63-m) and an outcome below 2^m share 64 bits.
fn pack(threshold: u64, other: usize, log_columns: u32) -> u64 {
    threshold << log_columns | u64::try_from(other).unwrap_or(0)
}
