//! Three queries with which the rows of one unit once decided whether there was an answer, for
//! tests of every engine: a text that grows, a cell that is not UTF-8, and public tables that
//! multiply a row.

use std::collections::BTreeMap;

use mizan_sql::{Bounds, Catalogue, Dataset, DatasetColumn, Privacy, Type};

use crate::audit::compare;
use crate::audit::failure::Outcome;
use crate::audit::failure::world::{Cell, Rows};

/// The rows of each dataset.
pub(crate) type Tables = BTreeMap<&'static str, Rows>;

/// A query, and neighbouring datasets.
pub(crate) struct Reproduction {
    pub(crate) sql: String,
    pub(crate) with: Tables,
    pub(crate) without: Tables,
    /// Whether the data must be in files: a database cannot store text that is not UTF-8.
    pub(crate) files_only: bool,
}

/// Notes of people, and public codes.
pub(crate) fn catalogue() -> Catalogue {
    let column = |name: &str, kind, bounds| DatasetColumn {
        bounds,
        ..DatasetColumn::new(name, kind)
    };
    let notes = Dataset {
        name: "notes".to_owned(),
        source: String::new(),
        files: Vec::new(),
        privacy: Some(Privacy {
            unit: vec!["person".to_owned()],
            account: "all".to_owned(),
            rows_per_unit: Some(2),
            groups_per_unit: Some(1),
        }),
        columns: vec![
            column("person", Type::Integer, None),
            column("note", Type::Text, None),
            column("cost", Type::Number, Bounds::new(0.0, 100.0)),
        ],
    };
    let codes = Dataset {
        name: "codes".to_owned(),
        source: String::new(),
        files: Vec::new(),
        privacy: None,
        columns: vec![
            column("code", Type::Integer, None),
            column("label", Type::Text, None),
        ],
    };
    let datasets = [notes, codes].map(|dataset| (dataset.name.clone(), dataset));
    Catalogue {
        datasets: datasets.into(),
    }
}

fn note(person: i64, note: &[u8]) -> Vec<Cell> {
    let text = Cell::Bytes(note.to_vec());
    vec![Cell::Integer(person), text, Cell::Number(12.5)]
}

fn tables(notes: Rows, codes: i64) -> Tables {
    let code = |code| vec![Cell::Integer(code), Cell::Bytes(b"k1".to_vec())];
    Tables::from([("notes", notes), ("codes", (0..codes).map(code).collect())])
}

/// A per-unit MAX of `note || '<literal>'`, doubled `doublings` times.
fn growing(literal: usize, doublings: u32) -> String {
    let literal = "x".repeat(literal);
    let mut from = format!("(SELECT person, note || '{literal}' AS t FROM notes) s");
    for level in 0..doublings {
        from = format!("(SELECT person, t || t AS t FROM {from}) s{level}");
    }
    format!(
        "SELECT COUNT(*) AS n FROM (SELECT person, MAX(t) AS m FROM {from} GROUP BY person) q \
         WHERE m >= 'x'"
    )
}

/// All of them.
pub(crate) fn all() -> Vec<Reproduction> {
    let mut all = Vec::new();
    let people = |people, length| {
        let text = vec![b'x'; length];
        let notes = (0..people).map(|person| note(person, &text));
        notes.collect::<Rows>()
    };
    // 128 concatenations: the texts of 1,000 people are below 2^31 bytes, and those of 1,001
    // are above. Shorter literals are allowed, and so are notes whose copies are just below or
    // just above the longest computed text.
    for (literal, doublings, length) in [
        (16_767, 7, 0),
        (16_767, 0, 0),
        (1_000, 7, 0),
        (60, 6, 0),
        (0, 6, 1_000),
        (0, 6, 1_030),
        // Just within the limits of the binder.
        (2_000, 0, 0),
        (170, 3, 0),
        (80, 4, 0),
    ] {
        all.push(Reproduction {
            sql: growing(literal, doublings),
            with: tables(people(1_001, length), 3),
            without: tables(people(1_000, length), 3),
            files_only: false,
        });
    }
    for read in [
        "SELECT COUNT(note) AS n FROM notes",
        "SELECT COUNT(*) AS n FROM notes WHERE note LIKE 'a%'",
        "SELECT note, COUNT(*) AS n FROM notes GROUP BY note",
        "SELECT COUNT(*) AS n FROM (SELECT person, MIN(note) AS m FROM notes GROUP BY person) q \
         WHERE m > 'a'",
    ] {
        let others: Rows = (0..20).map(|person| note(person, b"abc")).collect();
        let mut with = others.clone();
        with.push(note(20, b"ab\xff\xfe"));
        all.push(Reproduction {
            sql: read.to_owned(),
            with: tables(with, 3),
            without: tables(others, 3),
            files_only: true,
        });
    }
    for joins in [0, 1, 2, 3] {
        let others: Rows = (0..20).map(|person| note(person, b"abc")).collect();
        let mut with = others.clone();
        with.push(note(20, b"match"));
        let codes: String = (0..joins)
            .map(|join| format!(" CROSS JOIN codes c{join}"))
            .collect();
        // Without joins each row matches one code, and there is an answer.
        let codes = match joins {
            0 => " JOIN codes c ON LENGTH(v.note) = c.code".to_owned(),
            _ => codes,
        };
        all.push(Reproduction {
            sql: format!("SELECT COUNT(*) AS n FROM notes v{codes} WHERE v.note = 'match'"),
            with: tables(with, 10_000),
            without: tables(others, 10_000),
            files_only: false,
        });
    }
    all
}

/// Both neighbours have an answer within the plan's sensitivity, or both are refused before the
/// charge with the same code. Nothing fails after the charge.
pub(crate) fn check(
    catalogue: &Catalogue,
    mut outcome: impl FnMut(&mizan_sql::BoundedPlan, &Tables) -> Outcome,
    files: bool,
) {
    let (mut answered, mut refused) = (0, 0);
    for Reproduction {
        sql,
        with,
        without,
        files_only,
    } in all()
    {
        if files_only && !files {
            continue;
        }
        let shown: String = sql
            .chars()
            .rev()
            .take(300)
            .collect::<Vec<_>>()
            .into_iter()
            .rev()
            .collect();
        let Ok(plan) = mizan_sql::plan(&sql, catalogue) else {
            refused += 1;
            continue;
        };
        match (outcome(&plan, &with), outcome(&plan, &without)) {
            (Outcome::Answer(with), Outcome::Answer(without)) => {
                compare(&plan, &with.exact, &without.exact)
                    .unwrap_or_else(|what| panic!("{what}: {shown}"));
                answered += 1;
            }
            (Outcome::Refused(with), Outcome::Refused(without)) if with == without => refused += 1,
            (with, without) => panic!("{with} with a unit's rows, {without} without them: {shown}"),
        }
    }
    // Not everything is refused: texts just within the limits have answers.
    assert!(answered >= 3, "{answered} answered, {refused} refused");
}
