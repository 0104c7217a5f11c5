//! Amplification by shuffling: n people run the same local randomizer, a shuffler permutes their
//! outputs, and the input of one person is replaced.
//!
//! # The pair
//!
//! Let the randomizer be ε₀-LDP, x = e^ε₀, and let R₀ and R₁ be its outputs for
//! the two inputs of the one person. Every other person has an output
//! distribution R >= B, B = max(R₀, R₁)/x: the *blanket*. An observer who also knows which other
//! people did not draw from the blanket, and their outputs, sees the output of the one person among
//! draws from B, and
//!
//! > δ(ε) <= E (Z₁ + ... + Zₙ)₊ / n,   Z = (R₀ - e^ε R₁)/B with measure B, else 0
//!
//! (Balle, Bell, Gascón and Nissim 2019, Lemma 5.3). Write y = e^ε >= 1. An
//! outcome with R₀ >= R₁ is α (x, 1) + v (1, 1), one with R₀ < R₁ is
//! α (1, x) + v (1, 1), so its Z is the mean of x - y, or of 1 - xy, with
//! measure α and of x (1 - y) with measure v/x. Taking these instead of their
//! mean is a spread: δ rises. Now Z is x - y and 1 - xy with measure w each,
//! x (1-y) with measure (1 - w (x+1))/x, and 0 with the rest; w = TV/(x-1) is
//! at most 1/(x+1). As w rises, measure moves from x (1-y) and 0, with 1 + 1/x
//! and 1 - 1/x, outward to 1 - xy and x - y, with 1 and 1; the mean stays. So
//! this too is a spread, δ rises, and the worst case is w = 1/(x+1): randomized
//! response, its blanket a fair coin with probability 2/(e^ε₀ + 1).
//!
//! So the one person's randomized response hides among C fair coins, C binomial
//! with n - 1 trials. The same number of coins as in Feldman, McMillan and
//! Talwar 2023 (2021 has e^-ε₀, which is fewer); the proof above is for one
//! randomizer that all people share.
//!
//! # Its loss
//!
//! Of T = C + 1 answers a are 1 and b are 0. The likelihood of (a, b) is
//! proportional to xa + b, or to a + xb: so (a, b) and (b, a) together are
//! randomized response with the loss l,
//!
//! > tanh(l/2) = tanh(ε₀/2) (a-b)/T,
//!
//! and the whole is randomized response whose ε is drawn at random:
//! |a-b| of T fair coins, T random. Three things make it larger only:
//! - fewer coins (more can be added without knowing the input), so neighbouring
//!   T share the smallest where there are many;
//! - randomized response at l split between two other losses, with the same
//!   mean of tanh(l/2): a spread again;
//! - any weight at a larger loss, ε₀ being the largest: there go the tails, and
//!   all rounding of weights.

use std::collections::BTreeMap;

use std::cell::RefCell;

use mizan_core::directed::{DirectedSum, add_up, div_up, mul_up};
use mizan_core::{Count, Interval, PrivacyEvent};

use super::lattice::binomial::Binomial;
use super::pair::{Atom, FiniteLoss};
use crate::{Reason, basic_composition};

/// More people than this are counted as this many, which is on the safe side.
const MOST_PEOPLE: f64 = 1e9;

/// The ε₀ for which shuffling is computed. Above it one in e^ε₀ people hides nothing; below it
/// doubles underflow. Outside of the range the cost is that of the local randomizer.
const EPSILONS: std::ops::RangeInclusive<f64> = 1e-290..=600.0;

/// How many outcomes are visited at most, about.
const WORK: f64 = 2e7;

/// Up to this many outcomes keep their own loss; more share this many losses.
const CELLS: usize = 8192;

/// Outcomes less likely than this are tails.
const NEGLIGIBLE: f64 = 1e-300;

/// Weights are not smaller than this.
const SMALLEST: f64 = 1e-290;

/// Half a unit in the last place of 1.
const UNIT: f64 = f64::EPSILON / 2.0;

/// The pair that dominates a shuffled local randomizer.
pub(super) fn shuffle(people: Count, event: &PrivacyEvent) -> Result<FiniteLoss, Reason> {
    let epsilon = local_epsilon(event)?;
    let others = people.as_f64().min(MOST_PEOPLE) - 1.0;
    if others == 0.0 || !EPSILONS.contains(&epsilon) {
        return Ok(FiniteLoss::two_point(epsilon.into()));
    }
    // Every method asks for it again, and it takes a while.
    thread_local! {
        static LAST: RefCell<Option<(f64, f64, FiniteLoss)>> = const { RefCell::new(None) };
    }
    let known = LAST.with_borrow(|last| match last {
        Some((n, e, loss)) if (*n, *e) == (others, epsilon) => Some(loss.clone()),
        _ => None,
    });
    if let Some(loss) = known {
        return Ok(loss);
    }
    let loss = pair(Crowds::new(others, epsilon)?, epsilon);
    LAST.set(Some((others, epsilon, loss.clone())));
    Ok(loss)
}

/// The pure ε of what one person sends.
pub(crate) fn local_epsilon(event: &PrivacyEvent) -> Result<f64, Reason> {
    let mut waiting = vec![event];
    while let Some(event) = waiting.pop() {
        // A sample or another shuffle needs more people than one.
        if let PrivacyEvent::Poisson { .. }
        | PrivacyEvent::WithoutReplacement(_)
        | PrivacyEvent::Shuffle { .. } = event
        {
            return Err(Reason::NotLocal);
        }
        waiting.extend(event.children());
    }
    let (epsilon, delta) = basic_composition(event).map_err(|_| Reason::NotLocal)?;
    let upper = epsilon.upper.get();
    if delta.get() > 0.0 || upper == f64::INFINITY {
        return Err(Reason::NotLocal);
    }
    Ok(upper)
}

/// How many answers hide each other, with probabilities from above.
struct Crowds {
    /// By rising size.
    sizes: Vec<(f64, f64)>,
    /// At least the probability of all other sizes.
    missing: f64,
}

impl Crowds {
    fn new(others: f64, epsilon: f64) -> Result<Self, Reason> {
        let t = (-Interval::from(epsilon)).exp();
        let apart = -(-Interval::from(epsilon)).exp_m1();
        // The coins have probability 2t/(1+t), their lack (1-t)/(1+t).
        let odds = (t * 2.0 / apart, apart / (t * 2.0));
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a whole number below 2^53"
        )]
        let coins = Binomial::new(odds, others as u64).ok_or(Reason::TooLarge)?;
        let chance = 1.0 / (1.0 + odds.1.middle());
        let mean = chance * others;
        let deviation = (mean * (1.0 - chance)).sqrt();
        // Sizes share a block if all of them would take too long: about 20
        // deviations of T by 20 of a-b are left. Far out blocks are longer.
        let length = 400.0 * ((mean + 1.0) * (1.0 - chance)).sqrt() * mean.sqrt() / WORK;
        let mut sizes = Vec::new();
        let mut missing = coins.missing();
        let mut block = (f64::NAN, Interval::ZERO);
        let mut end = f64::NEG_INFINITY;
        for (count, probability) in coins.successes() {
            if probability.upper() < NEGLIGIBLE {
                missing = missing + probability;
                continue;
            }
            if count >= end {
                if !block.0.is_nan() {
                    sizes.push((block.0, block.1.upper()));
                }
                let away = (count - mean) / deviation.max(1.0) / 6.0;
                end = count + (length * (1.0 + away * away)).floor().max(1.0);
                block = (count + 1.0, Interval::ZERO);
            }
            block.1 = block.1 + probability;
        }
        if !block.0.is_nan() {
            sizes.push((block.0, block.1.upper()));
        }
        Ok(Self {
            sizes,
            missing: missing.upper(),
        })
    }

    /// Visits all |a-b| >= 0 of all sizes T as (T, a-b, probability), and gives
    /// at least the probability that was left out.
    ///
    /// Probabilities are off by at most `slack` of themselves: with K outcomes
    /// of a size, 2K roundings in a weight, 3K in the sum of weights, and a
    /// few more.
    fn visit(&self, mut outcome: impl FnMut(f64, f64, f64)) -> (f64, f64) {
        let mut left = self.missing;
        let mut weights = Vec::new();
        let mut most = 0;
        for &(size, probability) in &self.sizes {
            // T fair coins: the weights of |a-b|, relative to its least value.
            weights.clear();
            let mut difference = size % 2.0;
            // a = b has no mirror image.
            let mut weight = if difference == 0.0 { 0.5 } else { 1.0 };
            let mut sum = 0.0;
            while difference <= size {
                if weight * probability < NEGLIGIBLE {
                    // Ratios fall: the rest is below a geometric series. Twice
                    // that is more than its rounding, and than the slack.
                    let rest = (size + difference + 2.0) / (2.0 * difference + 2.0);
                    left = add_up(left, 2.0 * weight * probability * rest);
                    break;
                }
                weights.push(weight);
                sum += weight;
                if difference == 0.0 {
                    weight = 1.0;
                }
                weight *= (size - difference) / (size + difference + 2.0);
                difference += 2.0;
            }
            most = weights.len().max(most);
            let scale = probability / sum;
            difference = size % 2.0;
            for weight in &weights {
                outcome(size, difference, scale * weight);
                difference += 2.0;
            }
        }
        (left, (5 * most + 16) as f64 * UNIT)
    }

    /// Whether every outcome may have its own loss.
    fn are_few(&self) -> bool {
        let outcomes = self.sizes.iter().map(|(size, _)| size / 2.0 + 1.0);
        outcomes.sum::<f64>() <= CELLS as f64
    }

    /// Where |a-b|/T ends, for nearly all outcomes.
    fn reach(&self) -> f64 {
        let likely = |best: (f64, f64), next: &(f64, f64)| {
            if next.1 > best.1 { *next } else { best }
        };
        let (size, _) = self.sizes.iter().fold((1.0, 0.0), likely);
        (40.0 / size.sqrt()).min(1.0)
    }
}

/// Randomized response with a random ε: probabilities, from above, of losses
/// that rise. What is too much is taken away at the smallest ones.
struct Mixture(Vec<(f64, f64)>);

fn pair(crowds: Crowds, epsilon: f64) -> FiniteLoss {
    if crowds.are_few() {
        exactly(&crowds, epsilon)
    } else {
        on_grid(&crowds, epsilon)
    }
    .pair()
}

/// Every outcome with its own loss.
fn exactly(crowds: &Crowds, epsilon: f64) -> Mixture {
    let mut weights: BTreeMap<Ratio, (f64, f64)> = BTreeMap::new();
    let (left, slack) = crowds.visit(|size, difference, probability| {
        let (sum, terms) = weights.entry(Ratio::new(difference, size)).or_default();
        *sum += probability;
        *terms += 1.0;
    });
    let half = (Interval::from(epsilon) * 0.5).tanh();
    let mut losses: Vec<(f64, f64)> = Vec::new();
    for (Ratio { difference, size }, (sum, terms)) in weights {
        let loss = if difference == size {
            epsilon
        } else {
            // 2 atanh(z) = ln(1 + 2z/(1-z)).
            let z = half * (Interval::from(difference) / size);
            let loss = (z * 2.0 / (Interval::ONE - z)).ln_1p();
            loss.upper().clamp(0.0, epsilon)
        };
        losses.push((loss, inflated(sum, slack + terms * UNIT)));
    }
    // One answer alone is the last outcome.
    match losses.last_mut() {
        Some((loss, weight)) if *loss == epsilon => *weight = add_up(*weight, left),
        _ => losses.push((epsilon, left)),
    }
    Mixture(losses)
}

/// Outcomes between two losses.
struct Cell {
    /// The least |a-b|/T, from below.
    start: f64,
    /// At least 1/width.
    scale: f64,
    /// For the loss at the start and at the end.
    weights: (f64, f64),
    /// How many outcomes there are.
    terms: f64,
}

/// Losses in equal steps as far as outcomes are likely, and ε₀.
fn on_grid(crowds: &Crowds, epsilon: f64) -> Mixture {
    let top = Interval::from(epsilon);
    let half = (top * 0.5).tanh();
    let reach = (half.middle() * crowds.reach()).atanh() * 2.0;
    // ε₀ is a whole number of steps.
    let steps = (epsilon * CELLS as f64 / reach).ceil().max(CELLS as f64);
    let mut losses: Vec<f64> = (0..CELLS)
        .map(|place| (top * place as f64 / steps).upper())
        .collect();
    losses.push(epsilon);
    // The |a-b|/T of a loss.
    let at = |&loss: &f64| (Interval::from(loss) * 0.5).tanh() / half;
    let places: Vec<Interval> = losses.iter().map(at).collect();
    let mut cells: Vec<Cell> = Vec::with_capacity(CELLS);
    for (from, to) in places.iter().zip(places.iter().skip(1)) {
        cells.push(Cell {
            start: from.lower(),
            scale: (Interval::ONE / (*to - *from)).upper(),
            weights: (0.0, 0.0),
            terms: 0.0,
        });
    }
    let mut index = 0;
    let (left, slack) = crowds.visit(|size, difference, probability| {
        let ratio = div_up(difference, size);
        if difference < 2.0 {
            index = 0;
        }
        // Never above its cell; just below it counts as the start of it.
        while cells.get(index + 1).is_some_and(|next| next.start <= ratio) {
            index += 1;
        }
        if let Some(cell) = cells.get_mut(index) {
            let share = mul_up(add_up(ratio, -cell.start), cell.scale).clamp(0.0, 1.0);
            cell.weights.0 += probability * (1.0 - share);
            cell.weights.1 += probability * share;
            cell.terms += 1.0;
        }
    });
    let mut mixture: Vec<(f64, f64)> = losses.into_iter().map(|loss| (loss, 0.0)).collect();
    let seen = |(_, cell): &(usize, &Cell)| cell.terms > 0.0;
    for (place, cell) in cells.iter().enumerate().filter(seen) {
        let slack = slack + (cell.terms + 4.0) * UNIT;
        let (low, high) = cell.weights;
        for (place, weight) in [(place, low), (place + 1, high)] {
            if let Some((_, sum)) = mixture.get_mut(place) {
                *sum = add_up(*sum, inflated(weight, slack));
            }
        }
    }
    if let Some((_, sum)) = mixture.last_mut() {
        *sum = add_up(*sum, left);
    }
    Mixture(mixture)
}

/// At least a sum of non-negative numbers that is off by `slack` of itself, or
/// by what underflows.
fn inflated(sum: f64, slack: f64) -> f64 {
    // Slack is small: twice covers that it is relative to the computed sum.
    add_up(mul_up(sum, add_up(1.0, 2.0 * slack)), 1e-310)
}

impl Mixture {
    /// The pair, whose probabilities add up to one.
    fn pair(self) -> FiniteLoss {
        let mut left = DirectedSum::default();
        left.add(1.0, 1.0);
        let mut halves: Vec<Atom> = Vec::new();
        let mut losses = self.0.into_iter().rev().peekable();
        while let Some((loss, weight)) = losses.next() {
            if weight == 0.0 && losses.peek().is_some() {
                continue;
            }
            // So much that the probability of -l has all its digits too.
            let weight = weight.max(SMALLEST * (1.0 + core_math::exp(loss)));
            let rest = Interval::new(left.lower().max(0.0), left.upper().max(0.0));
            let all = losses.peek().is_none() || weight >= rest.lower();
            let mass = if all { rest } else { weight.into() };
            let loss = Interval::from(loss);
            if mass.upper() > 0.0 {
                halves.push(Atom { loss, mass });
            }
            if all {
                break;
            }
            left.add(-weight, -weight);
        }
        let half = |loss: Interval, mass: Interval| Atom {
            loss,
            mass: mass / ((-loss).exp() + 1.0),
        };
        let below = halves.iter().filter(|atom| atom.loss != Interval::ZERO);
        let below = below.map(|atom| half(-atom.loss, atom.mass));
        let above = halves.iter().rev().map(|atom| {
            if atom.loss == Interval::ZERO {
                *atom
            } else {
                half(atom.loss, atom.mass)
            }
        });
        FiniteLoss {
            atoms: below.chain(above).collect(),
            beyond: Interval::ZERO,
            below: Interval::ZERO,
        }
    }
}

/// (a-b)/T in lowest terms, by size.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Ratio {
    difference: f64,
    size: f64,
}

impl Ratio {
    fn new(difference: f64, size: f64) -> Self {
        let (mut common, mut rest) = (size, difference);
        while rest > 0.0 {
            (common, rest) = (rest, common % rest);
        }
        Self {
            difference: difference / common,
            size: size / common,
        }
    }
}

impl Eq for Ratio {}

impl Ord for Ratio {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        // Exact: few outcomes means sizes far below 2^26.
        (self.difference * other.size).total_cmp(&(other.difference * self.size))
    }
}

impl PartialOrd for Ratio {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The work, and with it the time, is bounded whatever the parameters.
    #[test]
    fn work_is_bounded_and_atoms_are_ordered() {
        for people in [2.0, 200.0, 1e4, 1e6, 1e8, 1e9] {
            for epsilon in [1e-290, 1e-9, 0.1, 1.0, 4.0, 20.0, 600.0] {
                let crowds = Crowds::new(people - 1.0, epsilon).unwrap();
                let (mut visited, mut total) = (0.0, 0.0);
                let (left, slack) = crowds.visit(|_, _, probability| {
                    visited += 1.0;
                    total += probability;
                });
                let what = format!("{people} {epsilon}");
                assert!(visited <= 3.0 * WORK, "{what}: {visited}");
                assert!((total - 1.0).abs() < 1e-9 && left < 1e-280, "{what}");
                assert!(slack < 1e-9, "{what}");
                let loss = pair(crowds, epsilon);
                assert!(loss.atoms.len() <= 2 * CELLS + 2, "{what}");
                let rises =
                    |pair: &[Atom]| matches!(pair, [a, b] if a.loss.upper() < b.loss.lower());
                assert!(loss.atoms.windows(2).all(rises), "{what}");
                assert_eq!(loss.atoms.last().unwrap().loss, epsilon.into());
                let sum = crate::divergence::sum(loss.atoms.iter().map(|atom| atom.mass));
                assert!(sum.contains(1.0), "{what}: {sum:?}");
            }
        }
    }

    #[test]
    fn ratios_are_in_lowest_terms() {
        assert_eq!(Ratio::new(6.0, 10.0), Ratio::new(3.0, 5.0));
        assert_eq!(Ratio::new(0.0, 10.0), Ratio::new(0.0, 2.0));
        assert!(Ratio::new(1.0, 3.0) < Ratio::new(2.0, 4.0));
    }
}
