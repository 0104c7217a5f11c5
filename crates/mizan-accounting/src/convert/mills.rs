//! Mills' ratio of the normal distribution and its derivatives.
//!
//! > D_n(x) = ∫₀^∞ tⁿ e^(-xt - t²/2) dt,  x >= 0;   D_0 = M(x) = Φ(-x)/φ(x).
//!
//! They satisfy D_(n+1) + x D_n = n D_(n-1) with D_1 + x D_0 = 1. Upwards this
//! cancels; downwards the ratios r_n = D_n/D_(n-1) follow the continued
//! fraction r_n = n/(x + r_(n+1)) of positive terms, which contracts. It may
//! start from any interval that contains r_N: 0 < r_N <= √N.

use mizan_core::Interval;

/// Above this the continued fraction, below it the error function.
const FRACTION_FROM: f64 = 2.0;

/// Enough steps for a contraction below 2^-53 from x = 2 on.
const STEPS: u32 = 120;

/// M(x) = Φ(-x)/φ(x) for x >= 0, or a little below zero, where it grows as e^(x²/2).
pub(crate) fn mills(x: Interval) -> Interval {
    if x.lower() >= FRACTION_FROM {
        Interval::ONE / (x + ratio(x, 1))
    } else {
        // √(π/2) e^(x²/2) erfc(x/√2)
        let half_pi = Interval::new(
            std::f64::consts::FRAC_PI_2,
            std::f64::consts::FRAC_PI_2.next_up(),
        );
        let sqrt_half = Interval::from(0.5).sqrt();
        half_pi.sqrt() * (x.square() * 0.5).exp() * (x * sqrt_half).erfc()
    }
}

/// M(c - h) - M(c + h) for c >= 0 and small h: 2 Σ D_(2k+1)(c) h^(2k+1)/(2k+1)!.
pub(super) fn mills_difference(c: Interval, h: Interval) -> Interval {
    const TERMS: u32 = 16;
    let derivatives = derivatives(c, 2 * TERMS);
    let mut sum = Interval::ZERO;
    let mut power = h;
    for (n, &derivative) in derivatives.iter().enumerate().skip(1).step_by(2) {
        let term = derivative * power;
        sum = sum + term;
        let n = n as f64;
        power = power * h * h / ((n + 1.0) * (n + 2.0));
    }
    // For h <= 1/2 every term is below a quarter of the one before, since
    // D_(n+2) <= (n+1) D_n; the first left out is below √33 times what follows.
    let last = derivatives
        .last()
        .map_or(Interval::ZERO, |&last| last * power);
    (sum + Interval::new(0.0, 8.0 * last.upper())) * 2.0
}

/// D_0 to D_count at c >= 0.
fn derivatives(c: Interval, count: u32) -> Vec<Interval> {
    let mut all = vec![mills(c)];
    if c.lower() >= FRACTION_FROM {
        let ratios = ratios(c, count);
        for ratio in ratios {
            let last = all.last().copied().unwrap_or(Interval::ONE);
            all.push(last * ratio);
        }
    } else {
        // Small c: upwards, with what the signs guarantee: 0 < D_(n+1) <= √(n+1) D_n.
        let (mut before, mut here) = (mills(c), Interval::ONE - c * mills(c));
        all.push(here.non_negative());
        for n in 1..count {
            let bound = here.upper() * f64::from(n + 1).sqrt() * (1.0 + 1e-15);
            let next = (before * f64::from(n) - c * here).non_negative();
            let next = Interval::new(next.lower().min(bound), next.upper().min(bound));
            (before, here) = (here, next);
            all.push(next);
        }
    }
    all
}

/// r_n at x.
fn ratio(x: Interval, n: u32) -> Interval {
    ratios(x, n).pop().unwrap_or(Interval::ENTIRE)
}

/// r_1 to r_count at x >= 2.
fn ratios(x: Interval, count: u32) -> Vec<Interval> {
    let top = count + STEPS;
    let mut ratio = Interval::new(0.0, f64::from(top).sqrt().next_up());
    let mut kept = Vec::new();
    for n in (1..top).rev() {
        ratio = Interval::from(f64::from(n)) / (x + ratio);
        if n <= count {
            kept.push(ratio);
        }
    }
    kept.reverse();
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_agree_at_the_seam() {
        let fraction = mills(Interval::from(2.0));
        let function = mills(Interval::from(2f64.next_down()));
        assert!(fraction.lower() <= function.upper() && function.lower() <= fraction.upper());
        // 50-digit value: 0.42136922928805449...
        assert!(fraction.contains(0.421_369_229_288_054_5));
        assert!(fraction.upper() - fraction.lower() < 1e-14);
    }

    #[test]
    fn the_difference_agrees_with_subtraction() {
        for (c, h) in [(0.0, 0.25), (0.7, 0.5), (1.9, 0.4), (2.5, 0.5), (30.0, 0.5)] {
            let series = mills_difference(Interval::from(c), Interval::from(h));
            let left = Interval::from(c - h);
            if left.lower() >= 0.0 {
                let plain = mills(left) - mills(Interval::from(c + h));
                assert!(series.lower() <= plain.upper() && plain.lower() <= series.upper());
            }
            assert!(
                series.upper() - series.lower() < 1e-11 * series.upper(),
                "{c} {h} {series:?}"
            );
        }
    }
}
