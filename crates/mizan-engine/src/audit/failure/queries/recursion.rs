//! Deeply nested or long queries.

use super::super::super::dice::Dice;
use super::condition;

pub(super) fn query(dice: &mut Dice<'_>) -> String {
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
