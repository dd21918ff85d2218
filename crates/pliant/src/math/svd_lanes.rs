//! Singular values of eight matrices at once, in single precision.

use super::{Lane, Mat3x8, Svd, Vec3x8};

/// Sweeps after which the factors are taken as they are; they converge quadratically, in two to five.
const MAX_SWEEPS: usize = 8;
/// Columns p and q are orthogonal when (p·q)² is this part of |p|² |q|²: beyond, only rounding is left.
const ORTHOGONAL: f32 = 1e-13;
/// A second singular value below this part of the first leaves its direction open.
const FLAT: f32 = 1e-6;

/// A = U diag(sigma) Vᵀ with det U = det V = 1: sigma falls in magnitude, only the last may be negative.
#[derive(Clone, Copy, Debug)]
pub struct Svdx8 {
    pub u: Mat3x8,
    pub sigma: Vec3x8,
    pub v: Mat3x8,
}

impl Svdx8 {
    /// The decomposition of one lane.
    pub fn get(&self, lane: usize) -> Svd {
        Svd { u: self.u.get(lane), sigma: self.sigma.get(lane), v: self.v.get(lane) }
    }
}

/// Singular value decomposition by one-sided Jacobi rotations, as `svd` does it.
pub fn svd_lanes(a: Mat3x8) -> Svdx8 {
    let mut b = a; // A V
    let mut v = Mat3x8::diagonal(Lane::ONE);
    for _ in 0..MAX_SWEEPS {
        let rotated = [(0, 1), (0, 2), (1, 2)].map(|(p, q)| orthogonalize(&mut b, &mut v, p, q));
        if !rotated.contains(&true) {
            break;
        }
    }
    for (p, q) in [(0, 1), (1, 2), (0, 1)] {
        sort(&mut b, &mut v, p, q);
    }
    let [b0, b1, b2] = b.c;
    let (axis_x, axis_y) = (unit(Lane::ONE, Lane::ZERO), unit(Lane::ZERO, Lane::ONE));
    let largest = b0.dot(b0).sqrt();
    let u0 = select(largest.simd_gt(Lane::ZERO), b0 * (Lane::ONE / largest), axis_x);
    let rest = b1 - u0 * u0.dot(b1);
    let length = rest.dot(rest).sqrt();
    // Where the second direction is open, any one across the first.
    let across = u0.cross(select(u0.x.abs().simd_lt(Lane::splat(0.7)), axis_x, axis_y));
    let across = across * (Lane::ONE / across.dot(across).sqrt());
    let clear = length.simd_gt(largest * Lane::splat(FLAT));
    let u1 = select(clear, rest * (Lane::ONE / length), across);
    let u2 = u0.cross(u1);
    let sigma = Vec3x8::new(largest, u1.dot(b1).max(Lane::ZERO), u2.dot(b2));
    Svdx8 { u: Mat3x8 { c: [u0, u1, u2] }, sigma, v }
}

/// Turns columns p and q of B and V so that those of B are orthogonal; false if they all are.
#[inline(always)]
fn orthogonalize(b: &mut Mat3x8, v: &mut Mat3x8, p: usize, q: usize) -> bool {
    let (alpha, beta, gamma) = (b.c[p].dot(b.c[p]), b.c[q].dot(b.c[q]), b.c[p].dot(b.c[q]));
    let oblique = (gamma * gamma).simd_gt(alpha * beta * Lane::splat(ORTHOGONAL));
    if !oblique.any() {
        return false;
    }
    let (delta, twice) = (beta - alpha, gamma + gamma);
    let sign = delta.simd_lt(Lane::ZERO).select(-Lane::ONE, Lane::ONE);
    let t = sign * twice / (delta.abs() + (delta * delta + twice * twice).sqrt());
    let t = oblique.select(t, Lane::ZERO);
    let c = Lane::ONE / (t * t + Lane::ONE).sqrt();
    let s = c * t;
    for m in [b, v] {
        (m.c[p], m.c[q]) = (m.c[p] * c - m.c[q] * s, m.c[p] * s + m.c[q] * c);
    }
    true
}

/// Exchanges columns p and q, by a quarter turn, where q is the longer one in B.
#[inline(always)]
fn sort(b: &mut Mat3x8, v: &mut Mat3x8, p: usize, q: usize) {
    let longer = b.c[q].dot(b.c[q]).simd_gt(b.c[p].dot(b.c[p]));
    for m in [b, v] {
        (m.c[p], m.c[q]) = (select(longer, m.c[q], m.c[p]), select(longer, Vec3x8::ZERO - m.c[p], m.c[q]));
    }
}

#[inline(always)]
fn select(mask: Lane, yes: Vec3x8, no: Vec3x8) -> Vec3x8 {
    Vec3x8::new(mask.select(yes.x, no.x), mask.select(yes.y, no.y), mask.select(yes.z, no.z))
}

#[inline(always)]
fn unit(x: Lane, y: Lane) -> Vec3x8 {
    Vec3x8::new(x, y, Lane::ZERO)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::{LANES, Mat3, Real, svd};
    use proptest::prelude::*;

    /// Checks eight matrices against the plain version.
    fn check(matrices: [Mat3; LANES]) -> Result<(), TestCaseError> {
        let mut a = Mat3x8::ZERO;
        matrices.iter().enumerate().for_each(|(lane, m)| a.set(lane, *m));
        let d = svd_lanes(a);
        for lane in 0..LANES {
            let (a, u, v) = (a.get(lane), d.u.get(lane), d.v.get(lane));
            let at = |part: Lane| part.to_array()[lane] as Real;
            let sigma = crate::math::Vec3::new(at(d.sigma.x), at(d.sigma.y), at(d.sigma.z));
            let plain = svd(a);
            // Some ten operations in single precision, relative to the largest value.
            let close = 2e-6 * plain.sigma.x + 1e-30;
            prop_assert!((sigma - plain.sigma).abs().max_element() < close, "{sigma} {}", plain.sigma);
            prop_assert!((u * Mat3::from_diagonal(sigma) * v.transpose()).abs_diff_eq(a, close), "{a}");
            for m in [u, v] {
                prop_assert!((m.transpose() * m).abs_diff_eq(Mat3::IDENTITY, 3e-6), "{m}");
                prop_assert!((m.determinant() - 1.0).abs() < 3e-6);
            }
        }
        Ok(())
    }

    proptest! {
        #[test]
        fn eight_at_once_are_the_same_as_one_by_one(
            numbers in prop::collection::vec(prop::array::uniform9(-2.0..2.0f64), LANES),
            near in 0..5usize,
        ) {
            let matrices: [Mat3; LANES] = std::array::from_fn(|lane| {
                let mut m = Mat3::from_cols_array(&numbers[lane]);
                match (near + lane) % 5 {
                    1 => m = Mat3::IDENTITY + m * 1e-4, // nearly equal values
                    2 => m.z_axis = m.x_axis * 0.5,     // rank 2
                    3 => m = crate::math::outer(m.x_axis, m.y_axis), // rank 1
                    _ => {}
                }
                m
            });
            check(matrices)?;
        }
    }

    #[test]
    fn diagonal_zero_and_turned_matrices_have_their_factors() {
        let diagonal = |x: Real, y: Real, z: Real| Mat3::from_diagonal(crate::math::Vec3::new(x, y, z));
        let turned = Mat3::from_rotation_x(1.0) * diagonal(3.0, 3.0, -3.0) * Mat3::from_rotation_y(2.0);
        check([
            Mat3::ZERO,
            Mat3::IDENTITY,
            diagonal(1.0, 2.0, 3.0),
            diagonal(-1.0, -1.0, -1.0),
            diagonal(0.0, 0.0, 5.0),
            diagonal(100.0, 1e-3, 1e-3),
            turned,
            Mat3::from_rotation_z(0.3),
        ])
        .expect("the factors of the plain version");
    }
}
