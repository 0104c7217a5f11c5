//! `mizan audit sql`: random queries over random data, with and without one person.

use mizan_core::SplitMix64;
use mizan_engine::{DataFusion, FailureAudit, SqlAudit, Violation, audit_failures, audit_sql};
use serde_json::json;

use crate::failure::Failure;
use crate::input;
use crate::output::{CommandOutput, Output, Progress, shortened};

/// Run random queries with and without one person, and compare
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Generates small datasets with edge cases, runs random queries on all rows and
on all rows but those of one person, and compares the exact integers before any
noise with the sensitivity that the plan claims. A larger difference, or an
error that depends on rows, is a violation (exit code 1).

With --failures the queries provoke failures instead: texts that grow, cells
that are not UTF-8, overflow, joins that multiply rows, deep recursion. One
person has the worst rows that CSV and Parquet files can hold, and the engine
has small limits. The kind of outcome must be the same with and without that
person: an answer, a refusal before the charge, or a failure after it, with its
code.

Examples:
  mizan audit sql
  mizan audit sql --failures --pairs 2000
  mizan audit sql --pairs 20000 --seed 7 --format json")]
pub(super) struct Arguments {
    /// Number of pairs of datasets
    #[arg(
        long,
        value_name = "N",
        default_value = "500",
        allow_hyphen_values = true
    )]
    pairs: String,

    /// Provoke failures and compare kinds of outcomes
    #[arg(long)]
    failures: bool,

    /// Seed of the random queries
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
}

pub(super) fn run(arguments: &Arguments, output: Output) -> Result<CommandOutput, Failure> {
    let pairs = input::whole(&arguments.pairs, "--pairs", 1..=100_000_000)?;
    let folder = std::env::temp_dir().join(format!("mizan-audit-{}", std::process::id()));
    let failed = |error| Failure::file("write", &folder.display().to_string(), &error);
    std::fs::create_dir_all(&folder).map_err(failed)?;
    let mut rng = SplitMix64::new(arguments.seed);
    let progress = Progress::of(pairs);
    if arguments.failures {
        let audit = audit_failures(&folder, pairs, &mut || rng.word(), |pairs| {
            progress.advance(pairs);
        });
        let _ = std::fs::remove_dir_all(&folder);
        let audit = audit.map_err(failed)?;
        let shown = output.either(|| failures_json(&audit), || failures_text(&audit));
        return Ok(match audit.violations.is_empty() {
            true => CommandOutput::done(shown),
            false => CommandOutput::refused(shown),
        });
    }
    let engine = DataFusion::new()?;
    let audit = audit_sql(&engine, &folder, pairs, &mut || rng.word(), |pairs| {
        progress.advance(pairs);
    });
    let _ = std::fs::remove_dir_all(&folder);
    let audit = audit.map_err(failed)?;
    let shown = output.either(|| json(&audit), || text(&audit));
    Ok(match audit.violations.is_empty() {
        true => CommandOutput::done(shown),
        false => CommandOutput::refused(shown),
    })
}

fn json(audit: &SqlAudit) -> serde_json::Value {
    json!({
        "questions": audit.questions,
        "refused": audit.refused,
        "pairs": audit.pairs,
        "violations": violations_json(&audit.violations),
    })
}

fn violations_json(violations: &[Violation]) -> Vec<serde_json::Value> {
    let violations = violations.iter();
    let violations = violations.map(|found| json!({"sql": found.sql, "what": found.what}));
    violations.collect()
}

fn failures_json(audit: &FailureAudit) -> serde_json::Value {
    json!({
        "queries": audit.queries,
        "refused": audit.refused,
        "pairs": audit.pairs,
        "answered": audit.answered,
        "failed": audit.failed.len(),
        "fallbacks": audit.fallbacks.len(),
        "faults": violations_json(&faults(audit)),
        "violations": violations_json(&audit.violations),
    })
}

/// Failures and fallbacks that happen with and without the person alike.
fn faults(audit: &FailureAudit) -> Vec<Violation> {
    let faults = audit.failed.iter().chain(&audit.fallbacks);
    faults.cloned().collect()
}

fn failures_text(audit: &FailureAudit) -> String {
    let mut text = format!(
        "{} queries, {} of them refused; {} pairs compared, {} with answers, {} fail alike; \
         {} answers by plain SQL because operators failed\n",
        audit.queries,
        audit.refused,
        audit.pairs,
        audit.answered,
        audit.failed.len(),
        audit.fallbacks.len()
    );
    push_violations(&mut text, &faults(audit));
    push_violations(&mut text, &audit.violations);
    text.push_str(&match audit.violations.len() {
        0 => "no violation: the kind of outcome never depended on one person\n".to_owned(),
        many => format!("{many} violations: please report them\n"),
    });
    text
}

fn push_violations(text: &mut String, violations: &[Violation]) {
    for found in violations.iter().take(20) {
        let sql = shortened(&found.sql, 400);
        text.push_str(&format!("  {}\n    {sql}\n", found.what));
    }
}

fn text(audit: &SqlAudit) -> String {
    let mut text = format!(
        "{} queries, {} of them refused, {} pairs compared\n",
        audit.questions, audit.refused, audit.pairs
    );
    push_violations(&mut text, &audit.violations);
    text.push_str(&match audit.violations.len() {
        0 => "no violation: no person changed an integer by more than the plan claims\n".to_owned(),
        many => format!("{many} violations: please report them\n"),
    });
    text
}
