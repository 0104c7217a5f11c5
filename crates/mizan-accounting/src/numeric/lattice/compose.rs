//! Sums of independent losses on the lattice: convolutions of weights.
//!
//! Weights are non-negative and add up to about one. What is wanted is their
//! product Π w_i^(*k_i), known up to a relative and an absolute error:
//!
//! - *few places*: convolution by its definition. Sums of positive products
//!   have a relative error of at most (n + 1) u each, n the shorter length;
//!   squaring doubles what was there before;
//! - *few taps*, at any places: modulo N by the definition, in the same way;
//! - *many places*: modulo N, by Fourier transforms. With y_i the spectra and
//!   ŷ_i the computed ones, |ŷ_i - y_i| <= e_i = ρ Σ w_i (see `fft.rs`), or
//!   (n + 1) u Σ w_i where n taps are few. With
//!   A_i = |ŷ_i| + e_i, which is at least both moduli, telescoping gives
//!
//!   > |Π ŷ_i^k_i - Π y_i^k_i| <= Π A_i^k_i Σ k_i e_i/A_i,
//!
//!   and the K = Σ k_i complex products of the powers, each with a relative
//!   error below 2.83 u, add 3 K u Π A_i^k_i. These bounds are evaluated value
//!   by value, so that they fall with the spectrum. The way back adds ρ times
//!   the norm of the computed product. By Parseval the norm of the error of
//!   the weights is the norm of all that over √N.
//!
//! Folding weights modulo N sums positive numbers: a relative error again.
//! What underflows is far below the constant 1e-290 that is added.

use std::sync::OnceLock;

use super::fft::{Complex, Fft};

/// 2^-53.
const U: f64 = f64::EPSILON / 2.0;

/// Up to this many places convolution goes by its definition.
const DIRECT: i64 = 1 << 11;

/// The most factors: beyond, rounding alone would blur the result.
const MOST: f64 = 1e11;

/// A factor with at most this many taps, counting repetitions, is multiplied in
/// tap by tap: cheaper than a transform, and without absolute error.
pub(super) const FEW_TAPS: u64 = 64;

/// A factor with at most this many taps has its spectrum computed by its
/// definition: as fast as a transform, and more precise.
const DIRECT_TAPS: usize = 6;

/// Weights at places, and how often they occur.
#[derive(Clone, Debug)]
pub(super) struct Factor {
    /// By rising place, at least one.
    pub(super) taps: Vec<(i64, f64)>,
    pub(super) count: u64,
}

/// Neighbouring places: 2^m of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Window {
    pub(super) first: i64,
    pub(super) m: u32,
}

/// The first and the last of some places.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Support {
    pub(super) first: i64,
    pub(super) last: i64,
}

/// A product of factors, perhaps modulo the length of the window.
#[derive(Clone, Debug)]
pub(super) struct Composed {
    pub(super) first: i64,
    pub(super) weights: Vec<f64>,
    /// The relative error of every weight, before the absolute one.
    pub(super) relative: f64,
    /// The euclidean norm of the absolute errors.
    pub(super) absolute: f64,
    /// Whether there are places outside, which were folded in.
    pub(super) folded: bool,
    /// Whether there are places above.
    pub(super) above_window: bool,
}

impl Factor {
    fn first(&self) -> i64 {
        self.taps.first().map_or(0, |tap| tap.0)
    }

    fn last(&self) -> i64 {
        self.taps.last().map_or(0, |tap| tap.0)
    }

    /// At most how many additions fold the taps into one place: all of them
    /// but one, and no more than there are turns.
    fn folds(&self, size: usize) -> f64 {
        let turns = (self.last() - self.first()) as f64 / size as f64;
        turns.floor().min(self.taps.len() as f64)
    }

    /// All taps, counting repetitions.
    fn all_taps(&self) -> u64 {
        (self.taps.len() as u64).saturating_mul(self.count)
    }
}

impl Support {
    /// The places of a product; None if they come near overflow.
    pub(super) fn of(factors: &[Factor]) -> Option<Self> {
        let (mut first, mut last) = (0i64, 0i64);
        for factor in factors {
            let count = i64::try_from(factor.count).ok()?;
            first = first.checked_add(factor.first().checked_mul(count)?)?;
            last = last.checked_add(factor.last().checked_mul(count)?)?;
        }
        (first > i64::MIN / 4 && last < i64::MAX / 4).then_some(Self { first, last })
    }

    /// Both.
    pub(super) fn and(self, other: Self) -> Self {
        Self {
            first: self.first.min(other.first),
            last: self.last.max(other.last),
        }
    }

    /// Whether convolution by its definition is best.
    pub(super) fn is_small(self) -> bool {
        self.last - self.first < DIRECT
    }
}

/// The product at all places of a support, by its definition.
pub(super) fn directly(factors: &[Factor], support: Support) -> Option<Composed> {
    let own = Support::of(factors)?;
    let mut product = (vec![1.0], 0.0);
    for factor in factors {
        let mut square = (dense(factor)?, 0.0);
        let mut count = factor.count;
        while count > 0 {
            if count % 2 == 1 {
                product = convolution(&product, &square);
            }
            count /= 2;
            if count > 0 {
                square = convolution(&square, &square);
            }
        }
    }
    let before = usize::try_from(own.first - support.first).ok()?;
    let after = usize::try_from(support.last - own.last).ok()?;
    let zeros = |n: usize| std::iter::repeat_n(0.0, n);
    let weights = zeros(before).chain(product.0).chain(zeros(after));
    Some(Composed {
        first: support.first,
        weights: weights.collect(),
        relative: product.1,
        absolute: 1e-290,
        folded: false,
        above_window: false,
    })
}

/// All weights from the first place to the last.
fn dense(factor: &Factor) -> Option<Vec<f64>> {
    let first = factor.first();
    let places = usize::try_from(factor.last() - first + 1).ok()?;
    let mut weights = vec![0.0; places];
    for &(place, weight) in &factor.taps {
        *weights.get_mut(usize::try_from(place - first).ok()?)? += weight;
    }
    Some(weights)
}

/// A convolution of weights with relative errors.
fn convolution(a: &(Vec<f64>, f64), b: &(Vec<f64>, f64)) -> (Vec<f64>, f64) {
    let (short, long) = if a.0.len() < b.0.len() {
        (a, b)
    } else {
        (b, a)
    };
    let n = short.0.len();
    let mut sums = vec![0.0; n + long.0.len() - 1];
    for (place, &x) in short.0.iter().enumerate() {
        for (sum, &y) in sums.iter_mut().skip(place).zip(&long.0) {
            *sum += x * y;
        }
    }
    // (1 + a)(1 + b)(1 + c) - 1, without cancellation.
    let c = (n as f64 + 1.0) * U * (1.0 + 1e-9);
    let both = a.1 + b.1 + a.1 * b.1;
    (sums, (both + c + both * c) * (1.0 + 1e-9))
}

/// Products modulo the length of a window.
pub(super) struct Transforms {
    window: Window,
    /// Made when first needed, and then shared.
    fft: OnceLock<Fft>,
}

impl Transforms {
    pub(super) fn new(window: Window) -> Self {
        Self {
            window,
            fft: OnceLock::new(),
        }
    }

    /// The product, with factors of up to `few_taps` multiplied in tap by tap;
    /// None if there are too many factors.
    pub(super) fn modulo(&self, factors: &[Factor], few_taps: u64) -> Option<Composed> {
        let window = self.window;
        let own = Support::of(factors)?;
        let all: f64 = factors.iter().map(|factor| factor.count as f64).sum();
        if all > MOST || factors.iter().any(|factor| factor.taps.is_empty()) {
            return None;
        }
        let (sparse, dense): (Vec<&Factor>, Vec<&Factor>) = factors
            .iter()
            .partition(|factor| factor.all_taps() <= few_taps);
        let mut product = self.transformed(&dense)?;
        let mut next = Vec::new();
        for factor in sparse {
            next.resize(product.weights.len(), 0.0);
            for _ in 0..factor.count {
                next.fill(0.0);
                for &(place, weight) in &factor.taps {
                    add_turned(&product.weights, place, weight, &mut next)?;
                }
                std::mem::swap(&mut product.weights, &mut next);
            }
            let taps = factor.taps.len() as f64;
            let sum: f64 = factor.taps.iter().map(|tap| tap.1).sum();
            let count = factor.count as f64;
            product.relative += 1.01 * count * (taps + 1.0) * U;
            // A convolution stretches norms by at most the sum of its weights.
            product.absolute *= (sum * (1.0 + 1e-9)).powf(count).max(1.0) * (1.0 + 1e-9);
        }
        let size = product.weights.len() as i64;
        let turn = usize::try_from(window.first.rem_euclid(size)).ok()?;
        product.weights.rotate_left(turn);
        let end = window.first + size;
        product.first = window.first;
        product.folded = own.first < window.first || own.last >= end;
        product.above_window = own.last >= end;
        product.absolute.is_finite().then_some(product)
    }

    /// The product by transforms alone, from place zero on.
    fn transformed(&self, factors: &[&Factor]) -> Option<Composed> {
        let size = 1usize << self.window.m;
        let mut composed = Composed {
            first: 0,
            weights: vec![0.0; size],
            relative: 0.0,
            absolute: 1e-290,
            folded: false,
            above_window: false,
        };
        if factors.is_empty() {
            *composed.weights.first_mut()? = 1.0;
            return Some(composed);
        }
        let all: f64 = factors.iter().map(|factor| factor.count as f64).sum();
        let fft = self.fft.get_or_init(|| Fft::new(self.window.m));
        let rho = fft.error();
        let mut product = vec![Complex::ONE; size];
        // Π A^k, and Σ k e/A beside what the products add.
        let mut bounds = vec![(1.0f64, 3.01 * all * U); size];
        let mut folds = 0.0f64;
        for factor in factors {
            let sum: f64 = factor.taps.iter().map(|tap| tap.1).sum();
            let taps = factor.taps.len();
            let (spectrum, error) = if taps <= DIRECT_TAPS {
                let rounding = (taps as f64 + 1.0) * U;
                (directly_transformed(fft, factor, size)?, rounding * sum)
            } else {
                let mut spectrum = folded(factor, size)?;
                folds = folds.max(factor.folds(size));
                fft.forward(&mut spectrum);
                (spectrum, rho * sum)
            };
            let error = error * (1.0 + 1e-9);
            let count = factor.count as f64;
            for ((z, (bound, rate)), &y) in product.iter_mut().zip(&mut bounds).zip(&spectrum) {
                let modulus = y.modulus() * (1.0 + 1e-15) + error;
                let (power, power_of_modulus) = powers(y, modulus, factor.count);
                *z = *z * power;
                *bound *= power_of_modulus;
                *rate += count * error / modulus;
            }
        }
        let (mut errors, mut norm) = (0.0, 0.0);
        for (z, (bound, rate)) in product.iter().zip(&bounds) {
            let error = bound * rate;
            errors += error * error;
            norm += z.squared_modulus();
        }
        // The bounds are computed with less than 4 K u of relative error.
        let slack = 1.0 + 1e-6 + 5.0 * all * U;
        composed.absolute += (errors.sqrt() + rho * norm.sqrt()) / (size as f64).sqrt() * slack;
        composed.relative = 1.01 * all * folds * U;
        fft.backward(&mut product);
        let scale = 1.0 / size as f64;
        for (weight, z) in composed.weights.iter_mut().zip(&product) {
            // True weights are not negative, so cutting brings them nearer.
            *weight = (z.re * scale).max(0.0);
        }
        Some(composed)
    }
}

/// Adds `weight` times the weights, moved up by `place` modulo their number.
fn add_turned(weights: &[f64], place: i64, weight: f64, target: &mut [f64]) -> Option<()> {
    let turn = usize::try_from(place.rem_euclid(weights.len() as i64)).ok()?;
    let (low, high) = target.split_at_mut_checked(turn)?;
    let (stay, wrap) = weights.split_at_checked(high.len())?;
    for (targets, sources) in [(high, stay), (low, wrap)] {
        for (target, source) in targets.iter_mut().zip(sources) {
            *target += weight * source;
        }
    }
    Some(())
}

/// Weights at their places modulo the size.
fn folded(factor: &Factor, size: usize) -> Option<Vec<Complex>> {
    let mut values = vec![Complex { re: 0.0, im: 0.0 }; size];
    for &(place, weight) in &factor.taps {
        let place = usize::try_from(place.rem_euclid(size as i64)).ok()?;
        values.get_mut(place)?.re += weight;
    }
    Some(values)
}

/// The spectrum of a few weights by its definition, in the order of [`Fft`].
///
/// A root of unity is off by at most 0.71 u, its product with a weight by one
/// unit, the sum of n terms by n - 1: in all fewer than (n + 1) u Σ w.
fn directly_transformed(fft: &Fft, factor: &Factor, size: usize) -> Option<Vec<Complex>> {
    let mask = size - 1;
    let shift = usize::BITS - size.trailing_zeros();
    let mut taps = Vec::with_capacity(factor.taps.len());
    for &(place, weight) in &factor.taps {
        taps.push((usize::try_from(place.rem_euclid(size as i64)).ok()?, weight));
    }
    let value = |index: usize| {
        let k = index.reverse_bits().checked_shr(shift).unwrap_or(0);
        let mut sum = Complex { re: 0.0, im: 0.0 };
        for &(place, weight) in &taps {
            let root = fft.root(place.wrapping_mul(k) & mask);
            sum.re += weight * root.re;
            sum.im += weight * root.im;
        }
        sum
    };
    Some((0..size).map(value).collect())
}

/// y^k and a^k.
#[inline]
fn powers(y: Complex, a: f64, k: u64) -> (Complex, f64) {
    if k == 1 {
        return (y, a);
    }
    let (mut power, mut bound) = (Complex::ONE, 1.0);
    let (mut square, mut square_bound) = (y, a);
    let mut count = k;
    loop {
        if count % 2 == 1 {
            power = power * square;
            bound *= square_bound;
        }
        count /= 2;
        if count == 0 {
            return (power, bound);
        }
        square = square * square;
        square_bound *= square_bound;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn weights(n: usize, seed: u64) -> Vec<f64> {
        let mut state = seed;
        let mut random = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / 9_007_199_254_740_992.0
        };
        let raw: Vec<f64> = (0..n).map(|_| random().powi(4)).collect();
        let sum: f64 = raw.iter().sum();
        raw.iter().map(|w| w / sum).collect()
    }

    fn factor(first: i64, weights: Vec<f64>, count: u64) -> Factor {
        Factor {
            taps: (first..).zip(weights).collect(),
            count,
        }
    }

    /// The bound is above the error, and not by much more than it must.
    #[test]
    fn the_bound_of_the_transform_bounds_its_error() {
        for (n, counts, m) in [
            (5, [30, 3], 8u32),
            (40, [20, 11], 11),
            (2, [900, 700], 11),
            (300, [2, 3], 11),
            (3, [2, 5], 5),
        ] {
            let kinds = counts.iter().zip(1..);
            let factors = kinds.map(|(&count, seed)| factor(-3, weights(n, seed), count));
            let factors: Vec<Factor> = factors.collect();
            let support = Support::of(&factors).unwrap();
            let first = support.first;
            assert!(support.last - first < 1 << m);
            let direct = directly(&factors, support).unwrap();
            let fast = Transforms::new(Window { first, m })
                .modulo(&factors, FEW_TAPS)
                .unwrap();
            assert!(!fast.folded && direct.first == fast.first);
            let (mut error, mut norm) = (0.0, 0.0);
            for (a, b) in direct.weights.iter().zip(&fast.weights) {
                error += (a - b) * (a - b);
                norm += a * a;
            }
            let (error, norm) = (error.sqrt(), norm.sqrt());
            let bound = fast.absolute + (direct.relative + fast.relative) * norm;
            assert!(error <= bound, "{error:e} {bound:e}");
            assert!(bound < 1e-10 * norm, "{:e}", bound / norm);
        }
    }

    /// A spectrum by its definition is that of the transform, to within both
    /// bounds, wherever the taps are.
    #[test]
    fn spectra_of_few_taps_are_those_of_the_transform() {
        for m in [0u32, 1, 4, 11] {
            let size = 1usize << m;
            for n in 1..=DIRECT_TAPS {
                let places = (0..n).map(|k| (k * k * 977) as i64 - 5000);
                let factor = Factor {
                    taps: places.zip(weights(n, u64::from(m) + 3)).collect(),
                    count: 1,
                };
                let fft = Fft::new(m);
                let direct = directly_transformed(&fft, &factor, size).unwrap();
                let mut fast = folded(&factor, size).unwrap();
                fft.forward(&mut fast);
                // The weights add up to one; folding rounds n - 1 times.
                let bound = fft.error() + (2.0 * n as f64 + 1.0) * U;
                for (a, b) in direct.iter().zip(&fast) {
                    let off = (a.re - b.re).hypot(a.im - b.im);
                    assert!(off <= bound * (1.0 + 1e-9), "{m} {n}: {off:e}");
                }
            }
        }
    }

    #[test]
    fn what_leaves_the_window_is_folded_in() {
        for count in [3, 7] {
            let factors = [factor(-5, weights(11, 9), count)];
            let support = Support::of(&factors).unwrap();
            let whole = directly(&factors, support).unwrap();
            let folded = Transforms::new(Window { first: -8, m: 4 })
                .modulo(&factors, FEW_TAPS)
                .unwrap();
            assert!(folded.folded && !whole.folded);
            let mut sums = [0.0; 16];
            for (weight, place) in whole.weights.iter().zip(whole.first..) {
                sums[usize::try_from((place + 8).rem_euclid(16)).unwrap()] += weight;
            }
            for (a, b) in sums.iter().zip(&folded.weights) {
                assert!((a - b).abs() < 1e-14);
            }
        }
    }

    #[test]
    fn counts_that_overflow_are_refused() {
        let factors = [factor(1 << 40, vec![1.0], u64::MAX / 2)];
        assert!(
            Transforms::new(Window { first: 0, m: 4 })
                .modulo(&factors, FEW_TAPS)
                .is_none()
        );
    }
}
