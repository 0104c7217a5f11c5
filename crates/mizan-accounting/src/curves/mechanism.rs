//! Which event has which Rényi curve.

use mizan_core::{Interval, Order, PrivacyEvent};

use super::position::Position;
use super::two_point::TwoPoint;
use super::{
    concentrated, discrete_gaussian, discrete_laplace, exponential, gaussian, laplace,
    randomized_response, reported, sampled,
};
use crate::Reason;
use crate::composition::concentrated::gaussian_ratio;

/// A single mechanism, prepared for evaluation at many orders.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Mechanism {
    Concentrated(concentrated::Curve),
    DiscreteGaussian(discrete_gaussian::Curve),
    DiscreteLaplace(discrete_laplace::Curve),
    Exponential(exponential::Curve),
    Gaussian(gaussian::Curve),
    Laplace(laplace::Curve),
    Pure(TwoPoint),
    RandomizedResponse(randomized_response::Curve),
    Reported(Box<reported::Curve>),
    Sampled(Box<sampled::Curve>),
}

impl Mechanism {
    pub(super) fn of(event: &PrivacyEvent) -> Result<Self, Reason> {
        Ok(match event {
            PrivacyEvent::Gaussian { sigma, sensitivity } => {
                Self::Gaussian(gaussian::Curve::noise(*sigma, *sensitivity))
            }
            PrivacyEvent::Laplace { scale, sensitivity } => {
                Self::Laplace(laplace::Curve::new(*scale, *sensitivity))
            }
            PrivacyEvent::DiscreteGaussian(noise) => {
                Self::DiscreteGaussian(discrete_gaussian::Curve::new(noise))
            }
            PrivacyEvent::DiscreteLaplace(noise) => {
                Self::DiscreteLaplace(discrete_laplace::Curve::new(noise))
            }
            PrivacyEvent::RandomizedResponse(response) => {
                Self::RandomizedResponse(randomized_response::Curve::new(response))
            }
            PrivacyEvent::Exponential { epsilon } => {
                Self::Exponential(exponential::Curve::new(*epsilon))
            }
            PrivacyEvent::Pure { epsilon } => {
                Self::Pure(TwoPoint::new(Interval::from(epsilon.get())))
            }
            PrivacyEvent::Approximate { epsilon, delta } if delta.get() == 0.0 => {
                Self::Pure(TwoPoint::new(Interval::from(epsilon.get())))
            }
            PrivacyEvent::Approximate { .. } => return Err(Reason::MayFail),
            PrivacyEvent::Renyi(points) => Self::Reported(Box::new(reported::Curve::new(points))),
            PrivacyEvent::ZeroConcentrated { rho } => Self::Gaussian(
                gaussian::Curve::zero_concentrated(Interval::from(rho.get())),
            ),
            PrivacyEvent::Concentrated { mu, tau } => {
                Self::Concentrated(concentrated::Curve::new(*mu, *tau))
            }
            PrivacyEvent::GaussianDp { mu } => Self::Gaussian(gaussian::Curve::gaussian_dp(*mu)),
            PrivacyEvent::Tree { .. } | PrivacyEvent::Matrix { .. } => {
                let m = gaussian_ratio(event).ok_or(Reason::NotYet)?;
                Self::Gaussian(gaussian::Curve::zero_concentrated(m.square() * 0.5))
            }
            PrivacyEvent::Poisson { .. }
            | PrivacyEvent::WithoutReplacement(_)
            | PrivacyEvent::Shuffle { .. }
            | PrivacyEvent::Finite(_) => Self::Sampled(Box::new(sampled::Curve::new(event)?)),
            _ => return Err(Reason::NotYet),
        })
    }

    #[inline]
    pub(super) fn at(&self, position: Position) -> Interval {
        match self {
            Self::Concentrated(curve) => curve.at(position),
            Self::DiscreteGaussian(curve) => curve.at(position),
            Self::DiscreteLaplace(curve) => curve.at(position),
            Self::Exponential(curve) => curve.at(position),
            Self::Gaussian(curve) => curve.at(position),
            Self::Laplace(curve) => curve.at(position),
            Self::Pure(curve) => curve.at(position),
            Self::RandomizedResponse(curve) => curve.at(position),
            Self::Reported(curve) => curve.at(position),
            Self::Sampled(curve) => curve.at(position),
        }
        .non_negative()
    }

    pub(super) fn corners(&self) -> Vec<Order> {
        match self {
            Self::Reported(curve) => curve.corners(),
            _ => Vec::new(),
        }
    }
}
