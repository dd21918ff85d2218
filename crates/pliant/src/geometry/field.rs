//! Signed distance fields, and what is computed from any of them.

use crate::math::{Real, Vec3};

/// A solid by its signed distance, negative inside.
pub trait Field: Sync {
    fn distance(&self, p: Vec3) -> Real;

    /// Lower and upper corner of a box that holds all of it.
    fn bounds(&self) -> (Vec3, Vec3);

    /// Most that `distance` changes per metre; 1 where it is exact.
    fn steepness(&self) -> Real {
        1.0
    }

    /// The distance and its gradient, which points out of the surface.
    fn surface(&self, p: Vec3) -> (Real, Vec3) {
        (self.distance(p), differences(self, p))
    }

    /// The point of the level set at `level` that p falls on along the gradient, by so many of Newton's steps.
    fn onto_level(&self, p: Vec3, level: Real, steps: usize) -> Vec3 {
        let mut p = p;
        for _ in 0..steps {
            let (distance, gradient) = self.surface(p);
            // on a ridge of the field the gradient is short, though the distance is not
            p -= gradient * ((distance - level) / gradient.length_squared().max(0.5));
        }
        p
    }
}

/// Gradient from the distances at the four corners of a small tetrahedron.
pub(super) fn differences(field: &(impl Field + ?Sized), p: Vec3) -> Vec3 {
    let (lo, hi) = field.bounds();
    let e = 1e-5 * (hi - lo).max_element();
    let d = |x: Real, y: Real, z: Real| field.distance(p + e * Vec3::new(x, y, z)) * Vec3::new(x, y, z);
    (d(1.0, 1.0, 1.0) + d(1.0, -1.0, -1.0) + d(-1.0, 1.0, -1.0) + d(-1.0, -1.0, 1.0)) / (4.0 * e)
}
