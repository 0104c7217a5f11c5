//! A ledger as the command line and the server hold it: a store, and what guards
//! it. The guard is the high-water mark (`mark.rs`) and the key (`key.rs`), both
//! in a state directory away from the database.
//!
//! Here it is opened. `charges.rs` writes, `views.rs` reads.
//!
//! # What a restored ledger promises
//!
//! Going on from an old copy is an act of the owner: [`Ledger::restore`]. The
//! charges that were lost were real, their answers are out, and nobody knows
//! them any more. So the entry [`Body::Restored`](crate::log::Body) stays in the log
//! for ever, and whatever is said about an account afterwards holds **since the
//! gap** only, for what is in this log: what was spent in all is that and what
//! was lost ([`AccountView::since_gap`]).

mod charges;
mod error;
mod location;
mod views;

pub use charges::{Done, NewAccount};
pub use error::LedgerError;
pub use location::{Location, Note};
pub(crate) use views::gap_id;
pub use views::{AccountView, Gap, ReceiptProof};

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
use crate::guards::state_dir::{directory_of, sync_directory};
use crate::guards::{IdKey, PublicKey};
use crate::log::{LedgerId, RequestId};
use crate::money::{Account, AccountNumber};
use crate::state::{Charge, Request, RequestError};
use crate::store::{Store, StoreError, Submission};

/// A ledger and what guards it. Threads share it.
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
/// let reserved_delta = Budget::usual_reserved_delta(delta);
/// let account = NewAccount {
///     name: AccountName::new("census")?,
///     parent: None,
///     budget: Budget::approximate(Epsilon::new(1.0)?, delta, reserved_delta, &orders)?,
///     orders,
/// };
/// let Outcome::Created(census) = ledger.create_account(None, account)?.outcome else {
///     panic!("nobody else is here");
/// };
/// let event: PrivacyEvent = "gaussian(5)".parse()?;
/// let spent = ledger.spend(None, census, &event)?;
/// assert!(matches!(spent.outcome, Outcome::Released { .. }));
/// // The receipt is a line that can be kept and shown.
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
    /// Accounts for which events were priced, with the last of each. Their orders
    /// never change, which is all that a price depends on: what they had spent
    /// then is not looked at.
    priced: Mutex<HashMap<AccountNumber, Priced>>,
    /// The key of ids, once it was asked for.
    id_key: OnceLock<Option<IdKey>>,
    /// Charges that are not settled, as far as the log was read for them.
    open: Mutex<OpenCharges>,
}

/// An account as it was, and the event that was priced for it last: whoever
/// charges often charges the same.
struct Priced {
    account: Arc<Account>,
    last: Option<(PrivacyEvent, Charge)>,
}

/// What is kept away from the database.
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
    /// Makes a ledger, its key and its mark. A file that an earlier attempt has
    /// left without a first entry is gone on with.
    ///
    /// # Errors
    ///
    /// There is something at the location, or the state directory cannot be
    /// written to.
    pub fn init(location: &Location, state_dir: &Path) -> Result<Self, LedgerError> {
        let id = LedgerId::from_bytes(random()?);
        // The key first: a ledger without one could not be told from one that
        // lost it.
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
            // It may have begun, and then it needs its key.
            Err(error @ LedgerError::Store(StoreError::Unknown { .. })) => Err(error),
            Err(error) => {
                // Nothing will ever ask for this key.
                let _ = std::fs::remove_dir_all(&directory);
                Err(error)
            }
        }
    }

    /// Opens a ledger for writing.
    ///
    /// The first time on a machine there is no mark: it is made, and
    /// [`notes`](Self::notes) says so. A ledger that has come further than its
    /// mark, because another machine wrote or the power failed, moves it.
    ///
    /// # Errors
    ///
    /// It is an old copy ([`LedgerError::Behind`]) or a second one
    /// ([`LedgerError::Forked`]); the mark or the ledger is damaged; the state
    /// directory cannot be written to.
    pub fn open(location: &Location, state_dir: &Path) -> Result<Self, LedgerError> {
        let mut ledger = Self::over(location.open()?, Some(state_dir))?;
        if location.shares_directory(state_dir) {
            ledger.notes.push(Note::StateBesideLedger);
        }
        Ok(ledger)
    }

    /// Opens a ledger for reading. No state directory is needed, and an old copy
    /// is shown as it is.
    ///
    /// # Errors
    ///
    /// The ledger cannot be opened.
    pub fn read(location: &Location) -> Result<Self, LedgerError> {
        Self::over(location.open()?, None)
    }

    /// Whether this ledger extends the mark of a state directory, if there is
    /// one; nothing is made or moved.
    ///
    /// # Errors
    ///
    /// It is an old copy ([`LedgerError::Behind`]) or a second one
    /// ([`LedgerError::Forked`]), or the mark is damaged.
    pub fn check_mark(&self, state_dir: &Path) -> Result<(), LedgerError> {
        let directory = state_dir.join(self.id.to_string());
        HighWaterMark::check(&directory, self.head()?, self.store.as_ref())
    }

    /// The public key of this ledger that a state directory has, if it has one.
    #[must_use]
    pub fn public_key_in(&self, state_dir: &Path) -> Option<PublicKey> {
        KeyFiles::within(&state_dir.join(self.id.to_string())).public()
    }

    /// A ledger in a store that is open already, guarded by a state directory
    /// or for reading only.
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
        }
        Ok(ledger)
    }

    /// Opens a ledger although it is an old or a second copy: an act of its
    /// owner, which is marked in the log for ever. None if it was neither, and
    /// nothing happened.
    ///
    /// # Errors
    ///
    /// As for [`open`](Self::open), but for what this is about.
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
        };
        Ok((ledger, head))
    }

    /// Closes the ledger, and makes sure that its mark survives a power failure.
    /// Dropping it does the same and says nothing.
    ///
    /// # Errors
    ///
    /// The mark cannot be synced.
    pub fn close(self) -> Result<(), LedgerError> {
        self.guard
            .as_ref()
            .map_or(Ok(()), |guard| guard.mark.sync())
    }

    /// What the ledger is called.
    #[must_use]
    pub const fn id(&self) -> LedgerId {
        self.id
    }

    /// The secret from which ids are derived, the same for all who share the ledger;
    /// made when it is asked for the first time. None if the store keeps no secrets.
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

    /// What should be told about how it was opened.
    #[must_use]
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }

    /// What its checkpoints are checked with, if this machine knows.
    #[must_use]
    pub fn public_key(&self) -> Option<PublicKey> {
        self.guard.as_ref()?.keys.public()
    }

    /// Where it is kept. Whatever is asked there passes by the mark.
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
            // The key came right before, or a long time ago.
            sync_directory(&directory)
                .and_then(|()| sync_directory(state_dir))
                .map_err(|error| LedgerError::state_dir(&directory, error))?;
        }
        let mut notes = Vec::new();
        // A ledger that has just begun has nothing to be compared with.
        if made && head.size > 1 {
            notes.push(Note::MarkMade { size: head.size });
        }
        let keys = KeyFiles::within(&directory);
        Ok((Self { mark, keys }, notes))
    }
}

/// The time of the system in milliseconds. Stores see to it that entries are
/// never before the one before them, whatever the clock does.
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

fn random_id() -> Result<RequestId, LedgerError> {
    random().map(RequestId::from_bytes)
}
