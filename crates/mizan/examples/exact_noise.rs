//! Adds exact noise to a histogram, and knows how far the result may be off.
//!
//! `cargo run --release -p mizan --example exact_noise`

use std::error::Error;

use mizan::{Accountant, Confidence, Delta, Entropy, Mechanism, PrivacyEvent};

fn main() -> Result<(), Box<dyn Error>> {
    // Each person is in one bin, so one person changes the histogram by 1.
    let mut histogram = [1_204, 371, 58, 0];

    // The mechanism is made from the event that the accountant prices, so that the cost always
    // belongs to the noise.
    let event: PrivacyEvent = "discrete-gaussian(20)".parse()?;
    let mechanism = Mechanism::of(&event)?.ok_or("the event adds no noise to integers")?;

    // Keys come from the operating system. No floating-point number decides a draw.
    let mut entropy = Entropy::system()?;
    mechanism.release(&mut entropy, &mut histogram)?;

    let confidence = Confidence::new(0.95)?;
    let margin = mechanism.noise().half_width(confidence)?;
    println!("{histogram:?}, each within {margin} of the truth in 95 of 100 cases");
    assert_eq!(margin, 39);

    let cost = Accountant::of(mechanism.event()).epsilon(Delta::at_most("1e-6")?)?;
    println!(
        "the release costs at most epsilon {} at delta 1e-6",
        cost.upper
    );
    assert!(cost.upper.get() < 0.22);
    Ok(())
}

#[test]
fn runs() {
    main().unwrap();
}
