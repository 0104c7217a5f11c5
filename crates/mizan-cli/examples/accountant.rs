//! The pictures of docs/accountant.md, from the formulas it tells:
//! `cargo run --release -p mizan-cli --example accountant -- docs`.
//!
//! Plain doubles, a coarse lattice and long steps, so that one sees the errors
//! that the accountant makes too small to be seen.

use std::path::PathBuf;

use mizan_accounting::{GaussianProfile, PrivacyProfile};
use mizan_core::{Epsilon, PrivacyEvent, Sensitivity, Sigma};
use mizan_report::{Axis, Figure, Panel, Series, Stroke};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| ".".to_owned()));
    let figures = [
        ("accountant-contour.svg", contour()?),
        ("accountant-lattice.svg", lattice()?),
    ];
    for (name, figure) in figures {
        std::fs::write(folder.join(name), figure.to_svg())?;
    }
    Ok(())
}

/// One Gaussian release with μ = 1 at ε = 1, by the trapezoid rule with ever
/// smaller steps.
fn contour() -> Result<Figure, Box<dyn std::error::Error>> {
    const EPSILON: f64 = 1.0;
    // Near the saddle point; any c > 0 would do.
    const C: f64 = 1.5;
    let exact = GaussianProfile::new(Sigma::new(1.0)?, Sensitivity::ONE)
        .delta(Epsilon::new(EPSILON)?)
        .upper
        .get();
    // |e^(K(z) - εz) / (z(z+1))| and its angle, K(z) = (z + z²)/2.
    let size = |tau: f64| {
        let real = 0.5 * (C + C * C - tau * tau) - EPSILON * C;
        real.exp() / (C.hypot(tau) * (C + 1.0).hypot(tau))
    };
    let angle = |tau: f64| 0.5 * tau + C * tau - EPSILON * tau - tau.atan2(C) - tau.atan2(C + 1.0);
    let place = |tau: f64| size(tau) * angle(tau).cos();
    let along = Series::sampled("", 0.0, 6.0, 240, place);
    let places = (0..=12)
        .map(|j| 0.5 * f64::from(j))
        .flat_map(|tau| [(tau, place(tau)), (tau, f64::NAN)]);
    let trapezoid = |step: f64| {
        let rest: f64 = (1..400).map(|j| place(step * f64::from(j))).sum();
        step / std::f64::consts::PI * (0.5 * place(0.0) + rest)
    };
    let line = Panel::new(
        "What is summed: places on a line",
        Axis::linear("height τ of z = c + iτ"),
        Axis::linear("real part"),
    )
    .with(Series::new("integrand", along.points))
    .with(Series::new("places, step 0.5", places.collect()).markers());
    let excess = Series::sampled("", 0.9, 3.0, 200, |step| trapezoid(step) / exact - 1.0);
    let error = Panel::new(
        "The sum is too large, never too small",
        Axis::linear("step η"),
        Axis::log10("relative excess over δ"),
    )
    .with(Series::new("aliasing", excess.points));
    Ok(Figure::new("The contour: δ(1) of Gaussian noise, μ = 1")
        .with(line)
        .with(error)
        .columns(2))
}

/// Masses of one mechanism on a lattice, by place: split up, and p and q of
/// what was binned.
struct Masses {
    above: Vec<f64>,
    p: Vec<f64>,
    q: Vec<f64>,
}

/// Four Laplace releases of scale 1 on a lattice with 4 places to a release.
fn lattice() -> Result<Figure, Box<dyn std::error::Error>> {
    let event: PrivacyEvent = "4 * laplace(1)".parse()?;
    let profile = PrivacyProfile::of(&event)?;
    let exact = |epsilon: f64| {
        let delta = Epsilon::new(epsilon).ok().and_then(|at| profile.delta(at));
        delta.map_or(f64::NAN, |delta| delta.upper.get())
    };
    let cells = 4_u32;
    let h = 2.0 / f64::from(cells);
    let one = laplace(cells);
    let power = |masses: &[f64]| (1..4).fold(masses.to_vec(), |sum, _| convolve(&sum, masses));
    let (up, p, q) = (power(&one.above), power(&one.p), power(&one.q));
    let loss = |place: usize| h * place as f64 - 4.0;
    let upper = |epsilon: f64| -> f64 {
        let gain = |(place, mass): (usize, &f64)| mass * -(epsilon - loss(place)).exp_m1();
        let places = up.iter().enumerate();
        places.map(gain).filter(|gain| *gain > 0.0).sum()
    };
    let lower = |epsilon: f64| {
        let tail = |start| -> f64 {
            let places = p.iter().zip(&q).skip(start);
            places.map(|(p, q)| p - epsilon.exp() * q).sum()
        };
        (0..p.len()).map(tail).fold(0.0, f64::max)
    };
    let panel = Panel::new(
        "",
        Axis::linear("ε").range(2.5, 4.0),
        Axis::log10("δ").range(1e-3, 0.2),
    )
    .with(Series::sampled("split up, h = 1/2", 2.5, 3.999, 300, upper).stroke(Stroke::Dashed))
    .with(Series::sampled("exact", 2.5, 3.999, 300, exact).stroke(Stroke::Solid))
    .with(Series::sampled("binned down, h = 1/2", 2.5, 3.999, 300, lower).stroke(Stroke::Dotted));
    Ok(Figure::new("The lattice: four Laplace releases of scale 1").with(panel))
}

/// Losses from -1 to 1 of Laplace noise with t = 1, in so many cells.
fn laplace(cells: u32) -> Masses {
    let h = 2.0 / f64::from(cells);
    let places = cells as usize + 1;
    let mut masses = Masses {
        above: vec![0.0; places],
        p: vec![0.0; places],
        q: vec![0.0; places],
    };
    let mut add = |place: u32, p: f64, q: f64| {
        let low = h * f64::from(place) - 1.0;
        let r = (p - q * low.exp()) / -(-h).exp_m1();
        let place = place as usize;
        let mut put = |place: usize, mass: f64| {
            if let Some(value) = masses.above.get_mut(place) {
                *value += mass;
            }
        };
        put(place, p - r);
        put(place + 1, r);
        for (list, mass) in [(&mut masses.p, p), (&mut masses.q, q)] {
            if let Some(value) = list.get_mut(place) {
                *value += mass;
            }
        }
    };
    let e = std::f64::consts::E;
    add(0, 0.5 / e, 0.5);
    add(cells, 0.5, 0.5 / e);
    for cell in 0..cells {
        let (low, high) = (h * f64::from(cell) - 1.0, h * f64::from(cell + 1) - 1.0);
        // Densities e^((l-1)/2)/4 under P and e^(-(l+1)/2)/4 under Q.
        let p = 0.5 * (((high - 1.0) / 2.0).exp() - ((low - 1.0) / 2.0).exp());
        let q = 0.5 * ((-(low + 1.0) / 2.0).exp() - (-(high + 1.0) / 2.0).exp());
        add(cell, p, q);
    }
    masses
}

fn convolve(a: &[f64], b: &[f64]) -> Vec<f64> {
    let mut sums = vec![0.0; a.len() + b.len() - 1];
    for (place, x) in a.iter().enumerate() {
        for (sum, y) in sums.iter_mut().skip(place).zip(b) {
            *sum += x * y;
        }
    }
    sums
}
