//! Surface tension of liquids: the energy of their surface, measured with a kernel wider than that of pressure.
//!
//! u_i = Σ_j V sqrt(sigma_j) W_ij is sqrt(sigma) inside, itself counted, and less near a surface, along n_i = ∇u_i:
//!   E = V Σ_i [ a d_i (sqrt(n_i² + n0²) - n0) - b sqrt(sigma_i) u_i + c (t sqrt(sigma_i) - u_i)₊² ],
//!   d_i = (sqrt(sigma_i) - u_i)₊.
//! - The first part is the area: across a sharp surface Σ V d |∇u| is ∫ d du, whatever the kernel, and nothing of it is left
//!   inside, where d and n vanish. It does not see what is thinner than the kernel, where n vanishes, too.
//! - The second is attraction. It keeps the first from spreading the surface out.
//! - The third, of what has few neighbours, holds thin films and threads together. A particle alone has the energy of a
//!   ball of its volume.
//!
//! With Θ_i = ∂E/∂u_i and G_i = ∂E/∂n_i the forces are
//!   f_i = -V Σ_j [ (Θ_i sqrt(sigma_j) + Θ_j sqrt(sigma_i)) ∇W + ∇∇W (G_i sqrt(sigma_j) - G_j sqrt(sigma_i)) ].
//! They keep both momenta. Two liquids meet with about the tension (sqrt(sigma_a) - sqrt(sigma_b))² (Girifalco & Good 1957
//! with Φ = 1). To solids and walls liquids show a surface, which adhesion makes up for.

use super::near::lattice_neighbors;
use crate::math::{CHUNK, Lane, Real, Vec3, Vec3x8, gather8};
use crate::neighbors::{CHUNK_PARTICLES, CurrentNeighbors, Slice, offset};
use rayon::prelude::*;

/// Support radius over spacing. Narrower kernels feel the single particles of the surface, and drops freeze.
const REACH: Real = 3.5;
/// Part of the tension of a flat lattice surface that is due to area; attraction has the rest. With more, small drops swell.
const AREA: Real = 0.7;
/// Tension of swinging drops of 20 to 40 particles across over that of the flat lattice surface, whose layers then crowd.
pub(super) const MEASURED: Real = 0.705;
/// n0 over the n of the outermost layer: smaller ones are noise.
const BLUNT: Real = 0.2;
/// t: the outermost layer of a flat surface has u = 0.72 sqrt(sigma).
const THIN: Real = 0.65;

/// Longest step over sqrt(rho s³/sigma). In twice as long a step the surface is drawn in by about a twelfth of a spacing
/// before pressure answers, and the tension falls by a sixth.
const STEP: Real = 0.1;

/// The longest step of a liquid of this density [s].
pub fn longest_step(tension: Real, density: Real, spacing: Real) -> Real {
    STEP * (density * spacing.powi(3) / tension).sqrt()
}

/// Pulls on velocities; keeps its columns between steps.
#[derive(Debug)]
pub struct SurfaceTension {
    h: Real,
    /// s³
    volume: Real,
    weights: Weights,
    pulled: Vec<Pulled>,
    particles: Vec<u32>,
    neighbors: CurrentNeighbors,
    /// Position, root of the tension, Θ, G.
    records: Vec<[f32; 8]>,
    /// u and n.
    fields: Vec<[f32; 4]>,
    changes: Vec<glam::Vec3>,
    /// Σ_j f_ij·x_ij of each member [J], at the positions of the last pull.
    virials: Vec<f32>,
}

/// a, b, c and n0 of the energy, for a tension of one.
#[derive(Clone, Copy, Debug)]
struct Weights {
    area: Real,
    attraction: Real,
    thin: Real,
    n0: Real,
}

/// A particle of a liquid.
#[derive(Clone, Copy, Debug)]
pub struct Pulled {
    /// Index in the store.
    pub particle: u32,
    /// [N/m]
    pub tension: Real,
    /// 1/m, zero for held particles [1/kg].
    pub inverse_mass: Real,
}

impl SurfaceTension {
    pub fn new(spacing: Real) -> Self {
        let (s, h) = (spacing, REACH * spacing);
        let volume = s.powi(3);
        SurfaceTension {
            h,
            volume,
            weights: Weights::new(s),
            pulled: Vec::new(),
            particles: Vec::new(),
            neighbors: CurrentNeighbors::default(),
            records: Vec::new(),
            fields: Vec::new(),
            changes: Vec::new(),
            virials: Vec::new(),
        }
    }

    /// Changes velocities by the forces of a step among these particles; positions and velocities by index in the store.
    pub fn pull(
        &mut self,
        pulled: impl Iterator<Item = Pulled>,
        dt: Real,
        positions: &[Vec3],
        velocities: &mut [Vec3],
    ) {
        self.pulled.clear();
        self.pulled.extend(pulled.filter(|p| p.tension > 0.0));
        self.particles.clear();
        self.particles.extend(self.pulled.iter().map(|p| p.particle));
        self.neighbors.build(positions, &self.particles, self.h, None);
        let (neighbors, pulled) = (&self.neighbors, &self.pulled);
        let of_member = |m: usize| &pulled[neighbors.cells.order[m] as usize];
        let n = neighbors.len();
        self.records.resize(n, [0.0; 8]);
        self.records.par_iter_mut().with_min_len(CHUNK).enumerate().for_each(|(m, record)| {
            let [x, y, z] = neighbors.bits(m);
            let root = of_member(m).tension.sqrt() as f32;
            *record = [x, y, z, root, 0.0, 0.0, 0.0, 0.0];
        });
        self.fields.resize(n, [0.0; 4]);
        measure(neighbors, &self.records, &mut self.fields, self.volume, self.h);
        let (h, volume, weights) = (self.h, self.volume, self.weights);
        self.records.par_iter_mut().zip(&self.fields).with_min_len(CHUNK).for_each(|(record, field)| {
            let [u, x, y, z] = field.map(Real::from);
            let (theta, g) = weights.slopes(record[3] as Real, u, Vec3::new(x, y, z));
            record[4] = (theta * volume) as f32;
            record[5..8].copy_from_slice(&(g * (volume / h)).as_vec3().to_array());
        });
        let records = &self.records;
        let scale = 20.0 * norm(h) * volume / h;
        self.changes.resize(n, glam::Vec3::ZERO);
        self.virials.resize(n, 0.0);
        let columns =
            self.changes.par_chunks_mut(CHUNK_PARTICLES).zip(self.virials.par_chunks_mut(CHUNK_PARTICLES));
        columns.enumerate().for_each(|(c, (changes, virials))| {
            for slice in neighbors.slices(c) {
                let (sum, virial) = pull_of_slice(records, slice);
                for lane in 0..slice.lanes(n) {
                    let m = slice.first + lane;
                    let inverse_mass = of_member(m).inverse_mass;
                    let at = m - c * CHUNK_PARTICLES;
                    changes[at] = sum.get(lane).as_vec3() * (scale * dt * inverse_mass) as f32;
                    virials[at] = virial.as_array()[lane] * (scale * h) as f32;
                }
            }
        });
        for (&i, change) in neighbors.members.iter().zip(&self.changes) {
            velocities[i as usize] += change.as_dvec3();
        }
    }

    /// Energy of each particle [J], in the order given; over all pairs, in double precision.
    #[cfg(test)]
    pub fn energies(&self, pulled: &[Pulled], positions: &[Vec3]) -> Vec<Real> {
        let (h, scale) = (self.h, self.volume * norm(self.h));
        let energy = |i: &Pulled| {
            let (mut u, mut n) = (0.0, Vec3::ZERO);
            for j in pulled {
                let e = (positions[i.particle as usize] - positions[j.particle as usize]) / h;
                let (q, root) = (e.length().min(1.0), j.tension.sqrt());
                u += scale * root * kernel(q);
                n -= e * (20.0 * scale / h * root * (1.0 - q).powi(3));
            }
            self.volume * self.weights.energy(i.tension.sqrt(), u, n)
        };
        pulled.par_iter().map(energy).collect()
    }

    /// Σ_j f_ij·x_ij of the forces of the last pull [J], by index in the store.
    pub fn virials(&self) -> impl Iterator<Item = (u32, f32)> {
        self.neighbors.members.iter().copied().zip(self.virials.iter().copied())
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.neighbors.bytes() + self.records.capacity() * (32 + 32 + 16 + 12 + 4 + 4)
    }
}

impl Weights {
    /// Such that a flat surface of the cubic lattice costs its area, and a particle alone that of a ball.
    fn new(s: Real) -> Self {
        let (h, volume) = (REACH * s, s.powi(3));
        let layer = |depth: usize| {
            let within = |e: &Vec3| -e.y * REACH < depth as Real + 0.5;
            let sum = |term: fn(Vec3) -> Real| -> Real {
                lattice_neighbors(REACH).filter(within).map(term).sum::<Real>() * volume * norm(h)
            };
            let u = sum(|e| kernel(e.length())) + volume * norm(h);
            (u, sum(|e| 20.0 * (1.0 - e.length()).powi(3) * e.y) / h)
        };
        let layers: Vec<(Real, Real)> = (0..=REACH as usize).map(layer).collect();
        let full = layer(2 * REACH as usize).0;
        let n0 = BLUNT * layers[0].1.abs();
        let of_area = |&(u, n): &(Real, Real)| (1.0 - u).max(0.0) * ((n * n + n0 * n0).sqrt() - n0);
        let area: Real = layers.iter().map(of_area).sum();
        let attraction: Real = layers.iter().map(|(u, _)| full - u).sum();
        let attraction = (1.0 - AREA) / (MEASURED * s * attraction);
        let ball = (36.0 * std::f64::consts::PI).cbrt(); // area over s²
        let alone = volume * norm(h);
        let thin = (ball / s - attraction * (full - alone)) / (THIN - alone).powi(2);
        Weights { area: AREA / (MEASURED * s * area), attraction, thin, n0 }
    }

    /// Energy of a particle over its volume.
    #[cfg(test)]
    fn energy(&self, root: Real, u: Real, n: Vec3) -> Real {
        let n0 = self.n0 * root;
        let area = (root - u).max(0.0) * ((n.length_squared() + n0 * n0).sqrt() - n0);
        self.area * area - self.attraction * root * u + self.thin * (THIN * root - u).max(0.0).powi(2)
    }

    /// Slopes of the energy along u and n.
    fn slopes(&self, root: Real, u: Real, n: Vec3) -> (Real, Vec3) {
        let n0 = self.n0 * root;
        let length = (n.length_squared() + n0 * n0).sqrt().max(Real::MIN_POSITIVE);
        let d = (root - u).max(0.0);
        let area = if d > 0.0 { length - n0 } else { 0.0 };
        let thin = (THIN * root - u).max(0.0);
        (-self.area * area - self.attraction * root - 2.0 * self.thin * thin, n * (self.area * d / length))
    }
}

/// u and n of all members.
fn measure(
    neighbors: &CurrentNeighbors,
    records: &[[f32; 8]],
    fields: &mut [[f32; 4]],
    volume: Real,
    h: Real,
) {
    let (of_u, of_n) = ((volume * norm(h)) as f32, (-20.0 * volume * norm(h) / h) as f32);
    fields.par_chunks_mut(CHUNK_PARTICLES).enumerate().for_each(|(c, fields)| {
        for slice in neighbors.slices(c) {
            let (u, normal) = fields_of_slice(records, slice);
            for lane in 0..slice.lanes(records.len()) {
                let m = slice.first + lane;
                let [x, y, z] = (normal.get(lane).as_vec3() * of_n).to_array();
                fields[m - c * CHUNK_PARTICLES] = [(records[m][3] + u.as_array()[lane]) * of_u, x, y, z];
            }
        }
    });
}

/// W over that at the centre: Wendland's C2 kernel.
fn kernel(q: Real) -> Real {
    (1.0 - q).powi(4) * (1.0 + 4.0 * q)
}

/// W(0) [1/m3].
fn norm(h: Real) -> Real {
    21.0 / (2.0 * std::f64::consts::PI * h.powi(3))
}

/// Σ_j sqrt(sigma_j) (1-q)⁴ (1+4q) and Σ_j sqrt(sigma_j) (1-q)³ e.
#[inline(always)]
fn fields_of_slice(records: &[[f32; 8]], slice: Slice) -> (Lane, Vec3x8) {
    let [xi, yi, zi, ..] = gather8(records, &slice.own(records.len()));
    let (mut u, mut normal) = (Lane::ZERO, Vec3x8::ZERO);
    for row in slice.rows {
        let [x, y, z, root, ..] = gather8(records, row);
        let e = offset([xi, yi, zi], [x, y, z]);
        let square = e.dot(e);
        let q = square.sqrt();
        let p = (Lane::ONE - q).max(Lane::ZERO);
        let cube = p * p * p * root;
        // a lane that points to its own member has q = 0
        let other = square.simd_gt(Lane::ZERO).select(cube, Lane::ZERO);
        u += other * p * (Lane::ONE + q * Lane::splat(4.0));
        normal = normal + e * other;
    }
    (u, normal)
}

/// Σ_j (Θ_i sqrt(sigma_j) + Θ_j sqrt(sigma_i)) (1-q)³ e + ∂((1-q)³ e)/∂e (G_i sqrt(sigma_j) - G_j sqrt(sigma_i)), and the
/// same with each term times e. Here G is that of the energy over h.
#[inline(always)]
fn pull_of_slice(records: &[[f32; 8]], slice: Slice) -> (Vec3x8, Lane) {
    let [xi, yi, zi, root_i, theta_i, ui, vi, wi] = gather8(records, &slice.own(records.len()));
    let g_i = Vec3x8::new(ui, vi, wi);
    let (mut sum, mut virial) = (Vec3x8::ZERO, Lane::ZERO);
    for row in slice.rows {
        let [x, y, z, root, theta, u, v, w] = gather8(records, row);
        let e = offset([xi, yi, zi], [x, y, z]);
        let q = e.dot(e).sqrt();
        let over_q = Lane::ONE / q.max(Lane::splat(1e-6));
        let p = (Lane::ONE - q).max(Lane::ZERO);
        let (square, cube) = (p * p, p * p * p);
        let d = g_i * root - Vec3x8::new(u, v, w) * root_i;
        let along = (theta_i * root + theta * root_i) * cube - Lane::splat(3.0) * square * e.dot(d) * over_q;
        let pull = e * along + d * cube;
        sum = sum + pull;
        virial += pull.dot(e);
    }
    (sum, virial)
}
