//! An independent oracle: the Rényi divergence of each mechanism integrated or
//! summed from its densities in plain doubles, with none of the closed forms
//! of the library, compared with the curves at 1e-9.
//!
//! Trapezoid on the line for Gaussian noise (exponentially convergent for
//! analytic densities), Gauss-Legendre pieces between the kinks for Laplace
//! noise, plain sums for discrete noise and randomized response, and a search
//! for the worst pair of bounded range.

use mizan_accounting::RenyiCurve;
use mizan_core::{Order, PrivacyEvent};

const TOLERANCE: f64 = 1e-9;
const ORDERS: [f64; 13] = [
    1.0, 1.1, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0, 4.0, 7.3, 16.0, 32.0, 64.0,
];

/// Weighted points at which ln p and ln q are known: a pair of densities made
/// into sums.
struct Pair {
    points: Vec<(f64, f64, f64)>,
}

impl Pair {
    /// The weights of the points, and both log densities there.
    fn new(points: impl Iterator<Item = (f64, f64)>, ln_p: F<'_>, ln_q: F<'_>) -> Self {
        let points = points.map(|(x, weight)| (weight, ln_p(x), ln_q(x)));
        Self {
            points: points.collect(),
        }
    }

    /// D_α(p ‖ q) by the definition.
    fn divergence(&self, order: f64) -> f64 {
        if order == 1.0 {
            let terms = self.points.iter();
            return terms.map(|(w, p, q)| w * p.exp() * (p - q)).sum();
        }
        let exponent = |p: f64, q: f64| order * p + (1.0 - order) * q;
        let exponents = self.points.iter().map(|&(_, p, q)| exponent(p, q));
        let largest = exponents.fold(f64::NEG_INFINITY, f64::max);
        let terms = self.points.iter();
        let sum: f64 = terms
            .map(|&(w, p, q)| w * (exponent(p, q) - largest).exp())
            .sum();
        (largest + sum.ln()) / (order - 1.0)
    }
}

type F<'a> = &'a dyn Fn(f64) -> f64;

fn check(text: &str, order: f64, expected: f64) {
    let event: PrivacyEvent = text.parse().unwrap();
    let curve = RenyiCurve::of(&event).unwrap();
    let bracket = curve.at(Order::new(order).unwrap());
    let (lower, upper) = (bracket.lower.get(), bracket.upper.get());
    assert!(
        (upper - expected).abs() <= TOLERANCE * expected
            && (lower - expected).abs() <= TOLERANCE * expected,
        "{text} at {order}: [{lower:e}, {upper:e}], the oracle says {expected:e}"
    );
}

/// Equally spaced points with the weight of the trapezoid rule.
fn trapezoid(low: f64, high: f64, step: f64) -> impl Iterator<Item = (f64, f64)> {
    std::iter::successors(Some(low), move |x| Some(x + step))
        .take_while(move |&x| x <= high)
        .map(move |x| (x, step))
}

/// The 20 Gauss-Legendre points on [low, high], by Newton's method on the
/// Legendre polynomial.
fn gauss_legendre(low: f64, high: f64) -> Vec<(f64, f64)> {
    const N: u32 = 20;
    // P_N and its derivative at x.
    let legendre = |x: f64| {
        let (mut before, mut value) = (1.0, x);
        for k in 2..=N {
            let k = f64::from(k);
            (before, value) = (
                value,
                ((2.0 * k - 1.0) * x * value - (k - 1.0) * before) / k,
            );
        }
        (value, f64::from(N) * (x * value - before) / (x * x - 1.0))
    };
    (0..N)
        .map(|i| {
            let mut x = (std::f64::consts::PI * (f64::from(i) + 0.75) / (f64::from(N) + 0.5)).cos();
            for _ in 0..20 {
                let (value, slope) = legendre(x);
                x -= value / slope;
            }
            let slope = legendre(x).1;
            let weight = 2.0 / ((1.0 - x * x) * slope * slope);
            let half = 0.5 * (high - low);
            (low + half * (x + 1.0), weight * half)
        })
        .collect()
}

/// Gauss-Legendre on each of `pieces` equal pieces of [low, high].
fn pieces(low: f64, high: f64, pieces: u32) -> Vec<(f64, f64)> {
    let width = (high - low) / f64::from(pieces);
    (0..pieces)
        .flat_map(|i| {
            let start = low + width * f64::from(i);
            gauss_legendre(start, start + width)
        })
        .collect()
}

fn gaussian(sigma: f64, shift: f64, order: f64) -> f64 {
    let ln_density = |x: f64| {
        let z = x / sigma;
        -0.5 * z * z - sigma.ln() - 0.5 * (2.0 * std::f64::consts::PI).ln()
    };
    // Under the tilted density x has mean (1-α) shift.
    let centre = (1.0 - order) * shift;
    let points = trapezoid(centre - 13.0 * sigma, centre + 13.0 * sigma, 0.2 * sigma);
    Pair::new(points, &ln_density, &|x| ln_density(x - shift)).divergence(order)
}

#[test]
fn gaussian_noise() {
    for sigma in [0.3, 0.5, 1.0, 2.0, 5.0, 10.0] {
        for shift in [0.5, 1.0, 3.0] {
            for order in ORDERS {
                let text = format!("gaussian({sigma}, {shift})");
                check(&text, order, gaussian(sigma, shift, order));
            }
        }
        for order in ORDERS {
            check(&format!("gdp({sigma})"), order, gaussian(1.0, sigma, order));
        }
    }
}

#[test]
fn laplace_noise() {
    for scale in [0.2, 0.5, 1.0, 2.0, 5.0, 20.0] {
        for shift in [0.5, 1.0, 3.0] {
            let ln_density = |x: f64| -x.abs() / scale - (2.0 * scale).ln();
            let reach = 45.0 * scale;
            // The two tails and what is between the kinks.
            let points = pieces(-reach, 0.0, 60)
                .into_iter()
                .chain(pieces(0.0, shift, 400))
                .chain(pieces(shift, shift + reach, 60));
            let pair = Pair::new(points, &ln_density, &|x| ln_density(x - shift));
            for order in ORDERS {
                let text = format!("laplace({scale}, {shift})");
                check(&text, order, pair.divergence(order));
            }
        }
    }
}

/// Every integer that matters, with weight one.
fn integers(reach: f64) -> impl Iterator<Item = (f64, f64)> {
    trapezoid(-reach.ceil(), reach.ceil(), 1.0)
}

#[test]
fn discrete_laplace_noise() {
    for scale in [0.2, 0.5, 1.0, 2.0, 5.0, 20.0] {
        let ln_total = integers(50.0 * scale + 50.0)
            .map(|(x, _)| (-x.abs() / scale).exp())
            .sum::<f64>()
            .ln();
        for shift in [1.0, 2.0, 7.0] {
            let ln_mass = |x: f64| -x.abs() / scale - ln_total;
            let points = integers(50.0 * scale + 50.0);
            let pair = Pair::new(points, &ln_mass, &|x| ln_mass(x - shift));
            for order in ORDERS {
                let text = format!("discrete-laplace({scale}, {shift})");
                check(&text, order, pair.divergence(order));
            }
        }
    }
}

/// A shift of the discrete Gaussian by whole steps in one coordinate.
fn discrete_gaussian(sigma: f64, shift: f64, order: f64) -> f64 {
    // Wide enough for the tilted mean and 15 standard deviations around it.
    let reach = order * shift + 15.0 * sigma + 15.0;
    let ln_total = integers(reach)
        .map(|(x, _)| (-0.5 * x * x / sigma / sigma).exp())
        .sum::<f64>()
        .ln();
    let ln_mass = |x: f64| -0.5 * x * x / sigma / sigma - ln_total;
    Pair::new(integers(reach), &ln_mass, &|x| ln_mass(x - shift)).divergence(order)
}

#[test]
fn discrete_gaussian_noise_in_one_coordinate() {
    for sigma in [0.3, 0.44, 0.46, 0.7, 1.0, 1.49, 1.51, 3.0, 10.0] {
        for order in ORDERS {
            let expected = discrete_gaussian(sigma, 1.0, order);
            check(&format!("discrete-gaussian({sigma})"), order, expected);
        }
    }
}

/// The most expensive integer vector with squared norm at most `square`, by
/// trying them all (as sorted lists of steps, since only those matter).
fn worst_vector(square: u32, largest: u32, price: &dyn Fn(u32) -> f64) -> f64 {
    (1..=largest)
        .filter(|n| n * n <= square)
        .map(|n| price(n) + worst_vector(square - n * n, n, price))
        .fold(0.0, f64::max)
}

#[test]
fn discrete_gaussian_noise_on_vectors() {
    for sigma in [0.3, 0.5, 0.9, 1.3, 2.0] {
        for square in [2_u32, 3, 4, 5, 9, 14] {
            for order in ORDERS {
                let price = |n: u32| discrete_gaussian(sigma, f64::from(n), order);
                let expected = worst_vector(square, 3, &price);
                // A little above the root, so that the square is reached.
                let sensitivity = f64::from(square).sqrt().next_up();
                let text = format!("discrete-gaussian({sigma}, {sensitivity})");
                check(&text, order, expected);
            }
        }
    }
}

#[test]
fn randomized_response() {
    for categories in [2_u32, 3, 5, 100] {
        for p in [0.51, 0.6, 0.75, 0.9, 0.99, 0.999] {
            let lie = (1.0 - p) / (f64::from(categories) - 1.0);
            // Outcome 0 is the truth on one input, outcome 1 on the other.
            let mass = |truth: f64| move |x: f64| if x == truth { f64::ln(p) } else { lie.ln() };
            let points = (0..categories).map(|x| (f64::from(x), 1.0));
            let pair = Pair::new(points, &mass(0.0), &mass(1.0));
            for order in ORDERS {
                let text = format!("rr({p}, {categories})");
                check(&text, order, pair.divergence(order));
                if categories == 2 {
                    let loss = f64::ln(p / (1.0 - p));
                    check(&format!("pure({loss})"), order, pair.divergence(order));
                }
            }
        }
    }
}

/// The divergence of the pair of range η whose larger loss is t: two outcomes
/// with ratios e^t and e^(t-η), weighted so that both sides add up to one.
fn of_bounded_range(eta: f64, t: f64, order: f64) -> f64 {
    let weight = ((eta - t).exp() - 1.0) / (eta.exp() - 1.0);
    let ratios = [(weight, t), (1.0 - weight, t - eta)];
    let ratios = ratios.iter().filter(|(weight, _)| *weight > 0.0);
    if order == 1.0 {
        ratios.map(|(weight, l)| weight * l.exp() * l).sum()
    } else {
        let moment: f64 = ratios.map(|(weight, l)| weight * (order * l).exp()).sum();
        moment.ln() / (order - 1.0)
    }
}

#[test]
fn exponential_mechanism() {
    for eta in [0.1, 0.3, 1.0, 2.0, 5.0, 8.0] {
        for order in ORDERS {
            // A scan, then ever finer scans around the best place.
            let (mut low, mut high) = (0.0, eta);
            let mut best = 0.0;
            for _ in 0..12 {
                let step = (high - low) / 40.0;
                let place = trapezoid(low, high, step)
                    .map(|(t, _)| (of_bounded_range(eta, t, order), t))
                    .fold(
                        (0.0, low),
                        |best, new| if new.0 > best.0 { new } else { best },
                    );
                best = place.0;
                (low, high) = ((place.1 - step).max(0.0), (place.1 + step).min(eta));
            }
            check(&format!("exponential({eta})"), order, best);
        }
    }
}

/// Composition: the product of two independent pairs, outcome by outcome.
#[test]
fn compositions() {
    let response = |p: f64| [(p, 1.0 - p), (1.0 - p, p)];
    let mut product = vec![(1.0, 1.0)];
    for p in [0.6, 0.75, 0.75, 0.9] {
        product = product
            .iter()
            .flat_map(|&(a, b)| response(p).map(|(c, d)| (a * c, b * d)))
            .collect();
    }
    for order in ORDERS.into_iter().filter(|&order| order > 1.0) {
        let moment: f64 = product
            .iter()
            .map(|(p, q)| p.powf(order) * q.powf(1.0 - order))
            .sum();
        let expected = moment.ln() / (order - 1.0);
        check("rr(0.6) + 2 * rr(0.75) + rr(0.9)", order, expected);
    }
}
