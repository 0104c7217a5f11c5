//! Groups whose keys are long, many or at the limits of their types, and histogram bins for
//! extreme values.

use super::super::super::dice::Dice;
use super::condition;

pub(super) fn query(dice: &mut Dice<'_>) -> String {
    let (first, second) = (key(dice), key(dice));
    let condition = condition(dice);
    match dice.below(9) {
        0 => format!(
            "SELECT {first} AS k, COUNT(*) AS n FROM visits WHERE {condition} GROUP BY {first}"
        ),
        1 => format!(
            "SELECT {first} AS k, {second} AS l, COUNT(*) AS n, SUM(x) AS s FROM visits \
             GROUP BY {first}, {second}"
        ),
        2 => format!(
            "SELECT {first} AS k, COUNT(DISTINCT {second}) AS n FROM visits GROUP BY {first} \
             HAVING COUNT(*) > 1 ORDER BY n DESC LIMIT 3"
        ),
        3 => format!(
            "SELECT {first} AS k, MEDIAN(big) AS m, quantile(x, 0.99) AS q FROM visits \
             GROUP BY {first}"
        ),
        4 => {
            let ranks = (1..=dice.pick(&[2, 12, 40]).unwrap_or(2))
                .map(|rank| format!("quantile({}, 0.{rank:02}) AS q{rank}", number(dice)));
            let ranks: Vec<String> = ranks.collect();
            format!("SELECT {} FROM visits WHERE {condition}", ranks.join(", "))
        }
        5 => format!(
            "SELECT c, COUNT(DISTINCT {first}) AS n, COUNT(DISTINCT {second}) AS m FROM visits \
             GROUP BY c"
        ),
        6 => {
            // Nested keys: groups of a unit, then groups of those.
            format!(
                "SELECT k, COUNT(*) AS n, SUM(LEAST(GREATEST(s, 0), 9)) AS s FROM (SELECT u, \
                 {first} AS k, {}({second}) AS m, COUNT(*) AS s FROM visits GROUP BY u, {first}) q \
                 WHERE m IS NOT NULL GROUP BY k",
                dice.word(&["MIN", "MAX"])
            )
        }
        7 => {
            let part = format!("SELECT u, {first} AS k, x FROM visits WHERE {condition}");
            let parts = vec![part; dice.pick(&[2, 5, 20]).unwrap_or(2)].join(" UNION ALL ");
            format!("SELECT k, COUNT(*) AS n, AVG(x) AS x FROM ({parts}) q GROUP BY k")
        }
        _ => format!(
            "SELECT {first} AS k, {} AS m, VAR_SAMP(y) AS v, STDDEV(x) AS d FROM visits \
             WHERE {condition} GROUP BY {first}",
            dice.word(&["MIN(day)", "MAX(a)", "MIN(x)", "MEDIAN(y)"])
        ),
    }
}

fn number(dice: &mut Dice<'_>) -> &'static str {
    dice.word(&["big", "x", "y", "a", "LEAST(GREATEST(big, -7), 7e300)"])
}

fn key(dice: &mut Dice<'_>) -> String {
    let unit = dice.word(&["year", "quarter", "month", "week", "day", "hour", "second"]);
    match dice.below(18) {
        0 | 1 => "note".to_owned(),
        2 => "note || word".to_owned(),
        3 => "concat(note, note, c)".to_owned(),
        4 => "COALESCE(note, word, 'none')".to_owned(),
        5 => "big".to_owned(),
        6 => "x".to_owned(),
        7 => format!("date_trunc('{unit}', at)"),
        8 => format!("date_trunc('{unit}', day)"),
        9 => "bucket(x, 1e-300)".to_owned(),
        10 => "bucket(big, 9223372036854775807)".to_owned(),
        11 => "at".to_owned(),
        12 => "CAST(day AS TEXT)".to_owned(),
        13 => "CAST(big AS TEXT)".to_owned(),
        14 => "CASE WHEN yes THEN note WHEN a > 3 THEN word END".to_owned(),
        15 => "yes".to_owned(),
        16 => "day".to_owned(),
        _ => "SUBSTRING(note, 1, 9223372036854775807)".to_owned(),
    }
}
