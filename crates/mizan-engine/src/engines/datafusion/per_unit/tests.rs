//! Parts of rows, in any number and order, against sums the obvious way.

use std::collections::BTreeMap;
use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, Int64Array, StringViewArray};
use datafusion::arrow::datatypes::{DataType, Field, Schema};
use mizan_sql::Clip;

use super::*;
use crate::engines::statement::{Contribution, Of};
use crate::order::hash;

const SALT: Salt = [3; 16];

type Row = (i64, Option<String>, Option<i64>);

/// How many groups of a unit count, or to what it is clipped.
type Cap = (Option<u64>, Option<Clip>);

fn asked((most, clip): Cap) -> PerUnit {
    let of = |of, low, high| Contribution { of, low, high };
    PerUnit {
        rows: String::new(),
        units: 1,
        keys: 1,
        most,
        clip,
        contributions: vec![
            of(Of::Unit, 0, 1),
            of(Of::Rows, 0, 3),
            of(Of::Count(0), 0, 2),
            of(Of::Sum(0), -40, 40),
            of(Of::Scaled(0, 2), -1_000, 1_000),
        ],
    }
}

/// Of units, which are not clipped, and of what is asked.
const SENSITIVITIES: [i64; 6] = [1, 1, 3, 2, 40, 1_000];

fn batch(rows: &[Row]) -> RecordBatch {
    let schema = Schema::new(vec![
        Field::new("u0", DataType::Int64, true),
        Field::new("k0", DataType::Utf8View, true),
        Field::new("v0", DataType::Int64, true),
    ]);
    let units: Int64Array = rows.iter().map(|row| Some(row.0)).collect();
    let keys: StringViewArray = rows.iter().map(|row| row.1.as_deref()).collect();
    let values: Int64Array = rows.iter().map(|row| row.2).collect();
    let columns: Vec<ArrayRef> = vec![Arc::new(units), Arc::new(keys), Arc::new(values)];
    RecordBatch::try_new(Arc::new(schema), columns).unwrap()
}

fn key_of(key: &Option<String>) -> Value {
    key.clone().map_or(Value::Null, Value::Text)
}

/// Units, then the totals of what is asked, by key.
fn obvious(rows: &[Row], (most, clip): Cap) -> BTreeMap<Value, [i64; 6]> {
    type Values = Vec<Option<i64>>;
    let mut units: BTreeMap<i64, BTreeMap<Value, Values>> = BTreeMap::new();
    for (unit, key, value) in rows {
        let groups = units.entry(*unit).or_default();
        groups.entry(key_of(key)).or_default().push(*value);
    }
    let mut totals: BTreeMap<Value, [i64; 6]> = BTreeMap::new();
    let kept = most.map_or(usize::MAX, |most| usize::try_from(most).unwrap());
    for (unit, groups) in units {
        let mut ranked: Vec<(Value, Values)> = groups.into_iter().collect();
        ranked.sort_by_key(|(key, _)| {
            (
                hash(&SALT, &[Value::Integer(unit), key.clone()]),
                key.clone(),
            )
        });
        let mut of_groups: Vec<(Value, [i64; 6])> = Vec::new();
        for (key, values) in ranked.into_iter().take(kept) {
            let rows = i64::try_from(values.len()).unwrap();
            let there: Vec<i64> = values.into_iter().flatten().collect();
            let count = i64::try_from(there.len()).unwrap();
            let sum: i64 = there.iter().sum();
            // What is counted here is small: doubles and integers round alike.
            let scaled = if count > 2 {
                (sum * 2).div_euclid(count)
            } else {
                sum
            };
            let of_unit = [
                1,
                1,
                rows.min(3),
                count.min(2),
                sum.clamp(-40, 40),
                scaled.clamp(-1_000, 1_000),
            ];
            of_groups.push((key, of_unit));
        }
        if let Some(clip) = clip {
            let squares = of_groups.iter().flat_map(|(_, of_unit)| {
                let pairs = of_unit.iter().zip(SENSITIVITIES).skip(1);
                pairs.map(|(of_unit, b)| (((of_unit.abs() << 15) + b - 1) / b).pow(2))
            });
            let factor = clip.factor(squares.sum());
            for (_, of_unit) in &mut of_groups {
                for of_unit in &mut of_unit[1..] {
                    *of_unit = *of_unit * 1024 * factor / (1 << 20);
                }
            }
        }
        for (key, of_unit) in of_groups {
            let total = totals.entry(key).or_default();
            for (total, of_unit) in total.iter_mut().zip(of_unit) {
                *total += of_unit;
            }
        }
    }
    totals
}

/// Rows dealt out to so many parts, in small batches.
fn by_parts(rows: &[Row], parts: usize, cap: Cap) -> BTreeMap<Value, [i64; 6]> {
    let asked = asked(cap);
    let schema = batch(&[]).schema();
    let mut dealt: Vec<Part> = (0..parts)
        .map(|_| Part::new(&schema, &asked).unwrap())
        .collect();
    for (place, rows) in rows.chunks(61).enumerate() {
        // The last part has nothing, unless it is the only one.
        let part = place * place % parts.saturating_sub(1).max(1);
        dealt[part].add(&batch(rows)).unwrap();
    }
    let whole = dealt
        .into_iter()
        .reduce(|one, other| one.merged(other).unwrap());
    let rows = whole.unwrap().per_group(&asked, &SALT).unwrap();
    let rows = rows.into_iter().map(|row| {
        let numbers = row[1..].iter().map(|value| match value {
            Value::Integer(value) => *value,
            other => panic!("{other:?}"),
        });
        let numbers: Vec<i64> = numbers.collect();
        (row[0].clone(), numbers.try_into().unwrap())
    });
    rows.collect()
}

#[test]
fn parts_add_up_to_the_same_in_any_number() {
    // Few groups, many, and so many that the table would be empty; ids that lie
    // close together, and far apart.
    for (units, groups, apart) in [(50, 5, 1), (400, 70, 3), (5_000, 3_000, 1 << 40)] {
        let mut state = 1_u64;
        let mut next = |most: u64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            i64::try_from((state >> 33) % most).unwrap()
        };
        let rows: Vec<Row> = (0..12_000)
            .map(|_| {
                let key = next(groups);
                let key = (key > 0).then(|| format!("group {key}, with a text of some length"));
                let value = (next(4) > 0).then(|| next(101) - 50);
                ((next(units) - 20) * apart, key, value)
            })
            .collect();
        let clip = Clip::new(2, 5);
        let caps = [(None, None), (Some(2), None), (None, Some(clip))];
        let expected = caps.map(|cap| obvious(&rows, cap));
        for (cap, expected) in caps.iter().zip(&expected) {
            for parts in [1, 2, 7, 16] {
                let found = by_parts(&rows, parts, *cap);
                assert!(found == *expected, "{units} {groups} {parts} {cap:?}");
            }
        }
        // All that is clipped is there, and some of it is less.
        assert!(expected[0].keys().eq(expected[2].keys()));
        let whole = expected[0].values().map(|totals| totals[1]).sum::<i64>();
        let clipped = expected[2].values().map(|totals| totals[1]).sum::<i64>();
        assert!(clipped < 1024 * whole && clipped > 200 * whole);
    }
}

#[test]
fn nobody_is_in_no_group() {
    assert!(by_parts(&[], 3, (Some(1), None)).is_empty());
    let schema = batch(&[]).schema();
    let asked = PerUnit {
        keys: 0,
        ..asked((Some(1), None))
    };
    let part = Part::new(&schema.project(&[0, 2]).map(Arc::new).unwrap(), &asked).unwrap();
    assert!(part.per_group(&asked, &SALT).unwrap().is_empty());
}
