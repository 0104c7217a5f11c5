//! Clips lines to a rectangle, for SVG and terminals.

/// A place: to the right, then down.
pub(crate) type Point = (f64, f64);

/// An axis-parallel rectangle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Rect {
    pub(crate) left: f64,
    pub(crate) top: f64,
    pub(crate) right: f64,
    pub(crate) bottom: f64,
}

impl Rect {
    pub(crate) fn contains(&self, (x, y): Point) -> bool {
        (self.left..=self.right).contains(&x) && (self.top..=self.bottom).contains(&y)
    }

    /// The part of a segment inside (Liang and Barsky's algorithm).
    pub(crate) fn clip(&self, from: Point, to: Point) -> Option<(Point, Point)> {
        let (dx, dy) = (to.0 - from.0, to.1 - from.1);
        let (mut enter, mut leave) = (0.0_f64, 1.0_f64);
        for (direction, distance) in [
            (-dx, from.0 - self.left),
            (dx, self.right - from.0),
            (-dy, from.1 - self.top),
            (dy, self.bottom - from.1),
        ] {
            if direction == 0.0 && distance < 0.0 {
                return None;
            }
            if direction < 0.0 {
                enter = enter.max(distance / direction);
            }
            if direction > 0.0 {
                leave = leave.min(distance / direction);
            }
        }
        let at = |part: f64| (from.0 + part * dx, from.1 + part * dy);
        (enter <= leave).then(|| {
            let start = if enter > 0.0 { at(enter) } else { from };
            (start, if leave < 1.0 { at(leave) } else { to })
        })
    }
}

/// The straight way between two points.
pub(crate) fn distance(from: Point, to: Point) -> f64 {
    (to.0 - from.0).hypot(to.1 - from.1)
}

#[cfg(test)]
mod tests {
    use super::Rect;

    const UNIT: Rect = Rect {
        left: 0.0,
        top: 0.0,
        right: 1.0,
        bottom: 1.0,
    };

    #[test]
    fn segments_are_cut_at_the_edges() {
        assert_eq!(
            UNIT.clip((-1.0, 0.5), (2.0, 0.5)),
            Some(((0.0, 0.5), (1.0, 0.5)))
        );
        assert_eq!(
            UNIT.clip((0.25, 0.25), (0.25, 3.0)),
            Some(((0.25, 0.25), (0.25, 1.0)))
        );
        assert_eq!(
            UNIT.clip((0.1, 0.2), (0.3, 0.4)),
            Some(((0.1, 0.2), (0.3, 0.4)))
        );
    }

    #[test]
    fn segments_outside_vanish() {
        assert_eq!(UNIT.clip((2.0, 0.0), (3.0, 1.0)), None);
        assert_eq!(UNIT.clip((-1.0, 0.5), (0.5, 2.5)), None);
    }
}
