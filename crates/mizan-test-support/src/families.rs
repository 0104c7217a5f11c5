//! Families of queries of growing size, over the [catalogue](crate::catalogues::catalogue).

/// A name, and a query for each size.
pub type Family = (&'static str, fn(usize) -> String);

/// `n` items with a separator.
fn times(n: usize, between: &str, each: impl Fn(usize) -> String) -> String {
    let parts: Vec<String> = (0..n).map(each).collect();
    parts.join(between)
}

fn counted(condition: &str) -> String {
    format!("SELECT COUNT(*) AS n FROM visits WHERE {condition}")
}

/// `n` nested subqueries; each computes this expression over `a` of the one inside as `a`.
fn nested(n: usize, from: &str, a: &str, top: &str) -> String {
    let mut from = from.to_owned();
    for _ in 0..n {
        from = format!("SELECT person, {a} AS a FROM ({from}) t");
    }
    format!("SELECT {top} FROM ({from}) t")
}

/// A WITH of `n` tables, each made from the one before.
fn chain(n: usize, first: &str, next: impl Fn(&str) -> String, top: &str) -> String {
    let mut tables = vec![format!("t0 AS ({first})")];
    for place in 1..=n {
        let before = format!("t{}", place - 1);
        tables.push(format!("t{place} AS ({})", next(&before)));
    }
    format!("WITH {} SELECT {top} FROM t{n} t", tables.join(", "))
}

const CITY: &str = "SELECT person, clinic AS a FROM visits";
const AGE: &str = "SELECT person, age AS a FROM visits";

/// All families.
pub const FAMILIES: &[Family] = &[
    ("AND", |n| {
        counted(&times(n, " AND ", |i| format!("age <> {i}")))
    }),
    ("OR", |n| {
        counted(&times(n, " OR ", |i| format!("age = {i}")))
    }),
    ("AND of OR", |n| {
        counted(&times(n, " AND ", |i| {
            format!("(age = {i} OR score = {i})")
        }))
    }),
    ("OR of AND", |n| {
        counted(&times(n, " OR ", |i| format!("(age = {i} AND score = 1)")))
    }),
    ("plus", |n| {
        counted(&format!("{} > 0", times(n, " + ", |_| "age".into())))
    }),
    ("plus of numbers", |n| {
        counted(&format!("{} > 0", times(n, " + ", |_| "cost".into())))
    }),
    ("concat", |n| {
        counted(&format!("{} = 'a'", times(n, " || ", |_| "clinic".into())))
    }),
    ("concat of literals", |n| {
        counted(&format!(
            "clinic || {} = 'a'",
            times(n, " || ", |_| "'b'".into())
        ))
    }),
    ("concat()", |n| {
        counted(&format!(
            "concat({}) = 'a'",
            times(n, ", ", |_| "clinic".into())
        ))
    }),
    ("NOT", |n| {
        counted(&format!("{} insured", times(n, " ", |_| "NOT".into())))
    }),
    ("minus", |n| {
        counted(&format!("{} age > 0", times(n, " ", |_| "-".into())))
    }),
    ("parentheses", |n| {
        counted(&format!("{}age{} > 0", "(".repeat(n), ")".repeat(n)))
    }),
    ("calls in calls", |n| {
        counted(&format!("{}age{} > 0", "abs(".repeat(n), ")".repeat(n)))
    }),
    ("casts in casts", |n| {
        counted(&format!("age{} > 0", "::double::integer".repeat(n)))
    }),
    ("IN integers", |n| {
        counted(&format!("score IN ({})", times(n, ",", |i| i.to_string())))
    }),
    ("IN texts", |n| {
        counted(&format!(
            "clinic IN ({})",
            times(n, ",", |i| format!("'{i}'"))
        ))
    }),
    ("many IN", |n| {
        counted(&times(n, " AND ", |i| {
            format!("score NOT IN ({i},2,3,4,5,6,7)")
        }))
    }),
    ("CASE branches", |n| {
        let branches = times(n, " ", |i| format!("WHEN age = {i} THEN {i}"));
        counted(&format!("CASE {branches} ELSE 0 END > 3"))
    }),
    ("CASE x branches", |n| {
        let branches = times(n, " ", |i| format!("WHEN {i} THEN 'a{i}'"));
        counted(&format!("CASE age + score {branches} ELSE 'b' END = 'a'"))
    }),
    ("CASE in CASE", |n| {
        let open = "CASE WHEN insured THEN 1 ELSE ".repeat(n);
        counted(&format!("{open} 0 {} > 3", " END".repeat(n)))
    }),
    ("BETWEEN", |n| {
        counted(&times(n, " AND ", |i| format!("age + {i} BETWEEN 1 AND 9")))
    }),
    ("LIKE", |n| {
        counted(&times(n, " OR ", |i| format!("clinic LIKE '%{i}_a%'")))
    }),
    ("IS DISTINCT", |n| {
        counted(&times(n, " AND ", |i| {
            format!("age IS DISTINCT FROM score + {i}")
        }))
    }),
    ("COALESCE", |n| {
        counted(&format!(
            "COALESCE({}) > 0",
            times(n, ", ", |i| format!("score + {i}"))
        ))
    }),
    ("LEAST", |n| {
        counted(&format!(
            "LEAST({}) > 0",
            times(n, ", ", |i| format!("score + {i}"))
        ))
    }),
    ("date parts", |n| {
        counted(&times(n, " AND ", |i| {
            format!("EXTRACT(year FROM date_trunc('month', at)) <> {i}")
        }))
    }),
    ("dates", |n| {
        counted(&times(n, " OR ", |i| {
            format!("day < DATE '2024-01-01' + INTERVAL '{i}' DAY")
        }))
    }),
    ("doubling", |n| {
        nested(n, AGE, "a + a", "COUNT(*) AS n FILTER (WHERE a > 3)")
            .replace(" AS n FILTER (WHERE a > 3)", " FILTER (WHERE a > 3) AS n")
    }),
    ("doubling, filtered", |n| {
        nested(n, AGE, "a + a", "COUNT(*) AS n") + " WHERE a > 3"
    }),
    ("doubling, summed", |n| {
        nested(n, AGE, "LEAST(GREATEST(a + a, 0), 9)", "SUM(a) AS n")
    }),
    ("doubling keys", |n| {
        nested(n, AGE, "LEAST(a, a)", "a, COUNT(*) AS n") + " GROUP BY a"
    }),
    ("doubling CASE", |n| {
        nested(
            n,
            AGE,
            "CASE WHEN a > 3 THEN a ELSE a + 1 END",
            "COUNT(*) AS n",
        ) + " WHERE a > 3"
    }),
    ("doubling texts", |n| {
        nested(n, CITY, "a || a", "COUNT(*) AS n") + " WHERE a > 'b'"
    }),
    ("growing texts", |n| {
        nested(n, CITY, "a || 'bbbbbbbbbbbbbbbb'", "COUNT(DISTINCT a) AS n")
    }),
    ("subqueries", |n| nested(n, AGE, "a", "COUNT(*) AS n")),
    ("subqueries that add", |n| {
        nested(n, AGE, "a + 1", "COUNT(*) AS n") + " WHERE a > 3"
    }),
    ("subqueries that filter", |n| {
        let from = (0..n).fold(AGE.to_owned(), |from, i| {
            format!("SELECT person, a FROM ({from}) t WHERE a <> {i}")
        });
        format!("SELECT COUNT(*) AS n FROM ({from}) t")
    }),
    ("subqueries that group", |n| {
        nested(n, AGE, "a", "COUNT(*) AS n")
            .replace(") t", ") t GROUP BY person, a")
            .replace("t GROUP BY person, a GROUP", "t GROUP")
            .trim_end_matches(" GROUP BY person, a")
            .to_owned()
    }),
    ("WITH chain", |n| {
        chain(
            n,
            AGE,
            |t| format!("SELECT person, a + 1 AS a FROM {t}"),
            "COUNT(*) AS n",
        )
    }),
    ("WITH doubling unions", |n| {
        let both = |t: &str| format!("SELECT * FROM {t} UNION ALL SELECT * FROM {t}");
        chain(n, AGE, both, "COUNT(*) AS n")
    }),
    ("WITH doubling joins", |n| {
        let both =
            |t: &str| format!("SELECT x.person, x.a FROM {t} x JOIN {t} y ON x.person = y.person");
        chain(n, AGE, both, "COUNT(*) AS n")
    }),
    ("WITH large used often", |n| {
        let large = times(500, " AND ", |i| format!("age <> {i}"));
        let all = times(n, " UNION ALL ", |_| "SELECT person FROM w".into());
        format!(
            "WITH w AS (SELECT person FROM visits WHERE {large}) SELECT COUNT(*) AS n FROM ({all}) t"
        )
    }),
    ("WITH aggregates used often", |n| {
        let all = times(190, ", ", |i| format!("SUM(age + {i}) AS s{i}"));
        let joins = times(n, " ", |i| format!("JOIN w w{i} ON w.person = w{i}.person"));
        format!(
            "WITH w AS (SELECT person, {all} FROM visits GROUP BY person) SELECT COUNT(*) AS n FROM w {joins}"
        )
    }),
    ("WITH wide used often", |n| {
        let all = times(190, ", ", |i| format!("age + {i} AS s{i}"));
        let joins = times(n, " ", |i| format!("JOIN w w{i} ON w.person = w{i}.person"));
        format!("WITH w AS (SELECT person, {all} FROM visits) SELECT COUNT(*) AS n FROM w {joins}")
    }),
    ("sums in one column", |n| {
        let all = times(n, " + ", |i| format!("SUM(age + {i})"));
        format!("SELECT {all} AS s FROM visits")
    }),
    ("wildcards", |n| {
        format!(
            "SELECT COUNT(*) AS n FROM (SELECT {} FROM visits v) t",
            times(n, ", ", |_| "v.*".into())
        )
    }),
    ("wide projection", |n| {
        let columns = times(n, ", ", |i| format!("age + {i} AS c{i}"));
        format!("SELECT COUNT(*) AS n FROM (SELECT person, {columns} FROM visits) t")
    }),
    ("wide projection, filtered", |n| {
        let columns = times(n, ", ", |i| format!("age + {i} AS c{i}"));
        let all = times(n, " AND ", |i| format!("c{i} > 0"));
        format!("SELECT COUNT(*) AS n FROM (SELECT person, {columns} FROM visits) t WHERE {all}")
    }),
    ("wide subqueries", |n| {
        let columns = times(60, ", ", |i| format!("age + {i} AS c{i}"));
        let again = times(60, ", ", |i| format!("c{i} + 1 AS c{i}"));
        let mut from = format!("SELECT person, {columns} FROM visits");
        for _ in 0..n {
            from = format!("SELECT person, {again} FROM ({from}) t");
        }
        format!("SELECT COUNT(*) AS n FROM ({from}) t")
    }),
    ("UNION ALL", |n| {
        let all = times(n, " UNION ALL ", |i| {
            format!("SELECT person, age + {i} AS a FROM visits")
        });
        format!("SELECT COUNT(*) AS n FROM ({all}) t WHERE a > 3")
    }),
    ("private joins", |n| {
        let joins = times(n, " ", |i| {
            format!("JOIN visits v{i} ON v.person = v{i}.person")
        });
        format!("SELECT COUNT(*) AS n FROM visits v {joins}")
    }),
    ("public joins", |n| {
        let joins = times(n, " ", |i| {
            format!("JOIN cities c{i} ON v.city = c{i}.city")
        });
        format!("SELECT COUNT(*) AS n FROM visits v {joins}")
    }),
    ("left joins", |n| {
        let joins = times(n, " ", |i| {
            format!("LEFT JOIN cities c{i} ON v.city = c{i}.city AND c{i}.country <> 'DE'")
        });
        format!("SELECT COUNT(*) AS n FROM visits v {joins}")
    }),
    ("sums", |n| {
        let all = times(n, ", ", |i| format!("SUM(age + {i}) AS s{i}"));
        format!("SELECT {all} FROM visits")
    }),
    ("averages by group", |n| {
        let all = times(n, ", ", |i| format!("AVG(age + {i}) AS s{i}"));
        format!("SELECT city, {all} FROM visits GROUP BY city")
    }),
    ("distinct counts", |n| {
        let all = times(n, ", ", |i| format!("COUNT(DISTINCT age + {i}) AS s{i}"));
        format!("SELECT {all} FROM visits")
    }),
    ("medians", |n| {
        let all = times(n, ", ", |i| format!("MEDIAN(age + {i}) AS s{i}"));
        format!("SELECT {all} FROM visits")
    }),
    ("medians by group", |n| {
        let all = times(n, ", ", |i| format!("MEDIAN(age + {i}) AS s{i}"));
        format!("SELECT age, {all} FROM visits GROUP BY age")
    }),
    ("quantiles", |n| {
        let all = times(n, ", ", |i| format!("quantile(age, 0.{i:05}) AS s{i}"));
        format!("SELECT {all} FROM visits")
    }),
    ("sums of one unit", |n| {
        let all = times(n, ", ", |i| format!("SUM(age + {i}) AS s{i}"));
        format!("SELECT COUNT(*) AS n FROM (SELECT person, {all} FROM visits GROUP BY person) t")
    }),
    ("maxima of texts", |n| {
        let all = times(n, ", ", |i| format!("MAX(clinic || '{i:04}') AS s{i}"));
        format!("SELECT COUNT(*) AS n FROM (SELECT person, {all} FROM visits GROUP BY person) t")
    }),
    ("keys", |n| {
        let keys = times(n, ", ", |i| format!("age % 2 + {i}"));
        format!("SELECT COUNT(*) AS n FROM visits GROUP BY {keys}")
    }),
    ("public keys", |n| {
        let keys = times(n, ", ", |i| format!("insured = (age > {i})"));
        format!("SELECT COUNT(*) AS n FROM visits GROUP BY {keys}")
    }),
    ("public groups", |n| {
        format!(
            "SELECT bucket(cost, {}) AS b, COUNT(*) AS n FROM visits GROUP BY 1",
            1000.0 / n as f64
        )
    }),
    ("public groups of two keys", |n| {
        format!(
            "SELECT bucket(cost, {}) AS b, age, COUNT(*) AS n, COUNT(DISTINCT score) AS d FROM visits GROUP BY 1, 2",
            100_000.0 / n as f64
        )
    }),
    ("medians of many groups", |n| {
        let all = times(n, ", ", |i| format!("MEDIAN(age + {i}) AS s{i}"));
        format!("SELECT bucket(cost, 0.11) AS b, {all} FROM visits GROUP BY 1")
    }),
    ("medians of many groups of two keys", |n| {
        let all = times(n, ", ", |i| format!("MEDIAN(age + {i}) AS s{i}"));
        format!("SELECT bucket(cost, 12.5) AS b, age, {all} FROM visits GROUP BY 1, 2")
    }),
    ("CASE branches, equal", |n| {
        let branches = times(n, " ", |i| format!("WHEN age = {i} THEN {i}"));
        counted(&format!("CASE {branches} ELSE 0 END = 3"))
    }),
    ("CASE branches as keys", |n| {
        let branches = times(n, " ", |i| format!("WHEN age = {i} THEN 'a{i}'"));
        format!("SELECT CASE {branches} ELSE 'b' END AS k, COUNT(*) AS n FROM visits GROUP BY 1")
    }),
    ("HAVING", |n| {
        let all = times(n, " AND ", |i| format!("COUNT(*) <> {i}"));
        format!("SELECT city, COUNT(*) AS n FROM visits GROUP BY city HAVING {all}")
    }),
    ("ORDER BY", |n| {
        let all = times(n, ", ", |i| format!("COUNT(*) + {i}"));
        format!("SELECT city, COUNT(*) AS n FROM visits GROUP BY city ORDER BY {all}")
    }),
    ("columns of the answer", |n| {
        let all = times(n, ", ", |i| format!("COUNT(*) + {i} AS s{i}"));
        format!("SELECT city, {all} FROM visits GROUP BY city")
    }),
    ("doubling answers", |n| {
        let first = "SELECT COUNT(*) AS a FROM visits";
        chain(n, first, |t| format!("SELECT a + a AS a FROM {t}"), "a")
    }),
    ("wide doubling answers", |n| {
        let columns = times(50, ", ", |i| format!("a + a + {i} AS a{i}"));
        let again = times(50, ", ", |i| format!("a{i} + a{i} AS a{i}"));
        let first = format!("SELECT {columns} FROM (SELECT COUNT(*) AS a FROM visits) t");
        chain(n, &first, |t| format!("SELECT {again} FROM {t}"), "*")
    }),
    ("long names", |n| {
        let name = "n".repeat(n);
        format!(
            "SELECT COUNT(*) AS \"{name}\" FROM (SELECT person, age AS \"{name}\" FROM visits) t WHERE \"{name}\" > 3"
        )
    }),
    ("long names, often", |n| {
        let name = "n".repeat(500);
        let all = times(n, " AND ", |i| format!("\"{name}\" > {i}"));
        format!(
            "SELECT COUNT(*) AS n FROM (SELECT person, age AS \"{name}\" FROM visits) t WHERE {all}"
        )
    }),
    ("long literal", |n| {
        counted(&format!("clinic = '{}'", "x".repeat(n)))
    }),
    ("long pattern", |n| {
        counted(&format!("clinic LIKE '%{}%'", "x%_".repeat(n / 3)))
    }),
    ("kept literal", |n| {
        format!(
            "SELECT COUNT(*) AS n FROM (SELECT person, MAX(a) AS a FROM (SELECT person, '{}' AS a FROM visits) t GROUP BY person) t",
            "x".repeat(n)
        )
    }),
    ("unicode", |n| {
        counted(&format!("clinic = '{}'", "\u{1F980}é".repeat(n)))
    }),
    ("commas", |n| {
        format!("SELECT {} FROM visits", ",".repeat(n))
    }),
    ("selected numbers", |n| {
        format!("SELECT {} FROM visits", times(n, ",", |i| i.to_string()))
    }),
    ("blanks", |n| {
        format!("SELECT COUNT(*) AS n FROM visits{}", " ".repeat(n))
    }),
    ("comments", |n| {
        format!("SELECT COUNT(*) AS n FROM visits {}", "/*a*/ ".repeat(n))
    }),
    ("nested comments", |n| {
        format!(
            "SELECT COUNT(*) AS n FROM visits {}{}",
            "/*".repeat(n),
            "*/".repeat(n)
        )
    }),
    ("quotes", |n| {
        format!(
            "SELECT COUNT(*) AS n FROM visits WHERE clinic = '{}'",
            "''".repeat(n)
        )
    }),
    ("semicolons", |n| {
        format!("SELECT COUNT(*) AS n FROM visits{}", ";".repeat(n))
    }),
    ("statements", |n| times(n, ";", |_| "SELECT 1".into())),
    ("open parentheses", |n| format!("SELECT {}", "(".repeat(n))),
    ("arrays", |n| {
        format!("SELECT {}1{} FROM visits", "[".repeat(n), "]".repeat(n))
    }),
    ("subscripts", |n| {
        format!("SELECT a{} FROM visits", "[1]".repeat(n))
    }),
    ("unknown columns", |n| {
        counted(&times(n, " AND ", |i| format!("nothing{i} > 0")))
    }),
    ("tables", |n| {
        format!(
            "SELECT COUNT(*) AS n FROM {}",
            times(n, ", ", |i| format!("visits v{i}"))
        )
    }),
    ("nested joins", |n| {
        format!(
            "SELECT COUNT(*) AS n FROM {}visits v{}",
            "(".repeat(n),
            ")".repeat(n)
        )
    }),
    ("EXISTS", |n| {
        counted(&times(n, " AND ", |_| {
            "EXISTS (SELECT 1 FROM people)".into()
        }))
    }),
    ("scalar subqueries", |n| {
        counted(&format!("age > {}1{}", "(SELECT ".repeat(n), ")".repeat(n)))
    }),
    ("WITH in WITH", |n| {
        let open = times(n, "", |i| format!("WITH t{i} AS ("));
        format!(
            "{open}SELECT person FROM visits{}",
            times(n, "", |i| format!(") SELECT * FROM t{}", n - 1 - i))
        )
    }),
    ("EXPLAIN", |n| {
        format!("{} SELECT COUNT(*) AS n FROM visits", "EXPLAIN ".repeat(n))
    }),
    ("EXPLAIN PRIVACY", |n| {
        format!(
            "{} SELECT COUNT(*) AS n FROM visits",
            "EXPLAIN PRIVACY ".repeat(n)
        )
    }),
    ("INTERVAL", |n| {
        counted(&format!(
            "day > DATE '2024-01-01' {}",
            "+ INTERVAL '1' DAY ".repeat(n)
        ))
    }),
    ("windows", |n| {
        format!(
            "SELECT {} FROM visits",
            times(n, ", ", |i| format!("SUM(age) OVER (ORDER BY age + {i})"))
        )
    }),
    ("lambdas", |n| {
        format!("SELECT {}t{} FROM visits", "(a, ".repeat(n), ")".repeat(n))
    }),
];

/// The largest size that is planned, found by doubling and bisection.
pub fn largest(family: fn(usize) -> String, catalogue: &mizan_sql::Catalogue) -> usize {
    let planned = |n: usize| {
        let sql = family(n);
        sql.len() <= mizan_sql::MAX_TEXT && mizan_sql::plan(&sql, catalogue).is_ok()
    };
    let mut low = 0;
    let mut step = 1;
    while low + step < 200_000 && planned(low + step) {
        low += step;
        step *= 2;
    }
    while step > 0 {
        if planned(low + step) {
            low += step;
        }
        step /= 2;
    }
    low
}
