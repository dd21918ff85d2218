//! Solutions with a factor: one pass towards the root of the tree of fronts, one pass back. Each streams the panels
//! once for all right-hand sides.

use super::Factor;
use super::structure::{PANEL, PANEL_STRIPS, Panel, Plan};
use crate::math::{LANES, Lane};
use rayon::prelude::*;

/// Working memory of solutions with R right-hand sides, kept from one to the next.
#[derive(Clone, Debug, Default)]
pub struct SolveWork<const R: usize = 3> {
    strips: Vec<[Lane; R]>,
}

impl Factor {
    /// Solves A x = b in place for three right-hand sides, on the current rayon pool.
    pub fn solve(&self, b: &mut [glam::Vec3], work: &mut SolveWork) {
        self.solve_by(b, work, |b_i| b_i.to_array(), glam::Vec3::from_array);
    }

    /// Solves A x = b in place for one right-hand side.
    pub fn solve_one(&self, b: &mut [f32], work: &mut SolveWork<1>) {
        self.solve_by(b, work, |b_i| [b_i], |[x_i]| x_i);
    }

    fn solve_by<T: Copy + Send + Sync, const R: usize>(
        &self,
        b: &mut [T],
        work: &mut SolveWork<R>,
        read: impl Fn(T) -> [f32; R] + Sync,
        write: impl Fn([f32; R]) -> T + Sync,
    ) {
        assert_eq!(b.len(), self.rows(), "a right-hand side for each row");
        work.strips.resize(self.structure.local_strips(), [Lane::ZERO; R]);
        let pass = Pass { factor: self, load: |column: usize| read(b[self.structure.order[column] as usize]) };
        pass.forward(&self.plan, &mut work.strips);
        pass.backward(&self.plan, &mut work.strips);
        let strips = &work.strips;
        b.par_iter_mut().zip(&self.places).with_min_len(4096).for_each(|(b_i, &place)| {
            let strip = &strips[place as usize / LANES];
            *b_i = write(std::array::from_fn(|r| strip[r].as_array()[place as usize % LANES]));
        });
    }
}

struct Pass<'a, F> {
    factor: &'a Factor,
    /// Right-hand side of a column.
    load: F,
}

impl<F> Pass<'_, F> {
    /// Solves L y = b for the fronts of a plan; `strips` begin with its first front.
    fn forward<const R: usize>(&self, plan: &Plan, strips: &mut [[Lane; R]])
    where
        F: Fn(usize) -> [f32; R] + Sync,
    {
        let base = self.start(plan.before.start);
        for f in plan.before.clone() {
            self.forward_front(f, base, strips);
        }
        self.branches(plan, base, strips, |branch, part| self.forward(branch, part));
        for f in plan.after.clone() {
            self.forward_front(f, base, strips);
        }
    }

    /// Solves Lᵀ x = y for the fronts of a plan, whose roots have been given the solution of their rows.
    fn backward<const R: usize>(&self, plan: &Plan, strips: &mut [[Lane; R]])
    where
        F: Sync,
    {
        let base = self.start(plan.before.start);
        for f in plan.after.clone().rev() {
            self.backward_front(f, base, strips);
        }
        self.branches(plan, base, strips, |branch, part| self.backward(branch, part));
        for f in plan.before.clone().rev() {
            self.backward_front(f, base, strips);
        }
    }

    /// First strip of a front.
    fn start(&self, f: usize) -> usize {
        let s = &self.factor.structure;
        s.fronts.get(f).map_or(s.local_strips(), |front| front.local)
    }

    /// Runs the branches of a plan in parallel, each with its own strips.
    fn branches<const R: usize>(
        &self,
        plan: &Plan,
        base: usize,
        strips: &mut [[Lane; R]],
        run: impl Fn(&Plan, &mut [[Lane; R]]) + Sync,
    ) where
        F: Sync,
    {
        run_each(&plan.branches, &mut strips[self.start(plan.before.end) - base..], &|branch: &Plan| {
            self.start(branch.range().end) - self.start(branch.range().start)
        }, &run);
    }

    fn forward_front<const R: usize>(&self, f: usize, base: usize, strips: &mut [[Lane; R]])
    where
        F: Fn(usize) -> [f32; R],
    {
        let s = &self.factor.structure;
        let front = &s.fronts[f];
        let (done, local) = strips.split_at_mut(front.local - base);
        let local = &mut local[..front.strips()];
        local.fill([Lane::ZERO; R]);
        for column in 0..front.pivots as usize {
            let b = (self.load)(front.first as usize + column);
            for r in 0..R {
                local[column / LANES][r].as_mut_array()[column % LANES] = b[r];
            }
        }
        for &child in s.children_of(f) {
            let child_front = &s.fronts[child as usize];
            let from = &done[child_front.local - base + child_front.pivot_strips()..];
            for (k, &place) in s.rows_of(child as usize).iter().enumerate() {
                let place = place as usize;
                for r in 0..R {
                    local[place / LANES][r].as_mut_array()[place % LANES] += from[k / LANES][r].as_array()[k % LANES];
                }
            }
        }
        for panel in s.panels_of(f) {
            forward_panel(panel, &self.factor.values[f][panel.offset..panel.end()], local);
        }
    }

    fn backward_front<const R: usize>(&self, f: usize, base: usize, strips: &mut [[Lane; R]]) {
        let s = &self.factor.structure;
        let front = &s.fronts[f];
        let (before, local) = strips.split_at_mut(front.local - base);
        let local = &mut local[..front.strips()];
        for panel in s.panels_of(f).iter().rev() {
            backward_panel(panel, &self.factor.values[f][panel.offset..panel.end()], local);
        }
        for &child in s.children_of(f) {
            let child_front = &s.fronts[child as usize];
            let to = &mut before[child_front.local - base + child_front.pivot_strips()..];
            for (k, &place) in s.rows_of(child as usize).iter().enumerate() {
                let place = place as usize;
                for r in 0..R {
                    to[k / LANES][r].as_mut_array()[k % LANES] = local[place / LANES][r].as_array()[place % LANES];
                }
            }
        }
    }
}

/// Runs plans in parallel, each with the strips it needs, without allocating.
fn run_each<const R: usize>(
    plans: &[Plan],
    strips: &mut [[Lane; R]],
    length: &(impl Fn(&Plan) -> usize + Sync),
    run: &(impl Fn(&Plan, &mut [[Lane; R]]) + Sync),
) {
    match plans {
        [] => {}
        [plan] => run(plan, &mut strips[..length(plan)]),
        _ => {
            let (a, b) = plans.split_at(plans.len() / 2);
            let (strips_a, strips_b) = strips.split_at_mut(a.iter().map(length).sum());
            rayon::join(|| run_each(a, strips_a, length, run), || run_each(b, strips_b, length, run));
        }
    }
}

/// y_D = L_D⁻¹ y_D, then y -= L y_D for the rows below. `values` are those of the panel.
fn forward_panel<const R: usize>(panel: &Panel, values: &[Lane], local: &mut [[Lane; R]]) {
    let (first, count, width) = (panel.first_strip(), panel.triangle_strips(), panel.width);
    let mut y = [[0f32; R]; PANEL];
    let spread = |y: &mut [[f32; R]; PANEL], strips: &[[Lane; R]]| {
        for (strip, y) in strips.iter().zip(y.chunks_exact_mut(LANES)) {
            for r in 0..R {
                let lane = strip[r].as_array();
                (0..LANES).for_each(|k| y[k][r] = lane[k]);
            }
        }
    };
    let (diagonal, below) = local[first..panel.reach].split_at_mut(count);
    spread(&mut y, diagonal);
    for (r, strip) in diagonal.iter_mut().enumerate() {
        let range = panel.triangle_strip(r);
        let lanes = &values[range.start - panel.offset..range.end - panel.offset];
        let mut sums = [[Lane::ZERO; R]; 1];
        add_rows(&mut sums, [lanes], &y[..lanes.len()]);
        *strip = sums[0];
    }
    // The product is to be subtracted.
    spread(&mut y, diagonal);
    y.iter_mut().for_each(|y| *y = y.map(|v| -v));
    let y = &y[..width];
    let rows = &values[panel.below_offset() - panel.offset..];
    for (strips, lanes) in below.chunks_mut(2).zip(rows.chunks(2 * width)) {
        if let [a, b] = strips {
            let mut sums = [*a, *b];
            add_rows(&mut sums, [&lanes[..width], &lanes[width..]], y);
            [*a, *b] = sums;
        } else {
            let mut sums = [strips[0]];
            add_rows(&mut sums, [lanes], y);
            strips[0] = sums[0];
        }
    }
}

/// sums[m] += Σ_k a[m][k] y_k for M strips.
#[inline(always)]
fn add_rows<const M: usize, const R: usize>(sums: &mut [[Lane; R]; M], a: [&[Lane]; M], y: &[[f32; R]]) {
    let a = a.map(|a| &a[..y.len()]);
    for k in 0..y.len() {
        for r in 0..R {
            let y_kr = Lane::splat(y[k][r]);
            for m in 0..M {
                sums[m][r] = a[m][k].mul_add(y_kr, sums[m][r]);
            }
        }
    }
}

/// x_D = L_D⁻ᵀ (y_D - Lᵀ x) with x of the rows below. `values` are those of the panel.
fn backward_panel<const R: usize>(panel: &Panel, values: &[Lane], local: &mut [[Lane; R]]) {
    let (first, count, width) = (panel.first_strip(), panel.triangle_strips(), panel.width);
    let (diagonal, below) = local[first..panel.reach].split_at_mut(count);
    let mut sums = [[Lane::ZERO; R]; PANEL];
    let rows = &values[panel.below_offset() - panel.offset..];
    for (strips, lanes) in below.chunks(2).zip(rows.chunks(2 * width)) {
        if let [a, b] = strips {
            let (lanes_a, lanes_b) = lanes.split_at(width);
            for ((sum, l_a), l_b) in sums.iter_mut().zip(lanes_a).zip(lanes_b) {
                for r in 0..R {
                    sum[r] = l_a.mul_add(a[r], l_b.mul_add(b[r], sum[r]));
                }
            }
        } else {
            add_columns(&mut sums, lanes, &strips[0]);
        }
    }
    let mut t = [[Lane::ZERO; R]; PANEL_STRIPS];
    for (t, (strip, sums)) in t.iter_mut().zip(diagonal.iter().zip(sums.chunks_exact(LANES))) {
        *t = std::array::from_fn(|r| strip[r] - across(sums, r));
    }
    sums = [[Lane::ZERO; R]; PANEL];
    for r in 0..count {
        let range = panel.triangle_strip(r);
        add_columns(&mut sums, &values[range.start - panel.offset..range.end - panel.offset], &t[r]);
    }
    for (strip, sums) in diagonal.iter_mut().zip(sums.chunks_exact(LANES)) {
        *strip = std::array::from_fn(|r| across(sums, r));
    }
}

/// sums[k] += a[k] x, number by number.
#[inline(always)]
fn add_columns<const R: usize>(sums: &mut [[Lane; R]; PANEL], a: &[Lane], x: &[Lane; R]) {
    for (sum, a_k) in sums.iter_mut().zip(a) {
        for r in 0..R {
            sum[r] = a_k.mul_add(x[r], sum[r]);
        }
    }
}

/// The sums over the numbers of eight lanes, as one lane.
#[inline(always)]
fn across<const R: usize>(sums: &[[Lane; R]], r: usize) -> Lane {
    let [a, b, c, d, e, f, g, h] = Lane::transpose(std::array::from_fn(|k| sums[k][r]));
    ((a + b) + (c + d)) + ((e + f) + (g + h))
}
