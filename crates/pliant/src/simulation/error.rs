//! What can go wrong in a step.

use crate::math::Real;
use thiserror::Error;

/// A step that could not be taken; the simulation still holds the last good state.
#[derive(Clone, Debug, Error, PartialEq)]
#[error(
    "{} \"{body}\" {trouble} at t = {time:.6} s ({stage}, step of {dt:.3e} s); {remedy}",
    who(*particle)
)]
pub struct StepError {
    pub stage: Stage,
    pub trouble: Trouble,
    pub body: String,
    /// Number of the particle within its body; none for a rigid body.
    pub particle: Option<u32>,
    pub time: Real,
    pub dt: Real,
    pub remedy: String,
}

fn who(particle: Option<u32>) -> String {
    particle.map_or_else(|| "rigid body".to_string(), |i| format!("particle {i} of"))
}

/// Part of the step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    Elasticity,
    Velocities,
}

impl std::fmt::Display for Stage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Stage::Elasticity => "elasticity",
            Stage::Velocities => "velocities",
        })
    }
}

/// What is wrong with the particle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Trouble {
    NotFinite,
    /// Stretched by this factor.
    TornApart(Real),
    /// Turned inside out, where its law has infinite energy.
    Inverted,
    /// Moves at this speed [m/s].
    TooFast(Real),
    /// Admits only steps that no longer move the clock.
    NoStep,
}

impl std::fmt::Display for Trouble {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Trouble::NotFinite => f.write_str("is not finite"),
            Trouble::TornApart(stretch) => write!(f, "is stretched {stretch:.3e} times"),
            Trouble::Inverted => f.write_str("is turned inside out, which its law forbids"),
            Trouble::NoStep => f.write_str("admits no step that moves the clock"),
            Trouble::TooFast(speed) => write!(f, "moves at {speed:.3e} m/s"),
        }
    }
}

impl Trouble {
    /// What to do about it.
    pub(super) fn remedy(self) -> &'static str {
        match self {
            Trouble::Inverted => {
                "use law = \"neo_hookean_bounded\", which stays finite, or try a smaller time_step.max or spacing"
            }
            Trouble::NotFinite | Trouble::TornApart(_) | Trouble::TooFast(_) | Trouble::NoStep => {
                "try a smaller time_step.max, a larger zero_energy or some damping, or a gentler start"
            }
        }
    }
}
