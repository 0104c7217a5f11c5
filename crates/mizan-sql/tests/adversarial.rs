//! Queries of growing size are planned or refused at every size. Times are printed and not
//! asserted; the limits are.
#![allow(
    clippy::cast_precision_loss,
    clippy::print_stdout,
    reason = "tests may panic, and print"
)]

use std::time::{Duration, Instant};

use mizan_sql::*;
use mizan_test_support::catalogues::catalogue;
use mizan_test_support::families::{FAMILIES, largest};

/// The planning time of a query and the code of its refusal.
fn asked(sql: &str, catalogue: &Catalogue) -> (Duration, Option<&'static str>) {
    let start = Instant::now();
    let planned = plan(sql, catalogue);
    let took = start.elapsed();
    if let Err(refusal) = &planned {
        assert_ne!(
            refusal.code(),
            "MZ1839",
            "{}",
            refusal.show(&sql[..sql.len().min(300)])
        );
    }
    (took, planned.err().map(|refusal| refusal.code().as_str()))
}

#[test]
fn growing_queries_are_planned_or_refused() {
    let catalogue = catalogue();
    for (name, family) in FAMILIES {
        let most = largest(*family, &catalogue);
        print!("{name:28} {most:6}");
        let mut sizes = vec![most.max(1), most + 1];
        // Up to texts of the maximal length, and beyond.
        let mut n = most.max(1) * 2;
        while family(n).len() < 1 << 20 && n < 1 << 21 {
            sizes.push(n);
            n *= 2;
        }
        let mut worst = (Duration::ZERO, None, 0);
        for n in sizes {
            let (took, code) = asked(&family(n), &catalogue);
            if n == most.max(1) {
                print!(" {:8.1} ms", took.as_secs_f64() * 1e3);
            }
            worst = worst.max((took, code, n));
        }
        println!(
            "  worst {:8.1} ms {} at {}",
            worst.0.as_secs_f64() * 1e3,
            worst.1.unwrap_or("planned"),
            worst.2
        );
    }
}
