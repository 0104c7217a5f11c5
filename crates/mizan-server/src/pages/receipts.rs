//! The receipt pages: who, when, which query, how its cost is computed, and the Merkle
//! proof, which the browser verifies itself.

use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use mizan_api::account::{AccountAnswer, AccountRequest, DerivationJson, RequestedOrBound};
use mizan_api::ledger::entry::EntryPrices;
use mizan_api::number::NumberInput;
use mizan_report::number;
use serde::Deserialize;

use super::frame::{Frame, link, page, segment};
use super::numbers;
use super::problems::or_problem;
use super::read::{Path, Query};
use super::visitor::Visitor;
use crate::locale::{Markup, Strings, fill};
use crate::problem::Problem;
use crate::service::{ReceiptView, Service};

/// The δ at which costs are shown.
const DELTA: &str = "1e-6";

/// The deepest indentation of parts.
const DEEPEST: usize = 4;

#[derive(Template)]
#[template(path = "receipts.html")]
struct ListPage {
    frame: Frame,
    typed: String,
    missing: bool,
}

#[derive(Template)]
#[template(path = "receipt.html")]
struct OnePage {
    frame: Frame,
    id: String,
    who: Option<String>,
    time: String,
    time_text: String,
    kind: &'static str,
    position: u64,
    account: Option<String>,
    account_address: String,
    event: Option<String>,
    laboratory: String,
    sql: Option<String>,
    receipt: String,
    best: Option<Markup>,
    at_best: String,
    parts: Vec<Part>,
    forms: Vec<Form>,
    orders: Vec<String>,
    own_delta: Option<String>,
    clock: Option<Markup>,
    proof_lead: Markup,
    size: u64,
    root: String,
    leaf: String,
    path: Vec<String>,
    path_text: String,
    then_size: u64,
    then_root: String,
    consistency_text: String,
}

/// A part of the event and its cost.
struct Part {
    depth: usize,
    event: Markup,
    one: String,
    best: String,
    infinite: String,
}

/// A formula of a paper.
struct Form {
    formula: String,
    epsilon: String,
    reference: String,
}

/// The query of the address.
#[derive(Debug, Deserialize)]
pub(super) struct ReceiptQuery {
    #[serde(default)]
    receipt: String,
}

/// The form for a receipt; with a receipt, its page.
pub(super) async fn list(
    visitor: Visitor,
    State(service): State<Service>,
    Query(query): Query<ReceiptQuery>,
) -> Response {
    let typed = query.receipt.trim();
    let made = async {
        if typed.is_empty() {
            return search_page(&visitor, String::new(), false);
        }
        match shown(&visitor, &service, typed).await {
            Err(problem) if problem.status().is_client_error() && !is_too_many(&problem) => {
                let page = search_page(&visitor, typed.to_owned(), true)?;
                Ok((StatusCode::NOT_FOUND, page).into_response())
            }
            shown => shown,
        }
    };
    or_problem(&visitor, made.await)
}

fn is_too_many(problem: &Problem) -> bool {
    problem.status() == StatusCode::TOO_MANY_REQUESTS
}

fn search_page(visitor: &Visitor, typed: String, missing: bool) -> Result<Response, Problem> {
    page(&ListPage {
        frame: visitor.frame("receipts"),
        typed,
        missing,
    })
}

/// One receipt.
pub(super) async fn one(
    visitor: Visitor,
    State(service): State<Service>,
    Path(id): Path<String>,
) -> Response {
    or_problem(&visitor, shown(&visitor, &service, &id).await)
}

async fn shown(visitor: &Visitor, service: &Service, typed: &str) -> Result<Response, Problem> {
    let caller = visitor.caller()?;
    let found = service.receipt(caller, typed).await?;
    let charge = found.receipt.charge.as_ref();
    let event = found
        .receipt
        .entry
        .event
        .clone()
        .or_else(|| charge.map(|charge| charge.event.clone()));
    let event = event.filter(|event| !event.is_empty());
    let explained = match &event {
        Some(event) => {
            let request = AccountRequest {
                expression: event.clone(),
                delta: Some(NumberInput::from(DELTA)),
                why: true,
                ..AccountRequest::default()
            };
            // Not every event has a bound at this δ; the receipt is shown without it.
            service
                .account(caller, request)
                .await
                .ok()
                .map(|answer| answer.json())
        }
        None => None,
    };
    page(&receipt_of(visitor, found, event, explained))
}

fn receipt_of(
    visitor: &Visitor,
    found: ReceiptView,
    event: Option<String>,
    explained: Option<AccountAnswer>,
) -> OnePage {
    let t = visitor.language.strings();
    let ReceiptView { receipt, asked } = found;
    let entry = receipt.entry;
    let charge = receipt.charge.as_ref();
    let prices = charge.map_or(&entry.prices, |charge| &charge.prices);
    let account = entry.account.as_ref();
    let account = account.or_else(|| charge.map(|charge| &charge.account));
    let account = account.cloned();
    let cost = entry.cost.as_ref();
    let orders = cost.map_or_else(Vec::new, |cost| {
        cost.orders
            .iter()
            .map(|amount| numbers::up(*amount))
            .collect()
    });
    let why = explained.as_ref().and_then(|answer| answer.why.as_ref());
    let at_best = why.and_then(|why| why.order);
    let (position, size) = (entry.position, receipt.log.size);
    let shown_at = [
        ("position", position.to_string()),
        ("size", size.to_string()),
    ];
    let shown_at = shown_at
        .each_ref()
        .map(|(name, value)| (*name, value.as_str()));
    OnePage {
        frame: visitor.frame("receipts"),
        who: asked.as_ref().map(|asked| asked.by.clone()),
        time_text: numbers::time(&entry.time),
        kind: kind(t, &entry.kind),
        account_address: account.as_deref().map(segment).unwrap_or_default(),
        account,
        laboratory: link(
            "/laboratory",
            &[
                ("expression", event.as_deref().unwrap_or_default()),
                ("delta", DELTA),
            ],
        ),
        event,
        sql: asked.map(|asked| asked.what),
        receipt: receipt.receipt,
        best: explained.as_ref().and_then(|answer| best(t, answer)),
        at_best: match at_best {
            Some(_) => format!("ε({})", numbers::order(at_best)),
            None => t.receipt_at_best.to_owned(),
        },
        parts: why.map(|why| parts(t, why)).unwrap_or_default(),
        forms: why.map(forms).unwrap_or_default(),
        orders,
        own_delta: cost.and_then(|cost| numbers::delta(cost.own_delta + tail(prices))),
        clock: clock(t, prices),
        proof_lead: fill(t.receipt_proof_lead, &shown_at),
        position,
        size,
        time: entry.time,
        id: entry.id,
        root: receipt.log.root,
        leaf: receipt.leaf,
        path_text: receipt.inclusion.join(" "),
        path: receipt.inclusion,
        then_size: receipt.then.size,
        then_root: receipt.then.root,
        consistency_text: receipt.consistency.join(" "),
    }
}

/// The reserved delta that the tail of a plan uses in the account that is charged.
fn tail(prices: &EntryPrices) -> f64 {
    let first = prices.tails.as_ref().and_then(|tails| tails.first());
    first.copied().unwrap_or(0.0)
}

/// What the charge took from the clock of each account, or the price of one that took nothing.
fn clock(t: &Strings, prices: &EntryPrices) -> Option<Markup> {
    let (sentence, variance) = match (&prices.clock, &prices.price) {
        (Some(taken), _) => {
            let taken = taken.iter().map(|taken| numbers::up(*taken));
            (t.receipt_clock_taken, taken.collect::<Vec<_>>().join(", "))
        }
        (None, Some(price)) => {
            let (first, last) = (price.steps.first()?, price.steps.last()?);
            let [least, most] = [first, last].map(|step| numbers::up(Some(step.variance)));
            let range = match least == most {
                true => least,
                false => format!("{least} – {most}"),
            };
            (t.receipt_clock_price, range)
        }
        (None, None) => return None,
    };
    Some(fill(sentence, &[("variance", &variance)]))
}

fn best(t: &Strings, answer: &AccountAnswer) -> Option<Markup> {
    let Some(RequestedOrBound::Bound(bound)) = &answer.epsilon else {
        return None;
    };
    let epsilon = numbers::up(bound.upper);
    let values = [
        ("epsilon", epsilon.as_str()),
        ("delta", DELTA),
        ("method", &bound.method),
    ];
    Some(fill(t.receipt_best, &values))
}

fn parts(t: &Strings, why: &DerivationJson) -> Vec<Part> {
    let part = |part: &mizan_api::account::PartJson| {
        let at = |place: usize| {
            let cost = part.renyi.as_ref().and_then(|costs| costs.get(place));
            cost.map_or_else(|| "–".to_owned(), |cost| numbers::up(*cost))
        };
        let (one, best, infinite) = (at(0), at(1), at(2));
        Part {
            depth: part.depth.min(DEEPEST),
            event: t.language.say(&part.event_data.0),
            one,
            best,
            infinite,
        }
    };
    why.parts.iter().map(part).collect()
}

fn forms(why: &DerivationJson) -> Vec<Form> {
    let form = |form: &mizan_api::account::ClosedFormJson| Form {
        formula: form.formula.clone(),
        epsilon: form
            .epsilon
            .map_or_else(|| "∞".to_owned(), |epsilon| number::epsilon_up(epsilon, 4)),
        reference: form.reference.clone(),
    };
    why.closed_forms.iter().map(form).collect()
}

/// The kind of an entry in the language of the page.
pub(super) fn kind(t: &'static Strings, kind: &str) -> &'static str {
    match kind {
        "opened" => t.kind_opened,
        "created" => t.kind_created,
        "reserved" => t.kind_reserved,
        "denied" => t.kind_denied,
        "started" => t.kind_started,
        "committed" => t.kind_committed,
        "voided" => t.kind_voided,
        "raised" => t.kind_raised,
        "restored" => t.kind_restored,
        _ => "–",
    }
}
