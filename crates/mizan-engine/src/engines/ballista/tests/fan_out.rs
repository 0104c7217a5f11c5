//! Joins with public tables: rows are counted on this machine, and the joins run on a cluster.

use super::cluster::{Cluster, run};
use crate::engines::fan_out::cases;

#[test]
fn neighbours_have_one_outcome() {
    let cluster = Cluster::of(2);
    let engine = cluster.engine();
    cases::neighbours(
        |name, catalogue, data| cases::write_files(&cluster.path(name), catalogue, data),
        |plan, catalogue, salt| run(&engine, plan, catalogue, salt),
    );
}
