//! The stream of server-sent events.

use std::convert::Infallible;
use std::time::Duration;

use axum::extract::State;
use axum::response::sse::{Event, KeepAlive, Sse};
use futures::{Stream, StreamExt as _};

use super::Authenticated;
use super::problems::AccessProblems;
use crate::problem::Problem;
use crate::service::Service;

/// Server-sent events: `query` (a `QueryEvent`) for the progress of the caller's queries, and
/// `budget` (an `AccountJson`) for each budget that the caller may see, at the start and
/// whenever it changes.
#[utoipa::path(
    get,
    path = "/api/v1/events",
    tag = "events",
    responses(
        (status = 200, description = "events, until the client closes the connection", body = String, content_type = "text/event-stream"),
        AccessProblems,
    ),
    security(("token" = [])),
)]
pub(crate) async fn events(
    State(service): State<Service>,
    Authenticated(caller): Authenticated,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, Problem> {
    let events = service.events(&caller)?;
    let events = events.map(|(name, json)| Ok(Event::default().event(name).data(json)));
    let alive = KeepAlive::new().interval(Duration::from_secs(15));
    Ok(Sse::new(events).keep_alive(alive))
}
