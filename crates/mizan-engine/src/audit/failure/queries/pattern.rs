//! Patterns that are tried at every position of a text.

use super::super::super::dice::Dice;
use super::condition;

pub(super) fn query(dice: &mut Dice<'_>) -> String {
    let text = dice.word(&[
        "note",
        "word",
        "note || word",
        "LOWER(note)",
        "TRIM(c || note)",
    ]);
    let many = dice.pick(&[1, 5, 40]).unwrap_or(1);
    let pattern = match dice.below(8) {
        0 => format!("%{}y", "x".repeat(many)),
        1 => format!("{}y%", "%x".repeat(many)),
        2 => format!("{}%", "_".repeat(many)),
        3 => format!("{}\\%", "%_".repeat(many)),
        4 => format!("%{}\u{10ffff}é%", "x_".repeat(many)),
        5 => "%\\_\\\\%".to_owned(),
        6 => String::new(),
        _ => format!("%{}%", "_x%".repeat(many)),
    };
    let like = dice.word(&["LIKE", "NOT LIKE", "ILIKE"]);
    let read = format!("{text} {like} '{pattern}'");
    let condition = condition(dice);
    match dice.below(4) {
        0 => format!("SELECT COUNT(*) AS n FROM visits WHERE {read}"),
        1 => format!("SELECT COUNT(*) FILTER (WHERE {read}) AS n FROM visits WHERE {condition}"),
        2 => format!(
            "SELECT COUNT(*) AS n FROM visits v JOIN labels l ON v.a >= l.k WHERE {} {like} '{pattern}'",
            dice.word(&["v.note", "v.note || l.label"])
        ),
        _ => format!(
            "SELECT CASE WHEN {read} THEN 'p' ELSE 'q' END AS k, COUNT(*) AS n FROM visits \
             WHERE {condition} GROUP BY CASE WHEN {read} THEN 'p' ELSE 'q' END"
        ),
    }
}
