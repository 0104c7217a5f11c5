//! Quantiles: the effect of one unit on scores, by enumeration, and rank errors.

use std::collections::BTreeMap;

use mizan_noise::Entropy;
use mizan_sql::Groups;

use super::super::noise_plan::StatisticMechanism;
use super::super::quantile_target::QuantileTarget;
use super::super::{choose, predict, release};
use super::*;

const RANGE: (i64, i64) = (-800, 800);

/// The ranks that a value covers.
fn ranks(values: &[i64], value: i64) -> (usize, usize) {
    let less = values.iter().filter(|&&other| other < value).count();
    let equal = values.iter().filter(|&&other| other == value).count();
    (less, less + equal)
}

#[test]
fn rank_errors_are_within_the_bound() {
    let quantiles = [0.0, 0.1, 0.5, 0.9, 1.0];
    let plan = plan(
        None,
        1,
        statistics(1)[..5].to_vec(),
        quantiles.map(quantile).to_vec(),
    );
    for rows in [2000, 20_000] {
        let mut values = people(rows);
        // Many equal rows.
        for value in values.iter_mut().take(rows / 3) {
            *value = 61.0;
        }
        let integers: Vec<i64> = values.iter().map(|&value| AGES.integer(value)).collect();
        let exact = one_group(&values);
        let noise_plan = choose(&plan, &request(2.0, 1e-6)).unwrap();
        assert!(matches!(
            noise_plan.noise.mechanisms[4],
            StatisticMechanism::Recursive { .. }
        ));
        let bound = |at| predict::rank_error(&plan, &noise_plan.noise.mechanisms, 4, at).unwrap();
        let bounds = quantiles.map(bound);
        let mut missed = [0; 5];
        for _ in 0..400 {
            let released = release(&noise_plan, &plan, &exact).unwrap();
            let found = released.groups[0].cells[4]
                .quantiles()
                .expect("a histogram");
            assert!(found.is_sorted());
            assert_eq!(
                super::super::Released::from_bytes(&released.to_bytes(usize::MAX).unwrap())
                    .unwrap(),
                released
            );
            for (place, (value, bound)) in found.iter().zip(&bounds).enumerate() {
                let bound = *bound;
                let target = match quantiles[place] {
                    0.0 => bound as f64,
                    1.0 => rows as f64 - bound as f64,
                    at => at * rows as f64,
                };
                let (least, most) = ranks(&integers, *value);
                let error = (least as f64 - target).max(target - most as f64).max(0.0);
                missed[place] += usize::from(error > bound as f64);
            }
        }
        // 5 % of 400 are 20; 55 or more happen with probability 10⁻¹⁰. If the bounds were a
        // fifth, 80 would be missed.
        assert!(missed.iter().all(|&missed| missed < 55), "{missed:?}");
    }
}

/// Percentiles from a tree, with both families of noise.
#[test]
fn rank_errors_of_trees_are_within_the_bound() {
    let quantiles: [f64; 51] = std::array::from_fn(|place| place as f64 / 50.0);
    let rows = 20_000;
    let values = people(rows);
    let integers: Vec<i64> = values.iter().map(|&value| AGES.integer(value)).collect();
    for (groups, named) in [
        (None, "discrete-laplace"),
        (Some(Groups::Private), "discrete-gaussian"),
    ] {
        let (key, groups_per_unit) = match groups {
            None => (Vec::new(), 1),
            Some(_) => (text("a"), 30),
        };
        let exact = ExactAggregates::from([(key, cells(&values))]);
        let plan = plan(
            groups,
            groups_per_unit,
            statistics(1),
            quantiles.map(quantile).to_vec(),
        );
        let noise_plan = choose(&plan, &request(2.0, 1e-6)).unwrap();
        assert!(
            noise_plan.event().to_string().contains(named),
            "{}",
            noise_plan.event()
        );
        assert!(matches!(
            noise_plan.noise.mechanisms[4],
            StatisticMechanism::Tree { levels: 3, .. }
        ));
        let bound =
            predict::rank_error(&plan, &noise_plan.noise.mechanisms, 4, 0.5).unwrap() as f64;
        let (mut missed, mut worst) = ([0; 51], 0.0_f64);
        for _ in 0..200 {
            let released = release(&noise_plan, &plan, &exact).unwrap();
            let found = released.groups[0].cells[4]
                .quantiles()
                .expect("a histogram");
            for (place, (value, at)) in found.iter().zip(quantiles).enumerate() {
                let target = match at {
                    0.0 => bound,
                    1.0 => rows as f64 - bound,
                    at => at * rows as f64,
                };
                let (least, most) = ranks(&integers, *value);
                let error = (least as f64 - target).max(target - most as f64).max(0.0);
                worst = worst.max(error);
                missed[place] += usize::from(error > bound);
            }
            let bytes = released.to_bytes(usize::MAX).unwrap();
            assert_eq!(
                super::super::Released::from_bytes(&bytes).unwrap(),
                released
            );
        }
        // Each is missed at most once in twenty times: ten of 200. 38 misses have probability
        // 10⁻¹², below 10⁻⁹ for any of 102. The bound is loose: noise must be about six times
        // too wide to fail here. Without noise the second line fails.
        assert!(missed.iter().all(|&missed| missed < 38), "{missed:?}");
        assert!(worst > bound / 10.0, "{worst} {bound}");
    }
}

/// With negligible noise a tree finds the exact quantiles.
#[test]
fn a_tree_of_little_noise_is_exact() {
    let quantiles: Vec<Aggregate> = (1..50).map(|i| quantile(f64::from(i) / 50.0)).collect();
    let plan = plan(None, 1, statistics(1), quantiles);
    let noise_plan = choose(&plan, &request(5000.0, 0.0)).unwrap();
    let values = people(1000);
    let integers: Vec<i64> = values.iter().map(|&value| AGES.integer(value)).collect();
    for histogram in [one_group(&values), ExactAggregates::new()] {
        let released = release(&noise_plan, &plan, &histogram).unwrap();
        let found = released.groups[0].cells[4]
            .quantiles()
            .expect("a histogram");
        assert_eq!(found.len(), 49);
        if !histogram.is_empty() {
            for (place, value) in found.iter().enumerate() {
                let target = (place + 1) * 20;
                let (least, most) = ranks(&integers, *value);
                assert!(least <= target && target <= most, "{least} {target} {most}");
            }
        }
    }
}

/// No added row changes a probability by more than e^ε: the scores of all candidates of small
/// histograms, from the code that selects.
#[test]
fn one_unit_changes_scores_by_the_sensitivity() {
    for (at, rows) in [(0.5, 1), (0.9, 1), (0.25, 3), (0.0, 1), (1.0, 2)] {
        let target = QuantileTarget::of(at, 1.0, rows, 9);
        let histograms = [
            vec![],
            vec![(0, 4)],
            vec![(-4, 1), (2, 7)],
            vec![(-1, 2), (0, 1), (4, 9)],
        ];
        for histogram in histograms {
            let before: BTreeMap<i64, i64> = histogram.into_iter().collect();
            for value in -4..=4 {
                let mut after = before.clone();
                *after.entry(value).or_insert(0) += i64::try_from(rows).unwrap();
                let limit = target.sensitivity(rows);
                for candidate in -4..=4 {
                    let (one, other) = (
                        target.score_in(&before, candidate),
                        target.score_in(&after, candidate),
                    );
                    assert!(
                        one.abs_diff(other) <= limit,
                        "{target:?} {value} {candidate}"
                    );
                }
            }
        }
    }
}

#[test]
fn a_true_quantile_scores_best() {
    let histogram = BTreeMap::from([(-4, 10), (0, 50), (3, 40)]);
    for (at, best) in [(0.05, -4), (0.3, 0), (0.5, 0), (0.95, 3)] {
        let target = QuantileTarget::of(at, 1.0, 1, 9);
        assert_eq!(target.score_in(&histogram, best), 0, "{at}");
        for other in -4..=4 {
            assert!(
                other == best || target.score_in(&histogram, other) < 0,
                "{at} {other}"
            );
        }
    }
}

#[test]
fn extreme_quantiles_and_histograms_are_answered() {
    let mut entropy = Entropy::system().unwrap();
    for at in [f64::NAN, -1.0, 0.0, 1e-9, 0.5, 1.0 - 1e-9, 1.0, 2.0] {
        let target = QuantileTarget::of(at, 1e-6, 1 << 29, 1601);
        let mechanism = target
            .mechanism(mizan_core::Epsilon::new(1e-6).unwrap(), 1 << 29)
            .unwrap();
        for histogram in [
            BTreeMap::new(),
            BTreeMap::from([(-800, i64::MAX), (800, i64::MAX)]),
            BTreeMap::from([(-9000, 3), (0, 5), (9000, 4)]),
        ] {
            let found = target
                .select(&mechanism, &mut entropy, &histogram, RANGE)
                .unwrap();
            assert!((RANGE.0..=RANGE.1).contains(&found));
        }
    }
}

/// Nothing is released from integers that no engine computes.
#[test]
fn impossible_integers_are_refused() {
    let median = || plan(None, 1, statistics(1)[..5].to_vec(), vec![quantile(0.5)]);
    let noise_plan = choose(&median(), &request(2.0, 1e-6)).unwrap();
    let mut exact = one_group(&people(100));
    assert!(release(&noise_plan, &median(), &exact).is_ok());
    let cells = exact.get_mut(&Vec::new()).unwrap();
    cells[4] = Cell::Histogram([(-800, 3), (0, -5), (800, 4)].into());
    let refused = release(&noise_plan, &median(), &exact).unwrap_err();
    assert_eq!(refused, ReleaseError::Shape);
    // A quantile of a statistic that the plan does not have.
    let mut other = median();
    other.statistics.truncate(4);
    let mechanisms = &noise_plan.noise.mechanisms;
    assert!(predict::fineness(&other, 4).is_err());
    assert!(predict::rank_error(&other, mechanisms, 4, 0.5).is_err());
}
