//! Sentences as HTML: placeholders are filled in, and what is left to right stands in a
//! `<bdi>` of its own.
//!
//! In Arabic, neutral characters at the edge of a Latin word take the direction of the
//! paragraph: `mizan_` would be shown as `_mizan`, and `--cert` as `cert--`. So each run of
//! Latin letters, digits and symbols in an Arabic sentence is isolated.

use std::fmt;

use askama::filters::HtmlSafe;

/// HTML that was escaped where it had to be.
#[derive(Clone, Debug, Default)]
pub struct Markup(pub String);

impl Markup {
    /// Plain text as HTML.
    #[must_use]
    pub fn text(text: &str) -> Self {
        let mut html = String::with_capacity(text.len());
        escape(&mut html, text);
        Self(html)
    }
}

impl fmt::Display for Markup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl HtmlSafe for Markup {}

/// Fills in the placeholders of a sentence. Each value has a direction of its own, and a
/// formula in `[[…]]` is left to right in every language.
#[must_use]
pub fn fill(sentence: &str, values: &[(&str, &str)]) -> Markup {
    let mut html = String::with_capacity(sentence.len() + 64);
    let arabic = sentence.chars().any(is_arabic);
    let mut in_formula = false;
    let mut rest = sentence;
    while let Some(at) = rest.find(['{', '[', ']']) {
        let (before, after) = rest.split_at(at);
        fixed(&mut html, before, arabic && !in_formula);
        rest = if let Some(after) = after.strip_prefix("[[") {
            html.push_str("<bdi dir=\"ltr\">");
            in_formula = true;
            after
        } else if let Some(after) = after.strip_prefix("]]") {
            html.push_str("</bdi>");
            in_formula = false;
            after
        } else if let Some((name, after)) = after
            .strip_prefix('{')
            .and_then(|after| after.split_once('}'))
        {
            let value = values.iter().find(|(key, _)| *key == name);
            html.push_str("<bdi>");
            escape(&mut html, value.map_or("", |(_, value)| value));
            html.push_str("</bdi>");
            after
        } else {
            // A bracket that is only a bracket.
            let mut characters = after.chars();
            html.extend(characters.next());
            characters.as_str()
        };
    }
    fixed(&mut html, rest, arabic && !in_formula);
    Markup(html)
}

/// Text of a library or of the registry of codes, without placeholders.
pub(super) fn isolated(text: &str) -> Markup {
    let mut html = String::with_capacity(text.len() + 64);
    fixed(&mut html, text, text.chars().any(is_arabic));
    Markup(html)
}

/// A part of a sentence as HTML; a number keeps its sign, % or ±, on the line.
fn fixed(html: &mut String, text: &str, isolate: bool) {
    let text = text.replace(" %", "\u{a0}%").replace("± ", "±\u{a0}");
    let mut rest = text.as_str();
    while isolate && let Some((before, run, after)) = next_run(rest) {
        escape(html, before);
        html.push_str("<bdi dir=\"ltr\">");
        escape(html, run);
        html.push_str("</bdi>");
        rest = after;
    }
    escape(html, rest);
}

/// The first run of characters that are left to right, with what stands before and after.
/// A run begins and ends with a character that belongs to it: the punctuation of the
/// sentence does not.
fn next_run(text: &str) -> Option<(&str, &str, &str)> {
    let mut from = 0;
    loop {
        let start = from + text.get(from..)?.find(|c| is_ltr(c) && c != ' ')?;
        let tail = text.get(start..)?;
        let length = tail.find(|c| !is_ltr(c)).unwrap_or(tail.len());
        let run = trimmed(tail.get(..length)?);
        if run.chars().any(char::is_alphanumeric) {
            let begin = start + tail.find(run)?;
            let end = begin + run.len();
            return Some((text.get(..begin)?, run, text.get(end..)?));
        }
        from = start + length;
    }
}

/// A run without the punctuation of the sentence around it. The dot of `.csv` belongs to it.
fn trimmed(mut run: &str) -> &str {
    while let Some(rest) = run.strip_prefix([' ', '(', '.', ',', ':', ';'])
        && !(run.starts_with('.') && rest.starts_with(char::is_alphanumeric))
    {
        run = rest;
    }
    loop {
        let shorter = run.trim_end_matches([' ', '.', ',', ':', ';']);
        let unbalanced = shorter.matches(')').count() > shorter.matches('(').count();
        let shorter = match unbalanced {
            true => shorter.strip_suffix(')').unwrap_or(shorter),
            false => shorter,
        };
        if shorter.len() == run.len() {
            return run;
        }
        run = shorter;
    }
}

fn is_arabic(c: char) -> bool {
    ('\u{600}'..='\u{6ff}').contains(&c)
}

/// Latin and Greek letters, digits, ASCII and the symbols of formulas.
fn is_ltr(c: char) -> bool {
    matches!(c, ' '..='~' | '\u{a0}' | '±' | 'À'..='ɏ' | 'Α'..='ω' | '∞' | '≤' | '≥' | '…' | '−')
}

/// Escapes text for HTML.
fn escape(html: &mut String, text: &str) {
    for c in text.chars() {
        match c {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '"' => html.push_str("&quot;"),
            '\'' => html.push_str("&#39;"),
            c => html.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_escaped_and_isolated() {
        let html = fill("part of {parent}", &[("parent", "<b>")]);
        assert_eq!(html.0, "part of <bdi>&lt;b&gt;</bdi>");
        let html = fill("[[ε ≤ {e}]] [1]", &[("e", "[[2]]")]);
        assert_eq!(html.0, "<bdi dir=\"ltr\">ε ≤ <bdi>[[2]]</bdi></bdi> [1]");
        let html = fill("[[95 %]] of 3 %", &[]);
        assert_eq!(html.0, "<bdi dir=\"ltr\">95\u{a0}%</bdi> of 3\u{a0}%");
        let html = fill("[[± {width}]]", &[("width", "2")]);
        assert_eq!(html.0, "<bdi dir=\"ltr\">±\u{a0}<bdi>2</bdi></bdi>");
    }

    #[test]
    fn latin_words_in_arabic_sentences_are_isolated() {
        let ltr = |text: &str| format!("<bdi dir=\"ltr\">{text}</bdi>");
        for (sentence, expected) in [
            (
                "يبدأ بـ mizan_ ويُنشأ",
                format!("يبدأ بـ {} ويُنشأ", ltr("mizan_")),
            ),
            (
                "أعطِ --cert و--key، أو غيرهما.",
                format!("أعطِ {} و{}، أو غيرهما.", ltr("--cert"), ltr("--key")),
            ),
            ("مثل rr(0.6).", format!("مثل {}.", ltr("rr(0.6)"))),
            (
                "ينتهي بـ .json أو .csv.",
                format!("ينتهي بـ {} أو {}.", ltr(".json"), ltr(".csv")),
            ),
            (
                "كاملًا (mizan1:…) أو المعرّف.",
                format!("كاملًا ({}) أو المعرّف.", ltr("mizan1:…")),
            ),
            (
                "بالأمر mizan token list.",
                format!("بالأمر {}.", ltr("mizan token list")),
            ),
            (
                "قيمة ε عند δ",
                format!("قيمة {} عند {}", ltr("ε"), ltr("δ")),
            ),
            ("جذر (اختياري): نعم.", "جذر (اختياري): نعم.".to_owned()),
        ] {
            assert_eq!(isolated(sentence).0, expected);
        }
        // English sentences stay as they are, but for their escapes.
        assert_eq!(
            isolated("use --cert & 'x'").0,
            "use --cert &amp; &#39;x&#39;"
        );
    }

    #[test]
    fn the_edges_of_a_run_belong_to_it() {
        assert_eq!(next_run("لا شيء"), None);
        assert_eq!(next_run("أ. - ب"), None);
        assert_eq!(next_run("x"), Some(("", "x", "")));
        assert_eq!(trimmed("(a (b))."), "a (b)");
        assert_eq!(trimmed(". (.csv)"), ".csv");
    }
}
