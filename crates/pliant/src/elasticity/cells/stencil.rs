//! Sums over the neighbours of eight cells, and the two passes of a product with M + dt² K.
//!
//! With D_a φ = Σ_o b_o o_a φ(· + o) along axis a, pass 1 makes of p
//!   U = (D_0 p, D_1 p, D_2 p) - p ⊗ Σ_j b_ij,   dF = U C,   T = V dP(dF) C - z dF,
//! and the part of the product without T; pass 2 adds -dt² (D_0 T_0 + D_1 T_1 + D_2 T_2 + T Σ_j b_ij), T_a the columns of T.

use super::columns::{Columns, View, lane, over, put, put_all, total};
use super::{Cells, Slice, Weights};
use crate::math::{Lane, Mat3x8, Quatx8, Sym3x8, Vec3x8};
use glam::DVec2;

/// What K is made of besides the layout.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Stiffness {
    pub two_mu: f32,
    /// Of particles with all neighbours.
    pub lambda: f32,
    /// Zero-energy stiffness z.
    pub z: f32,
}

/// What a product reads of the cells.
#[derive(Clone, Copy)]
pub(super) struct Frame<'a> {
    pub stiffness: Stiffness,
    /// R' as x, y, z, w.
    pub rotations: View<'a, 4>,
    /// Masses; dt², of held particles and of nobody zero; what the solver keeps besides.
    pub inertia: View<'a, 3>,
    /// lambda: neighbourhoods that are flat have another one.
    pub lambdas: View<'a, 1>,
}

/// Sums over the neighbours of eight cells.
struct Sums {
    /// φ itself.
    own: Lane,
    /// D_0, D_1, D_2.
    slopes: [Lane; 3],
    /// Σ_o beta_o φ(· + o).
    sum: Lane,
}

/// The cells before and after, together.
#[inline(always)]
fn ends(row: [Lane; 3]) -> Lane {
    row[0] + row[2]
}

impl Sums {
    #[inline(always)]
    fn of<const CORNERS: bool>(columns: View<3>, column: usize, slice: &Slice, w: &Weights) -> Self {
        let row = |cell: u32| columns.row(column, cell);
        let edge = |cell: u32| {
            if CORNERS { row(cell) } else { [Lane::ZERO, columns.lane(column, cell), Lane::ZERO] }
        };
        let [up, down, front, back, uf, ub, df, db] = slice.around;
        let [before, own, after] = row(slice.cell);
        let (up, down, front, back) = (row(up), row(down), row(front), row(back));
        let (uf, ub, df, db) = (edge(uf), edge(ub), edge(df), edge(db));
        let (rising, falling) = (uf[1] - db[1], ub[1] - df[1]);
        let [b1, b2, b3] = [Lane::splat(w.b[0]), Lane::splat(w.b[1]), Lane::splat(w.b[2])];
        let later = (up[2] + down[2]) + (front[2] + back[2]);
        let earlier = (up[0] + down[0]) + (front[0] + back[0]);
        let (ends_up, ends_down) = (ends(up), ends(down));
        let (ends_front, ends_back) = (ends(front), ends(back));
        let mut slopes = [
            (later - earlier).mul_add(b2, (after - before) * b1),
            ((ends_up - ends_down) + (rising + falling)).mul_add(b2, (up[1] - down[1]) * b1),
            ((ends_front - ends_back) + (rising - falling)).mul_add(b2, (front[1] - back[1]) * b1),
        ];
        let near = (before + after) + ((up[1] + down[1]) + (front[1] + back[1]));
        let diagonal = (later + earlier) + ((uf[1] + ub[1]) + (df[1] + db[1]));
        let mut sum = diagonal.mul_add(Lane::splat(w.beta[1]), near * Lane::splat(w.beta[0]));
        if CORNERS {
            let (ends_uf, ends_ub, ends_df, ends_db) = (ends(uf), ends(ub), ends(df), ends(db));
            let (rising, falling) = (ends_uf - ends_db, ends_ub - ends_df);
            let later = (uf[2] + ub[2]) + (df[2] + db[2]);
            let earlier = (uf[0] + ub[0]) + (df[0] + db[0]);
            slopes = [
                (later - earlier).mul_add(b3, slopes[0]),
                (rising + falling).mul_add(b3, slopes[1]),
                (rising - falling).mul_add(b3, slopes[2]),
            ];
            sum = (later + earlier).mul_add(Lane::splat(w.beta[2]), sum);
        }
        Sums { own, slopes, sum }
    }
}

/// D_0 of a column.
#[inline(always)]
fn slope_along<const CORNERS: bool>(columns: View<9>, column: usize, slice: &Slice, w: &Weights) -> Lane {
    let row = |cell: u32| columns.row(column, cell);
    let [up, down, front, back, uf, ub, df, db] = slice.around;
    let own = row(slice.cell);
    let (a, b, c, d) = (row(up), row(down), row(front), row(back));
    let sides = ((a[2] + b[2]) + (c[2] + d[2])) - ((a[0] + b[0]) + (c[0] + d[0]));
    let sum = sides.mul_add(Lane::splat(w.b[1]), (own[2] - own[0]) * Lane::splat(w.b[0]));
    if !CORNERS {
        return sum;
    }
    let (a, b, c, d) = (row(uf), row(ub), row(df), row(db));
    let edges = ((a[2] + b[2]) + (c[2] + d[2])) - ((a[0] + b[0]) + (c[0] + d[0]));
    edges.mul_add(Lane::splat(w.b[2]), sum)
}

/// D_1 or D_2 of a column: the lines up and down the axis, and those at the edges above and below.
#[inline(always)]
fn slope_across<const CORNERS: bool>(columns: View<9>, column: usize, lines: [u32; 6], w: &Weights) -> Lane {
    let row = |cell: u32| columns.row(column, cell);
    let [up, down, above, above_too, below, below_too] = lines;
    let (up, down) = (row(up), row(down));
    let edge = |cell: u32| columns.lane(column, cell);
    let edges = (edge(above) + edge(above_too)) - (edge(below) + edge(below_too));
    let diagonal = (ends(up) - ends(down)) + edges;
    let sum = diagonal.mul_add(Lane::splat(w.b[1]), (up[1] - down[1]) * Lane::splat(w.b[0]));
    if !CORNERS {
        return sum;
    }
    let corners = (ends(row(above)) + ends(row(above_too))) - (ends(row(below)) + ends(row(below_too)));
    corners.mul_add(Lane::splat(w.b[2]), sum)
}

impl Cells {
    /// y = (M + dt² K) p with the stresses T as scratch; returns p·y.
    pub(super) fn multiply(
        &self,
        frame: Frame,
        p: View<3>,
        stresses: &mut Columns<9>,
        y: &mut Columns<3>,
    ) -> f64 {
        if self.weights.has_corners {
            self.multiply_with::<true>(frame, p, stresses, y)
        } else {
            self.multiply_with::<false>(frame, p, stresses, y)
        }
    }

    fn multiply_with<const CORNERS: bool>(
        &self,
        frame: Frame,
        p: View<3>,
        stresses: &mut Columns<9>,
        y: &mut Columns<3>,
    ) -> f64 {
        let ([t0, t1, t2, t3, t4, t5, t6, t7, t8], [y0, y1, y2]) = (stresses.columns_mut(), y.columns_mut());
        over(&self.tasks, [t0, t1, t2, t3, t4, t5, t6, t7, t8, y0, y1, y2], &|task, mut columns| {
            for slice in &self.slices[task.slices.clone()] {
                let (t, y) = self.stress::<CORNERS>(frame, p, slice);
                let [a, b, c] = t.c;
                let values = [a.x, a.y, a.z, b.x, b.y, b.z, c.x, c.y, c.z, y.x, y.y, y.z];
                put_all(&mut columns, slice.cell as usize - task.cells.start, values);
            }
            DVec2::ZERO
        });
        let t = stresses.view();
        let sums = over(&self.tasks, y.columns_mut(), &|task, [y0, y1, y2]| {
            let mut sum = Lane::ZERO;
            for slice in &self.slices[task.slices.clone()] {
                let at = slice.cell as usize - task.cells.start;
                let f = self.force::<CORNERS>(t, slice);
                let gain = frame.inertia.lane(1, slice.cell);
                let mut add = |column: &mut [f32], k: usize, f: Lane| {
                    let value = lane(column, at) - f * gain;
                    put(column, at, value);
                    sum = value.mul_add(p.lane(k, slice.cell), sum);
                };
                add(y0, 0, f.x);
                add(y1, 1, f.y);
                add(y2, 2, f.z);
            }
            DVec2::new(total(sum), 0.0)
        });
        sums.x
    }

    /// Pass 1: T, and m p - dt² 2 z Σ_j beta_ij p_ji.
    #[inline(always)]
    fn stress<const CORNERS: bool>(&self, frame: Frame, p: View<3>, slice: &Slice) -> (Mat3x8, Vec3x8) {
        let (w, cell) = (&self.weights, slice.cell);
        let x = Sums::of::<CORNERS>(p, 0, slice, w);
        let y = Sums::of::<CORNERS>(p, 1, slice, w);
        let z = Sums::of::<CORNERS>(p, 2, slice, w);
        let own = Vec3x8::new(x.own, y.own, z.own);
        let sum = Vec3x8::new(x.sum, y.sum, z.sum);
        let column = |k: usize| Vec3x8::new(x.slopes[k], y.slopes[k], z.slopes[k]);
        let mut u = Mat3x8 { c: [column(0), column(1), column(2)] };
        let [mass, gain, _] = frame.inertia.lanes(cell);
        let strength = gain * Lane::splat(2.0 * frame.stiffness.z);
        let [x, y, z, real] = frame.rotations.lanes(cell);
        let rotation = Quatx8 { x, y, z, w: real }.matrix();
        let (volume, z) = (Lane::splat(self.volume), Lane::splat(frame.stiffness.z));
        if slice.is_inside {
            let c = Lane::splat(w.c);
            let deformation = u.scale(c);
            let lambda = Lane::splat(frame.stiffness.lambda);
            let stress = frame.stiffness.respond(lambda, rotation, deformation);
            let t = stress.scale(c * volume) - deformation.scale(z);
            return (t, own * (mass + strength * Lane::splat(w.beta_sum)) - sum * strength);
        }
        let [mx, my, mz] = self.missing.view().lanes(cell);
        u = u - Mat3x8 { c: [own * mx, own * my, own * mz] };
        let [xx, yy, zz, xy, xz, yz] = self.corrections.view().lanes(cell);
        let correction = Sym3x8 { xx, yy, zz, xy, xz, yz }.full();
        let deformation = u.mul_mat(correction);
        let lambda = frame.lambdas.lane(0, cell);
        let stress = frame.stiffness.respond(lambda, rotation, deformation).scale(volume);
        let t = stress.mul_mat(correction) - deformation.scale(z);
        let beta_sum = self.beta_sums.view().lane(0, cell);
        (t, own * (mass + strength * beta_sum) - sum * strength)
    }

    /// Pass 2: Σ_j (T_i + T_j) b_ij.
    #[inline(always)]
    fn force<const CORNERS: bool>(&self, t: View<9>, slice: &Slice) -> Vec3x8 {
        let w = &self.weights;
        let [up, down, front, back, uf, ub, df, db] = slice.around;
        let (first, second) = ([up, down, uf, ub, df, db], [front, back, uf, df, ub, db]);
        let x = slope_along::<CORNERS>(t, 0, slice, w)
            + (slope_across::<CORNERS>(t, 3, first, w) + slope_across::<CORNERS>(t, 6, second, w));
        let y = slope_along::<CORNERS>(t, 1, slice, w)
            + (slope_across::<CORNERS>(t, 4, first, w) + slope_across::<CORNERS>(t, 7, second, w));
        let z = slope_along::<CORNERS>(t, 2, slice, w)
            + (slope_across::<CORNERS>(t, 5, first, w) + slope_across::<CORNERS>(t, 8, second, w));
        let f = Vec3x8::new(x, y, z);
        if slice.is_inside {
            return f;
        }
        let [mx, my, mz] = self.missing.view().lanes(slice.cell);
        let t: [Lane; 9] = t.lanes(slice.cell);
        let column = |k: usize| Vec3x8::new(t[k], t[k + 1], t[k + 2]);
        f + Mat3x8 { c: [column(0), column(3), column(6)] }.mul_vec(Vec3x8::new(mx, my, mz))
    }
}

impl Stiffness {
    /// dP = R (2 mu sym(RᵀdF) + lambda tr(RᵀdF) I).
    #[inline(always)]
    fn respond(&self, lambda: Lane, rotation: Mat3x8, deformation: Mat3x8) -> Mat3x8 {
        let strain = rotation.transpose_mul(deformation).symmetric_part();
        let pressure = lambda * strain.trace();
        rotation.mul_mat(strain.scale(Lane::splat(self.two_mu)).add_diagonal(pressure).full())
    }
}
