//! Half-widths and tails against 80-digit values, against tables convolved by definition, and
//! against properties that hold for all of them.
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test helper may panic"
)]

use mizan_core::{Bracket, Round, parse_decimal};
use mizan_noise::{Confidence, DiscreteGaussian, DiscreteLaplace, Noise};
use mizan_noise::{ExactScale, NoiseError};
use proptest::prelude::*;
use serde_json::Value;

fn golden(list: &str) -> Vec<Value> {
    let path = format!(
        "{}/../../testdata/golden/error_bounds.json",
        env!("CARGO_MANIFEST_DIR")
    );
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let json: Value = serde_json::from_str(&text).unwrap();
    json[list].as_array().unwrap().clone()
}

/// A double of the golden file. serde_json reads them by its own algorithm,
/// which may be a unit off; the confidence beside an edge must not be.
fn double(value: &Value) -> f64 {
    value.to_string().parse().unwrap()
}

fn noise(name: &str, scale: f64) -> Noise {
    let scale = ExactScale::from_f64(scale).unwrap();
    match name {
        "laplace" => Noise::Laplace(DiscreteLaplace::new(scale)),
        "gaussian" => Noise::Gaussian(DiscreteGaussian::new(scale)),
        other => panic!("no noise called {other}"),
    }
}

fn sure(confidence: f64) -> Confidence {
    Confidence::new(confidence).unwrap()
}

fn of(record: &Value) -> Noise {
    noise(record["noise"].as_str().unwrap(), double(&record["scale"]))
}

fn integer(value: &Value) -> u128 {
    value.as_str().unwrap().parse().unwrap()
}

#[test]
fn half_widths_are_the_smallest_integers() {
    let records = golden("singles");
    assert!(records.len() > 300);
    for record in records {
        let confidence = sure(double(&record["confidence"]));
        let ours = of(&record).half_width(confidence).unwrap();
        assert_eq!(ours, integer(&record["half_width"]), "{record}");
    }
}

/// One unit in the last place of the confidence decides the integer: doubles
/// alone could not.
#[test]
fn a_step_of_the_confidence_is_a_step_of_the_half_width() {
    let records = golden("edges");
    assert!(records.len() > 80);
    for record in records {
        let a = integer(&record["half_width"]);
        let at = |side: &str| {
            let confidence = sure(double(&record[side]));
            of(&record).half_width(confidence).unwrap()
        };
        assert!(at("below") <= a, "{record}");
        assert!(at("above") > a, "{record}");
        // Where an integer has more probability than the step, exactly.
        if double(&record["scale"]) < 1e12 {
            assert_eq!((at("below"), at("above")), (a, a + 1), "{record}");
        }
    }
}

#[test]
fn tails_are_upper_bounds_and_tight() {
    let records = golden("tails");
    assert!(records.len() > 200);
    for record in records {
        let (a, scale) = (integer(&record["a"]), double(&record["scale"]));
        let truth = record["tail"].as_str().unwrap();
        // Below the doubles there is only the smallest of them to say.
        let above = parse_decimal(truth, Round::Up).unwrap_or(f64::from_bits(1));
        let ours = of(&record).tail(a);
        // 25 digits are known: the double above the decimal is at most one
        // step above the truth.
        assert!(ours >= above.next_down(), "{ours:e} {record}");
        let y = (a as f64 + 0.5) / scale;
        let wide = record["noise"] == "gaussian" && scale >= 64.0;
        let excess = if wide {
            1.01 * ((y * y + 2.0) / 24.0).max(0.3) / (scale * scale)
        } else {
            0.0
        };
        assert!(
            ours <= above * (1.0 + 1e-11 + excess) + 1e-320,
            "{ours:e} {record}"
        );
    }
}

#[test]
fn sums_agree_with_their_tables() {
    let records = golden("sums");
    assert!(records.len() > 80);
    for record in records {
        let part = |part: &Value| {
            let noise = noise(part[0].as_str().unwrap(), double(&part[1]));
            (noise, part[2].as_u64().unwrap())
        };
        let parts: Vec<_> = record["parts"]
            .as_array()
            .unwrap()
            .iter()
            .map(part)
            .collect();
        let confidence = double(&record["confidence"]);
        let truth = u128::from(record["half_width"].as_u64().unwrap());
        let Bracket { lower, upper } = Noise::half_width_of_sum(&parts, sure(confidence)).unwrap();
        assert!(lower <= truth && truth <= upper, "{lower} {upper} {record}");
        if confidence < 1.0 - 1e-10 {
            assert_eq!(lower, upper, "{record}");
        }
        // What is published stays tight where rounding takes the tail.
        let excess = if confidence < 1.0 - 1e-13 { 500 } else { 50 };
        assert!(upper <= truth + 1 + truth / excess, "{upper} {record}");
    }
}

/// How far the tables of [`table`] go.
const REACH: usize = 350;

/// All probabilities of a noise, from -REACH to REACH.
fn table(name: &str, scale: f64) -> Vec<f64> {
    let height = |place: usize| {
        let x = (place as f64 - REACH as f64) / scale;
        if name == "laplace" {
            (-x.abs()).exp()
        } else {
            (-0.5 * x * x).exp()
        }
    };
    let total: f64 = (0..=2 * REACH).map(height).sum();
    (0..=2 * REACH).map(|place| height(place) / total).collect()
}

/// A convolution, cut to the same places.
fn convolved(p: &[f64], q: &[f64]) -> Vec<f64> {
    let mut result = vec![0.0; p.len()];
    for (i, &x) in p.iter().enumerate().filter(|(_, x)| **x > 1e-20) {
        for (j, &y) in q.iter().enumerate() {
            if let Some(k) = (i + j).checked_sub(REACH).filter(|&k| k < result.len()) {
                result[k] += x * y;
            }
        }
    }
    result
}

fn arbitrary_part() -> impl Strategy<Value = (&'static str, f64, u64)> {
    let name = prop_oneof![Just("laplace"), Just("gaussian")];
    (name, -40..25i32, 1..5u64)
        .prop_map(|(name, log, count)| (name, 2f64.powf(f64::from(log) / 10.0), count))
}

/// Every octave from 2^-11 to 2^63, Gaussian or not.
fn arbitrary_noise() -> impl Strategy<Value = (bool, f64)> {
    (any::<bool>(), -11..63i32, 1.0..2.0f64)
        .prop_map(|(squared, octave, mantissa)| (squared, mantissa * 2f64.powi(octave)))
}

fn single(squared: bool, scale: f64) -> Noise {
    noise(if squared { "gaussian" } else { "laplace" }, scale)
}

fn sum_of(parts: &[((bool, f64), u64)]) -> Vec<(Noise, u64)> {
    parts
        .iter()
        .map(|&((squared, scale), count)| (single(squared, scale), count))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// By definition, with tables of doubles: good to 1e-12 of probability.
    #[test]
    fn sums_agree_with_convolution(
        parts in prop::collection::vec(arbitrary_part(), 1..4),
        confidence in 0.001..0.9999f64,
    ) {
        let mut sum = vec![0.0; 2 * REACH + 1];
        sum[REACH] = 1.0;
        for &(name, scale, count) in &parts {
            let one = table(name, scale);
            for _ in 0..count {
                sum = convolved(&sum, &one);
            }
        }
        let inside = |a: usize| sum[REACH - a..=REACH + a].iter().sum::<f64>();
        let noises: Vec<_> = parts
            .iter()
            .map(|&(name, scale, count)| (noise(name, scale), count))
            .collect();
        let found = Noise::half_width_of_sum(&noises, sure(confidence)).unwrap();
        let (lower, upper) = (found.lower as usize, found.upper as usize);
        prop_assert!(lower <= upper && upper <= lower + 1);
        prop_assert!(inside(upper) >= confidence - 1e-11);
        if lower > 0 {
            prop_assert!(inside(lower - 1) < confidence + 1e-11);
        }
    }

    /// `P(|X| ≤ a-1) < c ≤ P(|X| ≤ a)`, as far as the published bound of the tail shows.
    #[test]
    fn a_half_width_is_large_enough_and_needed(
        (squared, scale) in arbitrary_noise(),
        confidence in 1e-6..0.9999999f64,
    ) {
        let noise = single(squared, scale);
        let a = noise.half_width(sure(confidence)).unwrap();
        let missed = 1.0 - confidence;
        prop_assert!(noise.tail(a) <= missed * (1.0 + 3e-4));
        if a > 0 {
            prop_assert!(noise.tail(a - 1) >= missed * (1.0 - 1e-15));
        }
    }

    #[test]
    fn surer_is_wider((squared, scale) in arbitrary_noise(), c in 1e-9..1.0f64, d in 1e-9..1.0f64) {
        let noise = single(squared, scale);
        let at = |c: f64| noise.half_width(sure(c.min(1.0 - 1e-16))).unwrap();
        prop_assert!(at(c.min(d)) <= at(c.max(d)));
        prop_assert!(at(c) <= at(c.next_up()));
    }

    #[test]
    fn more_noise_is_wider(
        (squared, scale) in arbitrary_noise(),
        factor in 1.0..1.5f64,
        confidence in 0.01..0.999f64,
    ) {
        let at = |scale: f64| single(squared, scale).half_width(sure(confidence)).unwrap();
        prop_assert!(at(scale) <= at(scale * factor));
        prop_assert!(at(scale) <= at(scale.next_up()));
    }

    /// A sum is at least as wide as any of its parts, and its bracket narrow,
    /// whatever the scales.
    #[test]
    fn sums_of_all_scales_have_narrow_brackets(
        parts in prop::collection::vec((arbitrary_noise(), 1..1_000_000u64), 1..5),
        confidence in 0.3..0.999f64,
    ) {
        let sum = sum_of(&parts);
        let found = Noise::half_width_of_sum(&sum, sure(confidence)).unwrap();
        prop_assert!(found.lower <= found.upper);
        prop_assert!(found.upper - found.lower <= found.upper / 1000, "{found:?}");
        for (noise, _) in &sum {
            prop_assert!(noise.half_width(sure(confidence)).unwrap() <= found.upper);
        }
    }

    /// One Laplace noise or two, and little beside.
    #[test]
    fn sums_of_few_noises_have_narrow_brackets(
        parts in prop::collection::vec((arbitrary_noise(), 1..3u64), 1..4),
        confidence in 0.3..0.999f64,
    ) {
        let found = Noise::half_width_of_sum(&sum_of(&parts), sure(confidence)).unwrap();
        prop_assert!(found.lower <= found.upper);
        prop_assert!(found.upper - found.lower <= found.upper / 1000, "{found:?}");
    }

    /// Two Laplace noises of scales that are close: neither dominates.
    #[test]
    fn neighbouring_scales_have_narrow_brackets(
        octave in -3..62i32,
        ratio in 1.0..30.0f64,
        confidence in 0.3..0.999f64,
    ) {
        let scale = 2f64.powi(octave);
        let parts = [((false, scale), 1), ((false, (scale / ratio).max(0.001)), 1)];
        let found = Noise::half_width_of_sum(&sum_of(&parts), sure(confidence)).unwrap();
        prop_assert!(found.lower <= found.upper);
        prop_assert!(found.upper - found.lower <= found.upper / 1000, "{found:?}");
    }
}

/// A sum of wide Gaussians is one, but for less than 10^-300, and
/// 3² + 4² = 5².
#[test]
fn gaussians_add_up() {
    for log in [7, 20, 40, 55] {
        let unit = 2f64.powi(log);
        let sum = [
            (noise("gaussian", 3.0 * unit), 1),
            (noise("gaussian", 4.0 * unit), 1),
        ];
        for confidence in [0.5, 0.9, 0.95, 0.99, 0.999] {
            let sure = sure(confidence);
            let one = noise("gaussian", 5.0 * unit).half_width(sure).unwrap();
            let found = Noise::half_width_of_sum(&sum, sure).unwrap();
            assert!(found.lower <= one && one <= found.upper, "{log} {found:?}");
            if log <= 20 {
                assert_eq!(found.lower, found.upper);
            }
        }
    }
}

/// Two wide Laplace noises of one scale, whose frequencies do not die out: in
/// units of the scale the tail is `(1 + x/2) e^-x`, but for 10^-15 of it.
#[test]
fn frequencies_that_are_left_out_are_paid_for() {
    for scale in [1e15, 1e18] {
        for confidence in [0.5, 0.9, 0.95, 0.99, 0.999] {
            let missed = 1.0 - confidence;
            let mut x = 1.0f64;
            for _ in 0..60 {
                // ln(1 + x/2) - x = ln(missed), which contracts.
                x = (0.5 * x).ln_1p() - f64::ln(missed);
            }
            let found = Noise::half_width_of_sum(&[(noise("laplace", scale), 2)], sure(confidence))
                .unwrap();
            let (lower, upper) = (found.lower as f64 / scale, found.upper as f64 / scale);
            assert!(lower <= x && x <= upper, "{scale} {lower} {x} {upper}");
            assert!(upper - lower <= 1e-9 * x);
        }
    }
}

#[test]
fn extreme_parameters() {
    let extremes = [
        ExactScale::new(1, u64::MAX).unwrap(),
        ExactScale::new(u64::MAX, 1).unwrap(),
        ExactScale::new(u64::MAX, u64::MAX - 1).unwrap(),
        ExactScale::from_f64(2f64.powi(-11)).unwrap(),
    ];
    let confidences = [5e-324, 1e-300, 1e-20, 0.5, 1.0 - 2f64.powi(-53)];
    for scale in extremes {
        for noise in [
            Noise::Laplace(DiscreteLaplace::new(scale)),
            Noise::Gaussian(DiscreteGaussian::new(scale)),
        ] {
            let widths = confidences.map(|c| noise.half_width(sure(c)).unwrap());
            assert!(widths.is_sorted(), "{scale} {widths:?}");
            assert_eq!(widths[0], 0);
            for a in [0, 1, 1 << 70, u128::MAX] {
                let tail = noise.tail(a);
                assert!((0.0..=1.0).contains(&tail), "{scale} {a} {tail}");
            }
            for c in confidences {
                for count in [1, 2, 1_000_000, u64::MAX] {
                    let sum = [(noise.clone(), count), (noise.clone(), 1)];
                    let found = Noise::half_width_of_sum(&sum, sure(c)).unwrap();
                    assert!(found.lower <= found.upper, "{scale} {c} {count}");
                }
            }
        }
    }
}

#[test]
fn bad_input() {
    for confidence in [
        0.0,
        -0.0,
        1.0,
        -0.5,
        1.5,
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
    ] {
        let error = Confidence::new(confidence).unwrap_err();
        assert_eq!(error.code(), "MZ1612", "{confidence}");
        assert!(!error.help().is_empty() && error.to_string().contains("below 1"));
    }
    let none = noise("laplace", 1.0);
    for empty in [
        &[][..],
        &[(none.clone(), 0)],
        &[(none.clone(), 0), (none.clone(), 0)],
    ] {
        let error = Noise::half_width_of_sum(empty, sure(0.9)).unwrap_err();
        assert!(matches!(error, NoiseError::Empty { .. }), "{error}");
    }
    // As many copies as can be asked for, of the widest noise, still fit.
    let wide = [(noise("laplace", 1.8e19), u64::MAX)];
    assert!(Noise::half_width_of_sum(&wide, sure(0.9)).is_ok());
}

/// Zero times something is nothing, and the order of a sum does not matter.
#[test]
fn a_sum_is_what_it_says() {
    let (a, b) = (noise("laplace", 7.0), noise("gaussian", 9.0));
    let at = |sum: &[(Noise, u64)]| Noise::half_width_of_sum(sum, sure(0.95)).unwrap();
    let two = at(&[(a.clone(), 3), (b.clone(), 2)]);
    for same in [
        vec![(b.clone(), 2), (a.clone(), 3)],
        vec![(a.clone(), 1), (b.clone(), 2), (a.clone(), 2)],
        vec![(a.clone(), 3), (b.clone(), 2), (noise("laplace", 1e6), 0)],
    ] {
        assert_eq!(at(&same), two);
    }
    let alone = at(&[(a.clone(), 1), (b, 0)]);
    assert_eq!(alone.upper, a.half_width(sure(0.95)).unwrap());
}
