//! Random events of every kind, with awkward numbers, through text and JSON.

use crate::{
    Count, Delta, DiscreteGaussian, DiscreteLaplace, Epsilon, EventTemplate, FinitePair, Mu, Order,
    PrivacyEvent, Probability, RandomizedResponse, RenyiPoints, Rho, Scale, Sensitivity, Sigma,
    Tau, WithoutReplacement,
};
use proptest::prelude::*;

/// Positive doubles: any bits, round decimals, and the awkward ones.
fn positive() -> impl Strategy<Value = f64> {
    prop_oneof![
        (1_u64..f64::INFINITY.to_bits()).prop_map(f64::from_bits),
        (1_u32..100_000, 0_i32..12).prop_map(|(m, k)| f64::from(m) / 10_f64.powi(k)),
        prop::sample::select(vec![
            1.0,
            1.0_f64.next_down(),
            1.0_f64.next_up(),
            0.1 + 0.2,
            0.1,
            1.1,
            f64::from_bits(1),
            f64::MIN_POSITIVE,
            f64::MIN_POSITIVE.next_down(),
            f64::MAX,
            1e22,
            1e23,
        ]),
    ]
}

fn non_negative() -> impl Strategy<Value = f64> {
    prop_oneof![1 => Just(0.0), 20 => positive()]
}

/// In (0, 1), with both ends well visited.
fn fraction() -> impl Strategy<Value = f64> {
    prop_oneof![
        (1_u64..1.0_f64.to_bits()).prop_map(f64::from_bits),
        (1_u32..1000).prop_map(|m| f64::from(m) / 1000.0),
        Just(1.0_f64.next_down()),
        Just(1.0 / 3.0),
    ]
}

fn count() -> impl Strategy<Value = Count> {
    prop_oneof![1_u64..=1000, 1_u64..=1 << 53, Just(1 << 53)].prop_map(|n| Count::new(n).unwrap())
}

fn epsilon() -> impl Strategy<Value = Epsilon> {
    non_negative().prop_map(|v| Epsilon::new(v).unwrap())
}

fn order() -> impl Strategy<Value = Order> {
    prop_oneof![
        1 => Just(Order::INFINITE),
        1 => Just(Order::ONE),
        8 => positive().prop_map(|v| Order::new(v.max(1.0)).unwrap()),
    ]
}

fn noise() -> impl Strategy<Value = PrivacyEvent> {
    let sensitivity =
        || prop_oneof![Just(1.0), positive()].prop_map(|v| Sensitivity::new(v).unwrap());
    let sigma = || positive().prop_map(|v| Sigma::new(v).unwrap());
    let scale = || positive().prop_map(|v| Scale::new(v).unwrap());
    let at_least_one = |s: Sensitivity| Sensitivity::new(s.get().max(1.0)).unwrap();
    let whole = |s: Sensitivity| Sensitivity::new(s.get().ceil()).unwrap();
    prop_oneof![
        (sigma(), sensitivity())
            .prop_map(|(sigma, sensitivity)| PrivacyEvent::Gaussian { sigma, sensitivity }),
        (scale(), sensitivity())
            .prop_map(|(scale, sensitivity)| PrivacyEvent::Laplace { scale, sensitivity }),
        (sigma(), sensitivity()).prop_map(move |(sigma, s)| {
            PrivacyEvent::DiscreteGaussian(DiscreteGaussian::new(sigma, at_least_one(s)).unwrap())
        }),
        (scale(), sensitivity()).prop_map(move |(scale, s)| {
            PrivacyEvent::DiscreteLaplace(DiscreteLaplace::new(scale, whole(s)).unwrap())
        }),
    ]
}

fn randomized_response() -> impl Strategy<Value = PrivacyEvent> {
    let categories = prop_oneof![Just(2), 2_u64..100, 2_u64..=1 << 53];
    (categories, fraction(), any::<bool>()).prop_map(|(k, u, chance)| {
        // The double next to 1/k that is not below it.
        let nearest = 1.0 / k as f64;
        let below = nearest.mul_add(k as f64, -1.0) < 0.0;
        let least = if below { nearest.next_up() } else { nearest };
        let p = if chance { least } else { u.max(least) };
        let (p, k) = (Probability::new(p).unwrap(), Count::new(k).unwrap());
        PrivacyEvent::RandomizedResponse(RandomizedResponse::new(p, k).unwrap())
    })
}

fn guarantee() -> impl Strategy<Value = PrivacyEvent> {
    let mu = || non_negative().prop_map(|v| Mu::new(v).unwrap());
    let delta = prop_oneof![Just(0.0), fraction()].prop_map(|v| Delta::new(v).unwrap());
    prop_oneof![
        epsilon().prop_map(|epsilon| PrivacyEvent::Exponential { epsilon }),
        epsilon().prop_map(|epsilon| PrivacyEvent::Pure { epsilon }),
        (epsilon(), delta)
            .prop_map(|(epsilon, delta)| PrivacyEvent::Approximate { epsilon, delta }),
        non_negative().prop_map(|v| PrivacyEvent::ZeroConcentrated {
            rho: Rho::new(v).unwrap()
        }),
        (mu(), non_negative()).prop_map(|(mu, t)| PrivacyEvent::Concentrated {
            mu,
            tau: Tau::new(t).unwrap()
        }),
        mu().prop_map(|mu| PrivacyEvent::GaussianDp { mu }),
        prop::collection::vec((order(), epsilon()), 1..5).prop_map(|mut points| {
            points.sort_by(|a, b| a.0.get().total_cmp(&b.0.get()));
            points.dedup_by_key(|point| point.0.get().to_bits());
            PrivacyEvent::Renyi(RenyiPoints::new(points).unwrap())
        }),
    ]
}

/// Distributions with awkward digits, some of them without mass somewhere.
fn finite() -> impl Strategy<Value = PrivacyEvent> {
    let weights = || prop::collection::vec(prop_oneof![Just(0.0), fraction()], 1..6);
    let scaled = |mut weights: Vec<f64>| {
        weights.push(0.5);
        let sum: f64 = weights.iter().sum();
        weights.into_iter().map(move |w| w / sum)
    };
    prop_oneof![
        (weights(), weights()).prop_map(move |(mut p, mut q)| {
            let most = p.len().max(q.len());
            p.resize(most, 0.0);
            q.resize(most, 0.0);
            let pairs: Vec<_> = scaled(p).zip(scaled(q)).collect();
            PrivacyEvent::Finite(FinitePair::new(&pairs).unwrap())
        }),
        (weights(), non_negative()).prop_map(move |(p, loss)| {
            let mut p: Vec<_> = scaled(p).collect();
            let infinite = p.pop().unwrap();
            let atoms: Vec<_> = p.into_iter().map(|p| (loss, p)).collect();
            PrivacyEvent::Finite(FinitePair::from_losses(&atoms, infinite).unwrap())
        }),
    ]
}

fn learning() -> impl Strategy<Value = PrivacyEvent> {
    let norm = || prop_oneof![Just(1.0), positive()].prop_map(|v| Sensitivity::new(v).unwrap());
    let sigma = || positive().prop_map(|v| Sigma::new(v).unwrap());
    prop_oneof![
        (sigma(), count(), norm()).prop_map(|(sigma, steps, sensitivity)| PrivacyEvent::Tree {
            sigma,
            steps,
            sensitivity
        }),
        (sigma(), norm()).prop_map(|(sigma, norm)| PrivacyEvent::Matrix { sigma, norm }),
    ]
}

pub(super) fn event() -> impl Strategy<Value = PrivacyEvent> {
    let leaf = prop_oneof![
        noise(),
        randomized_response(),
        guarantee(),
        finite(),
        learning()
    ];
    leaf.prop_recursive(5, 40, 4, |inner| {
        let q = prop_oneof![Just(1.0), fraction()].prop_map(|v| Probability::new(v).unwrap());
        prop_oneof![
            (q, inner.clone()).prop_map(|(q, event)| PrivacyEvent::Poisson {
                q,
                event: Box::new(event)
            }),
            (count(), count(), inner.clone()).prop_map(|(a, b, event)| {
                PrivacyEvent::WithoutReplacement(
                    WithoutReplacement::new(a.max(b), a.min(b), event).unwrap(),
                )
            }),
            (count(), inner.clone()).prop_map(|(people, event)| PrivacyEvent::Shuffle {
                people,
                event: Box::new(event)
            }),
            (count(), inner.clone()).prop_map(|(size, event)| PrivacyEvent::Group {
                size,
                event: Box::new(event)
            }),
            (count(), inner.clone()).prop_map(|(count, event)| PrivacyEvent::Repeat {
                count,
                event: Box::new(event)
            }),
            prop::collection::vec(inner, 2..5).prop_map(PrivacyEvent::Compose),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn text_reads_back(event in event()) {
        let text = event.to_string();
        prop_assert_eq!(text.parse::<PrivacyEvent>(), Ok(event.clone()), "{}", text);
    }

    #[test]
    fn json_reads_back(event in event()) {
        let value = event.to_json();
        prop_assert_eq!(PrivacyEvent::from_json(&value), Ok(event.clone()));
        let text = value.to_string();
        prop_assert_eq!(PrivacyEvent::from_json_str(&text), Ok(event.clone()), "{}", text);
    }

    #[test]
    fn a_piece_of_a_text_never_breaks_the_reader(event in event(), cut in any::<prop::sample::Index>()) {
        let text = event.to_string();
        let piece = &text[..cut.index(text.len())];
        if let Err(error) = piece.parse::<PrivacyEvent>() {
            prop_assert!(error.code().as_str().starts_with("MZ11") && !error.help().is_empty());
        }
    }

    #[test]
    fn any_number_may_be_a_question_mark(event in event(), at in any::<prop::sample::Index>()) {
        let text = event.to_string();
        // One whole number or decimal becomes `?`.
        let starts: Vec<usize> = text
            .char_indices()
            .filter(|&(at, c)| {
                let before = text[..at].chars().next_back();
                c.is_ascii_digit() && !before.is_some_and(|b| b.is_ascii_digit() || ".e-".contains(b))
            })
            .map(|(at, _)| at)
            .collect();
        prop_assume!(!starts.is_empty());
        let start = starts[at.index(starts.len())];
        let length = text[start..]
            .find([',', ')', ':', ' '])
            .unwrap_or(text.len() - start);
        let number = &text[start..start + length];
        let template = format!("{}?{}", &text[..start], &text[start + length..]);
        match EventTemplate::parse(&template) {
            Ok(template) => {
                prop_assert_eq!(&template.fill_text(number), &text);
                prop_assert_eq!(template.fill_typed(number), Ok(event));
            }
            Err(error) => prop_assert_eq!(error.code(), "MZ1120", "{}", template),
        }
    }

    #[test]
    fn no_text_breaks_the_reader(text in r"[ a-z0-9()+*,:=.?_e\-\n🦀م]{0,40}") {
        let template = EventTemplate::parse(&text).err();
        for error in text.parse::<PrivacyEvent>().err().into_iter().chain(template) {
            prop_assert!(!error.to_string().contains('\n'));
            let lines = error.caret().map_or(2, |caret| caret.split('\n').count());
            prop_assert_eq!(lines, 2);
        }
    }
}
