//! The decision trees of the reference samplers, enumerated with exact probabilities and compared
//! with the definitions to 2⁻¹⁰⁰.
//!
//! An enumerator replaces the coins. It walks every path of a sampler whose probability is not
//! negligible, one level at a time: the coins of a sampler have their stated probabilities, which
//! the tests of the level below verify. Where a sampler rejects, the path ends: attempts are
//! independent and identically distributed, so the output is that of one attempt, given that it is
//! accepted.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]

use std::collections::BTreeMap;

use num_bigint::{BigInt, BigUint};

use crate::NoiseError;
use crate::exact::exponential::exp_neg;
use crate::exact::rational::Rational;
use crate::samplers::coins::Coins;
use crate::samplers::{bernoulli_exp, discrete_gaussian, discrete_laplace, geometric};

/// Probabilities are in units of 2^-BITS.
const BITS: u64 = 220;

/// Paths of less than 2^-NEGLIGIBLE are left out.
const NEGLIGIBLE: u64 = 125;

/// Which coin begins an attempt.
#[derive(Clone, Copy, PartialEq)]
enum Head {
    None,
    Below,
    Bit,
}

struct Tree<'a> {
    script: &'a [usize],
    at: usize,
    head: Head,
    attempts: u32,
    /// What the next decision could be, with probabilities, once the script
    /// has ended.
    open: Option<Vec<BigUint>>,
}

fn stop() -> NoiseError {
    NoiseError::Entropy {
        reason: "the path ends here".to_owned(),
    }
}

impl Tree<'_> {
    fn decide(&mut self, options: impl FnOnce() -> Vec<BigUint>) -> Result<usize, NoiseError> {
        if let Some(&decision) = self.script.get(self.at) {
            self.at += 1;
            return Ok(decision);
        }
        self.open = Some(options());
        Err(stop())
    }

    fn begins(&mut self, coin: Head) -> Result<(), NoiseError> {
        if coin == self.head {
            self.attempts += 1;
            if self.attempts > 1 {
                return Err(stop());
            }
        }
        Ok(())
    }
}

fn one() -> BigUint {
    BigUint::from(1u8) << BITS
}

impl Coins for Tree<'_> {
    fn word(&mut self) -> Result<u64, NoiseError> {
        panic!("samplers ask for coins")
    }

    fn bit(&mut self) -> Result<bool, NoiseError> {
        self.begins(Head::Bit)?;
        Ok(self.decide(|| vec![one() >> 1u8; 2])? == 1)
    }

    fn below(&mut self, bound: &BigUint) -> Result<BigUint, NoiseError> {
        self.begins(Head::Below)?;
        let count = usize::try_from(bound).unwrap();
        Ok(self.decide(|| vec![one() / bound; count])?.into())
    }

    fn bernoulli(&mut self, p: &Rational) -> Result<bool, NoiseError> {
        let heads = p.scaled_down(BITS);
        Ok(self.decide(|| vec![one() - &heads, heads])? == 1)
    }

    fn bernoulli_exp(&mut self, x: &Rational) -> Result<bool, NoiseError> {
        let heads = exp_neg(x, BITS).0;
        Ok(self.decide(|| vec![one() - &heads, heads])? == 1)
    }

    fn geometric(&mut self, x: &Rational) -> Result<BigUint, NoiseError> {
        let options = || {
            let mut options = Vec::new();
            let ratio = exp_neg(x, BITS).0;
            let mut mass = one() - &ratio;
            while mass.bits() + NEGLIGIBLE > BITS {
                options.push(mass.clone());
                mass = (mass * &ratio) >> BITS;
            }
            options
        };
        Ok(self.decide(options)?.into())
    }
}

/// The distribution of what an attempt draws.
fn enumerate<T: Ord>(
    head: Head,
    sampler: impl Fn(&mut Tree<'_>) -> Result<T, NoiseError>,
) -> BTreeMap<T, BigUint> {
    let mut found: BTreeMap<T, BigUint> = BTreeMap::new();
    let mut paths = vec![(Vec::new(), one())];
    while let Some((script, mass)) = paths.pop() {
        let mut tree = Tree {
            script: &script,
            at: 0,
            head,
            attempts: 0,
            open: None,
        };
        match sampler(&mut tree) {
            Ok(value) => *found.entry(value).or_default() += mass,
            Err(_) => {
                for (decision, p) in tree.open.into_iter().flatten().enumerate() {
                    let mass = (&mass * p) >> BITS;
                    if mass.bits() + NEGLIGIBLE > BITS {
                        let mut path = script.clone();
                        path.push(decision);
                        paths.push((path, mass));
                    }
                }
            }
        }
    }
    let total: BigUint = found.values().sum();
    for mass in found.values_mut() {
        *mass = (&*mass << BITS) / &total;
    }
    found
}

fn assert_close(found: &BigUint, expected: &BigUint, what: &str) {
    let off = (BigInt::from(found.clone()) - BigInt::from(expected.clone()))
        .magnitude()
        .clone();
    assert!(
        off.bits() + 100 <= BITS,
        "{what}: off by 2^{}",
        i128::from(off.bits()) - i128::from(BITS)
    );
}

#[test]
fn coins_of_probability_exp() {
    for (numerator, denominator) in [(0u8, 1u8), (1, 1), (1, 3), (2, 3), (1, 100), (5, 2), (2, 1)] {
        let x = Rational::new(numerator, denominator);
        let found = enumerate(Head::None, |tree| {
            // One level below: of its own method, by plain coins.
            bernoulli_exp::draw(&mut Plain(tree), &x)
        });
        let heads = found.get(&true).cloned().unwrap_or_default();
        assert_close(
            &heads,
            &exp_neg(&x, BITS).0,
            &format!("{numerator}/{denominator}"),
        );
    }
}

/// Coins of rational probability only.
struct Plain<'a, 'b>(&'a mut Tree<'b>);

impl Coins for Plain<'_, '_> {
    fn word(&mut self) -> Result<u64, NoiseError> {
        self.0.word()
    }

    fn bernoulli(&mut self, p: &Rational) -> Result<bool, NoiseError> {
        self.0.bernoulli(p)
    }
}

#[test]
fn geometrics() {
    for (numerator, denominator) in [(1u8, 1u8), (1, 3), (2, 3), (7, 10), (5, 2), (3, 1)] {
        let x = Rational::new(numerator, denominator);
        let found = enumerate(Head::Below, |tree| geometric::draw(tree, &x));
        assert!(found.len() > 20);
        for (k, mass) in &found {
            let start = exp_neg(&x.times_integer(k.clone()), BITS).0;
            let next = exp_neg(&x.times_integer(k + 1u8), BITS).0;
            assert_close(
                mass,
                &(start - next),
                &format!("{numerator}/{denominator}: {k}"),
            );
        }
    }
}

/// Magnitude, sign, and `e^-g` over the sum of these.
fn compare(
    found: &BTreeMap<(BigUint, bool), BigUint>,
    exponent: impl Fn(&BigUint) -> Rational,
    what: &str,
) {
    let height = |x: u32| exp_neg(&exponent(&BigUint::from(x)), BITS).0;
    let sum: BigUint = (1..4000u32)
        .map(height)
        .take_while(|height| *height > BigUint::ZERO)
        .sum();
    let total = one() + sum * 2u8;
    for ((magnitude, negative), mass) in found {
        assert!(
            !(*negative && *magnitude == BigUint::ZERO),
            "zero has no sign"
        );
        let expected = (exp_neg(&exponent(magnitude), BITS).0 << BITS) / &total;
        assert_close(mass, &expected, &format!("{what}: {magnitude}"));
    }
    let whole: BigUint = found.values().sum();
    assert_close(&whole, &one(), what);
}

#[test]
fn discrete_laplace() {
    for (numerator, denominator) in [(1u8, 3u8), (1, 1), (5, 2), (10, 1)] {
        let rate = Rational::new(denominator, numerator);
        let found = enumerate(Head::Bit, |tree| discrete_laplace::reference(tree, &rate));
        let what = format!("scale {numerator}/{denominator}");
        compare(&found, |x| rate.times_integer(x.clone()), &what);
    }
}

#[test]
fn discrete_gaussian() {
    for (numerator, denominator) in [(1u8, 3u8), (1, 1), (5, 2), (10, 1), (31, 3)] {
        let sigma = Rational::new(numerator, denominator);
        let found = enumerate(Head::Bit, |tree| discrete_gaussian::reference(tree, &sigma));
        let rate = Rational::new(
            u32::from(denominator) * u32::from(denominator),
            2 * u32::from(numerator) * u32::from(numerator),
        );
        let what = format!("sigma {numerator}/{denominator}");
        compare(&found, |x| rate.times_integer(x * x), &what);
    }
}
