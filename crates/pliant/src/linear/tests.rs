//! Laws of the preconditioners on the systems they are for: plain loops over jittered bodies.

use super::*;
use crate::kernel::{Kernel, KernelKind};
use crate::math::{Mat3, Real, Vec3, outer, pseudo_inverse, trace};
use crate::neighbors::RestNeighbors;
use glam::Mat3A;
use rayon::prelude::*;

/// M⁻¹ = D⁻¹ + P (V-cycle) Pᵀ: a preconditioner of single particles and the grids.
struct WithGrids<D, B> {
    particles: D,
    grids: Multigrid<B>,
}

impl<D: Preconditioner, B: Block> Preconditioner for WithGrids<D, B> {
    fn apply(&mut self, r: &[glam::Vec3], z: &mut [glam::Vec3]) {
        self.particles.apply(r, z);
        self.grids.add(r, z);
    }
}

const SPACING: Real = 0.1;
const VOLUME: Real = SPACING * SPACING * SPACING;
const DENSITY: Real = 1000.0;

/// Stretching system [K21] or corotated system [P18].
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Stretching,
    Corotated,
}

const KINDS: [Kind; 2] = [Kind::Stretching, Kind::Corotated];

/// M + dt² K of a body, with the zero-energy control of alpha = 0.1.
struct System {
    kind: Kind,
    rest: Vec<Vec3>,
    neighbors: RestNeighbors,
    corrections: Vec<Mat3>,
    rotations: Vec<Mat3>,
    held: Vec<bool>,
    mass: Real,
    /// dt² mu, dt² lambda, dt² z.
    mu: Real,
    lambda: Real,
    z: Real,
}

/// Numbers in -1..1 that look random.
fn noise(i: usize) -> Real {
    let mut h = (i as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    h ^= h >> 31;
    h = h.wrapping_mul(0xBF58_476D_1CE4_E5B9);
    (h >> 40) as Real / (1 << 23) as Real - 1.0
}

fn vectors(n: usize, seed: usize) -> Vec<glam::Vec3> {
    let part = |k: usize| noise(k + seed) as f32;
    (0..n).map(|i| glam::Vec3::new(part(3 * i), part(3 * i + 1), part(3 * i + 2))).collect()
}

impl System {
    /// A box of particles, jittered, twisted, held at one end, of stiffness number S = dt² E / (rho s²).
    fn new(kind: Kind, size: [usize; 3], stiffness: Real) -> Self {
        let count = size.iter().product();
        let at = |i: usize| [i / (size[1] * size[2]), i / size[2] % size[1], i % size[2]].map(|c| c as Real);
        let jitter = |i: usize| 0.05 * Vec3::new(noise(3 * i), noise(3 * i + 1), noise(3 * i + 2));
        let rest: Vec<Vec3> = (0..count).map(|i| (Vec3::from(at(i)) + jitter(i)) * SPACING).collect();
        let kernel = Kernel::new(KernelKind::WendlandC2, 2.0 * SPACING);
        let neighbors = RestNeighbors::build(&rest, &vec![VOLUME; count], kernel);
        let corrections = neighbors.moments(&rest).iter().map(|&m| pseudo_inverse(m, 0.05).0).collect();
        let length = size[0] as Real * SPACING;
        let turn = |x: &Vec3| Mat3::from_rotation_x(x.x / length) * Mat3::from_rotation_y(0.8 * x.x / length);
        let scaled_modulus = stiffness * DENSITY * SPACING * SPACING;
        let nu = 0.3;
        System {
            kind,
            rotations: rest.iter().map(turn).collect(),
            held: rest.iter().map(|x| size[0] > 4 && x.x < 0.5 * SPACING).collect(),
            rest,
            neighbors,
            corrections,
            mass: DENSITY * VOLUME,
            mu: scaled_modulus / (2.0 * (1.0 + nu)),
            lambda: scaled_modulus * nu / ((1.0 + nu) * (1.0 - 2.0 * nu)),
            z: 0.1 * scaled_modulus / 8.0,
        }
    }

    /// V P(dF) of particle k.
    fn stress(&self, k: usize, gradient: Mat3) -> Mat3 {
        let (rotation, local) = (self.rotations[k], self.rotations[k].transpose() * gradient);
        VOLUME
            * match self.kind {
                Kind::Stretching => gradient * (2.0 * self.mu),
                Kind::Corotated => {
                    let strain = 0.5 * (local + local.transpose());
                    let pressure = Mat3::from_diagonal(Vec3::splat(self.lambda * trace(strain)));
                    rotation * (strain * (2.0 * self.mu) + pressure)
                }
            }
    }

    /// Diagonal block of particle i, as if it were free.
    fn block(&self, i: usize) -> Mat3 {
        let mut k = Mat3::ZERO;
        let mut add = |j: usize, b: Vec3, sign: Real| {
            let h = self.rotations[j] * (self.corrections[j] * b);
            k += VOLUME
                * match self.kind {
                    Kind::Stretching => Mat3::from_diagonal(Vec3::splat(2.0 * self.mu * h.length_squared())),
                    Kind::Corotated => {
                        let shear = Mat3::from_diagonal(Vec3::splat(self.mu * h.length_squared()));
                        shear + outer(h, h) * (self.mu + self.lambda)
                    }
                };
            k += Mat3::from_diagonal(Vec3::splat(self.z * (sign - b.dot(self.corrections[j] * b))));
        };
        let mut sum = Vec3::ZERO;
        self.neighbors.for_each_of(i, |j, b, beta| {
            sum += b;
            add(j, b, 2.0 * beta);
        });
        add(i, sum, 0.0);
        k + Mat3::from_diagonal(Vec3::splat(self.mass))
    }

    fn load(&self) -> Vec<glam::Vec3> {
        let wave = |x: &Vec3| Vec3::new((3.0 * x.y).sin(), -9.81, (5.0 * x.x + x.z).cos());
        let load = |(i, x): (usize, &Vec3)| wave(x) + 0.3 * noise(i) * Vec3::Y;
        let held = |(load, &held): (Vec3, &bool)| if held { Vec3::ZERO } else { load };
        self.rest.iter().enumerate().map(load).zip(&self.held).map(held).map(|b| b.as_vec3()).collect()
    }

    fn diagonal(&self) -> BlockJacobi {
        let block = |i: usize| match self.held[i] {
            true => glam::Mat3::from_diagonal(glam::Vec3::splat(self.mass as f32)),
            false => self.block(i).as_mat3(),
        };
        BlockJacobi::new(&(0..self.rest.len()).map(block).collect::<Vec<_>>())
    }

    /// Mass of a particle, or what stands for it where it is held.
    fn mass_of(&self, i: usize) -> f32 {
        if self.held[i] { self.block(i).x_axis.x as f32 } else { self.mass as f32 }
    }

    fn scalar_grids(&self) -> Multigrid<f32> {
        let mut grids = Multigrid::new(&self.rest, SPACING, |i| self.held[i]);
        let stiffness = (2.0 * self.mu * VOLUME) as f32;
        grids.update(|i| ScalarPoint { mass: self.mass_of(i), stiffness });
        grids
    }

    fn corotated_grids(&self) -> Multigrid<Mat3A> {
        let mut grids = Multigrid::new(&self.rest, SPACING, |i| self.held[i]);
        let (mu, lambda) = ((self.mu * VOLUME) as f32, (self.lambda * VOLUME) as f32);
        let rotation = |i: usize| Mat3A::from(self.rotations[i].as_mat3());
        grids.update(|i| CorotatedPoint { mass: self.mass_of(i), mu, lambda, rotation: rotation(i) });
        grids
    }

    fn solve(&mut self, m: &mut impl Preconditioner) -> (usize, Vec<glam::Vec3>) {
        let b = self.load();
        let mut x = vec![glam::Vec3::ZERO; b.len()];
        let mut solver = ConjugateGradients::new(b.len());
        let solved = solver.solve(self, m, &b, &mut x, Tolerance::Relative(1e-4), 2_000);
        assert!(solved.converged, "{solved:?}");
        (solved.iterations, x)
    }

    fn solve_with_grids(&mut self) -> (usize, Vec<glam::Vec3>) {
        let particles = self.diagonal();
        match self.kind {
            Kind::Stretching => {
                let grids = self.scalar_grids();
                self.solve(&mut WithGrids { particles, grids })
            }
            Kind::Corotated => {
                let grids = self.corotated_grids();
                self.solve(&mut WithGrids { particles, grids })
            }
        }
    }
}

impl Operator for System {
    fn len(&self) -> usize {
        self.rest.len()
    }

    fn apply(&mut self, x: &[glam::Vec3], y: &mut [glam::Vec3]) {
        let v = |i: usize| x[i].as_dvec3();
        let stress = |k: usize| {
            let mut sum = Mat3::ZERO;
            self.neighbors.for_each_of(k, |j, b, _| sum += outer(v(j) - v(k), b));
            let gradient = sum * self.corrections[k];
            self.stress(k, gradient) * self.corrections[k] - gradient * self.z
        };
        let stresses: Vec<Mat3> = (0..x.len()).into_par_iter().with_min_len(256).map(stress).collect();
        y.par_iter_mut().with_min_len(256).enumerate().for_each(|(i, y)| {
            let mut force = Vec3::ZERO;
            self.neighbors.for_each_of(i, |j, b, beta| {
                force += (stresses[i] + stresses[j]) * b + 2.0 * self.z * beta * (v(j) - v(i));
            });
            *y = (self.mass * v(i) - if self.held[i] { Vec3::ZERO } else { force }).as_vec3();
        });
    }
}

fn dot(a: &[glam::Vec3], b: &[glam::Vec3]) -> Real {
    a.iter().zip(b).map(|(a, b)| a.as_dvec3().dot(b.as_dvec3())).sum()
}

/// r·M⁻¹s = s·M⁻¹r and r·M⁻¹r > 0.
fn assert_symmetric_and_positive(n: usize, m: &mut impl Preconditioner) {
    let (r, s) = (vectors(n, 1), vectors(n, 77_777));
    let mut z = vec![glam::Vec3::ZERO; n];
    m.apply(&r, &mut z);
    let (rr, sr) = (dot(&r, &z), dot(&s, &z));
    m.apply(&s, &mut z);
    let (ss, rs) = (dot(&s, &z), dot(&r, &z));
    // Single precision, some dozens of roundings.
    assert!((rs - sr).abs() < 1e-5 * (rr * ss).sqrt(), "{rs} {sr} {rr} {ss}");
    assert!(rr > 0.0 && ss > 0.0);
}

#[test]
fn the_operators_of_these_tests_have_the_diagonals_they_say() {
    for kind in KINDS {
        let mut system = System::new(kind, [6, 4, 5], 30.0);
        let (n, i) = (system.len(), 63);
        let mut x = vec![glam::Vec3::ZERO; n];
        x[i] = glam::Vec3::new(1.0, 2.0, 3.0);
        let mut y = x.clone();
        system.apply(&x, &mut y);
        let expected = system.block(i) * x[i].as_dvec3();
        assert!((y[i].as_dvec3() - expected).length() < 1e-5 * expected.length());
    }
}

#[test]
fn grids_are_symmetric_and_positive_for_bodies_of_any_shape() {
    for kind in KINDS {
        for size in [[24, 9, 7], [12, 12, 1], [40, 1, 1], [2, 1, 1], [1, 1, 1]] {
            for stiffness in [0.01, 1e5] {
                let system = System::new(kind, size, stiffness);
                let (n, particles) = (system.len(), system.diagonal());
                match kind {
                    Kind::Stretching => {
                        let grids = system.scalar_grids();
                        assert_symmetric_and_positive(n, &mut WithGrids { particles, grids });
                    }
                    Kind::Corotated => {
                        let grids = system.corotated_grids();
                        assert_symmetric_and_positive(n, &mut WithGrids { particles, grids });
                    }
                }
            }
        }
    }
}

#[test]
fn iterations_stay_bounded_when_size_and_stiffness_grow() {
    // At most 27 and 44 when written, under a smooth load on a held body, which is the hardest case.
    for (kind, bound) in [(Kind::Stretching, 32), (Kind::Corotated, 52)] {
        for size in [[16, 8, 8], [32, 8, 8], [24, 24, 24], [64, 16, 16]] {
            for stiffness in [1.0, 1e2, 1e4, 1e5] {
                let (iterations, _) = System::new(kind, size, stiffness).solve_with_grids();
                assert!(iterations <= bound, "{size:?}, S = {stiffness}: {iterations}");
            }
        }
    }
}

#[test]
fn grids_save_iterations_in_stiff_bodies() {
    for kind in KINDS {
        let mut system = System::new(kind, [48, 12, 12], 1e3);
        let mut particles = system.diagonal();
        let (without, _) = system.solve(&mut particles);
        let (with, _) = system.solve_with_grids();
        assert!(2 * with < without, "{with} of {without}");
    }
}

#[test]
fn held_particles_stay() {
    for kind in KINDS {
        let mut system = System::new(kind, [16, 6, 6], 1e3);
        let (_, x) = system.solve_with_grids();
        assert!(x.iter().zip(&system.held).all(|(x, &held)| !held || *x == glam::Vec3::ZERO));
        assert!(system.held.contains(&true));
    }
}

#[test]
fn solutions_with_grids_do_not_depend_on_the_thread_count() {
    for kind in KINDS {
        let solve = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a thread pool");
            pool.install(|| System::new(kind, [40, 12, 12], 100.0).solve_with_grids().1)
        };
        let one = solve(1);
        assert!([2, 3, 7].iter().all(|&threads| solve(threads) == one));
    }
}

#[test]
fn updated_grids_are_those_of_a_new_body() {
    let (soft, stiff) =
        (System::new(Kind::Corotated, [16, 8, 8], 1.0), System::new(Kind::Corotated, [16, 8, 8], 1e3));
    let (mut updated, mut fresh) = (soft.corotated_grids(), stiff.corotated_grids());
    let point = |i: usize| CorotatedPoint {
        mass: stiff.mass_of(i),
        mu: (stiff.mu * VOLUME) as f32,
        lambda: (stiff.lambda * VOLUME) as f32,
        rotation: Mat3A::from(stiff.rotations[i].as_mat3()),
    };
    updated.update(point);
    let r = vectors(soft.len(), 5);
    let mut z = [vec![glam::Vec3::ZERO; soft.len()], vec![glam::Vec3::ZERO; soft.len()]];
    updated.add(&r, &mut z[0]);
    fresh.add(&r, &mut z[1]);
    assert_eq!(z[0], z[1]);
}
