//! The groups of a query: public if every key has public values, otherwise discovered in the data
//! by partition selection. Also the number of groups that one unit contributes to.

use super::local::Rows;
use super::rows::Binder;
use crate::expr::Expr;
use crate::message::Note;
use crate::plan::{GroupBounding, Groups, Key};
use crate::refusal::{Reason, Refusal};
use crate::relation::{Operator, Relation};
use crate::value::Value;

/// The most public groups.
const MAX_GROUPS: usize = 10_000;

/// The groups of a query and the number of them that one unit contributes to.
pub(super) struct Grouping {
    pub(super) groups: Groups,
    pub(super) per_unit: u64,
    pub(super) group_bounding: GroupBounding,
}

impl Binder<'_> {
    /// The groups of these keys.
    pub(super) fn grouping(&mut self, rows: &Rows, keys: &[Key]) -> Result<Grouping, Refusal> {
        if keys.is_empty() {
            return Ok(Grouping {
                groups: Groups::Public(vec![Vec::new()]),
                per_unit: 1,
                group_bounding: GroupBounding::NotNeeded,
            });
        }
        let one = rows.relation.one_row_per_unit;
        if let Some(groups) = self.public_groups(&rows.relation, keys) {
            let count = u64::try_from(groups.len()).unwrap_or(u64::MAX).max(1);
            let declared = self.groups_per_unit().unwrap_or(count).clamp(1, count);
            self.note(Note::DeclaredGroups { count });
            let per_unit = if one { 1 } else { declared };
            let group_bounding = if !one && declared < count {
                GroupBounding::SampleGroups
            } else {
                GroupBounding::NotNeeded
            };
            return Ok(Grouping {
                groups: Groups::Public(groups),
                per_unit,
                group_bounding,
            });
        }
        self.note(Note::DiscoveredGroups);
        if one {
            return Ok(Grouping {
                groups: Groups::Private,
                per_unit: 1,
                group_bounding: GroupBounding::NotNeeded,
            });
        }
        let Some(per_unit) = self.groups_per_unit().filter(|groups| *groups > 0) else {
            let names: Vec<&str> = keys.iter().map(|key| key.name.as_str()).collect();
            return Err(Refusal::new(
                Reason::NoGroupsPerUnit,
                format!(
                    "the groups of {} are not public, and no limit on the groups per unit is declared",
                    names.join(", ")
                ),
                "the owner declares --max-groups-per-unit, or the public values with --keys COLUMN=a,b,c",
            )
            .at(self.words.place("group")));
        };
        Ok(Grouping {
            groups: Groups::Private,
            per_unit,
            group_bounding: GroupBounding::SampleGroups,
        })
    }

    /// The smallest declared limit on the groups per unit.
    fn groups_per_unit(&self) -> Option<u64> {
        self.datasets
            .iter()
            .filter_map(|name| self.catalogue.datasets.get(name)?.privacy.as_ref())
            .filter_map(|privacy| privacy.groups_per_unit)
            .max()
    }

    /// All combinations of the public values of the keys.
    fn public_groups(&mut self, relation: &Relation, keys: &[Key]) -> Option<Vec<Vec<Value>>> {
        let mut domains = Vec::with_capacity(keys.len());
        let mut count = 1_usize;
        for key in keys {
            let domain = self.domain(relation, &key.expression)?;
            count = count.saturating_mul(domain.len());
            domains.push(domain);
        }
        if count > MAX_GROUPS {
            self.note(Note::TooManyCombinations {
                limit: MAX_GROUPS as u64,
            });
            return None;
        }
        let mut groups: Vec<Vec<Value>> = vec![Vec::new()];
        for domain in domains {
            groups = groups
                .into_iter()
                .flat_map(|group| {
                    domain.iter().map(move |value| {
                        let mut longer = group.clone();
                        longer.push(value.clone());
                        longer
                    })
                })
                .collect();
        }
        (!groups.is_empty()).then_some(groups)
    }

    /// The public values of an expression over a relation.
    fn domain(&self, relation: &Relation, expr: &Expr) -> Option<Vec<Value>> {
        let keys = |place: usize| self.column_domain(relation, place);
        let mut values = expr.domain(&relation.columns, &keys, MAX_GROUPS)?;
        values.sort();
        values.dedup();
        (!values.is_empty()).then_some(values)
    }

    /// The public values of a column, traced to the dataset it comes from.
    fn column_domain(&self, relation: &Relation, place: usize) -> Option<Vec<Value>> {
        match &relation.operator {
            Operator::Scan { dataset } => {
                let dataset = self.catalogue.datasets.get(dataset)?;
                dataset.columns.get(place)?.keys.clone()
            }
            Operator::Filter { input, .. } | Operator::LimitRowsPerUnit { input, .. } => {
                self.column_domain(input, place)
            }
            Operator::Project { input, expressions } => self.domain(input, expressions.get(place)?),
            Operator::Join {
                left,
                right,
                keeps_left,
                ..
            } => match place.checked_sub(left.columns.len()) {
                None => self.column_domain(left, place),
                Some(place) => {
                    let mut values = self.column_domain(right, place)?;
                    if *keeps_left {
                        values.push(Value::Null);
                    }
                    Some(values)
                }
            },
            Operator::Union { inputs } => {
                let mut values = Vec::new();
                for input in inputs {
                    values.extend(self.column_domain(input, place)?);
                }
                Some(values)
            }
            Operator::Group { input, keys, .. } => self.domain(input, keys.get(place)?),
        }
    }
}
