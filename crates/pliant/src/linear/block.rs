//! Entries of coarse matrices: a number where the three coordinates do not mix, a 3x3 block where they do.
#![allow(non_snake_case)] // R as in the theory

use glam::{Mat3A, Vec3, Vec3A};
use std::ops::AddAssign;

/// Corners of a grid cell: bit d of a corner's number is its side along axis d.
pub const CORNERS: usize = 8;

/// Pairs a <= b of corners.
pub const CORNER_PAIRS: usize = CORNERS * (CORNERS + 1) / 2;

/// What the particles of one cell add to the matrix: the blocks of its corner pairs a <= b, row by row.
pub type Element<B> = [B; CORNER_PAIRS];

/// Place of the pair a <= b in an element.
#[inline(always)]
pub fn pair(a: usize, b: usize) -> usize {
    a * (2 * CORNERS - 1 - a) / 2 + b
}

/// An entry of a symmetric matrix on one vector a node.
pub trait Block: Copy + Send + Sync + AddAssign {
    /// The coefficients of one particle, or the mean of several.
    type Point: Copy + AddAssign;
    /// Unknowns of a node that depend on one another.
    const WIDTH: usize;
    const ZERO: Self;

    fn times(self, x: Vec3A) -> Vec3A;
    fn scaled(self, factor: f32) -> Self;
    fn transposed(self) -> Self;
    /// Entry (r, c), both below `WIDTH`.
    fn entry(self, r: usize, c: usize) -> f32;
    /// Sums of the magnitudes of each of its rows.
    fn row_sums(self) -> Vec3A;

    /// The identity times a number.
    fn multiple(value: f32) -> Self;
    fn mass(point: &Self::Point) -> f32;
    /// The mean of `count` particles, one of which is given, from their sum.
    fn mean(sum: Self::Point, count: usize, one: Self::Point) -> Self::Point;

    /// Adds the stiffness of particles with these coefficients, of whose gradients g of the corners' functions the sums
    /// Σ g_a ⊗ g_b are given, pair by pair.
    fn add_stiffness(element: &mut Element<Self>, slopes: &Element<Mat3A>, point: Self::Point);
}

/// A particle of a system that acts alike on the three coordinates: energy ½ mass |v|² + ½ stiffness |∇v|².
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScalarPoint {
    pub mass: f32,
    /// dt² 2 mu V.
    pub stiffness: f32,
}

/// A particle of a corotated system: ½ mass |v|² + mu |sym(Rᵀ∇v)|² + ½ lambda tr²(Rᵀ∇v).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CorotatedPoint {
    pub mass: f32,
    /// dt² mu V.
    pub mu: f32,
    /// dt² lambda V.
    pub lambda: f32,
    /// Rotation R; in sheets and rods R (I - N), N the projector onto the missing dimensions.
    pub rotation: Mat3A,
}

impl AddAssign for ScalarPoint {
    fn add_assign(&mut self, other: ScalarPoint) {
        self.mass += other.mass;
        self.stiffness += other.stiffness;
    }
}

impl AddAssign for CorotatedPoint {
    #[inline(always)]
    fn add_assign(&mut self, other: CorotatedPoint) {
        self.mass += other.mass;
        self.mu += other.mu;
        self.lambda += other.lambda;
        self.rotation += other.rotation;
    }
}

impl Block for f32 {
    type Point = ScalarPoint;
    const WIDTH: usize = 1;
    const ZERO: f32 = 0.0;

    #[inline(always)]
    fn times(self, x: Vec3A) -> Vec3A {
        x * self
    }

    #[inline(always)]
    fn scaled(self, factor: f32) -> f32 {
        self * factor
    }

    fn transposed(self) -> f32 {
        self
    }

    fn entry(self, _: usize, _: usize) -> f32 {
        self
    }

    fn row_sums(self) -> Vec3A {
        Vec3A::splat(self.abs())
    }

    fn multiple(value: f32) -> f32 {
        value
    }

    fn mass(point: &ScalarPoint) -> f32 {
        point.mass
    }

    fn mean(sum: ScalarPoint, count: usize, _: ScalarPoint) -> ScalarPoint {
        let part = 1.0 / count as f32;
        ScalarPoint { mass: sum.mass * part, stiffness: sum.stiffness * part }
    }

    fn add_stiffness(element: &mut Element<f32>, slopes: &Element<Mat3A>, point: ScalarPoint) {
        element.iter_mut().zip(slopes).for_each(|(entry, gg)| *entry += point.stiffness * trace(*gg));
    }
}

impl Block for Mat3A {
    type Point = CorotatedPoint;
    const WIDTH: usize = 3;
    const ZERO: Mat3A = Mat3A::ZERO;

    #[inline(always)]
    fn times(self, x: Vec3A) -> Vec3A {
        self * x
    }

    #[inline(always)]
    fn scaled(self, factor: f32) -> Mat3A {
        self * factor
    }

    fn transposed(self) -> Mat3A {
        self.transpose()
    }

    fn entry(self, r: usize, c: usize) -> f32 {
        self.col(c)[r]
    }

    fn row_sums(self) -> Vec3A {
        self.x_axis.abs() + self.y_axis.abs() + self.z_axis.abs()
    }

    fn multiple(value: f32) -> Mat3A {
        Mat3A::from_diagonal(Vec3::splat(value))
    }

    fn mass(point: &CorotatedPoint) -> f32 {
        point.mass
    }

    /// Rotations that differ have a mean that is smaller than they are: it is given the size of one of them, or a bent
    /// cell would seem softer than it is.
    fn mean(sum: CorotatedPoint, count: usize, one: CorotatedPoint) -> CorotatedPoint {
        let size = |m: Mat3A| {
            (m.x_axis.length_squared() + m.y_axis.length_squared() + m.z_axis.length_squared()).sqrt()
        };
        let (part, least) = (1.0 / count as f32, 0.1 * count as f32 * size(one.rotation));
        let rotation = sum.rotation * (size(one.rotation) / size(sum.rotation).max(least));
        CorotatedPoint { mass: sum.mass * part, mu: sum.mu * part, lambda: sum.lambda * part, rotation }
    }

    /// With h = R g the block of a pair is mu (h_a·h_b I + h_b ⊗ h_a) + lambda h_a ⊗ h_b.
    fn add_stiffness(element: &mut Element<Mat3A>, slopes: &Element<Mat3A>, point: CorotatedPoint) {
        let CorotatedPoint { mu, lambda, rotation: R, .. } = point;
        let turned_back = R.transpose();
        for (block, gg) in element.iter_mut().zip(slopes) {
            let hh = R * *gg * turned_back;
            *block += hh.transpose() * mu + hh * lambda + Mat3A::multiple(mu * trace(hh));
        }
    }
}

fn trace(m: Mat3A) -> f32 {
    m.x_axis.x + m.y_axis.y + m.z_axis.z
}

/// Σ g_a ⊗ g_b over points at these fractions of a cell of size 1.
pub fn slopes_of(fractions: impl Iterator<Item = [f32; 3]>) -> Element<Mat3A> {
    let mut slopes = [Mat3A::ZERO; CORNER_PAIRS];
    for g in fractions.map(gradients) {
        for a in 0..CORNERS {
            for b in a..CORNERS {
                slopes[pair(a, b)] += Mat3A::from_cols(g[a] * g[b].x, g[a] * g[b].y, g[a] * g[b].z);
            }
        }
    }
    slopes
}

/// Adds m w_a w_b for corner functions of these values.
#[inline(always)]
pub fn add_mass(masses: &mut Element<f32>, w: &[f32; CORNERS], mass: f32) {
    for a in 0..CORNERS {
        let mass_w = mass * w[a];
        for b in a..CORNERS {
            masses[pair(a, b)] += mass_w * w[b];
        }
    }
}

/// Values of the corners' trilinear functions at fractions f of a cell.
#[inline(always)]
pub fn weights(f: [f32; 3]) -> [f32; CORNERS] {
    let side = |k: usize, d: usize| if k >> d & 1 == 1 { f[d] } else { 1.0 - f[d] };
    std::array::from_fn(|k| side(k, 0) * side(k, 1) * side(k, 2))
}

/// Gradients of the corners' trilinear functions in a cell of size 1.
#[inline(always)]
fn gradients(f: [f32; 3]) -> [Vec3A; CORNERS] {
    let side = |k: usize, d: usize| if k >> d & 1 == 1 { f[d] } else { 1.0 - f[d] };
    let slope = |k: usize, d: usize| if k >> d & 1 == 1 { 1.0 } else { -1.0 };
    std::array::from_fn(|k| {
        let (x, y, z) = (side(k, 0), side(k, 1), side(k, 2));
        Vec3A::new(slope(k, 0) * y * z, x * slope(k, 1) * z, x * y * slope(k, 2))
    })
}
