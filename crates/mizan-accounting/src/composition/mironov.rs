//! Mironov's generic advanced composition: Proposition 4 and Corollary 1.
//!
//! For the n-fold composition of an ε-DP mechanism and an event of probability
//! Q on one input, the probability on a neighbour is at most
//!
//! - Q e^(2ε √(n L)), L = ln 1/Q: Proposition 4 as the paper states it. Its own
//!   proof gives less, but the statement is true (see below);
//! - Q e^(ε √(2nL) - nε²/2): the same argument with ε(α) <= α ε²/2;
//! - e^(-(√L - √(nr))²) with r = ε tanh(ε/2), for L >= nr: with the tight ρ of
//!   pure differential privacy. This is the sharpest of the closed forms.
//!
//! # Reference
//! Mironov 2017, Proposition 4 and Corollary 1; docs/spec/mathematics.md 4.6 for the others.

use mizan_core::Interval;

/// The three bounds on P given Q, as ln P, in the order above.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct LnBounds {
    pub(crate) proposition_4: Interval,
    pub(crate) sharper: Interval,
    pub(crate) sharpest: Interval,
}

/// ln of the bounds on the probability on a neighbour, for ln Q.
pub(crate) fn bounds(epsilon: Interval, n: Interval, ln_q: Interval) -> LnBounds {
    let l = -ln_q;
    let rate = n * epsilon * (epsilon * 0.5).tanh();
    let sharpest = if l.lower() >= rate.upper() {
        -(l.sqrt() - rate.sqrt()).square()
    } else {
        Interval::ZERO
    };
    LnBounds {
        proposition_4: ln_q + epsilon * 2.0 * (n * l).sqrt(),
        sharper: ln_q + epsilon * (n * l * 2.0).sqrt() - n * epsilon.square() * 0.5,
        sharpest,
    }
}

/// Corollary 1: (4ε √(2n ln 1/δ), δ)-DP, where ln 1/δ >= ε² n.
pub(crate) fn corollary_1(epsilon: Interval, n: Interval, delta: Interval) -> Option<Interval> {
    let l = -delta.ln();
    (l.lower() >= (epsilon.square() * n).upper()).then(|| epsilon * 4.0 * (n * l * 2.0).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Golden values of section 4: n, ε, Q, Proposition 4, the sharpest form.
    #[test]
    fn golden_values() {
        let rows = [
            (
                100.0,
                0.0400053346136991,
                1e-6,
                0.0000195687580597,
                0.0000075589949752,
            ),
            (
                250.0,
                0.0400053346136991,
                0.1,
                0.6818683020406784,
                0.3181306343855346,
            ),
            (128.0, 0.05, 1e-3, 0.0195609992769403, 0.0069756328481081),
        ];
        for (n, epsilon, q, proposition_4, sharpest) in rows {
            let bounds = bounds(
                Interval::from(epsilon),
                Interval::from(n),
                Interval::from(q).ln(),
            );
            for (ln_bound, golden) in [
                (bounds.proposition_4, proposition_4),
                (bounds.sharpest, sharpest),
            ] {
                let bound = ln_bound.exp();
                assert!(
                    (bound.upper() / golden - 1.0).abs() < 1e-9,
                    "{bound:?} for {golden}"
                );
            }
            assert!(bounds.sharpest.upper() <= bounds.sharper.upper());
            assert!(bounds.sharper.upper() <= bounds.proposition_4.upper());
        }
        let corollary = corollary_1(
            Interval::from(0.1),
            Interval::from(100.0),
            Interval::from(1e-6),
        );
        assert!((corollary.unwrap().upper() / 21.026087079027727 - 1.0).abs() < 1e-12);
        assert!(
            corollary_1(
                Interval::from(1.0),
                Interval::from(100.0),
                Interval::from(1e-6)
            )
            .is_none()
        );
    }
}
