//! Accounting of extreme events: the search of `scripts/extremes`.
//!
//! ```text
//! extremes random COUNT [SEED]     random compositions of all kinds of events
//! extremes list COUNT [SEED]       the same, one line for each: to compare versions
//! extremes < SHAPES                lines `DELTA<tab>EVENT<tab>WIDTH`
//! ```
//!
//! Prints every bracket that is wider than 1e-6 of its upper end, every account
//! above a second of CPU time, and everything that is neither a bracket nor a
//! refusal. A shape may allow a width of its own. Ends with 1 if a shape is
//! wider than it may be, or if an answer is not a bracket.
#![allow(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a search may stop"
)]

use std::io::BufRead;
use std::process::ExitCode;

use mizan_accounting::methods;
use mizan_core::{Delta, PrivacyEvent, SplitMix64};

/// Wider brackets are printed: the width over the upper end.
const WIDE: f64 = 1e-6;

/// Slower accounts are printed, in seconds of CPU time.
const SLOW: f64 = 1.0;

/// CPU seconds of this process, with all its threads, those that ended too.
fn cpu_seconds() -> f64 {
    let statistics = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = statistics.rsplit(')').next().unwrap_or_default();
    let fields = after_name.split_whitespace();
    // User and system time in ticks, of which Linux has a hundred a second.
    let ticks: f64 = fields
        .skip(11)
        .take(2)
        .filter_map(|field| field.parse::<f64>().ok())
        .sum();
    ticks / 100.0
}

/// What one account was like.
enum Outcome {
    /// A bracket: both ends and the engine of the upper one.
    Bracket {
        lower: f64,
        upper: f64,
        by: String,
    },
    /// An upper bound of an event that no bracket is claimed for.
    Bound,
    Refused,
    /// Something that must not be.
    Fault(String),
}

struct TimedOutcome {
    outcome: Outcome,
    seconds: f64,
}

fn run(expression: &str, delta: f64) -> TimedOutcome {
    let began = cpu_seconds();
    let outcome = outcome(expression, delta);
    TimedOutcome {
        outcome,
        seconds: cpu_seconds() - began,
    }
}

fn outcome(expression: &str, delta: f64) -> Outcome {
    let event: PrivacyEvent = match expression.parse() {
        Ok(event) => event,
        Err(error) => return Outcome::Fault(format!("does not parse: {error}")),
    };
    let Ok(delta) = Delta::new(delta) else {
        return Outcome::Fault("not a delta".to_owned());
    };
    let account = methods::epsilon(&event, delta);
    let Some(best) = account.best() else {
        let refusal = account.refusal();
        return if !refusal.to_string().is_empty() {
            Outcome::Refused
        } else {
            Outcome::Fault("refused without a reason".to_owned())
        };
    };
    let upper = best.upper.get();
    if !(upper >= 0.0 && upper.is_finite()) {
        return Outcome::Fault(format!("an upper bound of {upper:e}"));
    }
    let Some(lower) = account.lower() else {
        return Outcome::Bound;
    };
    let lower = lower.get();
    if !(lower >= 0.0 && lower <= upper) {
        return Outcome::Fault(format!("[{lower:e}, {upper:e}] is not a bracket"));
    }
    let by = best.engine.map_or(best.method.name(), |by| by.name());
    Outcome::Bracket {
        lower,
        upper,
        by: by.to_owned(),
    }
}

/// Totals over a search.
#[derive(Default)]
struct Tally {
    brackets: u32,
    bounds: u32,
    refused: u32,
    wide: u32,
    slow: u32,
    faults: u32,
    slowest: f64,
}

impl Tally {
    /// Prints what is worth it. `allowed` is a width that a shape is known to
    /// have, where that is more than the usual.
    fn add(&mut self, expression: &str, delta: f64, allowed: f64, found: &TimedOutcome) {
        let TimedOutcome { outcome, seconds } = found;
        let seconds = *seconds;
        self.slowest = self.slowest.max(seconds);
        if seconds > SLOW {
            self.slow += 1;
            println!("slow   {seconds:5.2} s   {delta:e}\t{expression}");
        }
        match outcome {
            Outcome::Bracket { lower, upper, by } => {
                self.brackets += 1;
                let absolute = upper - lower;
                let relative = if absolute > 0.0 {
                    absolute / upper
                } else {
                    0.0
                };
                if relative > allowed {
                    self.wide += 1;
                    println!(
                        "wide   {relative:8.1e} relative, {absolute:8.1e} absolute, \
                         [{lower:e}, {upper:e}] by {by}, {seconds:.2} s   {delta:e}\t{expression}"
                    );
                }
            }
            Outcome::Bound => self.bounds += 1,
            Outcome::Refused => self.refused += 1,
            Outcome::Fault(what) => {
                self.faults += 1;
                println!("fault  {what}   {delta:e}\t{expression}");
            }
        }
    }

    fn print(&self) {
        println!(
            "{} brackets ({} wide), {} bounds, {} refusals, {} faults; {} slow, the slowest {:.2} s",
            self.brackets,
            self.wide,
            self.bounds,
            self.refused,
            self.faults,
            self.slow,
            self.slowest
        );
    }
}

struct Random(SplitMix64);

impl Random {
    fn unit(&mut self) -> f64 {
        self.0.uniform()
    }

    fn below(&mut self, n: u64) -> u64 {
        self.0.below(n)
    }

    /// Every magnitude equally often.
    fn log(&mut self, low: f64, high: f64) -> f64 {
        (low.ln() + self.unit() * (high / low).ln()).exp()
    }

    /// Three digits, as people write them.
    fn number(&mut self, low: f64, high: f64) -> String {
        let text = format!("{:.2e}", self.log(low, high));
        let value: f64 = text.parse().unwrap();
        if (1e-3..1e4).contains(&value) {
            value.to_string()
        } else {
            text
        }
    }

    /// Half of them usual, half of them anything.
    fn mostly(&mut self, usual: (f64, f64), all: (f64, f64)) -> String {
        let (low, high) = if self.below(2) == 0 { usual } else { all };
        self.number(low, high)
    }

    fn count(&mut self) -> u64 {
        let most = [1.5, 100.0, 1e5, 1e9];
        let most = most[usize::try_from(self.below(4)).unwrap()];
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "between 1 and 1e9"
        )]
        let count = self.log(1.0, most) as u64;
        count.max(1)
    }

    fn delta(&mut self) -> f64 {
        self.mostly((1e-12, 1e-3), (1e-300, 0.5)).parse().unwrap()
    }

    /// A mechanism on all of the data.
    fn mechanism(&mut self) -> String {
        let noise = |random: &mut Self| random.mostly((0.5, 100.0), (0.02, 1e6));
        let loss = |random: &mut Self| random.mostly((0.01, 2.0), (1e-9, 50.0));
        match self.below(13) {
            0..=2 => format!("gaussian({})", noise(self)),
            3..=4 => format!("laplace({})", noise(self)),
            5 => format!("discrete-gaussian({})", noise(self)),
            6 => format!("discrete-laplace({})", noise(self)),
            7 => format!("rr({:.4})", 0.5 + 0.4999 * self.unit()),
            8 => format!(
                "rr({:.4}, {})",
                0.3 + 0.6999 * self.unit(),
                4 + self.below(100)
            ),
            9 => format!("pure({})", loss(self)),
            10 => format!("approximate({}, {})", loss(self), self.number(1e-300, 1e-4)),
            11 => format!("gdp({})", loss(self)),
            _ => {
                let share = |random: &mut Self| 50 + random.below(900);
                let (p, q) = (share(self), share(self));
                let (other_p, other_q) = (1000 - p, 1000 - q);
                format!("finite(0.{p:03}:0.{q:03}, 0.{other_p:03}:0.{other_q:03})")
            }
        }
    }

    /// One whose pair is its own mirror image.
    fn symmetric(&mut self) -> String {
        loop {
            let mechanism = self.mechanism();
            if !mechanism.starts_with("finite") {
                return mechanism;
            }
        }
    }

    fn part(&mut self, replace: bool) -> String {
        let rate = |random: &mut Self| random.mostly((1e-4, 0.5), (1e-12, 1.0));
        let event = match (replace, self.below(20)) {
            (false, 0..=10) => format!("poisson({}, {})", rate(self), self.mechanism()),
            (true, 0..=8) => {
                let n = 2 + self.below(1_000_000);
                let m = 1 + self.below(n);
                format!("without-replacement({n}, {m}, {})", self.symmetric())
            }
            (true, 9..=10) => {
                let n = 10 + self.below(100_000);
                format!("shuffle({n}, pure({}))", self.number(0.1, 5.0))
            }
            (_, 11) => format!(
                "tree({}, {})",
                self.number(0.5, 100.0),
                1 + self.below(1000)
            ),
            (true, _) => self.symmetric(),
            (false, _) => self.mechanism(),
        };
        match self.count() {
            1 => event,
            count => format!("{count} * {event}"),
        }
    }

    fn composition(&mut self) -> String {
        let replace = self.below(8) == 0;
        let parts = [1, 1, 1, 2, 2, 2, 3, 5];
        let parts = parts[usize::try_from(self.below(8)).unwrap()];
        let parts: Vec<String> = (0..parts).map(|_| self.part(replace)).collect();
        parts.join(" + ")
    }
}

fn search(count: u64, seed: u64) -> Tally {
    let mut tally = Tally::default();
    let mut random = Random(SplitMix64::new(seed));
    for _ in 0..count {
        let (expression, delta) = (random.composition(), random.delta());
        tally.add(&expression, delta, WIDE, &run(&expression, delta));
    }
    tally
}

/// Prints `DELTA<tab>EVENT<tab>SECONDS<tab>OUTCOME` for each: for a bracket its
/// ends and the engine. Shortest round-trip decimals, so no bit is lost.
fn list(count: u64, seed: u64) {
    let mut random = Random(SplitMix64::new(seed));
    for _ in 0..count {
        let (expression, delta) = (random.composition(), random.delta());
        let TimedOutcome { outcome, seconds } = run(&expression, delta);
        let outcome = match outcome {
            Outcome::Bracket { lower, upper, by } => format!("bracket\t{lower:e}\t{upper:e}\t{by}"),
            Outcome::Bound => "bound".to_owned(),
            Outcome::Refused => "refused".to_owned(),
            Outcome::Fault(what) => format!("fault\t{what}"),
        };
        println!("{delta:e}\t{expression}\t{seconds:.2}\t{outcome}");
    }
}

fn shapes() -> Tally {
    let mut tally = Tally::default();
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        let mut fields = line.split('\t');
        let (Some(delta), Some(expression)) = (fields.next(), fields.next()) else {
            continue;
        };
        let Ok(delta) = delta.parse() else { continue };
        let allowed = fields.next().and_then(|width| width.parse().ok());
        let allowed = allowed.unwrap_or(WIDE);
        tally.add(expression, delta, allowed, &run(expression, delta));
    }
    tally
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |index: usize| arguments.get(index).and_then(|text| text.parse().ok());
    let is = |word: &str| arguments.first().is_some_and(|first| first == word);
    let random = is("random");
    if is("list") {
        list(number(1).unwrap_or(1000), number(2).unwrap_or(20));
        return ExitCode::SUCCESS;
    }
    let tally = if random {
        search(number(1).unwrap_or(1000), number(2).unwrap_or(20))
    } else {
        shapes()
    };
    tally.print();
    if tally.faults > 0 || (!random && tally.wide > 0) {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    }
}
