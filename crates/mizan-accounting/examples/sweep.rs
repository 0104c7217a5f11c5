//! A sweep over extremes (scratch).
use mizan_accounting::account::{self, Method};
use mizan_core::{Delta, PrivacyEvent};
use std::time::Instant;
fn main() {
    let mut slow = 0;
    let mut none = 0;
    let mut wide = 0;
    let mut total = 0;
    for s in ["0.05", "0.3", "1", "10", "1000000"] {
        for q in ["1e-12", "1e-5", "0.01", "0.5", "0.99", "1"] {
            for t in [1u64, 2, 10, 100, 1000, 1000000, 1000000000] {
                for d in [1e-300, 1e-100, 1e-20, 1e-5, 0.1, 0.5] {
                    let text = format!("{t} * poisson({q}, gaussian({s}))");
                    let event: PrivacyEvent = text.parse().unwrap();
                    let start = Instant::now();
                    let r = account::epsilon_by(Method::Numeric, &event, Delta::new(d).unwrap());
                    let time = start.elapsed().as_secs_f64() * 1e3;
                    let start = Instant::now();
                    let y = account::epsilon_by(Method::Renyi, &event, Delta::new(d).unwrap());
                    let ry = start.elapsed().as_secs_f64() * 1e3;
                    total += 1;
                    let renyi = y.as_ref().map(|b| b.upper.get()).unwrap_or(f64::INFINITY);
                    match r {
                        Ok(b) => {
                            let (l, u) = (b.lower.unwrap().get(), b.upper.get());
                            let w = if u == 0.0 { 0.0 } else { (u - l) / u };
                            if l > u || l > renyi {
                                println!("BAD {text} {d:e}: [{l}, {u}] renyi {renyi}");
                            }
                            if time > 20.0 || ry > 20.0 {
                                slow += 1;
                                println!(
                                    "SLOW {text} {d:e}: {time:.1} ms renyi {ry:.1} ms [{l}, {u}]"
                                );
                            }
                            if w > 1e-9 {
                                wide += 1;
                                println!(
                                    "WIDE {text} {d:e}: {w:.1e} [{l}, {u}] renyi {renyi} {time:.2} ms"
                                );
                            }
                        }
                        Err(e) => {
                            none += 1;
                            println!("NONE {text} {d:e}: {e} renyi {renyi} {time:.2} ms");
                        }
                    }
                }
            }
        }
    }
    println!("total {total} slow {slow} none {none} wide {wide}");
}
