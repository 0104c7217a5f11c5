//! Random and typical queries: PostgreSQL agrees with the oracle, like DataFusion.

use super::super::Postgres;
use super::server::{Schema, held};
use crate::audit::parity::agree;
use crate::engine::execute;

#[test]
fn postgres_agrees_with_the_oracle() {
    let Some(mut schema) = Schema::new() else {
        return;
    };
    // First the seeds with products of constants that underflow, and products of NULL.
    agree("postgres", &[394, 820], 150, |case| {
        for value in case.data.values_mut().flatten().flatten() {
            *value = held(value);
        }
        let rng = &mut case.rng;
        schema.fill(&mut case.catalogue, &case.data, || rng.chance(50));
        let engine = Postgres::default();
        vec![execute(&engine, &case.plan, &case.catalogue, case.salt)]
    });
}
