//! The clock against the exhaustive adversary: at every state the best of stopping, finishing with
//! Gaussian noise, and randomized response with three parameters, by dynamic programming over all
//! adaptive strategies of some depth. The filter is the real one.
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a test may panic"
)]

use crate::common::{CLOCK, account, admits, config, constant, delta, epsilon, orders, take};
use mizan_accounting::GaussianProfile;
use mizan_core::{Epsilon, PrivacyEvent, Sensitivity, Sigma};
use mizan_ledger::money::{Amount, Scale, Variance, Weight};
use mizan_ledger::*;
use proptest::prelude::*;

/// Units of 1e-15 in one.
const FEMTO: f64 = 1e15;

/// δ of Gaussian noise of this variance of the loss, at any ε.
fn profile(v: f64, e: f64) -> f64 {
    if v <= 0.0 {
        return (1.0 - e.exp()).max(0.0);
    }
    let sigma = Sigma::new(1.0 / v.sqrt()).unwrap();
    let gaussian = GaussianProfile::new(sigma, Sensitivity::new(1.0).unwrap());
    let at = |e: f64| gaussian.delta(Epsilon::new(e).unwrap()).upper.get();
    match e >= 0.0 {
        true => at(e),
        false => -e.exp_m1() + e.exp() * at(-e),
    }
}

/// What of a price is charged, in billionths: all of it, or 99 % to see that the test can fail.
const HONEST: u64 = 1_000_000_000;
const CUT: u64 = 990_000_000;

/// A charge that only the clock admits, at the price of an event.
fn priced(event: &PrivacyEvent, nano: u64) -> Cost {
    let cost = Cost::of(event, &orders(&[f64::INFINITY])).unwrap();
    let only = Cost::new([Amount::EXHAUSTED], DeltaAmount::ZERO);
    only.with_price(cost.price().cloned())
        .scaled(Scale::from_nano(nano))
}

fn pure(loss: f64) -> PrivacyEvent {
    PrivacyEvent::Pure {
        epsilon: epsilon(loss),
    }
}

/// An account whose whole δ is for the clock.
fn clock_only(e: f64, d: f64) -> Account {
    let orders = orders(&[f64::INFINITY]);
    let own = DeltaAmount::ZERO;
    let budget = Budget::approximate(epsilon(e), delta(d), own, Weight::ONE, &orders).unwrap();
    account(&orders, budget)
}

/// The variance that is left of a clock.
fn left(account: &Account) -> f64 {
    let left = account.clock_left();
    left.map_or(0.0, |left| left.femto() as f64 / FEMTO)
}

/// The states of the likelihood ratio: e^(k h) for k from -top to top.
struct Lattice {
    epsilon: f64,
    h: f64,
    top: i32,
    /// Randomized response with the loss k h, and its cost.
    mechanisms: Vec<(i32, Cost)>,
}

impl Lattice {
    fn new(epsilon: f64, h: f64, depth: i32, nano: u64) -> Self {
        let mechanisms = [1, 2, 4].map(|k| (k, priced(&pure(f64::from(k) * h), nano)));
        Self {
            epsilon,
            h,
            top: 4 * depth,
            mechanisms: mechanisms.into(),
        }
    }

    /// The mean of max(0, r - e^ε) that the best strategy reaches from each state.
    fn best(&self, account: &Account, depth: i32) -> Vec<f64> {
        let left = left(account);
        let states = -self.top..=self.top;
        let finish = |k: i32| {
            let y = f64::from(k) * self.h;
            y.exp() * profile(left, self.epsilon - y)
        };
        let mut best: Vec<f64> = states.clone().map(finish).collect();
        if depth == 0 {
            return best;
        }
        for (k, cost) in &self.mechanisms {
            if !admits(account, cost) {
                continue;
            }
            let mut after = account.clone();
            take(&mut after, cost);
            let next = self.best(&after, depth - 1);
            let q = 1.0 / (1.0 + (f64::from(*k) * self.h).exp());
            let step = *k as usize;
            for place in step..best.len() - step {
                let value = q * next[place + step] + (1.0 - q) * next[place - step];
                best[place] = best[place].max(value);
            }
        }
        best
    }
}

/// The δ of the best strategy, in units of the δ of the budget.
fn reached(e: f64, d: f64, h: f64, nano: u64) -> f64 {
    let depth = 5;
    let lattice = Lattice::new(e, h, depth, nano);
    let best = lattice.best(&clock_only(e, d), depth);
    best[lattice.top as usize] / d
}

#[test]
fn no_strategy_exceeds_delta() {
    // A price is exact where e^ε is near the likelihood ratio, so at ε near 0.
    let tight = [(0.0, 0.05, 0.02), (0.0, 0.05, 0.01), (0.01, 0.03, 0.01)];
    let usual = [
        (1.0, 1e-6, 0.05),
        (1.0, 1e-6, 0.02),
        (0.5, 1e-6, 0.025),
        (3.0, 1e-7, 0.1),
        (10.0, 1e-9, 0.5),
    ];
    for (e, d, h) in tight.into_iter().chain(usual) {
        let honest = reached(e, d, h, HONEST);
        let cut = reached(e, d, h, CUT);
        println!("({e}, {d:e}) h {h}: {honest:.12}, with prices cut by 1 % {cut:.9}");
        assert!((0.999..1.0 + 1e-9).contains(&honest), "{honest}");
        // Otherwise the test would say nothing.
        assert!(e > 0.1 || cut > 1.0 + 1e-6, "{cut}");
    }
}

/// The δ at ε = 0 of one charge and Gaussian noise of all that is left, in units of the δ of the
/// budget. The mechanism is given as the probability of each answer and its likelihood ratio. The
/// budget is the one that the price leaves exactly a stored remainder of, where it is tight.
fn reached_by_one(event: &str, answers: &[(f64, f64)], nano: u64) -> f64 {
    let event = event.parse().unwrap();
    let honest = priced(&event, HONEST);
    let price = honest.price().unwrap();
    let enough = Variance::from_femto(3 * price.least().femto());
    let taken = price.taken(enough).unwrap();
    let whole = (taken.femto() + price.remainder(taken).femto()) as f64 / FEMTO;
    let d = profile(whole, 0.0) * (1.0 + 1e-12);
    let mut account = clock_only(0.0, d);
    let cost = priced(&event, nano);
    assert!(admits(&account, &cost));
    take(&mut account, &cost);
    let rest = left(&account);
    let parts = answers
        .iter()
        .map(|(q, ratio)| q * ratio * profile(rest, -ratio.ln()));
    parts.sum::<f64>() / d
}

/// Laplace noise of scale 1: two atoms of the loss, and values between them.
fn laplace() -> Vec<(f64, f64)> {
    const PARTS: u32 = 20_000;
    let width = 1.0 / f64::from(PARTS);
    let between = (0..PARTS).map(|part| {
        let x = (f64::from(part) + 0.5) * width;
        (0.5 * (-x).exp() * width, (2.0 * x - 1.0).exp())
    });
    let atoms = [
        (0.5, (-1.0_f64).exp()),
        (0.5 * (-1.0_f64).exp(), 1.0_f64.exp()),
    ];
    atoms.into_iter().chain(between).collect()
}

/// Discrete Gaussian noise with σ = 1.
fn lattice_noise() -> Vec<(f64, f64)> {
    let weight = |k: i32| (-0.5 * f64::from(k * k)).exp();
    let whole: f64 = (-40..=40).map(weight).sum();
    let answer = |k: i32| (weight(k) / whole, (f64::from(k) - 0.5).exp());
    (-39..=40).map(answer).collect()
}

/// The certified prices of Laplace and of discrete Gaussian noise: cut by 1 % they are not enough.
#[test]
fn no_price_can_be_cut() {
    for (event, answers) in [
        ("laplace(1)", laplace()),
        ("discrete-gaussian(1)", lattice_noise()),
        (
            "pure(1)",
            vec![
                (1.0 / (1.0 + 1.0_f64.exp()), 1.0_f64.exp()),
                (1.0 / (1.0 + (-1.0_f64).exp()), (-1.0_f64).exp()),
            ],
        ),
    ] {
        let honest = reached_by_one(event, &answers, HONEST);
        let cut = reached_by_one(event, &answers, CUT);
        println!("{event}: {honest:.9}, with a price cut by 1 % {cut:.9}");
        assert!((0.999..1.0 + 1e-8).contains(&honest), "{event} {honest}");
        assert!(cut > 1.0 + 1e-5, "{event} {cut}");
    }
}

/// After Gaussian noise of a tenth of the clock the analyst takes, by its answer, Gaussian noise or
/// randomized response. Each alone would complete the budget exactly. The rule of a numerical
/// accountant admits either, and the analyst reaches almost twice δ.
#[test]
fn the_tree_of_the_natural_filter() {
    let (e, d) = (1.0_f64, 1e-6);
    let mut account = clock_only(e, d);
    let whole = account.clock_left().unwrap().femto();
    let gaussian = |femto| {
        let only = Cost::new([Amount::EXHAUSTED], DeltaAmount::ZERO);
        only.with_price(Some(constant(femto)))
    };
    take(&mut account, &gaussian(whole / 10));
    let first = whole as f64 / FEMTO - left(&account);
    // The mean over the first answer, by the trapezoid rule; the tails beyond 12 σ are below 1e-30.
    let mean = |value: &dyn Fn(f64) -> f64| {
        const PARTS: i32 = 6000;
        let root = first.sqrt();
        let step = 24.0 / f64::from(PARTS);
        let at = |part: i32| {
            let z = -12.0 + f64::from(part) * step;
            let density = (-0.5 * z * z).exp() / std::f64::consts::TAU.sqrt();
            density * step * value((root * z - 0.5 * first).exp())
        };
        (0..=PARTS).map(at).sum::<f64>()
    };
    let by_gaussian = |ratio: f64| ratio * profile(left(&account), e - ratio.ln());
    let exact = mean(&by_gaussian) / d;
    assert!((0.9999..1.0 + 1e-6).contains(&exact), "{exact}");
    // Randomized response with nothing after it.
    let alone = |loss: f64, ratio: f64| {
        let p = 1.0 / (1.0 + (-loss).exp());
        let over = |ratio: f64| (ratio - e.exp()).max(0.0);
        (1.0 - p) * over(ratio * loss.exp()) + p * over(ratio * (-loss).exp())
    };
    let natural = bisect(|loss| mean(&|ratio| alone(loss, ratio)) <= d);
    let naive = mean(&|ratio| by_gaussian(ratio).max(alone(natural, ratio))) / d;
    assert!(naive > 1.9, "{naive}");
    assert!(!admits(&account, &priced(&pure(natural), HONEST)));
    // The largest one that the ledger admits, and Gaussian noise of what it leaves.
    let fits = |loss: f64| admits(&account, &priced(&pure(loss), HONEST));
    let largest = bisect(fits);
    assert!(largest > 0.1, "{largest}");
    let mut after = account.clone();
    take(&mut after, &priced(&pure(largest), HONEST));
    let p = 1.0 / (1.0 + (-largest).exp());
    let by_response = |ratio: f64| {
        let finish = |ratio: f64| ratio * profile(left(&after), e - ratio.ln());
        (1.0 - p) * finish(ratio * largest.exp()) + p * finish(ratio * (-largest).exp())
    };
    let reached = mean(&|ratio| by_gaussian(ratio).max(by_response(ratio))) / d;
    println!("natural filter {naive:.6}, ledger {reached:.9} (loss {natural:.3}, {largest:.3})");
    assert!(reached <= 1.0 + 1e-6, "{reached}");
}

/// The largest number from 1e-3 to 2 for which a condition holds that does not hold for larger ones.
fn bisect(holds: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (1e-3, 2.0);
    assert!(holds(low) && !holds(high));
    for _ in 0..40 {
        let middle = 0.5 * (low + high);
        if holds(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

/// A mechanism with two answers.
#[derive(Clone, Copy, Debug)]
struct TwoAnswers {
    p: f64,
    q: f64,
}

impl TwoAnswers {
    fn ratios(self) -> [f64; 2] {
        [self.p / self.q, (1.0 - self.p) / (1.0 - self.q)]
    }

    /// Its cost at each order, and that of a pure mechanism on the clock.
    fn cost(self, orders: &Orders) -> Cost {
        let divergence = |(p, q): (f64, f64), order: f64| {
            let answers = [(p, q), (1.0 - p, 1.0 - q)];
            if order == f64::INFINITY {
                let largest = answers.iter().map(|(p, q)| p / q).fold(0.0, f64::max);
                return largest.ln();
            }
            let moments = answers.map(|(p, q)| q * (p / q).powf(order));
            moments.iter().sum::<f64>().ln() / (order - 1.0)
        };
        let worst = |order: f64| {
            let worst = divergence((self.p, self.q), order);
            worst.max(divergence((self.q, self.p), order)).max(0.0)
        };
        // A hair more than computed: doubles are not directed here.
        let amounts =
            (orders.iter()).map(|order| Amount::cost(worst(order.get()) * (1.0 + 1e-13)).unwrap());
        let price = priced(&pure(worst(f64::INFINITY) * (1.0 + 1e-12)), HONEST);
        Cost::new(amounts, DeltaAmount::ZERO).with_price(price.price().cloned())
    }
}

/// The mean of max(0, r - e^ε) in a tree in which each answer decides about the next mechanism, and
/// Gaussian noise finishes what is left of the clock.
fn tree(
    choices: &mut impl Iterator<Item = f64>,
    account: &Account,
    (p, q): (f64, f64),
    e: f64,
    depth: u32,
) -> f64 {
    let finish = p * profile(left(account), e - (p / q).ln());
    if depth == 0 {
        return finish;
    }
    let mut next = || choices.next().unwrap_or(0.5);
    let (likely, loss) = (0.02 + 0.96 * next(), 0.6 * next());
    let mechanism = TwoAnswers {
        p: likely,
        q: (likely * (-loss).exp()).max(1.0 - (1.0 - likely) * loss.exp()),
    };
    let cost = mechanism.cost(account.orders());
    if !admits(account, &cost) {
        return finish;
    }
    let mut after = account.clone();
    take(&mut after, &cost);
    let ratios = mechanism.ratios();
    let branches = [(mechanism.q, ratios[0]), (1.0 - mechanism.q, ratios[1])];
    let both = branches.map(|(chance, ratio)| {
        let state = (p * chance * ratio, q * chance);
        tree(choices, &after, state, e, depth - 1)
    });
    finish.max(both.iter().sum())
}

proptest! {
    #![proptest_config(config(60))]

    /// The clock and the orders together, in accounts that have both.
    #[test]
    fn random_adaptive_trees_stay_below_delta(
        e in 1.0_f64..4.0,
        ln_delta in -14.0_f64..-3.0,
        clock in proptest::sample::select(vec![Weight::from_atto(1 << 58), CLOCK, Weight::ONE]),
        depth in 1_u32..4,
        choices in proptest::collection::vec(0.0_f64..1.0, 40),
    ) {
        let orders = orders(&[2.0, 4.0, 8.0, 16.0, 33.0, f64::INFINITY]);
        let d = ln_delta.exp();
        let budget = Budget::approximate(epsilon(e), delta(d), DeltaAmount::ZERO, clock, &orders);
        let account = account(&orders, budget.unwrap());
        let truth = tree(&mut choices.into_iter(), &account, (1.0, 1.0), e, depth);
        prop_assert!(truth <= d * (1.0 + 1e-9), "{truth:e} above {d:e}");
    }
}
