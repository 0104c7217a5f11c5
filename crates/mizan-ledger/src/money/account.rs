//! An account: a name, a budget, the totals that were charged, and its parent account.
//!
//! The guarantee belongs to the root account of a dataset. Accounts below it are quotas, so that
//! no project uses up the whole budget: a charge to an account is a charge to every ancestor.

use std::fmt;

use mizan_core::Code;

use crate::log::{Body, Reservation};
use crate::money::{Budget, ConditionalPrice, Cost, Neighbours, Orders, Taken, Totals, Variance};

/// The longest name, in bytes.
pub const MAX_NAME_BYTES: usize = 256;

/// The largest depth of the tree of accounts.
pub const MAX_HEIGHT: usize = 16;

/// The number of an account: how many were created before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AccountNumber(u32);

impl AccountNumber {
    /// The account that was created after `number` others.
    #[must_use]
    pub const fn new(number: u32) -> Self {
        Self(number)
    }

    /// How many accounts were created before it.
    #[must_use]
    pub const fn get(self) -> u32 {
        self.0
    }
}

impl fmt::Display for AccountNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}", self.0)
    }
}

/// The name of an account: up to 256 bytes of any script, without surrounding space.
///
/// Control, zero-width, joining and bidirectional characters are refused: with them two names
/// could look alike, or a name could change how the rest of a line is displayed.
///
/// ```
/// use mizan_ledger::AccountName;
/// assert!(AccountName::new("مستشفى 'الملك'").is_ok());
/// assert!(AccountName::new("two\nlines").is_err());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AccountName(Box<str>);

impl AccountName {
    /// Checks a name.
    ///
    /// # Errors
    ///
    /// The name is empty, too long, has surrounding space, or has a character that is refused.
    pub fn new(name: &str) -> Result<Self, NameError> {
        if name.is_empty() {
            return Err(NameError::Empty);
        }
        if name.len() > MAX_NAME_BYTES {
            return Err(NameError::TooLong { bytes: name.len() });
        }
        if name.trim() != name || name.chars().any(is_unprintable) {
            return Err(NameError::Unprintable);
        }
        Ok(Self(name.into()))
    }

    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for AccountName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Whether a character is invisible, or changes how the text around it is displayed.
fn is_unprintable(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            // Soft hyphen, grapheme joiner, mark of Arabic letters, vowel separator.
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{180e}'
            // Zero width, and marks of direction.
            | '\u{200b}'..='\u{200f}'
            // Separators of lines and paragraphs; embeddings and overrides.
            | '\u{2028}'..='\u{202e}'
            // Word joiner, invisible operators, isolates.
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
            // Tags.
            | '\u{e0000}'..='\u{e007f}'
        )
}

/// Why a text is not a valid name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NameError {
    /// The text is empty.
    #[error("an account needs a name")]
    Empty,
    /// The text is longer than [`MAX_NAME_BYTES`].
    #[error("the name of an account has at most {MAX_NAME_BYTES} bytes, this one {bytes}")]
    TooLong {
        /// The length of the text.
        bytes: usize,
    },
    /// The text has surrounding space or a character that is refused.
    #[error(
        "the name of an account has no line breaks, no control, zero-width or direction characters, and no space around it"
    )]
    Unprintable,
}

impl NameError {
    /// The stable code of this error.
    #[must_use]
    pub const fn code(&self) -> Code {
        match self {
            Self::Empty => Code::MZ1720,
            Self::TooLong { .. } => Code::MZ1721,
            Self::Unprintable => Code::MZ1722,
        }
    }

    /// What to do about it.
    #[must_use]
    pub const fn help(&self) -> &'static str {
        "choose a short name such as census-2026"
    }
}

/// An account and its totals.
#[derive(Clone, Debug, PartialEq)]
pub struct Account {
    number: AccountNumber,
    name: AccountName,
    parent: Option<AccountNumber>,
    orders: Orders,
    budget: Budget,
    neighbours: Option<Neighbours>,
    spent: Totals,
    pending: Totals,
    taken: Totals,
    /// The budget before the first raise.
    raised_from: Option<Box<Budget>>,
}

impl Account {
    /// A new account without charges.
    #[must_use]
    pub fn new(
        number: AccountNumber,
        name: AccountName,
        parent: Option<AccountNumber>,
        orders: Orders,
        budget: Budget,
    ) -> Self {
        let zero = Totals::zero(orders.len());
        Self {
            number,
            name,
            parent,
            orders,
            budget,
            neighbours: None,
            spent: zero.clone(),
            pending: zero.clone(),
            taken: zero,
            raised_from: None,
        }
    }

    /// The same account with the totals and the neighbouring relation that a store has.
    #[must_use]
    pub fn with_totals(
        mut self,
        spent: Totals,
        pending: Totals,
        neighbours: Option<Neighbours>,
    ) -> Self {
        self.neighbours = neighbours;
        self.taken = spent.plus(&pending);
        self.spent = spent;
        self.pending = pending;
        self
    }

    /// Applies an entry about a charge to the totals, given the reservation under its id, if
    /// any. Called for the account of the charge, at level 0, and for every ancestor, one level
    /// above the other.
    ///
    /// None if the totals do not contain the reservation. They do not follow from the log then,
    /// and the account must not be used any more.
    #[must_use]
    pub fn take(&mut self, body: &Body, held: Option<&Reservation>, level: usize) -> Option<()> {
        match (body, held) {
            (Body::Reserved { charge, clock }, None) => {
                let taken = self.own_part(charge.taken(clock, level)?)?;
                self.neighbours = self.neighbours.or(charge.neighbours);
                self.pending.add(&charge.cost, taken);
                self.taken.add(&charge.cost, taken);
                if self.budget.clock().is_some() {
                    let loss = charge.cost.largest_loss(&self.orders);
                    self.spent.add_loss(loss);
                    self.taken.add_loss(loss);
                }
            }
            // The clock keeps what was reserved: a smaller cost was not priced at its remainder.
            (Body::Committed { cost, .. }, Some(held)) => {
                let taken = self.own_part(held.taken(level)?)?;
                self.give_back(&held.cost, taken)?;
                self.spent.add(cost, taken);
                self.taken.add(cost, taken);
            }
            (Body::Voided, Some(held)) => {
                let taken = self.own_part(held.taken(level)?)?;
                let gives = self.gives_back(taken);
                self.give_back(&held.cost, taken)?;
                if !gives {
                    self.spent.add_clock(taken);
                    self.taken.add_clock(taken);
                }
            }
            _ => {}
        }
        Some(())
    }

    /// What a charge takes from the clock of this account. None if it takes nothing from a clock
    /// that there is, or something from one that there is not.
    fn own_part(&self, taken: Option<Taken>) -> Option<Taken> {
        match taken {
            None => self.budget.clock().is_none().then(Taken::default),
            Some(taken) => {
                (self.budget.clock().is_some() || taken == Taken::default()).then_some(taken)
            }
        }
    }

    /// Whether a void gives back what the charge took from the clock.
    ///
    /// A reservation is an option: in view of later answers its query is run or voided. What it
    /// took may serve another charge only if its price still holds at what is left now. Otherwise
    /// the clock treats the charge as if its answer had been held back. Conditional prices of other
    /// charges do not hold at the larger remainder. A charge that exhausted the clock gives it
    /// back: every charge since then has exhausted it too.
    fn gives_back(&self, taken: Taken) -> bool {
        if self.budget.clock().is_none() {
            return true;
        }
        let holds = |left| taken.remainder <= left;
        let pays = taken.variance == Variance::EXHAUSTED || self.clock_left().is_some_and(holds);
        pays && self.taken.surplus() == Variance::ZERO
    }

    fn give_back(&mut self, cost: &Cost, taken: Taken) -> Option<()> {
        self.pending.subtract(cost, taken)?;
        self.taken.subtract(cost, taken)
    }

    /// Replaces the budget by a higher one.
    ///
    /// Conditional prices hold for the old ε only. If the larger clock can pay what they saved, and
    /// no charge with one is pending, it does. Otherwise the clock stays that of the old ε: its
    /// limit and what was taken grow alike. That is sound for a larger ε too.
    pub fn raise(&mut self, budget: Budget) {
        let limit = |budget: &Budget| budget.clock().map_or(Variance::ZERO, |clock| clock.limit);
        let growth = limit(&budget).saturating_sub(limit(&self.budget));
        let saved = self.taken.surplus();
        if saved > growth || self.pending.surplus() > Variance::ZERO {
            let kept = Taken {
                variance: growth,
                ..Taken::default()
            };
            self.spent.add_clock(kept);
            self.taken.add_clock(kept);
        } else {
            self.spent.pay_surplus();
            self.taken.pay_surplus();
        }
        let before = std::mem::replace(&mut self.budget, budget);
        self.raised_from.get_or_insert_with(|| before.into());
    }

    /// The number of the account.
    #[must_use]
    pub const fn number(&self) -> AccountNumber {
        self.number
    }

    /// The name of the account.
    #[must_use]
    pub const fn name(&self) -> &AccountName {
        &self.name
    }

    /// The parent account.
    #[must_use]
    pub const fn parent(&self) -> Option<AccountNumber> {
        self.parent
    }

    /// The orders of its limits and totals.
    #[must_use]
    pub const fn orders(&self) -> &Orders {
        &self.orders
    }

    /// Whether its budget was ever raised.
    #[must_use]
    pub const fn is_raised(&self) -> bool {
        self.raised_from.is_some()
    }

    /// The budget that it was created with.
    #[must_use]
    pub fn first_budget(&self) -> &Budget {
        self.raised_from.as_deref().unwrap_or(&self.budget)
    }

    /// The budget.
    #[must_use]
    pub const fn budget(&self) -> &Budget {
        &self.budget
    }

    /// The neighbouring relation of its guarantee, from the first charge that depends on one.
    /// Voiding that charge does not reset it.
    #[must_use]
    pub const fn neighbours(&self) -> Option<Neighbours> {
        self.neighbours
    }

    /// The sum of the committed charges.
    #[must_use]
    pub const fn spent(&self) -> &Totals {
        &self.spent
    }

    /// The sum of the reservations without a commit, including charges whose query never
    /// finished.
    #[must_use]
    pub const fn pending(&self) -> &Totals {
        &self.pending
    }

    /// Spent and pending together: the totals that the filter compares with the limits.
    #[must_use]
    pub const fn taken(&self) -> &Totals {
        &self.taken
    }

    /// What is left of the clock; None if there is no clock, or it is exhausted.
    #[must_use]
    pub fn clock_left(&self) -> Option<Variance> {
        let (limit, taken) = (self.budget.clock()?.limit, self.taken.clock());
        let left = limit.femto().checked_sub(taken.femto())?;
        Some(Variance::from_femto(left))
    }

    /// Whether what a reservation took from the clock pays for a mechanism that is chosen now.
    pub(crate) fn still_pays(
        &self,
        cost: &Cost,
        taken: Variance,
        state: Option<ConditionalPrice>,
    ) -> bool {
        // A conditional price holds as long as no other charge came after it.
        if let Some(state) = state {
            let left = state.left.saturating_sub(state.price);
            let losses = state.losses.saturating_add(cost.largest_loss(&self.orders));
            return self.clock_left() == Some(left)
                && self.taken.losses() == losses
                && !self.is_raised();
        }
        // An exhausted clock pays for nothing: an order does.
        if taken == Variance::EXHAUSTED {
            return true;
        }
        // A conditional price of another charge counts on all charges that were reserved before it.
        if self.taken.surplus() > Variance::ZERO {
            return false;
        }
        match (self.clock_left(), cost.price()) {
            (Some(left), Some(price)) => price.remainder(taken) <= left,
            // Pending charges alone may exhaust a clock, and may be voided.
            (None, _) => self
                .budget
                .clock()
                .is_none_or(|clock| self.spent.clock() > clock.limit),
            (Some(_), None) => false,
        }
    }
}
