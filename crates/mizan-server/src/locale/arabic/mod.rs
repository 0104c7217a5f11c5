//! The messages of the libraries in Arabic, from their values.
//!
//! Each value is matched; no English sentence is read. Names and numbers are filled in
//! with a direction of their own ([`fill`]), and counted nouns have their forms
//! (`plural.rs`). `answer.rs` has the messages of quotes and answers, `account.rs` those
//! of the accountant, `chart.rs` the words of charts.

mod account;
mod answer;
mod chart;
pub(super) mod plural;

use mizan_api::account::RefusedMethod;
use mizan_sql::AggregateName;

pub(super) use chart::{description, label};

use super::{Markup, fill};

/// A message that can be read in Arabic.
pub trait Arabic {
    /// In Arabic.
    fn arabic(&self) -> Markup;
}

/// Why a method does not apply: the title of its code, and the part of the event.
pub(super) fn refused(method: &RefusedMethod) -> Markup {
    let title = method.registered.title().arabic;
    let least = method.least_delta.map(|delta| format!("{delta:e}"));
    let (sentence, values) = match (&method.event, &method.path, &least) {
        (Some(event), Some(path), _) => (
            format!("[[{{event}}]] ({{path}}): {title}"),
            vec![("event", event.as_str()), ("path", path.as_str())],
        ),
        (_, _, Some(least)) => (
            format!("{} (يلزم [[δ ≥ {{least}}]]).", title.trim_end_matches('.')),
            vec![("least", least.as_str())],
        ),
        _ => (title.to_owned(), Vec::new()),
    };
    fill(&sentence, &values)
}

/// What an aggregate is called.
fn name(name: &AggregateName) -> String {
    match name {
        AggregateName::Column(name) => mizan_api::query::plain(name),
        AggregateName::Place(place) => format!("التجميع رقم {place}"),
    }
}
