//! The axis on which a parameter is searched: the cost grows along it, and is close to a power of
//! the parameter, so it is nearly straight on logarithmic axes.

use mizan_core::{Count, Domain, EventTemplate, ParameterValue, Round};

/// Beyond these, nothing more is gained and squares leave the doubles.
const SMALLEST: f64 = 1e-300;
const LARGEST: f64 = 1e300;

/// How values lie on the line.
#[derive(Clone, Copy, Debug)]
enum Scale {
    /// x = e^t, or e^-t where more costs less.
    Power,
    /// The truthful answer of randomized response among k: the largest loss
    /// ln(p (k-1)/(1-p)) is e^t.
    Odds { others: f64 },
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Axis {
    domain: Domain,
    scale: Scale,
    /// 1 where more costs more, -1 where more costs less.
    sign: f64,
}

impl Axis {
    pub(super) fn of(template: &EventTemplate) -> Self {
        let domain = template.domain();
        let scale = match (template.parameter(), domain) {
            ("p", Domain::Real { low, .. }) => Scale::Odds {
                others: 1.0 / low - 1.0,
            },
            _ => Scale::Power,
        };
        let sign = match template.costly() {
            Round::Up => 1.0,
            Round::Down => -1.0,
        };
        Self {
            domain,
            scale,
            sign,
        }
    }

    /// The value at a place; a whole number on the cheap side.
    pub(super) fn value(&self, place: f64) -> ParameterValue {
        let power = (self.sign * place).exp();
        match (self.domain, self.scale) {
            (Domain::Whole { low, high }, _) => {
                let whole = if self.sign > 0.0 {
                    power.floor()
                } else {
                    power.ceil()
                };
                let inside = whole.clamp(low.as_f64(), high.as_f64());
                ParameterValue::Whole(Count::from_f64(inside).unwrap_or(low))
            }
            (Domain::Real { low, high }, Scale::Power) => {
                let (low, high) = within_limits(low, high);
                // Nothing at all is a value where the range allows it.
                let value = if power < SMALLEST { low } else { power };
                ParameterValue::Real(value.clamp(low, high))
            }
            (Domain::Real { low, high }, Scale::Odds { others }) => {
                let p = 1.0 / (1.0 + others * (-power).exp());
                ParameterValue::Real(p.clamp(low, high))
            }
        }
    }

    /// Where a value lies; the ends of the line are finite.
    pub(super) fn place(&self, value: ParameterValue) -> f64 {
        let value = match self.scale {
            Scale::Power => value.as_f64(),
            Scale::Odds { others } => (others * value.as_f64() / (1.0 - value.as_f64())).ln(),
        };
        let inside = value.clamp(0.5 * SMALLEST, 2.0 * LARGEST);
        self.sign * inside.ln()
    }

    /// The value that costs least, and the one that costs most.
    pub(super) fn ends(&self) -> (ParameterValue, ParameterValue) {
        let (low, high) = match self.domain {
            Domain::Real { low, high } => {
                let (low, high) = within_limits(low, high);
                (ParameterValue::Real(low), ParameterValue::Real(high))
            }
            Domain::Whole { low, high } => {
                (ParameterValue::Whole(low), ParameterValue::Whole(high))
            }
        };
        if self.sign > 0.0 {
            (low, high)
        } else {
            (high, low)
        }
    }

    /// The value nearest to `wanted` that lies between two others; None if
    /// there is none.
    pub(super) fn between(
        &self,
        cheap: ParameterValue,
        costly: ParameterValue,
        wanted: ParameterValue,
    ) -> Option<ParameterValue> {
        match (cheap, costly, wanted) {
            (
                ParameterValue::Whole(cheap),
                ParameterValue::Whole(costly),
                ParameterValue::Whole(wanted),
            ) => {
                let (low, high) = (cheap.min(costly).get(), cheap.max(costly).get());
                if high - low <= 1 {
                    return None;
                }
                let inside = wanted.get().clamp(low + 1, high - 1);
                Count::new(inside).ok().map(ParameterValue::Whole)
            }
            _ => {
                let (cheap, costly) = (cheap.as_f64(), costly.as_f64());
                let (low, high) = (cheap.min(costly), cheap.max(costly));
                let inside = wanted.as_f64() > low && wanted.as_f64() < high;
                inside.then_some(wanted)
            }
        }
    }

    /// Whether the values are whole numbers.
    pub(super) fn is_whole(&self) -> bool {
        matches!(self.domain, Domain::Whole { .. })
    }

    /// The value next to this one on the costly (1) or the cheap (-1) side.
    pub(super) fn neighbour(&self, value: ParameterValue, towards: f64) -> ParameterValue {
        match value {
            ParameterValue::Real(_) => value,
            ParameterValue::Whole(count) => {
                let moved = count.as_f64() + self.sign * towards;
                ParameterValue::Whole(Count::from_f64(moved).unwrap_or(count))
            }
        }
    }
}

/// A range without what is beyond use; zero stays.
fn within_limits(low: f64, high: f64) -> (f64, f64) {
    let low = if low > 0.0 { low.max(SMALLEST) } else { 0.0 };
    (low, high.min(LARGEST))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_and_values_are_inverse_and_the_cost_grows() {
        for (text, values) in [
            ("gaussian(?)", [100.0, 1.0, 0.01]),
            ("pure(?)", [1e-9, 1.0, 30.0]),
            ("rr(?, 7)", [0.2, 0.5, 0.999]),
            ("? * pure(1)", [1.0, 77.0, 1e9]),
            ("shuffle(?, pure(1))", [1e9, 77.0, 1.0]),
        ] {
            let axis = Axis::of(&EventTemplate::parse(text).unwrap());
            let mut last = f64::NEG_INFINITY;
            for value in values {
                let value = match Count::from_f64(value) {
                    Some(count) if axis.is_whole() => ParameterValue::Whole(count),
                    _ => ParameterValue::Real(value),
                };
                let place = axis.place(value);
                assert!(place > last, "{text}");
                last = place;
                let back = axis.value(place + 1e-12 * if axis.is_whole() { 1.0 } else { 0.0 });
                assert!(
                    (back.as_f64() / value.as_f64() - 1.0).abs() < 1e-12,
                    "{text}"
                );
            }
            let (cheap, costly) = axis.ends();
            assert!(axis.place(cheap) < axis.place(costly), "{text}");
        }
    }
}
