//! The exact integers of a bounded plan, as an engine returns them. They never
//! leave this crate without noise.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use mizan_sql::Value;
use serde::{Deserialize, Serialize};

/// A statistic of a group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Cell {
    /// A bounded sum.
    Integer(i64),
    /// How many rows have each quantized value; those without are left out.
    Histogram(BTreeMap<i64, i64>),
}

/// What an engine computed: for each group in the data, a cell for each
/// statistic. Public groups without rows are not in it, private groups are all
/// in it.
#[allow(unreachable_pub, reason = "in the signature of a public trait")]
pub type Exact = BTreeMap<Vec<Value>, Vec<Cell>>;

/// Which statements of an engine computed a result.
#[allow(unreachable_pub, reason = "in the signature of a public trait")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ExecutionPath {
    /// The engine's own operators.
    Operators,
    /// Plain SQL, because the engine has no operators or was told not to use them.
    PlainSql,
    /// Plain SQL, because the engine's operators failed. The result is the same, and
    /// the failure is a fault of Mizan.
    Fallback,
}

/// What an engine computed, and by which path.
#[allow(unreachable_pub, reason = "in the signature of a public trait")]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Execution {
    /// The exact integers.
    pub exact: Exact,
    /// What computed them.
    pub path: ExecutionPath,
}

impl Execution {
    /// A result of plain SQL.
    pub(crate) const fn plain_sql(exact: Exact) -> Self {
        let path = ExecutionPath::PlainSql;
        Self { exact, path }
    }

    /// The integers. A fallback is counted.
    pub(crate) fn counted(self) -> Exact {
        if self.path == ExecutionPath::Fallback {
            FALLBACKS.fetch_add(1, Ordering::Relaxed);
        }
        self.exact
    }
}

static FALLBACKS: AtomicU64 = AtomicU64::new(0);

/// How many answers of this process plain SQL computed because an engine's operators
/// failed. Each is a fault of Mizan that its results do not show.
#[must_use]
pub fn operator_fallbacks() -> u64 {
    FALLBACKS.load(Ordering::Relaxed)
}
