//! Texts that grow with each projection.

use super::super::super::dice::Dice;
use super::condition;

const TEXTS: [&str; 4] = ["note", "word", "c", "note"];

/// A text that is longer than the stored texts in it.
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

/// A relation with a text `t` that doubles with each projection.
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

pub(super) fn query(dice: &mut Dice<'_>) -> String {
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
