//! `mizan ledger verify`: replays the log and checks everything.

use std::path::PathBuf;

use mizan_api::ledger::VerifyAnswer;
use mizan_api::messages::{Message as _, VerifyWarning};
use mizan_core::Code;
use mizan_ledger::{Checkpoint, PublicKey, ReceiptText, Witnesses, default_state_dir};
use mizan_report::number;

use crate::failure::Failure;
use crate::input;
use crate::ledger_args::LedgerArguments;
use crate::output::{Output, Progress};

/// Replay the log and check every charge, sum and hash
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The command rebuilds the Merkle tree, repeats the filter's decision on every
charge, computes the cost of every event again and compares all sums. Receipts
and checkpoints are witnesses: the log must extend what they saw.

Examples:
  mizan ledger verify
  mizan ledger verify --checkpoint kept.txt --public-key mizan-pub-1:...
  mizan ledger verify --receipt mizan1:...")]
pub(crate) struct Arguments {
    /// Receipt that the log must extend (repeatable)
    #[arg(long, value_name = "RECEIPT")]
    receipt: Vec<String>,

    /// File with checkpoints, one per line (repeatable)
    #[arg(long, value_name = "FILE")]
    checkpoint: Vec<PathBuf>,

    /// Key that signed the checkpoints [default: the ledger's key, if it is on
    /// this machine]
    #[arg(long, value_name = "KEY")]
    public_key: Option<String>,

    #[command(flatten)]
    ledger: LedgerArguments,
}

pub(super) fn run(arguments: &Arguments, output: Output) -> Result<String, Failure> {
    let receipts: Result<Vec<ReceiptText>, _> = arguments
        .receipt
        .iter()
        .map(|text| text.trim().parse())
        .collect();
    let mut checkpoints: Vec<Checkpoint> = Vec::new();
    for path in &arguments.checkpoint {
        let name = path.display().to_string();
        let text = input::file(&name)?;
        let before = checkpoints.len();
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
            let parsed = line
                .parse()
                .map_err(|error: mizan_ledger::evidence::TextError| {
                    Failure::from(error).of_option(&name)
                });
            checkpoints.push(parsed?);
        }
        if checkpoints.len() == before {
            return Err(Failure::new(
                Code::MZ0005,
                format!("{name} is empty"),
                "write a checkpoint into it with `mizan ledger checkpoint`",
            ));
        }
    }
    let public_key: Option<PublicKey> = (arguments.public_key.as_deref())
        .map(|text| text.trim().parse())
        .transpose()?;
    if public_key.is_some() && checkpoints.is_empty() {
        return Err(Failure::new(
            Code::MZ0009,
            "--public-key is given without a --checkpoint",
            "add --checkpoint FILE",
        ));
    }
    let ledger = arguments.ledger.read()?;
    let state = default_state_dir().ok();
    let public_key = public_key.or_else(|| state.and_then(|state| ledger.public_key_in(&state)));
    let unsigned = public_key.is_none() && !checkpoints.is_empty();
    let witnesses = Witnesses {
        receipts: receipts?,
        checkpoints,
        public_key,
    };
    let progress = Progress::of(ledger.head()?.size);
    let mut before = 0;
    let report = ledger.verify(&witnesses, |done, _| {
        progress.advance(done - before);
        before = done;
    })?;
    let warnings: &[VerifyWarning] = match unsigned {
        true => &[VerifyWarning::SignaturesNotChecked],
        false => &[],
    };
    Ok(output.either(
        || VerifyAnswer::of(&report, warnings),
        || {
            let whole = |count: u64| number::nearest(count as f64, 15);
            let pending = report.charges - report.committed - report.voided;
            let lost = match report.gaps {
                0 => String::new(),
                _ => ", except by charges\nthat were lost with a restored copy".to_owned(),
            };
            let mut text = format!(
                "Verified: the log is intact and no budget was exceeded{lost}.\n\n  entries   {}\n  accounts  {}\n  charges   {} ({} committed, {} pending, {} voided)\n  refused   {}\n  costs     {} computed again; none exceeds its charge\n",
                whole(report.head.size),
                report.accounts,
                whole(report.charges),
                whole(report.committed),
                whole(pending),
                whole(report.voided),
                whole(report.denied),
                whole(report.priced),
            );
            if report.unpriced > 0 {
                text.push_str(&format!(
                    "  no event  {} charges have a cost and no event: the caller stated the cost\n",
                    whole(report.unpriced)
                ));
            }
            if report.gaps > 0 {
                text.push_str(&format!(
                    "  gaps      {}: an older copy was restored; lost charges are not counted\n",
                    report.gaps
                ));
            }
            if report.witnesses > 0 {
                text.push_str(&format!(
                    "  witnesses {} receipts and checkpoints, all extended\n",
                    report.witnesses
                ));
            }
            text.push_str(&format!("  root      {}\n", report.head.root));
            for warning in warnings {
                text.push_str(&format!("\nwarning: {}\n", warning.english()));
            }
            text
        },
    ))
}
