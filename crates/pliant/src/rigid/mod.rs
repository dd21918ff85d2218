//! Rigid bodies: static or driven obstacles that particles meet by contact.

mod surface;
mod walls;

pub use surface::{RigidNow, Surface};
pub use walls::{Touch, WallBody, Walls};

use crate::geometry::Pose;
use crate::math::{Real, Vec3};

/// Shape of a rigid body, centred at the origin of its own coordinates.
#[derive(Clone, Debug, PartialEq)]
pub enum RigidShape {
    /// The half space below the plane through the origin; `normal` points out of it.
    Plane {
        normal: Vec3,
    },
    Box {
        size: Vec3,
    },
    /// A box seen from inside: keeps particles in.
    Container {
        size: Vec3,
    },
    Sphere {
        radius: Real,
    },
    /// Axis along y.
    Cylinder {
        radius: Real,
        height: Real,
    },
    /// Axis along y; `height` is the length of the straight part.
    Capsule {
        radius: Real,
        height: Real,
    },
}

/// A rigid body of the scene.
#[derive(Clone, Debug, PartialEq)]
pub struct Rigid {
    pub name: String,
    pub shape: RigidShape,
    /// Pose at t = 0.
    pub pose: Pose,
    pub motion: Motion,
    pub friction: Real,
    pub restitution: Real,
}

/// How a rigid body or a set of pinned particles moves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Motion {
    Fixed,
    /// Constant velocity [m/s] and angular velocity [rad/s] about a point fixed at t = 0 and moving with `velocity`.
    Driven {
        velocity: Vec3,
        angular_velocity: Vec3,
        center: Vec3,
        /// Time after which it stands still where it is [s].
        stop: Option<Real>,
    },
}
