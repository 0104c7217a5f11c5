//! Poisson-sampled Gaussian noise by the trapezoid rule.
//!
//! In units of the standard deviation Q is the normal density φ(x), the base has
//! the loss u = m x - m²/2, and Y = 1 - q + q e^u. The moments are E_Q Y^a with
//! a = 1 + z where a person is removed and a = -z where one is added. The rule
//! Σ h φ(x) f(x) over all multiples x of h is off by the Fourier transform of
//! the integrand at the multiples of 2π/h, and moving the line of integration by
//! iy bounds those: with v = m y < π nothing vanishes on the way, and
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
//! Also to the left, for α < 0: d ln(φ Y^α)/dx = -x + α m s(x), s = q e^u/Y, is
//! at least its value d at the end x₁, since s rises; if d > 0 the integral of the
//! rest is at most φ(x₁) Y(x₁)^α/d, and the integrand rises up to x₁, so that a sum
//! with steps that end h before x₁ is at most that integral. The factor 1/√(2π)
//! of φ is left out there, which is far more than what rounding does.
//! They are compared with E_Q Y^α, which is at least 1 and q^α E_Q e^(αu).

use std::f64::consts::{FRAC_1_SQRT_2, PI, TAU};

use mizan_core::Interval;

use super::{Direction, MOST_NODES, Mixed, Orders, Table, units};

/// A table for N(m, 1) mixed into N(0, 1) at a rate q.
pub(super) fn gaussian(m: Interval, q: f64, direction: Direction, orders: Orders) -> Option<Table> {
    let size = m.middle();
    let order = match direction {
        Direction::Add => -orders.c,
        _ => 1.0 + orders.c,
    };
    let h = step(size, order, orders)?;
    let (low, high) = ends(size, q, order, orders, h)?;
    let index = |x: f64| {
        #[expect(clippy::cast_possible_truncation, reason = "checked to be small")]
        let index = x as i64;
        (x.abs() < MOST_NODES as f64 / 2.0).then_some(index)
    };
    let (low, high) = (index((low / h).floor())?, index((high / h).ceil())?);
    let count = usize::try_from(high - low + 1).ok()?;
    if count > MOST_NODES {
        return None;
    }
    let scale = h / TAU.sqrt();
    let ln_scale = core_math::log(scale);
    let half_square = 0.5 * size * size;
    let mut nodes = Vec::with_capacity(count);
    for index in low..=high {
        // Exact: h has 12 bits and the index at most 15. So is the square, but
        // for its last bit where the index is large.
        let x = h * index as f64;
        let exponent = -0.5 * x * x;
        // m is known to a few units, and u takes three roundings.
        let uncertain = (8.0 + units(m)) * (size * x.abs() + half_square);
        let u = size * x - half_square;
        let weight = scale * core_math::exp(exponent);
        Mixed::new(q.into(), u, uncertain, weight, ln_scale + exponent)
            .push_to(&mut nodes, direction);
    }
    let exponent = strip(size, order, orders.reach, h);
    let alias = 2.1 * core_math::exp(exponent);
    let tail = core_math::exp(orders.ln_tolerance - 1.0);
    Some(Table {
        nodes,
        // Ratios up to e^30 are known to as many units as they have logarithms.
        blur: 48.0,
        cut: 0.0,
        beyond: Interval::ZERO,
        below: Interval::ZERO,
        // Aliasing of Y^a, and of 1 and Y in what was taken out; both tails.
        missing: (alias + 2.0 * tail, 2.0 * alias + 4.0 * tail),
    })
}

/// ln of the strip bound at the best y.
fn strip(m: f64, order: f64, reach: f64, h: f64) -> f64 {
    const PLACES: u32 = 32;
    let widest = (PI / m).min(TAU / h);
    (1..PLACES)
        .map(|place| {
            let y = widest * f64::from(place) / f64::from(PLACES);
            let v = m * y;
            let shrink = if order < 0.0 {
                order * (0.5 * v).cos().ln()
            } else {
                0.0
            };
            0.5 * y * y + reach * v + shrink - TAU * y / h
        })
        .fold(f64::INFINITY, f64::min)
}

/// The widest step that is fine enough, of 12 bits.
fn step(m: f64, order: f64, orders: Orders) -> Option<f64> {
    let goal = (orders.ln_tolerance - 2.0).min(-6.0);
    // Where the strip is wide the exponent is -(2π/h - m τ)²/2.
    let mut h = TAU / ((-2.0 * goal).sqrt() + m * orders.reach);
    for _ in 0..80 {
        let unit = f64::from_bits(h.to_bits() & !((1 << 52) - 1)) / 2048.0;
        let short = (h / unit).floor() * unit;
        if strip(m, order, orders.reach, short) <= goal {
            return (short > 0.0).then_some(short);
        }
        h *= 0.93;
    }
    None
}

/// Between which x the moment of order a is, but for the tolerance, where the
/// rule has the step h.
pub(super) fn ends(m: f64, q: f64, a: f64, orders: Orders, h: f64) -> Option<(f64, f64)> {
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
        let factor = (q + (1.0 - q) * (-u).exp().min(1e300)).ln() + 1e-12;
        // Relative to E_Q Y^α >= q^α E_Q e^(αu).
        let whole = (a * q.ln() + (a * a - a) * half).max(0.0);
        plain.max(a * factor + (a * a - a) * half + ln_tail(before - a * m) - whole)
    };
    let plain = |x: f64| ln_tail(-x - h);
    let by_floor = |x: f64| plain(x) + (a * (-q).ln_1p()).max(0.0);
    let by_ratio = |x: f64| plain(x).max(a * q.ln() + (a * a - a) * half + ln_tail(-x - h + a * m));
    let by_slope = |x: f64| {
        let end = x + h;
        let u = m * end - half;
        let y = q * u.exp_m1();
        // Near zero Y would cancel.
        let ln_y = if y < -0.5 {
            (1.0 - q + q * u.exp()).ln()
        } else {
            y.ln_1p()
        };
        let slope = -end + a * m * (q.ln() + u - ln_y).exp();
        if slope > 1.0 {
            plain(x).max(-0.5 * end * end + a * ln_y - slope.ln())
        } else {
            f64::INFINITY
        }
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
    let high = march(h + m.max(a * m) + 5.0, 0.5, &right)?;
    let low = if a >= 0.0 {
        march(-h - 5.0, -0.5, &plain)?
    } else {
        let floor = march(-h - 5.0, -0.5, &by_floor);
        let ratio = march(-h + a * m - 5.0, -0.5, &by_ratio);
        let slope = march(-h - 5.0, -0.5, &by_slope);
        floor
            .into_iter()
            .chain(ratio)
            .chain(slope)
            .reduce(f64::max)?
    };
    Some((low, high))
}

/// ln of the upper tail of the normal distribution, from above.
pub(crate) fn ln_tail(x: f64) -> f64 {
    if x > 30.0 {
        return -0.5 * x * x;
    }
    core_math::log(0.5 * core_math::erfc(x * FRAC_1_SQRT_2)) + 1e-12
}
