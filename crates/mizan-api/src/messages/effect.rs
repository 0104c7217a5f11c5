//! Sentences about the limits that may change an answer before its noise.

use mizan_report::number;
use mizan_sql::{Effect, RowBounding, Type};
use serde_json::{Map, Value};

use super::{
    Message, count_text, counted, end_text, fields, name_json, name_text, share_json, share_text,
};
use crate::query::plain;

impl Message for Effect {
    fn kind(&self) -> &'static str {
        match self {
            Self::GroupsSampled { .. } => "groups_sampled",
            Self::GroupsClipped { .. } => "groups_clipped",
            Self::RowsPerGroup { .. } => "rows_per_group",
            Self::JoinedRows { .. } => "joined_rows",
            Self::Clamped { .. } => "clamped",
            Self::TotalPerGroup { .. } => "total_per_group",
            Self::UnitCount { .. } => "unit_count",
            Self::UnitTotal { .. } => "unit_total",
            Self::Grid { .. } => "grid",
            Self::AtBound { .. } => "at_bound",
        }
    }

    fn fields(&self) -> Map<String, Value> {
        match self {
            Self::GroupsSampled { limit }
            | Self::GroupsClipped { limit }
            | Self::JoinedRows { limit } => fields([("limit", (*limit).into())]),
            Self::RowsPerGroup { limit, bounding } => fields([
                ("limit", (*limit).into()),
                (
                    "bounding",
                    bounding.iter().map(|how| bounding_name(*how)).collect(),
                ),
            ]),
            Self::Clamped {
                dataset,
                column,
                low,
                high,
            } => fields([
                ("dataset", dataset.as_str().into()),
                ("column", column.as_str().into()),
                ("low", low.to_json()),
                ("high", high.to_json()),
            ]),
            Self::TotalPerGroup { low, high } => {
                fields([("low", (*low).into()), ("high", (*high).into())])
            }
            Self::UnitCount { column, limit } => fields([
                ("column", column.as_str().into()),
                ("limit", (*limit).into()),
            ]),
            Self::UnitTotal { column, low, high } => fields([
                ("column", column.as_str().into()),
                ("low", (*low).into()),
                ("high", (*high).into()),
            ]),
            Self::Grid {
                aggregate,
                step,
                kind,
            } => fields([
                ("aggregate", aggregate.as_str().into()),
                ("step", (*step).into()),
                ("type", kind.name().into()),
            ]),
            Self::AtBound {
                aggregate,
                end,
                groups,
            } => fields([
                ("aggregate", name_json(aggregate)),
                ("end", end_text(*end).into()),
                ("groups", share_json(*groups)),
            ]),
        }
    }

    fn english(&self) -> String {
        match self {
            Self::GroupsSampled { limit } => format!(
                "Each person contributes to at most {} (chosen at random if they are in more).",
                counted(*limit, "group")
            ),
            Self::GroupsClipped { limit } => {
                let groups = counted(*limit, "group");
                format!(
                    "A person in more than {groups} contributes to all of them, clipped in L2 norm \
                     to the weight of {groups}."
                )
            }
            Self::RowsPerGroup { limit, bounding } => {
                let rows = counted(*limit, "row");
                let how: Vec<String> = (bounding.iter())
                    .map(|how| bounding_text(*how, *limit))
                    .collect();
                let colon = if how.is_empty() { "" } else { ": " };
                format!(
                    "Each person contributes at most {rows} per group{colon}{}.",
                    how.join("; ")
                )
            }
            Self::JoinedRows { limit } => format!(
                "Each person contributes at most {} to each side of a join (chosen at random if \
                 they have more).",
                counted(*limit, "row")
            ),
            Self::Clamped {
                dataset,
                column,
                low,
                high,
            } => {
                let (dataset, column) = (plain(dataset), plain(column));
                format!("{dataset}.{column} is clamped to the range {low} to {high}.")
            }
            Self::TotalPerGroup { low, high } => {
                format!("Each person's total in a group is clamped to the range {low} to {high}.")
            }
            Self::UnitCount { column, limit } => format!(
                "{} of each person is limited to {}, the declared row limit.",
                plain(column),
                count_text(*limit)
            ),
            Self::UnitTotal { column, low, high } => format!(
                "{} of each person is clamped to the range {low} to {high}.",
                plain(column)
            ),
            Self::Grid {
                aggregate,
                step,
                kind,
            } => {
                let unit = match kind {
                    Type::Date if *step == 1.0 => " day",
                    Type::Date => " days",
                    Type::Timestamp if *step == 1.0 => " microsecond",
                    Type::Timestamp => " microseconds",
                    Type::Boolean | Type::Integer | Type::Number | Type::Text => "",
                };
                let (name, step) = (plain(aggregate), number::nearest(*step, 10));
                format!("{name} is computed in steps of {step}{unit}.")
            }
            Self::AtBound {
                aggregate,
                end,
                groups,
            } => format!(
                "{} is at its {} bound (within its noise){}: clamping may have moved it there.",
                name_text(aggregate),
                end_text(*end),
                share_text(*groups)
            ),
        }
    }
}

const fn bounding_name(how: RowBounding) -> &'static str {
    match how {
        RowBounding::CountCapped => "count_capped",
        RowBounding::ValuesSampled => "values_sampled",
        RowBounding::SumClamped => "sum_clamped",
        RowBounding::SumsScaled => "sums_scaled",
        RowBounding::RowsSampled => "rows_sampled",
    }
}

fn bounding_text(how: RowBounding, limit: u64) -> String {
    let times = count_text(limit);
    match how {
        RowBounding::CountCapped => format!("COUNT caps a person's count at {times}"),
        RowBounding::ValuesSampled => {
            format!("COUNT(DISTINCT) samples {times} of a person's distinct values")
        }
        RowBounding::SumClamped => {
            format!("SUM clamps a person's sum to {times} times the bounds of a value")
        }
        RowBounding::SumsScaled => format!(
            "AVG, VAR and STDDEV scale a person with more rows down to the weight of {}",
            counted(limit, "row")
        ),
        RowBounding::RowsSampled => {
            format!("quantiles sample {} of a person", counted(limit, "row"))
        }
    }
}

#[cfg(test)]
mod tests {
    use mizan_sql::{AggregateName, End, Share};

    use super::*;

    #[test]
    fn effects_are_sentences_with_counted_nouns() {
        let all = [
            (
                Effect::GroupsSampled { limit: 1 },
                "Each person contributes to at most 1 group (chosen at random if they are in more).",
            ),
            (
                Effect::RowsPerGroup {
                    limit: 12,
                    bounding: vec![RowBounding::CountCapped, RowBounding::SumClamped],
                },
                "Each person contributes at most 12 rows per group: COUNT caps a person's count \
                 at 12; SUM clamps a person's sum to 12 times the bounds of a value.",
            ),
            (
                Effect::RowsPerGroup {
                    limit: 3,
                    bounding: vec![RowBounding::SumsScaled, RowBounding::RowsSampled],
                },
                "Each person contributes at most 3 rows per group: AVG, VAR and STDDEV scale a \
                 person with more rows down to the weight of 3 rows; quantiles sample 3 rows of a \
                 person.",
            ),
            (
                Effect::Clamped {
                    dataset: "visits".into(),
                    column: "day".into(),
                    low: mizan_sql::Value::Date(20_089),
                    high: mizan_sql::Value::Date(20_453),
                },
                "visits.day is clamped to the range 2025-01-01 to 2025-12-31.",
            ),
            (
                Effect::Grid {
                    aggregate: "MEDIAN(cost)".into(),
                    step: 1.5625e-2,
                    kind: Type::Number,
                },
                "MEDIAN(cost) is computed in steps of 0.015625.",
            ),
            (
                Effect::AtBound {
                    aggregate: AggregateName::Place(2),
                    end: End::Upper,
                    groups: Some(Share { count: 2, all: 5 }),
                },
                "aggregate 2 is at its upper bound (within its noise) in 2 of 5 groups: clamping \
                 may have moved it there.",
            ),
        ];
        for (effect, text) in all {
            assert_eq!(effect.english(), text);
        }
    }
}
