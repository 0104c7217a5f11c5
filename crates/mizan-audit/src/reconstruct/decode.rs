//! Decodes bits from noisy answers: regularized least squares, then rounding to 0 or 1.
//!
//! The attacker knows the size of the noise and that bits are fair coins, so this is the best linear
//! estimate (ridge regression). The equations are solved by conjugate gradients.

use super::questions::Questions;

/// Least squares is done when the residual is this part of what it was.
const SMALL: f64 = 1e-9;

/// Steps at most; a bit that is not clear by then is not worth more.
const STEPS: usize = 400;

/// The estimate of each person's bit.
pub(super) fn bits(questions: &Questions, answers: &[f64], sigma: f64) -> Vec<bool> {
    // A fair coin has variance 1/4: that of the noise counts four times.
    let ridge = 4.0 * sigma * sigma;
    let beyond_half: Vec<f64> = answers
        .iter()
        .zip(questions.sizes())
        .map(|(answer, size)| answer - f64::from(size) / 2.0)
        .collect();
    let solved = solve(questions, ridge, questions.sums(&beyond_half));
    solved.iter().map(|&bit| bit > 0.0).collect()
}

/// `x` with `(AᵀA + ridge) x = right`.
fn solve(questions: &Questions, ridge: f64, right: Vec<f64>) -> Vec<f64> {
    let mut solution = vec![0.0; questions.people()];
    let mut residual = right;
    let mut direction = residual.clone();
    let mut square = dot(&residual, &residual);
    let enough = square * SMALL * SMALL;
    for _ in 0..STEPS {
        if square <= enough {
            break;
        }
        let mut image = questions.shared_sums(&direction);
        add(&mut image, ridge, &direction);
        let step = square / dot(&direction, &image);
        add(&mut solution, step, &direction);
        add(&mut residual, -step, &image);
        let next = dot(&residual, &residual);
        for (towards, residual) in direction.iter_mut().zip(&residual) {
            *towards = residual + next / square * *towards;
        }
        square = next;
    }
    solution
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Adds a multiple of another vector.
fn add(to: &mut [f64], times: f64, other: &[f64]) {
    for (to, other) in to.iter_mut().zip(other) {
        *to += times * other;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without noise, as many queries as people reveal all bits.
    #[test]
    fn exact_answers_give_everything_away() {
        let questions = Questions::new(64, 96, 1);
        let answers: Vec<f64> = questions.true_answers().map(f64::from).collect();
        let guesses = bits(&questions, &answers, 0.01);
        assert!(guesses.into_iter().eq(questions.secrets()));
    }

    #[test]
    fn what_is_solved_is_solved() {
        let questions = Questions::new(40, 100, 2);
        let right: Vec<f64> = (0..40).map(|i| f64::from(i * i % 11)).collect();
        let solution = solve(&questions, 3.0, right.clone());
        let mut image = questions.shared_sums(&solution);
        add(&mut image, 3.0, &solution);
        for (image, right) in image.iter().zip(&right) {
            assert!((image - right).abs() < 1e-6);
        }
    }
}
