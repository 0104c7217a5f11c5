//! Partial results in any number and order, compared with a simple implementation.

use std::collections::BTreeMap;
use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, Int64Array, StringViewArray};
use datafusion::arrow::datatypes::{DataType, Field, Schema};
use mizan_sql::Clip;

use super::sums::Sums;
use super::*;
use crate::engines::statement::{Contribution, ContributionKind};
use crate::sampling_hash::hash;

const SALT: Salt = [3; 16];

type Row = (i64, Option<String>, Option<i64>);

/// The group limit for sampling, or the clip.
type Cap = (Option<u64>, Option<Clip>);

fn spec((most, clip): Cap) -> PerUnit {
    let of = |of, low, high| Contribution { of, low, high };
    PerUnit {
        rows_sql: String::new(),
        units: 1,
        keys: 1,
        most,
        clip,
        contributions: vec![
            of(ContributionKind::Unit, 0, 1),
            of(ContributionKind::Rows, 0, 3),
            of(ContributionKind::Count(0), 0, 2),
            of(ContributionKind::Sum(0), -40, 40),
            of(ContributionKind::Scaled(0, 2), -1_000, 1_000),
        ],
        light_units: None,
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

/// By key: the number of units, then the totals.
fn obvious(rows: &[Row], spec: &PerUnit) -> BTreeMap<Value, Vec<i64>> {
    type Values = Vec<Option<i64>>;
    let mut units: BTreeMap<i64, BTreeMap<Value, Values>> = BTreeMap::new();
    for (unit, key, value) in rows {
        let groups = units.entry(*unit).or_default();
        groups.entry(key_of(key)).or_default().push(*value);
    }
    let mut totals: BTreeMap<Value, Vec<i64>> = BTreeMap::new();
    let most = spec.most.unwrap_or(u64::MAX);
    let kept = usize::try_from(most).unwrap_or(usize::MAX);
    for (unit, groups) in units {
        let mut ranked: Vec<(Value, Values)> = groups.into_iter().collect();
        ranked.sort_by_key(|(key, _)| {
            (
                hash(&SALT, &[Value::Integer(unit), key.clone()]),
                key.clone(),
            )
        });
        let mut of_groups: Vec<(Value, Vec<i64>)> = Vec::new();
        for (key, values) in ranked.into_iter().take(kept) {
            let rows = i64::try_from(values.len()).unwrap();
            let there: Vec<i64> = values.into_iter().flatten().collect();
            let count = i64::try_from(there.len()).unwrap();
            let sum: i64 = there.iter().sum();
            let of_unit = spec.contributions.iter().map(|contribution| {
                let total = match contribution.of {
                    ContributionKind::Unit => 1,
                    ContributionKind::Rows => rows,
                    ContributionKind::Count(_) => count,
                    // Counts are small here: doubles and integers round alike.
                    ContributionKind::Scaled(_, rows) if count > rows => {
                        (sum * rows).div_euclid(count)
                    }
                    ContributionKind::Sum(_) | ContributionKind::Scaled(..) => sum,
                };
                total.clamp(contribution.low, contribution.high)
            });
            let of_unit: Vec<i64> = std::iter::once(1).chain(of_unit).collect();
            of_groups.push((key, of_unit));
        }
        if let Some(clip) = spec.clip {
            let sensitivities = spec.contributions.iter().map(Contribution::sensitivity);
            let sensitivities: Vec<i64> =
                sensitivities.map(|b| i64::try_from(b).unwrap()).collect();
            let squares = of_groups.iter().flat_map(|(_, of_unit)| {
                let pairs = of_unit.iter().skip(1).zip(&sensitivities);
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
            let total = totals.entry(key).or_insert_with(|| vec![0; of_unit.len()]);
            for (total, of_unit) in total.iter_mut().zip(of_unit) {
                *total += of_unit;
            }
        }
    }
    totals
}

/// Rows distributed over partial results, in small batches.
fn round_robin<P: Part>(rows: &[Row], parts: usize, empty: impl Fn() -> P) -> Vec<P> {
    let mut round_robin: Vec<P> = (0..parts).map(|_| empty()).collect();
    for (place, rows) in rows.chunks(61).enumerate() {
        // The last part is empty, unless it is the only one.
        let part = place * place % parts.saturating_sub(1).max(1);
        round_robin[part].add(&batch(rows)).unwrap();
    }
    round_robin
}

fn heavy_totals(rows: &[Row], parts: usize, spec: &PerUnit) -> UnitGroupTotals {
    let schema = batch(&[]).schema();
    let parts = round_robin(rows, parts, || UnitGroupTotals::new(&schema, spec).unwrap());
    merged(parts).unwrap().unwrap()
}

fn by_key(sums: Sums) -> BTreeMap<Value, Vec<i64>> {
    let rows = sums.rows().unwrap().into_iter().map(|row| {
        let numbers = row[1..].iter().map(|value| match value {
            Value::Integer(value) => *value,
            other => panic!("{other:?}"),
        });
        (row[0].clone(), numbers.collect())
    });
    rows.collect()
}

/// Random numbers below a given bound.
fn dice() -> impl FnMut(u64) -> i64 {
    let mut state = 1_u64;
    move |most| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        i64::try_from((state >> 33) % most).unwrap()
    }
}

#[test]
fn parts_add_up_to_the_same_in_any_number() {
    // Few groups, many groups, and so many that a table would be mostly empty; ids that are
    // close together, and far apart.
    for (units, groups, apart) in [(50, 5, 1), (400, 70, 3), (5_000, 3_000, 1 << 40)] {
        let mut next = dice();
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
        let expected = caps.map(|cap| obvious(&rows, &spec(cap)));
        for (cap, expected) in caps.iter().zip(&expected) {
            let spec = spec(*cap);
            for parts in [1, 2, 7, 16] {
                let found = heavy_totals(&rows, parts, &spec).sums(&spec, &SALT);
                let found = by_key(found.unwrap());
                assert!(found == *expected, "{units} {groups} {parts} {cap:?}");
            }
        }
        // Clipping removes no group and reduces some totals.
        assert!(expected[0].keys().eq(expected[2].keys()));
        let whole = expected[0].values().map(|totals| totals[1]).sum::<i64>();
        let clipped = expected[2].values().map(|totals| totals[1]).sum::<i64>();
        assert!(clipped < 1024 * whole && clipped > 200 * whole);
    }
}

/// Most people are light units, and some are heavy.
#[test]
fn light_units_need_no_bounding() {
    let of = |of, low, high| Contribution { of, low, high };
    let mut next = dice();
    let mut rows: Vec<Row> = Vec::new();
    for unit in 0..3_000 {
        let number = if next(20) == 0 { 3 + next(30) } else { next(4) };
        for _ in 0..number {
            let key = next(9);
            let value = (next(4) > 0).then(|| next(101) - 50);
            rows.push((unit, (key > 0).then(|| format!("group {key}")), value));
        }
    }
    for place in 0..rows.len() {
        let other = usize::try_from(next(rows.len() as u64)).unwrap();
        rows.swap(place, other);
    }
    let spec = PerUnit {
        contributions: vec![
            of(ContributionKind::Rows, 0, 3),
            of(ContributionKind::Count(0), 0, 4),
            of(ContributionKind::Sum(0), -150, 150),
            of(ContributionKind::Scaled(0, 3), -150, 150),
        ],
        ..spec((None, None))
    };
    let listed: Vec<Row> = rows.iter().filter(|row| row.1.is_some()).cloned().collect();
    let expected = obvious(&listed, &spec);
    // All but one group.
    let groups = (1..9).map(|key| vec![Value::Text(format!("group {key}"))]);
    let light = LightUnits {
        dataset: None,
        max_rows: 3,
        ungrouped_sql: String::new(),
        groups: groups.collect(),
        heavy_unit_split: Default::default(),
    };
    let listed = PublicGroups::new(1, &light.groups).unwrap().unwrap();
    let schema = batch(&[]).schema();
    let heavy = CountMin::of_units(batch(&rows).column(0)).more_than(light.max_rows);
    let heavy = Some(Arc::new(heavy.unwrap()));
    let known = || HeavyUnitState::Known(heavy.clone());
    let counting = || {
        HeavyUnitState::Counting(
            CountMin::default(),
            RowBuffer::new(Arc::new((1 << 20).into())),
        )
    };
    for parts in [1, 2, 7] {
        for heavy_units in [&known as &dyn Fn() -> HeavyUnitState, &counting] {
            let empty = || GroupTotals::new(&schema, &spec, listed.clone(), heavy_units()).unwrap();
            let mut parts = round_robin(&rows, parts, empty);
            // Parts that know the heavy units have no sketch.
            let sketches = parts.iter_mut().map(GroupTotals::take_sketch);
            let sketches: Result<Vec<CountMin>> = sketches.collect();
            let sketch = sketches.ok().and_then(|all| merged(all).unwrap());
            let counted = sketch.and_then(|sketch| sketch.more_than(light.max_rows));
            let parts = parts
                .into_iter()
                .map(|part| part.with_heavy_units(counted.as_ref()));
            let parts = parts.collect::<Result<Vec<_>>>().unwrap();
            let found = merged(parts).unwrap().unwrap().sums(&spec, &light, &SALT);
            let found = by_key(found.unwrap());
            // The number of light units is not known.
            let totals = |found: BTreeMap<Value, Vec<i64>>| {
                let groups = found.into_iter().map(|(key, row)| (key, row[1..].to_vec()));
                groups.collect::<BTreeMap<Value, Vec<i64>>>()
            };
            assert_eq!(totals(found), totals(expected.clone()));
        }
    }
    // Group sampling and clipping need the keys of groups.
    for cap in [(Some(3), None), (None, Some(Clip::new(2, 5)))] {
        assert!(GroupTotals::new(&schema, &self::spec(cap), listed.clone(), known()).is_err());
    }
}

#[test]
fn the_row_buffer_is_bounded() {
    let long = |_| (7, Some("a group whose name is long".to_owned()), Some(1));
    let rows: Vec<Row> = (0..100).map(long).collect();
    let rows = batch(&rows);
    let bytes = rows.get_array_memory_size();
    let mut kept = RowBuffer::new(Arc::new((3 * bytes).into()));
    kept.add(&rows).unwrap();
    let full = (0..100).find_map(|_| kept.add(&rows).err());
    assert!(matches!(full, Some(DataFusionError::ResourcesExhausted(_))));
    let kept = kept.into_batches();
    // Their texts are as before, without spare capacity.
    let taken: usize = kept.iter().map(RecordBatch::get_array_memory_size).sum();
    assert!(taken <= 3 * bytes && taken > 2 * bytes, "{taken} {bytes}");
    assert!(kept.iter().all(|kept| *kept == rows));
}

#[test]
fn without_rows_there_are_no_groups() {
    let cap = (Some(1), None);
    let none = heavy_totals(&[], 3, &spec(cap)).sums(&spec(cap), &SALT);
    assert!(by_key(none.unwrap()).is_empty());
    let schema = batch(&[]).schema();
    let spec = PerUnit {
        keys: 0,
        ..spec((Some(1), None))
    };
    let schema = schema.project(&[0, 2]).map(Arc::new).unwrap();
    let part = UnitGroupTotals::new(&schema, &spec).unwrap();
    assert!(part.sums(&spec, &SALT).unwrap().rows().unwrap().is_empty());
}
