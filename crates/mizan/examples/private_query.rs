//! Registers a CSV file and answers an SQL query about it with differential privacy.
//!
//! `cargo run --release -p mizan --features query --example private_query`

use std::path::Path;

use mizan::{
    AccountName, AnswerCell, Catalogue, Delta, Epsilon, Error, Ledger, Location, NewAccount,
    Privacy, QueryOutcome, QueryService, SpendTarget,
};

fn run(folder: &Path, csv: &str) -> Result<(), Error> {
    // A budget, as in the example `ledger_charge`.
    let location = Location::File(folder.join("mizan.db"));
    let ledger = Ledger::init(&location, &folder.join("state"))?;
    let (epsilon, delta) = (Epsilon::at_most("3")?, Delta::at_most("1e-7")?);
    let account = NewAccount::approximate(AccountName::new("visits")?, epsilon, delta)?;
    ledger.create_account(None, account)?;

    // The dataset: which column identifies a person, and how much of a person counts.
    let mut service = QueryService::new(ledger, Catalogue::default())?;
    let privacy = Privacy {
        unit: vec!["person".to_owned()],
        account: "visits".to_owned(),
        rows_per_unit: Some(2),
        groups_per_unit: Some(2),
    };
    let mut visits = QueryService::describe("visits", csv, Some(privacy))?;
    visits.declare_type("cost=number")?;
    visits.declare_bounds("cost=0:200")?;
    visits.declare_keys("ward=a,b")?;
    service.register(visits)?;

    // A quote costs nothing and reads no row.
    let sql = "SELECT ward, COUNT(*) AS n, AVG(cost) AS mean FROM visits GROUP BY ward";
    let target = SpendTarget::Epsilon(Epsilon::at_most("0.5")?);
    let quote = service.quote(sql, target)?;
    println!(
        "epsilon {}; about {} such queries fit",
        quote.epsilon, quote.about
    );

    // The charge is durable before a row is read.
    match service.query(sql, target)? {
        QueryOutcome::Answered(answered) => {
            println!("{}", answered.answer.columns.join("\t"));
            for row in &answered.answer.rows {
                let cells: Vec<String> = row.iter().map(text).collect();
                println!("{}", cells.join("\t"));
            }
            assert_eq!(answered.answer.rows.len(), 2);
            println!("receipt: {}", answered.done.receipt);
        }
        QueryOutcome::Denied(denied) => println!("epsilon {} does not fit", denied.epsilon),
    }

    // A query that cannot be answered privately is refused; the message marks the place.
    let sql = "SELECT person FROM visits";
    if let Err(error) = service.query(sql, target) {
        println!("{error}");
        println!("{}", error.caret(sql).unwrap_or_default());
        println!("{}", error.help());
    }
    Ok(())
}

/// A key, or a value with the interval of its noise.
fn text(cell: &AnswerCell) -> String {
    match cell {
        AnswerCell::Estimate {
            value,
            low: Some(low),
            high: Some(high),
        } => {
            format!("{value} ({low} to {high})")
        }
        cell => cell.value().to_string(),
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let csv = folder.path().join("visits.csv");
    let row = |n: u32| {
        format!(
            "{},{},{}\n",
            n / 2,
            if n.is_multiple_of(3) { "a" } else { "b" },
            n % 150
        )
    };
    let rows: String = (0..10_000).map(row).collect();
    std::fs::write(&csv, format!("person,ward,cost\n{rows}"))?;
    run(folder.path(), csv.to_str().ok_or("the path is not text")?)?;
    Ok(())
}

#[test]
fn runs() {
    main().unwrap();
}
