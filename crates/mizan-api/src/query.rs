//! SQL queries: their requests, quotes, answers and refusals.

use mizan_core::{Code, Delta};
use mizan_engine::{
    Answer, AnswerCell, Answered, ChoiceReason, Denied, Quote, ReservedDelta, SpendTarget,
};
use mizan_report::{Bar, Bars, number};
use mizan_sql::{Effect, Note, Value};
use serde::{Deserialize, Serialize};
use serde_json::Map;
use utoipa::ToSchema;

use crate::budget::view::{self, Remaining};
use crate::failure::Failure;
use crate::input;
use crate::messages::{AsJson, MessageJson, data, english};
use crate::names::Names;
use crate::number::{NumberInput, finite, json};
use crate::spend::{RefusedClock, clock_json};

/// The most rows that are drawn as bars.
const MOST_BARS: usize = 40;

/// A query. At most one of `epsilon` and `accuracy` is given; by default a tenth of the total
/// budget is spent.
#[derive(Clone, Debug, Default, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = QuestionRequest, example = json!({"sql": "SELECT COUNT(*) AS n FROM visits", "epsilon": 0.1}))]
pub struct QueryRequest {
    /// A SELECT with aggregates.
    pub sql: String,
    /// The largest epsilon to spend.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub epsilon: Option<NumberInput>,
    /// Choose epsilon so that the 95 % margin of error is at most this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accuracy: Option<NumberInput>,
    /// The part of the reserved delta to use for the threshold that hides small groups, if groups
    /// are discovered in the data. A smaller part makes the threshold higher. Default: a twentieth
    /// of what is left of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threshold_delta: Option<NumberInput>,
}

impl QueryRequest {
    /// How much to spend.
    ///
    /// # Errors
    ///
    /// A number is not valid, or both are given.
    pub fn spend_target(&self, names: Names) -> Result<SpendTarget, Failure> {
        let [epsilon, accuracy] = ["epsilon", "accuracy"].map(|name| names.option(name));
        match (&self.epsilon, &self.accuracy) {
            (None, None) => Ok(SpendTarget::DefaultShare),
            (Some(given), None) => Ok(SpendTarget::Epsilon(
                input::epsilon(&given.text(), &epsilon)?.value,
            )),
            (None, Some(given)) => match given.text().trim().parse::<f64>() {
                Ok(width) if width.is_finite() && width > 0.0 => Ok(SpendTarget::Accuracy(width)),
                _ => Err(Failure::new(
                    Code::MZ1951,
                    format!("{accuracy}: {:?} is not a width", given.text()),
                    "give a number above 0, such as 50",
                )),
            },
            (Some(_), Some(_)) => Err(Failure::new(
                Code::MZ0008,
                format!("{epsilon} and {accuracy} are both given"),
                "say how much may be spent, or how near the answer must be",
            )),
        }
    }

    /// The part of the reserved delta to use, if it is given.
    ///
    /// # Errors
    ///
    /// It is not above 0 and below 1.
    pub fn threshold_delta(&self, names: Names) -> Result<Option<Delta>, Failure> {
        let Some(given) = &self.threshold_delta else {
            return Ok(None);
        };
        let option = names.option("threshold_delta");
        let help = "take a part of the reserved delta that is left, such as 1e-10; a quote says how much that is";
        let typed = input::delta_or(&given.text(), &option, |_| help)?;
        Ok(Some(typed.value))
    }
}

/// The part of an account's delta that is reserved for thresholds and other mechanisms that may
/// fail.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ReservedDeltaJson {
    /// What the query needs.
    pub asked: f64,
    /// What is left in the account.
    pub left: f64,
    /// The total that is reserved in the account.
    pub reserved: f64,
    /// The account: the one that pays, or one above it with less left.
    pub account: String,
    /// Whether the query fits into what is left.
    pub fits: bool,
}

impl ReservedDeltaJson {
    fn of(reserved: &ReservedDelta) -> Self {
        Self {
            asked: view::own_delta(reserved.asked),
            left: view::own_delta(reserved.left),
            reserved: view::own_delta(reserved.reserved),
            account: reserved.account.clone(),
            fits: !reserved.is_short(),
        }
    }
}

/// An epsilon and its delta.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Price {
    /// The epsilon.
    pub epsilon: f64,
    /// The delta.
    pub delta: f64,
}

/// The cost of an event.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct PricedEvent {
    /// The epsilon.
    pub epsilon: f64,
    /// The delta.
    pub delta: f64,
    /// The event.
    pub event: String,
}

/// The predicted error of a column of the answer.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct PredictedJson {
    /// The 95 % half width of the noise: the distance from the exact bounded answer. Null if it
    /// depends on the data.
    pub half_width: Option<f64>,
}

/// A quote: the cost of a query and its predicted error. No private data was read.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct QuoteAnswer {
    /// The event that would be charged.
    pub event: String,
    /// The cost of the event.
    pub cost: Price,
    /// The predicted error of each column of the answer.
    #[schema(value_type = std::collections::HashMap<String, PredictedJson>)]
    pub predicted: Map<String, serde_json::Value>,
    /// The number of groups in the answer; null if it depends on the data.
    pub groups: Option<usize>,
    /// The account that pays.
    pub account: String,
    /// Its remaining budget now.
    pub remaining: Remaining,
    /// Its remaining budget after the query; null if the query does not fit.
    pub remaining_after: Option<Remaining>,
    /// Whether the query fits now.
    pub fits: bool,
    /// About how many queries of this cost fit now, including this one.
    pub about_more: u64,
    /// Whether more than that may fit.
    pub about_more_at_least: bool,
    /// The reserved delta that the threshold of the query would use; null if its groups are
    /// public.
    pub reserved_delta: Option<ReservedDeltaJson>,
    /// How the noise was chosen, in English.
    pub why: Vec<String>,
    /// The same as data.
    #[schema(value_type = Vec<MessageJson>)]
    pub why_data: Vec<AsJson<ChoiceReason>>,
    /// The limits that may change the answer before its noise, in English.
    pub clamping: Vec<String>,
    /// The same as data.
    #[schema(value_type = Vec<MessageJson>)]
    pub clamping_data: Vec<AsJson<Effect>>,
    /// Other facts that the analyst should know, in English.
    pub notes: Vec<String>,
    /// The same as data.
    #[schema(value_type = Vec<MessageJson>)]
    pub notes_data: Vec<AsJson<Note>>,
}

/// An answer with its intervals.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct QueryAnswer {
    /// The receipt, which proves the charge.
    pub receipt: String,
    /// The id of the charge.
    pub id: String,
    /// Whether the query was answered before and costs nothing now.
    pub repeated: bool,
    /// The rows: keys as they are, estimates as `{"value", "low", "high"}`. Quantiles also have
    /// `"rank_error"`, in rows with 95 % confidence, and `"arbitrary_up_to_rows"`: in a group of at
    /// most this many rows the value is arbitrary. If a noisy count shows that the group has too
    /// few rows, the value is null, and low and high are the bounds.
    #[schema(value_type = Vec<std::collections::HashMap<String, serde_json::Value>>)]
    pub rows: Vec<Map<String, serde_json::Value>>,
    /// The cost that was charged now.
    pub spent: PricedEvent,
    /// The remaining budget.
    pub remaining: Remaining,
    /// The account that paid.
    pub account: String,
    /// The confidence level of the intervals.
    pub confidence: f64,
    /// How the noise was chosen, in English.
    pub why: Vec<String>,
    /// The same as data.
    #[schema(value_type = Vec<MessageJson>)]
    pub why_data: Vec<AsJson<ChoiceReason>>,
    /// The limits that may have changed the answer before its noise, in English.
    pub clamping: Vec<String>,
    /// The same as data.
    #[schema(value_type = Vec<MessageJson>)]
    pub clamping_data: Vec<AsJson<Effect>>,
    /// Other facts that the analyst should know, in English.
    pub notes: Vec<String>,
    /// The same as data.
    #[schema(value_type = Vec<MessageJson>)]
    pub notes_data: Vec<AsJson<Note>>,
}

/// A query that does not fit into the budget. Nothing was charged, and no row was read.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct QueryRefused {
    /// Always false.
    pub accepted: bool,
    /// The receipt, which proves the refusal.
    pub receipt: String,
    /// The id of the request.
    pub id: String,
    /// Whether it had been refused before under this id. Such a refusal is final, and its numbers
    /// are those of the first refusal.
    pub repeated: bool,
    /// The cost of the query.
    pub asked: PricedEvent,
    /// The account that should have paid.
    pub account: String,
    /// Its remaining budget.
    pub remaining: Remaining,
    /// The largest share of the cost that fits.
    pub largest_that_fits: Share,
    /// The reserved delta that the query needs, and what is left of it; null if its groups are
    /// public. If this does not fit, a smaller epsilon does not help.
    pub reserved_delta: Option<ReservedDeltaJson>,
    /// The Gaussian clock of the account that refused; null if it has none, or if the query was
    /// refused before.
    pub clock: Option<RefusedClock>,
    /// The remedy.
    pub help: String,
}

/// A share of a cost.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Share {
    /// From 0 to 1.
    pub share: f64,
}

/// The JSON form of a quote.
#[must_use]
pub fn quote_json(quote: &Quote) -> QuoteAnswer {
    // In the order of the columns.
    let predicted = quote.predicted.iter().map(|column| {
        let half_width = column.half_width.and_then(finite);
        (column.name.clone(), json(&PredictedJson { half_width }))
    });
    QuoteAnswer {
        event: quote.event.to_string(),
        cost: Price {
            epsilon: quote.epsilon.get(),
            delta: quote.delta.get(),
        },
        predicted: predicted.collect(),
        groups: quote.groups,
        account: quote.account.account.name().as_str().to_owned(),
        remaining: view::remaining_json(&quote.account),
        remaining_after: quote.after.as_ref().map(view::remaining_json),
        fits: quote.fits,
        about_more: quote.about,
        about_more_at_least: quote.at_least,
        reserved_delta: quote.reserved.as_ref().map(ReservedDeltaJson::of),
        why: english(&quote.why),
        why_data: data(&quote.why),
        clamping: english(&quote.clamping),
        clamping_data: data(&quote.clamping),
        notes: english(&quote.notes),
        notes_data: data(&quote.notes),
    }
}

/// The JSON form of an answer.
#[must_use]
pub fn answered_json(answered: &Answered) -> QueryAnswer {
    let now = |number: f64| if answered.repeated { 0.0 } else { number };
    QueryAnswer {
        receipt: answered.done.receipt.to_string(),
        id: answered.done.id.to_string(),
        repeated: answered.repeated,
        rows: rows_json(&answered.answer),
        spent: PricedEvent {
            epsilon: now(answered.epsilon.get()),
            delta: now(answered.delta.get()),
            event: answered.event.to_string(),
        },
        remaining: view::remaining_json(&answered.account),
        account: answered.account.account.name().as_str().to_owned(),
        confidence: 0.95,
        why: english(&answered.why),
        why_data: data(&answered.why),
        clamping: english(&answered.answer.clamping),
        clamping_data: data(&answered.answer.clamping),
        notes: english(&answered.answer.notes),
        notes_data: data(&answered.answer.notes),
    }
}

/// The JSON form of a refusal.
#[must_use]
pub fn denied_json(denied: &Denied) -> QueryRefused {
    QueryRefused {
        accepted: false,
        receipt: denied.done.receipt.to_string(),
        id: denied.done.id.to_string(),
        repeated: !denied.done.fresh,
        asked: PricedEvent {
            epsilon: denied.epsilon.get(),
            delta: denied.delta.get(),
            event: denied.event.to_string(),
        },
        account: denied.account.account.name().as_str().to_owned(),
        remaining: view::remaining_json(&denied.account),
        largest_that_fits: Share {
            share: view::share(denied.denial.largest),
        },
        reserved_delta: denied.reserved.as_ref().map(ReservedDeltaJson::of),
        clock: (denied.refusal.as_ref())
            .and_then(|refusal| refusal.clock)
            .map(clock_json),
        help: denied_help(denied, Names::Program),
    }
}

/// The remedy for a refusal.
#[must_use]
pub fn denied_help(denied: &Denied, names: Names) -> String {
    if !denied.done.fresh {
        return "an id that was refused stays refused: use another one, or none".to_owned();
    }
    let short = denied.reserved.as_ref().filter(|delta| delta.is_short());
    let Some(reserved) = short else {
        let percent = number::down(100.0 * view::share(denied.denial.largest), 3);
        return format!(
            "{percent} % of this cost fits: use a smaller {}, or ask the data owner for a larger budget",
            names.option("epsilon")
        );
    };
    let share = match reserved.left.atto() {
        // Less than a threshold needs.
        0..10 => String::new(),
        _ => format!(
            "use {} {} or less, which makes the threshold higher; or ",
            names.option("threshold_delta"),
            delta_down(view::own_delta(reserved.left))
        ),
    };
    format!(
        "a smaller epsilon does not help: {share}list the keys of the groups in the catalogue, which needs no delta; or ask the data owner for a budget with a larger delta"
    )
}

/// A delta with three digits, rounded down. A shortfall of one unit of the ledger, 1e-18, is
/// ignored: the ledger stores 2.5e-7 as one unit less.
///
/// ```
/// use mizan_api::query::delta_down;
///
/// assert_eq!(delta_down(2.499_999_999_99e-7), "2.5e-7");
/// assert_eq!(delta_down(2.399e-7), "2.39e-7");
/// assert_eq!(delta_down(9.9999e-8), "9.9e-8");
/// assert_eq!(delta_down(0.0), "0");
/// ```
#[must_use]
pub fn delta_down(delta: f64) -> String {
    const UNIT: f64 = 1e-18;
    if delta <= 0.0 {
        return "0".to_owned();
    }
    let nearest = format!("{delta:.2e}");
    let rounded = nearest.parse::<f64>().unwrap_or(delta);
    if rounded - delta <= 1.5 * UNIT {
        return format!("{rounded:e}");
    }
    // One unit of the last digit less.
    let (digits, exponent) = nearest.split_once('e').unwrap_or((&nearest, "0"));
    let less = digits.parse::<f64>().unwrap_or(0.0) - 0.01;
    let less = format!("{less:.2}e{exponent}");
    less.parse::<f64>()
        .map_or(less, |shown| format!("{shown:e}"))
}

/// The rows of an answer as JSON.
fn rows_json(answer: &Answer) -> Vec<Map<String, serde_json::Value>> {
    let row = |cells: &Vec<AnswerCell>| {
        let mut row = Map::new();
        let ranks = answer.ranks.iter().chain(std::iter::repeat(&None));
        for ((name, cell), rank) in answer.columns.iter().zip(cells).zip(ranks) {
            let mut shown = match cell {
                AnswerCell::Key(value) => value.to_json(),
                AnswerCell::Estimate { value, low, high } => serde_json::json!({
                    "value": value.to_json(),
                    "low": low.as_ref().map(Value::to_json),
                    "high": high.as_ref().map(Value::to_json),
                }),
            };
            if let (Some(rank), Some(fields)) = (rank, shown.as_object_mut()) {
                fields.insert("rank_error".to_owned(), rank.rows.into());
                let up_to = rank.arbitrary_up_to.into();
                fields.insert("arbitrary_up_to_rows".to_owned(), up_to);
            }
            row.insert(name.clone(), shown);
        }
        row
    };
    answer.rows.iter().map(row).collect()
}

/// A bar chart of rows with one estimate each.
#[must_use]
pub fn bars(answer: &Answer) -> Option<Bars> {
    let estimates = |cells: &Vec<AnswerCell>| {
        let is = |cell: &&AnswerCell| matches!(cell, AnswerCell::Estimate { .. });
        cells.iter().filter(is).count()
    };
    let few = (2..=MOST_BARS).contains(&answer.rows.len());
    if !few || answer.rows.iter().any(|row| estimates(row) != 1) {
        return None;
    }
    let mut bars = Bars::default();
    for cells in &answer.rows {
        let keys = cells.iter().filter_map(|cell| match cell {
            AnswerCell::Key(value) => Some(plain(&value.to_string())),
            AnswerCell::Estimate { .. } => None,
        });
        let label = keys.collect::<Vec<_>>().join(", ");
        let estimate = cells.iter().find_map(|cell| match cell {
            AnswerCell::Estimate { value, low, high } => Some((value, low, high)),
            AnswerCell::Key(_) => None,
        });
        let (value, low, high) = estimate?;
        let mut bar = Bar::new(label, value.as_f64()?);
        if let (Some(low), Some(high)) = (low, high) {
            bar = bar.between(low.as_f64()?, high.as_f64()?);
        }
        bars.bars.push(bar);
    }
    let noisy = answer.columns.iter().zip(answer.rows.first()?);
    let noisy = noisy.filter(|(_, cell)| matches!(cell, AnswerCell::Estimate { .. }));
    bars.title = noisy.map(|(name, _)| plain(name)).collect();
    Some(bars)
}

/// Replaces control characters and bidirectional controls, which a terminal would interpret, in text
/// from data or queries.
#[must_use]
pub fn plain(text: &str) -> String {
    let hidden = |c: char| {
        c.is_control()
            || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    text.chars()
        .map(|c| if hidden(c) { '\u{fffd}' } else { c })
        .collect()
}
