//! Points of a curve within a time limit.

use std::time::{Duration, Instant};

/// The time limit of a curve.
#[derive(Clone, Copy)]
pub(super) struct SamplingLimit {
    /// A curve that takes longer has fewer points,
    pub(super) time: Duration,
    /// but at least this many.
    pub(super) least: usize,
}

/// Values at the steps 0, ..., `steps` (a power of two), from coarse to fine: the ends, then the
/// middle, and so on, until all are done or the time is up. The result is sorted by step; steps
/// without a value are left out.
pub(super) fn coarse_to_fine<T>(
    steps: u32,
    limit: SamplingLimit,
    mut at: impl FnMut(u32) -> Option<T>,
) -> Vec<(u32, T)> {
    let strides = std::iter::successors(Some(steps), |stride| Some(stride / 2));
    let order = strides
        .take_while(|stride| *stride > 0)
        .flat_map(|stride| (stride..=steps).step_by(2 * stride as usize));
    let start = Instant::now();
    let mut found = Vec::new();
    for (done, step) in std::iter::once(0).chain(order).enumerate() {
        if done >= limit.least && start.elapsed() > limit.time {
            break;
        }
        if let Some(value) = at(step) {
            found.push((step, value));
        }
    }
    found.sort_by_key(|(step, _)| *step);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: SamplingLimit = SamplingLimit {
        time: Duration::from_millis(40),
        least: 5,
    };

    #[test]
    fn every_step_comes_once() {
        let found = coarse_to_fine(16, LIMIT, Some);
        assert_eq!(found, (0..=16).map(|n| (n, n)).collect::<Vec<_>>());
    }

    #[test]
    fn a_slow_curve_is_coarse() {
        let found = coarse_to_fine(1024, LIMIT, |step| {
            std::thread::sleep(LIMIT.time / 4);
            Some(step)
        });
        assert!((LIMIT.least..9).contains(&found.len()));
        assert!(found.iter().any(|(step, _)| *step == 1024));
    }
}
