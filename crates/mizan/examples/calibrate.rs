//! How much noise does a guarantee need? And how often may a mechanism run?
//!
//! `cargo run --release -p mizan --no-default-features --example calibrate`

use mizan::{Delta, Epsilon, Error, EventTemplate, calibrate};

fn main() -> Result<(), Error> {
    let (epsilon, delta) = (Epsilon::at_most("1")?, Delta::at_most("1e-6")?);

    // `?` stands for the number to solve for: here the least noise.
    let noise = EventTemplate::parse("gaussian(?)")?;
    let found = calibrate(&noise, epsilon, delta)?;
    println!("{} = {}", noise.parameter(), found.decimal(&noise));
    assert_eq!(noise.parameter(), "sigma");

    // The accountant itself decides, so the event with this value meets the target.
    assert!(found.cost.upper <= epsilon);
    println!("{} costs at most epsilon {}", found.event, found.cost.upper);

    // The largest number of steps of DP-SGD with a given noise.
    let steps = EventTemplate::parse("? * poisson(0.01, gaussian(1.5))")?;
    let found = calibrate(&steps, epsilon, delta)?;
    println!("{}", found.event);

    // If nothing meets the target, the error says what would.
    let impossible = EventTemplate::parse("pure(2) + gaussian(?)")?;
    if let Err(error) = calibrate(&impossible, epsilon, delta) {
        println!("{}: {error}\n  {}", error.code(), error.help());
    }
    Ok(())
}

#[test]
fn runs() {
    main().unwrap();
}
