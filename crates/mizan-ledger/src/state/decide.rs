//! Decides which entry a request leads to, without changing anything. Stores, the in-memory
//! reference and a replay call the same function.

use crate::log::{Body, Denial, Digest, LedgerId, Outcome, Record, RequestId, Status};
use crate::money::{
    Account, AccountName, AccountNumber, Budget, Cost, MAX_HEIGHT, Orders, Refusal, admit_in_state,
    has_clock, outdated,
};
use crate::state::{Charge, MAX_EVENT_BYTES, Request, RequestError};

/// What a decision depends on. A store loads it first; what is missing does not exist.
pub trait LedgerView {
    /// The id of the ledger, once it is created.
    fn ledger(&self) -> Option<LedgerId>;
    /// The record of an id.
    fn record(&self, id: RequestId) -> Option<&Record>;
    /// An account.
    fn account(&self, number: AccountNumber) -> Option<&Account>;
    /// The account of this name.
    fn named(&self, name: &AccountName) -> Option<AccountNumber>;
    /// The number of accounts.
    fn accounts(&self) -> u32;
}

/// What a request leads to.
#[derive(Clone, Debug, PartialEq)]
pub enum Decision {
    /// A new entry, which must be durable before the client receives an outcome.
    Append {
        /// The entry without time and id.
        body: Body,
        /// The numbers of each order, if it is a denial.
        refusal: Option<Box<Refusal>>,
    },
    /// A retry of a request that was decided before.
    Known(Outcome),
}

/// An account and its ancestors, up to the root.
///
/// # Errors
///
/// One of them does not exist. An incomplete chain is never charged.
pub fn chain<V: LedgerView>(
    view: &V,
    number: AccountNumber,
) -> Result<Vec<&Account>, RequestError> {
    let mut chain = Vec::new();
    let mut next = Some(number);
    while let Some(number) = next {
        let account = view.account(number);
        let account = account.ok_or(RequestError::UnknownAccount { account: number })?;
        if chain.len() >= MAX_HEIGHT {
            return Err(RequestError::TooHigh);
        }
        chain.push(account);
        next = account.parent();
    }
    Ok(chain)
}

/// Decides a request.
///
/// # Errors
///
/// The request is invalid in this state. It leaves no record.
pub fn decide<V: LedgerView>(
    view: &V,
    id: RequestId,
    request: &Request,
) -> Result<Decision, RequestError> {
    if view.ledger().is_none() != matches!(request, Request::Open { .. }) {
        // Opening again with the same id and request is a retry.
        return match view.record(id) {
            Some(record) if record.request == request.digest() => known(record),
            _ if view.ledger().is_none() => Err(RequestError::NotOpen),
            _ => Err(RequestError::AlreadyOpen),
        };
    }
    let record = view.record(id);
    if !request.begins() {
        let record = record.ok_or(RequestError::UnknownId { id })?;
        return continue_charge(id, record, request);
    }
    match record {
        Some(record) if record.request == request.digest() => known(record),
        Some(_) => Err(RequestError::IdReused { id }),
        None => begin(view, request),
    }
}

fn known(record: &Record) -> Result<Decision, RequestError> {
    Ok(Decision::Known(record.status.outcome()))
}

fn append(body: Body) -> Result<Decision, RequestError> {
    Ok(Decision::Append {
        body,
        refusal: None,
    })
}

/// A request with a new id.
fn begin<V: LedgerView>(view: &V, request: &Request) -> Result<Decision, RequestError> {
    match request {
        Request::Open { ledger } => append(Body::Opened { ledger: *ledger }),
        Request::Create {
            name,
            parent,
            orders,
            budget,
        } => create(view, name, *parent, orders, budget),
        Request::Reserve(charge) => reserve(view, charge),
        Request::Raise { account, budget } => {
            let found = view.account(*account);
            let found = found.ok_or(RequestError::UnknownAccount { account: *account })?;
            budget.check(found.orders())?;
            budget.follows(found.budget())?;
            append(Body::Raised {
                account: *account,
                budget: budget.clone(),
            })
        }
        Request::Restore { size, root } => append(Body::Restored {
            size: *size,
            root: *root,
        }),
        Request::Start | Request::Commit { .. } | Request::Void => Err(RequestError::NotACharge),
    }
}

fn create<V: LedgerView>(
    view: &V,
    name: &AccountName,
    parent: Option<AccountNumber>,
    orders: &Orders,
    budget: &Budget,
) -> Result<Decision, RequestError> {
    if let Some(account) = view.named(name) {
        return Err(RequestError::NameTaken { account });
    }
    if let Some(parent) = parent {
        let chain = chain(view, parent)?;
        if chain.len() >= MAX_HEIGHT {
            return Err(RequestError::TooHigh);
        }
        // One cost is charged to the whole chain, so all accounts of it must have the same
        // orders.
        if chain.iter().any(|account| account.orders() != orders) {
            return Err(RequestError::OtherOrders);
        }
    }
    budget.check(orders)?;
    let account = AccountNumber::new(view.accounts());
    if account.get() == u32::MAX {
        return Err(RequestError::TooManyAccounts);
    }
    append(Body::Created {
        account,
        name: name.clone(),
        parent,
        orders: orders.clone(),
        budget: budget.clone(),
    })
}

fn reserve<V: LedgerView>(view: &V, charge: &Charge) -> Result<Decision, RequestError> {
    let chain = chain(view, charge.account)?;
    fits_the_orders(&chain, &charge.cost)?;
    for account in &chain {
        let both = account.neighbours().zip(charge.neighbours);
        if both.is_some_and(|(settled, asked)| settled != asked) {
            let account = account.number();
            return Err(RequestError::OtherNeighbours { account });
        }
    }
    if charge.event.len() > MAX_EVENT_BYTES {
        return Err(RequestError::EventTooLong {
            bytes: charge.event.len(),
        });
    }
    let mut charge = charge.clone();
    if !has_clock(chain.iter().copied()) {
        charge.cost = charge.cost.with_price(None);
        charge.query = None;
    }
    let (accounts, cost) = (chain.iter().copied(), &charge.cost);
    if let Some(account) = outdated(accounts.clone(), cost, &charge.conditional) {
        return Err(RequestError::OutdatedPrice { account });
    }
    match admit_in_state(accounts, cost, &charge.conditional) {
        Ok(admitted) => {
            charge.conditional = admitted.conditional;
            append(Body::Reserved {
                charge,
                clock: admitted.clock,
            })
        }
        Err(refusal) => Ok(Decision::Append {
            body: Body::Denied {
                charge: Charge {
                    conditional: Box::default(),
                    query: None,
                    ..charge
                },
                denial: Denial {
                    account: refusal.account,
                    largest: refusal.largest,
                },
            },
            refusal: Some(refusal),
        }),
    }
}

fn fits_the_orders(chain: &[&Account], cost: &Cost) -> Result<(), RequestError> {
    let given = cost.amounts().len();
    match chain.iter().find(|account| account.orders().len() != given) {
        None => Ok(()),
        Some(account) => Err(RequestError::WrongLength {
            given,
            expected: account.orders().len(),
        }),
    }
}

/// The next step of a charge.
fn continue_charge(
    id: RequestId,
    record: &Record,
    request: &Request,
) -> Result<Decision, RequestError> {
    match (&record.status, request) {
        (Status::Reserved(_), Request::Start) => append(Body::Started),
        (Status::Reserved(_), Request::Void) => append(Body::Voided),
        (Status::Reserved(_), Request::Commit { .. }) => Err(RequestError::NotStarted { id }),
        // A second start would draw noise twice.
        (Status::Started(_), Request::Start) => Err(RequestError::AlreadyStarted { id }),
        (Status::Started(_) | Status::Released { .. }, Request::Void) => {
            Err(RequestError::Touched { id })
        }
        (Status::Started(held), Request::Commit { cost, answer }) => {
            if !cost.is_within(&held.cost) {
                return Err(RequestError::MoreThanReserved { id });
            }
            append(commit(cost, answer))
        }
        (Status::Released { commit, .. }, Request::Commit { .. }) => {
            if *commit == request.digest() {
                known(record)
            } else {
                Err(RequestError::IdReused { id })
            }
        }
        // The answer exists, or never will.
        (Status::Released { .. } | Status::Denied(_), Request::Start)
        | (Status::Denied(_), Request::Commit { .. } | Request::Void)
        | (Status::Voided(_), Request::Void) => known(record),
        (Status::Voided(_), _) => Err(RequestError::Voided { id }),
        _ => Err(RequestError::NotACharge),
    }
}

/// A commit has no price: the clock keeps what was reserved.
pub(crate) fn commit(cost: &Cost, answer: &Digest) -> Body {
    Body::Committed {
        cost: cost.clone().with_price(None),
        answer: *answer,
    }
}
