//! Arithmetic for which PostgreSQL raises errors, as total expressions.
//!
//! Its integers raise an error on overflow. Its doubles raise an error when a finite result
//! overflows, when a nonzero product or quotient rounds to zero, and on division by zero. In
//! between it follows IEEE 754. So each operation first checks whether it would raise an error:
//! by comparing magnitudes for nearly all rows, and with exact integers for those near the
//! limits.
//!
//! The planner evaluates constant parts before it knows which branch is taken. So everything
//! that may raise an error is guarded by a condition on exactly its own operands.

use super::shared_operands::with_operands;

/// NaN; PostgreSQL treats it as equal to itself.
pub(super) const NAN: &str = "'NaN'::float8";

const INFINITY: &str = "'Infinity'::float8";

/// A whole `numeric` as an integer; NULL beyond 64 bits. LEAST and GREATEST turn `NULL` into a
/// bound, which is NULL in the end too.
pub(super) fn narrow(whole: &str) -> String {
    const BELOW: &str = "-9223372036854775809";
    const ABOVE: &str = "9223372036854775808";
    format!("NULLIF(NULLIF(LEAST(GREATEST({whole}, {BELOW}), {ABOVE}), {BELOW}), {ABOVE})::bigint")
}

/// Sum, difference or product of integers. Small operands cannot overflow.
pub(super) fn integers(operator: &str, a: &str, b: &str) -> String {
    let small = match operator {
        "*" => "BETWEEN -2147483648 AND 2147483647",
        _ => "BETWEEN -4611686018427387904 AND 4611686018427387903",
    };
    with_operands([a, b], |[a, b]| {
        let exact = narrow(&format!("{a}::numeric {operator} {b}::numeric"));
        format!("CASE WHEN {a} {small} AND {b} {small} THEN {a} {operator} {b} ELSE {exact} END")
    })
}

/// The largest multiple of a positive integer that is not above the value.
pub(super) fn integer_bucket(value: &str, width: &str) -> String {
    with_operands([value, width], |[a, w]| {
        let below = narrow(&format!("{a}::numeric - {a} % {w} - {w}"));
        format!("CASE WHEN {a} % {w} < 0 THEN {below} ELSE {a} - {a} % {w} END")
    })
}

/// Sum or difference of doubles.
pub(super) fn sum(operator: &str, a: &str, b: &str) -> String {
    with_operands([a, b], |[a, b]| {
        // If one operand is beyond 2^1019, half of the sum is exactly the sum of the halves,
        // and operands below one have no effect.
        let half = |x: &str| format!("CASE WHEN abs({x}) >= 1 THEN {x} END * 0.5::float8");
        let half = format!("({} {operator} {})", half(a), half(b));
        let minus = if operator == "-" { "-" } else { "" };
        format!(
            "CASE WHEN abs({a}) < '1e307'::float8 AND abs({b}) < '1e307'::float8 \
             THEN {a} {operator} {b} \
             WHEN abs({a}) = {INFINITY} OR abs({b}) = {INFINITY} \
             THEN NULLIF({a} {operator} {b}, {NAN}) \
             WHEN abs({a}) < 1::float8 THEN {minus}{b} WHEN abs({b}) < 1::float8 THEN {a} \
             WHEN {half} >= {TWO_1023} THEN {INFINITY} WHEN {half} <= -{TWO_1023} \
             THEN -{INFINITY} ELSE {half} * 2::float8 END"
        )
    })
}

const TWO_1023: &str = "'8.98846567431158e+307'::float8";

/// Magnitudes whose products and quotients are far from both limits.
const MIDDLE: &str = "BETWEEN '1e-150'::float8 AND '1e150'::float8";

/// Product of doubles.
pub(super) fn product(a: &str, b: &str) -> String {
    let zero = at_least("1::numeric", "-1075", "ma * mb", "ea + eb");
    let infinite = at_least("ma * mb", "ea + eb", LARGEST, "970");
    with_operands([a, b], |[a, b]| {
        format!(
            "CASE WHEN abs({a}) {MIDDLE} AND abs({b}) {MIDDLE} THEN {a} * {b} \
             WHEN {a} = 0 OR {b} = 0 OR abs({a}) = {INFINITY} OR abs({b}) = {INFINITY} \
             THEN NULLIF({a} * {b}, {NAN}) + 0::float8 {}",
            near_the_ends("*", a, b, &zero, &infinite)
        )
    })
}

/// Quotient of doubles; NULL for division by zero.
pub(super) fn quotient(a: &str, b: &str) -> String {
    let zero = at_least("mb", "eb - 1075", "ma", "ea");
    let infinite = at_least("ma", "ea", &format!("mb * {LARGEST}"), "eb + 970");
    with_operands([a, b], |[a, b]| {
        format!(
            "CASE WHEN abs({a}) {MIDDLE} AND abs({b}) {MIDDLE} THEN {a} / {b} \
             WHEN {b} = 0 THEN NULL \
             WHEN abs({b}) = {INFINITY} THEN CASE WHEN abs({a}) < {INFINITY} THEN 0::float8 END \
             WHEN {a} = 0 OR abs({a}) = {INFINITY} THEN {a} / {b} + 0::float8 {}",
            near_the_ends("/", a, b, &zero, &infinite)
        )
    })
}

/// From 2^54 - 1 times 2^970 on, numbers round to infinity.
const LARGEST: &str = "18014398509481983::numeric";

/// The other cases of a product or a quotient of finite nonzero numbers, whose result may be
/// zero or infinite. All of it is behind `OFFSET 0`, where nothing is constant for the planner.
fn near_the_ends(operator: &str, a: &str, b: &str, zero: &str, infinite: &str) -> String {
    format!(
        "WHEN {a} IS NULL OR {b} IS NULL THEN NULL ELSE \
         (SELECT CASE WHEN {zero} THEN 0::float8 WHEN {infinite} THEN \
         CASE WHEN (a < 0) = (b < 0) THEN {INFINITY} ELSE -{INFINITY} END \
         ELSE a {operator} b END FROM (SELECT {a} AS a, {b} AS b, \
         {} AS ma, {} AS ea, {} AS mb, {} AS eb OFFSET 0) AS parts) END",
        mantissa(a),
        exponent(a),
        mantissa(b),
        exponent(b)
    )
}

/// Whether `x 2^p >= y 2^q` for positive integers below 2^108.
fn at_least(x: &str, p: &str, y: &str, q: &str) -> String {
    let d = format!("({p} - ({q}))");
    let power = |n: &str| {
        format!("(1::bigint << ({n} / 2))::numeric * (1::bigint << ({n} - {n} / 2))::numeric")
    };
    format!(
        "CASE WHEN {d} >= 110 THEN TRUE WHEN {d} <= -110 THEN FALSE \
         WHEN {d} >= 0 THEN {x} * {} >= {y} ELSE {x} >= {y} * {} END",
        power(&d),
        power(&format!("(-{d})"))
    )
}

/// The bits of the magnitude of a double, as an integer.
fn bits(value: &str) -> String {
    format!("('x' || encode(float8send(abs({value})), 'hex'))::bit(64)::bigint")
}

/// The mantissa of a double as an integer.
fn mantissa(value: &str) -> String {
    let bits = bits(value);
    format!(
        "(({bits} & 4503599627370495) + \
         CASE WHEN {bits} >= 4503599627370496 THEN 4503599627370496 ELSE 0 END)::numeric"
    )
}

/// Its exponent of two.
fn exponent(value: &str) -> String {
    format!("(GREATEST({} >> 52, 1) - 1075)::int4", bits(value))
}

/// The nearest whole double, halves away from zero.
pub(super) fn round(value: &str) -> String {
    with_operands([value], |[a]| {
        format!(
            "CASE WHEN abs({a}) < 4503599627370496::float8 THEN trunc({a}) + \
             CASE WHEN abs({a} - trunc({a})) >= 0.5::float8 THEN sign({a}) ELSE 0::float8 END \
             ELSE {a} END"
        )
    })
}

/// The square root; NULL for negative numbers.
pub(super) fn root(value: &str) -> String {
    with_operands([value], |[a]| {
        format!("CASE WHEN {a} >= 0 THEN sqrt({a}) END")
    })
}

/// The integer nearest to a double, halves to even, as PostgreSQL casts; NULL beyond 64 bits.
pub(super) fn nearest(value: &str) -> String {
    with_operands([value], |[a]| {
        format!(
            "CASE WHEN {a} >= '-9223372036854775808'::float8 AND \
             {a} < '9223372036854775808'::float8 THEN ({a})::bigint END"
        )
    })
}

/// A clamped value; NULL stays NULL.
pub(super) fn clamp(value: &str, low: &str, high: &str) -> String {
    with_operands([value], |[a]| {
        format!("CASE WHEN {a} < {low} THEN {low} WHEN {a} > {high} THEN {high} ELSE {a} END")
    })
}

/// The least magnitude that rounds to infinity, 2^1024 - 2^970, in decimal.
pub(super) fn beyond_doubles() -> String {
    // (2^54 - 1) 2^970
    let mut digits = Decimal::from(18_014_398_509_481_983);
    digits.multiply(2, 970);
    digits.whole()
}

/// The greatest magnitude that rounds to zero, 2^-1075, in decimal.
pub(super) fn below_doubles() -> String {
    // 5^1075 / 10^1075
    let mut digits = Decimal::from(1);
    digits.multiply(5, 1075);
    format!("0.{:0>1075}", digits.whole())
}

/// Integers in decimal, last digit first.
struct Decimal(Vec<u8>);

impl Decimal {
    fn from(value: u64) -> Self {
        Self(
            value
                .to_string()
                .bytes()
                .rev()
                .map(|digit| digit - b'0')
                .collect(),
        )
    }

    fn multiply(&mut self, factor: u8, times: u32) {
        for _ in 0..times {
            let mut carry = 0;
            for digit in &mut self.0 {
                let product = *digit * factor + carry;
                (*digit, carry) = (product % 10, product / 10);
            }
            if carry > 0 {
                self.0.push(carry);
            }
        }
    }

    fn whole(&self) -> String {
        self.0
            .iter()
            .rev()
            .map(|digit| char::from(digit + b'0'))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests may panic")]

    use super::*;

    #[test]
    fn the_ends_of_doubles_in_decimal() {
        // Ties round to even: the limits themselves are out of range.
        assert_eq!(beyond_doubles().parse(), Ok(f64::INFINITY));
        let mut last = beyond_doubles();
        let digit = last.pop().unwrap();
        last.push(char::from(u8::try_from(digit).unwrap() - 1));
        assert_eq!(last.parse(), Ok(f64::MAX));
        assert_eq!(below_doubles().parse(), Ok(0.0));
        assert_eq!(format!("{}1", below_doubles()).parse(), Ok(5e-324));
    }
}
