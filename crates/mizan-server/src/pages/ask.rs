//! The query page: a SQL query, its quote, the button that charges, the answer.
//!
//! Every form has a key, which is the id in the ledger: sending the same form twice is
//! charged once and gives the stored answer. After an answer the form gets a new key, so
//! running the query again is a new charge. A form of a session that ended comes back with
//! its key, to be sent again: only a form of the present session can charge.

mod answer;
mod datasets;

use askama::Template;
use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use mizan_api::messages::{AsJson, Message};
use mizan_api::number::NumberInput;
use mizan_api::query::{QueryRequest, QuoteAnswer, plain};
use mizan_core::Code;
use mizan_report::number;
use serde::Deserialize;
use serde_json::Value;

use self::answer::{AnswerView, Refusal, answer_of, refusal_of, reserved_of};
use self::datasets::{Dataset, dataset_of};
use super::frame::{Frame, link, page, part};
use super::numbers;
use super::problems::or_problem;
use super::read::{Form, Query};
use super::visitor::Visitor;
use crate::locale::{Arabic, Markup, Strings};
use crate::problem::Problem;
use crate::service::Service;

/// The longest address that all browsers and proxies accept.
const LONGEST_ADDRESS: usize = 16 << 10;

#[derive(Template)]
#[template(path = "ask.html")]
struct Page {
    frame: Frame,
    csrf: String,
    key: String,
    sql: String,
    spend_by: String,
    epsilon: String,
    accuracy: String,
    panels: AskPanels,
    datasets: Vec<Dataset>,
}

/// The parts of the page beside the form.
#[derive(Default)]
struct AskPanels {
    /// Whether the form came back and is to be sent again.
    again: bool,
    quote: Option<String>,
    answer: Option<String>,
}

#[derive(Template)]
#[template(path = "quote.html")]
struct QuotePart {
    t: &'static Strings,
    outcome: QuoteOutcome,
}

/// A quote, or why there is none.
enum QuoteOutcome {
    Priced(Box<Quote>),
    Failed(Box<Problem>),
}

#[derive(Template)]
#[template(path = "answer.html")]
struct AnswerPart {
    t: &'static Strings,
    key: String,
    outcome: AskOutcome,
}

/// The outcome of a query.
enum AskOutcome {
    Answered(Box<AnswerView>),
    Refused(Refusal),
    Failed(Box<Problem>),
    /// The form belongs to another session; this is the CSRF token of the present one.
    Again {
        csrf: String,
    },
}

/// A quote as the page shows it.
struct Quote {
    fits: bool,
    epsilon: String,
    delta: Option<String>,
    columns: Vec<ColumnError>,
    groups: Option<String>,
    left: String,
    left_exact: String,
    after: Option<String>,
    about_more: String,
    /// The reserved delta that the query takes, what is left of it, and its total.
    reserved: Option<Markup>,
    /// Whether the reserved delta does not suffice.
    short_of_delta: bool,
    share: String,
    share_after: String,
    event: String,
    lists: Vec<List>,
}

/// The predicted error of a column.
struct ColumnError {
    name: String,
    width: Option<String>,
}

/// Sentences under a title.
struct List {
    title: &'static str,
    lines: Vec<Markup>,
}

/// The query of the address.
#[derive(Debug, Default, Deserialize)]
pub(super) struct AskQuery {
    #[serde(default)]
    sql: String,
    #[serde(default)]
    epsilon: String,
    #[serde(default)]
    accuracy: String,
    #[serde(default)]
    key: String,
}

/// The fields of the form.
#[derive(Debug, Default, Deserialize)]
pub(super) struct AskForm {
    #[serde(default)]
    csrf: String,
    #[serde(default)]
    key: String,
    #[serde(default)]
    sql: String,
    // Forms that are open during an upgrade send the old name.
    #[serde(default, alias = "wish")]
    spend_by: String,
    #[serde(default)]
    epsilon: String,
    #[serde(default)]
    accuracy: String,
    #[serde(default)]
    act: String,
}

impl AskForm {
    /// Browsers send CR LF; positions are counted in the text as typed.
    fn sql(&self) -> String {
        self.sql.replace("\r\n", "\n")
    }

    /// The number of the chosen option; the others are ignored.
    fn chosen<'a>(&self, spend_by: &str, text: &'a str) -> Option<&'a str> {
        (self.spend_by == spend_by).then(|| text.trim())
    }

    fn request(&self) -> QueryRequest {
        QueryRequest {
            sql: self.sql(),
            epsilon: self.chosen("epsilon", &self.epsilon).map(NumberInput::from),
            accuracy: self
                .chosen("accuracy", &self.accuracy)
                .map(NumberInput::from),
            threshold_delta: None,
        }
    }

    /// The address that shows this form again with its key, if it has a query.
    pub(super) fn address(&self) -> Option<String> {
        if self.sql.trim().is_empty() {
            return None;
        }
        let sql = self.sql();
        let key = ("key", self.key.as_str());
        let mut parameters = vec![key, ("sql", &sql)];
        for (spend_by, text) in [("epsilon", &self.epsilon), ("accuracy", &self.accuracy)] {
            parameters.extend(self.chosen(spend_by, text).map(|text| (spend_by, text)));
        }
        let address = link("/ask", &parameters);
        // The key alone prevents a second charge.
        let short = address.len() <= LONGEST_ADDRESS;
        Some(if short { address } else { link("/ask", &[key]) })
    }
}

/// The empty form, one with a query from a link, or one that was kept during a sign-in.
pub(super) async fn show(
    visitor: Visitor,
    State(service): State<Service>,
    Query(query): Query<AskQuery>,
) -> Response {
    let spend_by = match (query.epsilon.is_empty(), query.accuracy.is_empty()) {
        (false, _) => "epsilon",
        (true, false) => "accuracy",
        (true, true) => "default",
    };
    let again = is_drawn(&query.key);
    let form = AskForm {
        key: if again { query.key } else { String::new() },
        sql: query.sql,
        spend_by: spend_by.to_owned(),
        epsilon: query.epsilon,
        accuracy: query.accuracy,
        ..AskForm::default()
    };
    let made = async {
        let quote = match form.sql.trim().is_empty() {
            true => None,
            false => Some(priced(&visitor, &service, &form).await?),
        };
        let panels = AskPanels {
            again,
            quote,
            answer: None,
        };
        whole(&visitor, &service, form, panels).await
    };
    or_problem(&visitor, made.await)
}

/// The quote alone, for the script.
pub(super) async fn quote(
    visitor: Visitor,
    State(service): State<Service>,
    Form(form): Form<AskForm>,
) -> Response {
    let made = async {
        visitor.check(&form.csrf)?;
        fragment(priced(&visitor, &service, &form).await?)
    };
    or_problem(&visitor, made.await)
}

/// Runs the query and charges it. Without a script the whole page comes back.
pub(super) async fn ask(
    visitor: Visitor,
    State(service): State<Service>,
    headers: HeaderMap,
    Form(mut form): Form<AskForm>,
) -> Response {
    let alone = headers.contains_key("x-fragment");
    let made = async {
        if let Err(problem) = visitor.check(&form.csrf) {
            let page = again(&visitor, &service, form, alone).await?;
            return Ok((problem.status(), Extension(problem.code), page).into_response());
        }
        let mut panels = AskPanels::default();
        if form.act == "quote" {
            panels.quote = Some(priced(&visitor, &service, &form).await?);
            return whole(&visitor, &service, form, panels).await;
        }
        let (status, key, answer) = answered(&visitor, &service, &form).await?;
        if alone {
            return fragment(answer);
        }
        form.key = key;
        panels.answer = Some(answer);
        let page = whole(&visitor, &service, form, panels).await?;
        Ok((status, page).into_response())
    };
    or_problem(&visitor, made.await)
}

/// The same form with its key, for the present session: an analyst who sent it before a
/// crash or a new sign-in continues with what may be charged already. Nothing runs here, so
/// a form of another site gains nothing.
async fn again(
    visitor: &Visitor,
    service: &Service,
    mut form: AskForm,
    alone: bool,
) -> Result<Response, Problem> {
    if form.key.is_empty() {
        form.key = draw()?;
    }
    if alone {
        return fragment(part(&AnswerPart {
            t: visitor.language.strings(),
            key: form.key,
            outcome: AskOutcome::Again {
                csrf: visitor.csrf(),
            },
        })?);
    }
    let panels = AskPanels {
        again: true,
        ..AskPanels::default()
    };
    whole(visitor, service, form, panels).await
}

fn fragment(html: String) -> Result<Response, Problem> {
    Ok(([("content-type", "text/html; charset=utf-8")], html).into_response())
}

async fn whole(
    visitor: &Visitor,
    service: &Service,
    form: AskForm,
    panels: AskPanels,
) -> Result<Response, Problem> {
    let found = service.datasets(visitor.caller()?).await?.datasets;
    let t = visitor.language.strings();
    let key = if form.key.is_empty() {
        draw()?
    } else {
        form.key
    };
    let known = ["default", "epsilon", "accuracy"]
        .into_iter()
        .find(|spend_by| *spend_by == form.spend_by);
    page(&Page {
        frame: visitor.frame("ask"),
        csrf: visitor.csrf(),
        key,
        sql: form.sql,
        spend_by: known.unwrap_or("default").to_owned(),
        epsilon: form.epsilon,
        accuracy: form.accuracy,
        panels,
        datasets: found.iter().map(|dataset| dataset_of(t, dataset)).collect(),
    })
}

/// A new key: 128 random bits, in the form of an id of the ledger.
fn draw() -> Result<String, Problem> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|_| Problem::internal(Code::MZ2051))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Whether a key has the form that this page draws.
fn is_drawn(key: &str) -> bool {
    key.len() == 32
        && key
            .bytes()
            .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

async fn priced(visitor: &Visitor, service: &Service, form: &AskForm) -> Result<String, Problem> {
    let t = visitor.language.strings();
    let outcome = match service.quote(visitor.caller()?, form.request()).await {
        Ok(quote) => QuoteOutcome::Priced(Box::new(quote_of(t, &quote))),
        Err(problem) => QuoteOutcome::Failed(Box::new(problem)),
    };
    part(&QuotePart { t, outcome })
}

/// Runs the query; the status, the key of the next form and the answer.
async fn answered(
    visitor: &Visitor,
    service: &Service,
    form: &AskForm,
) -> Result<(StatusCode, String, String), Problem> {
    let t = visitor.language.strings();
    let caller = visitor.caller()?;
    let key = match form.key.is_empty() {
        true => draw()?,
        false => form.key.clone(),
    };
    let reply = service
        .query(caller, form.request(), Some(key.clone()))
        .await;
    let (status, key, outcome) = match reply {
        Ok(queried) => {
            let answer = AskOutcome::Answered(Box::new(answer_of(t, queried)));
            (StatusCode::OK, draw()?, answer)
        }
        Err(problem) => match &problem.refusal {
            Some(refusal) => {
                let refused = AskOutcome::Refused(refusal_of(t, &Value::Object(refusal.clone())));
                (problem.status(), draw()?, refused)
            }
            // A query that was charged, or may have been, keeps its key.
            None => {
                let unsure = problem.charged.is_some() || problem.status().is_server_error();
                let next = if unsure { key } else { draw()? };
                (
                    problem.status(),
                    next,
                    AskOutcome::Failed(Box::new(problem)),
                )
            }
        },
    };
    let shown = AnswerPart {
        t,
        key: key.clone(),
        outcome,
    };
    Ok((status, key, part(&shown)?))
}

/// Messages under a title.
fn list<T: Message + Arabic>(
    t: &'static Strings,
    title: &'static str,
    messages: &[AsJson<T>],
) -> Option<List> {
    let lines = messages.iter().map(|AsJson(one)| t.language.say(one));
    (!messages.is_empty()).then(|| List {
        title,
        lines: lines.collect(),
    })
}

fn quote_of(t: &'static Strings, quote: &QuoteAnswer) -> Quote {
    let columns = quote.predicted.iter().map(|(name, predicted)| ColumnError {
        name: plain(name),
        width: predicted
            .get("half_width")
            .and_then(Value::as_f64)
            .map(|width| number::grouped_up(width, 3)),
    });
    let after = quote.remaining_after.as_ref();
    Quote {
        fits: quote.fits,
        epsilon: number::epsilon_up(quote.cost.epsilon, 4),
        delta: numbers::delta(quote.cost.delta),
        columns: columns.collect(),
        groups: quote.groups.map(|groups| numbers::count(groups as u64)),
        left: numbers::left(&quote.remaining),
        left_exact: quote.remaining.epsilon.unwrap_or(0.0).to_string(),
        after: after.map(numbers::left),
        about_more: numbers::at_least(quote.about_more, quote.about_more_at_least),
        reserved: quote
            .reserved_delta
            .as_ref()
            .map(|delta| reserved_of(t, delta)),
        short_of_delta: quote
            .reserved_delta
            .as_ref()
            .is_some_and(|delta| !delta.fits),
        share: numbers::percent(quote.remaining.share),
        share_after: numbers::percent(after.and_then(|after| after.share)),
        event: quote.event.clone(),
        lists: [
            list(t, t.quote_why, &quote.why_data),
            list(t, t.quote_clamping, &quote.clamping_data),
            list(t, t.quote_notes, &quote.notes_data),
        ]
        .into_iter()
        .flatten()
        .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_chosen_number_is_sent() {
        let form = |spend_by: &str| AskForm {
            sql: "SELECT\r\n1".to_owned(),
            spend_by: spend_by.to_owned(),
            epsilon: "0.1".to_owned(),
            accuracy: "5".to_owned(),
            ..AskForm::default()
        };
        let request = form("epsilon").request();
        assert_eq!(request.sql, "SELECT\n1");
        assert_eq!(request.epsilon.unwrap().text(), "0.1");
        assert!(request.accuracy.is_none());
        let request = form("default").request();
        assert!(request.epsilon.is_none() && request.accuracy.is_none());
    }

    #[test]
    fn a_long_form_keeps_its_key() {
        let mut form = AskForm {
            key: "k".to_owned(),
            spend_by: "epsilon".to_owned(),
            epsilon: "0.1".to_owned(),
            accuracy: "5".to_owned(),
            ..AskForm::default()
        };
        assert_eq!(form.address(), None);
        form.sql = "SELECT\r\n1".to_owned();
        let address = form.address().unwrap();
        assert_eq!(address, "/ask?key=k&sql=SELECT%0A1&epsilon=0.1");
        form.sql = "x".repeat(LONGEST_ADDRESS);
        assert_eq!(form.address().unwrap(), "/ask?key=k");
    }

    #[test]
    fn keys_are_random_ids() {
        let (one, other) = (draw().unwrap(), draw().unwrap());
        assert_eq!((one.len(), one == other), (32, false));
        assert!(is_drawn(&one) && is_drawn(&other));
        for bad in ["", "0", &"F".repeat(32)] {
            assert!(!is_drawn(bad), "{bad}");
        }
    }
}
