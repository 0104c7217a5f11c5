//! Numbers, dates and timestamps beyond the limits of their types, and texts that are not
//! numbers.

use super::super::super::dice::Dice;
use super::condition;

/// A number or a timestamp at the limit of its type.
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
    match dice.below(32) {
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
        21 => "CAST(big AS DATE)".to_owned(),
        22 => "CAST(big AS TIMESTAMP)".to_owned(),
        23 => format!("CAST({} AS TIMESTAMP)", dice.word(&["note", "word"])),
        24 => format!("CAST({} AS DATE)", dice.word(&["note", "word"])),
        25 => "CAST(note AS BOOLEAN)".to_owned(),
        26 => "CAST(CAST(day AS TEXT) AS DATE)".to_owned(),
        27 => "CAST(CAST(big AS TEXT) || word AS BIGINT)".to_owned(),
        28 => "FLOOR(x * 1e300) % 7".to_owned(),
        29 => format!(
            "EXTRACT({} FROM CAST(big AS TIMESTAMP))",
            dice.word(&["dow", "doy", unit])
        ),
        30 => "CASE WHEN big = 0 THEN 1 ELSE 1 / big END".to_owned(),
        _ => "bucket(x, 0.001)".to_owned(),
    }
}

pub(super) fn query(dice: &mut Dice<'_>) -> String {
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
