//! A certificate that a mechanism with Gaussian noise is below a Gaussian mechanism.
//!
//! Let d_i bound δ_(M ⊗ G_w) from above, in both directions, at places 0 = e_0 < ... < e_n, and let
//! v = w + u. In s = e^(-e) both f(s) = s δ_(M ⊗ G_w)(-ln s) and g(s) = s δ_v(-ln s) + η s are convex.
//! If in each cell the chord of f is below the larger one of the tangents of g at its ends, then
//! δ_(M ⊗ G_w)(e) <= δ_v(e) + η for 0 <= e <= e_n. It holds for -e too: there δ of one direction is
//! 1 - e^(-e) + e^(-e) δ(e) of the other.
//!
//! The chord is the one of the bounds d_i. With A and B the tangents less the chord, scaled so that
//! the larger end is at 1, and A0, A1, B0, B1 their values at the ends, the larger one of A and B is
//! nowhere negative if and only if A1 >= 0, or B0 >= 0, or A0 B1 >= A1 B0, where A0, B1 >= 0.

use std::collections::BTreeMap;

use mizan_core::Interval;
use mizan_core::directed::{mul_down, mul_up};

use crate::GaussianProfile;

/// Cells narrower than this part of √u are not divided: no price as low is certified.
const NARROWEST: f64 = 0.01;

/// The most places at which a profile is computed.
const MOST_PLACES: usize = 4000;

/// The profile of a mechanism with Gaussian noise, at the places that were looked at.
pub(super) struct Certificate<P> {
    profile: P,
    remainder: Interval,
    eta: f64,
    /// δ from above, by the bits of e.
    deltas: BTreeMap<u64, f64>,
}

/// The end of a cell.
#[derive(Clone, Copy)]
struct Place {
    e: f64,
    /// d, from above.
    delta: f64,
    /// δ_v + η, and the slope Φ(√v/2 - e/√v) + η of the tangent.
    bound: Interval,
    slope: Interval,
}

impl<P: FnMut(f64) -> Option<f64>> Certificate<P> {
    /// `profile` bounds δ of the mechanism and the noise at e >= 0 from above, in both directions.
    pub(super) fn new(profile: P, remainder: Interval, eta: f64) -> Self {
        Self {
            profile,
            remainder,
            eta,
            deltas: BTreeMap::new(),
        }
    }

    /// δ at e, from above.
    pub(super) fn delta(&mut self, e: f64) -> Option<f64> {
        if let Some(&known) = self.deltas.get(&e.to_bits()) {
            return Some(known);
        }
        if self.deltas.len() >= MOST_PLACES {
            return None;
        }
        let delta = (self.profile)(e)?;
        self.deltas.insert(e.to_bits(), delta);
        Some(delta)
    }

    /// Whether δ <= δ_v + η is certain up to the place `last`, for v = w + u.
    pub(super) fn holds(&mut self, price: f64, last: f64) -> bool {
        const CELLS: u32 = 16;
        let variance = self.remainder + price;
        let narrowest = NARROWEST * price.sqrt();
        let mut ends = Vec::new();
        for i in 0..=CELLS {
            let Some(place) = self.place(last * f64::from(i) / f64::from(CELLS), variance) else {
                return false;
            };
            ends.push(place);
        }
        let mut waiting: Vec<(Place, Place)> = ends
            .windows(2)
            .filter_map(|pair| match pair {
                [near, far] => Some((*near, *far)),
                _ => None,
            })
            .collect();
        while let Some((near, far)) = waiting.pop() {
            if is_below(&near, &far) {
                continue;
            }
            let middle = 0.5 * (near.e + far.e);
            if far.e - near.e <= narrowest {
                return false;
            }
            let Some(middle) = self.place(middle, variance) else {
                return false;
            };
            waiting.push((near, middle));
            waiting.push((middle, far));
        }
        true
    }

    /// The end of a cell, unless the plan is above the bound there.
    fn place(&mut self, e: f64, variance: Interval) -> Option<Place> {
        let delta = self.delta(e)?;
        let root = variance.sqrt();
        let profile = GaussianProfile::from_square(variance);
        let bound = profile.ln_delta(e).exp().min(Interval::ONE) + self.eta;
        let argument = (Interval::from(e) / root - root * 0.5) * Interval::from(0.5).sqrt();
        let slope = argument.erfc() * 0.5 + self.eta;
        (delta <= bound.lower()).then_some(Place {
            e,
            delta,
            bound,
            slope,
        })
    }
}

/// Whether the chord of a cell is certainly below the tangents.
fn is_below(near: &Place, far: &Place) -> bool {
    // s at the far end over s at the near end.
    let fall = (Interval::from(near.e) - far.e).exp();
    let width = -(Interval::from(near.e) - far.e).exp_m1();
    let far_slack = (fall * (far.bound - far.delta)).lower();
    let near_slack = (near.bound - near.delta).lower();
    let from_far = (fall * far.bound + far.slope * width - near.delta).lower();
    let from_near = (near.bound - near.slope * width - fall * far.delta).lower();
    if far_slack < 0.0 || near_slack < 0.0 {
        return false;
    }
    from_far >= 0.0
        || from_near >= 0.0
        || mul_down(far_slack, near_slack) >= mul_up(-from_far, -from_near)
}
