//! A step of which all atoms are multiples, where there is one.

/// With more steps than this in the largest loss, a common step would be a coincidence.
const MOST_STEPS: f64 = 16_384.0;

/// The common step of these losses, as far as doubles can tell. Whether they
/// fall on the lattice decides how tight the result is, never whether it holds.
pub(super) fn common_step(losses: impl Iterator<Item = f64>) -> Option<f64> {
    let losses: Vec<f64> = losses.map(f64::abs).filter(|&loss| loss > 0.0).collect();
    let most = losses.iter().copied().fold(0.0, f64::max);
    // Zero alone lies on every lattice.
    if most == 0.0 {
        return None;
    }
    let least = most / MOST_STEPS;
    let mut step = most;
    for &loss in &losses {
        let mut rest = loss;
        // Euclid's algorithm, with what is close to zero taken for zero.
        while rest > 0.5 * least {
            let left = step - rest * (step / rest).round();
            (step, rest) = (rest, left.abs());
        }
        if step < least {
            return None;
        }
    }
    let step = most / (most / step).round();
    let on_lattice = |loss: &f64| {
        let ratio = loss / step;
        (ratio - ratio.round()).abs() < 1e-7
    };
    losses.iter().all(on_lattice).then_some(step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_common_steps() {
        let close = |losses: &[f64], step: f64| {
            let found = common_step(losses.iter().copied()).unwrap();
            (found / step - 1.0).abs() < 1e-9
        };
        assert!(close(&[0.3, -0.3, 0.0], 0.3));
        assert!(close(&[0.5, 0.2, -0.7], 0.1));
        assert!(close(&[1.0, 2.0 / 3.0], 1.0 / 3.0));
        assert!(close(&[7e-9, 21e-9], 7e-9));
        assert_eq!(common_step([1.0, 2f64.sqrt()].into_iter()), None);
        assert_eq!(common_step([0.0].into_iter()), None);
    }
}
