//! `mizan audit sql`: random questions about random data, with and without one
//! person.

use mizan_engine::{DataFusion, SqlAudit, audit_sql};
use serde_json::json;

use crate::failure::Failure;
use crate::input;
use crate::output::{Answer, Output, Progress, shortened};
use crate::stream::Stream;

/// Ask random questions with and without one person, and compare
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Makes small datasets full of traps, asks random questions about them with all
rows and without those of one person, and compares the exact integers before any
noise with what the plan claims. A difference beyond the claim, or an error that
depends on rows, is a violation (exit code 1).

Examples:
  mizan audit sql
  mizan audit sql --pairs 20000 --seed 7 --format json")]
pub(super) struct Arguments {
    /// How many pairs of datasets
    #[arg(
        long,
        value_name = "N",
        default_value = "500",
        allow_hyphen_values = true
    )]
    pairs: String,

    /// Which random questions
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
}

pub(super) fn run(arguments: &Arguments, output: Output) -> Result<Answer, Failure> {
    let pairs = input::whole(&arguments.pairs, "--pairs", 1..=100_000_000)?;
    let folder = std::env::temp_dir().join(format!("mizan-audit-{}", std::process::id()));
    let failed = |error| Failure::file("write", &folder.display().to_string(), &error);
    std::fs::create_dir_all(&folder).map_err(failed)?;
    let mut stream = Stream::from(arguments.seed);
    let progress = Progress::of(pairs);
    let engine = DataFusion::new()?;
    let audit = audit_sql(&engine, &folder, pairs, &mut || stream.next(), |pairs| {
        progress.advance(pairs);
    });
    let _ = std::fs::remove_dir_all(&folder);
    let audit = audit.map_err(failed)?;
    let shown = output.either(|| json(&audit), || text(&audit));
    Ok(match audit.violations.is_empty() {
        true => Answer::done(shown),
        false => Answer::refused(shown),
    })
}

fn json(audit: &SqlAudit) -> serde_json::Value {
    let violations = audit.violations.iter();
    let violations = violations.map(|found| json!({"sql": found.sql, "what": found.what}));
    json!({
        "questions": audit.questions,
        "refused": audit.refused,
        "pairs": audit.pairs,
        "violations": violations.collect::<Vec<_>>(),
    })
}

fn text(audit: &SqlAudit) -> String {
    let mut text = format!(
        "{} questions, {} of them refused, {} pairs compared\n",
        audit.questions, audit.refused, audit.pairs
    );
    for found in audit.violations.iter().take(20) {
        text.push_str(&format!(
            "  {}\n    {}\n",
            found.what,
            shortened(&found.sql, 400)
        ));
    }
    text.push_str(&match audit.violations.len() {
        0 => "no violation: one person changes as much as was claimed, or less\n".to_owned(),
        many => format!("{many} violations: please report them\n"),
    });
    text
}
