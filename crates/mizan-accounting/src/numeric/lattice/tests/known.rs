//! Values known from elsewhere, at delta from 0.3 to 1e-300.

use super::*;
use crate::convert::GaussianProfile;

fn epsilon(parts: &[(Pair, u64)], delta: f64) -> Bracket<f64> {
    let profile = LatticeProfile::new(parts, LatticeTarget::LnDelta(delta.ln())).unwrap();
    profile.epsilon(Interval::from(delta)).unwrap()
}

/// The truth is known to lie within `known` of the number given.
fn check(Bracket { lower, upper }: Bracket<f64>, truth: f64, known: f64, width: f64, what: &str) {
    assert!(
        lower <= truth + known && truth - known <= upper,
        "{what}: [{lower}, {upper}] without {truth}"
    );
    assert!(
        upper - lower <= width * truth,
        "{what}: relative width {:e}",
        (upper - lower) / truth
    );
}

/// testdata/golden/reference.json, `end_to_end_truth`.
#[test]
fn epsilon_of_laplace_noise() {
    for (count, truth, known, width) in [
        (1, 0.499_997_999_998_999_999_3, 1e-16, 1e-10),
        (10, 4.998_978_089_447_219_838_680_864, 1e-15, 1e-10),
        (100, 30.483_726_325_62, 1e-11, 2e-9),
    ] {
        let found = epsilon(&[(laplace(0.5, Sampling::Whole), count)], 1e-6);
        check(found, truth, known, width, &format!("{count} times"));
    }
    let sixty = epsilon(&[(laplace(0.5, Sampling::Whole), 60)], 1e-6);
    assert!(sixty.upper - sixty.lower <= 1e-9 * sixty.lower);
}

/// testdata/golden/reference.json, `delta_laplace_composed`.
#[test]
fn delta_of_laplace_noise() {
    for (t, count, epsilon, truth) in [
        (0.5, 2, 0.5, 0.123_849_119_044_669_523_224_183_4),
        (0.5, 2, 0.9, 0.024_989_839_886_768_140_681_289_05),
        (0.5, 10, 4.0, 0.003_699_132_729_001_900_007_146_949),
        (1.0, 10, 6.0, 0.109_645_374_593_134_250_897_441_1),
        (2.0, 5, 8.0, 0.140_656_617_888_583_951_897_956_2),
    ] {
        let parts = [(laplace(t, Sampling::Whole), count)];
        let profile = LatticeProfile::new(&parts, LatticeTarget::Epsilon(epsilon)).unwrap();
        let what = format!("{count} times {t} at {epsilon}");
        check(profile.delta(epsilon), truth, 1e-17, 1e-8, &what);
    }
}

/// docs/spec/mathematics.md 10.5, from the contour at high precision.
#[test]
fn subsampled_gaussian_noise() {
    for (sampling, truth) in [
        (Sampling::Remove { q: 0.01 }, 1.119_538_949_900_296_792),
        (Sampling::Add { q: 0.01 }, 1.072_201_712_994_026_361),
    ] {
        let found = epsilon(&[(gaussian(0.5, sampling), 3000)], 1e-5);
        check(found, truth, 1e-15, 1e-6, &format!("{sampling:?}"));
    }
    // Replacing costs at least as much as removing.
    let q = Interval::from(0.01);
    let replace = epsilon(&[(gaussian(0.5, Sampling::Replace { q }), 3000)], 1e-5);
    assert!(replace.lower > 1.119_538 && replace.upper - replace.lower < 1e-6);
}

/// Gaussian noise composes to Gaussian noise, whose profile is closed.
#[test]
fn gaussian_noise_down_to_tiny_deltas() {
    for (delta, width) in [(0.3, 1e-7), (1e-5, 1e-8), (1e-100, 1e-8), (1e-290, 1e-6)] {
        let found = epsilon(&[(gaussian(0.5, Sampling::Whole), 36)], delta);
        let exact = GaussianProfile::from_square(Interval::from(9.0));
        let truth = exact.epsilon(mizan_core::Delta::new(delta).unwrap());
        check(
            found,
            truth.upper.get(),
            1e-12,
            width,
            &format!("{delta:e}"),
        );
    }
}

/// A sampling rate of 1 costs the same as the mechanism without sampling.
#[test]
fn a_rate_of_one() {
    let whole = epsilon(&[(laplace(0.7, Sampling::Whole), 9)], 1e-4);
    for sampling in [
        Sampling::Remove { q: 1.0 },
        Sampling::Add { q: 1.0 },
        Sampling::Replace { q: Interval::ONE },
    ] {
        let found = epsilon(&[(laplace(0.7, sampling), 9)], 1e-4);
        assert!(found.lower <= whole.upper && whole.lower <= found.upper);
        assert!(found.upper - found.lower < 1e-8, "{sampling:?} {found:?}");
    }
}

/// The largest loss has more probability than δ, so ε is just below it.
#[test]
fn laplace_noise_at_tiny_deltas() {
    for delta in [1e-100, 1e-300] {
        let found = epsilon(&[(laplace(0.5, Sampling::Whole), 100)], delta);
        check(found, 50.0, 1e-10, 1e-10, &format!("{delta:e}"));
    }
}

/// On a lattice of their own losses nothing is lost, at any δ.
#[test]
fn lattices_agree_with_enumerations() {
    let ternary = finite(&[0.75, 0.125, 0.125], &[0.125, 0.75, 0.125]);
    let failing = finite(&[0.5, 0.25, 0.25, 0.0], &[0.25, 0.5, 0.0, 0.25]);
    let pair = |base: FiniteLoss, sampling| Pair {
        base: Base::Finite(base),
        sampling,
    };
    let two_point = FiniteLoss::two_point(Interval::from(0.4));
    for (base, count, sampling, deltas) in [
        (
            two_point.clone(),
            300,
            Sampling::Whole,
            &[1e-3, 1e-30, 1e-300][..],
        ),
        (ternary, 200, Sampling::Whole, &[1e-3, 1e-60][..]),
        (failing, 3, Sampling::Whole, &[0.6][..]),
        (
            two_point.clone(),
            40,
            Sampling::Remove { q: 0.5 },
            &[1e-5][..],
        ),
        (
            two_point,
            40,
            Sampling::Replace {
                q: Interval::from(0.25),
            },
            &[1e-5][..],
        ),
    ] {
        let parts = [(pair(base, sampling), count)];
        for &delta in deltas {
            let aim = LatticeTarget::LnDelta(f64::ln(delta));
            let exact = LatticeProfile::enumerated(&parts).unwrap();
            let exact = exact.epsilon(Interval::from(delta)).unwrap();
            for way in [Way::Best, Way::Modulo, Way::Transforms] {
                let found = lattice(&parts, aim, 1e-7, way).unwrap();
                let found = found.epsilon(Interval::from(delta)).unwrap();
                assert!(
                    found.lower <= exact.upper && exact.lower <= found.upper,
                    "{sampling:?} {delta:e} {way:?}: {found:?} {exact:?}"
                );
                assert!(
                    found.upper - found.lower <= 1e-6 * exact.upper,
                    "{sampling:?} {delta:e} {way:?}: {found:?}"
                );
            }
            assert!(exact.upper - exact.lower <= 1e-12 * exact.upper);
        }
    }
}

/// Close to the largest loss, where the lattice spreads more than the losses.
#[test]
fn different_kinds_near_the_largest_loss() {
    let response = |index: i32| Pair {
        base: Base::Finite(FiniteLoss::two_point(Interval::from(
            0.3 + 0.001 * f64::from(index).sqrt(),
        ))),
        sampling: Sampling::Whole,
    };
    let parts: Vec<(Pair, u64)> = (0..16).map(|index| (response(index), 1)).collect();
    for delta in [1e-2, 1e-6, 1e-12] {
        let exact = LatticeProfile::enumerated(&parts).unwrap();
        let exact = exact.epsilon(Interval::from(delta)).unwrap();
        let aim = LatticeTarget::LnDelta(f64::ln(delta));
        let found = lattice(&parts, aim, 1e-8, Way::Modulo).unwrap();
        let found = found.epsilon(Interval::from(delta)).unwrap();
        check(found, exact.upper, 1e-13, 1e-8, &format!("{delta:e}"));
    }
}

/// Different kinds on different lattices, and a coarser lattice around them.
#[test]
fn different_kinds() {
    let parts = [
        (laplace(0.5, Sampling::Whole), 10),
        (laplace(0.3, Sampling::Remove { q: 0.5 }), 7),
        (gaussian(0.5, Sampling::Whole), 3),
    ];
    let aim = LatticeTarget::LnDelta(1e-6f64.ln());
    let fine = epsilon(&parts, 1e-6);
    let coarse = lattice(&parts, aim, 1e-5, Way::Best).unwrap();
    let coarse = coarse.epsilon(Interval::from(1e-6)).unwrap();
    assert!(coarse.lower <= fine.lower && fine.upper <= coarse.upper);
    assert!(fine.upper - fine.lower < 1e-8 && coarse.upper - coarse.lower < 1e-3);
}

/// Nothing, hardly anything, and far too much: a bound or None, at once.
#[test]
fn extremes() {
    let aim = LatticeTarget::LnDelta(1e-6f64.ln());
    let nothing = LatticeProfile::new(&[(gaussian(1.0, Sampling::Remove { q: 0.0 }), 7)], aim);
    let nothing = nothing.unwrap().epsilon(Interval::from(1e-6)).unwrap();
    assert_eq!(nothing.upper, 0.0);
    for m in [1e-9, 0.1, 1e6] {
        for q in [1e-12, 0.5] {
            for count in [1, 1_000_000_000, u64::MAX] {
                for sampling in [Sampling::Remove { q }, Sampling::Add { q }] {
                    for pair in [gaussian(m, sampling), laplace(m, sampling)] {
                        let effort = Effort {
                            width: 1e-3,
                            ..Effort::USUAL
                        };
                        let parts = [(pair, count)];
                        let Some(profile) = LatticeProfile::on_lattice(&parts, aim, effort) else {
                            continue;
                        };
                        let Bracket { lower, upper } = profile.delta(1.0);
                        assert!(0.0 <= lower && lower <= upper && upper <= 1.0, "{parts:?}");
                        if let Some(found) = profile.epsilon(Interval::from(1e-6)) {
                            assert!(0.0 <= found.lower && found.lower <= found.upper);
                        }
                    }
                }
            }
        }
    }
}
