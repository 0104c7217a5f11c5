//! `mizan demo`: a whole story on data it makes itself: set up, quote, ask, be
//! refused, verify. It leaves a folder to go on with.

mod data;

use std::path::{Path, PathBuf};
use std::time::Instant;

use mizan_api::budget::{BurnDown, view};
use mizan_api::messages::Label;
use mizan_api::question::{answered_json, denied_json};
use mizan_core::{Code, Delta, Epsilon};
use mizan_engine::{Answered, DataFusion, Desk, Reply, Wish};
use mizan_ledger::{
    AccountName, Budget, Ledger, Location, NewAccount, Orders, Witnesses, default_state_dir,
};
use mizan_report::{Figure, number};
use mizan_sql::{Bounds, Catalogue, Dataset, DatasetColumn, Privacy, Type, Value};
use serde_json::json;

use crate::asking;
use crate::commands::query;
use crate::failure::Failure;
use crate::output::{Output, print, wrapped, write_file};
use crate::shelf::Shelf;

/// The whole story on data made for it: ask, be refused, verify
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Makes a folder with 40,000 people who do not exist and some 300,000 visits to
clinics, a ledger with a budget of ε 2, and pictures of the answers. Go on with
`cd mizan-demo` and `mizan query ...`.

Examples:
  mizan demo
  mizan demo --folder try-it")]
pub(crate) struct Arguments {
    /// The folder to make
    #[arg(long, value_name = "FOLDER", default_value = "mizan-demo")]
    folder: PathBuf,
}

const EPSILON: f64 = 2.0;
const DELTA: f64 = 1e-7;

/// A question of the story, what it spends, and the picture it makes.
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
        about: "What do they complain about? (nobody knows the list beforehand)",
        sql: "SELECT complaint, COUNT(DISTINCT person) AS people FROM visits GROUP BY complaint ORDER BY people DESC",
        epsilon: 0.3,
        picture: Some("people-by-complaint.svg"),
    },
];

/// What does not fit any more.
const TOO_MUCH: &str = "SELECT department, SUM(cost) AS total FROM visits GROUP BY department";

/// What nobody may ask.
const FORBIDDEN: &str = "SELECT person, complaint FROM visits WHERE complaint = 'plague'";

pub(crate) fn run(arguments: &Arguments, output: Output) -> Result<String, Failure> {
    let begin = Instant::now();
    let folder = &arguments.folder;
    make_folder(folder)?;
    let mut story = Story::new(output);
    story.tell("Making people who do not exist, and their visits\n");
    let rows = data::write(folder)?;
    story.tell(&format!(
        "  {} people, {} visits\n\n",
        number::grouped(f64::from(data::PEOPLE), 9),
        grouped(rows)
    ));
    let catalogue = catalogue(folder)?;
    Shelf::at(folder.join("mizan.datasets.json")).change(|shelf| {
        *shelf = catalogue.clone();
        Ok(())
    })?;
    let location = Location::File(folder.join("mizan.db"));
    let ledger = Ledger::init(&location, &default_state_dir()?)?;
    make_account(&ledger)?;
    story.tell(&format!(
        "A budget for all of it: ε {EPSILON} at δ {DELTA:e}, kept in mizan.db\n\n"
    ));
    let engine = DataFusion::new()?;
    let desk = Desk::new(&ledger, &catalogue, &engine);
    for (place, chapter) in CHAPTERS.iter().enumerate() {
        story.chapter(&desk, place + 1, chapter, folder)?;
        if place == 0 {
            story.first_answer = Some(begin.elapsed().as_secs_f64());
        }
    }
    story.refusals(&desk)?;
    story.burn_down(&ledger, folder)?;
    let report = ledger.verify(&Witnesses::default(), |_, _| ());
    let report = report.map_err(|error| Failure::new(error.code(), &error, error.help()))?;
    story.tell(&format!(
        "The ledger verifies: {} entries, every sum recomputed from the log\n",
        report.head.size
    ));
    ledger.close()?;
    let seconds = begin.elapsed().as_secs_f64();
    story.tell(&format!(
        "\nAll of it in {} s. Go on with\n  cd {}\n  mizan query 'SELECT AVG(age) AS age FROM people' --epsilon 0.02\n",
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

/// What is told while it happens, and kept for programs.
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

    /// People see it at once; programs get it all in the end.
    fn tell(&self, text: &str) {
        if self.output.format == crate::cli::Format::Text {
            let text = self
                .output
                .either(|| serde_json::Value::Null, || text.to_owned());
            // Nobody is left to tell if this fails; the end will.
            let _ = print(&text);
        }
    }

    fn chapter(
        &mut self,
        desk: &Desk<'_, DataFusion>,
        number: usize,
        chapter: &Chapter,
        folder: &Path,
    ) -> Result<(), Failure> {
        let wish = Wish::Epsilon(Epsilon::new(chapter.epsilon)?);
        let sql = chapter.sql;
        self.tell(&format!("{number}. {}\n{}", chapter.about, shown(sql)));
        let failed = |error| Failure::of_question(&error, sql);
        let quote = desk.quote(sql, wish).map_err(failed)?;
        self.tell(&format!(
            "   quoted: ε {}, fits\n\n",
            number::epsilon_up(quote.epsilon.get(), 3)
        ));
        match desk.query(sql, wish, None).map_err(failed)? {
            Reply::Answered(answered) => self.answer(&answered, chapter, folder),
            Reply::Denied(denied) => {
                self.tell(&query::denied_text(&denied, self.output));
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
        self.tell(&asking::rows_text(&answered.answer, self.output));
        self.tell(&asking::clamping_text(&answered.answer.clamping));
        self.tell(&asking::notes_text(&answered.answer.notes));
        if let Some(picture) = chapter.picture
            && let Some(mut bars) = asking::bars(&answered.answer)
        {
            bars.title = chapter.about.to_owned();
            write_file(&folder.join(picture), &bars.to_svg())?;
        }
        let share = view::left(&answered.account)
            .room
            .map_or(0.0, |(_, share)| share);
        let bar = self.output.terminal.bar(share, 30);
        self.tell(&format!(
            "\n   left {bar} {} %\n\n",
            number::down(100.0 * share, 3)
        ));
        let mut json = mizan_api::number::json(&answered_json(answered));
        if let Some(object) = json.as_object_mut() {
            object.insert("sql".to_owned(), json!(chapter.sql));
        }
        self.answers.push(json);
        Ok(())
    }

    /// What does not fit, and what is not allowed.
    fn refusals(&mut self, desk: &Desk<'_, DataFusion>) -> Result<(), Failure> {
        self.tell(&format!(
            "7. And now what does not fit any more\n{}",
            shown(TOO_MUCH)
        ));
        let failed = |error| Failure::of_question(&error, TOO_MUCH);
        let wish = Wish::Epsilon(Epsilon::new(EPSILON)?);
        if let Reply::Denied(denied) = desk.query(TOO_MUCH, wish, None).map_err(failed)? {
            self.tell(&query::denied_text(&denied, self.output));
            self.refused
                .push(mizan_api::number::json(&denied_json(&denied)));
        }
        self.tell(&format!(
            "\n8. And what nobody may ask\n{}",
            shown(FORBIDDEN)
        ));
        if let Err(error) = desk.quote(FORBIDDEN, Wish::Usual) {
            let failure = Failure::of_question(&error, FORBIDDEN);
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
        let figure = Figure::new("What is left of the budget")
            .with(panel)
            .to_svg();
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
            format!("{shown} is there already"),
            "remove it, or name another with --folder",
        ),
        _ => Failure::file("make", &shown, &error),
    })
}

fn make_account(ledger: &Ledger) -> Result<(), Failure> {
    let (orders, delta) = (Orders::standard(), Delta::new(DELTA)?);
    let own_delta = Budget::usual_own_delta(delta);
    let budget = Budget::approximate(Epsilon::new(EPSILON)?, delta, own_delta, &orders)?;
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
            keyed("city", texts(&cities)),
            bounded("age", Type::Integer, 0.0, 100.0),
            bounded("income", Type::Number, 0.0, 20_000.0),
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
            bounded("day", Type::Date, 20_089.0, 20_453.0),
            keyed("department", texts(&departments)),
            column("complaint", Type::Text),
            bounded("minutes", Type::Integer, 0.0, 120.0),
            bounded("cost", Type::Number, 0.0, 1_000.0),
        ],
    };
    let mut catalogue = Catalogue::default();
    for dataset in [people, visits] {
        catalogue.datasets.insert(dataset.name.clone(), dataset);
    }
    Ok(catalogue)
}

fn column(name: &str, kind: Type) -> DatasetColumn {
    DatasetColumn {
        name: name.to_owned(),
        kind,
        bounds: None,
        unit_bounds: None,
        keys: None,
    }
}

fn keyed(name: &str, keys: Vec<Value>) -> DatasetColumn {
    DatasetColumn {
        keys: Some(keys),
        ..column(name, Type::Text)
    }
}

fn bounded(name: &str, kind: Type, low: f64, high: f64) -> DatasetColumn {
    DatasetColumn {
        bounds: Bounds::new(low, high),
        ..column(name, kind)
    }
}
