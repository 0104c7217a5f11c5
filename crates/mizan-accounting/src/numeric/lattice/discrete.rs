//! One mechanism on the lattice, for bounds from above and from below.
//!
//! Outcomes are atoms, with one loss, or cells, with losses between two
//! neighbouring places jh and (j+1)h. Of each the probabilities p under P and
//! q under Q are known.
//!
//! *Above.* The outcome is split between the two places so that both p and q
//! are kept (Doroshenko et al. 2022, Algorithm 1):
//!
//! > r = (p - q e^(jh)) / (1 - e^-h) at (j+1)h, and p - r at jh.
//!
//! δ is an expectation of (1 - e^(ε-L))_+, which is convex in e^-L, and the
//! split keeps the mean of e^-L: so it raises δ, also inside any composition.
//! With intervals, r is rounded up and p - r is the upper end of p less *that*
//! r: mass in doubt moves one place up but is not counted twice. δ rises with
//! every mass and with moving mass up, so this stays a bound from above, and
//! the error is of the order of the rounding of p, not of that over h.
//!
//! *Below.* Only the place of the outcome is released: a post-processing, of
//! which any event {place >= s} bounds δ(ε) by P(event) - e^ε Q(event). The
//! masses p, rounded down, and q, rounded up, are kept apart, so outcomes need
//! not lie on the lattice; what is lost is of second order in h.

use mizan_core::Interval;
use mizan_core::directed::{add_down, add_up};

/// The masses of one mechanism.
#[derive(Clone, Debug)]
pub(super) struct Discrete {
    h: Interval,
    /// 1/(1 - e^-h).
    scale: Interval,
    pub(super) first: i64,
    /// At least the masses after the split.
    pub(super) above: Vec<f64>,
    /// At most p.
    pub(super) p: Vec<f64>,
    /// At least q.
    pub(super) q: Vec<f64>,
    /// At least the mass that was moved beyond all losses.
    pub(super) cut: f64,
}

impl Discrete {
    /// No outcomes yet; room for the places first to last.
    pub(super) fn new(h: f64, first: i64, last: i64) -> Self {
        let places = usize::try_from(last - first + 1).unwrap_or(0);
        let h = Interval::from(h);
        Self {
            h,
            scale: Interval::ONE / -(-h).exp_m1(),
            first,
            above: vec![0.0; places],
            p: vec![0.0; places],
            q: vec![0.0; places],
            cut: 0.0,
        }
    }

    /// The loss of a place.
    pub(super) fn loss(&self, place: i64) -> Interval {
        self.h * place as f64
    }

    /// Losses between a place and the next.
    pub(super) fn cell(&mut self, place: i64, p: Interval, q: Interval) {
        self.split(place, p, q * self.loss(place).exp());
        self.release(place, p, q);
    }

    /// A single loss.
    pub(super) fn atom(&mut self, loss: Interval, p: Interval, q: Interval) {
        let ratio = loss.middle() / self.h.lower();
        #[expect(
            clippy::cast_possible_truncation,
            reason = "saturates, and then falls outside"
        )]
        let (nearest, mut below) = (ratio.round() as i64, ratio.floor() as i64);
        // The larger end, split between places that certainly enclose it.
        let top = Interval::from(loss.upper());
        while self.loss(below).upper() > loss.upper() {
            below -= 1;
        }
        while self.loss(below + 1).lower() < loss.upper() {
            below += 1;
        }
        let lift = p * (self.loss(below) - top).min(Interval::ZERO).exp();
        self.split(below, p, lift);
        self.release(nearest, p, q);
    }

    /// Losses below a place: from above they count as the place itself, from
    /// below as nothing.
    pub(super) fn low_tail(&mut self, place: i64, p: Interval) {
        self.add_above(place, p.upper());
    }

    /// Losses that are left out at the top: from above they are infinite.
    pub(super) fn high_tail(&mut self, p: Interval) {
        self.cut = add_up(self.cut, p.upper());
    }

    /// `lift` is q e^(jh), the mass if all of the outcome were at the place.
    fn split(&mut self, place: i64, p: Interval, lift: Interval) {
        let right = ((p - lift) * self.scale).upper().clamp(0.0, p.upper());
        let left = add_up(p.upper(), -right).max(0.0);
        self.add_above(place, left);
        self.add_above(place + 1, right);
    }

    fn add_above(&mut self, place: i64, mass: f64) {
        // Masses out of reach move up, to the first place or beyond all.
        let index = usize::try_from((place - self.first).max(0)).unwrap_or(0);
        match self.above.get_mut(index) {
            Some(sum) => *sum = add_up(*sum, mass),
            None => self.cut = add_up(self.cut, mass),
        }
    }

    fn release(&mut self, place: i64, p: Interval, q: Interval) {
        // An outcome out of reach is left out, under P and under Q.
        let Ok(index) = usize::try_from(place - self.first) else {
            return;
        };
        if let (Some(sum_p), Some(sum_q)) = (self.p.get_mut(index), self.q.get_mut(index)) {
            *sum_p = add_down(*sum_p, p.lower().max(0.0)).max(0.0);
            *sum_q = add_up(*sum_q, q.upper());
        }
    }
}
