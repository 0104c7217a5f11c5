//! Splits the text of an event into tokens.

/// A piece of text and where it starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Token<'a> {
    pub(super) kind: TokenKind,
    pub(super) text: &'a str,
    /// In bytes.
    pub(super) at: usize,
}

/// What a token looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TokenKind {
    /// Letters, digits, `-` and `_`, starting with a letter.
    Word,
    /// Starts with a digit or a point; whether it is a number is for the
    /// decimal reader to say.
    Number,
    /// Any other character.
    Symbol(char),
    /// Nothing is left.
    End,
}

/// Reads tokens one by one. White space is skipped.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lexer<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Lexer<'a> {
    pub(super) const fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    /// The next token.
    pub(super) fn next(&mut self) -> Token<'a> {
        let rest = self.rest();
        let kind = match rest.chars().next() {
            None => {
                // Point behind the last visible character.
                return Token {
                    kind: TokenKind::End,
                    text: "",
                    at: self.text.trim_end().len(),
                };
            }
            Some(c) if c.is_alphabetic() || c == '_' => TokenKind::Word,
            Some(c) if c.is_numeric() || c == '.' => TokenKind::Number,
            Some(c) => TokenKind::Symbol(c),
        };
        let length = match kind {
            TokenKind::Word => word_length(rest),
            TokenKind::Number => number_length(rest),
            TokenKind::Symbol(c) => c.len_utf8(),
            TokenKind::End => 0,
        };
        self.take(kind, length)
    }

    /// The next token, left in place.
    pub(super) fn peek(&self) -> Token<'a> {
        let mut ahead = *self;
        ahead.next()
    }

    /// The next token, in a place where a sign belongs to the number (or to
    /// the `inf`) behind it.
    pub(super) fn next_literal(&mut self) -> Token<'a> {
        let rest = self.rest();
        let unsigned = rest.strip_prefix(['-', '+']).unwrap_or(rest);
        let sign = rest.len() - unsigned.len();
        match unsigned.chars().next() {
            Some(c) if sign > 0 && (c.is_numeric() || c == '.') => {
                self.take(TokenKind::Number, sign + number_length(unsigned))
            }
            Some(c) if sign > 0 && c.is_alphabetic() => {
                self.take(TokenKind::Word, sign + word_length(unsigned))
            }
            _ => self.next(),
        }
    }

    /// Takes the next token if it is this symbol.
    pub(super) fn eat(&mut self, symbol: char) -> bool {
        let found = self.peek().kind == TokenKind::Symbol(symbol);
        if found {
            self.next();
        }
        found
    }

    /// What is left, without the white space in front.
    fn rest(&mut self) -> &'a str {
        let rest = self.text.get(self.at..).unwrap_or("");
        let trimmed = rest.trim_start();
        self.at += rest.len() - trimmed.len();
        trimmed
    }

    fn take(&mut self, kind: TokenKind, length: usize) -> Token<'a> {
        let at = self.at;
        self.at += length;
        Token {
            kind,
            text: self.text.get(at..self.at).unwrap_or(""),
            at,
        }
    }
}

fn word_length(text: &str) -> usize {
    text.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '-'))
        .unwrap_or(text.len())
}

/// Digits, letters and points, so that `1.5x` is one bad number rather than a
/// number and a word; and the sign of an exponent.
fn number_length(text: &str) -> usize {
    let mut last = ' ';
    let mut length = 0;
    for (at, c) in text.char_indices() {
        let next_is_digit = || {
            text.get(at + c.len_utf8()..)
                .is_some_and(|rest| rest.starts_with(|d: char| d.is_ascii_digit()))
        };
        let exponent_sign = matches!(c, '-' | '+') && matches!(last, 'e' | 'E') && next_is_digit();
        if !(c.is_alphanumeric() || matches!(c, '.' | '_') || exponent_sign) {
            break;
        }
        last = c;
        length = at + c.len_utf8();
    }
    length
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<&str> {
        let mut lexer = Lexer::new(text);
        std::iter::from_fn(|| Some(lexer.next()).filter(|t| t.kind != TokenKind::End))
            .map(|token| token.text)
            .collect()
    }

    #[test]
    fn tokens_are_cut_where_people_see_them() {
        assert_eq!(
            texts("1_000*rr(.5)+x"),
            ["1_000", "*", "rr", "(", ".5", ")", "+", "x"]
        );
        assert_eq!(texts("1e-5,1e+5 2e"), ["1e-5", ",", "1e+5", "2e"]);
        assert_eq!(
            texts("without-replacement\n(q=1)"),
            ["without-replacement", "(", "q", "=", "1", ")"]
        );
        assert_eq!(texts("2:0.1"), ["2", ":", "0.1"]);
        assert_eq!(texts("ميزان(١)"), ["ميزان", "(", "١", ")"]);
        assert_eq!(texts("1.5x-2"), ["1.5x", "-", "2"]);
    }

    #[test]
    fn a_sign_belongs_to_a_literal_only_where_one_is_wanted() {
        assert_eq!(Lexer::new(" -1.5)").next_literal().text, "-1.5");
        assert_eq!(Lexer::new("-inf)").next_literal().text, "-inf");
        assert_eq!(Lexer::new("- 1").next_literal().text, "-");
        assert_eq!(Lexer::new("-1").next().text, "-");
    }
}
