//! Collects result rows into exact integers.

use std::collections::BTreeMap;

use mizan_sql::{BoundedPlan, Measure, Value};

use super::statement::ResultLayout;
use crate::engine::EngineError;
use crate::exact::{Cell, ExactAggregates};

/// Collects the results of the statements of a plan.
pub(crate) struct ResultCollector {
    empty: Vec<Cell>,
    keys: usize,
    exact: ExactAggregates,
}

impl ResultCollector {
    /// An empty collector.
    pub(crate) fn new(plan: &BoundedPlan) -> Self {
        let statistics = plan.statistics.iter();
        let empty = statistics
            .map(|statistic| match statistic.measure {
                Measure::Histogram(..) => Cell::Histogram(BTreeMap::new()),
                _ => Cell::Integer(0),
            })
            .collect();
        Self {
            empty,
            keys: plan.keys.len(),
            exact: ExactAggregates::new(),
        }
    }

    /// Adds a row of a statement's result.
    pub(crate) fn add(
        &mut self,
        layout: &ResultLayout,
        mut row: Vec<Value>,
    ) -> Result<(), EngineError> {
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
        if !matches!(layout, ResultLayout::Histogram(_)) && integer(0)? == 0 {
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
        match layout {
            ResultLayout::Sums(statistics) => {
                for (place, statistic) in statistics.iter().enumerate() {
                    set(*statistic, integer(place + 1)?)?;
                }
            }
            ResultLayout::Distinct(statistic) => set(*statistic, integer(1)?)?,
            ResultLayout::Histogram(statistic) => {
                let Some(Cell::Histogram(bins)) = cells.get_mut(*statistic) else {
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
