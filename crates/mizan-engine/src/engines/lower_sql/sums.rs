//! S1 to S4 of sums: the number of units of a group, and the total of each contribution.

use mizan_sql::{Type, Value};

use super::clipped::clipped;
use super::{Query, SqlLowering, join, select_list};
use crate::unit_aggregation::{Contribution, ContributionKind};

impl SqlLowering<'_> {
    pub(super) fn integer(&self, value: i64) -> String {
        self.dialect.literal(&Value::Integer(value), Type::Integer)
    }

    /// A clamped contribution; NULL counts as zero.
    pub(super) fn clamped(&self, text: &str, contribution: &Contribution) -> String {
        format!(
            "CASE WHEN {text} IS NULL THEN 0 ELSE LEAST(GREATEST({text}, {}), {}) END",
            self.integer(contribution.low),
            self.integer(contribution.high)
        )
    }

    /// The sum of a unit's values; with more than `rows` values, `rows` times their mean. All
    /// operations on doubles give the same bits on every engine.
    fn scaled(&self, value: usize, rows: i64) -> String {
        let (count, sum) = (format!("COUNT(v{value})"), format!("SUM(v{value})"));
        let limit = self.integer(rows);
        format!(
            "CASE WHEN {count} > {limit} THEN CAST(FLOOR(CAST({sum} AS DOUBLE PRECISION) * \
             CAST({limit} AS DOUBLE PRECISION) / CAST({count} AS DOUBLE PRECISION)) AS BIGINT) \
             ELSE {sum} END"
        )
    }

    /// The contribution of a unit in a group before clamping; `is_single_row` if it has one row.
    pub(super) fn unit_total(&self, of: ContributionKind, is_single_row: bool) -> String {
        match (of, is_single_row) {
            (ContributionKind::Unit, _) | (ContributionKind::Rows, true) => "1".to_owned(),
            (ContributionKind::Rows, false) => "COUNT(*)".to_owned(),
            (ContributionKind::Count(value), true) => {
                format!("CASE WHEN v{value} IS NULL THEN 0 ELSE 1 END")
            }
            (ContributionKind::Count(value), false) => format!("COUNT(v{value})"),
            (ContributionKind::Sum(value) | ContributionKind::Scaled(value, _), true) => {
                format!("v{value}")
            }
            (ContributionKind::Sum(value), false) => format!("SUM(v{value})"),
            (ContributionKind::Scaled(value, rows), false) => self.scaled(value, rows),
        }
    }

    pub(super) fn sums(&self) -> Query {
        let is_single_row = self.aggregation.input.one_row_per_unit;
        let contributions = &self.aggregation.contributions;
        let (mut aggregates, mut names) = (Vec::new(), Vec::new());
        let mut contributed = Vec::with_capacity(contributions.len());
        for contribution in contributions {
            if contribution.of == ContributionKind::Unit {
                let one = 1.clamp(contribution.low, contribution.high);
                contributed.push(self.integer(one));
                continue;
            }
            let name = format!("a{}", names.len());
            aggregates.push(format!(
                "{} AS {name}",
                self.unit_total(contribution.of, is_single_row)
            ));
            contributed.push(self.clamped(&name, contribution));
            names.push(name);
        }
        let sums = || contributed.iter().map(|value| format!("SUM({value})"));
        let mut totals = vec!["COUNT(*)".to_owned()];
        let rows = self.rows_of(0, self.aggregation.summed_values(), true);
        if is_single_row {
            // Each row is the only one of its unit: there is nothing to add up.
            let keys = self.keys.names.iter().map(|key| key.text.clone());
            let columns = select_list(keys.chain(aggregates));
            let from = format!("(SELECT {columns} FROM ({rows}) AS t) AS t");
            totals.extend(sums());
            return Query {
                tables: Vec::new(),
                text: self.per_group(&totals, &from, None),
            };
        }
        let by = join(&self.unit_and_keys(), ", ");
        aggregates.insert(0, by.clone());
        let columns = select_list(aggregates);
        let from = format!("SELECT {columns} FROM ({rows}) AS t GROUP BY {by}");
        let Query { tables, text } = match self.aggregation.clip() {
            Some(clip) => {
                let number = Value::number(clip.dividend());
                let (clipped, text) = clipped(
                    &self.opaque(&from, &names),
                    &contributed,
                    contributions,
                    &join(&self.unit.names, ", "),
                    clip,
                    &self.dialect.literal(&number, Type::Number),
                );
                totals.extend(clipped);
                let tables = Vec::new();
                Query { tables, text }
            }
            None => {
                totals.extend(sums());
                self.first_groups(from, &names)
            }
        };
        Query {
            tables,
            text: self.per_group(&totals, &format!("({text}) AS t"), None),
        }
    }

    /// Rows whose unit and keys are hidden from the planner.
    fn opaque(&self, from: &str, others: &[String]) -> String {
        let names = self.unit_and_keys();
        let names = names
            .iter()
            .map(|name| format!("{} AS {}", self.dialect.opaque(name), name.text));
        let columns = select_list(names.chain(others.iter().cloned()));
        format!("SELECT {columns} FROM ({from}) AS t")
    }
}
