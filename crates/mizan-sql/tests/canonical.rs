//! The canonical bytes of plans. A decoder reconstructs everything that decides the release, so no
//! two different plans share an encoding.
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "tests may panic"
)]

use crate::common::{Source, cases, choices, columns, expr};
use mizan_sql::*;
use proptest::prelude::*;

fn bounds(source: &mut Source) -> Bounds {
    let low = source.pick(&[-1.0, 0.0, 0.5]);
    Bounds::new(low, low + source.pick(&[0.0, 1.0, 1e9])).unwrap()
}

fn quantized(source: &mut Source) -> Quantized {
    Quantized {
        bounds: bounds(source),
        centre: source.pick(&[0.0, 0.5, -3.0]),
        exponent: source.pick(&[0, -60, 3]),
        squared: source.below(2) == 1,
    }
}

fn some(source: &mut Source) -> Expr {
    let kind = source.pick(&Type::ALL);
    let depth = source.below(3);
    expr(source, kind, depth, &columns())
}

fn list<T>(source: &mut Source, each: impl Fn(&mut Source) -> T) -> Vec<T> {
    (0..source.below(3)).map(|_| each(source)).collect()
}

fn unit_aggregate(source: &mut Source) -> UnitAggregate {
    match source.below(6) {
        0 => UnitAggregate::Rows,
        1 => UnitAggregate::Count(some(source)),
        2 => UnitAggregate::CountDistinct(some(source)),
        3 => UnitAggregate::Sum(some(source), quantized(source)),
        4 => UnitAggregate::Min(some(source)),
        _ => UnitAggregate::Max(some(source)),
    }
}

fn measure(source: &mut Source) -> Measure {
    match source.below(7) {
        0 => Measure::Units,
        1 => Measure::Rows,
        2 => Measure::Count(some(source)),
        3 => Measure::Sum(some(source), quantized(source)),
        4 => Measure::Distinct(some(source)),
        5 => Measure::Scaled(some(source), quantized(source), source.bits().cast_signed()),
        _ => Measure::Histogram(some(source), quantized(source)),
    }
}

fn relation(source: &mut Source, depth: usize) -> Relation {
    let input = |source: &mut Source| Box::new(relation(source, depth - 1));
    let operator = match if depth == 0 { 0 } else { source.below(7) } {
        0 => Operator::Scan {
            dataset: source.pick(&["a", "b", "ab"]).into(),
        },
        1 => Operator::Filter {
            input: input(source),
            predicate: some(source),
        },
        2 => Operator::Project {
            input: input(source),
            expressions: list(source, some),
        },
        3 => Operator::Join {
            left: input(source),
            right: input(source),
            keeps_left: source.below(2) == 1,
            on: list(source, |source| (some(source), some(source))),
            condition: (source.below(2) == 1).then(|| some(source)),
        },
        4 => Operator::Union {
            inputs: list(source, |source| relation(source, depth - 1)),
        },
        5 => Operator::LimitRowsPerUnit {
            input: input(source),
            rows: source.bits(),
            read: list(source, |source| source.below(3)),
        },
        _ => Operator::Group {
            input: input(source),
            keys: list(source, some),
            aggregates: list(source, unit_aggregate),
        },
    };
    let named = matches!(operator, Operator::Scan { .. });
    Relation {
        operator,
        columns: list(source, |source| Column {
            // Only scans encode names; for other operators the decoder returns empty ones.
            name: if named { source.pick(&["x", "y"]) } else { "" }.into(),
            kind: source.pick(&Type::ALL),
            bounds: (source.below(2) == 1).then(|| bounds(source)),
        }),
        unit: list(source, |source| source.below(3)),
        one_row_per_unit: source.below(2) == 1,
    }
}

/// A plan without anything that the encoding omits.
fn plan(source: &mut Source) -> BoundedPlan {
    BoundedPlan {
        datasets: list(source, |source| source.pick(&["a", "b", ""]).into()),
        public: list(source, |source| source.pick(&["a", "b", ""]).into()),
        relation: relation(source, 3),
        keys: list(source, |source| Key {
            name: String::new(),
            expression: some(source),
            kind: source.pick(&Type::ALL),
        }),
        groups: if source.below(2) == 0 {
            Groups::Private
        } else {
            Groups::Public(list(source, |source| {
                list(source, |source| {
                    let kind = source.pick(&Type::ALL);
                    crate::common::literal(source, kind).eval(&[])
                })
            }))
        },
        groups_per_unit: source.bits(),
        group_bounding: source.pick(&[
            GroupBounding::NotNeeded,
            GroupBounding::SampleGroups,
            GroupBounding::ClipL2,
        ]),
        statistics: list(source, |source| Statistic {
            measure: measure(source),
            low: source.bits() as i64,
            high: source.bits() as i64,
        }),
        output: Output {
            aggregates: list(source, |source| Aggregate::Quantile {
                histogram: source.below(3),
                at: source.pick(&[0.0, 0.5, 1.0]),
                kind: Type::Number,
            }),
            ..Output::default()
        },
        clamping: Vec::new(),
        notes: Vec::new(),
    }
}

proptest! {
    #![proptest_config(cases(3000))]

    #[test]
    fn encoded_plans_can_be_decoded(
        choices in prop::collection::vec(any::<u32>(), 0..400),
    ) {
        let plan = plan(&mut Source::new(choices));
        let bytes = plan.canonical();
        prop_assert_eq!(&crate::decoder::plan(&bytes), &plan);
    }

    #[test]
    fn different_plans_have_different_digests(one in choices(), other in choices()) {
        let (one, other) = (plan(&mut Source::new(one)), plan(&mut Source::new(other)));
        prop_assert_eq!(one == other, one.digest() == other.digest());
    }

    #[test]
    fn post_processing_does_not_change_the_digest(choices in choices(), more in choices()) {
        let mut source = Source::new(choices);
        let plan = plan(&mut source);
        let mut shown = plan.clone();
        let mut more = Source::new(more);
        shown.clamping.push(Effect::RowsPerGroup {
            limit: 3,
            bounding: vec![],
        });
        shown.notes.push(Note::DiscoveredGroups);
        shown.output.having = Some(some(&mut more));
        shown.output.columns.push(OutputColumn {
            name: "x".into(),
            expression: some(&mut more),
            kind: Type::Text,
        });
        shown.output.order.push(Order {
            expression: some(&mut more),
            descending: true,
            nulls_first: true,
        });
        shown.output.offset = 3;
        shown.output.limit = Some(4);
        shown.output.aggregates.push(Aggregate::Count { of: 0 });
        for key in &mut shown.keys {
            key.name.push('x');
        }
        prop_assert_eq!(plan.digest(), shown.digest());
        shown.output.aggregates.push(Aggregate::Quantile {
            histogram: 0,
            at: 0.25,
            kind: Type::Number,
        });
        prop_assert_ne!(plan.digest(), shown.digest());
    }
}

/// Plans without clipping have the digests from before clipping existed, so stored answers are
/// found again.
#[test]
fn plans_without_clipping_keep_their_digest() {
    let mut plan = plan(&mut Source::new(Vec::new()));
    let mut bytes = [
        GroupBounding::NotNeeded,
        GroupBounding::SampleGroups,
        GroupBounding::ClipL2,
    ]
    .map(|group_bounding| {
        plan.group_bounding = group_bounding;
        plan.canonical()
    });
    let [none, dropped, clipped] = &mut bytes;
    let place = none
        .iter()
        .zip(&*dropped)
        .position(|(a, b)| a != b)
        .unwrap();
    assert_eq!((none[place], dropped[place], clipped[place]), (0, 1, 2));
    for bytes in [&mut *none, dropped, clipped] {
        bytes.remove(place);
    }
    assert!(none == dropped && dropped == clipped);
}

/// Casts of numbers to integers round; they truncated before, so their stored answers must not be
/// found again. The encoding of other casts is unchanged.
#[test]
fn rounding_casts_have_their_own_tag() {
    let bytes = |kind: Type| {
        let mut plan = plan(&mut Source::new(Vec::new()));
        plan.relation.columns = vec![Column {
            name: "x".into(),
            kind,
            bounds: None,
        }];
        plan.keys = vec![Key {
            name: String::new(),
            expression: Expr::Cast(Box::new(Expr::Column(0)), Type::Integer),
            kind: Type::Integer,
        }];
        plan.canonical()
    };
    // The tag of the cast, the column, its place, the type.
    let cast = |tag: u8| [&[tag, 0][..], &0_u64.to_le_bytes(), &[1]].concat();
    let has = |kind: Type, tag: u8| bytes(kind).windows(11).any(|part| part == cast(tag));
    assert!(has(Type::Number, 5) && !has(Type::Number, 4));
    assert!(has(Type::Text, 4) && !has(Type::Text, 5));
    assert!(has(Type::Date, 4) && has(Type::Boolean, 4));
}

#[test]
fn deep_plans_are_encoded() {
    let mut plan = plan(&mut Source::new(Vec::new()));
    let mut condition = Expr::integer(1);
    for _ in 0..200 {
        condition = Expr::call(Function::Not, [condition]);
    }
    for _ in 0..200 {
        let input = Box::new(plan.relation.clone());
        plan.relation.operator = Operator::Filter {
            input,
            predicate: condition.clone(),
        };
    }
    assert_eq!(
        crate::decoder::plan(&plan.canonical()).digest(),
        plan.digest()
    );
}
