//! Accepted queries with the essential numbers of their plans, and refused queries with the code
//! and a part of the message. The cases are text files in testdata/sql; `MIZAN_BLESS=1` rewrites
//! the accepted cases with the actual plans.

use mizan_sql::*;
use mizan_test_support::catalogues::{cases, catalogue, summary};

const ACCEPTED: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../testdata/sql/accepted.sql"
);
const REFUSED: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../testdata/sql/refused.sql"
);

#[test]
fn accepted_queries_have_the_recorded_plans() {
    let catalogue = catalogue();
    let text = std::fs::read_to_string(ACCEPTED).unwrap();
    let all = cases(&text);
    assert!(all.len() >= 80, "{} cases", all.len());
    let mut wrong = Vec::new();
    let mut blessed = String::new();
    for case in &all {
        let found = match plan(&case.sql, &catalogue) {
            Ok(plan) => {
                check(&plan);
                summary(&plan)
            }
            Err(refusal) => vec![format!("{}: {refusal}", refusal.code())],
        };
        blessed.push_str(&format!("-- {}\n{}\n", case.name, case.sql));
        for line in &found {
            blessed.push_str(&format!("=> {line}\n"));
        }
        blessed.push('\n');
        if found != case.expected {
            wrong.push(format!(
                "{}\n{}\nexpected {:#?}\nfound {found:#?}",
                case.name, case.sql, case.expected
            ));
        }
    }
    if std::env::var_os("MIZAN_BLESS").is_some() {
        std::fs::write(ACCEPTED, blessed.trim_end().to_owned() + "\n").unwrap();
        return;
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn refused_queries_have_the_recorded_messages() {
    let catalogue = catalogue();
    let text = std::fs::read_to_string(REFUSED).unwrap();
    let all = cases(&text);
    assert!(all.len() >= 80, "{} cases", all.len());
    let mut wrong = Vec::new();
    for case in &all {
        let expected = case.expected.join(" ");
        let (code, word) = expected.split_once(' ').expect("a code and a word");
        match plan(&case.sql, &catalogue) {
            Ok(plan) => wrong.push(format!(
                "{}\n{}\naccepted: {:?}",
                case.name,
                case.sql,
                summary(&plan)
            )),
            Err(refusal) => {
                let shown = refusal.show(&case.sql);
                if refusal.code() != code || !shown.to_lowercase().contains(&word.to_lowercase()) {
                    wrong.push(format!(
                        "{}\n{}\nexpected {expected}\n{shown}",
                        case.name, case.sql
                    ));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// Properties of every plan (C2, C3, C4).
fn check(plan: &BoundedPlan) {
    assert!(!plan.datasets.is_empty());
    assert!(!plan.relation.unit.is_empty());
    assert!(plan.groups_per_unit >= 1);
    assert!(!plan.statistics.is_empty());
    let width = plan.relation.columns.len();
    assert!(plan.relation.unit.iter().all(|place| *place < width));
    check_relation(&plan.relation);
    for key in &plan.keys {
        assert_eq!(
            key.expression.type_of(&plan.relation.columns).unwrap(),
            key.kind
        );
    }
    for statistic in &plan.statistics {
        assert!(statistic.low <= 0 && statistic.high >= 0);
        assert!(statistic.sensitivity() >= 1);
        assert!(statistic.sensitivity() <= MAX_CONTRIBUTION.unsigned_abs());
        if let Measure::Sum(expr, grid)
        | Measure::Scaled(expr, grid, _)
        | Measure::Histogram(expr, grid) = &statistic.measure
        {
            let (low, high) = grid.range();
            assert!(low >= -(1 << 22) && high <= 1 << 22);
            expr.type_of(&plan.relation.columns).unwrap();
        }
    }
    if let Groups::Public(groups) = &plan.groups {
        assert!(groups.iter().all(|group| group.len() == plan.keys.len()));
    } else {
        assert_eq!(plan.statistics[0].measure, Measure::Units);
    }
    let count = plan.statistics.len();
    for aggregate in &plan.output.aggregates {
        let places = match aggregate {
            Aggregate::Count { of } => vec![*of],
            Aggregate::Sum { sum, count, .. } => std::iter::once(*sum).chain(*count).collect(),
            Aggregate::Mean { sum, count } => vec![*sum, *count],
            Aggregate::Variance {
                sum,
                squares,
                count,
                ..
            } => vec![*sum, *squares, *count],
            Aggregate::Quantile { histogram, .. } => vec![*histogram],
        };
        assert!(places.iter().all(|place| *place < count));
    }
}

/// Every relation knows its unit, and every expression has the type of its column.
fn check_relation(relation: &Relation) {
    let has = |expr: &Expr, columns: &[Column], kind: Type| {
        assert_eq!(expr.type_of(columns).unwrap(), kind);
    };
    match &relation.operator {
        Operator::Scan { .. } => {}
        Operator::Filter { input, predicate } => {
            check_relation(input);
            has(predicate, &input.columns, Type::Boolean);
            assert_eq!(relation.unit, input.unit);
        }
        Operator::Project { input, expressions } => {
            check_relation(input);
            assert_eq!(expressions.len(), relation.columns.len());
            for (expr, column) in expressions.iter().zip(&relation.columns) {
                has(expr, &input.columns, column.kind);
            }
            for (place, from) in relation.unit.iter().zip(&input.unit) {
                assert_eq!(expressions[*place], Expr::Column(*from));
            }
            assert_eq!(relation.unit.len(), input.unit.len());
        }
        Operator::Join {
            left,
            right,
            keeps_left,
            on,
            condition,
        } => {
            check_relation(left);
            check_relation(right);
            let private = (!left.unit.is_empty(), !right.unit.is_empty());
            if private == (true, true) {
                for (ours, theirs) in left.unit.iter().zip(&right.unit) {
                    assert!(on.contains(&(Expr::Column(*ours), Expr::Column(*theirs))));
                }
                assert_eq!(left.unit.len(), right.unit.len());
            }
            assert!(!keeps_left || private != (false, true));
            for (ours, theirs) in on {
                let kinds = (ours.type_of(&left.columns), theirs.type_of(&right.columns));
                assert_eq!(kinds.0.unwrap(), kinds.1.unwrap());
            }
            if let Some(condition) = condition {
                has(condition, &relation.columns, Type::Boolean);
            }
        }
        Operator::Union { inputs } => {
            for input in inputs {
                check_relation(input);
                assert_eq!(input.unit, relation.unit);
                let kinds = |relation: &Relation| -> Vec<Type> {
                    relation.columns.iter().map(|column| column.kind).collect()
                };
                assert_eq!(kinds(input), kinds(relation));
            }
        }
        Operator::LimitRowsPerUnit { input, rows, read } => {
            check_relation(input);
            assert!(*rows > 0 && input.unit.iter().all(|place| read.contains(place)));
            assert!(read.is_sorted() && read.iter().all(|place| *place < input.columns.len()));
            assert_eq!(
                (&relation.unit, &relation.columns),
                (&input.unit, &input.columns)
            );
        }
        Operator::Group {
            input,
            keys,
            aggregates,
        } => {
            check_relation(input);
            assert_eq!(keys.len() + aggregates.len(), relation.columns.len());
            for place in &input.unit {
                assert!(keys.contains(&Expr::Column(*place)));
            }
        }
    }
}

fn planned(sql: &str) -> BoundedPlan {
    plan(sql, &catalogue()).unwrap_or_else(|refusal| panic!("{}", refusal.show(sql)))
}

#[test]
fn statistics_are_shared() {
    let all = planned(
        "SELECT COUNT(cost), SUM(cost), AVG(cost), VAR_SAMP(cost), STDDEV_POP(cost) FROM visits",
    );
    assert_eq!(all.statistics.len(), 3, "{:?}", all.statistics);
    let quantiles =
        planned("SELECT MEDIAN(age), MIN(age), MAX(age), quantile(age, 0.9) FROM visits");
    assert_eq!(quantiles.statistics.len(), 1);
}

#[test]
fn equivalent_queries_have_the_same_plan() {
    let a = planned("SELECT city, COUNT(*) AS n FROM visits WHERE age > 30 GROUP BY city");
    let b =
        planned("select v.city, count(1) as n from visits v where 30 < v.age or false group by 1");
    assert_eq!(a.statistics, b.statistics);
    assert_eq!(a.groups, b.groups);
    assert_eq!(a.output, b.output);
}

#[test]
fn a_subquery_keeps_the_unit_that_it_does_not_select() {
    let plan = planned("SELECT AVG(c) FROM (SELECT cost * 2 AS c FROM visits) t");
    let Operator::Project { expressions, .. } = &plan.relation.operator else {
        panic!("{:?}", plan.relation)
    };
    assert_eq!(expressions.len(), 2);
    assert_eq!(plan.relation.unit, vec![1]);
}

#[test]
fn comma_joins_take_the_unit_from_where() {
    let old = planned(
        "SELECT COUNT(*) FROM visits v, people p WHERE v.person = p.person AND p.sex = 'f'",
    );
    let new = planned(
        "SELECT COUNT(*) FROM visits v JOIN people p ON v.person = p.person WHERE p.sex = 'f'",
    );
    assert_eq!(old.relation, new.relation);
}

#[test]
fn long_chains_and_lists_are_planned_or_refused_and_never_overflow() {
    let catalogue = catalogue();
    let repeat = |part: &str, times: usize| part.repeat(times);
    let chain = format!(
        "SELECT COUNT(*) FROM visits WHERE {}age = 1",
        repeat("age = 2 OR ", 900)
    );
    let deep = plan(&chain, &catalogue).unwrap();
    assert!(matches!(deep.relation.operator, Operator::Filter { .. }));
    let list = format!(
        "SELECT COUNT(*) FROM visits WHERE age IN ({}1)",
        repeat("2, ", 15_000)
    );
    plan(&list, &catalogue).unwrap();
    for (part, times) in [
        ("age + ", 3_000),
        ("-", 3_000),
        ("NOT ", 3_000),
        ("(", 30_000),
        ("abs(", 10_000),
    ] {
        let sql = format!("SELECT SUM({}age) FROM visits", repeat(part, times));
        assert!(plan(&sql, &catalogue).is_err());
    }
    let suffix = format!(
        "SELECT COUNT(*) FROM visits WHERE age{}",
        repeat(" IS NULL", 1_900)
    );
    assert_eq!(plan(&suffix, &catalogue).unwrap_err().code(), "MZ1805");
    let casts = format!("SELECT SUM(age{}) FROM visits", repeat("::bigint", 1_900));
    let _ = plan(&casts, &catalogue);
    let unions = format!(
        "SELECT COUNT(*) FROM (SELECT 1 FROM visits{})",
        repeat(" UNION ALL SELECT 1 FROM visits", 500)
    );
    assert_eq!(plan(&unions, &catalogue).unwrap_err().code(), "MZ1805");
    let tables = format!("SELECT COUNT(*) FROM visits{}", repeat(", cities", 5_000));
    assert_eq!(plan(&tables, &catalogue).unwrap_err().code(), "MZ1805");
    let mut doubled = "WITH a0 AS (SELECT person FROM visits)".to_owned();
    for level in 1..40 {
        let below = level - 1;
        doubled.push_str(&format!(
            ", a{level} AS (SELECT * FROM a{below} UNION ALL SELECT * FROM a{below})"
        ));
    }
    doubled.push_str(" SELECT COUNT(*) FROM a39");
    assert_eq!(plan(&doubled, &catalogue).unwrap_err().code(), "MZ1805");
    let mut nested = "SELECT COUNT(*) AS a FROM visits".to_owned();
    for _ in 0..30 {
        nested = format!("SELECT a + a AS a FROM ({nested}) t");
    }
    assert_eq!(plan(&nested, &catalogue).unwrap_err().code(), "MZ1805");
    for (before, after) in [
        ("CASE ", " WHEN 1 THEN 1 WHEN 2 THEN 2 END"),
        ("(", " BETWEEN 0 AND 1)::int"),
        ("(", " IS DISTINCT FROM 1)::int"),
    ] {
        let mut doubled = "age".to_owned();
        for _ in 0..30 {
            doubled = format!("{before}{doubled}{after}");
        }
        let sql = format!("SELECT SUM({doubled}) FROM visits");
        assert_eq!(
            plan(&sql, &catalogue).unwrap_err().code(),
            "MZ1805",
            "{sql}"
        );
    }
    let columns: Vec<String> = (0..1_300)
        .map(|n| format!("SUM(age+{n}) AS a{n}"))
        .collect();
    let sql = format!("SELECT {} FROM visits", columns.join(", "));
    assert_eq!(plan(&sql, &catalogue).unwrap_err().code(), "MZ1805");
}

#[test]
fn the_caret_is_under_what_is_refused() {
    let sql = "SELECT city,\n  SUM(score)\nFROM visits GROUP BY city";
    let refusal = plan(sql, &catalogue()).unwrap_err();
    assert_eq!(refusal.code(), "MZ1826");
    assert_eq!(refusal.place.map(|place| place.line), Some(2));
    let sql = "SELECT COUNT(*) FROM visits WHERE agee > 3";
    let refusal = plan(sql, &catalogue()).unwrap_err();
    assert_eq!(
        refusal.place.map(|place| place.column),
        Some(35),
        "{}",
        refusal.show(sql)
    );
    assert!(
        refusal.help().contains("did you mean age"),
        "{}",
        refusal.help()
    );
}

#[test]
fn queries_over_an_empty_catalogue_are_refused() {
    let refusal = plan("SELECT COUNT(*) FROM visits", &Catalogue::default()).unwrap_err();
    assert_eq!(refusal.code(), "MZ1808");
    assert!(refusal.help().contains("mizan dataset add"));
}
