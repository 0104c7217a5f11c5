//! Walks an event and visits its mechanisms.

use std::borrow::Cow;

use mizan_core::{Count, Interval, PrivacyEvent};

use crate::Unsupported;
use crate::guarantees::group_privacy;

/// Visits every mechanism of a composition, in order, with its number of runs.
///
/// Compositions and counts are expanded (costs add up), and a group becomes the event with its cost.
/// `visit` receives every other event unchanged. The walk does not recurse: events built by code may
/// nest deeper than the stack.
pub(crate) fn each_mechanism(
    root: &PrivacyEvent,
    mut visit: impl FnMut(Interval, &PrivacyEvent, &dyn Fn() -> String) -> Result<(), Unsupported>,
) -> Result<(), Unsupported> {
    visit_all(root, Interval::ONE, &mut visit)
}

type Visit<'a> =
    dyn FnMut(Interval, &PrivacyEvent, &dyn Fn() -> String) -> Result<(), Unsupported> + 'a;

fn visit_all(
    root: &PrivacyEvent,
    count: Interval,
    visit: &mut Visit<'_>,
) -> Result<(), Unsupported> {
    let mut waiting = vec![(count, root)];
    while let Some((count, event)) = waiting.pop() {
        match event {
            PrivacyEvent::Compose(events) => {
                waiting.extend(events.iter().rev().map(|event| (count, event)))
            }
            PrivacyEvent::Repeat {
                count: times,
                event,
            } => waiting.push((count * times.as_f64(), event)),
            PrivacyEvent::Group { size, event: inner } => {
                let group = group_privacy(*size, inner)
                    .map_err(|reason| Unsupported::new(event, &|| path(root, event), reason))?;
                // No group is left inside, so this goes one level deep.
                visit_all(&group, count, visit)?;
            }
            mechanism => visit(count, mechanism, &|| path(root, mechanism))?,
        }
    }
    Ok(())
}

/// The event with every group replaced by the event that prices it.
pub(crate) fn without_groups(event: &PrivacyEvent) -> Result<Cow<'_, PrivacyEvent>, Unsupported> {
    let mut waiting = vec![event];
    while let Some(inner) = waiting.pop() {
        if matches!(inner, PrivacyEvent::Group { .. }) {
            let priced = group_privacy(Count::ONE, event);
            return priced
                .map(Cow::Owned)
                .map_err(|reason| Unsupported::new(inner, &|| path(event, inner), reason));
        }
        waiting.extend(inner.children());
    }
    Ok(Cow::Borrowed(event))
}

/// Whether events are nested more than `limit` times.
pub(crate) fn nests_deeper_than(event: &PrivacyEvent, limit: usize) -> bool {
    let mut waiting = vec![(event, 1)];
    while let Some((event, depth)) = waiting.pop() {
        if depth > limit {
            return true;
        }
        waiting.extend(event.children().iter().map(|child| (child, depth + 1)));
    }
    false
}

/// Where in `root` the very object `target` stands, like `event[2].of`.
fn path(root: &PrivacyEvent, target: &PrivacyEvent) -> String {
    let mut waiting = vec![(String::new(), root)];
    while let Some((path, event)) = waiting.pop() {
        if std::ptr::eq(event, target) {
            return format!("event{path}");
        }
        let single = !matches!(event, PrivacyEvent::Compose(_));
        waiting.extend(event.children().iter().enumerate().map(|(index, child)| {
            let step = if single {
                ".of".to_owned()
            } else {
                format!("[{index}]")
            };
            (format!("{path}{step}"), child)
        }));
    }
    "event".to_owned()
}
