//! The price of a charge, as a table over the variance that is left after it.

/// The remainders at which prices are stored, in units of 1e-15: 2^(4-j) for j = 0, ..., 22, rounded
/// down, and 0.
pub const REMAINDERS: [u64; 24] = {
    let mut all = [0; 24];
    let mut j = 0;
    #[allow(clippy::indexing_slicing, reason = "evaluated by the compiler")]
    while j < 23 {
        all[j] = SIXTEEN >> j;
        j += 1;
    }
    all
};

const SIXTEEN: u64 = 16_000_000_000_000_000;

/// The variance that a charge takes, in units of 1e-15, at each of the [`REMAINDERS`].
///
/// It does not depend on the budget. It does not fall along the table, because the remainders do.
/// None means that the charge has no price at that remainder.
///
/// ```
/// use mizan_accounting::clock::Price;
/// use mizan_core::PrivacyEvent;
///
/// let event: PrivacyEvent = "10 * gaussian(20)".parse()?;
/// let price = Price::of(&event)?;
/// // Ten times 1/400, whatever is left.
/// assert_eq!(price.taken(25_000_000_000_001), Some(25_000_000_000_001));
/// assert_eq!(price.taken(25_000_000_000_000), None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Price {
    at: [Option<u64>; 24],
}

impl Price {
    /// The same price at all remainders: that of a Gaussian mechanism.
    #[must_use]
    pub const fn constant(femto: u64) -> Self {
        Self {
            at: [Some(femto); 24],
        }
    }

    /// The price with this table, such as one that was stored. None if it falls somewhere: then it
    /// is not a table of prices.
    #[must_use]
    pub fn from_table(at: [Option<u64>; 24]) -> Option<Self> {
        let ordered = at.is_sorted_by_key(|price| price.unwrap_or(u64::MAX));
        // Without a price at one remainder there is none at a smaller one.
        let gaps = at.is_sorted_by_key(Option::is_none);
        (ordered && gaps).then_some(Self { at })
    }

    /// The table with the price that `price` gives at each remainder.
    ///
    /// A price at a remainder is a price at every larger one, so each entry is at most the next.
    pub(super) fn tabulated(mut price: impl FnMut(u64) -> Option<u64>) -> Self {
        let mut at = [None; 24];
        let mut least = None;
        for (slot, &left) in at.iter_mut().zip(&REMAINDERS).rev() {
            let here = price(left);
            least = match (here, least) {
                (Some(here), Some(least)) => Some(here.min(least)),
                (here, least) => here.or(least),
            };
            *slot = least;
        }
        Self { at }
    }

    /// The price at each of the [`REMAINDERS`].
    #[must_use]
    pub const fn at(&self) -> &[Option<u64>; 24] {
        &self.at
    }

    /// The variance to take from `left`, in units of 1e-15: the least price whose remainder is still
    /// there afterwards. None if none is.
    #[must_use]
    pub fn taken(&self, left: u64) -> Option<u64> {
        self.entries()
            .find(|&(remainder, price)| {
                price
                    .checked_add(remainder)
                    .is_some_and(|needed| needed <= left)
            })
            .map(|(_, price)| price)
    }

    /// The price at the largest stored remainder that is at most `remainder`.
    pub(super) fn at_remainder(&self, remainder: u64) -> Option<u64> {
        self.entries()
            .find(|&(stored, _)| stored <= remainder)
            .map(|(_, price)| price)
    }

    /// The remainders that have a price, falling, with their prices, not falling.
    fn entries(&self) -> impl Iterator<Item = (u64, u64)> {
        REMAINDERS
            .iter()
            .zip(&self.at)
            .filter_map(|(&remainder, price)| Some((remainder, (*price)?)))
    }

    /// The price of two charges as one, in any order and however the later one depends on the
    /// answer of the earlier one.
    ///
    /// # Guarantee
    ///
    /// After the charge w is left. The later part is priced at w, and the earlier one at w plus the
    /// price of the later, at which its price is not higher than at w. So the sum of the prices at w
    /// is a price at w.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        let mut sum = self.clone();
        for (price, &other) in sum.at.iter_mut().zip(&other.at) {
            *price = price
                .zip(other)
                .and_then(|(one, other)| one.checked_add(other));
        }
        sum
    }

    /// The price of `count` such charges as one; see [`plus`](Self::plus).
    #[must_use]
    pub fn repeated(&self, count: u64) -> Self {
        Self {
            at: self.at.map(|price| price?.checked_mul(count)),
        }
    }

    /// The price of `count` mechanisms with this price that run while `left` remains for what
    /// follows them.
    ///
    /// The last one leaves `left`, the one before leaves its price in addition, and so on: most are
    /// priced at a remainder far above `left`.
    pub(super) fn one_by_one(&self, count: u64, left: u64) -> Option<u64> {
        let (mut count, mut after) = (count, left);
        while count > 0 {
            let each = self.at_remainder(after)?;
            // How many are priced alike, until what is left reaches the next stored remainder.
            let next = REMAINDERS.iter().rev().find(|&&stored| stored > after);
            let alike = match next {
                Some(&next) if each > 0 => (next - after).div_ceil(each).min(count),
                _ => count,
            };
            after = after.checked_add(each.checked_mul(alike)?)?;
            count -= alike;
        }
        after.checked_sub(left)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remainders_are_halves() {
        assert_eq!(REMAINDERS[0], 16_000_000_000_000_000);
        assert_eq!(REMAINDERS[4], 1_000_000_000_000_000);
        assert_eq!(REMAINDERS[22], 3_814_697_265);
        assert_eq!(REMAINDERS[23], 0);
    }

    #[test]
    fn the_least_price_that_fits_is_taken() {
        // 10 where at least one half is left, 20 elsewhere.
        let half = REMAINDERS[5];
        let price = Price::tabulated(|left| Some(if left >= half { 10 } else { 20 }));
        assert_eq!(price.taken(half + 10), Some(10));
        assert_eq!(price.taken(half + 9), Some(20));
        assert_eq!(price.taken(20), Some(20));
        assert_eq!(price.taken(19), None);
        assert_eq!(price.taken(u64::MAX), Some(10));
    }

    #[test]
    fn a_price_at_a_remainder_is_one_at_larger_ones() {
        let two = REMAINDERS[3];
        let price = Price::tabulated(|left| (left == two).then_some(7));
        assert_eq!(price.at()[..4], [Some(7); 4]);
        assert_eq!(price.at()[4..], [None; 20]);
        assert_eq!(price.taken(two + 6), None);
        assert_eq!(price.at_remainder(two - 1), None);
        assert_eq!(Price::from_table(*price.at()), Some(price));
    }

    #[test]
    fn tables_that_fall_are_refused() {
        let mut table = [Some(5); 24];
        table[9] = Some(4);
        assert_eq!(Price::from_table(table), None);
        table[9] = None;
        assert_eq!(Price::from_table(table), None);
    }

    #[test]
    fn sums_do_not_wrap() {
        let large = Price::constant(u64::MAX - 1);
        assert_eq!(large.plus(&Price::constant(1)).at()[0], Some(u64::MAX));
        assert_eq!(large.plus(&Price::constant(2)).at()[0], None);
        assert_eq!(large.repeated(2).at()[23], None);
        assert_eq!(large.repeated(0).taken(0), Some(0));
        assert_eq!(large.taken(u64::MAX), Some(u64::MAX - 1));
    }

    #[test]
    fn one_by_one_counts_each_at_its_own_remainder() {
        let price = Price::tabulated(|left| Some(if left == 0 { 100 } else { 60 }));
        let smallest = REMAINDERS[22];
        // Until the smallest stored remainder is reached all are priced at none.
        let dear = smallest.div_ceil(100);
        assert_eq!(price.one_by_one(dear, 0), Some(100 * dear));
        assert_eq!(price.one_by_one(dear + 3, 0), Some(100 * dear + 180));
        assert_eq!(price.one_by_one(3, smallest), Some(180));
        assert_eq!(price.one_by_one(0, 0), Some(0));
        assert_eq!(
            Price::constant(2).one_by_one(u64::MAX / 2, 0),
            Some(u64::MAX - 1)
        );
        assert_eq!(Price::constant(2).one_by_one(u64::MAX, 0), None);
    }
}
