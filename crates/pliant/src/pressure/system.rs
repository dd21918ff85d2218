//! The operator of the pressure problem, A = dt² D M⁻¹ Dᵀ, in two passes over the pairs.
//!
//! Nothing is stored of a pair but its index: gradients are computed from positions that are gathered together with the
//! values. That reads four bytes a pair instead of sixteen.

use super::PressureReport;
use super::coarse::{Coarse, CoarseInput};
use crate::kernel::{Kernel, KernelLanes};
use crate::math::{LANES, Lane, Real, Vec3, Vec3x8, gather4, gather8, max_with_index, sum};
use crate::neighbors::{CHUNK_PARTICLES, CurrentNeighbors, Slice, offset};
use crate::rigid::{Press, Touch, WallBody, Walls};
use rayon::prelude::*;

/// Fastest undoing of a compression, and rate at which errors that are allowed decay [1/s]: what is undone in a step is
/// a velocity, which would throw bodies apart and keep a tank from coming to rest.
const RELEASE: f32 = 10.0;

/// Boundary points a task works on.
const POINTS: usize = 1024;

/// The pressure problem of a step; columns are in the order of the members, those marked + go on with the boundary
/// points.
#[derive(Debug)]
pub struct PressureSystem {
    single: Kernel,
    spacing: Real,
    kernel: KernelLanes,
    /// Volume V0 of a particle in sums.
    cell: Real,
    /// V0 W(0).
    w0: f32,
    dt: Real,
    pub(super) inverse_masses: Vec<f32>,
    /// + Compression c.
    pub(super) compressions: Vec<f32>,
    /// + Diagonal of D M⁻¹ Dᵀ.
    pub(super) diagonal: Vec<f32>,
    /// Σ_j V0 r |∇W_ij|, boundary points included: 3 in the continuum.
    virials: Vec<f32>,
    /// g of all rigid bodies.
    wall_gradients: Vec<[f32; 3]>,
    /// Position and kappa (or 1/m).
    values: Vec<[f32; 4]>,
    /// kappa of the boundary points, then of the nodes of faces.
    wall_kappa: Vec<f32>,
    /// Rates of the compressions of nodes.
    node_rates: Vec<f32>,
    /// Position and acceleration (or velocity).
    vectors: Vec<[f32; 8]>,
    /// Change of velocity and of angular velocity of each rigid body, per dt.
    rigid_accelerations: Vec<[Vec3; 2]>,
    /// Force on each rigid body, and torque about its centre.
    rigid_forces: Vec<[Vec3; 2]>,
}

impl PressureSystem {
    /// `cell` is the volume V0 of a particle.
    pub fn new(kernel: Kernel, spacing: Real) -> Self {
        let cell = 1.0 / kernel.lattice_sum(spacing);
        PressureSystem {
            single: kernel,
            spacing,
            cell,
            kernel: kernel.lanes(cell),
            w0: (cell * kernel.w(0.0)) as f32,
            dt: 0.0,
            inverse_masses: Vec::new(),
            compressions: Vec::new(),
            diagonal: Vec::new(),
            virials: Vec::new(),
            wall_gradients: Vec::new(),
            values: Vec::new(),
            wall_kappa: Vec::new(),
            node_rates: Vec::new(),
            vectors: Vec::new(),
            rigid_accelerations: Vec::new(),
            rigid_forces: Vec::new(),
        }
    }

    /// Compressions and diagonal at the present positions. `rest(i)` is what a solid's own rest neighbours contribute to
    /// the sum (0 for liquids), `inverse_mass(i)` is zero for held particles; both by index in the store. `now(m)` is Σ W
    /// of a solid's member over its rest neighbours.
    pub fn measure(
        &mut self,
        neighbors: &CurrentNeighbors,
        walls: &Walls,
        rest: impl Fn(u32) -> f32 + Sync,
        now: impl Fn(usize) -> Real + Sync,
        inverse_mass: impl Fn(u32) -> f32 + Sync,
    ) {
        let n = neighbors.len();
        self.resize(n, walls);
        let members = &neighbors.members;
        self.values
            .par_iter_mut()
            .zip(&mut self.inverse_masses)
            .with_min_len(CHUNK_PARTICLES)
            .enumerate()
            .for_each(|(m, (value, inverse))| {
                *inverse = inverse_mass(members[m]);
                let [x, y, z] = neighbors.bits(m);
                *value = [x, y, z, *inverse];
            });
        let (values, kernel, h) = (&self.values, self.kernel, self.single.h as f32);
        let (w0, cell) = (self.w0, self.cell as f32);
        let inverse_masses = &self.inverse_masses;
        self.compressions[..n]
            .par_chunks_mut(CHUNK_PARTICLES)
            .zip(self.diagonal[..n].par_chunks_mut(CHUNK_PARTICLES))
            .zip(self.virials.par_chunks_mut(CHUNK_PARTICLES))
            .zip(self.wall_gradients.par_chunks_mut(CHUNK_PARTICLES))
            .zip(walls.touches.par_iter().zip(&walls.presses))
            .enumerate()
            .for_each(|(c, ((((compressions, diagonal), virials), gradients), (touches, presses)))| {
                let start = c * CHUNK_PARTICLES;
                // densities, summed gradients, squares and virials of the neighbours
                for slice in neighbors.slices(c) {
                    let (density, gradient, squares, virial) = sums_of_slice(&kernel, values, slice);
                    for lane in 0..LANES.min(n - slice.first) {
                        let k = slice.first - start + lane;
                        let at_rest = rest(members[slice.first + lane]);
                        let own = if at_rest > 0.0 { at_rest } else { w0 };
                        compressions[k] = density.as_array()[lane] + (own - at_rest.max(1.0));
                        diagonal[k] = squares.as_array()[lane];
                        virials[k] = h * virial.as_array()[lane];
                        gradients[k] = gradient.get(lane).as_vec3().to_array();
                    }
                }
                let mut wall = [[0.0f32; 3]; CHUNK_PARTICLES];
                for touch in touches {
                    let k = touch.member as usize - start;
                    compressions[k] += touch.density as f32;
                    virials[k] += touch.virial as f32;
                    for (sum, part) in wall[k].iter_mut().zip(touch.gradient.to_array()) {
                        *sum += part as f32;
                    }
                    let body = &walls.bodies[touch.rigid as usize];
                    let turned = body.inverse_inertia * touch.moment;
                    diagonal[k] += (touch.gradient.length_squared() * body.inverse_mass
                        + touch.moment.dot(turned)) as f32;
                }
                for (k, compression) in compressions.iter_mut().enumerate() {
                    let at_rest = rest(members[start + k]);
                    if at_rest > 0.0 && virials[k] > 0.0 {
                        // rest neighbours that went away make room, those that came nearer press by elasticity alone
                        *compression -= (at_rest - w0 - cell * now(start + k) as f32).max(0.0);
                    }
                }
                for (gradient, wall) in gradients.iter_mut().zip(wall) {
                    for (sum, part) in gradient.iter_mut().zip(wall) {
                        *sum += part;
                    }
                }
                for press in presses {
                    if let Some((node, share)) = walls.share(press) {
                        let k = press.member as usize - start;
                        compressions[k] += share * walls.compression_of_node(node);
                        for (sum, part) in gradients[k].iter_mut().zip(press.gradient) {
                            *sum += share * part;
                        }
                    }
                }
                for (k, (gradient, wall)) in gradients.iter_mut().zip(wall).enumerate() {
                    let total: f32 = gradient.iter().map(|g| g * g).sum();
                    diagonal[k] += total * inverse_masses[start + k];
                    *gradient = wall;
                }
            });
        self.vectors.par_iter_mut().zip(&self.values).with_min_len(CHUNK_PARTICLES).for_each(
            |(vector, value)| {
                vector[..3].copy_from_slice(&value[..3]);
            },
        );
        self.measure_walls(walls);
    }

    /// The same at the boundary points.
    fn measure_walls(&mut self, walls: &Walls) {
        let (n, inverse_masses) = (self.values.len(), &self.inverse_masses);
        let compressions = self.compressions[n..].par_iter_mut().with_min_len(POINTS);
        compressions.zip(&mut self.diagonal[n..]).enumerate().for_each(|(b, (compression, diagonal))| {
            *compression = walls.compression(b);
            let square = |press: &Press| {
                glam::Vec3::from_array(press.gradient).length_squared()
                    * inverse_masses[press.member as usize]
            };
            let squares: f32 = walls.presses_on(b).iter().map(square).sum();
            let [sum, moment] = walls.sums[b];
            let body = &walls.bodies[walls.rigid_of(b)];
            let rigid = sum.length_squared() * body.inverse_mass + moment.dot(body.inverse_inertia * moment);
            *diagonal = squares + rigid as f32;
        });
    }

    fn resize(&mut self, n: usize, walls: &Walls) {
        let points = walls.points.len();
        self.inverse_masses.resize(n, 0.0);
        self.compressions.resize(n + points, 0.0);
        self.diagonal.resize(n + points, 0.0);
        self.wall_kappa.resize(walls.rows(), 0.0);
        self.node_rates.resize(walls.rows() - points, 0.0);
        self.virials.resize(n, 0.0);
        self.wall_gradients.resize(n, [0.0; 3]);
        self.values.resize(n, [0.0; 4]);
        self.vectors.resize(n, [0.0; 8]);
    }

    /// |V0 ∇W|² of a pair one spacing apart.
    pub(super) fn square_at_rest(&self) -> f32 {
        let slope = self.cell * self.single.slope_over_r(self.spacing) * self.spacing;
        (slope * slope) as f32
    }

    pub(super) fn set_time_step(&mut self, dt: Real) {
        self.dt = dt;
    }

    /// rates = D v for the velocities of the particles (by index in the store) and of the rigid bodies.
    pub fn rates(
        &mut self,
        neighbors: &CurrentNeighbors,
        walls: &Walls,
        velocities: &[Vec3],
        rigid_velocities: &[[Vec3; 2]],
        rates: &mut [f32],
    ) {
        let members = &neighbors.members;
        self.vectors.par_iter_mut().with_min_len(CHUNK_PARTICLES).enumerate().for_each(|(m, vector)| {
            let v = velocities[members[m] as usize];
            (vector[3], vector[4], vector[5]) = (v.x as f32, v.y as f32, v.z as f32);
        });
        self.diverge(neighbors, walls, rigid_velocities, 1.0, rates);
    }

    /// rates ← c + dt rates: the compressions at the end of the step. Of an error that is allowed, either way, only a part
    /// counts, and what is compressed a lot, as bodies that start inside one another, is let go over several steps.
    pub fn predict(&self, dt: Real, allowed: Real, rates: &mut [f32]) {
        let (dt, allowed) = (dt as f32, allowed as f32);
        let later = (1.0 - RELEASE * dt).max(0.0);
        let columns = rates.par_iter_mut().zip(&self.compressions).with_min_len(CHUNK_PARTICLES);
        columns.for_each(|(r, &c)| {
            let now = c - later * c.clamp(-allowed, allowed);
            *r = now.min(RELEASE * dt) + dt * *r;
        });
    }

    /// The matrices of coarse grids that know their weights.
    pub(super) fn coarsen(&mut self, neighbors: &CurrentNeighbors, walls: &Walls, coarse: &mut Coarse) {
        let values = self.values.par_iter_mut().with_min_len(CHUNK_PARTICLES).enumerate();
        values.for_each(|(m, value)| value[3] = coarse.weight(m));
        coarse.assemble(&CoarseInput {
            neighbors,
            walls,
            kernel: &self.kernel,
            values: &self.values,
            inverse_masses: &self.inverse_masses,
            wall_gradients: &self.wall_gradients,
            dt: self.dt as f32,
        });
    }

    /// y = A x. Leaves the accelerations M⁻¹ Dᵀ x, with the sign of a force, to be read by `kicks`.
    pub(super) fn apply(
        &mut self,
        neighbors: &CurrentNeighbors,
        walls: &Walls,
        kappa: impl Fn(usize) -> f32 + Sync,
        y: &mut [f32],
    ) {
        self.push(neighbors, walls, kappa);
        let rigid = std::mem::take(&mut self.rigid_accelerations);
        self.diverge(neighbors, walls, &rigid, -(self.dt * self.dt) as f32, y);
        self.rigid_accelerations = rigid;
    }

    /// Accelerations -M⁻¹ Dᵀ kappa of particles and rigid bodies. `kappa` goes on with the boundary points.
    pub fn push(&mut self, neighbors: &CurrentNeighbors, walls: &Walls, kappa: impl Fn(usize) -> f32 + Sync) {
        self.values
            .par_iter_mut()
            .with_min_len(CHUNK_PARTICLES)
            .enumerate()
            .for_each(|(m, value)| value[3] = kappa(m));
        let n = self.values.len();
        let (at_points, at_nodes) = self.wall_kappa.split_at_mut(walls.points.len());
        at_points.iter_mut().enumerate().for_each(|(b, value)| *value = kappa(n + b));
        let values = &self.values;
        at_nodes.par_iter_mut().with_min_len(POINTS).enumerate().for_each(|(node, value)| {
            *value = walls.mean_at_node(node, |m| values[m as usize][3]);
        });
        let (values, wall_kappa, kernel) = (&self.values, &self.wall_kappa, self.kernel);
        let (inverse_masses, gradients) = (&self.inverse_masses, &self.wall_gradients);
        let chunks = self.vectors.par_chunks_mut(CHUNK_PARTICLES).zip(&walls.presses);
        chunks.enumerate().for_each(|(c, (vectors, presses))| {
            let start = c * CHUNK_PARTICLES;
            for slice in neighbors.slices(c) {
                let force = push_of_slice(&kernel, values, slice);
                for lane in 0..LANES.min(n - slice.first) {
                    let m = slice.first + lane;
                    let (k, g, inverse) = (values[m][3], gradients[m], inverse_masses[m]);
                    let vector = &mut vectors[m - start];
                    vector[3] = (force.x.as_array()[lane] - k * g[0]) * inverse;
                    vector[4] = (force.y.as_array()[lane] - k * g[1]) * inverse;
                    vector[5] = (force.z.as_array()[lane] - k * g[2]) * inverse;
                }
            }
            for Press { member, point, gradient, .. } in presses {
                let push = wall_kappa[*point as usize] * inverse_masses[*member as usize];
                for (sum, g) in vectors[*member as usize - start][3..6].iter_mut().zip(gradient) {
                    *sum -= push * g;
                }
            }
        });
        self.push_rigids(walls);
    }

    /// Accelerations of the rigid bodies: the reactions to what they press.
    fn push_rigids(&mut self, walls: &Walls) {
        for column in [&mut self.rigid_accelerations, &mut self.rigid_forces] {
            column.clear();
            column.resize(walls.bodies.len(), [Vec3::ZERO; 2]);
        }
        if walls.bodies.iter().any(|body| body.inverse_mass > 0.0) {
            self.rigid_forces = self.forces_on_rigids(walls, |body| body.inverse_mass > 0.0);
        }
        for ((acceleration, force), body) in
            self.rigid_accelerations.iter_mut().zip(&self.rigid_forces).zip(&walls.bodies)
        {
            *acceleration = [force[0] * body.inverse_mass, body.inverse_inertia * force[1]];
        }
    }

    /// Force and torque about its centre on each rigid body that is wanted, by the pressure last applied.
    pub fn forces_on_rigids(
        &self,
        walls: &Walls,
        wanted: impl Fn(&WallBody) -> bool + Sync,
    ) -> Vec<[Vec3; 2]> {
        let (values, wall_kappa) = (&self.values, &self.wall_kappa);
        let is_wanted = |rigid: usize| wanted(&walls.bodies[rigid]);
        let chunk = |touches: &Vec<Touch>| {
            let mut wrenches = Vec::new();
            for touch in touches.iter().filter(|touch| is_wanted(touch.rigid as usize)) {
                let kappa = values[touch.member as usize][3] as Real;
                add_wrench(&mut wrenches, touch.rigid, [touch.gradient * kappa, touch.moment * kappa]);
            }
            wrenches
        };
        let rows = |(c, kappas): (usize, &[f32])| {
            let mut wrenches = Vec::new();
            for (b, kappa) in kappas.iter().enumerate().filter(|(_, kappa)| **kappa > 0.0) {
                let rigid = walls.rigid_of(c * POINTS + b);
                if is_wanted(rigid) {
                    let sums = walls.sums[c * POINTS + b].map(|sum| sum * *kappa as Real);
                    add_wrench(&mut wrenches, rigid as u32, sums);
                }
            }
            wrenches
        };
        let mut parts: Vec<_> = walls.touches.par_iter().map(chunk).collect();
        parts.par_extend(wall_kappa.par_chunks(POINTS).enumerate().map(rows));
        let mut forces = vec![[Vec3::ZERO; 2]; walls.bodies.len()];
        for (rigid, wrench) in parts.into_iter().flatten() {
            let sum = &mut forces[rigid as usize];
            *sum = [sum[0] + wrench[0], sum[1] + wrench[1]];
        }
        forces
    }

    /// Force of a rigid body on a member it touches, by the pressure last applied; `presses` are those of its chunk.
    pub fn force_of(&self, walls: &Walls, touch: &Touch, presses: &[Press]) -> Vec3 {
        let first = presses.partition_point(|press| press.member < touch.member);
        let own = presses[first..].iter().take_while(|press| press.member == touch.member);
        let by_points: Vec3 = own
            .filter(|press| walls.rigid_of(press.point as usize) == touch.rigid as usize)
            .map(|press| {
                let kappa = self.wall_kappa[press.point as usize];
                (glam::Vec3::from_array(press.gradient) * kappa).as_dvec3()
            })
            .sum();
        touch.gradient * -(self.kappa(touch.member as usize) as Real) - by_points
    }

    /// out = scale D u, for the vectors u in place.
    fn diverge(
        &mut self,
        neighbors: &CurrentNeighbors,
        walls: &Walls,
        rigid: &[[Vec3; 2]],
        scale: f32,
        out: &mut [f32],
    ) {
        let (vectors, kernel, gradients) = (&self.vectors, self.kernel, &self.wall_gradients);
        let n = vectors.len();
        let (out, at_points) = out.split_at_mut(n);
        let node_rates = &mut self.node_rates;
        let rate = |(b, out): (usize, &mut f32)| {
            let presses = walls.presses_on(b);
            *out = 0.0;
            if !presses.is_empty() {
                let ([v, w], [sum, moment]) = (rigid[walls.rigid_of(b)], walls.sums[b]);
                let part = |press: &Press| {
                    let u = &vectors[press.member as usize];
                    glam::Vec3::from_array(press.gradient).dot(glam::Vec3::new(u[3], u[4], u[5]))
                };
                let of_members: f32 = presses.iter().map(part).sum();
                *out = scale * (of_members - (v.dot(sum) + w.dot(moment)) as f32);
            }
        };
        let points = walls.points.len();
        at_points.par_iter_mut().with_min_len(POINTS).enumerate().for_each(rate);
        node_rates
            .par_iter_mut()
            .with_min_len(POINTS)
            .enumerate()
            .for_each(|(k, out)| rate((points + k, out)));
        let at_walls = walls.touches.par_iter().zip(&walls.presses);
        out.par_chunks_mut(CHUNK_PARTICLES).zip(at_walls).enumerate().for_each(
            |(c, (out, (touches, presses)))| {
                let start = c * CHUNK_PARTICLES;
                for slice in neighbors.slices(c) {
                    let rate = diverge_of_slice(&kernel, vectors, slice);
                    for lane in 0..LANES.min(n - slice.first) {
                        let m = slice.first + lane;
                        let (u, g) = (&vectors[m], &gradients[m]);
                        let wall = u[3] * g[0] + u[4] * g[1] + u[5] * g[2];
                        out[m - start] = scale * (rate.as_array()[lane] + wall);
                    }
                }
                for touch in touches {
                    let [v, w] = rigid[touch.rigid as usize];
                    let rate = v.dot(touch.gradient) + w.dot(touch.moment);
                    out[touch.member as usize - start] -= scale * rate as f32;
                }
                for press in presses {
                    if let Some((node, share)) = walls.share(press) {
                        out[press.member as usize - start] += share * node_rates[node];
                    }
                }
            },
        );
    }

    /// Acceleration of a member by the pressure last applied.
    pub fn acceleration(&self, m: usize) -> Vec3 {
        let u = &self.vectors[m];
        Vec3::new(u[3] as Real, u[4] as Real, u[5] as Real)
    }

    /// Accelerations of the rigid bodies by the pressure last applied: of the centre, and angular.
    pub fn rigid_accelerations(&self) -> &[[Vec3; 2]] {
        &self.rigid_accelerations
    }

    /// Force and torque about its centre on each rigid body by the pressure last applied.
    pub fn rigid_forces(&self) -> &[[Vec3; 2]] {
        &self.rigid_forces
    }

    /// The density errors as they are, without a solve.
    pub fn report(&self) -> PressureReport {
        let error = |m: usize| self.compressions[m].max(0.0) as Real;
        let n = self.values.len();
        let (max_error, _) = max_with_index(n, error);
        let mean_error = sum(n, 0.0, error) / n.max(1) as Real;
        PressureReport { iterations: 0, mean_error, max_error: max_error.max(0.0), converged: true }
    }

    /// Compression c of a member at the positions last measured.
    pub fn compression(&self, m: usize) -> f32 {
        self.compressions[m]
    }

    /// Σ_j V0 r |∇W_ij| of a member at the positions last measured: p = kappa virial / (3 s³).
    pub fn virial(&self, m: usize) -> f32 {
        self.virials[m]
    }

    /// kappa of a member as last applied.
    pub fn kappa(&self, m: usize) -> f32 {
        self.values[m][3]
    }

    pub fn inverse_mass(&self, m: usize) -> f32 {
        self.inverse_masses[m]
    }

    /// Volume over that at rest at the positions last measured, at most 1: fewer neighbours are a surface, not a void.
    pub fn volume_ratio(&self, m: usize) -> f32 {
        1.0 / (1.0 + self.compressions[m].max(0.0))
    }

    /// V0 ∇W_ij of two members.
    pub fn gradient(&self, neighbors: &CurrentNeighbors, i: usize, j: usize) -> Vec3 {
        let x_ij = neighbors.offset(i, j);
        x_ij * -(self.cell * self.single.slope_over_r(x_ij.length()))
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.values.capacity() * (4 * 4 + 12 + 16 + 32)
    }
}

fn add_wrench(wrenches: &mut Vec<(u32, [Vec3; 2])>, rigid: u32, wrench: [Vec3; 2]) {
    match wrenches.iter_mut().find(|(of, _)| *of == rigid) {
        Some((_, sum)) => *sum = [sum[0] + wrench[0], sum[1] + wrench[1]],
        None => wrenches.push((rigid, wrench)),
    }
}

#[inline(always)]
fn own(slice: Slice, n: usize) -> [u32; LANES] {
    std::array::from_fn(|lane| (slice.first + lane).min(n - 1) as u32)
}

/// q and x_ij/h of a row of pairs.
#[inline(always)]
fn pair(i: [Lane; 3], j: [Lane; 3]) -> (Lane, Vec3x8) {
    let e = offset(i, j);
    (e.dot(e).sqrt(), e)
}

/// Σ_j V0 W_ij, Σ_j V0 ∇W_ij, Σ_j |V0 ∇W_ij|² / m_j, -Σ_j V0 x_ij/h·∇W_ij.
#[inline(always)]
fn sums_of_slice(kernel: &KernelLanes, values: &[[f32; 4]], slice: Slice) -> (Lane, Vec3x8, Lane, Lane) {
    let itself = own(slice, values.len());
    let [xi, yi, zi, _] = gather4(values, &itself);
    let (mut density, mut gradient, mut squares) = (Lane::ZERO, Vec3x8::ZERO, Lane::ZERO);
    let mut virial = Lane::ZERO;
    for row in slice.rows {
        let [x, y, z, inverse_mass] = gather4(values, row);
        let (q, e) = pair([xi, yi, zi], [x, y, z]);
        let counts = Lane::from(std::array::from_fn(|lane| (row[lane] != itself[lane]) as u32 as f32));
        density = kernel.w(q).mul_add(counts, density);
        let d = e * -kernel.slope(q);
        gradient = gradient + d;
        squares = d.dot(d).mul_add(inverse_mass, squares);
        virial -= e.dot(d);
    }
    (density, gradient, squares, virial)
}

/// -Σ_j (kappa_i + kappa_j) V0 ∇W_ij.
#[inline(always)]
fn push_of_slice(kernel: &KernelLanes, values: &[[f32; 4]], slice: Slice) -> Vec3x8 {
    let [xi, yi, zi, kappa_i] = gather4(values, &own(slice, values.len()));
    let mut force = Vec3x8::ZERO;
    for row in slice.rows {
        let [x, y, z, kappa] = gather4(values, row);
        let (q, e) = pair([xi, yi, zi], [x, y, z]);
        force = force + e * (kernel.slope(q) * (kappa_i + kappa));
    }
    force
}

/// Σ_j V0 ∇W_ij·(u_i - u_j).
#[inline(always)]
fn diverge_of_slice(kernel: &KernelLanes, vectors: &[[f32; 8]], slice: Slice) -> Lane {
    let [xi, yi, zi, ui, vi, wi, _, _] = gather8(vectors, &own(slice, vectors.len()));
    let u_i = Vec3x8::new(ui, vi, wi);
    let mut rate = Lane::ZERO;
    for row in slice.rows {
        let [x, y, z, u, v, w, _, _] = gather8(vectors, row);
        let (q, e) = pair([xi, yi, zi], [x, y, z]);
        rate -= kernel.slope(q) * e.dot(u_i - Vec3x8::new(u, v, w));
    }
    rate
}
