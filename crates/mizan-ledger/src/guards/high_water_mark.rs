//! The high-water mark: the newest log size and root seen on a machine. It is kept outside of the
//! directory of the database, so that restoring an old copy of the database does not restore the
//! mark with it.
//!
//! It is written after an entry is durable and before the client receives an outcome. It is not
//! synced each time, which would double the latency of a charge. After a power failure it may be
//! behind, and then detects less, but it never reports a fault that does not exist. Closing and
//! checkpoints sync it.
//!
//! The file has two slots, 4096 bytes apart, each with a checksum. A write replaces the older slot
//! in place, so that a power failure tears at most one. (A new file renamed over the old one could
//! be empty afterwards if neither was synced.) Processes take turns with a lock on the file, and
//! each compares a mark that another process wrote with its own log. A process with a second copy
//! of the ledger finds the mark of the first copy and is refused. Its copy has the new entry by
//! then, but no client received an outcome for it, so nothing was released.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::evidence::TreeHead;
use crate::evidence::checksummed_line::{parse_line, to_line};
use crate::evidence::history::History;
use crate::ledger::LedgerError;
use crate::log::{Digest, LedgerId};
use crate::store::Store;

const PREFIX: &str = "mizan-mark-1";

/// How long to wait for the lock of another process.
const LOCK_TIMEOUT: Duration = Duration::from_secs(10);

/// The offset of the second slot: no page or sector contains parts of both.
const SECOND_SLOT: u64 = 4096;

/// The length of a slot, padded with blanks.
const SLOT_BYTES: usize = 256;

/// The high-water mark of a ledger, shared by the threads of a process.
#[derive(Debug)]
pub(crate) struct HighWaterMark {
    path: PathBuf,
    ledger: LedgerId,
    inner: Mutex<Inner>,
}

#[derive(Debug)]
struct Inner {
    file: File,
    /// The last mark that was compared with our log.
    seen: Option<TreeHead>,
    /// The slots as they were last, so that an unchanged slot is not parsed again.
    slots: [Slot; 2],
}

impl Inner {
    fn of(file: File) -> Self {
        Self {
            file,
            seen: None,
            slots: [0, SECOND_SLOT].map(Slot::at),
        }
    }
}

/// A slot of the file, and the mark in it if it is valid.
#[derive(Debug)]
struct Slot {
    offset: u64,
    bytes: Vec<u8>,
    head: Option<TreeHead>,
}

impl HighWaterMark {
    /// Opens the mark of a ledger, or creates it. Also returns whether it was created.
    pub(crate) fn open(directory: &Path, head: TreeHead) -> Result<(Self, bool), LedgerError> {
        let path = directory.join("mark");
        let made = !path.try_exists().map_err(at(&path))?;
        if made {
            create(&path, head)?;
        }
        let mut options = OpenOptions::new();
        let file = options
            .read(true)
            .write(true)
            .open(&path)
            .map_err(at(&path))?;
        let mark = Self {
            path,
            ledger: head.ledger,
            inner: Mutex::new(Inner::of(file)),
        };
        Ok((mark, made))
    }

    /// Whether a log extends the mark of a directory, if there is one.
    pub(crate) fn check(
        directory: &Path,
        head: TreeHead,
        store: &dyn Store,
    ) -> Result<(), LedgerError> {
        let path = directory.join("mark");
        let file = match File::open(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            file => file.map_err(at(&path))?,
        };
        let mark = Self {
            path,
            ledger: head.ledger,
            inner: Mutex::new(Inner::of(file)),
        };
        let mut inner = mark.lock();
        lock_in_time(&inner.file).map_err(at(&mark.path))?;
        let newest = mark.newest(&mut inner);
        let (newest, _) = mark.unlock(&inner, newest)?;
        mark.extends(store, head, newest)
    }

    /// The newest mark.
    pub(crate) fn read(&self) -> Result<TreeHead, LedgerError> {
        let mut inner = self.lock();
        lock_in_time(&inner.file).map_err(at(&self.path))?;
        let newest = self.newest(&mut inner);
        self.unlock(&inner, newest).map(|(head, _)| head)
    }

    /// Moves the mark forward to `head`, after checking that the log extends the mark.
    pub(crate) fn advance(&self, head: TreeHead, store: &dyn Store) -> Result<(), LedgerError> {
        let mut inner = self.lock();
        // Another thread has moved the mark to a later entry of the same log.
        if inner.seen.is_some_and(|seen| seen.size >= head.size) {
            return Ok(());
        }
        lock_in_time(&inner.file).map_err(at(&self.path))?;
        let advanced = self.advance_locked(&mut inner, head, store);
        self.unlock(&inner, advanced)
    }

    fn advance_locked(
        &self,
        inner: &mut Inner,
        head: TreeHead,
        store: &dyn Store,
    ) -> Result<(), LedgerError> {
        let (newest, place) = self.newest(inner)?;
        if inner.seen != Some(newest) {
            self.extends(store, head, newest)?;
            inner.seen = Some(newest);
        }
        if head.size > newest.size {
            let [first, second] = &mut inner.slots;
            let older = if place == 0 { second } else { first };
            older.write(&mut inner.file, head).map_err(at(&self.path))?;
            inner.seen = Some(head);
        }
        Ok(())
    }

    /// Sets the mark to `head`, also backwards: an act of the data owner.
    pub(crate) fn force(&self, head: TreeHead) -> Result<(), LedgerError> {
        let mut inner = self.lock();
        lock_in_time(&inner.file).map_err(at(&self.path))?;
        let mut write = || -> io::Result<()> {
            let Inner { file, slots, .. } = &mut *inner;
            for slot in slots {
                slot.write(file, head)?;
            }
            file.sync_data()
        };
        let written = write().map_err(at(&self.path));
        inner.seen = None;
        self.unlock(&inner, written)
    }

    /// Syncs the mark to disk.
    pub(crate) fn sync(&self) -> Result<(), LedgerError> {
        self.lock().file.sync_data().map_err(at(&self.path))
    }

    /// Whether the log of a store, of which `head` is a recent state, extends a mark.
    fn extends(
        &self,
        store: &dyn Store,
        head: TreeHead,
        mark: TreeHead,
    ) -> Result<(), LedgerError> {
        // The mark is moved after the entry is durable, so the log has the entry by now.
        let size = if mark.size > head.size {
            store.head()?.size
        } else {
            head.size
        };
        if mark.size > size {
            return Err(LedgerError::Behind {
                size,
                known: mark.size,
                mark: self.path.clone(),
            });
        }
        if History::of(store).root(mark.size)? != mark.root {
            return Err(LedgerError::Forked {
                known: mark.size,
                mark: self.path.clone(),
            });
        }
        Ok(())
    }

    /// The newest mark and the index of its slot.
    fn newest(&self, inner: &mut Inner) -> Result<(TreeHead, usize), LedgerError> {
        let Inner { file, slots, .. } = inner;
        for slot in &mut *slots {
            slot.read(file).map_err(at(&self.path))?;
        }
        let heads = slots.iter().enumerate();
        let heads = heads.filter_map(|(place, slot)| Some((slot.head?, place)));
        let wrong = |reason| LedgerError::BadMark {
            mark: self.path.clone(),
            reason,
        };
        match heads.max_by_key(|(head, _)| head.size) {
            None => Err(wrong("it is damaged")),
            Some((head, _)) if head.ledger != self.ledger => {
                Err(wrong("it is that of another ledger"))
            }
            Some(newest) => Ok(newest),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn unlock<T>(
        &self,
        inner: &MutexGuard<'_, Inner>,
        result: Result<T, LedgerError>,
    ) -> Result<T, LedgerError> {
        let unlocked = inner.file.unlock().map_err(at(&self.path));
        result.and_then(|value| unlocked.map(|()| value))
    }
}

/// Locks a file, or fails after [`LOCK_TIMEOUT`].
fn lock_in_time(file: &File) -> io::Result<()> {
    let begin = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::Error(error)) => return Err(error),
            Err(TryLockError::WouldBlock) if begin.elapsed() > LOCK_TIMEOUT => {
                return Err(io::Error::new(
                    io::ErrorKind::TimedOut,
                    "another process holds its lock",
                ));
            }
            // The holder of the lock writes only a few bytes.
            Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_micros(200)),
        }
    }
}

fn at(path: &Path) -> impl Fn(io::Error) -> LedgerError {
    move |error| LedgerError::state_dir(path, error)
}

/// Creates the file under its name when it is complete, and never replaces one that another
/// process created meanwhile.
fn create(path: &Path, head: TreeHead) -> Result<(), LedgerError> {
    let draft = path.with_extension(format!("new-{}", std::process::id()));
    let make = || -> io::Result<()> {
        let mut inner = Inner::of(File::create(&draft)?);
        for slot in &mut inner.slots {
            slot.write(&mut inner.file, head)?;
        }
        inner.file.sync_all()?;
        match fs::hard_link(&draft, path) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
            _ => Ok(()),
        }
    };
    let made = make();
    let removed = fs::remove_file(&draft);
    made.and(removed).map_err(at(path))
}

impl Slot {
    const fn at(offset: u64) -> Self {
        Self {
            offset,
            bytes: Vec::new(),
            head: None,
        }
    }

    fn write(&mut self, file: &mut File, head: TreeHead) -> io::Result<()> {
        let TreeHead { ledger, size, root } = head;
        let line = to_line(format_args!("{PREFIX}:{ledger}:{size}:{root}"));
        // If the write fails, the slot is read and parsed again.
        self.bytes.clear();
        let bytes = format!("{line:width$}\n", width = SLOT_BYTES - 1).into_bytes();
        file.seek(SeekFrom::Start(self.offset))?;
        file.write_all(&bytes)?;
        (self.bytes, self.head) = (bytes, Some(head));
        Ok(())
    }

    fn read(&mut self, file: &mut File) -> io::Result<()> {
        let mut bytes = Vec::with_capacity(SLOT_BYTES);
        file.seek(SeekFrom::Start(self.offset))?;
        let length = u64::try_from(SLOT_BYTES).unwrap_or(0);
        file.take(length).read_to_end(&mut bytes)?;
        if bytes != self.bytes || bytes.is_empty() {
            self.head = parse(&bytes);
            self.bytes = bytes;
        }
        Ok(())
    }
}

/// The mark in a slot; None if the slot is torn.
fn parse(bytes: &[u8]) -> Option<TreeHead> {
    let text = std::str::from_utf8(bytes).ok()?;
    let [ledger, size, root] = parse_line("mark", PREFIX, text).ok()?;
    Some(TreeHead {
        ledger: LedgerId::from_hex(ledger)?,
        size: size.parse().ok()?,
        root: Digest::from_hex(root)?,
    })
}
