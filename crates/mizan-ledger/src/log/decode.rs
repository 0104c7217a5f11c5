//! Decodes the parts of entries that `state/request.rs` encodes.

use mizan_core::{Delta, Epsilon, Order, Rho};

use crate::log::bytes::Reader;
use crate::log::{DecodeError, Denial, Digest};
use crate::money::{
    AccountName, AccountNumber, Amount, Budget, Clock, ClockPrice, ConditionalPrice, Cost,
    DeltaAmount, MAX_HEIGHT, MAX_NAME_BYTES, MAX_ORDERS, Neighbours, Orders, Scale, Step, Target,
    Variance, Weight,
};
use crate::state::{Charge, MAX_EVENT_BYTES};

pub(crate) fn read_name(from: &mut Reader<'_>) -> Result<AccountName, DecodeError> {
    let name = from.text(MAX_NAME_BYTES)?;
    AccountName::new(name).map_err(|_| from.bad("a name that no account has"))
}

pub(crate) fn read_orders(from: &mut Reader<'_>) -> Result<Orders, DecodeError> {
    let count = from.count()?;
    let orders: Result<Vec<Order>, _> = (0..count)
        .map(|_| read_unit(from, Order::new, Order::get))
        .collect();
    Orders::new(orders?).map_err(|_| from.bad("orders that do not increase from above 1"))
}

pub(crate) fn read_charge(from: &mut Reader<'_>) -> Result<Charge, DecodeError> {
    Ok(Charge {
        account: AccountNumber::new(from.u32()?),
        cost: read_cost(from)?,
        neighbours: match from.u8()? {
            0 => None,
            1 => Some(Neighbours::AddOrRemove),
            2 => Some(Neighbours::Replace),
            _ => return Err(from.bad("neighbours that are not known")),
        },
        event: from.text(MAX_EVENT_BYTES)?.to_owned(),
        conditional: Box::default(),
        query: None,
    })
}

pub(crate) fn read_denial(from: &mut Reader<'_>) -> Result<Denial, DecodeError> {
    let account = AccountNumber::new(from.u32()?);
    let nano = from.u64()?;
    let largest = Scale::from_nano(nano);
    if largest.nano() != nano {
        return Err(from.bad("a part above the whole"));
    }
    Ok(Denial { account, largest })
}

fn read_count(from: &mut Reader<'_>) -> Result<usize, DecodeError> {
    match from.count()? {
        count @ 1..=MAX_ORDERS => Ok(count),
        _ => Err(from.bad("no orders or too many")),
    }
}

pub(crate) fn read_cost(from: &mut Reader<'_>) -> Result<Cost, DecodeError> {
    let count = read_count(from)?;
    let amounts: Result<Vec<_>, _> = (0..count)
        .map(|_| from.u64().map(Amount::from_pico))
        .collect();
    Ok(Cost::new(amounts?, DeltaAmount::from_atto(from.u64()?)))
}

pub(crate) fn read_budget(from: &mut Reader<'_>) -> Result<Budget, DecodeError> {
    let target = match from.u8()? {
        1 => Target::Approximate {
            epsilon: read_unit(from, Epsilon::new, Epsilon::get)?,
            delta: read_unit(from, Delta::new, Delta::get)?,
        },
        2 => Target::Pure {
            epsilon: read_unit(from, Epsilon::new, Epsilon::get)?,
        },
        3 => Target::ZeroConcentrated {
            rho: read_unit(from, Rho::new, Rho::get)?,
        },
        4 => Target::Curve,
        _ => return Err(from.bad("a target that is not known")),
    };
    let reserved_delta = DeltaAmount::from_atto(from.u64()?);
    let count = read_count(from)?;
    let (mut weights, mut limits) = (Vec::with_capacity(count), Vec::with_capacity(count));
    for _ in 0..count {
        weights.push(Weight::from_atto(from.u64()?));
        let limit = Amount::from_pico(from.u64()?);
        limits.push(Some(limit).filter(|&limit| limit != Amount::EXHAUSTED));
    }
    Ok(Budget::stored(target, reserved_delta, weights, limits))
}

/// The clock of a budget, whose weight and limit are above zero.
pub(crate) fn read_clock(from: &mut Reader<'_>) -> Result<Clock, DecodeError> {
    let clock = Clock {
        weight: Weight::from_atto(from.u64()?),
        limit: Variance::from_femto(from.u64()?),
    };
    if clock.weight == Weight::ZERO
        || clock.limit == Variance::ZERO
        || clock.limit == Variance::EXHAUSTED
    {
        return Err(from.bad("a clock that no budget has"));
    }
    Ok(clock)
}

/// The price of a charge; None if it has none.
pub(crate) fn read_price(from: &mut Reader<'_>) -> Result<Option<ClockPrice>, DecodeError> {
    let count = from.count()?;
    if count == 0 {
        return Ok(None);
    }
    let mut steps = Vec::new();
    for _ in 0..count {
        steps.push(Step {
            last: from.u8()?,
            price: from.u64()?,
        });
    }
    let price = ClockPrice::stored(steps, DeltaAmount::from_atto(from.u64()?));
    price
        .map(Some)
        .ok_or_else(|| from.bad("a price that does not fall with the remainder"))
}

/// What a charge takes from each clock of a chain, the conditional prices among it, and the query.
pub(crate) fn read_taken(from: &mut Reader<'_>) -> Result<TakenFromChain, DecodeError> {
    let count = from.count()?;
    if !(1..=MAX_HEIGHT).contains(&count) {
        return Err(from.bad("no accounts or too many"));
    }
    let (mut clock, mut conditional) = (Vec::new(), Vec::new());
    for _ in 0..count {
        let price = Variance::from_femto(from.u64()?);
        clock.push(price);
        conditional.push(match from.u8()? {
            0 => None,
            1 => Some(ConditionalPrice {
                left: Variance::from_femto(from.u64()?),
                losses: Amount::from_pico(from.u64()?),
                price,
            }),
            _ => return Err(from.bad("neither a state of an account nor none")),
        });
    }
    if conditional.iter().all(Option::is_none) {
        conditional.clear();
    }
    let query = match from.u8()? {
        0 => None,
        1 => Some(Digest::from_bytes(from.array()?)),
        _ => return Err(from.bad("neither a query nor none")),
    };
    Ok((clock.into(), conditional.into(), query))
}

type TakenFromChain = (
    Box<[Variance]>,
    Box<[Option<ConditionalPrice>]>,
    Option<Digest>,
);

/// A quantity as the bits of its double. Of the two zeros only +0 is canonical.
fn read_unit<T, E>(
    from: &mut Reader<'_>,
    new: impl Fn(f64) -> Result<T, E>,
    get: impl Fn(T) -> f64,
) -> Result<T, DecodeError>
where
    T: Copy,
{
    let bits = from.u64()?;
    match new(f64::from_bits(bits)) {
        Ok(unit) if get(unit).to_bits() == bits => Ok(unit),
        _ => Err(from.bad("a number out of range")),
    }
}
