//! An aggregation as a tree of text, for `--explain`.

use mizan_sql::{BoundedPlan, Groups, Quantized, Tree};

use super::{
    Contribution, ContributionKind, GroupStatistic, UnitAggregation, UnitBounding, ValueMeasure,
};

impl UnitAggregation {
    /// What an engine computes for a plan; None for a plan that engines refuse.
    pub(crate) fn explained(plan: &BoundedPlan) -> Option<Tree> {
        Some(Self::of(plan).ok()?.explain())
    }

    /// What an engine computes: the statistics of each group, how units are bounded, and the
    /// rows.
    #[must_use]
    pub fn explain(&self) -> Tree {
        let statistics = self.statistics.iter().zip(1_u64..);
        let statistics = statistics.map(|(statistic, number)| {
            Tree::new(
                format!("statistic {number}: {}", self.statistic(statistic)),
                [],
            )
        });
        let bounding = match self.bounding {
            UnitBounding::NotNeeded => None,
            UnitBounding::SampleGroups(most) => Some(format!(
                "of a unit in more than {most} groups {most} are sampled"
            )),
            UnitBounding::ClipL2(groups) => Some(format!(
                "the contribution of a unit is clipped to the L2 norm of {groups} groups"
            )),
        };
        let light = self
            .light_rows()
            .map(|rows| format!("units with at most {rows} rows are added up without bounds"));
        let bounding = bounding.into_iter().chain(light);
        let bounding = bounding.map(|text| Tree::new(text, []));
        let parts = statistics.chain(bounding).chain([self.input.explain()]);
        Tree::new(self.groups(), parts)
    }

    fn groups(&self) -> String {
        let names: Vec<&str> = self.keys.iter().map(|key| key.name.as_str()).collect();
        let names = names.join(", ");
        match &self.groups {
            Groups::Public(_) if names.is_empty() => "one group of all rows".to_owned(),
            Groups::Public(groups) => format!("by {names}: {} public groups", groups.len()),
            Groups::Private => format!("by {names}: groups discovered in the data"),
        }
    }

    fn statistic(&self, statistic: &GroupStatistic) -> String {
        match statistic {
            GroupStatistic::Sum(place) => {
                let one = self.contributions.get(*place);
                one.map_or_else(String::new, |one| self.contribution(one))
            }
            GroupStatistic::Values(statistic) => {
                let value = self.value_text(statistic.value);
                let most = statistic.limit.map_or_else(String::new, |most| {
                    format!(", at most {most} of each unit (sampled)")
                });
                match statistic.measure {
                    ValueMeasure::Distinct => format!("distinct values of {value}{most}"),
                    ValueMeasure::Histogram => format!("histogram of {value}{most}"),
                }
            }
        }
    }

    fn contribution(&self, contribution: &Contribution) -> String {
        let Contribution { of, low, high } = contribution;
        let of = match *of {
            ContributionKind::Unit => "units".to_owned(),
            ContributionKind::Rows => "rows".to_owned(),
            ContributionKind::Count(value) => format!("rows with {}", self.value_text(value)),
            ContributionKind::Sum(value) => format!("sum of {}", self.value_text(value)),
            ContributionKind::Scaled(value, rows) => format!(
                "sum of {}, of at most {rows} times the mean of each unit",
                self.value_text(value)
            ),
        };
        format!("{of}; each unit's contribution is clamped to [{low}, {high}]")
    }

    fn value_text(&self, place: usize) -> String {
        let Some(value) = self.values.get(place) else {
            return String::new();
        };
        let text = value.expression.explain(&self.input.columns);
        match &value.quantized {
            None => text,
            Some(how) => quantized_text(text, how),
        }
    }
}

/// A quantized value: its bounds, what is subtracted from it, and its steps.
fn quantized_text(mut text: String, how: &Quantized) -> String {
    let Quantized {
        bounds,
        centre,
        exponent,
        squared,
    } = how;
    text = format!("{text} in [{}, {}]", bounds.low, bounds.high);
    if *centre != 0.0 {
        text.push_str(&format!(" minus {centre}"));
    }
    if *squared {
        text.push_str(", squared");
    }
    if *exponent != 0 {
        text.push_str(&format!(", in steps of 2^{exponent}"));
    }
    text
}
