//! Minimization: finds a good point at which to evaluate a bound.
//!
//! The value at every point is a valid bound, so a search that stops early or on a kink costs
//! tightness, never soundness.

/// A place and the value there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Minimum {
    pub(crate) place: f64,
    pub(crate) value: f64,
}

impl Minimum {
    /// The smaller value; infinite and undefined values lose.
    pub(crate) fn or(self, other: Self) -> Self {
        if other.value < self.value || self.value.is_nan() {
            other
        } else {
            self
        }
    }
}

/// Searches a function with a single valley on [low, high], by Brent's method:
/// parabolas through the best three places where they help, golden sections
/// where they do not.
///
/// `precision` is how well the place is found, relative; at a smooth minimum
/// the value is then found to its square.
pub(crate) fn valley((low, high): (f64, f64), precision: f64, f: impl Fn(f64) -> f64) -> Minimum {
    const GOLDEN: f64 = 0.381_966_011_250_105_1;
    const STEPS: u32 = 60;
    let at = |place: f64| Minimum {
        place,
        value: f(place),
    };
    let (mut low, mut high) = (low, high);
    let mut best = at(low + GOLDEN * (high - low));
    let (mut second, mut third) = (best, best);
    let (mut step, mut step_before) = (0.0f64, 0.0f64);
    for _ in 0..STEPS {
        let middle = 0.5 * (low + high);
        let precision = precision * (1.0 + best.place.abs());
        if (best.place - middle).abs() <= 2.0 * precision - 0.5 * (high - low) {
            break;
        }
        let parabolic = vertex(best, second, third).filter(|&move_to| {
            let place = best.place + move_to;
            // Inside, and less than half of the step before last.
            place > low && place < high && move_to.abs() < 0.5 * step_before.abs()
        });
        step_before = step;
        step = parabolic.unwrap_or_else(|| {
            step_before = if best.place < middle {
                high - best.place
            } else {
                low - best.place
            };
            GOLDEN * step_before
        });
        let move_by = if step.abs() >= precision {
            step
        } else {
            precision.copysign(step)
        };
        let next = at((best.place + move_by).clamp(low, high));
        if next.value <= best.value {
            if next.place < best.place {
                high = best.place
            } else {
                low = best.place
            }
            (third, second, best) = (second, best, next);
        } else {
            if next.place < best.place {
                low = next.place
            } else {
                high = next.place
            }
            if next.value <= second.value || second.place == best.place {
                (third, second) = (second, next);
            } else if next.value <= third.value
                || third.place == best.place
                || third.place == second.place
            {
                third = next;
            }
        }
    }
    best
}

/// How far from the first place the parabola through three places is lowest.
fn vertex(a: Minimum, b: Minimum, c: Minimum) -> Option<f64> {
    let (to_b, to_c) = (b.place - a.place, c.place - a.place);
    let (rise_b, rise_c) = (b.value - a.value, c.value - a.value);
    let curvature = 2.0 * (to_c * rise_b - to_b * rise_c);
    let vertex = (to_c * to_c * rise_b - to_b * to_b * rise_c) / curvature;
    // Infinite values and places that coincide have no parabola.
    vertex.is_finite().then_some(vertex)
}

/// The smallest double in [low, high] that satisfies `holds`, which is taken to
/// hold from somewhere on. None if it does not hold at `high`.
pub(crate) fn first_that_holds(low: f64, high: f64, holds: impl Fn(f64) -> bool) -> Option<f64> {
    if holds(low) {
        return Some(low);
    }
    if !holds(high) {
        return None;
    }
    // Non-negative doubles are ordered as their bits.
    let (mut low, mut high) = (low.max(0.0).to_bits(), high.to_bits());
    while high.saturating_sub(low) > 1 {
        let middle = low + (high - low) / 2;
        if holds(f64::from_bits(middle)) {
            high = middle;
        } else {
            low = middle;
        }
    }
    Some(f64::from_bits(high))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_a_smooth_minimum() {
        let found = valley((-30.0, 40.0), 1e-9, |x| (x - 3.25).powi(2) + 1.0);
        assert!((found.place - 3.25).abs() < 1e-6);
        assert!((found.value - 1.0).abs() < 1e-12);
    }

    #[test]
    fn finds_a_minimum_beside_infinity() {
        let found = valley((-30.0, 40.0), 1e-9, |x| {
            if x > 2.0 { f64::INFINITY } else { -x }
        });
        assert!((found.place - 2.0).abs() < 1e-6);
    }
}
