//! The closed forms of the papers, for comparison with the computed bounds; those of exact methods
//! are equal to them.

use mizan_core::{Delta, Epsilon, Interval, PrivacyEvent};

use crate::GaussianProfile;
use crate::composition::advanced::Mean;
use crate::composition::concentrated::{
    concentrated, gaussian_square, mean_of_pure_by_theorem_3_5, zero_concentrated,
};
use crate::composition::mironov::corollary_1;
use crate::composition::optimal::{Optimal, closed_form};
use crate::composition::parts::{Part, delta_left, parts, sum};
use crate::composition::subgaussian::SubgaussianLoss;

/// A bound on ε in closed form.
#[derive(Clone, Debug, PartialEq)]
pub struct ClosedForm {
    /// The formula.
    pub formula: &'static str,
    /// Where it is from.
    pub reference: &'static str,
    /// What enters, as name and value; rounded up.
    pub inputs: Vec<(&'static str, f64)>,
    /// A certified upper bound.
    pub epsilon: Epsilon,
}

/// Every closed form that applies to an event at this δ.
pub fn closed_forms(event: &PrivacyEvent, delta: Delta) -> Vec<ClosedForm> {
    let target = Interval::from(delta.get());
    let mut forms = Vec::new();
    if let Ok(parts) = parts(event) {
        forms.extend(of_parts(&parts, target));
    }
    if let Ok(square) = gaussian_square(event) {
        forms.push(ClosedForm {
            formula: "δ = Φ(m/2 - ε/m) - e^ε Φ(-m/2 - ε/m), m² = Σ Δ²/σ²",
            reference: "Balle and Wang 2018, Theorem 8",
            inputs: vec![("m", square.sqrt().upper())],
            epsilon: GaussianProfile::from_square(square).epsilon(delta).upper,
        });
    }
    if let Ok(loss) = concentrated(event) {
        forms.push(ClosedForm {
            formula: "μ + τ √(2 ln 1/δ)",
            reference: "Dwork and Rothblum 2016, Corollary 3.1",
            inputs: vec![
                ("μ", loss.mean.upper()),
                ("τ", loss.variance.sqrt().upper()),
            ],
            epsilon: Epsilon::saturating(loss.epsilon(target).upper()),
        });
    }
    if let Ok(rho) = zero_concentrated(event) {
        let epsilon = rho + (rho * target.ln() * -1.0).sqrt() * 2.0;
        forms.push(ClosedForm {
            formula: "ρ + 2 √(ρ ln 1/δ)",
            reference: "Bun and Steinke 2016, Proposition 1.3",
            inputs: vec![("ρ", rho.upper())],
            epsilon: Epsilon::saturating(epsilon.upper()),
        });
    }
    forms
}

fn of_parts(parts: &[Part], target: Interval) -> Vec<ClosedForm> {
    let mut forms = Vec::new();
    let mut push = |formula, reference, inputs, epsilon: Option<Interval>| {
        forms.extend(epsilon.map(|epsilon| ClosedForm {
            formula,
            reference,
            inputs,
            epsilon: Epsilon::saturating(epsilon.upper()),
        }));
    };
    let squares = sum(parts, |part| part.epsilon.square());
    let own = sum(parts, |part| part.delta);
    let left = target - own;
    push(
        "Σ ε tanh(ε/2) + √(2 Σε² ln 1/δ)",
        "the tight mean in Theorem 1.1 of Dwork and Rothblum 2016",
        vec![("Σε²", squares.upper())],
        Mean::Tight.epsilon(parts, target),
    );
    if own == Interval::ZERO {
        let mean = sum(parts, |part| mean_of_pure_by_theorem_3_5(part.epsilon));
        let loss = SubgaussianLoss {
            mean,
            variance: squares,
        };
        push(
            "μ + τ √(2 ln 1/δ), μ = Σ ε(e^ε - 1)/2, τ² = Σ ε²",
            "Dwork and Rothblum 2016, Theorem 3.5",
            vec![("μ", mean.upper()), ("τ", squares.sqrt().upper())],
            Some(loss.epsilon(target)),
        );
    }
    let remaining = delta_left(parts, target);
    if let [part] = parts
        && remaining.lower() > 0.0
    {
        let optimal = Optimal::new(parts, remaining.ln().middle()).epsilon(target);
        push(
            "δ = Σ_j C(n,j) p^j (1-p)^(n-j) (1 - e^(ε - (2j-n)ε₀))₊, p = e^ε₀/(1+e^ε₀)",
            "Kairouz, Oh and Viswanath 2015, Theorem 3.3",
            vec![
                ("n", part.count.upper()),
                ("ε₀", part.epsilon.upper()),
                ("δ without failures", remaining.lower()),
            ],
            optimal.map(|bracket| Interval::from(bracket.upper)),
        );
    }
    if remaining.lower() > 0.0 {
        push(
            "M + √(2S min(ln(e + √S/δ), ln 1/δ)), M = Σ ε tanh(ε/2), S = Σ ε²",
            "Kairouz, Oh and Viswanath 2015, Theorem 3.5",
            vec![("S", squares.upper())],
            Some(closed_form(parts, remaining)),
        );
    }
    if let [part] = parts
        && left.lower() > 0.0
        && own == Interval::ZERO
    {
        push(
            "4ε √(2n ln 1/δ), for ln 1/δ >= ε²n",
            "Mironov 2017, Corollary 1",
            vec![("n", part.count.upper()), ("ε", part.epsilon.upper())],
            corollary_1(part.epsilon, part.count, left),
        );
    }
    forms
}
