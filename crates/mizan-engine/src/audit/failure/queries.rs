//! Queries aimed at failure: they make texts, numbers, rows or themselves large, and
//! whether they do depends on the rows of one unit.

use std::fmt;

use super::super::dice::Dice;
use super::super::question;

/// What a query attacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Attack {
    TextGrowth,
    Encoding,
    Overflow,
    Memory,
    Join,
    Recursion,
    Random,
}

impl fmt::Display for Attack {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::TextGrowth => "text growth",
            Self::Encoding => "encoding",
            Self::Overflow => "overflow",
            Self::Memory => "memory",
            Self::Join => "join",
            Self::Recursion => "recursion",
            Self::Random => "random",
        })
    }
}

impl Attack {
    /// One of all.
    pub(super) fn any(dice: &mut Dice<'_>) -> Self {
        match dice.below(13) {
            0..=2 => Self::TextGrowth,
            3 | 4 => Self::Encoding,
            5 | 6 => Self::Overflow,
            7 => Self::Memory,
            8 | 9 => Self::Join,
            10 => Self::Recursion,
            _ => Self::Random,
        }
    }

    /// A query.
    pub(super) fn query(self, dice: &mut Dice<'_>) -> String {
        match self {
            Self::TextGrowth => text_growth(dice),
            Self::Encoding => encoding(dice),
            Self::Overflow => overflow(dice),
            Self::Memory => memory(dice),
            Self::Join => join(dice),
            Self::Recursion => recursion(dice),
            Self::Random => question::question(dice),
        }
    }
}

const TEXTS: [&str; 4] = ["note", "word", "c", "note"];

/// A condition that the target meets, often as the only unit.
fn condition(dice: &mut Dice<'_>) -> &'static str {
    dice.word(&[
        "TRUE",
        "yes",
        "u = 666",
        "yes AND u > 600",
        "note IS NOT NULL",
    ])
}

/// A text that is longer than the stored ones it is made of.
fn grown(dice: &mut Dice<'_>, depth: u32) -> String {
    let text = match depth {
        0 => dice.word(&TEXTS).to_owned(),
        _ => grown(dice, depth - 1),
    };
    let literal = "x".repeat(dice.pick(&[1, 7, 100, 900, 5_000]).unwrap_or(1));
    match dice.below(9) {
        0 => {
            let parts = dice.pick(&[2, 5, 20, 130]).unwrap_or(2);
            let parts = if text.len() > 200 { 2 } else { parts };
            vec![text; parts].join(" || ")
        }
        1 => format!("concat({text}, {text}, '{literal}')"),
        2 => format!("({text} || '{literal}')"),
        3 => {
            let parts = dice.pick(&[2, 6, 30]).unwrap_or(2);
            format!("({text}{})", format!(" || '{literal}'").repeat(parts))
        }
        4 => format!("UPPER({text} || {text})"),
        5 => format!("CASE WHEN yes THEN {text} || {text} ELSE word END"),
        6 => format!("COALESCE({text} || word, '{literal}')"),
        7 => format!("SUBSTRING({text} || {text}, 2, {})", dice.below(100_000)),
        _ => format!("TRIM({text} || ' ') || CAST(big AS TEXT)"),
    }
}

/// A relation with a text `t` that doubles from projection to projection.
fn doubling(dice: &mut Dice<'_>) -> String {
    let mut from = format!(
        "(SELECT u, a, yes, {} AS t FROM visits WHERE {}) s0",
        grown(dice, 0),
        condition(dice)
    );
    let levels = dice.pick(&[1, 3, 6, 9, 14]).unwrap_or(1);
    for level in 1..=levels {
        let copies = dice.word(&["t || t", "t || t", "t || 'y' || t", "concat(t, t, t)"]);
        from = format!("(SELECT u, a, yes, {copies} AS t FROM {from}) s{level}");
    }
    from
}

fn text_growth(dice: &mut Dice<'_>) -> String {
    let from = match dice.below(2) {
        0 => doubling(dice),
        _ => {
            let depth = u32::try_from(dice.below(3)).unwrap_or(0);
            let text = grown(dice, depth);
            let condition = condition(dice);
            format!("(SELECT u, a, yes, {text} AS t FROM visits WHERE {condition}) s")
        }
    };
    match dice.below(8) {
        0 | 1 => format!(
            "SELECT COUNT(*) AS n FROM (SELECT u, {}(t) AS m FROM {from} GROUP BY u) z \
             WHERE m IS NOT NULL",
            dice.word(&["MAX", "MIN"])
        ),
        2 => format!("SELECT COUNT(DISTINCT t) AS n FROM {from}"),
        3 => format!("SELECT t, COUNT(*) AS n FROM {from} GROUP BY t"),
        4 => format!("SELECT SUM(LEAST(LENGTH(t), 100)) AS n FROM {from}"),
        5 => format!("SELECT COUNT(*) FILTER (WHERE t LIKE '%xy%') AS n FROM {from}"),
        6 => format!(
            "SELECT COUNT(*) AS n FROM (SELECT * FROM {from}) q JOIN labels l ON q.t = l.label"
        ),
        _ => format!(
            "SELECT COUNT(*) AS n FROM (SELECT u, MAX(t) AS m FROM {from} GROUP BY u) q \
             JOIN people p ON q.u = p.u WHERE q.m <> p.city || p.city"
        ),
    }
}

fn encoding(dice: &mut Dice<'_>) -> String {
    let text = dice.word(&["note", "word", "c"]);
    let read = match dice.below(9) {
        0 => format!("LENGTH({text}) > 2"),
        1 => format!("{text} LIKE '%k%'"),
        2 => format!("{text} > 'k'"),
        3 => format!("CAST({text} AS DOUBLE) > 1"),
        4 => format!("CAST({text} AS DATE) IS NULL"),
        5 => format!("LOWER(TRIM({text})) = 'k1'"),
        6 => format!("SUBSTRING({text}, 2, 3) <> ''"),
        7 => format!("COALESCE({text}, 'k') IN ('k', 'k1', '')"),
        _ => format!("{text} IS NULL"),
    };
    let condition = condition(dice);
    match dice.below(6) {
        0 => format!("SELECT COUNT(*) AS n FROM visits WHERE {read}"),
        1 => format!("SELECT {text}, COUNT(*) AS n FROM visits WHERE {condition} GROUP BY {text}"),
        2 => format!("SELECT COUNT(DISTINCT {text}) AS n, COUNT({text}) AS m FROM visits"),
        3 => format!(
            "SELECT COUNT(*) AS n FROM (SELECT u, MIN({text}) AS t FROM visits GROUP BY u) q \
             WHERE t >= 'a'"
        ),
        4 => format!("SELECT COUNT(*) AS n FROM visits v JOIN labels l ON v.{text} = l.label"),
        _ => format!(
            "SELECT SUM(CASE WHEN {read} THEN 1 ELSE 0 END) AS n FROM visits WHERE {condition}"
        ),
    }
}

/// A number, or a time, at the end of what its type holds.
fn extreme(dice: &mut Dice<'_>) -> String {
    let unit = dice.word(&["year", "month", "week", "day", "quarter"]);
    let small = dice.word(&[
        "1",
        "-1",
        "0",
        "7",
        "1e300",
        "1e-300",
        "9223372036854775807",
    ]);
    match dice.below(22) {
        0 => "big * big".to_owned(),
        1 => format!("big + {small}"),
        2 => "-big - big".to_owned(),
        3 => "ABS(big)".to_owned(),
        4 => format!("big / {small}"),
        5 => "big % -1".to_owned(),
        6 => "CAST(x AS BIGINT)".to_owned(),
        7 => "CAST(x * 1e18 AS BIGINT) + big".to_owned(),
        8 => format!("x * {small} * 1e300"),
        9 => "x / y".to_owned(),
        10 => "SQRT(x) - SQRT(y)".to_owned(),
        11 => "ROUND(x * 1e10)".to_owned(),
        12 => "CAST(note AS BIGINT)".to_owned(),
        13 => "CAST(note AS DOUBLE) * x".to_owned(),
        14 => format!("EXTRACT({unit} FROM at)"),
        15 => format!("EXTRACT({unit} FROM day)"),
        16 => format!("EXTRACT(year FROM date_trunc('{unit}', at))"),
        17 => format!("EXTRACT(day FROM date_trunc('{unit}', day))"),
        18 => "EXTRACT(hour FROM CAST(day AS TIMESTAMP))".to_owned(),
        19 => "EXTRACT(year FROM CAST(at AS DATE))".to_owned(),
        20 => format!("bucket(big, {})", 1 + dice.below(9)),
        _ => "bucket(x, 0.001)".to_owned(),
    }
}

fn overflow(dice: &mut Dice<'_>) -> String {
    let (number, other) = (extreme(dice), extreme(dice));
    let condition = condition(dice);
    match dice.below(8) {
        0 => format!("SELECT SUM(LEAST(GREATEST({number}, -3), 10)) AS n FROM visits"),
        1 => format!("SELECT COUNT({number}) AS n, COUNT({other}) AS m FROM visits"),
        2 => format!("SELECT COUNT(DISTINCT {number}) AS n FROM visits WHERE {condition}"),
        3 => format!("SELECT {number} AS k, COUNT(*) AS n FROM visits GROUP BY {number}"),
        4 => format!("SELECT COUNT(*) AS n FROM visits WHERE {number} > {other}"),
        5 => format!(
            "SELECT COUNT(*) AS n, SUM(LEAST(GREATEST(s, 0), 5)) AS s FROM (SELECT u, \
             {}({number}) AS s FROM visits GROUP BY u) q WHERE s > 0 OR s IS NULL",
            dice.word(&["SUM", "AVG", "MAX", "MIN"])
        ),
        6 => format!("SELECT MEDIAN(LEAST(GREATEST({number}, 0), 50)) AS n FROM visits"),
        _ => format!(
            "SELECT SUM(big) AS s, AVG(x) AS x, VAR_SAMP(y) AS v, MAX(day) AS d FROM visits \
             WHERE {number} IS NOT NULL"
        ),
    }
}

fn memory(dice: &mut Dice<'_>) -> String {
    let condition = condition(dice);
    match dice.below(6) {
        0 => format!(
            "SELECT COUNT(DISTINCT concat(word, note, a)) AS n FROM visits WHERE {condition}"
        ),
        1 => "SELECT note, word, a, big, day, COUNT(*) AS n FROM visits \
              GROUP BY note, word, a, big, day"
            .to_owned(),
        2 => format!(
            "SELECT MEDIAN(big) AS a, MEDIAN(x) AS b, quantile(y, 0.9) AS c, MIN(a) AS d, \
             MAX(day) AS e FROM visits WHERE {condition}"
        ),
        3 => {
            "SELECT a, MEDIAN(big) AS m, COUNT(DISTINCT big) AS n FROM visits GROUP BY a".to_owned()
        }
        4 => "SELECT COUNT(*) AS n FROM (SELECT u, a, MAX(note) AS m, MIN(word) AS w FROM visits \
              GROUP BY u, a) q WHERE m <> w"
            .to_owned(),
        _ => {
            let parts = ["SELECT u, note AS t, big AS b FROM visits"; 9].join(" UNION ALL ");
            format!("SELECT COUNT(DISTINCT t) AS n, SUM(LEAST(b, 3)) AS s FROM ({parts}) q")
        }
    }
}

fn join(dice: &mut Dice<'_>) -> String {
    let mut from = match dice.below(5) {
        0 => "visits v JOIN visits w ON v.u = w.u".to_owned(),
        1 => "visits v JOIN people p ON v.u = p.u".to_owned(),
        2 => "people p LEFT JOIN visits v ON p.u = v.u".to_owned(),
        _ => "visits v".to_owned(),
    };
    for place in 0..1 + dice.below(3) {
        let l = format!("l{place}");
        from.push_str(&match dice.below(7) {
            0 | 1 => format!(" CROSS JOIN labels {l}"),
            2 => format!(" JOIN labels {l} ON v.a = {l}.k"),
            3 => format!(" LEFT JOIN labels {l} ON v.a = {l}.k"),
            4 => format!(" JOIN labels {l} ON v.a >= {l}.k"),
            5 => format!(" CROSS JOIN (SELECT m.k FROM labels m CROSS JOIN labels n) {l}"),
            _ => format!(" JOIN labels {l} ON v.c = {l}.label"),
        });
    }
    let filter = dice.word(&[
        "",
        " WHERE v.yes",
        " WHERE v.u = 666",
        " WHERE v.note IS NOT NULL",
    ]);
    match dice.below(5) {
        0 | 1 => format!("SELECT COUNT(*) AS n FROM {from}{filter}"),
        2 => format!("SELECT COUNT(*) AS n, SUM(v.x) AS s, AVG(v.big) AS b FROM {from}{filter}"),
        3 => format!("SELECT v.c, COUNT(DISTINCT v.word) AS n FROM {from}{filter} GROUP BY v.c"),
        _ => format!("SELECT MEDIAN(v.x) AS n FROM {from}{filter}"),
    }
}

fn recursion(dice: &mut Dice<'_>) -> String {
    let depth = usize::try_from(dice.pick(&[3, 20, 90]).unwrap_or(3)).unwrap_or(3);
    let condition = condition(dice);
    let repeated = |open: &str, inner: &str, close: &str| {
        format!("{}{inner}{}", open.repeat(depth), close.repeat(depth))
    };
    match dice.below(7) {
        0 => {
            let case = repeated("CASE WHEN yes THEN a ELSE ", "big", " END");
            format!("SELECT COUNT({case}) AS n FROM visits WHERE {condition}")
        }
        1 => {
            let from = repeated("(SELECT u, a, x FROM ", "visits", " q)");
            format!("SELECT COUNT(*) AS n, AVG(x) AS x FROM {from} z")
        }
        2 => {
            let any: Vec<String> = (0..depth * 5).map(|value| format!("a = {value}")).collect();
            format!(
                "SELECT COUNT(*) AS n FROM visits WHERE {}",
                any.join(" OR ")
            )
        }
        3 => {
            let number = repeated("-(", "big", ")");
            format!("SELECT COUNT(*) AS n FROM visits WHERE {number} > 0")
        }
        4 => {
            let sum = vec!["x"; depth].join(" + x * ");
            format!("SELECT SUM(LEAST(GREATEST({sum}, 0), 1)) AS n FROM visits")
        }
        5 => {
            let mut from = "visits".to_owned();
            for level in 0..depth.min(12) {
                from = format!("(SELECT u, yes, a + a * a AS a, note FROM {from}) s{level}");
            }
            format!("SELECT SUM(LEAST(GREATEST(a, 0), 9)) AS n FROM {from} WHERE {condition}")
        }
        _ => {
            let nots = "NOT ".repeat(depth);
            format!("SELECT COUNT(*) AS n FROM visits WHERE {nots}(x > y)")
        }
    }
}
