//! ASCII substitutes for terminals without UTF-8.

/// Spells out the symbols that Mizan prints: `ε ≤ ∞` becomes `epsilon <= inf`.
///
/// What has no spelling becomes `?`, so the result is always ASCII.
///
/// ```
/// assert_eq!(mizan_report::ascii("δ = 10⁻⁶, ε ≤ ∞"), "delta = 10^-6, epsilon <= inf");
/// ```
#[must_use]
pub fn ascii(text: &str) -> String {
    let mut spelled = String::with_capacity(text.len());
    let mut raised = false;
    for symbol in text.chars() {
        if let Some(exponent) = superscript(symbol) {
            if !raised {
                spelled.push('^');
            }
            raised = true;
            spelled.push(exponent);
            continue;
        }
        raised = false;
        match symbol {
            _ if symbol.is_ascii() => spelled.push(symbol),
            _ => spelled.push_str(spelling(symbol)),
        }
    }
    spelled
}

/// The ordinary character that a superscript raises.
fn superscript(symbol: char) -> Option<char> {
    "⁰¹²³⁴⁵⁶⁷⁸⁹⁻"
        .chars()
        .zip("0123456789-".chars())
        .find_map(|(raised, plain)| (raised == symbol).then_some(plain))
}

fn spelling(symbol: char) -> &'static str {
    match symbol {
        'α' => "alpha",
        'β' => "beta",
        'γ' => "gamma",
        'δ' => "delta",
        'Δ' => "Delta",
        'ε' => "epsilon",
        'λ' => "lambda",
        'μ' | 'µ' => "mu",
        'ρ' => "rho",
        'σ' => "sigma",
        'τ' => "tau",
        'φ' => "phi",
        'é' => "e",
        '₀' => "0",
        '₁' => "1",
        '₂' => "2",
        '∞' => "inf",
        '≤' => "<=",
        '≥' => ">=",
        '≈' => "~",
        '±' => "+/-",
        '×' => "x",
        '·' | '•' => "*",
        '−' | '–' | '—' | '─' => "-",
        '→' => "->",
        '√' => "sqrt",
        '…' => "...",
        '’' | '‘' => "'",
        '“' | '”' => "\"",
        '\u{a0}' | '\u{2009}' | '\u{202f}' => " ",
        _ => "?",
    }
}

#[cfg(test)]
mod tests {
    use super::ascii;

    #[test]
    fn plain_text_is_untouched() {
        assert_eq!(ascii("epsilon = 1.5"), "epsilon = 1.5");
    }

    #[test]
    fn the_result_is_always_ascii() {
        assert_eq!(ascii("Rényi ميزان 10⁻¹²"), "Renyi ????? 10^-12");
        assert_eq!(ascii("x² y²"), "x^2 y^2");
    }
}
