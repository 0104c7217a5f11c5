//! Hyperbolic functions near zero, where their plain forms cancel.
//!
//! All rest on one series, x coth x - 1 = Σ c_n x^(2n), which alternates.

use std::sync::LazyLock;

use mizan_core::Interval;

/// c_n = 2^(2n) B_2n / (2n)! as fractions, n = 1..10.
const COTH: [(f64, f64); 10] = [
    (1.0, 3.0),
    (-1.0, 45.0),
    (2.0, 945.0),
    (-1.0, 4_725.0),
    (2.0, 93_555.0),
    (-1_382.0, 638_512_875.0),
    (4.0, 18_243_225.0),
    (-3_617.0, 162_820_783_125.0),
    (87_734.0, 38_979_295_480_125.0),
    (-349_222.0, 1_531_329_465_290_625.0),
];

/// Cutting the series after c_10 for |x| <= 1/2 loses less than 11 c_11 x^20,
/// which is below 1e-15 of the first term, also in the derived series below.
const CUT: f64 = 1e-15;

/// c_n, enclosed once.
static COEFFICIENTS: LazyLock<[Interval; 10]> =
    LazyLock::new(|| COTH.map(|(n, d)| Interval::from(n) / d));

/// c_n / (2n 4^n), the series of ln(sinh(x/2)/(x/2)) in x².
static LN_COEFFICIENTS: LazyLock<[Interval; 10]> = LazyLock::new(|| {
    let mut divisor = 0.0;
    let mut power = 1.0;
    COEFFICIENTS.map(|c| {
        divisor += 2.0;
        power *= 0.25;
        c * power / divisor
    })
});

fn widened(sum: Interval) -> Interval {
    sum * Interval::new(1.0 - CUT, 1.0 + CUT)
}

/// x coth x - 1 for x >= 0.
pub(super) fn coth_excess(x: Interval) -> Interval {
    if x.upper() <= 0.5 {
        let square = x.square();
        let mut power = Interval::ONE;
        let mut sum = Interval::ZERO;
        for &c in COEFFICIENTS.iter() {
            power = power * square;
            sum = sum + c * power;
        }
        widened(sum)
    } else {
        (x / x.tanh() - 1.0).non_negative()
    }
}

/// (φ(x) - φ(y))/(x² - y²) for φ(x) = x coth x - 1 and 0 <= y <= x <= 1/2.
pub(super) fn coth_excess_slope(x: Interval, y: Interval) -> Interval {
    let (x2, y2) = (x.square(), y.square());
    // complete = Σ x2^i y2^j over i + j = n - 1, by complete' = x2 complete + y2^n.
    let mut complete = Interval::ONE;
    let mut y_power = Interval::ONE;
    let mut sum = Interval::ZERO;
    for &c in COEFFICIENTS.iter() {
        sum = sum + c * complete;
        y_power = y_power * y2;
        complete = complete * x2 + y_power;
    }
    widened(sum)
}

/// ln( sinh(x/2) / (x/2) ) for x >= 0.
pub(crate) fn ln_sinhc_half(x: Interval) -> Interval {
    if x.upper() <= 1.0 {
        let square = x.square();
        let mut power = Interval::ONE;
        let mut sum = Interval::ZERO;
        for &c in LN_COEFFICIENTS.iter() {
            power = power * square;
            sum = sum + c * power;
        }
        widened(sum)
    } else {
        (x * 0.5 + (-(-x).exp()).ln_1p() - x.ln()).non_negative()
    }
}

/// Σ c_n / (2n 4^n) w_n for given w_n: the series of [`ln_sinhc_half`] with
/// other powers in the place of x^(2n). Each w_n must be at most
/// (2n+1) w_1 / 3 for the cut to hold.
pub(super) fn ln_sinhc_half_series(weights: impl Iterator<Item = Interval>) -> Interval {
    let mut sum = Interval::ZERO;
    for (&c, weight) in LN_COEFFICIENTS.iter().zip(weights) {
        sum = sum + c * weight;
    }
    widened(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_series_meet_the_plain_forms_at_the_seam() {
        for x in [0.45, 0.49, 0.5] {
            let series = coth_excess(Interval::from(x));
            let plain = Interval::from(x) / Interval::from(x).tanh() - 1.0;
            assert!(series.lower() <= plain.upper() && plain.lower() <= series.upper());
            assert!(series.upper() - series.lower() < 1e-14 * series.upper());
        }
        for x in [0.9, 0.99, 1.0] {
            let at = Interval::from(x);
            let series = ln_sinhc_half(at);
            let plain = at * 0.5 + (-(-at).exp()).ln_1p() - at.ln();
            assert!(series.lower() <= plain.upper() && plain.lower() <= series.upper());
        }
        let slope = coth_excess_slope(Interval::from(0.5), Interval::from(0.25));
        let difference = coth_excess(Interval::from(0.5)) - coth_excess(Interval::from(0.25));
        let divided = difference / (0.25 - 0.0625);
        assert!(slope.lower() <= divided.upper() && divided.lower() <= slope.upper());
    }
}
