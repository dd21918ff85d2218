//! The longest stable step of explicit integration, from the stiffness the particles really have.

use super::{Deformation, ElasticBody};
use crate::material::Law;
use crate::math::{Real, Vec3, max_with_index, sum};

/// Power iterations: the largest eigenvalue is then known to a few per cent.
const ITERATIONS: usize = 40;
/// Part of the linear limit 2/omega that is used: covers the iteration's error and geometric stiffening.
const SAFETY: Real = 0.8;

/// The largest frequency of a body about its rest state.
#[derive(Clone, Copy, Debug)]
pub struct StableStep {
    /// Largest angular frequency omega [rad/s].
    pub frequency: Real,
    /// The particle that moves most in that mode.
    pub particle: usize,
}

impl StableStep {
    /// Symplectic Euler is stable for dt < 2/omega; omega² grows with the stiffness over that at rest.
    pub fn time_step(&self, stiffening: Real) -> Real {
        SAFETY * 2.0 / (self.frequency * stiffening.sqrt())
    }

    /// Power iteration on M⁻¹K with the body's own force: K p ≈ -f(X + eps p)/eps.
    pub fn estimate(body: &mut ElasticBody, masses: &[Real]) -> StableStep {
        let n = masses.len();
        let spacing = body.rest.volumes[n / 2].cbrt();
        // Displacements of a hundredth of a spacing: large against rounding, small against the geometry.
        let eps = 0.01 * spacing;
        let mut mode: Vec<Vec3> = (0..n).map(scatter).collect();
        let mut moved = vec![Vec3::ZERO; n];
        let mut lambda: Real = 0.0;
        for _ in 0..ITERATIONS {
            let (largest, _) = max_with_index(n, |i| mode[i].length_squared());
            if largest <= 0.0 || !largest.is_finite() {
                break;
            }
            mode.iter_mut().for_each(|p| *p /= largest.sqrt());
            for (x, (rest, p)) in moved.iter_mut().zip(body.rest.positions.iter().zip(&mode)) {
                *x = *rest + *p * eps;
            }
            body.compute_forces(&moved, &[]);
            let before = sum(n, 0.0, |i| masses[i] * mode[i].length_squared());
            for (p, (f, m)) in mode.iter_mut().zip(body.forces.iter().zip(masses)) {
                *p = f.as_dvec3() * (-1.0 / (m * eps));
            }
            let after = sum(n, 0.0, |i| masses[i] * mode[i].length_squared());
            lambda = lambda.max((after / before).sqrt());
        }
        let (_, particle) = max_with_index(n, |i| mode[i].length_squared());
        body.forget_rotations();
        StableStep { frequency: lambda.max(0.0).sqrt(), particle }
    }
}

impl Deformation {
    /// Largest squared stretch: |F|² = σ1² + σ2² + σ3², and with the other two near one it is about |F|² - 2.
    pub fn max_stretch_squared(&self) -> Real {
        (self.max_norm_squared as Real - 2.0).max(1.0)
    }

    /// Stiffness of the most deformed particle over that at rest, at least 1; infinite where the law forbids F.
    /// St Venant-Kirchhoff grows as (3 stretch² - 1)/2, what laws of the singular values have is seen by their stress.
    pub fn stiffening(&self, law: Law) -> Real {
        match law {
            Law::Corotated => 1.0,
            Law::StVenantKirchhoff => (1.5 * self.max_stretch_squared() - 0.5).max(1.0),
            Law::NeoHookean
            | Law::NeoHookeanQuadratic
            | Law::NeoHookeanBounded { .. }
            | Law::MooneyRivlin { .. } => self.max_stiffening as Real,
        }
    }
}

/// A fixed, rough direction for particle i: overlaps with every mode.
fn scatter(i: usize) -> Vec3 {
    let mut bits = (i as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mut next = || {
        bits ^= bits >> 29;
        bits = bits.wrapping_mul(0xBF58_476D_1CE4_E5B9);
        (bits >> 40) as Real / (1u64 << 23) as Real - 1.0
    };
    Vec3::new(next(), next(), next())
}
