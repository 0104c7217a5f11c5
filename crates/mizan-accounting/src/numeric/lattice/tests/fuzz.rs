//! Ten thousand random mechanisms against brute force.
//!
//! Probabilities are multiples of 1/64 and rates of 1/8, so that mixtures are
//! exact in doubles. Brute force goes through all sequences of outcomes, with
//! intervals, and knows nothing of losses, lattices or sums.

use mizan_core::SplitMix64;

use super::*;

/// Sequences of outcomes that brute force may go through.
const MOST_SEQUENCES: usize = 4096;

struct Random(SplitMix64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0.below(n)
    }

    fn place(&mut self, n: usize) -> usize {
        self.0.place(n)
    }

    fn unit(&mut self) -> f64 {
        self.below(1 << 53) as f64 / (1u64 << 53) as f64
    }

    /// A distribution in steps of 1/64, at times with zeros.
    fn distribution(&mut self, outcomes: usize) -> Vec<f64> {
        let mut p = vec![0.0; outcomes];
        let least = self.below(4);
        for p in &mut p {
            *p = if least > 0 { 1.0 / 64.0 } else { 0.0 };
        }
        let left = if least > 0 { 64 - outcomes } else { 64 };
        let favourite = self.place(outcomes);
        for _ in 0..left {
            let place = if self.below(3) == 0 {
                favourite
            } else {
                self.place(outcomes)
            };
            p[place] += 1.0 / 64.0;
        }
        p
    }
}

/// One kind: its pair, and what it is in plain probabilities.
struct Kind {
    pair: Pair,
    p: Vec<f64>,
    q: Vec<f64>,
    count: u64,
}

fn kind(random: &mut Random, outcomes: usize, count: u64) -> Kind {
    let (p, q) = (random.distribution(outcomes), random.distribution(outcomes));
    let base = finite(&p, &q);
    let rate = (1 + random.below(8)) as f64 / 8.0;
    let mixed = || p.iter().zip(&q).map(|(p, q)| rate * p + (1.0 - rate) * q);
    let (sampling, p, q) = match random.below(4) {
        0 => (Sampling::Remove { q: rate }, mixed().collect(), q),
        1 => (Sampling::Add { q: rate }, q.clone(), mixed().collect()),
        _ => (Sampling::Whole, p, q),
    };
    let base = Base::Finite(base);
    Kind {
        pair: Pair { base, sampling },
        p,
        q,
        count,
    }
}

/// Up to 12 mechanisms of up to three kinds.
fn mechanism(random: &mut Random) -> Vec<Kind> {
    let mut kinds = Vec::new();
    let (mut sequences, mut total) = (1usize, 0);
    let most = 1 + random.below(3);
    while (kinds.len() as u64) < most {
        let outcomes = 2 + random.place(3);
        let mut count = 0;
        let wanted = 1 + random.below(12);
        while count < wanted && total < 12 && sequences * outcomes <= MOST_SEQUENCES {
            sequences *= outcomes;
            count += 1;
            total += 1;
        }
        if count == 0 {
            break;
        }
        kinds.push(kind(random, outcomes, count));
    }
    kinds
}

/// Probabilities of all sequences under P and Q.
fn sequences(kinds: &[Kind]) -> Vec<(Interval, Interval)> {
    let mut all = vec![(Interval::ONE, Interval::ONE)];
    for kind in kinds {
        for _ in 0..kind.count {
            let longer = all.iter().flat_map(|&(p, q)| {
                let outcomes = kind.p.iter().zip(&kind.q);
                outcomes.map(move |(&a, &b)| (p * a, q * b))
            });
            all = longer.filter(|(p, _)| p.upper() > 0.0).collect();
        }
    }
    all
}

fn brute_force(sequences: &[(Interval, Interval)], epsilon: f64) -> Interval {
    let ratio = Interval::from(epsilon).exp();
    let terms = sequences
        .iter()
        .map(|&(p, q)| (p - q * ratio).non_negative());
    crate::divergence::sum(terms)
}

fn check(profile: &LatticeProfile, sequences: &[(Interval, Interval)], epsilon: f64, what: &str) {
    for epsilon in [epsilon, 0.0, 0.7 * epsilon, 1.3 * epsilon] {
        let exact = brute_force(sequences, epsilon);
        let Bracket { lower, upper } = profile.delta(epsilon);
        assert!(
            lower <= exact.upper() && exact.lower() <= upper,
            "{what} at ε = {epsilon}: [{lower:e}, {upper:e}] without {exact:?}"
        );
    }
    let target = brute_force(sequences, epsilon).middle();
    if let Some(Bracket { lower, upper }) = profile.epsilon(Interval::from(target)) {
        assert!(
            brute_force(sequences, upper).lower() <= target,
            "{what}: ε {upper} is too small for δ {target:e}"
        );
        assert!(
            lower == 0.0 || brute_force(sequences, lower).upper() >= target,
            "{what}: ε {lower} is too large for δ {target:e}"
        );
    }
}

/// Random mechanisms by one way of computing, and how tight it was: the share
/// of mechanisms whose δ is enclosed to one part in a hundred.
fn fuzz(
    seed: u64,
    mechanisms: u32,
    profile: impl Fn(&[(Pair, u64)], LatticeTarget) -> Option<LatticeProfile>,
) -> f64 {
    let mut random = Random(SplitMix64::new(seed));
    let mut tight = 0.0;
    for index in 0..mechanisms {
        let kinds = mechanism(&mut random);
        let sequences = sequences(&kinds);
        let most: f64 = sequences
            .iter()
            .filter(|(_, q)| q.upper() > 0.0)
            .map(|(p, q)| (p.middle() / q.middle()).ln())
            .fold(0.1, f64::max);
        let epsilon = random.unit() * most;
        let parts: Vec<(Pair, u64)> = kinds.iter().map(|k| (k.pair.clone(), k.count)).collect();
        let aim = if random.below(2) == 0 {
            LatticeTarget::Epsilon(epsilon)
        } else {
            LatticeTarget::LnDelta(brute_force(&sequences, epsilon).middle().max(1e-300).ln())
        };
        // All mass at one loss is left to the enumeration.
        let Some(profile) = profile(&parts, aim) else {
            continue;
        };
        check(
            &profile,
            &sequences,
            epsilon,
            &format!("mechanism {index} {parts:?} {aim:?}"),
        );
        let Bracket { lower, upper } = profile.delta(epsilon);
        if upper - lower <= 0.01 * upper + 1e-290 {
            tight += 1.0;
        }
    }
    tight / f64::from(mechanisms)
}

#[test]
fn enumerations_enclose_brute_force() {
    let tight = fuzz(1, 4000, LatticeProfile::new);
    assert!(tight > 0.999, "{tight}");
}

#[test]
fn direct_lattices_enclose_brute_force() {
    let tight = fuzz(2, 2000, |parts, aim| lattice(parts, aim, 1e-3, Way::Best));
    assert!(tight > 0.95, "{tight}");
}

#[test]
fn lattices_of_few_taps_enclose_brute_force() {
    let tight = fuzz(3, 2000, |parts, aim| lattice(parts, aim, 1e-3, Way::Modulo));
    assert!(tight > 0.95, "{tight}");
}

#[test]
fn transformed_lattices_enclose_brute_force() {
    let tight = fuzz(4, 2000, |parts, aim| {
        lattice(parts, aim, 1e-3, Way::Transforms)
    });
    assert!(tight > 0.95, "{tight}");
}
