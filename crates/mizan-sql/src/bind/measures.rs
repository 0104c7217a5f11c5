//! Turns aggregates into bounded statistics, each with the change that one unit can cause (C3).
//! Aggregates share a statistic that several of them need.

use std::collections::BTreeSet;

use super::aggregate_call::{AggregateCall, AggregateKind, never_null};
use super::grid;
use super::local::Rows;
use super::rows::Binder;
use crate::expr::Expr;
use crate::message::{Effect, RowBounding};
use crate::plan::{Aggregate, MAX_CONTRIBUTION, MAX_UNITS, Measure, Statistic};
use crate::refusal::{Reason, Refusal};
use crate::relation::{Bounds, Operator, Quantized, Relation};
use crate::value::Type;

/// The distinct statistics of a query.
#[derive(Default)]
pub(super) struct Measures {
    pub(super) statistics: Vec<Statistic>,
}

impl Measures {
    /// The place of a statistic, which is added if it is new.
    pub(super) fn place(&mut self, measure: Measure, low: i64, high: i64) -> usize {
        // A contribution that is always zero still gets noise.
        let high = if low == 0 && high == 0 { 1 } else { high };
        let statistic = Statistic { measure, low, high };
        let known = self.statistics.iter().position(|other| *other == statistic);
        known.unwrap_or_else(|| {
            self.statistics.push(statistic);
            self.statistics.len() - 1
        })
    }

    /// The statistic that counts units.
    pub(super) fn units(&mut self) -> usize {
        self.place(Measure::Units, 0, 1)
    }

    /// The statistic that counts rows whose argument is not `NULL`.
    fn count(&mut self, argument: &Expr, rows: i64) -> usize {
        let measure = if never_null(argument) {
            Measure::Rows
        } else {
            Measure::Count(argument.clone())
        };
        self.place(measure, 0, rows)
    }
}

/// The row limit per unit and the relation that it applies to.
struct Limits<'a> {
    rows: &'a Rows,
    rows_per_unit: u64,
    rows_as_integer: i64,
}

impl Binder<'_> {
    /// Translates the aggregates of a query into statistics.
    pub(super) fn measured(
        &mut self,
        rows: &Rows,
        calls: &[AggregateCall],
        measures: &mut Measures,
    ) -> Result<Vec<Aggregate>, Refusal> {
        let mut aggregates = Vec::with_capacity(calls.len());
        for call in calls {
            if call.what == AggregateKind::Units {
                aggregates.push(Aggregate::Count {
                    of: measures.units(),
                });
                continue;
            }
            if let AggregateKind::Distinct { one_per_unit: true } = call.what {
                let measure = Measure::Distinct(call.argument.clone());
                aggregates.push(Aggregate::Count {
                    of: measures.place(measure, 0, 1),
                });
                continue;
            }
            let limits = self
                .limits(rows, calls)
                .map_err(|refusal| refusal.at(call.place))?;
            let centred = is_beside_mean(call, calls);
            let aggregate = self.aggregate(call, &limits, centred, measures);
            aggregates.push(aggregate.map_err(|refusal| refusal.at(call.place))?);
        }
        Ok(aggregates)
    }

    fn limits<'r>(
        &mut self,
        rows: &'r Rows,
        calls: &[AggregateCall],
    ) -> Result<Limits<'r>, Refusal> {
        let rows_per_unit = self.rows_per_unit(rows)?;
        let rows_as_integer = i64::try_from(rows_per_unit)
            .ok()
            .filter(|rows| (1..=MAX_CONTRIBUTION).contains(rows))
            .ok_or_else(|| {
                Refusal::new(
                    Reason::TooWide,
                    format!(
                        "a row limit of {rows_per_unit} per unit is too large for exact integers"
                    ),
                    format!("the owner declares --max-rows-per-unit from 1 to {MAX_CONTRIBUTION}"),
                )
            })?;
        if !rows.relation.one_row_per_unit {
            self.record_effect(Effect::RowsPerGroup {
                limit: rows_per_unit,
                bounding: self.row_bounding(rows, calls),
            });
        }
        Ok(Limits {
            rows,
            rows_per_unit,
            rows_as_integer,
        })
    }

    /// How the aggregates of a query bound the rows of a unit.
    fn row_bounding(&self, rows: &Rows, calls: &[AggregateCall]) -> Vec<RowBounding> {
        let of = |call: &AggregateCall| match call.what {
            AggregateKind::Units | AggregateKind::Distinct { one_per_unit: true } => None,
            AggregateKind::Rows | AggregateKind::Count => Some(RowBounding::CountCapped),
            AggregateKind::Distinct { .. } => Some(RowBounding::ValuesSampled),
            AggregateKind::Sum => {
                // A sum beside a mean of the same argument is computed from the statistics of
                // the mean, unless the data owner declared bounds of the total.
                let scaled = is_beside_mean(call, calls)
                    && self
                        .declared_total(&rows.relation, &call.argument)
                        .is_none();
                Some(match scaled {
                    true => RowBounding::SumsScaled,
                    false => RowBounding::SumClamped,
                })
            }
            AggregateKind::Mean | AggregateKind::Variance { .. } => Some(RowBounding::SumsScaled),
            AggregateKind::Minimum | AggregateKind::Maximum | AggregateKind::Quantile(_) => {
                Some(RowBounding::RowsSampled)
            }
        };
        let all: BTreeSet<RowBounding> = calls.iter().filter_map(of).collect();
        all.into_iter().collect()
    }

    fn aggregate(
        &mut self,
        call: &AggregateCall,
        limits: &Limits<'_>,
        centred: bool,
        measures: &mut Measures,
    ) -> Result<Aggregate, Refusal> {
        let rows = limits.rows_as_integer;
        let columns = &limits.rows.relation.columns;
        let argument = &call.argument;
        Ok(match call.what {
            AggregateKind::Units => Aggregate::Count {
                of: measures.units(),
            },
            AggregateKind::Rows => Aggregate::Count {
                of: measures.place(Measure::Rows, 0, rows),
            },
            AggregateKind::Count => Aggregate::Count {
                of: measures.count(argument, rows),
            },
            AggregateKind::Distinct { .. } => Aggregate::Count {
                of: measures.place(Measure::Distinct(argument.clone()), 0, rows),
            },
            AggregateKind::Sum => {
                let bounds = call.bounds(columns)?;
                let declared = self.declared_total(&limits.rows.relation, argument);
                // A declared total is tighter than rows times bounds. It limits the sum itself, not
                // the sum of distances from the centre.
                let centre = if centred && declared.is_none() {
                    grid::centre(bounds, call.kind)
                } else {
                    0.0
                };
                let total = declared.filter(|_| centre == 0.0);
                if let Some(total) = total {
                    self.record_effect(Effect::TotalPerGroup {
                        low: total.low,
                        high: total.high,
                    });
                }
                let scaled = centred && declared.is_none();
                let sum = sum(call, bounds, centre, total, scaled, limits, measures)?;
                let count = (centre != 0.0).then(|| measures.count(argument, rows));
                let most =
                    most_of_all(measures, sum, centre, rows).ok_or_else(|| call.too_wide())?;
                Aggregate::Sum {
                    sum,
                    count,
                    integer: call.kind == Type::Integer && most < 2_f64.powi(63),
                }
            }
            AggregateKind::Mean => {
                let bounds = call.bounds(columns)?;
                let centre = grid::centre(bounds, call.kind);
                let count = measures.count(argument, rows);
                let sum = sum(call, bounds, centre, None, true, limits, measures)?;
                Aggregate::Mean { sum, count }
            }
            AggregateKind::Variance { sample, root } => {
                let bounds = call.bounds(columns)?;
                let centre = grid::centre(bounds, call.kind);
                let count = measures.count(argument, rows);
                let sum = sum(call, bounds, centre, None, true, limits, measures)?;
                let squared = grid::for_sum(bounds, centre, call.kind, true, limits.rows_per_unit)
                    .ok_or_else(|| call.too_wide())?;
                let (low, high) = per_unit(&squared, rows);
                let squares = Measure::Scaled(argument.clone(), squared, rows);
                let squares = measures.place(squares, low, high);
                Aggregate::Variance {
                    sum,
                    squares,
                    count,
                    sample,
                    root,
                }
            }
            AggregateKind::Minimum => self.quantile(call, 0.0, limits, measures)?,
            AggregateKind::Maximum => self.quantile(call, 1.0, limits, measures)?,
            AggregateKind::Quantile(at) => self.quantile(call, at, limits, measures)?,
        })
    }

    fn quantile(
        &mut self,
        call: &AggregateCall,
        at: f64,
        limits: &Limits<'_>,
        measures: &mut Measures,
    ) -> Result<Aggregate, Refusal> {
        call.on_a_scale()?;
        let bounds = call.bounds(&limits.rows.relation.columns)?;
        let grid = grid::for_histogram(bounds, call.kind).ok_or_else(|| call.too_wide())?;
        if call.kind == Type::Number || grid.exponent > 0 {
            self.record_effect(call.on_a_grid(grid.step()));
        }
        let measure = Measure::Histogram(call.argument.clone(), grid);
        Ok(Aggregate::Quantile {
            histogram: measures.place(measure, 0, limits.rows_as_integer),
            at,
            kind: call.kind,
        })
    }

    /// The declared bounds of a unit's total, if the argument is a plain column of a dataset.
    pub(super) fn declared_total(&self, relation: &Relation, argument: &Expr) -> Option<Bounds> {
        let Expr::Column(place) = argument else {
            return None;
        };
        match &relation.operator {
            Operator::Scan { dataset } => {
                let dataset = self.catalogue.datasets.get(dataset)?;
                let column = dataset.columns.get(*place)?;
                // A unit without rows has the total zero, so the interval must contain zero.
                let declared = column.unit_bounds?;
                Bounds::new(declared.low.min(0.0), declared.high.max(0.0))
            }
            Operator::Filter { input, .. } | Operator::LimitRowsPerUnit { input, .. } => {
                self.declared_total(input, argument)
            }
            Operator::Project { input, expressions } => {
                self.declared_total(input, expressions.get(*place)?)
            }
            Operator::Join { left, right, .. } => match place.checked_sub(left.columns.len()) {
                None => self.declared_total(left, argument),
                Some(place) => self.declared_total(right, &Expr::Column(place)),
            },
            Operator::Union { .. } | Operator::Group { .. } => None,
        }
    }

    /// The most rows of a unit that are counted in a group.
    pub(super) fn rows_per_unit(&self, rows: &Rows) -> Result<u64, Refusal> {
        if rows.relation.one_row_per_unit {
            return Ok(1);
        }
        let mut most = 1;
        for name in rows
            .relation
            .nodes()
            .into_iter()
            .filter_map(Relation::scanned)
        {
            let dataset = self.catalogue.datasets.get(name);
            let Some(privacy) = dataset.and_then(|dataset| dataset.privacy.as_ref()) else {
                continue;
            };
            let Some(declared) = privacy.rows_per_unit else {
                return Err(Refusal::new(
                    Reason::NoRowsPerUnit,
                    format!("no row limit per unit is declared for {name}"),
                    format!(
                        "the owner declares --max-rows-per-unit for {name}; COUNT(DISTINCT unit) needs no such limit"
                    ),
                ));
            };
            most = most.max(declared);
        }
        Ok(most)
    }
}

/// Whether a query also has a mean or a variance of the argument of this aggregate.
fn is_beside_mean(call: &AggregateCall, calls: &[AggregateCall]) -> bool {
    let is_mean = |kind| matches!(kind, AggregateKind::Mean | AggregateKind::Variance { .. });
    (calls.iter()).any(|other| other.argument == call.argument && is_mean(other.what))
}

/// The least and the greatest sum over all rows of a unit; zero lies between them.
fn per_unit(grid: &Quantized, rows: i64) -> (i64, i64) {
    let (least, greatest) = grid.range();
    (
        least.min(0).saturating_mul(rows),
        greatest.max(0).saturating_mul(rows),
    )
}

fn sum(
    call: &AggregateCall,
    bounds: Bounds,
    centre: f64,
    total: Option<Bounds>,
    scaled: bool,
    limits: &Limits<'_>,
    measures: &mut Measures,
) -> Result<usize, Refusal> {
    let grid = grid::for_sum(bounds, centre, call.kind, false, limits.rows_per_unit)
        .ok_or_else(|| call.too_wide())?;
    let (mut low, mut high) = per_unit(&grid, limits.rows_as_integer);
    if let Some(total) = total {
        let (least, most) = grid::outward(total, &grid);
        low = low.max(least.min(0));
        high = high.min(most.max(0));
    }
    let argument = call.argument.clone();
    let measure = if scaled {
        Measure::Scaled(argument, grid, limits.rows_as_integer)
    } else {
        Measure::Sum(argument, grid)
    };
    Ok(measures.place(measure, low, high))
}

/// An upper bound of the absolute sum over all units, as a double. None if it exceeds doubles.
#[allow(
    clippy::cast_precision_loss,
    reason = "powers of two, and rounding is far from the limit"
)]
fn most_of_all(measures: &Measures, sum: usize, centre: f64, rows: i64) -> Option<f64> {
    let statistic = measures.statistics.get(sum)?;
    let (Measure::Sum(_, grid) | Measure::Scaled(_, grid, _)) = &statistic.measure else {
        return None;
    };
    let of_one = grid.step() * statistic.sensitivity() as f64 + centre.abs() * rows as f64;
    Some(of_one * MAX_UNITS as f64).filter(|most| most.is_finite())
}
