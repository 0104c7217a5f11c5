//! Sums of independent losses on the lattice: convolutions of weights.
//!
//! Weights are non-negative and add up to about one. What is wanted is their
//! product Π w_i^(*k_i), known up to a relative and an absolute error:
//!
//! - *few places*: convolution by its definition. Sums of positive products
//!   have a relative error of at most (n + 1) u each, n the shorter length;
//!   squaring doubles what was there before;
//! - *many places*: modulo N, by Fourier transforms. With y_i the spectra and
//!   ŷ_i the computed ones, |ŷ_i - y_i| <= e_i = ρ Σ w_i (see `fft.rs`). With
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

use super::fft::{Complex, Fft};

/// 2^-53.
const U: f64 = f64::EPSILON / 2.0;

/// Up to this many places convolution goes by its definition.
const DIRECT: i64 = 1 << 11;

/// The most factors: beyond, rounding alone would blur the result.
const MOST: f64 = 1e11;

/// Weights at neighbouring places, and how often they occur.
#[derive(Clone, Debug)]
pub(super) struct Factor {
    pub(super) first: i64,
    pub(super) weights: Vec<f64>,
    pub(super) count: u64,
}

/// Neighbouring places: 2^m of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Window {
    pub(super) first: i64,
    pub(super) m: u32,
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
    fn last(&self) -> i64 {
        self.first + self.weights.len() as i64 - 1
    }
}

/// The first and last place of the product.
pub(super) fn support<'a>(factors: impl Iterator<Item = &'a Factor>) -> Option<(i64, i64)> {
    let (mut first, mut last) = (0i64, 0i64);
    for factor in factors {
        let count = i64::try_from(factor.count).ok()?;
        first = first.checked_add(factor.first.checked_mul(count)?)?;
        last = last.checked_add(factor.last().checked_mul(count)?)?;
    }
    // Far from overflow in everything that follows.
    (first > i64::MIN / 4 && last < i64::MAX / 4).then_some((first, last))
}

/// The product, by whichever way suits; None if there are too many factors.
pub(super) fn compose(factors: &[Factor], window: Window, direct: bool) -> Option<Composed> {
    let (first, last) = support(factors.iter())?;
    let all: f64 = factors.iter().map(|factor| factor.count as f64).sum();
    if all > MOST || factors.iter().any(|factor| factor.weights.is_empty()) {
        return None;
    }
    if direct && last - first < DIRECT {
        return Some(directly(factors, first));
    }
    transformed(factors, window, all, (first, last))
}

fn directly(factors: &[Factor], first: i64) -> Composed {
    let mut product = (vec![1.0], 0.0);
    for factor in factors {
        let mut square = (factor.weights.clone(), 0.0);
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
    Composed {
        first,
        weights: product.0,
        relative: product.1,
        absolute: 1e-290,
        folded: false,
        above_window: false,
    }
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
    // (1 + a)(1 + b)(1 + (n + 1) u) - 1 as long as all of them are small.
    let error = (a.1 + b.1 + (n as f64 + 1.0) * U) * (1.0 + 1e-6);
    (sums, error)
}

fn transformed(
    factors: &[Factor],
    window: Window,
    all: f64,
    (first, last): (i64, i64),
) -> Option<Composed> {
    let fft = Fft::new(window.m);
    let size = 1usize << window.m;
    let rho = fft.error();
    let mut product = vec![Complex::ONE; size];
    // Π A^k, and Σ k e/A beside what the products add.
    let mut bounds = vec![(1.0f64, 3.01 * all * U); size];
    let mut folds = 0.0f64;
    for factor in factors {
        let mut spectrum = folded(factor, size)?;
        folds = folds.max((factor.weights.len() / size) as f64);
        let sum: f64 = spectrum.iter().map(|value| value.re).sum();
        let error = rho * sum * (1.0 + 1e-9);
        fft.forward(&mut spectrum);
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
    let absolute = (errors.sqrt() + rho * norm.sqrt()) / (size as f64).sqrt() * slack + 1e-290;
    fft.backward(&mut product);
    let scale = 1.0 / size as f64;
    let turn = usize::try_from(window.first.rem_euclid(size as i64)).ok()?;
    let (low, high) = product.split_at_checked(turn)?;
    // True weights are not negative, so cutting brings them nearer.
    let weights = high.iter().chain(low).map(|z| (z.re * scale).max(0.0));
    let end = window.first + size as i64;
    absolute.is_finite().then_some(Composed {
        first: window.first,
        weights: weights.collect(),
        relative: 1.01 * all * folds * U,
        absolute,
        folded: first < window.first || last >= end,
        above_window: last >= end,
    })
}

/// Weights modulo the size, each at its place modulo the size.
fn folded(factor: &Factor, size: usize) -> Option<Vec<Complex>> {
    let mut values = vec![Complex { re: 0.0, im: 0.0 }; size];
    let mut place = usize::try_from(factor.first.rem_euclid(size as i64)).ok()?;
    let mut rest = factor.weights.as_slice();
    while !rest.is_empty() {
        let (now, later) = rest.split_at(rest.len().min(size - place));
        for (value, weight) in values.iter_mut().skip(place).zip(now) {
            value.re += weight;
        }
        (rest, place) = (later, 0);
    }
    Some(values)
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

    /// The bound is above the error, and not by much more than it must.
    #[test]
    fn the_bound_of_the_transform_bounds_its_error() {
        for (n, counts, m) in [
            (5, [7, 3], 7u32),
            (40, [20, 11], 11),
            (2, [900, 700], 11),
            (300, [2, 3], 11),
        ] {
            let factors: Vec<Factor> = counts
                .iter()
                .zip(1..)
                .map(|(&count, seed)| Factor {
                    first: -3,
                    weights: weights(n, seed),
                    count,
                })
                .collect();
            let (first, last) = support(factors.iter()).unwrap();
            let window = Window { first, m };
            assert!(last - first < 1 << m);
            let direct = compose(&factors, window, true).unwrap();
            let fast = compose(&factors, window, false).unwrap();
            assert!(!fast.folded && direct.first == fast.first);
            let (mut error, mut norm) = (0.0, 0.0);
            for (a, b) in direct.weights.iter().zip(&fast.weights) {
                error += (a - b) * (a - b);
                norm += a * a;
            }
            let (error, norm) = (error.sqrt(), norm.sqrt());
            assert!(error <= fast.absolute + direct.relative * norm);
            assert!(fast.absolute < 1e-10 * norm, "{:e}", fast.absolute / norm);
        }
    }

    #[test]
    fn what_leaves_the_window_is_folded_in() {
        let factor = Factor {
            first: -5,
            weights: weights(11, 9),
            count: 3,
        };
        let window = Window { first: -8, m: 4 };
        let wide = Window { first: -15, m: 5 };
        let folded = compose(std::slice::from_ref(&factor), window, false).unwrap();
        let whole = compose(std::slice::from_ref(&factor), wide, false).unwrap();
        assert!(folded.folded && !whole.folded);
        let mut sums = vec![0.0; 16];
        for (place, weight) in whole.weights.iter().enumerate() {
            sums[(place + 16 - 15 + 8) % 16] += weight;
        }
        for (a, b) in sums.iter().zip(&folded.weights) {
            assert!((a - b).abs() < 1e-14);
        }
    }

    #[test]
    fn counts_that_overflow_are_refused() {
        let factor = Factor {
            first: 1 << 40,
            weights: vec![1.0],
            count: u64::MAX / 2,
        };
        let window = Window { first: 0, m: 4 };
        assert!(compose(&[factor], window, true).is_none());
    }
}
