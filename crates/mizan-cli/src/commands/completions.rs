//! `mizan completions` and `mizan man`, generated from the definition.

use clap_complete::Shell;

use crate::cli;
use crate::failure::Failure;

/// Write shell completions to standard output
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mizan completions bash > /etc/bash_completion.d/mizan
  mizan completions zsh > ~/.zfunc/_mizan
  mizan completions fish > ~/.config/fish/completions/mizan.fish")]
pub(crate) struct Arguments {
    /// Shell
    #[arg(value_enum)]
    shell: Shell,
}

pub(crate) fn run(arguments: &Arguments) -> Result<String, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(
        arguments.shell,
        &mut cli::definition(),
        "mizan",
        &mut script,
    );
    Ok(String::from_utf8_lossy(&script).into_owned())
}

pub(crate) fn manual() -> Result<String, Failure> {
    let mut page = Vec::new();
    clap_mangen::Man::new(cli::definition())
        .render(&mut page)
        .map_err(|error| Failure::file("write", "the manual page", &error))?;
    Ok(String::from_utf8_lossy(&page).into_owned())
}
