//! Numbers: master state in double precision, work in single-precision lanes, sums in a fixed order.

mod lanes;
mod polar;
mod reduce;
mod svd;
mod svd_lanes;

pub use lanes::{LANES, Lane, Mat3x8, Quatx8, Sym3x8, Vec3x8, gather4, gather8};
pub use polar::{polar_rotation, polar_rotation_near};
pub use reduce::{CHUNK, max_with_index, sum, sum_by_chunk};
pub use svd::{Svd, pseudo_inverse, svd};
pub use svd_lanes::{Svdx8, svd_lanes};

/// Scalar of the master state.
pub type Real = f64;
/// Vector of the master state (positions, velocities).
pub type Vec3 = glam::DVec3;
/// 3x3 matrix of the master state.
pub type Mat3 = glam::DMat3;
/// Unit quaternion of the master state.
pub type Quat = glam::DQuat;

/// Outer product a ⊗ b = a bᵀ.
pub fn outer(a: Vec3, b: Vec3) -> Mat3 {
    Mat3::from_cols(a * b.x, a * b.y, a * b.z)
}

/// Double contraction A : B = Σ A_rc B_rc.
pub fn double_dot(a: Mat3, b: Mat3) -> Real {
    a.x_axis.dot(b.x_axis) + a.y_axis.dot(b.y_axis) + a.z_axis.dot(b.z_axis)
}

/// Trace of a matrix.
pub fn trace(a: Mat3) -> Real {
    a.x_axis.x + a.y_axis.y + a.z_axis.z
}
