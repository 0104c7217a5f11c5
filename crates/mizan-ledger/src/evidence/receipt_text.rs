//! A receipt as a line of text: the position of an entry, and the size and root of a log that
//! contains it.
//!
//! Its holder is a witness: a log that was cut off or rewritten before that point has another
//! root at that size forever.

use std::fmt;
use std::str::FromStr;

use crate::evidence::checksummed_line::{parse_line, to_line};
use crate::evidence::{TextError, TreeHead};
use crate::log::{Digest, LedgerId};

const PREFIX: &str = "mizan1";

/// A receipt.
///
/// ```
/// use mizan_ledger::{Digest, ReceiptText};
/// use mizan_ledger::evidence::TreeHead;
/// use mizan_ledger::log::LedgerId;
/// let head = TreeHead {
///     ledger: LedgerId::from_bytes([1; 16]),
///     size: 12,
///     root: Digest::of(&[b"root"]),
/// };
/// let receipt = ReceiptText { position: 11, head };
/// let line = receipt.to_string();
/// assert!(line.starts_with("mizan1:01010101010101010101010101010101:11:12:"));
/// assert_eq!(line.parse::<ReceiptText>()?, receipt);
/// assert!(line.replace(":12:", ":13:").parse::<ReceiptText>().is_err());
/// # Ok::<(), mizan_ledger::evidence::TextError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReceiptText {
    /// The position of the entry.
    pub position: u64,
    /// A log that contains it.
    pub head: TreeHead,
}

impl fmt::Display for ReceiptText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let TreeHead { ledger, size, root } = self.head;
        let position = self.position;
        f.write_str(&to_line(format_args!(
            "{PREFIX}:{ledger}:{position}:{size}:{root}"
        )))
    }
}

impl FromStr for ReceiptText {
    type Err = TextError;

    fn from_str(text: &str) -> Result<Self, TextError> {
        let [ledger, position, size, root] = parse_line("receipt", PREFIX, text)?;
        let read = || {
            let head = TreeHead {
                ledger: LedgerId::from_hex(ledger)?,
                size: size.parse().ok()?,
                root: Digest::from_hex(root)?,
            };
            let position = position.parse().ok()?;
            (position < head.size).then_some(Self { position, head })
        };
        read().ok_or(TextError {
            what: "receipt",
            reason: "a field of it makes no sense",
        })
    }
}
