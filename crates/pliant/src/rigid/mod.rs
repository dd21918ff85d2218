//! Rigid bodies: static and driven obstacles, and bodies that move by forces, contacts and joints.
//!
//! `engine.rs` alone knows the engine that finds and solves contacts among rigid bodies and joints.

mod engine;
mod faces;
mod grips;
mod mass;
mod mesh;
mod surface;
#[cfg(test)]
mod tests;
mod walls;
mod world;

pub use grips::{Grip, Grips};
pub use mass::MassPart;
pub use mesh::RigidMesh;
pub use surface::{RigidNow, Surface};
pub use walls::{BoundaryPoint, Press, Touch, WallBody, Walls};
pub use world::{RestoreError, RigidWorld};

use crate::geometry::Pose;
use crate::math::{Real, Vec3};

/// Shape of a rigid body, centred at the origin of its own coordinates unless it is a mesh.
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
    /// The inside of a mesh, or all that is outside of it.
    Mesh(RigidMesh),
}

/// A rigid body of the scene.
#[derive(Clone, Debug, PartialEq)]
pub struct Rigid {
    pub name: String,
    pub shape: RigidShape,
    /// Pose at t = 0.
    pub pose: Pose,
    pub motion: RigidMotion,
    pub friction: Real,
    pub restitution: Real,
}

/// What moves a rigid body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RigidMotion {
    /// It stands still or moves as told, whatever pushes it.
    Told(Motion),
    /// It moves by gravity, contacts and joints.
    Dynamic(Dynamic),
}

impl From<Motion> for RigidMotion {
    fn from(motion: Motion) -> Self {
        RigidMotion::Told(motion)
    }
}

/// A rigid body that forces move.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dynamic {
    /// [kg/m3]
    pub density: Real,
    /// Of the centre of mass at t = 0 [m/s].
    pub velocity: Vec3,
    /// At t = 0 [rad/s].
    pub angular_velocity: Vec3,
}

/// What two rigid bodies, or one and the world, keep of each other's motion.
#[derive(Clone, Debug, PartialEq)]
pub struct Joint {
    /// Index of the first rigid body.
    pub a: usize,
    /// Index of the second rigid body; none for the world.
    pub b: Option<usize>,
    /// Point of both at t = 0, in world coordinates [m].
    pub anchor: Vec3,
    pub kind: JointKind,
}

/// The motions a joint leaves free.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum JointKind {
    /// None.
    Fixed,
    /// Any turn about the anchor.
    Ball,
    /// A turn about the axis; velocities [rad/s], limits [rad], moments [N m].
    Hinge(Freedom),
    /// A shift along the axis; velocities [m/s], limits [m], forces [N].
    Slider(Freedom),
}

/// One motion left free, of `a` as seen from `b`: zero at t = 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Freedom {
    /// Axis at t = 0 in world coordinates, of length one.
    pub axis: Vec3,
    /// Least and largest value.
    pub limits: Option<[Real; 2]>,
    pub motor: Option<Motor>,
}

/// Drives a joint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Motor {
    pub velocity: Real,
    /// Largest force or moment it has; none for any.
    pub max_force: Option<Real>,
}

/// How a rigid body that is told its motion, or a set of pinned particles moves.
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
