//! What the codes of problems say in Arabic, and what to do about them.
//!
//! The libraries speak English. A page in Arabic shows the sentence of the code
//! here, and below it the words of the library, which have the names and numbers.
//! A test reads the sources: a code that a page can show and that is not here fails.

mod doors;
mod events;
mod ledger;
mod questions;

/// What a code says in Arabic.
#[derive(Clone, Copy, Debug)]
pub(super) struct Said {
    /// The code.
    code: u16,
    /// What is wrong.
    pub(super) what: &'static str,
    /// What to do.
    pub(super) next: &'static str,
}

/// Makes a table, one line a code.
macro_rules! codes {
    ($($code:literal: $what:literal, $next:literal;)*) => {
        pub(super) const TABLE: &[super::Said] = &[
            $(super::Said { code: $code, what: $what, next: $next },)*
        ];
    };
}
use codes;

const TABLES: [&[Said]; 4] = [doors::TABLE, events::TABLE, ledger::TABLE, questions::TABLE];

/// What a code such as `MZ1809` says.
pub(super) fn said(code: &str) -> Option<&'static Said> {
    let number: u16 = code.strip_prefix("MZ")?.parse().ok()?;
    TABLES
        .iter()
        .flat_map(|table| table.iter())
        .find(|said| said.code == number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::path::Path;

    /// The crates whose errors can reach a page.
    const CRATES: [&str; 9] = [
        "core",
        "accounting",
        "audit",
        "noise",
        "ledger",
        "sql",
        "engine",
        "api",
        "server",
    ];

    /// Only commands print these: nodes of clusters, tokens, starting the server.
    const COMMANDS_ONLY: &[u16] = &[
        1931, 1932, 1933, 1934, 1935, 2035, 2036, 2037, 2038, 2040, 2041, 2042,
    ];

    fn codes_in(folder: &Path, found: &mut BTreeSet<u16>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                codes_in(&path, found);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                let text = std::fs::read_to_string(&path).unwrap();
                // What tests make up is below here.
                let text = text.split("#[cfg(test)]").next().unwrap();
                for part in text.split("\"MZ").skip(1) {
                    found.extend(part.get(..4).and_then(|digits| digits.parse::<u16>().ok()));
                }
            }
        }
    }

    #[test]
    fn every_code_that_a_page_can_show_is_said_in_arabic() {
        let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let mut found = BTreeSet::new();
        for name in CRATES {
            codes_in(&crates.join(format!("mizan-{name}/src")), &mut found);
        }
        assert!(found.len() > 250, "{}", found.len());
        let missing: Vec<_> = found
            .into_iter()
            .filter(|code| !COMMANDS_ONLY.contains(code) && said(&format!("MZ{code:04}")).is_none())
            .collect();
        assert!(missing.is_empty(), "{missing:?}");
    }

    #[test]
    fn each_is_said_once_and_in_arabic() {
        let mut seen = BTreeSet::new();
        for one in TABLES.iter().flat_map(|table| table.iter()) {
            assert!(seen.insert(one.code), "{}", one.code);
            for sentence in [one.what, one.next] {
                let arabic = |c: char| ('\u{621}'..='\u{64a}').contains(&c);
                assert!(
                    sentence.chars().filter(|c| arabic(*c)).count() > 5,
                    "{}",
                    one.code
                );
                assert!(
                    !sentence.chars().any(|c| matches!(c, '٠'..='٩' | '۰'..='۹')),
                    "{}",
                    one.code
                );
            }
        }
    }
}
