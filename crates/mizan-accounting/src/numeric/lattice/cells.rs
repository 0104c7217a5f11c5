//! A pair on the lattice: its outcomes as cells, atoms and tails.
//!
//! With Poisson sampling at rate q the loss l of the base becomes
//! l' = ln(1 - q + q e^l), which rises with l: a cell of l' is a cell of l,
//! and has the masses (1-q) q + q p and q. The direction *add* has the loss
//! -l' and the masses exchanged; *replace* has the losses l' > 0, their mirror
//! image, and the rest at zero, which is (1-q) (P(l > 0) - Q(l > 0)) because
//! the base is symmetric.

use mizan_core::Interval;

use super::density::{Density, Masses};
use super::discrete::Discrete;
use super::finite::{sampled, sampled_loss};
use crate::numeric::pair::{FiniteLoss, Pair, Sampling};

/// More places than this one mechanism may not take.
const MOST_PLACES: f64 = 4_194_304.0;

/// Finite losses further apart than this many places are cut to what matters.
const FAR_APART: f64 = 65_536.0;

/// Losses outside are left out at the bottom and infinite at the top.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Range {
    pub(super) low: f64,
    pub(super) high: f64,
    /// Whether losses above were left out of the choice of the tilt.
    pub(super) cut: bool,
}

impl Range {
    pub(super) fn length(self) -> f64 {
        (self.high - self.low).max(0.0)
    }
}

/// The pair in steps of h; None where it takes too many places.
pub(super) fn discretise(pair: &Pair, h: f64, range: Range) -> Option<Discrete> {
    match Density::of(&pair.base) {
        Err(base) => finite(&sampled(base, pair.sampling), h, range),
        Ok(density) => continuous(&density, pair.sampling, h, range),
    }
}

/// The losses at which a pair has atoms.
pub(super) fn atoms(pair: &Pair) -> Vec<f64> {
    match Density::of(&pair.base) {
        Err(base) => sampled(base, pair.sampling)
            .atoms
            .iter()
            .map(|atom| atom.loss.middle())
            .collect(),
        Ok(density) => {
            let view = View::new(pair.sampling);
            let losses = density.atoms().into_iter();
            let seen = losses.map(|(loss, _)| view.forth(loss).middle());
            match pair.sampling {
                Sampling::Replace { .. } => seen.filter(|&loss| loss > 0.0).collect(),
                _ => seen.collect(),
            }
        }
    }
}

/// The largest loss of a base that has atoms at -top and top.
pub(super) fn largest(sampling: Sampling, top: Interval) -> Interval {
    let view = View::new(sampling);
    match sampling {
        Sampling::Add { .. } => -view.forth(-top),
        _ => view.forth(top),
    }
}

/// An empty lattice with room for losses from low to high, and a little more.
fn room(h: f64, low: f64, high: f64) -> Option<Discrete> {
    let (first, last) = ((low / h).floor() - 3.0, (high / h).ceil() + 3.0);
    let fits = last - first <= MOST_PLACES && first.abs() < 1e15 && last.abs() < 1e15;
    #[expect(clippy::cast_possible_truncation, reason = "small whole numbers")]
    fits.then(|| Discrete::new(h, first as i64, last as i64))
}

fn finite(loss: &FiniteLoss, h: f64, range: Range) -> Option<Discrete> {
    let mut low = loss.atoms.first().map_or(0.0, |atom| atom.loss.lower());
    let mut high = loss.atoms.last().map_or(0.0, |atom| atom.loss.upper());
    // Atoms far out, hardly ever seen, would take all the room, and a tilt would
    // see nothing else; without room they count as tails.
    let far = high - low > FAR_APART * h;
    if far || range.cut {
        high = high.min(range.high);
    }
    if far {
        low = low.max(range.low);
    }
    let mut discrete = room(h, low, high)?;
    for atom in &loss.atoms {
        discrete.atom(atom.loss, atom.mass, atom.mass * (-atom.loss).exp());
    }
    Some(discrete)
}

fn continuous(
    density: &Density,
    sampling: Sampling,
    h: f64,
    Range { low, high, .. }: Range,
) -> Option<Discrete> {
    let view = View::new(sampling);
    let (low, high) = match sampling {
        Sampling::Replace { .. } => (low.min(-high), high.max(-low)),
        _ => (low, high),
    };
    let mut discrete = room(h, low, high)?;
    // The range as places of `remove`; one more on each side, so that an atom
    // at an end lies inside whichever way it was rounded.
    #[expect(clippy::cast_possible_truncation, reason = "room was found for them")]
    let (floor, ceil) = (
        |loss: f64| (loss / h).floor() as i64 - 1,
        |loss: f64| (loss / h).ceil() as i64 + 1,
    );
    let (first, last) = match sampling {
        Sampling::Whole | Sampling::Remove { .. } => (floor(low), ceil(high)),
        Sampling::Add { .. } => (floor(-high), ceil(-low)),
        Sampling::Replace { .. } => (0, ceil(high)),
    };
    let atoms = density.atoms().into_iter().map(|(loss, masses)| {
        let loss = view.forth(loss);
        (loss, view.mix(masses))
    });
    let atoms: Vec<(Interval, Masses)> = atoms.collect();
    let edge = |discrete: &Discrete, place: i64| density.edge(view.back(discrete.loss(place)));
    let mut below = edge(&discrete, first);
    let lowest = Density::below(&below);
    for place in first..last {
        let above = edge(&discrete, place + 1);
        let width = view.width(&discrete, place);
        let masses = density.between(&below, &above, width);
        view.cell(&mut discrete, place, view.mix(masses));
        below = above;
    }
    let highest = Density::above(&below);
    // Atoms at an end that is cut off are part of the tail.
    let ends = (discrete.loss(first).lower(), discrete.loss(last).upper());
    let inside = |loss: Interval| ends.0 <= loss.lower() && loss.upper() <= ends.1;
    let tails = atoms.is_empty();
    let cut = |end: Option<&(Interval, Masses)>| end.is_some_and(|&(loss, _)| !inside(loss));
    if tails || cut(atoms.first()) {
        view.low_tail(&mut discrete, first, view.mix(lowest));
    }
    if tails || cut(atoms.last()) {
        view.high_tail(&mut discrete, last, view.mix(highest));
    }
    for &(loss, masses) in atoms.iter().filter(|(loss, _)| inside(*loss)) {
        view.atom(&mut discrete, loss, masses);
    }
    if let Sampling::Replace { q } = sampling {
        let zero = Density::above(&density.edge(Interval::ZERO));
        let rest = (Interval::ONE - q).non_negative() * (zero.p - zero.q).non_negative();
        discrete.atom(Interval::ZERO, rest, rest);
    }
    Some(discrete)
}

/// How outcomes of the base look through the sampling.
struct View {
    sampling: Sampling,
    q: Interval,
    rest: Interval,
}

impl View {
    fn new(sampling: Sampling) -> Self {
        let q = match sampling {
            Sampling::Whole => Interval::ONE,
            Sampling::Remove { q } | Sampling::Add { q } => Interval::from(q),
            Sampling::Replace { q } => q,
        };
        Self {
            sampling,
            q,
            rest: (Interval::ONE - q).non_negative(),
        }
    }

    fn whole(&self) -> bool {
        self.q == Interval::ONE
    }

    /// l' of l.
    fn forth(&self, loss: Interval) -> Interval {
        if self.whole() {
            loss
        } else {
            sampled_loss(self.q, loss)
        }
    }

    /// l of l'; minus infinity where no loss is as small.
    fn back(&self, loss: Interval) -> Interval {
        if self.whole() {
            loss
        } else {
            ((loss.exp_m1() + self.q).non_negative() / self.q).ln()
        }
    }

    /// How wide a cell of l' is in l.
    fn width(&self, discrete: &Discrete, place: i64) -> Interval {
        let h = discrete.loss(1);
        if self.whole() {
            return h;
        }
        let low = discrete.loss(place);
        let inside = (low.exp_m1() + self.q).non_negative();
        (low.exp() * h.exp_m1() / inside).ln_1p()
    }

    /// The masses of `remove`.
    fn mix(&self, Masses { p, q }: Masses) -> Masses {
        let p = if self.whole() {
            p
        } else {
            self.rest * q + self.q * p
        };
        Masses { p, q }
    }

    fn cell(&self, discrete: &mut Discrete, place: i64, Masses { p, q }: Masses) {
        match self.sampling {
            Sampling::Whole | Sampling::Remove { .. } => discrete.cell(place, p, q),
            Sampling::Add { .. } => discrete.cell(-place - 1, q, p),
            Sampling::Replace { .. } => {
                discrete.cell(place, p, q);
                discrete.cell(-place - 1, q, p);
            }
        }
    }

    fn atom(&self, discrete: &mut Discrete, loss: Interval, Masses { p, q }: Masses) {
        match self.sampling {
            Sampling::Whole | Sampling::Remove { .. } => discrete.atom(loss, p, q),
            Sampling::Add { .. } => discrete.atom(-loss, q, p),
            Sampling::Replace { .. } => {
                if loss.lower() > 0.0 {
                    discrete.atom(loss, p, q);
                    discrete.atom(-loss, q, p);
                }
            }
        }
    }

    /// What `remove` loses less than the loss of a place.
    fn low_tail(&self, discrete: &mut Discrete, place: i64, Masses { p, q }: Masses) {
        match self.sampling {
            Sampling::Whole | Sampling::Remove { .. } => discrete.low_tail(place, p),
            Sampling::Add { .. } => discrete.high_tail(q),
            // Below zero is the mirror image.
            Sampling::Replace { .. } => {}
        }
    }

    /// What `remove` loses more than the loss of a place.
    fn high_tail(&self, discrete: &mut Discrete, place: i64, Masses { p, q }: Masses) {
        match self.sampling {
            Sampling::Whole | Sampling::Remove { .. } => discrete.high_tail(p),
            Sampling::Add { .. } => discrete.low_tail(-place, q),
            Sampling::Replace { .. } => {
                discrete.high_tail(p);
                discrete.low_tail(-place, q);
            }
        }
    }
}
