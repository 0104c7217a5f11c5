//! What the terminal can show, and writing to it.

use std::io::{IsTerminal, Write};
use std::process::ExitCode;
use std::sync::OnceLock;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use mizan_core::Order;
use mizan_report::{Terminal, number};
use serde_json::Value;

use crate::cli::Format;
use crate::failure::Failure;

/// What a command has to say, and whether it is a refusal.
#[derive(Debug)]
pub(crate) struct Answer {
    text: String,
    refused: bool,
}

impl Answer {
    pub(crate) fn done(text: String) -> Self {
        Self {
            text,
            refused: false,
        }
    }

    pub(crate) fn refused(text: String) -> Self {
        Self {
            text,
            refused: true,
        }
    }

    /// Writes it, and says how the program ends.
    pub(crate) fn print(self) -> Result<ExitCode, Failure> {
        print(&self.text)?;
        Ok(ExitCode::from(u8::from(self.refused)))
    }
}

/// How to write the result of a command.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Output {
    pub(crate) format: Format,
    pub(crate) terminal: Terminal,
}

impl Output {
    pub(crate) fn new(format: Format) -> Self {
        let named = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let dumb = named("TERM").is_some_and(|term| term == "dumb");
        let color = std::io::stdout().is_terminal() && named("NO_COLOR").is_none() && !dumb;
        let locale = named("LC_ALL")
            .or_else(|| named("LC_CTYPE"))
            .or_else(|| named("LANG"));
        // Only a terminal that says it is something else loses its symbols.
        let ascii = locale.is_some_and(|locale| {
            let locale = locale.to_lowercase();
            locale == "posix"
                || locale == "c"
                || locale.contains("ascii")
                || locale.contains("8859")
        }) && std::io::stdout().is_terminal();
        Self {
            format,
            terminal: Terminal {
                color,
                ascii,
                ..Terminal::default()
            },
        }
    }

    /// JSON or text, whichever was asked for.
    pub(crate) fn either(
        &self,
        json: impl FnOnce() -> Value,
        text: impl FnOnce() -> String,
    ) -> String {
        let shown = match self.format {
            Format::Json => format!("{:#}\n", json()),
            Format::Text => text(),
        };
        if self.terminal.ascii {
            mizan_report::ascii(&shown)
        } else {
            shown
        }
    }
}

/// A number as JSON: infinity, which JSON does not know, is null.
pub(crate) fn json_number(x: f64) -> Value {
    serde_json::Number::from_f64(x).map_or(Value::Null, Value::Number)
}

/// An order as JSON: a number or "inf".
pub(crate) fn json_order(order: f64) -> Value {
    if order == f64::INFINITY {
        Value::from("inf")
    } else {
        json_number(order)
    }
}

/// An order for people.
pub(crate) fn order_text(order: Order) -> String {
    if order.is_finite() {
        number::nearest(order.get(), 5)
    } else {
        "∞".to_owned()
    }
}

/// Writes to standard output. A reader that has seen enough is no error.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut stdout = std::io::stdout().lock();
    match stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush())
    {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Failure::file("write to", "standard output", &error))
        }
        _ => Ok(()),
    }
}

/// Writes to standard error; if that fails there is nobody left to tell.
pub(crate) fn complain(text: &str) {
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}

/// Writes a file, or says why not.
pub(crate) fn write_file(path: &std::path::Path, contents: &str) -> Result<(), Failure> {
    std::fs::write(path, contents)
        .map_err(|error| Failure::file("write", &path.display().to_string(), &error))
}

/// A text cut to so many characters.
pub(crate) fn shortened(text: &str, longest: usize) -> String {
    if text.chars().count() <= longest {
        text.to_owned()
    } else {
        text.chars()
            .take(longest.saturating_sub(1))
            .chain(['…'])
            .collect()
    }
}

/// Words in lines of at most 79 columns, the first and the others indented.
pub(crate) fn wrapped(text: &str, first: &str, others: &str) -> String {
    let mut lines = vec![first.to_owned()];
    let mut empty = true;
    for word in text.split(' ') {
        let long = lines.last().map_or(0, |line| line.chars().count()) + word.chars().count();
        if !empty && long > 78 {
            lines.push(others.to_owned());
            empty = true;
        }
        if let Some(line) = lines.last_mut() {
            if !empty {
                line.push(' ');
            }
            line.push_str(word);
        }
        empty = false;
    }
    lines.join("\n") + "\n"
}

/// What moves on the terminal: there is one.
static BAR: OnceLock<ProgressBar> = OnceLock::new();

/// How far a long piece of work has come, in place of the plain sign of life.
pub(crate) struct Progress {
    bar: Option<&'static ProgressBar>,
}

impl Progress {
    /// Of so many steps.
    pub(crate) fn of(steps: u64) -> Self {
        let bar = BAR.get();
        if let Some(bar) = bar {
            let template = "{wide_bar} {percent:>3} %, {eta} left";
            if let Ok(style) = ProgressStyle::with_template(template) {
                bar.set_style(style);
            }
            bar.set_length(steps);
        }
        Self { bar }
    }

    pub(crate) fn advance(&self, steps: u64) {
        if let Some(bar) = self.bar {
            // Seen once a second has passed.
            bar.inc(steps);
        }
    }
}

/// A sign of life on the terminal while something takes longer than a second.
/// It goes away when dropped, and shows nothing where nobody looks.
pub(crate) struct Working {
    bar: ProgressBar,
}

impl Working {
    pub(crate) fn start() -> Self {
        let hidden = || {
            ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden())
                .with_style(ProgressStyle::default_spinner())
                .with_message("computing")
        };
        let bar = BAR.get_or_init(hidden).clone();
        let ticking = bar.clone();
        // Detached: it ends with the process, or as soon as the bar is finished.
        std::thread::spawn(move || {
            std::thread::sleep(std::time::Duration::from_secs(1));
            if !ticking.is_finished() {
                ticking.set_draw_target(ProgressDrawTarget::stderr());
                ticking.enable_steady_tick(std::time::Duration::from_millis(100));
            }
        });
        Self { bar }
    }
}

impl Drop for Working {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
