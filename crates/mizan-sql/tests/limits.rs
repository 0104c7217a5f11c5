//! Limits: rows in joins, reported effects of bounds, sums that cannot overflow.

use mizan_sql::*;
use mizan_test_support::catalogues::catalogue;

fn planned(sql: &str) -> BoundedPlan {
    plan(sql, &catalogue()).unwrap_or_else(|refusal| panic!("{}", refusal.show(sql)))
}

/// The row limits of a relation and the names of the columns read there, inner limits first.
fn limited(relation: &Relation) -> Vec<(u64, String)> {
    match &relation.operator {
        Operator::Scan { .. } => Vec::new(),
        Operator::Filter { input, .. }
        | Operator::Project { input, .. }
        | Operator::Group { input, .. } => limited(input),
        Operator::Union { inputs } => inputs.iter().flat_map(limited).collect(),
        Operator::Join { left, right, .. } => [limited(left), limited(right)].concat(),
        Operator::LimitRowsPerUnit { input, rows, read } => {
            let names = read
                .iter()
                .map(|place| relation.columns[*place].name.as_str());
            let names: Vec<&str> = names.collect();
            let mut all = limited(input);
            all.push((*rows, names.join(" ")));
            all
        }
    }
}

#[test]
fn private_joins_are_limited_on_both_sides_by_columns_read() {
    let plan = planned(
        "SELECT a.city, SUM(b.cost) AS s FROM visits a JOIN visits b ON a.person = b.person \
         WHERE a.insured AND b.age > 30 GROUP BY a.city",
    );
    // The conditions are applied before the limit, so it samples from rows that match.
    let limits = [(MAX_JOINED, "person city"), (MAX_JOINED, "person cost")];
    let limits = limits.map(|(rows, read)| (rows, read.to_owned()));
    assert_eq!(limited(&plan.relation), limits);
    let joined = Effect::JoinedRows { limit: 1024 };
    let said = plan.clamping.iter().filter(|said| **said == joined);
    assert_eq!(said.count(), 1, "{:?}", plan.clamping);
}

#[test]
fn the_result_of_a_join_is_limited_before_the_next_join() {
    let plan = planned(
        "SELECT COUNT(*) AS n FROM visits a JOIN visits b ON a.person = b.person \
         JOIN visits c ON a.person = c.person AND b.day < c.day",
    );
    let limits = limited(&plan.relation);
    let read: Vec<&str> = limits.iter().map(|(_, read)| read.as_str()).collect();
    assert_eq!(read, ["person", "person day", "person day", "person day"]);
    assert!(limits.iter().all(|(rows, _)| *rows == MAX_JOINED));
}

#[test]
fn nothing_is_limited_where_rows_do_not_multiply() {
    let single = "(SELECT person, COUNT(*) AS n FROM visits GROUP BY person)";
    for sql in [
        format!("SELECT COUNT(*) AS n FROM visits v JOIN {single} s ON v.person = s.person"),
        format!("SELECT COUNT(*) AS n FROM {single} s LEFT JOIN visits v ON v.person = s.person"),
        "SELECT COUNT(*) AS n FROM visits v JOIN cities c ON v.city = c.city".to_owned(),
        "SELECT COUNT(*) AS n FROM visits v LEFT JOIN cities c ON v.city = c.city".to_owned(),
        "SELECT COUNT(*) AS n FROM (SELECT person FROM visits UNION ALL SELECT person FROM people) t"
            .to_owned(),
    ] {
        assert_eq!(limited(&planned(&sql).relation), [], "{sql}");
    }
}

#[test]
fn limits_change_the_digest() {
    let sql = "SELECT COUNT(*) AS n FROM visits a JOIN visits b ON a.person = b.person";
    let plan = planned(sql);
    let mut other = plan.clone();
    let Operator::Join { left, .. } = &mut other.relation.operator else {
        panic!("{plan:?}");
    };
    let Operator::LimitRowsPerUnit { rows, .. } = &mut left.operator else {
        panic!("{plan:?}");
    };
    *rows -= 1;
    assert_ne!(plan.digest(), other.digest());
}

#[test]
fn right_join_using_is_refused_with_a_caret() {
    for sql in [
        "SELECT COUNT(DISTINCT person) AS n FROM visits RIGHT JOIN people USING (person)",
        "SELECT COUNT(DISTINCT person) AS n FROM visits NATURAL RIGHT JOIN people",
    ] {
        let refusal = plan(sql, &catalogue()).unwrap_err();
        let shown = refusal.show(sql);
        assert!(shown.contains("RIGHT JOIN with USING"), "{shown}");
        assert!(
            shown.contains('^') && shown.contains("LEFT JOIN"),
            "{shown}"
        );
    }
    // With ON the unit is clear: that of the side that is kept.
    planned(
        "SELECT COUNT(DISTINCT p.person) AS n FROM visits v RIGHT JOIN people p ON v.person = p.person",
    );
}

#[test]
fn sums_of_integers_that_could_exceed_64_bits_are_doubles() {
    let kind = |sql: &str| planned(sql).output.columns[0].kind;
    assert_eq!(kind("SELECT SUM(age) AS s FROM visits"), Type::Integer);
    // 20 rows of a unit, 2^33 units: 2^63 / (20 * 2^33) is 53,687,091.
    let of = |most: u64| {
        kind(&format!(
            "SELECT SUM(LEAST(GREATEST(score, 0), {most})) AS s FROM visits"
        ))
    };
    assert_eq!(of(50_000_000), Type::Integer);
    assert_eq!(of(60_000_000), Type::Number);
    assert_eq!(of(9_000_000_000_000_000_000), Type::Number);
    // With a mean the sum is taken around the centre, with the same result.
    let both = "SELECT SUM(LEAST(GREATEST(score, 0), 60000000)) AS s, \
                AVG(LEAST(GREATEST(score, 0), 60000000)) AS m FROM visits";
    assert_eq!(kind(both), Type::Number);
    // A sum that could exceed doubles is refused before it is charged.
    let sql = "SELECT SUM(LEAST(GREATEST(cost * 1e300, -1e305), 1e305)) AS s FROM visits";
    let refusal = plan(sql, &catalogue()).unwrap_err();
    assert!(
        refusal.show(sql).contains("too wide"),
        "{}",
        refusal.show(sql)
    );
}

#[test]
fn clamping_is_reported() {
    let said = |sql: &str| planned(sql).limits();
    let none: [Effect; 0] = [];
    let clamped = |column: &str, low: Value, high: Value| Effect::Clamped {
        dataset: "visits".into(),
        column: column.into(),
        low,
        high,
    };
    assert_eq!(said("SELECT COUNT(DISTINCT person) AS n FROM visits"), none);
    // One row per person by construction.
    let single = "SELECT COUNT(*) AS n FROM (SELECT DISTINCT person FROM visits) t";
    assert_eq!(said(single), none);
    let rows = |how: &[RowBounding]| Effect::RowsPerGroup {
        limit: 20,
        bounding: how.to_vec(),
    };
    let cost = clamped("cost", Value::number(0.0), Value::number(1000.0));
    assert_eq!(
        said("SELECT COUNT(*) AS n FROM visits"),
        [rows(&[RowBounding::CountCapped])]
    );
    assert_eq!(
        said("SELECT SUM(cost) AS n FROM visits"),
        [rows(&[RowBounding::SumClamped]), cost.clone()]
    );
    let several = "SELECT COUNT(*) AS n, COUNT(DISTINCT cost) AS d, SUM(cost) AS s, \
                   AVG(cost) AS m FROM visits";
    let bounding = [
        RowBounding::CountCapped,
        RowBounding::ValuesSampled,
        RowBounding::SumsScaled,
    ];
    assert_eq!(said(several), [rows(&bounding), cost.clone()]);
    // Bounds also affect conditions and keys.
    assert_eq!(
        said("SELECT COUNT(DISTINCT person) AS n FROM visits WHERE cost > 2000"),
        std::slice::from_ref(&cost)
    );
    assert_eq!(
        said("SELECT clinic, COUNT(DISTINCT person) AS n FROM visits GROUP BY clinic"),
        [Effect::GroupsSampled { limit: 5 }]
    );
    // Eleven public groups, of which a unit contributes to five.
    let many = "SELECT bucket(cost, 100) AS b, COUNT(DISTINCT person) AS n FROM visits \
                 GROUP BY bucket(cost, 100)";
    assert_eq!(
        planned(many).clipped().unwrap().limits()[0],
        Effect::GroupsClipped { limit: 5 }
    );
    // Three public groups and a limit of five: no effect.
    assert_eq!(
        said("SELECT city, COUNT(DISTINCT person) AS n FROM visits GROUP BY city"),
        none
    );
    let day = clamped("day", Value::Date(19_723), Value::Date(20_088));
    assert_eq!(
        said("SELECT MEDIAN(cost) AS m, MAX(day) AS d FROM visits"),
        [
            rows(&[RowBounding::RowsSampled]),
            Effect::Grid {
                aggregate: "MEDIAN(cost)".into(),
                step: 1.5625e-2,
                kind: Type::Number,
            },
            day,
            cost,
        ]
    );
    let total = Effect::TotalPerGroup {
        low: 0.0,
        high: 600.0,
    };
    assert!(said("SELECT SUM(minutes) AS s FROM visits").contains(&total));
}

/// Values of two columns of a unit are different values, so a unit may have several.
#[test]
fn a_unit_has_one_value_only_of_one_unit_column() {
    let mut catalogue = catalogue();
    let visits = catalogue.datasets.get_mut("visits").unwrap();
    let privacy = visits.privacy.as_mut().unwrap();
    privacy.unit = vec!["clinic".into(), "city".into()];
    let high = |sql: &str| {
        let plan = plan(sql, &catalogue).unwrap_or_else(|refusal| panic!("{}", refusal.show(sql)));
        plan.statistics[0].high
    };
    let rows = high("SELECT COUNT(DISTINCT age) AS n FROM visits");
    assert!(rows > 1);
    let of = |then: &str, otherwise: &str| {
        high(&format!(
            "SELECT COUNT(DISTINCT CASE WHEN insured THEN {then} ELSE {otherwise} END) AS n FROM visits"
        ))
    };
    assert_eq!(of("city", "clinic"), rows);
    assert_eq!(of("city", "NULL"), 1);
    assert_eq!(of("NULL", "clinic"), 1);
    assert_eq!(of("city", "city"), 1);
    assert_eq!(of("city", "'a'"), rows);
}

/// The code of a refusal.
fn refused(sql: &str) -> &'static str {
    plan(sql, &catalogue())
        .map(|_| ())
        .unwrap_err()
        .code()
        .as_str()
}

/// Regression: one more person made the texts of all people together too long, and the query
/// failed, so the failure revealed that person.
#[test]
fn texts_that_grow_by_literals_are_refused() {
    let of_people = |columns: &str| {
        format!(
            "SELECT COUNT(*) AS n FROM (SELECT person, {columns} FROM visits GROUP BY person) t"
        )
    };
    let long = "x".repeat(16_767);
    let grown: Vec<String> = (0..3)
        .map(|place| format!("MAX(clinic || '{place}{long}') AS m{place}"))
        .collect();
    assert_eq!(refused(&of_people(&grown.join(", "))), "MZ1840");
    let bare = format!("MAX(a) AS m FROM (SELECT person, '{long}' AS a FROM visits) t");
    let bare = of_people(&bare).replace(" FROM visits GROUP", " GROUP");
    assert_eq!(refused(&bare), "MZ1840");
    // Many short literals count as one long one.
    let many: Vec<String> = (0..180)
        .map(|place| format!("MAX(clinic || '{place:04}-------------------') AS m{place}"))
        .collect();
    assert_eq!(refused(&of_people(&many.join(", "))), "MZ1840");
    // Doubling a text grows too.
    let doubled = (0..7).fold("clinic".to_owned(), |text, _| format!("({text} || {text})"));
    assert_eq!(
        refused(&format!(
            "SELECT COUNT(DISTINCT {doubled}) AS n FROM visits"
        )),
        "MZ1840"
    );
}

#[test]
fn comparisons_with_long_texts_do_not_grow_texts() {
    let long = "x".repeat(30_000);
    for condition in [
        format!("clinic = '{long}'"),
        format!("clinic IN ('{long}', 'b')"),
        format!("clinic LIKE '{}%'", &long[..999]),
        format!("clinic BETWEEN 'a' AND '{long}'"),
        format!("clinic || 'a' <> '{long}'"),
    ] {
        let growth = planned(&format!(
            "SELECT COUNT(*) AS n FROM visits WHERE {condition}"
        ))
        .text_growth();
        assert!(growth.literal_bytes <= 1, "{growth:?}");
    }
}

/// The part of a pattern after a `%` is tried at every place of a text, so the time is the product
/// of the lengths: a long part counts as many short ones.
#[test]
fn patterns_count_by_their_longest_part() {
    let likes = |pattern: &str, many: usize| {
        let each = format!("clinic LIKE '{pattern}'");
        let all = vec![each; many].join(" OR ");
        format!("SELECT COUNT(*) AS n FROM visits WHERE {all}")
    };
    let long = "x".repeat(999);
    let half = "x".repeat(498);
    planned(&likes(&format!("%{long}"), 9));
    for pattern in [
        format!("%{half}%{half}%"),
        format!("{long}%"),
        "%x".repeat(500),
        r"\%".repeat(500),
    ] {
        planned(&likes(&pattern, 15));
    }
    for pattern in [format!("%{long}"), format!("%{}y", "y".repeat(998))] {
        assert_eq!(refused(&likes(&pattern, 11)), "MZ1805");
    }
}

#[test]
fn long_patterns_are_refused() {
    let like = |operator: &str, bytes: usize| {
        let pattern = format!("%{}", "x".repeat(bytes - 1));
        format!("SELECT COUNT(*) AS n FROM visits WHERE clinic {operator} '{pattern}'")
    };
    for operator in ["LIKE", "NOT LIKE", "ILIKE"] {
        let size = planned(&like(operator, 1_000)).size();
        assert!(size.text_passes >= 1_000, "{size:?}");
        assert_eq!(refused(&like(operator, 1_001)), "MZ1805");
    }
}

#[test]
fn plans_report_their_size() {
    let size = |sql: &str| planned(sql).size();
    let plain = size("SELECT COUNT(*) AS n FROM visits");
    assert_eq!((plain.statements, plain.joins, plain.listed), (1, 0, 1));
    assert_eq!(plain.text_passes, 0);
    let of = |condition: &str| {
        size(&format!(
            "SELECT COUNT(*) AS n FROM visits WHERE {condition}"
        ))
    };
    assert!(of("age + 1 > 3").nodes > plain.nodes);
    assert_eq!(of("age + 1 > 3").text_passes, 0);
    assert_eq!(of("clinic = 'a'").text_passes, 1);
    assert_eq!(of("lower(clinic) LIKE '%ab%'").text_passes, 1 + 4);
    // A column counts as the expression that it stands for.
    let nested = "SELECT COUNT(*) AS n FROM (SELECT person, lower(clinic) AS c FROM visits) t \
                  WHERE c = 'a' AND c <> 'b'";
    assert!(size(nested).text_passes >= 4, "{:?}", size(nested));
}

#[test]
fn plans_report_their_text_growth() {
    let growth = |sql: &str| {
        let TextGrowth {
            copies,
            literal_bytes,
        } = planned(sql).text_growth();
        (copies, literal_bytes)
    };
    assert_eq!(growth("SELECT COUNT(*) AS n FROM visits"), (0, 0));
    // Stored keys are kept without a computation.
    assert_eq!(
        growth("SELECT city, COUNT(DISTINCT clinic) AS n FROM visits GROUP BY city"),
        (0, 0)
    );
    // One text is computed and kept.
    assert_eq!(
        growth("SELECT COUNT(DISTINCT lower(clinic)) AS n FROM visits"),
        (2, 0)
    );
    assert_eq!(
        growth("SELECT COUNT(DISTINCT clinic || '-' || city) AS n FROM visits"),
        (4, 2)
    );
    // The longest result of a CASE; conditions do not count.
    assert_eq!(
        growth(
            "SELECT CASE WHEN clinic = 'somewhere' THEN 'a' ELSE 'bcd' END AS k, COUNT(*) AS n FROM visits GROUP BY 1"
        ),
        (0, 3)
    );
    // A column of a subquery is the expression that it stands for.
    assert_eq!(
        growth(
            "SELECT COUNT(DISTINCT b || b) AS n FROM (SELECT person, clinic || 'xyz' AS b FROM visits) t"
        ),
        (5, 15)
    );
    assert_eq!(
        growth("SELECT COUNT(DISTINCT CAST(age AS TEXT)) AS n FROM visits"),
        (0, 40)
    );
}

/// Regression: planning a query of 887 bytes took 208 s.
#[test]
fn columns_count_as_their_expressions() {
    let nested = |levels: usize, a: &str| {
        let first = "SELECT person, age AS a FROM visits".to_owned();
        let from = (0..levels).fold(first, |from, _| {
            format!("SELECT person, {a} AS a FROM ({from}) t")
        });
        format!("SELECT COUNT(*) AS n FROM ({from}) t WHERE a > 3")
    };
    planned(&nested(8, "a + a"));
    assert_eq!(refused(&nested(20, "a + a")), "MZ1805");
    planned(&nested(20, "a + 1"));
}
