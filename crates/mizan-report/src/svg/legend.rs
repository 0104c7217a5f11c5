//! Legends, placed where they do not cover curves.

use super::curve::{Curve, Pen};
use super::text::{self, Anchor, Px};
use crate::clip::Rect;
use crate::{Panel, Series};
use std::fmt::Write as _;

const SIZE: f64 = 11.0;
const LINE: f64 = 15.0;
/// Length of the sample line: long enough to show every dash pattern.
const SAMPLE: f64 = 28.0;
/// Space between sample and name, and around the box.
const GAP: f64 = 5.0;
/// Space between entries that stand side by side.
const BETWEEN: f64 = 16.0;
/// Distance of a legend from the frame.
const INSET: f64 = 6.0;
/// Places tried along each side of the plot.
const PLACES: u8 = 8;

/// A name and the line that bears it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    name: String,
    pen: Pen,
}

impl Entry {
    /// The legend of a panel; series without a name are not in it.
    pub(super) fn of(panel: &Panel) -> Vec<Self> {
        let entry = |(place, series): (usize, &Series)| Self {
            name: series.name.clone(),
            pen: Pen::new(place, series),
        };
        let entries = panel.series.iter().enumerate().map(entry);
        entries.filter(|entry| !entry.name.is_empty()).collect()
    }

    fn width(&self) -> f64 {
        SAMPLE + GAP + text::width(&self.name, SIZE)
    }

    /// Draws sample and name in a line whose upper left corner is `(x, y)`.
    fn draw(&self, svg: &mut String, (x, y): (f64, f64)) {
        let middle = y + LINE / 2.0;
        self.pen
            .path(svg, &format!("M{} {}h{SAMPLE}", Px(x), Px(middle)));
        self.pen.markers(svg, &[(x + SAMPLE / 2.0, middle)]);
        let baseline = (x + SAMPLE + GAP, middle + 0.35 * SIZE);
        text::write(svg, baseline, Anchor::Start, SIZE, false, &self.name);
    }
}

/// A legend inside a plot: one entry a line.
pub(super) struct Inset {
    entries: Vec<Entry>,
    place: Rect,
}

impl Inset {
    /// Finds a place in the plot where no curve passes, corners first.
    /// Without one, the entries come back.
    pub(super) fn place(
        entries: Vec<Entry>,
        curves: &[Curve],
        plot: (f64, f64),
    ) -> Result<Self, Vec<Entry>> {
        let width = entries.iter().map(Entry::width).fold(0.0, f64::max) + 2.0 * GAP;
        let height = entries.len() as f64 * LINE + GAP;
        let (across, down) = (plot.0 - width - 2.0 * INSET, plot.1 - height - 2.0 * INSET);
        if across < 0.0 || down < 0.0 {
            return Err(entries);
        }
        let mut candidates = spots().into_iter().map(|(right, low)| {
            let (left, top) = (INSET + right * across, INSET + low * down);
            Rect {
                left,
                top,
                right: left + width,
                bottom: top + height,
            }
        });
        let free = |place: &Rect| curves.iter().all(|curve| curve.length_within(place) <= 0.0);
        match candidates.find(free) {
            Some(place) => Ok(Self { entries, place }),
            None => Err(entries),
        }
    }

    pub(super) fn draw(&self, svg: &mut String) {
        let Rect {
            left,
            top,
            right,
            bottom,
        } = self.place;
        // Only the grid lies beneath: cover it, so that names stand on white.
        let _ = writeln!(
            svg,
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"#fff\"/>",
            Px(left),
            Px(top),
            Px(right - left),
            Px(bottom - top)
        );
        let mut y = top + GAP / 2.0;
        for entry in &self.entries {
            entry.draw(svg, (left + GAP, y));
            y += LINE;
        }
    }
}

/// Where a box may stand, as parts of its freedom to the right and down: the
/// four corners first, then along the four sides, then anywhere.
fn spots() -> Vec<(f64, f64)> {
    let steps = || (0..=PLACES).map(|step| f64::from(step) / f64::from(PLACES));
    let mut spots: Vec<(f64, f64)> = steps()
        .flat_map(|low| steps().map(move |right| (right, low)))
        .collect();
    let from_end = |part: f64| part.min(1.0 - part);
    // A stable sort by distance from the corners, sides before the middle.
    spots.sort_by(|a, b| {
        let rank = |&(right, low): &(f64, f64)| {
            let (across, down) = (from_end(right), from_end(low));
            (across.min(down), across + down)
        };
        let (a, b) = (rank(a), rank(b));
        a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1))
    });
    spots
}

/// A legend outside a plot: entries side by side, in as many lines as needed.
pub(super) struct Flow {
    entries: Vec<Entry>,
    room: f64,
    pub(super) width: f64,
    pub(super) height: f64,
}

impl Flow {
    pub(super) fn new(entries: Vec<Entry>, room: f64) -> Self {
        let mut flow = Self {
            entries,
            room,
            width: 0.0,
            height: 0.0,
        };
        for (entry, (x, y)) in flow.places() {
            let (right, bottom) = (x + entry.width(), y + LINE);
            (flow.width, flow.height) = (flow.width.max(right), flow.height.max(bottom));
        }
        flow
    }

    /// Each entry with its upper left corner.
    fn places(&self) -> Vec<(Entry, (f64, f64))> {
        let (mut x, mut y) = (0.0, 0.0);
        let place = |entry: &Entry| {
            if x > 0.0 && x + entry.width() > self.room {
                (x, y) = (0.0, y + LINE);
            }
            let corner = (x, y);
            x += entry.width() + BETWEEN;
            (entry.clone(), corner)
        };
        self.entries.iter().map(place).collect()
    }

    pub(super) fn draw(&self, svg: &mut String, (left, top): (f64, f64)) {
        for (entry, (x, y)) in self.places() {
            entry.draw(svg, (left + x, top + y));
        }
    }
}
