//! The burn-down of a budget: the remaining part after each entry of the log.

use mizan_ledger::state::{LedgerView as _, State};
use mizan_ledger::{AccountNumber, Ledger};
use mizan_report::{Axis, Panel, Series, Stroke};

use serde::Serialize;
use utoipa::ToSchema;

use super::view;
use crate::failure::Failure;
use crate::messages::{Label, LabelText};
use crate::number::finite;
use crate::times;

/// The most points of a chart.
const MOST_POINTS: usize = 400;

/// The burn-down of an account.
#[derive(Clone, Debug)]
pub struct BurnDown {
    name: String,
    size: u64,
    points: Vec<Point>,
}

/// What remained after an entry.
#[derive(Clone, Debug)]
pub struct Point {
    /// The position of the entry.
    pub position: u64,
    /// The time of the entry.
    pub unix_ms: u64,
    /// The remaining share of the limit at the deciding order.
    pub share: f64,
    /// An estimate, for accounts with an epsilon.
    pub epsilon: Option<f64>,
}

/// What remained after an entry, for the JSON.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct BurnDownPoint {
    /// The position of the entry.
    pub position: u64,
    /// The time of the entry.
    pub time: String,
    /// The remaining share of the limit at the deciding order.
    pub share: f64,
    /// The remaining epsilon, an estimate; null for accounts without one.
    pub epsilon: Option<f64>,
}

impl BurnDown {
    /// Replays the log. `progress` receives the number of entries since its last call.
    ///
    /// # Errors
    ///
    /// The ledger cannot be read, or the log does not replay.
    pub fn of(
        ledger: &Ledger,
        number: AccountNumber,
        progress: impl Fn(u64),
    ) -> Result<Self, Failure> {
        let size = ledger.head()?.size;
        let mut state = State::new();
        let mut points: Vec<Point> = Vec::new();
        let mut before = None;
        while state.size() < size {
            let page = ledger.entries(state.size())?;
            if page.is_empty() {
                break;
            }
            for entry in page
                .iter()
                .take(usize::try_from(size - state.size()).unwrap_or(usize::MAX))
            {
                let position = state.size();
                if let Err(error) = state.apply(entry) {
                    return Err(Failure::new(
                        error.code(),
                        error,
                        "run `mizan ledger verify`",
                    ));
                }
                let Some(account) = state.account(number) else {
                    continue;
                };
                let now = (account.taken().clone(), account.budget().reserved_delta());
                let raised = matches!(&entry.body, mizan_ledger::Body::Raised { account, .. } if *account == number);
                if before.as_ref() == Some(&now) && !raised {
                    continue;
                }
                before = Some(now);
                let odometer = view::read(account);
                points.push(Point {
                    position,
                    unix_ms: entry.unix_ms,
                    share: odometer.room.map_or(0.0, |room| room.share),
                    epsilon: odometer.remaining.map(mizan_core::Epsilon::get),
                });
                if points.len() >= 2 * MOST_POINTS {
                    thin(&mut points);
                }
            }
            progress(page.len() as u64);
        }
        let name = state
            .account(number)
            .map_or_else(String::new, |a| a.name().to_string());
        Ok(Self { name, size, points })
    }

    /// What remained after each entry.
    #[must_use]
    pub fn points(&self) -> &[Point] {
        &self.points
    }

    /// The JSON form.
    #[must_use]
    pub fn json(&self) -> Vec<BurnDownPoint> {
        let point = |point: &Point| BurnDownPoint {
            position: point.position,
            time: times::exact(point.unix_ms),
            share: point.share,
            epsilon: point.epsilon.and_then(finite),
        };
        self.points.iter().map(point).collect()
    }

    /// A chart of the remaining share.
    #[expect(clippy::cast_precision_loss, reason = "for a picture")]
    #[must_use]
    pub fn panel(&self, words: LabelText) -> Panel {
        let mut steps = Vec::new();
        let mut last = None;
        for point in &self.points {
            let x = point.position as f64;
            if let Some(y) = last {
                steps.push((x, y));
            }
            steps.push((x, 100.0 * point.share));
            last = Some(100.0 * point.share);
        }
        // The last step extends to the end of the log.
        if let Some(y) = last {
            steps.push((self.size as f64, y));
        }
        Panel::new(
            words(&Label::LeftOf {
                account: self.name.clone(),
            }),
            Axis::linear(words(&Label::LogEntry)),
            Axis::linear(words(&Label::LeftPercent)).range(0.0, 100.0),
        )
        .with(Series::new("", steps).stroke(Stroke::Solid))
    }
}

/// Keeps every other point, and the first and last.
fn thin(points: &mut Vec<Point>) {
    let last = points.len().saturating_sub(1);
    let mut at = 0;
    points.retain(|_| {
        let keep = at % 2 == 0 || at == last;
        at += 1;
        keep
    });
}
