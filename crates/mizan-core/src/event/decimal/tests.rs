//! The directed reader against exact integer arithmetic, and the printer
//! against the reader.

use super::*;
use proptest::prelude::*;

/// A natural number in base 2^32, little end first: just enough arithmetic to
/// compare a decimal with a double without going through decimal digits.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Natural(Vec<u32>);

impl Natural {
    fn one() -> Self {
        Self(vec![1])
    }

    fn times_plus(mut self, factor: u32, mut carry: u32) -> Self {
        for limb in &mut self.0 {
            let wide = u64::from(*limb) * u64::from(factor) + u64::from(carry);
            *limb = (wide & 0xffff_ffff) as u32;
            carry = (wide >> 32) as u32;
        }
        if carry > 0 {
            self.0.push(carry);
        }
        self
    }

    fn from_digits(digits: &str) -> Self {
        let zero = Self(vec![]);
        digits
            .bytes()
            .fold(zero, |n, b| n.times_plus(10, u32::from(b - b'0')))
    }

    fn times_power(self, base: u32, exponent: u32) -> Self {
        (0..exponent).fold(self, |n, _| n.times_plus(base, 0))
    }

    fn compare(&self, other: &Self) -> Ordering {
        let significant = |n: &Self| n.0.iter().rposition(|&l| l != 0).map_or(0, |i| i + 1);
        let (a, b) = (significant(self), significant(other));
        a.cmp(&b)
            .then_with(|| self.0[..a].iter().rev().cmp(other.0[..b].iter().rev()))
    }
}

/// Compares `m x 10^power` with a positive double, in integers.
fn compare_exactly(m: &str, power: i32, value: f64) -> Ordering {
    let bits = value.to_bits();
    let exponent = ((bits >> 52) & 0x7ff) as i32;
    let fraction = bits & ((1 << 52) - 1);
    let (significand, two) = if exponent == 0 {
        (fraction, -1074)
    } else {
        (fraction | (1 << 52), exponent - 1075)
    };
    let mut left = Natural::from_digits(m);
    let mut right = Natural::from_digits(&significand.to_string());
    let ten = |n: Natural, k: u32| n.times_power(10, k);
    if power >= 0 {
        left = ten(left, power.unsigned_abs())
    } else {
        right = ten(right, power.unsigned_abs())
    }
    if two >= 0 {
        right = right.times_power(2, two.unsigned_abs());
    } else {
        left = left.times_power(2, two.unsigned_abs());
    }
    left.compare(&right)
}

fn assert_bracketed(digits: &str, power: i32) {
    let text = format!("{digits}e{power}");
    let down = parse_decimal(&text, Round::Down).unwrap();
    let up = parse_decimal(&text, Round::Up).unwrap();
    assert_ne!(
        compare_exactly(digits, power, down),
        Ordering::Less,
        "{text} down {down:e}"
    );
    assert_ne!(
        compare_exactly(digits, power, up),
        Ordering::Greater,
        "{text} up {up:e}"
    );
    assert!(
        up == down || up == down.next_up(),
        "{text}: {down:e} and {up:e} are not adjacent"
    );
    if up == down {
        assert_eq!(
            compare_exactly(digits, power, up),
            Ordering::Equal,
            "{text} is not a double"
        );
    }
    let negative = format!("-{text}");
    assert_eq!(parse_decimal(&negative, Round::Down), Ok(-up));
    assert_eq!(parse_decimal(&negative, Round::Up), Ok(-down));
}

fn assert_printed_back(value: f64) {
    for round in [Round::Down, Round::Up] {
        let text = format_decimal(value, round);
        assert_eq!(parse_decimal(&text, round), Ok(value), "{text} {round:?}");
        let digits = text.split('e').next().unwrap().replace(['.', '-'], "");
        assert!(digits.trim_matches('0').len() <= 17, "{text}");
    }
}

#[test]
fn integers_in_the_tests_are_right() {
    let googol = Natural::one().times_power(10, 100);
    assert_eq!(
        googol,
        Natural::from_digits(&format!("1{}", "0".repeat(100)))
    );
    assert_eq!(compare_exactly("1", -1, 0.1), Ordering::Less);
    assert_eq!(compare_exactly("3", -1, 0.3), Ordering::Greater);
    assert_eq!(compare_exactly("5", -1, 0.5), Ordering::Equal);
}

#[test]
fn the_costly_side_of_common_parameters() {
    assert_eq!(parse_decimal("0.1", Round::Down), Ok(0.1_f64.next_down()));
    assert_eq!(parse_decimal("0.1", Round::Up), Ok(0.1));
    assert_eq!(parse_decimal("0.3", Round::Down), Ok(0.3));
    assert_eq!(parse_decimal("0.3", Round::Up), Ok(0.3_f64.next_up()));
    for exact in [
        "1",
        "20",
        "0.25",
        "1e22",
        "9007199254740992",
        ".5",
        "5.",
        "+2",
        "-3",
        "0",
        "-0.0",
    ] {
        let value: f64 = exact.parse().unwrap();
        assert_eq!(parse_decimal(exact, Round::Down), Ok(value), "{exact}");
        assert_eq!(parse_decimal(exact, Round::Up), Ok(value), "{exact}");
    }
}

#[test]
fn the_ends_of_the_doubles() {
    let tiny = f64::from_bits(1);
    for text in ["1e-400", "1e-323000", "0.1e-99999999999999999999", "4e-324"] {
        assert_eq!(parse_decimal(text, Round::Down), Ok(0.0), "{text}");
        assert_eq!(parse_decimal(text, Round::Up), Ok(tiny), "{text}");
    }
    assert_eq!(parse_decimal("-1e-400", Round::Up).map(f64::to_bits), Ok(0));
    assert_eq!(parse_decimal("-1e-400", Round::Down), Ok(-tiny));
    for text in ["1e400", "-1e400", "2e308", "1e99999999999999999999"] {
        assert_eq!(
            parse_decimal(text, Round::Down),
            Err(DecimalError::TooLarge),
            "{text}"
        );
        assert_eq!(
            parse_decimal(text, Round::Up),
            Err(DecimalError::TooLarge),
            "{text}"
        );
    }
    let above = "1.7976931348623158e308";
    assert_eq!(parse_decimal(above, Round::Down), Ok(f64::MAX));
    assert_eq!(parse_decimal(above, Round::Up), Err(DecimalError::TooLarge));
    assert_eq!(parse_decimal("0e999999", Round::Up), Ok(0.0));
}

#[test]
fn long_decimals_are_compared_to_the_last_digit() {
    let half = format!("0.5{}1", "0".repeat(9_000));
    assert_eq!(parse_decimal(&half, Round::Down), Ok(0.5));
    assert_eq!(parse_decimal(&half, Round::Up), Ok(0.5_f64.next_up()));
    let exact = format!("{:.1074}", f64::from_bits(3));
    assert_eq!(parse_decimal(&exact, Round::Down), Ok(f64::from_bits(3)));
    assert_eq!(parse_decimal(&exact, Round::Up), Ok(f64::from_bits(3)));
    let long = "1".repeat(MAX_DIGITS + 1);
    assert_eq!(parse_decimal(&long, Round::Up), Err(DecimalError::TooLong));
}

#[test]
fn what_is_not_a_decimal_is_refused() {
    for text in [
        "", " 1", "1 ", "nan", "inf", "-inf", ".", "e5", "1e", "1e+", "1_0", "0x1", "١", "1e1.5",
        "--1",
    ] {
        assert_eq!(
            parse_decimal(text, Round::Up),
            Err(DecimalError::NotADecimal),
            "{text:?}"
        );
    }
}

#[test]
fn short_decimals_print_as_typed() {
    for text in [
        "1.1",
        "0.1",
        "0.3",
        "0.52",
        "20",
        "0.01",
        "1e-9",
        "1e-5",
        "0.3333333333333333",
        "5e-324",
    ] {
        for round in [Round::Down, Round::Up] {
            let printed = format_decimal(parse_decimal(text, round).unwrap(), round);
            assert!(printed.len() <= text.len() + 3, "{text} became {printed}");
            assert_eq!(parse_decimal(&printed, round), parse_decimal(text, round));
        }
    }
    assert_eq!(
        format_decimal(parse_decimal("1.1", Round::Down).unwrap(), Round::Down),
        "1.1"
    );
    assert_eq!(
        format_decimal(parse_decimal("0.52", Round::Up).unwrap(), Round::Up),
        "0.52"
    );
    assert_eq!(format_decimal(f64::INFINITY, Round::Up), "inf");
    assert_eq!(format_decimal(-0.0, Round::Up), "0");
}

#[test]
fn awkward_doubles_print_back() {
    let one = 1.0_f64;
    for value in [
        0.0,
        one.next_down(),
        one.next_up(),
        0.1 + 0.2,
        f64::MIN_POSITIVE,
        f64::from_bits(1),
        f64::MIN_POSITIVE.next_down(),
        f64::MAX,
        9_007_199_254_740_993.0,
        1e22,
        1e23,
        123_456.789,
    ] {
        assert_printed_back(value);
        assert_printed_back(-value);
    }
}

proptest! {
    #[test]
    fn a_decimal_lies_between_its_two_sides(m in 1_u64.., power in -30_i32..30) {
        assert_bracketed(&m.to_string(), power);
    }

    #[test]
    fn short_decimals_take_the_fast_path_to_the_same_answer(
        m in 1_u64..1_000_000_000_000_000, power in -22_i32..=22,
    ) {
        let text = format!("{m}e{power}");
        let decimal = Digits::parse(&text).unwrap();
        let nearest: f64 = text.parse().unwrap();
        let slow = Digits::of(nearest, Digits::EXACT).compare(&decimal);
        prop_assert!(fast_side(&decimal, nearest).is_none_or(|fast| fast == slow));
        assert_bracketed(&m.to_string(), power);
    }

    #[test]
    fn extreme_decimals_lie_between_too(m in 1_u64.., power in -345_i32..289) {
        assert_bracketed(&m.to_string(), power);
    }

    #[test]
    fn decimals_beside_a_double_fall_on_their_side(bits in any::<u64>(), cut in 1_usize..400) {
        let value = f64::from_bits(bits & !(1 << 63));
        prop_assume!(value.is_finite() && value > 0.0 && value < 1e300);
        let digits = Digits::of(value, Digits::EXACT);
        let below = digits.cut(cut, false).write();
        let above = digits.cut(cut, true).write();
        prop_assert!(parse_decimal(&below, Round::Up).unwrap() <= value);
        prop_assert!(parse_decimal(&above, Round::Down).unwrap() >= value);
    }

    #[test]
    fn every_double_prints_back(bits in any::<u64>()) {
        let value = f64::from_bits(bits);
        prop_assume!(value.is_finite());
        assert_printed_back(value);
    }

    #[test]
    fn typed_decimals_never_grow(m in 1_u32..1_000_000, power in -12_i32..3) {
        for round in [Round::Down, Round::Up] {
            let value = parse_decimal(&format!("{m}e{power}"), round).unwrap();
            let typed = Digits::parse(&format!("{m}e{power}")).unwrap().write();
            prop_assert_eq!(format_decimal(value, round), typed);
        }
    }
}
