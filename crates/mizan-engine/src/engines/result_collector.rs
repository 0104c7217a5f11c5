//! Collects result rows into exact integers.

use std::collections::BTreeMap;

use mizan_sql::Value;

use crate::engine::EngineError;
use crate::exact::{Cell, ExactAggregates};
use crate::unit_aggregation::{
    GroupStatistic, Part, UnitAggregation, ValueMeasure, ValueStatistic,
};

/// Collects the results of the parts of an aggregation.
pub(crate) struct ResultCollector {
    empty: Vec<Cell>,
    /// The places of the sums among the statistics.
    sums: Vec<usize>,
    keys: usize,
    exact: ExactAggregates,
}

impl ResultCollector {
    /// An empty collector.
    pub(crate) fn new(aggregation: &UnitAggregation) -> Self {
        let statistics = aggregation.statistics.iter();
        let empty = statistics.clone().map(|statistic| match statistic {
            GroupStatistic::Values(ValueStatistic {
                measure: ValueMeasure::Histogram,
                ..
            }) => Cell::Histogram(BTreeMap::new()),
            _ => Cell::Integer(0),
        });
        let sums = statistics.enumerate();
        let sums = sums.filter(|(_, statistic)| matches!(statistic, GroupStatistic::Sum(_)));
        Self {
            empty: empty.collect(),
            sums: sums.map(|(place, _)| place).collect(),
            keys: aggregation.keys.len(),
            exact: ExactAggregates::new(),
        }
    }

    /// Adds a result row: the keys; for sums and distinct counts a number that is zero exactly
    /// if the group has no units; then the numbers. For histograms a row is a bin (or NULL for
    /// rows without a value, which do not count) and its number of rows.
    pub(crate) fn add(&mut self, part: Part, mut row: Vec<Value>) -> Result<(), EngineError> {
        let malformed = EngineError::Failed {
            doing: "reading results",
        };
        if row.len() < self.keys {
            return Err(malformed);
        }
        let computed = row.split_off(self.keys);
        let integer = |place: usize| match computed.get(place) {
            Some(Value::Integer(value)) => Ok(*value),
            _ => Err(malformed.clone()),
        };
        // Without keys a statement returns a row even if there are no rows.
        let is_histogram = matches!(
            part,
            Part::Values(_, statistic) if statistic.measure == ValueMeasure::Histogram
        );
        if !is_histogram && integer(0)? == 0 {
            return Ok(());
        }
        let cells = self.exact.entry(row).or_insert_with(|| self.empty.clone());
        let mut set = |statistic: usize, value: i64| match cells.get_mut(statistic) {
            Some(cell @ Cell::Integer(_)) => {
                *cell = Cell::Integer(value);
                Ok(())
            }
            _ => Err(malformed.clone()),
        };
        match part {
            Part::Sums => {
                for (place, statistic) in self.sums.iter().enumerate() {
                    set(*statistic, integer(place + 1)?)?;
                }
            }
            Part::Values(statistic, _) if !is_histogram => set(statistic, integer(1)?)?,
            Part::Values(statistic, _) => {
                let Some(Cell::Histogram(bins)) = cells.get_mut(statistic) else {
                    return Err(malformed);
                };
                let count = integer(1)?;
                if count < 0 {
                    return Err(malformed);
                }
                let has_value = !computed.first().is_some_and(Value::is_null);
                // A value that comes twice would lose rows.
                if count > 0 && has_value && bins.insert(integer(0)?, count).is_some() {
                    return Err(malformed);
                }
            }
        }
        Ok(())
    }

    /// The collected integers.
    pub(crate) fn finish(self) -> ExactAggregates {
        self.exact
    }
}
