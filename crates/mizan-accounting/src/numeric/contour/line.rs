//! The cumulant of a composition along a vertical line.

use super::complex::Complex;
use crate::numeric::table::UNIT;

/// The places z = c + i step j for j = 0, ..., count.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Line {
    pub(super) c: f64,
    pub(super) step: f64,
    pub(super) count: usize,
}

impl Line {
    /// The height of a place.
    pub(super) fn height(&self, j: usize) -> f64 {
        self.step * j as f64
    }

    /// A place.
    pub(super) fn z(&self, j: usize) -> Complex {
        Complex::new(self.c, self.height(j))
    }

    /// The height of the last place.
    pub(super) fn reach(&self) -> f64 {
        self.height(self.count)
    }
}

/// K along a line: the sum over what was added, and a bound on its error.
#[derive(Clone, Debug)]
pub(super) struct Cumulants {
    pub(super) values: Vec<Complex>,
    pub(super) errors: Vec<f64>,
    /// Where the phase is unknown and the real part is a bound.
    pub(super) bounds: Vec<bool>,
}

impl Cumulants {
    pub(super) fn new(line: &Line) -> Self {
        Self {
            values: vec![Complex::ZERO; line.count + 1],
            errors: vec![0.0; line.count + 1],
            bounds: vec![false; line.count + 1],
        }
    }

    /// Adds count ln(1 + s_j), where each s_j is known to within its error.
    pub(super) fn add_moments(
        &mut self,
        count: f64,
        moments: impl Iterator<Item = (Complex, f64)>,
    ) {
        let places = self.values.iter_mut().zip(&mut self.errors);
        let places = places.zip(&mut self.bounds);
        for (((value, error), bound), (s, off)) in places.zip(moments) {
            let whole = Complex::new(1.0 + s.re, s.im).size();
            let off = off + 4.0 * UNIT * (1.0 + s.size());
            if off < 0.25 * whole {
                let k = s.ln_1p();
                let left = whole - off;
                let rounding = 4.0 * UNIT * (k.size() + s.size() / left);
                *value = *value + k.scaled(count);
                // Off counts relative to what is there: the first 4 units are
                // those of 1 + s, of which ln_1p makes no use.
                let known = off - 4.0 * UNIT * (1.0 + s.size());
                *error += count * (known / left + rounding) + 2.0 * UNIT * value.size();
            } else {
                // Hardly told from zero: a bound on its size, and no phase.
                value.re += count * core_math::log(whole + off);
                *error += 2.0 * UNIT * value.size();
                *bound = true;
            }
        }
    }

    /// Adds numbers that are known to within their errors; where the error is
    /// infinite, the real part is a bound.
    pub(super) fn add(&mut self, numbers: impl Iterator<Item = (Complex, f64)>) {
        let places = self.values.iter_mut().zip(&mut self.errors);
        let places = places.zip(&mut self.bounds);
        for (((value, error), bound), (k, off)) in places.zip(numbers) {
            *value = *value + k;
            *error += 2.0 * UNIT * value.size();
            if off < f64::INFINITY {
                *error += off;
            } else {
                *bound = true;
            }
        }
    }
}
