//! `mizan demo`: a complete example on generated data: set up, quote, query, refusals,
//! verification. It leaves a folder to continue with.

mod data;

use std::path::{Path, PathBuf};
use std::time::Instant;

use mizan_api::budget::BurnDown;
use mizan_api::messages::Label;
use mizan_api::query::{answered_json, denied_json};
use mizan_core::{Code, Delta, Epsilon};
use mizan_engine::{Answered, DataFusion, QueryOutcome, QueryService, SpendTarget};
use mizan_ledger::{
    AccountName, Budget, Ledger, Location, NewAccount, Orders, Witnesses, default_state_dir,
};
use mizan_report::{Figure, number};
use mizan_sql::{Catalogue, Dataset, DatasetColumn, Privacy, Type, Value};
use serde_json::json;

use crate::answer_text;
use crate::catalogue_file::CatalogueFile;
use crate::commands::query;
use crate::failure::Failure;
use crate::output::{Output, print, wrapped, write_file};
use crate::query_args;

/// Run a complete example on generated data: queries, refusals, verification
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Creates a folder with 40,000 synthetic people and about 300,000 visits to
clinics, a ledger with a budget of ε 2, and charts of the answers. Continue with
`cd mizan-demo` and `mizan query ...`.

Examples:
  mizan demo
  mizan demo --folder try-it")]
pub(crate) struct Arguments {
    /// Folder to create
    #[arg(long, value_name = "FOLDER", default_value = "mizan-demo")]
    folder: PathBuf,
}

const EPSILON: f64 = 2.0;
const DELTA: f64 = 1e-7;

/// A query of the demo, its epsilon, and the file of its chart.
struct Chapter {
    about: &'static str,
    sql: &'static str,
    epsilon: f64,
    picture: Option<&'static str>,
}

const CHAPTERS: [Chapter; 6] = [
    Chapter {
        about: "How many people came at all?",
        sql: "SELECT COUNT(DISTINCT person) AS people FROM visits",
        epsilon: 0.05,
        picture: None,
    },
    Chapter {
        about: "When do they come?",
        sql: "SELECT date_trunc('month', day) AS month, COUNT(*) AS visits FROM visits GROUP BY 1 ORDER BY 1",
        epsilon: 0.4,
        picture: Some("visits-by-month.svg"),
    },
    Chapter {
        about: "How many live where, and how old are they?",
        sql: "SELECT city, COUNT(*) AS people, AVG(age) AS mean_age FROM people GROUP BY city ORDER BY city",
        epsilon: 0.2,
        picture: None,
    },
    Chapter {
        about: "Where do patients over 60 live? (two tables, joined by person)",
        sql: "SELECT p.city, COUNT(DISTINCT p.person) AS patients FROM people p JOIN visits v ON p.person = v.person WHERE p.age > 60 GROUP BY p.city ORDER BY patients DESC",
        epsilon: 0.2,
        picture: Some("patients-over-60-by-city.svg"),
    },
    Chapter {
        about: "How long does a visit take?",
        sql: "SELECT MEDIAN(minutes) AS median_minutes, quantile(minutes, 0.9) AS p90_minutes FROM visits",
        epsilon: 0.2,
        picture: None,
    },
    Chapter {
        about: "What do they complain about? (groups discovered in the data)",
        sql: "SELECT complaint, COUNT(DISTINCT person) AS people FROM visits GROUP BY complaint ORDER BY people DESC",
        epsilon: 0.3,
        picture: Some("people-by-complaint.svg"),
    },
];

/// How to read the summary of an answer.
const SUMMARY: &str = "The ledger charges Rényi curves, not ε: queries of equal ε may take different \
                     shares of the budget. Left is the share of the Rényi order that has most \
                     left. `mizan query --explain` lists the contribution bounds of an answer.";

/// A query that no longer fits the budget.
const TOO_MUCH: &str = "SELECT department, SUM(cost) AS total FROM visits GROUP BY department";

/// A query that is refused: it releases rows of single people.
const FORBIDDEN: &str = "SELECT person, complaint FROM visits WHERE complaint = 'plague'";

pub(crate) fn run(arguments: &Arguments, output: Output) -> Result<String, Failure> {
    let begin = Instant::now();
    let folder = &arguments.folder;
    make_folder(folder)?;
    let mut story = Story::new(output);
    story.tell("Generating synthetic people and their visits\n");
    let rows = data::write(folder)?;
    story.tell(&format!(
        "  {} people, {} visits (some people never came)\n\n",
        number::grouped(f64::from(data::PEOPLE), 9),
        grouped(rows)
    ));
    let catalogue = catalogue(folder)?;
    CatalogueFile::at(folder.join("mizan.datasets.json")).change(|file| {
        *file = catalogue.clone();
        Ok(())
    })?;
    let location = Location::File(folder.join("mizan.db"));
    let ledger = Ledger::init(&location, &default_state_dir()?)?;
    make_account(&ledger)?;
    story.tell(&format!(
        "Creating account visits in mizan.db: ε {EPSILON} at δ {DELTA:e} (privacy unit: person)\n\n"
    ));
    let engine = DataFusion::new()?;
    let service = QueryService::new(&ledger, &catalogue, &engine);
    for (place, chapter) in CHAPTERS.iter().enumerate() {
        story.chapter(&service, place + 1, chapter, folder)?;
        if place == 0 {
            story.tell(&wrapped(SUMMARY, "", ""));
            story.tell("\n");
            story.first_answer = Some(begin.elapsed().as_secs_f64());
        }
    }
    story.refusals(&service)?;
    story.burn_down(&ledger, folder)?;
    let report = ledger.verify(&Witnesses::default(), |_, _| ());
    let report = report.map_err(|error| Failure::new(error.code(), &error, error.help()))?;
    story.tell(&format!(
        "Verified: the log of {} entries is intact and no budget was exceeded\n",
        report.head.size
    ));
    ledger.close()?;
    let seconds = begin.elapsed().as_secs_f64();
    story.tell(&format!(
        "\nDone in {} s. Continue with\n  cd {}\n  mizan query 'SELECT AVG(age) AS age FROM people' --epsilon 0.02\n",
        number::nearest(seconds, 2),
        folder.display()
    ));
    Ok(output.either(
        || {
            json!({
                "folder": folder.display().to_string(),
                "rows": rows,
                "answers": story.answers,
                "refused": story.refused,
                "verified": true,
                "seconds": seconds,
                "seconds_to_first_answer": story.first_answer,
            })
        },
        String::new,
    ))
}

/// Prints each step, and collects the results for JSON.
struct Story {
    output: Output,
    answers: Vec<serde_json::Value>,
    refused: Vec<serde_json::Value>,
    first_answer: Option<f64>,
}

impl Story {
    const fn new(output: Output) -> Self {
        Self {
            output,
            answers: Vec::new(),
            refused: Vec::new(),
            first_answer: None,
        }
    }

    /// Prints text at once; JSON is printed at the end.
    fn tell(&self, text: &str) {
        if self.output.format == crate::cli::Format::Text {
            let text = self
                .output
                .either(|| serde_json::Value::Null, || text.to_owned());
            // A failure here shows again at the last write.
            let _ = print(&text);
        }
    }

    fn chapter(
        &mut self,
        service: &QueryService<'_, DataFusion>,
        number: usize,
        chapter: &Chapter,
        folder: &Path,
    ) -> Result<(), Failure> {
        let spend_target = SpendTarget::Epsilon(Epsilon::new(chapter.epsilon)?);
        let sql = chapter.sql;
        self.tell(&format!("{number}. {}\n{}", chapter.about, shown(sql)));
        let failed = |error| Failure::of_query_error(&error, sql);
        let quote = service.quote(sql, spend_target).map_err(failed)?;
        self.tell(&format!(
            "   quoted: ε {}, fits\n\n",
            number::epsilon_up(quote.epsilon.get(), 3)
        ));
        match service.query(sql, spend_target, None).map_err(failed)? {
            QueryOutcome::Answered(answered) => self.answer(&answered, chapter, folder),
            QueryOutcome::Denied(denied) => {
                self.tell(&query::denied_text(&denied, None, self.output));
                Ok(())
            }
        }
    }

    fn answer(
        &mut self,
        answered: &Answered,
        chapter: &Chapter,
        folder: &Path,
    ) -> Result<(), Failure> {
        self.tell(&query_args::rows_text(&answered.answer, self.output));
        self.tell("\n");
        self.tell(&answer_text::summary(answered));
        self.tell(&answer_text::left_bar(&answered.account, self.output));
        self.tell("\n");
        if let Some(picture) = chapter.picture
            && let Some(mut bars) = query_args::bars(&answered.answer)
        {
            bars.title = chapter.about.to_owned();
            write_file(&folder.join(picture), &bars.to_svg())?;
        }
        let mut json = mizan_api::number::json(&answered_json(answered));
        if let Some(object) = json.as_object_mut() {
            object.insert("sql".to_owned(), json!(chapter.sql));
        }
        self.answers.push(json);
        Ok(())
    }

    /// The query that does not fit, and the one that is not allowed.
    fn refusals(&mut self, service: &QueryService<'_, DataFusion>) -> Result<(), Failure> {
        self.tell(&format!(
            "7. A query that no longer fits the budget, with --epsilon {EPSILON}\n{}",
            shown(TOO_MUCH)
        ));
        let failed = |error| Failure::of_query_error(&error, TOO_MUCH);
        let spend_target = SpendTarget::Epsilon(Epsilon::new(EPSILON)?);
        if let QueryOutcome::Denied(denied) = service
            .query(TOO_MUCH, spend_target, None)
            .map_err(failed)?
        {
            let largest = query::largest_that_fits(&denied, self.output, |spend_target| {
                service.quote(TOO_MUCH, spend_target)
            });
            self.tell(&query::denied_text(
                &denied,
                largest.as_deref(),
                self.output,
            ));
            self.refused
                .push(mizan_api::number::json(&denied_json(&denied)));
        }
        self.tell(&format!(
            "\n8. A query that privacy forbids\n{}",
            shown(FORBIDDEN)
        ));
        if let Err(error) = service.quote(FORBIDDEN, SpendTarget::DefaultShare) {
            let failure = Failure::of_query_error(&error, FORBIDDEN);
            self.tell(&crate::output::failure(&failure, self.output.format));
            self.refused
                .push(json!({"code": error.code(), "message": error.to_string()}));
        }
        self.tell("\n");
        Ok(())
    }

    fn burn_down(&self, ledger: &Ledger, folder: &Path) -> Result<(), Failure> {
        let name = AccountName::new("visits")?;
        let Some(view) = ledger.account_named(&name)? else {
            return Ok(());
        };
        let panel = BurnDown::of(ledger, view.account.number(), |_| ())?.panel(Label::english);
        self.tell(&self.output.terminal.chart(&panel));
        let figure = Figure::new("Remaining budget").with(panel).to_svg();
        write_file(&folder.join("burn-down.svg"), &figure)
    }
}

fn grouped(count: u64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "for people")]
    number::grouped(count as f64, 15)
}

fn shown(sql: &str) -> String {
    wrapped(sql, "   ", "     ")
}

fn make_folder(folder: &Path) -> Result<(), Failure> {
    let shown = folder.display().to_string();
    std::fs::create_dir(folder).map_err(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => Failure::new(
            Code::MZ0011,
            format!("{shown} exists already"),
            "remove it, or name another with --folder",
        ),
        _ => Failure::file("make", &shown, &error),
    })
}

fn make_account(ledger: &Ledger) -> Result<(), Failure> {
    let (orders, delta) = (Orders::standard(), Delta::new(DELTA)?);
    let own_delta = Budget::usual_reserved_delta(delta);
    let clock = Budget::usual_clock();
    let budget = Budget::approximate(Epsilon::new(EPSILON)?, delta, own_delta, clock, &orders)?;
    ledger.create_account(
        None,
        NewAccount {
            name: AccountName::new("visits")?,
            parent: None,
            orders,
            budget,
        },
    )?;
    Ok(())
}

fn catalogue(folder: &Path) -> Result<Catalogue, Failure> {
    let source = |file: &str| {
        let path = std::path::absolute(folder.join(file))
            .map_err(|error| Failure::file("find", file, &error))?;
        Ok::<_, Failure>(path.display().to_string())
    };
    let texts = |names: &[&str]| {
        names
            .iter()
            .map(|&name| Value::Text(name.to_owned()))
            .collect()
    };
    let cities: Vec<&str> = data::CITIES.iter().map(|city| city.0).collect();
    let departments: Vec<&str> = data::DEPARTMENTS
        .iter()
        .map(|department| department.0)
        .collect();
    let privacy = |rows, groups| {
        Some(Privacy {
            unit: vec!["person".to_owned()],
            account: "visits".to_owned(),
            rows_per_unit: Some(rows),
            groups_per_unit: Some(groups),
        })
    };
    let people = Dataset {
        files: Vec::new(),
        name: "people".to_owned(),
        source: source("people.csv")?,
        privacy: privacy(1, 1),
        columns: vec![
            column("person", Type::Integer),
            column("city", Type::Text).with_keys(texts(&cities)),
            column("age", Type::Integer).bounded(0.0, 100.0),
            column("income", Type::Number).bounded(0.0, 20_000.0),
        ],
    };
    let visits = Dataset {
        files: Vec::new(),
        name: "visits".to_owned(),
        source: source("visits.csv")?,
        privacy: privacy(12, 12),
        columns: vec![
            column("person", Type::Integer),
            // 2025, in days since 1970.
            column("day", Type::Date).bounded(20_089.0, 20_453.0),
            column("department", Type::Text).with_keys(texts(&departments)),
            column("complaint", Type::Text),
            column("minutes", Type::Integer).bounded(0.0, 120.0),
            column("cost", Type::Number).bounded(0.0, 1_000.0),
        ],
    };
    Ok(Catalogue::from_iter([people, visits]))
}

fn column(name: &str, kind: Type) -> DatasetColumn {
    DatasetColumn::new(name, kind)
}
