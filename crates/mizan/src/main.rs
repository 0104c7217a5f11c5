//! The `mizan` command line: a thin door to the libraries.
//!
//! `cli.rs` says what can be typed, `commands/` has a file for each command,
//! `input.rs` turns typed text into checked values once,
//! `ledger_args.rs` finds the ledger, `engine.rs` says where questions are computed,
//! `query_limits.rs` with how much memory and time,
//! `define.rs` reads mechanisms of one's own from files, `output.rs` knows the
//! terminal. What is asked and answered, and what errors look like, is `mizan-api`.

mod catalogue_file;
mod cli;
mod commands;
mod define;
mod demo_rng;
mod engine;
mod input;
mod interrupt;
mod ledger_args;
mod output;
mod query_args;
mod query_limits;
mod tokens;

use std::process::ExitCode;

pub(crate) use mizan_api::{failure, times};

fn main() -> ExitCode {
    mizan_engine::silence_engine_panics();
    // A worker process of a query: not a command for people.
    if std::env::args_os()
        .skip(1)
        .eq([mizan_engine::WORKER_ARGUMENT])
    {
        return mizan_engine::run_worker();
    }
    let cli = match cli::parse() {
        Ok(cli) => cli,
        Err(stopped) => return stopped,
    };
    let output = output::Output::new(cli.format);
    let working = output::Working::start();
    let result = commands::run(cli.command, output);
    drop(working);
    match result.and_then(output::Answer::print) {
        Ok(code) => code,
        Err(failure) => {
            output::eprint(&output::failure(&failure, cli.format));
            ExitCode::from(failure.code.kind().exit_code())
        }
    }
}
