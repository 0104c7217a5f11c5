//! Bounds on what one event costs to account for over HTTP.
//!
//! A computation cannot be interrupted, so the server bounds it beforehand: by the length
//! of the text, and by a walk over the parsed event. The walk sees what the accountant
//! sees, however a client writes it: as text or JSON, with spaces, escapes or definitions.

use mizan_api::input::{self, Expression};
use mizan_core::{Definitions, FiniteOutcomes, PrivacyEvent};

use crate::problem::Problem;

/// The longest event that is charged or accounted for over HTTP, in bytes.
const LONGEST_EVENT: usize = 64 << 10;

/// The most sampled parts of an event over HTTP: each may take a fifth of a second and two
/// megabytes.
const MOST_SAMPLED: usize = 32;

/// The most parts and sampled parts of an event that is priced on a thread of the ledger;
/// larger ones are priced on a thread of the accountant first.
const INLINE: EventSize = EventSize {
    parts: 32,
    sampled: 6,
};

/// How large an event is, as far as the time to account for it is concerned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct EventSize {
    /// Events, and outcomes or orders that they list.
    parts: usize,
    /// Events on samples: Poisson, without replacement, shuffled. A repeated event counts
    /// once, because its curve is computed once.
    sampled: usize,
}

impl EventSize {
    /// Walks an event. No recursion: the depth is the client's choice.
    fn of(root: &PrivacyEvent) -> Self {
        let mut size = Self::default();
        let mut waiting = vec![root];
        while let Some(event) = waiting.pop() {
            let listed = match event {
                PrivacyEvent::Finite(pair) => match pair.outcomes() {
                    FiniteOutcomes::Probabilities(outcomes) => outcomes.len(),
                    FiniteOutcomes::Losses { atoms, .. } => atoms.len(),
                },
                PrivacyEvent::Renyi(points) => points.as_slice().len(),
                _ => 0,
            };
            size.parts += 1 + listed;
            size.sampled += usize::from(matches!(
                event,
                PrivacyEvent::Poisson { .. }
                    | PrivacyEvent::WithoutReplacement(_)
                    | PrivacyEvent::Shuffle { .. }
            ));
            waiting.extend(event.children());
        }
        size
    }

    /// Whether the event is priced where it is charged.
    pub(super) const fn is_inline(self) -> bool {
        self.parts <= INLINE.parts && self.sampled <= INLINE.sampled
    }

    fn check(self) -> Result<Self, Problem> {
        match self.sampled > MOST_SAMPLED {
            true => Err(Problem::too_costly(&format!(
                "over HTTP an event may have at most {MOST_SAMPLED} sampled parts; this one has {}",
                self.sampled
            ))),
            false => Ok(self),
        }
    }
}

/// The size of an event, if the server accounts for it.
pub(super) fn bounded(expression: &str, definitions: &Definitions) -> Result<EventSize, Problem> {
    check_length(expression)?;
    let event = Expression::parse(expression, definitions)?.event;
    EventSize::of(&event).check()
}

/// The same for an event with a `?` to solve for.
pub(super) fn bounded_template(
    expression: &str,
    definitions: &Definitions,
) -> Result<EventSize, Problem> {
    check_length(expression)?;
    let template = input::template(expression, definitions)?;
    EventSize::of(template.shape()).check()
}

fn check_length(expression: &str) -> Result<(), Problem> {
    match expression.len() > LONGEST_EVENT {
        true => Err(Problem::too_costly(&format!(
            "over HTTP an event may have at most {LONGEST_EVENT} bytes; this one has {}",
            expression.len()
        ))),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mizan_core::Code;

    fn size(expression: &str) -> EventSize {
        bounded(expression, &Definitions::default()).unwrap()
    }

    fn refused(expression: &str) -> Code {
        let refused = bounded(expression, &Definitions::default());
        refused.unwrap_err().code
    }

    /// An event with so many different sampled parts.
    fn sampled(parts: usize) -> String {
        let part = |n: usize| format!("poisson(0.{n:03}, gaussian({n}))");
        let parts: Vec<_> = (1..=parts).map(part).collect();
        parts.join(" + ")
    }

    #[test]
    fn sampled_parts_are_counted_wherever_they_stand() {
        let nested = "group(2, 3 * (gaussian(1) + poisson(0.1, 2 * shuffle(1000, rr(0.6)))))";
        assert_eq!(size(nested).sampled, 2);
        let all = "poisson(0.1, pure(1)) + without-replacement(10, 2, pure(1)) \
                   + shuffle(1000, rr(0.6))";
        assert_eq!(size(all).sampled, 3);
        // The names alone are not parts.
        assert_eq!(size("gaussian(1) + laplace(2)").sampled, 0);
    }

    #[test]
    fn a_repeated_event_counts_once() {
        assert_eq!(size("10_000 * poisson(0.01, gaussian(1.1))").sampled, 1);
        assert_eq!(
            size("9 * (9 * (9 * poisson(0.01, gaussian(1.1))))").sampled,
            1
        );
    }

    #[test]
    fn the_bound_is_exact() {
        assert_eq!(size(&sampled(MOST_SAMPLED)).sampled, MOST_SAMPLED);
        assert_eq!(refused(&sampled(MOST_SAMPLED + 1)), Code::MZ2014);
        let inside = format!("poisson(0.5, 2 * ({}))", sampled(MOST_SAMPLED));
        assert_eq!(refused(&inside), Code::MZ2014);
    }

    #[test]
    fn spaces_escapes_and_definitions_hide_nothing() {
        let spaced = sampled(33).replace('(', "\n\t ( ").replace(',', " ,\u{a0}");
        // Where the language refuses such a space, there is nothing to account for either.
        assert!(bounded(&spaced, &Definitions::default()).is_err());
        let spaced = sampled(33).replace('(', "\n\t ( ").replace(',', " , ");
        assert_eq!(refused(&spaced), Code::MZ2014);
        // JSON may escape every letter of a name.
        let part = |n: usize| {
            format!(
                "{{\"event\":\"\\u0070oiss\\u006fn\",\"q\":0.{n:03}1,\
                 \"of\":{{\"event\":\"gaussian\",\"sigma\":{n}}}}}"
            )
        };
        let parts = |count: usize| {
            let parts: Vec<_> = (1..=count).map(part).collect();
            format!("{{\"event\":\"compose\",\"events\":[{}]}}", parts.join(","))
        };
        assert_eq!(size(&parts(32)).sampled, 32);
        assert_eq!(refused(&parts(33)), Code::MZ2014);
        // A name that stands for sampled parts counts as often as it is written.
        let mut definitions = Definitions::default();
        let four: PrivacyEvent = sampled(4).parse().unwrap();
        definitions.define("mine", four).unwrap();
        let times = |count: usize| vec!["mine"; count].join(" + ");
        assert_eq!(bounded(&times(8), &definitions).unwrap().sampled, 32);
        let refused = bounded(&times(9), &definitions).unwrap_err();
        assert_eq!(refused.code, Code::MZ2014);
    }

    #[test]
    fn events_to_solve_for_are_bounded_too() {
        let none = Definitions::default();
        let template = |parts: usize| format!("gaussian(?) + {}", sampled(parts));
        assert_eq!(bounded_template(&template(32), &none).unwrap().sampled, 32);
        let refused = bounded_template(&template(33), &none).unwrap_err();
        assert_eq!(refused.code, Code::MZ2014);
        let inside = "100 * poisson(?, gaussian(1))";
        assert_eq!(bounded_template(inside, &none).unwrap().sampled, 1);
    }

    #[test]
    fn long_texts_are_refused_before_they_are_parsed() {
        assert_eq!(refused(&"(".repeat(LONGEST_EVENT + 1)), Code::MZ2014);
        let wrong = bounded("gaussian(", &Definitions::default()).unwrap_err();
        assert_ne!(wrong.code, Code::MZ2014);
    }

    #[test]
    fn small_events_are_priced_where_they_are_charged() {
        assert!(size("10000 * poisson(0.01, gaussian(1.1))").is_inline());
        assert!(!size(&sampled(7)).is_inline());
        let outcomes = vec!["rr(0.6)"; 32].join(" + ");
        assert!(!size(&outcomes).is_inline());
        let points: Vec<_> = (2..40).map(|order| format!("{order}:0.1")).collect();
        assert!(!size(&format!("rdp({})", points.join(", "))).is_inline());
    }
}
