//! A radix-2 fast Fourier transform with a proven error bound.
//!
//! # The bound
//!
//! u = 2^-53. A level of the transform takes pairs (a, b) to (a + w b, a - w b)
//! on the way back, and to (a + b, w (a - b)) on the way there, with |w| = 1.
//! The table has ŵ with |ŵ - w| <= √2 2^-54 < 0.71 u, since sine and cosine
//! are correctly rounded and at most 1; a complex product is computed with a
//! relative error of at most √2 γ₂ < 2.83 u (Higham, Accuracy and Stability of
//! Numerical Algorithms, Lemma 3.5), a complex sum with at most u. Together
//! every level multiplies every contribution by at most 1 + η in error, with
//! η = 5 u. Two bounds follow, for N = 2^m and ρ = (1 + η)^m - 1:
//!
//! - *each value*: an output is Σ x_j w_j with |w_j| = 1, and is computed as
//!   Σ x_j w_j (1 + θ_j) with |θ_j| <= ρ, so its error is at most ρ Σ |x_j|;
//! - *all together*: a level is √2 times a unitary matrix, so the norm of what
//!   it adds in error is at most η times the norm of its exact output (for a
//!   pair: u |out| + 3.54 u |b|, and |b| <= |out|/√2), and after all levels the
//!   error is at most ρ times the norm of the exact transform. This is
//!   Higham's Theorem 24.2 with his constant for this table.
//!
//! The spectrum is left in bit-reversed order, which suffices for products of spectra.

use std::ops::{Add, Mul, Sub};

/// A complex number, with plain arithmetic.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Complex {
    pub(super) re: f64,
    pub(super) im: f64,
}

impl Complex {
    pub(super) const ONE: Self = Self { re: 1.0, im: 0.0 };

    /// |z|, up to a relative error of 3 u.
    #[inline]
    pub(super) fn modulus(self) -> f64 {
        self.squared_modulus().sqrt()
    }

    #[inline]
    pub(super) fn squared_modulus(self) -> f64 {
        self.re * self.re + self.im * self.im
    }

    #[inline]
    fn conjugate(self) -> Self {
        Self {
            re: self.re,
            im: -self.im,
        }
    }
}

impl Add for Complex {
    type Output = Self;
    #[inline]
    fn add(self, other: Self) -> Self {
        Self {
            re: self.re + other.re,
            im: self.im + other.im,
        }
    }
}

impl Sub for Complex {
    type Output = Self;
    #[inline]
    fn sub(self, other: Self) -> Self {
        Self {
            re: self.re - other.re,
            im: self.im - other.im,
        }
    }
}

impl Mul for Complex {
    type Output = Self;
    #[inline]
    fn mul(self, other: Self) -> Self {
        Self {
            re: self.re * other.re - self.im * other.im,
            im: self.re * other.im + self.im * other.re,
        }
    }
}

/// Transforms of one length.
pub(super) struct Fft {
    /// For every level, largest first: e^(-2πi j/size) for j < size/2.
    levels: Vec<Vec<Complex>>,
}

/// Below this size a transform works level by level; above, half by half, so
/// that the smaller ones stay in the cache.
const IN_CACHE: usize = 1 << 12;

impl Fft {
    /// For 2^m values.
    pub(super) fn new(m: u32) -> Self {
        let half = (1usize << m) / 2;
        let step = if half > 0 { 1.0 / half as f64 } else { 0.0 };
        let root = |j: usize| {
            // Exact: the step is a power of two.
            let angle = j as f64 * step;
            Complex {
                re: core_math::cospi(angle),
                im: -core_math::sinpi(angle),
            }
        };
        let mut levels: Vec<Vec<Complex>> = Vec::new();
        let mut level: Vec<Complex> = (0..half).map(root).collect();
        while !level.is_empty() {
            let next = if level.len() > 1 {
                level.iter().copied().step_by(2).collect()
            } else {
                Vec::new()
            };
            levels.push(std::mem::replace(&mut level, next));
        }
        Self { levels }
    }

    /// e^(-2πi j/N) for j < N, off by at most 0.71 u.
    #[inline]
    pub(super) fn root(&self, j: usize) -> Complex {
        let half = self.levels.first().map_or(0, Vec::len);
        let minus = |z: Complex| Complex {
            re: -z.re,
            im: -z.im,
        };
        let table = |j: usize| self.levels.first().and_then(|level| level.get(j)).copied();
        if j < half {
            table(j).unwrap_or(Complex::ONE)
        } else {
            minus(table(j - half).unwrap_or(minus(Complex::ONE)))
        }
    }

    /// ρ of the bound above.
    pub(super) fn error(&self) -> f64 {
        // (1 + η)^m - 1 <= 1.01 m η as long as m η is below 0.01.
        1.01 * 5.0 * 2f64.powi(-53) * self.levels.len() as f64
    }

    /// Σ x_j e^(-2πi jk/N), in the order of reversed bits.
    pub(super) fn forward(&self, values: &mut [Complex]) {
        forward(&self.levels, values);
    }

    /// Σ z_k e^(2πi jk/N) from the order of reversed bits: N times the inverse.
    pub(super) fn backward(&self, values: &mut [Complex]) {
        backward(&self.levels, values);
    }
}

fn forward(levels: &[Vec<Complex>], values: &mut [Complex]) {
    let Some((level, below)) = levels.split_first() else {
        return;
    };
    if values.len() <= IN_CACHE {
        for level in levels {
            for block in values.chunks_exact_mut(2 * level.len()) {
                spread(level, block);
            }
        }
        return;
    }
    spread(level, values);
    let (low, high) = values.split_at_mut(level.len());
    forward(below, low);
    forward(below, high);
}

fn backward(levels: &[Vec<Complex>], values: &mut [Complex]) {
    let Some((level, below)) = levels.split_first() else {
        return;
    };
    if values.len() <= IN_CACHE {
        for level in levels.iter().rev() {
            for block in values.chunks_exact_mut(2 * level.len()) {
                gather(level, block);
            }
        }
        return;
    }
    let (low, high) = values.split_at_mut(level.len());
    backward(below, low);
    backward(below, high);
    gather(level, values);
}

#[inline]
fn spread(level: &[Complex], block: &mut [Complex]) {
    let (low, high) = block.split_at_mut(level.len());
    for ((a, b), &w) in low.iter_mut().zip(high).zip(level) {
        (*a, *b) = (*a + *b, (*a - *b) * w);
    }
}

#[inline]
fn gather(level: &[Complex], block: &mut [Complex]) {
    let (low, high) = block.split_at_mut(level.len());
    for ((a, b), &w) in low.iter_mut().zip(high).zip(level) {
        let turned = *b * w.conjugate();
        (*a, *b) = (*a + turned, *a - turned);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reversed bits.
    fn place(k: usize, m: u32) -> usize {
        k.reverse_bits() >> (usize::BITS - m)
    }

    #[test]
    fn agrees_with_the_definition() {
        for m in [1u32, 3, 6, 13] {
            let n = 1usize << m;
            let x: Vec<f64> = (0..n).map(|j| 1.0 / (1 + j * j % 17) as f64).collect();
            let fft = Fft::new(m);
            let mut values: Vec<Complex> = x.iter().map(|&re| Complex { re, im: 0.0 }).collect();
            fft.forward(&mut values);
            let bound = fft.error() * x.iter().sum::<f64>();
            for k in (0..n).step_by(1 + n / 16) {
                let (mut re, mut im) = (0.0, 0.0);
                for (j, x) in x.iter().enumerate() {
                    let angle = 2.0 * ((j * k) % n) as f64 / n as f64;
                    re += x * core_math::cospi(angle);
                    im -= x * core_math::sinpi(angle);
                }
                let found = values[place(k, m)];
                let error = (found.re - re).hypot(found.im - im);
                // The plain sum has an error of its own.
                assert!(error <= bound + n as f64 * 1e-16 * bound / fft.error() * 0.1);
            }
            fft.backward(&mut values);
            for (value, x) in values.iter().zip(&x) {
                assert!((value.re / n as f64 - x).abs() < 1e-14 && value.im.abs() < 1e-9);
            }
        }
    }

    #[test]
    fn one_value_is_its_own_transform() {
        let mut values = [Complex { re: 3.0, im: 0.0 }];
        let fft = Fft::new(0);
        fft.forward(&mut values);
        fft.backward(&mut values);
        assert_eq!(values[0].re, 3.0);
    }
}
