//! Singular values of a 3x3 matrix, with the signed convention det U = det V = 1.

use super::{Mat3, Real, Vec3};

/// A = U diag(sigma) Vᵀ, sigma sorted by falling magnitude, det U = det V = +1: only the last value may be negative.
#[derive(Clone, Copy, Debug)]
pub struct Svd {
    pub u: Mat3,
    pub sigma: Vec3,
    pub v: Mat3,
}

/// Singular value decomposition by one-sided Jacobi rotations (Hestenes): accurate for tiny values too.
pub fn svd(a: Mat3) -> Svd {
    let mut b = [a.x_axis, a.y_axis, a.z_axis]; // columns of A V
    let mut v = [Vec3::X, Vec3::Y, Vec3::Z];
    for _ in 0..30 {
        let mut rotated = false;
        for (p, q) in [(0, 1), (0, 2), (1, 2)] {
            let (alpha, beta, gamma) = (b[p].length_squared(), b[q].length_squared(), b[p].dot(b[q]));
            if gamma.abs() <= 1e-16 * (alpha * beta).sqrt() || gamma == 0.0 {
                continue;
            }
            rotated = true;
            let zeta = (beta - alpha) / (2.0 * gamma);
            let t = zeta.signum() / (zeta.abs() + (1.0 + zeta * zeta).sqrt());
            let c = 1.0 / (1.0 + t * t).sqrt();
            let s = c * t;
            (b[p], b[q]) = (b[p] * c - b[q] * s, b[p] * s + b[q] * c);
            (v[p], v[q]) = (v[p] * c - v[q] * s, v[p] * s + v[q] * c);
        }
        if !rotated {
            break;
        }
    }
    let mut order = [0, 1, 2];
    order.sort_by(|&p, &q| b[q].length_squared().total_cmp(&b[p].length_squared()));
    signed(order.map(|k| b[k]), order.map(|k| v[k]))
}

/// Orthonormal U from the columns U diag(sigma), and the signs that make both determinants +1.
fn signed(b: [Vec3; 3], v: [Vec3; 3]) -> Svd {
    let mut v = Mat3::from_cols(v[0], v[1], v[2]);
    let mut sigma = Vec3::new(b[0].length(), b[1].length(), b[2].length());
    let largest = sigma.x;
    let u0 = if largest > 0.0 { b[0] / sigma.x } else { Vec3::X };
    let rest = b[1] - u0 * u0.dot(b[1]);
    let u1 = if sigma.y > 1e-14 * largest && largest > 0.0 && rest.length() > 0.0 {
        rest.normalize()
    } else {
        u0.any_orthonormal_vector()
    };
    let u2 = u0.cross(u1); // det U = +1
    if v.determinant() < 0.0 {
        v.z_axis = -v.z_axis;
        sigma.z = -sigma.z;
    }
    if u2.dot(b[2]) < 0.0 {
        sigma.z = -sigma.z;
    }
    Svd { u: Mat3::from_cols(u0, u1, u2), sigma, v }
}

/// Moore-Penrose pseudo-inverse of a symmetric matrix, its rank, and the projector onto its null space.
/// Singular values below `tolerance` of the largest are dropped.
pub fn pseudo_inverse(a: Mat3, tolerance: Real) -> (Mat3, usize, Mat3) {
    let Svd { u, sigma, v } = svd(a);
    let (mut inverse, mut null, mut rank) = (Mat3::ZERO, Mat3::ZERO, 0);
    for k in 0..3 {
        if sigma[k].abs() > tolerance * sigma.x && sigma.x > 0.0 {
            inverse += super::outer(v.col(k), u.col(k)) * (1.0 / sigma[k]);
            rank += 1;
        } else {
            null += super::outer(v.col(k), v.col(k));
        }
    }
    (inverse, rank, null)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn close(a: Mat3, b: Mat3, scale: f64) -> bool {
        a.abs_diff_eq(b, 1e-13 * scale.max(1e-300))
    }

    proptest! {
        #[test]
        fn the_factors_multiply_back_and_are_rotations(m in prop::array::uniform9(-10.0..10.0f64), flat in 0..3usize) {
            let mut a = Mat3::from_cols_array(&m);
            if flat > 0 { a.z_axis = a.x_axis * 0.5; } // rank 2
            if flat > 1 { a.y_axis = a.x_axis * -2.0; } // rank 1
            let d = svd(a);
            prop_assert!(close(d.u * Mat3::from_diagonal(d.sigma) * d.v.transpose(), a, 100.0));
            prop_assert!(close(d.u.transpose() * d.u, Mat3::IDENTITY, 10.0));
            prop_assert!(close(d.v.transpose() * d.v, Mat3::IDENTITY, 10.0));
            prop_assert!((d.u.determinant() - 1.0).abs() < 1e-12 && (d.v.determinant() - 1.0).abs() < 1e-12);
            prop_assert!(d.sigma.x >= d.sigma.y && d.sigma.y >= d.sigma.z.abs() && d.sigma.y >= 0.0);
            prop_assert!(d.sigma.z * a.determinant() >= -1e-10);
        }
    }

    #[test]
    fn pseudo_inverse_of_a_plane_inverts_within_it_and_names_its_normal() {
        let (t1, t2) = (Vec3::new(1.0, 2.0, 2.0) / 3.0, Vec3::new(2.0, 1.0, -2.0) / 3.0);
        let a = crate::math::outer(t1, t1) * 4.0 + crate::math::outer(t2, t2) * 0.5;
        let (inverse, rank, null) = pseudo_inverse(a, 1e-6);
        assert_eq!(rank, 2);
        assert!((inverse * t1 - t1 / 4.0).length() < 1e-14);
        let n = t1.cross(t2);
        assert!(close(null, crate::math::outer(n, n), 10.0));
    }
}
