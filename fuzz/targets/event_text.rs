//! Runs `mizan_fuzz::event_text` under libFuzzer.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(
    init: mizan_fuzz::write_seeds(mizan_fuzz::event_text::seeds, mizan_fuzz::event_text::words),
    |data: &[u8]| mizan_fuzz::event_text::check(data)
);
