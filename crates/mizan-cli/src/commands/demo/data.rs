//! Synthetic people and their clinic visits: the same on every run, so that outputs of
//! the demo can be compared.

use std::io::{BufWriter, Write};
use std::path::Path;

use crate::demo_rng::DemoRng;
use crate::failure::Failure;

pub(super) const PEOPLE: u32 = 40_000;
pub(super) const CITIES: [(&str, u64); 6] = [
    ("Alexandria", 24),
    ("Aswan", 5),
    ("Cairo", 46),
    ("Ismailia", 6),
    ("Luxor", 8),
    ("Mansoura", 11),
];
pub(super) const DEPARTMENTS: [(&str, u64, f64); 5] = [
    ("dental", 22, 60.0),
    ("emergency", 9, 240.0),
    ("eyes", 14, 85.0),
    ("general", 43, 35.0),
    ("surgery", 3, 900.0),
];

/// Common complaints, and rare ones that the threshold has to hide.
const COMPLAINTS: [(&str, u64); 14] = [
    ("cough", 4000),
    ("back pain", 3200),
    ("headache", 2600),
    ("tooth ache", 2400),
    ("fever", 2100),
    ("rash", 1300),
    ("blurred sight", 1100),
    ("sprain", 900),
    ("insomnia", 420),
    ("vertigo", 260),
    ("snake bite", 4),
    ("malaria", 2),
    ("leprosy", 1),
    ("plague", 1),
];

/// Writes `people.csv` and `visits.csv`; returns the number of visits.
pub(super) fn write(folder: &Path) -> Result<u64, Failure> {
    let path = folder.join("people.csv");
    let failed = |path: &Path| {
        let path = path.display().to_string();
        move |error: std::io::Error| Failure::file("write", &path, &error)
    };
    write_people(&path).map_err(failed(&path))?;
    let path = folder.join("visits.csv");
    write_visits(&path).map_err(failed(&path))
}

fn write_people(path: &Path) -> std::io::Result<()> {
    let mut file = BufWriter::new(std::fs::File::create(path)?);
    let mut rng = DemoRng::from(1);
    writeln!(file, "person,city,age,income")?;
    for person in 0..PEOPLE {
        let city = rng.one_of(&CITIES, |city| city.1).map_or("", |city| city.0);
        let age = (rng.part() * 55.0 + rng.part() * 40.0).floor();
        let income = if age < 16.0 {
            0.0
        } else {
            (8.3 + 0.7 * rng.normal()).exp().round()
        };
        writeln!(file, "{person},{city},{age},{income}")?;
    }
    file.flush()
}

fn write_visits(path: &Path) -> std::io::Result<u64> {
    let mut file = BufWriter::new(std::fs::File::create(path)?);
    let mut rng = DemoRng::from(2);
    let mut rows = 0;
    writeln!(file, "person,day,department,complaint,minutes,cost")?;
    for person in 0..PEOPLE {
        // Most come a few times a year, some almost every week.
        let visits = (2.0 * (1.0 + 1.1 * rng.normal()).exp()).min(60.0);
        let mut left = visits;
        while left >= 1.0 || rng.part() < left {
            left -= 1.0;
            rows += 1;
            let day = day_of(&mut rng);
            let department = rng.one_of(&DEPARTMENTS, |department| department.1);
            let &(department, _, price) = department.unwrap_or(&("general", 1, 35.0));
            let complaint = rng.one_of(&COMPLAINTS, |complaint| complaint.1);
            let complaint = complaint.map_or("", |complaint| complaint.0);
            let minutes = (18.0 * (0.6 * rng.normal()).exp()).round() + 2.0;
            let cost = price * (0.5 * rng.normal()).exp();
            writeln!(
                file,
                "{person},{day},{department},{complaint},{minutes},{cost:.2}"
            )?;
        }
    }
    file.flush()?;
    Ok(rows)
}

/// A day of 2025, more often in winter.
fn day_of(rng: &mut DemoRng) -> String {
    const MONTHS: [(u64, u64); 12] = [
        (31, 13),
        (28, 12),
        (31, 10),
        (30, 8),
        (31, 7),
        (30, 6),
        (31, 6),
        (31, 5),
        (30, 7),
        (31, 8),
        (30, 10),
        (31, 12),
    ];
    let numbered: Vec<(usize, &(u64, u64))> = MONTHS.iter().enumerate().collect();
    let month = rng.one_of(&numbered, |(_, month)| month.1);
    let &(place, &(days, _)) = month.unwrap_or(&(0, &(31, 1)));
    format!("2025-{:02}-{:02}", place + 1, 1 + rng.below(days))
}
