//! S3 by L2 clipping: a factor for every unit.

use datafusion::common::Result;
use mizan_sql::Clip;

use super::slots::Pair;
use super::totals::Totals;
use crate::unit_aggregation::Contribution;

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
    ) -> Result<Self> {
        let units = pairs.iter().map(|pair| pair.unit as usize + 1).max();
        let mut groups = vec![0_u64; units.unwrap_or(0)];
        for pair in pairs {
            let Some(groups) = groups.get_mut(pair.unit as usize) else {
                return super::unexpected();
            };
            *groups += 1;
        }
        let mut squares = vec![0_i64; groups.len()];
        for (slot, pair) in pairs.iter().enumerate() {
            let unit = pair.unit as usize;
            let (Some(groups), Some(squares)) = (groups.get(unit), squares.get_mut(unit)) else {
                return super::unexpected();
            };
            if *groups <= clip.groups() {
                continue;
            }
            for contribution in contributions {
                let whole = totals.contribution(slot, contribution)?;
                let square = Clip::square(whole, contribution.sensitivity());
                *squares = squares.saturating_add(square);
            }
        }
        for squares in &mut squares {
            *squares = clip.factor(*squares);
        }
        Ok(Self(squares))
    }

    /// The clipped contribution to the slot of a pair.
    pub(super) fn clipped(
        &self,
        pair: &Pair,
        whole: i64,
        contribution: &Contribution,
    ) -> Result<i64> {
        let Some(factor) = self.0.get(pair.unit as usize) else {
            return super::unexpected();
        };
        Ok(Clip::clipped(whole, contribution.sensitivity(), *factor))
    }
}
