//! What does a composition of mechanisms cost?
//!
//! `cargo run --release -p mizan --no-default-features --example account`

use mizan::{Accountant, Delta, Epsilon, Error, PrivacyEvent, Probability};

fn main() -> Result<(), Error> {
    // A privacy event describes a mechanism: here 10,000 steps of DP-SGD, each with Gaussian noise
    // on a sample of 1 % of the people.
    let training: PrivacyEvent = "10000 * poisson(0.01, gaussian(1.1))".parse()?;
    let accountant = Accountant::of(&training);

    // ε at a δ. `at_most` rounds the decimal to the stronger guarantee, so the bound holds for the
    // number as it is written here.
    let delta = Delta::at_most("1e-5")?;
    let cost = accountant.epsilon(delta)?;
    println!("epsilon is at most {} at delta 1e-5", cost.upper);
    assert!(cost.upper.get() < 5.192_583_445_885);

    // The exact ε is not below the lower bound: the upper one cannot be improved by more than this.
    let exact = cost.bracket();
    println!("and at least {}", exact.lower);
    assert!(exact.upper.get() - exact.lower.get() < 1e-10);

    // δ at an ε.
    let failing = accountant.delta(Epsilon::at_most("4")?)?;
    println!("delta is at most {} at epsilon 4", failing.upper);

    // Every accounting method that applies, side by side.
    for bound in accountant.epsilon_by_all(delta).bounds {
        println!("  {:24}{}", bound.method.title(), bound.upper);
    }

    // The whole privacy profile, and what it means for an attacker who wants to know whether a
    // person took part.
    let epsilons = [1.0, 2.0, 4.0, 8.0].map(Epsilon::saturating);
    for (epsilon, delta) in epsilons.iter().zip(accountant.profile(&epsilons)?) {
        println!(
            "  delta({epsilon}) is between {} and {}",
            delta.lower, delta.upper
        );
    }
    let attack = accountant.trade_off(64)?;
    let missed = attack.false_negative(Probability::new(0.01)?);
    println!(
        "with 1 % false positives an attacker misses at least {}",
        missed.lower
    );
    Ok(())
}

#[test]
fn runs() {
    main().unwrap();
}
