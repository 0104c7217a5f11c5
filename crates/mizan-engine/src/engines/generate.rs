//! Random catalogues, data, relations and plans, all well-formed.

mod expressions;
pub(crate) mod plan_variants;

use mizan_core::SplitMix64;
use mizan_sql::{
    BoundedPlan, Bounds, Catalogue, Column, Dataset, DatasetColumn, Expr, GroupBounding, Groups,
    Key, Measure, Operator, Output, Privacy, Quantized, Relation, Statistic, Type, UnitAggregate,
    Value,
};

use self::expressions::expr;
use crate::oracle::{Data, Rows};

/// Random choices.
pub(crate) struct Rng(SplitMix64);

impl Rng {
    pub(crate) fn new(seed: u64) -> Self {
        Self(SplitMix64::new(seed))
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0.word()
    }

    /// The state, for a choice that must not change those after it.
    pub(crate) fn state(&self) -> u64 {
        self.0.state()
    }

    pub(crate) fn below(&mut self, most: usize) -> usize {
        self.0.place(most)
    }

    pub(crate) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub(crate) fn one<T: Clone>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())].clone()
    }

    pub(crate) fn salt(&mut self) -> [u8; 16] {
        ((u128::from(self.next()) << 64) | u128::from(self.next())).to_be_bytes()
    }
}

/// A value of a type, often an extreme or a repeated one.
pub(crate) fn value(rng: &mut Rng, kind: Type) -> Value {
    if rng.chance(12) {
        return Value::Null;
    }
    match kind {
        Type::Boolean => Value::Boolean(rng.chance(50)),
        Type::Integer => Value::Integer(match rng.below(10) {
            0 => rng.one(&[i64::MIN, i64::MAX, i64::MIN + 1, 1 << 53, (1 << 53) + 1, -1]),
            _ => i64::try_from(rng.below(7)).unwrap() - 2,
        }),
        Type::Number => Value::number(match rng.below(10) {
            0 => rng.one(&[
                f64::INFINITY,
                f64::NEG_INFINITY,
                f64::MAX,
                f64::MIN,
                5e-324,
                1e300,
                -9.3e18,
                0.1 + 0.2,
            ]),
            _ => f64::from(u8::try_from(rng.below(13)).unwrap()) / 4.0 - 1.0,
        }),
        Type::Text => Value::Text(
            rng.one(&[
                "a",
                "b",
                "B",
                "ab",
                " a ",
                "é",
                "a%b",
                "a\nb",
                "x'y",
                "12",
                "1.5",
                "2024-02-29",
                "true",
                "",
                "\\",
                "a\"b",
                "🦀",
            ])
            .to_owned(),
        ),
        Type::Date => Value::Date(rng.one(&[0, -1, 19_000, 19_001, 19_782, i32::MIN, i32::MAX])),
        Type::Timestamp => Value::Timestamp(rng.one(&[
            0,
            -1,
            1_700_000_000_000_000,
            1_700_000_000_000_001,
            1_709_210_096_123_456,
            i64::MIN,
            i64::MAX,
        ])),
    }
}

fn units(rng: &mut Rng, kind: Type) -> Value {
    let value = rng.below(9);
    match (kind, value) {
        (_, 0) => Value::Null,
        (Type::Integer, _) => Value::Integer(i64::try_from(value).unwrap()),
        _ => Value::Text(format!("u{value}")),
    }
}

/// Two private datasets `a` and `b`, and a public one, `p`.
pub(crate) fn catalogue(rng: &mut Rng) -> Catalogue {
    let unit = rng.one(&[Type::Text, Type::Integer]);
    let mut names = vec![("u", unit)];
    if rng.chance(25) {
        names.push(("h", Type::Integer));
    }
    let composite = names.len();
    let others = [
        ("i", Type::Integer),
        ("x", Type::Number),
        ("t", Type::Text),
        ("d", Type::Date),
        ("s", Type::Timestamp),
        ("o", Type::Boolean),
        ("a \"b", Type::Number),
    ];
    names.extend(others);
    let mut catalogue = Catalogue::default();
    for name in ["a", "b"] {
        let columns = names.iter().enumerate().map(|(place, (name, kind))| {
            let bounds = match kind {
                _ if place < composite || rng.chance(60) => None,
                Type::Integer | Type::Number => Bounds::new(-1.5, 2.0),
                Type::Date => Bounds::new(0.0, 19_500.0),
                Type::Timestamp => Bounds::new(0.0, 1.8e15),
                _ => None,
            };
            column(name, *kind, bounds)
        });
        let dataset = Dataset {
            files: Vec::new(),
            name: name.to_owned(),
            source: String::new(),
            privacy: Some(Privacy {
                unit: names[..composite]
                    .iter()
                    .map(|(name, _)| (*name).to_owned())
                    .collect(),
                account: "all".to_owned(),
                rows_per_unit: None,
                groups_per_unit: None,
            }),
            columns: columns.collect(),
        };
        catalogue.datasets.insert(name.to_owned(), dataset);
    }
    let public = Dataset {
        files: Vec::new(),
        name: "p".to_owned(),
        source: String::new(),
        privacy: None,
        columns: vec![
            column("k", Type::Text, None),
            column("w", Type::Integer, None),
        ],
    };
    catalogue.datasets.insert("p".to_owned(), public);
    catalogue
}

fn column(name: &str, kind: Type, bounds: Option<Bounds>) -> DatasetColumn {
    DatasetColumn {
        bounds,
        ..DatasetColumn::new(name, kind)
    }
}

/// Rows for the datasets of a catalogue.
pub(crate) fn data(rng: &mut Rng, catalogue: &Catalogue) -> Data {
    let mut data = Data::new();
    for (name, dataset) in &catalogue.datasets {
        let mut rows = Rows::new();
        if let Some(privacy) = &dataset.privacy {
            let units_of = privacy.unit.len();
            for _ in 0..rng.below(60) {
                let columns = dataset.columns.iter().enumerate();
                let row = columns.map(|(place, column)| {
                    if place < units_of {
                        units(rng, column.kind)
                    } else {
                        value(rng, column.kind)
                    }
                });
                rows.push(row.collect());
            }
        } else {
            for key in ["a", "b", "ab", "12"] {
                rows.push(vec![Value::Text(key.to_owned()), value(rng, Type::Integer)]);
            }
        }
        data.insert(name.clone(), rows);
    }
    data
}

/// The scan of a dataset.
pub(crate) fn scan(catalogue: &Catalogue, name: &str) -> Relation {
    let dataset = &catalogue.datasets[name];
    let columns = dataset.columns.iter();
    let unit = dataset
        .privacy
        .as_ref()
        .map_or(0, |privacy| privacy.unit.len());
    Relation {
        operator: Operator::Scan {
            dataset: name.to_owned(),
        },
        columns: columns
            .map(|column| Column {
                name: column.name.clone(),
                kind: column.kind,
                bounds: column.bounds,
            })
            .collect(),
        unit: (0..unit).collect(),
        one_row_per_unit: false,
    }
}

/// A relation with private rows.
pub(crate) fn relation(rng: &mut Rng, catalogue: &Catalogue, depth: usize) -> Relation {
    if depth == 0 {
        let name = rng.one(&["a", "b"]);
        return scan(catalogue, name);
    }
    let input = relation(rng, catalogue, depth - 1);
    match rng.below(7) {
        0 | 1 => Relation {
            operator: Operator::Filter {
                predicate: expr(rng, &input.columns, Type::Boolean, 3),
                input: Box::new(input.clone()),
            },
            ..input
        },
        2 => project(rng, input),
        3 => join_private(rng, catalogue, input),
        4 => join_public(rng, catalogue, input),
        5 => union(rng, catalogue, input),
        _ => group(rng, input),
    }
}

fn named(kinds: impl IntoIterator<Item = Type>) -> Vec<Column> {
    let kinds = kinds.into_iter().enumerate();
    kinds
        .map(|(place, kind)| Column {
            name: format!("n{place}"),
            kind,
            bounds: None,
        })
        .collect()
}

fn project(rng: &mut Rng, input: Relation) -> Relation {
    let mut kinds = Vec::new();
    let mut expressions = Vec::new();
    for _ in 0..rng.below(4) {
        let kind = rng.one(&Type::ALL);
        expressions.push(expr(rng, &input.columns, kind, 3));
        kinds.push(kind);
    }
    let mut unit = Vec::new();
    for place in &input.unit {
        unit.push(expressions.len());
        expressions.push(Expr::Column(*place));
        kinds.push(input.columns[*place].kind);
    }
    for place in 0..input.columns.len().min(5) {
        expressions.push(Expr::Column(place));
        kinds.push(input.columns[place].kind);
    }
    Relation {
        columns: named(kinds),
        unit,
        one_row_per_unit: input.one_row_per_unit,
        operator: Operator::Project {
            input: Box::new(input),
            expressions,
        },
    }
}

fn join_private(rng: &mut Rng, catalogue: &Catalogue, left: Relation) -> Relation {
    let mut right = relation(rng, catalogue, 0);
    if rng.chance(40) {
        right = group(rng, right);
    }
    let units = left.unit.iter().zip(&right.unit);
    let on = units.map(|(a, b)| (Expr::Column(*a), Expr::Column(*b)));
    let on = on.collect();
    let columns: Vec<Column> = left.columns.iter().chain(&right.columns).cloned().collect();
    Relation {
        unit: left.unit.clone(),
        one_row_per_unit: left.one_row_per_unit && right.one_row_per_unit,
        operator: Operator::Join {
            on,
            keeps_left: rng.chance(40),
            condition: rng
                .chance(30)
                .then(|| expr(rng, &columns, Type::Boolean, 2)),
            left: Box::new(left),
            right: Box::new(right),
        },
        columns,
    }
}

fn join_public(rng: &mut Rng, catalogue: &Catalogue, left: Relation) -> Relation {
    let right = scan(catalogue, "p");
    let columns: Vec<Column> = left.columns.iter().chain(&right.columns).cloned().collect();
    let unique = rng.chance(80);
    let on = if unique {
        vec![(expr(rng, &left.columns, Type::Text, 1), Expr::Column(0))]
    } else {
        vec![]
    };
    Relation {
        unit: left.unit.clone(),
        one_row_per_unit: left.one_row_per_unit && unique,
        operator: Operator::Join {
            on,
            keeps_left: rng.chance(50),
            condition: rng
                .chance(30)
                .then(|| expr(rng, &columns, Type::Boolean, 2)),
            left: Box::new(left),
            right: Box::new(right),
        },
        columns,
    }
}

fn union(rng: &mut Rng, catalogue: &Catalogue, first: Relation) -> Relation {
    let kinds: Vec<Type> = (0..3).map(|_| rng.one(&Type::ALL)).collect();
    let mut inputs = Vec::new();
    for input in [first, relation(rng, catalogue, 0)] {
        let mut expressions: Vec<Expr> = input
            .unit
            .iter()
            .map(|place| Expr::Column(*place))
            .collect();
        let mut all: Vec<Type> = input
            .unit
            .iter()
            .map(|place| input.columns[*place].kind)
            .collect();
        for kind in &kinds {
            expressions.push(expr(rng, &input.columns, *kind, 2));
            all.push(*kind);
        }
        inputs.push(Relation {
            columns: named(all),
            unit: (0..input.unit.len()).collect(),
            one_row_per_unit: input.one_row_per_unit,
            operator: Operator::Project {
                input: Box::new(input),
                expressions,
            },
        });
    }
    Relation {
        columns: inputs[0].columns.clone(),
        unit: inputs[0].unit.clone(),
        one_row_per_unit: false,
        operator: Operator::Union { inputs },
    }
}

fn group(rng: &mut Rng, input: Relation) -> Relation {
    let mut keys: Vec<Expr> = input
        .unit
        .iter()
        .map(|place| Expr::Column(*place))
        .collect();
    let mut kinds: Vec<Type> = input
        .unit
        .iter()
        .map(|place| input.columns[*place].kind)
        .collect();
    let more = rng.below(3);
    for _ in 0..more {
        let kind = rng.one(&Type::ALL);
        keys.push(expr(rng, &input.columns, kind, 2));
        kinds.push(kind);
    }
    let mut aggregates = Vec::new();
    for _ in 0..rng.below(4) {
        let kind = rng.one(&Type::ALL);
        let over = expr(rng, &input.columns, kind, 2);
        let (aggregate, makes) = match rng.below(6) {
            0 => (UnitAggregate::Rows, Type::Integer),
            1 => (UnitAggregate::Count(over), Type::Integer),
            2 => (UnitAggregate::CountDistinct(over), Type::Integer),
            3 => (UnitAggregate::Min(over), kind),
            4 => (UnitAggregate::Max(over), kind),
            _ if kind == Type::Integer => {
                let over = expr(rng, &input.columns, Type::Integer, 2);
                let how = quantized(Bounds::new(-3.0, 4.0).unwrap(), 0.0, 0);
                (UnitAggregate::Sum(over, how), Type::Integer)
            }
            _ => {
                let over = expr(rng, &input.columns, Type::Number, 2);
                let centre = rng.one(&[0.0, 0.5]);
                let how = quantized(Bounds::new(-3.0, 4.0).unwrap(), centre, -3);
                (UnitAggregate::Sum(over, how), Type::Number)
            }
        };
        aggregates.push(aggregate);
        kinds.push(makes);
    }
    Relation {
        columns: named(kinds),
        unit: (0..input.unit.len()).collect(),
        one_row_per_unit: more == 0,
        operator: Operator::Group {
            input: Box::new(input),
            keys,
            aggregates,
        },
    }
}

fn quantized(bounds: Bounds, centre: f64, exponent: i32) -> Quantized {
    Quantized {
        bounds,
        centre,
        exponent,
        squared: false,
    }
}

/// A plan over a catalogue.
pub(crate) fn plan(rng: &mut Rng, catalogue: &Catalogue) -> BoundedPlan {
    let depth = rng.below(5);
    let relation = relation(rng, catalogue, depth);
    let mut keys = Vec::new();
    for place in 0..rng.below(3) {
        let kind = rng.one(&Type::ALL);
        keys.push(Key {
            name: format!("k{place}"),
            expression: expr(rng, &relation.columns, kind, 2),
            kind,
        });
    }
    let private = !keys.is_empty() && rng.chance(50);
    let groups = if private {
        Groups::Private
    } else if keys.is_empty() {
        Groups::Public(vec![vec![]])
    } else {
        let row = |rng: &mut Rng| keys.iter().map(|key| value(rng, key.kind)).collect();
        Groups::Public((0..1 + rng.below(6)).map(|_| row(rng)).collect())
    };
    let mut statistics = Vec::new();
    if private {
        statistics.push(Statistic {
            measure: Measure::Units,
            low: 0,
            high: 1,
        });
    }
    for _ in 0..1 + rng.below(4) {
        statistics.push(statistic(rng, &relation.columns));
    }
    let capped = !keys.is_empty() && !relation.one_row_per_unit;
    BoundedPlan {
        datasets: vec!["a".into(), "b".into()],
        public: vec!["p".into()],
        groups_per_unit: if capped { 1 + rng.next() % 3 } else { 1 },
        group_bounding: if capped {
            GroupBounding::SampleGroups
        } else {
            GroupBounding::NotNeeded
        },
        relation,
        keys,
        groups,
        statistics,
        output: Output::default(),
        clamping: vec![],
        notes: vec![],
    }
}

fn statistic(rng: &mut Rng, columns: &[Column]) -> Statistic {
    let kind = rng.one(&Type::ALL);
    let over = expr(rng, columns, kind, 2);
    let numeric = rng.one(&[Type::Integer, Type::Number, Type::Date, Type::Timestamp]);
    let number = expr(rng, columns, numeric, 2);
    let mut how = match numeric {
        Type::Date => quantized(Bounds::new(-10.0, 20_000.0).unwrap(), 9000.0, 2),
        Type::Timestamp => quantized(Bounds::new(0.0, 1.8e15).unwrap(), 0.0, 31),
        Type::Integer => quantized(Bounds::new(-3.0, 5.0).unwrap(), 1.0, 0),
        _ => quantized(Bounds::new(-0.7, 1.9).unwrap(), 0.6, -9),
    };
    let high = 1 + i64::try_from(rng.below(4)).unwrap();
    let count = |measure| Statistic {
        measure,
        low: 0,
        high,
    };
    match rng.below(6) {
        0 => Statistic {
            measure: Measure::Units,
            low: 0,
            high: 1,
        },
        1 => count(Measure::Rows),
        2 => count(Measure::Count(over)),
        3 => count(Measure::Distinct(over)),
        4 => count(Measure::Histogram(number, how)),
        _ => {
            how.squared = how.exponent < 0 && rng.chance(30);
            let (low, most) = how.range();
            let measure = if rng.chance(50) {
                Measure::Scaled(number, how, high)
            } else {
                Measure::Sum(number, how)
            };
            Statistic {
                measure,
                low: low.min(0) * high,
                high: most.max(0) * high,
            }
        }
    }
}
