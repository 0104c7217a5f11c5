//! The profile against known values.
use std::time::Instant;

use super::*;

#[test]
fn table() {
    let sg = |sampling| gaussian(0.5, sampling);
    let cases: Vec<(&str, Vec<(Pair, u64)>, f64, f64)> = vec![
        (
            "laplace k1",
            vec![(laplace(0.5, Sampling::Whole), 1)],
            1e-6,
            0.4999979999989999993,
        ),
        (
            "laplace k10",
            vec![(laplace(0.5, Sampling::Whole), 10)],
            1e-6,
            4.998978089447219838680864,
        ),
        (
            "laplace k60",
            vec![(laplace(0.5, Sampling::Whole), 60)],
            1e-6,
            f64::NAN,
        ),
        (
            "laplace k100",
            vec![(laplace(0.5, Sampling::Whole), 100)],
            1e-6,
            30.48372632562,
        ),
        (
            "laplace k100 1e-100",
            vec![(laplace(0.5, Sampling::Whole), 100)],
            1e-100,
            f64::NAN,
        ),
        (
            "laplace k100 1e-300",
            vec![(laplace(0.5, Sampling::Whole), 100)],
            1e-300,
            f64::NAN,
        ),
        (
            "laplace k1e6",
            vec![(laplace(0.001, Sampling::Whole), 1000000)],
            1e-6,
            f64::NAN,
        ),
        (
            "sg remove",
            vec![(sg(Sampling::Remove { q: 0.01 }), 3000)],
            1e-5,
            1.119538949900296792,
        ),
        (
            "sg add",
            vec![(sg(Sampling::Add { q: 0.01 }), 3000)],
            1e-5,
            1.072201712994026361,
        ),
        (
            "sg replace",
            vec![(
                sg(Sampling::Replace {
                    q: Interval::from(0.01),
                }),
                3000,
            )],
            1e-5,
            f64::NAN,
        ),
        ("gauss", vec![(sg(Sampling::Whole), 30)], 1e-5, f64::NAN),
        (
            "gauss 1e-100",
            vec![(sg(Sampling::Whole), 30)],
            1e-100,
            f64::NAN,
        ),
        (
            "hetero",
            vec![
                (laplace(0.5, Sampling::Whole), 10),
                (laplace(0.3, Sampling::Whole), 7),
                (sg(Sampling::Whole), 3),
            ],
            1e-6,
            f64::NAN,
        ),
    ];
    for (name, parts, delta, truth) in cases {
        let start = Instant::now();
        let profile = LatticeProfile::new(&parts, Aim::LnDelta(f64::ln(delta)));
        let Some(profile) = profile else {
            println!("{name}: none");
            continue;
        };
        let made = start.elapsed();
        let eps = profile.epsilon(Interval::from(delta));
        let solved = start.elapsed() - made;
        if let Some(e) = eps {
            println!(
                "{name}: [{:.15}, {:.15}] rel {:.2e} truth {truth} in {} made {made:?} solved {solved:?}",
                e.lower,
                e.upper,
                (e.upper - e.lower) / e.upper,
                e.lower <= truth && truth <= e.upper
            );
            let m = profile.delta(e.upper);
            println!("   delta at upper {:e} {:e}", m.lower, m.upper);
        } else {
            println!("{name}: no eps {made:?}");
        }
    }
}
