//! Pressure by conjugate gradients with bounds [Dostál & Schöberl 2005, MPRGP].
//!
//! min ½ kappaᵀ A kappa - bᵀ kappa for kappa >= 0, with A = dt² D M⁻¹ Dᵀ and b = c + dt D v*. Where kappa > 0 it goes
//! like conjugate gradients, which take as many iterations as the liquid is deep and not its square, as relaxed Jacobi
//! (Ihmsen et al. 2014) does. Variables are scaled by the root of the diagonal.

use super::PressureSystem;
use crate::math::{CHUNK, Real, Vec3, sum_by_chunk};
use crate::neighbors::CurrentNeighbors;
use crate::rigid::Walls;
use rayon::prelude::*;

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
#[derive(Clone, Copy, Debug, Default, PartialEq)]
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
const STRICT: Real = 0.05;
/// Share of the density error allowed below which nothing is left to do.
const LITTLE: Real = 1e-3;
/// Least square of the gradients of a particle that is pressed, relative to a pair at rest.
const TOUCH: f32 = 1e-4;
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
    p: Vec<f32>,
    q: Vec<f32>,
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
        let mut product = |x: &[f32], scale: &[f32], out: &mut Vec<f32>| {
            system.apply(neighbors, walls, |m| x[m] * scale[m], out);
            out.par_iter_mut().zip(scale).with_min_len(CHUNK).for_each(|(o, s)| *o *= s);
        };
        let counted = self.scale.iter().filter(|s| **s > 0.0).count().max(1);
        product(&self.y, &self.scale, &mut self.g);
        self.subtract(b);
        let mut report = self.errors(counted);
        let work = WORK * self.work(b) / counted as Real;
        let tolerance = work.clamp(STRICT * settings.density_error, settings.density_error);
        let mut stretch: Real = 1.0; // largest eigenvalue seen
        self.p.copy_from_slice(&self.g);
        self.p
            .par_iter_mut()
            .zip(&self.y)
            .with_min_len(CHUNK)
            .for_each(|(p, y)| *p = if *y > 0.0 { *p } else { 0.0 });
        let little = LITTLE * settings.density_error;
        while (report.mean_error > tolerance || (report.iterations < FEWEST && report.mean_error > little))
            && report.iterations < settings.max_iterations
        {
            report.iterations += 1;
            let (free, chopped) = self.gradients(stretch);
            if chopped > PROPORTION * PROPORTION * free {
                // release: along the gradient of those held at zero that want to press
                let (y, g) = (&self.y, &self.g);
                self.p
                    .par_iter_mut()
                    .enumerate()
                    .with_min_len(CHUNK)
                    .for_each(|(m, p)| *p = if y[m] > 0.0 { 0.0 } else { g[m].min(0.0) });
                product(&self.p, &self.scale, &mut self.q);
                let (gp, pq, pp) = self.products();
                if pq <= 0.0 {
                    break;
                }
                stretch = stretch.max(pq / pp);
                self.walk((gp / pq) as f32);
                self.restart();
            } else {
                product(&self.p, &self.scale, &mut self.q);
                let (gp, pq, pp) = self.products();
                if pq <= 0.0 {
                    break;
                }
                stretch = stretch.max(pq / pp);
                let full = gp / pq;
                let feasible = self.longest_step();
                if full <= feasible {
                    self.walk(full as f32);
                    self.turn(pq);
                } else {
                    // to the first bound, then downhill with all that are free, past their bounds
                    self.walk(feasible as f32);
                    let step = (1.5 / stretch) as f32;
                    let g = &self.g;
                    self.y.par_iter_mut().enumerate().with_min_len(CHUNK).for_each(|(m, y)| {
                        if *y > 0.0 {
                            *y = (*y - step * g[m]).max(0.0);
                        }
                    });
                    product(&self.y, &self.scale, &mut self.g);
                    self.subtract(b);
                    self.restart();
                }
            }
            report = PressureReport { iterations: report.iterations, ..self.errors(counted) };
        }
        report.converged = report.mean_error <= tolerance;
        kappa
            .par_iter_mut()
            .enumerate()
            .with_min_len(CHUNK)
            .for_each(|(m, k)| *k = self.y[m] * self.scale[m]);
        system.push(neighbors, walls, |m| kappa[m]);
        report
    }

    fn start(&mut self, system: &PressureSystem, dt: Real, kappa: &[f32]) {
        let n = kappa.len();
        for column in [&mut self.scale, &mut self.y, &mut self.g, &mut self.p, &mut self.q] {
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

    /// g ← g - b.
    fn subtract(&mut self, b: &[f32]) {
        let scale = &self.scale;
        self.g.par_iter_mut().enumerate().with_min_len(CHUNK).for_each(|(m, g)| *g -= b[m] * scale[m]);
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
    fn gradients(&self, stretch: Real) -> (Real, Real) {
        let parts = sum_by_chunk(self.y.len(), glam::DVec2::ZERO, |range| {
            let mut sum = glam::DVec2::ZERO;
            for m in range {
                let (y, g) = (self.y[m] as Real, self.g[m] as Real);
                if y > 0.0 {
                    sum.x += g * g.min(y * stretch / 1.5);
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
            *y = (*y - step * p[m]).max(0.0);
            *g -= step * q[m];
        });
    }

    /// p ← the gradient of the free ones.
    fn restart(&mut self) {
        let (y, g) = (&self.y, &self.g);
        self.p
            .par_iter_mut()
            .enumerate()
            .with_min_len(CHUNK)
            .for_each(|(m, p)| *p = if y[m] > 0.0 { g[m] } else { 0.0 });
    }

    /// p ← free gradient, made conjugate to the last direction.
    fn turn(&mut self, pq: Real) {
        let overlap = sum_by_chunk(self.y.len(), 0.0, |range| {
            range.filter(|&m| self.y[m] > 0.0).map(|m| self.g[m] as Real * self.q[m] as Real).sum()
        });
        let part = (overlap / pq) as f32;
        let (y, g) = (&self.y, &self.g);
        self.p.par_iter_mut().enumerate().with_min_len(CHUNK).for_each(|(m, p)| {
            *p = (if y[m] > 0.0 { g[m] } else { 0.0 }) - part * *p;
        });
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        5 * 4 * self.y.capacity()
    }
}
