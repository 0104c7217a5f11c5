//! Checkpoints, inclusion and consistency proofs, and verification of the log.

use mizan_api::failure::Failure;
use mizan_api::ledger::{CheckpointAnswer, ConsistencyAnswer, InclusionAnswer, VerifyAnswer};
use mizan_ledger::Witnesses;

use super::Service;
use crate::identity::Caller;
use crate::problem::Problem;

impl Service {
    /// A signed checkpoint: size and root of the log.
    ///
    /// # Errors
    ///
    /// The signing key cannot be used.
    pub async fn checkpoint(&self, _: &Caller) -> Result<CheckpointAnswer, Problem> {
        self.with_ledger(|service| {
            let ledger = &service.0.ledger;
            Ok(CheckpointAnswer::of(
                &ledger.checkpoint()?,
                ledger.public_key(),
            ))
        })
        .await
    }

    /// The proof that an entry is in the log, as it is now or was at a size.
    ///
    /// # Errors
    ///
    /// The entry or the size does not exist.
    pub async fn inclusion(
        &self,
        _: &Caller,
        position: u64,
        size: Option<u64>,
    ) -> Result<InclusionAnswer, Problem> {
        self.with_ledger(move |service| {
            let found = service.0.ledger.prove_inclusion(position, size)?;
            let (entry, proof, head) = found.ok_or_else(|| Problem::not_found("this entry"))?;
            Ok(InclusionAnswer::of(&entry, &proof, head))
        })
        .await
    }

    /// The proof that the log extends the log of an earlier size.
    ///
    /// # Errors
    ///
    /// A size does not exist.
    pub async fn consistency(
        &self,
        _: &Caller,
        before: u64,
        size: Option<u64>,
    ) -> Result<ConsistencyAnswer, Problem> {
        self.with_ledger(move |service| {
            let found = service.0.ledger.prove_consistency(before, size)?;
            let (earlier, proof, head) = found.ok_or_else(|| Problem::not_found("this size"))?;
            Ok(ConsistencyAnswer::of(earlier, &proof, head))
        })
        .await
    }

    /// Verifies the whole log; one verification at a time.
    ///
    /// # Errors
    ///
    /// The first error that is found.
    pub async fn verify(&self, _: &Caller) -> Result<VerifyAnswer, Problem> {
        let service = self.clone();
        let work = move || {
            let witnesses = Witnesses {
                receipts: Vec::new(),
                checkpoints: Vec::new(),
                public_key: None,
            };
            let report = service.0.ledger.verify(&witnesses, |_, _| ());
            let report = report.map_err(|error| Problem::from(Failure::from(error)))?;
            Ok(VerifyAnswer::of(&report, &[]))
        };
        let result = self.0.verifying.run(work).await?;
        self.stop_if_fatal(result)
    }
}
