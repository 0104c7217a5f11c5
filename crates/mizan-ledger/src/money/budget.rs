//! The budget of an account: a limit at every Rényi order and on the Gaussian clock, computed
//! from a target such as (ε, δ).
//!
//! A target (ε, δ) is enforced by a weighted filter. Let c(α) = (α-1)^(α-1)/α^α, and let the
//! weight w_G of the clock and the weights w(α) of the orders add up to at most one. The limits
//! are
//!
//! > B(α) = ε + ln(w(α) δ / c(α)) / (α-1),   B(∞) = ε,
//! > v0 = the largest v with δ_v(ε) <= w_G δ,
//!
//! where δ_v is the privacy profile of the Gaussian mechanism with Δ²/σ² = v. An event takes u
//! from the clock if it has a price u at the variance w that is left after it:
//!
//! > δ_{M⊗G_w}(e) <= δ_{w+u}(e) for all real e, in both directions.
//!
//! A charge is admitted iff afterwards **some** order has total(α) <= B(α), or it fits what is
//! left of the clock. A charge that is admitted and does not fit the clock exhausts it forever.
//!
//! # Guarantee
//!
//! All answers together are (ε, δ)-DP, also if each query is chosen adaptively, in view of
//! earlier answers. Let r be the likelihood ratio of the transcript so far, under Q, and let
//!
//! > U = V(r, v) + Σ c(α) e^((α-1) (B(α)-ε)) M(α),
//!
//! where M(α) = r^α e^(-(α-1) total(α)), v is what is left of the clock, and
//! V(r, v) = E max(0, r X - e^ε) for the likelihood ratio X of G_v. The term of an exhausted
//! clock is 0.
//!
//! 1. At the start r = 1, so V = δ_{v0}(ε) <= w_G δ and each other term is
//!    c(α) e^((α-1)(B(α)-ε)) = w(α) δ. The sum is at most δ.
//! 2. The mean of U does not grow with an answer. Each charge is fixed before its answer, so M(α)
//!    is a supermartingale. For a likelihood ratio l of M, E V(r l, w) = r δ_{M⊗G_w}(ε - ln r)
//!    <= r δ_{w+u}(ε - ln r) = V(r, w + u): this is where the price has to hold for all e. A
//!    term that becomes 0 only lowers U.
//! 3. After each admitted charge U >= max(0, r - e^ε). If the charge fits the clock, then
//!    V(r, v) >= max(0, r - e^ε), because X has mean 1 and max(0, r x - e^ε) is convex in x. If
//!    order α is within its limit, then M(α) e^((α-1) B(α)) >= r^α, and
//!    max(0, r - e^ε) <= c(α) r^α e^(-(α-1) ε). If ∞ is, then r <= e^ε.
//!
//! So E max(0, r - e^ε) <= U at the start <= δ, whenever the analyst stops. A price at one
//! remainder is valid at every larger one: both sides of the inequality are then averaged over
//! more Gaussian noise. So a raise, which leaves more, needs no new prices. The mechanism of a
//! charge is fixed when it is reserved; otherwise its price would be that of the remainder at
//! which it runs. A pending charge is an option, because it may be voided in view of later
//! answers: `account.rs` has the rule of what a void gives back, docs/spec/ledger.md its proof.
//! A commit below its reservation gives nothing back. Prices that hold in one state only are in
//! `conditional.rs`.
//!
//! The full δ at each order would be wrong: with ε = 5, δ = 1e-6 and the orders 4, 8
//! and 16 the tree of two steps in `tests/adversaries.rs` reaches 2.49 δ.
//!
//! A target ρ, or a curve, is a bound at **every** order, so every order with a limit must fit.
//! Each order is a separate filter then, and no δ is shared between them.
//!
//! A part of δ is reserved for mechanisms that may fail ([`DeltaAmount`]).
//! docs/spec/ledger.md has the rule and the proof at more length.

use mizan_core::{Delta, Epsilon, Order, Rho};

use crate::money::weights::{fit_into_one, share};
use crate::money::{Amount, BudgetError, Clock, DeltaAmount, Orders, Target, Weight};

/// Which orders must be within their limits after a charge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// At least one of the orders with a limit.
    Any,
    /// All of the orders with a limit.
    Every,
}

/// The limits of an account.
///
/// ```
/// use mizan_core::{Delta, Epsilon};
/// use mizan_ledger::{Budget, Orders};
///
/// let delta = Delta::new(1e-6)?;
/// let orders = Orders::standard();
/// let own = Budget::usual_reserved_delta(delta);
/// let clock = Budget::usual_clock();
/// let budget = Budget::approximate(Epsilon::new(1.0)?, delta, own, clock, &orders)?;
/// // Gaussian noise of standard deviation 40 takes 1/1600 = 0.000625 each time.
/// assert!(budget.clock().unwrap().limit.to_string().starts_with("0.05"));
/// // Orders from 17 on have a limit; the largest part of their δ is at 33.
/// let usable = budget.limits().iter().flatten().count();
/// assert_eq!(usable, 18);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Budget {
    target: Target,
    weights: Box<[Weight]>,
    limits: Box<[Option<Amount>]>,
    reserved_delta: DeltaAmount,
    clock: Option<Clock>,
}

impl Budget {
    /// The default reserved delta: a tenth of δ, which pays for 100 thresholds of δ/1000. A quarter
    /// would admit 1.7 % fewer Gaussian releases at (1, 1e-6).
    #[must_use]
    pub fn usual_reserved_delta(delta: Delta) -> DeltaAmount {
        DeltaAmount::from_atto(DeltaAmount::budget(delta).atto() / 10)
    }

    /// The default weight of the clock: 0.8. The orders share the rest.
    #[must_use]
    pub const fn usual_clock() -> Weight {
        Weight::from_atto(Weight::ONE.atto() / 10 * 8)
    }

    /// Limits that guarantee (ε, δ)-DP, where `reserved_delta` of δ is for mechanisms that may
    /// fail. The clock has the part `clock` of the rest, and the orders share what remains.
    ///
    /// # Errors
    ///
    /// No charge could ever be admitted, all of δ is reserved, or the weight is above one.
    pub fn approximate(
        epsilon: Epsilon,
        delta: Delta,
        reserved_delta: DeltaAmount,
        clock: Weight,
        orders: &Orders,
    ) -> Result<Self, BudgetError> {
        let target = Target::Approximate { epsilon, delta };
        let clock = target.clock(reserved_delta, clock)?;
        let rest = match clock {
            Some(clock) => clock.weight.complement().ok_or(BudgetError::Unsound)?,
            None => Weight::ONE,
        };
        let whole = vec![Weight::ONE; orders.len()];
        let unshared = Self::limits_of(target, reserved_delta, &whole, orders)?;
        let mut usable: Vec<bool> = (orders.iter().zip(&unshared))
            .map(|(order, limit)| order.is_finite() && limit.is_some())
            .collect();
        // With its smaller part of δ an order may have no limit above zero. Its part then goes
        // to the others. Each round drops at least one order.
        loop {
            let center = furthest_for_gaussian(orders, &unshared, &usable);
            let weights = share(rest, &usable, center);
            let limits = Self::limits_of(target, reserved_delta, &weights, orders)?;
            let before = usable.clone();
            for (usable, limit) in usable.iter_mut().zip(&limits) {
                *usable &= limit.is_some();
            }
            if usable == before {
                return Self::assembled(target, reserved_delta, &weights, limits, clock);
            }
        }
    }

    /// Limits that guarantee pure ε-DP: only the infinite order has one.
    ///
    /// # Errors
    ///
    /// No charge could ever be admitted: ε is zero, or there is no infinite order.
    pub fn pure(epsilon: Epsilon, orders: &Orders) -> Result<Self, BudgetError> {
        let none = vec![Weight::ZERO; orders.len()];
        Self::with_weights(Target::Pure { epsilon }, DeltaAmount::ZERO, &none, orders)
    }

    /// Limits α ρ at every finite order (zCDP), and a limit `reserved_delta` on the sum of
    /// reserved deltas.
    ///
    /// # Errors
    ///
    /// No charge could ever be admitted.
    pub fn zero_concentrated(
        rho: Rho,
        reserved_delta: DeltaAmount,
        orders: &Orders,
    ) -> Result<Self, BudgetError> {
        let none = vec![Weight::ZERO; orders.len()];
        Self::with_weights(
            Target::ZeroConcentrated { rho },
            reserved_delta,
            &none,
            orders,
        )
    }

    /// The given limits; orders that are not named have none.
    ///
    /// # Errors
    ///
    /// An order is not among those of the account, or a limit is zero.
    pub fn curve(
        points: &[(Order, Epsilon)],
        reserved_delta: DeltaAmount,
        orders: &Orders,
    ) -> Result<Self, BudgetError> {
        below_one(reserved_delta)?;
        let mut limits = vec![None; orders.len()];
        for &(order, epsilon) in points {
            let place = orders.iter().position(|known| known == order);
            let limit = place.and_then(|place| limits.get_mut(place));
            let limit = limit.ok_or(BudgetError::UnknownOrder { order })?;
            *limit = positive(epsilon.get())?;
            if limit.is_none() {
                return Err(BudgetError::NothingFits);
            }
        }
        let weights = vec![Weight::ZERO; orders.len()];
        Self::assembled(Target::Curve, reserved_delta, &weights, limits, None)
    }

    /// The budget of a raised target. The weights stay as they are, so every limit grows. A
    /// budget without a clock gets none.
    ///
    /// # Errors
    ///
    /// The target is of another kind, or not higher at every order. A curve is
    /// raised by a new [`curve`](Self::curve).
    pub fn raised(
        &self,
        target: Target,
        reserved_delta: DeltaAmount,
        orders: &Orders,
    ) -> Result<Self, BudgetError> {
        let limits = Self::limits_of(target, reserved_delta, &self.weights, orders)?;
        let clock = match self.clock {
            Some(clock) => target.clock(reserved_delta, clock.weight)?,
            None => None,
        };
        let raised = Self::assembled(target, reserved_delta, &self.weights, limits, clock)?;
        raised.follows(self)?;
        Ok(raised)
    }

    /// Limits without a clock.
    pub(crate) fn with_weights(
        target: Target,
        reserved_delta: DeltaAmount,
        weights: &[Weight],
        orders: &Orders,
    ) -> Result<Self, BudgetError> {
        let limits = Self::limits_of(target, reserved_delta, weights, orders)?;
        Self::assembled(target, reserved_delta, weights, limits, None)
    }

    fn limits_of(
        target: Target,
        reserved_delta: DeltaAmount,
        weights: &[Weight],
        orders: &Orders,
    ) -> Result<Vec<Option<Amount>>, BudgetError> {
        let limit = |(order, &weight): (Order, &Weight)| {
            let Some(exact) = target.limit(reserved_delta, order, weight)? else {
                return Ok(None);
            };
            let limit = positive(exact.lower())?;
            // If every order must fit, leaving one out would break the guarantee. If any
            // order suffices, it only admits fewer charges.
            if limit.is_none() && target.rule() == Rule::Every {
                return Err(BudgetError::NothingFits);
            }
            Ok(limit)
        };
        orders.iter().zip(weights).map(limit).collect()
    }

    fn assembled(
        target: Target,
        reserved_delta: DeltaAmount,
        weights: &[Weight],
        limits: Vec<Option<Amount>>,
        clock: Option<Clock>,
    ) -> Result<Self, BudgetError> {
        if limits.iter().all(Option::is_none) && clock.is_none() {
            return Err(BudgetError::NothingFits);
        }
        Ok(Self {
            target,
            weights: weights.into(),
            limits: limits.into(),
            reserved_delta,
            clock,
        })
    }

    /// A budget from its stored parts. [`check`](Self::check) says whether the limits guarantee
    /// the target.
    pub(crate) fn stored(
        target: Target,
        reserved_delta: DeltaAmount,
        weights: Vec<Weight>,
        limits: Vec<Option<Amount>>,
    ) -> Self {
        Self {
            target,
            weights: weights.into(),
            limits: limits.into(),
            reserved_delta,
            clock: None,
        }
    }

    /// The same budget with a stored clock.
    pub(crate) fn with_clock(mut self, clock: Clock) -> Self {
        self.clock = Some(clock);
        self
    }

    /// Whether these limits guarantee their target. A replay checks every budget in a log.
    ///
    /// # Errors
    ///
    /// The weights add up to more than one, a limit is above what its weight allows, or no order
    /// has a limit.
    pub fn check(&self, orders: &Orders) -> Result<(), BudgetError> {
        let unsound = Err(BudgetError::Unsound);
        if self.weights.len() != orders.len() || self.limits.len() != orders.len() {
            return unsound;
        }
        if self.limits.iter().all(Option::is_none) && self.clock.is_none() {
            return Err(BudgetError::NothingFits);
        }
        let clock = self.clock.iter().map(|clock| clock.weight);
        if !fit_into_one(self.weights.iter().copied().chain(clock)) {
            return unsound;
        }
        if let Some(clock) = self.clock
            && (self
                .target
                .largest_clock(self.reserved_delta, clock.weight)?)
                < clock.limit
        {
            return unsound;
        }
        if self.target == Target::Curve {
            return below_one(self.reserved_delta);
        }
        for ((order, &weight), &limit) in orders.iter().zip(&self.weights).zip(&self.limits) {
            let exact = self.target.limit(self.reserved_delta, order, weight)?;
            let sound = match (limit, exact) {
                // At most the upper end: a log may come from a version that enclosed the same
                // value in another interval.
                (Some(limit), Some(exact)) => positive(exact.upper())? >= Some(limit),
                (Some(_), None) => false,
                // A missing limit is harmless if any order suffices, and breaks the guarantee
                // if every order must fit.
                (None, exact) => self.rule() == Rule::Any || exact.is_none(),
            };
            if !sound {
                return unsound;
            }
        }
        Ok(())
    }

    /// Whether this budget may replace `before` when an account is raised.
    ///
    /// # Errors
    ///
    /// It is of another kind, or lower at some order; with a clock also if ε, δ, or what is not
    /// reserved of δ is lower.
    pub fn follows(&self, before: &Self) -> Result<(), BudgetError> {
        let kind = std::mem::discriminant::<Target>;
        let clock = |budget: &Self| budget.clock.map(|clock| clock.weight);
        if kind(&self.target) != kind(&before.target)
            || self.weights != before.weights
            || clock(self) != clock(before)
        {
            return Err(BudgetError::OtherKind);
        }
        let higher = |(now, before): (&Option<Amount>, &Option<Amount>)| match self.rule() {
            Rule::Any => now >= before,
            Rule::Every => now.is_some() == before.is_some() && now >= before,
        };
        let all = self.limits.iter().zip(&before.limits).all(higher);
        let limit = |budget: &Self| budget.clock.map(|clock| clock.limit);
        if !all
            || limit(self) < limit(before)
            || self.limits.len() != before.limits.len()
            || self.reserved_delta < before.reserved_delta
            || (self.clock.is_some() && self.is_lower_in_some_part(before)?)
        {
            return Err(BudgetError::NotHigher);
        }
        Ok(())
    }

    /// Whether ε, δ, or the part of δ that is not reserved is lower than before. A first charge may
    /// have a price for exactly that ε and that part of δ.
    fn is_lower_in_some_part(&self, before: &Self) -> Result<bool, BudgetError> {
        let part = |budget: &Self| budget.target.part(budget.reserved_delta, Weight::ONE);
        let ((epsilon, ln_delta), (before_epsilon, before_ln_delta)) = (part(self)?, part(before)?);
        let delta = |budget: &Self| match budget.target {
            Target::Approximate { delta, .. } => Some(delta),
            _ => None,
        };
        Ok(epsilon < before_epsilon
            || delta(self) < delta(before)
            || ln_delta.lower() < before_ln_delta.lower())
    }

    /// The guarantee that the limits enforce.
    #[must_use]
    pub const fn target(&self) -> Target {
        self.target
    }

    /// Which orders must be within their limits.
    #[must_use]
    pub const fn rule(&self) -> Rule {
        self.target.rule()
    }

    /// The part of δ of each order; empty if every order must fit.
    #[must_use]
    pub fn weights(&self) -> &[Weight] {
        &self.weights
    }

    /// The limit at each order. None: the order admits nothing ([`Rule::Any`]), or the target
    /// does not bound it ([`Rule::Every`]).
    #[must_use]
    pub fn limits(&self) -> &[Option<Amount>] {
        &self.limits
    }

    /// The clock, if it has one. A budget without one is enforced at its orders only.
    #[must_use]
    pub const fn clock(&self) -> Option<Clock> {
        self.clock
    }

    /// The limit on the sum of reserved deltas.
    #[must_use]
    pub const fn reserved_delta(&self) -> DeltaAmount {
        self.reserved_delta
    }
}

/// A reserved delta of one would be no guarantee at all.
fn below_one(reserved_delta: DeltaAmount) -> Result<(), BudgetError> {
    if reserved_delta >= DeltaAmount::ONE {
        return Err(BudgetError::ReservedDeltaTooLarge { reserved_delta });
    }
    Ok(())
}

/// A limit rounded down; None if it is not above zero.
fn positive(nats: f64) -> Result<Option<Amount>, BudgetError> {
    if nats <= 0.0 {
        return Ok(None);
    }
    Ok(Some(Amount::budget(nats)?).filter(|&limit| limit > Amount::ZERO))
}

/// The order that admits the most Gaussian noise, which costs α ρ. A choice, not a bound.
#[allow(clippy::cast_precision_loss, reason = "it only compares")]
fn furthest_for_gaussian(orders: &Orders, limits: &[Option<Amount>], usable: &[bool]) -> usize {
    let room = |(order, limit): (Order, &Option<Amount>)| {
        limit.map_or(0.0, |limit| limit.pico() as f64) / order.get()
    };
    let rooms = orders.iter().zip(limits).map(room);
    let usable = rooms
        .zip(usable)
        .enumerate()
        .filter(|(_, (_, usable))| **usable);
    usable
        .max_by(|(_, (a, _)), (_, (b, _))| a.total_cmp(b))
        .map_or(0, |(index, _)| index)
}
