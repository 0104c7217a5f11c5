//! The results of random queries on an engine, compared with the oracle.
//!
//! They can be recorded, to compare two commits: of each query a line with the engine, the seed,
//! the canonical hash of the plan and a hash of the results.
//!
//! ```text
//! MIZAN_RECORD=/tmp/before.txt MIZAN_ENGINE_ROUNDS=10000 \
//!     cargo test --release -p mizan-engine agrees_with_the_oracle
//! ```
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::Write as _;

use mizan_core::SplitMix64;
use mizan_sql::{BoundedPlan, Catalogue};
use sha2::{Digest as _, Sha256};

use super::dice::Dice;
use super::{SqlAudit, salt, tests, world};
use crate::engine::EngineError;
use crate::engines::generate::{self, Rng, plan_variants};
use crate::engines::test_queries::{self, TEST_QUERIES};
use crate::exact::Execution;
use crate::oracle::{self, Data};

/// A plan over random rows.
pub(crate) struct Case {
    name: String,
    pub(crate) catalogue: Catalogue,
    pub(crate) data: Data,
    pub(crate) plan: BoundedPlan,
    pub(crate) salt: [u8; 16],
    /// Further choices of the test.
    pub(crate) rng: Rng,
}

impl Case {
    /// A random plan.
    pub(crate) fn of_plan(seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        let catalogue = generate::catalogue(&mut rng);
        let data = generate::data(&mut rng, &catalogue);
        let plan = generate::plan(&mut rng, &catalogue);
        let plan = plan_variants::first_rows(&mut Rng::new(!seed), plan);
        let plan = plan_variants::clipped(&mut Rng::new(!seed ^ 1), plan);
        let plan = plan_variants::uncapped(&mut Rng::new(!seed ^ 2), plan);
        Self {
            name: seed.to_string(),
            catalogue,
            data,
            plan,
            salt: rng.salt(),
            rng,
        }
    }

    /// The plan of a random SQL query.
    fn of_query(seed: u64) -> Self {
        let mut numbers = SplitMix64::new(seed);
        let mut next = || numbers.word();
        let mut dice = Dice(&mut next);
        loop {
            let catalogue = world::catalogue(&mut dice, "");
            let tables = world::tables(&mut dice, &catalogue);
            let queries = SqlAudit::default().random_queries(&mut dice, &catalogue);
            if let Some(query) = queries.into_iter().next() {
                return Self {
                    name: seed.to_string(),
                    data: tests::values(&catalogue, &tables),
                    catalogue,
                    plan: query.plan,
                    salt: salt(&mut dice),
                    rng: Rng::new(seed),
                };
            }
        }
    }

    /// One or the other.
    pub(crate) fn of(seed: u64) -> Self {
        match seed % 2 {
            0 => Self::of_query(seed),
            _ => Self::of_plan(seed),
        }
    }

    /// A typical query.
    fn of_sql(sql: &str) -> Self {
        let (mut rng, catalogue) = (Rng::new(11), test_queries::catalogue());
        Self {
            name: format!("{sql:?}"),
            data: test_queries::data(&mut rng),
            plan: mizan_sql::plan(sql, &catalogue).unwrap(),
            catalogue,
            salt: rng.salt(),
            rng,
        }
    }
}

/// A number from the environment.
pub(crate) fn number(variable: &str, usual: u64) -> u64 {
    std::env::var(variable).map_or(usual, |number| number.parse().unwrap())
}

/// The results of a case.
pub(crate) type Results = Vec<Result<Execution, EngineError>>;

/// Runs cases on an engine, records the results, and returns those that are not the oracle's or
/// are fallbacks. Small plans come first.
pub(crate) fn differences(
    engine: &str,
    cases: impl IntoIterator<Item = Case>,
    mut run: impl FnMut(&mut Case) -> Results,
) -> Vec<String> {
    let path = std::env::var("MIZAN_RECORD");
    let mut file = path.map(|path| {
        let mut options = OpenOptions::new();
        options.create(true).append(true).open(path).unwrap()
    });
    let mut differences = Vec::new();
    for mut case in cases {
        let results = run(&mut case);
        let Case {
            name,
            catalogue,
            data,
            plan,
            salt,
            ..
        } = &case;
        if let Ok(file) = &mut file {
            let (plan, results) = (hex(&plan.digest()[..8]), hex(&digest(&results)[..12]));
            writeln!(file, "{engine} {name} {plan} {results}").unwrap();
        }
        let expected = oracle::run(plan, catalogue, data, salt);
        for (place, found) in results.into_iter().enumerate() {
            let shown = format!("{found:?}");
            if found.and_then(Execution::without_fallback).as_ref() != Ok(&expected) {
                let plan = format!("{plan:?}");
                let text = format!("{name}, run {place}\n{plan}\n{shown}\n{expected:?}");
                differences.push((plan.len(), text));
            }
        }
    }
    differences.sort();
    differences.into_iter().map(|(_, text)| text).collect()
}

/// Checks that an engine agrees with the oracle: on these random plans, on so many random
/// queries (or `MIZAN_ENGINE_ROUNDS`, from `MIZAN_ENGINE_SEED` on) and on typical queries.
pub(crate) fn agree(
    engine: &str,
    plans: &[u64],
    rounds: u64,
    run: impl FnMut(&mut Case) -> Results,
) {
    let from = number("MIZAN_ENGINE_SEED", 0);
    let seeds = from..from + number("MIZAN_ENGINE_ROUNDS", rounds);
    let cases = plans.iter().map(|seed| Case::of_plan(*seed));
    let cases = cases.chain(seeds.map(Case::of));
    let cases = cases.chain(TEST_QUERIES.into_iter().map(Case::of_sql));
    let found = differences(engine, cases, run);
    for text in found.iter().take(3) {
        eprintln!("{text}\n");
    }
    assert!(found.is_empty(), "{} results differ", found.len());
}

fn digest(results: &Results) -> [u8; 32] {
    let results = results.iter().map(|result| match result {
        Ok(execution) => format!("{:?} {:?}\n", execution.path(), execution.exact()),
        Err(error) => format!("{}\n", error.code()),
    });
    Sha256::digest(results.collect::<String>()).into()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").unwrap();
        text
    })
}
