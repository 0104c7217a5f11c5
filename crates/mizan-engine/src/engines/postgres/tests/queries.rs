//! Typical queries on the oracle, DataFusion and PostgreSQL: the integers before the noise are
//! equal.

use super::server::{Schema, run};
use crate::engines::generate::Rng;
use crate::engines::test_queries::{TEST_QUERIES, catalogue, data, tables};
use crate::exact::ExecutionPath;
use crate::oracle;

#[test]
fn queries_have_the_same_integers_on_every_engine() {
    let Some(mut schema) = Schema::new() else {
        return;
    };
    let mut rng = Rng::new(11);
    let mut catalogue = catalogue();
    let data = data(&mut rng);
    schema.fill(&mut catalogue, &data, || false);
    let tables = tables(&catalogue, &data);
    let files = crate::DataFusion::with_partitions(2).unwrap();
    let mut refused = Vec::new();
    for sql in TEST_QUERIES {
        let plan = match mizan_sql::plan(sql, &catalogue) {
            Ok(plan) => plan,
            Err(refusal) => {
                refused.push(format!("{sql}: {refusal}"));
                continue;
            }
        };
        let salt = rng.salt();
        let expected = oracle::run(&plan, &catalogue, &data, &salt);
        assert!(!expected.is_empty(), "{sql}");
        let embedded = files.run_on(&plan, &catalogue, &tables, &salt).unwrap();
        assert_eq!(embedded.exact, expected, "{sql}");
        assert_eq!(embedded.path, ExecutionPath::Operators, "{sql}");
        assert_eq!(
            run(&plan, &catalogue, salt).as_ref(),
            Ok(&expected),
            "{sql}"
        );
    }
    assert!(refused.is_empty(), "{}", refused.join("\n"));
}
