//! Implicit steps: velocities that agree with the forces at the end of the step [P18, K21].
//!
//! The step starts from the positions x̂ = x + dt v that the old velocities lead to, with the rotations R(x̂). With
//! them held, the force is affine, f(x̂ + dt w) = f(x̂) - dt K w, and the change w = v⁺ - v of the velocities solves
//!   (M + dt² K) w = M (v* - v) + dt f(x̂),
//! where v* has gravity, loads and damping in it. A body at rest has f = -M g: the right-hand side is zero and it stays
//! at rest whatever the step; a body that spins freely has f(x̂) = 0 and goes on. Held particles keep w = 0: their v is
//! the prescribed one. Masses are kept in M, so that bodies may have any of them.
//!
//! It is solved by conjugate gradients: over cells if the body is on a lattice (`cells`), else over its pairs. K = K_s + K_v
//! consists of stretching and volume. K_s acts alike on the three coordinates and does not change with the rotations: its
//! factor serves `kugelstadt2021` as preconditioner off the lattice. With `solver = "split"` stretching and volume are
//! solved for one after the other, as [K21] publishes it (`volume.rs`). A body at rest then feels the stretching force at
//! a displaced place, x - dt² f_v / m. docs/theory/implicit.md tells what was tried against it.
#![allow(non_snake_case)] // K, R, F, P, T as in the theory

use super::cells::{CellSolver, Particles, Start};
use super::newton::{Newton, SliceTangent};
use super::preconditioner::BodyPreconditioner;
use super::rest::SliceRest;
use super::stretch::{FactorShelf, Stiffnesses, Stretch, StretchFactor, factor_pays};
use super::volume::{Volume, VolumeStep};
use super::{Deformation, ElasticBody, Model, SolveTolerance, Solver};
use crate::linear::{ConjugateGradients, Factor, Operator, Preconditioner, SolveWork, Solved, Tolerance};
use crate::math::{CHUNK, Lane, Mat3x8, Real, Vec3, sum};
use glam::DVec2;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Iterations after which a solve is taken as it is.
const MAX_ITERATIONS: usize = 400;
/// Relative residual of an answer to pressure: the next step knows the pressure itself.
const ANSWER: Real = 1e-2;

/// One implicit step of a body.
#[derive(Clone, Copy)]
pub struct StepInput<'a> {
    pub dt: Real,
    pub positions: &'a [Vec3],
    /// Velocities v before the step.
    pub velocities: &'a [Vec3],
    /// Velocities v* after all other forces; of held particles, the prescribed ones.
    pub pushed: &'a [Vec3],
}

/// The part of the stiffness a system has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SolvePart {
    /// K: corotated, all of it.
    Whole,
    /// K_s: 2 mu dF and the zero-energy control.
    Stretch,
    /// K_v: lambda (R : dF) R.
    Volume,
}

impl SolvePart {
    pub const ALL: [SolvePart; 3] = [SolvePart::Whole, SolvePart::Stretch, SolvePart::Volume];

    pub fn name(self) -> &'static str {
        match self {
            SolvePart::Whole => "elastic",
            SolvePart::Stretch => "stretch",
            SolvePart::Volume => "volume",
        }
    }
}

/// What one system took in a step; nothing if it was not solved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PartReport {
    pub solves: usize,
    pub iterations: usize,
    /// Directions that were searched: one an iteration, or many at once.
    pub directions: usize,
    /// Products with the matrix, those of preconditioners included.
    pub products: usize,
    /// Relative residual.
    pub residual: Real,
    pub unconverged: usize,
}

/// What the solves of a step took, by part.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SolveReport {
    pub parts: [PartReport; 3],
    /// Newton iterations.
    pub newton: usize,
}

/// Solves the implicit steps of a body.
#[derive(Clone, Debug)]
pub struct ImplicitSolver {
    pub(super) masses: Vec<f32>,
    /// Bodies of a family share their factors.
    family: usize,
    factor: Option<Arc<StretchFactor>>,
    /// A factor was wanted and could not be made.
    refused: bool,
    /// Iterations the factor took beyond one solve a step since it is not of the present matrix: state.
    spent: Real,
    /// Where the next solve starts, from the last one, unless it is over cells: state.
    pub(super) start: Vec<glam::Vec3>,
    /// The second solve of kugelstadt2021.
    volume: Option<Volume>,
    /// Change w of the velocities in the step.
    pub change: Vec<glam::Vec3>,
    pub(super) right: Vec<glam::Vec3>,
    pub(super) held: Vec<bool>,
    conjugate_gradients: ConjugateGradients,
    preconditioner: BodyPreconditioner,
    tolerance: SolveTolerance,
    work: SolveWork,
    newton: Option<Newton>,
    /// Of bodies on a lattice.
    cells: Option<CellSolver>,
}

impl ImplicitSolver {
    pub fn new(body: &ElasticBody, masses: &[Real], family: usize) -> Self {
        let n = masses.len();
        let is_split = body.solver() == Solver::Split;
        let is_over_cells = body.rest.cells.is_some() && body.solver() == Solver::Linear;
        ImplicitSolver {
            masses: masses.iter().map(|m| *m as f32).collect(),
            family,
            factor: None,
            refused: false,
            spent: 0.0,
            start: vec![glam::Vec3::ZERO; if is_split || is_over_cells { 0 } else { n }],
            volume: is_split.then(|| Volume::new(body)),
            change: vec![glam::Vec3::ZERO; n],
            right: vec![glam::Vec3::ZERO; n],
            held: vec![false; n],
            conjugate_gradients: ConjugateGradients::new(n),
            preconditioner: BodyPreconditioner::new(body),
            tolerance: body.tolerance(),
            work: SolveWork::default(),
            newton: (body.solver() == Solver::Newton).then(|| Newton::new(body)),
            cells: body.rest.cells.as_ref().filter(|_| !is_split).map(CellSolver::new),
        }
    }

    /// Notes which particles are held, and sees to it that there is a factor where one is wanted.
    pub fn prepare(
        &mut self,
        body: &ElasticBody,
        dt: Real,
        held: impl Iterator<Item = usize>,
        shelf: &mut FactorShelf,
    ) {
        self.held.fill(false);
        held.for_each(|i| self.held[i] = true);
        if self.factor.is_none() && !self.wants_factor(body, dt) {
            return;
        }
        let stiffnesses = Stiffnesses::new(body, dt);
        let stretch = Stretch { rest: &body.rest, masses: &self.masses, held: &self.held, stiffnesses };
        let present = self.factor.as_ref().filter(|factor| factor.holds(&self.held));
        if present.is_some_and(|f| f.stiffnesses == stiffnesses || self.spent < f.worth) {
            return;
        }
        match shelf.find(self.family, &stretch).map_or_else(|| shelf.make(self.family, &stretch), Ok) {
            Ok(factor) => self.factor = Some(factor),
            Err(_) => (self.factor, self.refused) = (None, true),
        }
        self.spent = 0.0;
    }

    fn wants_factor(&self, body: &ElasticBody, dt: Real) -> bool {
        let S = BodyPreconditioner::stiffness_number(body, &self.masses, dt);
        let is_over_cells = self.cells.is_some() && body.solver() == Solver::Linear;
        body.constants.model == Model::Kugelstadt2021
            && !is_over_cells
            && !self.refused
            && factor_pays(self.masses.len(), S)
    }

    /// How a step of this length is solved, in words.
    pub fn describe(&self, body: &ElasticBody, dt: Real) -> &'static str {
        let has_grids = self.preconditioner.wants_grids(body, &self.masses, dt);
        let is_over_cells = self.cells.is_some() && body.solver() == Solver::Linear;
        match (self.factor.is_some() || self.wants_factor(body, dt), is_over_cells, has_grids) {
            (true, ..) => "a factor",
            (_, false, false) => "conjugate gradients",
            (_, false, true) => "conjugate gradients with grids",
            (_, true, false) => "conjugate gradients over cells",
            (_, true, true) => "conjugate gradients over cells with grids",
        }
    }

    /// Solves for `change`.
    pub fn solve(&mut self, body: &mut ElasticBody, step: &StepInput) -> (Deformation, SolveReport) {
        if !body.gathers()
            && let Some(mut newton) = self.newton.take()
        {
            let mut report = SolveReport::default();
            let (held, rows) = (&self.held, self.change.par_iter_mut().zip(&self.start).with_min_len(CHUNK));
            rows.enumerate().for_each(|(i, (w, start))| *w = if held[i] { glam::Vec3::ZERO } else { *start });
            let deformation = newton.minimise(self, body, step, &mut report);
            self.start.copy_from_slice(&self.change);
            newton.keep_momenta(self, step);
            self.newton = Some(newton);
            return (deformation, report);
        }
        if self.volume.is_some() {
            return self.solve_split(body, step);
        }
        let held = &self.held;
        let velocity = |i: usize| if held[i] { step.pushed[i] } else { step.velocities[i] };
        let predicted = |i: usize| step.positions[i] + velocity(i) * step.dt;
        let rest = body.rest.clone();
        let deformation = match (&rest.cells, &mut self.cells) {
            (Some(cells), Some(solver)) if CellSolver::deforms(body) => {
                let particles = Particles { masses: &self.masses, held };
                solver.set(cells, body, particles, step.dt, &self.preconditioner);
                solver.deform(cells, body, predicted, step.velocities)
            }
            _ => {
                let deformation = body.compute_forces_at(self.masses.len(), predicted, step.velocities);
                self.set_cells(body, step.dt);
                deformation
            }
        };
        let squares = self.set_right_hand_side(body, step);
        let mut report = SolveReport::default();
        // What acts on the body, M (v* - v), over the right-hand side, if it is more: near rest the two parts of the
        // right-hand side cancel, and a residual relative to what is left would be one relative to its rounding.
        let ease = if squares.x > 0.0 { (squares.y / squares.x).sqrt().max(1.0) } else { 1.0 };
        let tolerance = self.tolerance;
        if let SolveTolerance::Relative(value) = &mut self.tolerance {
            *value *= ease;
        }
        let mut solved = self.iterate(body, step.dt, System::Whole, Start::LastStep);
        self.tolerance = tolerance;
        if matches!(tolerance, SolveTolerance::Relative(_)) {
            solved.residual /= ease;
        }
        report.note(SolvePart::Whole, solved);
        if !self.start.is_empty() {
            self.start.copy_from_slice(&self.change);
        }
        (deformation, report)
    }

    /// Stretching, then volume [K21], from x̃ = x + dt v*:
    ///   (M + dt² K_s) w_s = dt f_s,   (M + dt² K_v) w = M w_s + dt f_v.
    fn solve_split(&mut self, body: &mut ElasticBody, step: &StepInput) -> (Deformation, SolveReport) {
        let mut report = SolveReport::default();
        let (n, dt) = (self.masses.len(), step.dt as f32);
        let predicted = |i: usize| step.positions[i] + step.pushed[i] * step.dt;
        let deformation = body.compute_stretching_forces_at(n, predicted, step.velocities);
        let (held, forces) = (&self.held, &body.forces);
        let rows = self.right.par_iter_mut().with_min_len(CHUNK).enumerate();
        rows.for_each(|(i, right)| *right = if held[i] { glam::Vec3::ZERO } else { forces[i] * dt });
        report.note(SolvePart::Stretch, self.stretch(body, step.dt));
        let Self { masses, held, tolerance, volume, change, .. } = self;
        if let Some(volume) = volume {
            let step = VolumeStep {
                dt: step.dt,
                masses,
                held,
                tolerance: *tolerance,
                max_iterations: MAX_ITERATIONS,
            };
            report.note(SolvePart::Volume, volume.solve(body, step, change));
        }
        // the change so far is from v*
        let rows = self.change.par_iter_mut().with_min_len(CHUNK).enumerate();
        rows.for_each(|(i, change)| *change += (step.pushed[i] - step.velocities[i]).as_vec3());
        (deformation, report)
    }

    /// (M + dt² K_s) change = right, by the factor: at once if it is that of this matrix, else as a preconditioner.
    fn stretch(&mut self, body: &mut ElasticBody, dt: Real) -> Solved {
        let Some(factor) = self.factor.clone() else {
            return self.iterate(body, dt, System::Stretch, Start::Zero);
        };
        let stiffnesses = Stiffnesses::new(body, dt);
        if factor.stiffnesses == stiffnesses && self.tolerance.is_met_by(factor.residual) {
            self.change.copy_from_slice(&self.right);
            factor.factor.solve(&mut self.change, &mut self.work);
            return Solved { iterations: 1, residual: factor.residual, ..Solved::NOTHING };
        }
        self.change.fill(glam::Vec3::ZERO);
        let mut operator = Stiffness::new(body, &self.masses, &self.held, dt, System::Stretch);
        let mut preconditioner = ByFactor { factor: &factor.factor, work: &mut self.work };
        let solved = self.conjugate_gradients.solve(
            &mut operator,
            &mut preconditioner,
            &self.right,
            &mut self.change,
            self.tolerance.of(&self.masses),
            MAX_ITERATIONS,
        );
        self.spent += solved.iterations.saturating_sub(1) as Real;
        solved
    }

    /// Is stretching solved before volume?
    pub fn is_split(&self) -> bool {
        self.volume.is_some()
    }

    /// Solves (M + dt² K) change = M kick: what is left of a kick that pressure gave after the solve, once elasticity had
    /// its say.
    pub fn answer(&mut self, body: &mut ElasticBody, dt: Real, kick: impl Fn(usize) -> Vec3 + Sync) {
        let (masses, held) = (&self.masses, &self.held);
        let rows = self.right.par_iter_mut().with_min_len(CHUNK).enumerate();
        rows.for_each(|(i, right)| {
            *right = if held[i] { glam::Vec3::ZERO } else { kick(i).as_vec3() * masses[i] };
        });
        if self.right.par_iter().with_min_len(CHUNK).all(|right| *right == glam::Vec3::ZERO) {
            self.change.fill(glam::Vec3::ZERO);
            return;
        }
        self.set_cells(body, dt);
        self.load_cells(body);
        let tolerance = std::mem::replace(&mut self.tolerance, SolveTolerance::Relative(ANSWER));
        self.iterate(body, dt, System::Whole, Start::Zero);
        self.tolerance = tolerance;
    }

    /// Where the next solve starts, and what the factor was made from, as bytes for a checkpoint.
    pub fn save(&self, body: &ElasticBody) -> Vec<u8> {
        let factor = self.factor.as_ref().map(|factor| factor.stiffnesses);
        let Stiffnesses { shear, zero_energy } =
            factor.unwrap_or(Stiffnesses { shear: 0.0, zero_energy: 0.0 });
        let numbers = [shear, zero_energy, self.spent].into_iter().flat_map(Real::to_le_bytes);
        let held = self.held.iter().map(|held| *held as u8);
        let over_cells = body.rest.cells.as_ref().zip(self.cells.as_ref());
        let history = over_cells.into_iter().flat_map(|(cells, solver)| solver.history(cells));
        let start = self.start.iter().copied().chain(history).flat_map(|w| w.to_array());
        let start = start.flat_map(f32::to_le_bytes);
        numbers.chain(held).chain(start).chain(self.volume.iter().flat_map(Volume::save)).collect()
    }

    /// Puts back what `save` gave; false if it belongs to another body. The factor is made again.
    pub fn restore(&mut self, bytes: &[u8], body: &ElasticBody, shelf: &mut FactorShelf) -> bool {
        let n = self.masses.len();
        let history = if self.cells.is_some() { CellSolver::HISTORY * n } else { 0 };
        let start_bytes = (self.start.len() + history) * 3 * size_of::<f32>();
        let volume_bytes = self.volume.as_ref().map_or(0, Volume::saved_bytes);
        if bytes.len() != 3 * size_of::<Real>() + n + start_bytes + volume_bytes {
            return false;
        }
        let (numbers, rest) = bytes.split_at(3 * size_of::<Real>());
        let (held, rest) = rest.split_at(n);
        let (start, volume) = rest.split_at(start_bytes);
        let number = |k: usize| Real::from_le_bytes(std::array::from_fn(|b| numbers[8 * k + b]));
        let single = |k: usize| f32::from_le_bytes(std::array::from_fn(|b| start[4 * k + b]));
        self.held.iter_mut().zip(held).for_each(|(slot, held)| *slot = *held != 0);
        let vector = |i: usize| glam::Vec3::new(single(3 * i), single(3 * i + 1), single(3 * i + 2));
        self.start.iter_mut().enumerate().for_each(|(i, start)| *start = vector(i));
        if let (Some(cells), Some(solver)) = (&body.rest.cells, &mut self.cells) {
            let first = self.start.len();
            solver.set_history(cells, |i| vector(first + i));
        }
        if let Some(to) = &mut self.volume {
            to.restore(volume);
        }
        let stiffnesses = Stiffnesses { shear: number(0), zero_energy: number(1) };
        self.spent = number(2);
        self.factor = None;
        if stiffnesses.shear > 0.0 {
            let stretch = Stretch { rest: &body.rest, masses: &self.masses, held: &self.held, stiffnesses };
            self.factor =
                shelf.find(self.family, &stretch).or_else(|| shelf.make(self.family, &stretch).ok());
        }
        true
    }

    /// Was any particle held in the last solve?
    pub fn holds_any(&self) -> bool {
        self.held.contains(&true)
    }

    /// Was particle i held in the last solve?
    pub fn is_held(&self, i: usize) -> bool {
        self.held[i]
    }

    /// M (v* - v) + dt f(x̂) of the free particles. Returns the squares of the whole and of its first part.
    fn set_right_hand_side(&mut self, body: &ElasticBody, step: &StepInput) -> DVec2 {
        let (masses, held, forces, dt) = (&self.masses, &self.held, &body.forces, step.dt as f32);
        let parts = |i: usize| {
            if held[i] {
                return [glam::Vec3::ZERO; 2];
            }
            let kick = (step.pushed[i] - step.velocities[i]).as_vec3() * masses[i];
            [kick + forces[i] * dt, kick]
        };
        if let (Some(cells), Some(solver)) = (&body.rest.cells, &mut self.cells) {
            return solver.load(cells, parts);
        }
        let rows = self.right.par_iter_mut().zip(&mut self.start).with_min_len(CHUNK).enumerate();
        rows.for_each(|(i, (right, start))| {
            *right = parts(i)[0];
            if held[i] {
                *start = glam::Vec3::ZERO;
            }
        });
        sum(held.len(), DVec2::ZERO, |i| {
            let [right, kick] = parts(i);
            DVec2::new(right.length_squared().into(), kick.length_squared().into())
        })
    }

    /// Sets the system over cells for the rotations that the body has.
    fn set_cells(&mut self, body: &ElasticBody, dt: Real) {
        if let (Some(cells), Some(solver)) = (&body.rest.cells, &mut self.cells) {
            let particles = Particles { masses: &self.masses, held: &self.held };
            solver.set(cells, body, particles, dt, &self.preconditioner);
        }
    }

    /// Gives the cells the right-hand side.
    fn load_cells(&mut self, body: &ElasticBody) {
        if let (Some(cells), Some(solver)) = (&body.rest.cells, &mut self.cells) {
            solver.load(cells, |i| [self.right[i], glam::Vec3::ZERO]);
        }
    }

    /// Solves a system for `change`. The cells are set, if there are any, and have the right-hand side.
    fn iterate(&mut self, body: &mut ElasticBody, dt: Real, system: System, start: Start) -> Solved {
        let rest = body.rest.clone();
        if system == System::Whole
            && let (Some(cells), Some(solver)) = (&rest.cells, &mut self.cells)
        {
            let begun = solver.begin(cells, start, self.tolerance);
            let mut grids = None;
            if begun.residual > self.tolerance.bound() {
                self.preconditioner.set_grids(body, &self.masses, &self.held, dt, system);
                if self.preconditioner.grids().is_some() {
                    solver.prepare_cycle(cells, body, &self.preconditioner);
                }
                grids = self.preconditioner.grids();
            }
            return solver.solve(cells, begun, &mut self.change, (self.tolerance, MAX_ITERATIONS), grids);
        }
        match start {
            Start::Zero => self.change.fill(glam::Vec3::ZERO),
            Start::LastStep => self.change.copy_from_slice(&self.start),
        }
        let tolerance = self.tolerance.of(&self.masses);
        let mut operator = Stiffness::new(body, &self.masses, &self.held, dt, system);
        let cg = &mut self.conjugate_gradients;
        let (right, change) = (&self.right, &mut self.change);
        if let Some(factor) = self.factor.clone() {
            let mut by_factor = ByFactor { factor: &factor.factor, work: &mut self.work };
            return cg.solve(&mut operator, &mut by_factor, right, change, tolerance, MAX_ITERATIONS);
        }
        self.preconditioner.set(operator.body, &self.masses, &self.held, dt, system);
        cg.solve(&mut operator, &mut self.preconditioner, right, change, tolerance, MAX_ITERATIONS)
    }

    /// (M + dt² H) change = right for the Hessian of these tangents, from the `change` given.
    pub(super) fn iterate_with(
        &mut self,
        body: &mut ElasticBody,
        dt: Real,
        tangents: &[SliceTangent],
        tolerance: Tolerance,
    ) -> Solved {
        let factor = self.factor.clone();
        if factor.is_none() {
            self.preconditioner.set(body, &self.masses, &self.held, dt, System::Whole);
        }
        let mut operator = Stiffness::new(body, &self.masses, &self.held, dt, System::Whole);
        operator.tangents = Some(tangents);
        let cg = &mut self.conjugate_gradients;
        let (right, change) = (&self.right, &mut self.change);
        match factor {
            Some(factor) => {
                let mut by_factor = ByFactor { factor: &factor.factor, work: &mut self.work };
                cg.solve(&mut operator, &mut by_factor, right, change, tolerance, MAX_ITERATIONS)
            }
            None => {
                cg.solve(&mut operator, &mut self.preconditioner, right, change, tolerance, MAX_ITERATIONS)
            }
        }
    }

    pub fn bytes(&self) -> usize {
        let vectors = 5 * size_of::<glam::Vec3>() + size_of::<f32>() + 1;
        let factor = self.factor.as_ref().map_or(0, |f| f.factor.bytes() / Arc::strong_count(f));
        let volume = self.volume.as_ref().map_or(0, Volume::bytes);
        let cells = self.cells.as_ref().map_or(0, CellSolver::bytes);
        self.masses.len() * vectors + self.preconditioner.bytes() + factor + volume + cells
    }
}

impl SolveReport {
    pub(super) fn note(&mut self, part: SolvePart, solved: Solved) {
        let report = &mut self.parts[part as usize];
        report.solves += 1;
        report.iterations += solved.iterations;
        report.directions += solved.directions;
        report.products += solved.products;
        report.residual = report.residual.max(solved.residual);
        report.unconverged += !solved.converged as usize;
    }

    /// How the last of several solves of a part ended.
    pub(super) fn finish(&mut self, part: SolvePart, solved: Solved) {
        let report = &mut self.parts[part as usize];
        report.solves = 1;
        report.residual = solved.residual;
        report.unconverged = !solved.converged as usize;
    }

    /// The worse of two bodies, part by part.
    pub fn worse(self, o: SolveReport) -> Self {
        let part = |k: usize| {
            let (a, b) = (self.parts[k], o.parts[k]);
            PartReport {
                solves: a.solves.max(b.solves),
                iterations: a.iterations.max(b.iterations),
                directions: a.directions.max(b.directions),
                products: a.products.max(b.products),
                residual: a.residual.max(b.residual),
                unconverged: a.unconverged.max(b.unconverged),
            }
        };
        SolveReport { parts: [part(0), part(1), part(2)], newton: self.newton.max(o.newton) }
    }
}

/// A factor of a matrix near the true one.
struct ByFactor<'a> {
    factor: &'a Factor,
    work: &'a mut SolveWork,
}

impl Preconditioner for ByFactor<'_> {
    fn apply(&mut self, r: &[glam::Vec3], z: &mut [glam::Vec3]) {
        z.copy_from_slice(r);
        self.factor.solve(z, self.work);
    }
}

/// A matrix with three rows a particle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum System {
    /// M + dt² K.
    Whole,
    /// M + dt² K_s.
    Stretch,
}

/// A system, with the rotations held.
struct Stiffness<'a> {
    body: &'a mut ElasticBody,
    masses: &'a [f32],
    held: &'a [bool],
    dt2: f32,
    system: System,
    /// The Hessian of the whole, if it is not the corotated one.
    tangents: Option<&'a [SliceTangent]>,
}

impl<'a> Stiffness<'a> {
    fn new(body: &'a mut ElasticBody, masses: &'a [f32], held: &'a [bool], dt: Real, system: System) -> Self {
        Stiffness { body, masses, held, dt2: (dt * dt) as f32, system, tangents: None }
    }
}

impl Operator for Stiffness<'_> {
    fn len(&self) -> usize {
        self.masses.len()
    }

    fn apply(&mut self, p: &[glam::Vec3], y: &mut [glam::Vec3]) {
        let (masses, held, dt2) = (self.masses, self.held, self.dt2);
        let finish = |i: usize, f: glam::Vec3| {
            if held[i] { glam::Vec3::ZERO } else { p[i] * masses[i] - f * dt2 }
        };
        let (two_mu, z) = (self.body.constants.two_mu, self.body.constants.z);
        let (z_lane, lambda) = (Lane::splat(z as f32), self.body.lambda.clone());
        if let Some(tangents) = self.tangents {
            let stress = |s: usize, rest: &SliceRest, _, U: Mat3x8| {
                let C = rest.correction.full();
                let dF = U.mul_mat(C);
                tangents[s].apply(dF).scale(rest.volume).mul_mat(C) - dF.scale(z_lane)
            };
            return self.body.respond(p, z, stress, finish, y);
        }
        match self.system {
            System::Whole => self.body.respond(
                p,
                z,
                |s, rest, R, U| {
                    let C = rest.correction.full();
                    let dF = U.mul_mat(C);
                    let eps = R.transpose_mul(dF).symmetric_part();
                    let sigma = eps.scale(two_mu).add_diagonal(lambda.of_slice(s) * eps.trace());
                    R.mul_mat(sigma.full()).scale(rest.volume).mul_mat(C) - dF.scale(z_lane)
                },
                finish,
                y,
            ),
            System::Stretch => self.body.respond(
                p,
                z,
                |_, rest, _, U| {
                    let C = rest.correction.full();
                    let dF = U.mul_mat(C);
                    dF.scale(two_mu * rest.volume).mul_mat(C) - dF.scale(z_lane)
                },
                finish,
                y,
            ),
        }
    }
}

#[cfg(test)]
mod tests;
