//! L2 clipping: a unit in too many groups stays in all of them, and its whole contribution is
//! multiplied by one factor.
//!
//! Contributions are measured in multiples of the sensitivity of their statistic. Over m statistics
//! a unit in C groups has a norm of at most √(C m). That norm is what is charged for and what every
//! unit is clipped to. A unit in at most C groups is never clipped.
//!
//! # Guarantee
//!
//! Let x be the contributions of a unit to all statistics of all groups, B the sensitivity of each
//! statistic, y the clipped contributions and F their fineness (y counts in steps of 1/F). Then `Σ
//! (y / F B)² <= C m`, exactly:
//!
//! - [`Clip::square`] is q² for an integer `q >= 2¹⁵ |x| / B`. Let S be the sum.
//! - Where `S <= C m 2³⁰` nothing is clipped: `y = F x`.
//! - Otherwise `f = ⌊√(C m 2³⁰ (2⁴⁰ - 1) / S)⌋` in doubles. Product, S, quotient and root each have
//!   a relative rounding error of at most 2⁻⁵³, and the 1 subtracted from 2⁴⁰ exceeds all of these
//!   errors, so `f² S <= C m 2⁷⁰`. IEEE 754 rounds these operations correctly, so all engines agree
//!   on f.
//! - `y = F x f / 2²⁰`, rounded towards zero, so `|y / F B| <= q f / 2³⁵`.

use crate::plan::MAX_CONTRIBUTION;

/// The number of steps in one sensitivity, for squares.
pub const STEPS: i64 = 1 << 15;

/// The factor 1 in fixed point.
pub const ONE: i64 = 1 << 20;

/// The square of [`ONE`], less a margin for the rounding of doubles.
const SQUARE: i64 = (1 << 40) - 1;

/// The greatest fineness. Clipping gives fractions of contributions, which need finer integers.
const FINEST: i64 = 1 << 10;

/// The most groups times statistics for which the sum of squares fits 64 bits.
pub(crate) const MOST: u64 = 1 << 32;

/// The norm that units are clipped to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clip {
    groups: u64,
    allowed: i64,
}

impl Clip {
    /// The norm of this many full groups of this many statistics.
    #[must_use]
    pub fn new(groups: u64, statistics: usize) -> Self {
        let statistics = u64::try_from(statistics).unwrap_or(u64::MAX);
        let parts = groups.saturating_mul(statistics).min(MOST);
        let parts = i64::try_from(parts).unwrap_or(i64::MAX);
        Self {
            groups,
            allowed: parts.saturating_mul(STEPS * STEPS),
        }
    }

    /// The number of groups up to which a unit is not clipped.
    #[must_use]
    pub const fn groups(self) -> u64 {
        self.groups
    }

    /// The square of a contribution in steps, rounded up.
    #[must_use]
    pub fn square(contribution: i64, sensitivity: u64) -> i64 {
        let steps = contribution
            .unsigned_abs()
            .saturating_mul(STEPS.unsigned_abs());
        let steps = steps.div_ceil(sensitivity.max(1));
        i64::try_from(steps.saturating_mul(steps)).unwrap_or(i64::MAX)
    }

    /// The largest sum of squares that is not clipped.
    #[must_use]
    pub const fn allowed(self) -> i64 {
        self.allowed
    }

    /// The dividend of the factor: the factor is the root of this divided by the sum of squares.
    #[must_use]
    pub const fn dividend(self) -> f64 {
        self.allowed as f64 * SQUARE as f64
    }

    /// The factor for a unit with this sum of squares, in multiples of 1/[`ONE`].
    #[must_use]
    #[allow(clippy::cast_possible_truncation, reason = "below 2^20, rounded down")]
    pub fn factor(self, squares: i64) -> i64 {
        if squares <= self.allowed {
            return ONE;
        }
        (self.dividend() / squares as f64).sqrt().floor() as i64
    }

    /// The clipped contribution, in fine steps.
    #[must_use]
    pub fn clipped(contribution: i64, sensitivity: u64, factor: i64) -> i64 {
        let fine = contribution.saturating_mul(fineness(sensitivity));
        fine.saturating_mul(factor) / ONE
    }
}

/// The fineness: how many integers of a clipped statistic make one contribution. It is 2¹⁰, or the
/// largest power of two that fits (C4).
#[must_use]
pub fn fineness(sensitivity: u64) -> i64 {
    let fits = MAX_CONTRIBUTION / i64::try_from(sensitivity.max(1)).unwrap_or(i64::MAX);
    match fits.checked_ilog2() {
        Some(bits) => (1 << bits).min(FINEST),
        None => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A contribution of a unit to one statistic in one group, and the sensitivity of the
    /// statistic.
    type Has = (i64, u64);

    /// Clips a unit, checks every step of the proof and the norm in integers, and returns the
    /// factor.
    fn check(unit: &[Has], groups: u64, statistics: usize) -> i64 {
        let clip = Clip::new(groups, statistics);
        let parts = u128::from(groups) * u128::try_from(statistics).unwrap();
        let mut squares = 0_i64;
        for (x, b) in unit {
            let square = Clip::square(*x, *b);
            let q = u128::from(square.unsigned_abs().isqrt());
            assert_eq!(q * q, u128::from(square.unsigned_abs()));
            assert!(
                q * u128::from(*b) >= u128::from(x.unsigned_abs()) << 15,
                "{x} {b}"
            );
            squares += square;
        }
        let factor = clip.factor(squares);
        let f = u128::from(factor.unsigned_abs());
        if factor == ONE {
            assert!(u128::from(squares.unsigned_abs()) <= parts << 30);
        } else {
            assert!(f < 1 << 20 && f * f * u128::from(squares.unsigned_abs()) <= parts << 70);
            // The factor is also not smaller than necessary.
            let more = f + 1 + (f >> 38);
            assert!((more + 1) * (more + 1) * u128::from(squares.unsigned_abs()) > parts << 70);
        }
        // In multiples of 2^-40, each rounded up.
        let mut norm = 0_u128;
        for (x, b) in unit {
            let (y, fine) = (Clip::clipped(*x, *b, factor), fineness(*b));
            if factor == ONE {
                assert_eq!(y, x * fine);
            }
            let (near, far) = (u128::from(y.unsigned_abs()), u128::from(x.unsigned_abs()));
            assert!(near << 20 <= far * u128::from(fine.unsigned_abs()) * f);
            assert!(y.signum() * x.signum() >= 0);
            let most = u128::from(*b) * u128::from(fine.unsigned_abs());
            assert!(near <= most && most <= 1 << 29);
            norm += ((near * near) << 40).div_ceil(most * most);
        }
        // Rounding up adds at most 2^-40 for each contribution. Where a unit was clipped, that is
        // less than the margin unless it has millions of contributions.
        let slack = u128::try_from(unit.len()).unwrap();
        assert!(norm <= (parts << 40) + slack, "{norm} {parts}");
        factor
    }

    const SENSITIVITIES: [u64; 9] = [
        1,
        2,
        3,
        1000,
        (1 << 19) - 1,
        (1 << 19) + 1,
        (1 << 22) + 7,
        (1 << 29) - 1,
        1 << 29,
    ];

    #[test]
    fn units_in_few_groups_are_not_clipped() {
        for b in SENSITIVITIES {
            let full = i64::try_from(b).unwrap();
            for groups in [1, 2, 6, 1000] {
                let unit = vec![(-full, b); usize::try_from(groups).unwrap()];
                assert_eq!(check(&unit, groups, 1), ONE);
                let other = unit.iter().flat_map(|has| [*has, (1, 1)]);
                assert_eq!(check(&other.collect::<Vec<_>>(), groups, 2), ONE);
            }
        }
    }

    #[test]
    fn full_contributions_keep_the_root_of_the_share() {
        for b in SENSITIVITIES {
            let full = i64::try_from(b).unwrap();
            // √(6/21) = 0.5345.
            let factor = check(&vec![(full, b); 21], 6, 1);
            assert_eq!(factor, 560_487);
            let kept = Clip::clipped(full, b, factor) as f64;
            let kept = kept / (b as f64 * fineness(b) as f64);
            assert!(kept <= 0.534_523 && kept > 0.5335, "{b} {kept}");
        }
    }

    #[test]
    fn extremes_are_clipped_to_the_norm() {
        // Zeros in any number of groups.
        assert_eq!(check(&vec![(0, 1); 100_000], 1, 1), ONE);
        assert_eq!(check(&vec![(0, 1 << 29); 100_000], 1, 1), ONE);
        // Statistics that can only be zero.
        assert_eq!((Clip::square(0, 0), Clip::clipped(0, 0, ONE)), (0, 0));
        // A little in very many groups: 1 of 2^29 is counted as 2^14 of 2^29.
        assert_eq!(check(&vec![(1, 1 << 29); 1 << 20], 1, 1), ONE);
        assert!(check(&vec![(1 << 14, 1 << 29); 1 << 21], 1, 1) == ONE);
        assert!(check(&vec![(1 << 15, 1 << 29); 1 << 21], 1, 1) == ONE);
        // Full contributions to millions of groups.
        for b in [1, 1 << 29] {
            let full = i64::try_from(b).unwrap();
            assert_eq!(check(&vec![(full, b); 4_000_000], 1, 1), 524);
            assert_eq!(check(&vec![(-full, b); 4_000_000], 1_000_000, 1), 524_287);
        }
        // One full group beside many tiny contributions.
        let mut crumbs = vec![(1, 1 << 29); 10_000];
        crumbs.push((1 << 29, 1 << 29));
        assert!(check(&crumbs, 1, 1) >= ONE - 8);
        // Statistics of other sensitivities.
        let unit = [(1, 1), (-(1 << 29), 1 << 29), (3, 5)].repeat(50);
        check(&unit, 2, 3);
    }

    #[test]
    fn the_largest_squares_add_up() {
        let clip = Clip::new(u64::MAX, usize::MAX);
        assert_eq!(clip.allowed(), 1 << 62);
        assert_eq!(clip.factor(i64::MAX), 741_455);
        assert_eq!(Clip::new(1, 1).factor(i64::MAX), 11);
    }

    #[test]
    fn random_units_are_clipped_to_the_norm() {
        let mut state = 7_u64;
        let mut below = |most: u64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 33) % most
        };
        let mut clipped = 0;
        for _ in 0..20_000 {
            let statistics = 1 + below(4);
            let of: Vec<u64> = (0..statistics)
                .map(|_| SENSITIVITIES[usize::try_from(below(9)).unwrap()])
                .collect();
            let mut unit: Vec<Has> = Vec::new();
            let small = below(3) == 0;
            for _ in 0..below(40) {
                for b in &of {
                    let most = if small { (b / 100).max(1) } else { *b };
                    let x = i64::try_from(below(most + 1)).unwrap();
                    unit.push((if below(2) == 0 { x } else { -x }, *b));
                }
            }
            let factor = check(&unit, 1 + below(9), of.len());
            clipped += u32::from(factor < ONE);
        }
        assert!((5_000..15_000).contains(&clipped), "{clipped}");
    }

    #[test]
    fn fine_contributions_fit() {
        assert_eq!(
            (fineness(0), fineness(1), fineness(1 << 19)),
            (1024, 1024, 1024)
        );
        assert_eq!((fineness((1 << 19) + 1), fineness(1 << 20)), (512, 512));
        assert_eq!((fineness(1 << 29), fineness(u64::MAX)), (1, 1));
    }
}
