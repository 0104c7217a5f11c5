//! Aggregates that hold a computed text for each public row that the target's row matches: a
//! public table multiplies the memory of one row.

use super::super::super::dice::Dice;
use super::only_target;

pub(super) fn query(dice: &mut Dice<'_>) -> String {
    let condition = only_target(dice);
    let rows = format!("(SELECT u, a, note FROM visits WHERE {condition}) v CROSS JOIN labels l");
    let text = dice.word(&[
        "v.note || CAST(l.k AS TEXT)",
        "concat(l.label, v.note, l.label)",
        "v.note || v.note || l.label",
    ]);
    match dice.below(4) {
        0 => format!("SELECT COUNT(DISTINCT {text}) AS n FROM {rows}"),
        1 => format!("SELECT {text} AS k, COUNT(*) AS n FROM {rows} GROUP BY {text}"),
        2 => format!(
            "SELECT COUNT(*) AS n FROM (SELECT v.u AS u, l.k AS k, MAX({text}) AS m FROM {rows} \
             GROUP BY v.u, l.k) q WHERE m > 'a'"
        ),
        _ => format!(
            "SELECT COUNT(*) AS n FROM (SELECT v.u AS u, {text} AS k, COUNT(*) AS m FROM {rows} \
             GROUP BY v.u, {text}) q WHERE k > 'a'"
        ),
    }
}
