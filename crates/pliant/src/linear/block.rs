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
    /// The coefficients of one particle.
    type Point: Copy;
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

    /// Adds a particle where the corners' functions have values w and gradients g.
    fn add_point(element: &mut Element<Self>, w: &[f32; CORNERS], g: &[Vec3A; CORNERS], point: Self::Point);
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

    #[inline(always)]
    fn add_point(element: &mut Element<f32>, w: &[f32; CORNERS], g: &[Vec3A; CORNERS], point: ScalarPoint) {
        for a in 0..CORNERS {
            for b in a..CORNERS {
                element[pair(a, b)] += point.mass * w[a] * w[b] + point.stiffness * g[a].dot(g[b]);
            }
        }
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

    /// With h = R g the block of the pair is m w_a w_b I + mu (h_a·h_b I + h_b ⊗ h_a) + lambda h_a ⊗ h_b.
    #[inline(always)]
    fn add_point(
        element: &mut Element<Mat3A>,
        w: &[f32; CORNERS],
        g: &[Vec3A; CORNERS],
        point: CorotatedPoint,
    ) {
        let CorotatedPoint { mass, mu, lambda, rotation: R } = point;
        let h = g.map(|g| R * g);
        for a in 0..CORNERS {
            let (mu_h, lambda_h) = (h[a] * mu, h[a] * lambda);
            for b in a..CORNERS {
                let diagonal = mass * w[a] * w[b] + mu_h.dot(h[b]);
                let column = |k: usize| h[b] * mu_h[k] + lambda_h * h[b][k];
                let block = Mat3A::from_cols(column(0), column(1), column(2));
                element[pair(a, b)] += block + Mat3A::from_diagonal(Vec3::splat(diagonal));
            }
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
pub fn gradients(f: [f32; 3]) -> [Vec3A; CORNERS] {
    let side = |k: usize, d: usize| if k >> d & 1 == 1 { f[d] } else { 1.0 - f[d] };
    let slope = |k: usize, d: usize| if k >> d & 1 == 1 { 1.0 } else { -1.0 };
    std::array::from_fn(|k| {
        let (x, y, z) = (side(k, 0), side(k, 1), side(k, 2));
        Vec3A::new(slope(k, 0) * y * z, x * slope(k, 1) * z, x * y * slope(k, 2))
    })
}
