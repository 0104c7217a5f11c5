//! Poisson-sampled Gaussian noise by the trapezoid rule.
//!
//! In units of the standard deviation Q is the normal density φ(x), the base has
//! the loss u = m x - m²/2, and Y = 1 - q + q e^u. The rule Σ h φ(x) f(x) over
//! all multiples x of h is off by the Fourier transform of the integrand at the
//! multiples of 2π/h, and moving the line of integration by iy bounds those.
//! With v = m y < π nothing vanishes on the way, and
//!
//! > |φ(x+iy)| = φ(x) e^(y²/2),  cos(v/2) Y(x) <= |Y(x+iy)| <= Y(x),  |arg Y| <= v,
//!
//! the middle because |A + B e^(iv)|² = (A+B)² - 4AB sin²(v/2). So for the order
//! a = α + iτ the error is at most
//!
//! > 2 E_Q[Y^α] e^(y²/2 + |τ| v) cos(v/2)^min(α,0) / (e^(2πy/h) - 1).
//!
//! What the rule leaves out at the ends is bounded by normal tails: to the
//! right Y <= (q + (1-q) e^(-u₁)) e^u from u₁ on, to the left 1/Y is at most
//! 1/(1-q) and at most e^-u/q, and where Y is between 0 and 1 so is Y^α, α > 0.

use std::f64::consts::{FRAC_1_SQRT_2, PI, TAU};

use mizan_core::Interval;

use super::{MOST_NODES, Node, Orders, Table, mixed};

/// A table for N(m, 1) mixed into N(0, 1) at a rate q.
pub(super) fn trapezoid(m: Interval, q: f64, orders: Orders) -> Option<Table> {
    let size = m.middle();
    let h = step(size, orders)?;
    let (low, high) = ends(size, q, orders, h)?;
    let count = usize::try_from(high - low + 1).ok()?;
    if count > MOST_NODES {
        return None;
    }
    let ln_scale = core_math::log(h) - 0.5 * core_math::log(TAU);
    let half_square = 0.5 * size * size;
    let node = |index: i64| {
        // Exact: h has 12 bits, the index at most 14; so is the square.
        let x = h * index as f64;
        let u = size * x - half_square;
        // m is known to a few units, and u takes three roundings.
        let uncertain = 6.0 * (size * x.abs() + half_square);
        let (l, slack) = mixed(q.into(), u, uncertain);
        let ln_w = ln_scale - 0.5 * x * x;
        Node {
            l,
            ln_w,
            w: core_math::exp(ln_scale) * core_math::exp(-0.5 * x * x),
            slack,
        }
    };
    let alias = alias(size, orders, h)?;
    let tail = (orders.ln_tolerance - 1.0).exp();
    Some(Table {
        nodes: (low..=high).map(node).collect(),
        constant: Interval::ZERO,
        slope: Interval::ZERO,
        // Aliasing of Y^a, and of 1 and Y in the rest of f_a; both tails.
        missing: (alias + 2.0 * tail, 2.0 * alias + 4.0 * tail),
    })
}

/// The bound of the aliasing, relative to the moment.
fn alias(m: f64, orders: Orders, h: f64) -> Option<f64> {
    let exponent = strip(m, orders, h);
    (exponent < -1.0).then(|| 2.1 * core_math::exp(exponent))
}

/// ln of the strip bound at the best y.
fn strip(m: f64, orders: Orders, h: f64) -> f64 {
    const PLACES: u32 = 32;
    let widest = (PI / m).min(TAU / h);
    (1..PLACES)
        .map(|place| {
            let y = widest * f64::from(place) / f64::from(PLACES);
            let v = m * y;
            let shrink = if orders.real < 0.0 {
                orders.real * core_math::log(core_math::cos(0.5 * v))
            } else {
                0.0
            };
            0.5 * y * y + orders.reach * v + shrink - TAU * y / h
        })
        .fold(f64::INFINITY, f64::min)
}

/// The widest step that is fine enough, of 12 bits.
fn step(m: f64, orders: Orders) -> Option<f64> {
    let goal = orders.ln_tolerance - 2.0;
    // Where the strip is wide the exponent is -(2π/h - m τ)²/2.
    let mut h = TAU / ((-2.0 * goal).sqrt() + m * orders.reach);
    for _ in 0..80 {
        let unit = 2f64.powi(i32::try_from(exponent(h)).ok()? - 11);
        let short = (h / unit).floor() * unit;
        if strip(m, orders, short) <= goal {
            return (short > 0.0).then_some(short);
        }
        h *= 0.93;
    }
    None
}

fn exponent(x: f64) -> i64 {
    // Of a positive normal number.
    i64::try_from(x.to_bits() >> 52).unwrap_or(1023) - 1023
}

/// The first and last multiple of h that are needed.
fn ends(m: f64, q: f64, orders: Orders, h: f64) -> Option<(i64, i64)> {
    let a = orders.real;
    let goal = orders.ln_tolerance - 1.0;
    let half = 0.5 * m * m;
    // Beyond the end the sum is at most the integral from one step before.
    let right = |x: f64| {
        let before = x - h;
        let plain = ln_tail(before).max(ln_tail(before - m));
        if a <= 0.0 {
            return plain;
        }
        let u = m * before - half;
        let factor = core_math::log(q + (1.0 - q) * core_math::exp(-u).min(1e300));
        plain.max(a * factor + (a * a - a) * half + ln_tail(before - a * m))
    };
    let left = |x: f64| {
        let before = x + h;
        let plain = ln_tail(-before);
        if a >= 0.0 {
            return plain;
        }
        let by_floor = plain + a * core_math::log1p(-q);
        let by_ratio = a * core_math::log(q) + (a * a - a) * half + ln_tail(-before + a * m);
        plain.max(by_floor.min(by_ratio))
    };
    let march = |start: f64, way: f64, bound: &dyn Fn(f64) -> f64| {
        let mut x = start;
        for _ in 0..400 {
            if bound(x) <= goal {
                return Some(x);
            }
            x += way;
        }
        None
    };
    // Tails fall from the centre on.
    let high = march(2.0 * h + (m.max(a * m)).max(0.0) + 5.0, 0.5, &right)?;
    let low = march(-2.0 * h + (a * m).min(0.0) - 5.0, -0.5, &left)?;
    let index = |x: f64| {
        #[expect(clippy::cast_possible_truncation, reason = "checked to be small")]
        let index = (x / h) as i64;
        (x.abs() / h < MOST_NODES as f64 / 4.0).then_some(index)
    };
    Some((index(low.floor())? - 1, index(high.ceil())? + 1))
}

/// ln of the upper tail of the normal distribution, from above.
fn ln_tail(x: f64) -> f64 {
    if x > 30.0 {
        return -0.5 * x * x;
    }
    core_math::log(0.5 * core_math::erfc(x * FRAC_1_SQRT_2)) + 1e-12
}
