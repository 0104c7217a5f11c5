//! The entries of the log and their canonical bytes.
//!
//! Each entry has exactly one encoding, and decoding refuses every other, so that a hash of the
//! bytes is a hash of the meaning. `docs/ledger-format.md` specifies the bytes.
//!
//! Version 2 is version 1 with the numbers of the clock at the end. An entry without a clock is
//! still written in version 1, so every entry has one encoding.

use crate::log::bytes::{Reader, Writer};
use crate::log::decode::{
    read_budget, read_charge, read_clock, read_cost, read_denial, read_name, read_orders,
    read_price, read_taken,
};
use crate::log::{DecodeError, Digest, LedgerId, RequestId};
use crate::money::{AccountName, AccountNumber, Budget, Cost, Orders, Scale, Variance};
use crate::state::request::{write_commit, write_creation, write_price, write_taken};
use crate::state::{Charge, Request};

/// The newest version of the encoding. The first byte of every entry is its version.
pub const VERSION: u8 = 2;

/// One event in the history of a ledger.
///
/// ```
/// use mizan_ledger::{Body, Entry, RequestId};
/// use mizan_ledger::log::LedgerId;
/// let entry = Entry {
///     unix_ms: 1_790_000_000_000,
///     id: RequestId::from_bytes([7; 16]),
///     body: Body::Opened { ledger: LedgerId::from_bytes([9; 16]) },
/// };
/// let bytes = entry.encode();
/// assert_eq!(bytes.len(), 1 + 1 + 8 + 16 + 16);
/// assert_eq!(Entry::decode(&bytes)?, entry);
/// # Ok::<(), mizan_ledger::log::DecodeError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// When it was written, by the clock of the writer. For display only: no decision uses it.
    pub unix_ms: u64,
    /// The id of the request that led to the entry.
    pub id: RequestId,
    /// What happened.
    pub body: Body,
}

/// What happened.
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    /// The ledger was created.
    Opened {
        /// Its id.
        ledger: LedgerId,
    },
    /// An account was created.
    Created {
        /// Its number.
        account: AccountNumber,
        /// Its name.
        name: AccountName,
        /// Its parent account.
        parent: Option<AccountNumber>,
        /// The orders of its limits and totals.
        orders: Orders,
        /// Its budget.
        budget: Budget,
    },
    /// A cost was reserved. It counts as spent from here on.
    Reserved {
        /// The charge. It has a price only if an account of the chain has a clock.
        charge: Charge,
        /// What it takes from the clock of each account of the chain, from the charged account
        /// up to the root; empty if none has a clock.
        clock: Box<[Variance]>,
    },
    /// A charge was denied by the filter. Its id stays denied.
    Denied {
        /// The charge. It has a price only if an account of the chain has a clock.
        charge: Charge,
        /// Which account refused, and how much would have fitted.
        denial: Denial,
    },
    /// The query of the reservation with this id begins to read data.
    Started,
    /// The reservation with this id was committed; its answer may be released.
    Committed {
        /// The cost that was spent, at most the reservation.
        cost: Cost,
        /// The hash of the answer.
        answer: Digest,
    },
    /// The reservation with this id was voided before its query read data.
    Voided,
    /// The budget of an account was raised.
    Raised {
        /// The account.
        account: AccountNumber,
        /// The higher budget.
        budget: Budget,
    },
    /// The data owner accepted a log although a longer one was known: a gap.
    Restored {
        /// The size of the longer log.
        size: u64,
        /// Its root.
        root: Digest,
    },
}

/// The outcome of a charge that did not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Denial {
    /// The account that refused: the charged one, or an ancestor.
    pub account: AccountNumber,
    /// The largest fraction of the cost that would have fitted at the time.
    pub largest: Scale,
}

impl Entry {
    /// The canonical bytes.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut to = Writer::default();
        let has_clock = self.body.has_clock();
        to.u8(if has_clock { VERSION } else { 1 });
        to.u8(self.body.kind());
        to.u64(self.unix_ms);
        to.array(self.id.as_bytes());
        self.body.write(&mut to);
        if has_clock {
            self.body.write_clock(&mut to);
        }
        to.finish()
    }

    /// Decodes canonical bytes.
    ///
    /// # Errors
    ///
    /// [`encode`](Self::encode) writes these bytes for no entry.
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let mut from = Reader::new(bytes);
        let version = from.u8()?;
        if !(1..=VERSION).contains(&version) {
            return Err(DecodeError::Version { version });
        }
        let kind = from.u8()?;
        let mut entry = Self {
            unix_ms: from.u64()?,
            id: RequestId::from_bytes(from.array()?),
            body: Body::read(kind, &mut from)?,
        };
        if version > 1 {
            entry.body = entry.body.read_clock(&mut from)?;
        }
        from.finish()?;
        Ok(entry)
    }
}

impl Body {
    /// The request that led to this entry.
    #[must_use]
    pub fn request(&self) -> Request {
        match self.clone() {
            Self::Opened { ledger } => Request::Open { ledger },
            Self::Created {
                name,
                parent,
                orders,
                budget,
                ..
            } => Request::Create {
                name,
                parent,
                orders,
                budget,
            },
            Self::Reserved { charge, .. } | Self::Denied { charge, .. } => Request::Reserve(charge),
            Self::Started => Request::Start,
            Self::Committed { cost, answer } => Request::Commit { cost, answer },
            Self::Voided => Request::Void,
            Self::Raised { account, budget } => Request::Raise { account, budget },
            Self::Restored { size, root } => Request::Restore { size, root },
        }
    }

    /// Whether it has numbers of the clock, which version 1 has no place for.
    fn has_clock(&self) -> bool {
        match self {
            Self::Created { budget, .. } | Self::Raised { budget, .. } => budget.clock().is_some(),
            Self::Reserved { clock, .. } => !clock.is_empty(),
            Self::Denied { charge, .. } => charge.cost.price().is_some(),
            _ => false,
        }
    }

    const fn kind(&self) -> u8 {
        match self {
            Self::Opened { .. } => 0,
            Self::Created { .. } => 1,
            Self::Reserved { .. } => 2,
            Self::Denied { .. } => 3,
            Self::Started => 4,
            Self::Committed { .. } => 5,
            Self::Voided => 6,
            Self::Raised { .. } => 7,
            Self::Restored { .. } => 8,
        }
    }

    fn write(&self, to: &mut Writer) {
        match self {
            Self::Opened { ledger } => to.array(ledger.as_bytes()),
            Self::Created {
                account,
                name,
                parent,
                orders,
                budget,
            } => {
                to.u32(account.get());
                write_creation(to, name, *parent, orders, budget);
            }
            Self::Reserved { charge, .. } => charge.write(to),
            Self::Denied { charge, denial } => {
                charge.write(to);
                to.u32(denial.account.get());
                to.u64(denial.largest.nano());
            }
            Self::Started | Self::Voided => {}
            Self::Committed { cost, answer } => write_commit(to, cost, answer),
            Self::Raised { account, budget } => {
                to.u32(account.get());
                budget.write(to);
            }
            Self::Restored { size, root } => {
                to.u64(*size);
                to.array(root.as_bytes());
            }
        }
    }

    fn read(kind: u8, from: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(match kind {
            0 => Self::Opened {
                ledger: LedgerId::from_bytes(from.array()?),
            },
            1 => {
                let account = AccountNumber::new(from.u32()?);
                let parent = match from.u8()? {
                    0 => None,
                    1 => Some(AccountNumber::new(from.u32()?)),
                    _ => return Err(from.bad("neither a parent nor none")),
                };
                Self::Created {
                    account,
                    parent,
                    name: read_name(from)?,
                    orders: read_orders(from)?,
                    budget: read_budget(from)?,
                }
            }
            2 => Self::Reserved {
                charge: read_charge(from)?,
                clock: Box::default(),
            },
            3 => Self::Denied {
                charge: read_charge(from)?,
                denial: read_denial(from)?,
            },
            4 => Self::Started,
            5 => Self::Committed {
                cost: read_cost(from)?,
                answer: Digest::from_bytes(from.array()?),
            },
            6 => Self::Voided,
            7 => Self::Raised {
                account: AccountNumber::new(from.u32()?),
                budget: read_budget(from)?,
            },
            8 => Self::Restored {
                size: from.u64()?,
                root: Digest::from_bytes(from.array()?),
            },
            _ => return Err(from.bad("a kind that is not known")),
        })
    }

    /// What version 2 has after the body of version 1.
    fn write_clock(&self, to: &mut Writer) {
        match self {
            Self::Created { budget, .. } | Self::Raised { budget, .. } => budget.write_clock(to),
            Self::Reserved { charge, clock } => {
                write_price(to, charge.cost.price());
                write_taken(to, charge, clock);
            }
            Self::Denied { charge, .. } => write_price(to, charge.cost.price()),
            _ => {}
        }
    }

    /// The body with what version 2 has after it. Nothing there is refused: that is version 1.
    fn read_clock(self, from: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let priced = |charge: Charge, price| Charge {
            cost: charge.cost.with_price(price),
            ..charge
        };
        Ok(match self {
            Self::Created {
                account,
                name,
                parent,
                orders,
                budget,
            } => Self::Created {
                account,
                name,
                parent,
                orders,
                budget: budget.with_clock(read_clock(from)?),
            },
            Self::Raised { account, budget } => Self::Raised {
                account,
                budget: budget.with_clock(read_clock(from)?),
            },
            Self::Reserved { charge, .. } => {
                let price = read_price(from)?;
                let (clock, conditional, query) = read_taken(from)?;
                Self::Reserved {
                    charge: Charge {
                        conditional,
                        query,
                        ..priced(charge, price)
                    },
                    clock,
                }
            }
            Self::Denied { charge, denial } => {
                let price = read_price(from)?;
                if price.is_none() {
                    return Err(from.bad("no price"));
                }
                Self::Denied {
                    charge: priced(charge, price),
                    denial,
                }
            }
            _ => return Err(from.bad("a kind without a clock")),
        })
    }
}
