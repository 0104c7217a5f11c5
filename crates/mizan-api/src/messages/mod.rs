//! Messages for people: the libraries make values, and this module renders them in English and as
//! JSON.
//!
//! Programs never parse the sentences: they read the `kind` and the `fields` of a [`MessageJson`].
//! The pages of `mizan-server` match the value itself and render it in Arabic.

mod account;
mod effect;
mod label;
mod ledger;
mod note;
mod reason;

use mizan_report::number;
use mizan_sql::{AggregateName, End, QuantileRank, Share};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};
use utoipa::ToSchema;

pub use account::{AccountWarning, EventPart};
pub use label::{Label, LabelText};
pub use ledger::VerifyWarning;
pub use reason::account_share_text;

use crate::query::plain;

/// A message.
pub trait Message {
    /// Its stable name.
    fn kind(&self) -> &'static str;

    /// Its parts, for programs.
    fn fields(&self) -> Map<String, Value>;

    /// The sentence in English.
    fn english(&self) -> String;
}

/// A message.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = Message, example = json!({
    "kind": "rows_per_group",
    "fields": {"limit": 12},
    "text": "Each person contributes at most 12 rows per group; the excess is ignored, so counts and sums may be too low."
}))]
pub struct MessageJson {
    /// The kind of the message: a stable name.
    pub kind: &'static str,
    /// Its parts by name, which depend on the kind.
    #[schema(value_type = std::collections::HashMap<String, serde_json::Value>)]
    pub fields: Map<String, Value>,
    /// The message in English.
    pub text: String,
}

/// A message that serializes as a [`MessageJson`].
#[derive(Clone, Debug, PartialEq)]
pub struct AsJson<T>(pub T);

impl<T: Message> Serialize for AsJson<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        MessageJson {
            kind: self.0.kind(),
            fields: self.0.fields(),
            text: self.0.english(),
        }
        .serialize(serializer)
    }
}

/// The English sentences of messages.
pub fn english<T: Message>(messages: &[T]) -> Vec<String> {
    messages.iter().map(Message::english).collect()
}

/// Messages as data.
pub(crate) fn data<T: Message + Clone>(messages: &[T]) -> Vec<AsJson<T>> {
    messages.iter().cloned().map(AsJson).collect()
}

/// Fields of a message.
fn fields<const N: usize>(all: [(&str, Value); N]) -> Map<String, Value> {
    all.into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}

/// A whole number with separators of thousands.
///
/// ```
/// use mizan_api::messages::count_text;
///
/// assert_eq!(count_text(1024), "1,024");
/// ```
#[must_use]
pub fn count_text(count: u64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "for people")]
    let count = count as f64;
    number::grouped(count, 15)
}

/// A half width in three digits, rounded up.
///
/// ```
/// use mizan_api::messages::width_text;
///
/// assert_eq!(width_text(13_012.0), "13,100");
/// ```
#[must_use]
pub fn width_text(width: f64) -> String {
    number::grouped_up(width, 3)
}

/// A number and a noun, in English.
fn counted(count: u64, thing: &str) -> String {
    match count {
        1 => format!("1 {thing}"),
        _ => format!("{} {thing}s", count_text(count)),
    }
}

/// The name of an aggregate in English.
fn name_text(name: &AggregateName) -> String {
    match name {
        AggregateName::Column(name) => plain(name),
        AggregateName::Place(place) => format!("aggregate {place}"),
    }
}

/// The name of an aggregate: its column, or its number from 1.
fn name_json(name: &AggregateName) -> Value {
    match name {
        AggregateName::Column(name) => Value::from(name.as_str()),
        AggregateName::Place(place) => Value::from(*place),
    }
}

/// ` in 2 of 5 groups`.
fn share_text(share: Option<Share>) -> String {
    share.map_or_else(String::new, |share| {
        let (count, all) = (count_text(share.count), counted(share.all, "group"));
        format!(" in {count} of {all}")
    })
}

fn share_json(share: Option<Share>) -> Value {
    share.map_or(Value::Null, |share| {
        Value::Object(fields([
            ("count", share.count.into()),
            ("all", share.all.into()),
        ]))
    })
}

const fn end_text(end: End) -> &'static str {
    match end {
        End::Lower => "lower",
        End::Upper => "upper",
    }
}

impl Message for QuantileRank {
    fn kind(&self) -> &'static str {
        "quantile_rank"
    }

    fn fields(&self) -> Map<String, Value> {
        use mizan_sql::RankTarget::{FromGreatest, FromLeast, Quantile};
        let (target, row) = match self.target {
            Quantile => ("quantile", None),
            FromLeast(row) => ("from_least", Some(row)),
            FromGreatest(row) => ("from_greatest", Some(row)),
        };
        fields([
            ("aggregate", name_json(&self.aggregate)),
            ("rows", self.rows.into()),
            ("target", target.into()),
            ("target_row", row.into()),
            ("equal_rows", self.equal_rows.into()),
            ("before_ordering", self.before_ordering.into()),
            ("arbitrary_up_to", self.arbitrary_up_to.into()),
            ("count_known", self.count_known.into()),
        ])
    }

    fn english(&self) -> String {
        use mizan_sql::RankTarget::{FromGreatest, FromLeast, Quantile};
        let name = name_text(&self.aggregate);
        let rows = counted(self.rows, "row");
        let target = match self.target {
            Quantile => "the true quantile".to_owned(),
            FromLeast(row) => format!("row {} from the least value", count_text(row)),
            FromGreatest(row) => format!("row {} from the greatest value", count_text(row)),
        };
        let equal = self.equal_rows.map_or_else(String::new, |rows| {
            format!(", if at most {} have equal values", counted(rows, "row"))
        });
        let ordering = match self.before_ordering {
            true => " (before the quantiles are put in order)",
            false => "",
        };
        let small = counted(self.arbitrary_up_to, "row");
        let count = match self.count_known {
            true => "",
            false => "; add a COUNT of the same values to see where",
        };
        format!(
            "{name}: with 95 % confidence its rank is within {rows} of {target}{equal}{ordering}. \
             In a group of at most {small} its value is arbitrary{count}."
        )
    }
}
