//! Numbers every pair of a unit and a group that occurs.

use datafusion::common::{HashMap, Result};

use super::small;

/// The most table entries for each used one.
const PLACES_PER_SLOT: usize = 32;

/// Below this size a table may be mostly empty.
const SMALL_TABLE: usize = 1 << 16;

/// The slots of pairs, in order of first occurrence.
#[derive(Debug, Default)]
pub(super) struct Slots {
    pairs: Vec<Pair>,
    index: Index,
}

/// The numbers of a unit and a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Pair {
    /// The unit.
    pub(super) unit: u32,
    /// The group.
    pub(super) group: u32,
}

/// Finds the slot of a pair.
#[derive(Debug)]
enum Index {
    /// The entry at `unit * stride + group` is the slot plus one, or zero.
    Dense { stride: usize, places: Vec<u32> },
    /// For tables that would be mostly empty.
    Sparse(HashMap<Pair, u32>),
}

impl Default for Index {
    fn default() -> Self {
        Self::Dense {
            stride: 1,
            places: Vec::new(),
        }
    }
}

impl Slots {
    /// The pairs, by slot.
    pub(super) fn pairs(&self) -> &[Pair] {
        &self.pairs
    }

    /// The pairs, by slot.
    pub(super) fn into_pairs(self) -> Vec<Pair> {
        self.pairs
    }

    /// The slots of pairs; new pairs get new slots. `units` and `groups` are the total numbers.
    /// It is an error if a pair is None.
    pub(super) fn find(
        &mut self,
        pairs: impl Iterator<Item = Option<Pair>>,
        units: usize,
        groups: usize,
        slots: &mut Vec<u32>,
    ) -> Result<()> {
        self.grow(units, groups)?;
        slots.clear();
        slots.reserve(pairs.size_hint().0);
        match &mut self.index {
            Index::Dense { stride, places } => {
                for pair in pairs {
                    let slot = pair.and_then(|pair| {
                        let slot = places.get_mut(place(pair, *stride))?;
                        Some((pair, slot))
                    });
                    let Some((pair, slot)) = slot else {
                        return super::unexpected();
                    };
                    if *slot == 0 {
                        self.pairs.push(pair);
                        *slot = small(self.pairs.len())?;
                    }
                    slots.push(*slot - 1);
                }
            }
            Index::Sparse(known) => {
                for pair in pairs {
                    let Some(pair) = pair else {
                        return super::unexpected();
                    };
                    let next = small(self.pairs.len())?;
                    let slot = *known.entry(pair).or_insert(next);
                    if slot == next {
                        self.pairs.push(pair);
                    }
                    slots.push(slot);
                }
            }
        }
        Ok(())
    }

    /// Extends the table to these numbers of units and groups.
    fn grow(&mut self, units: usize, groups: usize) -> Result<()> {
        let Index::Dense { stride, places } = &mut self.index else {
            return Ok(());
        };
        let wider = groups > *stride;
        if wider {
            // Leaves room, so that new groups do not move the table each time.
            *stride = groups.max(*stride + *stride / 2);
        }
        let size = units.saturating_mul(*stride);
        let known = self.pairs.len().max(units);
        if size > SMALL_TABLE && size / PLACES_PER_SLOT > known {
            let pairs = self.pairs.iter().enumerate();
            let known = pairs.map(|(slot, pair)| Ok((*pair, small(slot)?)));
            self.index = Index::Sparse(known.collect::<Result<_>>()?);
            return Ok(());
        }
        if !wider {
            places.resize(size, 0);
            return Ok(());
        }
        *places = vec![0; size];
        for (slot, pair) in self.pairs.iter().enumerate() {
            let Some(to) = places.get_mut(place(*pair, *stride)) else {
                return super::unexpected();
            };
            *to = small(slot + 1)?;
        }
        Ok(())
    }

    #[cfg(test)]
    fn is_sparse(&self) -> bool {
        matches!(self.index, Index::Sparse(_))
    }
}

const fn place(pair: Pair, stride: usize) -> usize {
    pair.unit as usize * stride + pair.group as usize
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// Finds pairs in batches and compares each slot with a plain map.
    fn check(pairs: &[(u32, u32)], batch: usize) -> Slots {
        let mut slots = Slots::default();
        let mut known: BTreeMap<(u32, u32), u32> = BTreeMap::new();
        let (mut units, mut groups, mut found) = (0, 0, Vec::new());
        for pairs in pairs.chunks(batch) {
            for (unit, group) in pairs {
                units = units.max(*unit as usize + 1);
                groups = groups.max(*group as usize + 1);
            }
            let wanted = pairs
                .iter()
                .map(|&(unit, group)| Some(Pair { unit, group }));
            slots.find(wanted, units, groups, &mut found).unwrap();
            for (pair, slot) in pairs.iter().zip(&found) {
                let next = u32::try_from(known.len()).unwrap();
                assert_eq!(slot, known.entry(*pair).or_insert(next), "{pair:?}");
            }
        }
        assert_eq!(slots.pairs().len(), known.len());
        for (slot, pair) in slots.pairs().iter().enumerate() {
            assert_eq!(known[&(pair.unit, pair.group)] as usize, slot);
        }
        slots
    }

    #[test]
    fn few_groups_stay_dense_while_they_come_one_by_one() {
        let pairs: Vec<(u32, u32)> = (0..20_000).map(|row| (row % 5_000, row / 700)).collect();
        assert!(!check(&pairs, 100).is_sparse());
    }

    #[test]
    fn many_groups_of_few_people_stay_dense() {
        let pairs: Vec<(u32, u32)> = (0..40_000).map(|row| (row % 3, row % 20_011)).collect();
        assert!(!check(&pairs, 1_000).is_sparse());
    }

    #[test]
    fn a_pair_that_is_not_known_is_an_error() {
        let known = Some(Pair { unit: 0, group: 0 });
        let far = Some(Pair { unit: 2, group: 0 });
        let mut found = Vec::new();
        for unknown in [None, far] {
            let pairs = [known, unknown].into_iter();
            assert!(Slots::default().find(pairs, 1, 1, &mut found).is_err());
        }
        let pairs = [known, None].into_iter();
        let mut sparse = check(&[(0, 0), (70_000, 70_000)], 2);
        assert!(sparse.is_sparse());
        assert!(sparse.find(pairs, 70_001, 70_001, &mut found).is_err());
    }

    #[test]
    fn a_table_that_would_be_mostly_empty_is_sparse() {
        let pairs: Vec<(u32, u32)> = (0..30_000)
            .map(|row| (row % 10_007, row * 7919 % 5_003))
            .collect();
        assert!(check(&pairs, 1_000).is_sparse());
        assert!(check(&pairs, 30_000).is_sparse());
    }
}
