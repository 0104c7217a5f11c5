//! The half width of a sum of two independent noises.

use mizan_noise::{Confidence, DiscreteGaussian, ExactScale, Noise};

use super::ReleaseError;
use super::noise_plan::StatisticMechanism;

/// From this scale on, noise is close to its continuous counterpart: half a step covers the
/// effect of the lattice.
pub(super) const SMOOTH: f64 = 2.0;

/// How many standard deviations a normal variable exceeds with probability at most `missed`,
/// two-sided, rounded up slightly.
pub(super) fn deviations(missed: f64) -> Result<f64, ReleaseError> {
    const UNIT: u64 = 1 << 24;
    let noise = Noise::Gaussian(DiscreteGaussian::new(ExactScale::new(UNIT, 1)?));
    let width = noise.half_width(Confidence::new(1.0 - missed)?)?;
    #[allow(clippy::cast_precision_loss, reason = "below 2^53")]
    Ok((width + 1) as f64 / UNIT as f64)
}

/// A half width with `P(|a X + b Y| > width) <= missed`, where X and Y are the noises of two
/// statistics and a and b are not negative.
///
/// The smallest of three that are known before private data is read:
/// - the sum of the exact half widths at half of `missed` each;
/// - for Gaussian noises, that of a normal variable of the same variance;
/// - for Laplace noises, that of the sum of two Laplace variables,
///   `P(|S| > t) = (A² e^(-t/A) - B² e^(-t/B)) / (A² - B²)`.
///
/// To the last two, half a step of the lattice (a whole step for Laplace) is added for each.
/// Truncated noise counts as Laplace noise, which is wider.
pub(super) fn of_two(
    (a, x): (f64, &StatisticMechanism),
    (b, y): (f64, &StatisticMechanism),
    missed: f64,
) -> Result<Option<f64>, ReleaseError> {
    let (Some(wide_x), Some(wide_y)) = (x.half_width(missed / 2.0)?, y.half_width(missed / 2.0)?)
    else {
        return Ok(None);
    };
    let boxed = a * wide_x + b * wide_y;
    let joint = match (x, y) {
        (
            StatisticMechanism::Gaussian { sigma: x, .. },
            StatisticMechanism::Gaussian { sigma: y, .. },
        ) if x.min(*y) >= SMOOTH => deviations(missed)? * (a * x).hypot(b * y) + (a + b) / 2.0,
        _ => match (laplace_scale(x), laplace_scale(y)) {
            (Some(x), Some(y)) if x.min(y) >= SMOOTH => two_laplace(a * x, b * y, missed) + a + b,
            _ => boxed,
        },
    };
    Ok(Some(boxed.min(joint)))
}

fn laplace_scale(mechanism: &StatisticMechanism) -> Option<f64> {
    match mechanism {
        StatisticMechanism::Laplace { scale, .. } => Some(*scale),
        StatisticMechanism::Truncated { epsilon, .. } => Some((1.0 / epsilon).next_up()),
        _ => None,
    }
}

/// The t with `P(|X + Y| > t) = missed` for Laplace variables of two scales, rounded up.
fn two_laplace(one: f64, other: f64, missed: f64) -> f64 {
    let (wide, narrow) = (one.max(other), one.min(other));
    let tail = |t: f64| {
        if narrow > wide * 0.999 {
            // Both as wide as the wider.
            (1.0 + t / (2.0 * wide)) * (-t / wide).exp()
        } else {
            let (w, n) = (wide * wide, narrow * narrow);
            let far = if narrow > 0.0 {
                n * (-t / narrow).exp()
            } else {
                0.0
            };
            (w * (-t / wide).exp() - far) / (w - n)
        }
    };
    let (mut low, mut high) = (0.0, wide);
    while tail(high) > missed && high < wide * 1e4 {
        high *= 2.0;
    }
    for _ in 0..60 {
        let middle = low + (high - low) / 2.0;
        if tail(middle) > missed {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normal_deviations() {
        assert!((deviations(0.05).unwrap() - 1.959_964).abs() < 1e-6);
        assert!((deviations(0.05 / 3.0).unwrap() - 2.393_980).abs() < 1e-6);
    }

    #[test]
    fn two_laplace_variables() {
        // One alone: b ln 20.
        let alone = 20.0_f64.ln();
        assert!((two_laplace(1.0, 0.0, 0.05) - alone).abs() < 1e-9);
        // Continuous where the formula changes.
        let (a, b) = (
            two_laplace(1.0, 0.999_1, 0.05),
            two_laplace(1.0, 0.998_9, 0.05),
        );
        assert!((a - b).abs() < 4e-3 && a >= b);
        assert!(a < 2.0 * alone);
    }

    /// The exact half width of a sum of lattice noises is never larger.
    #[test]
    fn the_pair_is_not_too_narrow() {
        for (x, y) in [
            (
                StatisticMechanism::Laplace {
                    scale: 9.0,
                    sensitivity: 1,
                },
                StatisticMechanism::Laplace {
                    scale: 30.0,
                    sensitivity: 3,
                },
            ),
            (
                StatisticMechanism::Gaussian {
                    sigma: 2.0,
                    sensitivity: 1,
                },
                StatisticMechanism::Gaussian {
                    sigma: 30.0,
                    sensitivity: 3,
                },
            ),
            (
                StatisticMechanism::Gaussian {
                    sigma: 2.5,
                    sensitivity: 1,
                },
                StatisticMechanism::Gaussian {
                    sigma: 2.0,
                    sensitivity: 3,
                },
            ),
        ] {
            let confidence = Confidence::new(0.95).unwrap();
            let parts = [
                (x.noise().unwrap().unwrap(), 1),
                (y.noise().unwrap().unwrap(), 1),
            ];
            let exact = Noise::half_width_of_sum(&parts, confidence).unwrap().upper;
            let width = of_two((1.0, &x), (1.0, &y), 0.05).unwrap().unwrap();
            let exact = exact as f64;
            assert!(
                width >= exact && width < exact * 1.2 + 2.0,
                "{width} {exact}"
            );
        }
    }
}
