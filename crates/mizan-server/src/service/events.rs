//! What happens, as it happens: how one's own questions get on, and what is left of
//! the budgets one may see.

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

/// How often budgets are looked at while somebody watches.
const LOOKS: Duration = Duration::from_millis(500);

/// How often a stream looks whether its token is still good, when nothing happens.
const CHECKS: Duration = Duration::from_secs(5);

/// A question that got on.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct QueryEvent {
    /// The `Idempotency-Key` that it came with; empty if it had none.
    pub id: String,
    /// `waiting`, `running`, `answered`, `refused` or `failed`.
    #[schema(value_type = String)]
    pub state: &'static str,
}

/// Something that somebody is told.
#[derive(Clone, Debug)]
pub(super) struct Told {
    name: String,
    event: QueryEvent,
}

/// All budgets at a time.
#[derive(Clone, Debug, Default)]
pub(super) struct Budgets {
    size: u64,
    all: Arc<Vec<AccountJson>>,
}

/// Events by name and as JSON.
pub type EventStream = Pin<Box<dyn Stream<Item = (&'static str, String)> + Send>>;

impl Service {
    pub(super) fn tell(&self, name: &str, event: QueryEvent) {
        // Nobody may be listening.
        let _ = self.0.told.send(Told {
            name: name.to_owned(),
            event,
        });
    }

    /// Events for somebody, until the server stops or their token is revoked.
    ///
    /// # Errors
    ///
    /// They listen too often already.
    pub fn events(&self, caller: &Caller) -> Result<EventStream, Problem> {
        let permit = self.0.rate_limiter.stream(&caller.token, &self.0.limits);
        let permit = permit.ok_or_else(|| Problem::too_many(5))?;
        let listener = Listener {
            told: self.0.told.subscribe(),
            budgets: self.0.budgets.subscribe(),
            stopping: self.0.stopping.subscribe(),
            service: self.clone(),
            caller: caller.clone(),
            seen: HashMap::new(),
            ready: VecDeque::new(),
            started: false,
            _permit: permit,
        };
        Ok(Box::pin(stream::unfold(listener, Listener::next)))
    }
}

/// One who listens.
struct Listener {
    service: Service,
    caller: Caller,
    told: broadcast::Receiver<Told>,
    budgets: watch::Receiver<Budgets>,
    stopping: watch::Receiver<bool>,
    /// What was said last about each budget.
    seen: HashMap<String, String>,
    ready: VecDeque<(&'static str, String)>,
    started: bool,
    _permit: RequestPermit,
}

/// What somebody who listens woke up for.
enum Happened {
    Told(Told),
    Changed,
    Quiet,
    Nothing,
    End,
}

impl Listener {
    async fn next(mut self) -> Option<((&'static str, String), Self)> {
        if !self.started {
            self.started = true;
            let first = self.service.budgets_now().await;
            self.look(&first.unwrap_or_default());
        }
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some((event, self));
            }
            let happened = tokio::select! {
                told = self.told.recv() => match told {
                    Ok(told) => Happened::Told(told),
                    Err(broadcast::error::RecvError::Lagged(_)) => Happened::Nothing,
                    Err(broadcast::error::RecvError::Closed) => Happened::End,
                },
                changed = self.budgets.changed() => match changed {
                    Ok(()) => Happened::Changed,
                    Err(_) => Happened::End,
                },
                stopped = self.stopping.changed() => match stopped {
                    Ok(()) => Happened::Nothing,
                    Err(_) => Happened::End,
                },
                () = tokio::time::sleep(CHECKS) => Happened::Quiet,
            };
            if *self.stopping.borrow() {
                return None;
            }
            // What others do is no reason to look; what would be told is.
            let looks = match &happened {
                Happened::Told(told) => told.name == self.caller.name,
                Happened::Changed | Happened::Quiet => true,
                Happened::Nothing | Happened::End => false,
            };
            if looks
                && !self
                    .service
                    .is_token_valid(&self.caller.token)
                    .unwrap_or(false)
            {
                return None;
            }
            match happened {
                Happened::Told(told) if told.name == self.caller.name => {
                    let event = json(&told.event).to_string();
                    self.ready.push_back(("query", event));
                }
                Happened::Told(_) | Happened::Quiet | Happened::Nothing => {}
                Happened::End => return None,
                Happened::Changed => {
                    let all = Arc::clone(&self.budgets.borrow_and_update().all);
                    self.look(&all);
                }
            }
        }
    }

    /// Takes up what is new and may be seen.
    fn look(&mut self, all: &[AccountJson]) {
        let Ok(catalogue) = self.service.0.shelf.read() else {
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

/// Looks at the ledger as long as somebody listens: whoever charged, by this server
/// or by a command line.
pub(super) fn watch_budgets(service: Service) {
    tokio::spawn(async move {
        let mut stopping = service.0.stopping.subscribe();
        loop {
            tokio::select! {
                () = tokio::time::sleep(LOOKS) => {}
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
                service.0.budgets.send_replace(Budgets {
                    size,
                    all: Arc::new(all),
                });
            }
        }
    });
}
