//! Partial results in any number and order, compared with a simple implementation.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, Int64Array, StringViewArray};
use datafusion::arrow::datatypes::{DataType, Field, Schema};
use mizan_sql::{Catalogue, Expr, Groups, Key, Type, Value};

use super::sums::Sums;
use super::*;
use crate::engines::datafusion::tests::files::catalogue;
use crate::engines::generate;
use crate::exact::Cell;
use crate::oracle::{self, Data};
use crate::unit_aggregation::{
    Contribution, ContributionKind, GroupStatistic, RowValue, UnitBounding,
};

const SALT: Salt = [3; 16];

type Row = (i64, Option<String>, Option<i64>);

/// Sums of rows of (unit, key, value).
fn sums_of(bounding: UnitBounding, contributions: Vec<Contribution>) -> UnitAggregation {
    UnitAggregation {
        input: generate::scan(&table(), "t"),
        keys: vec![Key {
            name: "k0".to_owned(),
            expression: Expr::Column(1),
            kind: Type::Text,
        }],
        groups: Groups::Private,
        values: vec![RowValue {
            expression: Expr::Column(2),
            quantized: None,
        }],
        statistics: (0..contributions.len()).map(GroupStatistic::Sum).collect(),
        contributions,
        bounding,
    }
}

/// Sums of every kind, which many units exceed.
fn spec(bounding: UnitBounding) -> UnitAggregation {
    let of = |of, low, high| Contribution { of, low, high };
    let contributions = vec![
        of(ContributionKind::Unit, 0, 1),
        of(ContributionKind::Rows, 0, 3),
        of(ContributionKind::Count(0), 0, 2),
        of(ContributionKind::Sum(0), -40, 40),
        of(ContributionKind::Scaled(0, 2), -1_000, 1_000),
    ];
    sums_of(bounding, contributions)
}

fn table() -> Catalogue {
    let columns = [
        ("u", Type::Integer),
        ("k", Type::Text),
        ("v", Type::Integer),
    ];
    catalogue(Path::new(""), &columns)
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

/// The totals by key, as the oracle computes them.
fn expected(rows: &[Row], spec: &UnitAggregation) -> BTreeMap<Value, Vec<i64>> {
    let rows = rows.iter().map(|(unit, key, value)| {
        let key = key.clone().map_or(Value::Null, Value::Text);
        let value = value.map_or(Value::Null, Value::Integer);
        vec![Value::Integer(*unit), key, value]
    });
    let data = Data::from([("t".to_owned(), rows.collect())]);
    let exact = oracle::evaluate(spec, &table(), &data, &SALT).into_iter();
    let totals = |cells: Vec<Cell>| {
        let totals = cells.into_iter().map(|cell| match cell {
            Cell::Integer(total) => total,
            Cell::Histogram(_) => panic!("a histogram"),
        });
        totals.collect()
    };
    exact
        .map(|(key, cells)| (key[0].clone(), totals(cells)))
        .collect()
}

/// Rows distributed over partial results, in small batches.
fn round_robin<P: PartialResult>(rows: &[Row], parts: usize, empty: impl Fn() -> P) -> Vec<P> {
    let mut round_robin: Vec<P> = (0..parts).map(|_| empty()).collect();
    for (place, rows) in rows.chunks(61).enumerate() {
        // The last part is empty, unless it is the only one.
        let part = place * place % parts.saturating_sub(1).max(1);
        round_robin[part].add(&batch(rows)).unwrap();
    }
    round_robin
}

fn heavy_totals(rows: &[Row], parts: usize, spec: &UnitAggregation) -> UnitGroupTotals {
    let schema = batch(&[]).schema();
    let parts = round_robin(rows, parts, || UnitGroupTotals::new(&schema, spec).unwrap());
    merged(parts).unwrap().unwrap()
}

/// The totals by key. The number before them is of rows or of units.
fn by_key(sums: Sums) -> BTreeMap<Value, Vec<i64>> {
    let rows = sums.rows().unwrap().into_iter().map(|row| {
        let numbers = row[2..].iter().map(|value| match value {
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
        let caps = [
            UnitBounding::NotNeeded,
            UnitBounding::SampleGroups(2),
            UnitBounding::ClipL2(2),
        ];
        let expected = caps.map(|cap| expected(&rows, &spec(cap)));
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
        let whole = expected[0].values().map(|totals| totals[0]).sum::<i64>();
        let clipped = expected[2].values().map(|totals| totals[0]).sum::<i64>();
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
    let contributions = vec![
        of(ContributionKind::Rows, 0, 3),
        of(ContributionKind::Count(0), 0, 4),
        of(ContributionKind::Sum(0), -150, 150),
        of(ContributionKind::Scaled(0, 3), -150, 150),
    ];
    let mut spec = sums_of(UnitBounding::NotNeeded, contributions);
    // All but one group.
    let groups = (1..9).map(|key| vec![Value::Text(format!("group {key}"))]);
    spec.groups = Groups::Public(groups.collect());
    let expected = expected(&rows, &spec);
    let listed = PublicGroups::new(1, spec.public_groups());
    let listed = listed.unwrap().unwrap();
    let schema = batch(&[]).schema();
    let heavy = CountMin::of_units(batch(&rows).column(0)).more_than(3);
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
            let counted = sketch.and_then(|sketch| sketch.more_than(3));
            let parts = parts
                .into_iter()
                .map(|part| part.with_heavy_units(counted.as_ref()));
            let parts = parts.collect::<Result<Vec<_>>>().unwrap();
            let found = merged(parts).unwrap().unwrap().sums(&spec, &SALT);
            assert_eq!(by_key(found.unwrap()), expected);
        }
    }
    // Group sampling and clipping need the keys of groups.
    for cap in [UnitBounding::SampleGroups(3), UnitBounding::ClipL2(2)] {
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
    let mut spec = spec(UnitBounding::SampleGroups(1));
    let none = heavy_totals(&[], 3, &spec).sums(&spec, &SALT);
    assert!(by_key(none.unwrap()).is_empty());
    let schema = batch(&[]).schema();
    spec.keys.clear();
    let schema = schema.project(&[0, 2]).map(Arc::new).unwrap();
    let part = UnitGroupTotals::new(&schema, &spec).unwrap();
    assert!(part.sums(&spec, &SALT).unwrap().rows().unwrap().is_empty());
}
