//! Rigid bodies and driven motions as written.

use super::{CylinderFile, RotationFile, SphereFile, Vector};
use crate::scene::error::SceneError;
use crate::scene::read::{At, Read, table, typed, words};
use crate::scene::tree::Kind;

table! {
    /// A driven motion: give velocity, angular_velocity or both.
    DrivenFile {
        /// Velocity [m/s].
        velocity: Option<Vector>,
        /// Angular velocity [rad/s].
        angular_velocity: Option<Vector>,
        /// Point the rotation is about, in world coordinates at t = 0 [m]; default the position.
        center: Option<Vector>,
        /// Time after which it stands still where it is [s]; default never.
        stop: Option<f64>,
    }
}

words! {
    /// Held where it is.
    FixedWord { Fixed = "fixed", } later []
}

words! {
    /// At rest.
    StaticWord { Static = "static", } later ["dynamic"]
}

/// "fixed", or a driven motion.
#[derive(Clone, Debug, PartialEq, schemars::JsonSchema)]
#[schemars(untagged)]
pub(in crate::scene) enum PinMotionFile {
    Fixed(FixedWord),
    Driven(DrivenFile),
}

impl Read for PinMotionFile {
    fn read(at: At<'_>) -> Result<Self, SceneError> {
        match at.node.kind {
            Kind::Table(_) => DrivenFile::read(at).map(PinMotionFile::Driven),
            _ => FixedWord::read(at).map(PinMotionFile::Fixed),
        }
    }
}

/// "static", or a driven motion.
#[derive(Clone, Debug, PartialEq, schemars::JsonSchema)]
#[schemars(untagged)]
pub(in crate::scene) enum RigidMotionFile {
    Static(StaticWord),
    Driven(DrivenFile),
}

impl Read for RigidMotionFile {
    fn read(at: At<'_>) -> Result<Self, SceneError> {
        match at.node.kind {
            Kind::Table(_) => DrivenFile::read(at).map(RigidMotionFile::Driven),
            _ => StaticWord::read(at).map(RigidMotionFile::Static),
        }
    }
}

table! {
    /// A rigid obstacle, at rest or driven.
    RigidFile {
        /// Name in messages; default rigid1, rigid2, ...
        name: Option<String>,
        /// Shape, centred at the origin of its own coordinates.
        shape: RigidShapeFile,
        /// Where it starts [m]; default [0, 0, 0].
        position: Option<Vector>,
        /// How it is turned: one rotation, or several applied in order.
        rotation: Option<RotationFile>,
        /// "static", or how it is driven; default "static".
        motion: Option<RigidMotionFile>,
        /// Coulomb friction of the surface; default 0.3.
        friction: Option<f64>,
        /// Restitution of contacts, 0 to 1; default 0.
        restitution: Option<f64>,
    }
}

table! { PlaneFile {
    /// Points out of the solid, into the free space; of any length but zero.
    normal: Vector,
} }
table! { RigidBoxFile {
    /// Edge lengths [m].
    size: Vector,
    /// A container: keeps particles inside; default false.
    inside_out: Option<bool>,
} }
table! { CapsuleFile {
    /// Radius [m].
    radius: f64,
    /// Length of the straight part along y [m].
    height: f64,
} }

typed! {
    /// Shape of a rigid body.
    RigidShapeFile {
        /// The half space below a plane through the origin.
        Plane(PlaneFile) = "plane",
        Box(RigidBoxFile) = "box",
        Sphere(SphereFile) = "sphere",
        /// Axis along y.
        Cylinder(CylinderFile) = "cylinder",
        /// Axis along y.
        Capsule(CapsuleFile) = "capsule",
    } later ["mesh"]
}
