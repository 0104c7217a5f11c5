//! A whole privacy profile, point by point.

use mizan_core::{Bracket, Interval};

use super::contour::Contour;
use super::lattice::{LatticeProfile, LatticeTarget};
use super::pair::Pair;
use super::profile::{both, delta, gaussian, infinite_mass, is_finite};
use crate::convert::Effort;

/// Walks along a profile: an engine is asked as long as it is narrow there.
pub(crate) struct Sweep<'a> {
    pairs: &'a [(Pair, u64)],
    beyond: Interval,
    contour: Option<Contour>,
    /// For which ε the contour was made, and how many more may be.
    aimed_at: Option<f64>,
    contours: u32,
    lattice: Option<LatticeProfile>,
    /// How many more lattices may be made, drafts and others; these are slow.
    drafts: u32,
    lattices: u32,
}

/// Pictures need no more.
const NARROW_SWEEP: f64 = 1e-7;

impl<'a> Sweep<'a> {
    pub(super) fn new(pairs: &'a [(Pair, u64)]) -> Self {
        Self {
            pairs,
            beyond: infinite_mass(pairs),
            contour: None,
            aimed_at: None,
            contours: 24,
            lattice: None,
            drafts: 12,
            lattices: 1,
        }
    }

    /// δ at an ε, bracketed. What is not above `reached` need not be narrow.
    pub(crate) fn delta(&mut self, epsilon: f64, reached: f64) -> Option<Bracket<f64>> {
        if gaussian(self.pairs).is_some() || matches!(self.pairs, [(_, 1)]) {
            let reached = Bracket {
                lower: reached,
                upper: reached,
            };
            return delta(self.pairs, epsilon, reached, Effort::Full).map(|found| found.bracket);
        }
        let narrow =
            |bracket: &Bracket<f64>| bracket.upper - bracket.lower <= NARROW_SWEEP * bracket.upper;
        let mut found = self.by_contour(epsilon);
        let fair = |found: &Bracket<f64>| {
            found.upper <= reached || found.upper - found.lower <= 1e-4 * found.upper
        };
        // One made for a place close by would hardly be narrower.
        let moved = self
            .aimed_at
            .is_none_or(|place| (epsilon - place).abs() > 0.02 * epsilon.abs().max(place));
        if !found.as_ref().is_some_and(narrow)
            && !is_finite(self.pairs)
            && moved
            && self.contours > 0
        {
            self.aimed_at = Some(epsilon);
            self.contour = Contour::around(self.pairs, epsilon);
            found = self.by_contour(epsilon);
            // Where one does not help the next will hardly.
            let spent = if found.as_ref().is_some_and(fair) {
                1
            } else {
                8
            };
            self.contours = self.contours.saturating_sub(spent);
        }
        if found.as_ref().is_some_and(fair) {
            return found;
        }
        let at_most = Contour::ln_delta_at_most(self.pairs, epsilon);
        if at_most.is_some_and(|bound| bound <= Interval::from(reached).ln().lower())
            && self.beyond == Interval::ZERO
        {
            return Some(Bracket {
                lower: 0.0,
                upper: reached,
            });
        }
        let at = |lattice: &Option<LatticeProfile>| {
            lattice.as_ref().map(|lattice| lattice.delta(epsilon))
        };
        let mut other = at(&self.lattice);
        let aim = LatticeTarget::Epsilon(epsilon);
        if !other.as_ref().is_some_and(fair) && self.drafts > 0 {
            self.drafts -= 1;
            self.lattice = LatticeProfile::draft(self.pairs, aim);
            other = at(&self.lattice);
        }
        if !other.as_ref().is_some_and(fair) && self.lattices > 0 {
            self.lattices -= 1;
            self.lattice = LatticeProfile::bounded(self.pairs, aim);
            other = at(&self.lattice);
        }
        both(found, other)
    }

    fn by_contour(&self, epsilon: f64) -> Option<Bracket<f64>> {
        let found = self.contour.as_ref()?.delta(epsilon);
        let whole = Interval::new(found.lower, found.upper) + self.beyond;
        Some(Bracket {
            lower: whole.lower(),
            upper: whole.upper().min(1.0),
        })
    }
}
