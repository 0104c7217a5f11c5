//! Runs `mizan_fuzz::ledger_entry` under libFuzzer.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(
    init: mizan_fuzz::write_seeds(mizan_fuzz::ledger_entry::seeds, mizan_fuzz::ledger_entry::words),
    |data: &[u8]| mizan_fuzz::ledger_entry::check(data)
);
