//! The `mizan` command line.
//!
//! `cli.rs` defines the commands and `commands/` has a file for each. `input.rs` parses
//! and checks arguments, `ledger_args.rs` opens the ledger, `engine.rs` selects the query
//! engine, `query_limits.rs` bounds the memory and time of a query, `define.rs` reads
//! user-defined mechanisms from files, `answer_text.rs` summarizes answers, `output.rs`
//! writes to the terminal. Requests, answers and errors are types of `mizan-api`.

mod answer_text;
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
    // The worker process of a query: not a command for users.
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
    match result.and_then(output::CommandOutput::print) {
        Ok(code) => code,
        Err(failure) => {
            output::eprint(&output::failure(&failure, cli.format));
            ExitCode::from(failure.code.kind().exit_code())
        }
    }
}
