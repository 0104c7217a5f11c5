//! S3: group sampling. Determines which slots of units in too many groups do not count.

use std::cmp::Ordering;

use datafusion::arrow::array::ArrayRef;
use datafusion::common::Result;

use super::super::values::{Values, compare_rows};
use super::slots::Pair;
use super::small;
use crate::sampling_hash::{Hasher, Salt};

/// A unit in too many groups.
#[derive(Clone, Copy, Debug)]
struct UnitOverLimit {
    unit: usize,
    groups: usize,
}

/// A group of such a unit.
#[derive(Clone, Copy, Debug, Default)]
struct Ranked {
    hash: i64,
    group: u32,
    slot: u32,
}

/// For each slot, whether it counts. Of a unit in more than `most` groups the slots with the
/// smallest hash count; equal hashes, which are rare, are ordered by keys. Groups of other
/// units are not hashed.
pub(super) fn counts(
    pairs: &[Pair],
    units: &[ArrayRef],
    keys: &[ArrayRef],
    most: usize,
    salt: &Salt,
) -> Result<Vec<bool>> {
    let (units, keys) = (columns(units)?, columns(keys)?);
    let mut counts = vec![true; pairs.len()];
    let (over_limit, mut ranked) = stretches(pairs, most)?;
    if over_limit.is_empty() {
        return Ok(counts);
    }
    let groups = pairs.iter().map(|pair| pair.group as usize + 1).max();
    let groups = (0..groups.unwrap_or(0)).map(|group| {
        let mut hasher = Hasher::default();
        for key in &keys {
            key.hash(group, &mut hasher);
        }
        hasher
    });
    let groups: Vec<Hasher> = groups.collect();
    let mut hasher = Hasher::new(salt);
    let salted = hasher.len();
    let mut rest = ranked.as_mut_slice();
    for UnitOverLimit {
        unit,
        groups: number,
    } in over_limit
    {
        let Some((ranked, others)) = rest.split_at_mut_checked(number) else {
            return super::unexpected();
        };
        rest = others;
        hasher.truncate(salted);
        for column in &units {
            column.hash(unit, &mut hasher);
        }
        let of_unit = hasher.len();
        for ranked in ranked.iter_mut() {
            let Some(group) = groups.get(ranked.group as usize) else {
                return super::unexpected();
            };
            hasher.append(group);
            ranked.hash = hasher.finish();
            hasher.truncate(of_unit);
        }
        ranked.select_nth_unstable_by(most, |a, b| compare(&keys, a, b));
        for ranked in ranked.iter().skip(most) {
            let Some(counts) = counts.get_mut(ranked.slot as usize) else {
                return super::unexpected();
            };
            *counts = false;
        }
    }
    Ok(counts)
}

/// Stands for the position of the slots of a unit that is within the limit: they are not ranked.
const NOT_RANKED: usize = usize::MAX;

/// The units in more than `most` groups, and their slots, which are contiguous for each unit
/// and in the same order.
fn stretches(pairs: &[Pair], most: usize) -> Result<(Vec<UnitOverLimit>, Vec<Ranked>)> {
    let units = pairs.iter().map(|pair| pair.unit as usize + 1).max();
    let mut next: Vec<usize> = vec![0; units.unwrap_or(0)];
    for pair in pairs {
        let Some(groups) = next.get_mut(pair.unit as usize) else {
            return super::unexpected();
        };
        *groups += 1;
    }
    let mut over_limit = Vec::new();
    let mut end = 0;
    for (unit, next) in next.iter_mut().enumerate() {
        let groups = *next;
        if groups > most {
            over_limit.push(UnitOverLimit { unit, groups });
            *next = end;
            end += groups;
        } else {
            *next = NOT_RANKED;
        }
    }
    let mut ranked = vec![Ranked::default(); end];
    for (slot, pair) in pairs.iter().enumerate() {
        let Some(next) = next.get_mut(pair.unit as usize) else {
            return super::unexpected();
        };
        if *next == NOT_RANKED {
            continue;
        }
        let Some(to) = ranked.get_mut(*next) else {
            return super::unexpected();
        };
        to.group = pair.group;
        to.slot = small(slot)?;
        *next += 1;
    }
    Ok((over_limit, ranked))
}

fn columns(arrays: &[ArrayRef]) -> Result<Vec<Values<'_>>> {
    arrays.iter().map(|array| Values::new(array)).collect()
}

fn compare(keys: &[Values<'_>], a: &Ranked, b: &Ranked) -> Ordering {
    let of = |ranked: &Ranked| (keys, ranked.group as usize);
    let by_keys = || compare_rows(of(a), of(b));
    a.hash.cmp(&b.hash).then_with(by_keys)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use datafusion::arrow::array::{Int64Array, StringViewArray};
    use mizan_sql::Value;

    use super::*;
    use crate::sampling_hash::hash;

    #[test]
    fn groups_with_the_smallest_hash_are_sampled() {
        let salt = [7; 16];
        let names = [None, Some("b"), Some("a"), Some("c")];
        let keys: Vec<ArrayRef> = vec![Arc::new(StringViewArray::from(names.to_vec()))];
        let units: Vec<ArrayRef> = vec![Arc::new(Int64Array::from(vec![-5, 6, 7]))];
        // The second unit has two groups, which is within the limit.
        let pairs = [
            (0, 3),
            (1, 0),
            (2, 1),
            (0, 0),
            (2, 0),
            (0, 1),
            (1, 2),
            (0, 2),
            (2, 3),
        ];
        let pairs = pairs.map(|(unit, group)| Pair { unit, group });
        let found = counts(&pairs, &units, &keys, 2, &salt).unwrap();
        for (unit, id) in [(0_u32, -5), (1, 6), (2, 7)] {
            let of_unit = pairs
                .iter()
                .enumerate()
                .filter(|(_, pair)| pair.unit == unit);
            let mut ranked: Vec<(i64, usize)> = of_unit
                .map(|(slot, pair)| {
                    let key = names[pair.group as usize];
                    let key = key.map_or(Value::Null, |key| Value::Text(key.to_owned()));
                    (hash(&salt, &[Value::Integer(id), key]), slot)
                })
                .collect();
            ranked.sort_unstable();
            for (rank, (_, slot)) in ranked.iter().enumerate() {
                assert_eq!(found[*slot], rank < 2, "slot {slot}");
            }
        }
    }
}
