//! Divergences of finite distributions against 60-digit arithmetic.

use crate::common::{Truth, golden, number, order};
use mizan_accounting::FiniteDistribution;

#[test]
fn divergences_from_the_definition() {
    let mut checked = 0;
    for record in golden("divergence.json", "values") {
        let distribution = |name: &str| {
            let values: Vec<f64> = record[name]
                .as_array()
                .unwrap()
                .iter()
                .map(number)
                .collect();
            FiniteDistribution::new(&values).unwrap()
        };
        let divergence = distribution("p")
            .divergence(&distribution("q"), order(&record["order"]))
            .unwrap();
        Truth(record["value"].as_str().unwrap()).check(divergence, 1e-12, &record);
        checked += 1;
    }
    assert!(checked > 100, "only {checked} values");
}
