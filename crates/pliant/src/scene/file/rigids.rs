//! Rigid bodies and driven motions as written.

use super::{ColorFile, CylinderFile, RotationFile, ScaleFile, SphereFile, Vector};
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
    /// What moves a rigid body.
    RigidMotionWord {
        /// Nothing.
        Static = "static",
        /// Gravity, contacts and joints; needs a density.
        Dynamic = "dynamic",
    } later []
}

table! {
    /// Carried by a rigid body, which feels the forces of the particles.
    AttachedFile {
        /// Name of the rigid body.
        attached: String,
    }
}

/// "fixed", a driven motion, or attached to a rigid body.
#[derive(Clone, Debug, PartialEq, schemars::JsonSchema)]
#[schemars(untagged)]
pub(in crate::scene) enum PinMotionFile {
    Fixed(FixedWord),
    Attached(AttachedFile),
    Driven(DrivenFile),
}

impl Read for PinMotionFile {
    fn read(at: At<'_>) -> Result<Self, SceneError> {
        match &at.node.kind {
            Kind::Table(_) if at.node.child("attached").is_some() => {
                AttachedFile::read(at).map(PinMotionFile::Attached)
            }
            Kind::Table(_) => DrivenFile::read(at).map(PinMotionFile::Driven),
            _ => FixedWord::read(at).map(PinMotionFile::Fixed),
        }
    }
}

/// "static", "dynamic", or a driven motion.
#[derive(Clone, Debug, PartialEq, schemars::JsonSchema)]
#[schemars(untagged)]
pub(in crate::scene) enum RigidMotionFile {
    Word(RigidMotionWord),
    Driven(DrivenFile),
}

impl Read for RigidMotionFile {
    fn read(at: At<'_>) -> Result<Self, SceneError> {
        match at.node.kind {
            Kind::Table(_) => DrivenFile::read(at).map(RigidMotionFile::Driven),
            _ => RigidMotionWord::read(at).map(RigidMotionFile::Word),
        }
    }
}

table! {
    /// A rigid body: at rest, driven, or moved by forces.
    RigidFile {
        /// Name in messages and tables; default rigid1, rigid2, ...
        name: Option<String>,
        /// Shape, centred at the origin of its own coordinates.
        shape: RigidShapeFile,
        /// Where it starts [m]; default [0, 0, 0].
        position: Option<Vector>,
        /// How it is turned: one rotation, or several applied in order.
        rotation: Option<RotationFile>,
        /// "static", "dynamic", or how it is driven; default "static".
        motion: Option<RigidMotionFile>,
        /// Of a dynamic one [kg/m3].
        density: Option<f64>,
        /// Of a dynamic one, of its centre at the start [m/s]; default [0, 0, 0].
        velocity: Option<Vector>,
        /// Of a dynamic one, at the start [rad/s]; default [0, 0, 0].
        angular_velocity: Option<Vector>,
        /// Coulomb friction of the surface; default 0.3.
        friction: Option<f64>,
        /// Restitution of contacts, 0 to 1; default 0.
        restitution: Option<f64>,
        /// In pictures: "#rrggbb", or [r, g, b] from 0 to 1; default grey.
        color: Option<ColorFile>,
    }
}

table! { JointFile {
    /// Name of a rigid body.
    a: String,
    /// Name of the other rigid body; default the world.
    b: Option<String>,
    /// Point that both share, in world coordinates at t = 0 [m]; default the position of a.
    anchor: Option<Vector>,
} }
table! { FreeJointFile {
    /// Name of a rigid body.
    a: String,
    /// Name of the other rigid body; default the world.
    b: Option<String>,
    /// Point that both share, in world coordinates at t = 0 [m]; default the position of a.
    anchor: Option<Vector>,
    /// Axis in world coordinates at t = 0, of any length but zero.
    axis: Vector,
    /// Least and largest motion of a as seen from b, zero at the start [degrees of a hinge, m of a slider].
    limits: Option<[f64; 2]>,
    /// Drives a as seen from b.
    motor: Option<MotorFile>,
} }
table! { MotorFile {
    /// Velocity it keeps [rad/s of a hinge, m/s of a slider].
    velocity: f64,
    /// Largest moment of a hinge [N m] or force of a slider [N]; default as much as needed.
    max_force: Option<f64>,
} }

typed! {
    /// What two rigid bodies keep of each other's motion.
    JointTable {
        /// No motion of one as seen from the other.
        Fixed(JointFile) = "fixed",
        /// Turns about an axis.
        Hinge(FreeJointFile) = "hinge",
        /// Turns about a point.
        Ball(JointFile) = "ball",
        /// Shifts along an axis.
        Slider(FreeJointFile) = "slider",
    } later []
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
table! { RigidMeshFile {
    /// An .obj, .ply, .stl, .gltf or .glb file, relative to the scene file.
    file: String,
    /// Metres for one unit of the file, alike or along x, y and z; default 1.
    scale: Option<ScaleFile>,
    /// Moves the middle of the mesh's bounding box to the origin; default false: the mesh keeps its own coordinates.
    center: Option<bool>,
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
        /// The inside of a mesh file.
        Mesh(RigidMeshFile) = "mesh",
    } later []
}
