//! How long the next step may be, and what says so.

use super::{Simulation, TimeStep};
use crate::elasticity::SolveReport;
use crate::forces::surface_tension::longest_step;
use crate::math::{Real, max_with_index};

/// Spacings a particle may move in one step of a fixed time step.
const FIXED_CFL: Real = 0.5;
/// Part of the stability limit dt < 2/rate of XSPH damping that is used.
const XSPH_SAFETY: Real = 0.25;

/// Iterations of a system in a step above which shorter steps are taken.
const MANY_ITERATIONS: usize = 120;

/// What limits the time step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Criterion {
    /// `time_step.max` or the fixed `time_step` of the scene.
    Scene,
    /// The stiffness of a body: explicit integration would be unstable.
    Stiffness,
    /// A particle's speed: it may move only a part of the spacing.
    Speed,
    /// XSPH damping of a body.
    Damping,
    /// The surface tension or adhesion of a liquid.
    Tension,
    /// Implicit solves took many iterations.
    Effort,
}

impl Criterion {
    pub fn name(self) -> &'static str {
        match self {
            Criterion::Scene => "scene",
            Criterion::Stiffness => "stiffness",
            Criterion::Speed => "speed",
            Criterion::Damping => "damping",
            Criterion::Tension => "tension",
            Criterion::Effort => "effort",
        }
    }
}

/// The longest admissible step, and its reason.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimeStepLimit {
    pub dt: Real,
    pub criterion: Criterion,
    /// Body and particle (within the body) that limit, if one does.
    pub at: Option<(usize, usize)>,
}

impl TimeStepLimit {
    fn tighten(&mut self, dt: Real, criterion: Criterion, at: (usize, usize)) {
        if dt < self.dt {
            *self = TimeStepLimit { dt, criterion, at: Some(at) };
        }
    }
}

impl Simulation {
    /// The longest step the present state admits.
    pub fn time_step_limit(&self) -> TimeStepLimit {
        let (scene, cfl) = match self.setup.time_step {
            TimeStep::Adaptive { max, cfl } => (max, cfl),
            TimeStep::Fixed(dt) => (dt, FIXED_CFL),
        };
        let mut limit = TimeStepLimit { dt: scene, criterion: Criterion::Scene, at: None };
        for (k, body) in self.bodies.iter().enumerate() {
            let flow = &body.material.flow;
            let tension = flow.surface_tension.max(flow.adhesion);
            if tension > 0.0 {
                let dt = longest_step(tension, body.material.density, self.setup.spacing);
                limit.tighten(dt, Criterion::Tension, (k, 0));
            }
            let Some(solid) = &body.solid else { continue };
            if let Some(stable) = &solid.stable {
                // the frequency is that at the moduli of the start
                let moduli = solid.elastic.moduli().stiffness_over(body.material.moduli);
                let dt = stable.time_step(solid.stiffening * moduli);
                limit.tighten(dt, Criterion::Stiffness, (k, stable.particle));
            }
            if solid.method.xsph > 0.0 {
                limit.tighten(XSPH_SAFETY * 2.0 / solid.method.xsph, Criterion::Damping, (k, 0));
            }
        }
        if matches!(self.setup.time_step, TimeStep::Adaptive { .. }) && self.effort_dt < limit.dt {
            limit = TimeStepLimit { dt: self.effort_dt, criterion: Criterion::Effort, at: None };
        }
        let velocities = &self.particles.velocities;
        let (fastest, i) = max_with_index(velocities.len(), |i| velocities[i].length_squared());
        if fastest > 0.0 {
            limit.tighten(cfl * self.setup.spacing / fastest.sqrt(), Criterion::Speed, self.locate(i));
        }
        limit
    }

    /// Shorter steps where solves take many iterations, longer ones again where they do not.
    pub(super) fn adapt_to_effort(&mut self, dt: Real, solve: &SolveReport) {
        let iterations = solve.parts.iter().map(|part| part.iterations).max().unwrap_or(0);
        let unconverged = solve.parts.iter().any(|part| part.unconverged > 0);
        self.effort_dt = match iterations {
            _ if unconverged => 0.5 * dt,
            i if i > MANY_ITERATIONS => 0.8 * dt,
            i if i < MANY_ITERATIONS / 2 => 1.25 * self.effort_dt,
            _ => self.effort_dt,
        };
    }

    /// Body and particle within the body of a particle of the store.
    pub(super) fn locate(&self, i: usize) -> (usize, usize) {
        let body = self.bodies.partition_point(|b| b.range.end <= i).min(self.bodies.len() - 1);
        (body, i - self.bodies[body].range.start)
    }

    /// Words for a limit: "stiffness of \"beam\" (particle 12)".
    pub fn describe(&self, limit: &TimeStepLimit) -> String {
        match limit.at {
            None if limit.criterion == Criterion::Effort => "the effort of the solvers".to_string(),
            None => "time_step of the scene".to_string(),
            Some((body, particle)) => {
                format!("{} of \"{}\" (particle {particle})", limit.criterion.name(), self.bodies[body].name)
            }
        }
    }
}
