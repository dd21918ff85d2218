//! One step, as a table of contents.
//!
//! Leapfrog: velocities live half a step behind the positions, v(t - dt/2) → v(t + dt/2), x(t) → x(t + dt). It is
//! symplectic Euler with the clocks read right: second order, free fall exact, stable for dt < 2/omega.
//! The elastic forces of implicit bodies are those at the end of the step: stable for any dt, first order.

use super::attached::carrier;
use super::flow::FlowInput;
use super::{Body, BodySetup, PinMotion, Simulation, Solid, Stage, StepError, TimeStepLimit, Trouble};
use crate::elasticity::{Deformation, ImplicitSolver, SolveReport, StepInput};
use crate::forces::contact::ContactInput;
use crate::forces::fields::Field;
use crate::forces::rigid_contact::RigidContactInput;
use crate::material::{Material, Phase};
use crate::math::{Real, Vec3, max_with_index, sum};
use crate::particles::{FREE, Particles};
use crate::pressure::PressureReport;
use crate::rigid::RigidWorld;
use rayon::prelude::*;
use std::time::Instant;

/// How often a step is tried again with half the length before the run ends.
const RETRIES: u32 = 8;
/// How often a step is shortened because elasticity makes particles fast.
const SHORTENINGS: u32 = 3;
/// A step may move a particle by this many spacings; more is an explosion in the making.
const MAX_MOVE: Real = 1.0;
/// A body stretched by this factor has come apart.
const MAX_STRETCH: Real = 100.0;
/// A particle this many times faster than the waves of its body has been shot off.
const MAX_MACH: Real = 1e3;
/// Shortest step, relative to the time: shorter ones are lost in rounding.
const SHORTEST: Real = 1e-13;
/// Particles a task works on.
const TASK: usize = 1024;

/// What a step did.
#[derive(Clone, Copy, Debug)]
pub struct StepReport {
    /// Length of the step [s].
    pub dt: Real,
    /// What limits the time step (before it was fitted to the next output time).
    pub limit: TimeStepLimit,
    /// Contacts between particles.
    pub contacts: usize,
    /// Times the step was halved because it would have exploded.
    pub retries: u32,
    /// Of the implicit bodies, the largest.
    pub solve: SolveReport,
    /// Of the pressure, if there is one.
    pub pressure: PressureReport,
}

/// Wall time by stage [ms].
#[derive(Clone, Copy, Debug, Default)]
pub struct StageTimes {
    pub elasticity: f64,
    pub contact: f64,
    pub neighbors: f64,
    /// Of liquids: tension, adhesion, drag, XSPH, viscosity.
    pub forces: f64,
    pub pressure: f64,
    pub motion: f64,
}

impl StageTimes {
    pub fn total(&self) -> f64 {
        self.elasticity + self.contact + self.neighbors + self.forces + self.pressure + self.motion
    }
}

impl Simulation {
    /// Takes one step towards `until`, no further.
    pub fn step(&mut self, until: Real) -> Result<StepReport, StepError> {
        // On a thread of the pool: any other would hand over each of its loops and sleep until it is done.
        rayon::scope(|_| self.take_step(until))
    }

    fn take_step(&mut self, until: Real) -> Result<StepReport, StepError> {
        self.emit_and_drain();
        self.compute_elastic_forces()?;
        self.survey_flow();
        let limit = self.time_step_limit();
        let mut dt = fit(until - self.time, limit.dt);
        if dt.is_nan() || dt <= SHORTEST * until.abs() {
            let i = limit.at.map_or(0, |(body, particle)| self.bodies[body].range.start + particle);
            return Err(self.error(Stage::Velocities, Trouble::NoStep, i, dt));
        }
        let (mut retries, mut shortened) = (0, 0);
        let mut pressure;
        let (contacts, solve) = loop {
            self.apply_forces(dt); // explicit elasticity, gravity, fields, loads, damping
            self.move_pins(dt);
            self.push_carriers();
            self.take_sub_steps(dt);
            let solved = self.solve_implicit_bodies(dt);
            let contacts = self.resolve_contacts(dt);
            if shortened < SHORTENINGS
                && let Some(shorter) = self.shorten(dt)
            {
                (dt, shortened) = (shorter, shortened + 1);
                continue;
            }
            self.act_between_particles(dt); // tension, adhesion, drag, XSPH, viscosity
            pressure = self.solve_pressure(dt);
            if let Some(shorter) = self.shorter_step_for_hits(dt) {
                dt = shorter;
                continue;
            }
            self.move_pins(dt);
            self.push_carriers();
            match solved.and_then(|solve| self.check_velocities(dt).map(|()| solve)) {
                Ok(solve) => break (contacts, solve),
                Err(error) if retries == RETRIES => return Err(error),
                Err(_) => {
                    retries += 1;
                    dt *= 0.5;
                }
            }
        };
        self.advance(dt, until);
        self.solvers.add(&solve);
        if self.flow.is_some() {
            self.pressures.add(pressure);
        }
        self.adapt_to_effort(dt, &solve);
        Ok(StepReport { dt, limit, contacts, retries, solve, pressure })
    }

    /// Steps until this time.
    pub fn advance_to(&mut self, until: Real) -> Result<(), StepError> {
        while self.time < until {
            self.step(until)?;
        }
        Ok(())
    }

    /// Forces of the explicit bodies at the present positions, and how much stiffer they are there than at rest.
    fn compute_elastic_forces(&mut self) -> Result<(), StepError> {
        let start = Instant::now();
        let particles = &self.particles;
        self.bodies.par_iter_mut().for_each(|body| {
            let Some(solid) = body.solid.as_mut().filter(|solid| solid.implicit.is_none()) else { return };
            if solid.is_molten() {
                solid.elastic.forces.fill(glam::Vec3::ZERO);
                return;
            }
            let (x, v) =
                (&particles.positions[body.range.clone()], &particles.velocities[body.range.clone()]);
            let deformation = solid.elastic.compute_forces(x, v);
            solid.note_deformation(deformation);
        });
        self.times.elasticity += milliseconds(start);
        self.check_deformation()
    }

    /// Velocities that agree with the elastic forces at the end of the step.
    fn solve_implicit_bodies(&mut self, dt: Real) -> Result<SolveReport, StepError> {
        let start = Instant::now();
        let (particles, pushed, time) = (&self.particles, &self.next_velocities, self.time);
        for (body, setup) in self.bodies.iter_mut().zip(&self.setup.bodies) {
            let Some(solid) = body.solid.as_mut().filter(|solid| !solid.is_molten()) else { continue };
            let Some(implicit) = &mut solid.implicit else { continue };
            let pins = &particles.pins[body.range.clone()];
            let pinned = body.pinned.iter().map(|&i| i as usize);
            let held = pinned.filter(|&i| setup.is_held(pins[i], time));
            implicit.prepare(&solid.elastic, dt, held, &mut self.factors);
        }
        let solve = |body: &mut Body| {
            let range = body.range.clone();
            let solid = body.solid.as_mut().filter(|solid| !solid.is_molten())?;
            let implicit = solid.implicit.as_mut()?;
            let step = StepInput {
                dt,
                positions: &particles.positions[range.clone()],
                velocities: &particles.velocities[range.clone()],
                pushed: &pushed[range],
            };
            let (deformation, report) = implicit.solve(&mut solid.elastic, &step);
            solid.note_deformation(deformation);
            Some(report)
        };
        let reports: Vec<Option<SolveReport>> = self.bodies.par_iter_mut().map(solve).collect();
        let gains = take_changes(
            &self.bodies,
            &self.particles,
            &self.particles.velocities,
            &mut self.next_velocities,
            |_| true,
            !self.attached.is_empty(),
        );
        self.push_carriers_by_solves(dt, &gains);
        self.times.elasticity += milliseconds(start);
        self.check_deformation()?;
        Ok(reports.into_iter().flatten().fold(SolveReport::default(), SolveReport::worse))
    }

    /// No body is torn apart.
    fn check_deformation(&self) -> Result<(), StepError> {
        let torn = self.solids().find(|(k, s)| {
            // what was liquid for a while may be anywhere when it is solid again
            let most = if self.bodies[*k].material.melts() { Real::INFINITY } else { MAX_STRETCH.powi(2) };
            s.max_stretch_squared.is_nan() || s.max_stretch_squared > most
        });
        match torn {
            None => Ok(()),
            Some((k, solid)) => {
                let stretch = solid.max_stretch_squared.sqrt();
                let trouble = match (stretch.is_finite(), solid.stiffening.is_finite()) {
                    (true, _) => Trouble::TornApart(stretch),
                    (false, true) => Trouble::NotFinite,
                    (false, false) => Trouble::Inverted,
                };
                Err(self.error(
                    Stage::Elasticity,
                    trouble,
                    self.bodies[k].range.start + solid.most_deformed,
                    self.last_dt,
                ))
            }
        }
    }

    /// v* = v + (f/m + g) (dt + last dt)/2, fields, loads, mass-proportional damping.
    fn apply_forces(&mut self, dt: Real) {
        let start = Instant::now();
        self.rigids.begin(self.time, dt);
        // velocities go from the middle of the last step to the middle of this one
        let (from, to) = (self.time - 0.5 * self.last_dt, self.time + 0.5 * dt);
        let full = dt;
        let dt = 0.5 * (dt + self.last_dt);
        let gravity = self.setup.gravity;
        let acting = |field| (field, Field::duration_within(field, from, to));
        let fields: Vec<(&Field, Real)> =
            self.setup.fields.iter().map(acting).filter(|(_, duration)| *duration > 0.0).collect();
        for (field, duration) in &fields {
            field.push_rigids(*duration, &mut self.rigids);
        }
        for (k, body) in self.bodies.iter().enumerate() {
            let keep = (-body.material.damping * dt).exp();
            let explicit = body.solid.as_ref().is_none_or(|solid| solid.implicit.is_none());
            let forces = body.explicit_forces().filter(|_| !self.needs_sub_steps(k, full));
            // Damping must not touch what implicit forces have yet to balance, or a body would rest at a smaller load.
            let kept = if explicit { keep } else { 1.0 };
            let velocities = &self.particles.velocities[body.range.clone()];
            let positions = &self.particles.positions[body.range.clone()];
            let masses = &self.particles.masses[body.range.clone()];
            let next = &mut self.next_velocities[body.range.clone()];
            next.par_iter_mut().with_min_len(TASK).enumerate().for_each(|(i, v)| {
                let elastic = forces.map_or(Vec3::ZERO, |forces| forces[i].as_dvec3() / masses[i]);
                let mut kick = (elastic + gravity) * dt;
                for (field, duration) in &fields {
                    kick += field.acceleration(positions[i]) * *duration;
                }
                *v = velocities[i] * keep + kick * kept;
            });
            for load in body.loads.iter().filter(|l| l.until.is_none_or(|t| self.time < t)) {
                for &i in &load.particles {
                    next[i as usize] += load.force_each * (kept * dt / masses[i as usize]);
                }
            }
        }
        if let Some(flow) = &self.flow {
            flow.push_solids(full, &mut self.next_velocities);
        }
        self.note_attached(gravity * dt);
        self.times.motion += milliseconds(start);
    }

    /// Who is near whom at the present positions.
    fn survey_flow(&mut self) {
        let Some(mut flow) = self.flow.take() else { return };
        let start = Instant::now();
        let inverse_mass = |i: usize| self.inverse_mass(i);
        flow.survey(&FlowInput {
            particles: &self.particles,
            inverse_mass: &inverse_mass,
            rigids: self.rigids.now(),
        });
        self.flow = Some(flow);
        self.times.neighbors += milliseconds(start);
    }

    /// A shorter step, now that the velocities before pressure are known [P18 Alg. 3]: what elasticity has made fast
    /// must not pass through other matter. Elasticity is solved again for it: with the push of pressure for one time
    /// and that of elasticity for another, nothing would rest.
    fn shorten(&self, dt: Real) -> Option<Real> {
        self.flow.as_ref()?;
        let next = &self.next_velocities;
        let (fastest, _) = max_with_index(next.len(), |i| next[i].length_squared());
        let longest = self.cfl() * self.setup.spacing / fastest.sqrt();
        (longest < dt).then(|| longest.max(0.1 * dt))
    }

    /// What acts between near particles of liquids besides pressure.
    fn act_between_particles(&mut self, dt: Real) {
        let Some(flow) = &mut self.flow else { return };
        let start = Instant::now();
        flow.act(dt, &self.particles.positions, self.rigids.now(), &mut self.next_velocities);
        push_rigids(&mut self.rigids, &flow.impulses);
        self.times.forces += milliseconds(start);
    }

    /// Velocities with which nothing is compressed at the end of the step.
    fn solve_pressure(&mut self, dt: Real) -> PressureReport {
        let answers = |(_, solid): (usize, &Solid)| solid.implicit.as_ref().is_some_and(|i| !i.is_split());
        let answers = self.solids().any(answers);
        let Some(flow) = &mut self.flow else { return PressureReport::default() };
        let start = Instant::now();
        if answers {
            self.before_pressure.clone_from(&self.next_velocities);
        }
        flow.push_solids(-dt, &mut self.next_velocities);
        let report = flow.solve(dt, self.rigids.now(), &mut self.next_velocities);
        push_rigids(&mut self.rigids, &flow.impulses);
        flow.rub(dt, self.rigids.now(), &self.particles.positions, &mut self.next_velocities);
        push_rigids(&mut self.rigids, &flow.impulses);
        self.times.pressure += milliseconds(start);
        if answers {
            self.answer_to_pressure(dt);
        }
        report
    }

    /// Elasticity was solved before pressure, with the pressure of the last step. What changed since kicks single particles
    /// of a surface, and a stiff body would hand it back, larger, in the next step: it answers at once. (Not where stretching
    /// and volume are solved one after the other: an answer of both together makes that worse.)
    fn answer_to_pressure(&mut self, dt: Real) {
        let start = Instant::now();
        let (kicked, before) = (&self.next_velocities, &self.before_pressure);
        self.bodies.par_iter_mut().for_each(|body| {
            let Some(solid) = body.solid.as_mut().filter(|solid| !solid.is_molten()) else { return };
            let Some(implicit) = solid.implicit.as_mut().filter(|implicit| !implicit.is_split()) else {
                return;
            };
            let (kicked, before) = (&kicked[body.range.clone()], &before[body.range.clone()]);
            implicit.answer(&mut solid.elastic, dt, |i| kicked[i] - before[i]);
        });
        let gains = take_changes(
            &self.bodies,
            &self.particles,
            &self.before_pressure,
            &mut self.next_velocities,
            |implicit| !implicit.is_split(),
            !self.attached.is_empty(),
        );
        self.push_carriers_by_answers(&gains);
        self.times.elasticity += milliseconds(start);
    }

    /// 1/m of a particle of the store, zero if it is held [1/kg].
    fn inverse_mass(&self, i: usize) -> Real {
        let Particles { masses, pins, .. } = &self.particles;
        let held = pins[i] != FREE && self.setup.bodies[self.locate(i).0].is_held(pins[i], self.time);
        // what a rigid body carries is pushed as if it were free, and pushes the body
        let held = held && carrier(&self.attached, i, self.time).is_none();
        if held || self.told_velocity(i).is_some() { 0.0 } else { 1.0 / masses[i] }
    }

    /// Impulses between particles, then against rigid bodies.
    fn resolve_contacts(&mut self, dt: Real) -> usize {
        if self.flow.is_some() {
            return 0;
        }
        let start = Instant::now();
        let (time, setup) = (self.time, &self.setup);
        let Particles { positions, rest_positions, velocities, masses, pins, .. } = &self.particles;
        let bodies = &self.bodies;
        let held = |i: usize| {
            pins[i] != FREE
                && setup.bodies[bodies.partition_point(|b| b.range.end <= i)].is_told(pins[i], time)
        };
        let inverse_mass = |i: usize| if held(i) { 0.0 } else { 1.0 / masses[i] };
        let arriving = velocities.as_slice();
        let input = ContactInput { positions, rest_positions, arriving, inverse_mass: &inverse_mass, dt };
        let contacts = self.contacts.resolve(&input, &mut self.next_velocities);
        let attached = &self.attached;
        let carrier = |i: usize| if pins[i] == FREE { None } else { carrier(attached, i, time) };
        let laws: Vec<_> = bodies.iter().map(|b| (b.range.clone(), b.surface_law())).collect();
        let (inverse_mass, carrier) = (&inverse_mass, &carrier);
        let input = RigidContactInput { positions, arriving, inverse_mass, carrier, bodies: &laws, dt };
        self.rigid_contacts.resolve(&input, &mut self.rigids, &mut self.next_velocities);
        self.times.contact += milliseconds(start);
        contacts
    }

    /// Pinned particles go where their pin carries them, liquid in the mouth of an emitter as it is told.
    fn move_pins(&mut self, dt: Real) {
        for k in (0..self.bodies.len()).filter(|&k| self.setup.bodies[k].emitter.is_some()) {
            for i in self.bodies[k].range.clone() {
                if let Some(velocity) = self.told_velocity(i) {
                    self.next_velocities[i] = velocity;
                }
            }
        }
        let (time, particles) = (self.time, &self.particles);
        for (body, setup) in self.bodies.iter().zip(&self.setup.bodies) {
            if body.pinned.is_empty() {
                continue;
            }
            let (first, pinned) = (body.range.start, &body.pinned);
            let next = &mut self.next_velocities[body.range.clone()];
            next.par_chunks_mut(TASK).enumerate().for_each(|(task, next)| {
                let particles_of = task * TASK..task * TASK + next.len();
                let from = pinned.partition_point(|&i| (i as usize) < particles_of.start);
                let pinned = pinned[from..].iter().map(|&i| i as usize);
                for k in pinned.take_while(|k| particles_of.contains(k)) {
                    let i = first + k;
                    let Some(pin) = setup.pins.get(particles.pins[i] as usize) else { continue };
                    if let PinMotion::Told(motion) = pin.motion
                        && pin.until.is_none_or(|t| time < t)
                    {
                        let start = setup.start_position(particles.rest_positions[i]);
                        let target = motion.carry(start, time + dt);
                        next[k - particles_of.start] = (target - particles.positions[i]) / dt;
                    }
                }
            });
        }
    }

    /// Nothing is committed that is not finite or about to explode.
    fn check_velocities(&self, dt: Real) -> Result<(), StepError> {
        if let Some((speed, k)) = self.rigids.fastest()
            && !speed.is_finite()
        {
            return Err(self.rigid_error(k, dt));
        }
        let next = &self.next_velocities;
        if next.is_empty() {
            return Ok(());
        }
        let (fastest, i) = max_with_index(next.len(), |i| next[i].length_squared());
        let speed = fastest.sqrt();
        if !speed.is_finite() {
            return Err(self.error(Stage::Velocities, Trouble::NotFinite, i, dt));
        }
        let body = &self.bodies[self.locate(i).0];
        let stiffness = body.solid.as_ref().map_or(Real::INFINITY, |s| s.elastic.moduli().p_wave_modulus());
        let wave_speed = (stiffness / body.material.density).sqrt();
        let driven = self.particles.pins[i] != FREE;
        let leaps = speed * dt > MAX_MOVE * self.setup.spacing;
        if !driven && (leaps || speed > MAX_MACH * wave_speed.max(1.0)) {
            return Err(self.error(Stage::Velocities, Trouble::TooFast(speed), i, dt));
        }
        Ok(())
    }

    /// x ← x + dt v.
    fn advance(&mut self, dt: Real, until: Real) {
        let start = Instant::now();
        self.rigids.step(self.time, dt);
        self.carry_attached(dt);
        let Particles { positions, velocities, .. } = &mut self.particles;
        std::mem::swap(velocities, &mut self.next_velocities);
        let rows = positions.par_iter_mut().zip(&*velocities).with_min_len(TASK);
        rows.for_each(|(x, v)| *x += *v * dt);
        for body in &self.bodies {
            let lead = body.solid.as_ref().map_or(&[][..], |solid| &solid.sub_steps.lead);
            for (v, lead) in velocities[body.range.clone()].iter_mut().zip(lead) {
                *v += *lead;
            }
        }
        // The last step to an output time lands on it exactly.
        self.time = if (until - self.time - dt).abs() <= 1e-9 * dt { until } else { self.time + dt };
        self.steps += 1;
        self.last_dt = dt;
        self.set_moduli();
        self.load_rigids();
        self.times.motion += milliseconds(start);
    }

    /// The moduli of the present time, where they change with it.
    pub(super) fn set_moduli(&mut self) {
        for body in &mut self.bodies {
            if let (Some(schedule), Some(solid)) = (&body.material.schedule, &mut body.solid) {
                solid.elastic.set_moduli(schedule.at(self.time));
                solid.elastic.set_gathering(schedule.phase(self.time) == Phase::Gathering);
            }
        }
        if let Some(flow) = &mut self.flow {
            for (k, body) in self.bodies.iter().enumerate() {
                if let (Some(schedule), Some(_)) = (&body.material.schedule, &body.solid) {
                    // without stiffness it is liquid already, or still
                    let phase = match schedule.at(self.time).is_liquid() {
                        true => Phase::Liquid,
                        false => schedule.phase(self.time),
                    };
                    flow.set_phase(k, body, phase, schedule.viscosity_at(self.time));
                }
            }
        }
    }

    fn error(&self, stage: Stage, trouble: Trouble, i: usize, dt: Real) -> StepError {
        let (body, particle) = self.locate(i);
        StepError {
            stage,
            trouble,
            body: self.bodies.get(body).map_or_else(String::new, |body| body.name.clone()),
            particle: Some(particle as u32),
            time: self.time,
            dt,
            remedy: trouble.remedy().into(),
        }
    }

    /// Rigid body `k` has no finite velocity.
    fn rigid_error(&self, k: usize, dt: Real) -> StepError {
        StepError {
            stage: Stage::Velocities,
            trouble: Trouble::NotFinite,
            body: self.setup.rigids[k].name.clone(),
            particle: None,
            time: self.time,
            dt,
            remedy: "try a smaller time_step.max, or a start without overlaps".into(),
        }
    }
}

impl Body {
    /// Elastic forces that are not solved for.
    fn explicit_forces(&self) -> Option<&[glam::Vec3]> {
        let solid = self.solid.as_ref().filter(|solid| solid.implicit.is_none());
        solid.map(|solid| solid.elastic.forces.as_slice())
    }
}

impl Solid {
    /// Has it lost all its stiffness for now?
    pub(super) fn is_molten(&self) -> bool {
        self.elastic.moduli().is_liquid()
    }

    /// Stiffness over that at rest with the moduli of the start, at which its frequency was found.
    pub(super) fn stiffening_now(&self, material: &Material) -> Real {
        self.stiffening * self.elastic.moduli().stiffness_over(material.moduli)
    }

    pub(super) fn note_deformation(&mut self, deformation: Deformation) {
        self.max_stretch_squared = deformation.max_stretch_squared();
        self.stiffening = deformation.stiffening(self.method.law);
        self.most_deformed = deformation.particle;
    }
}

impl BodySetup {
    /// Is a particle with this pin held at this time?
    pub(super) fn is_held(&self, pin: u32, time: Real) -> bool {
        self.pins.get(pin as usize).is_some_and(|pin| pin.until.is_none_or(|t| time < t))
    }

    /// Is it held, and moves as told, whatever pushes it?
    fn is_told(&self, pin: u32, time: Real) -> bool {
        let told = |pin: &super::Pin| matches!(pin.motion, PinMotion::Told(_));
        self.is_held(pin, time) && self.pins.get(pin as usize).is_some_and(told)
    }
}

/// Gives the free particles of the implicit bodies that change the velocities `from` with the changes that were solved for.
/// Returns what momentum each body gained by it, where that is asked for.
fn take_changes(
    bodies: &[Body],
    particles: &Particles,
    from: &[Vec3],
    velocities: &mut [Vec3],
    changes: impl Fn(&ImplicitSolver) -> bool,
    asks_for_gains: bool,
) -> Vec<Vec3> {
    let take = |body: &Body| {
        let solid = body.solid.as_ref().filter(|s| !s.is_molten());
        let implicit = solid.and_then(|s| s.implicit.as_ref());
        let Some(implicit) = implicit.filter(|implicit| changes(implicit)) else { return Vec3::ZERO };
        let (from, masses) = (&from[body.range.clone()], &particles.masses[body.range.clone()]);
        let next = &mut velocities[body.range.clone()];
        let solved = |i: usize| from[i] + implicit.change[i].as_dvec3();
        // Elastic forces give a free body no momentum; what the rounding of the solve gave is taken back.
        let gained = |i: usize| if implicit.is_held(i) { Vec3::ZERO } else { solved(i) - next[i] };
        let is_free = !implicit.holds_any();
        let gain = match is_free || asks_for_gains {
            true => sum(masses.len(), Vec3::ZERO, |i| gained(i) * masses[i]),
            false => Vec3::ZERO,
        };
        let drift = match is_free {
            true => gain / sum(masses.len(), 0.0, |i| masses[i]),
            false => Vec3::ZERO,
        };
        next.par_iter_mut().with_min_len(TASK).enumerate().for_each(|(i, next)| {
            if !implicit.is_held(i) {
                *next = solved(i) - drift;
            }
        });
        gain
    };
    bodies.iter().map(take).collect()
}

/// What particles give to rigid bodies: impulses, and angular impulses about their centres.
fn push_rigids(rigids: &mut RigidWorld, impulses: &[[Vec3; 2]]) {
    for (k, [impulse, angular]) in impulses.iter().enumerate() {
        rigids.apply_impulse(k, *impulse, *angular);
    }
}

/// The longest step, at most `limit`, of which a whole number fits into the time left.
fn fit(left: Real, limit: Real) -> Real {
    left / (left / limit * (1.0 - 1e-9)).ceil().max(1.0)
}

fn milliseconds(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1e3
}
