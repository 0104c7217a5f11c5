//! The Gaussian clock: the price of a mechanism as a variance of Gaussian noise.
//!
//! Let G_v be the pair N(0, 1), N(√v, 1), and δ_v(e) its privacy profile. A budget (ε, δ) is the
//! largest v with δ_v(ε) <= δ. A charge takes u from it and leaves w, and must satisfy
//!
//! > δ_(M ⊗ G_w)(e) <= δ_(w + u)(e)   for all real e, in both directions.   (*)
//!
//! Then V(r, v) = r δ_v(ε - ln r) of the likelihood ratio r and the variance v that is left is a
//! supermartingale, whatever the analyst chooses next: it starts at δ and ends above (r - e^ε)₊. So
//! every adaptive interaction that stays within the budget is (ε, δ)-DP.
//!
//! If (*) holds at w with the price u, it holds at every larger w with the same u: both sides are
//! averaged over a further Gaussian loss. So a price is a non-increasing function of the remainder
//! w, and a [`Price`] is a table of it at the [`REMAINDERS`].
//!
//! - `price.rs` the table; `event.rs` the price of an event; `unpriced.rs` why it has none;
//! - `limit.rs` the variance of a budget, and the ε of a variance;
//! - `coverage.rs` the variance that covers a total variation, which the prices need;
//! - `symmetric.rs` pure mechanisms and Laplace noise;
//! - `lattice_noise.rs` discrete Gaussian noise;
//! - `conditional.rs` prices that hold in one state of an account only;
//! - `plan.rs` any plan that is fixed in advance, `range.rs` mechanisms of bounded range, both by a
//!   `certificate.rs`;
//! - `dominating.rs` the (ε, δ) of an event by the Gaussian mechanism that dominates it;
//! - `femto.rs` the unit.
//!
//! # Reference
//! Dong, Roth and Su 2019 (GDP); Smith and Thakurta 2022, Koskela, Tobaben and Honkela 2023 (the
//! fully adaptive filter for GDP mechanisms). docs/spec/mathematics.md 4.9 has the proofs of the other
//! prices.

mod certificate;
mod conditional;
mod coverage;
mod dominating;
mod event;
mod femto;
mod lattice_noise;
mod limit;
mod plan;
mod price;
mod range;
mod symmetric;
mod unpriced;

pub use conditional::{conditional_price, conditional_price_holds, may_open};
pub(crate) use dominating::is_dominated;
pub use dominating::{delta, epsilon};
pub use event::is_amplified;
pub use limit::{limit, variance_epsilon};
pub use plan::{Priced, plan_price};
pub use price::{Price, REMAINDERS};
pub use unpriced::{Unpriced, UnpricedReason};

#[cfg(test)]
mod tests;
