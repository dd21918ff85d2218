//! How long the next step may be, and what says so.

use super::{Pressure, Simulation, Solid, TimeStep};
use crate::elasticity::SolveReport;
use crate::forces::surface_tension::longest_step;
use crate::math::{Real, max_with_index};

/// Spacings a particle may move in one step of a fixed time step.
const FIXED_CFL: Real = 0.5;
/// Part of the stability limit dt < 2/rate of XSPH damping that is used.
const XSPH_SAFETY: Real = 0.25;

/// Directions that a solve searches above which shorter steps are taken.
const MANY_DIRECTIONS: usize = 120;

/// A solid is hit when pressure changes its mean acceleration by so many times gravity from one step to the next.
const HIT: Real = 2.0;
/// Spacings a wave may travel in a step through a solid that is hit.
const HIT_SPACINGS: Real = 2.0;

/// What limits the time step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Criterion {
    /// `time_step.max` or the fixed `time_step` of the scene.
    Scene,
    /// The stiffness of a body: explicit integration would be unstable.
    Stiffness,
    /// A particle's speed: it may move only a part of the spacing.
    Speed,
    /// The speed of a dynamic rigid body.
    RigidSpeed,
    /// XSPH damping of a body.
    Damping,
    /// The surface tension or adhesion of a liquid.
    Tension,
    /// Implicit solves took long, or a solid was hit.
    Effort,
    /// Sound in a weakly compressible liquid.
    Sound,
}

impl Criterion {
    pub fn name(self) -> &'static str {
        match self {
            Criterion::Scene => "scene",
            Criterion::Stiffness => "stiffness",
            Criterion::Speed => "speed",
            Criterion::RigidSpeed => "rigid_speed",
            Criterion::Damping => "damping",
            Criterion::Tension => "tension",
            Criterion::Effort => "effort",
            Criterion::Sound => "sound",
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
    /// Spacings a particle may move in one step.
    pub(super) fn cfl(&self) -> Real {
        match self.setup.time_step {
            TimeStep::Adaptive { cfl, .. } => cfl,
            TimeStep::Fixed(_) => FIXED_CFL,
        }
    }

    /// The longest step the present state admits.
    pub fn time_step_limit(&self) -> TimeStepLimit {
        let (TimeStep::Adaptive { max: scene, .. } | TimeStep::Fixed(scene)) = self.setup.time_step;
        let cfl = self.cfl();
        let mut limit = TimeStepLimit { dt: scene, criterion: Criterion::Scene, at: None };
        for (k, body) in self.bodies.iter().enumerate() {
            let flow = &body.material.flow;
            let tension = flow.surface_tension.max(flow.adhesion);
            if tension > 0.0 {
                let dt = longest_step(tension, body.material.density, self.setup.spacing);
                limit.tighten(dt, Criterion::Tension, (k, 0));
            }
            let Some(solid) = &body.solid else { continue };
            // with pressure, explicit bodies take their own steps inside the common one
            if let Some(stable) = solid.stable.filter(|_| self.flow.is_none()) {
                let dt = stable.time_step(solid.stiffening_now(&body.material));
                limit.tighten(dt, Criterion::Stiffness, (k, stable.particle));
            }
            if solid.method.xsph > 0.0 {
                limit.tighten(XSPH_SAFETY * 2.0 / solid.method.xsph, Criterion::Damping, (k, 0));
            }
        }
        if matches!(self.setup.time_step, TimeStep::Adaptive { .. }) && self.effort_dt < limit.dt {
            limit = TimeStepLimit { dt: self.effort_dt, criterion: Criterion::Effort, at: None };
        }
        if let Pressure::Weak(tait) = self.setup.pressure {
            let dt = tait.time_step(self.setup.spacing);
            if dt < limit.dt {
                limit = TimeStepLimit { dt, criterion: Criterion::Sound, at: None };
            }
        }
        let rigid_speed = self.rigids.fastest().map_or(0.0, |(speed, _)| speed);
        if rigid_speed * limit.dt > cfl * self.setup.spacing && !self.particles.is_empty() {
            let dt = cfl * self.setup.spacing / rigid_speed;
            limit = TimeStepLimit { dt, criterion: Criterion::RigidSpeed, at: None };
        }
        let velocities = &self.particles.velocities;
        let (fastest, i) = max_with_index(velocities.len(), |i| velocities[i].length_squared());
        if fastest > 0.0 {
            limit.tighten(cfl * self.setup.spacing / fastest.sqrt(), Criterion::Speed, self.locate(i));
        }
        limit
    }

    /// Shorter steps where solves search many directions, longer ones again where they do not.
    pub(super) fn adapt_to_effort(&mut self, dt: Real, solve: &SolveReport) {
        let directions = solve.parts.iter().map(|part| part.directions).max().unwrap_or(0);
        let unconverged = solve.parts.iter().any(|part| part.unconverged > 0);
        self.effort_dt = match directions {
            _ if unconverged => 0.5 * dt,
            n if n > MANY_DIRECTIONS => 0.8 * dt,
            n if n < MANY_DIRECTIONS / 2 => 1.25 * self.effort_dt,
            _ => self.effort_dt,
        };
        self.effort_dt = self.effort_dt.min(self.impact_step());
    }

    /// A shorter step to take instead, if solids are hit in this one.
    pub(super) fn shorter_step_for_hits(&self, dt: Real) -> Option<Real> {
        let adaptive = matches!(self.setup.time_step, TimeStep::Adaptive { .. });
        Some(self.impact_step()).filter(|longest| adaptive && *longest < 0.9 * dt)
    }

    /// The longest step for the solids that are hit. Pressure stops the particles that touch, and elasticity learns of it
    /// in the next step: what the others have moved by then must not strain a stiff body by more than its momentum can.
    fn impact_step(&self) -> Real {
        let Some(flow) = &self.flow else { return Real::INFINITY };
        let hard = HIT * self.setup.gravity.length();
        let step = |(k, solid): (usize, &Solid)| {
            let body = &self.bodies[k];
            let wave_speed = (solid.elastic.moduli().p_wave_modulus() / body.material.density).sqrt();
            match flow.jolt(k, body.range.len()) > hard {
                true => HIT_SPACINGS * self.setup.spacing / wave_speed,
                false => Real::INFINITY,
            }
        };
        self.solids().map(step).fold(Real::INFINITY, Real::min)
    }

    /// Body and particle within the body of a particle of the store.
    pub(super) fn locate(&self, i: usize) -> (usize, usize) {
        let body = self.bodies.partition_point(|b| b.room.end <= i).min(self.bodies.len().saturating_sub(1));
        (body, i - self.bodies.get(body).map_or(0, |body| body.range.start))
    }

    /// Words for a limit: "stiffness of \"beam\" (particle 12)".
    pub fn describe(&self, limit: &TimeStepLimit) -> String {
        match limit.at {
            None if limit.criterion == Criterion::Effort => "the effort of the solvers and hits".to_string(),
            None if limit.criterion == Criterion::Sound => "the speed of sound of the liquids".to_string(),
            None if limit.criterion == Criterion::RigidSpeed => "the speed of a rigid body".to_string(),
            None => "time_step of the scene".to_string(),
            Some((body, particle)) => {
                format!("{} of \"{}\" (particle {particle})", limit.criterion.name(), self.bodies[body].name)
            }
        }
    }
}
