//! Operands that are used more than once and computed once.
//!
//! A guard uses its operand two or more times: written out, an expression of depth n would have
//! 2^n parts. Longer operands are computed in a subquery, which `OFFSET 0` keeps the planner
//! from inlining.

/// The longest SQL that is repeated: a subquery takes as long as twenty operations.
const SHORT: usize = 160;

/// An expression over the names of these operands. It refers to nothing else, because operands
/// are outside of its subquery.
pub(super) fn with_operands<const N: usize>(
    operands: [&str; N],
    body: impl FnOnce([&str; N]) -> String,
) -> String {
    with_each_operand(&operands, |names| {
        let mut names = names.iter();
        body(operands.map(|_| names.next().copied().unwrap_or_default()))
    })
}

/// The same for any number of operands.
pub(super) fn with_each_operand(operands: &[&str], body: impl FnOnce(&[&str]) -> String) -> String {
    if operands.iter().all(|operand| operand.len() <= SHORT) {
        return format!("({})", body(operands));
    }
    // No column has such a name.
    let names: Vec<String> = (0..operands.len())
        .map(|place| format!("once_{place}"))
        .collect();
    let columns: Vec<String> = operands
        .iter()
        .zip(&names)
        .map(|(operand, name)| format!("{operand} AS {name}"))
        .collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    format!(
        "(SELECT {} FROM (SELECT {} OFFSET 0) AS once)",
        body(&names),
        columns.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_operands_are_written_once() {
        let twice = |text: &str| with_operands([text], |[a]| format!("{a} + {a}"));
        assert_eq!(twice("c0"), "(c0 + c0)");
        let mut text = "c0".to_owned();
        for _ in 0..100 {
            text = twice(&text);
        }
        assert!(text.len() < 20_000, "{}", text.len());
        assert_eq!(text.matches("c0").count(), 32);
    }
}
