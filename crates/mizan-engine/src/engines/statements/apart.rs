//! Sums in plain SQL where nearly all units are light.

use super::Builder;
use crate::engines::relations::listed;
use crate::engines::statement::{Contribution, Of};

impl Builder<'_> {
    /// Sums in which only heavy units are bounded one by one. All light units form one group of
    /// rows, whose contributions are not clamped.
    pub(super) fn apart(
        &self,
        contributions: &[Contribution],
        values: usize,
        rows: &str,
    ) -> (String, String) {
        let keys = || self.key_names.iter().map(|key| key.text.clone());
        let many: Vec<String> = (0..self.unit_names.len())
            .map(|place| format!("m{place}"))
            .collect();
        // A NULL id marks light units.
        let others = many.first().map_or("m0", String::as_str);
        let (mut inner, mut totals) = (Vec::new(), vec!["COUNT(*)".to_owned()]);
        for (place, contribution) in contributions.iter().enumerate() {
            let within = self.within(contribution.of, false);
            inner.push(match contribution.of {
                Of::Scaled(value, _) => format!(
                    "CASE WHEN {others} IS NULL THEN SUM(v{value}) ELSE {within} END AS a{place}"
                ),
                _ => format!("{within} AS a{place}"),
            });
            let clamped = self.clamped(&format!("a{place}"), contribution);
            totals.push(format!(
                "SUM(CASE WHEN {others} IS NULL THEN COALESCE(a{place}, 0) ELSE {clamped} END)"
            ));
        }
        let by = listed(keys().chain(many.iter().cloned()));
        let inner = listed(keys().chain(many.iter().cloned()).chain(inner));
        let told = self.unit_names.iter().zip(&many);
        let told =
            told.map(|(unit, many)| format!("CASE WHEN many THEN {} END AS {many}", unit.text));
        let values = (0..values).map(|place| format!("v{place}"));
        let told = listed(keys().chain(values).chain(told));
        let after = format!(" AS many FROM ({rows}) AS t) AS t) AS t GROUP BY {by}) AS t");
        let before = format!("(SELECT {inner} FROM (SELECT {told} FROM (SELECT *, ");
        // Split at the position of the condition.
        let whole = self.per_group(&totals, &format!("{before}\0{after}"), &[]);
        match whole.split_once('\0') {
            Some((before, after)) => (before.to_owned(), after.to_owned()),
            None => (whole, String::new()),
        }
    }
}
