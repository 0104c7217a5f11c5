//! An event that certainly costs at most as much as the typed one.
//!
//! The parser rounds every parameter to the side that costs more, by less than one unit in the last
//! place. One unit back towards the other side is therefore beyond the typed decimal: a lower bound
//! for that event is one for the typed event.

use super::{DiscreteGaussian, PrivacyEvent, RandomizedResponse, RenyiPoints, WithoutReplacement};
use crate::units::{Delta, Epsilon, Mu, Order, Probability, Rho, Scale, Sensitivity, Sigma, Tau};

/// One unit down, or the same if that is not a valid quantity.
macro_rules! less {
    ($Type:ident, $value:expr) => {
        $Type::new($value.get().next_down()).unwrap_or($value)
    };
}

/// One unit up, or the same if that is not a valid quantity.
macro_rules! more {
    ($Type:ident, $value:expr) => {
        $Type::new($value.get().next_up()).unwrap_or($value)
    };
}

impl PrivacyEvent {
    /// The event with every parameter one unit in the last place cheaper.
    #[must_use]
    pub fn relaxed(&self) -> Self {
        let inside = |event: &Self| Box::new(event.relaxed());
        match self {
            Self::Gaussian { sigma, sensitivity } => Self::Gaussian {
                sigma: more!(Sigma, *sigma),
                sensitivity: less!(Sensitivity, *sensitivity),
            },
            Self::Laplace { scale, sensitivity } => Self::Laplace {
                scale: more!(Scale, *scale),
                sensitivity: less!(Sensitivity, *sensitivity),
            },
            Self::DiscreteGaussian(noise) => {
                let sigma = more!(Sigma, noise.sigma());
                let sensitivity = less!(Sensitivity, noise.sensitivity());
                let cheaper = DiscreteGaussian::new(sigma, sensitivity)
                    .or_else(|_| DiscreteGaussian::new(sigma, noise.sensitivity()));
                Self::DiscreteGaussian(cheaper.unwrap_or(*noise))
            }
            Self::DiscreteLaplace(noise) => {
                // The sensitivity is a whole number and was read exactly.
                let scale = more!(Scale, noise.scale());
                let cheaper = super::DiscreteLaplace::new(scale, noise.sensitivity());
                Self::DiscreteLaplace(cheaper.unwrap_or(*noise))
            }
            Self::RandomizedResponse(response) => {
                let p = less!(Probability, response.p());
                let cheaper = RandomizedResponse::new(p, response.categories());
                Self::RandomizedResponse(cheaper.unwrap_or(*response))
            }
            Self::Exponential { epsilon } => Self::Exponential {
                epsilon: less!(Epsilon, *epsilon),
            },
            Self::Pure { epsilon } => Self::Pure {
                epsilon: less!(Epsilon, *epsilon),
            },
            Self::Approximate { epsilon, delta } => Self::Approximate {
                epsilon: less!(Epsilon, *epsilon),
                delta: less!(Delta, *delta),
            },
            Self::Renyi(points) => {
                let relaxed = points
                    .as_slice()
                    .iter()
                    .map(|&(order, epsilon)| (more!(Order, order), less!(Epsilon, epsilon)));
                Self::Renyi(RenyiPoints::new(relaxed.collect()).unwrap_or_else(|_| points.clone()))
            }
            Self::ZeroConcentrated { rho } => Self::ZeroConcentrated {
                rho: less!(Rho, *rho),
            },
            Self::Concentrated { mu, tau } => Self::Concentrated {
                mu: less!(Mu, *mu),
                tau: less!(Tau, *tau),
            },
            Self::GaussianDp { mu } => Self::GaussianDp { mu: less!(Mu, *mu) },
            // Its numbers are the doubles themselves, no decimals rounded.
            Self::Finite(pair) => Self::Finite(pair.clone()),
            Self::Tree {
                sigma,
                steps,
                sensitivity,
            } => Self::Tree {
                sigma: more!(Sigma, *sigma),
                steps: *steps,
                sensitivity: less!(Sensitivity, *sensitivity),
            },
            Self::Matrix { sigma, norm } => Self::Matrix {
                sigma: more!(Sigma, *sigma),
                norm: less!(Sensitivity, *norm),
            },
            Self::Shuffle { people, event } => Self::Shuffle {
                people: *people,
                event: inside(event),
            },
            Self::Poisson { q, event } => Self::Poisson {
                q: less!(Probability, *q),
                event: inside(event),
            },
            Self::WithoutReplacement(sampling) => {
                let (n, m) = (sampling.population(), sampling.sample());
                let relaxed = WithoutReplacement::new(n, m, sampling.event().relaxed());
                Self::WithoutReplacement(relaxed.unwrap_or_else(|_| sampling.clone()))
            }
            Self::Group { size, event } => Self::Group {
                size: *size,
                event: inside(event),
            },
            Self::Compose(events) => Self::Compose(events.iter().map(Self::relaxed).collect()),
            Self::Repeat { count, event } => Self::Repeat {
                count: *count,
                event: inside(event),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::PrivacyEvent;

    #[test]
    fn every_parameter_moves_to_the_cheap_side() {
        let relaxed = |text: &str| text.parse::<PrivacyEvent>().unwrap().relaxed().to_string();
        assert_eq!(
            relaxed("gaussian(2)"),
            "gaussian(2.0000000000000005, 0.9999999999999998)"
        );
        assert_eq!(relaxed("3 * pure(0)"), "3 * pure(0)");
        assert_eq!(
            relaxed("tree(2, 7) + matrix(2, 2)"),
            "tree(2.0000000000000005, 7, 0.9999999999999998) \
             + matrix(2.0000000000000005, 1.9999999999999997)"
        );
        assert_eq!(
            relaxed("shuffle(9, finite(0.4:0.6, 0.6:0.4))"),
            "shuffle(9, finite(0.4:0.6, 0.6:0.4))"
        );
        assert_eq!(relaxed("rr(0.5)"), "rr(0.5)");
        assert!(relaxed("group(2, rr(0.75))").starts_with("group(2, rr(0.7499999"));
    }
}
