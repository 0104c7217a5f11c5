//! A dataset for tests: visits of two thousand people.

use std::fmt::Write as _;

use super::lab::Lab;

/// 2,000 people in two cities with one to three rows each.
pub(crate) fn people() -> String {
    let mut csv = String::from("person,city,age,paid\n");
    for person in 0..2000 {
        for visit in 0..=person % 3 {
            let city = if person % 4 == 0 { "Aswan" } else { "Cairo" };
            let (age, paid) = (person % 90, 10 * visit + person % 7);
            writeln!(csv, "{person},{city},{age},{paid}").unwrap();
        }
    }
    csv
}

const ADD: [&str; 22] = [
    "--unit",
    "person",
    "--epsilon",
    "4",
    "--delta",
    "1e-6",
    "--bound",
    "age=0:100",
    "--bound",
    "paid=0:50",
    "--keys",
    "city=Aswan,Cairo",
    "--max-rows-per-unit",
    "3",
    "--max-groups-per-unit",
    "2",
    "--own-delta",
    "2.5e-7",
    "--type",
    "person=integer",
    "--type",
    "age=integer",
];

/// A ledger and the dataset `visits` of these rows.
pub(crate) fn lab(name: &str, csv: &str) -> Lab {
    let lab = Lab::empty(name);
    lab.run(&["init"]).done();
    let run = add(&lab, csv);
    assert_eq!(run.code, 0, "{run:?}");
    lab
}

pub(crate) fn add(lab: &Lab, csv: &str) -> super::Run {
    let path = lab.folder.join("visits.csv");
    std::fs::write(&path, csv).unwrap();
    let from = path.to_str().unwrap();
    lab.run(&[&["dataset", "add", "visits", "--from", from], &ADD[..]].concat())
}
