//! STAND-IN for `mizan_accounting::clock`, with the signatures agreed for it: it prices
//! Gaussian noise and refuses everything else. Delete this file when that module is there, and
//! import that one in `clock.rs`, `cost.rs` and `target.rs`.

use mizan_accounting::GaussianProfile;
use mizan_core::{Epsilon, Interval, PrivacyEvent, Sensitivity, Sigma};

/// Units of 1e-15 in one.
const FEMTO: f64 = 1e15;

/// The remainders at which a price is stored, in units of 1e-15: 2^(4-j) for j = 0..=22, then 0.
pub(crate) const REMAINDERS: [u64; 24] = remainders();

const fn remainders() -> [u64; 24] {
    let mut all = [0; 24];
    let (mut place, mut value) = (0, 16_000_000_000_000_000);
    while place < 23 {
        all[place] = value;
        value /= 2;
        place += 1;
    }
    all
}

/// The event has no price.
#[derive(Debug)]
pub(crate) struct Unpriced;

/// The price of an event at each remainder.
#[derive(Debug)]
pub(crate) struct Price([Option<u64>; 24]);

impl Price {
    /// The same price at every remainder.
    pub(crate) const fn constant(femto: u64) -> Self {
        Self([Some(femto); 24])
    }

    /// The certified price of an event.
    pub(crate) fn of(event: &PrivacyEvent) -> Result<Self, Unpriced> {
        let (mut sum, mut waiting) = (0_u64, vec![(1_u64, event)]);
        while let Some((times, event)) = waiting.pop() {
            let one = match event {
                PrivacyEvent::Gaussian { sigma, sensitivity } => {
                    Interval::from(sensitivity.get()) / sigma.get()
                }
                PrivacyEvent::GaussianDp { mu } => Interval::from(mu.get()),
                PrivacyEvent::Compose(events) => {
                    waiting.extend(events.iter().map(|event| (times, event)));
                    continue;
                }
                PrivacyEvent::Repeat { count, event } => {
                    waiting.push((times.saturating_mul(count.get()), event));
                    continue;
                }
                _ => return Err(Unpriced),
            };
            #[allow(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "`as` saturates"
            )]
            let one = (one.square() * FEMTO).upper().ceil() as u64;
            sum = sum.saturating_add(one.saturating_mul(times));
        }
        if sum == u64::MAX {
            return Err(Unpriced);
        }
        Ok(Self::constant(sum))
    }

    /// The prices at [`REMAINDERS`].
    pub(crate) const fn at(&self) -> &[Option<u64>; 24] {
        &self.0
    }
}

/// The largest variance whose δ at ε is certified to be at most this one.
pub(crate) fn limit(epsilon: Epsilon, ln_delta: Interval) -> u64 {
    #[allow(clippy::cast_precision_loss, reason = "the steps up cover it")]
    let holds = |femto: u64| {
        let ratio = ((femto as f64).next_up() / FEMTO)
            .next_up()
            .sqrt()
            .next_up();
        let sigma = Sigma::new(ratio.recip().next_down());
        let profile = (sigma.ok().zip(Sensitivity::new(1.0).ok()))
            .map(|(sigma, sensitivity)| GaussianProfile::new(sigma, sensitivity));
        let delta = profile.map(|profile| profile.delta(epsilon).upper.get());
        delta.is_some_and(|delta| delta <= ln_delta.exp().lower())
    };
    let (mut low, mut high) = (0, u64::MAX - 1);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if holds(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}
