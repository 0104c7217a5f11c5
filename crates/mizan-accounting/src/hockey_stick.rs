//! The hockey-stick divergence δ(ε) of a loss with finitely many values.
//!
//! > δ(ε) = Σ p_i (1 - e^(ε - L_i))_+
//!
//! Going down from the largest loss, with gaps g_j = L_(j+1) - L_j, two sums of positive terms
//! suffice:
//!
//! > F_j = p_j + e^(-g_j) F_(j+1),   δ(L_j) = δ(L_(j+1)) + (1 - e^(-g_j)) F_(j+1),
//!
//! and between two losses δ(L_j - x) = δ(L_j) + (1 - e^-x) F_j.

use mizan_core::{Bracket, Interval};

/// The profile of a finite loss distribution.
///
/// Losses are exact doubles: rounding a loss up bounds δ from above, rounding
/// it down bounds δ from below, so a certified profile is a pair of these.
#[derive(Clone, Debug)]
pub(crate) struct HockeyStick {
    /// By falling loss.
    steps: Vec<Step>,
}

#[derive(Clone, Copy, Debug)]
struct Step {
    loss: f64,
    /// δ at this loss.
    delta: Interval,
    /// F at this loss.
    weight: Interval,
}

impl HockeyStick {
    /// The profile of losses in falling order with their probabilities.
    /// `beyond` encloses the probability of losses above all of them.
    pub(crate) fn new(beyond: Interval, losses: impl Iterator<Item = (f64, Interval)>) -> Self {
        let mut steps: Vec<Step> = Vec::new();
        for (loss, probability) in losses {
            let (delta, weight) = match steps.last() {
                // Mass beyond counts in full at every ε.
                None => (beyond, Interval::ZERO),
                Some(above) => {
                    let gap = (Interval::from(loss) - above.loss).min(Interval::ZERO);
                    (
                        above.delta - gap.exp_m1() * above.weight,
                        gap.exp() * above.weight,
                    )
                }
            };
            steps.push(Step {
                loss,
                delta,
                weight: weight + probability,
            });
        }
        Self { steps }
    }

    /// δ at a given ε.
    pub(crate) fn delta(&self, epsilon: f64) -> Interval {
        // The smallest loss that is above ε.
        let above = self.steps.partition_point(|step| step.loss > epsilon);
        match above.checked_sub(1).and_then(|index| self.steps.get(index)) {
            None => self.steps.first().map_or(Interval::ZERO, |top| top.delta),
            Some(step) => step.delta - (Interval::from(epsilon) - step.loss).exp_m1() * step.weight,
        }
    }

    /// Where δ falls to the target: between the two, 0 if it is below already.
    /// None if it never does.
    pub(crate) fn epsilon(&self, target: Interval) -> Option<Bracket<f64>> {
        let upper = self.solve(target.lower(), |delta| delta.upper())?;
        let lower = self
            .solve(target.upper(), |delta| delta.lower())
            .unwrap_or(Interval::ZERO);
        Some(Bracket {
            lower: lower.lower().max(0.0),
            upper: upper.upper().max(0.0),
        })
    }

    /// The ε at which `side` of δ equals the target.
    fn solve(&self, target: f64, side: impl Fn(Interval) -> f64) -> Option<Interval> {
        // The first loss, going down, at which δ is above the target.
        let below = self
            .steps
            .partition_point(|step| side(step.delta) <= target);
        let step = below
            .checked_sub(1)
            .and_then(|index| self.steps.get(index))?;
        let rise = (Interval::from(target) - side(step.delta)) / step.weight;
        // 1 - e^-x = rise; x is cut at the next loss, where δ was found above.
        let x = -(-rise.max(Interval::ZERO).min(Interval::ONE)).ln_1p();
        let next = self
            .steps
            .get(below)
            .map_or(f64::NEG_INFINITY, |next| next.loss);
        Some((Interval::from(step.loss) - x).max(Interval::from(next)))
    }
}
