//! What holds for every law.

use super::*;
use crate::math::{Quat, double_dot, outer, trace};

const MU: Real = 0.7;
const LAMBDA: Real = 1.3;

fn every_law() -> Vec<Law> {
    let bounded = [0.15, 0.6].map(|min_stretch| Law::NeoHookeanBounded { min_stretch });
    let rivlin = [0.0, 0.6].map(|second_invariant| Law::MooneyRivlin { second_invariant });
    Law::ALL.into_iter().chain(bounded).chain(rivlin).collect()
}

/// The same numbers in every run, from -1 to 1.
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> Real {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as Real / (1u64 << 30) as Real - 1.0
    }

    fn matrix(&mut self) -> Mat3 {
        matrix_of(std::array::from_fn(|_| self.next()))
    }

    fn rotation(&mut self) -> Mat3 {
        let [x, y, z, w] = std::array::from_fn(|_| self.next());
        Mat3::from_quat(Quat::from_xyzw(x, y, z, w).normalize())
    }
}

fn matrix_of(numbers: [Real; 9]) -> Mat3 {
    Mat3::from_cols_array(&numbers)
}

/// Singular values: moderate, nearly equal, equal, compressed, inverted.
fn stretches() -> Vec<Vec3> {
    let mut noise = Noise(7);
    let mut all: Vec<Vec3> =
        (0..40).map(|_| Vec3::new(noise.next(), noise.next(), noise.next()) + 1.1).collect();
    all.retain(|s| s.min_element() > 0.1);
    for near in [0.0, 1e-12, 1e-9, 1e-7, 1e-6, 3e-5, 1e-3] {
        all.push(Vec3::new(1.3, 0.8 + near, 0.8));
        all.push(Vec3::new(0.5 + near, 0.5, 0.5 - near));
        all.push(Vec3::new(1.0 + near, 1.0, 1.0));
    }
    all.extend([
        Vec3::new(1.4, 0.9, 0.2),
        Vec3::new(1.1, 0.25, 0.2),
        Vec3::new(2.5, 0.5, 0.3),
        Vec3::new(1.1, 0.9, -0.3),
        Vec3::new(1.1, 0.25, -0.1),
        Vec3::new(0.8, 0.7, -0.4),
    ]);
    all
}

/// Deformation gradients with these stretches in odd directions, with the law, where it allows them.
fn for_each_state(mut check: impl FnMut(Law, Vec3, Mat3)) {
    let mut noise = Noise(3);
    for sigma in stretches() {
        let F = noise.rotation() * Mat3::from_diagonal(sigma) * noise.rotation();
        for law in every_law().into_iter().filter(|law| law.allows(sigma)) {
            check(law, sigma, F);
        }
    }
}

fn largest(m: Mat3) -> Real {
    m.to_cols_array().iter().fold(0.0, |a, b| a.max(b.abs()))
}

fn energy(law: Law, F: Mat3) -> Real {
    law.energy(MU, LAMBDA, svd(F).sigma)
}

fn piola(law: Law, F: Mat3) -> Mat3 {
    first_piola(law, MU, LAMBDA, F)
}

#[test]
fn stress_is_the_derivative_of_the_energy() {
    let mut noise = Noise(1);
    for_each_state(|law, sigma, F| {
        let (P, dF, eps) = (piola(law, F), noise.matrix(), 1e-5);
        let slope = (energy(law, F + dF * eps) - energy(law, F - dF * eps)) / (2.0 * eps);
        // Third derivatives of a barrier grow as σ⁻³: eps² of them, and rounding over eps.
        let error = (slope - double_dot(P, dF)).abs();
        assert!(error < 1e-6 * (1.0 + largest(P)), "{law:?} {sigma}: {slope} {}", double_dot(P, dF));
    });
}

#[test]
fn tangent_is_the_derivative_of_the_stress() {
    let mut noise = Noise(2);
    for_each_state(|law, sigma, F| {
        let (tangent, dF, eps) = (Tangent::new(law, MU, LAMBDA, F, false), noise.matrix(), 1e-5);
        let slope = (piola(law, F + dF * eps) - piola(law, F - dF * eps)) * (1.0 / (2.0 * eps));
        let dP = tangent.apply(dF);
        assert!(largest(slope - dP) < 1e-5 * (1.0 + largest(dP)), "{law:?} {sigma}: {slope} {dP}");
    });
}

#[test]
fn tangent_is_smooth_where_stretches_meet() {
    for law in every_law() {
        let F = |d: Real| Mat3::from_diagonal(Vec3::new(1.2, 0.8 + d, 0.8));
        let dF = matrix_of([0.1, 0.7, -0.4, 0.9, -0.3, 0.8, 0.2, -0.6, 0.5]);
        let at = |d: Real| Tangent::new(law, MU, LAMBDA, F(d), false).apply(dF);
        for d in [1e-15, 1e-12, 1e-9, 0.99e-5, 1.01e-5] {
            // The tangent itself changes with d.
            assert!(largest(at(d) - at(0.0)) < 20.0 * d + 1e-10, "{law:?} {d}");
        }
    }
}

#[test]
fn stress_rotates_with_the_body_and_ignores_turns_of_the_rest_state() {
    let mut noise = Noise(4);
    for_each_state(|law, sigma, F| {
        let (P, Q) = (piola(law, F), noise.rotation());
        let scale = 1e-11 * (1.0 + largest(P)) / sigma.z.abs();
        assert!(largest(piola(law, Q * F) - Q * P) < scale, "{law:?} {sigma}");
        assert!(largest(piola(law, F * Q) - P * Q) < scale, "{law:?} {sigma}");
    });
}

#[test]
fn rest_has_neither_energy_nor_stress() {
    let mut noise = Noise(5);
    for law in every_law() {
        for F in [Mat3::IDENTITY, noise.rotation(), noise.rotation()] {
            assert!(energy(law, F).abs() < 1e-14 && largest(piola(law, F)) < 1e-14, "{law:?}");
        }
    }
}

#[test]
fn small_strains_see_the_linear_law() {
    let mut noise = Noise(6);
    for law in every_law() {
        let (dF, R) = (noise.matrix(), noise.rotation());
        let strain = (dF + dF.transpose()) * 0.5;
        let linear = strain * (2.0 * MU) + Mat3::IDENTITY * (LAMBDA * trace(strain));
        let dP = Tangent::new(law, MU, LAMBDA, R, false).apply(R * dF);
        assert!(largest(dP - R * linear) < 1e-12, "{law:?}");
        assert!((law.wave_stiffness(MU, LAMBDA, Vec3::ONE) - (LAMBDA + 2.0 * MU)).abs() < 1e-12, "{law:?}");
    }
}

#[test]
fn projected_tangent_is_positive_and_leaves_a_positive_one_alone() {
    let mut noise = Noise(8);
    for_each_state(|law, sigma, F| {
        let (full, projected) =
            (Tangent::new(law, MU, LAMBDA, F, false), Tangent::new(law, MU, LAMBDA, F, true));
        let mut positive = true;
        for _ in 0..50 {
            let dF = noise.matrix();
            let (with, without) = (double_dot(projected.apply(dF), dF), double_dot(full.apply(dF), dF));
            let rounding = 1e-12 * (1.0 + largest(full.apply(dF)));
            assert!(with > -rounding && with >= without - rounding, "{law:?} {sigma}: {with} {without}");
            positive &= full.twist.min_element() > 0.0 && full.flip.min_element() > 0.0;
        }
        if positive && largest(full.stretch - projected.stretch) < 1e-12 {
            let dF = noise.matrix();
            assert!(largest(full.apply(dF) - projected.apply(dF)) < 1e-10 * largest(full.apply(dF)));
        }
    });
}

#[test]
fn no_plane_wave_is_stiffer_than_twice_the_wave_stiffness() {
    let mut noise = Noise(9);
    for_each_state(|law, sigma, F| {
        let (tangent, bound) =
            (Tangent::new(law, MU, LAMBDA, F, false), law.wave_stiffness(MU, LAMBDA, sigma));
        for _ in 0..50 {
            let [a, n] = [0; 2].map(|_| Vec3::new(noise.next(), noise.next(), noise.next()).normalize());
            let stiffness = double_dot(tangent.apply(outer(a, n)), outer(a, n));
            assert!(stiffness < 2.0 * bound + 1e-9, "{law:?} {sigma}: {stiffness} {bound}");
        }
    });
}

#[test]
fn st_venant_kirchhoff_loses_its_compressive_stiffness_at_one_over_root_three() {
    let stiffness =
        |sigma: Real| Law::StVenantKirchhoff.stiffness(MU, 0.0, Vec3::new(1.0, 1.0, sigma)).z_axis.z;
    let limit = 1.0 / (3.0 as Real).sqrt();
    assert!(stiffness(limit).abs() < 1e-12 && stiffness(limit + 0.01) > 0.0 && stiffness(limit - 0.01) < 0.0);
}

#[test]
fn bounded_law_is_neo_hookean_above_its_bound_and_linear_where_inverted() {
    let (min_stretch, sigma) = (0.3, |z: Real| Vec3::new(1.2, 0.9, z));
    let bounded = Law::NeoHookeanBounded { min_stretch };
    let stress = |law: Law, z: Real| law.stress(MU, LAMBDA, sigma(z));
    let difference = stress(bounded, 0.3) - stress(Law::NeoHookean, 0.3);
    assert!(difference.abs().max_element() < 1e-12);
    // The stress is C¹ at the bound: both slopes are the same.
    let stiffness = |law: Law, z: Real| law.stiffness(MU, LAMBDA, sigma(z)).z_axis.z;
    assert!((stiffness(bounded, 0.3 - 1e-9) - stiffness(Law::NeoHookean, 0.3)).abs() < 1e-6);
    for z in [-0.1, -0.5, -0.9] {
        let line = stress(bounded, 0.0).z + stiffness(bounded, 0.0) * z;
        assert!((stress(bounded, z).z - line).abs() < 1e-12 * line.abs(), "{z}");
    }
}

#[test]
fn bounded_law_has_a_lowest_energy_and_a_highest_stiffness() {
    let mut noise = Noise(10);
    for min_stretch in [0.1, 0.3, 0.8] {
        let law = Law::NeoHookeanBounded { min_stretch };
        let lowest = -1.5 * MU - MU * MU / (2.0 * LAMBDA);
        for _ in 0..10000 {
            let sigma = Vec3::new(noise.next(), noise.next(), noise.next()) * 50.0;
            assert!(law.energy(MU, LAMBDA, sigma) >= lowest, "{sigma}");
            let inverted = Vec3::new(1.1, 1.0, -sigma.z.abs());
            let own = law.stiffness(MU, LAMBDA, inverted).z_axis.z;
            assert!(own < MU + 2.3 * LAMBDA / min_stretch.powi(2), "{sigma}: {own}");
        }
    }
}

#[test]
fn inverted_states_cost_more_the_further_they_are() {
    for law in every_law() {
        let energy = |z: Real| law.energy(MU, LAMBDA, Vec3::new(1.0, 1.0, z));
        if !law.allows(Vec3::new(1.0, 1.0, -0.1)) {
            assert_eq!((energy(0.0), energy(-0.1)), (Real::INFINITY, Real::INFINITY), "{law:?}");
            assert!(law.stress(MU, LAMBDA, Vec3::new(1.0, 1.0, -0.1)).is_nan());
        } else if law != Law::StVenantKirchhoff {
            assert!(energy(-0.9) > energy(-0.3) && energy(-0.3) > energy(0.2), "{law:?}");
        }
    }
}
