//! Text in a figure: measuring, wrapping, escaping, writing.

use std::borrow::Cow;
use std::fmt::{self, Write as _};

/// A coordinate, written with at most two decimals.
#[derive(Clone, Copy)]
pub(super) struct Px(pub(super) f64);

impl fmt::Display for Px {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hundredths = (self.0 * 100.0).round();
        // Adding zero turns a negative zero into a plain one.
        write!(f, "{}", hundredths / 100.0 + 0.0)
    }
}

/// Which point of the text stands at the given place.
#[derive(Clone, Copy)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

impl Anchor {
    /// As an attribute with a leading space; the start goes without saying.
    pub(super) fn attribute(self) -> &'static str {
        match self {
            Self::Start => "",
            Self::Middle => " text-anchor=\"middle\"",
            Self::End => " text-anchor=\"end\"",
        }
    }
}

/// Writes one line of text with its baseline at `(x, y)`.
pub(super) fn write(
    svg: &mut String,
    (x, y): (f64, f64),
    anchor: Anchor,
    size: f64,
    bold: bool,
    line: &str,
) {
    let weight = if bold { " font-weight=\"600\"" } else { "" };
    let _ = writeln!(
        svg,
        "<text x=\"{}\" y=\"{}\" font-size=\"{size}\"{weight}{}>{}</text>",
        Px(x),
        Px(y),
        anchor.attribute(),
        escape(line)
    );
}

/// Replaces what XML would read as markup, and drops what it cannot hold.
pub(super) fn escape(text: &str) -> Cow<'_, str> {
    let special = |symbol: char| matches!(symbol, '&' | '<' | '>' | '"' | '\'') || !is_xml(symbol);
    if !text.contains(special) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for symbol in text.chars() {
        match symbol {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            _ if is_xml(symbol) => escaped.push(symbol),
            _ => escaped.push('\u{fffd}'),
        }
    }
    Cow::Owned(escaped)
}

/// Whether XML 1.0 allows the character at all.
fn is_xml(symbol: char) -> bool {
    matches!(symbol, '\t' | '\n' | '\r' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..)
}

/// About how wide a line will be; errs on the wide side, because the reader's
/// font is not known here.
pub(super) fn width(line: &str, size: f64) -> f64 {
    let ems = line.chars().map(|symbol| match symbol {
        'i' | 'j' | 'l' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' => 0.32,
        ' ' | 't' | 'f' | 'r' | '(' | ')' | '[' | ']' | '-' | '/' => 0.38,
        'm' | 'w' | 'M' | 'W' | '@' | '%' => 0.9,
        'A'..='Z' | '=' | '×' | '≤' | '≥' | '∞' | '−' | '+' => 0.72,
        // Marks of direction are not seen.
        RIGHT_TO_LEFT | '\u{2066}' | '\u{2068}' | ISOLATE_END => 0.0,
        '\u{2e80}'.. => 1.0,
        _ => 0.62,
    });
    ems.sum::<f64>() * size
}

/// What follows is right to left, up to [`ISOLATE_END`].
const RIGHT_TO_LEFT: char = '\u{2067}';

/// The end of a part with its own direction.
const ISOLATE_END: char = '\u{2069}';

/// Breaks text between words into lines no wider than `room`; no-break spaces keep words
/// together. Where the whole text is right to left, so is each line.
pub(super) fn wrap(text: &str, size: f64, room: f64) -> Vec<String> {
    let inner = text.strip_prefix(RIGHT_TO_LEFT);
    if let Some(inner) = inner.and_then(|text| text.strip_suffix(ISOLATE_END)) {
        let lines = wrap(inner, size, room).into_iter();
        return lines
            .map(|line| format!("{RIGHT_TO_LEFT}{line}{ISOLATE_END}"))
            .collect();
    }
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_ascii_whitespace() {
        match lines.last_mut() {
            Some(line) if width(line, size) + width(word, size) + 0.4 * size <= room => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_is_escaped() {
        assert_eq!(escape("a < b & \"c\""), "a &lt; b &amp; &quot;c&quot;");
        assert_eq!(escape("bell\u{7}"), "bell\u{fffd}");
        assert!(matches!(escape("α, ε, δ"), Cow::Borrowed(_)));
    }

    #[test]
    fn coordinates_are_short() {
        let written: Vec<String> = [1.0, 0.125, -0.001, 99.999]
            .map(|x| Px(x).to_string())
            .into();
        assert_eq!(written, ["1", "0.13", "0", "100"]);
    }

    #[test]
    fn lines_of_a_right_to_left_text_are_right_to_left() {
        let room = 2.0 * width("مرة", 10.0);
        assert_eq!(
            wrap("\u{2067}مرة مرة\u{2069}", 10.0, room),
            ["\u{2067}مرة\u{2069}", "\u{2067}مرة\u{2069}"]
        );
        assert!((width("\u{2068}a\u{2069}", 10.0) - width("a", 10.0)).abs() < 1e-9);
    }

    #[test]
    fn lines_break_between_words() {
        assert_eq!(wrap("one two three", 10.0, 45.0), ["one two", "three"]);
        assert_eq!(wrap("  ", 10.0, 45.0), Vec::<String>::new());
        assert_eq!(wrap("indivisible", 10.0, 5.0), ["indivisible"]);
    }
}
