//! Rotation of a 3x3 matrix, warm-started, eight at a time.

use super::{Lane, Mat3, Mat3x8, Quat, Quatx8, Real, Vec3, Vec3x8, trace};

/// Iterations after which a rotation is taken as it is; warm-started ones need one to three.
const MAX_ITERATIONS: usize = 40;
/// Turns [rad] below which the next iterate is taken: Newton's, which leaves a quarter of the turn's cube and 1e-4 of it (the
/// regularisation), so 1e-6, and gradient steps.
const NEWTON_ENDS: f32 = 5e-3;
const GRADIENT_ENDS: f32 = 3e-4;
/// The same in double precision: the cube is its rounding.
const NEAR_ENDS: Real = 1e-5;
/// Minors of the Newton matrix that make sure of its maximum; those of a rotation are 2, 4 and 8.
const CLEAR: Real = 0.1;
/// Regularisation of the Newton matrix relative to its trace: holds the spin that a rod leaves undetermined.
const REGULARISATION: f32 = 1e-4;

/// Polar rotation R of A (det R = +1 also for inverted A): the rotation that maximises tr(RᵀA).
///
/// Newton's method on the rotation group from the previous rotation `q`:
///   ω = (tr(S) I - S)⁻¹ Σ_k r_k × a_k,  S = sym(RᵀA) turned to the world,  R ← exp(ω) R.
/// Where that matrix is not positive definite (far from the solution), the gradient step of Müller et al. 2016,
///   ω = Σ_k r_k × a_k / |Σ_k r_k · a_k|,
/// is taken instead. A coplanar or collinear A is fine: what it leaves undetermined stays as in `q`.
#[inline]
pub fn polar_rotation(a: Mat3x8, q: Quatx8) -> (Quatx8, Mat3x8) {
    let mut q = q;
    // The rotation does not depend on the scale of A; products of three of its entries must not underflow.
    let size = a.norm_squared();
    let a = a.scale(size.simd_gt(Lane::ZERO).select(Lane::ONE / size.sqrt(), Lane::ONE));
    for _ in 0..MAX_ITERATIONS {
        let r = q.matrix();
        let (omega, ends) = turn(a, r);
        let half = omega * Lane::splat(0.5);
        // exp(ω) by its Cayley form (1, ω/2): a rotation by 2 atan(|ω|/2), equal to |ω| to third order.
        let dq = Quatx8 { x: half.x, y: half.y, z: half.z, w: Lane::ONE };
        q = dq.mul_quat(q).normalize();
        if omega.dot(omega).simd_lt(ends * ends).all() {
            break;
        }
    }
    (q, q.matrix())
}

/// The turn ω that brings R towards the rotation of A, and the size below which no other need follow.
#[inline(always)]
fn turn(a: Mat3x8, r: Mat3x8) -> (Vec3x8, Lane) {
    let tiny = Lane::splat(1e-30);
    let gradient = r.c[0].cross(a.c[0]) + r.c[1].cross(a.c[1]) + r.c[2].cross(a.c[2]);
    // S = A Rᵀ in world axes, symmetric at the solution.
    let mut s = Mat3x8::ZERO;
    for k in 0..3 {
        s.add_outer(a.c[k], r.c[k]);
    }
    let s = s.symmetric_part();
    let tr = s.trace();
    let delta = tr.abs() * Lane::splat(REGULARISATION);
    // H = tr(S) I - S + delta I
    let (hxx, hyy, hzz) = (tr - s.xx + delta, tr - s.yy + delta, tr - s.zz + delta);
    let (hxy, hxz, hyz) = (-s.xy, -s.xz, -s.yz);
    let (cxx, cxy, cxz) = (hyy * hzz - hyz * hyz, hxz * hyz - hxy * hzz, hxy * hyz - hxz * hyy);
    let (cyy, cyz, czz) = (hxx * hzz - hxz * hxz, hxy * hxz - hxx * hyz, hxx * hyy - hxy * hxy);
    let det = hxx * cxx + hxy * cxy + hxz * cxz;
    // Sylvester: H is positive definite. The margin keeps near-singular ones with the gradient step.
    let margin = tr.abs() * Lane::splat(1e-6);
    let definite = hxx.simd_gt(margin) & czz.simd_gt(margin * margin) & det.simd_gt(margin * margin * margin);
    let inv = Lane::ONE / (definite.select(det, Lane::ONE));
    let newton = Vec3x8 {
        x: (cxx * gradient.x + cxy * gradient.y + cxz * gradient.z) * inv,
        y: (cxy * gradient.x + cyy * gradient.y + cyz * gradient.z) * inv,
        z: (cxz * gradient.x + cyz * gradient.y + czz * gradient.z) * inv,
    };
    let muller = gradient * (Lane::ONE / (tr.abs() + tiny));
    let pick = |n: Lane, m: Lane| definite.select(n, m);
    let omega =
        Vec3x8 { x: pick(newton.x, muller.x), y: pick(newton.y, muller.y), z: pick(newton.z, muller.z) };
    let ends = pick(Lane::splat(NEWTON_ENDS), Lane::splat(GRADIENT_ENDS));
    // At most about a right angle a time.
    let (limit, squared) = (Lane::splat(2.0), omega.dot(omega));
    let long = squared.simd_gt(limit * limit);
    if long.none() {
        return (omega, ends);
    }
    (omega * long.select(limit / long.select(squared.sqrt(), Lane::ONE), Lane::ONE), ends)
}

/// The polar rotation of A in double precision, if Newton's method finds it from a rotation near it.
pub fn polar_rotation_near(a: Mat3, q: Quat) -> Option<Mat3> {
    let mut q = q;
    for _ in 0..4 {
        let r = Mat3::from_quat(q);
        let s = a * r.transpose();
        let s = (s + s.transpose()) * 0.5;
        let h = Mat3::from_diagonal(Vec3::splat(trace(s))) - s;
        // all stretches well positive: no other rotation comes near
        let (minor, det) = (h.x_axis.x * h.y_axis.y - h.x_axis.y * h.y_axis.x, h.determinant());
        if !(h.x_axis.x > CLEAR && minor > CLEAR && det > CLEAR) {
            return None;
        }
        let gradient = r.x_axis.cross(a.x_axis) + r.y_axis.cross(a.y_axis) + r.z_axis.cross(a.z_axis);
        let omega = h.inverse() * gradient;
        let half = 0.5 * omega;
        q = (Quat::from_xyzw(half.x, half.y, half.z, 1.0) * q).normalize();
        if omega.length_squared() < NEAR_ENDS * NEAR_ENDS {
            return Some(Mat3::from_quat(q));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::svd;

    fn random(seed: &mut u64) -> f64 {
        *seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((*seed >> 33) as f64) / (1u64 << 31) as f64 * 2.0 - 1.0
    }

    fn random_rotation(seed: &mut u64, degrees: f64) -> Mat3 {
        let axis = Vec3::new(random(seed), random(seed), random(seed)).normalize();
        Mat3::from_quat(Quat::from_axis_angle(axis, degrees.to_radians()))
    }

    fn first(m: Mat3x8) -> Mat3 {
        let v = |c: Vec3x8| {
            Vec3::new(c.x.as_array()[0] as f64, c.y.as_array()[0] as f64, c.z.as_array()[0] as f64)
        };
        Mat3::from_cols(v(m.c[0]), v(m.c[1]), v(m.c[2]))
    }

    fn distance(a: Mat3, b: Mat3) -> f64 {
        let d = a - b;
        (d.x_axis.length_squared() + d.y_axis.length_squared() + d.z_axis.length_squared()).sqrt()
    }

    #[test]
    fn rotation_equals_that_of_the_svd_also_for_inverted_matrices() {
        let seed = &mut 7;
        for case in 0..2000 {
            let (u, v) = (random_rotation(seed, 170.0), random_rotation(seed, 120.0));
            let s3 = if case % 2 == 0 { 0.5 } else { -0.3 };
            let sigma = Vec3::new(1.3 + 0.2 * random(seed), 0.9 + 0.1 * random(seed), s3);
            let a = u * Mat3::from_diagonal(sigma) * v.transpose();
            let d = svd(a);
            let expected = d.u * d.v.transpose();
            let (_, r) = polar_rotation(Mat3x8::splat(a), Quatx8::splat(Quat::IDENTITY));
            assert!(
                distance(first(r), expected) < 2e-6 * 3.0,
                "case {case}: {}",
                distance(first(r), expected)
            );
        }
    }

    #[test]
    fn a_rotation_near_by_is_that_of_the_svd_or_none() {
        let seed = &mut 11;
        let (mut found, cases) = (0, 2000);
        for _ in 0..cases {
            let (u, v) = (random_rotation(seed, 170.0), random_rotation(seed, 120.0));
            let sigma = Vec3::new(1.3 + 0.4 * random(seed), 0.9 + 0.4 * random(seed), 0.5 + random(seed));
            let a = u * Mat3::from_diagonal(sigma) * v.transpose();
            let d = svd(a);
            let expected = d.u * d.v.transpose();
            let start = Quat::from_mat3(&(expected * random_rotation(seed, 20.0)));
            if let Some(r) = polar_rotation_near(a, start) {
                found += 1;
                assert!(distance(r, expected) < 1e-12, "{sigma}: {}", distance(r, expected));
            }
        }
        assert!(found > cases / 2, "{found} of {cases}");
    }

    #[test]
    fn a_collinear_neighbourhood_keeps_its_spin_and_follows_its_direction() {
        let e = Vec3::new(0.3, 0.8, -0.2).normalize();
        let mut q = Quatx8::splat(Quat::from_rotation_arc(Vec3::X, e));
        for k in 1..=200 {
            let turned = Mat3::from_rotation_z(0.01 * k as f64) * e;
            let a = crate::math::outer(turned, Vec3::X);
            (q, _) = polar_rotation(Mat3x8::splat(a), q);
            assert!((q.get(0) * Vec3::X - turned).length() < 2e-6 * 10.0);
        }
    }

    #[test]
    fn a_zero_matrix_keeps_the_previous_rotation() {
        let q = Quat::from_rotation_y(0.4);
        let (got, _) = polar_rotation(Mat3x8::ZERO, Quatx8::splat(q));
        assert!(got.get(3).dot(q).abs() > 1.0 - 1e-6);
    }
}
