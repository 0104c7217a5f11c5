//! Sums in plain SQL where nearly all units are light.

use std::collections::BTreeSet;

use mizan_sql::{GroupBounding, Groups};

use super::{Builder, unclamped_rows};
use crate::engines::redundant_limits;
use crate::engines::relations::select_list;
use crate::engines::statement::{Contribution, ContributionKind, LightUnits};

impl Builder<'_> {
    /// Sums in which only heavy units are bounded one by one. All light units form one group of
    /// rows, whose contributions are not clamped.
    pub(super) fn heavy_unit_split(
        &self,
        contributions: &[Contribution],
        values: usize,
        rows: &str,
    ) -> (String, String) {
        let keys = || self.key_names.iter().map(|key| key.text.clone());
        let heavy: Vec<String> = (0..self.unit_names.len())
            .map(|place| format!("m{place}"))
            .collect();
        // A NULL id marks light units.
        let others = heavy.first().map_or("m0", String::as_str);
        let (mut inner, mut totals) = (Vec::new(), vec!["COUNT(*)".to_owned()]);
        for (place, contribution) in contributions.iter().enumerate() {
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
        let heavy_ids = self.unit_names.iter().zip(&heavy);
        let heavy_ids = heavy_ids
            .map(|(unit, heavy)| format!("CASE WHEN many THEN {} END AS {heavy}", unit.text));
        let values = (0..values).map(|place| format!("v{place}"));
        let heavy_ids = select_list(keys().chain(values).chain(heavy_ids));
        let after = format!(" AS many FROM ({rows}) AS t) AS t) AS t GROUP BY {by}) AS t");
        let before = format!("(SELECT {inner} FROM (SELECT {heavy_ids} FROM (SELECT *, ");
        // Split at the position of the condition.
        let whole = self.per_group(&totals, &format!("{before}\0{after}"), &[]);
        match whole.split_once('\0') {
            Some((before, after)) => (before.to_owned(), after.to_owned()),
            None => (whole, String::new()),
        }
    }

    /// The light units of these statistics. With group sampling or clipping, or with a limit of
    /// one row, hardly any unit is light, so there is None. A scan of the whole dataset
    /// beforehand is worthwhile where bounding units takes most of the time. With one group it
    /// does not, and rows are counted in the same pass.
    pub(super) fn light_units(
        &self,
        places: &[usize],
        values: &[String],
        contributions: &[Contribution],
        rows: &str,
    ) -> Option<LightUnits> {
        let Groups::Public(groups) = &self.plan.groups else {
            return None;
        };
        let statistics = places.iter().map(|place| self.plan.statistics.get(*place));
        let light_rows = statistics.map(|statistic| statistic.map_or(0, unclamped_rows));
        let light_rows = light_rows.min().unwrap_or(0);
        let capped = self.plan.group_bounding != GroupBounding::NotNeeded;
        let dataset =
            redundant_limits::source(&self.plan.relation).filter(|_| !self.keys.is_empty());
        (light_rows > 1 && !capped).then(|| LightUnits {
            dataset: dataset.map(str::to_owned),
            max_rows: light_rows,
            heavy_unit_split: self.heavy_unit_split(contributions, values.len(), rows),
            ungrouped_sql: self.rows_where(values, Vec::new()),
            groups: groups
                .iter()
                .cloned()
                .collect::<BTreeSet<_>>()
                .into_iter()
                .collect(),
        })
    }
}
