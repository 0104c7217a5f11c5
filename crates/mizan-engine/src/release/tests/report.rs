//! Measurements of answers: rank errors of quantiles beside those of one exponential mechanism
//! each, the bias of means, and the bias of group sampling and of clipping.
//! `scripts/bench answers` prints them; no test fails here.

use mizan_core::{Epsilon, PrivacyEvent};

use super::super::noise_plan::{NoiseParameters, NoisePlan, StatisticMechanism, repeated};
use super::super::quantile_target::QuantileTarget;
use super::super::{AnswerCell, answer, choose, price, release};
use super::*;

const RUNS: usize = 200;
const DELTA: f64 = 1e-6;

/// One exponential mechanism for each quantile, at the whole epsilon.
fn one_by_one(quantiles: &[f64], epsilon: f64) -> NoisePlan {
    let count = quantiles.len() as u64;
    let cost = |s: f64| {
        let epsilon = Epsilon::new(1.0 / s).unwrap();
        let event = repeated(count, PrivacyEvent::Exponential { epsilon }).unwrap();
        price::price(&event, DELTA, false).epsilon
    };
    let s = price::smallest(cost, epsilon, count as f64 / epsilon, (1e-3, 1e9)).unwrap();
    let candidates = 1601;
    let target = |at: &f64| QuantileTarget::of(*at, 1.0 / s, 1, candidates);
    let noise = NoiseParameters {
        groups_per_unit: 1,
        mechanisms: vec![StatisticMechanism::Select {
            epsilon: 1.0 / s,
            rows: 1,
            targets: quantiles.iter().map(target).collect(),
        }],
        threshold: None,
    };
    let charged = super::clipping::without_clock(GroupBounding::NotNeeded);
    NoisePlan::new(noise, charged, epsilon, DELTA, Vec::new()).unwrap()
}

/// The mean of all rank errors, and the 95 % quantile of the largest rank error of a release.
fn rank_errors(
    plan: &BoundedPlan,
    noise_plan: &NoisePlan,
    exact: &ExactAggregates,
    sorted: &[i64],
    quantiles: &[f64],
) -> (f64, f64) {
    let mut sum = 0.0;
    let mut largest = Vec::new();
    for _ in 0..RUNS {
        let released = release(noise_plan, plan, exact).unwrap();
        let found = released.groups[0].cells[0]
            .quantiles()
            .expect("a histogram");
        let mut worst = 0.0_f64;
        for (value, at) in found.iter().zip(quantiles) {
            let target = at * sorted.len() as f64;
            let least = sorted.partition_point(|other| other < value) as f64;
            let most = sorted.partition_point(|other| other <= value) as f64;
            let error = (least - target).max(target - most).max(0.0);
            sum += error;
            worst = worst.max(error);
        }
        largest.push(worst);
    }
    largest.sort_by(f64::total_cmp);
    (
        sum / (RUNS * quantiles.len()) as f64,
        largest[RUNS * 95 / 100],
    )
}

#[test]
#[ignore = "long: a report"]
fn quantiles() {
    println!("| quantiles | rows | ε | how | mean | largest, 95 % | one by one: mean | largest |");
    println!("| --- | --- | --- | --- | --- | --- | --- | --- |");
    for count in [1, 3, 9, 99] {
        let quantiles: Vec<f64> = (1..=count)
            .map(|i| f64::from(i) / f64::from(count + 1))
            .collect();
        let aggregates = quantiles.iter().map(|at| Aggregate::Quantile {
            histogram: 0,
            at: *at,
            kind: Type::Number,
        });
        let statistics = statistics(1)[4..].to_vec();
        let plan = plan(None, 1, statistics, aggregates.collect());
        for rows in [1000, 100_000] {
            // A fine spread: few rows are equal.
            let values: Vec<f64> = (0..rows)
                .map(|i| 200.0 * (((i * 7919) % rows) as f64 / rows as f64).powi(2))
                .collect();
            let mut sorted: Vec<i64> = values.iter().map(|x| AGES.integer(*x)).collect();
            sorted.sort_unstable();
            let exact = ExactAggregates::from([(Vec::new(), vec![cells(&values).remove(4)])]);
            for epsilon in [0.1, 1.0] {
                let ours = choose(&plan, &request(epsilon, 2.0 * DELTA)).unwrap();
                let how = match ours.noise.mechanisms[0] {
                    StatisticMechanism::Select { .. } => "one by one",
                    StatisticMechanism::Recursive { .. } => "recursive",
                    _ => "tree",
                };
                let theirs = one_by_one(&quantiles, epsilon);
                let (mean, largest) = rank_errors(&plan, &ours, &exact, &sorted, &quantiles);
                let (plain, plain_largest) =
                    rank_errors(&plan, &theirs, &exact, &sorted, &quantiles);
                println!(
                    "| {count} | {rows} | {epsilon} | {how} | {mean:.1} | {largest:.0} | {plain:.1} | {plain_largest:.0} |"
                );
            }
        }
    }
}

#[test]
#[ignore = "long: a report"]
fn sampled_or_clipped() {
    println!(
        "| people | in more than 15 | question | truth | ε | σ | off, dropped | clipped | with noise, dropped | clipped |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    let off = |errors: &[f64], sigma: f64| {
        let squares = errors.iter().map(|error| error * error).sum::<f64>();
        (squares / errors.len() as f64 + sigma * sigma).sqrt()
    };
    for (people, skew) in [(3_000, 4), (3_000, 16), (30_000, 4), (30_000, 16)] {
        for what in ["COUNT(*)", "SUM(cost)"] {
            let sql = format!("SELECT ward, {what} AS x FROM visits GROUP BY ward");
            for epsilon in [0.3, 1.0, 3.0] {
                let found = clipping::compared(&sql, people, skew, epsilon);
                println!(
                    "| {people} | {} | {what} | {:.0} | {epsilon} | {:.1} | {:.1} | {:.1} | {:.1} | {:.1} |",
                    found.over,
                    found.truth,
                    found.sigma,
                    off(&found.dropped, 0.0),
                    off(&found.clipped, 0.0),
                    off(&found.dropped, found.sigma),
                    off(&found.clipped, found.sigma),
                );
            }
        }
    }
}

#[test]
#[ignore = "long: a report"]
fn bias_of_means() {
    println!("| rows | true mean, of 0 to 200 | ε | bias | standard error | spread |");
    println!("| --- | --- | --- | --- | --- | --- |");
    let keys: Vec<Vec<Value>> = (0..10_000).map(|key| text(&key.to_string())).collect();
    let statistics = statistics(1)[1..3].to_vec();
    let mean = Aggregate::Mean { sum: 1, count: 0 };
    let groups = Some(mizan_sql::Groups::Public(keys.clone()));
    let plan = plan(groups, 1, statistics, vec![mean]);
    for rows in [10, 100, 10_000] {
        for centre in [100.0, 20.0] {
            let values: Vec<f64> = (0..rows).map(|i| centre - 4.0 + f64::from(i % 9)).collect();
            let group = cells(&values)[1..3].to_vec();
            let exact: ExactAggregates = keys
                .iter()
                .map(|key| (key.clone(), group.clone()))
                .collect();
            let sum: i64 = values.iter().map(|x| AGES.integer(*x)).sum();
            let truth = 100.0 + sum as f64 / 8.0 / f64::from(rows);
            for epsilon in [0.1, 1.0] {
                let noise_plan = choose(&plan, &request(epsilon, 1e-6)).unwrap();
                let plan = noise_plan.apply_to(plan.clone());
                let released = release(&noise_plan, &plan, &exact).unwrap();
                let answer = answer(&plan, &noise_plan, &released).unwrap();
                let errors: Vec<f64> = answer
                    .rows
                    .iter()
                    .map(|row| match &row[1] {
                        AnswerCell::Estimate { value, .. } => value.as_f64().unwrap() - truth,
                        other => panic!("{other:?}"),
                    })
                    .collect();
                let runs = errors.len() as f64;
                let bias = errors.iter().sum::<f64>() / runs;
                let spread = errors.iter().map(|e| (e - bias).powi(2)).sum::<f64>() / runs;
                let spread = spread.sqrt();
                println!(
                    "| {rows} | {truth:.2} | {epsilon} | {bias:+.3} | {:.3} | {spread:.2} |",
                    spread / runs.sqrt()
                );
            }
        }
    }
}
