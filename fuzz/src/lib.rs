//! The properties that the fuzz targets check, and the inputs they begin with.
//!
//! Each module has a function `check`, which panics if a property does not hold for some bytes, and
//! a function `seeds`. A fuzz target in `targets/` calls both; scripts/fuzz runs it.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a property that does not hold panics"
)]

pub mod event_text;
pub mod ledger_entry;
pub mod sql_binding;

use std::collections::BTreeSet;
use std::path::Path;

/// Writes seeds to `seeds/` and a dictionary to `dictionary` in the folder of the variable
/// `MIZAN_FUZZ_SEEDS` and exits, if it is set.
pub fn write_seeds(seeds: fn() -> Vec<Vec<u8>>, words: fn() -> BTreeSet<String>) {
    let Some(folder) = std::env::var_os("MIZAN_FUZZ_SEEDS") else {
        return;
    };
    let folder = Path::new(&folder);
    std::fs::create_dir_all(folder.join("seeds")).unwrap();
    for (number, seed) in seeds().iter().enumerate() {
        std::fs::write(folder.join(format!("seeds/seed-{number:04}")), seed).unwrap();
    }
    let plain = |word: &String| {
        word.bytes()
            .all(|b| b.is_ascii_graphic() && b != b'"' && b != b'\\')
    };
    let words = words().into_iter().filter(plain);
    let lines: Vec<String> = words.map(|word| format!("\"{word}\"\n")).collect();
    std::fs::write(folder.join("dictionary"), lines.concat()).unwrap();
    std::process::exit(0);
}

#[cfg(test)]
mod tests {
    use super::{event_text, ledger_entry, sql_binding};

    /// A seed that does not reach the code behind the readers would be of no use.
    #[test]
    fn seeds_are_accepted_and_keep_the_properties() {
        let events = event_text::seeds();
        let texts = events.iter().map(|seed| std::str::from_utf8(seed).unwrap());
        let events_read = texts.filter(|text| text.parse::<mizan_core::PrivacyEvent>().is_ok());
        assert!(events_read.count() > 15);
        events.iter().for_each(|seed| event_text::check(seed));
        let logs = ledger_entry::seeds();
        assert!(logs.iter().any(|seed| ledger_entry::accepted(seed) > 5));
        logs.iter().for_each(|seed| ledger_entry::check(seed));
        let queries = sql_binding::seeds();
        assert!(queries.len() > 100);
        queries.iter().for_each(|seed| sql_binding::check(seed));
    }
}
