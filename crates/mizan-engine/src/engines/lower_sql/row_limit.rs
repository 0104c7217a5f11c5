//! The row limit in SQL: the first rows, groups or values of each unit, by their salted hash.

use mizan_sql::{Type, Value};

use super::dialect::{Dialect, Sql};
use super::expressions::join;
use super::relations::select_list;
use crate::sampling_hash::Salt;
use crate::unit_aggregation::LimitedItem;

/// A table of the rows of a query within a limit: for each unit, or for each unit in each group,
/// the first ones by the salted hash of these columns and the ranked ones.
#[derive(Clone, Debug)]
pub(crate) struct LimitedTable {
    /// Its name in queries.
    pub(crate) name: String,
    /// The query of all rows: columns of the unit (and keys), ranked columns, others.
    pub(crate) rows: String,
    /// The unit (and keys).
    pub(crate) by: Vec<Sql>,
    /// The ranked columns.
    pub(crate) ranked: Vec<Sql>,
    /// The last columns.
    pub(crate) others: Vec<String>,
    /// What the limit counts.
    pub(crate) of: LimitedItem,
    /// The limit.
    pub(crate) limit: u64,
}

impl LimitedTable {
    /// Its rows in plain SQL. Equal hashes, which are rare, are ordered by the ranked values.
    pub(super) fn ranked_rows(&self, dialect: &dyn Dialect, salt: &Salt) -> String {
        let named = [self.by.as_slice(), &self.ranked].concat();
        let columns = |column: &dyn Fn(&Sql) -> String| {
            let named = named.iter().map(column);
            select_list(named.chain(self.others.iter().cloned()))
        };
        let opaque = columns(&|value| format!("{} AS {}", dialect.opaque(value), value.text));
        let hash = dialect.hash(salt, &named);
        let nothing = self
            .ranked
            .iter()
            .map(|value| format!("{} IS NULL", value.text));
        let nothing: Vec<String> = nothing.collect();
        let nothing = (!self.of.counts_nulls()).then(|| format!("({})", nothing.join(" AND ")));
        let mut order: Vec<String> = nothing
            .iter()
            .map(|nothing| format!("{nothing} ASC"))
            .collect();
        order.push("h ASC".to_owned());
        let ranked = self.ranked.iter();
        order.extend(ranked.map(|value| format!("{} ASC NULLS FIRST", value.text)));
        let rank = match self.of.is_distinct() {
            true => "DENSE_RANK()",
            false => "ROW_NUMBER()",
        };
        let most = i64::try_from(self.limit).unwrap_or(i64::MAX);
        let most = dialect.literal(&Value::Integer(most), Type::Integer);
        let stays = nothing.map_or(String::new(), |nothing| format!(" OR {nothing}"));
        format!(
            "SELECT {} FROM (SELECT *, {rank} OVER (PARTITION BY {} ORDER BY {}) AS r \
             FROM (SELECT *, {hash} AS h FROM (SELECT {opaque} FROM ({}) AS t) AS t) AS t) \
             AS t WHERE r <= {most}{stays}",
            columns(&|value| value.text.clone()),
            join(&self.by, ", "),
            order.join(", "),
            self.rows,
        )
    }
}
