//! Several steps of conjugate gradients at once [CG89].
//!
//! With z = D⁻¹ r and Y = (D⁻¹A - c)/e, whose eigenvalues are about between -1 and 1, the vectors
//!   v_k = T_k(Y) z,   v_(k+1) = 2 Y v_k - v_(k-1),
//! T_k Chebyshev's polynomials, span what conjugate gradients would look at in as many iterations. A product makes the next
//! one, and there is nothing else to do in between: two passes over the cells in place of four. D⁻¹A is symmetric in the
//! product u·D v, and T_i T_j = (T_(i+j) + T_|i-j|)/2. So all products of two vectors follow from the moments
//! m_k = z·D v_k, and these from the two last vectors:
//!   m_2k = 2 v_k·D v_k - m_0,   m_(2k+1) = 2 v_k·D v_(k+1) - m_1.
//! The change Σ c_k v_k of x with the least energy of its error is then a small system away, and what it leaves of r is known
//! before it is computed: a leap ends when that is little enough.
#![allow(non_snake_case)] // A, D, G, T, Y as in the theory

use super::Cells;
use super::columns::{Columns, lane, put, sum, total};
use super::solver::{CellSolver, measured};
use super::stencil::Place;
use crate::elasticity::SolveTolerance;
use crate::math::Lane;
use glam::DVec2;

/// Products in a leap, at most.
const MOST: usize = 24;
/// What rounding adds to the square of a vector, in parts of z·D z. Where r is made of few waves, sums of vectors with large
/// numbers of either sign would seem to leave nothing of it; they leave what vectors and moments do not know of each other.
const ROUNDING: f64 = 2e-7;
/// A leap ends when it leaves this part of what may be left: its guess weighs particles by D⁻¹, the tolerance does not.
const SAFETY: f64 = 0.9;

/// What a leap needs besides the system.
#[derive(Clone, Debug)]
pub(super) struct Leap {
    /// v_0, which is D⁻¹ r whenever r is computed, and those after it, as many as were ever needed.
    pub vectors: Vec<Columns<3>>,
    /// Of bands in their slots: A v without T.
    partial: Columns<3>,
}

/// m_k, and where the eigenvalues of D⁻¹A are.
#[derive(Clone, Copy, Debug)]
struct Moments {
    m: [f64; 2 * MOST + 1],
    center: f64,
    extent: f64,
}

/// Where a leap goes: x changes by Σ c_k v_k, and D⁻¹ r is Σ d_k v_k then.
#[derive(Clone, Copy, Debug)]
struct Aim {
    c: [f64; MOST + 1],
    d: [f64; MOST + 1],
    /// r·D⁻¹ r after it, without what rounding may add to it.
    left: f64,
}

impl Leap {
    pub fn new(cells: &Cells) -> Leap {
        Leap { vectors: vec![Leap::vector(cells, 0)], partial: Columns::new(cells.cut.slot_cells, 3) }
    }

    /// Columns for v_k.
    fn vector(cells: &Cells, k: usize) -> Columns<3> {
        Columns::new(cells.count(), 79 + 3 * k)
    }

    pub fn bytes(&self) -> usize {
        self.vectors.iter().map(Columns::bytes).sum::<usize>() + self.partial.bytes()
    }
}

impl Moments {
    /// v_i·D v_j.
    fn product(&self, i: usize, j: usize) -> f64 {
        let rounding = if i == j { ROUNDING * self.m[0] } else { 0.0 };
        0.5 * (self.m[i + j] + self.m[i.abs_diff(j)]) + rounding
    }

    /// v_i·A v_j.
    fn energy(&self, i: usize, j: usize) -> f64 {
        let by_Y = 0.5 * (self.product(i, j + 1) + self.product(i, j.abs_diff(1)));
        self.center * self.product(i, j) + self.extent * by_Y
    }

    /// Along the first s vectors: G c = (v_i·r), G the energies, by Cholesky's method.
    fn aim(&self, s: usize) -> Aim {
        let mut G = [[0.0; MOST]; MOST];
        let mut c = [0.0; MOST + 1];
        for i in 0..s {
            for j in 0..=i {
                let known: f64 = (0..j).map(|k| G[i][k] * G[j][k]).sum();
                let left = self.energy(i, j) - known;
                G[i][j] = if j < i { left / G[j][j] } else { left.sqrt() };
            }
            let known: f64 = (0..i).map(|k| G[i][k] * c[k]).sum();
            c[i] = (self.m[i] - known) / G[i][i];
        }
        for i in (0..s).rev() {
            let known: f64 = (i + 1..s).map(|k| G[k][i] * c[k]).sum();
            c[i] = (c[i] - known) / G[i][i];
        }
        self.land(c, s)
    }

    /// What these c leave.
    fn land(&self, c: [f64; MOST + 1], s: usize) -> Aim {
        let mut d = [0.0; MOST + 1];
        d[0] = 1.0;
        for j in 0..s {
            d[j] -= self.center * c[j];
            d[j + 1] -= 0.5 * self.extent * c[j];
            d[j.abs_diff(1)] -= 0.5 * self.extent * c[j];
        }
        let row = |i: usize| (0..=s).map(|j| d[j] * self.product(i, j)).sum::<f64>();
        let rounding = ROUNDING * self.m[0] * d.iter().map(|d| d * d).sum::<f64>();
        Aim { c, d, left: (0..=s).map(|i| d[i] * row(i)).sum::<f64>() - rounding }
    }
}

impl CellSolver {
    /// Goes from x + a p, x zero if it `is_first`, so far that the residual is `aim` of what it is, with at most `most`
    /// products. `rz` is r·D⁻¹ r. Returns what `reduce` does, and how many products it took.
    pub(super) fn leap(
        &mut self,
        cells: &Cells,
        (a, is_first): (f32, bool),
        (rz, aim, most): (f64, f64, usize),
        tolerance: SolveTolerance,
    ) -> (DVec2, usize) {
        let (low, high) = self.eigenvalues();
        let (center, extent) = (0.5 * (high + low), 0.5 * (high - low));
        let mut moments = Moments { m: [0.0; 2 * MOST + 1], center, extent };
        moments.m[0] = rz;
        let enough = (SAFETY * aim).powi(2) * rz;
        let (mut best, mut products) = (None, 0);
        while products < most.clamp(1, MOST) {
            products += 1;
            let [along, own] = self.next_vector(cells, products, (center, extent));
            let m = &mut moments.m;
            m[2 * products - 1] = if products == 1 { along } else { 2.0 * along - m[1] };
            m[2 * products] = 2.0 * own - m[0];
            let found = moments.aim(products);
            if found.left.is_nan() {
                break; // not positive
            }
            best = Some((found, products));
            if found.left <= enough {
                break;
            }
        }
        let sums = best.map_or(DVec2::NAN, |best| self.land(cells, (a, is_first), best, tolerance));
        (sums, products)
    }

    /// About the least and the largest eigenvalue of D⁻¹A. Inside a lattice, waves along a diagonal are the stiffest:
    /// twice their mean stiffness, and of that of all directions the part that lengthens.
    fn eigenvalues(&self) -> (f64, f64) {
        let (mu, lambda) = (0.5 * self.stiffness.two_mu as f64, self.stiffness.lambda as f64);
        let highest = 6.0 * (lambda + 2.0 * mu) / (lambda + 4.0 * mu);
        let least = self.least_inertia as f64;
        let high = 1.0 + (highest - 1.0) * (1.0 - least);
        // a body without stiffness has one eigenvalue
        (least, high.max(1.01 * least))
    }

    /// v_s; returns v_(s-1)·D v_s and v_s·D v_s.
    fn next_vector(&mut self, cells: &Cells, s: usize, (center, extent): (f64, f64)) -> [f64; 2] {
        if self.leap.vectors.len() == s {
            self.leap.vectors.push(Leap::vector(cells, s));
        }
        let center = Lane::splat(center as f32);
        let scale = Lane::splat((if s == 1 { 1.0 } else { 2.0 } / extent) as f32);
        let Leap { vectors, partial } = &mut self.leap;
        let (before, next) = vectors.split_at_mut(s);
        let (v, next) = (before[s - 1].view(), &mut next[0]);
        let last = s.checked_sub(2).map(|k| before[k].view());
        let mut sums = DVec2::ZERO;
        let bands = &cells.cut.bands;
        for k in 0..bands.len() + 1 {
            if let Some(band) = bands.get(k) {
                let frame = self.stiffness.frame(&self.rotations, &self.inertia);
                let written = (&mut self.stresses, partial.at(band.slot.clone()));
                cells.respond(band, frame, v, written);
            }
            if let Some(band) = k.checked_sub(1).and_then(|k| bands.get(k)) {
                let tasks = cells.tasks_of(band);
                let (partial, inertia) = (partial.view(), self.inertia.view());
                let read = (self.stresses.view(), inertia);
                sums += cells.push(tasks, read, next.of(tasks), |next, place, f| {
                    let Place { slice, cell, at, slot } = place;
                    let (inverse, mut sums) = (inertia.inverses(slice), [Lane::ZERO; 2]);
                    for (k, f) in [f.x, f.y, f.z].into_iter().enumerate() {
                        let v = v.lane(k, cell);
                        let by_Y = ((partial.lane(k, slot) - f) * inverse - v * center) * scale;
                        let value = last.map_or(by_Y, |last| by_Y - last.lane(k, cell));
                        put(next[k], at, value);
                        sums = [value.mul_add(v, sums[0]), value.mul_add(value, sums[1])];
                    }
                    sums.map(|sum| sum * inertia.diagonals(slice))
                });
            }
        }
        sums.to_array()
    }

    /// x += a p + Σ c_k v_k, r = D Σ d_k v_k, v_0 = D⁻¹ r. Returns what `reduce` does.
    fn land(
        &mut self,
        cells: &Cells,
        (a, is_first): (f32, bool),
        (aim, s): (Aim, usize),
        tolerance: SolveTolerance,
    ) -> DVec2 {
        let (c, d) = (aim.c.map(|c| Lane::splat(c as f32)), aim.d.map(|d| Lane::splat(d as f32)));
        let (a, p, inertia) = (Lane::splat(a), self.p.view(), self.inertia.view());
        let (first, others) = self.leap.vectors.split_at_mut(1);
        let others = &others[..s];
        let tasks = cells.tasks();
        let ([x0, x1, x2], [r0, r1, r2], [v0, v1, v2]) =
            (self.x.of(tasks), self.r.of(tasks), first[0].of(tasks));
        let columns = [x0, x1, x2, r0, r1, r2, v0, v1, v2];
        sum(tasks, columns, |task, columns| {
            let mut sums = [Lane::ZERO; 2];
            for number in task.slices.clone() {
                let slice = &cells.slices[number];
                let at = slice.cell as usize - task.cells.start;
                let diagonal = inertia.diagonals(number);
                let mut square = Lane::ZERO;
                for k in 0..3 {
                    let v = lane(columns[6 + k], at);
                    let start = if is_first { Lane::ZERO } else { lane(columns[k], at) };
                    let mut x = v.mul_add(c[0], p.lane(k, slice.cell).mul_add(a, start));
                    let mut z = v * d[0];
                    for (j, v) in others.iter().enumerate() {
                        let v = v.view().lane(k, slice.cell);
                        x = v.mul_add(c[j + 1], x);
                        z = v.mul_add(d[j + 1], z);
                    }
                    let r = z * diagonal;
                    put(columns[k], at, x);
                    put(columns[3 + k], at, r);
                    put(columns[6 + k], at, z);
                    square = r.mul_add(r, square);
                }
                sums[0] += measured(tolerance, square, inertia.masses(number));
                sums[1] = square.mul_add(inertia.inverses(number), sums[1]);
            }
            sums.map(total).into()
        })
    }
}
