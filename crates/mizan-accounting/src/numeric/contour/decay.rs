//! How fast the moments fall off along a vertical line: the proof that the
//! places beyond the last do not matter.
//!
//! Tilted by e^(cL), a loss has the characteristic function
//! ψ(τ) = E e^((c+iτ)L) / E e^(cL), and |ψ| is wanted for all τ beyond some
//! height. Let the tilted loss have, among others, a part with a density of at
//! least h over an interval of length W. Then it is a mixture in which the
//! uniform distribution over the interval has the weight ω = W h, and
//!
//! > |ψ(τ)| <= 1 - ω + ω |sin(τW/2)|/(τW/2).
//!
//! Any histogram below the density is a stack of such rectangles, each above
//! the highest part of the floor below it, so that wide ones carry most of the
//! weight. The bound falls with τ if the sine is replaced by its envelope
//! s(u) = sup over v >= u of |sin v|/v.
//!
//! Where the whole tilted loss has a density f of total variation V, integration
//! by parts gives |ψ(τ)| <= V/τ, which goes on falling where few compositions
//! leave the mixture short. For sampled Gaussian noise `shifted.rs` has a bound
//! that falls faster still.

use super::shifted::Shifted;

/// A bound on ln|ψ| that falls with the height.
#[derive(Clone, Debug, Default)]
pub(super) struct Decay {
    /// The variance of a normal part.
    pub(super) variance: f64,
    mixtures: Vec<Mixture>,
}

/// What is known of a loss that was composed so many times.
#[derive(Clone, Debug)]
struct Mixture {
    count: f64,
    rectangles: Vec<Rectangle>,
    /// A bound on the total variation of its density; infinite if it has none.
    variation: f64,
    /// A finer bound, of sampled Gaussian noise.
    shifted: Option<Shifted>,
}

/// A uniform part of the tilted loss.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Rectangle {
    pub(super) width: f64,
    pub(super) weight: f64,
}

impl Decay {
    /// Adds a loss that was composed `count` times.
    pub(super) fn add(
        &mut self,
        count: f64,
        (rectangles, variation): (Vec<Rectangle>, f64),
        shifted: Option<Shifted>,
    ) {
        // Where all underflows nothing is known of the density.
        let variation = if rectangles.is_empty() {
            f64::INFINITY
        } else {
            variation
        };
        self.mixtures.push(Mixture {
            count,
            rectangles,
            variation,
            shifted,
        });
    }

    /// A bound on ln|ψ| at all heights from here on.
    pub(super) fn ln_bound(&self, height: f64) -> f64 {
        let normal = -0.5 * self.variance * height * height;
        let rest: f64 = self
            .mixtures
            .iter()
            .map(|mixture| {
                let told: f64 = mixture
                    .rectangles
                    .iter()
                    .map(|part| part.weight * (1.0 - envelope(0.5 * height * part.width)))
                    .sum();
                // Rounding in the sums is far below this.
                let mixed = (-told.clamp(0.0, 1.0) * (1.0 - 1e-9)).ln_1p();
                let varied = (mixture.variation / height).ln();
                let shifted = mixture.shifted.as_ref();
                let shifted = shifted.map_or(0.0, |shifted| shifted.ln_bound(height));
                mixture.count * mixed.min(varied).min(shifted)
            })
            .sum();
        normal * (1.0 - 1e-12) + rest * (1.0 - 1e-9)
    }
}

/// sup over v >= u of |sin v|/v.
///
/// The series cut after a positive term is above the sine, and falls up to √10.
/// The largest side lobe is below 0.2173 and ends before 4.6.
fn envelope(u: f64) -> f64 {
    const LOBE: f64 = 0.2173;
    let square = u * u;
    if square < 10.0 {
        (1.0 - square / 6.0 + square * square / 120.0).max(LOBE)
    } else if u < 4.602 {
        LOBE
    } else {
        1.0 / u
    }
}

/// The stack of rectangles under a histogram of (width, height) bars.
pub(super) fn stack(bars: impl Iterator<Item = (f64, f64)>) -> Vec<Rectangle> {
    let mut rectangles = Vec::new();
    // Open rectangles by rising height, each with the width it has so far.
    let mut open: Vec<(f64, f64)> = Vec::new();
    let mut close = |open: &mut Vec<(f64, f64)>, height: f64| -> f64 {
        let mut width = 0.0;
        while let Some(&(top, so_far)) = open.last() {
            if top <= height {
                break;
            }
            open.pop();
            width += so_far;
            let floor = open.last().map_or(0.0, |&(floor, _)| floor.max(height));
            let floor = floor.max(height);
            rectangles.push(Rectangle {
                width,
                weight: width * (top - floor) * (1.0 - 1e-12),
            });
        }
        width
    };
    for (width, height) in bars {
        if !(width > 0.0 && height > 0.0) {
            close(&mut open, 0.0);
            continue;
        }
        let under = close(&mut open, height);
        match open.last_mut() {
            Some((top, so_far)) if *top == height => *so_far += under + width,
            _ => open.push((height, under + width)),
        }
    }
    close(&mut open, 0.0);
    rectangles
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stack_keeps_the_area() {
        let bars = [(1.0, 2.0), (2.0, 5.0), (1.0, 1.0), (0.5, 1.0), (3.0, 4.0)];
        let area: f64 = bars.iter().map(|(w, h)| w * h).sum();
        let stacked = stack(bars.into_iter());
        let sum: f64 = stacked.iter().map(|part| part.weight).sum();
        assert!((sum - area).abs() < 1e-9, "{stacked:?}");
        // The floor reaches from end to end.
        assert!(stacked.iter().any(|part| part.width == 7.5));
    }

    #[test]
    fn the_envelope_is_above_and_falls() {
        let mut before = 1.0;
        for step in 1..4000 {
            let u = f64::from(step) * 0.01;
            assert!(envelope(u) >= u.sin().abs() / u, "{u}");
            assert!(envelope(u) <= before, "{u}");
            before = envelope(u);
        }
    }
}
