//! Output to the terminal: formats, colour, progress, errors.

use std::io::{IsTerminal, Write};
use std::process::ExitCode;
use std::sync::OnceLock;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
pub(crate) use mizan_api::words::{order_text, shortened};
use mizan_report::Terminal;
use serde::Serialize;
use serde_json::{Value, json};

use crate::cli::Format;
use crate::failure::Failure;

/// The output of a command, and whether it is a refusal.
#[derive(Debug)]
pub(crate) struct CommandOutput {
    text: String,
    refused: bool,
}

impl CommandOutput {
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

    /// Prints the output and returns the exit code.
    pub(crate) fn print(self) -> Result<ExitCode, Failure> {
        print(&self.text)?;
        Ok(ExitCode::from(u8::from(self.refused)))
    }
}

/// The format of results and the terminal's abilities.
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
        // ASCII only where the locale excludes UTF-8.
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

    /// JSON or text, by `--format`.
    pub(crate) fn either<T: Serialize>(
        &self,
        json: impl FnOnce() -> T,
        text: impl FnOnce() -> String,
    ) -> String {
        let shown = match self.format {
            Format::Json => format!("{:#}\n", mizan_api::number::json(&json())),
            Format::Text => text(),
        };
        if self.terminal.ascii {
            mizan_report::ascii(&shown)
        } else {
            shown
        }
    }
}

/// Writes to standard output. A closed pipe is not an error.
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

/// The text or JSON of an error.
pub(crate) fn failure(failure: &Failure, format: Format) -> String {
    let Failure {
        code,
        message,
        place,
        help,
        ..
    } = failure;
    match format {
        Format::Text => {
            let place = place.as_ref().map(|place| format!("{place}\n"));
            let place = place.unwrap_or_default();
            format!("error[{code}]: {message}\n{place}help: {help}\n")
        }
        Format::Json => {
            let error: Value =
                json!({"code": code, "message": message, "place": place, "help": help});
            format!("{}\n", json!({ "error": error }))
        }
    }
}

/// Writes to standard error, ignoring failures.
pub(crate) fn eprint(text: &str) {
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}

/// Writes a file.
pub(crate) fn write_file(path: &std::path::Path, contents: &str) -> Result<(), Failure> {
    std::fs::write(path, contents)
        .map_err(|error| Failure::file("write", &path.display().to_string(), &error))
}

/// Wraps words to lines of at most 79 columns, with one indent for the first line and
/// one for the others.
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

/// The spinner or progress bar of the process.
static BAR: OnceLock<ProgressBar> = OnceLock::new();

/// A progress bar in place of the spinner.
pub(crate) struct Progress {
    bar: Option<&'static ProgressBar>,
}

impl Progress {
    /// A bar of this many steps.
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
            // Drawn after the first second.
            bar.inc(steps);
        }
    }
}

/// A spinner on the terminal while a command takes longer than a second. It ends when
/// dropped; without a terminal nothing is drawn.
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
        // Detached: the thread ends with the process, or when the bar is finished.
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

/// Ends the spinner, for a command that runs until it is stopped.
pub(crate) fn stop_spinner() {
    if let Some(bar) = BAR.get() {
        bar.finish_and_clear();
    }
}

impl Drop for Working {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
