//! S3 by L2 clipping: a factor for every unit.

use mizan_sql::Clip;

use super::slots::Pair;
use super::totals::Totals;
use crate::engines::statement::Contribution;

/// The factors of units, by number.
#[derive(Debug)]
pub(super) struct Factors(Vec<i64>);

impl Factors {
    /// From the contributions of each unit that is in more groups than the limit.
    pub(super) fn new(
        clip: Clip,
        pairs: &[Pair],
        totals: &Totals,
        contributions: &[Contribution],
    ) -> Self {
        let units = pairs.iter().map(|pair| pair.unit as usize + 1).max();
        let mut groups = vec![0_u64; units.unwrap_or(0)];
        for pair in pairs {
            if let Some(groups) = groups.get_mut(pair.unit as usize) {
                *groups += 1;
            }
        }
        let mut squares = vec![0_i64; groups.len()];
        let pairs = pairs.iter().enumerate();
        let many = pairs.filter(|(_, pair)| {
            let groups = groups.get(pair.unit as usize);
            groups.is_some_and(|groups| *groups > clip.groups())
        });
        for (slot, pair) in many {
            let of_slot = contributions.iter().map(|contribution| {
                let whole = totals.contribution(slot, contribution);
                Clip::square(whole, contribution.sensitivity())
            });
            if let Some(squares) = squares.get_mut(pair.unit as usize) {
                *squares = of_slot.fold(*squares, i64::saturating_add);
            }
        }
        for squares in &mut squares {
            *squares = clip.factor(*squares);
        }
        Self(squares)
    }

    /// The clipped contribution to the slot of a pair.
    pub(super) fn clipped(&self, pair: &Pair, whole: i64, contribution: &Contribution) -> i64 {
        let factor = self.0.get(pair.unit as usize).copied().unwrap_or(0);
        Clip::clipped(whole, contribution.sensitivity(), factor)
    }
}
