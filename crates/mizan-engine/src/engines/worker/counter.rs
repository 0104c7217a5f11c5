//! Counts public rows in a worker process, whose limits on memory and time hold whatever the
//! expressions of join keys allocate or compute.

use std::collections::BTreeMap;
use std::time::Instant;

use mizan_sql::{Catalogue, Relation};

use super::process::{WorkerProgram, WorkerSession};
use super::{Request, Task, encoded, frame};
use crate::engine::EngineError;
use crate::engines::datafusion::counting::MAX_BYTES;
use crate::version::Version;

/// The longest answer of a counting worker: a number, or an error.
const LONGEST_COUNT: u64 = 1 << 20;

/// The memory for counting, given the memory of a query: half of it, at least [`MAX_BYTES`],
/// and at most all of it. Quotes count while queries run.
fn memory(of_query: u64) -> u64 {
    of_query.min((of_query / 2).max(MAX_BYTES as u64))
}

/// A worker process that counts rows of public relations.
#[derive(Debug)]
pub(in crate::engines) struct Counter {
    worker: WorkerSession<Result<u64, EngineError>>,
    /// The request frame, sent before the first relation.
    first: Vec<u8>,
}

impl Counter {
    /// Starts a worker that counts over these public tables.
    pub(in crate::engines) fn new(
        program: &WorkerProgram,
        partitions: usize,
        versions: &BTreeMap<String, Version>,
        catalogue: &Catalogue,
    ) -> Result<Self, EngineError> {
        let request = Request::new(
            Task::Count(versions.clone()),
            versions.keys(),
            catalogue,
            partitions,
            memory(program.limits.memory),
        )?;
        Ok(Self {
            first: encoded(&request)?,
            worker: program.start(LONGEST_COUNT)?,
        })
    }

    /// The greatest value of the last column of a public relation.
    pub(in crate::engines) fn count(
        &mut self,
        relation: &Relation,
        end: Instant,
    ) -> Result<u64, EngineError> {
        let mut frames = std::mem::take(&mut self.first);
        frames.extend(frame::encode(relation).ok_or_else(super::too_large)?);
        let left = end.saturating_duration_since(Instant::now());
        self.worker.request(frames, left)?
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counting_has_half_of_the_memory_of_a_query_and_at_least_a_gibibyte() {
        for (of_query, counting) in [(64 << 20, 64 << 20), (3 << 29, 1 << 30), (8 << 30, 4 << 30)] {
            assert_eq!(memory(of_query), counting);
        }
    }
}
