//! How evenly points fill a shape: their number density, in which the outside counts as filled.

use super::DistanceGrid;
use crate::kernel::{Kernel, KernelKind};
use crate::math::{Real, Vec3};

/// Support of the kernel [spacings].
const SUPPORT: Real = 2.0;

/// Number density times the volume of a particle, δ_i = V Σ_j W_ij + ∫_outside W: one where points are evenly spread.
pub(super) struct Density {
    kernel: Kernel,
    /// Volume of a particle.
    volume: Real,
    cell: Real,
    shape: DistanceGrid,
}

/// δ at one point, and its derivatives by the points it depends on.
pub(super) struct Around {
    pub density: Real,
    /// ∂δ_i/∂x_i.
    pub gradient: Vec3,
    /// Σ_j |∂δ_i/∂x_j|² over the other points.
    pub others_squared: Real,
}

/// The part of δ that the outside has, and its gradient.
#[derive(Clone, Copy, Default)]
pub(super) struct Wall {
    pub density: Real,
    pub gradient: Vec3,
}

impl Density {
    /// `grid` holds the shape in cells of half a spacing.
    pub fn new(grid: DistanceGrid, spacing: Real) -> Density {
        let kernel = Kernel::new(KernelKind::WendlandC2, SUPPORT * spacing);
        Density { kernel, volume: spacing.powi(3), cell: 0.5 * spacing, shape: grid }
    }

    /// Support radius of the kernel.
    pub fn reach(&self) -> Real {
        self.kernel.h
    }

    /// Volume of the shape as measured on the grid.
    pub fn shape_volume(&self) -> Real {
        self.shape.volume()
    }

    /// V ∇W(x_ij).
    pub fn pair_gradient(&self, x_ij: Vec3) -> Vec3 {
        -self.volume * self.kernel.slope_over_r(x_ij.length()) * x_ij
    }

    /// What the outside adds at x.
    pub fn wall(&self, x: Vec3) -> Wall {
        let (mut inside, mut gradient) = (0.0, Vec3::ZERO);
        self.shape.for_each_near(x, self.kernel.h, |offset, part| {
            let r = offset.length();
            if r < self.kernel.h {
                inside += part * self.kernel.w(r);
                gradient -= part * self.kernel.slope_over_r(r) * offset;
            }
        });
        let cell = self.cell.powi(3);
        Wall { density: 1.0 - inside * cell, gradient: gradient * cell }
    }

    /// δ and its derivatives at x, with all the points around it, itself among them.
    pub fn around(&self, x: Vec3, points: impl Iterator<Item = Vec3>, wall: Wall) -> Around {
        let mut around = Around { density: wall.density, gradient: wall.gradient, others_squared: 0.0 };
        for y in points.filter(|y| y.distance_squared(x) < self.kernel.h * self.kernel.h) {
            let gradient = self.pair_gradient(x - y);
            around.density += self.volume * self.kernel.w(x.distance(y));
            around.gradient += gradient;
            around.others_squared += gradient.length_squared();
        }
        around
    }
}
