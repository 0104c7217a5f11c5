//! The target of an account as options.

use mizan_core::{Code, Delta, Epsilon, Order, Rho};
use mizan_ledger::money::Weight;
use mizan_ledger::{Account, Budget, BudgetError, DeltaAmount, Orders, Target};

use crate::failure::Failure;
use crate::input;

/// The options of a target: exactly one kind.
#[derive(Debug, clap::Args)]
pub(crate) struct TargetArguments {
    /// Epsilon of an (epsilon, delta) target
    #[arg(long, value_name = "E", allow_hyphen_values = true)]
    epsilon: Option<String>,

    /// Delta of an (epsilon, delta) target
    #[arg(long, value_name = "D", allow_hyphen_values = true)]
    delta: Option<String>,

    /// Epsilon of pure differential privacy
    #[arg(long, value_name = "E", allow_hyphen_values = true)]
    pure: Option<String>,

    /// Rho of zero-concentrated differential privacy
    #[arg(long, value_name = "R", allow_hyphen_values = true)]
    rho: Option<String>,

    /// Rényi-DP curve as ORDER:EPSILON,..., such as 2:0.1,16:1,inf:8
    #[arg(long, value_name = "POINTS", allow_hyphen_values = true)]
    curve: Option<String>,

    /// Reserved delta: the part for mechanisms that may fail, such as
    /// thresholds [default: a tenth of --delta, else 0]
    #[arg(long, value_name = "D", allow_hyphen_values = true)]
    own_delta: Option<String>,
}

/// The options of the target of a new account.
#[derive(Debug, clap::Args)]
pub(crate) struct NewTargetArguments {
    #[command(flatten)]
    pub(crate) target: TargetArguments,

    /// Part of delta for the Gaussian clock, from 0 to 1; the Rényi orders share
    /// the rest. 1 is best for Gaussian noise only, 0 for charges without a price
    /// on the clock, such as zcdp [default: 0.8]
    #[arg(long, value_name = "W", allow_hyphen_values = true)]
    clock: Option<String>,
}

/// A target, before the orders are known.
enum Promise {
    Approximate(Epsilon, Option<Delta>),
    Pure(Epsilon),
    Concentrated(Rho),
    Curve(Vec<(Order, Epsilon)>),
}

impl TargetArguments {
    /// Whether any of these options was given.
    pub(crate) fn is_given(&self) -> bool {
        let all = [
            &self.epsilon,
            &self.delta,
            &self.pure,
            &self.rho,
            &self.curve,
            &self.own_delta,
        ];
        all.into_iter().any(Option::is_some)
    }

    /// The budget of a new account; its orders are those of its parent.
    fn create(
        &self,
        parent: Option<&Account>,
        clock: Option<Weight>,
    ) -> Result<(Orders, Budget), Failure> {
        let promise = self.promise()?;
        if clock.is_some() && !matches!(promise, Promise::Approximate(..)) {
            return Err(no_clock());
        }
        let orders = match (parent, &promise) {
            (Some(parent), _) => parent.orders().clone(),
            (None, Promise::Curve(points)) => {
                let mut orders: Vec<Order> = points.iter().map(|&(order, _)| order).collect();
                orders.sort_by(|a, b| a.get().total_cmp(&b.get()));
                Orders::new(orders).map_err(|error| {
                    let help = error.help();
                    Failure::new(error.code(), format!("--curve: {error}"), help)
                })?
            }
            (None, _) => Orders::standard(),
        };
        let own_delta = self.own_delta()?;
        let none = own_delta.unwrap_or(DeltaAmount::ZERO);
        let budget = match promise {
            Promise::Approximate(epsilon, delta) => {
                let delta = delta.ok_or_else(no_delta)?;
                let own_delta = own_delta.unwrap_or_else(|| Budget::usual_reserved_delta(delta));
                let clock = clock.unwrap_or_else(Budget::usual_clock);
                Budget::approximate(epsilon, delta, own_delta, clock, &orders)
            }
            Promise::Pure(_) if none > DeltaAmount::ZERO => return Err(pure_has_no_delta()),
            Promise::Pure(epsilon) => Budget::pure(epsilon, &orders),
            Promise::Concentrated(rho) => Budget::zero_concentrated(rho, none, &orders),
            Promise::Curve(points) => Budget::curve(&points, none, &orders),
        }?;
        Ok((orders, budget))
    }

    /// The raised budget of an account; options that are not given keep their value.
    pub(super) fn raise(&self, account: &Account) -> Result<Budget, Failure> {
        let before = account.budget();
        let own_delta = self.own_delta()?.unwrap_or_else(|| before.reserved_delta());
        let target = match (self.promise()?, before.target()) {
            (Promise::Approximate(epsilon, delta), Target::Approximate { delta: old, .. }) => {
                Target::Approximate {
                    epsilon,
                    delta: delta.unwrap_or(old),
                }
            }
            (Promise::Pure(epsilon), Target::Pure { .. }) => Target::Pure { epsilon },
            (Promise::Concentrated(rho), Target::ZeroConcentrated { .. }) => {
                Target::ZeroConcentrated { rho }
            }
            (Promise::Curve(points), Target::Curve) => {
                return Ok(Budget::curve(&points, own_delta, account.orders())?);
            }
            _ => return Err(BudgetError::OtherKind.into()),
        };
        Ok(before.raised(target, own_delta, account.orders())?)
    }

    /// Whether a budget has this target.
    pub(crate) fn is(&self, budget: &Budget) -> Result<bool, Failure> {
        let own_delta = self.own_delta()?;
        let target = match (self.promise()?, budget.target()) {
            (Promise::Approximate(typed, at), Target::Approximate { epsilon, delta }) => {
                typed == epsilon && at.is_none_or(|at| at == delta)
            }
            (Promise::Pure(typed), Target::Pure { epsilon }) => typed == epsilon,
            (Promise::Concentrated(typed), Target::ZeroConcentrated { rho }) => typed == rho,
            _ => false,
        };
        Ok(target && own_delta.is_none_or(|typed| typed == budget.reserved_delta()))
    }

    fn own_delta(&self) -> Result<Option<DeltaAmount>, Failure> {
        let Some(text) = &self.own_delta else {
            return Ok(None);
        };
        let delta = input::claimed_delta(text, "--delta")
            .map_err(|failure| failure.of_option("--own-delta"))?;
        Ok(Some(DeltaAmount::budget(delta.value)))
    }

    fn promise(&self) -> Result<Promise, Failure> {
        let ways = [
            self.epsilon.is_some(),
            self.pure.is_some(),
            self.rho.is_some(),
            self.curve.is_some(),
        ];
        let code = match ways.into_iter().filter(|&way| way).count() {
            0 => Some(Code::MZ0009),
            1 if self.epsilon.is_some() || self.delta.is_none() => None,
            _ => Some(Code::MZ0008),
        };
        if let Some(code) = code {
            return Err(Failure::new(
                code,
                "the target must be given in exactly one way",
                "give --epsilon and --delta, or --pure, or --rho, or --curve",
            ));
        }
        if let Some(text) = &self.epsilon {
            let delta = (self.delta.as_deref())
                .map(|text| input::delta(text, "--delta"))
                .transpose()?;
            let epsilon = input::epsilon(text, "--epsilon")?.value;
            return Ok(Promise::Approximate(
                epsilon,
                delta.map(|delta| delta.value),
            ));
        }
        if let Some(text) = &self.pure {
            return Ok(Promise::Pure(input::budget(text, "--pure", Epsilon::new)?));
        }
        if let Some(text) = &self.rho {
            return Ok(Promise::Concentrated(input::budget(
                text,
                "--rho",
                Rho::new,
            )?));
        }
        let points = self.curve.as_deref().unwrap_or_default().split(',');
        points
            .map(point)
            .collect::<Result<_, _>>()
            .map(Promise::Curve)
    }
}

impl NewTargetArguments {
    /// Whether any of these options was given.
    pub(crate) fn is_given(&self) -> bool {
        self.target.is_given() || self.clock.is_some()
    }

    /// The budget of a new account; its orders are those of its parent.
    pub(crate) fn create(&self, parent: Option<&Account>) -> Result<(Orders, Budget), Failure> {
        self.target.create(parent, self.clock()?)
    }

    /// Whether a budget has this target, and this clock.
    pub(crate) fn is(&self, budget: &Budget) -> Result<bool, Failure> {
        let weight = budget.clock().map_or(Weight::ZERO, |clock| clock.weight);
        let clock = self.clock()?;
        Ok(self.target.is(budget)? && clock.is_none_or(|typed| typed == weight))
    }

    fn clock(&self) -> Result<Option<Weight>, Failure> {
        let weight = |text: &String| {
            // A part of delta is read as a delta: rounded down, from 0 to 1.
            let part = input::budget(text, "--clock", Delta::new).map_err(|failure| {
                let message = format!("--clock must be a number from 0 to 1, got {text}");
                Failure::new(failure.code, message, "give a part of delta, such as 0.8")
            })?;
            Ok(Weight::from_atto(DeltaAmount::budget(part).atto()))
        };
        self.clock.as_ref().map(weight).transpose()
    }
}

/// One point of a curve.
fn point(text: &str) -> Result<(Order, Epsilon), Failure> {
    let (order, epsilon) = text.split_once(':').ok_or_else(|| {
        Failure::new(
            Code::MZ0010,
            format!("--curve: {text:?} is not a point"),
            "write ORDER:EPSILON,..., such as 2:0.1,16:1,inf:8",
        )
    })?;
    let orders =
        input::orders(order.trim(), "--orders").map_err(|failure| failure.of_option("--curve"))?;
    let order = match orders.as_slice() {
        [order] => order.value,
        _ => {
            return Err(Failure::new(
                Code::MZ0010,
                format!("--curve: {order:?} is not an order"),
                "write ORDER:EPSILON,..., such as 2:0.1,16:1,inf:8",
            ));
        }
    };
    let epsilon = input::budget(epsilon, "--curve", Epsilon::new)?;
    Ok((order, epsilon))
}

fn no_delta() -> Failure {
    Failure::new(
        Code::MZ0009,
        "--epsilon needs a --delta",
        "add --delta, far below 1/people, such as 1e-6; or give a pure epsilon with --pure",
    )
}

fn no_clock() -> Failure {
    Failure::new(
        Code::MZ0008,
        "--clock needs a target of --epsilon and --delta",
        "leave --clock out, or give --epsilon and --delta",
    )
}

fn pure_has_no_delta() -> Failure {
    Failure::new(
        Code::MZ0008,
        "a pure epsilon leaves no --own-delta",
        "leave --own-delta out, or give --epsilon and --delta",
    )
}
