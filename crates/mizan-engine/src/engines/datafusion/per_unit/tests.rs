//! Parts of rows, in any number and order, against sums the obvious way.

use std::collections::BTreeMap;
use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, Int64Array, StringViewArray};
use datafusion::arrow::datatypes::{DataType, Field, Schema};

use super::*;
use crate::engines::statement::{Contribution, Of};
use crate::order::hash;

const SALT: Salt = [3; 16];

type Row = (i64, Option<String>, Option<i64>);

fn asked(most: Option<u64>) -> PerUnit {
    let of = |of, low, high| Contribution { of, low, high };
    PerUnit {
        rows: String::new(),
        units: 1,
        keys: 1,
        most,
        contributions: vec![
            of(Of::Unit, 0, 1),
            of(Of::Rows, 0, 3),
            of(Of::Count(0), 0, 2),
            of(Of::Sum(0), -40, 40),
            of(Of::Scaled(0, 2), -1_000, 1_000),
        ],
    }
}

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
fn obvious(rows: &[Row], most: Option<u64>) -> BTreeMap<Value, [i64; 6]> {
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
            let total = totals.entry(key).or_default();
            for (total, of_unit) in total.iter_mut().zip(of_unit) {
                *total += of_unit;
            }
        }
    }
    totals
}

/// Rows dealt out to so many parts, in small batches.
fn by_parts(rows: &[Row], parts: usize, most: Option<u64>) -> BTreeMap<Value, [i64; 6]> {
    let asked = asked(most);
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
        for most in [None, Some(2)] {
            let expected = obvious(&rows, most);
            for parts in [1, 2, 7, 16] {
                let found = by_parts(&rows, parts, most);
                assert!(found == expected, "{units} {groups} {parts} {most:?}");
            }
        }
    }
}

#[test]
fn nobody_is_in_no_group() {
    assert!(by_parts(&[], 3, Some(1)).is_empty());
    let schema = batch(&[]).schema();
    let asked = PerUnit {
        keys: 0,
        ..asked(Some(1))
    };
    let part = Part::new(&schema.project(&[0, 2]).map(Arc::new).unwrap(), &asked).unwrap();
    assert!(part.per_group(&asked, &SALT).unwrap().is_empty());
}
