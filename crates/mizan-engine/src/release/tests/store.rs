//! A release survives storage exactly.

use mizan_sql::Groups;

use super::super::noise_plan::StatisticMechanism;
use super::super::{Released, choose, release};
use super::*;

#[test]
fn stored_releases_read_back_the_same() {
    for (groups, groups_per_unit) in [
        (None, 1),
        (Some(Groups::Private), 1),
        (Some(Groups::Private), 12),
    ] {
        let keys = usize::from(groups.is_some());
        let plan = plan(
            groups,
            groups_per_unit,
            statistics(3),
            vec![count(), quantile(0.0), quantile(1.0 / 3.0), quantile(1.0)],
        );
        let noise_plan = choose(&plan, &request(1.0 / 3.0, 1e-6)).unwrap();
        let values = [
            Value::Null,
            Value::Boolean(true),
            Value::Integer(i64::MIN),
            Value::Number(0.1 + 0.2),
            Value::Number(f64::INFINITY),
            Value::Text("a\"\\\u{0}\u{1F600}".into()),
            Value::Date(-3),
            Value::Timestamp(i64::MAX),
        ];
        let exact: ExactAggregates = values
            .into_iter()
            .map(|value| (vec![value; keys], cells(&people(5000))))
            .collect();
        let released = release(&noise_plan, &plan, &exact).unwrap();
        assert_eq!(released.groups.len(), exact.len());
        let bytes = released.to_bytes(usize::MAX).unwrap();
        assert_eq!(released.to_bytes(bytes.len()).unwrap(), bytes);
        assert_eq!(released.to_bytes(bytes.len() - 1), None);
        let keys = Groups::Public(exact.keys().cloned().collect());
        let bound = noise_plan.bytes_bound(&keys);
        assert!((bytes.len()..3 * bytes.len()).contains(&bound), "{bound}");
        let again = Released::from_bytes(&bytes).unwrap();
        assert_eq!(again, released);
        assert_eq!(again.to_bytes(usize::MAX).unwrap(), bytes);
        assert_eq!(again.noise, noise_plan.noise);
        // Truncated or changed bytes are an error, never a panic.
        for cut in (0..bytes.len()).step_by(7) {
            assert_eq!(
                Released::from_bytes(&bytes[..cut]).unwrap_err().code(),
                "MZ1959"
            );
        }
        let text = String::from_utf8(bytes).unwrap();
        for (from, to) in [
            ("\"version\":1", "\"version\":2"),
            ("cells", "calls"),
            ("fraction", "friction"),
        ] {
            assert!(
                Released::from_bytes(text.replace(from, to).as_bytes()).is_err(),
                "{from}"
            );
        }
    }
}

#[test]
fn events_describe_their_mechanisms() {
    let gaussian = StatisticMechanism::Gaussian {
        sigma: 20.5,
        sensitivity: 3,
    };
    assert_eq!(
        gaussian.event().unwrap().to_string(),
        "discrete-gaussian(20.5, 3)"
    );
    assert_eq!(gaussian.half_width(0.05).unwrap(), Some(40.0));
}
