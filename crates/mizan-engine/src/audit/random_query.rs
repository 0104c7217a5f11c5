//! Random queries over three tables: `visits` and `people`, private with the unit `u`, and
//! `labels`, public. Most are allowed. Refused ones test that nothing worse happens.

use super::dice::Dice;

/// The depth of expressions.
const DEPTH: u32 = 3;

/// A query.
pub(crate) fn random_query(dice: &mut Dice<'_>) -> String {
    let source = source(dice);
    let keys = keys(dice, &source);
    let mut shown: Vec<String> = keys.clone();
    for place in 0..1 + dice.below(3) {
        shown.push(format!("{} AS m{place}", aggregate(dice, &source)));
    }
    let filter = if dice.one_in(2) {
        format!(" WHERE {}", predicate(dice, &source, DEPTH))
    } else {
        String::new()
    };
    let group = if keys.is_empty() {
        String::new()
    } else {
        format!(" GROUP BY {}", keys.join(", "))
    };
    let with = if source.with.is_empty() {
        String::new()
    } else {
        format!("WITH {} ", source.with)
    };
    let after = match dice.below(4) {
        0 => " ORDER BY m0 DESC LIMIT 3",
        1 => " HAVING COUNT(*) > 2",
        _ => "",
    };
    // A HAVING without keys is a valid query too.
    format!(
        "{with}SELECT {} FROM {}{filter}{group}{after}",
        shown.join(", "),
        source.from
    )
}

/// A relation and the columns that it offers.
struct Source {
    with: String,
    from: String,
    integers: Vec<&'static str>,
    numbers: Vec<&'static str>,
    texts: Vec<&'static str>,
    dates: Vec<&'static str>,
    flags: Vec<&'static str>,
    unit: &'static str,
}

fn source(dice: &mut Dice<'_>) -> Source {
    let visits = Source {
        with: String::new(),
        from: "visits v".to_owned(),
        integers: vec!["v.a", "v.big"],
        numbers: vec!["v.x", "v.y"],
        texts: vec!["v.c", "v.word"],
        dates: vec!["v.day"],
        flags: vec!["v.yes"],
        unit: "v.u",
    };
    match dice.below(12) {
        0..=2 => visits,
        3 => Source {
            from: "visits v JOIN people p ON v.u = p.u".to_owned(),
            integers: vec!["v.a", "p.age"],
            texts: vec!["v.c", "p.city"],
            ..visits
        },
        4 => Source {
            from: "people p LEFT JOIN visits v ON p.u = v.u AND v.a > 2".to_owned(),
            integers: vec!["v.a", "p.age"],
            texts: vec!["p.city"],
            unit: "p.u",
            ..visits
        },
        5 => Source {
            from: format!(
                "visits v {}JOIN labels l ON v.a = l.k",
                dice.word(&["", "LEFT "])
            ),
            integers: vec!["v.a", "l.k"],
            texts: vec!["l.label", "v.c"],
            ..visits
        },
        6 => Source {
            from: "(SELECT u, COUNT(*) AS a, MAX(x) AS x, SUM(y) AS y, MIN(day) AS day, \
                   MAX(c) AS c, MIN(yes) AS yes, COUNT(DISTINCT a) AS big, MAX(word) AS word \
                   FROM visits GROUP BY u) v"
                .to_owned(),
            ..visits
        },
        7 => Source {
            with: format!(
                "w AS (SELECT u, a, big, x * 2 AS x, y, c, word, day, yes FROM visits WHERE {})",
                dice.word(&["x > 0", "a IS NOT NULL", "c = 'k1' OR yes", "TRUE"])
            ),
            from: "w v".to_owned(),
            ..visits
        },
        8 => Source {
            from: "visits v JOIN visits w ON v.u = w.u AND v.a <= w.a".to_owned(),
            integers: vec!["v.a", "w.big"],
            texts: vec!["w.c", "v.word"],
            ..visits
        },
        9 => Source {
            from: "people p RIGHT JOIN visits v ON p.u = v.u JOIN visits w ON w.u = v.u".to_owned(),
            integers: vec!["p.age", "w.a"],
            texts: vec!["p.city", "w.word"],
            ..visits
        },
        10 => Source {
            from: "(SELECT u, COUNT(*) AS n FROM people GROUP BY u) p \
                   JOIN visits v USING (u) LEFT JOIN labels l ON v.a = l.k"
                .to_owned(),
            integers: vec!["p.n", "l.k"],
            texts: vec!["l.label", "v.c"],
            ..visits
        },
        _ => Source {
            from: "(SELECT u, a, big, x, y, c, word, day, yes FROM visits UNION ALL \
                   SELECT u, age AS a, age AS big, income AS x, income AS y, city AS c, \
                   city AS word, DATE '2024-02-29' AS day, age > 30 AS yes FROM people) v"
                .to_owned(),
            ..visits
        },
    }
}

fn keys(dice: &mut Dice<'_>, source: &Source) -> Vec<String> {
    let mut keys = Vec::new();
    for _ in 0..dice.below(3) {
        let text = dice.word(&source.texts);
        let integer = dice.word(&source.integers);
        let day = dice.word(&source.dates);
        let flag = dice.word(&source.flags);
        let key = match dice.below(9) {
            0 | 1 => text.to_owned(),
            2 => format!("bucket({integer}, {})", 1 + dice.below(5)),
            3 => format!(
                "date_trunc('{}', {day})",
                dice.word(&["month", "year", "week", "day"])
            ),
            4 => flag.to_owned(),
            5 => format!(
                "EXTRACT({} FROM {day})",
                dice.word(&["month", "year", "dow", "quarter"])
            ),
            6 => format!(
                "CASE WHEN {} THEN 'p' ELSE 'q' END",
                predicate(dice, source, 1)
            ),
            7 => format!("COALESCE({text}, 'none')"),
            _ => format!("{integer} % 3"),
        };
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    keys
}

fn aggregate(dice: &mut Dice<'_>, source: &Source) -> String {
    let number = |dice: &mut Dice<'_>| bounded(dice, source);
    match dice.below(14) {
        0 | 1 => "COUNT(*)".to_owned(),
        2 => format!("COUNT({})", numeric(dice, source, 2)),
        3 => format!("COUNT(DISTINCT {})", source.unit),
        4 => format!("COUNT(DISTINCT {})", dice.word(&source.texts)),
        5 | 6 => format!("SUM({})", number(dice)),
        7 => format!("AVG({})", number(dice)),
        8 => format!("VAR_SAMP({})", number(dice)),
        9 => format!("MEDIAN({})", number(dice)),
        10 => format!("MIN({})", number(dice)),
        11 => format!("quantile({}, 0.{})", number(dice), 1 + dice.below(9)),
        12 => format!(
            "SUM(CASE WHEN {} THEN 1 ELSE 0 END)",
            predicate(dice, source, 2)
        ),
        _ => format!("COUNT(*) FILTER (WHERE {})", predicate(dice, source, 2)),
    }
}

/// A number with bounds, declared or from clamping.
fn bounded(dice: &mut Dice<'_>, source: &Source) -> String {
    if dice.one_in(3) {
        let inner = numeric(dice, source, DEPTH);
        return format!(
            "LEAST(GREATEST({inner}, -{}), {})",
            dice.below(50),
            1 + dice.below(1000)
        );
    }
    match dice.below(3) {
        0 => dice.word(&source.numbers).to_owned(),
        1 => dice.word(&source.integers).to_owned(),
        _ => format!("{} * 0.5 + 1", dice.word(&source.numbers)),
    }
}

fn numeric(dice: &mut Dice<'_>, source: &Source, depth: u32) -> String {
    if depth == 0 || dice.one_in(3) {
        return match dice.below(4) {
            0 => dice.word(&source.numbers).to_owned(),
            1 => dice.between(-9, 9).to_string(),
            2 => dice
                .word(&["1e300", "-0.0", "0.1", "9223372036854775807", "1e-300"])
                .to_owned(),
            _ => dice.word(&source.integers).to_owned(),
        };
    }
    let (left, right) = (
        numeric(dice, source, depth - 1),
        numeric(dice, source, depth - 1),
    );
    match dice.below(12) {
        0 => format!("({left} + {right})"),
        1 => format!("({left} - {right})"),
        2 => format!("({left} * {right})"),
        3 => format!("({left} / {right})"),
        4 => format!("ABS({left})"),
        5 => format!("FLOOR({left})"),
        6 => format!("SQRT({left})"),
        7 => format!("ROUND({left})"),
        8 => format!(
            "CASE WHEN {} THEN {left} ELSE {right} END",
            predicate(dice, source, depth - 1)
        ),
        9 => format!("COALESCE({left}, {right})"),
        10 => format!("CAST({left} AS BIGINT)"),
        _ => format!("CAST({} AS DOUBLE)", dice.word(&source.texts)),
    }
}

fn predicate(dice: &mut Dice<'_>, source: &Source, depth: u32) -> String {
    if depth == 0 || dice.one_in(3) {
        let text = dice.word(&source.texts);
        return match dice.below(6) {
            0 => format!("{text} = 'k{}'", dice.below(4)),
            1 => format!("{} > {}", dice.word(&source.integers), dice.between(-3, 30)),
            2 => format!("{} IS NOT NULL", dice.word(&source.numbers)),
            3 => format!("{} >= DATE '2024-03-01'", dice.word(&source.dates)),
            4 => format!(
                "{text} LIKE '{}'",
                dice.word(&["k%", "%1", "_1", "%", "a\\%"])
            ),
            _ => dice.word(&source.flags).to_owned(),
        };
    }
    let (left, right) = (
        predicate(dice, source, depth - 1),
        predicate(dice, source, depth - 1),
    );
    match dice.below(5) {
        0 => format!("({left} AND {right})"),
        1 => format!("({left} OR {right})"),
        2 => format!("NOT ({left})"),
        3 => format!(
            "({} < {})",
            numeric(dice, source, depth - 1),
            numeric(dice, source, depth - 1)
        ),
        _ => format!("{} IN (1, 2, 5)", dice.word(&source.integers)),
    }
}
