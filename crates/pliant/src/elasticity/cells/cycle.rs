//! A V-cycle over the cells and the grids around them, as preconditioner of stiff bodies.
//!
//! Chebyshev iterations on D⁻¹A take away what varies from cell to cell, the grids what varies slowly, and the same
//! iterations once more make the whole symmetric. They wait for no sums: an iteration is two passes over the cells, where
//! one of conjugate gradients is four. No eigenvalue of D⁻¹A may exceed what they are made for, or the cycle is not
//! positive definite. With h the largest eigenvalue of diag(K)⁻¹K and m/D the least share of a mass in its diagonal,
//!   M + dt² K <= M + dt² h diag(K) <= (1 + (h - 1)(1 - m/D)) D.
//! h depends on lambda/mu alone; power iterations find it once.

use super::columns::{Columns, each, lane, put, sum, total};
use super::solver::{CellSolver, spread};
use super::stencil::{Place, Stiffness};
use super::{Cells, NOBODY, Task};
use crate::elasticity::ElasticBody;
use crate::elasticity::preconditioner::BodyPreconditioner;
use crate::linear::Multigrid;
use crate::math::Lane;
use glam::{DVec2, Mat3A, Vec3};

/// Chebyshev iterations treat eigenvalues of D⁻¹A from this part of the largest on; the grids treat those below.
const SMOOTH_FROM: f32 = 0.04;
/// Power iterations, and what the largest eigenvalue may be above what they find, in bent bodies, too.
const POWER_ITERATIONS: usize = 40;
const MARGIN: f32 = 1.3;
/// h is found for this many values of 1 + lambda/mu from one power of two to the next.
const VALUES_PER_OCTAVE: f64 = 8.0;

/// What a cycle needs besides the system.
#[derive(Clone, Debug)]
pub(super) struct Cycle {
    /// Which value of lambda/mu `highest` is for.
    value: i32,
    /// h.
    highest: f32,
    /// The solution, its last change, and what is left of the right-hand side.
    pub z: Columns<3>,
    d: Columns<3>,
    rest: Columns<3>,
    /// Of the iterations after the first, where bands take turns: several iterations are under way at a time.
    stresses: Vec<Columns<9>>,
}

impl Cycle {
    /// The cycle of a body with its present moduli, made from the last one if there is one.
    pub fn new(
        cells: &Cells,
        body: &ElasticBody,
        preconditioner: &BodyPreconditioner,
        last: Option<Cycle>,
    ) -> Cycle {
        let ratio = body.moduli.lame_lambda() / body.moduli.shear;
        let value = (VALUES_PER_OCTAVE * (1.0 + ratio).log2()).ceil() as i32;
        let cycle = last.unwrap_or_else(|| Cycle {
            value: value - 1,
            highest: 0.0,
            z: Columns::new(cells.count(), 39),
            d: Columns::new(cells.count(), 42),
            rest: Columns::new(cells.count(), 45),
            stresses: match cells.cut.takes_turns() {
                true => (1..Self::SMOOTHING).map(|_| Columns::new(cells.cut.slot_cells, 0)).collect(),
                false => Vec::new(),
            },
        });
        if cycle.value == value {
            return cycle;
        }
        let lambda = (value as f64 / VALUES_PER_OCTAVE).exp2() as f32 - 1.0;
        let z = body.constants.zero_energy as f32 / 8.0 * (3.0 * lambda + 2.0) / (lambda + 1.0);
        let stiffness = Stiffness { two_mu: 2.0, lambda, z };
        Cycle { value, highest: highest_eigenvalue(cells, preconditioner, stiffness), ..cycle }
    }

    pub fn bytes(&self) -> usize {
        let stresses = self.stresses.iter().map(Columns::bytes).sum::<usize>();
        self.z.bytes() + self.d.bytes() + self.rest.bytes() + stresses
    }
}

/// The largest eigenvalue of diag(K)⁻¹K, as Rayleigh quotient of power iterations, with a margin. Rotations of the whole
/// body do not change it.
fn highest_eigenvalue(cells: &Cells, preconditioner: &BodyPreconditioner, stiffness: Stiffness) -> f32 {
    let mut system = CellSolver::new(cells);
    system.stiffness = stiffness;
    let Stiffness { two_mu, lambda, z } = stiffness;
    let diagonal = |i: usize| preconditioner.mean_stiffness(i, (0.5 * two_mu, lambda, z));
    system.inertia.sort(cells, |i| (preconditioner.mark(i), 0));
    system.inertia.set(cells, |i| [0.0, 1.0, diagonal(i), lambda]);
    for &cell in &cells.cell_of {
        system.rotations.set(cell as usize, [0.0, 0.0, 0.0, 1.0]);
    }
    // something of every wave: fractions of multiples of irrational numbers
    let start = |i: usize| [0.618_034, 0.754_877_7, 0.569_840_3].map(|k: f32| (i as f32 * k) % 1.0 - 0.5);
    spread(cells, |i| start(i).into(), &mut system.p);
    let mut highest = 0.0f64;
    for _ in 0..POWER_ITERATIONS {
        let scale = Lane::splat(if highest > 0.0 { 1.0 / highest as f32 } else { 1.0 });
        let [_, energy] = system.multiply(cells, None);
        let (q, inertia) = (system.q.view(), system.inertia.view());
        // p·D p of the old p; the new one is D⁻¹K p
        let size = sum(cells.tasks(), system.p.of(cells.tasks()), |task, columns| {
            let mut size = Lane::ZERO;
            for number in task.slices.clone() {
                let slice = &cells.slices[number];
                let at = slice.cell as usize - task.cells.start;
                let inverse = inertia.inverses(number);
                for k in 0..3 {
                    let p = lane(columns[k], at);
                    size = (p * p).mul_add(inertia.diagonals(number), size);
                    put(columns[k], at, q.lane(k, slice.cell) * inverse * scale);
                }
            }
            DVec2::new(total(size), 0.0)
        });
        highest = highest.max(energy / size.x);
    }
    highest as f32 * MARGIN
}

/// Chebyshev iterations for eigenvalues from `low` to `high`: d = keep d + step D⁻¹ rest, by keep and step. After k of
/// them the error is multiplied by T_k((c - λ)/e) / T_k(c/e), c ± e the two ends.
fn stages(low: f32, high: f32) -> impl Iterator<Item = (f32, f32)> {
    let (center, extent) = (0.5 * (high + low), 0.5 * (high - low));
    let sigma = center / extent;
    let later = std::iter::successors(Some(1.0 / sigma), move |rho| Some(1.0 / (2.0 * sigma - rho)));
    let pairs = later.clone().zip(later.skip(1));
    let later = pairs.map(move |(rho, next)| (next * rho, 2.0 * next / extent));
    std::iter::once((0.0, 1.0 / center)).chain(later)
}

impl Cycle {
    /// Chebyshev iterations before and after the grids (docs/theory/solvers.md has the measurements).
    pub const SMOOTHING: usize = 6;

    /// z = M⁻¹ r of a system; returns r·z.
    pub fn solve(&mut self, system: &mut CellSolver, cells: &Cells, grids: &mut Multigrid<Mat3A>) -> f64 {
        let high = 1.0 + (self.highest - 1.0) * (1.0 - system.least_inertia);
        let stages = stages(system.least_inertia.max(SMOOTH_FROM * high), high);
        let mut table = [(0.0, 0.0); Self::SMOOTHING + 1]; // the last: what is left for the grids
        table.iter_mut().zip(stages.take(Self::SMOOTHING)).for_each(|(slot, stage)| *slot = stage);
        self.sweep(system, cells, Some(table[0].1), &table[1..]);
        self.correct(cells, grids);
        self.sweep(system, cells, None, &table[..Self::SMOOTHING])
    }

    /// z, d and what is left, of these tasks.
    fn columns(&mut self, tasks: &[Task]) -> [&mut [f32]; 9] {
        let [a, b, c] = self.z.of(tasks);
        let [d, e, f] = self.d.of(tasks);
        let [g, h, i] = self.rest.of(tasks);
        [a, b, c, d, e, f, g, h, i]
    }

    /// Iterations one after the other, the first of them from zero if its step is given; returns r·z after the last.
    ///
    /// They go over the bands together, each two behind the one before it: a band's numbers are then still in the cache.
    /// An iteration is done with the products of a band when the next one comes to write there.
    fn sweep(
        &mut self,
        system: &mut CellSolver,
        cells: &Cells,
        start: Option<f32>,
        stages: &[(f32, f32)],
    ) -> f64 {
        let mut product = 0.0;
        let bands = &cells.cut.bands;
        let lead = start.is_some() as usize;
        for tick in 0..bands.len() + lead + 2 * stages.len() {
            let band = |behind: usize| bands.get(tick.checked_sub(behind)?);
            if let (Some(step), Some(band)) = (start, band(0)) {
                self.start_from_zero(system, cells, cells.tasks_of(band), step);
            }
            for (k, stage) in stages.iter().enumerate() {
                self.exchange_stresses(system, k);
                if let Some(band) = band(lead + 2 * k) {
                    let frame = system.stiffness.frame(&system.rotations, &system.inertia);
                    let q = system.q.of(cells.tasks_of(band));
                    cells.respond(band, frame, self.d.view(), (&mut system.stresses, q));
                }
                if let Some(band) = band(lead + 2 * k + 1) {
                    let is_last = k + 1 == stages.len();
                    product += self.descend(system, cells, (cells.tasks_of(band), is_last), *stage);
                }
                self.exchange_stresses(system, k);
            }
        }
        product
    }

    /// Gives the system the stresses of iteration k, if it has some of its own, and takes them back.
    fn exchange_stresses(&mut self, system: &mut CellSolver, k: usize) {
        if let Some(own) = k.checked_sub(1).and_then(|k| self.stresses.get_mut(k)) {
            std::mem::swap(own, &mut system.stresses);
        }
    }

    /// rest = r, z = d = step D⁻¹ r.
    fn start_from_zero(&mut self, system: &CellSolver, cells: &Cells, tasks: &[Task], step: f32) {
        let (r, inertia) = (system.r.view(), system.inertia.view());
        each(tasks, self.columns(tasks), |task, columns| {
            for number in task.slices.clone() {
                let slice = &cells.slices[number];
                let at = slice.cell as usize - task.cells.start;
                let step = inertia.inverses(number) * Lane::splat(step);
                for k in 0..3 {
                    let r = r.lane(k, slice.cell);
                    put(columns[k], at, r * step);
                    put(columns[3 + k], at, r * step);
                    put(columns[6 + k], at, r);
                }
            }
        });
    }

    /// rest -= A d, d = keep d + step D⁻¹ rest, z += d; r·z if it is the last time.
    fn descend(
        &mut self,
        system: &CellSolver,
        cells: &Cells,
        (tasks, is_last): (&[Task], bool),
        (keep, step): (f32, f32),
    ) -> f64 {
        let (keep, step) = (Lane::splat(keep), Lane::splat(step));
        let (q, r, inertia) = (system.q.view(), system.r.view(), system.inertia.view());
        let read = (system.stresses.view(), inertia);
        cells
            .push(tasks, read, self.columns(tasks), |columns, place, f| {
                let Place { slice, cell, at, .. } = place;
                let step = inertia.inverses(slice) * step;
                let mut product = Lane::ZERO;
                for (k, f) in [f.x, f.y, f.z].into_iter().enumerate() {
                    let rest = lane(columns[6 + k], at) - (q.lane(k, cell) - f);
                    let d = lane(columns[3 + k], at).mul_add(keep, rest * step);
                    let z = lane(columns[k], at) + d;
                    put(columns[6 + k], at, rest);
                    put(columns[3 + k], at, d);
                    put(columns[k], at, z);
                    if is_last {
                        product = z.mul_add(r.lane(k, cell), product);
                    }
                }
                [product, Lane::ZERO]
            })
            .x
    }

    /// d = P (V-cycle of the grids) Pᵀ rest, z += d.
    fn correct(&mut self, cells: &Cells, grids: &mut Multigrid<Mat3A>) {
        let rest = self.rest.view();
        grids.approximate(|i| rest.vector(cells.cell_of[i]));
        let ([z0, z1, z2], [d0, d1, d2]) = (self.z.of(cells.tasks()), self.d.of(cells.tasks()));
        each(cells.tasks(), [z0, z1, z2, d0, d1, d2], |task, [z0, z1, z2, d0, d1, d2]| {
            for (at, &i) in cells.particle_of[task.cells.clone()].iter().enumerate() {
                if i != NOBODY {
                    let Vec3 { x, y, z } = grids.value_at(i as usize);
                    (d0[at], d1[at], d2[at]) = (x, y, z);
                    z0[at] += x;
                    z1[at] += y;
                    z2[at] += z;
                }
            }
        });
    }
}
