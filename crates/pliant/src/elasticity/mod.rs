//! Elastic forces from rest neighbourhoods.

use crate::material::Strain;
use crate::math::Real;

/// Elastic method of a body, named after its paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Model {
    Solenthaler2007,
    Mls2004,
    Becker2009,
}

/// How a body's elastic force is computed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Method {
    pub model: Model,
    pub strain: Strain,
    /// Strength alpha of the zero-energy control; 0 switches it off.
    pub zero_energy: Real,
    /// Material-space XSPH damping of relative motion [1/s].
    pub xsph: Real,
}
