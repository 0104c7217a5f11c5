//! An event in the words of concentrated and Gaussian differential privacy.
//!
//! Each gives the tightest parameters that are proven, rounded up; compositions
//! and groups included.

use mizan_core::{Mu, PrivacyEvent, Rho, Tau};

use crate::composition::concentrated::{concentrated, gaussian_square, zero_concentrated};
use crate::{Reason, Unsupported};

/// The ρ for which an event is ρ-zero-concentrated differentially private.
///
/// # Errors
///
/// A part has no such guarantee, as a mechanism that may fail.
///
/// ```
/// use mizan_accounting::to_zcdp;
/// // ε tanh(ε/2), the tight form for a pure ε.
/// let rho = to_zcdp(&"10 * pure(0.1)".parse()?)?;
/// assert!((rho.get() - 0.049_958_374_957_88).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn to_zcdp(event: &PrivacyEvent) -> Result<Rho, Unsupported> {
    let rho = zero_concentrated(event)?.upper();
    Rho::new(rho).map_err(|_| unbounded(event))
}

/// The (μ, τ) for which an event is concentrated differentially private.
///
/// # Errors
///
/// A part has no such guarantee.
///
/// ```
/// use mizan_accounting::to_cdp;
/// let (mu, tau) = to_cdp(&"4 * gaussian(4)".parse()?)?;
/// assert_eq!((mu.get(), tau.get()), (0.125, 0.5));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn to_cdp(event: &PrivacyEvent) -> Result<(Mu, Tau), Unsupported> {
    let loss = concentrated(event)?;
    let mu = Mu::new(loss.mean.upper());
    let tau = Tau::new(loss.variance.sqrt().upper());
    mu.and_then(|mu| Ok((mu, tau?)))
        .map_err(|_| unbounded(event))
}

/// The μ for which an event of Gaussian noise is exactly μ-Gaussian
/// differentially private.
///
/// # Errors
///
/// A part is not Gaussian noise.
///
/// ```
/// use mizan_accounting::to_gdp;
/// assert_eq!(to_gdp(&"4 * gaussian(4)".parse()?)?.get(), 0.5);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn to_gdp(event: &PrivacyEvent) -> Result<Mu, Unsupported> {
    let mu = gaussian_square(event)?.sqrt().upper();
    Mu::new(mu).map_err(|_| unbounded(event))
}

fn unbounded(event: &PrivacyEvent) -> Unsupported {
    Unsupported::new(event, &|| "event".to_owned(), Reason::Unbounded)
}
