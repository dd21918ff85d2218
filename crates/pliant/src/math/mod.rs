//! Numbers: master state in double precision, work in single precision lanes, sums in a fixed order.

/// Scalar of the master state.
pub type Real = f64;
/// Vector of the master state (positions, velocities).
pub type Vec3 = glam::DVec3;
/// 3x3 matrix of the master state.
pub type Mat3 = glam::DMat3;
/// Unit quaternion of the master state.
pub type Quat = glam::DQuat;
