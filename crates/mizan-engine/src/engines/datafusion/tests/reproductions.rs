//! Whether there is an answer does not depend on the rows of one unit.

use super::super::DataFusion;
use crate::audit::failure::{observe, write_plain};
use crate::engines::reproductions::{self, Tables};

#[test]
fn the_three_reproductions_have_one_outcome() {
    let folder = tempfile::tempdir().unwrap();
    let mut catalogue = reproductions::catalogue();
    for (name, dataset) in &mut catalogue.datasets {
        dataset.source = format!("{}/{name}.parquet", folder.path().display());
    }
    let engine = DataFusion::with_partitions(2).unwrap();
    let outcome = |plan: &mizan_sql::BoundedPlan, tables: &Tables| {
        for (name, rows) in tables {
            write_plain(&catalogue.datasets[*name], rows).unwrap();
        }
        observe(&engine, &catalogue, plan, [5; 16])
    };
    reproductions::check(&catalogue, outcome, true);
}
