//! Tables against moments of 25 digits, and against masses that are not known.

use mizan_core::Interval;

use super::{Orders, Table};
use crate::numeric::golden;
use crate::numeric::pair::{Atom, Base, FiniteLoss, Pair, Sampling};

fn orders(c: f64) -> Orders {
    Orders {
        c,
        reach: 0.0,
        ln_tolerance: -44.0,
        ln_cut: None,
    }
}

/// ln E_Q Y^order at large orders of either sign.
#[test]
fn moments_of_large_orders() {
    let mut tables = 0;
    for record in golden("extremes.json", "moments") {
        let field = |name: &str| record[name].as_f64().unwrap();
        let (m, q, order) = (field("m"), field("q"), field("order"));
        let truth: f64 = record["value"].as_str().unwrap().parse().unwrap();
        let (sampling, z) = if order < 0.0 {
            (Sampling::Add { q }, -order)
        } else {
            (Sampling::Remove { q }, order - 1.0)
        };
        let base = Base::Gaussian {
            m: Interval::from(m),
        };
        // Some would take more places than a table may have.
        let Some(table) = Table::of(&Pair { base, sampling }, orders(z)) else {
            println!("no table: {record}");
            continue;
        };
        tables += 1;
        let found = table.cumulant(z);
        // The truth was rounded to a double.
        let off = truth * f64::EPSILON;
        let inside = found.lower() <= truth + off && truth - off <= found.upper();
        assert!(inside, "{record}: {found:?}");
        let width = found.upper() - found.lower();
        assert!(width <= 1e-8 * truth, "{record}: {found:?}");
    }
    assert!(tables >= 8, "only {tables}");
}

/// Mass of Q that is known by a bound alone widens a cumulant by about as much as
/// it may matter, and the cumulants of all masses within it are inside.
#[test]
fn mass_of_q_that_is_not_known() {
    let loss = |below: Interval| {
        let atom = |loss: f64, mass: Interval| Atom {
            loss: Interval::from(loss),
            mass,
        };
        // P is 3/4 at 1 and 1/4 at -x, Q what is left of 1 - β.
        let high = Interval::from(0.75);
        let rest = Interval::ONE - below - high * Interval::from(-1.0).exp();
        let low = (rest / 0.25).ln();
        FiniteLoss {
            atoms: vec![
                Atom {
                    loss: -low,
                    mass: Interval::from(0.25),
                },
                atom(1.0, high),
            ],
            beyond: Interval::ZERO,
            below,
        }
    };
    for most in [1e-3, 1e-9, 1e-30] {
        for q in [1e-6, 0.01, 0.5, 0.999] {
            for sampling in [Sampling::Remove { q }, Sampling::Add { q }] {
                for z in [1e-3, 1.0, 30.0, 1000.0] {
                    let at = |below: Interval| {
                        let base = Base::Finite(loss(below));
                        Table::of(&Pair { base, sampling }, orders(z))
                            .unwrap()
                            .cumulant(z)
                    };
                    let unsure = at(Interval::new(0.0, most));
                    for below in [0.0, 0.3 * most, most] {
                        let exact = at(Interval::from(below));
                        let inside =
                            unsure.lower() <= exact.middle() && exact.middle() <= unsure.upper();
                        assert!(inside, "{most} {sampling:?} {z}: {unsure:?} {exact:?}");
                    }
                }
            }
        }
    }
}
