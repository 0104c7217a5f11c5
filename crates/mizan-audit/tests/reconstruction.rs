//! The fundamental law of information recovery: accurate answers to many queries reveal all bits;
//! noise of the order of √n protects them.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::expect_used
)]

use mizan_audit::{AuditError, Reconstruction};
use mizan_core::{Epsilon, PrivacyEvent};

/// With M = 4n queries the error of a bit is about Φ(-1/2c) at noise c √n. Of
/// some 2000 bits the share is within 0.1 of it but for e^-40 (Hoeffding, for
/// errors that are nearly independent).
#[test]
fn noise_below_the_root_gives_everything_away() {
    let attack = Reconstruction::new(128, 512).unwrap();
    let mut reported = 0;
    let points = attack.run(&mut || reported += 1).unwrap();
    assert_eq!(reported, attack.steps());
    let at = |noise: f64| {
        let found = points.iter().find(|point| point.noise_over_sqrt_n == noise);
        found.unwrap().recovered
    };
    assert_eq!(at(0.05), 1.0);
    assert!(at(0.1) > 0.99 && at(0.2) > 0.95, "{points:?}");
    assert!((at(1.0) - 0.69).abs() < 0.1, "{points:?}");
    assert!((at(10.0) - 0.52).abs() < 0.1, "{points:?}");
    for pair in points.windows(2) {
        assert!(pair[1].sigma > pair[0].sigma && pair[1].epsilon < pair[0].epsilon);
    }
}

#[test]
fn the_price_is_that_of_all_answers() {
    let points = Reconstruction::new(64, 100)
        .unwrap()
        .run(&mut || ())
        .unwrap();
    for point in points.iter().step_by(4) {
        let event: PrivacyEvent = format!("100 * discrete-gaussian({})", point.sigma)
            .parse()
            .unwrap();
        let delta = mizan_core::Delta::new(1e-6).unwrap();
        let price = mizan_accounting::methods::epsilon(&event, delta)
            .best()
            .unwrap();
        let near = (price.upper.get() / point.epsilon.get() - 1.0).abs() < 1e-9;
        assert!(near && point.epsilon < Epsilon::INFINITE, "{point:?}");
    }
}

#[test]
fn sizes_out_of_range() {
    for (people, queries) in [
        (0, 10),
        (7, 10),
        (2049, 10),
        (u64::MAX, 10),
        (64, 0),
        (64, 65_537),
    ] {
        let error = Reconstruction::new(people, queries).unwrap_err();
        assert!(matches!(error, AuditError::Size { .. }), "{error}");
        assert_eq!(error.code(), "MZ1506");
    }
    let points = Reconstruction::new(8, 1).unwrap().run(&mut || ()).unwrap();
    let share = |recovered: f64| (0.0..=1.0).contains(&recovered);
    assert!(points.iter().all(|point| share(point.recovered)));
}
