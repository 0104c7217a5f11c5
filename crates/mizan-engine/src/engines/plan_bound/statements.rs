//! The memory of a plan's statements beside its relation: S1 to S4, and the result.

use mizan_sql::{Expr, Groups, Quantized, Type};

use super::bytes::{ColumnBytes, RowBytes, bytes_of, column};
use super::rows::{Rows, grouped, hashed, ranked_columns};
use super::{KEY_TEXT, Setting};
use crate::engine::{EngineError, bad};
use crate::unit_aggregation::{Part, UnitAggregation, UnitBounding};

/// A pair of a unit and a group, its index entry, and the factor for both while they grow.
const PAIR: u64 = 24;
const PLACE: u64 = 4;
const MOST_PLACES: u64 = 32;

/// A number of a pair, and the number of its rows without a value.
const CELL: u64 = 16;

/// A unit: its index entry by id, and the ranks of its groups.
const UNIT: u64 = 96;
const RANKED_PAIR: u64 = 40;

/// A group of the result: its node in a tree, and each of its keys and numbers.
const RESULT: u64 = 160;
const RESULT_VALUE: u64 = 40;

/// A bin of a histogram in the result.
const BIN: u64 = 48;

/// The same in the answer of a worker.
const SENT_VALUE: u64 = 12;

/// The counters of the sketch: in each partition a quarter of the rows, rounded up.
const COUNTER: u64 = 2;
const MOST_COUNTERS: u64 = 1 << 27;

/// The memory and time of statements.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct State {
    /// The memory of the largest statement and the result.
    pub(super) held: u64,
    /// The bytes of the worker's answer.
    pub(super) answer: u64,
    /// The time of the largest statement.
    pub(super) nanoseconds: u64,
}

/// The time to read a group of the result from a batch, in nanoseconds: its keys, its numbers
/// and its insertion in the order of groups.
const GATHERED: u64 = 16_000;

/// The memory and time of the statements of a plan over these rows.
pub(super) fn state(
    aggregation: &UnitAggregation,
    rows: &Rows,
    setting: Setting,
) -> Result<State, EngineError> {
    let statements = Statements::new(aggregation, rows, setting)?;
    let mut held = statements.sums();
    let mut bins = 0_u64;
    for part in aggregation.parts() {
        let Part::Values(_, statistic) = part else {
            continue;
        };
        let Some(value) = aggregation.values.get(statistic.value) else {
            return Err(bad("no such value"));
        };
        let here = match &value.quantized {
            None => statements.values(statements.bytes(&value.expression)?, rows.rows),
            Some(how) => {
                let found = statements.groups.saturating_mul(steps(how)).min(rows.rows);
                bins = bins.saturating_add(found);
                statements.values(ColumnBytes::of(Type::Integer), found)
            }
        };
        held = held.max(here);
    }
    let (result, answer) = statements.result(bins);
    Ok(State {
        held: held.saturating_add(result),
        answer,
        nanoseconds: hashed(rows.rows.saturating_mul(3))
            .saturating_add(statements.groups.saturating_mul(GATHERED)),
    })
}

struct Statements<'a> {
    aggregation: &'a UnitAggregation,
    rows: &'a Rows,
    setting: Setting,
    unit: Vec<ColumnBytes>,
    keys: Vec<ColumnBytes>,
    /// The most groups.
    groups: u64,
}

impl<'a> Statements<'a> {
    fn new(
        aggregation: &'a UnitAggregation,
        rows: &'a Rows,
        setting: Setting,
    ) -> Result<Self, EngineError> {
        let input = &aggregation.input;
        let unit = input.unit.iter();
        let unit = unit.map(|place| column(&rows.columns, *place));
        let keys = aggregation.keys.iter();
        let keys = keys.map(|key| bytes_of(&key.expression, &rows.columns, &input.columns));
        let groups = match &aggregation.groups {
            Groups::Public(groups) => groups.len() as u64,
            Groups::Private => values_of(aggregation).min(rows.rows),
        };
        Ok(Self {
            aggregation,
            rows,
            setting,
            unit: unit.collect::<Result<_, _>>()?,
            keys: keys.collect::<Result<_, _>>()?,
            groups: groups.max(1),
        })
    }

    fn bytes(&self, expr: &Expr) -> Result<ColumnBytes, EngineError> {
        bytes_of(expr, &self.rows.columns, &self.aggregation.input.columns)
    }

    /// The bytes of the texts in the keys of groups. If keys come from several tables, a text
    /// is assumed to be in few groups: the texts of a group have few bytes on average, or as
    /// many as are stored.
    fn texts_of_keys(&self, groups: u64) -> u64 {
        let all = RowBytes::of_keys(&self.keys, groups).text;
        let texts = self.keys.iter().filter(|key| key.stored > 0);
        let average = texts.fold(0_u64, |all, key| {
            let usual = key.base.max(groups.saturating_mul(KEY_TEXT));
            let literal = key.literal.saturating_mul(groups);
            all.saturating_add(usual).saturating_add(literal)
        });
        match self.aggregation.keys.len() {
            0 | 1 => all,
            _ => all.min(average),
        }
    }

    /// The memory of counts and sums.
    fn sums(&self) -> u64 {
        let rows = self.rows.rows;
        let numbers = self.aggregation.summed_values() as u64;
        let number = ColumnBytes::of(Type::Integer);
        if self.aggregation.input.one_row_per_unit {
            let statistics = self.aggregation.statistics.iter();
            let columns: Vec<ColumnBytes> = statistics.map(|_| number).collect();
            let columns = [self.keys.clone(), columns].concat();
            return grouped(&columns, self.groups);
        }
        let units = self.rows.units.min(rows);
        let pairs = rows.min(units.saturating_mul(self.groups.saturating_add(1)));
        let places = MOST_PLACES.min(self.groups.saturating_mul(2));
        let mut pair = PAIR
            .saturating_add(PLACE.saturating_mul(places))
            .saturating_add(CELL.saturating_mul(numbers.saturating_add(1)));
        if self.aggregation.bounding != UnitBounding::NotNeeded {
            pair = pair.saturating_add(RANKED_PAIR);
        }
        let of_unit = RowBytes::by(self.unit.iter().copied(), |id| id.of_units(units));
        let groups = self.groups.min(pairs);
        let mut of_keys = RowBytes::of_keys(&self.keys, groups);
        of_keys.text = self.texts_of_keys(groups);
        let keys = match self.aggregation.groups {
            Groups::Private => of_keys.held(groups, 2, UNIT),
            Groups::Public(_) => groups.saturating_mul(UNIT),
        };
        let all = [
            pairs.saturating_mul(pair),
            of_unit.held(units, 2, UNIT),
            keys,
            self.counted(
                rows,
                of_unit
                    .fixed
                    .saturating_add(number.fixed.saturating_mul(numbers)),
            ),
        ];
        all.into_iter().fold(0, u64::saturating_add)
    }

    /// The memory of the rows that are buffered until the heavy units are known, and of the
    /// counters.
    fn counted(&self, rows: u64, each: u64) -> u64 {
        let counters = (rows / 4).saturating_mul(2).min(MOST_COUNTERS);
        let counters = counters.saturating_mul(COUNTER);
        let counters = counters.saturating_mul(self.setting.partitions.saturating_add(1));
        let kept = rows.saturating_mul(each).min(self.setting.keeps);
        kept.saturating_add(counters)
    }

    /// The memory of distinct counts or histograms with `different` values or bins: the rows of
    /// units are ranked (after their groups, if these are sampled), and then grouped by value.
    fn values(&self, value: ColumnBytes, different: u64) -> u64 {
        let rows = self.rows.rows;
        let value = std::iter::once(value);
        let columns: Vec<ColumnBytes> = self.keys.iter().copied().chain(value).collect();
        let last = grouped(&columns, different.min(rows));
        if self.aggregation.input.one_row_per_unit {
            return last;
        }
        let ranked = [self.unit.clone(), columns].concat();
        let ranked = ranked_columns(&ranked, rows);
        let times = 1 + u64::from(self.aggregation.sampled_groups().is_some());
        ranked.saturating_mul(times).saturating_add(last)
    }

    /// The bytes of the result in memory, and as it is sent.
    fn result(&self, bins: u64) -> (u64, u64) {
        let values = (self.aggregation.keys.len() as u64)
            .saturating_add(self.aggregation.statistics.len() as u64);
        let each = RESULT.saturating_add(RESULT_VALUE.saturating_mul(values));
        let sent = SENT_VALUE.saturating_mul(values.saturating_add(1));
        let text = match self.aggregation.groups {
            Groups::Private => self.texts_of_keys(self.groups),
            Groups::Public(_) => 0,
        };
        let sent = self
            .groups
            .saturating_mul(sent)
            .saturating_add(bins.saturating_mul(2 * SENT_VALUE))
            .saturating_add(text);
        let held = self
            .groups
            .saturating_mul(each)
            .saturating_add(bins.saturating_mul(BIN))
            .saturating_add(text);
        // It is encoded, and framed.
        (held.saturating_add(sent.saturating_mul(2)), sent)
    }
}

/// The number of steps of a quantized value.
fn steps(how: &Quantized) -> u64 {
    let (low, high) = how.range();
    high.abs_diff(low).saturating_add(2)
}

/// A bound on the number of key values of groups, from their types and bounds.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "saturates, as it should"
)]
fn values_of(aggregation: &UnitAggregation) -> u64 {
    let columns = &aggregation.input.columns;
    aggregation.keys.iter().fold(1, |all: u64, key| {
        let bounds = match &key.expression {
            Expr::Column(place) => columns.get(*place).and_then(|column| column.bounds),
            _ => None,
        };
        let values = match (key.kind, bounds) {
            (Type::Boolean, _) => 3,
            (Type::Integer | Type::Date, Some(bounds)) => {
                ((bounds.high - bounds.low).ceil() as u64).saturating_add(2)
            }
            _ => u64::MAX,
        };
        all.saturating_mul(values)
    })
}
