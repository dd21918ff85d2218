//! Shapes of bodies, regions that select particles, and their sampling.

mod candidates;
mod cloud;
mod density;
mod distance;
mod field;
mod figures;
mod grid;
pub mod mesh;
mod packed;
mod poisson;
mod random;
mod relaxed;
mod report;
mod sample;
mod surface;

#[cfg(test)]
mod tests;

pub use cloud::Cloud;
pub use field::Field;
pub use figures::Figure;
pub use grid::DistanceGrid;
pub use mesh::{MeshError, SolidMesh, TriangleMesh};
pub use report::SamplingReport;
pub use surface::{even_layer, sample_surface};

use crate::math::{Quat, Real, Vec3};

/// Shape of a deformable body, centred at the origin of its body coordinates unless it is a mesh.
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
    /// Axis along y; `height` is the length of the straight part.
    Capsule {
        radius: Real,
        height: Real,
    },
    /// An animal, facing x, its back or head up along y.
    Figure {
        figure: Figure,
        /// Its length or its height.
        size: Real,
    },
    /// A wheel with teeth and a bore about the y axis.
    Gear {
        /// To the tips of the teeth.
        radius: Real,
        height: Real,
        teeth: u32,
    },
    /// A ball with strands on it.
    Hairball {
        /// To the tips of the strands.
        radius: Real,
        strands: u32,
        /// Of a strand.
        thickness: Real,
    },
    /// The inside of a mesh, in the mesh's own coordinates.
    Mesh {
        mesh: SolidMesh,
    },
    /// Particles as they are given.
    Particles {
        cloud: Cloud,
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
    /// Cubic closest packing: every particle has twelve nearest neighbours.
    Ccp,
    /// Thrown at random, no two nearer than a distance: blue noise.
    Poisson { seed: u64 },
    /// Thrown at random, then moved until the density is even and a layer lies half a spacing below the surface.
    Relaxed { seed: u64 },
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
