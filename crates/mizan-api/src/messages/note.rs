//! Sentences about other facts that an analyst should know about an answer.

use mizan_sql::Note;
use serde_json::{Map, Value};

use super::{Message, count_text, fields, name_json, name_text, share_json, share_text};

impl Message for Note {
    fn kind(&self) -> &'static str {
        match self {
            Self::DeclaredGroups { .. } => "declared_groups",
            Self::DiscoveredGroups => "discovered_groups",
            Self::TooManyCombinations { .. } => "too_many_combinations",
            Self::ThresholdedGroups { .. } => "thresholded_groups",
            Self::SelectedByNoise => "selected_by_noise",
            Self::QuantileRank(rank) => rank.kind(),
            Self::TooFewRows { .. } => "too_few_rows",
            Self::LimitsNotChecked { .. } => "limits_not_checked",
            Self::UnansweredCharges { .. } => "unanswered_charges",
        }
    }

    fn fields(&self) -> Map<String, Value> {
        match self {
            Self::DeclaredGroups { count } => fields([("count", (*count).into())]),
            Self::TooManyCombinations { limit } => fields([("limit", (*limit).into())]),
            Self::ThresholdedGroups { threshold } => fields([("threshold", (*threshold).into())]),
            Self::DiscoveredGroups | Self::SelectedByNoise => Map::new(),
            Self::QuantileRank(rank) => rank.fields(),
            Self::TooFewRows { aggregate, groups } => fields([
                ("aggregate", name_json(aggregate)),
                ("groups", share_json(*groups)),
            ]),
            Self::LimitsNotChecked { code } => fields([("code", code.as_str().into())]),
            Self::UnansweredCharges { count, limit } => {
                fields([("count", (*count).into()), ("limit", (*limit).into())])
            }
        }
    }

    fn english(&self) -> String {
        match self {
            Self::DeclaredGroups { count: 1 } => {
                "The declared group is reported even if it is empty. Rows with any other value are \
                 excluded."
                    .to_owned()
            }
            Self::DeclaredGroups { count } => format!(
                "All {} declared groups are reported, including empty ones. Rows with any other \
                 value are excluded.",
                count_text(*count)
            ),
            Self::DiscoveredGroups => {
                "Groups with few people are hidden, so there may be more groups.".to_owned()
            }
            Self::TooManyCombinations { limit } => format!(
                "The declared keys have more than {} combinations, so groups are discovered in the \
                 data.",
                count_text(*limit)
            ),
            Self::ThresholdedGroups { threshold } => format!(
                "Groups with fewer than about {} people are hidden. Counts just above that are \
                 biased upwards; their intervals are extended downwards to account for it.",
                count_text(*threshold)
            ),
            Self::SelectedByNoise => {
                "Rows were selected by their noisy values. The intervals hold over all groups, but \
                 less often for groups that were selected by a narrow margin."
                    .to_owned()
            }
            Self::QuantileRank(rank) => rank.english(),
            Self::TooFewRows { aggregate, groups } => format!(
                "{} is NULL{}: by the noisy count there are too few rows for this quantile.",
                name_text(aggregate),
                share_text(*groups)
            ),
            Self::LimitsNotChecked { code } => format!(
                "The limits on joins, memory and time were not checked: the data cannot be read \
                 now ({code})."
            ),
            Self::UnansweredCharges { count, limit } => format!(
                "{} queries failed after their charge to the account, or to one above it. It \
                 refuses queries from {} on.",
                count_text(*count),
                count_text(*limit)
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use mizan_sql::{AggregateName, QuantileRank, RankTarget};

    use super::*;

    #[test]
    fn a_quantile_reports_its_rank_error() {
        let mut rank = QuantileRank {
            aggregate: AggregateName::Column("m".into()),
            rows: 922,
            target: RankTarget::Quantile,
            equal_rows: None,
            before_ordering: false,
            arbitrary_up_to: 1844,
            count_known: true,
        };
        assert_eq!(
            Note::QuantileRank(rank.clone()).english(),
            "m: with 95 % confidence its rank is within 922 rows of the true quantile. In a group \
             of at most 1,844 rows its value is arbitrary."
        );
        rank.target = RankTarget::FromGreatest(1);
        rank.equal_rows = Some(3);
        rank.before_ordering = true;
        rank.count_known = false;
        let text = rank.english();
        assert!(text.contains("of row 1 from the greatest value, if at most 3 rows"));
        assert!(text.contains(" (before the quantiles are put in order). In a group"));
        assert!(text.ends_with("; add a COUNT of the same values to see where."));
    }
}
