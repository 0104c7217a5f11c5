//! The part of a text that has a fault, with a caret under it.

use std::fmt;

/// The longest piece of a line that is shown.
const WIDTH: usize = 76;

/// A place in a text, for display.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Snippet {
    /// The line, from 1.
    pub(super) line: usize,
    /// The character in the line, from 1.
    pub(super) column: usize,
    shown: String,
    indent: usize,
}

impl Snippet {
    /// The place at byte `at` of `text`.
    pub(super) fn new(text: &str, at: usize) -> Self {
        let (before, after) = text.split_at_checked(at).unwrap_or((text, ""));
        let start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let head = before.get(start..).unwrap_or("");
        let tail = after.split(['\n', '\r']).next().unwrap_or("");

        let (left, right) = window(head, tail);
        let mut shown = String::new();
        let mut indent = 0;
        if left < head.chars().count() {
            shown.push('…');
            indent = 1;
        }
        indent += left;
        let from = head
            .char_indices()
            .rev()
            .take(left)
            .last()
            .map_or(head.len(), |(i, _)| i);
        shown.extend(head.get(from..).unwrap_or("").chars().map(visible));
        shown.extend(tail.chars().take(right).map(visible));
        if tail.chars().nth(right).is_some() {
            shown.push('…');
        }
        Self {
            line: before.matches('\n').count() + 1,
            column: head.chars().count() + 1,
            shown,
            indent,
        }
    }
}

impl fmt::Display for Snippet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n{:indent$}^", self.shown, "", indent = self.indent)
    }
}

/// How many characters to show on either side of the caret: half the width
/// each, more where the other side is short.
fn window(head: &str, tail: &str) -> (usize, usize) {
    let head = head.chars().count();
    let tail = tail.chars().take(WIDTH + 1).count();
    if head + tail <= WIDTH {
        return (head, tail);
    }
    // Two columns are kept for the ellipses.
    let room = WIDTH - 2;
    let left = head.min((room / 2).max(room.saturating_sub(tail)));
    (left, room - left)
}

/// Text of unknown origin, cut to a length that fits a message.
pub(super) fn quote(text: &str) -> String {
    const LONGEST: usize = 40;
    let mut quoted: String = text.chars().take(LONGEST).map(visible).collect();
    if text.chars().nth(LONGEST).is_some() {
        quoted.push('…');
    }
    quoted
}

/// The character, unless it would move the cursor or turn the line around.
fn visible(c: char) -> char {
    match c {
        '\t' => ' ',
        '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => '\u{fffd}',
        _ if c.is_control() => '\u{fffd}',
        _ => c,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_line_is_shown_whole() {
        let snippet = Snippet::new("gaussian(1) + x\ty", 14);
        assert_eq!(snippet.to_string(), "gaussian(1) + x y\n              ^");
        assert_eq!((snippet.line, snippet.column), (1, 15));
    }

    #[test]
    fn only_the_line_in_question_is_shown() {
        let snippet = Snippet::new("first +\r\nsecond +\nthird", 9);
        assert_eq!(snippet.to_string(), "second +\n^");
        assert_eq!((snippet.line, snippet.column), (2, 1));
    }

    #[test]
    fn columns_are_characters_not_bytes() {
        let text = "ميزان(1)";
        let at = text.find('(').unwrap();
        assert_eq!(Snippet::new(text, at).to_string(), "ميزان(1)\n     ^");
    }

    #[test]
    fn a_long_line_is_a_window_around_the_caret() {
        let long = format!("{}!{}", "a".repeat(500_000), "b".repeat(500_000));
        for (text, at) in [
            (long.as_str(), 500_000),
            (&long, 0),
            (&long, long.len()),
            (&long, 30),
        ] {
            let shown = Snippet::new(text, at).to_string();
            let (line, caret) = shown.split_once('\n').unwrap();
            assert!(line.chars().count() <= WIDTH, "{}", line.chars().count());
            let column = caret.chars().count() - 1;
            assert_eq!(line.chars().nth(column), text.chars().nth(at), "{shown}");
        }
    }

    #[test]
    fn escapes_do_not_reach_the_terminal() {
        assert_eq!(quote("\u{1b}[31m\u{202e}"), "\u{fffd}[31m\u{fffd}");
        assert_eq!(quote(&"x".repeat(100)).chars().count(), 41);
    }
}
