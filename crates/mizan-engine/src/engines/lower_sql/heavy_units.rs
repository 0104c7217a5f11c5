//! Sums where nearly all units are light.

use super::dialect::Sql;
use super::{SqlLowering, select_list};
use crate::unit_aggregation::ContributionKind;

impl SqlLowering<'_> {
    /// The statement for sums in which only heavy units are bounded one by one. All light units
    /// form one group of rows, whose contributions are not clamped. `is_heavy` is the condition
    /// that the unit of a row is heavy, over the columns of the unit.
    pub(crate) fn sums_with_heavy_units(&self, is_heavy: impl FnOnce(&[Sql]) -> String) -> String {
        let keys = || self.keys.names.iter().map(|key| key.text.clone());
        let heavy: Vec<String> = (0..self.unit.names.len())
            .map(|place| format!("m{place}"))
            .collect();
        // A NULL id marks light units.
        let others = heavy.first().map_or("m0", String::as_str);
        let (mut inner, mut totals) = (Vec::new(), vec!["COUNT(*)".to_owned()]);
        for (place, contribution) in self.aggregation.contributions.iter().enumerate() {
            let unit_total = self.unit_total(contribution.of, false);
            inner.push(match contribution.of {
                ContributionKind::Scaled(value, _) => format!(
                    "CASE WHEN {others} IS NULL THEN SUM(v{value}) ELSE {unit_total} END AS a{place}"
                ),
                _ => format!("{unit_total} AS a{place}"),
            });
            let clamped = self.clamped(&format!("a{place}"), contribution);
            totals.push(format!(
                "SUM(CASE WHEN {others} IS NULL THEN COALESCE(a{place}, 0) ELSE {clamped} END)"
            ));
        }
        let by = select_list(keys().chain(heavy.iter().cloned()));
        let inner = select_list(keys().chain(heavy.iter().cloned()).chain(inner));
        let heavy_ids = self.unit.names.iter().zip(&heavy);
        let heavy_ids = heavy_ids
            .map(|(unit, heavy)| format!("CASE WHEN many THEN {} END AS {heavy}", unit.text));
        let summed = self.aggregation.summed_values();
        let values = (0..summed).map(|place| format!("v{place}"));
        let heavy_ids = select_list(keys().chain(values).chain(heavy_ids));
        let rows = self.rows_of(0, summed, true);
        let is_heavy = is_heavy(&self.unit.names);
        let from = format!(
            "(SELECT {inner} FROM (SELECT {heavy_ids} FROM (SELECT *, {is_heavy} AS many \
             FROM ({rows}) AS t) AS t) AS t GROUP BY {by}) AS t"
        );
        self.with_tables(&self.input.tables, self.per_group(&totals, &from, None))
    }
}
