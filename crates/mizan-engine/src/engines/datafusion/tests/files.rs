//! Files: malformed CSV, Parquet of every type, versions.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use datafusion::arrow::array::{
    Array, ArrayRef, Date64Array, Decimal128Array, DictionaryArray, Float32Array, Int32Array,
    LargeStringArray, RecordBatch, StringArray, StructArray, TimestampMillisecondArray,
    TimestampNanosecondArray, UInt64Array,
};
use datafusion::arrow::datatypes::{DataType, Field, Int8Type};
use mizan_sql::{
    BoundedPlan, Bounds, Catalogue, Dataset, DatasetColumn, Expr, GroupBounding, Groups, Key,
    Measure, Output, Privacy, Statistic, Type, Value,
};
use parquet::arrow::ArrowWriter;

use super::super::{DataFusion, inspect};
use crate::engine::{Engine, EngineError};
use crate::engines::generate;
use crate::exact::{Cell, ExactAggregates, ExecutionPath};

pub(in crate::engines) fn catalogue(path: &Path, columns: &[(&str, Type)]) -> Catalogue {
    let columns = columns
        .iter()
        .map(|(name, kind)| DatasetColumn::new(*name, *kind));
    let dataset = Dataset {
        files: Vec::new(),
        name: "t".into(),
        source: path.to_str().unwrap().into(),
        privacy: Some(Privacy {
            unit: vec!["u".into()],
            account: "all".into(),
            rows_per_unit: None,
            groups_per_unit: None,
        }),
        columns: columns.collect(),
    };
    Catalogue {
        datasets: [("t".to_owned(), dataset)].into(),
    }
}

/// A plan that counts the units for each value of the last column.
pub(in crate::engines) fn by_last(catalogue: &Catalogue) -> BoundedPlan {
    let relation = generate::scan(catalogue, "t");
    let last = relation.columns.len() - 1;
    let kind = relation.columns[last].kind;
    BoundedPlan {
        datasets: vec!["t".into()],
        public: vec![],
        relation,
        keys: vec![Key {
            name: "k".into(),
            expression: Expr::Column(last),
            kind,
        }],
        groups: Groups::Private,
        groups_per_unit: 1000,
        group_bounding: GroupBounding::NotNeeded,
        statistics: vec![Statistic {
            measure: Measure::Units,
            low: 0,
            high: 1,
        }],
        output: Output::default(),
        clamping: vec![],
        notes: vec![],
    }
}

pub(in crate::engines) fn run(catalogue: &Catalogue) -> Result<ExactAggregates, EngineError> {
    let engine = DataFusion::with_partitions(2)?;
    let version = engine.version(&catalogue.datasets["t"])?;
    let execution = engine.run(&by_last(catalogue), catalogue, &[version], [1; 16])?;
    assert_eq!(execution.path, ExecutionPath::Operators);
    Ok(execution.exact)
}

/// The values of the last column with the number of units of each.
pub(in crate::engines) fn counts(catalogue: &Catalogue) -> Vec<(Value, i64)> {
    let exact = run(catalogue).unwrap().into_iter();
    exact
        .map(|(mut key, cells)| match cells[0] {
            Cell::Integer(count) => (key.remove(0), count),
            Cell::Histogram(_) => unreachable!(),
        })
        .collect()
}

#[test]
fn any_bytes_are_csv() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a [1] %20#?.csv");
    let long = "x".repeat(mizan_sql::LONGEST_STORED_TEXT + 1);
    let text = [
        b"\xef\xbb\xbfu,\"the, name\",x\r\n".as_slice(),
        b"1,a,5\r\n2,\"b\"\"q\r\n\",6,more,and more\n",
        b"3\n",
        b"4,z\n\n\n",
        b"5,\xff\xfe,7\n",
        b",unnamed,8\n",
        b"6,y,nine\n7,y, 5 \n8,y,1e400\n",
        b"9,",
        long.as_bytes(),
        b",11\n10,\"open,\n quote,12",
    ]
    .concat();
    std::fs::write(&path, text).unwrap();
    let names = inspect(&path).unwrap();
    assert_eq!(names.columns[0], ("u".to_owned(), None));
    assert_eq!(names.columns[1], ("the, name".to_owned(), None));
    let columns = [("u", Type::Integer), ("x", Type::Number)];
    let found = counts(&catalogue(&path, &columns));
    let number = |value: f64| Value::Number(value);
    assert_eq!(
        found,
        [
            (Value::Null, 5),
            (number(5.0), 2),
            (number(6.0), 1),
            (number(7.0), 1),
            (number(11.0), 1),
        ]
    );
    let columns = [("u", Type::Text), ("the, name", Type::Text)];
    let found = counts(&catalogue(&path, &columns));
    let text = |value: &str| Value::Text(value.into());
    assert_eq!(
        found,
        [
            (Value::Null, 3),
            (text("a"), 1),
            (text("b\"q\r\n"), 1),
            (text("open,\n quote,12"), 1),
            (text("y"), 3),
            (text("z"), 1),
        ]
    );
}

#[test]
fn headers_are_checked() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.csv");
    for (text, code) in [
        ("", "MZ1904"),
        ("\n\n", "MZ1904"),
        ("u,u\n1,2\n", "MZ1904"),
        ("u,,x\n", "MZ1904"),
        ("v,x\n", "MZ1906"),
    ] {
        std::fs::write(&path, text).unwrap();
        let catalogue = catalogue(&path, &[("u", Type::Text), ("x", Type::Text)]);
        assert_eq!(run(&catalogue).unwrap_err().code(), code, "{text:?}");
    }
    std::fs::write(&path, "u,x\n").unwrap();
    let catalogue = catalogue(&path, &[("u", Type::Text), ("x", Type::Text)]);
    assert!(run(&catalogue).unwrap().is_empty());
    std::fs::write(&path, "u".repeat(2 << 20)).unwrap();
    assert_eq!(inspect(&path).unwrap_err().code(), "MZ1904");
}

/// Headers that are the whole file: no more is read than a header can have.
#[test]
fn long_headers_are_refused_early() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.csv");
    let names = |number: usize| {
        let names: Vec<String> = (0..number).map(|name| format!("c{name}")).collect();
        names.join(",") + "\n"
    };
    let refused = |reason: &str| {
        let error = inspect(&path).unwrap_err();
        assert_eq!(error.code(), "MZ1904");
        assert!(error.to_string().contains(reason), "{error}");
    };
    std::fs::write(&path, names(10_000)).unwrap();
    assert_eq!(inspect(&path).unwrap().columns.len(), 10_000);
    for number in [10_001, 100_000] {
        std::fs::write(&path, names(number)).unwrap();
        refused("10,000 names");
    }
    // With the line end, a header of 1 MiB, and one byte more.
    let quoted = |length: usize| format!("u,\"{}\"\n1,2\n", "x".repeat(length - 5));
    std::fs::write(&path, quoted(1 << 20)).unwrap();
    assert_eq!(inspect(&path).unwrap().columns.len(), 2);
    std::fs::write(&path, quoted((1 << 20) + 1)).unwrap();
    refused("megabyte");
    // Many bytes that are quickly written: a quote that stays open, and one name.
    for start in ["u,\"", "u"] {
        std::fs::write(&path, start).unwrap();
        let file = File::options().write(true).open(&path).unwrap();
        file.set_len(1 << 38).unwrap();
        refused("megabyte");
    }
}

#[test]
fn a_directory_is_one_dataset() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("1.csv"), "u,x\n1,a\n2,b\n").unwrap();
    std::fs::write(directory.path().join("2.csv"), "x,u\na,3\nb,1\n").unwrap();
    let catalogue = catalogue(directory.path(), &[("u", Type::Text), ("x", Type::Text)]);
    let text = |value: &str| Value::Text(value.into());
    assert_eq!(counts(&catalogue), [(text("a"), 2), (text("b"), 2)]);
    let engine = DataFusion::new().unwrap();
    let before = engine.version(&catalogue.datasets["t"]).unwrap();
    std::fs::write(directory.path().join("3.csv"), "u,x\n").unwrap();
    let changed = engine.run(&by_last(&catalogue), &catalogue, &[before], [1; 16]);
    assert_eq!(changed.unwrap_err().code(), "MZ1908");
}

fn parquet(path: &Path, array: ArrayRef) {
    let units: ArrayRef = Arc::new(Int32Array::from_iter_values(
        0..i32::try_from(array.len()).unwrap(),
    ));
    let batch = RecordBatch::try_from_iter([("u", units), ("x", array)]).unwrap();
    let file = File::create(path).unwrap();
    let mut writer = ArrowWriter::try_new(file, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
}

#[test]
fn parquet_of_every_type() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a b[c]%25.parquet");
    let text = |value: &str| Value::Text(value.into());
    let dictionary: DictionaryArray<Int8Type> = ["q", "r", "q"].into_iter().collect();
    let decimals = Decimal128Array::from(vec![Some(150), Some(-5), None]);
    let decimals = decimals.with_precision_and_scale(15, 2).unwrap();
    let zoned = TimestampMillisecondArray::from(vec![1, i64::MAX, -1]).with_timezone("+01:00");
    let cases: Vec<(ArrayRef, Type, Vec<Value>)> = vec![
        (
            Arc::new(UInt64Array::from(vec![u64::MAX, 3, 4])),
            Type::Integer,
            vec![Value::Null, Value::Integer(3), Value::Integer(4)],
        ),
        (
            Arc::new(Float32Array::from(vec![f32::NAN, -0.0, 0.0])),
            Type::Number,
            vec![Value::Null, Value::Number(0.0), Value::Number(0.0)],
        ),
        (
            Arc::new(Int32Array::from(vec![None, Some(-2), Some(3)])),
            Type::Number,
            vec![Value::Null, Value::Number(-2.0), Value::Number(3.0)],
        ),
        (
            Arc::new(decimals),
            Type::Number,
            vec![Value::Number(1.5), Value::Number(-0.05), Value::Null],
        ),
        (
            Arc::new(LargeStringArray::from(vec!["a", "7", ""])),
            Type::Text,
            vec![text("a"), text("7"), text("")],
        ),
        (
            Arc::new(dictionary),
            Type::Text,
            vec![text("q"), text("r"), text("q")],
        ),
        (
            Arc::new(Date64Array::from(vec![-1, 86_400_000, i64::MAX])),
            Type::Date,
            vec![Value::Date(-1), Value::Date(1), Value::Null],
        ),
        (
            Arc::new(TimestampNanosecondArray::from(vec![-1, 1999, 0])),
            Type::Timestamp,
            vec![
                Value::Timestamp(-1),
                Value::Timestamp(1),
                Value::Timestamp(0),
            ],
        ),
        (
            Arc::new(zoned),
            Type::Timestamp,
            vec![Value::Timestamp(1000), Value::Null, Value::Timestamp(-1000)],
        ),
    ];
    for (array, kind, values) in cases {
        let found = array.data_type().clone();
        parquet(&path, array);
        let mut expected: Vec<(Value, i64)> = Vec::new();
        let mut values = values;
        values.sort();
        for value in values {
            match expected.last_mut() {
                Some((last, count)) if *last == value => *count += 1,
                _ => expected.push((value, 1)),
            }
        }
        let catalogue = catalogue(&path, &[("u", Type::Integer), ("x", kind)]);
        assert_eq!(counts(&catalogue), expected, "{found}");
    }
}

#[test]
fn bounds_are_enforced_where_columns_are_read() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.parquet");
    parquet(&path, Arc::new(Int32Array::from(vec![-5, 3, 100])));
    let mut catalogue = catalogue(&path, &[("u", Type::Integer), ("x", Type::Integer)]);
    let column = &mut catalogue.datasets.get_mut("t").unwrap().columns[1];
    column.bounds = Bounds::new(0.5, 7.9);
    let integer = Value::Integer;
    assert_eq!(
        counts(&catalogue),
        [(integer(1), 1), (integer(3), 1), (integer(7), 1)]
    );
}

#[test]
fn a_changed_schema_is_detected() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.parquet");
    let field = Arc::new(Field::new("f", DataType::Int32, true));
    let inner: ArrayRef = Arc::new(Int32Array::from(vec![1]));
    parquet(&path, Arc::new(StructArray::from(vec![(field, inner)])));
    assert_eq!(
        inspect(&path).unwrap().columns,
        [("u".to_owned(), Some(Type::Integer))]
    );
    let columns = [("u", Type::Integer), ("x", Type::Integer)];
    let error = run(&catalogue(&path, &columns)).unwrap_err();
    assert_eq!(error.code(), "MZ1907");
    let columns = [("u", Type::Integer), ("y", Type::Integer)];
    let error = run(&catalogue(&path, &columns)).unwrap_err();
    assert_eq!(error.code(), "MZ1906");
    std::fs::write(&path, "PAR1 no parquet PAR1").unwrap();
    let error = run(&catalogue(&path, &columns)).unwrap_err();
    assert_eq!(error.code(), "MZ1905");
}

/// If a column changed its type, most of its values would become NULL and the query would be
/// charged nevertheless.
#[test]
fn a_column_of_another_type_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.parquet");
    let texts: ArrayRef = Arc::new(StringArray::from(vec!["5kg", "7", ""]));
    let fractions: ArrayRef = Arc::new(Float32Array::from(vec![0.5, -2.5, 3.0]));
    let integers: ArrayRef = Arc::new(Int32Array::from(vec![1, 2, 3]));
    let cases = [
        (&texts, Type::Integer),
        (&texts, Type::Number),
        (&texts, Type::Date),
        (&fractions, Type::Integer),
        (&fractions, Type::Text),
        (&integers, Type::Text),
        (&integers, Type::Boolean),
    ];
    for (array, declared) in cases {
        parquet(&path, Arc::clone(array));
        let catalogue = catalogue(&path, &[("u", Type::Integer), ("x", declared)]);
        let error = run(&catalogue).unwrap_err();
        assert_eq!(error.code(), "MZ1907", "{} {declared}", array.data_type());
    }
}

/// Ids 1.2 and 1.7 are two people, whom rounding would merge. An id beyond 64 bits would become
/// NULL and belong to no person.
#[test]
fn ids_that_would_be_the_same_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.parquet");
    let decimals = |digits, scale| -> ArrayRef {
        let ids = Decimal128Array::from(vec![120, 170]);
        Arc::new(ids.with_precision_and_scale(digits, scale).unwrap())
    };
    let dictionary: DictionaryArray<Int8Type> = ["q", "r"].into_iter().collect();
    let (fractions, unsigned): (ArrayRef, ArrayRef) = (
        Arc::new(Float32Array::from(vec![1.2, 1.7])),
        Arc::new(UInt64Array::from(vec![1, u64::MAX])),
    );
    let whole: ArrayRef = Arc::new(Int32Array::from(vec![1, 2]));
    let texts: ArrayRef = Arc::new(StringArray::from(vec!["1", "01"]));
    let cases = [
        (&whole, Type::Integer, true),
        (&whole, Type::Text, true),
        (&texts, Type::Text, true),
        (&(Arc::new(dictionary) as ArrayRef), Type::Text, true),
        (&decimals(18, 0), Type::Integer, true),
        (&decimals(19, 0), Type::Integer, false),
        (&decimals(15, 2), Type::Integer, false),
        (&decimals(15, 2), Type::Text, false),
        (&fractions, Type::Integer, false),
        (&fractions, Type::Text, false),
        (&unsigned, Type::Integer, false),
        (&unsigned, Type::Text, false),
        (&texts, Type::Integer, false),
    ];
    for (ids, declared, fits) in cases {
        let batch = RecordBatch::try_from_iter([("u", Arc::clone(ids))]).unwrap();
        let file = File::create(&path).unwrap();
        let mut writer = ArrowWriter::try_new(file, batch.schema(), None).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
        let found = run(&catalogue(&path, &[("u", declared)]));
        let expected = if fits { None } else { Some("MZ1907") };
        let found = found.err().map(|error| error.code().as_str());
        assert_eq!(found, expected, "{} {declared}", ids.data_type());
    }
}
