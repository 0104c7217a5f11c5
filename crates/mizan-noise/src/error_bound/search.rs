//! The smallest integer that satisfies a monotone condition.

/// The smallest `a ≥ 1` for which `holds`, looking around `guess` first.
/// `holds` rises once, after 0.
pub(super) fn first(guess: u128, mut holds: impl FnMut(u128) -> bool) -> u128 {
    let guess = guess.max(1);
    let mut step = 1u128;
    let (mut below, mut above);
    if holds(guess) {
        above = guess;
        loop {
            below = above.saturating_sub(step);
            if below == 0 || !holds(below) {
                break;
            }
            above = below;
            step = step.saturating_mul(2);
        }
    } else {
        below = guess;
        loop {
            above = below.saturating_add(step);
            if above == u128::MAX || holds(above) {
                break;
            }
            below = above;
            step = step.saturating_mul(2);
        }
    }
    while above - below > 1 {
        let middle = below + (above - below) / 2;
        if holds(middle) {
            above = middle;
        } else {
            below = middle;
        }
    }
    above
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_first_from_anywhere() {
        for truth in [1, 2, 3, 1000, 1 << 70, u128::MAX - 1] {
            for guess in [0, 1, 2, 999, 1000, 1001, 1 << 69, 1 << 71, u128::MAX] {
                assert_eq!(first(guess, |a| a >= truth), truth);
            }
        }
    }
}
