//! Conjugate gradients on M + dt² K over cells, in as few passes as there are sums to wait for.
//!
//! They are preconditioned by D, the mean of the diagonal's three entries a particle, and go several steps at once
//! (`leap.rs`). (Blocks of the diagonal turned by R save no product: inside a lattice they are multiples of the identity.)
//! In stiff bodies z = M⁻¹ r is that of a cycle over cells and grids (`cycle.rs`), and an iteration is one step, in four passes,
//! the first three of them band by band:
//!   x += a p, p = z + b p;   the two of q = A p, with p·q;   r -= a q, with the size of r.
//! Sums are in single precision within a task and in double precision above, in an order that no thread changes.

use super::columns::{Columns, View, each, lane, put, put_all, sum, total};
use super::cycle::Cycle;
use super::inertia::Inertias;
use super::leap::Leap;
use super::past::{Past, STEPS};
use super::stencil::{Smoothed, Stiffness};
use super::{Cells, NOBODY, Task};
use crate::elasticity::preconditioner::BodyPreconditioner;
use crate::elasticity::{Deformation, ElasticBody, SolveTolerance};
use crate::linear::{Breakdown, Multigrid, Solved};
use crate::material::Law;
use crate::math::{LANES, Lane, Mat3, Quat, Quatx8, Real};
use glam::{DVec2, DVec3, Mat3A, Vec3};
use rayon::prelude::*;

/// The system of a body in cells, and the vectors of its solver.
#[derive(Clone, Debug)]
pub(in crate::elasticity) struct CellSolver {
    pub(super) stiffness: Stiffness,
    dt: Real,
    held: Vec<bool>,
    pub(super) inertia: Inertias,
    /// R'.
    pub(super) rotations: Columns<4>,
    pub(super) x: Columns<3>,
    /// Solutions of the steps before.
    past: Past,
    pub(super) r: Columns<3>,
    /// |r| of the right-hand side.
    right_size: Real,
    pub(super) p: Columns<3>,
    pub(super) q: Columns<3>,
    pub(super) stresses: Columns<9>,
    /// The least m / D of a free particle.
    pub(super) least_inertia: f32,
    pub(super) leap: Leap,
    /// Of stiff bodies.
    cycle: Option<Cycle>,
}

/// Where a solve starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::elasticity) enum Start {
    Zero,
    /// From the solution of the last step; over cells, from what the last steps let expect.
    LastStep,
}

/// A solve that has begun.
#[derive(Clone, Copy)]
pub(in crate::elasticity) struct Begun {
    start: Start,
    /// x is a p, if nothing more is done.
    a: f32,
    /// What `reduce` gave.
    sums: DVec2,
    pub residual: Real,
}

/// How directions change from one iteration to the next: x += a p, p = z + b p.
#[derive(Clone, Copy)]
pub(super) struct Turn {
    a: f32,
    b: f32,
    /// Is x zero so far?
    is_first: bool,
}

/// What a direction p is to be before a product.
#[derive(Clone, Copy)]
pub(super) enum Direction<'a> {
    /// The combination of past solutions with these factors.
    Expected([f64; STEPS]),
    /// z + b p.
    Turned(Turn, View<'a, 3>),
}

/// The particles of a step.
#[derive(Clone, Copy)]
pub(in crate::elasticity) struct Particles<'a> {
    pub masses: &'a [f32],
    pub held: &'a [bool],
}

impl CellSolver {
    pub fn new(cells: &Cells) -> Self {
        let count = cells.count();
        CellSolver {
            stiffness: Stiffness::default(),
            dt: 0.0,
            held: Vec::new(),
            stresses: Columns::new(cells.cut.slot_cells, 0),
            q: Columns::new(count, 9),
            p: Columns::new(count, 12),
            rotations: Columns::new(count, 15),
            inertia: Inertias::default(),
            x: Columns::new(count, 23),
            r: Columns::new(count, 26),
            past: Past::new(count, 55),
            right_size: 0.0,
            least_inertia: 1.0,
            leap: Leap::new(cells),
            cycle: None,
        }
    }

    /// Sets the system for the rotations and moduli that the body has.
    pub fn set(
        &mut self,
        cells: &Cells,
        body: &ElasticBody,
        particles: Particles,
        dt: Real,
        preconditioner: &BodyPreconditioner,
    ) {
        let stiffness = Stiffness {
            two_mu: 2.0 * body.moduli.shear as f32,
            lambda: body.moduli.lame_lambda() as f32,
            z: body.constants.z as f32,
        };
        let Particles { masses, held } = particles;
        let holds_others = self.held != held;
        if holds_others {
            self.held.clear();
            self.held.extend(held);
            let inertia = |i: usize| if held[i] { -masses[i] } else { masses[i] };
            self.inertia.sort(cells, |i| (preconditioner.mark(i), inertia(i).to_bits()));
        }
        if holds_others || (self.stiffness, self.dt) != (stiffness, dt) {
            (self.stiffness, self.dt) = (stiffness, dt);
            let dt2 = (dt * dt) as f32;
            self.least_inertia = self.inertia.set(cells, |i| {
                let diagonal = preconditioner.mean_diagonal(body, i, masses[i], dt);
                let gain = if held[i] { 0.0 } else { dt2 };
                [masses[i], gain, diagonal, body.lambda_of(i) as f32]
            });
        }
        self.turn(cells, body);
    }

    /// Sees to it that cycles are for the body's moduli.
    pub fn prepare_cycle(&mut self, cells: &Cells, body: &ElasticBody, preconditioner: &BodyPreconditioner) {
        self.cycle = Some(Cycle::new(cells, body, preconditioner, self.cycle.take()));
    }

    /// Takes the body's rotations.
    fn turn(&mut self, cells: &Cells, body: &ElasticBody) {
        let axes = Quatx8::splat(Quat::from_mat3(&cells.axes));
        // cells of nobody turn with the frame: there is nothing to find for them
        let nobody = body.rotation(body.rest.middle).as_quat().to_array();
        each(cells.tasks(), self.rotations.of(cells.tasks()), |task, mut columns| {
            for slice in &cells.slices[task.slices.clone()] {
                let mut parts = nobody.map(|part| [part; LANES]);
                for (k, &i) in cells.particle_of[slice.cell as usize..][..LANES].iter().enumerate() {
                    if i != NOBODY {
                        let (q, at) = (&body.rotations[i as usize / LANES], i as usize % LANES);
                        for (slot, part) in parts.iter_mut().zip([&q.x, &q.y, &q.z, &q.w]) {
                            slot[k] = part.as_array()[at];
                        }
                    }
                }
                let [x, y, z, w] = parts.map(Lane::from);
                let q = Quatx8 { x, y, z, w }.mul_quat(axes);
                put_all(&mut columns, slice.cell as usize - task.cells.start, [q.x, q.y, q.z, q.w]);
            }
        });
    }

    /// Can it compute the forces of this body, too? Other laws and bodies that gather are left to the pairs.
    pub fn deforms(body: &ElasticBody) -> bool {
        body.constants.law == Law::Corotated && !body.constants.gathers
    }

    /// Turns the body's rotations to where its particles are, and computes its forces.
    pub fn deform(
        &mut self,
        cells: &Cells,
        body: &mut ElasticBody,
        positions: impl Fn(usize) -> DVec3 + Sync,
        velocities: &[DVec3],
    ) -> Deformation {
        let (rest, middle) = (&body.rest.positions, body.rest.middle);
        let (center, rest_center) = (positions(middle), rest[middle]);
        let turn = body.rotation(middle).normalize() * Quat::from_mat3(&cells.axes);
        let frame = Mat3::from_quat(turn);
        let (to_frame, to_axes) = (frame.transpose(), cells.axes.transpose());
        let displacement =
            |i: usize| (to_frame * (positions(i) - center) - to_axes * (rest[i] - rest_center)).as_vec3();
        spread(cells, displacement, &mut self.p);
        let strength = body.constants.xsph_density as f32;
        if strength > 0.0 {
            // r serves for the velocities until it is the residual
            spread(cells, |i| (to_frame * (velocities[i] - velocities[middle])).as_vec3(), &mut self.r);
        }
        let CellSolver { stiffness, inertia, rotations, p, q, r, stresses, .. } = self;
        let smoothed = (strength > 0.0).then(|| Smoothed { velocities: r.view(), strength });
        let read = (p.view(), inertia.view(), smoothed);
        let deformation = cells.deform((*stiffness, Quatx8::splat(turn)), read, (rotations, stresses), q);
        let (q, rotations, frame) = (q.view(), rotations.view(), frame.as_mat3());
        body.forces.par_iter_mut().with_min_len(1024).zip(&cells.cell_of).for_each(|(force, &cell)| {
            *force = frame * q.vector(cell);
        });
        let back = Quatx8::splat(Quat::from_mat3(&cells.axes).conjugate());
        let chunks = body.rotations.par_iter_mut().with_min_len(128).zip(cells.cell_of.par_chunks(LANES));
        chunks.for_each(|(rotation, cells)| {
            let mut parts = [rotation.x, rotation.y, rotation.z, rotation.w].map(Lane::to_array);
            for (k, &cell) in cells.iter().enumerate() {
                parts.iter_mut().enumerate().for_each(|(part, lane)| lane[k] = rotations.get(part, cell));
            }
            let [x, y, z, w] = parts.map(Lane::from);
            *rotation = Quatx8 { x, y, z, w }.mul_quat(back);
        });
        deformation
    }

    /// Takes the right-hand side of the system; `of` gives it for a particle, and another vector. Returns the squares of
    /// both.
    pub fn load(&mut self, cells: &Cells, of: impl Fn(usize) -> [Vec3; 2] + Sync) -> DVec2 {
        let squares = sum(cells.tasks(), self.r.of(cells.tasks()), |task, [x, y, z]| {
            let mut squares = [Lane::ZERO; 2];
            for slice in &cells.slices[task.slices.clone()] {
                let at = slice.cell as usize - task.cells.start;
                let mut lanes = [[[0.0; LANES]; 3]; 2];
                for (k, i) in cells.particles_of(slice).into_iter().enumerate() {
                    let Some(i) = i else { continue };
                    for (lanes, vector) in lanes.iter_mut().zip(of(i)) {
                        (lanes[0][k], lanes[1][k], lanes[2][k]) = (vector.x, vector.y, vector.z);
                    }
                }
                for (squares, lanes) in squares.iter_mut().zip(&lanes) {
                    for lane in lanes {
                        *squares = Lane::from(*lane).mul_add(Lane::from(*lane), *squares);
                    }
                }
                let [right, _] = lanes.map(|lanes| lanes.map(Lane::from));
                put_all(&mut [&mut *x, &mut *y, &mut *z], at, right);
            }
            squares.map(total).into()
        });
        self.right_size = squares.x.sqrt();
        squares
    }

    /// Starts to solve (M + dt² K) x = r.
    pub fn begin(&mut self, cells: &Cells, start: Start, tolerance: SolveTolerance) -> Begun {
        let is_nothing = self.right_size == 0.0 && matches!(tolerance, SolveTolerance::Relative(_));
        let (a, sums) = match start {
            Start::LastStep if !is_nothing => self.go_along(cells, tolerance),
            _ => {
                if start == Start::LastStep {
                    self.past.expect_nothing(cells);
                }
                self.stay(cells, tolerance)
            }
        };
        Begun { start, a, sums, residual: self.residual(cells, sums.x, tolerance) }
    }

    /// The residual, given what `reduce` found of it.
    fn residual(&self, cells: &Cells, sum: Real, tolerance: SolveTolerance) -> Real {
        match tolerance {
            SolveTolerance::Relative(_) if self.right_size == 0.0 => sum,
            SolveTolerance::Relative(_) => sum.sqrt() / self.right_size,
            SolveTolerance::Absolute(_) => sum / cells.cell_of.len() as Real,
        }
    }

    /// Goes on to solve, for `change`.
    pub fn solve(
        &mut self,
        cells: &Cells,
        begun: Begun,
        change: &mut [Vec3],
        (tolerance, max_iterations): (SolveTolerance, usize),
        mut grids: Option<&mut Multigrid<Mat3A>>,
    ) -> Solved {
        let bound = tolerance.bound();
        let Begun { start, mut a, mut sums, .. } = begun; // x is a p so far
        let mut solved = Solved { products: (start == Start::LastStep) as usize, ..Solved::NOTHING };
        let mut cycle = self.cycle.take();
        let mut rz = 0.0; // of the last iteration with a cycle
        loop {
            solved.residual = self.residual(cells, sums.x, tolerance);
            if !solved.residual.is_finite() {
                solved.breakdown = Some(Breakdown::NotFinite);
            }
            if solved.residual <= bound || solved.breakdown.is_some() || solved.directions >= max_iterations {
                break;
            }
            let is_first = solved.iterations == 0;
            if let (Some(cycle), Some(around)) = (&mut cycle, grids.as_deref_mut()) {
                let product = cycle.solve(self, cells, around);
                solved.products += 2 * Cycle::SMOOTHING;
                if Breakdown::of(product).is_none() {
                    let b = if rz == 0.0 { 0.0 } else { (product / rz) as f32 };
                    rz = product;
                    let turn = Turn { a, b, is_first };
                    let [_, curvature] = self.multiply(cells, Some(Direction::Turned(turn, cycle.z.view())));
                    solved.iterations += 1;
                    solved.directions += 1;
                    solved.products += 1;
                    solved.breakdown = Breakdown::of(curvature);
                    a = if solved.breakdown.is_none() { (rz / curvature) as f32 } else { 0.0 };
                    sums = self.reduce(cells, a, tolerance);
                    continue;
                }
                grids = None; // not positive: go on with the diagonal
            }
            solved.breakdown = Breakdown::of(sums.y);
            if solved.breakdown.is_some() {
                break;
            }
            let aim = (sums.y, bound / solved.residual, max_iterations - solved.directions);
            let products;
            (sums, products) = self.leap(cells, (a, is_first), aim, tolerance);
            a = 0.0;
            solved.iterations += 1;
            solved.directions += products;
            solved.products += products;
        }
        self.cycle = cycle;
        solved.converged = solved.breakdown.is_none() && solved.residual <= bound;
        let is_first = solved.iterations == 0;
        let x = match start {
            Start::LastStep => {
                let x = (!is_first).then(|| self.x.view());
                self.past.note(cells, (a, self.p.view()), x, self.r.view());
                self.past.newest()
            }
            Start::Zero => {
                self.finish(cells, a, is_first);
                self.x.view()
            }
        };
        change.par_iter_mut().with_min_len(1024).zip(&cells.cell_of).for_each(|(change, &cell)| {
            *change = x.vector(cell);
        });
        if solved.breakdown == Some(Breakdown::NotFinite) {
            // the next try must not start from it, nor see it in cells of nobody
            let CellSolver { past, p, q, r, leap, .. } = self;
            past.clear(cells);
            let columns = [p, q, r].into_iter().chain(&mut leap.vectors);
            columns.for_each(|columns| columns.clear(cells.tasks()));
        }
        solved
    }

    /// Starts at x = 0; p and q are zero. Gives what `go_along` gives.
    fn stay(&mut self, cells: &Cells, tolerance: SolveTolerance) -> (f32, DVec2) {
        [&mut self.p, &mut self.q].into_iter().for_each(|columns| columns.clear(cells.tasks()));
        (0.0, self.reduce(cells, 0.0, tolerance))
    }

    /// A step along the p that the past lets expect, as far as it helps: r -= a A p with a = p·r / p·A p. Gives a, by
    /// which x is still to be moved along p, and what `reduce` gives.
    fn go_along(&mut self, cells: &Cells, tolerance: SolveTolerance) -> (f32, DVec2) {
        let factors = self.past.compare(cells, self.r.view(), self.inertia.view());
        let [gain, curvature] = self.multiply(cells, Some(Direction::Expected(factors)));
        let a = if Breakdown::of(curvature).is_none() { (gain / curvature) as f32 } else { 0.0 };
        (a, self.reduce(cells, a, tolerance))
    }

    /// x += a p; x is zero before if it `is_first`.
    fn finish(&mut self, cells: &Cells, a: f32, is_first: bool) {
        let (a, p) = (Lane::splat(a), self.p.view());
        each(cells.tasks(), self.x.of(cells.tasks()), |task, x| {
            for slice in &cells.slices[task.slices.clone()] {
                let at = slice.cell as usize - task.cells.start;
                for k in 0..3 {
                    let before = if is_first { Lane::ZERO } else { lane(x[k], at) };
                    put(x[k], at, p.lane(k, slice.cell).mul_add(a, before));
                }
            }
        });
    }

    /// Vectors of a particle's history.
    pub const HISTORY: usize = Past::VECTORS;

    /// The history of all particles.
    pub fn history<'a>(&'a self, cells: &'a Cells) -> impl Iterator<Item = Vec3> + 'a {
        self.past.vectors(cells)
    }

    /// Puts it back.
    pub fn set_history(&mut self, cells: &Cells, vector: impl Fn(usize) -> Vec3) {
        self.past.set_vectors(cells, vector);
    }

    /// q = A p, with p·q, and p·r if p is first made what the past lets expect.
    ///
    /// Band after band: the next one's p, this one's T, the last one's q. What is large and needed only in between, T, is
    /// then still in the cache.
    pub(super) fn multiply(&mut self, cells: &Cells, direction: Option<Direction>) -> [f64; 2] {
        let (bands, mut gain, mut product) = (&cells.cut.bands, 0.0, 0.0);
        for k in 0..bands.len() + 2 {
            match (direction, bands.get(k)) {
                (Some(Direction::Turned(turn, z)), Some(band)) => {
                    self.direct(cells, cells.tasks_of(band), turn, z);
                }
                (Some(Direction::Expected(factors)), Some(band)) => {
                    let CellSolver { past, r, inertia, p, .. } = self;
                    let tasks = (cells, cells.tasks_of(band));
                    gain += past.expect(tasks, factors, (r.view(), inertia.view()), p);
                }
                _ => {}
            }
            if let Some(band) = k.checked_sub(1).and_then(|k| bands.get(k)) {
                let frame = self.stiffness.frame(&self.rotations, &self.inertia);
                let q = self.q.of(cells.tasks_of(band));
                let (p, written) = (self.p.view(), (&mut self.stresses, q));
                cells.respond(band, frame, p, written);
            }
            if let Some(band) = k.checked_sub(2).and_then(|k| bands.get(k)) {
                let tasks = cells.tasks_of(band);
                let (p, read) = (self.p.view(), (self.stresses.view(), self.inertia.view()));
                let products = cells.push(tasks, read, self.q.of(tasks), |q, place, f| {
                    let (at, mut sum) = (place.at, Lane::ZERO);
                    for (k, f) in [f.x, f.y, f.z].into_iter().enumerate() {
                        let value = lane(q[k], at) - f;
                        put(q[k], at, value);
                        sum = value.mul_add(p.lane(k, place.cell), sum);
                    }
                    [sum, Lane::ZERO]
                });
                product += products.x;
            }
        }
        [gain, product]
    }

    /// r -= a q, v_0 = D⁻¹ r; the size of r as the tolerance measures it, and r·D⁻¹ r.
    fn reduce(&mut self, cells: &Cells, a: f32, tolerance: SolveTolerance) -> DVec2 {
        let a = Lane::splat(a);
        let (q, inertia, tasks) = (self.q.view(), self.inertia.view(), cells.tasks());
        let ([r0, r1, r2], [v0, v1, v2]) = (self.r.of(tasks), self.leap.vectors[0].of(tasks));
        sum(tasks, [r0, r1, r2, v0, v1, v2], |task, columns| {
            let (mut size, mut rz) = (Lane::ZERO, Lane::ZERO);
            for number in task.slices.clone() {
                let slice = &cells.slices[number];
                let at = slice.cell as usize - task.cells.start;
                let (inverse, mut square) = (inertia.inverses(number), Lane::ZERO);
                for k in 0..3 {
                    let r = lane(columns[k], at) - q.lane(k, slice.cell) * a;
                    put(columns[k], at, r);
                    put(columns[3 + k], at, r * inverse);
                    square = r.mul_add(r, square);
                }
                size += measured(tolerance, square, inertia.masses(number));
                rz = square.mul_add(inverse, rz);
            }
            DVec2::new(total(size), total(rz))
        })
    }

    /// x += a p, p = z + b p.
    fn direct(&mut self, cells: &Cells, tasks: &[Task], turn: Turn, z: View<3>) {
        let (a, b) = (Lane::splat(turn.a), Lane::splat(turn.b));
        let CellSolver { x, p, .. } = self;
        let ([x0, x1, x2], [p0, p1, p2]) = (x.of(tasks), p.of(tasks));
        each(tasks, [x0, x1, x2, p0, p1, p2], |task, columns| {
            for slice in &cells.slices[task.slices.clone()] {
                let at = slice.cell as usize - task.cells.start;
                for k in 0..3 {
                    let before = lane(columns[3 + k], at);
                    let start = if turn.is_first { Lane::ZERO } else { lane(columns[k], at) };
                    put(columns[k], at, before.mul_add(a, start));
                    put(columns[3 + k], at, before.mul_add(b, z.lane(k, slice.cell)));
                }
            }
        });
    }

    pub fn bytes(&self) -> usize {
        self.held.len()
            + self.inertia.bytes()
            + self.rotations.bytes()
            + 4 * self.x.bytes()
            + self.past.bytes()
            + self.stresses.bytes()
            + self.leap.bytes()
            + self.cycle.as_ref().map_or(0, Cycle::bytes)
    }
}

/// What the residuals of eight particles add to its size, given their squares.
#[inline(always)]
pub(super) fn measured(tolerance: SolveTolerance, squares: Lane, masses: Lane) -> Lane {
    match tolerance {
        SolveTolerance::Relative(_) => squares,
        SolveTolerance::Absolute(_) => squares.sqrt() / masses.fast_max(Lane::splat(f32::MIN_POSITIVE)),
    }
}

/// Puts vectors of particles into columns.
pub(super) fn spread(cells: &Cells, vector: impl Fn(usize) -> Vec3 + Sync, columns: &mut Columns<3>) {
    each(cells.tasks(), columns.of(cells.tasks()), |task, [x, y, z]| {
        for (cell, &i) in cells.particle_of[task.cells.clone()].iter().enumerate() {
            if i != NOBODY {
                Vec3 { x: x[cell], y: y[cell], z: z[cell] } = vector(i as usize);
            }
        }
    });
}
