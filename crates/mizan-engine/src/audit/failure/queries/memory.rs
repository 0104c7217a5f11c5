//! Aggregates with large states.

use super::super::super::dice::Dice;
use super::condition;

pub(super) fn query(dice: &mut Dice<'_>) -> String {
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
