//! The row limit in SQL: the first rows, groups or values of each unit, by their salted hash.

use mizan_sql::{Type, Value};

use super::dialect::{Dialect, Sql};
use super::expressions::join;
use super::relations::select_list;
use super::statement::{LimitedItem, RowLimit};
use crate::sampling_hash::Salt;

/// The parameters of a table of limited rows.
pub(crate) struct RowLimitSpec<'a> {
    /// The unit (and keys): the first columns of the query.
    pub(crate) by: &'a [Sql],
    /// The ranked columns, which come next.
    pub(crate) ranked: &'a [Sql],
    /// The last columns.
    pub(crate) others: &'a [String],
    /// What the limit counts.
    pub(crate) of: LimitedItem,
    /// The limit.
    pub(crate) limit: u64,
}

impl RowLimitSpec<'_> {
    /// The table, over the rows of a query. Equal hashes, which are rare, are ordered by the
    /// ranked values.
    pub(crate) fn of(
        &self,
        dialect: &dyn Dialect,
        salt: &Salt,
        table: impl Into<String>,
        rows: String,
    ) -> RowLimit {
        let named = [self.by, self.ranked].concat();
        let columns = |ranked: &dyn Fn(&Sql) -> String| {
            let ranked = named.iter().map(ranked);
            select_list(ranked.chain(self.others.iter().cloned()))
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
        let text = format!(
            "SELECT {} FROM (SELECT *, {rank} OVER (PARTITION BY {} ORDER BY {}) AS r \
             FROM (SELECT *, {hash} AS h FROM (SELECT {opaque} FROM ({rows}) AS t) AS t) AS t) \
             AS t WHERE r <= {most}{stays}",
            columns(&|value| value.text.clone()),
            join(self.by, ", "),
            order.join(", "),
        );
        RowLimit {
            table: table.into(),
            text,
            rows,
            by: self.by.len(),
            ranked: self.ranked.len(),
            of: self.of,
            limit: self.limit,
        }
    }
}
