//! Clopper-Pearson bounds of a probability from counted hits.

use mizan_core::directed::add_up;

use crate::binomial::tail;

/// Halvings of the range in which a bound is sought.
const STEPS: u32 = 64;

/// Bounds of a probability from the number of hits in a number of runs.
///
/// # Guarantee
///
/// Whatever the probability is: before the runs are made, `lower` will be above
/// it with probability at most `failure`, and `upper` below it likewise.
///
/// # Reference
///
/// Clopper and Pearson, 1934. The quantile of the beta distribution is found by
/// bisection on the binomial tail, and only values of which the tail is proven
/// to be at most `failure` are taken.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ClopperPearson {
    runs: u64,
    failure: f64,
}

impl ClopperPearson {
    pub(crate) fn new(runs: u64, failure: f64) -> Self {
        Self { runs, failure }
    }

    /// Not above the probability.
    ///
    /// If it were `p` or less, as many hits would come with probability at most
    /// `failure`: the tail rises with `p`.
    pub(crate) fn lower(&self, hits: u64) -> f64 {
        if hits == 0 || hits > self.runs {
            return 0.0;
        }
        let (mut proven, mut open) = (0.0, hits as f64 / self.runs as f64);
        for _ in 0..STEPS {
            let middle = 0.5 * (proven + open);
            if tail(self.runs, hits, middle) <= self.failure {
                proven = middle;
            } else {
                open = middle;
            }
            if open - proven <= 1e-13 * open {
                break;
            }
        }
        proven
    }

    /// Not below the probability: what misses must have.
    pub(crate) fn upper(&self, hits: u64) -> f64 {
        add_up(1.0, -self.lower(self.runs.saturating_sub(hits))).min(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(found: f64, exact: f64, side: f64) {
        // The closed forms and the printed digits are themselves rounded.
        assert!((found - exact) * side <= 1e-14 * exact, "{found}: {exact}");
        assert!((found / exact - 1.0).abs() < 1e-9, "{found} for {exact}");
    }

    /// One hit, all hits and none have closed forms.
    #[test]
    fn closed_forms() {
        for runs in [2, 5, 1000, 1_000_000] {
            let n = runs as f64;
            let bounds = ClopperPearson::new(runs, 0.025);
            close(bounds.lower(1), -((-0.025f64).ln_1p() / n).exp_m1(), 1.0);
            close(bounds.lower(runs), (0.025f64.ln() / n).exp(), 1.0);
            close(bounds.upper(0), -(0.025f64.ln() / n).exp_m1(), -1.0);
            assert_eq!((bounds.lower(0), bounds.upper(runs)), (0.0, 1.0));
        }
    }

    /// Quantiles of the beta distribution from mpmath, by bisection on its
    /// `betainc` with 40 digits.
    #[test]
    fn quantiles_of_the_beta_distribution() {
        for (runs, hits, failure, lower, upper) in [
            (
                10,
                3,
                0.025,
                0.066739511177734468518,
                0.65245285005999729166,
            ),
            (
                100,
                7,
                5e-7,
                0.0046284540980015936844,
                0.26792514797012257592,
            ),
            (
                1000,
                500,
                5e-7,
                0.42264392400043534013,
                0.57735607599956465987,
            ),
            (
                20000,
                19990,
                5e-7,
                0.99823185359949939648,
                0.99994093367011590043,
            ),
            (
                1_000_000,
                131,
                1e-9,
                7.354937067282317977e-5,
                2.1294247041811156901e-4,
            ),
        ] {
            let bounds = ClopperPearson::new(runs, failure);
            close(bounds.lower(hits), lower, 1.0);
            close(bounds.upper(hits), upper, -1.0);
        }
    }

    /// Every probability, every number of hits: how often each bound is wrong,
    /// added up exactly.
    #[test]
    fn the_bounds_fail_as_seldom_as_they_say() {
        for (runs, failure) in [(1, 0.3), (7, 0.1), (40, 0.01), (40, 0.2)] {
            let bounds = ClopperPearson::new(runs, failure);
            let known: Vec<(f64, f64)> = (0..=runs)
                .map(|hits| (bounds.lower(hits), bounds.upper(hits)))
                .collect();
            for step in 1..200 {
                let p = f64::from(step) / 200.0;
                let mut chance = (1.0 - p).powi(i32::try_from(runs).unwrap_or(0));
                let (mut above, mut below) = (0.0, 0.0);
                for (hits, (lower, upper)) in (0..).zip(&known) {
                    above += if *lower > p { chance } else { 0.0 };
                    below += if *upper < p { chance } else { 0.0 };
                    chance *= (runs - hits) as f64 / (hits + 1) as f64 * p / (1.0 - p);
                }
                assert!(above <= failure + 1e-12 && below <= failure + 1e-12);
            }
        }
    }

    #[test]
    fn nothing_is_proven_where_nothing_may_fail() {
        let bounds = ClopperPearson::new(100, 0.0);
        assert_eq!((bounds.lower(60), bounds.upper(60)), (0.0, 1.0));
    }
}
