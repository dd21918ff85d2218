//! Solutions with a factor: one pass towards the root of the tree of fronts, one pass back. Each streams the panels
//! once for all right-hand sides.

use super::Factor;
use super::structure::Plan;
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
        let pass =
            Pass { factor: self, load: |column: usize| read(b[self.structure.order[column] as usize]) };
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
        run_each(
            &plan.branches,
            &mut strips[self.start(plan.before.end) - base..],
            &|branch: &Plan| self.start(branch.range().end) - self.start(branch.range().start),
            &run,
        );
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
                    local[place / LANES][r].as_mut_array()[place % LANES] +=
                        from[k / LANES][r].as_array()[k % LANES];
                }
            }
        }
        for panel in s.panels_of(f) {
            forward_panel(
                &self.factor.values[f][panel.offset..panel.end()],
                panel.width,
                &mut local[panel.first..panel.reach],
            );
        }
    }

    fn backward_front<const R: usize>(&self, f: usize, base: usize, strips: &mut [[Lane; R]]) {
        let s = &self.factor.structure;
        let front = &s.fronts[f];
        let (before, local) = strips.split_at_mut(front.local - base);
        let local = &mut local[..front.strips()];
        for panel in s.panels_of(f).iter().rev() {
            backward_panel(
                &self.factor.values[f][panel.offset..panel.end()],
                panel.width,
                &mut local[panel.first..panel.reach],
            );
        }
        for &child in s.children_of(f) {
            let child_front = &s.fronts[child as usize];
            let to = &mut before[child_front.local - base + child_front.pivot_strips()..];
            for (k, &place) in s.rows_of(child as usize).iter().enumerate() {
                let place = place as usize;
                for r in 0..R {
                    to[k / LANES][r].as_mut_array()[k % LANES] =
                        local[place / LANES][r].as_array()[place % LANES];
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

/// y_D = L_D⁻¹ y_D, then y -= L y_D for the rows below, of a panel of some width.
fn forward_panel<const R: usize>(values: &[Lane], width: usize, local: &mut [[Lane; R]]) {
    match width {
        1 => forward_strips::<1, R>(values, local),
        2 => forward_strips::<2, R>(values, local),
        3 => forward_strips::<3, R>(values, local),
        4 => forward_strips::<4, R>(values, local),
        5 => forward_strips::<5, R>(values, local),
        6 => forward_strips::<6, R>(values, local),
        7 => forward_strips::<7, R>(values, local),
        _ => forward_strips::<8, R>(values, local),
    }
}

/// x_D = L_D⁻ᵀ (y_D - Lᵀ x) with x of the rows below, of a panel of some width.
fn backward_panel<const R: usize>(values: &[Lane], width: usize, local: &mut [[Lane; R]]) {
    match width {
        1 => backward_strips::<1, R>(values, local),
        2 => backward_strips::<2, R>(values, local),
        3 => backward_strips::<3, R>(values, local),
        4 => backward_strips::<4, R>(values, local),
        5 => backward_strips::<5, R>(values, local),
        6 => backward_strips::<6, R>(values, local),
        7 => backward_strips::<7, R>(values, local),
        _ => backward_strips::<8, R>(values, local),
    }
}

#[inline(always)]
fn forward_strips<const W: usize, const R: usize>(values: &[Lane], local: &mut [[Lane; R]]) {
    let (strips, _) = values.as_chunks::<W>();
    let ([triangle, strips @ ..], [diagonal, below @ ..]) = (strips, local) else { return };
    let spread = |y: &[Lane; R], sign: f32| -> [[Lane; R]; W] {
        std::array::from_fn(|k| std::array::from_fn(|r| Lane::splat(sign * y[r].as_array()[k])))
    };
    let y = spread(diagonal, 1.0);
    *diagonal = [Lane::ZERO; R];
    for k in 0..W {
        for r in 0..R {
            diagonal[r] = triangle[k].mul_add(y[k][r], diagonal[r]);
        }
    }
    let y = spread(diagonal, -1.0);
    for (strip, target) in strips.iter().zip(below) {
        let mut sums = *target;
        for k in 0..W {
            for r in 0..R {
                sums[r] = strip[k].mul_add(y[k][r], sums[r]);
            }
        }
        *target = sums;
    }
}

#[inline(always)]
fn backward_strips<const W: usize, const R: usize>(values: &[Lane], local: &mut [[Lane; R]]) {
    let (strips, _) = values.as_chunks::<W>();
    let ([triangle, strips @ ..], [diagonal, below @ ..]) = (strips, local) else { return };
    let mut sums = [[Lane::ZERO; R]; LANES];
    for (strip, x) in strips.iter().zip(&*below) {
        for k in 0..W {
            for r in 0..R {
                sums[k][r] = strip[k].mul_add(x[r], sums[k][r]);
            }
        }
    }
    let t: [Lane; R] = std::array::from_fn(|r| diagonal[r] - across(&sums, r));
    sums = [[Lane::ZERO; R]; LANES];
    for k in 0..W {
        for r in 0..R {
            sums[k][r] = triangle[k] * t[r];
        }
    }
    *diagonal = std::array::from_fn(|r| across(&sums, r));
}

/// The sums over the numbers of eight lanes, as one lane.
#[inline(always)]
fn across<const R: usize>(sums: &[[Lane; R]; LANES], r: usize) -> Lane {
    let [a, b, c, d, e, f, g, h] = Lane::transpose(std::array::from_fn(|k| sums[k][r]));
    ((a + b) + (c + d)) + ((e + f) + (g + h))
}
