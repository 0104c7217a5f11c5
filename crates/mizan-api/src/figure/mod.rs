//! The figures of Mironov's *Rényi Differential Privacy* (2017), with the mechanisms of the paper
//! or with other strengths.

mod baseline_risk;
mod budget_curves;
mod restricted_orders;

use mizan_core::{Code, PrivacyEvent};
use mizan_report::Figure;

use crate::failure::Failure;
use crate::messages::LabelText;

/// The strengths of the three mechanisms; those of the paper by default.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Strengths {
    /// The probability of a truthful answer in randomized response.
    pub truthful: Option<f64>,
    /// The scale of Laplace noise.
    pub scale: Option<f64>,
    /// The standard deviation of Gaussian noise.
    pub sigma: Option<f64>,
}

/// Draws figure 1, 2 or 3, with labels in one language.
///
/// # Errors
///
/// The figure does not exist, or a strength is out of range.
pub fn draw(number: u8, strengths: Strengths, words: LabelText) -> Result<Figure, Failure> {
    match number {
        1 => budget_curves::draw(strengths, words),
        2 => baseline_risk::draw(strengths, words),
        3 => restricted_orders::draw(strengths, words),
        _ => Err(Failure::new(
            Code::MZ0010,
            format!("the paper has no figure {number}"),
            "take 1, 2 or 3",
        )),
    }
}

/// A mechanism and its name in a legend.
type Named = (String, PrivacyEvent);

/// Randomized response with a probability of a truthful answer.
fn randomized_response(truthful: f64) -> Result<Named, Failure> {
    Ok((
        format!("p = {truthful}"),
        format!("rr({truthful:?})").parse()?,
    ))
}

/// Laplace noise.
fn laplace(scale: f64) -> Result<Named, Failure> {
    Ok((
        format!("λ = {scale}"),
        format!("laplace({scale:?})").parse()?,
    ))
}

/// Gaussian noise.
fn gaussian(sigma: f64) -> Result<Named, Failure> {
    Ok((
        format!("σ = {sigma}"),
        format!("gaussian({sigma:?})").parse()?,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::Label;

    fn draw(number: u8, strengths: Strengths) -> Result<Figure, Failure> {
        super::draw(number, strengths, Label::english)
    }

    #[test]
    fn a_strength_changes_the_figure_and_bad_ones_are_refused() {
        let paper = draw(1, Strengths::default()).unwrap();
        let other = Strengths {
            sigma: Some(2.5),
            ..Strengths::default()
        };
        let other = draw(1, other).unwrap();
        assert_eq!(paper.panels[0], other.panels[0]);
        assert_eq!(
            paper.panels[2].series.len() + 1,
            other.panels[2].series.len()
        );
        let bad = Strengths {
            sigma: Some(-1.0),
            ..Strengths::default()
        };
        assert!(draw(1, bad).is_err());
        assert!(draw(4, Strengths::default()).is_err());
    }
}
