//! What the last steps tell of the next one.
//!
//! With w_k the solutions of the last steps and b_k = A_k w_k what they solve, a solve of A w = b starts from Σ c_k w_k with
//! the c that make |b - Σ c_k b_k| least. A changes little from step to step, so no product is needed to find them. What
//! solves left undone is in w_k and in b_k alike, and is not taken for motion: that is what fixed extrapolations suffer from
//! (docs/theory/solvers.md).
//!
//! The b_k hardly differ. Their differences of growing order, ∇⁰b = b_0, ∇¹b = b_0 - b_1, ..., span the same and keep
//! their digits, and what is sought is the change from the extrapolation ∇⁰ + ∇¹ + ∇².
#![allow(non_snake_case)] // A, G as in the theory

use super::columns::{Columns, View, each, join, lane, put, sum, total};
use super::inertia::Inertia;
use super::{Cells, Task};
use crate::math::Lane;
use glam::{DVec2, Vec3};

/// Steps that are remembered.
pub(super) const STEPS: usize = 4;
/// Products of two differences, the first not after the second, and of each with what is to be met.
type Products = [[f64; STEPS + 1]; STEPS];
/// Differences must stand out from those before them by this part of their square, or be left alone.
const DISTINCT: f64 = 1e-6;

/// A solution w and b = A w.
#[derive(Clone, Debug)]
struct Solution {
    w: Columns<3>,
    b: Columns<3>,
}

/// Solutions of the last steps, the newest first; zeros before there was one.
#[derive(Clone, Debug)]
pub(super) struct Past {
    steps: [Solution; STEPS],
}

impl Past {
    /// Vectors of a particle.
    pub const VECTORS: usize = 2 * STEPS;

    /// No solutions; the first of their columns is the body's `number`th.
    pub fn new(cells: usize, number: usize) -> Past {
        let columns = |k: usize| Columns::new(cells, number + 3 * k);
        Past { steps: std::array::from_fn(|k| Solution { w: columns(2 * k), b: columns(2 * k + 1) }) }
    }

    /// The factors c that meet the right-hand side r best. r takes the place of the oldest b.
    pub fn compare(&mut self, cells: &Cells, r: View<3>, inertia: Inertia) -> [f64; STEPS] {
        let [first, second, third, oldest] = &mut self.steps;
        let newer = [&first.b, &second.b, &third.b].map(Columns::view);
        let work = |task: &Task, oldest: [&mut [f32]; 3]| {
            let mut products = [[Lane::ZERO; STEPS + 1]; STEPS];
            for number in task.slices.clone() {
                let slice = &cells.slices[number];
                let at = slice.cell as usize - task.cells.start;
                let is_free = inertia.gains(number).simd_gt(Lane::ZERO);
                for k in 0..3 {
                    let free = |b: Lane| is_free.select(b, Lane::ZERO);
                    let [b0, b1, b2] = newer.map(|b| free(b.lane(k, slice.cell)));
                    let (b3, r) = (free(lane(oldest[k], at)), r.lane(k, slice.cell));
                    put(oldest[k], at, r);
                    let (d01, d12, d23) = (b0 - b1, b1 - b2, b2 - b3);
                    let (bend, bend_before) = (d01 - d12, d12 - d23);
                    let left = ((r - b0) - d01) - bend;
                    let terms = [b0, d01, bend, bend - bend_before, left];
                    for i in 0..STEPS {
                        for j in i..=STEPS {
                            products[i][j] = terms[i].mul_add(terms[j], products[i][j]);
                        }
                    }
                }
            }
            products.map(|row| row.map(total))
        };
        let both =
            |a: Products, b: Products| std::array::from_fn(|i| std::array::from_fn(|j| a[i][j] + b[i][j]));
        factors_of(join(cells.tasks(), oldest.b.of(cells.tasks()), &work, &both))
    }

    /// Nothing is asked of the next solve: as `compare` with r = 0.
    pub fn expect_nothing(&mut self, cells: &Cells) {
        self.steps[STEPS - 1].b.clear(cells.tasks());
    }

    /// p = Σ c_k w_k for these tasks; returns p·r.
    pub fn expect(
        &self,
        (cells, tasks): (&Cells, &[Task]),
        factors: [f64; STEPS],
        (r, inertia): (View<3>, Inertia),
        p: &mut Columns<3>,
    ) -> f64 {
        let factors = factors.map(|c| Lane::splat(c as f32));
        let solutions = self.solutions();
        let gain = sum(tasks, p.of(tasks), |task, p| {
            let mut gain = Lane::ZERO;
            for number in task.slices.clone() {
                let slice = &cells.slices[number];
                let at = slice.cell as usize - task.cells.start;
                let is_free = inertia.gains(number).simd_gt(Lane::ZERO);
                for k in 0..3 {
                    let terms = solutions.iter().zip(factors);
                    let next = terms.fold(Lane::ZERO, |sum, (w, c)| w.lane(k, slice.cell).mul_add(c, sum));
                    let next = is_free.select(next, Lane::ZERO);
                    put(p[k], at, next);
                    gain = next.mul_add(r.lane(k, slice.cell), gain);
                }
            }
            DVec2::new(total(gain), 0.0)
        });
        gain.x
    }

    /// Notes w = x + a p, and r, what is left of its right-hand side; x is zero if there is none.
    pub fn note(&mut self, cells: &Cells, (a, p): (f32, View<3>), x: Option<View<3>>, r: View<3>) {
        let a = Lane::splat(a);
        let Solution { w, b } = &mut self.steps[STEPS - 1];
        let ([w0, w1, w2], [b0, b1, b2]) = (w.of(cells.tasks()), b.of(cells.tasks()));
        each(cells.tasks(), [w0, w1, w2, b0, b1, b2], |task, columns| {
            for slice in &cells.slices[task.slices.clone()] {
                let at = slice.cell as usize - task.cells.start;
                for k in 0..3 {
                    let before = x.map_or(Lane::ZERO, |x| x.lane(k, slice.cell));
                    put(columns[k], at, p.lane(k, slice.cell).mul_add(a, before));
                    let solved = lane(columns[3 + k], at) - r.lane(k, slice.cell);
                    put(columns[3 + k], at, solved);
                }
            }
        });
        self.steps.rotate_right(1);
    }

    /// All of them, the newest first.
    pub fn solutions(&self) -> [View<'_, 3>; STEPS] {
        self.steps.each_ref().map(|step| step.w.view())
    }

    /// The newest solution.
    pub fn newest(&self) -> View<'_, 3> {
        self.steps[0].w.view()
    }

    /// Forgets all.
    pub fn clear(&mut self, cells: &Cells) {
        self.columns_mut().for_each(|columns| columns.clear(cells.tasks()));
    }

    fn columns(&self) -> impl Iterator<Item = &Columns<3>> {
        self.steps.iter().flat_map(|step| [&step.w, &step.b])
    }

    fn columns_mut(&mut self) -> impl Iterator<Item = &mut Columns<3>> {
        self.steps.iter_mut().flat_map(|step| [&mut step.w, &mut step.b])
    }

    /// The vectors of all particles.
    pub fn vectors<'a>(&'a self, cells: &'a Cells) -> impl Iterator<Item = Vec3> + 'a {
        self.columns().flat_map(|columns| cells.cell_of.iter().map(|&cell| columns.view().vector(cell)))
    }

    /// Puts them back.
    pub fn set_vectors(&mut self, cells: &Cells, vector: impl Fn(usize) -> Vec3) {
        let n = cells.cell_of.len();
        for (k, columns) in self.columns_mut().enumerate() {
            for (i, &cell) in cells.cell_of.iter().enumerate() {
                columns.set(cell as usize, vector(k * n + i).to_array());
            }
        }
    }

    pub fn bytes(&self) -> usize {
        self.columns().map(Columns::bytes).sum()
    }
}

/// The factors c of the solutions.
fn factors_of(products: Products) -> [f64; STEPS] {
    // those of the differences, given above the diagonal, and beside them those with what is left to be met
    let square = std::array::from_fn(|i| std::array::from_fn(|j| products[j.min(i)][i.max(j)]));
    let [first, second, third, fourth] = least_squares(square, products.map(|row| row[STEPS]));
    // of the differences: the extrapolation and its change
    let [c0, c1, c2, c3] = [1.0 + first, 1.0 + second, 1.0 + third, fourth];
    [c0 + c1 + c2 + c3, -c1 - 2.0 * c2 - 3.0 * c3, c2 + 3.0 * c3, -c3]
}

/// G⁻¹ g by Cholesky's method, G the matrix of products given below its diagonal; what is not distinct gets nothing.
fn least_squares(mut G: [[f64; STEPS]; STEPS], mut g: [f64; STEPS]) -> [f64; STEPS] {
    for i in 0..STEPS {
        let size = G[i][i];
        for j in 0..=i {
            let known: f64 = (0..j).map(|k| G[i][k] * G[j][k]).sum();
            G[i][j] = if i > j { (G[i][j] - known) / G[j][j] } else { size * (1.0 + DISTINCT) - known };
        }
        let known: f64 = (0..i).map(|k| G[i][k] * g[k]).sum();
        let is_distinct = G[i][i] > 0.5 * DISTINCT * size;
        (G[i][i], g[i]) = if is_distinct { (G[i][i].sqrt(), g[i] - known) } else { (f64::INFINITY, 0.0) };
        g[i] /= G[i][i];
    }
    for i in (0..STEPS).rev() {
        let known: f64 = (i + 1..STEPS).map(|k| G[k][i] * g[k]).sum();
        g[i] = (g[i] - known) / G[i][i];
    }
    g
}
