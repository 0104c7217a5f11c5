//! The binder accepts or refuses every text: it never panics, and accepted plans keep the limits.

use mizan_sql::*;
use mizan_test_support::catalogues::{cases, catalogue};
use proptest::prelude::*;

const ACCEPTED: &str = include_str!("../../../testdata/sql/accepted.sql");

const TOKENS: &[&str] = &[
    "SELECT",
    "FROM",
    "WHERE",
    "GROUP BY",
    "HAVING",
    "ORDER BY",
    "LIMIT",
    "OFFSET",
    "JOIN",
    "LEFT JOIN",
    "RIGHT JOIN",
    "CROSS JOIN",
    "ON",
    "USING",
    "UNION ALL",
    "UNION",
    "EXCEPT",
    "WITH",
    "AS",
    "DISTINCT",
    "COUNT(*)",
    "COUNT(",
    "SUM(",
    "AVG(",
    "MEDIAN(",
    "quantile(",
    "MIN(",
    "CASE WHEN",
    "THEN",
    "ELSE",
    "END",
    "CAST(",
    "EXTRACT(year FROM",
    "date_trunc('month',",
    "INTERVAL '1' MONTH",
    "DATE '2024-01-01'",
    "IN (",
    "BETWEEN",
    "AND",
    "OR",
    "NOT",
    "IS NULL",
    "LIKE",
    "'a%'",
    "(",
    ")",
    ",",
    ".",
    "*",
    "+",
    "-",
    "/",
    "%",
    "||",
    "=",
    "<",
    ">=",
    "<>",
    "::",
    "1",
    "0",
    "2.5",
    "-1e308",
    "9223372036854775807",
    "'x'",
    "NULL",
    "TRUE",
    "visits",
    "people",
    "cities",
    "loose",
    "pairs",
    "v",
    "p",
    "t",
    "person",
    "city",
    "cost",
    "age",
    "day",
    "at",
    "minutes",
    "insured",
    "x",
    "house",
    "FILTER (WHERE",
    "OVER ()",
    "[",
    "]",
    "{",
    "}",
    ";",
    "$1",
    "@@x",
    "\"",
    "'",
    "--",
    "/*",
    "EXISTS",
    "ARRAY",
    "VALUES",
    "(SELECT",
    "LATERAL",
    "UNNEST(",
    "ROLLUP(",
    "now()",
    "random()",
    "日本",
    "\u{0}",
];

/// Properties of every plan.
fn sound(plan: &BoundedPlan) {
    assert!(!plan.relation.unit.is_empty());
    assert!(!plan.statistics.is_empty());
    for statistic in &plan.statistics {
        assert!(statistic.low <= 0 && statistic.high >= 0 && statistic.sensitivity() >= 1);
        assert!(statistic.sensitivity() <= MAX_CONTRIBUTION.unsigned_abs());
    }
}

/// The number of cases of each kind; `MIZAN_FUZZ_CASES` sets another one.
fn queries() -> u32 {
    std::env::var("MIZAN_FUZZ_CASES").map_or(1000, |cases| cases.parse().unwrap())
}

fn look(sql: &str) {
    match plan(sql, &catalogue()) {
        Ok(plan) => sound(&plan),
        Err(refusal) => {
            assert_ne!(refusal.code(), "MZ1839", "{}", refusal.show(sql));
            assert!(!refusal.help.is_empty());
            let _ = refusal.show(sql);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: queries(), ..ProptestConfig::default() })]

    #[test]
    fn random_tokens(tokens in prop::collection::vec(prop::sample::select(TOKENS), 0..40)) {
        look(&tokens.join(" "));
        look(&format!("SELECT {}", tokens.join(" ")));
    }

    #[test]
    fn mutated_queries(
        case in any::<prop::sample::Index>(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), prop::sample::select(TOKENS), 0..3_u8), 1..4),
    ) {
        let all = cases(ACCEPTED);
        let mut words: Vec<&str> = case.get(&all).sql.split_inclusive(&[' ', '(', ')', ',', '\n'][..]).collect();
        for (place, token, how) in &changes {
            let place = place.index(words.len().max(1));
            match how {
                0 => words.insert(place, token),
                1 if place < words.len() => { words.remove(place); }
                _ if place < words.len() => words[place] = token,
                _ => {}
            }
        }
        look(&words.join(" "));
    }

    #[test]
    fn any_text(text in ".{0,200}") {
        look(&text);
        look(&format!("SELECT COUNT(*) FROM visits WHERE {text}"));
    }
}
