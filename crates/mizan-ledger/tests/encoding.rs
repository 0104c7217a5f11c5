//! The encoding of entries: a round trip for every entry, one encoding for each, and no bytes for
//! which decoding panics.

use crate::common::{config, constant, delta, epsilon, price};
use mizan_core::{Order, Rho};
use mizan_ledger::log::{Denial, LedgerId, VERSION};
use mizan_ledger::money::{
    Amount, ConditionalPrice, MAX_HEIGHT, MAX_ORDERS, Neighbours, Scale, Variance, Weight,
};
use mizan_ledger::*;
use proptest::prelude::*;

fn digest() -> impl Strategy<Value = Digest> {
    any::<[u8; 32]>().prop_map(Digest::from_bytes)
}

fn number() -> impl Strategy<Value = AccountNumber> {
    any::<u32>().prop_map(AccountNumber::new)
}

fn grid() -> impl Strategy<Value = Orders> {
    let finite = proptest::collection::btree_set(2_u32..10_000, 1..20);
    (finite, any::<bool>()).prop_map(|(finite, infinite)| {
        let finite = finite.into_iter().map(|a| f64::from(a) / 1.5);
        let all = finite.chain(infinite.then_some(f64::INFINITY));
        Orders::new(all.map(|a| Order::new(a).unwrap())).unwrap()
    })
}

fn cost() -> impl Strategy<Value = Cost> {
    let amounts = proptest::collection::vec(any::<u64>(), 1..MAX_ORDERS + 1);
    (amounts, any::<u64>()).prop_map(|(amounts, own)| {
        Cost::new(
            amounts.into_iter().map(Amount::from_pico),
            DeltaAmount::from_atto(own),
        )
    })
}

fn budget(orders: Orders) -> impl Strategy<Value = Budget> {
    let curve = (1.0_f64..10.0, Just(orders.clone())).prop_map(|(e, orders)| {
        let points: Vec<_> = orders.iter().step_by(2).map(|a| (a, epsilon(e))).collect();
        Budget::curve(&points, DeltaAmount::from_atto(3), &orders).unwrap()
    });
    let rho = Rho::new(0.1).unwrap();
    prop_oneof![
        curve,
        (0.01_f64..20.0, 1e-12_f64..1e-3, 0..=10_u64).prop_map({
            let orders = orders.clone();
            move |(e, d, clock)| {
                let own = Budget::usual_reserved_delta(delta(d));
                let clock = Weight::from_atto(clock * (Weight::ONE.atto() / 10));
                let known = Budget::approximate(epsilon(e), delta(d), own, clock, &orders);
                known.unwrap_or_else(|_| {
                    let last = orders.iter().last().unwrap();
                    Budget::curve(&[(last, epsilon(e))], DeltaAmount::ZERO, &orders).unwrap()
                })
            }
        }),
        Just(Budget::pure(epsilon(1.0), &Orders::standard()).unwrap()),
        Just(Budget::zero_concentrated(rho, DeltaAmount::ZERO, &Orders::standard()).unwrap()),
    ]
}

fn charge() -> impl Strategy<Value = Charge> {
    let neighbours = proptest::option::of(proptest::sample::select(vec![
        Neighbours::AddOrRemove,
        Neighbours::Replace,
    ]));
    (number(), cost(), neighbours, ".{0,40}").prop_map(|(account, cost, neighbours, event)| {
        Charge {
            account,
            cost,
            neighbours,
            event,
            conditional: Box::default(),
            query: None,
        }
    })
}

/// A charge that may have a price.
fn priced() -> impl Strategy<Value = Charge> {
    (charge(), price(1 << 50)).prop_map(|(charge, price)| Charge {
        cost: charge.cost.with_price(price),
        ..charge
    })
}

fn body() -> impl Strategy<Value = Body> {
    let created = grid().prop_flat_map(|orders| {
        let name = "[^\\p{C}\\p{Z}]{1,20}".prop_map(|name| AccountName::new(&name).unwrap());
        (
            number(),
            name,
            proptest::option::of(number()),
            Just(orders.clone()),
            budget(orders),
        )
            .prop_map(|(account, name, parent, orders, budget)| Body::Created {
                account,
                name,
                parent,
                orders,
                budget,
            })
    });
    let denied = (priced(), number(), 0..=1_000_000_000_u64).prop_map(|(charge, account, nano)| {
        let largest = Scale::from_nano(nano);
        let denial = Denial { account, largest };
        Body::Denied { charge, denial }
    });
    let taken =
        proptest::collection::vec(any::<u64>().prop_map(Variance::from_femto), 0..=MAX_HEIGHT);
    let query = proptest::option::of(digest());
    let reserved = (priced(), taken, query).prop_map(|(mut charge, clock, query)| {
        if clock.is_empty() {
            charge.cost = charge.cost.with_price(None);
        } else {
            charge.query = query;
        }
        let clock = clock.into();
        Body::Reserved { charge, clock }
    });
    prop_oneof![
        any::<[u8; 16]>().prop_map(|id| Body::Opened {
            ledger: LedgerId::from_bytes(id)
        }),
        created,
        reserved,
        denied,
        Just(Body::Started),
        (cost(), digest()).prop_map(|(cost, answer)| Body::Committed { cost, answer }),
        Just(Body::Voided),
        (number(), grid().prop_flat_map(budget))
            .prop_map(|(account, budget)| Body::Raised { account, budget }),
        (any::<u64>(), digest()).prop_map(|(size, root)| Body::Restored { size, root }),
    ]
}

fn entry() -> impl Strategy<Value = Entry> {
    (any::<u64>(), any::<[u8; 16]>(), body()).prop_map(|(unix_ms, id, body)| Entry {
        unix_ms,
        id: RequestId::from_bytes(id),
        body,
    })
}

proptest! {
    #![proptest_config(config(500))]

    #[test]
    fn what_is_written_is_read(entry in entry()) {
        let bytes = entry.encode();
        prop_assert_eq!(Entry::decode(&bytes).unwrap(), entry);
        for length in 0..bytes.len() {
            prop_assert!(Entry::decode(&bytes[..length]).is_err());
        }
        let mut longer = bytes;
        longer.push(0);
        prop_assert!(Entry::decode(&longer).is_err());
    }

    /// A changed byte is refused or is another entry, whose one encoding it is.
    #[test]
    fn whatever_is_read_is_canonical(entry in entry(), place in any::<usize>(), to in any::<u8>()) {
        let mut bytes = entry.encode();
        let place = place % bytes.len();
        bytes[place] = to;
        if let Ok(read) = Entry::decode(&bytes) {
            prop_assert_eq!(read.encode(), bytes);
        }
    }

    #[test]
    fn no_bytes_panic(kind in 0_u8..10, rest in proptest::collection::vec(any::<u8>(), 0..600)) {
        for version in 1..=VERSION {
            let bytes = [&[version, kind], &rest[..]].concat();
            if let Ok(read) = Entry::decode(&bytes) {
                prop_assert_eq!(read.encode(), bytes);
            }
        }
    }

    /// Two requests have different digests exactly if they differ.
    #[test]
    fn digests_tell_requests_apart(a in body(), b in body()) {
        let (a, b) = (a.request(), b.request());
        prop_assert_eq!(a == b, a.digest() == b.digest());
    }
}

/// The example of docs/ledger-format.md, byte for byte. These bytes never
/// change: old logs are readable forever.
#[test]
fn a_reservation_byte_by_byte() {
    let entry = Entry {
        unix_ms: 0x0102_0304_0506_0708,
        id: RequestId::from_bytes([0xaa; 16]),
        body: Body::Reserved {
            charge: Charge {
                account: AccountNumber::new(5),
                cost: Cost::new(
                    [Amount::from_pico(7), Amount::EXHAUSTED],
                    DeltaAmount::from_atto(9),
                ),
                neighbours: Some(Neighbours::Replace),
                event: "pure(1)".to_owned(),
                conditional: Box::default(),
                query: None,
            },
            clock: Box::default(),
        },
    };
    let expected = [
        &[1, 2][..],
        &[1, 2, 3, 4, 5, 6, 7, 8],
        &[0xaa; 16],
        &[0, 0, 0, 5],
        &[2],
        &[0, 0, 0, 0, 0, 0, 0, 7],
        &[0xff; 8],
        &[0, 0, 0, 0, 0, 0, 0, 9],
        &[2],
        &[0, 0, 0, 7],
        b"pure(1)",
    ]
    .concat();
    assert_eq!(entry.encode(), expected);

    // The same with the numbers of the clock.
    let Body::Reserved { charge, .. } = entry.body else {
        panic!("a reservation");
    };
    let cost = charge.cost.clone().with_price(Some(constant(10)));
    let state = ConditionalPrice {
        left: Variance::from_femto(20),
        losses: Amount::from_pico(6),
        price: Variance::from_femto(8),
    };
    let entry = Entry {
        body: Body::Reserved {
            charge: Charge {
                cost,
                conditional: [Some(state), None].into(),
                query: Some(Digest::from_bytes([0xbb; 32])),
                ..charge
            },
            clock: [Variance::from_femto(8), Variance::EXHAUSTED].into(),
        },
        ..entry
    };
    let number = |byte| [0, 0, 0, 0, 0, 0, 0, byte];
    let price = [&[1, 23][..], &number(10), &[0; 8]].concat();
    let first = [&number(8)[..], &[1], &number(20), &number(6)].concat();
    let taken = [&[2][..], &first, &[0xff; 8], &[0], &[1], &[0xbb; 32]].concat();
    let expected = [&[2][..], &expected[1..], &price, &taken].concat();
    assert_eq!(entry.encode(), expected);
    assert_eq!(Entry::decode(&expected).unwrap(), entry);
}

/// Version 2 without numbers of the clock is version 1, and prices that no event has are refused.
#[test]
fn version_2_has_one_encoding_too() {
    let id = RequestId::from_bytes([7; 16]);
    let body = Body::Started;
    let mut bytes = Entry {
        unix_ms: 5,
        id,
        body,
    }
    .encode();
    bytes[0] = 2;
    assert_eq!(Entry::decode(&bytes).unwrap_err().code(), "MZ1727");

    let cost = Cost::new([Amount::from_pico(7)], DeltaAmount::ZERO);
    let body = Body::Reserved {
        charge: crate::common::charge(0, cost.with_price(Some(constant(10)))),
        clock: [Variance::from_femto(10)].into(),
    };
    let bytes = Entry {
        unix_ms: 5,
        id,
        body,
    }
    .encode();
    let (head, _) = bytes.split_at(bytes.len() - 29);
    let at = |last: u8, price: u8| [&[last][..], &[0, 0, 0, 0, 0, 0, 0, price]].concat();
    let taken = [1, 0, 0, 0, 0, 0, 0, 0, 10, 0, 0];
    let read = |steps: &[Vec<u8>], taken: &[u8]| {
        let count = [u8::try_from(steps.len()).unwrap()];
        let mut steps = steps.concat();
        if count != [0] {
            // No tail.
            steps.extend([0; 8]);
        }
        Entry::decode(&[head, &count, &steps, taken].concat())
    };
    read(&[], &taken).unwrap();
    read(&[at(4, 9), at(23, 10)], &taken).unwrap();
    for steps in [
        vec![at(24, 9)],
        vec![at(23, 9), at(4, 10)],
        vec![at(4, 10), at(23, 10)],
        vec![at(4, 11), at(23, 10)],
        vec![at(4, 9), at(4, 10)],
    ] {
        let error = read(&steps, &taken).unwrap_err();
        assert_eq!(error.code(), "MZ1727", "{steps:?}");
    }
    assert_eq!(read(&[at(23, 9)], &[0]).unwrap_err().code(), "MZ1727");
}

#[test]
fn another_version_is_refused_by_name() {
    for version in [0, 3] {
        let error = Entry::decode(&[version, 0]).unwrap_err();
        assert_eq!(error.code(), "MZ1726");
        let named = format!("version {version}");
        assert!(error.to_string().contains(&named), "{error}");
    }
}
