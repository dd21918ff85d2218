//! A body that was liquid gathers itself.
//!
//! Its particles may be anywhere, and the rotations of their neighbourhoods mean nothing: each part would find a shape of
//! its own, turned inside out as likely as not. So all particles turn as one, with the rotation of the whole body
//!   A = Σ_i (x_i - x̄) ⊗ (X_i - X̄) = R S,
//! and the law is corotated. With one R its energy is convex: wherever particles are, they go back to the rest shape.
#![allow(non_snake_case)] // A, R as in shape matching

use super::ElasticBody;
use crate::math::{Mat3, Quat, Quatx8, Real, Vec3, sum, svd};

impl ElasticBody {
    /// Does it gather itself now?
    pub fn gathers(&self) -> bool {
        self.constants.gathers
    }

    /// From now on it gathers itself, or does no longer.
    pub fn set_gathering(&mut self, gathers: bool) {
        self.constants.gathers = gathers;
    }

    /// Gives all particles the rotation of the whole body.
    pub(super) fn turn_as_one(&mut self, n: usize, positions: &(impl Fn(usize) -> Vec3 + Sync)) {
        let rest = &self.rest.positions;
        let share = 1.0 / n as Real;
        let center = sum(n, Vec3::ZERO, |i| positions(i) * share);
        let rest_center = sum(n, Vec3::ZERO, |i| rest[i] * share);
        let outer = |a: Vec3, b: Vec3| Mat3::from_cols(a * b.x, a * b.y, a * b.z);
        let A = sum(n, Mat3::ZERO, |i| outer(positions(i) - center, rest[i] - rest_center));
        let size = A.to_cols_array().iter().fold(0.0, |most: Real, a| most.max(a.abs()));
        if size > 0.0 && size.is_finite() {
            let parts = svd(A * (1.0 / size));
            let R = Quat::from_mat3(&(parts.u * parts.v.transpose())).normalize();
            self.rotations.fill(Quatx8::splat(R));
        }
    }
}
