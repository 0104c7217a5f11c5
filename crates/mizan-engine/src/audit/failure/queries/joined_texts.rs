//! Texts that are computed after joins: one long text of the target is repeated for each public
//! row and for each row of its unit.

use super::super::super::dice::Dice;
use super::only_target;

/// A text made of a stored text and a joined one.
fn made(dice: &mut Dice<'_>) -> String {
    match dice.below(7) {
        0 => "v.note || l.label".to_owned(),
        1 => "concat(l.label, v.note, v.word)".to_owned(),
        2 => "UPPER(v.note)".to_owned(),
        3 => "LOWER(v.note || l.label)".to_owned(),
        4 => "SUBSTRING(v.note, 2, 60000) || l.label".to_owned(),
        5 => "TRIM(v.note || CAST(l.k AS TEXT))".to_owned(),
        _ => "NULLIF(UPPER(v.note), l.label)".to_owned(),
    }
}

/// The greatest of several texts, all of which are in memory at once.
fn greatest(dice: &mut Dice<'_>, text: &str) -> String {
    let many = dice.pick(&[1, 2, 5, 15]).unwrap_or(1);
    let texts: Vec<String> = (0..many)
        .map(|place| format!("{text} || '{place}'"))
        .collect();
    match texts.as_slice() {
        [one] => one.clone(),
        _ => format!("GREATEST({})", texts.join(", ")),
    }
}

pub(super) fn query(dice: &mut Dice<'_>) -> String {
    let condition = only_target(dice);
    let visits = format!("(SELECT u, a, note, word FROM visits WHERE {condition}) v");
    let rows = match dice.below(4) {
        0 => format!(
            "{visits} JOIN (SELECT u, MAX(note) AS label, COUNT(*) AS k FROM visits GROUP BY u) l \
             ON v.u = l.u"
        ),
        _ => format!("{visits} CROSS JOIN labels l"),
    };
    let text = made(dice);
    let text = greatest(dice, &text);
    match dice.below(6) {
        0 => format!("SELECT COUNT(*) AS n FROM {rows} WHERE LENGTH({text}) > 1"),
        1 => format!("SELECT COUNT(*) AS n FROM {rows} WHERE {text} LIKE '%x9'"),
        2 => format!("SELECT SUM(LEAST(LENGTH({text}), 100)) AS n FROM {rows}"),
        3 => format!(
            "SELECT COUNT(*) AS n FROM (SELECT v.u AS u, MAX({text}) AS m FROM {rows} \
             GROUP BY v.u) q WHERE m > 'a'"
        ),
        4 => {
            // The join condition itself.
            let text = text.replace("l.label", "m.label").replace("l.k", "m.k");
            format!(
                "SELECT COUNT(*) AS n FROM {visits} LEFT JOIN labels m ON v.a >= m.k AND \
                 LENGTH({text}) > 3"
            )
        }
        _ => format!(
            "SELECT COUNT(*) AS n FROM (SELECT v.u AS u, v.a AS a, {text} AS t FROM {rows}) q \
             WHERE t > 'a' AND LENGTH(t) > 2"
        ),
    }
}
