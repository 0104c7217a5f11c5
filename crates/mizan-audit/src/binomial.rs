//! An upper bound of the upper tail of the binomial distribution.
//!
//! The first term in the form of deviances, in intervals; the others by their
//! ratios, which fall, with every operation rounded up; the rest below a
//! geometric series.

use mizan_core::Interval;
use mizan_core::directed::{add_down, add_up, div_up, mul_up};

/// Where the rest is cut off, as a part of the sum; it is bounded and added.
const REST: f64 = 1e-12;

/// At least the probability of `hits` or more in `runs`, each with probability
/// `p`; both counts below 2⁵³.
///
/// At least, and close to it where `p` is below `hits / runs`.
pub(crate) fn tail(runs: u64, hits: u64, p: f64) -> f64 {
    if hits == 0 || hits > runs || !(p > 0.0 && p < 1.0) {
        return if hits > runs || p <= 0.0 && hits > 0 {
            0.0
        } else {
            1.0
        };
    }
    let first = ln_term(runs, hits, p).exp().upper();
    mul_up(first, sum_of_ratios(runs, hits, p)).min(1.0)
}

/// `ln C(n, k) p^k q^(n-k)`, for k from 1 on.
///
/// # Reference
///
/// Loader, *Fast and accurate computation of binomial probabilities*, 2000:
/// Stirling's formula in all three factorials, so that large terms cancel on
/// paper.
fn ln_term(runs: u64, hits: u64, p: f64) -> Interval {
    let (n, k, p) = (exact(runs), exact(hits), Interval::from(p));
    if hits == runs {
        return n * p.ln();
    }
    let others = exact(runs - hits);
    let deviance = |count: Interval, p: Interval| count * (count / (n * p)).ln();
    // The double is below π and the next one above.
    let pi = std::f64::consts::PI;
    let root = (n / (Interval::new(pi, pi.next_up()) * 2.0 * k * others)).ln() / 2.0;
    root + stirling(runs)
        - stirling(hits)
        - stirling(runs - hits)
        - deviance(k, p)
        - deviance(others, Interval::ONE - p)
}

/// `ln n! - (n + 1/2) ln n + n - ln √2π`, for n from 1 on.
fn stirling(n: u64) -> Interval {
    let x = exact(n);
    if n <= 16 {
        // 16! is a double.
        let factorial = (1..=n).map(|i| i as f64).product::<f64>();
        let pi = std::f64::consts::PI;
        let two_pi = Interval::new(pi, pi.next_up()) * 2.0;
        return Interval::from(factorial).ln() - (x + 0.5) * x.ln() + x - two_pi.ln() / 2.0;
    }
    // The series envelops: the value lies between two partial sums.
    let inverse = Interval::ONE / x;
    let square = inverse.square();
    let two_terms = inverse * (Interval::ONE / 12.0 - square / 360.0);
    let three_terms = two_terms + inverse * square * square / 1260.0;
    Interval::new(two_terms.lower(), three_terms.upper())
}

/// At least the sum of the terms from `hits` on, over the first of them.
fn sum_of_ratios(runs: u64, hits: u64, p: f64) -> f64 {
    let odds = div_up(p, add_down(1.0, -p));
    let (mut term, mut sum) = (1.0_f64, 1.0_f64);
    for at in hits..runs {
        // At least the ratio of the next term to this one.
        let ratio = mul_up(div_up((runs - at) as f64, (at + 1) as f64), odds);
        // All further ratios are smaller.
        let rest = div_up(mul_up(term, ratio), add_down(1.0, -ratio));
        if ratio < 1.0 && rest <= REST * sum {
            return add_up(sum, rest);
        }
        term = mul_up(term, ratio);
        sum = add_up(sum, term);
        if !sum.is_finite() {
            break;
        }
    }
    sum
}

fn exact(count: u64) -> Interval {
    Interval::from(count as f64)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// From the definition, in exact integers over 2^(n log 1/p).
    fn by_definition(runs: u32, hits: u32, log_q: u32) -> f64 {
        // p = 2^-log_q; the tail times 2^(log_q runs) is an integer.
        let choose =
            |k: u32| (0..k).fold(1u128, |c, i| c * u128::from(runs - i) / u128::from(i + 1));
        let other = (1u128 << log_q) - 1;
        let total: u128 = (hits..=runs).map(|k| choose(k) * other.pow(runs - k)).sum();
        total as f64 / 2.0_f64.powi(i32::try_from(log_q * runs).unwrap())
    }

    #[test]
    fn it_is_the_definition_from_above() {
        for (runs, log_q) in [(1, 1), (2, 1), (7, 3), (20, 2), (40, 1), (40, 3), (60, 2)] {
            for hits in 1..=runs {
                let p = 0.5_f64.powi(i32::try_from(log_q).unwrap());
                let exact = by_definition(runs, hits, log_q);
                let bound = tail(u64::from(runs), u64::from(hits), p);
                let case = format!("{hits} of {runs} at {p}: {bound} for {exact}");
                assert!(bound >= exact * (1.0 - 1e-15), "{case}");
                let tight = exact * (1.0 + 1e-9);
                assert!(bound <= tight, "{case}");
            }
        }
    }

    #[test]
    fn the_ends() {
        assert_eq!(tail(10, 0, 0.5), 1.0);
        assert_eq!(tail(10, 3, 0.0), 0.0);
        assert_eq!(tail(10, 3, 1.0), 1.0);
        assert_eq!(tail(10, 11, 0.5), 0.0);
        assert_eq!(tail(10, 3, f64::NAN), 1.0);
    }

    /// Against the normal approximation with its continuity correction, and the
    /// exact term at a size where factorials are long gone.
    #[test]
    fn large_counts() {
        let bound = tail(10_000_000_000, 5_000_245_000, 0.5);
        // 4.9 standard deviations: the normal tail is 4.79e-7.
        assert!((bound / 4.792e-7 - 1.0).abs() < 1e-3, "{bound:e}");
    }
}
