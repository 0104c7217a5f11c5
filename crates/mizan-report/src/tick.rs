//! Round values for the ticks of an axis, and their labels.

/// A place along an axis worth a line; without a label, a short one.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tick {
    pub(crate) part: f64,
    pub(crate) label: Option<Label>,
}

/// `mantissa × 10^exponent`, or just the one that is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Label {
    pub(crate) mantissa: String,
    pub(crate) exponent: Option<i32>,
}

/// Round values between `low` and `high`, in about `intervals` steps.
pub(crate) fn linear(low: f64, high: f64, intervals: u32) -> Vec<Tick> {
    let place = |value: f64| (value - low) / (high - low);
    multiples(low, high, intervals, place)
}

/// Powers of ten between `10^low` and `10^high`, with short ticks between them.
pub(crate) fn log10(low: f64, high: f64, intervals: u32) -> Vec<Tick> {
    let place = |log: f64| (log - low) / (high - low);
    let shown = |log: f64| (-1e-9..=1.0 + 1e-9).contains(&place(log));
    let decades = POWERS.filter(|&power| shown(f64::from(power))).count();
    let stride = [1, 2, 3, 4, 5, 10, 20, 50, 100]
        .into_iter()
        .find(|&stride| decades <= (intervals * stride + 1) as usize)
        .unwrap_or(200);
    // With fewer than two powers of ten in sight, 2 and 5 get labels as well.
    let dense = decades < 2;
    let mantissas = if stride == 1 && decades <= 7 {
        1..=9
    } else {
        1..=1_u8
    };
    let mut ticks = Vec::new();
    for power in POWERS {
        for mantissa in mantissas.clone() {
            let log = f64::from(power) + f64::from(mantissa).log10();
            if !shown(log) {
                continue;
            }
            let labelled = mantissa == 1 || dense && [2, 5].contains(&mantissa);
            let major = labelled && power.unsigned_abs().is_multiple_of(stride);
            ticks.push(Tick {
                part: place(log),
                label: major.then(|| Label::power(mantissa, power, dense)),
            });
        }
    }
    if ticks.iter().filter(|tick| tick.label.is_some()).count() < 2 {
        let (low, high) = (10_f64.powf(low), 10_f64.powf(high));
        return multiples(low, high, intervals, |value| place(value.log10()));
    }
    ticks
}

/// Every power of ten that a double can be near.
const POWERS: std::ops::RangeInclusive<i32> = -330..=310;

/// The multiples of a round step from `low` to `high`, each at its `place`.
fn multiples(low: f64, high: f64, intervals: u32, place: impl Fn(f64) -> f64) -> Vec<Tick> {
    let step = Step::new((high - low) / f64::from(intervals.max(1)));
    let largest = exponent_of(low.abs().max(high.abs()));
    let first = (low / step.size - 1e-9).ceil();
    let counts = (0..=2 * intervals + 2).map(|offset| first + f64::from(offset));
    counts
        .map(|count| count * step.size)
        .take_while(|&value| value <= high + 1e-9 * step.size)
        .map(|value| Tick {
            part: place(value),
            label: Some(step.label(value, largest)),
        })
        .collect()
}

/// A distance between ticks: 1, 2 or 5 times a power of ten.
pub(crate) struct Step {
    pub(crate) size: f64,
    exponent: i32,
}

impl Step {
    /// The round step whose ratio to `about` is nearest to one.
    pub(crate) fn new(about: f64) -> Self {
        let exponent = exponent_of(about);
        let ratio = about / decimal(1, exponent);
        // Between neighbours, the geometric mean divides.
        let (mantissa, exponent) = match ratio {
            ..1.414 => (1, exponent),
            ..3.162 => (2, exponent),
            ..7.071 => (5, exponent),
            _ => (1, exponent + 1),
        };
        Self {
            size: decimal(mantissa, exponent),
            exponent,
        }
    }

    /// `value`, a multiple of the step, with as many decimals as the step has;
    /// `largest` is the decimal exponent of the largest value on the axis.
    fn label(&self, value: f64, largest: i32) -> Label {
        if value.abs() < 0.5 * self.size {
            return Label::plain("0".to_owned());
        }
        let everyday = (-3..6).contains(&largest);
        let shared = if everyday { 0 } else { largest };
        let decimals = usize::try_from(shared - self.exponent).unwrap_or(0).min(17);
        let mantissa = format!("{:.decimals$}", value / decimal(1, shared));
        Label {
            mantissa: mantissa.replace('-', "−"),
            exponent: (!everyday).then_some(shared),
        }
    }
}

impl Label {
    fn plain(mantissa: String) -> Self {
        Self {
            mantissa,
            exponent: None,
        }
    }

    /// `mantissa × 10^power` of a logarithmic axis; small ones written out
    /// where powers of ten would be fussy.
    fn power(mantissa: u8, power: i32, written_out: bool) -> Self {
        if written_out && (-3..4).contains(&power) {
            let decimals = usize::try_from(-power).unwrap_or(0);
            return Self::plain(format!("{:.decimals$}", decimal(mantissa, power)));
        }
        let unit = mantissa == 1;
        Self {
            mantissa: if unit {
                String::new()
            } else {
                mantissa.to_string()
            },
            exponent: Some(power),
        }
    }

    /// What precedes the exponent: `2×10`, `10` or `2.5`.
    pub(crate) fn base(&self) -> String {
        match self.exponent {
            None => self.mantissa.clone(),
            Some(_) if self.mantissa.is_empty() => "10".to_owned(),
            Some(_) => format!("{}×10", self.mantissa),
        }
    }

    /// The exponent with a proper minus sign; empty without one.
    pub(crate) fn raised(&self) -> String {
        self.exponent
            .map_or_else(String::new, |power| power.to_string().replace('-', "−"))
    }

    /// One line of text, with superscript digits: `10⁻⁶`.
    pub(crate) fn text(&self) -> String {
        let raise = |symbol: char| {
            let mut pairs = "−0123456789".chars().zip("⁻⁰¹²³⁴⁵⁶⁷⁸⁹".chars());
            pairs.find_map(|(plain, raised)| (plain == symbol).then_some(raised))
        };
        let mut text = self.base();
        text.extend(self.raised().chars().filter_map(raise));
        text
    }
}

/// The decimal exponent of `value`, exactly: 2 for 999, 3 for 1000. Zero has 0.
fn exponent_of(value: f64) -> i32 {
    let written = format!("{value:e}");
    written
        .split_once('e')
        .and_then(|(_, exponent)| exponent.parse().ok())
        .unwrap_or(0)
}

/// The double nearest to `mantissa × 10^exponent`; at least the smallest positive.
fn decimal(mantissa: u8, exponent: i32) -> f64 {
    let value = format!("{mantissa}e{exponent}").parse().unwrap_or(1.0);
    f64::max(value, f64::MIN_POSITIVE)
}
