//! Finds where the cost of an event crosses a target, with few evaluations.
//!
//! On logarithmic axes the cost is nearly straight: inverse interpolation
//! through the best three points converges in a handful of steps. Halving the
//! bracket is the fallback wherever that does not help. The answer is always a
//! value whose own cost was evaluated and is not above the target, so nothing
//! here has to be trusted.

use mizan_core::ParameterValue;

use super::axis::Axis;

/// Interpolation aims this far inside of what is close enough, so that it lands
/// on the safe side.
const AIM: f64 = -0.4;
/// The longest first step along the axis, as a logarithm.
const FIRST_STEP: f64 = 4.6;
/// The most evaluations for a real parameter: by then the bracket is far
/// narrower than needed.
const MOST_EVALUATIONS: usize = 90;
/// After this many evaluations the cost is not smooth, and a bracket of width `NARROW` suffices.
const SMOOTH_EVALUATIONS: usize = 15;
const NARROW: f64 = 1e-10;

/// A fraction of the width of a bracket that does not justify another evaluation: the exact value is
/// not known to that precision.
const OF_THE_WIDTH: f64 = 1e-4;

/// What a value costs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Cost {
    /// Infinite if there is no bound.
    pub(super) upper: f64,
    /// How much of it, relative, is not worth another evaluation.
    pub(super) blur: f64,
}

impl Cost {
    /// No bound.
    pub(super) const INFINITE: Self = Self {
        upper: f64::INFINITY,
        blur: 0.0,
    };

    /// A bracket of the cost; the lower end if it is known.
    pub(super) fn within(upper: f64, lower: Option<f64>) -> Self {
        let width = lower.map_or(0.0, |lower| upper - lower);
        Self {
            upper,
            blur: OF_THE_WIDTH * width / upper.max(f64::MIN_POSITIVE),
        }
    }
}

/// What is looked for, and from where.
#[derive(Clone, Copy, Debug)]
pub(super) struct Task {
    pub(super) start: ParameterValue,
    /// About how steep ln(cost) is along the axis.
    pub(super) slope: f64,
    pub(super) target: f64,
    /// How close to the target, relative, is close enough.
    pub(super) close: f64,
}

/// An evaluated value.
#[derive(Clone, Copy, Debug)]
struct Point {
    place: f64,
    value: ParameterValue,
    /// ln(cost / target): at most 0 if the target is met.
    excess: f64,
    /// How close to the target is close enough here.
    close: f64,
}

/// The result of a search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Outcome {
    /// The costliest value found that meets the target.
    Found(ParameterValue),
    /// Every value meets it; this one costs most.
    Unconstrained(ParameterValue),
    /// No value meets it; this one costs least.
    Impossible(ParameterValue),
}

/// The cost must grow along the axis. Also returns its slope at the end.
pub(super) fn search(
    axis: &Axis,
    task: Task,
    cost: &mut dyn FnMut(ParameterValue) -> Cost,
) -> (Outcome, f64) {
    let mut search = Search {
        axis,
        task,
        cost,
        points: Vec::new(),
        safe: None,
        unsafe_: None,
    };
    search.evaluate(task.start);
    let outcome = search.bracket().unwrap_or_else(|| search.refine());
    (outcome, search.slope())
}

struct Search<'a> {
    axis: &'a Axis,
    task: Task,
    cost: &'a mut dyn FnMut(ParameterValue) -> Cost,
    points: Vec<Point>,
    safe: Option<Point>,
    unsafe_: Option<Point>,
}

impl Search<'_> {
    fn evaluate(&mut self, value: ParameterValue) {
        let Cost { upper: cost, blur } = (self.cost)(value);
        let Task { target, close, .. } = self.task;
        let kept = cost <= target;
        let excess = (cost / target).ln();
        let point = Point {
            place: self.axis.place(value),
            value,
            // On the side of the comparison, whatever the quotient rounds to. A zero cost with a
            // zero target is not a point to interpolate from.
            excess: if !kept {
                excess.max(f64::MIN_POSITIVE)
            } else if cost > 0.0 {
                excess.min(0.0)
            } else {
                f64::NEG_INFINITY
            },
            close: close.max(blur),
        };
        self.points.push(point);
        if kept {
            self.safe = Some(point);
        } else {
            self.unsafe_ = Some(point);
        }
    }

    /// Moves along the axis until the target lies between two points, or the
    /// question is answered.
    fn bracket(&mut self) -> Option<Outcome> {
        let (cheapest, costliest) = self.axis.ends();
        let mut longest = FIRST_STEP;
        let mut tried_cheapest = false;
        loop {
            let next = match (self.safe, self.unsafe_) {
                (Some(_), Some(_)) => return None,
                (Some(safe), None) => {
                    if safe.value == costliest {
                        return Some(Outcome::Unconstrained(safe.value));
                    }
                    if self.is_close(safe) {
                        return Some(Outcome::Found(safe.value));
                    }
                    let value = self.axis.value(safe.place + self.step(longest));
                    self.beyond(value, safe, costliest, 1.0)
                }
                (None, Some(over)) => {
                    if over.value == cheapest {
                        return Some(Outcome::Impossible(cheapest));
                    }
                    if !tried_cheapest && self.points.len() >= 4 && !self.is_converging() {
                        // Is there any hope?
                        tried_cheapest = true;
                        cheapest
                    } else {
                        let value = self.axis.value(over.place - self.step(longest));
                        self.beyond(value, over, cheapest, -1.0)
                    }
                }
                // The first evaluation sets one of them.
                (None, None) => return Some(Outcome::Impossible(cheapest)),
            };
            longest *= 2.0;
            self.evaluate(next);
        }
    }

    /// A value past `from` towards an end: at least the next one.
    fn beyond(
        &self,
        value: ParameterValue,
        from: Point,
        end: ParameterValue,
        towards: f64,
    ) -> ParameterValue {
        let moved = (self.axis.place(value) - from.place) * towards > 0.0;
        if moved {
            value
        } else if self.axis.is_whole() {
            self.axis.neighbour(from.value, towards)
        } else {
            end
        }
    }

    /// How steep the line through the last two points is.
    fn slope(&self) -> f64 {
        match self.points.as_slice() {
            [.., before, last] => (last.excess - before.excess) / (last.place - before.place),
            _ => self.task.slope,
        }
    }

    /// How far to move towards the target: as the slope says, or as far as
    /// allowed.
    fn step(&self, longest: f64) -> f64 {
        let step = match self.points.last() {
            Some(last) => ((last.excess - AIM * last.close) / self.slope()).abs(),
            None => longest,
        };
        // Undefined where a cost is infinite or does not change.
        let defined = step.is_finite() && step > 0.0;
        if defined { step.min(longest) } else { longest }
    }

    /// Whether the last step left less than a tenth of the excess.
    fn is_converging(&self) -> bool {
        match self.points.as_slice() {
            [.., before, last] => last.excess.abs() < 0.1 * before.excess.abs(),
            _ => false,
        }
    }

    fn is_close(&self, safe: Point) -> bool {
        !self.axis.is_whole() && safe.excess >= -safe.close
    }

    /// Narrows the bracket.
    fn refine(&mut self) -> Outcome {
        let mut widths = [f64::INFINITY; 3];
        loop {
            let (Some(safe), Some(over)) = (self.safe, self.unsafe_) else {
                return Outcome::Impossible(self.axis.ends().0);
            };
            let width = over.place - safe.place;
            let evaluations = self.points.len();
            let narrow = !self.axis.is_whole()
                && (width <= 0.5 * safe.close
                    || (evaluations > SMOOTH_EVALUATIONS && width <= NARROW)
                    || evaluations > MOST_EVALUATIONS);
            if self.is_close(safe) || narrow {
                return Outcome::Found(safe.value);
            }
            // Three steps that do not even halve the bracket: halve it.
            let [third_last, ..] = widths;
            let stalled = width > 0.5 * third_last;
            let [_, second, last] = widths;
            widths = if stalled {
                [f64::INFINITY; 3]
            } else {
                [second, last, width]
            };
            let middle = safe.place + 0.5 * width;
            let place = self
                .interpolated()
                .filter(|place| !stalled && *place > safe.place && *place < over.place)
                .unwrap_or(middle);
            let inside = |place| {
                let value = self.axis.value(place);
                self.axis.between(safe.value, over.value, value)
            };
            match inside(place).or_else(|| inside(middle)) {
                Some(value) => self.evaluate(value),
                None => return Outcome::Found(safe.value),
            }
        }
    }

    /// The place where the parabola through the three points closest to the
    /// target, place as a function of excess, meets the target.
    fn interpolated(&self) -> Option<f64> {
        let aim = match self.safe {
            Some(safe) if !self.axis.is_whole() => AIM * safe.close,
            _ => 0.0,
        };
        let mut points: Vec<(f64, f64)> = self
            .points
            .iter()
            .filter(|point| point.excess.is_finite())
            .map(|point| (point.excess - aim, point.place))
            .collect();
        points.sort_by(|a, b| a.0.abs().total_cmp(&b.0.abs()));
        points.dedup_by_key(|point| point.0);
        points.truncate(3);
        if points.len() < 2 {
            return None;
        }
        // Lagrange's form at zero.
        let place: f64 = points
            .iter()
            .map(|&(x, place)| {
                let others = points.iter().filter(|other| other.0 != x);
                place * others.map(|other| other.0 / (other.0 - x)).product::<f64>()
            })
            .sum();
        place.is_finite().then_some(place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mizan_core::EventTemplate;

    /// Searches with a cost of one's own; the value and the evaluations.
    fn run(text: &str, start: f64, target: f64, cost: impl Fn(f64) -> f64) -> (Outcome, usize) {
        let axis = Axis::of(&EventTemplate::parse(text).unwrap());
        let start = match mizan_core::Count::from_f64(start) {
            Some(count) if axis.is_whole() => ParameterValue::Whole(count),
            _ => ParameterValue::Real(start),
        };
        let mut evaluations = 0;
        let task = Task {
            start,
            slope: 1.0,
            target,
            close: 1e-12,
        };
        let (outcome, _) = search(&axis, task, &mut |value| {
            evaluations += 1;
            Cost {
                upper: cost(value.as_f64()),
                blur: 0.0,
            }
        });
        (outcome, evaluations)
    }

    fn found(outcome: Outcome) -> f64 {
        match outcome {
            Outcome::Found(value) => value.as_f64(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn smooth_costs_take_a_dozen_evaluations() {
        for target in [1e-3, 0.1, 1.0, 10.0, 1e3] {
            let (outcome, evaluations) =
                run("gaussian(?)", 1.0, target, |x| 1.0 / x + 5.0 / (x * x));
            let x = found(outcome);
            let cost = 1.0 / x + 5.0 / (x * x);
            assert!(
                cost <= target && cost > target * (1.0 - 1e-11),
                "{cost} {target}"
            );
            assert!(evaluations <= 12, "{evaluations} for {target}");
            let (outcome, evaluations) = run("pure(?)", 1.0, target, |x| x * x.exp());
            let x = found(outcome);
            assert!(x * x.exp() <= target && x * x.exp() > target * (1.0 - 1e-11));
            assert!(evaluations <= 12, "{evaluations} for {target}");
        }
    }

    #[test]
    fn jumps_are_found_by_halving() {
        let (outcome, _) = run("pure(?)", 1.0, 0.5, |x| {
            if x <= 0.3 { 0.1 } else { f64::INFINITY }
        });
        let x = found(outcome);
        assert!(x <= 0.3 && x > 0.3 * (1.0 - 1e-9), "{x}");
        let (outcome, _) = run(
            "gaussian(?)",
            1.0,
            0.0,
            |x| if x >= 77.0 { 0.0 } else { 1.0 },
        );
        let x = found(outcome);
        assert!((77.0..77.000_000_1).contains(&x), "{x}");
    }

    #[test]
    fn counts_are_exactly_the_largest() {
        for most in [1.0, 2.0, 3.0, 10.0, 999.0, 123_456_789.0] {
            for power in [0.5, 1.0, 2.0] {
                let cost = |n: f64| n.powf(power);
                let (outcome, evaluations) = run("? * pure(1)", 1.0, cost(most + 0.5), cost);
                assert_eq!(found(outcome), most);
                assert!(evaluations <= 15, "{evaluations} for {most}");
            }
        }
        let (outcome, _) = run("shuffle(?, pure(1))", 1000.0, 0.01, |n| 1.0 / n.sqrt());
        assert_eq!(found(outcome), 10_000.0);
    }

    #[test]
    fn ends_are_told_apart() {
        let impossible = |text, cost: fn(f64) -> f64| {
            let (outcome, evaluations) = run(text, 1.0, 0.5, cost);
            assert!(matches!(outcome, Outcome::Impossible(_)), "{outcome:?}");
            assert!(evaluations < 20);
        };
        impossible("gaussian(?)", |x| 0.6 + 1.0 / x);
        impossible("gaussian(?)", |_| f64::INFINITY);
        impossible("pure(?)", |x| 0.6 + x);
        impossible("? * pure(1)", |n| n);
        let unconstrained = |text, cost: fn(f64) -> f64, most: f64| {
            let (outcome, evaluations) = run(text, 1.0, 0.5, cost);
            let Outcome::Unconstrained(value) = outcome else {
                panic!("{outcome:?}")
            };
            assert_eq!(value.as_f64(), most);
            assert!(evaluations < 20);
        };
        unconstrained("poisson(?, pure(1))", |q| 0.4 * q, 1.0);
        unconstrained("rr(?)", |_| 0.1, 1.0_f64.next_down());
        unconstrained("? * pure(1)", |_| 0.0, 2.0_f64.powi(53));
        let (outcome, _) = run("pure(?)", 1.0, 0.0, |x| x);
        assert_eq!(found(outcome), 0.0);
    }

    /// A cost with the digits after the tenth at random still ends.
    #[test]
    fn noise_does_not_keep_the_search_busy() {
        let noisy = |x: f64| (1.0 / x) * (1.0 + 1e-10 * (x * 1e12).sin());
        let (outcome, evaluations) = run("gaussian(?)", 1.0, 0.37, noisy);
        let x = found(outcome);
        assert!(noisy(x) <= 0.37 && x < (1.0 + 1e-8) / 0.37);
        assert!(evaluations <= 60, "{evaluations}");
    }
}
