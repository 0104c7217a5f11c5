//! The contour against exact values, and against the lattice.

use mizan_core::{Bracket, Interval};

use super::Contour;
use crate::numeric::pair::{Base, FiniteLoss, Pair, Sampling};
use crate::numeric::{LatticeProfile, LatticeTarget};

fn gaussian(sigma: f64, sampling: Sampling) -> Pair {
    Pair {
        base: Base::Gaussian {
            m: Interval::ONE / sigma,
        },
        sampling,
    }
}

fn laplace(scale: f64) -> Pair {
    Pair {
        base: Base::Laplace {
            t: Interval::ONE / scale,
        },
        sampling: Sampling::Whole,
    }
}

/// σ, q, steps, δ, whether a person is removed, and ε: both directions apart.
const DP_SGD: [(f64, f64, u64, f64, bool, f64); 15] = [
    (2.0, 0.01, 3000, 1e-5, true, 1.119538949900296792),
    (2.0, 0.01, 2951, 1e-15, true, 2.309045375027054038),
    (2.0, 0.01, 1500, 1e-15, true, 1.655353471724125250),
    (1.0, 0.01, 10000, 1e-8, true, 8.185122967799852578),
    (2.0, 0.01, 3000, 1e-5, false, 1.072201712994026361),
    (1.0, 0.01, 10000, 1e-8, false, 7.238131458160432207),
    (0.6, 0.001, 100_000, 1e-9, true, 9.374981483949081374),
    (4.0, 0.00033, 10000, 1.1e-18, false, 0.06582283563904116484),
    (0.8, 0.005, 1000, 1e-6, true, 2.004106293170688250),
    (1.1, 0.01, 10000, 1e-5, true, 5.19258344588315784),
    (1.1, 256.0 / 60000.0, 14062, 1e-5, true, 2.38159692142439725),
    (0.8, 0.001, 100_000, 1e-6, true, 2.91447833498853789),
    (0.6, 1e-4, 1_000_000, 1e-7, true, 2.34636442806470775),
    (1.1, 0.01, 10000, 1e-14, true, 9.517905951784659),
    (1.0, 1e-4, 1_000_000, 1e-12, true, 0.8611898405589615),
];

#[test]
fn brackets_the_epsilon_of_dp_sgd() {
    for (sigma, q, count, delta, remove, exact) in DP_SGD {
        let sampling = if remove {
            Sampling::Remove { q }
        } else {
            Sampling::Add { q }
        };
        let pairs = [(gaussian(sigma, sampling), count)];
        let Bracket { lower, upper } = Contour::epsilon_of(&pairs, delta.into()).unwrap();
        // The parameters are decimals, so the truth may be off by a few units.
        let inside = lower <= exact * (1.0 + 1e-15) && exact * (1.0 - 1e-15) <= upper;
        assert!(inside, "{sigma} {q} {count} {delta}: [{lower}, {upper}]");
        assert!(upper - lower <= 1e-8 * exact, "{sigma} {q} {count} {delta}");
    }
}

/// The δ at the ε found is the δ asked for.
#[test]
fn delta_undoes_epsilon() {
    for (sigma, q, count, delta, _, exact) in DP_SGD {
        let pairs = [(gaussian(sigma, Sampling::Remove { q }), count)];
        let found = Contour::epsilon_of(&pairs, delta.into()).unwrap();
        let at = |epsilon: f64| Contour::around(&pairs, epsilon).unwrap().delta(epsilon);
        assert!(at(found.upper).lower <= delta, "{sigma} {q} {exact}");
        assert!(at(found.lower).upper >= delta, "{sigma} {q} {exact}");
    }
}

/// Two engines that share nothing but the pairs: their brackets overlap.
#[test]
fn the_lattice_agrees() {
    let whole = Sampling::Whole;
    let response = Pair {
        base: Base::Finite(FiniteLoss::two_point(Interval::from(0.4))),
        sampling: Sampling::Remove { q: 0.3 },
    };
    let compositions: [(&[(Pair, u64)], f64); 6] = [
        (&[(gaussian(1.5, Sampling::Remove { q: 0.1 }), 40)], 1e-6),
        (&[(gaussian(1.5, Sampling::Add { q: 0.1 }), 40)], 1e-6),
        (
            &[(
                gaussian(
                    1.5,
                    Sampling::Replace {
                        q: Interval::from(0.125),
                    },
                ),
                200,
            )],
            1e-6,
        ),
        (&[(laplace(2.0), 200)], 1e-8),
        (&[(laplace(3.0), 20), (gaussian(2.0, whole), 3)], 1e-10),
        (&[(response, 50), (gaussian(3.0, whole), 2)], 1e-7),
    ];
    for (pairs, delta) in compositions {
        let contour = Contour::epsilon_of(pairs, delta.into()).unwrap();
        let lattice = LatticeProfile::new(pairs, LatticeTarget::LnDelta(delta.ln()))
            .and_then(|profile| profile.epsilon(delta.into()))
            .unwrap();
        assert!(
            contour.lower <= lattice.upper && lattice.lower <= contour.upper,
            "{pairs:?}: {contour:?} and {lattice:?}"
        );
    }
}

/// What the contour is not for it leaves to others.
#[test]
fn atoms_alone_are_refused() {
    let response = Pair {
        base: Base::Finite(FiniteLoss::two_point(Interval::from(0.4))),
        sampling: Sampling::Whole,
    };
    assert!(Contour::epsilon_of(&[(response, 50)], Interval::from(1e-6)).is_none());
    assert!(Contour::epsilon_of(&[(laplace(2.0), 3)], Interval::from(1e-6)).is_none());
    assert!(Contour::epsilon_of(&[], Interval::from(1e-6)).is_none());
}
