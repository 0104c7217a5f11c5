//! The bounds of one event by every method, side by side.

use mizan_core::{Delta, Epsilon, PrivacyEvent};

use super::{Method, MethodBound, Refusal};
use crate::guarantees::groups_are_exact;

/// The bounds of one event by all methods.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison<T> {
    /// The methods that apply, in the order of [`Method::ALL`].
    pub bounds: Vec<MethodBound<T>>,
    /// The methods that do not, and why.
    pub refusals: Vec<(Method, Refusal)>,
}

impl<T: PartialOrd + Copy> Comparison<T> {
    /// The tightest bound, if any method applies.
    pub fn best(&self) -> Option<MethodBound<T>> {
        self.bounds.iter().copied().reduce(|best, bound| {
            if bound.upper < best.upper {
                bound
            } else {
                best
            }
        })
    }

    /// The largest certified lower bound of the exact value, if any.
    pub fn lower(&self) -> Option<T> {
        let lowers = self.bounds.iter().filter_map(|bound| bound.lower);
        lowers.reduce(|best, lower| if lower > best { lower } else { best })
    }

    /// The tightest bound, with the largest lower bound of all methods.
    ///
    /// # Errors
    ///
    /// No method applies: the [`refusal`](Self::refusal).
    pub fn tightest(&self) -> Result<MethodBound<T>, Refusal> {
        match self.best() {
            Some(best) => Ok(MethodBound {
                lower: self.lower(),
                ..best
            }),
            None => Err(self.refusal()),
        }
    }

    /// If no method applies: the refusal of the method that came closest, which computed a bound, or
    /// of the most general method.
    pub fn refusal(&self) -> Refusal {
        let refusals = || self.refusals.iter().map(|(_, why)| why);
        let computed = |why: &&Refusal| !matches!(why, Refusal::Unsupported(_));
        let renyi = || {
            self.refusals
                .iter()
                .find(|(method, _)| *method == Method::Renyi)
                .map(|(_, why)| why)
        };
        // What asks for the least.
        let named = refusals().filter_map(|why| Some((why.named_delta()?, why)));
        let why = named
            .min_by(|a, b| a.0.total_cmp(&b.0))
            .map(|(_, why)| why)
            .or_else(|| refusals().find(computed))
            .or_else(renyi)
            .or_else(|| refusals().next_back());
        why.cloned().unwrap_or(Refusal::NoBound { least: None })
    }

    /// Without lower bounds where the price of a group is only a bound.
    pub(super) fn for_groups_of(mut self, event: &PrivacyEvent) -> Self {
        if !groups_are_exact(event) {
            for bound in &mut self.bounds {
                bound.lower = None;
            }
        }
        self
    }

    /// The bounds and the refusals of every method.
    pub(super) fn of(bound_by: impl Fn(Method) -> Result<MethodBound<T>, Refusal>) -> Self {
        let mut all = Self {
            bounds: Vec::new(),
            refusals: Vec::new(),
        };
        for method in Method::ALL {
            match bound_by(method) {
                Ok(bound) => all.bounds.push(bound),
                Err(refusal) => all.refusals.push((method, refusal)),
            }
        }
        all
    }
}

impl Comparison<Epsilon> {
    /// If no method applies: the sum of the deltas of the parts, if it equals the target up to
    /// rounding. The typed numbers then add up to the target, or doubles cannot tell the difference,
    /// and this sum is the δ to ask for.
    pub fn rounded_total(&self) -> Option<Delta> {
        if self.best().is_some() {
            return None;
        }
        match self.refusal() {
            Refusal::DeltaSpent { total, target } if total <= target * (1.0 + 1e-12) => {
                Delta::new(total).ok()
            }
            _ => None,
        }
    }
}
