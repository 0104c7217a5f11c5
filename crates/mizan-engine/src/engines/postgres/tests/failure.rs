//! Whether there is an answer does not depend on the rows of one unit: the three known
//! reproductions, and the failure audit.

use super::server::{Schema, held};
use crate::audit::failure::tests::{clean, pairs, seeds};
use crate::audit::failure::world::{Rows, value};
use crate::audit::failure::{AttackQuery, Hunt, Target, World, observe};
use crate::engines::postgres::Postgres;
use crate::engines::reproductions::{self, Tables};
use crate::oracle::Data;

fn values(rows: &Rows) -> crate::oracle::Rows {
    let row = |row: &Vec<_>| row.iter().map(|cell| held(&value(cell))).collect();
    rows.iter().map(row).collect()
}

#[test]
fn the_three_reproductions_have_one_outcome() {
    let Some(mut schema) = Schema::new() else {
        return;
    };
    let mut catalogue = reproductions::catalogue();
    for (name, dataset) in &mut catalogue.datasets {
        dataset.source = schema.source(name);
    }
    let outcome = |plan: &mizan_sql::BoundedPlan, tables: &Tables| {
        let tables = tables.iter();
        let data: Data = tables
            .map(|(name, rows)| ((*name).to_owned(), values(rows)))
            .collect();
        schema.fill(&mut catalogue.clone(), &data, || false);
        observe(&Postgres::default(), &catalogue, plan, [5; 16])
    };
    reproductions::check(&catalogue, outcome, false);
}

#[test]
fn no_unit_decides_whether_there_is_an_answer() {
    let Some(mut schema) = Schema::new() else {
        return;
    };
    let run = |world: &World, target: &Target, queries: &[AttackQuery]| {
        let tables = world.tables.iter().enumerate();
        let data: Data = tables
            .map(|(place, table)| (table.name.clone(), values(&world.rows(place, target))))
            .collect();
        let mut catalogue = world.catalogue.clone();
        schema.fill(&mut catalogue, &data, || false);
        let engine = Postgres::default();
        let outcome = |query: &AttackQuery| observe(&engine, &catalogue, &query.plan, world.salt);
        Ok(queries.iter().map(outcome).collect())
    };
    let hunt = Hunt {
        folder: "",
        pairs: pairs(300),
        only: None,
    };
    clean(&hunt.run(&mut seeds(2), run, |_| ()).unwrap());
}
