//! The budget pages: what is left of each budget, and how it was spent.

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use mizan_api::budget::{
    AccountDetails, AccountJson, BudgetAnswer, GapJson, TargetJson, UnansweredChargeJson,
    UnansweredJson,
};
use mizan_api::dataset::DatasetJson;
use mizan_report::Figure;

use super::frame::{Frame, link, page, part, segment};
use super::numbers;
use super::problems::or_problem;
use super::read::Path;
use super::visitor::Visitor;
use crate::identity::{Caller, Role};
use crate::locale::{Markup, Strings, fill, plural};
use crate::problem::Problem;
use crate::service::Service;

/// The most accounts that are shown with their past, for which the log is replayed.
const WITH_PAST: usize = 8;

/// The longest log that is replayed for the list of budgets.
const SHORT_LOG: u64 = 4000;

#[derive(Template)]
#[template(path = "budgets.html")]
struct ListPage {
    frame: Frame,
    rows: Vec<String>,
    gaps: Vec<Markup>,
    owner: bool,
}

#[derive(Template)]
#[template(path = "budget.html")]
struct OnePage {
    frame: Frame,
    name: String,
    row: String,
    raised: bool,
    gaps: Vec<Markup>,
    promise: String,
    spent: String,
    guarantee: Option<(String, Markup)>,
    own_delta: Markup,
    last: Option<String>,
    more: Option<String>,
    untouched: bool,
    unanswered: Option<Unanswered>,
    burn_down: Option<String>,
    has_clock: bool,
    orders: Vec<OrderRow>,
}

#[derive(Template)]
#[template(path = "budget_row.html")]
struct RowPart {
    t: &'static Strings,
    row: Row,
}

/// One account in the list.
struct Row {
    name: String,
    address: String,
    parent: Option<Markup>,
    datasets: Option<Markup>,
    exhausted: bool,
    share: String,
    share_text: Markup,
    share_exact: String,
    left: Markup,
    delta: Option<Markup>,
    more: Markup,
    burn_down: Option<String>,
    ask: bool,
    ask_query: String,
}

/// Queries that failed or run now, for the data owner.
struct Unanswered {
    count: String,
    /// How many of them refuse queries, and what to do about it.
    limit: Markup,
    newest: Vec<UnansweredChargeJson>,
}

impl Unanswered {
    fn of(t: &Strings, caller: &Caller, all: &UnansweredJson) -> Option<Self> {
        let shown = caller.role == Role::Owner && all.count > 0;
        shown.then(|| Self {
            count: numbers::count(all.count),
            limit: fill(
                t.budget_unanswered_limit,
                &[("limit", &numbers::count(all.limit))],
            ),
            newest: all.newest.iter().take(10).cloned().collect(),
        })
    }
}

/// One order of an account, or its clock.
struct OrderRow {
    order: String,
    decides: bool,
    limit: String,
    spent: String,
    pending: String,
    left: String,
}

/// All budgets.
pub(super) async fn list(visitor: Visitor, State(service): State<Service>) -> Response {
    or_problem(&visitor, lists(&visitor, &service).await)
}

async fn lists(visitor: &Visitor, service: &Service) -> Result<Response, Problem> {
    let caller = visitor.caller()?;
    let budgets = service.budgets(caller).await?;
    let datasets = datasets(service, caller).await?;
    let mut rows = Vec::new();
    for (place, account) in budgets.accounts.iter().enumerate() {
        let past = place < WITH_PAST && budgets.log.size <= SHORT_LOG;
        let shown = match past {
            true => Some(service.budget(caller, &account.account, None).await?),
            false => None,
        };
        rows.push(row_part(
            visitor,
            caller,
            account,
            shown.as_ref(),
            &datasets,
            true,
        )?);
    }
    let t = visitor.language.strings();
    page(&ListPage {
        frame: visitor.frame("budgets"),
        rows,
        gaps: gaps(t, budgets.gaps.as_deref().unwrap_or_default()),
        owner: caller.role == Role::Owner,
    })
}

/// One budget.
pub(super) async fn one(
    visitor: Visitor,
    State(service): State<Service>,
    Path(name): Path<String>,
) -> Response {
    or_problem(&visitor, details(&visitor, &service, &name).await)
}

async fn details(visitor: &Visitor, service: &Service, name: &str) -> Result<Response, Problem> {
    let caller = visitor.caller()?;
    let shown = service.budget(caller, name, None).await?;
    let datasets = datasets(service, caller).await?;
    let answer = shown.json();
    let t = visitor.language.strings();
    let account = &answer.account;
    let priced = |epsilon: Option<f64>, delta: f64| {
        let epsilon = numbers::up(epsilon);
        numbers::delta(delta).map_or_else(
            || format!("ε ≤ {epsilon}"),
            |delta| format!("ε ≤ {epsilon}, δ {delta}"),
        )
    };
    let taken = mizan_report::number::delta_up(answer.own_delta.taken);
    let limit = mizan_report::number::nearest(answer.own_delta.limit, 4);
    page(&OnePage {
        frame: visitor.frame("budgets"),
        name: account.account.clone(),
        row: row_part(visitor, caller, account, Some(&shown), &datasets, false)?,
        raised: account.raised,
        gaps: gaps(t, &answer.gaps),
        promise: numbers::promise(&account.target),
        spent: priced(account.spent.epsilon, account.spent.delta),
        guarantee: account.guarantee.as_ref().map(|reading| {
            match account.target {
                // What the odometer reads is above the budget, which holds for the whole account.
                TargetJson::Approximate { epsilon, delta } if reading.epsilon >= epsilon => {
                    let odometer = priced(Some(reading.epsilon), reading.delta);
                    let note = fill(t.budget_guarantee_whole, &[("reading", &odometer)]);
                    (priced(Some(epsilon), delta), note)
                }
                _ => {
                    let note = fill(t.budget_guarantee_note, &[]);
                    (priced(Some(reading.epsilon), reading.delta), note)
                }
            }
        }),
        own_delta: fill(
            t.budget_own_delta_of,
            &[("taken", &taken), ("limit", &limit)],
        ),
        last: answer.about_more.as_ref().map(|more| more.event.clone()),
        more: answer
            .about_more
            .as_ref()
            .map(|more| numbers::at_least(more.count, more.at_least)),
        untouched: untouched(&shown),
        unanswered: Unanswered::of(t, caller, &answer.unanswered),
        burn_down: burn_down(t, &shown, false),
        has_clock: answer.clock.is_some(),
        orders: orders(t, &answer),
    })
}

/// One account of the list again, after a change.
pub(super) async fn row(
    visitor: Visitor,
    State(service): State<Service>,
    Path(name): Path<String>,
) -> Response {
    let made = async {
        let caller = visitor.caller()?;
        let shown = service.budget(caller, &name, None).await?;
        let datasets = datasets(&service, caller).await?;
        let account = shown.json().account;
        let html = row_part(&visitor, caller, &account, Some(&shown), &datasets, true)?;
        let kind = [("content-type", "text/html; charset=utf-8")];
        Ok(axum::response::IntoResponse::into_response((kind, html)))
    };
    or_problem(&visitor, made.await)
}

/// The datasets that a caller may see; runners see none.
async fn datasets(service: &Service, caller: &Caller) -> Result<Vec<DatasetJson>, Problem> {
    match caller.role {
        Role::Runner => Ok(Vec::new()),
        _ => Ok(service.datasets(caller).await?.datasets),
    }
}

fn row_part(
    visitor: &Visitor,
    caller: &Caller,
    account: &AccountJson,
    shown: Option<&AccountDetails>,
    datasets: &[DatasetJson],
    with_past: bool,
) -> Result<String, Problem> {
    let t = visitor.language.strings();
    let pays = datasets.iter().filter(|dataset| {
        let privacy = dataset.privacy.as_ref();
        privacy.is_some_and(|privacy| privacy.account == account.account)
    });
    let pays: Vec<&str> = pays.map(|dataset| dataset.name.as_str()).collect();
    let asks = matches!(caller.role, Role::Owner | Role::Analyst);
    let share = account.remaining.share.unwrap_or(0.0);
    let exhausted = share <= 0.0;
    let whole = numbers::whole(&account.target);
    let left = match (account.remaining.epsilon, whole) {
        _ if exhausted => fill(t.budgets_exhausted, &[]),
        (Some(left), Some(whole)) => {
            let left = mizan_report::number::down(left, 4);
            let whole = mizan_report::number::nearest(whole, 6);
            fill(t.budgets_left_of, &[("left", &left), ("whole", &whole)])
        }
        // The share says more than an estimate that has used up the whole.
        (None, Some(_)) => Markup::default(),
        _ => fill(
            "{promise}",
            &[("promise", &numbers::promise(&account.target))],
        ),
    };
    let delta = numbers::delta(account.remaining.delta);
    let delta = delta.filter(|_| account.remaining.epsilon.is_some() || whole.is_none());
    let more = shown.and_then(|shown| shown.more.as_ref());
    let row = Row {
        name: account.account.clone(),
        address: segment(&account.account),
        parent: account
            .parent
            .as_ref()
            .map(|parent| fill(t.budgets_below, &[("parent", parent)])),
        datasets: (!pays.is_empty())
            .then(|| fill(t.budgets_pays, &[("datasets", &pays.join(", "))])),
        exhausted,
        share_text: fill(
            t.budgets_share,
            &[("share", &numbers::percent(account.remaining.share))],
        ),
        share: numbers::percent(account.remaining.share),
        share_exact: share.to_string(),
        left,
        delta: delta.map(|delta| fill(t.budgets_at_delta, &[("delta", &delta)])),
        more: match more {
            Some(more) if more.count == 0 => fill(t.budgets_about_none, &[]),
            Some(more) => {
                let queries = numbers::counted(t, more.count, plural::QUERIES);
                let sentence = match more.at_least {
                    true => t.budgets_at_least,
                    false => t.budgets_about,
                };
                fill(sentence, &[("queries", &queries)])
            }
            None if share < 1.0 => Markup::default(),
            None => fill(t.budgets_untouched, &[]),
        },
        burn_down: shown
            .filter(|_| with_past)
            .and_then(|shown| burn_down(t, shown, true)),
        ask: asks && !pays.is_empty() && !exhausted,
        ask_query: pays.first().map_or_else(String::new, |name| {
            let sql = format!("SELECT COUNT(*) AS n FROM {}", quoted(name));
            link("", &[("sql", &sql)])
        }),
    };
    part(&RowPart { t, row })
}

/// A name quoted for SQL.
pub(super) fn quoted(name: &str) -> String {
    let plain = name
        .bytes()
        .all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_'));
    let begins = name
        .bytes()
        .next()
        .is_some_and(|byte| !byte.is_ascii_digit());
    match plain && begins {
        true => name.to_owned(),
        false => format!("\"{}\"", name.replace('"', "\"\"")),
    }
}

/// Whether nothing was charged yet.
fn untouched(shown: &AccountDetails) -> bool {
    let points = shown.burn_down.as_ref().map(|past| past.points().len());
    points.is_some_and(|points| points < 2)
}

/// The chart of the remaining budget; the small one has no labels.
fn burn_down(t: &Strings, shown: &AccountDetails, small: bool) -> Option<String> {
    let burn_down = shown.burn_down.as_ref()?;
    if burn_down.points().len() < 2 {
        return None;
    }
    let mut panel = burn_down.panel(t.language.labels());
    panel.title.clear();
    if !small {
        return Some(t.language.svg(Figure::new("").with(panel)));
    }
    // A line without axes: only the shape is readable at this size.
    let points = panel.series.first()?.points.clone();
    let end = points.last()?.0.max(1.0);
    let begin = points.first()?.0.min(end - 1.0);
    let line = points.iter().map(|(x, y)| {
        let across = 100.0 * (x - begin) / (end - begin);
        format!("{across:.2} {:.2}", 30.0 - 0.3 * y)
    });
    let line = line.collect::<Vec<_>>().join("L");
    Some(format!(
        "<svg viewBox=\"0 0 100 30\" preserveAspectRatio=\"none\" class=\"spark\" aria-hidden=\"true\">\
         <path class=\"under\" d=\"M{line}L100 30L0 30z\"/><path class=\"over\" d=\"M{line}\"/></svg>"
    ))
}

fn orders(t: &Strings, answer: &BudgetAnswer) -> Vec<OrderRow> {
    let decides = answer.account.remaining.order;
    let clock = answer.clock.iter().map(|clock| OrderRow {
        order: t.budget_clock.to_owned(),
        decides: decides.is_none(),
        limit: numbers::down(Some(clock.limit)),
        spent: numbers::up(clock.spent),
        pending: match clock.pending {
            Some(0.0) => "–".to_owned(),
            pending => numbers::up(pending),
        },
        left: numbers::down(Some(clock.left)),
    });
    let orders = answer
        .orders
        .iter()
        .filter(|line| line.limit.is_some_and(|limit| limit > 0.0));
    let row = |line: &mizan_api::budget::OrderLine| OrderRow {
        order: numbers::order(Some(line.order)),
        decides: decides == Some(line.order),
        limit: numbers::down(line.limit),
        spent: numbers::up(line.spent),
        pending: line
            .pending
            .filter(|pending| *pending > 0.0)
            .map_or_else(|| "–".to_owned(), |p| numbers::up(Some(p))),
        left: numbers::down(line.left),
    };
    clock.chain(orders.map(row)).collect()
}

fn gaps(t: &Strings, gaps: &[GapJson]) -> Vec<Markup> {
    let gap = |gap: &GapJson| {
        let position = numbers::count(gap.position);
        let entries = numbers::counted(t, gap.known_size, plural::ENTRIES);
        fill(
            t.budget_gap,
            &[("position", &position), ("entries", &entries)],
        )
    };
    gaps.iter().map(gap).collect()
}
