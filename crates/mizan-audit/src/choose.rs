//! Chooses the attack, on runs that are not used for anything else.
//!
//! The choice does not affect soundness: a bad attack gives a weaker bound, never a wrong one.

use crate::World;
use crate::attack::{Attack, Feature, Hits, Region};

/// The number of evenly spaced ranks of each input at which thresholds are tried.
const EVEN_RANKS: usize = 128;

/// And at this ratio of ranks towards both ends.
const RATIO: f64 = 1.25;

/// Hits below this prove nothing.
const OFTEN: u64 = 16;

/// Runs on both inputs, and further runs without the person for differences.
#[derive(Debug, Default)]
pub(crate) struct Observed {
    pub(crate) reference: Vec<f64>,
    pub(crate) without: Vec<f64>,
    pub(crate) with: Vec<f64>,
}

/// How promising an attack is.
pub(crate) struct Prospect {
    delta: f64,
    /// Standard deviations that the confidence takes.
    deviations: f64,
}

impl Prospect {
    /// For bounds that fail with this probability.
    pub(crate) fn new(delta: f64, failure: f64) -> Self {
        // The quantile of the normal distribution, roughly.
        let log = -failure.max(f64::MIN_POSITIVE).ln();
        let square = 2.0 * log - (4.0 * std::f64::consts::PI * log).ln();
        Self {
            delta,
            deviations: square.max(0.1).sqrt(),
        }
    }

    /// About the ε that an attack with these hits proves: Wilson's bounds.
    fn score(&self, (betrayed, other): (u64, u64), runs: usize) -> f64 {
        let lower = self.wilson(betrayed as f64, runs as f64, -1.0);
        let upper = self.wilson(other as f64, runs as f64, 1.0);
        ((lower - self.delta).max(f64::MIN_POSITIVE) / upper).ln()
    }

    fn wilson(&self, hits: f64, runs: f64, side: f64) -> f64 {
        let square = self.deviations * self.deviations;
        let spread = (hits * (runs - hits) / runs + square / 4.0).sqrt();
        (hits + square / 2.0 + side * self.deviations * spread) / (runs + square)
    }
}

impl Observed {
    /// The most promising of all attacks on outputs and differences.
    pub(crate) fn best_attack(&self, prospect: &Prospect) -> Attack {
        let nothing = Attack {
            feature: Feature::Output,
            region: Region::AtLeast(0.0),
            likelier: World::With,
        };
        let mut best = (f64::NEG_INFINITY, nothing);
        for feature in [Feature::Output, Feature::Difference] {
            let values = |outputs: &[f64]| -> Vec<f64> {
                let pairs = outputs.iter().zip(&self.reference);
                let mut values: Vec<f64> = match feature {
                    Feature::Output => outputs.to_vec(),
                    Feature::Difference => pairs.map(|(output, other)| output - other).collect(),
                };
                values.sort_unstable_by(f64::total_cmp);
                values
            };
            let worlds = Sorted {
                without: values(&self.without),
                with: values(&self.with),
            };
            for (region, hits) in worlds.regions() {
                for likelier in [World::With, World::Without] {
                    let score = prospect.score(hits.by(likelier), self.with.len());
                    if score > best.0 {
                        let attack = Attack {
                            feature,
                            region,
                            likelier,
                        };
                        best = (score, attack);
                    }
                }
            }
        }
        best.1
    }
}

/// Values of both worlds, in order.
struct Sorted {
    without: Vec<f64>,
    with: Vec<f64>,
}

impl Sorted {
    /// Candidate sets, with their hits.
    fn regions(&self) -> impl Iterator<Item = (Region, Hits)> {
        let tails = self.thresholds().into_iter().flat_map(|threshold| {
            [Region::AtLeast(threshold), Region::AtMost(threshold)]
                .map(|region| (region, self.hits(region)))
        });
        tails.chain(self.single_values())
    }

    fn thresholds(&self) -> Vec<f64> {
        let mut thresholds: Vec<f64> = [&self.without, &self.with]
            .into_iter()
            .flat_map(|values| ranks(values.len()).filter_map(|rank| values.get(rank).copied()))
            .filter(|value| !value.is_nan())
            .collect();
        thresholds.sort_unstable_by(f64::total_cmp);
        thresholds.dedup();
        thresholds
    }

    fn hits(&self, tail: Region) -> Hits {
        let count = |values: &[f64]| {
            let hits = match tail {
                Region::AtMost(t) => values.partition_point(|&value| value <= t),
                tail => values.len() - values.partition_point(|&value| value < tail.threshold()),
            };
            hits as u64
        };
        Hits {
            without: count(&self.without),
            with: count(&self.with),
        }
    }

    /// Values that are frequent enough on one of the inputs.
    fn single_values(&self) -> impl Iterator<Item = (Region, Hits)> {
        let (mut without, mut with) = (self.without.as_slice(), self.with.as_slice());
        std::iter::from_fn(move || {
            let value = match (without.first(), with.first()) {
                (Some(a), Some(b)) => a.min(*b),
                (Some(value), None) | (None, Some(value)) => *value,
                (None, None) => return None,
            };
            let take = |values: &mut &[f64]| {
                let count = values.partition_point(|&other| other <= value);
                *values = values.get(count..).unwrap_or_default();
                count as u64
            };
            let hits = Hits {
                without: take(&mut without),
                with: take(&mut with),
            };
            // NaN has no order.
            (hits != Hits::default()).then_some((Region::Exactly(value), hits))
        })
        .filter(|(_, hits)| hits.without.max(hits.with) >= OFTEN)
    }
}

/// Places in a sorted list: even ones, and denser ones towards both ends.
fn ranks(length: usize) -> impl Iterator<Item = usize> {
    let even = (0..EVEN_RANKS).map(move |step| length * step / EVEN_RANKS);
    let mut reach = 1.0;
    let ends = std::iter::from_fn(move || {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "at most the length"
        )]
        let rank = reach as usize;
        reach *= RATIO;
        (rank <= length).then(|| [rank - 1, length - rank])
    });
    even.chain(ends.flatten())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_reach_both_ends() {
        for length in [1, 2, 100, 100_000] {
            let all: Vec<usize> = ranks(length).collect();
            assert!(all.iter().all(|&rank| rank < length));
            assert!(all.contains(&0) && all.contains(&(length - 1)));
            assert!(all.len() < 400);
        }
        assert_eq!(ranks(0).filter(|&rank| rank > 0).count(), 0);
    }

    /// Wilson's bounds are near those that decide.
    #[test]
    fn the_prospect_is_realistic() {
        let prospect = Prospect::new(0.0, 5e-7);
        let exact = crate::clopper_pearson::ClopperPearson::new(100_000, 5e-7);
        for (hits, near) in [(50, 0.3), (1000, 0.02), (50_000, 1e-3)] {
            let upper = prospect.wilson(hits as f64, 1e5, 1.0);
            assert!((upper / exact.upper(hits) - 1.0).abs() < near);
            let lower = prospect.wilson(hits as f64, 1e5, -1.0);
            assert!((lower / exact.lower(hits) - 1.0).abs() < near);
        }
    }

    /// Inputs that only one value distinguishes, in the middle of the others.
    #[test]
    fn single_values_are_found() {
        let spread = |i: usize| ((i * 37) % 1001) as f64;
        let observed = Observed {
            reference: (0..10_000).map(|i| spread(i * 7)).collect(),
            without: (0..10_000)
                .map(|i| if spread(i) == 500.0 { 1.0 } else { spread(i) })
                .collect(),
            with: (0..10_000)
                .map(|i| if i % 10 == 0 { 500.0 } else { spread(i) })
                .collect(),
        };
        let attack = observed.best_attack(&Prospect::new(0.0, 1e-6));
        assert_eq!(attack.region, Region::Exactly(500.0));
        assert_eq!(
            (attack.feature, attack.likelier),
            (Feature::Output, World::With)
        );
    }
}
