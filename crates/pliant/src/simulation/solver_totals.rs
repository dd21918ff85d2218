//! What the solvers did since the start.

use super::Simulation;
use crate::elasticity::{PartReport, SolvePart, SolveReport};
use crate::linear::{FactorCache, Solved};
use crate::math::Real;
use crate::pressure::PressureReport;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Sums over the steps of a run.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct SolverTotals {
    /// Sums by part; `residual` is that of the last step.
    parts: [PartReport; 3],
    /// Most iterations of one step, by part.
    most: [usize; 3],
    /// Newton iterations.
    pub newton: usize,
    /// Factors made.
    pub factors: u64,
    /// Factors read from the cache.
    pub cached_factors: u64,
}

/// What the pressure did since the start.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct PressureTotals {
    pub solves: usize,
    pub iterations: usize,
    /// Most iterations of one step.
    pub most_iterations: usize,
    /// Solves that ended with a larger density error than asked for.
    pub unconverged: usize,
    /// Of the last step.
    pub last: PressureReport,
}

/// What the viscosity of liquids did since the start.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct ViscosityTotals {
    pub solves: usize,
    pub iterations: usize,
    /// Most iterations of one solve.
    pub most_iterations: usize,
    /// Solves that ended with a larger residual than asked for.
    pub unconverged: usize,
    /// Mean velocity that the last solve left over [m/s].
    pub residual: Real,
}

impl ViscosityTotals {
    pub(super) fn add(&mut self, solved: &Solved) {
        self.solves += 1;
        self.iterations += solved.iterations;
        self.most_iterations = self.most_iterations.max(solved.iterations);
        self.unconverged += !solved.converged as usize;
        self.residual = solved.residual;
    }
}

impl PressureTotals {
    pub(super) fn add(&mut self, report: PressureReport) {
        self.solves += 1;
        self.iterations += report.iterations;
        self.most_iterations = self.most_iterations.max(report.iterations);
        self.unconverged += !report.converged as usize;
        self.last = report;
    }
}

impl SolverTotals {
    pub(super) fn add(&mut self, report: &SolveReport) {
        for ((total, most), part) in self.parts.iter_mut().zip(&mut self.most).zip(&report.parts) {
            total.solves += part.solves;
            total.iterations += part.iterations;
            total.directions += part.directions;
            total.products += part.products;
            total.unconverged += part.unconverged;
            total.residual = part.residual;
            *most = part.iterations.max(*most);
        }
        self.newton += report.newton;
    }

    pub fn part(&self, part: SolvePart) -> PartReport {
        self.parts[part as usize]
    }

    /// Most iterations of one step.
    pub fn most_iterations(&self, part: SolvePart) -> usize {
        self.most[part as usize]
    }
}

impl Simulation {
    /// What the pressure did since the start; none if the scene has none.
    pub fn pressure_totals(&self) -> Option<PressureTotals> {
        self.flow.as_ref().map(|_| self.pressures)
    }

    /// What the viscosity of liquids did since the start; none if no liquid has it.
    pub fn viscosity_totals(&self) -> Option<ViscosityTotals> {
        self.flow.as_ref().and_then(|flow| flow.viscosity_totals())
    }

    /// Has the scene implicit bodies?
    pub fn has_solvers(&self) -> bool {
        self.solids().any(|(_, solid)| solid.implicit.is_some())
    }

    /// How body `k` is solved in steps of this length, in words; none for explicit bodies.
    pub fn describe_solver(&self, k: usize, dt: Real) -> Option<&'static str> {
        let solid = self.bodies[k].solid.as_ref()?;
        solid.implicit.as_ref().map(|implicit| implicit.describe(&solid.elastic, dt))
    }

    /// What the solvers did since the start.
    pub fn solver_totals(&self) -> SolverTotals {
        SolverTotals { factors: self.factors.made, cached_factors: self.factors.read, ..self.solvers }
    }

    pub(super) fn save_totals(&self) -> Vec<u8> {
        let totals = (self.solvers, self.pressures, self.viscosity_totals());
        postcard::to_allocvec(&totals).expect("memory holds a few numbers")
    }

    pub(super) fn restore_totals(&mut self, bytes: &[u8]) -> bool {
        let Ok((solvers, pressures, viscosity)) = postcard::from_bytes(bytes) else { return false };
        (self.solvers, self.pressures) = (solvers, pressures);
        if let (Some(flow), Some(totals)) = (&mut self.flow, viscosity) {
            flow.set_viscosity_totals(totals);
        }
        true
    }

    /// Keeps the factors of implicit bodies in a folder, for the next run.
    pub fn keep_factors_in(&mut self, folder: impl Into<PathBuf>) {
        self.factors.cache = Some(FactorCache::open(folder));
    }
}
