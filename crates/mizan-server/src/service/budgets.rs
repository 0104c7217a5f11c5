//! Budgets, charges, receipts and the log.

use mizan_api::budget::view::log_json;
use mizan_api::budget::{AccountDetails, BudgetsAnswer};
use mizan_api::failure::Failure;
use mizan_api::input::Expression;
use mizan_api::ledger::{LogAnswer, LogPage, LogRequest, ReceiptAnswer, find};
use mizan_api::spend::{Spend, SpendAnswer, SpendRequest};
use mizan_api::times;
use mizan_core::Definitions;
use mizan_ledger::{AccountName, AccountView, Cost, RequestId};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::Service;
use super::event_bound::bounded;
use super::queries::{RequestRecordJson, key_of};
use crate::identity::{Caller, RequestRecord};
use crate::problem::Problem;

/// The most entries in one page of the log.
const LONGEST_PAGE: u64 = 1000;

/// A part of the log.
#[derive(Clone, Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct LogParameters {
    /// At most this many entries.
    #[serde(default = "twenty")]
    #[param(minimum = 1, maximum = 1000)]
    pub last: u64,
    /// From this entry on, instead of the last entries.
    pub from: Option<u64>,
    /// Only entries of this account.
    pub account: Option<String>,
}

fn twenty() -> u64 {
    20
}

/// An entry with its proof, and the request that was made under its id.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = ReceiptShown)]
pub struct ReceiptView {
    /// The entry and its proof.
    #[serde(flatten)]
    pub receipt: ReceiptAnswer,
    /// The request, if it was made through this server.
    pub asked: Option<RequestRecordJson>,
}

impl Service {
    /// The budgets that a caller may see.
    ///
    /// # Errors
    ///
    /// The ledger cannot be read.
    pub async fn budgets(&self, caller: &Caller) -> Result<BudgetsAnswer, Problem> {
        let caller = caller.clone();
        self.with_ledger(move |service| {
            let catalogue = service.0.catalogue_file.read()?;
            let mut views = service.0.ledger.accounts()?;
            views.retain(|view| caller.may_see_account(view.account.name().as_str(), &catalogue));
            Ok(BudgetsAnswer::of(&views, service.0.ledger.head()?))
        })
        .await
    }

    /// One budget and its past. `event` asks how many more of it fit.
    ///
    /// # Errors
    ///
    /// The account does not exist, or the caller may not see it.
    pub async fn budget(
        &self,
        caller: &Caller,
        name: &str,
        event: Option<String>,
    ) -> Result<AccountDetails, Problem> {
        let (caller, name) = (caller.clone(), name.to_owned());
        if let Some(event) = &event {
            bounded(event, &Definitions::default())?;
        }
        let priced = event.is_some();
        let look = move |service: &Self| -> Result<AccountDetails, Problem> {
            let view = service.visible(&caller, &name)?;
            let event = event.as_deref();
            Ok(AccountDetails::of(
                &service.0.ledger,
                view,
                event,
                false,
                |_| (),
            )?)
        };
        // The cost of an event may take long to compute: charges must not wait for that.
        match priced {
            true => self.compute(look).await,
            false => self.with_ledger(look).await,
        }
    }

    /// An account that a caller may see.
    fn visible(&self, caller: &Caller, name: &str) -> Result<AccountView, Problem> {
        let catalogue = self.0.catalogue_file.read()?;
        let unknown = || Problem::not_found("this account");
        if !caller.may_see_account(name, &catalogue) {
            return Err(unknown());
        }
        let name = AccountName::new(name).map_err(|_| unknown())?;
        self.0.ledger.account_named(&name)?.ok_or_else(unknown)
    }

    /// Charges an account for a release that is made elsewhere, after the charge.
    ///
    /// # Errors
    ///
    /// The budget refuses the charge; the key was used for another request; the account
    /// does not exist, or the caller may not charge it.
    pub async fn spend(
        &self,
        caller: &Caller,
        request: SpendRequest,
        key: String,
    ) -> Result<SpendAnswer, Problem> {
        let id = RequestId::from_text(&key_of(caller, &key)?);
        let size = bounded(&request.event, &Definitions::default())?;
        if !caller.may_charge(&request.account) {
            return Err(Problem::not_found("this account"));
        }
        if !size.is_inline() {
            self.can_be_priced(&request).await?;
        }
        let caller = caller.clone();
        self.with_ledger(move |service| {
            let unknown = || Problem::not_found("this account");
            let event = Expression::parse(&request.event, &Definitions::default())?.event;
            let name = AccountName::new(&request.account).map_err(|_| unknown())?;
            let account = service.0.ledger.account_named(&name)?.ok_or_else(unknown)?;
            let spend = Spend::charge(&service.0.ledger, &account, event, Some(id))?;
            let record = RequestRecord::now(&caller.name, &request.event, None, None);
            let recorded = service.0.identity.record_request(&id.to_string(), &record);
            if let Err(error) = recorded {
                let mut problem = Problem::from(error);
                problem.charged = spend.refused.is_none().then(|| id.to_string());
                return Err(problem);
            }
            match &spend.refused {
                Some(refused) => Err(Problem::refused(&spend.refused_json(refused))),
                None => Ok(spend.json()),
            }
        })
        .await
    }

    /// Computes the cost of a large event on a thread of the accountant first, so that an
    /// event that takes too long does not delay charges of others.
    async fn can_be_priced(&self, request: &SpendRequest) -> Result<(), Problem> {
        let (account, event) = (request.account.clone(), request.event.clone());
        self.compute(move |service| {
            let unknown = || Problem::not_found("this account");
            let event = Expression::parse(&event, &Definitions::default())?.event;
            let name = AccountName::new(&account).map_err(|_| unknown())?;
            let view = service.0.ledger.account_named(&name)?.ok_or_else(unknown)?;
            Cost::of(&event, view.account.orders()).map_err(Failure::from)?;
            Ok(())
        })
        .await
    }

    /// The entry of a receipt, of an id or of a key of the caller, with the proof that it is
    /// in the log.
    ///
    /// # Errors
    ///
    /// The entry does not exist, or the caller may not see it; the log does not extend the
    /// receipt.
    pub async fn receipt(&self, caller: &Caller, typed: &str) -> Result<ReceiptView, Problem> {
        let (caller, typed) = (caller.clone(), typed.to_owned());
        self.with_ledger(move |service| {
            let unknown = || Problem::not_found("this receipt");
            let ledger = &service.0.ledger;
            let own = key_of(&caller, &typed).ok();
            let own = own.and_then(|key| find(ledger, &key).ok());
            let found = match own.map_or_else(|| find(ledger, &typed), Ok) {
                Ok(found) => found,
                Err(failure) => {
                    let problem = Problem::from(failure);
                    let seen = caller.sees_all() || problem.status().is_server_error();
                    return Err(if seen { problem } else { unknown() });
                }
            };
            let records = service
                .0
                .identity
                .request_records(&found.shown.entry.id.to_string())?;
            let own = records.iter().find(|record| record.name == caller.name);
            let record = match own {
                Some(own) => Some(own),
                None if caller.sees_all() => records.first(),
                None => return Err(unknown()),
            };
            Ok(ReceiptView {
                receipt: found.json(ledger),
                asked: record.map(|record| RequestRecordJson {
                    by: record.name.clone(),
                    time: times::exact(record.unix_ms),
                    what: record.what.clone(),
                    epsilon: record.epsilon.clone(),
                    accuracy: record.accuracy.clone(),
                }),
            })
        })
        .await
    }

    /// A part of the log.
    ///
    /// # Errors
    ///
    /// The account does not exist, or the page is too long.
    pub async fn log(&self, _: &Caller, page: LogParameters) -> Result<LogAnswer, Problem> {
        if !(1..=LONGEST_PAGE).contains(&page.last) {
            return Err(Problem::malformed("last must be a number from 1 to 1000"));
        }
        self.with_ledger(move |service| {
            let ledger = &service.0.ledger;
            let request = LogRequest {
                most: page.last,
                from: page.from,
                account: page.account.as_deref(),
            };
            if let Some(name) = request.account {
                let unknown = || Problem::not_found("this account");
                let name = AccountName::new(name).map_err(|_| unknown())?;
                ledger.account_named(&name)?.ok_or_else(unknown)?;
            }
            // A page beyond the end is empty.
            let head = ledger.head()?;
            if request.from.is_some_and(|from| from >= head.size) {
                return Ok(LogAnswer {
                    entries: Vec::new(),
                    log: log_json(head),
                });
            }
            Ok(LogPage::read(ledger, request)?.json(ledger))
        })
        .await
    }
}
