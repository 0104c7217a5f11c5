//! A sweep over extremes (scratch).
use mizan_accounting::PrivacyProfile;
use mizan_accounting::account::{self, Method};
use mizan_core::{Delta, Epsilon, PrivacyEvent};
use std::time::Instant;
fn main() {
    let spread = |a: f64, b: f64, i: usize| a + (b - a) * (i as f64) / 499.0;
    let mut text = Vec::new();
    for i in 0..500 {
        text.push(format!("gaussian({})", spread(5.0, 50.0, i)));
    }
    for i in 0..500 {
        text.push(format!("laplace({})", spread(5.0, 50.0, i)));
    }
    for i in 0..500 {
        text.push(format!("rr({})", spread(0.51, 0.6, i)));
    }
    let mix = text.join(" + ");
    let rows = [
        "gaussian(1.1)",
        "100*gaussian(10)",
        "1000*laplace(2)",
        "1000*rr(0.6)",
        "10000*poisson(0.01,gaussian(1.1))",
        "14062*poisson(0.00426666666666666667,gaussian(1.1))",
        "100000*poisson(0.001,gaussian(0.8))",
        "1000000*poisson(0.0001,gaussian(0.6))",
        "2951*poisson(0.01,gaussian(2))",
        "100*poisson(0.005,gaussian(0.8))+200*gaussian(8)+100*laplace(10)",
        "1000000000*poisson(0.00001,gaussian(1.1))",
        &mix,
    ];
    let ds = [
        1e-5, 1e-6, 1e-6, 1e-6, 1e-5, 1e-5, 1e-6, 1e-7, 1e-15, 1e-6, 1e-5, 1e-6,
    ];
    for (row, d) in rows.iter().zip(ds) {
        let event: PrivacyEvent = row.parse().unwrap();
        let delta = Delta::new(d).unwrap();
        let mut best = f64::INFINITY;
        let mut r = None;
        for _ in 0..5 {
            let s = Instant::now();
            r = Some(account::epsilon_by(Method::Numeric, &event, delta));
            best = best.min(s.elapsed().as_secs_f64());
        }
        let mut ry = f64::INFINITY;
        for _ in 0..3 {
            let s = Instant::now();
            let _ = account::epsilon_by(Method::Renyi, &event, delta);
            ry = ry.min(s.elapsed().as_secs_f64());
        }
        let b = r.unwrap().unwrap();
        println!(
            "{:40} {:.15} {:.15} {:.1e} numeric {:.1} us renyi {:.1} us",
            &row[..row.len().min(40)],
            b.lower.unwrap().get(),
            b.upper.get(),
            (b.upper.get() - b.lower.unwrap().get()) / b.upper.get(),
            best * 1e6,
            ry * 1e6
        );
    }
    let event: PrivacyEvent = "10000*poisson(0.01,gaussian(1.1))".parse().unwrap();
    let p = PrivacyProfile::of(&event).unwrap();
    let eps: Vec<Epsilon> = (0..1000)
        .map(|i| Epsilon::new(i as f64 * 0.01).unwrap())
        .collect();
    let s = Instant::now();
    let r = p.deltas(&eps).unwrap();
    let t = s.elapsed().as_secs_f64();
    let w = r
        .iter()
        .map(|b| (b.upper.get() - b.lower.get()) / b.upper.get())
        .fold(0.0, f64::max);
    println!(
        "profile of 1000 points {:.2} ms worst width {w:.1e} last {:?}",
        t * 1e3,
        r.last()
    );
    let s = Instant::now();
    let t = mizan_core::EventTemplate::parse("10000*poisson(0.01,gaussian(?))").unwrap();
    let c = mizan_accounting::calibrate::solve(
        &t,
        Epsilon::new(1.0).unwrap(),
        Delta::new(1e-5).unwrap(),
    );
    println!(
        "calibrate {:.2} ms {:?}",
        s.elapsed().as_secs_f64() * 1e3,
        c.map(|c| c.value)
    );
}
