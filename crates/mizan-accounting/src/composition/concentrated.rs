//! Concentrated and zero-concentrated composition.
//!
//! Means add, subgaussian standards add in squares (Dwork and Rothblum 2016,
//! Theorem 3.4); ρ adds (Bun and Steinke 2016, Lemma 2.3). Each mechanism
//! enters with the tightest parameters that are proven for it:
//!
//! | mechanism | μ | τ | ρ |
//! | --- | --- | --- | --- |
//! | Gaussian, m = Δ/σ | m²/2 | m | m²/2 |
//! | pure ε | ε tanh(ε/2) | ε (Hoeffding) | ε tanh(ε/2) |
//! | binary randomized response | ε tanh(ε/2) | √(2 ε tanh(ε/2)) | ε tanh(ε/2) |
//! | bounded range η | its divergence at order 1 | η/2 (Hoeffding) | η²/8 |
//! | (μ, τ)-CDP | min(μ, τ²/2) | τ | τ²/2 |

use mizan_core::{Interval, Order, PrivacyEvent, tree_height};

use super::subgaussian::SubgaussianLoss;
use crate::{Reason, RenyiCurve, Unsupported, walk};

/// The paper's own mean for a pure ε: ε (e^ε - 1)/2 (Theorem 3.5).
pub(crate) fn mean_of_pure_by_theorem_3_5(epsilon: Interval) -> Interval {
    epsilon * epsilon.exp_m1() * 0.5
}

/// The (Σ μ, √Σ τ²) of an event, as mean and variance.
pub(crate) fn concentrated(event: &PrivacyEvent) -> Result<SubgaussianLoss, Unsupported> {
    let mut total = SubgaussianLoss {
        mean: Interval::ZERO,
        variance: Interval::ZERO,
    };
    walk::each_mechanism(event, |count, mechanism, path| {
        let refuse = |reason| Unsupported::new(mechanism, path, reason);
        let loss = mean_and_variance(mechanism).map_err(refuse)?;
        total.mean = total.mean + count * loss.mean;
        total.variance = total.variance + count * loss.variance;
        Ok(())
    })?;
    Ok(total)
}

/// The Σ ρ of an event.
pub(crate) fn zero_concentrated(event: &PrivacyEvent) -> Result<Interval, Unsupported> {
    let mut total = Interval::ZERO;
    walk::each_mechanism(event, |count, mechanism, path| {
        let rho = rho(mechanism).map_err(|reason| Unsupported::new(mechanism, path, reason))?;
        total = total + count * rho;
        Ok(())
    })?;
    Ok(total)
}

/// m² = Σ (Δ/σ)² of an event that is all Gaussian noise.
pub(crate) fn gaussian_square(event: &PrivacyEvent) -> Result<Interval, Unsupported> {
    let mut total = Interval::ZERO;
    walk::each_mechanism(event, |count, mechanism, path| {
        let square = gaussian(mechanism)
            .ok_or_else(|| Unsupported::new(mechanism, path, Reason::NotGaussian))?;
        total = total + count * square;
        Ok(())
    })?;
    Ok(total)
}

/// (Δ/σ)² of Gaussian noise.
fn gaussian(event: &PrivacyEvent) -> Option<Interval> {
    gaussian_ratio(event).map(Interval::square)
}

/// Δ/σ of Gaussian noise, whatever it is called.
pub(crate) fn gaussian_ratio(event: &PrivacyEvent) -> Option<Interval> {
    match event {
        PrivacyEvent::Gaussian { sigma, sensitivity } => {
            Some(Interval::from(sensitivity.get()) / sigma.get())
        }
        PrivacyEvent::GaussianDp { mu } => Some(Interval::from(mu.get())),
        PrivacyEvent::Tree {
            sigma,
            steps,
            sensitivity,
        } => {
            let height = f64::from(tree_height(*steps));
            Some(Interval::from(height).sqrt() * sensitivity.get() / sigma.get())
        }
        PrivacyEvent::Matrix { sigma, norm } => Some(Interval::from(norm.get()) / sigma.get()),
        _ => None,
    }
}

fn mean_and_variance(event: &PrivacyEvent) -> Result<SubgaussianLoss, Reason> {
    if let Some(square) = gaussian(event) {
        return Ok(SubgaussianLoss {
            mean: square * 0.5,
            variance: square,
        });
    }
    match event {
        PrivacyEvent::Concentrated { mu, tau } => {
            let variance = Interval::from(tau.get()).square();
            Ok(SubgaussianLoss {
                mean: Interval::from(mu.get()).min(variance * 0.5),
                variance,
            })
        }
        PrivacyEvent::DiscreteGaussian(_) => {
            // The loss is linear in the noise, which is σ-subgaussian.
            let mean = at(event, Order::ONE)?;
            Ok(SubgaussianLoss {
                mean,
                variance: mean * 2.0,
            })
        }
        PrivacyEvent::Exponential { epsilon } => Ok(SubgaussianLoss {
            mean: at(event, Order::ONE)?,
            variance: Interval::from(epsilon.get()).square() * 0.25,
        }),
        PrivacyEvent::ZeroConcentrated { .. } => Err(Reason::NotConcentrated),
        _ => {
            let (mean, epsilon) = (at(event, Order::ONE)?, pure(event)?);
            let binary = matches!(event, PrivacyEvent::RandomizedResponse(response) if response.categories().get() == 2);
            let variance = if binary { mean * 2.0 } else { epsilon.square() };
            Ok(SubgaussianLoss { mean, variance })
        }
    }
}

fn rho(event: &PrivacyEvent) -> Result<Interval, Reason> {
    if let Some(square) = gaussian(event) {
        return Ok(square * 0.5);
    }
    match event {
        PrivacyEvent::ZeroConcentrated { rho } => Ok(Interval::from(rho.get())),
        PrivacyEvent::Concentrated { tau, .. } => Ok(Interval::from(tau.get()).square() * 0.5),
        // Σ n²/2σ², of which the exact curve is never more.
        PrivacyEvent::DiscreteGaussian(_) => at(event, Order::ONE),
        PrivacyEvent::Exponential { epsilon } => Ok(Interval::from(epsilon.get()).square() * 0.125),
        _ => {
            let epsilon = pure(event)?;
            Ok(epsilon * (epsilon * 0.5).tanh())
        }
    }
}

fn at(event: &PrivacyEvent, order: Order) -> Result<Interval, Reason> {
    Ok(RenyiCurve::of(event)
        .map_err(|error| error.reason())?
        .enclosure(order))
}

fn pure(event: &PrivacyEvent) -> Result<Interval, Reason> {
    let pure = at(event, Order::INFINITE)?;
    if pure.upper() == f64::INFINITY {
        Err(Reason::NotConcentrated)
    } else {
        Ok(pure)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(computed: Interval, golden: f64) {
        assert!(
            (computed.upper() / golden - 1.0).abs() < 1e-12,
            "{computed:?} for {golden}"
        );
    }

    /// Golden values of section 3: pure to zCDP and CDP, the τ of randomized
    /// response; and of section 4: composition of τ.
    #[test]
    fn golden_values() {
        let rho = |text: &str| zero_concentrated(&text.parse().unwrap()).unwrap();
        close(rho("pure(0.1)"), 0.004_995_837_495_787_998);
        close(rho("pure(4)"), 3.856_110_320_303_267_5);
        close(rho("exponential(2)"), 0.5);
        close(rho("10 * gaussian(2) + zcdp(0.25)"), 1.5);
        close(
            mean_of_pure_by_theorem_3_5(Interval::from(0.1)),
            0.005_258_545_903_782_382,
        );
        close(
            mean_of_pure_by_theorem_3_5(Interval::from(1.0)),
            0.859_140_914_229_522_6,
        );
        // rr with e^ε = p/(1-p) for ε = 4.
        let loss = concentrated(&"rr(0.982013790037908)".parse().unwrap()).unwrap();
        assert!((loss.variance.sqrt().upper() / 2.777_088_518_684_007_4 - 1.0).abs() < 1e-11);
        let tau = concentrated(
            &"7 * cdp(0.045, 0.3) + 11 * cdp(0.005, 0.1)"
                .parse()
                .unwrap(),
        )
        .unwrap();
        close(tau.variance.sqrt(), 0.860_232_526_704_262_6);
    }
}
