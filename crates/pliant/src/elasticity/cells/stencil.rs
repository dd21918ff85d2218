//! Sums over the neighbours of eight cells, and the two passes of a product with M + dt² K.
//!
//! With D_a φ = Σ_o b_o o_a φ(· + o) along axis a, pass 1 makes of p
//!   U = (D_0 p, D_1 p, D_2 p) - p ⊗ Σ_j b_ij,   dF = U C,   T = V dP(dF) C - z dF,
//! and the part of the product without T; pass 2 adds -dt² (D_0 T_0 + D_1 T_1 + D_2 T_2 + T Σ_j b_ij), T_a the columns of T.

use super::bands::{Band, Sources};
use super::columns::{Columns, View, each, join, lane, put, put_all, sum, total};
use super::inertia::{Inertia, Inertias};
use super::kinds::Kind;
use super::{Cells, NOBODY, Slice, Task, Weights};
use crate::elasticity::Deformation;
use crate::math::{LANES, Lane, Mat3x8, Quatx8, Vec3x8, polar_rotation};
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
    pub inertia: Inertia<'a>,
}

/// Eight cells in a pass over columns.
#[derive(Clone, Copy)]
pub(super) struct Place {
    /// Number of their slice.
    pub slice: usize,
    /// The first of them.
    pub cell: u32,
    /// Where they are in the columns of the task.
    pub at: usize,
    /// The first of them in slots.
    pub slot: u32,
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

/// From the cells before to those after.
#[inline(always)]
fn slope(row: [Lane; 3]) -> Lane {
    row[2] - row[0]
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
        let [b1, b2, b3] = [Lane::splat(w.b[0]), Lane::splat(w.b[1]), Lane::splat(w.b[2])];
        // Differences come first: fields are large beside what they change by from cell to cell.
        let (rising, falling) = (uf[1] - db[1], ub[1] - df[1]);
        let along = (slope(up) + slope(down)) + (slope(front) + slope(back));
        let across = [
            ((up[0] - down[0]) + (up[2] - down[2])) + (rising + falling),
            ((front[0] - back[0]) + (front[2] - back[2])) + (rising - falling),
        ];
        let mut slopes = [
            along.mul_add(b2, (after - before) * b1),
            across[0].mul_add(b2, (up[1] - down[1]) * b1),
            across[1].mul_add(b2, (front[1] - back[1]) * b1),
        ];
        let near = (before + after) + ((up[1] + down[1]) + (front[1] + back[1]));
        let diagonal =
            ((ends(up) + ends(down)) + (ends(front) + ends(back))) + ((uf[1] + ub[1]) + (df[1] + db[1]));
        let mut sum = diagonal.mul_add(Lane::splat(w.beta[1]), near * Lane::splat(w.beta[0]));
        if CORNERS {
            let along = (slope(uf) + slope(ub)) + (slope(df) + slope(db));
            let rising = (uf[0] - db[0]) + (uf[2] - db[2]);
            let falling = (ub[0] - df[0]) + (ub[2] - df[2]);
            slopes = [
                along.mul_add(b3, slopes[0]),
                (rising + falling).mul_add(b3, slopes[1]),
                (rising - falling).mul_add(b3, slopes[2]),
            ];
            let corners = (ends(uf) + ends(ub)) + (ends(df) + ends(db));
            sum = corners.mul_add(Lane::splat(w.beta[2]), sum);
        }
        Sums { own, slopes, sum }
    }
}

/// Σ_o w_o φ(· + o).
#[inline(always)]
fn sum_around<const CORNERS: bool>(columns: View<3>, column: usize, slice: &Slice, w: [f32; 3]) -> Lane {
    let row = |cell: u32| columns.row(column, cell);
    let [up, down, front, back, uf, ub, df, db] = slice.around.map(row);
    let [before, _, after] = row(slice.cell);
    let near = (before + after) + ((up[1] + down[1]) + (front[1] + back[1]));
    let edges = (uf[1] + ub[1]) + (df[1] + db[1]);
    let diagonal = ((ends(up) + ends(down)) + (ends(front) + ends(back))) + edges;
    let sum = diagonal.mul_add(Lane::splat(w[1]), near * Lane::splat(w[0]));
    if !CORNERS {
        return sum;
    }
    let corners = (ends(uf) + ends(ub)) + (ends(df) + ends(db));
    corners.mul_add(Lane::splat(w[2]), sum)
}

/// D_0 of a column.
#[inline(always)]
fn slope_along<const CORNERS: bool>(columns: View<9>, column: usize, sources: &Sources, w: &Weights) -> Lane {
    let row = |cell: u32| columns.row(column, cell);
    let [up, down, front, back, uf, ub, df, db] = sources.around;
    let own = row(sources.own);
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

/// Velocities that XSPH makes alike.
#[derive(Clone, Copy)]
pub(super) struct Smoothed<'a> {
    pub velocities: View<'a, 3>,
    /// Its coefficient times the density.
    pub strength: f32,
}

impl Smoothed<'_> {
    /// strength Σ_j V_i V_j W_ij v_ji.
    #[inline(always)]
    fn force<const CORNERS: bool>(&self, slice: &Slice, kind: &Kind, weights: [f32; 3]) -> Vec3x8 {
        let part = |k: usize| {
            let around = sum_around::<CORNERS>(self.velocities, k, slice, weights);
            (around - self.velocities.lane(k, slice.cell) * kind.xsph_sum) * Lane::splat(self.strength)
        };
        Vec3x8::new(part(0), part(1), part(2))
    }
}

/// What eight cells see of a field p.
struct Seen {
    own: Vec3x8,
    /// (D_0 p, D_1 p, D_2 p).
    slopes: Mat3x8,
    /// Σ_j beta_ij p_ji.
    pull: Vec3x8,
}

impl Cells {
    /// Pass 1 of the product y = (M + dt² K) p: T, and y without it, which are the columns of the band.
    pub(super) fn respond(
        &self,
        band: &Band,
        frame: Frame,
        p: View<3>,
        (stresses, y): (&mut Columns<9>, [&mut [f32]; 3]),
    ) {
        if self.weights.has_corners {
            self.respond_with::<true>(band, frame, p, (stresses, y))
        } else {
            self.respond_with::<false>(band, frame, p, (stresses, y))
        }
    }

    fn respond_with<const CORNERS: bool>(
        &self,
        band: &Band,
        frame: Frame,
        p: View<3>,
        (stresses, y): (&mut Columns<9>, [&mut [f32]; 3]),
    ) {
        let tasks = self.tasks_of(band);
        let ([t0, t1, t2, t3, t4, t5, t6, t7, t8], [y0, y1, y2]) = (stresses.at(band.slot.clone()), y);
        each(tasks, [t0, t1, t2, t3, t4, t5, t6, t7, t8, y0, y1, y2], |task, columns| {
            let [t0, t1, t2, t3, t4, t5, t6, t7, t8, y0, y1, y2] = columns;
            let mut stresses = [t0, t1, t2, t3, t4, t5, t6, t7, t8];
            for number in task.slices.clone() {
                let slice = &self.slices[number];
                let at = slice.cell as usize - task.cells.start;
                let Seen { own, slopes, pull } = self.see::<CORNERS>(p, slice);
                // m p - dt² 2 z Σ_j beta_ij p_ji, stored before T: else its sums wait in memory until T is done
                let gain = frame.inertia.gains(number) * Lane::splat(2.0 * frame.stiffness.z);
                let y = own * frame.inertia.masses(number) - pull * gain;
                put(y0, at, y.x);
                put(y1, at, y.y);
                put(y2, at, y.z);
                let [a, b, c] = self.response(frame, (own, slopes), (slice, number)).c;
                put_all(&mut stresses, at, [a.x, a.y, a.z, b.x, b.y, b.z, c.x, c.y, c.z]);
                self.clear_after(number, task, &mut stresses);
            }
        });
    }

    pub(super) fn tasks_of(&self, band: &Band) -> &[Task] {
        &self.tasks()[band.tasks.clone()]
    }

    /// Between slices are zeros, whatever the band that had the slot before left there.
    #[inline(always)]
    fn clear_after<const N: usize>(&self, slice: usize, task: &Task, stresses: &mut [&mut [f32]; N]) {
        if !self.cut.clears {
            return;
        }
        let cell_of = |slice: &Slice| slice.cell as usize;
        let mut start = cell_of(&self.slices[slice]) + LANES - task.cells.start;
        let next = self.slices.get(slice + 1).map_or(task.cells.end, cell_of) - task.cells.start;
        while start + LANES <= next {
            put_all(stresses, start, [Lane::ZERO; N]);
            start += LANES;
        }
        if start < next {
            stresses.iter_mut().for_each(|column| column[start..next].fill(0.0));
        }
    }

    /// Pass 2: of every eight cells dt² times the forces of T, to be taken from the product by `finish`; returns the sums
    /// of what it gives.
    pub(super) fn push<const N: usize>(
        &self,
        tasks: &[Task],
        (stresses, inertia): (View<9>, Inertia),
        columns: [&mut [f32]; N],
        finish: impl Fn(&mut [&mut [f32]; N], Place, Vec3x8) -> [Lane; 2] + Sync,
    ) -> DVec2 {
        if self.weights.has_corners {
            self.push_with::<true, N>(tasks, (stresses, inertia), columns, finish)
        } else {
            self.push_with::<false, N>(tasks, (stresses, inertia), columns, finish)
        }
    }

    #[inline(always)]
    fn push_with<const CORNERS: bool, const N: usize>(
        &self,
        tasks: &[Task],
        (t, inertia): (View<9>, Inertia),
        columns: [&mut [f32]; N],
        finish: impl Fn(&mut [&mut [f32]; N], Place, Vec3x8) -> [Lane; 2] + Sync,
    ) -> DVec2 {
        sum(tasks, columns, |task, mut columns| {
            let mut sums = [Lane::ZERO; 2];
            for number in task.slices.clone() {
                let sources = &self.cut.sources[number];
                let at = sources.cell as usize - task.cells.start;
                let f = self.force::<CORNERS>(t, sources) * inertia.gains(number);
                let place = Place { slice: number, cell: sources.cell, at, slot: sources.own };
                let [a, b] = finish(&mut columns, place, f);
                sums = [sums[0] + a, sums[1] + b];
            }
            sums.map(total).into()
        })
    }

    /// Elastic forces at displacements u from a rigid frame Q' [N], with those of XSPH at velocities v if there are any, and
    /// T as scratch; turns the rotations to those of F = Q' (I + U C). Vectors are along the axes of the frame. Returns the
    /// largest deformation.
    ///
    /// I + U C is never subtracted from: with R = Q' (I + B) the strain comes from U C - B, and its rounding error is that
    /// of the turn from the frame and not that of one.
    pub(super) fn deform(
        &self,
        (stiffness, turn): (Stiffness, Quatx8),
        (u, inertia, smoothed): (View<3>, Inertia, Option<Smoothed>),
        (rotations, stresses): (&mut Columns<4>, &mut Columns<9>),
        forces: &mut Columns<3>,
    ) -> Deformation {
        if self.weights.has_corners {
            self.deform_with::<true>((stiffness, turn), (u, inertia, smoothed), (rotations, stresses), forces)
        } else {
            self.deform_with::<false>(
                (stiffness, turn),
                (u, inertia, smoothed),
                (rotations, stresses),
                forces,
            )
        }
    }

    fn deform_with<const CORNERS: bool>(
        &self,
        (stiffness, turn): (Stiffness, Quatx8),
        (u, inertia, smoothed): (View<3>, Inertia, Option<Smoothed>),
        (rotations, stresses): (&mut Columns<4>, &mut Columns<9>),
        forces: &mut Columns<3>,
    ) -> Deformation {
        // band after band, as products do: the stresses are then still in the cache
        let mut extreme = Deformation::none(usize::MAX);
        let bands = &self.cut.bands;
        for k in 0..bands.len() + 1 {
            if let Some(band) = bands.get(k) {
                let written = (&mut *rotations, &mut *stresses, &mut *forces);
                let found = self.strain::<CORNERS>(band, (stiffness, turn), (u, inertia), written);
                extreme = extreme.larger(found);
            }
            if let Some(band) = k.checked_sub(1).and_then(|k| bands.get(k)) {
                let (tasks, t) = (self.tasks_of(band), stresses.view());
                each(tasks, forces.of(tasks), |task, [y0, y1, y2]| {
                    for number in task.slices.clone() {
                        let sources = &self.cut.sources[number];
                        let at = sources.cell as usize - task.cells.start;
                        let mut f = self.force::<CORNERS>(t, sources);
                        if let (Some(smoothed), Some(weights)) = (smoothed, self.xsph) {
                            let slice = &self.slices[number];
                            f = f + smoothed.force::<CORNERS>(slice, self.kind(slice.kind), weights);
                        }
                        for (column, f) in [(&mut *y0, f.x), (&mut *y1, f.y), (&mut *y2, f.z)] {
                            let value = lane(column, at) + f;
                            put(column, at, value);
                        }
                    }
                });
            }
        }
        extreme
    }

    /// Rotations, stresses T and the forces without those of T.
    fn strain<const CORNERS: bool>(
        &self,
        band: &Band,
        (stiffness, turn): (Stiffness, Quatx8),
        (u, inertia): (View<3>, Inertia),
        (rotations, stresses, forces): (&mut Columns<4>, &mut Columns<9>, &mut Columns<3>),
    ) -> Deformation {
        let tasks = self.tasks_of(band);
        let ([t0, t1, t2, t3, t4, t5, t6, t7, t8], [y0, y1, y2]) =
            (stresses.at(band.slot.clone()), forces.of(tasks));
        let [x, y, z, w] = rotations.of(tasks);
        let columns = [t0, t1, t2, t3, t4, t5, t6, t7, t8, y0, y1, y2, x, y, z, w];
        let back = turn.conjugate();
        let work = |task: &Task, mut columns: [&mut [f32]; 16]| {
            let mut extreme = Deformation::none(usize::MAX);
            for number in task.slices.clone() {
                let slice = &self.slices[number];
                let at = slice.cell as usize - task.cells.start;
                let turned = |k: usize| lane(columns[12 + k], at);
                let before = Quatx8 { x: turned(0), y: turned(1), z: turned(2), w: turned(3) };
                let Seen { own, slopes, pull } = self.see::<CORNERS>(u, slice);
                let fit = self.fit(own, slopes, slice);
                let null = self.null(slice);
                let deformation = match null {
                    None => fit,
                    Some(null) => fit - null,
                };
                let deformation = deformation.add_diagonal(Lane::ONE);
                let (q, rotation) = polar_rotation(deformation, back.mul_quat(before));
                // missing dimensions move with the rotation
                let bend = q.bend();
                let carried = match null {
                    None => fit,
                    Some(null) => fit + bend.mul_mat(null),
                };
                let strain = carried - bend;
                let stress =
                    stiffness.respond(self.lambda(stiffness, inertia, (slice, number)), rotation, strain);
                let [a, b, c] = (self.spread(slice, stress) - carried.scale(Lane::splat(stiffness.z))).c;
                let y = pull * Lane::splat(2.0 * stiffness.z);
                let q = turn.mul_quat(q);
                let values = [a.x, a.y, a.z, b.x, b.y, b.z, c.x, c.y, c.z, y.x, y.y, y.z, q.x, q.y, q.z, q.w];
                put_all(&mut columns, at, values);
                let (stresses, _) = columns.split_first_chunk_mut::<9>().expect("nine of them");
                self.clear_after(number, task, stresses);
                self.note(slice, deformation.norm_squared(), &mut extreme);
            }
            extreme
        };
        join(tasks, columns, &work, &Deformation::larger)
    }

    fn note(&self, slice: &Slice, norms: Lane, extreme: &mut Deformation) {
        let cells = slice.cell as usize..slice.cell as usize + LANES;
        for (norm, &i) in norms.to_array().into_iter().zip(&self.particle_of[cells]) {
            if i != NOBODY {
                extreme.note(norm, i as usize);
            }
        }
    }

    /// What eight cells see of p. (A call of its own: within the loops it leaves too few registers to what follows.)
    #[inline(never)]
    fn see<const CORNERS: bool>(&self, p: View<3>, slice: &Slice) -> Seen {
        let w = &self.weights;
        let x = Sums::of::<CORNERS>(p, 0, slice, w);
        let y = Sums::of::<CORNERS>(p, 1, slice, w);
        let z = Sums::of::<CORNERS>(p, 2, slice, w);
        let own = Vec3x8::new(x.own, y.own, z.own);
        let pull = Vec3x8::new(x.sum, y.sum, z.sum) - own * self.kind(slice.kind).beta_sum;
        let column = |k: usize| Vec3x8::new(x.slopes[k], y.slopes[k], z.slopes[k]);
        Seen { own, slopes: Mat3x8 { c: [column(0), column(1), column(2)] }, pull }
    }

    /// U C.
    #[inline(always)]
    fn fit(&self, own: Vec3x8, slopes: Mat3x8, slice: &Slice) -> Mat3x8 {
        if slice.is_inside {
            return slopes.scale(Lane::splat(self.weights.c));
        }
        let Kind { missing: [x, y, z], correction, .. } = self.kind(slice.kind);
        let u = slopes - Mat3x8 { c: [own * *x, own * *y, own * *z] };
        u.mul_mat(correction.full())
    }

    /// V P C.
    #[inline(always)]
    fn spread(&self, slice: &Slice, stress: Mat3x8) -> Mat3x8 {
        if slice.is_inside {
            stress.scale(Lane::splat(self.weights.c * self.volume))
        } else {
            stress.scale(Lane::splat(self.volume)).mul_mat(self.kind(slice.kind).correction.full())
        }
    }

    #[inline(always)]
    fn kind(&self, number: u32) -> &Kind {
        &self.kinds[number as usize]
    }

    /// N' of eight cells, if one of them may have one.
    #[inline(always)]
    fn null(&self, slice: &Slice) -> Option<Mat3x8> {
        (self.is_flat && !slice.is_inside).then(|| self.kind(slice.kind).null.full())
    }

    #[inline(always)]
    fn lambda(&self, stiffness: Stiffness, inertia: Inertia, (slice, number): (&Slice, usize)) -> Lane {
        match slice.is_inside {
            true => Lane::splat(stiffness.lambda),
            false => inertia.lambdas(number),
        }
    }

    /// T of a product.
    #[inline(always)]
    fn response(
        &self,
        frame: Frame,
        (own, slopes): (Vec3x8, Mat3x8),
        (slice, number): (&Slice, usize),
    ) -> Mat3x8 {
        let fit = self.fit(own, slopes, slice);
        let [x, y, z, w] = frame.rotations.lanes(slice.cell);
        let rotation = Quatx8 { x, y, z, w }.matrix();
        let lambda = self.lambda(frame.stiffness, frame.inertia, (slice, number));
        let stress = frame.stiffness.respond(lambda, rotation, fit);
        self.spread(slice, stress) - fit.scale(Lane::splat(frame.stiffness.z))
    }

    /// Pass 2: Σ_j (T_i + T_j) b_ij.
    #[inline(always)]
    fn force<const CORNERS: bool>(&self, t: View<9>, sources: &Sources) -> Vec3x8 {
        let w = &self.weights;
        let [up, down, front, back, uf, ub, df, db] = sources.around;
        let (first, second) = ([up, down, uf, ub, df, db], [front, back, uf, df, ub, db]);
        let x = slope_along::<CORNERS>(t, 0, sources, w)
            + (slope_across::<CORNERS>(t, 3, first, w) + slope_across::<CORNERS>(t, 6, second, w));
        let y = slope_along::<CORNERS>(t, 1, sources, w)
            + (slope_across::<CORNERS>(t, 4, first, w) + slope_across::<CORNERS>(t, 7, second, w));
        let z = slope_along::<CORNERS>(t, 2, sources, w)
            + (slope_across::<CORNERS>(t, 5, first, w) + slope_across::<CORNERS>(t, 8, second, w));
        let f = Vec3x8::new(x, y, z);
        if sources.is_inside {
            return f;
        }
        let [mx, my, mz] = self.kind(sources.kind).missing;
        let t: [Lane; 9] = t.lanes(sources.own);
        let column = |k: usize| Vec3x8::new(t[k], t[k + 1], t[k + 2]);
        f + Mat3x8 { c: [column(0), column(3), column(6)] }.mul_vec(Vec3x8::new(mx, my, mz))
    }
}

impl Stiffness {
    /// With what else a product reads.
    pub(super) fn frame<'a>(self, rotations: &'a Columns<4>, inertia: &'a Inertias) -> Frame<'a> {
        Frame { stiffness: self, rotations: rotations.view(), inertia: inertia.view() }
    }

    /// dP = R (2 mu sym(RᵀdF) + lambda tr(RᵀdF) I).
    #[inline(always)]
    fn respond(&self, lambda: Lane, rotation: Mat3x8, deformation: Mat3x8) -> Mat3x8 {
        let strain = rotation.transpose_mul(deformation).symmetric_part();
        let pressure = lambda * strain.trace();
        rotation.mul_mat(strain.scale(Lane::splat(self.two_mu)).add_diagonal(pressure).full())
    }
}
