//! `mizan man`, generated from the definition of the commands.

use std::path::{Path, PathBuf};

use clap::builder::Resettable;
use clap_mangen::Man;

use crate::cli;
use crate::failure::Failure;
use crate::output::write_file;
use crate::version::VERSION;

/// Write the manual page (troff) to standard output, or all pages to a folder
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mizan man | man -l -
  mizan man --out /usr/local/share/man/man1")]
pub(crate) struct Arguments {
    /// Folder for a page of each command; created if it does not exist
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<String, Failure> {
    // Pages refer to those of their commands. `help` has none.
    let mut whole = cli::definition().disable_help_subcommand(true);
    // The commit and the platform belong to a program, not to its manual.
    whole = whole.long_version(Resettable::Reset);
    whole.build();
    let Some(folder) = &arguments.out else {
        return page(&manual(whole));
    };
    std::fs::create_dir_all(folder)
        .map_err(|error| Failure::file("create", &folder.display().to_string(), &error))?;
    write(&whole, folder)?;
    Ok(String::new())
}

/// Writes the page of a command and those of its commands.
fn write(command: &clap::Command, folder: &Path) -> Result<(), Failure> {
    let visible = |command: &&clap::Command| !command.is_hide_set();
    for inner in command.get_subcommands().filter(visible) {
        write(inner, folder)?;
    }
    let man = manual(command.clone());
    write_file(&folder.join(man.get_filename()), &page(&man)?)
}

/// The page of a command. Its footer has the version of the program, and a space for the date,
/// because an empty one would be left out and the version read as the date.
fn manual(command: clap::Command) -> Man {
    Man::new(command)
        .date(" ")
        .source(format!("mizan {}", VERSION.version))
}

fn page(man: &Man) -> Result<String, Failure> {
    let mut page = Vec::new();
    man.render(&mut page)
        .map_err(|error| Failure::file("write", "the manual page", &error))?;
    Ok(String::from_utf8_lossy(&page).into_owned())
}
