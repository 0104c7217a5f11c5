//! Server-sent events: the progress of the caller's queries, and the budgets that the
//! caller may see whenever they change.

use std::collections::{HashMap, VecDeque};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use futures::Stream;
use futures::stream;
use mizan_api::budget::AccountJson;
use mizan_api::budget::view::account_json;
use mizan_api::number::json;
use serde::Serialize;
use tokio::sync::{broadcast, watch};
use utoipa::ToSchema;

use super::Service;
use crate::identity::Caller;
use crate::limits::RequestPermit;
use crate::problem::Problem;

/// How often the ledger is read for changes of budgets while a stream is open.
const POLL_INTERVAL: Duration = Duration::from_millis(500);

/// How often an idle stream checks that its token is still valid.
const TOKEN_CHECK_INTERVAL: Duration = Duration::from_secs(5);

/// The progress of a query.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct QueryEvent {
    /// Its `Idempotency-Key`; empty without one.
    pub id: String,
    /// `waiting`, `running`, `answered`, `refused` or `failed`.
    #[schema(value_type = String)]
    pub state: &'static str,
}

/// An event for the callers of one name.
#[derive(Clone, Debug)]
pub(super) struct Notification {
    name: String,
    event: QueryEvent,
}

/// All budgets, as of a size of the log.
#[derive(Clone, Debug, Default)]
pub(super) struct BudgetSnapshot {
    size: u64,
    all: Arc<Vec<AccountJson>>,
}

/// Events by name and as JSON.
pub type EventStream = Pin<Box<dyn Stream<Item = (&'static str, String)> + Send>>;

impl Service {
    pub(super) fn notify(&self, name: &str, event: QueryEvent) {
        // There may be no open stream.
        let _ = self.0.notifications.send(Notification {
            name: name.to_owned(),
            event,
        });
    }

    /// Events for a caller, until the server stops or the token is revoked.
    ///
    /// # Errors
    ///
    /// The token has too many streams already.
    pub fn events(&self, caller: &Caller) -> Result<EventStream, Problem> {
        let permit = self.0.rate_limiter.stream(&caller.token, &self.0.limits);
        let permit = permit.ok_or_else(|| Problem::too_many(5))?;
        let listener = EventListener {
            notifications: self.0.notifications.subscribe(),
            budgets: self.0.budgets.subscribe(),
            stopping: self.0.stopping.subscribe(),
            service: self.clone(),
            caller: caller.clone(),
            seen: HashMap::new(),
            ready: VecDeque::new(),
            started: false,
            _permit: permit,
        };
        Ok(Box::pin(stream::unfold(listener, EventListener::next)))
    }
}

/// One open stream.
struct EventListener {
    service: Service,
    caller: Caller,
    notifications: broadcast::Receiver<Notification>,
    budgets: watch::Receiver<BudgetSnapshot>,
    stopping: watch::Receiver<bool>,
    /// What was sent last about each budget.
    seen: HashMap<String, String>,
    ready: VecDeque<(&'static str, String)>,
    started: bool,
    _permit: RequestPermit,
}

/// Why a stream woke up.
enum WakeReason {
    Notified(Notification),
    Changed,
    Quiet,
    Nothing,
    End,
}

impl EventListener {
    async fn next(mut self) -> Option<((&'static str, String), Self)> {
        if !self.started {
            self.started = true;
            let first = self.service.budgets_now().await;
            self.queue_changes(&first.unwrap_or_default());
        }
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some((event, self));
            }
            let reason = tokio::select! {
                received = self.notifications.recv() => match received {
                    Ok(notification) => WakeReason::Notified(notification),
                    Err(broadcast::error::RecvError::Lagged(_)) => WakeReason::Nothing,
                    Err(broadcast::error::RecvError::Closed) => WakeReason::End,
                },
                changed = self.budgets.changed() => match changed {
                    Ok(()) => WakeReason::Changed,
                    Err(_) => WakeReason::End,
                },
                stopped = self.stopping.changed() => match stopped {
                    Ok(()) => WakeReason::Nothing,
                    Err(_) => WakeReason::End,
                },
                () = tokio::time::sleep(TOKEN_CHECK_INTERVAL) => WakeReason::Quiet,
            };
            if *self.stopping.borrow() {
                return None;
            }
            // The token is checked before anything is sent, and while the stream is idle.
            let relevant = match &reason {
                WakeReason::Notified(notification) => notification.name == self.caller.name,
                WakeReason::Changed | WakeReason::Quiet => true,
                WakeReason::Nothing | WakeReason::End => false,
            };
            if relevant
                && !self
                    .service
                    .is_token_valid(&self.caller.token)
                    .unwrap_or(false)
            {
                return None;
            }
            match reason {
                WakeReason::Notified(notification) if notification.name == self.caller.name => {
                    let event = json(&notification.event).to_string();
                    self.ready.push_back(("query", event));
                }
                WakeReason::Notified(_) | WakeReason::Quiet | WakeReason::Nothing => {}
                WakeReason::End => return None,
                WakeReason::Changed => {
                    let all = Arc::clone(&self.budgets.borrow_and_update().all);
                    self.queue_changes(&all);
                }
            }
        }
    }

    /// Queues the budgets that changed and that the caller may see.
    fn queue_changes(&mut self, all: &[AccountJson]) {
        let Ok(catalogue) = self.service.0.catalogue_file.read() else {
            return;
        };
        for account in all {
            if !self.caller.may_see_account(&account.account, &catalogue) {
                continue;
            }
            let text = json(account).to_string();
            if self.seen.get(&account.account) != Some(&text) {
                self.seen.insert(account.account.clone(), text.clone());
                self.ready.push_back(("budget", text));
            }
        }
    }
}

impl Service {
    async fn budgets_now(&self) -> Result<Vec<AccountJson>, Problem> {
        self.with_ledger(|service| {
            let views = service.0.ledger.accounts()?;
            Ok(views.iter().map(account_json).collect())
        })
        .await
    }
}

/// Reads the ledger while a stream is open: charges may come from this server, from another
/// one or from the command line.
pub(super) fn watch_budgets(service: Service) {
    tokio::spawn(async move {
        let mut stopping = service.0.stopping.subscribe();
        loop {
            tokio::select! {
                () = tokio::time::sleep(POLL_INTERVAL) => {}
                _ = stopping.wait_for(|stopping| *stopping) => return,
            }
            if service.0.budgets.receiver_count() == 0 {
                continue;
            }
            let known = service.0.budgets.borrow().size;
            let size = service
                .with_ledger(|service| Ok(service.0.ledger.head()?.size))
                .await;
            let Ok(size) = size else { continue };
            if size == known {
                continue;
            }
            if let Ok(all) = service.budgets_now().await {
                service.0.budgets.send_replace(BudgetSnapshot {
                    size,
                    all: Arc::new(all),
                });
            }
        }
    });
}
