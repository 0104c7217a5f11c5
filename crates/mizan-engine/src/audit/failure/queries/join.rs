//! Joins that multiply the rows of the target only.

use super::super::super::dice::Dice;
use super::super::CAPS;
use super::only_target;

/// The most joins in a chain: planning each takes a while.
const MAX_CHAIN: u64 = 6;

/// A query for a public table with this many rows.
pub(super) fn query(dice: &mut Dice<'_>, public_rows: u64) -> String {
    let joins = joins(dice, public_rows);
    match dice.below(9) {
        0..=3 => flat(dice, joins),
        4 => {
            // The condition is below the joins.
            let condition = only_target(dice);
            let rows = format!("(SELECT u, a, x, c, word FROM visits WHERE {condition}) v");
            format!(
                "SELECT COUNT(*) AS n, SUM(v.x) AS s FROM {rows}{}",
                chain(dice, joins)
            )
        }
        5 => {
            // One row for each unit and key, which the outer joins multiply again.
            let (inner, outer) = (joins.div_ceil(2), joins / 2);
            let condition = only_target(dice);
            format!(
                "SELECT COUNT(*) AS n FROM (SELECT v.u AS u, l0.k AS a, COUNT(*) AS m FROM \
                 (SELECT u, a, c FROM visits WHERE {condition}) v CROSS JOIN labels l0{} \
                 GROUP BY v.u, l0.k) q{}",
                joined(dice, "v", 1, inner.saturating_sub(1)),
                joined(dice, "q", inner, outer),
            )
        }
        6 => {
            let condition = only_target(dice);
            let part = format!(
                "SELECT v.u AS u, v.a AS a FROM (SELECT u, a, c FROM visits WHERE {condition}) v{}",
                chain(dice, joins)
            );
            let parts = vec![part; dice.pick(&[2, 3, 8]).unwrap_or(2)];
            format!(
                "SELECT COUNT(*) AS n FROM ({}) q",
                parts.join(" UNION ALL ")
            )
        }
        7 => {
            let condition = only_target(dice);
            format!(
                "SELECT COUNT(*) AS n, AVG(p.age) AS m FROM (SELECT v.u AS u, v.a AS a FROM \
                 (SELECT u, a, c FROM visits WHERE {condition}) v{}) q JOIN people p ON q.u = p.u",
                chain(dice, joins)
            )
        }
        _ => {
            let condition = only_target(dice);
            format!(
                "SELECT COUNT(*) AS n FROM (SELECT v.u AS u, COUNT(*) AS a, MAX(v.x) AS x FROM \
                 (SELECT u, a, x, c FROM visits WHERE {condition}) v{} GROUP BY v.u) q{} \
                 WHERE q.x IS NOT NULL",
                chain(dice, joins),
                joined(dice, "q", 10, 1)
            )
        }
    }
}

/// The number of joins in a chain: enough to exceed the limit of the engine, or few enough for
/// an allowed fan-out.
fn joins(dice: &mut Dice<'_>, public_rows: u64) -> u64 {
    let beyond = |joins: u64| {
        let joins = u32::try_from(joins).unwrap_or(u32::MAX);
        public_rows.saturating_pow(joins) > CAPS.rows as u64
    };
    let enough = (1..=MAX_CHAIN).find(|joins| beyond(*joins));
    match enough.filter(|_| !dice.one_in(3)) {
        Some(joins) => joins,
        None => 1 + dice.below(3),
    }
}

fn flat(dice: &mut Dice<'_>, joins: u64) -> String {
    let from = match dice.below(8) {
        0 => "visits v JOIN visits w ON v.u = w.u",
        1 => "visits v JOIN people p ON v.u = p.u",
        2 => "people p LEFT JOIN visits v ON p.u = v.u",
        3 => "visits v JOIN (SELECT u, COUNT(*) AS n FROM visits GROUP BY u) w ON v.u = w.u",
        _ => "visits v",
    };
    let from = format!("{from}{}", chain(dice, joins));
    let filter = dice.word(&[
        "",
        " WHERE v.yes",
        " WHERE v.u = 666",
        " WHERE v.u = 666 AND v.yes",
        " WHERE v.u > 600 AND v.note IS NOT NULL",
        " WHERE LENGTH(v.note) > 40",
        " WHERE v.big > 100000 OR v.big < -100000",
        " WHERE ABS(v.x) > 1000",
    ]);
    match dice.below(6) {
        0 | 1 => format!("SELECT COUNT(*) AS n FROM {from}{filter}"),
        2 => format!("SELECT COUNT(*) AS n, SUM(v.x) AS s, AVG(v.big) AS b FROM {from}{filter}"),
        3 => format!("SELECT v.c, COUNT(DISTINCT v.word) AS n FROM {from}{filter} GROUP BY v.c"),
        4 => format!("SELECT v.word, COUNT(*) AS n FROM {from}{filter} GROUP BY v.word"),
        _ => format!("SELECT MEDIAN(v.x) AS n FROM {from}{filter}"),
    }
}

fn chain(dice: &mut Dice<'_>, joins: u64) -> String {
    joined(dice, "v", 0, joins)
}

/// Joins a relation with the public table, with aliases numbered from `first`. Most joins
/// multiply by all public rows.
fn joined(dice: &mut Dice<'_>, to: &str, first: u64, joins: u64) -> String {
    let one = |place| {
        let l = format!("l{place}");
        match dice.below(12) {
            0 => format!(" JOIN labels {l} ON {to}.a = {l}.k"),
            1 => format!(" LEFT JOIN labels {l} ON {to}.a = {l}.k"),
            2 => format!(" JOIN labels {l} ON {to}.a >= {l}.k OR {to}.a IS NULL"),
            3 => format!(" CROSS JOIN (SELECT m.k FROM labels m CROSS JOIN labels n) {l}"),
            4 => format!(
                " CROSS JOIN (SELECT k FROM labels UNION ALL SELECT k + 1 AS k FROM labels) {l}"
            ),
            _ => format!(" CROSS JOIN labels {l}"),
        }
    };
    (first..first.saturating_add(joins)).map(one).collect()
}
