//! The entries of the log and their canonical bytes: one entry, one encoding.
//!
//! `docs/ledger-format.md` has them byte by byte. Decoding refuses everything
//! that encoding would not write, so equal entries are equal bytes and the
//! Merkle tree over the bytes is one over their meaning.

use crate::log::bytes::{Reader, Writer};
use crate::log::decode::{
    read_budget, read_charge, read_cost, read_denial, read_name, read_orders,
};
use crate::log::{DecodeError, Digest, LedgerId, RequestId};
use crate::money::{AccountName, AccountNumber, Budget, Cost, Orders, Scale};
use crate::state::request::{write_commit, write_creation};
use crate::state::{Charge, Request};

/// The version of the encoding, the first byte of every entry.
pub const VERSION: u8 = 1;

/// What happened, when, and by which request.
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
    /// When it was written, by the clock of whoever wrote it. It is told, never
    /// used: clocks go backwards, the log does not.
    pub unix_ms: u64,
    /// The request that this is the outcome of.
    pub id: RequestId,
    /// What happened.
    pub body: Body,
}

/// What happened.
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    /// The ledger began.
    Opened {
        /// What it is called.
        ledger: LedgerId,
    },
    /// An account was created.
    Created {
        /// The number it got.
        account: AccountNumber,
        /// Its name.
        name: AccountName,
        /// The account above it.
        parent: Option<AccountNumber>,
        /// The orders at which its books are kept.
        orders: Orders,
        /// What may be taken.
        budget: Budget,
    },
    /// A cost was reserved, and counts as spent from here on.
    Reserved(Charge),
    /// A cost did not fit. It never will under this id.
    Denied {
        /// What was asked.
        charge: Charge,
        /// Who refused, and what would have fitted.
        denial: Denial,
    },
    /// Data is being touched under the reservation with this id.
    Started,
    /// The reservation with this id was settled and its answer may leave.
    Committed {
        /// What was spent.
        cost: Cost,
        /// The hash of the answer.
        answer: Digest,
    },
    /// The reservation with this id was given back before data was touched.
    Voided,
    /// The budget of an account was raised.
    Raised {
        /// The account.
        account: AccountNumber,
        /// The higher budget.
        budget: Budget,
    },
    /// The log was restored although a longer one was known: a gap.
    Restored {
        /// How many entries the longer one had.
        size: u64,
        /// Its root.
        root: Digest,
    },
}

/// The outcome of a charge that did not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Denial {
    /// The account that refused: the one charged, or one above it.
    pub account: AccountNumber,
    /// The largest part of the cost that would have fitted at the time.
    pub largest: Scale,
}

impl Entry {
    /// The canonical bytes.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut to = Writer::default();
        to.u8(VERSION);
        to.u8(self.body.kind());
        to.u64(self.unix_ms);
        to.array(self.id.as_bytes());
        self.body.write(&mut to);
        to.finish()
    }

    /// Reads canonical bytes.
    ///
    /// # Errors
    ///
    /// The bytes are not what [`encode`](Self::encode) writes for any entry.
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let mut from = Reader::new(bytes);
        let version = from.u8()?;
        if version != VERSION {
            return Err(DecodeError::Version { version });
        }
        let kind = from.u8()?;
        let entry = Self {
            unix_ms: from.u64()?,
            id: RequestId::from_bytes(from.array()?),
            body: Body::read(kind, &mut from)?,
        };
        from.finish()?;
        Ok(entry)
    }
}

impl Body {
    /// The request that this is the outcome of.
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
            Self::Reserved(charge) | Self::Denied { charge, .. } => Request::Reserve(charge),
            Self::Started => Request::Start,
            Self::Committed { cost, answer } => Request::Commit { cost, answer },
            Self::Voided => Request::Void,
            Self::Raised { account, budget } => Request::Raise { account, budget },
            Self::Restored { size, root } => Request::Restore { size, root },
        }
    }

    const fn kind(&self) -> u8 {
        match self {
            Self::Opened { .. } => 0,
            Self::Created { .. } => 1,
            Self::Reserved(_) => 2,
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
            Self::Reserved(charge) => charge.write(to),
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
            2 => Self::Reserved(read_charge(from)?),
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
}
