//! What a simulation is made from: checked, trusted, in SI units.

use super::Emitter;
use crate::elasticity::Method;
use crate::forces::drag::Air;
use crate::forces::fields::Field;
use crate::geometry::{Pose, Region, Sampling, Shape};
use crate::kernel::KernelKind;
use crate::material::Material;
use crate::math::{Real, Vec3};
use crate::pressure;
use crate::rigid::{Joint, Motion, Rigid};

/// Everything a [`Simulation`](super::Simulation) is built from.
#[derive(Clone, Debug, PartialEq)]
pub struct Setup {
    /// Particle spacing s [m].
    pub spacing: Real,
    /// Support radius over spacing, h / s.
    pub support: Real,
    pub kernel: KernelKind,
    /// Acceleration of gravity [m/s2].
    pub gravity: Vec3,
    /// What pushes all matter besides gravity.
    pub fields: Vec<Field>,
    /// What liquids fly through.
    pub air: Air,
    pub time_step: TimeStep,
    /// What keeps matter from overlapping.
    pub pressure: Pressure,
    /// Do particles of bodies collide with one another (and rigids)?
    pub contact: Contact,
    /// Liquid outside is taken out; if not given, outside ten times the room of all there is at the start.
    pub domain: Option<Region>,
    /// Liquid inside is taken out; in world coordinates.
    pub drains: Vec<Region>,
    pub bodies: Vec<BodySetup>,
    pub rigids: Vec<Rigid>,
    pub joints: Vec<Joint>,
    pub probes: Vec<ProbeSetup>,
}

/// How long a step may be; the stable step always limits it further.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TimeStep {
    /// At most `max` [s], and no particle moves more than `cfl` spacings in a step.
    Adaptive { max: Real, cfl: Real },
    /// Reported steps of exactly this length [s]; each is divided into stable sub-steps.
    Fixed(Real),
}

/// What keeps matter from overlapping.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pressure {
    /// Solids meet by impulse contacts; there are no liquids.
    None,
    /// One implicit pressure for all matter.
    Implicit(pressure::Settings),
    /// One explicit pressure for all matter, which gives way a little.
    Weak(pressure::Tait),
}

/// Which impulse contacts are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contact {
    /// Between particles of different bodies.
    pub between_bodies: bool,
    /// Between particles of one body that are not rest neighbours.
    pub within_body: bool,
}

/// One deformable body.
#[derive(Clone, Debug, PartialEq)]
pub struct BodySetup {
    pub name: String,
    pub material: Material,
    /// How its elastic force is computed; none for a liquid.
    pub method: Option<Method>,
    pub shape: Shape,
    /// It starts empty and is filled by this, in place of its shape; liquids only.
    pub emitter: Option<Emitter>,
    pub sampling: Sampling,
    pub pose: Pose,
    pub velocity: Vec3,
    /// About the body's centre [rad/s].
    pub angular_velocity: Vec3,
    /// Initial deformation in body coordinates: x = stretch * X.
    pub initial_stretch: Vec3,
    pub pins: Vec<Pin>,
    pub loads: Vec<Load>,
}

/// Particles held, driven or attached.
#[derive(Clone, Debug, PartialEq)]
pub struct Pin {
    pub region: Region,
    pub motion: PinMotion,
    /// Released at this time [s].
    pub until: Option<Real>,
}

/// What moves pinned particles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PinMotion {
    Told(Motion),
    /// The rigid body with this index carries them, and feels their forces.
    Attached {
        rigid: usize,
    },
}

/// A force [N, in total] spread evenly over the particles of a region.
#[derive(Clone, Debug, PartialEq)]
pub struct Load {
    pub region: Region,
    pub force: Vec3,
    pub until: Option<Real>,
}

/// A time series of one particle, or of the mean over a region.
#[derive(Clone, Debug, PartialEq)]
pub struct ProbeSetup {
    pub name: String,
    /// Index into `Setup::bodies`.
    pub body: usize,
    pub target: ProbeTarget,
    pub record: Vec<Recorded>,
    /// Sampling interval [s].
    pub every: Real,
}

#[derive(Clone, Debug, PartialEq)]
pub enum ProbeTarget {
    /// The particle whose rest position is nearest to this point in body coordinates.
    Nearest(Vec3),
    /// The mean over the particles of a region.
    Mean(Region),
}

/// What a probe records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recorded {
    Position,
    Velocity,
    DeformationGradient,
    /// Cauchy stress.
    Stress,
}
