//! Viscosity, solved for: stable for any viscosity and any step [after Weiler et al. 2018].
//!
//! Neighbours resist each other along the line between them,
//!   f_i = -Σ_j k_ij ((v_i - v_j)·e) e,   k_ij = mu_ij s omega(q),   e = x_ij/h,  q = |e|,
//! so that momentum and angular momentum are kept and a liquid that turns as a whole feels nothing. The velocities v at
//! the end solve (M + dt L) v = M v*. Differences from the paper:
//! - The weight is omega = c (1-q)² (1 + a (1-q)) and not the slope of the kernel over q²: on a lattice with h = 2 s that
//!   one is 0.61 mu along the axes and 1.59 mu across. Here c gives mu, and a makes it the same in all directions.
//! - mu_ij = 2/(1/mu_i + 1/mu_j): equal stress on both sides of a surface between two liquids. Solids have 1/mu = 0, walls
//!   alike: the liquid stands still on their surface, which lies half way between the particles.
//! - Conjugate gradients start from no change and are preconditioned by the masses. All their iterates then keep both
//!   momenta, so the result does, whatever the tolerance; the drift of single precision is taken back. Rigid bodies are unknowns with mass and inertia.

use super::near::{Near, lattice_neighbors};
use crate::linear::{ConjugateGradients, Operator, Preconditioner, Solved, Tolerance};
use crate::math::{CHUNK, Lane, Mat3, Real, Vec3, Vec3x8, gather8, outer, pseudo_inverse, sum};
use crate::neighbors::{CHUNK_PARTICLES, Slice, offset};
use crate::rigid::Grip;
use rayon::prelude::*;

/// Mean velocity left over by a solve, relative to the mean change of velocity or, if that is less, to the mean speed.
const TOLERANCE: Real = 1e-4;
/// Relative rounding of single precision.
const ROUNDING: Real = 1e-7;
const MAX_ITERATIONS: usize = 1000;
/// 1/mu of a liquid without viscosity.
const INVISCID: f32 = 1e30;

/// omega(q) = c (1-q)² (1 + a (1-q)).
#[derive(Clone, Copy, Debug)]
pub struct ShearWeight {
    a: Real,
    c: Real,
    /// What makes up for the one layer of points that stands for a wall: 2 if h = 2 s.
    wall: Real,
}

impl ShearWeight {
    /// For this support radius over spacing, h/s.
    /// Simple shear of rate G dissipates mu G² s³ a particle, ½ Σ_j k (h e·G e)² = ½ mu s h² G² Σ_j omega (e_x e_y)². The
    /// mean over all directions of (e_x e_y)² is q⁴/15. It is the same in all of them if Σ_j omega (e_x⁴ - 3 e_x² e_y²)
    /// is zero.
    pub fn new(support: Real) -> Self {
        let over_lattice = |term: &dyn Fn(Vec3, Real) -> Real| -> Real {
            lattice_neighbors(support).map(|e| term(e, 1.0 - e.length())).sum()
        };
        let cubic = |e: Vec3| e.x.powi(4) - 3.0 * (e.x * e.y).powi(2);
        let a = -over_lattice(&|e, p| cubic(e) * p * p) / over_lattice(&|e, p| cubic(e) * p.powi(3));
        let a = if a.is_finite() { a.clamp(0.0, 10.0) } else { 0.0 };
        let unit = ShearWeight { a, c: 1.0, wall: 1.0 };
        let sum = over_lattice(&|e, _| unit.at(e.length()) * e.length().powi(4) / 15.0);
        ShearWeight { c: 2.0 / (sum * support * support), wall: unit.wall_factor(support), ..unit }
    }

    /// omega(q).
    pub fn at(&self, q: Real) -> Real {
        let p = (1.0 - q).max(0.0);
        self.c * p * p * (1.0 + self.a * p)
    }

    #[inline(always)]
    fn lanes(&self, q: Lane) -> Lane {
        let p = (Lane::ONE - q).max(Lane::ZERO);
        p * p * p.mul_add(Lane::splat((self.c * self.a) as f32), Lane::splat(self.c as f32))
    }

    /// Shear stress on a plane between lattice layers over what one layer of points at rest below it gives: n pairs of
    /// layers are n s apart and differ by G n s, the layer and the n-th above by G (n - ½) s.
    fn wall_factor(&self, support: Real) -> Real {
        let (mut whole, mut layer) = (0.0, 0.0);
        for e in lattice_neighbors(support).filter(|e| e.y > 0.0) {
            let (n, along) = ((e.y * support).round(), self.at(e.length()) * e.x * e.x);
            whole += n * n * along;
            layer += (n - 0.5) * along;
        }
        if layer > 0.0 { whole / layer } else { 2.0 }
    }
}

/// Solves for viscous velocities; keeps its columns between steps.
#[derive(Debug)]
pub struct Viscosity {
    pub weight: ShearWeight,
    spacing: Real,
    /// Position, velocity, 1/mu.
    records: Vec<[f32; 8]>,
    masses: Vec<f32>,
    b: Vec<glam::Vec3>,
    x: Vec<glam::Vec3>,
    solver: ConjugateGradients,
}

/// Of a dynamic rigid body: two unknowns behind those of the particles, V and length omega.
#[derive(Clone, Copy, Debug)]
struct RigidUnknown {
    rigid: usize,
    mass: Real,
    inertia: Mat3,
    /// Radius of gyration [m], so that both unknowns are velocities.
    length: Real,
}

impl Viscosity {
    pub fn new(spacing: Real, support: Real) -> Self {
        Viscosity {
            weight: ShearWeight::new(support),
            spacing,
            records: Vec::new(),
            masses: Vec::new(),
            b: Vec::new(),
            x: Vec::new(),
            solver: ConjugateGradients::default(),
        }
    }

    /// Changes velocities (by index in the store) and those of the rigid bodies to what they are at the end of the step.
    /// `viscosity(m)` of a member is none for solids.
    pub fn solve(
        &mut self,
        near: &Near,
        dt: Real,
        viscosity: impl Fn(usize) -> Option<Real> + Sync,
        velocities: &mut [Vec3],
        rigid_velocities: &mut [[Vec3; 2]],
    ) -> Solved {
        let (n, members) = (near.len(), &near.neighbors.members);
        self.records.resize(n, [0.0; 8]);
        self.records.par_iter_mut().with_min_len(CHUNK).enumerate().for_each(|(m, record)| {
            let [x, y, z] = near.neighbors.bits(m);
            let fluidity = viscosity(m).map_or(0.0, |mu| if mu > 0.0 { (1.0 / mu) as f32 } else { INVISCID });
            *record = [x, y, z, 0.0, 0.0, 0.0, fluidity, 0.0];
        });
        let rigids = unknowns(near);
        let total = n + 2 * rigids.len();
        self.x.clear();
        self.x.extend(members.iter().map(|&i| velocities[i as usize].as_vec3()));
        self.x.resize(total, glam::Vec3::ZERO);
        self.b.resize(total, glam::Vec3::ZERO);
        self.masses.clear();
        self.masses.extend_from_slice(near.masses);
        self.masses.extend(rigids.iter().flat_map(|r| [r.mass as f32; 2]));
        let stiffness = self.stiffness(dt, near.masses);
        let mut system = System {
            near,
            weight: self.weight,
            scale: dt * self.spacing,
            records: &mut self.records,
            rigids: &rigids,
        };
        system.resist(&self.x, rigid_velocities, 0.0, &mut self.b);
        self.b.par_iter_mut().with_min_len(CHUNK).for_each(|b| *b = -*b);
        let mean = |of: &(dyn Fn(usize) -> Real + Sync)| sum(total, 0.0, of) / total.max(1) as Real;
        let change = mean(&|k| (self.b[k].length() / self.masses[k]) as Real);
        let speed = mean(&|k| self.x[k].length() as Real);
        let moving = rigid_velocities.iter().flatten().map(|v| v.length()).fold(speed, Real::max);
        let rounding = ROUNDING * moving * stiffness.min(1.0);
        let tolerance = (TOLERANCE * change.min(moving)).max(rounding);
        self.x.fill(glam::Vec3::ZERO);
        let solved = self.solver.solve(
            &mut system,
            &mut Inertia { masses: &self.masses, rigids: &rigids },
            &self.b,
            &mut self.x,
            Tolerance::AbsolutePerMass(tolerance, &self.masses),
            MAX_ITERATIONS,
        );
        if near.is_free() {
            take_back_drift(near, &rigids, &mut self.x);
        }
        for (&i, x) in members.iter().zip(&self.x) {
            velocities[i as usize] += x.as_dvec3();
        }
        for (k, rigid) in rigids.iter().enumerate() {
            let [v, w] = rigid.motion(&self.x[n + 2 * k..]);
            let now = &mut rigid_velocities[rigid.rigid];
            *now = [now[0] + v, now[1] + w];
        }
        solved
    }

    /// Largest k dt/m of a pair: what part of its velocity a step takes, or would if it were explicit.
    fn stiffness(&self, dt: Real, masses: &[f32]) -> Real {
        let of_member = |m: usize| match self.records[m][6] {
            0.0 => 0.0,
            fluidity => dt * self.spacing / (fluidity as Real * masses[m] as Real),
        };
        (0..self.records.len()).into_par_iter().with_min_len(CHUNK).map(of_member).reduce(|| 0.0, Real::max)
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.records.capacity() * (32 + 4 + 2 * 12 + 3 * 12)
    }
}

/// Viscosity gives no momentum and no angular momentum; what the rounding of a stiff solve gave is taken back, from all
/// that it moved alike.
fn take_back_drift(near: &Near, rigids: &[RigidUnknown], x: &mut [glam::Vec3]) {
    let n = near.len();
    let moved = |x: &[glam::Vec3], k: usize| (x[k] != glam::Vec3::ZERO) as u8 as Real;
    let position = |m: usize| near.positions[near.neighbors.members[m] as usize];
    let mass = |x: &[glam::Vec3], m: usize| moved(x, m) * near.masses[m] as Real;
    let center_of = |rigid: &RigidUnknown| near.bodies[rigid.rigid].center;
    let bodies = || rigids.iter().enumerate().map(|(k, rigid)| (n + 2 * k, rigid));
    let weight = |x: &[glam::Vec3], (k, rigid): (usize, &RigidUnknown)| moved(x, k) * rigid.mass;
    let total = sum(n, 0.0, |m| mass(x, m)) + bodies().map(|b| weight(x, b)).sum::<Real>();
    if total == 0.0 {
        return;
    }
    let center = (sum(n, Vec3::ZERO, |m| position(m) * mass(x, m))
        + bodies().map(|b| center_of(b.1) * weight(x, b)).sum::<Vec3>())
        / total;
    let (mut momentum, mut spin) = (
        sum(n, Vec3::ZERO, |m| x[m].as_dvec3() * mass(x, m)),
        sum(n, Vec3::ZERO, |m| (position(m) - center).cross(x[m].as_dvec3()) * mass(x, m)),
    );
    let about = |arm: Vec3, mass: Real| {
        (Mat3::from_diagonal(Vec3::splat(arm.length_squared())) - outer(arm, arm)) * mass
    };
    let mut inertia = sum(n, Mat3::ZERO, |m| about(position(m) - center, mass(x, m)));
    for (k, rigid) in bodies() {
        let ([v, w], arm, mass) = (rigid.motion(&x[k..]), center_of(rigid) - center, weight(x, (k, rigid)));
        momentum += v * mass;
        spin += arm.cross(v) * mass + rigid.inertia * w;
        inertia += about(arm, mass) + rigid.inertia * moved(x, k);
    }
    let drift = momentum / total;
    let turn = pseudo_inverse(inertia, 1e-9).0 * spin;
    let at = |arm: Vec3| (drift + turn.cross(arm)).as_vec3();
    for m in (0..n).filter(|&m| x[m] != glam::Vec3::ZERO).collect::<Vec<_>>() {
        x[m] -= at(position(m) - center);
    }
    for (k, rigid) in bodies().filter(|(k, _)| x[*k] != glam::Vec3::ZERO).collect::<Vec<_>>() {
        x[k] -= at(center_of(rigid) - center);
        x[k + 1] -= (turn * rigid.length).as_vec3();
    }
}

fn unknowns(near: &Near) -> Vec<RigidUnknown> {
    let dynamic = near.bodies.iter().enumerate().filter(|(_, body)| body.inverse_mass > 0.0);
    let unknown = dynamic.map(|(rigid, body)| {
        let (mass, inertia) = (1.0 / body.inverse_mass, body.inverse_inertia.inverse());
        let length = (crate::math::trace(inertia) / (2.0 * mass)).sqrt();
        RigidUnknown { rigid, mass, inertia, length }
    });
    unknown.filter(|r| r.inertia.is_finite() && r.length > 0.0).collect()
}

impl RigidUnknown {
    /// Velocity and angular velocity of its two unknowns.
    fn motion(&self, x: &[glam::Vec3]) -> [Vec3; 2] {
        [x[0].as_dvec3(), x[1].as_dvec3() / self.length]
    }
}

/// The matrix M + dt L.
struct System<'a> {
    near: &'a Near<'a>,
    weight: ShearWeight,
    /// dt s.
    scale: Real,
    records: &'a mut [[f32; 8]],
    rigids: &'a [RigidUnknown],
}

impl System<'_> {
    /// y = inertia M x + dt L x, with these velocities of all rigid bodies.
    fn resist(&mut self, x: &[glam::Vec3], rigid: &[[Vec3; 2]], inertia: f32, y: &mut [glam::Vec3]) {
        let Near { grips, masses, held, .. } = *self.near;
        let n = self.near.len();
        self.records.par_iter_mut().zip(x).with_min_len(CHUNK).for_each(|(record, v)| {
            record[3..6].copy_from_slice(&v.to_array());
        });
        let (records, weight, scale) = (&*self.records, self.weight, self.scale as f32);
        self.near.sum_pairs(
            &mut y[..n],
            |slice| resist_of_slice(&weight, records, slice),
            |m, force| {
                let force = if held[m] { glam::Vec3::ZERO } else { force * scale };
                x[m] * (inertia * masses[m]) + force
            },
        );
        let wall = self.weight.wall * self.scale;
        let drag = |grip: &Grip| {
            let m = grip.member as usize;
            let fluidity = records[m][6] as Real;
            let [v, w] = rigid[grip.rigid as usize];
            let slip = x[m].as_dvec3() - v - w.cross(grip.arm);
            if fluidity > 0.0 { grip.shear * slip * (wall / fluidity) } else { Vec3::ZERO }
        };
        y[..n].par_chunks_mut(CHUNK_PARTICLES).zip(&grips.0).enumerate().for_each(|(c, (y, grips))| {
            for grip in grips.iter().filter(|grip| !held[grip.member as usize]) {
                y[grip.member as usize - c * CHUNK_PARTICLES] += drag(grip).as_vec3();
            }
        });
        let reactions = self.near.reactions(drag);
        for (r, y) in self.rigids.iter().zip(y[n..].chunks_exact_mut(2)) {
            let ([v, w], [force, moment]) = (rigid[r.rigid], reactions[r.rigid]);
            y[0] = (v * r.mass * inertia as Real + force).as_vec3();
            y[1] = ((r.inertia * w * inertia as Real + moment) / r.length).as_vec3();
        }
    }
}

impl Operator for System<'_> {
    fn len(&self) -> usize {
        self.near.len() + 2 * self.rigids.len()
    }

    fn apply(&mut self, x: &[glam::Vec3], y: &mut [glam::Vec3]) {
        let n = self.near.len();
        let mut rigid = vec![[Vec3::ZERO; 2]; self.near.bodies.len()];
        for (k, r) in self.rigids.iter().enumerate() {
            rigid[r.rigid] = r.motion(&x[n + 2 * k..]);
        }
        self.resist(x, &rigid, 1.0, y);
    }
}

/// M⁻¹.
struct Inertia<'a> {
    masses: &'a [f32],
    rigids: &'a [RigidUnknown],
}

impl Preconditioner for Inertia<'_> {
    fn apply(&mut self, r: &[glam::Vec3], z: &mut [glam::Vec3]) {
        z.par_iter_mut()
            .zip(r)
            .zip(self.masses)
            .with_min_len(CHUNK)
            .for_each(|((z, r), mass)| *z = *r / *mass);
        let n = r.len() - 2 * self.rigids.len();
        for (k, rigid) in self.rigids.iter().enumerate() {
            let at = n + 2 * k + 1;
            let turned = rigid.inertia.inverse() * r[at].as_dvec3();
            z[at] = (turned * rigid.length * rigid.length).as_vec3();
        }
    }
}

/// Σ_j mu_ij omega ((v_i - v_j)·e) e.
#[inline(always)]
fn resist_of_slice(weight: &ShearWeight, records: &[[f32; 8]], slice: Slice) -> Vec3x8 {
    let [xi, yi, zi, ui, vi, wi, fluidity_i, _] = gather8(records, &slice.own(records.len()));
    let v_i = Vec3x8::new(ui, vi, wi);
    let mut force = Vec3x8::ZERO;
    for row in slice.rows {
        let [x, y, z, u, v, w, fluidity, _] = gather8(records, row);
        let e = offset([xi, yi, zi], [x, y, z]);
        let both = fluidity_i + fluidity;
        // two solids know no viscosity
        let mu = both.simd_gt(Lane::ZERO).select(Lane::splat(2.0) / both, Lane::ZERO);
        let k = weight.lanes(e.dot(e).sqrt()) * mu;
        force = force + e * (k * e.dot(v_i - Vec3x8::new(u, v, w)));
    }
    force
}
