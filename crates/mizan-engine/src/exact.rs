//! The exact integers of a bounded plan, as an engine returns them. They never leave this crate
//! without noise.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use mizan_sql::Value;
use serde::{Deserialize, Serialize};

use crate::engine::EngineError;

/// The value of a statistic in a group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Cell {
    /// A bounded sum.
    Integer(i64),
    /// The number of rows for each quantized value. Rows without a value are left out.
    Histogram(BTreeMap<i64, i64>),
}

/// The result of an engine: for each group in the data, a cell for each statistic. Public
/// groups without rows are missing; all private groups are present.
pub(crate) type ExactAggregates = BTreeMap<Vec<Value>, Vec<Cell>>;

/// Which implementation computed a result.
#[allow(unreachable_pub, reason = "in the signature of a public trait")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ExecutionPath {
    /// The engine's own operators.
    Operators,
    /// Plain SQL, because the engine has no operators or they are switched off.
    PlainSql,
    /// Plain SQL, because the engine's operators failed. The result is the same, and the
    /// failure is a defect of Mizan.
    Fallback,
}

/// The result of an engine and the path that computed it.
#[allow(unreachable_pub, reason = "in the signature of a public trait")]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Execution {
    exact: ExactAggregates,
    path: ExecutionPath,
}

impl Execution {
    /// A result and its path.
    pub(crate) const fn new(exact: ExactAggregates, path: ExecutionPath) -> Self {
        Self { exact, path }
    }

    /// A result of plain SQL.
    pub(crate) const fn plain_sql(exact: ExactAggregates) -> Self {
        Self::new(exact, ExecutionPath::PlainSql)
    }

    /// The path.
    pub(crate) const fn path(&self) -> ExecutionPath {
        self.path
    }

    /// The integers, whatever the path: for a caller that checks it.
    pub(crate) const fn exact(&self) -> &ExactAggregates {
        &self.exact
    }

    /// Takes the integers; an error if operators failed. So a test or an audit does not take a
    /// fallback for a success.
    pub(crate) fn without_fallback(self) -> Result<ExactAggregates, EngineError> {
        match self.path {
            ExecutionPath::Fallback => Err(EngineError::Failed {
                doing: "running operators",
            }),
            ExecutionPath::Operators | ExecutionPath::PlainSql => Ok(self.exact),
        }
    }

    /// Takes the integers, and counts a fallback.
    pub(crate) fn counted(self) -> ExactAggregates {
        if self.path == ExecutionPath::Fallback {
            FALLBACKS.fetch_add(1, Ordering::Relaxed);
        }
        self.exact
    }
}

static FALLBACKS: AtomicU64 = AtomicU64::new(0);

/// How many answers of this process were computed by plain SQL because an engine's operators
/// failed. Each is a defect of Mizan that results do not show.
#[must_use]
pub fn operator_fallbacks() -> u64 {
    FALLBACKS.load(Ordering::Relaxed)
}
