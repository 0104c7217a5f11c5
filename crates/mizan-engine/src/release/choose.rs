//! The choice of the noise plan, before private data is read.
//!
//! A release has one epsilon. It is split equally over its statistics (each quantile counts as
//! one) in all groups that a unit is in. With equal shares one number `s` determines
//! everything, for statistics of sensitivity `B`:
//!
//! | family | sums and counts | quantiles | units of private groups |
//! | --- | --- | --- | --- |
//! | Laplace | scale `s B` | `ε = 1/s` | truncated geometric, `ε = 1/s` |
//! | Gaussian | sigma `s B` | `ε = 2/s`, the same in zCDP | sigma `s`, and a threshold |
//!
//! From three quantiles on (minimum and maximum aside) the Kaplan-Schnapp-Stemmer recursion is
//! used, and each depth counts as one statistic. From 32 on they are read from a tree of noisy
//! counts, of which each level counts as one.
//!
//! For both families the smallest `s` is found whose event has at most the requested epsilon,
//! certified. The family with the narrower interval of the first aggregate is used; with
//! private groups, the one with the lower threshold. For a requested accuracy, the family with the
//! smaller epsilon is used.
//!
//! If the account has a Gaussian clock, the share of the account that a release takes counts too
//! (`share.rs`). For a requested epsilon, the other family is used if its interval or threshold is
//! at most a quarter wider and it takes a smaller share. For a requested accuracy, the smaller
//! share decides.
//!
//! The contribution bounding across groups depends on the family. Laplace noise is charged by
//! the L1 norm, so groups of a unit are sampled. Gaussian noise is charged by the L2 norm, so
//! units are clipped where the plan allows it (`BoundedPlan::clipped`).

use std::collections::BTreeSet;

use mizan_core::PrivacyEvent;
use mizan_sql::{Aggregate, BoundedPlan, GroupBounding, Groups, Measure, Statistic};

use super::candidate::{Candidate, Family, Pick};
use super::noise_plan::{
    self, Charged, LARGEST_SCALE, LEAST_SCALE, NoiseParameters, NoisePlan, StatisticMechanism,
    Threshold,
};
use super::price::{self, Prices, six_digits};
use super::quantile_target::QuantileTarget;
use super::reason::{Accuracy, ChoiceReason, NoiseKind};
use super::share::AccountClock;
use super::{NoiseTarget, ReleaseError, Request, predict, recursive, tree};

/// The probability that an interval misses.
pub(crate) const MISSED: f64 = 0.05;

/// Chooses the noise plan of a release.
///
/// # Guarantee
///
/// For a target epsilon: the certified epsilon of the event at `request.delta`, apart from
/// failures of the threshold with probability at most `request.threshold_delta`, is at most the
/// target. For a target accuracy: the first aggregate is that accurate.
pub(crate) fn choose(plan: &BoundedPlan, request: &Request) -> Result<NoisePlan, ReleaseError> {
    let outline = Outline::new(plan, request)?;
    let mut found = Vec::new();
    let mut failure = None;
    for family in [Family::Laplace, Family::Gaussian] {
        let solved = match request.target {
            NoiseTarget::Epsilon(epsilon) => outline.for_epsilon(family, epsilon.get()),
            NoiseTarget::Accuracy(half_width) => outline.for_accuracy(family, half_width),
        };
        match solved {
            Ok(candidate) => found.push(candidate),
            Err(error) => failure = Some(error),
        }
    }
    match Pick::of(found, request) {
        Some(pick) => outline.noise_plan(pick, failure.as_ref()),
        None => Err(failure.unwrap_or(ReleaseError::TooWide)),
    }
}

/// The quantities that the choice depends on.
struct Outline<'a> {
    plan: &'a BoundedPlan,
    /// The plan for Gaussian noise, if units can be clipped.
    clipped: Option<BoundedPlan>,
    delta: f64,
    prices: Prices,
    clock: Option<AccountClock>,
    on_clock: bool,
    threshold_delta: f64,
    private: bool,
    /// The most groups that a unit is in, at most the number of public groups.
    groups: u64,
    /// For each statistic, the distinct quantiles that the query uses.
    quantiles: Vec<Vec<f64>>,
    /// Into how many parts epsilon is split within a group.
    parts: u64,
}

impl<'a> Outline<'a> {
    fn new(plan: &'a BoundedPlan, request: &Request) -> Result<Self, ReleaseError> {
        match request.target {
            NoiseTarget::Epsilon(epsilon) if !(epsilon.get() > 0.0 && epsilon.is_finite()) => {
                let epsilon = epsilon.get();
                return Err(ReleaseError::Epsilon { epsilon });
            }
            NoiseTarget::Accuracy(half_width) if !(half_width > 0.0 && half_width.is_finite()) => {
                return Err(ReleaseError::Accuracy { half_width });
            }
            NoiseTarget::Epsilon(_) | NoiseTarget::Accuracy(_) => {}
        }
        let (delta, own) = (request.delta.get(), request.threshold_delta.get());
        let private = matches!(plan.groups, Groups::Private);
        if private && own <= 0.0 {
            return Err(ReleaseError::NoDelta);
        }
        let units_first = plan
            .statistics
            .first()
            .is_some_and(|first| first.measure == Measure::Units);
        if private && !units_first {
            return Err(ReleaseError::Plan {
                what: "private groups without their units",
            });
        }
        if let Groups::Public(keys) = &plan.groups
            && keys.iter().collect::<BTreeSet<_>>().len() < keys.len()
        {
            return Err(ReleaseError::Plan {
                what: "a group that would be released twice",
            });
        }
        let quantiles: Vec<Vec<f64>> = (0..plan.statistics.len())
            .map(|statistic| quantiles_of(plan, statistic))
            .collect();
        let mut parts = 0_u64;
        for (statistic, quantiles) in plan.statistics.iter().zip(&quantiles) {
            parts += match &statistic.measure {
                Measure::Histogram(_, quantized) => {
                    quantile_parts(quantiles, candidates(quantized.range()))
                }
                _ => 1,
            };
        }
        Ok(Self {
            plan,
            clipped: plan.clipped(),
            delta,
            prices: Prices::new(delta, request.on_clock),
            clock: request.clock,
            on_clock: request.on_clock,
            threshold_delta: own,
            private,
            groups: match &plan.groups {
                Groups::Public(keys) => {
                    let all = u64::try_from(keys.len()).unwrap_or(u64::MAX);
                    plan.groups_per_unit.min(all).max(1)
                }
                Groups::Private => plan.groups_per_unit.max(1),
            },
            quantiles,
            parts: parts.max(1),
        })
    }

    /// The plan that the engine would run.
    fn plan_of(&self, family: Family) -> &BoundedPlan {
        match family {
            Family::Laplace => self.plan,
            Family::Gaussian => self.clipped.as_ref().unwrap_or(self.plan),
        }
    }

    /// The mechanisms of a family at noise size `s`.
    fn mechanisms(&self, family: Family, s: f64) -> Result<Vec<StatisticMechanism>, ReleaseError> {
        let plan = self.plan_of(family);
        let statistics = plan.statistics.iter().zip(&self.quantiles).enumerate();
        let mechanism = |(place, (statistic, quantiles)): (usize, (&Statistic, &Vec<f64>))| {
            let sensitivity = plan.sensitivity(statistic).max(1);
            if let Measure::Histogram(_, quantized) = &statistic.measure {
                let candidates = candidates(quantized.range());
                return quantile_mechanism(family, s, sensitivity, candidates, quantiles);
            }
            if self.private && place == 0 && family == Family::Laplace {
                let groups = as_f64(self.groups.max(1)).next_up();
                return Ok(StatisticMechanism::Truncated {
                    epsilon: six_digits((1.0 / s).min(1.0 / LEAST_SCALE), false),
                    delta: six_digits(self.threshold_delta / groups, false),
                });
            }
            noise_mechanism(family, s, sensitivity)
        };
        statistics.map(mechanism).collect()
    }

    fn event(
        &self,
        family: Family,
        mechanisms: &[StatisticMechanism],
        threshold: Option<Threshold>,
    ) -> Result<PrivacyEvent, ReleaseError> {
        let charged = Charged {
            group_bounding: self.plan_of(family).group_bounding,
            on_clock: self.on_clock,
        };
        noise_plan::event(self.groups, mechanisms, threshold, charged)
    }

    /// The cost of the threshold, before its value is known.
    fn failure(&self) -> Option<Threshold> {
        self.private.then_some(Threshold {
            above: 0,
            delta: self.threshold_delta,
        })
    }

    fn cost(&self, family: Family, mechanisms: &[StatisticMechanism]) -> f64 {
        let event = self.event(family, mechanisms, self.failure());
        event.map_or(f64::INFINITY, |event| self.prices.of(&event).epsilon)
    }

    /// The least noise that costs at most `epsilon`.
    fn for_epsilon(&self, family: Family, epsilon: f64) -> Result<Candidate, ReleaseError> {
        let parts = as_f64(self.parts) * as_f64(self.groups.max(1));
        let guess = match family {
            // Pure losses add up.
            Family::Laplace => parts / epsilon,
            // ε = ρ + 2 √(ρ ln 1/δ), of ρ = parts / (2 s²).
            Family::Gaussian => {
                let log = -(self.delta.max(1e-300)).ln();
                let root = (log + epsilon).sqrt() - log.sqrt();
                (parts / 2.0).sqrt() / root.max(1e-15)
            }
        };
        let cost = |s: f64| {
            let mechanisms = self.mechanisms(family, s);
            mechanisms.map_or(f64::INFINITY, |mechanisms| self.cost(family, &mechanisms))
        };
        let impossible = ReleaseError::Impossible {
            epsilon,
            delta: self.delta,
        };
        // Sums of losses are rounded up: slightly more noise keeps them below.
        let guess = if cost(guess) > epsilon {
            guess * (1.0 + 1e-5)
        } else {
            guess
        };
        // If even the least noise costs less than the target, it is used.
        let s = price::smallest(cost, epsilon, guess, (LEAST_SCALE / 2.0, 1e22));
        let Some(s) = s else {
            let wide = self.mechanisms(family, guess);
            return Err(wide.err().unwrap_or(impossible));
        };
        let candidate = self.candidate(family, s)?;
        if candidate.epsilon <= epsilon {
            Ok(candidate)
        } else {
            Err(impossible)
        }
    }

    /// The most noise with which the first aggregate has this half width.
    fn for_accuracy(&self, family: Family, half_width: f64) -> Result<Candidate, ReleaseError> {
        let first = self.plan.output.aggregates.first();
        match first {
            Some(Aggregate::Count { .. } | Aggregate::Sum { .. }) => {}
            other => {
                let what = predict::kind(other);
                return Err(ReleaseError::Unpredictable { what });
            }
        }
        let accurate = |s: f64| -> Result<bool, ReleaseError> {
            let mechanisms = self.mechanisms(family, s)?;
            let plan = self.plan_of(family);
            let width = predict::shown_half_width(plan, &mechanisms, 0, MISSED)?;
            Ok(width.is_some_and(|width| width <= half_width))
        };
        let too_accurate = ReleaseError::TooAccurate { half_width };
        let (mut holds, mut fails) = (LEAST_SCALE / 2.0, 1e9);
        if !accurate(holds)? {
            return Err(too_accurate);
        }
        if accurate(fails).unwrap_or(false) {
            return self.candidate(family, fails);
        }
        while fails / holds > 1.0 + 1e-6 {
            let middle = (holds * fails).sqrt();
            if accurate(middle).unwrap_or(false) {
                holds = middle;
            } else {
                fails = middle;
            }
        }
        let candidate = self.candidate(family, holds)?;
        if candidate.epsilon.is_finite() {
            Ok(candidate)
        } else {
            Err(too_accurate)
        }
    }

    /// A family at noise size `s`, with its threshold and its price.
    fn candidate(&self, family: Family, s: f64) -> Result<Candidate, ReleaseError> {
        let mechanisms = self.mechanisms(family, s)?;
        let mut threshold = self.failure();
        if let (Some(threshold), Some(units)) = (threshold.as_mut(), mechanisms.first()) {
            threshold.above = match units.truncated()? {
                Some(keys) => keys.bound(),
                None => {
                    let mechanism = units.mechanism()?;
                    noise_plan::gaussian_threshold(
                        mechanism.noise(),
                        self.groups,
                        self.threshold_delta,
                    )?
                }
            };
        }
        let plan = self.plan_of(family);
        let event = self.event(family, &mechanisms, threshold)?;
        let yardstick = match threshold {
            Some(threshold) => as_f64(threshold.above),
            None => predict::yardstick(plan, &mechanisms, MISSED)?,
        };
        let price = self.prices.of(&event);
        Ok(Candidate {
            family,
            epsilon: price.epsilon,
            renyi_epsilon: price.renyi,
            share: self.clock.and_then(|clock| clock.share(&event)),
            mechanisms,
            threshold,
            yardstick,
        })
    }

    fn noise_plan(
        &self,
        pick: Pick,
        failure: Option<&ReleaseError>,
    ) -> Result<NoisePlan, ReleaseError> {
        let Pick {
            best,
            other,
            by_share,
        } = pick;
        let other = other.as_ref();
        let noise = self.noise_kind(&best);
        let mut why = vec![ChoiceReason::Chosen {
            noise,
            accuracy: self.accuracy(&best),
        }];
        match (other, failure) {
            // For quantiles the families differ in their accounting only.
            _ if noise == NoiseKind::ExponentialMechanism => {}
            (Some(other), _) => why.push(ChoiceReason::Other {
                noise: self.noise_kind(other),
                accuracy: self.accuracy(other),
                epsilon: other.epsilon,
            }),
            (None, Some(failure)) => why.push(ChoiceReason::OtherImpossible {
                noise: best.family.other().noise(),
                failure: failure.clone(),
            }),
            (None, None) => {}
        }
        if self.parts > 1 || self.groups > 1 {
            why.push(ChoiceReason::Split {
                statistics: self.parts,
                groups: self.groups,
            });
        }
        let plan = self.plan_of(best.family);
        if plan.group_bounding == GroupBounding::ClipL2 {
            why.push(ChoiceReason::Clipped {
                groups: self.groups,
            });
        }
        if self.clock.is_some() {
            // As above: quantiles have one noise.
            let other = other.filter(|_| noise != NoiseKind::ExponentialMechanism);
            why.push(ChoiceReason::Share {
                epsilon: best.epsilon,
                delta: self.delta,
                share: best.share,
                other: other.map(|other| (self.noise_kind(other), other.share)),
                decided: by_share && other.is_some(),
            });
        } else if let Some(renyi) = best.renyi_epsilon {
            why.push(ChoiceReason::Cost {
                epsilon: best.epsilon,
                delta: self.delta,
                renyi,
            });
        }
        let noise = NoiseParameters {
            groups_per_unit: self.groups,
            mechanisms: best.mechanisms,
            threshold: best.threshold,
        };
        let ranks = predict::quantile_ranks(plan, &noise.mechanisms)?;
        why.extend(ranks.into_iter().map(ChoiceReason::QuantileRank));
        let charged = Charged {
            group_bounding: plan.group_bounding,
            on_clock: self.on_clock,
        };
        NoisePlan::new(noise, charged, best.epsilon, self.delta, why)
    }

    /// The mechanism of the statistic by which a candidate is compared.
    fn noise_kind(&self, candidate: &Candidate) -> NoiseKind {
        let first = match self.plan.output.aggregates.first() {
            Some(Aggregate::Quantile { histogram, .. }) if candidate.threshold.is_none() => {
                candidate.mechanisms.get(*histogram)
            }
            _ => None,
        };
        match (first, candidate.family) {
            (Some(StatisticMechanism::Select { .. } | StatisticMechanism::Recursive { .. }), _) => {
                NoiseKind::ExponentialMechanism
            }
            (Some(StatisticMechanism::Tree { .. }), Family::Laplace) => NoiseKind::LaplaceTree,
            (Some(StatisticMechanism::Tree { .. }), Family::Gaussian) => NoiseKind::GaussianTree,
            (_, family) => family.noise(),
        }
    }

    /// The accuracy by which a candidate is compared.
    fn accuracy(&self, candidate: &Candidate) -> Accuracy {
        if let Some(threshold) = candidate.threshold {
            return Accuracy::Threshold {
                units: threshold.above,
            };
        }
        let aggregate = self.plan.aggregate_name(0);
        let width = candidate.yardstick;
        match self.plan.output.aggregates.first() {
            Some(Aggregate::Mean { .. } | Aggregate::Variance { .. }) => {
                Accuracy::SumHalfWidth { aggregate, width }
            }
            Some(Aggregate::Quantile { .. }) => Accuracy::Rank {
                aggregate,
                rows: width,
            },
            Some(Aggregate::Count { .. } | Aggregate::Sum { .. }) | None => {
                Accuracy::HalfWidth { aggregate, width }
            }
        }
    }
}

/// The noise of a count or a sum.
fn noise_mechanism(
    family: Family,
    s: f64,
    sensitivity: u64,
) -> Result<StatisticMechanism, ReleaseError> {
    let scale = six_digits((s * as_f64(sensitivity)).max(LEAST_SCALE), true);
    if scale > LARGEST_SCALE {
        return Err(ReleaseError::TooWide);
    }
    Ok(match family {
        Family::Laplace => StatisticMechanism::Laplace { scale, sensitivity },
        Family::Gaussian => StatisticMechanism::Gaussian {
            sigma: scale,
            sensitivity,
        },
    })
}

/// From this many quantiles on a tree is used. Measured: for nine quantiles, rank errors of the
/// recursion were smaller than those of a tree (docs/benchmarks-history.md).
const MANY: usize = 32;

/// As how many statistics these quantiles count.
fn quantile_parts(quantiles: &[f64], candidates: u64) -> u64 {
    if quantiles.len() >= MANY {
        u64::from(tree::levels(candidates))
    } else {
        recursive::selections(&targets(quantiles, 1.0, 1, candidates))
    }
}

fn targets(quantiles: &[f64], epsilon: f64, rows: u64, candidates: u64) -> Vec<QuantileTarget> {
    let target = |at: &f64| QuantileTarget::of(*at, epsilon, rows, candidates);
    quantiles.iter().map(target).collect()
}

/// Few quantiles by one exponential mechanism each, some by recursion, many by a tree.
fn quantile_mechanism(
    family: Family,
    s: f64,
    rows: u64,
    candidates: u64,
    quantiles: &[f64],
) -> Result<StatisticMechanism, ReleaseError> {
    if quantiles.len() >= MANY {
        let noise = noise_mechanism(family, s, rows)?;
        let levels = tree::levels(candidates);
        // The rank error is needed for minimum and maximum only.
        let edges = quantiles.iter().any(|at| *at <= 0.0 || *at >= 1.0);
        let from = if edges {
            tree::rank_error(&noise, levels)?
        } else {
            1
        };
        return Ok(StatisticMechanism::Tree {
            noise: Box::new(noise),
            levels,
            targets: quantiles.iter().map(|at| tree::target(*at, from)).collect(),
        });
    }
    let epsilon = match family {
        Family::Laplace => 1.0 / s,
        Family::Gaussian => 2.0 / s,
    };
    let epsilon = six_digits(epsilon, false);
    let targets = targets(quantiles, epsilon, rows, candidates);
    // If recursion does not cost less, separate mechanisms have the smaller rank error bound.
    let alone = u64::try_from(targets.len()).unwrap_or(u64::MAX);
    Ok(if recursive::selections(&targets) < alone {
        StatisticMechanism::Recursive {
            epsilon,
            rows,
            targets,
        }
    } else {
        StatisticMechanism::Select {
            epsilon,
            rows,
            targets,
        }
    })
}

/// The distinct quantiles that a query uses of a histogram, ascending.
pub(crate) fn quantiles_of(plan: &BoundedPlan, statistic: usize) -> Vec<f64> {
    let aggregates = plan.output.aggregates.iter();
    let mut quantiles: Vec<f64> = aggregates
        .filter_map(|aggregate| match aggregate {
            Aggregate::Quantile { histogram, at, .. } if *histogram == statistic => Some(*at),
            _ => None,
        })
        .collect();
    quantiles.sort_by(f64::total_cmp);
    quantiles.dedup_by(|a, b| a.total_cmp(b).is_eq());
    quantiles
}

/// How many values the grid has.
pub(crate) fn candidates((low, high): (i64, i64)) -> u64 {
    high.abs_diff(low).saturating_add(1)
}

#[allow(clippy::cast_precision_loss, reason = "limits are below 2^53")]
pub(crate) fn as_f64(value: u64) -> f64 {
    value as f64
}
