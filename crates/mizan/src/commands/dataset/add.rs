//! `mizan dataset add`: says what a file or a table holds, whose rows they are, and
//! how much may be learned from them. Parquet files are decoded once, so that damage is
//! found now; nothing of a row is shown or kept.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use mizan_core::Code;
use mizan_engine::Inspected;
use mizan_ledger::{AccountName, Ledger, NewAccount};
use mizan_sql::{Catalogue, Dataset, DatasetColumn, Privacy, Type};
use serde_json::json;

use super::show;
use crate::catalogue_file::CatalogueFile;
use crate::commands::budget::target::TargetArguments;
use crate::failure::Failure;
use crate::ledger_args::{self, LedgerArguments};
use crate::output::{Output, Progress, eprint};

/// Add a dataset, with its budget
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Only names of columns are used, and their types, which CSV does not have. Parquet
files are decoded once to find damage; nothing of a row is shown. In CSV a column is text unless --type or --bound (a number, a
date) says otherwise; integers are said with --type.
What does not read as its type counts as NULL; what is out of its bounds counts
as the nearest bound. Several tables about the same people share one --account.

Examples:
  mizan dataset add visits --from visits.csv --unit person \\
    --epsilon 3 --delta 1e-7 --bound cost=0:500 --keys ward=a,b,c \\
    --max-rows-per-unit 10 --max-groups-per-unit 4
  mizan dataset add people --from people.parquet --unit id --account visits
  mizan dataset add cities --from cities.csv --public
  PGPASSWORD=... mizan dataset add visits --unit person --epsilon 3 --delta 1e-7 \\
    --from postgres://mizan@db.example.org/clinic/public.visits")]
pub(crate) struct Arguments {
    /// The name in questions
    #[arg(value_name = "NAME")]
    pub(crate) name: String,

    /// A CSV or Parquet file, a directory of Parquet files, or a table:
    /// postgres://user@host/database/schema.table
    #[arg(long, value_name = "FILE|URL")]
    pub(crate) from: PathBuf,

    /// The column that tells whose a row is; several for several columns
    #[arg(long, value_name = "COLUMN", required_unless_present = "public")]
    pub(crate) unit: Vec<String>,

    /// The table is about nobody: it may be joined and costs nothing
    #[arg(long, conflicts_with_all = ["unit", "account"])]
    pub(crate) public: bool,

    /// An account that exists, in place of a new one of the dataset's name
    #[arg(long, value_name = "ACCOUNT")]
    pub(crate) account: Option<String>,

    #[command(flatten)]
    pub(crate) target: TargetArguments,

    /// What a column holds: boolean, integer, number, text, date, timestamp
    #[arg(long = "type", value_name = "COL=TYPE")]
    pub(crate) types: Vec<String>,

    /// The least and greatest value of a column
    #[arg(long, value_name = "COL=LO:HI")]
    pub(crate) bound: Vec<String>,

    /// The least and greatest total of one unit in a group
    #[arg(long, value_name = "COL=LO:HI")]
    pub(crate) unit_bound: Vec<String>,

    /// The values of a column that groups may have
    #[arg(long, value_name = "COL=A,B,...")]
    pub(crate) keys: Vec<String>,

    /// The most rows of a unit that count in a group
    #[arg(long, value_name = "R")]
    pub(crate) max_rows_per_unit: Option<u64>,

    /// The most groups of a unit that count
    #[arg(long, value_name = "C")]
    pub(crate) max_groups_per_unit: Option<u64>,

    #[command(flatten)]
    pub(crate) catalogue: CatalogueFile,

    #[command(flatten)]
    pub(crate) ledger: LedgerArguments,
}

pub(super) fn run(arguments: &Arguments, output: Output) -> Result<String, Failure> {
    let source = source(&arguments.from)?;
    let found = mizan_engine::inspect(&source)?;
    let mut dataset = describe(arguments, source, &found)?;
    mizan_engine::check_columns(&dataset)?;
    check_rows(&dataset)?;
    mizan_engine::record_files(&mut dataset);
    let dataset = dataset;
    let ledger = match &dataset.privacy {
        Some(_) => Some(arguments.ledger.open()?),
        None => None,
    };
    let check = |catalogue: &Catalogue| match twin(catalogue, &dataset, ledger.as_ref())? {
        Some(old) => Err(on_other_terms(old)),
        None => Ok(()),
    };
    let mut catalogue = arguments.catalogue.read()?;
    check(&catalogue)?;
    catalogue.add(dataset.clone())?;
    // The account first: a dataset without one could not be asked about, an
    // account without a dataset harms nobody.
    if let (Some(privacy), Some(ledger)) = (&dataset.privacy, &ledger) {
        account(arguments, ledger, &privacy.account)?;
    }
    arguments.catalogue.change(|catalogue| {
        check(catalogue)?;
        // Files that were written anew since.
        for dataset in catalogue.datasets.values_mut() {
            mizan_engine::record_files(dataset);
        }
        Ok(catalogue.add(dataset.clone())?)
    })?;
    if let Some(ledger) = ledger {
        ledger.close()?;
    }

    for note in notes(&dataset, &found) {
        eprint(&format!("note: {note}\n"));
    }
    Ok(output.either(
        || json!({"dataset": dataset.to_json(), "catalogue": arguments.catalogue.path().display().to_string()}),
        || format!("added {}\n\n{}", dataset.name, show::text(&dataset, output)),
    ))
}

/// Decodes all files once, with a bar on the terminal if that takes a while.
fn check_rows(dataset: &Dataset) -> Result<(), Failure> {
    let (progress, shown) = (OnceLock::new(), AtomicU64::new(0));
    mizan_engine::check_rows(dataset, &|done, all| {
        let progress = progress.get_or_init(|| Progress::of(all));
        progress.advance(done.saturating_sub(shown.swap(done, Ordering::Relaxed)));
    })?;
    Ok(())
}

/// A dataset with rows of the new one on other terms: two budgets for the same
/// rows are one budget of their sum, and public rows none at all. Accounts with the
/// same one at the top are all charged to that. What one unit may change is charged,
/// so the same rows have the same units: those of another column would not be
/// protected.
fn twin<'a>(
    catalogue: &'a Catalogue,
    new: &Dataset,
    ledger: Option<&Ledger>,
) -> Result<Option<&'a Dataset>, Failure> {
    let top = |dataset: &Dataset| match (&dataset.privacy, ledger) {
        (Some(privacy), Some(ledger)) => topmost(ledger, &privacy.account).map(Some),
        (privacy, _) => Ok(privacy.as_ref().map(|privacy| privacy.account.clone())),
    };
    let unit = |dataset: &Dataset| dataset.privacy.as_ref().map(|privacy| privacy.unit.clone());
    let terms = (top(new)?, unit(new));
    for old in catalogue.datasets.values() {
        if mizan_engine::share_data(old, new) && (top(old)?, unit(old)) != terms {
            return Ok(Some(old));
        }
    }
    Ok(None)
}

/// The name of the account above all others of an account; its own if it is new.
fn topmost(ledger: &Ledger, name: &str) -> Result<String, Failure> {
    let mut top = name.to_owned();
    let mut next = ledger.account_named(&AccountName::new(name)?)?;
    while let Some(found) = next {
        top = found.account.name().to_string();
        next = match found.account.parent() {
            Some(parent) => Some(ledger.account(parent)?),
            None => None,
        };
    }
    Ok(top)
}

fn on_other_terms(old: &Dataset) -> Failure {
    let name = &old.name;
    let (on, help) = match &old.privacy {
        Some(Privacy { account, unit, .. }) => {
            let units: Vec<String> = unit.iter().map(|unit| format!("--unit {unit}")).collect();
            let units = units.join(" ");
            (
                format!("with the budget `{account}` and {units}"),
                format!("ask about `{name}`, or add these rows with --account {account} {units}"),
            )
        }
        None => (
            "as public".to_owned(),
            "whoever may see them needs no budget; use others".to_owned(),
        ),
    };
    let from = match mizan_engine::is_table(&old.source) {
        true => String::new(),
        false => format!(" (from {})", old.source),
    };
    let message = format!("some of these rows are in the catalogue as `{name}`{from}, {on}");
    Failure::new(Code::MZ1876, message, help)
}

/// The account that pays: one that exists, or a new one.
fn account(arguments: &Arguments, ledger: &Ledger, name: &str) -> Result<(), Failure> {
    if arguments.account.is_some() {
        if arguments.target.is_given() {
            return Err(Failure::new(
                Code::MZ0008,
                "--account names a budget that exists: no other is made",
                "leave --epsilon and --delta out, or leave --account out",
            ));
        }
        return ledger_args::account(ledger, name).map(|_| ());
    }
    let (orders, budget) = arguments.target.create(None)?;
    let account = AccountName::new(name)?;
    // After a command that was killed between the two.
    if let Some(found) = ledger.account_named(&account)?
        && arguments.target.is(found.account.budget())?
    {
        return Ok(());
    }
    let account = NewAccount {
        name: account,
        parent: None,
        orders,
        budget,
    };
    ledger.create_account(None, account)?;
    Ok(())
}

/// Where the rows are: a table by its address, files by their whole path.
fn source(from: &Path) -> Result<String, Failure> {
    let not_text = || {
        Failure::new(
            Code::MZ1864,
            "the path of the file is not text",
            "move or rename the file",
        )
    };
    let text = from.to_str().ok_or_else(not_text)?;
    if mizan_engine::is_table(text) {
        return Ok(text.to_owned());
    }
    let path = std::path::absolute(from).map_err(|error| Failure::file("find", text, &error))?;
    Ok(path.to_str().ok_or_else(not_text)?.to_owned())
}

/// The dataset as it was described.
fn describe(arguments: &Arguments, source: String, found: &Inspected) -> Result<Dataset, Failure> {
    let columns = &found.columns;
    let named = |name: &String| {
        let options = [
            &arguments.types,
            &arguments.bound,
            &arguments.unit_bound,
            &arguments.keys,
        ];
        arguments.unit.contains(name) || options.iter().any(|option| is_named(option, name))
    };
    if let Some((name, holds)) = found.left_out.iter().find(|(name, _)| named(name)) {
        return Err(Failure::new(
            Code::MZ1907,
            format!("the column {name:?} holds {holds}, which cannot be read"),
            "name another column, or make one of a type that can be read: a number, text, a boolean, a date or a timestamp",
        ));
    }
    let account = arguments
        .account
        .clone()
        .unwrap_or_else(|| arguments.name.clone());
    let mut dataset = Dataset {
        files: Vec::new(),
        name: arguments.name.clone(),
        source,
        privacy: (!arguments.public).then(|| Privacy {
            unit: arguments.unit.clone(),
            account,
            rows_per_unit: arguments.max_rows_per_unit,
            groups_per_unit: arguments.max_groups_per_unit,
        }),
        columns: columns.iter().map(column).collect(),
    };
    for text in &arguments.types {
        dataset.declare_type(text).map_err(of("--type"))?;
    }
    // What neither the file nor the owner has given a type.
    let untyped: Vec<String> = (columns.iter())
        .filter(|(name, kind)| kind.is_none() && !is_named(&arguments.types, name))
        .map(|(name, _)| name.clone())
        .collect();
    for text in &arguments.bound {
        guess_type(&mut dataset, &untyped, text);
        dataset.declare_bounds(text).map_err(of("--bound"))?;
    }
    for text in &arguments.unit_bound {
        guess_type(&mut dataset, &untyped, text);
        dataset
            .declare_unit_bounds(text)
            .map_err(of("--unit-bound"))?;
    }
    for text in &arguments.keys {
        dataset.declare_keys(text).map_err(of("--keys"))?;
    }
    dataset.check()?;
    Ok(dataset)
}

fn of(option: &'static str) -> impl Fn(mizan_sql::CatalogueError) -> Failure {
    move |error| Failure::from(error).of_option(option)
}

fn column((name, kind): &(String, Option<Type>)) -> DatasetColumn {
    DatasetColumn {
        name: name.clone(),
        kind: kind.unwrap_or(Type::Text),
        bounds: None,
        unit_bounds: None,
        keys: None,
    }
}

/// Whether an option, `COLUMN=...`, is about a column.
fn is_named(option: &[String], column: &str) -> bool {
    let names = option.iter().filter_map(|text| text.strip_prefix(column));
    names.into_iter().any(|rest| rest.starts_with('='))
}

/// A column with bounds holds numbers, or dates if its bounds are dates. Not
/// integers: in a column of 9.99 they would all be nothing.
fn guess_type(dataset: &mut Dataset, untyped: &[String], text: &str) {
    for kind in [Type::Number, Type::Date, Type::Timestamp] {
        let mut tried = dataset.clone();
        let free = |column: &&mut DatasetColumn| {
            let bounded = column.bounds.is_some() || column.unit_bounds.is_some();
            untyped.contains(&column.name) && !bounded
        };
        for column in tried.columns.iter_mut().filter(free) {
            column.kind = kind;
        }
        if tried.declare_bounds(text).is_err() {
            continue;
        }
        let pairs = dataset.columns.iter_mut().zip(&tried.columns);
        for (column, tried) in pairs.filter(|(column, tried)| column.bounds != tried.bounds) {
            column.kind = tried.kind;
        }
        return;
    }
}

/// What the owner should know.
fn notes(dataset: &Dataset, found: &Inspected) -> Vec<String> {
    let mut notes = Vec::new();
    for (name, holds) in &found.left_out {
        notes.push(format!(
            "the column {name:?} is left out: {holds} cannot be read"
        ));
    }
    let Some(privacy) = &dataset.privacy else {
        notes.push("everybody may see everything in it".to_owned());
        return notes;
    };
    if privacy.rows_per_unit.is_none() {
        notes.push("without --max-rows-per-unit only COUNT(DISTINCT unit) can be asked".to_owned());
    }
    notes
}
