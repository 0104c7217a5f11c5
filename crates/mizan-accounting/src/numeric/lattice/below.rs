//! δ(ε) from below.
//!
//! The event "the sum of the places is at least s, and inside the window" has
//!
//! > P = e^(κ - θsh) Σ_(r >= s) e^(-θ(r-s)h) W_r,
//! > Q = e^(κ' - (θ+1)sh) Σ_(r >= s) e^(-(θ+1)(r-s)h) V_r,
//!
//! with W the weights of P tilted by θ and V those of Q tilted by θ + 1, and
//! δ(ε) >= P - e^ε Q for every s. The best s is where the two densities meet,
//! near sh = ε + κ' - κ, and hardly matters.
//!
//! Subtracted from P and added to Q: the error of the weights, its norm times
//! that of the geometric factors, (1 - e^(-2θh))^(-1/2). Subtracted from P
//! also: what may have been folded into the event from N places away or more.
//! - From above come sums S >= s + N, with factors of at most 1: by Chernoff
//!   E e^(tSh) e^(-t(s+N)h) bounds them, any t > 0.
//! - From below come sums S at places r >= S + N. Inside the event r >= s, so
//!   their factor e^(-θ(r-s)h) is at most e^(-λ(r-s)h) for every 0 <= λ <= θ,
//!   and that at most e^(-λ(S+N-s)h): E e^(-λSh) e^(-λ(N-s)h) bounds them.
//!
//! Into Q folding only adds.

use mizan_core::Interval;
use mizan_core::directed::{add_down, add_up, mul_down, mul_up};

use super::compose::Composed;

/// What bounds the weight that was folded into an event.
#[derive(Clone, Copy, Debug)]
pub(super) struct Folded {
    /// t, and at least ln E e^(tSh).
    pub(super) right: (f64, f64),
    /// λ, and at least ln E e^(-λSh).
    pub(super) left: (f64, f64),
    /// N.
    pub(super) period: f64,
}

/// The lower side of a profile.
#[derive(Clone, Debug)]
pub(super) struct Below {
    h: Interval,
    theta: Interval,
    ln_scale: Interval,
    /// κ' - κ.
    ln_ratio: Interval,
    last: i64,
    /// At most Σ W and at least Σ V, the largest place first.
    sums: Vec<(f64, f64)>,
    folded: Option<Folded>,
    /// The place of the event that suits the ε the lattice was made for.
    made_for: i64,
}

impl Below {
    /// `folded` says what may have been folded into the weights of P.
    pub(super) fn new(
        p: &Composed,
        q: &Composed,
        (h, theta): (f64, f64),
        (ln_scale, ln_ratio): (Interval, Interval),
        folded: Option<Folded>,
        epsilon: f64,
    ) -> Self {
        let (h, theta) = (Interval::from(h), Interval::from(theta));
        let decay = -(theta * h);
        let steep = -((theta + 1.0) * h);
        let norm = |exponent: Interval| (Interval::ONE / -(exponent * 2.0).exp_m1()).sqrt();
        let shrink = add_down(1.0, -add_up(p.relative, 1e-15));
        let grow = add_up(1.0, add_up(q.relative, 1e-15));
        let off_p = (norm(decay) * p.absolute).upper();
        let off_q = (norm(steep) * q.absolute).upper();
        let (decay, steep) = (decay.exp().lower(), steep.exp().upper());
        let mut sums = Vec::with_capacity(p.weights.len());
        let (mut sum_p, mut sum_q) = (0.0, 0.0);
        for (&w, &v) in p.weights.iter().rev().zip(q.weights.iter().rev()) {
            sum_p = add_down(mul_down(w, shrink), mul_down(decay, sum_p)).max(0.0);
            sum_q = add_up(mul_up(v, grow), mul_up(steep, sum_q));
            sums.push((add_down(sum_p, -off_p), add_up(sum_q, off_q)));
        }
        let mut below = Self {
            h,
            theta,
            ln_scale,
            ln_ratio,
            last: p.first + p.weights.len() as i64 - 1,
            sums,
            folded,
            made_for: 0,
        };
        below.made_for = below.meeting(epsilon);
        below
    }

    /// The place at which the densities of P and e^ε Q are about equal.
    fn meeting(&self, epsilon: f64) -> i64 {
        let meet = (epsilon + self.ln_ratio.middle()) / self.h.lower();
        let first = self.last + 1 - self.sums.len() as i64;
        #[expect(
            clippy::cast_possible_truncation,
            reason = "saturates, and is brought inside the window"
        )]
        let place = meet.floor() as i64;
        place.min(self.last - 2).max(first + 1)
    }

    /// At most δ(ε), without what is infinite.
    pub(super) fn delta(&self, epsilon: f64) -> f64 {
        let place = self.meeting(epsilon);
        // Far from where the lattice was made for, the event that was best
        // there is better than one in which errors prevail.
        (place - 1..=place + 2)
            .chain([self.made_for, self.made_for + 1])
            .filter_map(|place| self.event(epsilon, place))
            .fold(0.0, f64::max)
    }

    /// P - e^ε Q of the event that starts at a place.
    fn event(&self, epsilon: f64, place: i64) -> Option<f64> {
        let index = usize::try_from(self.last - place).ok()?;
        let &(p, q) = self.sums.get(index)?;
        let loss = self.h * place as f64;
        let ratio = (self.ln_ratio - (loss - epsilon)).exp();
        let folded = self.folded.map_or(Interval::ZERO, |folded| {
            let period = self.h * folded.period;
            let (t, over) = folded.right;
            let (back, under) = folded.left;
            (Interval::from(over) - (loss + period) * t).exp()
                + (Interval::from(under) - (period - loss) * back).exp()
        });
        let difference = Interval::from(p) - folded - ratio * q;
        let value = ((self.ln_scale - self.theta * loss).exp() * difference).lower();
        value.is_finite().then_some(value)
    }
}
