//! The only constructors of relations. Each keeps the relation unit-local: the rows of a unit come
//! from the rows of that unit and from public tables only (C1). Every private relation knows the
//! columns of its unit.

use crate::catalogue::Dataset;
use crate::expr::Expr;
use crate::refusal::{Reason, Refusal};
use crate::relation::{Bounds, Column, Operator, Relation, UnitAggregate};
use crate::value::Type;

use super::scalar::Field;

/// A relation as the planner sees it: the place in the relation of each visible column. Other
/// columns, such as those of the unit, may be hidden.
#[derive(Clone, Debug)]
pub(super) struct Rows {
    pub(super) relation: Relation,
    pub(super) places: Vec<usize>,
}

impl Rows {
    /// The columns that expressions may name.
    pub(super) fn fields(&self) -> Vec<Field> {
        fields(&self.places, &self.relation.columns)
    }

    /// Whether it reads public tables only.
    pub(super) fn is_public(&self) -> bool {
        self.relation.unit.is_empty()
    }

    /// The rows of a dataset.
    pub(super) fn scan(dataset: &Dataset) -> Result<Self, Refusal> {
        let columns: Vec<Column> = dataset
            .columns
            .iter()
            .map(|column| Column {
                name: column.name.clone(),
                kind: column.kind,
                bounds: column.bounds,
            })
            .collect();
        let unit = dataset.privacy.iter().flat_map(|privacy| &privacy.unit);
        let unit: Option<Vec<usize>> = unit
            .map(|name| columns.iter().position(|column| &column.name == name))
            .collect();
        let lost = dataset
            .privacy
            .as_ref()
            .is_some_and(|privacy| privacy.unit.is_empty());
        let Some(unit) = unit.filter(|_| !lost) else {
            return Err(Refusal::new(
                Reason::Catalogue,
                format!("the unit of {} is not one of its columns", dataset.name),
                "the owner registers the dataset again with --unit COLUMN",
            ));
        };
        Ok(Self {
            places: (0..columns.len()).collect(),
            relation: Relation {
                operator: Operator::Scan {
                    dataset: dataset.name.clone(),
                },
                columns,
                unit,
                one_row_per_unit: false,
            },
        })
    }

    /// The rows for which a condition is true.
    pub(super) fn filter(self, predicate: Expr) -> Self {
        let columns = self.relation.columns.clone();
        let unit = self.relation.unit.clone();
        let one_row_per_unit = self.relation.one_row_per_unit;
        Self {
            places: self.places,
            relation: Relation {
                operator: Operator::Filter {
                    input: Box::new(self.relation),
                    predicate,
                },
                columns,
                unit,
                one_row_per_unit,
            },
        }
    }

    /// Projects to named columns and the unit. Plain columns keep their places.
    pub(super) fn project(self, columns: Vec<(String, Expr, Type)>) -> Self {
        let plain: Option<Vec<usize>> = columns
            .iter()
            .map(|(_, expr, _)| match expr {
                Expr::Column(place) => Some(*place),
                _ => None,
            })
            .collect();
        match plain {
            Some(places) => Self { places, ..self },
            None => self.materialized(columns),
        }
    }

    /// Exactly these columns, followed by the unit columns that are not among them.
    pub(super) fn materialized(self, named: Vec<(String, Expr, Type)>) -> Self {
        let input = &self.relation;
        let visible = named.len();
        let mut columns = Vec::with_capacity(visible + input.unit.len());
        let mut expressions = Vec::with_capacity(visible + input.unit.len());
        for (name, expr, kind) in named {
            columns.push(Column {
                name,
                kind,
                bounds: expr.bounds(&input.columns),
            });
            expressions.push(expr);
        }
        let mut unit = Vec::with_capacity(input.unit.len());
        for place in &input.unit {
            let there = expressions
                .iter()
                .position(|expr| *expr == Expr::Column(*place));
            unit.push(there.unwrap_or(expressions.len()));
            if let (None, Some(column)) = (there, input.columns.get(*place)) {
                expressions.push(Expr::Column(*place));
                columns.push(column.clone());
            }
        }
        Self {
            places: (0..visible).collect(),
            relation: Relation {
                columns,
                unit,
                one_row_per_unit: input.one_row_per_unit,
                operator: Operator::Project {
                    input: Box::new(self.relation),
                    expressions,
                },
            },
        }
    }

    /// One row for each combination of the keys. None if the unit is not among the keys.
    pub(super) fn group(
        self,
        keys: Vec<(String, Expr, Type)>,
        aggregates: Vec<(String, UnitAggregate, Type, Option<Bounds>)>,
    ) -> Option<Self> {
        let input = self.relation;
        let unit: Option<Vec<usize>> = input
            .unit
            .iter()
            .map(|place| {
                keys.iter()
                    .position(|(_, expr, _)| *expr == Expr::Column(*place))
            })
            .collect();
        let unit = unit?;
        let only_unit = !unit.is_empty()
            && keys.iter().all(|(_, expr, _)| match expr {
                Expr::Column(place) => input.unit.contains(place),
                Expr::Literal(..) => true,
                _ => false,
            });
        let mut columns: Vec<Column> = Vec::with_capacity(keys.len() + aggregates.len());
        let mut expressions = Vec::with_capacity(keys.len());
        for (name, expr, kind) in keys {
            columns.push(Column {
                name,
                kind,
                bounds: expr.bounds(&input.columns),
            });
            expressions.push(expr);
        }
        let mut computed = Vec::with_capacity(aggregates.len());
        for (name, aggregate, kind, bounds) in aggregates {
            columns.push(Column { name, kind, bounds });
            computed.push(aggregate);
        }
        Some(Self {
            places: (0..columns.len()).collect(),
            relation: Relation {
                columns,
                unit,
                one_row_per_unit: only_unit || input.one_row_per_unit,
                operator: Operator::Group {
                    input: Box::new(input),
                    keys: expressions,
                    aggregates: computed,
                },
            },
        })
    }

    /// `UNION ALL`. Corresponding columns, units included, have one type; all inputs are private,
    /// or all are public.
    pub(super) fn union(inputs: Vec<Self>) -> Result<Self, Refusal> {
        let fit = |what: &str| {
            Refusal::new(
                Reason::Union,
                format!("the parts of UNION differ in {what}"),
                "select the same columns of the same types from private tables of the same unit",
            )
        };
        let mut parts: Vec<Relation> = Vec::with_capacity(inputs.len());
        let mut visible = 0;
        let mut units = 0;
        let mut shows: Option<Vec<Option<usize>>> = None;
        for rows in inputs {
            let fields = rows.fields();
            visible = fields.len();
            units = rows.relation.unit.len();
            // Whether a column is the same part of the unit in every input.
            let of_unit: Vec<Option<usize>> = rows
                .places
                .iter()
                .map(|place| rows.relation.unit.iter().position(|unit| unit == place))
                .collect();
            shows = Some(match shows {
                None => of_unit,
                Some(shows) => shows
                    .into_iter()
                    .zip(of_unit)
                    .map(|(one, other)| one.filter(|_| one == other))
                    .collect(),
            });
            let unit = rows.relation.unit.iter().filter_map(|place| {
                let column = rows.relation.columns.get(*place)?;
                Some((column.name.clone(), Expr::Column(*place), column.kind))
            });
            let names = rows.places.iter().map(|place| {
                let column = rows.relation.columns.get(*place);
                column.map_or_else(String::new, |column| column.name.clone())
            });
            // The unit is added again at the end, so that it has the same place in every input.
            let columns: Vec<_> = names
                .zip(fields)
                .map(|(name, field)| (name, field.expr, field.kind))
                .chain(unit)
                .collect();
            let mut part = rows.materialized(columns).relation;
            part.unit = (visible..visible + units).collect();
            parts.push(part);
        }
        let mut columns: Vec<Column> = Vec::new();
        for (index, part) in parts.iter().enumerate() {
            if part.unit.len() != units {
                return Err(fit("their privacy units"));
            }
            if index == 0 {
                columns.clone_from(&part.columns);
                continue;
            }
            if part.columns.len() != columns.len() {
                return Err(fit("their columns"));
            }
            for (column, other) in columns.iter_mut().zip(&part.columns) {
                if column.kind != other.kind {
                    return Err(fit("the types of their columns"));
                }
                column.bounds = match (column.bounds, other.bounds) {
                    (Some(a), Some(b)) => Bounds::new(a.low.min(b.low), a.high.max(b.high)),
                    _ => None,
                };
            }
        }
        let places = shows
            .unwrap_or_default()
            .into_iter()
            .enumerate()
            .map(|(place, unit)| unit.map_or(place, |unit| visible + unit));
        Ok(Self {
            places: places.collect(),
            relation: Relation {
                columns,
                unit: (visible..visible + units).collect(),
                one_row_per_unit: false,
                operator: Operator::Union { inputs: parts },
            },
        })
    }
}

/// The columns that expressions may name, by their places.
pub(super) fn fields(places: &[usize], columns: &[Column]) -> Vec<Field> {
    places
        .iter()
        .filter_map(|place| {
            let column = columns.get(*place)?;
            Some(Field::new(Expr::Column(*place), column.kind))
        })
        .collect()
}
