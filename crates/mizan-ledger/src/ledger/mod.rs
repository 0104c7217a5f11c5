//! A ledger as the command line and the server use it: a store, a high-water mark and a signing
//! key. The latter two are in a state directory, separate from the database.
//!
//! This file opens it; `charges.rs` writes, `views.rs` reads, `account_view.rs` is what it reads of an
//! account.
//!
//! # Guarantee of a restored ledger
//!
//! To continue from an old copy is an act of the data owner: [`Ledger::restore`]. The lost
//! charges were real and their answers were released, but the ledger does not contain them. So
//! the entry [`Body::Restored`](crate::log::Body) stays in the log forever, and every statement
//! about an account afterwards holds **since the gap** only: the total privacy loss is that of
//! this log and of the lost charges ([`AccountView::since_gap`]).

mod account_view;
mod charges;
mod error;
mod location;
mod views;

pub use account_view::{AccountView, FittingCount};
pub use charges::{Done, NewAccount};
pub use error::LedgerError;
pub use location::{Location, Note};
pub(crate) use views::gap_id;
pub use views::{Gap, ReceiptProof, Running};

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{SystemTime, UNIX_EPOCH};

use mizan_core::PrivacyEvent;
use zeroize::Zeroizing;

use crate::evidence::TreeHead;
use crate::evidence::unanswered::OpenCharges;
use crate::guards::high_water_mark::HighWaterMark;
use crate::guards::key::KeyFiles;
use crate::guards::running_queries::RunningQueries;
use crate::guards::state_dir::{directory_of, sync_directory};
use crate::guards::{IdKey, PublicKey};
use crate::log::{LedgerId, RequestId};
use crate::money::AccountNumber;
use crate::state::{Charge, Request, RequestError};
use crate::store::{Store, StoreError, Submission};

/// A ledger with its guards. It can be shared between threads.
///
/// ```
/// use mizan_core::{Delta, Epsilon, PrivacyEvent};
/// use mizan_ledger::{AccountName, Budget, Ledger, Location, NewAccount, Orders, Outcome};
///
/// # let directory = std::env::temp_dir().join(format!("mizan-ledger-doc-{}", std::process::id()));
/// # std::fs::create_dir_all(&directory)?;
/// # let state_dir = directory.join("state");
/// let location = Location::from(directory.join("budget.ledger"));
/// let ledger = Ledger::init(&location, &state_dir)?;
/// let (orders, delta) = (Orders::standard(), Delta::new(1e-6)?);
/// let (reserved_delta, clock) = (Budget::usual_reserved_delta(delta), Budget::usual_clock());
/// let account = NewAccount {
///     name: AccountName::new("census")?,
///     parent: None,
///     budget: Budget::approximate(Epsilon::new(1.0)?, delta, reserved_delta, clock, &orders)?,
///     orders,
/// };
/// let Outcome::Created(census) = ledger.create_account(None, account)?.outcome else {
///     panic!("there is no other process");
/// };
/// let event: PrivacyEvent = "gaussian(5)".parse()?;
/// let spent = ledger.spend(None, census, &event)?;
/// assert!(matches!(spent.outcome, Outcome::Released { .. }));
/// // The receipt is a line of text that proves the charge later.
/// let shown = ledger.show(&spent.receipt.to_string().parse()?)?;
/// assert_eq!(shown.entry.id, spent.id);
/// ledger.close()?;
/// # std::fs::remove_dir_all(&directory)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Ledger {
    store: Box<dyn Store>,
    id: LedgerId,
    guard: Option<Guard>,
    notes: Vec<Note>,
    /// The last charge that was priced for each account.
    priced: Mutex<HashMap<AccountNumber, Arc<Priced>>>,
    /// The key of ids, once it was read.
    id_key: OnceLock<Option<IdKey>>,
    /// The charges without an answer, as far as the log was read for them.
    open: Mutex<OpenCharges>,
    /// The queries that run and those that failed, if the state directory is known.
    running: Option<RunningQueries>,
}

/// An event and its charge to an account: frequent charges often have the same event.
///
/// A charge depends on the orders of the account and on whether an account of its chain has a clock,
/// which never change; and for a plan with mechanisms on samples on the reserved delta, which a raise
/// may change. The totals of `payer` are not used.
struct Priced {
    payer: Arc<AccountView>,
    event: PrivacyEvent,
    charge: Charge,
}

/// The guards outside of the database.
struct Guard {
    mark: HighWaterMark,
    keys: KeyFiles,
}

impl std::fmt::Debug for Ledger {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Ledger({})", self.id)
    }
}

impl Ledger {
    /// Creates a ledger, its key and its high-water mark. A file without a first entry, from an
    /// attempt that failed, is reused.
    ///
    /// # Errors
    ///
    /// The location is in use, or the state directory cannot be written.
    pub fn init(location: &Location, state_dir: &Path) -> Result<Self, LedgerError> {
        let id = LedgerId::from_bytes(random()?);
        // The key comes first: a ledger without one would look like one that lost its key.
        let directory = directory_of(state_dir, id)?;
        let keys = KeyFiles::within(&directory);
        keys.create(&Zeroizing::new(random()?))?;
        let begun = || {
            let store = location.create()?;
            let request = Request::Open { ledger: id };
            store.execute(Submission::new(now(), random_id()?, request))?;
            Ok(store)
        };
        match begun() {
            Ok(store) => Self::over(store, Some(state_dir)),
            // The first entry may be durable, and then the ledger needs its key.
            Err(error @ LedgerError::Store(StoreError::Unknown { .. })) => Err(error),
            Err(error) => {
                // No ledger has this id, so its key is of no use.
                let _ = std::fs::remove_dir_all(&directory);
                Err(error)
            }
        }
    }

    /// Opens a ledger for writing.
    ///
    /// On first use on a machine there is no high-water mark: it is created, and
    /// [`notes`](Self::notes) says so. If the log is longer than the mark, because another machine
    /// wrote or the power failed, the mark moves forward.
    ///
    /// # Errors
    ///
    /// The ledger is an old copy ([`LedgerError::Behind`]) or a second one
    /// ([`LedgerError::Forked`]); the mark or the ledger is damaged; the state directory cannot be
    /// written.
    pub fn open(location: &Location, state_dir: &Path) -> Result<Self, LedgerError> {
        let mut ledger = Self::over(location.open()?, Some(state_dir))?;
        if location.shares_directory(state_dir) {
            ledger.notes.push(Note::StateBesideLedger);
        }
        Ok(ledger)
    }

    /// Opens a ledger for reading. It needs no state directory, and does not detect an old copy.
    ///
    /// # Errors
    ///
    /// The ledger cannot be opened.
    pub fn read(location: &Location) -> Result<Self, LedgerError> {
        Self::over(location.open()?, None)
    }

    /// Whether this ledger extends the high-water mark in a state directory, if there is one.
    /// Changes nothing.
    ///
    /// # Errors
    ///
    /// It is an old copy ([`LedgerError::Behind`]) or a second one
    /// ([`LedgerError::Forked`]), or the mark is damaged.
    pub fn check_mark(&self, state_dir: &Path) -> Result<(), LedgerError> {
        let directory = state_dir.join(self.id.to_string());
        HighWaterMark::check(&directory, self.head()?, self.store.as_ref())
    }

    /// From now on, the ledger knows which queries run and which failed. A ledger that was opened
    /// for writing knows its state directory.
    pub fn see_running(&mut self, state_dir: &Path) {
        let directory = state_dir.join(self.id.to_string());
        self.running = Some(RunningQueries::within(&directory));
    }

    /// The public key of this ledger in a state directory, if there is one.
    #[must_use]
    pub fn public_key_in(&self, state_dir: &Path) -> Option<PublicKey> {
        KeyFiles::within(&state_dir.join(self.id.to_string())).public()
    }

    /// A ledger over an open store, with a state directory or for reading only.
    ///
    /// # Errors
    ///
    /// As for [`open`](Self::open).
    pub fn over(store: Box<dyn Store>, state_dir: Option<&Path>) -> Result<Self, LedgerError> {
        let (mut ledger, head) = Self::unguarded(store)?;
        if let Some(state_dir) = state_dir {
            let (guard, notes) = Guard::open(state_dir, head)?;
            guard.mark.advance(head, ledger.store.as_ref())?;
            ledger.guard = Some(guard);
            ledger.notes = notes;
            ledger.see_running(state_dir);
        }
        Ok(ledger)
    }

    /// Opens a ledger although it is an old or a second copy: an act of the data owner, which the
    /// log records forever. None, without a change, if it is neither.
    ///
    /// # Errors
    ///
    /// As for [`open`](Self::open), except for old and second copies.
    pub fn restore(
        location: &Location,
        state_dir: &Path,
    ) -> Result<(Self, Option<Gap>), LedgerError> {
        let (mut ledger, head) = Self::unguarded(location.open()?)?;
        let (guard, notes) = Guard::open(state_dir, head)?;
        let behind = match guard.mark.advance(head, ledger.store.as_ref()) {
            Ok(()) => false,
            Err(LedgerError::Behind { .. } | LedgerError::Forked { .. }) => true,
            Err(error) => return Err(error),
        };
        ledger.notes = notes;
        if behind {
            let TreeHead { size, root, .. } = guard.mark.read()?;
            let request = Request::Restore { size, root };
            let submission = Submission::new(now(), ledger.next_gap_id()?, request);
            ledger.store.execute(submission)?;
            guard.mark.force(ledger.head()?)?;
        }
        ledger.guard = Some(guard);
        ledger.see_running(state_dir);
        let gap = if behind { ledger.gaps()?.pop() } else { None };
        Ok((ledger, gap))
    }

    fn unguarded(store: Box<dyn Store>) -> Result<(Self, TreeHead), LedgerError> {
        let head = store.head()?.tree_head().ok_or(RequestError::NotOpen)?;
        let ledger = Self {
            store,
            id: head.ledger,
            guard: None,
            notes: Vec::new(),
            priced: Mutex::default(),
            id_key: OnceLock::new(),
            open: Mutex::default(),
            running: None,
        };
        Ok((ledger, head))
    }

    /// Closes the ledger and syncs its high-water mark. Dropping it does the same, without
    /// reporting errors.
    ///
    /// # Errors
    ///
    /// The mark cannot be synced.
    pub fn close(self) -> Result<(), LedgerError> {
        self.guard
            .as_ref()
            .map_or(Ok(()), |guard| guard.mark.sync())
    }

    /// The id of the ledger.
    #[must_use]
    pub const fn id(&self) -> LedgerId {
        self.id
    }

    /// The key from which ids are derived, the same for all machines that share the ledger; drawn
    /// at first use. None if the store has no secrets.
    ///
    /// # Errors
    ///
    /// The store cannot be read or written.
    pub fn id_key(&self) -> Result<Option<&IdKey>, LedgerError> {
        if let Some(known) = self.id_key.get() {
            return Ok(known.as_ref());
        }
        let key = self.store.id_key()?;
        Ok(self.id_key.get_or_init(|| key).as_ref())
    }

    /// The salt of the charge of an id ([`IdKey::salt`]).
    ///
    /// # Errors
    ///
    /// The store cannot be read, or has no secrets.
    pub fn salt(&self, charge: RequestId) -> Result<[u8; 16], LedgerError> {
        let key = self.id_key()?;
        let key = key.ok_or_else(|| StoreError::damaged("it has no key of ids"))?;
        Ok(key.salt(charge))
    }

    /// Notes for the user about how the ledger was opened.
    #[must_use]
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }

    /// The public key, if the state directory has it.
    #[must_use]
    pub fn public_key(&self) -> Option<PublicKey> {
        self.guard.as_ref()?.keys.public()
    }

    /// The store. Requests to it bypass the high-water mark.
    #[must_use]
    pub fn store(&self) -> &dyn Store {
        self.store.as_ref()
    }
}

impl Drop for Ledger {
    fn drop(&mut self) {
        if let Some(guard) = &self.guard {
            let _ = guard.mark.sync();
        }
    }
}

impl Guard {
    fn open(state_dir: &Path, head: TreeHead) -> Result<(Self, Vec<Note>), LedgerError> {
        let directory: PathBuf = directory_of(state_dir, head.ledger)?;
        let (mark, made) = HighWaterMark::open(&directory, head)?;
        if made {
            // The key was written right before, or long ago.
            sync_directory(&directory)
                .and_then(|()| sync_directory(state_dir))
                .map_err(|error| LedgerError::state_dir(&directory, error))?;
        }
        let mut notes = Vec::new();
        // A new ledger has nothing to compare with.
        if made && head.size > 1 {
            notes.push(Note::MarkMade { size: head.size });
        }
        let keys = KeyFiles::within(&directory);
        Ok((Self { mark, keys }, notes))
    }
}

/// The system time in milliseconds. Stores ensure that the times of entries never decrease.
fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| u64::try_from(since.as_millis()).unwrap_or(0))
}

fn random<const N: usize>() -> Result<[u8; N], LedgerError> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|error| LedgerError::Random {
        reason: error.to_string(),
    })?;
    Ok(bytes)
}

pub(crate) fn random_id() -> Result<RequestId, LedgerError> {
    random().map(RequestId::from_bytes)
}
