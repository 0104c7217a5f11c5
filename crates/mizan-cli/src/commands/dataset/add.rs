//! `mizan dataset add`: declares a file or a table with its privacy unit, its bounds and
//! its budget. Parquet files are decoded once, so that damage is found now; no row is
//! shown or stored.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use mizan_core::Code;
use mizan_engine::Inspected;
use mizan_ledger::{AccountName, Ledger, NewAccount};
use mizan_sql::catalogue::shown_name;
use mizan_sql::{Catalogue, Dataset, DatasetColumn, Privacy, Type};
use serde_json::json;

use super::show;
use crate::catalogue_file::CatalogueFile;
use crate::commands::budget::target::NewTargetArguments;
use crate::failure::Failure;
use crate::ledger_args::{self, LedgerArguments};
use crate::output::{Output, Progress, eprint};

/// Add a dataset and its budget
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The command reads column names and, except for CSV, types. Parquet files are
decoded once to find damage; no row is shown or stored. A CSV column is text
unless --type or --bound (numbers or dates) says otherwise; declare integers
with --type. A value that does not parse as its type is NULL; a value outside of
its bounds is clamped. Tables about the same people share one --account.

Examples:
  mizan dataset add visits --from visits.csv --unit person \\
    --epsilon 3 --delta 1e-7 --bound cost=0:500 --keys ward=a,b,c \\
    --max-rows-per-unit 10 --max-groups-per-unit 4
  mizan dataset add people --from people.parquet --unit id --account visits
  mizan dataset add cities --from cities.csv --public
  PGPASSWORD=... mizan dataset add visits --unit person \\
    --from postgres://mizan@db.example.org/clinic/public.visits \\
    --epsilon 3 --delta 1e-7")]
pub(crate) struct Arguments {
    /// Name of the dataset in queries
    #[arg(value_name = "NAME")]
    pub(crate) name: String,

    /// CSV or Parquet file, directory of either, or table:
    /// postgres://user@host/database/schema.table
    #[arg(long, value_name = "FILE|URL")]
    pub(crate) from: PathBuf,

    /// Column that identifies the privacy unit, such as a person (repeatable)
    #[arg(long, value_name = "COLUMN", required_unless_present = "public")]
    pub(crate) unit: Vec<String>,

    /// Public table: it has no privacy unit and can be joined at no cost
    #[arg(long, conflicts_with_all = ["unit", "account"])]
    pub(crate) public: bool,

    /// Existing account that pays [default: a new one named like the dataset]
    #[arg(long, value_name = "ACCOUNT")]
    pub(crate) account: Option<String>,

    #[command(flatten)]
    pub(crate) target: NewTargetArguments,

    /// Type of a column: boolean, integer, number, text, date, timestamp
    #[arg(long = "type", value_name = "COL=TYPE")]
    pub(crate) types: Vec<String>,

    /// Bounds to which values of a column are clamped
    #[arg(long, value_name = "COL=LO:HI")]
    pub(crate) bound: Vec<String>,

    /// Bounds to which a unit's total per group is clamped
    #[arg(long, value_name = "COL=LO:HI")]
    pub(crate) unit_bound: Vec<String>,

    /// Public keys of a column: the groups that are always reported
    #[arg(long, value_name = "COL=A,B,...")]
    pub(crate) keys: Vec<String>,

    /// Contribution bound: rows per unit in a group
    #[arg(long, value_name = "R")]
    pub(crate) max_rows_per_unit: Option<u64>,

    /// Contribution bound: groups per unit
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
    // The account first: a dataset without an account could not be queried, an account
    // without a dataset does no harm.
    if let (Some(privacy), Some(ledger)) = (&dataset.privacy, &ledger) {
        account(arguments, ledger, &privacy.account)?;
    }
    arguments.catalogue.change(|catalogue| {
        check(catalogue)?;
        // Files that were written again since.
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

/// Decodes all files once, with a progress bar.
fn check_rows(dataset: &Dataset) -> Result<(), Failure> {
    let (progress, shown) = (OnceLock::new(), AtomicU64::new(0));
    mizan_engine::check_rows(dataset, &|done, all| {
        let progress = progress.get_or_init(|| Progress::of(all));
        progress.advance(done.saturating_sub(shown.swap(done, Ordering::Relaxed)));
    })?;
    Ok(())
}

/// An existing dataset that shares rows with the new one under another budget or
/// privacy unit. Two budgets for the same rows add up to a larger one, and public rows
/// have none; accounts below the same topmost account share its budget. A guarantee
/// for one unit column does not protect the units of another.
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

/// The name of the topmost account above an account; its own name if it is new.
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
            "public rows have no budget: use other rows".to_owned(),
        ),
    };
    let from = match mizan_engine::is_table(&old.source) {
        true => String::new(),
        false => format!(" (from {})", old.source),
    };
    let message = format!("some of these rows are in the catalogue as `{name}`{from}, {on}");
    Failure::new(Code::MZ1876, message, help)
}

/// Finds the account that pays, or creates it.
fn account(arguments: &Arguments, ledger: &Ledger, name: &str) -> Result<(), Failure> {
    if arguments.account.is_some() {
        if arguments.target.is_given() {
            return Err(Failure::new(
                Code::MZ0008,
                "--account names an existing account: it has its own target",
                "leave --epsilon and --delta out, or leave --account out",
            ));
        }
        return ledger_args::account(ledger, name).map(|_| ());
    }
    let (orders, budget) = arguments.target.create(None)?;
    let account = AccountName::new(name)?;
    // The account exists if an earlier command was killed before the catalogue changed.
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

/// The source of the rows: the address of a table, or the absolute path of files.
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

/// The dataset that the arguments declare.
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
            format!(
                "the column {} holds {holds}, which cannot be read",
                shown_name(name)
            ),
            "name another column, or convert it to a type that can be read: a number, text, a boolean, a date or a timestamp",
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
    // Columns without a type from the file or from --type.
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
    DatasetColumn::new(name, kind.unwrap_or(Type::Text))
}

/// Whether an option, `COLUMN=...`, names a column.
fn is_named(option: &[String], column: &str) -> bool {
    let names = option.iter().filter_map(|text| text.strip_prefix(column));
    names.into_iter().any(|rest| rest.starts_with('='))
}

/// A column with bounds holds numbers, or dates if its bounds are dates. Not integers:
/// every 9.99 of such a column would be NULL.
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

/// Notes for the data owner.
fn notes(dataset: &Dataset, found: &Inspected) -> Vec<String> {
    let mut notes = Vec::new();
    for (name, holds) in &found.left_out {
        notes.push(format!(
            "the column {} is left out: {holds} cannot be read",
            shown_name(name)
        ));
    }
    let Some(privacy) = &dataset.privacy else {
        notes.push("public: every user may see all of its rows".to_owned());
        return notes;
    };
    if privacy.rows_per_unit.is_none() {
        notes.push(format!(
            "no row limit per unit is set for `{}`: only COUNT(DISTINCT unit) can be answered; \
             set it with --max-rows-per-unit",
            dataset.name
        ));
    }
    notes
}
