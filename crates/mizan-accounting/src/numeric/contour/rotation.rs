//! S(z) of a table along a line, by rotation instead of exponentials.
//!
//! With z_j = c + i η j and θ = η l, one step along the line turns e^(z l) by
//! e^(iθ). Near the middle what is kept is d_j = g(z_j l), which obeys
//!
//! > d_(j+1) = d_j + D₀ + D₁ (z_j l + d_j),   D₀ = g(iθ),  D₁ = e^(iθ) - 1,
//!
//! where nothing is larger than second order in l. A step rounds numbers of at
//! most |z l|² E with E = max(1, e^(cl)), by fewer than 10 units each, and
//! turning keeps earlier errors as they are: after j steps d is off by at most
//! 10 (j+1) |z_j|² l² E units. Far out, where c l > 1, e^(z l) itself is turned,
//! and its mass and size are joined in one exponential, which cannot overflow
//! where their product does not.

use mizan_core::Interval;

use super::complex::Complex;
use super::line::Line;
use crate::numeric::table::{Table, UNIT, beyond_tangent};

/// Lanes that are worked on at once.
const LANES: usize = 4;

/// Four places near the middle.
#[derive(Clone, Copy)]
struct Near {
    mass: [f64; LANES],
    /// c l.
    x: [f64; LANES],
    theta: [f64; LANES],
    /// D₀ and D₁; the real part is common.
    turn: [f64; LANES],
    rest: [f64; LANES],
    sine: [f64; LANES],
    /// d.
    re: [f64; LANES],
    im: [f64; LANES],
}

/// Four places far out.
#[derive(Clone, Copy)]
struct Far {
    turn: [f64; LANES],
    sine: [f64; LANES],
    /// p e^(z l).
    re: [f64; LANES],
    im: [f64; LANES],
}

const NEAR: Near = Near {
    mass: [0.0; LANES],
    x: [0.0; LANES],
    theta: [0.0; LANES],
    turn: [0.0; LANES],
    rest: [0.0; LANES],
    sine: [0.0; LANES],
    re: [0.0; LANES],
    im: [0.0; LANES],
};

const FAR: Far = Far {
    turn: [0.0; LANES],
    sine: [0.0; LANES],
    re: [0.0; LANES],
    im: [0.0; LANES],
};

/// S(z_j) and a bound on its error for all places of the line.
#[expect(clippy::indexing_slicing, reason = "lanes are counted")]
pub(super) fn moments(table: &Table, line: &Line) -> Option<Vec<(Complex, f64)>> {
    let mut near: Vec<Near> = Vec::with_capacity(table.nodes.len() / LANES + 1);
    let mut far: Vec<Far> = Vec::new();
    let (mut nears, mut fars) = (0, 0);
    // Σ p g(-l); far out also -Σ p and -Σ p l, which belong to g(zl).
    let mut tangent = 0.0;
    let (mut far_mass, mut far_loss) = (0.0, 0.0);
    // For the errors: Σ p E |l|^n for n = 0, 1, 2, the same with the slacks for
    // n = 0, 1, and the units of what is joined far out.
    let mut sizes = [0.0; 3];
    let mut slacks = [0.0; 2];
    let mut faints = 0.0;
    let mut faint_tangent = 0.0;
    let mut largest = 1.0f64;
    for node in &table.nodes {
        let l = node.loss;
        let x = line.c * l;
        let theta = line.step * l;
        let (sine, turn) = if theta.abs() < 1e-4 {
            (
                theta * (1.0 - theta * theta / 6.0),
                -0.5 * theta * theta * (1.0 - theta * theta / 12.0),
            )
        } else {
            let half = core_math::sin(0.5 * theta);
            (core_math::sin(theta), -2.0 * half * half)
        };
        let (own, doubt) = node.tangent();
        tangent += own;
        faint_tangent += doubt;
        let exponent = node.ln_mass + x.max(-l).max(0.0);
        if exponent > 650.0 {
            return None;
        }
        let size = if node.mass > 1e-280 {
            node.mass * core_math::exp(x.max(-l).max(0.0))
        } else {
            core_math::exp(exponent)
        };
        sizes[0] += size;
        sizes[1] += size * l.abs();
        sizes[2] += size * l * l;
        slacks[0] += size * node.slack;
        slacks[1] += size * l.abs() * node.slack;
        if x > 1.0 {
            if fars % LANES == 0 {
                far.push(FAR);
            }
            let group = far.last_mut()?;
            let lane = fars % LANES;
            group.turn[lane] = turn;
            group.sine[lane] = sine;
            let joined = if node.mass > 1e-280 && x < 600.0 {
                node.mass * core_math::exp(x)
            } else {
                faints += size * (8.0 + 3.0 * node.ln_mass.abs() + 3.0 * x);
                core_math::exp(node.ln_mass + x)
            };
            faints += size * 3.0 * x;
            group.re[lane] = joined;
            far_mass += node.mass;
            far_loss += node.mass * l;
            largest += joined;
            fars += 1;
        } else {
            if nears % LANES == 0 {
                near.push(NEAR);
            }
            let group = near.last_mut()?;
            let lane = nears % LANES;
            group.mass[lane] = node.mass;
            group.x[lane] = x;
            group.theta[lane] = theta;
            group.turn[lane] = turn;
            group.sine[lane] = sine;
            group.rest[lane] = sine_beyond_tangent(theta);
            group.re[lane] = beyond_tangent(x);
            nears += 1;
        }
    }
    let places = table.nodes.len() as f64;
    let rest = |z: Complex| -> Complex {
        let middle = |interval: Interval| interval.middle();
        let (beyond, below) = (middle(table.beyond), middle(table.below));
        z.scaled(tangent + (below - beyond) - far_loss) - Complex::new(beyond + far_mass, 0.0)
    };
    let mut moments = Vec::with_capacity(line.count + 1);
    let mut whole = 0.0;
    for j in 0..=line.count {
        let (mut re, mut im) = ([0.0; LANES], [0.0; LANES]);
        let step = j as f64;
        for group in &mut near {
            for lane in 0..LANES {
                re[lane] += group.mass[lane] * group.re[lane];
                im[lane] += group.mass[lane] * group.im[lane];
                let a = group.x[lane] + group.re[lane];
                let b = step * group.theta[lane] + group.im[lane];
                group.re[lane] += group.turn[lane] + (group.turn[lane] * a - group.sine[lane] * b);
                group.im[lane] += group.rest[lane] + (group.turn[lane] * b + group.sine[lane] * a);
            }
        }
        for group in &mut far {
            for lane in 0..LANES {
                re[lane] += group.re[lane];
                im[lane] += group.im[lane];
                let (a, b) = (group.re[lane], group.im[lane]);
                group.re[lane] += group.turn[lane] * a - group.sine[lane] * b;
                group.im[lane] += group.turn[lane] * b + group.sine[lane] * a;
            }
        }
        let z = line.z(j);
        let s = rest(z) + Complex::new(re.iter().sum(), im.iter().sum());
        if j == 0 {
            whole = 1.0 + s.re;
        }
        // Second order near the middle; far out the exponential bounds it.
        let (a, b) = (z.size(), z.size() + 1.0);
        let turned = (a * b * sizes[2]).min(8.0 * sizes[0] + 4.0 * b * sizes[1]);
        let moved = b * (a * slacks[1]).min(2.0 * slacks[0]);
        let rounding = (10.0 * (step + 1.0) + places + table.blur + 24.0) * turned
            + 2.0 * moved
            + faints
            + a * faint_tangent
            + 8.0 * (table.beyond.upper() + table.below.upper()) * (1.0 + z.size());
        let unsure = (width(table.beyond) + width(table.below)) * (1.0 + z.size());
        let missing = unsure + 1.01 * table.missing.0 * whole + table.missing.1 * (2.0 + z.size());
        moments.push((s, 1.01 * (UNIT * rounding + missing) + 1e-280));
    }
    (largest < 1e300).then_some(moments)
}

fn width(interval: Interval) -> f64 {
    interval.upper() - interval.lower()
}

/// sin x - x, to a few units.
fn sine_beyond_tangent(x: f64) -> f64 {
    if x.abs() > 0.5 {
        return core_math::sin(x) - x;
    }
    let square = x * x;
    let mut sum = 0.0;
    for k in (1..=8).rev() {
        // -x³/3! (1 - x²/(4·5) (1 - x²/(6·7) (...))).
        let k = f64::from(2 * k);
        sum = (1.0 - sum) * square / (k * (k + 1.0));
    }
    -sum * x
}
