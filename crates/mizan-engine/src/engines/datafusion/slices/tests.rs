//! The contents of slices, and the operators that have them.

use datafusion::arrow::array::{
    ArrayRef, Int64Array, LargeStringArray, StringArray, StringViewArray,
};
use datafusion::arrow::datatypes::Field;
use datafusion::datasource::MemTable;
use datafusion::execution::session_state::SessionStateBuilder;
use datafusion::prelude::{SessionConfig, SessionContext};

use super::super::functions;
use super::*;

fn texts(lengths: &[usize]) -> RecordBatch {
    let long = "x".repeat(lengths.iter().copied().max().unwrap_or(0));
    let texts = lengths.iter().map(|length| long.get(..*length));
    let texts: StringViewArray = texts.collect();
    let numbers = Int64Array::from_iter_values(0..i64::try_from(lengths.len()).unwrap());
    let schema = Schema::new(vec![
        Field::new("note", DataType::Utf8View, true),
        Field::new("k", DataType::Int64, true),
    ]);
    let columns: Vec<ArrayRef> = vec![Arc::new(texts), Arc::new(numbers)];
    RecordBatch::try_new(Arc::new(schema), columns).unwrap()
}

#[test]
fn slices_are_all_rows_in_order_and_none_has_too_much() {
    let cut = |bytes: usize| Cut {
        columns: vec![0],
        bytes,
    };
    let cases: [(&[usize], usize, &[usize]); 7] = [
        (&[], 10, &[0]),
        (&[100], 10, &[1]),
        (&[3, 3, 3], 9, &[3]),
        (&[3, 3, 4], 9, &[2, 1]),
        (&[100, 1, 1, 100, 100, 1], 9, &[1, 2, 1, 1, 1]),
        (&[0, 0, 0, 100], 9, &[3, 1]),
        (&[20, 20], 0, &[1, 1]),
    ];
    for (lengths, bytes, expected) in cases {
        let batch = texts(lengths);
        let ranges = cut(bytes).of(&batch).unwrap();
        let sizes: Vec<usize> = ranges.iter().map(ExactSizeIterator::len).collect();
        assert_eq!(sizes, expected, "{lengths:?}");
        let ends = ranges.windows(2).all(|two| two[0].end == two[1].start);
        assert!(ends && ranges.iter().all(|range| range.end <= lengths.len()));
    }
    // A slice of a batch counts only its own rows.
    let batch = texts(&[100, 1, 1, 1]).slice(1, 3);
    assert_eq!(cut(9).of(&batch).unwrap(), std::slice::from_ref(&(0..3)));
}

/// Texts that are not there are not texts of no bytes.
#[test]
fn rows_and_texts_that_are_not_there_are_errors() {
    let batch = texts(&[100, 1, 1]);
    for column in [1, 2] {
        let columns = vec![0, column];
        assert!(Cut { columns, bytes: 9 }.of(&batch).is_err());
    }
    let view = Arc::clone(batch.column(0));
    let strings = StringArray::from_iter_values(["aa", "b", "c"]);
    let large = LargeStringArray::from_iter_values(["aa", "b", "c"]);
    let arrays: [(ArrayRef, usize); 3] =
        [(view, 101), (Arc::new(strings), 3), (Arc::new(large), 3)];
    for (array, first_two) in arrays {
        assert_eq!(bytes(&array, 0..2).unwrap(), first_two);
        assert!(bytes(&array, 2..4).is_err());
    }
}

fn context(slices: bool) -> SessionContext {
    let config = SessionConfig::new().with_target_partitions(2);
    let mut state = SessionStateBuilder::new()
        .with_config(config)
        .with_default_features();
    if slices {
        let rule = SliceTexts { bytes: 1000 };
        state = state.with_physical_optimizer_rule(Arc::new(rule));
    }
    let context = SessionContext::new_with_state(state.build());
    for function in functions::all() {
        context.register_udf(function);
    }
    let batch = texts(&[0, 1, 900, 900, 5, 5000, 20, 7]);
    for name in ["v", "w"] {
        let table = MemTable::try_new(batch.schema(), vec![vec![batch.clone()]]).unwrap();
        context.register_table(name, Arc::new(table)).unwrap();
    }
    context
}

/// The sorted result of a query, and its plan.
async fn run(context: &SessionContext, sql: &str) -> (Vec<String>, String) {
    let planned = context.sql(sql).await.unwrap();
    let plan = planned.create_physical_plan().await.unwrap();
    let shown = datafusion::physical_plan::displayable(plan.as_ref())
        .indent(false)
        .to_string();
    let batches = datafusion::physical_plan::collect(plan, context.task_ctx());
    let batches = batches.await.unwrap();
    let rows = batches.iter().flat_map(|batch| {
        let rows = super::super::rows(batch).unwrap();
        rows.into_iter().map(|row| format!("{row:?}"))
    });
    let mut rows: Vec<String> = rows.collect();
    rows.sort();
    (rows, shown)
}

/// Operators that compute texts have slices, others do not, and results are the same.
#[tokio::test]
async fn slices_change_no_result_and_are_where_texts_are_made() {
    let made = "mizan_concat_text(v.note, w.note)";
    let cases = [
        (
            "SELECT COUNT(*) AS n FROM v JOIN w ON v.k >= w.k".to_owned(),
            false,
        ),
        (
            "SELECT COUNT(*) AS n FROM v WHERE note > 'x'".to_owned(),
            false,
        ),
        (
            "SELECT note, COUNT(*) AS n FROM v GROUP BY note".to_owned(),
            false,
        ),
        (
            "SELECT COUNT(*) AS n FROM v WHERE mizan_like_boolean(note, 'x%')".to_owned(),
            false,
        ),
        (
            "SELECT COUNT(*) AS n FROM v WHERE mizan_upper_text(note) > 'X'".to_owned(),
            true,
        ),
        (
            format!("SELECT {made} AS t, COUNT(*) AS n FROM v CROSS JOIN w GROUP BY {made}"),
            true,
        ),
        (
            format!("SELECT v.k AS k, MAX({made}) AS m FROM v JOIN w ON v.k > w.k GROUP BY v.k"),
            true,
        ),
        (
            format!(
                "SELECT COUNT(*) AS n FROM v LEFT JOIN w ON v.k = w.k AND \
                 mizan_length_integer({made}) > 30"
            ),
            true,
        ),
        (
            format!(
                "SELECT COUNT(*) AS n FROM v LEFT JOIN w ON v.k > w.k AND \
                 mizan_length_integer({made}) > 30"
            ),
            true,
        ),
        // Computed texts pass through a join and a filter.
        (
            "SELECT q.k AS k, t FROM (SELECT k, mizan_upper_text(note) AS t FROM v) q JOIN w \
             ON q.t = w.note AND mizan_length_integer(q.t) < 30"
                .to_owned(),
            true,
        ),
    ];
    for (sql, is_sliced) in cases {
        let (expected, _) = run(&context(false), &sql).await;
        let (found, plan) = run(&context(true), &sql).await;
        assert_eq!(found, expected, "{sql}\n{plan}");
        let has_slices = plan.contains("Sliced") || plan.contains("sliced(");
        assert_eq!(has_slices, is_sliced, "{sql}\n{plan}");
    }
}

/// Where computed texts are combined, batches have few rows.
#[tokio::test]
async fn computed_texts_are_combined_in_small_batches() {
    let flows = "SELECT t, COUNT(*) AS n FROM (SELECT v.k AS k, mizan_upper_text(v.note) AS t \
                 FROM v) q JOIN w ON q.k = w.k GROUP BY t";
    let (_, plan) = run(&context(true), flows).await;
    assert!(plan.contains("SmallBatches"), "{plan}");
    for sql in [
        "SELECT COUNT(*) AS n FROM v JOIN w ON v.k = w.k WHERE mizan_upper_text(v.note) > 'X'",
        "SELECT mizan_upper_text(note) AS t, COUNT(*) AS n FROM v GROUP BY mizan_upper_text(note)",
    ] {
        let (_, plan) = run(&context(true), sql).await;
        assert!(!plan.contains("SmallBatches"), "{sql}\n{plan}");
    }
}
