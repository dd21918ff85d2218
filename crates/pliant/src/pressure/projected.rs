//! Pressure by conjugate gradients with bounds.
//!
//! min ½ kappaᵀ A kappa - bᵀ kappa for kappa >= 0, with A = dt² D M⁻¹ Dᵀ and b = c + dt D v*. A round releases all that
//! want to press, goes on by conjugate gradients as if there were no bounds, and lifts to zero what ended below. Should a
//! round help little, bounds are kept in every iteration [Dostál & Schöberl 2005, MPRGP]. Variables are scaled by the root
//! of the diagonal; coarse grids precondition them (`coarse.rs`), so that it takes few iterations however deep the liquid
//! is, where relaxed Jacobi (Ihmsen et al. 2014) takes as many as the square of its depth.

use super::PressureSystem;
use super::coarse::Coarse;
use crate::math::{CHUNK, Real, Vec3, sum_by_chunk};
use crate::neighbors::CurrentNeighbors;
use crate::rigid::Walls;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// When the iteration ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Mean density error allowed, relative to the rest density.
    pub density_error: Real,
    pub max_iterations: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Settings { density_error: 1e-3, max_iterations: 200 }
    }
}

/// What the pressure solve of a step did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PressureReport {
    pub iterations: usize,
    /// Mean density error left, relative to the rest density.
    pub mean_error: Real,
    /// Largest density error left.
    pub max_error: Real,
    pub converged: bool,
}

/// What is to be solved.
#[derive(Clone, Copy, Debug)]
pub struct Problem<'a> {
    pub dt: Real,
    /// Compressions b at the end of the step without pressure.
    pub compressions: &'a [f32],
    pub settings: Settings,
}

/// Error allowed relative to what pressure has to undo in this step. In short steps that is much less than the density
/// error allowed, and what is left of it would be noise in the velocities.
const WORK: Real = 0.2;
/// Iterations of every step: what is nearly at rest, and cheap, comes to rest exactly.
const FEWEST: usize = 4;
/// Share of the density error allowed below which it is not asked for more than the fewest iterations.
const STRICT: Real = 0.2;
/// Share of the density error allowed below which nothing is left to do.
const LITTLE: Real = 1e-3;
/// Least square of the gradients of a particle that is pressed, relative to a pair at rest.
const TOUCH: f32 = 1e-4;
/// Particles under pressure from which on coarse grids pay.
const MANY: usize = 4096;
/// Iterations of a round, and the part of the error that it must not leave.
const ROUND: usize = 8;
const HELPS: Real = 0.7;
/// Part of the errors left at which a round ends: some come back with the bounds.
const SURE: Real = 0.8;
/// Share of the chopped gradient above which the set of free particles is enlarged.
const PROPORTION: Real = 1.0;

/// Columns in the order of the members, then of the boundary points.
#[derive(Debug, Default)]
pub struct ProjectedGradients {
    /// 1/√A_ii, zero where nothing presses.
    scale: Vec<f32>,
    /// Scaled kappa.
    y: Vec<f32>,
    /// Gradient g = B y - b of the scaled problem.
    g: Vec<f32>,
    /// May y change?
    free: Vec<bool>,
    /// Gradient of the free ones, preconditioned.
    z: Vec<f32>,
    p: Vec<f32>,
    q: Vec<f32>,
    /// y and g before a round.
    y_before: Vec<f32>,
    g_before: Vec<f32>,
    coarse: Coarse,
    /// Largest eigenvalue seen.
    stretch: Real,
    /// Did the last round go back, so that the system does not have the accelerations of y?
    mixed: bool,
}

/// The operator B of the scaled problem.
struct Operator<'a> {
    system: &'a mut PressureSystem,
    neighbors: &'a CurrentNeighbors,
    walls: &'a Walls,
    /// Do coarse grids precondition?
    has_grids: bool,
}

impl Operator<'_> {
    fn apply(&mut self, x: &[f32], scale: &[f32], out: &mut [f32]) {
        self.system.apply(self.neighbors, self.walls, |m| x[m] * scale[m], out);
        out.par_iter_mut().zip(scale).with_min_len(CHUNK).for_each(|(o, s)| *o *= s);
    }
}

impl ProjectedGradients {
    /// Solves for kappa from the guess given.
    /// Leaves the accelerations in the system.
    pub fn solve(
        &mut self,
        system: &mut PressureSystem,
        neighbors: &CurrentNeighbors,
        walls: &Walls,
        problem: Problem,
        kappa: &mut [f32],
    ) -> PressureReport {
        let Problem { dt, compressions: b, settings } = problem;
        system.set_time_step(dt);
        self.start(system, dt, kappa);
        let free = self.open(b, settings.density_error as f32);
        let has_grids = free >= MANY && self.coarse.weigh(neighbors, walls, &self.free);
        if has_grids {
            system.coarsen(neighbors, walls, &mut self.coarse);
        }
        let mut operator = Operator { system, neighbors, walls, has_grids };
        let counted = self.scale.iter().filter(|s| **s > 0.0).count().max(1);
        self.look(&mut operator, b);
        let mut report = self.errors(counted);
        let work = WORK * self.work(b) / counted as Real;
        let tolerance = work.clamp(STRICT * settings.density_error, settings.density_error);
        let enough = |report: &PressureReport| {
            let little = LITTLE * settings.density_error;
            let few = report.iterations < FEWEST && report.mean_error > little;
            report.iterations >= settings.max_iterations || (report.mean_error <= tolerance && !few)
        };
        let (mut helps, mut looked) = (true, true);
        while !enough(&report) {
            let before = report;
            let iterations = if helps {
                let left = tolerance * counted as Real;
                self.round(&mut operator, b, (settings.max_iterations - before.iterations).min(ROUND), left)
            } else {
                self.iterate(&mut operator, b)
            };
            // the system has the accelerations of y only after a round that went all the way
            looked = helps && !self.mixed;
            if iterations == 0 {
                break;
            }
            report = PressureReport { iterations: before.iterations + iterations, ..self.errors(counted) };
            if helps && report.mean_error > HELPS * before.mean_error {
                helps = false;
                self.hold(operator.has_grids.then_some(neighbors));
            }
        }
        report.converged = report.mean_error <= tolerance;
        let columns = kappa.par_iter_mut().enumerate().with_min_len(CHUNK);
        columns.for_each(|(m, k)| *k = self.y[m] * self.scale[m]);
        if !looked {
            operator.system.push(neighbors, walls, |m| kappa[m]);
        }
        report
    }

    /// Frees what presses. Where liquid begins to press, as in the first step or when it hits the floor, all that are not
    /// thinner than allowed become free: else pressure would get no further up in a step than iterations carry it.
    /// Returns how many are free.
    fn open(&mut self, b: &[f32], allowed: f32) -> usize {
        self.free_pressed();
        let count = |free: &[bool]| free.par_iter().with_min_len(CHUNK).filter(|free| **free).count();
        let pressed = count(&self.free);
        let scale = &self.scale;
        let is_full = |m: usize| scale[m] > 0.0 && b[m] > -allowed;
        let full = (0..b.len()).into_par_iter().with_min_len(CHUNK).filter(|&m| is_full(m)).count();
        if 2 * pressed >= full {
            return pressed;
        }
        let columns = self.free.par_iter_mut().enumerate().with_min_len(CHUNK);
        columns.for_each(|(m, free)| *free |= is_full(m));
        count(&self.free)
    }

    /// g ← B y - b. Leaves the accelerations of y in the system.
    fn look(&mut self, operator: &mut Operator, b: &[f32]) {
        operator.apply(&self.y, &self.scale, &mut self.g);
        let scale = &self.scale;
        self.g.par_iter_mut().enumerate().with_min_len(CHUNK).for_each(|(m, g)| *g -= b[m] * scale[m]);
    }

    /// Conjugate gradients with all that are free or want to press, as if there were no bounds, until Σ |errors| is below
    /// `left`. Returns the iterations.
    fn round(&mut self, operator: &mut Operator, b: &[f32], most: usize, left: Real) -> usize {
        let Self { scale, g, free, .. } = self;
        let columns = free.par_iter_mut().enumerate().with_min_len(CHUNK);
        columns.for_each(|(m, free)| *free |= scale[m] > 0.0 && g[m] < 0.0);
        self.mixed = false;
        self.y_before.copy_from_slice(&self.y);
        self.g_before.copy_from_slice(&self.g);
        let grids = operator.has_grids.then_some(operator.neighbors);
        self.restart(grids);
        let mut done = 0;
        while let Some((full, pq)) = self.full_step(operator) {
            self.walk(full as f32);
            done += 1;
            if done == most || (done >= FEWEST && self.left() <= SURE * left) {
                break;
            }
            self.turn(grids, pq);
        }
        self.lift();
        self.look(operator, b);
        self.stay_downhill();
        self.free_pressed();
        done
    }

    /// What was lifted may have held others down: goes back towards where the round began, as far as that has less
    /// energy. All on the way is above the bounds, and energies never rise.
    fn stay_downhill(&mut self) {
        let sums = sum_by_chunk(self.y.len(), glam::DVec2::ZERO, |range| {
            let mut sum = glam::DVec2::ZERO;
            for m in range {
                let way = (self.y[m] - self.y_before[m]) as Real;
                sum.x += way * self.g_before[m] as Real;
                sum.y += way * (self.g[m] - self.g_before[m]) as Real;
            }
            sum
        });
        let best = if sums.x < 0.0 { -sums.x / sums.y.max(-sums.x) } else { 0.0 };
        if best < 1.0 {
            let mix = |now: &mut f32, before: &f32| *now = before + best as f32 * (*now - before);
            self.y.par_iter_mut().zip(&self.y_before).with_min_len(CHUNK).for_each(|(y, b)| mix(y, b));
            self.g.par_iter_mut().zip(&self.g_before).with_min_len(CHUNK).for_each(|(g, b)| mix(g, b));
            self.mixed = true;
        }
    }

    /// Nothing is below its bound.
    fn lift(&mut self) {
        self.y.par_iter_mut().with_min_len(CHUNK).for_each(|y| *y = y.max(0.0));
    }

    /// From here on only what presses is free.
    fn hold(&mut self, grids: Option<&CurrentNeighbors>) {
        self.free_pressed();
        self.restart(grids);
    }

    fn free_pressed(&mut self) {
        let y = &self.y;
        self.free.par_iter_mut().enumerate().with_min_len(CHUNK).for_each(|(m, free)| *free = y[m] > 0.0);
    }

    /// An iteration that keeps the bounds. Returns 1, or 0 if there is nowhere to go.
    fn iterate(&mut self, operator: &mut Operator, b: &[f32]) -> usize {
        let grids = operator.has_grids.then_some(operator.neighbors);
        let (free, chopped) = self.gradients();
        if chopped > PROPORTION * PROPORTION * free {
            // release: along the gradient of those held at zero that want to press
            let (y, g) = (&self.y, &self.g);
            let columns = self.p.par_iter_mut().enumerate().with_min_len(CHUNK);
            columns.for_each(|(m, p)| *p = if y[m] > 0.0 { 0.0 } else { g[m].min(0.0) });
            let Some((full, _)) = self.full_step(operator) else { return 0 };
            self.walk(full as f32);
            self.lift();
        } else {
            let Some((full, pq)) = self.full_step(operator) else { return 0 };
            let feasible = self.longest_step();
            if full <= feasible {
                self.walk(full as f32);
                self.lift();
                self.turn(grids, pq);
                return 1;
            }
            // to the first bound, then downhill with all that are free, past their bounds
            self.walk(feasible as f32);
            let (step, g) = ((1.5 / self.stretch) as f32, &self.g);
            self.y.par_iter_mut().enumerate().with_min_len(CHUNK).for_each(|(m, y)| {
                if *y > 0.0 {
                    *y -= step * g[m];
                }
            });
            self.lift();
            self.look(operator, b);
        }
        self.hold(grids);
        1
    }

    /// q ← B p; the step along -p to the least energy, and p·q. None if there is none.
    fn full_step(&mut self, operator: &mut Operator) -> Option<(Real, Real)> {
        operator.apply(&self.p, &self.scale, &mut self.q);
        let (gp, pq, pp) = self.products();
        if pq <= 0.0 {
            return None;
        }
        self.stretch = self.stretch.max(pq / pp);
        Some((gp / pq, pq))
    }

    fn start(&mut self, system: &PressureSystem, dt: Real, kappa: &[f32]) {
        let n = kappa.len();
        self.free.resize(n, false);
        self.stretch = 1.0;
        let Self { scale, y, g, z, p, q, y_before, g_before, .. } = self;
        for column in [scale, y, g, z, p, q, y_before, g_before] {
            column.resize(n, 0.0);
        }
        let largest = system.diagonal.par_iter().with_min_len(CHUNK).copied().reduce(|| 0.0, f32::max);
        let touch = TOUCH * system.square_at_rest();
        let columns = self.scale.par_iter_mut().zip(&mut self.y).enumerate().with_min_len(CHUNK);
        columns.for_each(|(m, (scale, y))| {
            // what hardly touches cannot be pressed: its pressure would have no bound
            let least = touch * system.inverse_masses.get(m).copied().unwrap_or(0.0);
            let d = system.diagonal[m];
            *scale = if d > least.max(1e-6 * largest) { 1.0 / (dt as f32 * d.sqrt()) } else { 0.0 };
            *y = if *scale > 0.0 { kappa[m] / *scale } else { 0.0 };
        });
    }

    /// Σ |b| of those that press or would be compressed.
    fn work(&self, b: &[f32]) -> Real {
        let part = |m: usize| if self.y[m] > 0.0 { b[m].abs() } else { b[m].max(0.0) };
        sum_by_chunk(b.len(), 0.0, |range| {
            range.filter(|&m| self.scale[m] > 0.0).map(|m| part(m) as Real).sum()
        })
    }

    /// Density errors left: what is still compressed, and what is pressed apart.
    fn errors(&self, counted: usize) -> PressureReport {
        let error = |m: usize| {
            if self.scale[m] == 0.0 {
                return 0.0;
            }
            let left = -(self.g[m] / self.scale[m]) as Real;
            if self.y[m] > 0.0 { left.abs() } else { left.max(0.0) }
        };
        let n = self.y.len();
        let total = sum_by_chunk(n, 0.0, |range| range.map(error).sum());
        let max_error = (0..n).into_par_iter().with_min_len(CHUNK).map(error).reduce(|| 0.0, Real::max);
        PressureReport { iterations: 0, mean_error: total / counted as Real, max_error, converged: false }
    }

    /// |reduced free gradient · free gradient| and |chopped gradient|².
    fn gradients(&self) -> (Real, Real) {
        let parts = sum_by_chunk(self.y.len(), glam::DVec2::ZERO, |range| {
            let mut sum = glam::DVec2::ZERO;
            for m in range {
                let (y, g) = (self.y[m] as Real, self.g[m] as Real);
                if y > 0.0 {
                    sum.x += g * g.min(y * self.stretch / 1.5);
                } else if self.scale[m] > 0.0 {
                    sum.y += g.min(0.0).powi(2);
                }
            }
            sum
        });
        (parts.x, parts.y)
    }

    /// g·p, p·q and p·p.
    fn products(&self) -> (Real, Real, Real) {
        let sums = sum_by_chunk(self.y.len(), Vec3::ZERO, |range| {
            let mut sum = Vec3::ZERO;
            for m in range {
                let (g, p, q) = (self.g[m] as Real, self.p[m] as Real, self.q[m] as Real);
                sum += Vec3::new(g * p, p * q, p * p);
            }
            sum
        });
        (sums.x, sums.y, sums.z)
    }

    /// The largest step along -p that leaves all y at zero or above.
    fn longest_step(&self) -> Real {
        let ratio = |m: usize| if self.p[m] > 0.0 { (self.y[m] / self.p[m]) as Real } else { Real::INFINITY };
        (0..self.y.len()).into_par_iter().with_min_len(CHUNK).map(ratio).reduce(|| Real::INFINITY, Real::min)
    }

    /// y ← y - step p, g ← g - step q.
    fn walk(&mut self, step: f32) {
        let (p, q) = (&self.p, &self.q);
        self.y.par_iter_mut().zip(&mut self.g).enumerate().with_min_len(CHUNK).for_each(|(m, (y, g))| {
            *y -= step * p[m];
            *g -= step * q[m];
        });
    }

    /// Σ |errors| of those that are free.
    fn left(&self) -> Real {
        let part = |m: usize| if self.free[m] { (self.g[m] / self.scale[m]).abs() as Real } else { 0.0 };
        sum_by_chunk(self.y.len(), 0.0, |range| range.map(part).sum())
    }

    /// z ← gradient of the free ones, preconditioned by coarse grids if there are any.
    fn precondition(&mut self, grids: Option<&CurrentNeighbors>) {
        let Self { scale, g, free, z, coarse, .. } = self;
        let columns = z.par_iter_mut().enumerate().with_min_len(CHUNK);
        columns.for_each(|(m, z)| *z = if free[m] { g[m] } else { 0.0 });
        if let Some(neighbors) = grids {
            coarse.correct(neighbors, |m| if free[m] { 1.0 / scale[m] } else { 0.0 }, g, z);
        }
    }

    /// p ← z.
    fn restart(&mut self, grids: Option<&CurrentNeighbors>) {
        self.precondition(grids);
        self.p.copy_from_slice(&self.z);
    }

    /// p ← z, made conjugate to the last direction.
    fn turn(&mut self, grids: Option<&CurrentNeighbors>, pq: Real) {
        self.precondition(grids);
        let overlap = sum_by_chunk(self.y.len(), 0.0, |range| {
            range.map(|m| self.z[m] as Real * self.q[m] as Real).sum()
        });
        let (part, z) = ((overlap / pq) as f32, &self.z);
        let columns = self.p.par_iter_mut().enumerate().with_min_len(CHUNK);
        columns.for_each(|(m, p)| *p = z[m] - part * *p);
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        (8 * 4 + 1) * self.y.capacity() + self.coarse.bytes()
    }
}
