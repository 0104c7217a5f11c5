//! Histograms of the outputs on both inputs, for a figure.

/// Bins at most.
const BINS: usize = 60;

/// The share of outputs at each end that a picture leaves out.
const CUT: f64 = 0.001;

/// The outputs on both inputs in bins of equal width.
#[derive(Clone, Debug, PartialEq)]
pub struct Histogram {
    /// Where the first bin begins.
    pub start: f64,
    /// The width of each bin.
    pub width: f64,
    /// The share of outputs in each bin, without and with the person.
    pub shares: Vec<(f64, f64)>,
}

impl Histogram {
    /// Of outputs that are finite; at least one bin.
    pub(crate) fn of(without: &[f64], with: &[f64]) -> Self {
        let finite = || {
            without
                .iter()
                .chain(with)
                .copied()
                .filter(|x| x.is_finite())
        };
        let mut sorted: Vec<f64> = finite().collect();
        sorted.sort_unstable_by(f64::total_cmp);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a part of the length"
        )]
        let cut = (sorted.len() as f64 * CUT) as usize;
        let low = sorted.get(cut).copied().unwrap_or(0.0);
        let high = sorted
            .iter()
            .rev()
            .nth(cut)
            .copied()
            .unwrap_or(0.0)
            .max(low);
        let (start, width, bins) = Self::bins(low, high, finite().all(|x| x.fract() == 0.0));
        let mut shares = vec![(0.0, 0.0); bins];
        let mut add = |values: &[f64], of: fn(&mut (f64, f64)) -> &mut f64| {
            let one = 1.0 / values.len().max(1) as f64;
            for value in values {
                let bin = ((value - start) / width).floor();
                if bin >= 0.0 && bin < bins as f64 {
                    #[expect(
                        clippy::cast_possible_truncation,
                        clippy::cast_sign_loss,
                        reason = "between zero and the number of bins"
                    )]
                    if let Some(share) = shares.get_mut(bin as usize) {
                        *of(share) += one;
                    }
                }
            }
        };
        add(without, |share| &mut share.0);
        add(with, |share| &mut share.1);
        Self {
            start,
            width,
            shares,
        }
    }

    /// Where bins begin, how wide and how many they are. Whole numbers lie in
    /// the middle of theirs, as many in each bin.
    fn bins(low: f64, high: f64, whole: bool) -> (f64, f64, usize) {
        let range = high - low;
        if range.is_finite() && whole && range < 1e15 {
            let width = ((range + 1.0) / BINS as f64).ceil().max(1.0);
            let bins = (1..=BINS).find(|&bins| bins as f64 * width > range);
            return (low - 0.5, width, bins.unwrap_or(BINS));
        }
        let width = range / (BINS - 1) as f64;
        if width > 0.0 && width.is_finite() {
            (low - width / 2.0, width, BINS)
        } else {
            (low - 0.5, 1.0, 1)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_have_bins_of_their_own() {
        let found = Histogram::of(&[0.0, 0.0, 1.0, 2.0], &[1.0, 2.0, 2.0, 3.0]);
        assert_eq!((found.start, found.width), (-0.5, 1.0));
        let expected = [(0.5, 0.0), (0.25, 0.25), (0.25, 0.5), (0.0, 0.25)];
        assert_eq!(found.shares, expected);
    }

    #[test]
    fn anything_has_a_picture() {
        for values in [
            &[][..],
            &[f64::NAN],
            &[f64::INFINITY, 1.0],
            &[7.0; 5],
            &[0.1, 0.2, 0.4],
            &[f64::MIN, f64::MAX],
            &[0.0, 1e300],
        ] {
            let found = Histogram::of(values, values);
            assert!(!found.shares.is_empty() && found.shares.len() <= BINS);
            assert!(found.width > 0.0);
            let total: f64 = found.shares.iter().map(|share| share.0).sum();
            assert!(total <= 1.0 + 1e-9);
        }
    }
}
