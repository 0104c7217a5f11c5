//! Runs `mizan_fuzz::sql_binding` under libFuzzer.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(
    init: mizan_fuzz::write_seeds(mizan_fuzz::sql_binding::seeds, mizan_fuzz::sql_binding::words),
    |data: &[u8]| mizan_fuzz::sql_binding::check(data)
);
