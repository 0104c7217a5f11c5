//! Queries that read texts which are not UTF-8.

use super::super::super::dice::Dice;
use super::condition;

pub(super) fn query(dice: &mut Dice<'_>) -> String {
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
