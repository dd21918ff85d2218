//! `summary.json`: what a run did, in one object.

use crate::elasticity::SolvePart;
use crate::output::{OutputError, write_atomically};
use crate::scene::Scene;
use crate::simulation::{Simulation, TimeStepLimit};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What a run did.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    pub version: &'static str,
    pub scene: String,
    pub title: String,
    pub particles: BTreeMap<String, usize>,
    pub total_particles: usize,
    pub steps: u64,
    /// Steps that were halved because they would have exploded.
    pub retries: u64,
    pub simulated_seconds: f64,
    pub wall_seconds: f64,
    pub ms_per_step: BTreeMap<&'static str, f64>,
    /// Largest resident memory of the process [MB]; absent where the system does not tell.
    pub peak_memory_mb: Option<f64>,
    /// Solves of implicit bodies, by system; absent without such bodies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub solvers: Option<Solvers>,
    /// The pressure solves; absent without pressure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pressure: Option<Iterations>,
    /// What limited the time step last.
    pub limit: Limit,
    /// Hash of the exact final state, the same for any number of threads.
    pub state_hash: String,
    pub stopped_early: bool,
    pub pictures: Vec<PathBuf>,
    pub warnings: Vec<String>,
}

/// What the solvers of implicit bodies did in a run.
#[derive(Clone, Debug, Serialize)]
pub struct Solvers {
    /// By system: "elastic", "stretch" or "volume".
    pub systems: BTreeMap<&'static str, Iterations>,
    /// Newton iterations a step.
    pub newton_iterations: f64,
    /// Factors made, and factors read from the cache.
    pub factors: u64,
    pub cached_factors: u64,
}

/// Iterations of a system's solves.
#[derive(Clone, Debug, Serialize)]
pub struct Iterations {
    pub mean: f64,
    pub max: usize,
    /// Products with the matrix, those of preconditioners included: what a solve costs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub products: Option<f64>,
    /// Solves that ended without reaching their tolerance.
    pub unconverged: usize,
}

impl Solvers {
    fn of(simulation: &Simulation, steps: u64) -> Option<Solvers> {
        let totals = simulation.solver_totals();
        let system = |part: SolvePart| {
            let report = totals.part(part);
            let mean = |count: usize| count as f64 / report.solves as f64;
            let iterations = Iterations {
                mean: mean(report.iterations),
                max: totals.most_iterations(part),
                products: Some(mean(report.products)),
                unconverged: report.unconverged,
            };
            (report.solves > 0).then_some((part.name(), iterations))
        };
        simulation.has_solvers().then(|| Solvers {
            systems: SolvePart::ALL.into_iter().filter_map(system).collect(),
            newton_iterations: totals.newton as f64 / steps.max(1) as f64,
            factors: totals.factors,
            cached_factors: totals.cached_factors,
        })
    }
}

#[derive(Clone, Debug, Serialize)]
pub struct Limit {
    pub dt: f64,
    pub criterion: &'static str,
    pub body: Option<String>,
    pub particle: Option<usize>,
}

impl Limit {
    pub fn of(simulation: &Simulation, limit: &TimeStepLimit) -> Limit {
        Limit {
            dt: limit.dt,
            criterion: limit.criterion.name(),
            body: limit.at.map(|(body, _)| simulation.bodies()[body].name.clone()),
            particle: limit.at.map(|(_, particle)| particle),
        }
    }
}

impl Summary {
    pub(super) fn of(scene: &Scene, simulation: &Simulation, limit: &TimeStepLimit) -> Summary {
        Summary {
            version: env!("CARGO_PKG_VERSION"),
            scene: scene.name.clone(),
            title: scene.title.clone(),
            particles: simulation.bodies().iter().map(|b| (b.name.clone(), b.range.len())).collect(),
            total_particles: simulation.active_particles(),
            steps: simulation.steps(),
            retries: 0,
            simulated_seconds: simulation.time(),
            wall_seconds: 0.0,
            ms_per_step: BTreeMap::new(),
            peak_memory_mb: peak_memory_mb(),
            solvers: None,
            pressure: None,
            limit: Limit::of(simulation, limit),
            state_hash: format!("{:016x}", simulation.state_hash()),
            stopped_early: false,
            pictures: Vec::new(),
            warnings: Vec::new(),
        }
    }

    pub(super) fn set_speed(&mut self, simulation: &Simulation, steps: u64) {
        let times = simulation.stage_times();
        let steps = steps.max(1) as f64;
        let stages = [
            ("elasticity", times.elasticity),
            ("contact", times.contact),
            ("neighbors", times.neighbors),
            ("forces", times.forces),
            ("pressure", times.pressure),
            ("motion", times.motion),
            ("total", times.total()),
        ];
        self.solvers = Solvers::of(simulation, steps as u64);
        self.pressure = simulation.pressure_totals().map(|totals| Iterations {
            mean: totals.iterations as f64 / totals.solves.max(1) as f64,
            max: totals.most_iterations,
            products: None,
            unconverged: totals.unconverged,
        });
        self.ms_per_step = stages.into_iter().map(|(name, ms)| (name, ms / steps)).collect();
    }

    pub(super) fn write(&self, dir: &Path) -> Result<(), OutputError> {
        let text = serde_json::to_string_pretty(self).unwrap_or_else(|error| format!("\"{error}\""));
        write_atomically(&dir.join("summary.json"), text.as_bytes())
    }
}

/// Peak resident memory of this process, from the system's books.
pub fn peak_memory_mb() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse::<f64>().ok().map(|kb| kb / 1024.0)
}
