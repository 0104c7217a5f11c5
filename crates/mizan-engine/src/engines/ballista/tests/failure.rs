//! Whether there is an answer does not depend on the rows of one unit: the three known
//! reproductions, and the failure audit.

use super::cluster::{Cluster, run};
use crate::audit::failure::tests::{clean, pairs, seeds};
use crate::audit::failure::{self, AttackQuery, Hunt, Target, World, observe, on_files};
use crate::engine::execute;
use crate::engines::generate::Rng;
use crate::engines::reproductions::{self, Tables};
use crate::engines::test_queries::{self, TEST_QUERIES};
use crate::exact::{Execution, ExecutionPath};

#[test]
fn the_three_reproductions_have_one_outcome() {
    let cluster = Cluster::of(2);
    let engine = cluster.engine();
    let mut catalogue = reproductions::catalogue();
    for (name, dataset) in &mut catalogue.datasets {
        let path = cluster.path(&format!("{name}.parquet"));
        dataset.source = path.to_str().unwrap().to_owned();
    }
    let outcome = |plan: &mizan_sql::BoundedPlan, tables: &Tables| {
        for (name, rows) in tables {
            failure::write_plain(&catalogue.datasets[*name], rows).unwrap();
        }
        observe(&engine, &catalogue, plan, [5; 16])
    };
    reproductions::check(&catalogue, outcome, true);
}

#[test]
fn no_unit_decides_whether_there_is_an_answer() {
    let cluster = Cluster::of(1);
    let engine = cluster.engine();
    let folder = cluster.path("hunt");
    std::fs::create_dir_all(&folder).unwrap();
    let hunt = Hunt {
        folder: folder.to_str().unwrap(),
        pairs: pairs(100),
        only: None,
    };
    let run = |world: &World, target: &Target, queries: &[AttackQuery]| {
        on_files(&engine, world, target, queries)
    };
    clean(&hunt.run(&mut seeds(3), run, |_| ()).unwrap());
}

/// If the statements with counts fail, the plan without counts has the same integers, and the
/// fallback is seen.
#[test]
fn statements_that_fail_are_found() {
    let cluster = Cluster::of(1);
    let mut engine = cluster.engine();
    let mut rng = Rng::new(11);
    let mut catalogue = test_queries::catalogue();
    let data = test_queries::data(&mut rng);
    cluster.fill("fallback", &mut catalogue, &data, || 2);
    let plan = mizan_sql::plan(TEST_QUERIES[2], &catalogue).unwrap();
    let expected = run(&engine, &plan, &catalogue, [5; 16]).unwrap();
    engine.fails = true;
    let found = execute(&engine, &plan, &catalogue, [5; 16]).unwrap();
    assert_eq!(found, Execution::new(expected, ExecutionPath::Fallback));
}
