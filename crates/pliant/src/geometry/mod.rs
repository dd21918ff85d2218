//! Shapes of bodies, regions that select particles, and their sampling.

pub mod beast;
mod grid;
pub mod mesh;
mod sample;

pub use grid::DistanceGrid;
pub use mesh::{MeshError, SolidMesh, TriangleMesh};

use crate::math::{Quat, Real, Vec3};

/// Shape of a deformable body, centred at the origin of its body coordinates.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    Box {
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
    /// Ring about the y axis.
    Torus {
        radius: Real,
        tube_radius: Real,
    },
    /// A four-legged animal, its snout along x, its back up along y.
    Beast {
        /// From tail to snout.
        length: Real,
    },
    /// A single layer of particles in the x-z plane, raised along y by its relief.
    Sheet {
        size: [Real; 2],
        outline: Outline,
        relief: Option<Relief>,
    },
    /// A single line of particles along x.
    Rod {
        length: Real,
    },
}

/// Outline of a sheet inside its size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outline {
    Rectangle,
    Ellipse,
}

/// Rest height of a sheet over its plane: y(r) = height * sinc(2 pi r / wavelength), r the distance from the centre.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Relief {
    pub height: Real,
    pub wavelength: Real,
}

/// How a shape is filled with particles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sampling {
    /// Cubic lattice, particles at the centres of cells of one spacing.
    Lattice,
}

/// Selects particles by their rest position in body coordinates.
#[derive(Clone, Debug, PartialEq)]
pub enum Region {
    All,
    Box { min: Vec3, max: Vec3 },
    Sphere { center: Vec3, radius: Real },
}

/// Where a body or rigid stands: x = position + rotation * X.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pose {
    pub position: Vec3,
    pub rotation: Quat,
}

impl Pose {
    pub const IDENTITY: Pose = Pose { position: Vec3::ZERO, rotation: Quat::IDENTITY };

    /// World coordinates of a point given in body coordinates.
    pub fn to_world(&self, point: Vec3) -> Vec3 {
        self.position + self.rotation * point
    }

    /// Body coordinates of a point given in world coordinates.
    pub fn to_body(&self, point: Vec3) -> Vec3 {
        self.rotation.inverse() * (point - self.position)
    }
}
