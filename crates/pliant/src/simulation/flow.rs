//! What acts between particles that are near each other now: pressure among all matter.

use super::flow_forces::{Acting, FlowForces};
use super::{Body, Pressure, Setup, ViscosityTotals};
use crate::kernel::Kernel;
use crate::material::{FlowLaw, Phase};
use crate::math::{Real, Vec3};
use crate::neighbors::{Bond, Cells, CurrentNeighbors};
use crate::particles::Particles;
use crate::pressure::{Friction, FrictionInput, PressureReport, PressureSystem, Problem, ProjectedGradients};
use crate::rigid::{RigidNow, Walls};
use rayon::prelude::*;
use std::ops::Range;

/// Distance at rest, in support radii, within which two particles of a solid are bound. Pairs that are at the rim of the
/// kernel at rest would take boundless forces to undo the little they are compressed.
const BOND_REACH: Real = 1.5;
/// Particles a task works on.
const TASK: usize = 1024;

/// Present neighbours, rigid boundaries and pressure.
pub(super) struct Flow {
    kernel: Kernel,
    pressure: Pressure,
    neighbors: CurrentNeighbors,
    walls: Walls,
    system: PressureSystem,
    solver: ProjectedGradients,
    /// The particles that take part, by index in the store.
    particles: Vec<u32>,
    /// Body of each particle of the store.
    body_of: Vec<u32>,
    /// What rest neighbours contribute to a solid particle's density; 0 for liquids. By index in the store.
    rest_densities: Vec<f32>,
    /// The same of bodies that melt or are molten now and may be solid again.
    molten: Vec<(Range<usize>, Vec<f32>)>,
    /// Bodies that gather themselves do not meet themselves.
    gathering: Vec<bool>,
    /// By how much pressure changed the accelerations of each solid in the last step, in sum [m/s2].
    jolts: Vec<Vec3>,
    /// kappa = p V0 of the last step [J], by index in the store.
    pub kappa: Vec<f32>,
    /// The same of the boundary points.
    wall_kappa: Vec<f32>,
    /// Volume over that at rest where compressed, by index in the store.
    volume_ratios: Vec<f32>,
    /// Σ_j V0 r |∇W_ij|, by index in the store.
    virials: Vec<f32>,
    /// Σ_j f_ij·x_ij of surface tension [J].
    tension_virials: Vec<f32>,
    /// p / kappa on a lattice [Pa/J].
    pressure_unit: Real,
    /// Accelerations by the pressure of the last step, if solids or viscous liquids need them.
    held: Vec<Vec3>,
    /// Of the rigid bodies.
    held_rigids: Vec<[Vec3; 2]>,
    /// What else acts between near particles, if anything does.
    forces: Option<FlowForces>,
    /// In the order of the members.
    compressions: Vec<f32>,
    guess: Vec<f32>,
    /// Velocity and angular velocity of each rigid body before pressure.
    rigid_velocities: Vec<[Vec3; 2]>,
    friction: Friction,
    /// Coulomb coefficient by body; none for liquids.
    coefficients: Vec<Option<Real>>,
    spacing: Real,
    /// Impulse and angular impulse about its centre that each rigid body takes in this step.
    pub impulses: Vec<[Vec3; 2]>,
}

/// What a step tells the flow about the particles.
pub(super) struct FlowInput<'a> {
    pub particles: &'a Particles,
    /// 1/m, zero for held particles [1/kg].
    pub inverse_mass: &'a (dyn Fn(usize) -> Real + Sync),
    pub rigids: &'a [RigidNow],
}

impl Flow {
    pub fn new(setup: &Setup, kernel: Kernel, bodies: &[Body], particles: &Particles) -> Self {
        let n = particles.len();
        let (mut body_of, mut rest_densities) = (vec![0; n], vec![0.0; n]);
        for (k, body) in bodies.iter().enumerate() {
            body_of[body.range.clone()].fill(k as u32);
            if body.solid.is_some() {
                let rest = &particles.rest_positions[body.range.clone()];
                rest_densities[body.range.clone()].copy_from_slice(&densities(rest, kernel, setup.spacing));
            }
        }
        let mut walls = Walls::new(kernel, setup.spacing);
        for rigid in &setup.rigids {
            walls.add(&rigid.shape);
        }
        let forces = FlowForces::new(setup, kernel, bodies);
        let viscous = forces.as_ref().is_some_and(FlowForces::has_viscosity);
        let held = viscous || bodies.iter().any(|b| b.solid.is_some());
        Flow {
            kernel,
            pressure: setup.pressure,
            neighbors: CurrentNeighbors::default(),
            wall_kappa: vec![0.0; walls.len()],
            walls,
            system: PressureSystem::new(kernel, setup.spacing),
            solver: ProjectedGradients::default(),
            particles: bodies.iter().flat_map(|b| b.range.clone()).map(|i| i as u32).collect(),
            body_of,
            rest_densities,
            molten: Vec::new(),
            gathering: vec![false; bodies.len()],
            jolts: Vec::new(),
            kappa: vec![0.0; n],
            volume_ratios: vec![1.0; n],
            virials: vec![0.0; n],
            tension_virials: vec![0.0; n],
            pressure_unit: kernel.lattice_moment(setup.spacing)
                / kernel.lattice_sum(setup.spacing)
                / setup.spacing.powi(3),
            held: vec![Vec3::ZERO; if held { n } else { 0 }],
            held_rigids: Vec::new(),
            forces,
            compressions: Vec::new(),
            guess: Vec::new(),
            rigid_velocities: Vec::new(),
            friction: Friction::default(),
            coefficients: bodies.iter().map(|b| b.solid.as_ref().map(|_| b.material.friction)).collect(),
            spacing: setup.spacing,
            impulses: Vec::new(),
        }
    }

    /// Finds who is near whom, and what the pressure of the last step does to solids here.
    pub fn survey(&mut self, input: &FlowInput) {
        let Particles { positions, rest_positions, .. } = input.particles;
        let (body_of, rest, gathering) = (&self.body_of, &self.rest_densities, &self.gathering);
        // neighbours at rest of a solid, and those just beyond, belong to its elasticity; while it gathers itself, all
        let bond = |i: u32| {
            let (i, reach) = (i as usize, BOND_REACH * self.kernel.h);
            let body = body_of[i];
            match rest[i] == 0.0 {
                true => Bond::NONE,
                false if gathering[body as usize] => Bond::new(body, Vec3::ZERO, reach),
                false => Bond::new(body, rest_positions[i], reach),
            }
        };
        let has_solids = rest.par_iter().with_min_len(TASK).any(|rest| *rest > 0.0);
        let bonds: Option<&(dyn Fn(u32) -> Bond + Sync)> = if has_solids { Some(&bond) } else { None };
        self.neighbors.build(positions, &self.particles, self.kernel.h, bonds);
        self.walls.place(input.rigids.iter().map(RigidNow::as_wall));
        self.walls.touch(&self.neighbors, positions, |i| rest[i as usize] == 0.0);
        self.system.measure(
            &self.neighbors,
            &self.walls,
            |i| rest[i as usize],
            |m| self.neighbors.bound(positions, m, self.kernel),
            |i| (input.inverse_mass)(i as usize) as f32,
        );
        if let Pressure::Weak(tait) = self.pressure {
            let unit = self.pressure_unit;
            for (m, &i) in self.neighbors.members.iter().enumerate() {
                let density = input.particles.masses[i as usize] / self.spacing.powi(3);
                let p = density * tait.specific_pressure(self.system.compression(m) as Real);
                self.kappa[i as usize] = (p / unit) as f32;
            }
            // boundary points have the mean pressure of what presses on them
            let (members, kappa) = (&self.neighbors.members, &self.kappa);
            for (b, own) in self.wall_kappa.iter_mut().enumerate() {
                let presses = self.walls.presses_on(b);
                let sum: f32 =
                    presses.iter().map(|press| kappa[members[press.member as usize] as usize]).sum();
                *own = sum / presses.len().max(1) as f32;
            }
        }
        if !self.held.is_empty() {
            let (members, kappa, wall_kappa) = (&self.neighbors.members, &self.kappa, &self.wall_kappa);
            self.system.push(&self.neighbors, &self.walls, |m| match members.get(m) {
                Some(&i) => kappa[i as usize],
                None => wall_kappa[m - members.len()],
            });
            for (m, &i) in members.iter().enumerate() {
                self.held[i as usize] = self.system.acceleration(m);
            }
            self.held_rigids.clear();
            self.held_rigids.extend_from_slice(self.system.rigid_accelerations());
        }
        if let Some(forces) = &mut self.forces {
            let is_held = |i: usize| (input.inverse_mass)(i) == 0.0;
            forces.survey(&self.neighbors, &self.walls, input.particles, &self.body_of, is_held);
        }
    }

    /// Adds the pressure of the last step to the velocities of solids (or takes it away again): elasticity should know
    /// what it has to hold up.
    pub fn push_solids(&self, dt: Real, velocities: &mut [Vec3]) {
        if !self.held.is_empty() {
            let solids = velocities.par_iter_mut().zip(&self.held).zip(&self.rest_densities);
            solids.with_min_len(TASK).for_each(|((v, a), rest)| {
                if *rest > 0.0 {
                    *v += *a * dt;
                }
            });
        }
    }

    /// Changes the coming step's velocities by what acts between near particles besides pressure.
    pub fn act(&mut self, dt: Real, positions: &[Vec3], rigids: &[RigidNow], velocities: &mut [Vec3]) {
        let Some(forces) = &mut self.forces else {
            self.impulses.clear();
            return;
        };
        let acting = Acting {
            dt,
            positions,
            neighbors: &self.neighbors,
            walls: &self.walls,
            rigids,
            pressed: &self.held,
            pressed_rigids: &self.held_rigids,
        };
        forces.act(&acting, velocities);
        forces.virials(&self.neighbors, &mut self.tension_virials);
        self.impulses.clear();
        self.impulses.extend(forces.rigid_changes.iter().zip(&self.walls.bodies).map(|([v, w], body)| {
            match body.inverse_mass > 0.0 {
                true => [*v / body.inverse_mass, body.inverse_inertia.inverse() * *w],
                false => [Vec3::ZERO; 2],
            }
        }));
    }

    /// What viscosity did since the start; none if no liquid has it.
    pub fn viscosity_totals(&self) -> Option<ViscosityTotals> {
        self.forces.as_ref().filter(|forces| forces.has_viscosity()).map(|forces| forces.totals)
    }

    pub fn set_viscosity_totals(&mut self, totals: ViscosityTotals) {
        if let Some(forces) = &mut self.forces {
            forces.totals = totals;
        }
    }

    /// Changes the coming step's velocities so that nothing is compressed at its end.
    /// The rigid bodies have the velocities of the coming step.
    pub fn solve(&mut self, dt: Real, rigids: &[RigidNow], velocities: &mut [Vec3]) -> PressureReport {
        let members = &self.neighbors.members;
        self.compressions.resize(members.len() + self.wall_kappa.len(), 0.0);
        self.guess.clear();
        self.guess.extend(members.iter().map(|&i| self.kappa[i as usize]));
        self.guess.extend_from_slice(&self.wall_kappa);
        self.rigid_velocities.clear();
        self.rigid_velocities.extend(rigids.iter().map(|rigid| [rigid.velocity, rigid.angular_velocity]));
        let Flow { system, neighbors, walls, compressions, guess, .. } = self;
        let report = match self.pressure {
            Pressure::Implicit(settings) => {
                system.rates(neighbors, walls, velocities, &self.rigid_velocities, compressions);
                system.predict(dt, settings.density_error, compressions);
                let problem = Problem { dt, compressions, settings };
                self.solver.solve(system, neighbors, walls, problem, guess)
            }
            _ => {
                system.push(neighbors, walls, |m| guess[m]);
                system.report()
            }
        };
        self.jolts.clear();
        self.jolts.resize(self.coefficients.len(), Vec3::ZERO);
        for (m, &i) in neighbors.members.iter().enumerate() {
            if self.rest_densities[i as usize] > 0.0 {
                let k = self.body_of[i as usize] as usize;
                self.jolts[k] += system.acceleration(m) - self.held[i as usize];
            }
            self.kappa[i as usize] = guess[m];
            self.volume_ratios[i as usize] = system.volume_ratio(m);
            self.virials[i as usize] = system.virial(m);
            velocities[i as usize] += system.acceleration(m) * dt;
        }
        self.wall_kappa.copy_from_slice(&guess[neighbors.len()..]);
        self.impulses.clear();
        self.impulses.extend(system.rigid_forces().iter().map(|[force, torque]| [*force * dt, *torque * dt]));
        report
    }

    /// Friction among solids and against rigid bodies, once pressure is known; their velocities include it by now.
    pub fn rub(&mut self, dt: Real, rigids: &[RigidNow], positions: &[Vec3], velocities: &mut [Vec3]) {
        let (body_of, coefficients) = (&self.body_of, &self.coefficients);
        let input = FrictionInput {
            neighbors: &self.neighbors,
            walls: &self.walls,
            rigids,
            positions,
            coefficient: &|i| coefficients[body_of[i as usize] as usize],
            spacing: self.spacing,
            dt,
        };
        self.impulses = self.friction.act(&self.system, &input, velocities);
    }

    /// Force and torque about its centre on each rigid body by the pressure of the last step.
    pub fn forces_on_rigids(&self) -> Vec<[Vec3; 2]> {
        self.system.forces_on_rigids(&self.walls, |_| true)
    }

    /// Pressure at a particle of the store [Pa]: of liquids by the virial of its pairs, Σ_j f_ij·x_ij / (6 V), less what
    /// surface tension pulls; of solids by that of a lattice, as their own pairs are not counted.
    pub fn pressure(&self, i: usize) -> f32 {
        let (kappa, volume) = (self.kappa[i] as Real, self.spacing.powi(3));
        let pressure = match self.rest_densities[i] > 0.0 {
            true => kappa * self.pressure_unit,
            false => {
                (2.0 * kappa * self.virials[i] as Real + self.tension_virials[i] as Real) / (6.0 * volume)
            }
        };
        pressure as f32
    }

    /// Volume over that at rest of a particle of the store, at most 1.
    pub fn volume_ratio(&self, i: usize) -> f32 {
        self.volume_ratios[i]
    }

    /// What a body is now; as a liquid it has this viscosity. Already while it melts it keeps its volume as liquids do,
    /// or its own weight would compress it until it bursts.
    pub fn set_phase(&mut self, k: usize, body: &Body, phase: Phase, viscosity: Real) {
        let liquid = phase == Phase::Liquid;
        if let Some(forces) = &mut self.forces {
            forces.set_law(k, liquid.then_some(FlowLaw { viscosity, ..body.material.flow }));
        }
        self.gathering[k] = phase == Phase::Gathering;
        self.coefficients[k] = (!liquid).then_some(body.material.friction);
        let keeps_volume = matches!(phase, Phase::Melting | Phase::Liquid);
        let known = self.molten.iter().position(|(range, _)| *range == body.range);
        let own = &mut self.rest_densities[body.range.clone()];
        match known {
            None if keeps_volume => {
                self.molten.push((body.range.clone(), own.to_vec()));
                own.fill(0.0);
            }
            Some(at) if !keeps_volume => own.copy_from_slice(&self.molten.swap_remove(at).1),
            _ => {}
        }
    }

    /// By how much pressure changed the mean acceleration of a solid of so many particles in the last step [m/s2].
    pub fn jolt(&self, k: usize, particles: usize) -> Real {
        self.jolts.get(k).map_or(0.0, |jolt| jolt.length() / particles as Real)
    }

    /// The particles that take part have changed: those of these bodies do now.
    pub fn take_part(&mut self, bodies: &[Body]) {
        self.particles.clear();
        self.particles.extend(bodies.iter().flat_map(|b| b.range.clone()).map(|i| i as u32));
    }

    /// Two particles of the store change places.
    pub fn swap(&mut self, i: usize, j: usize) {
        self.kappa.swap(i, j);
        self.volume_ratios.swap(i, j);
        self.virials.swap(i, j);
        self.tension_virials.swap(i, j);
    }

    pub fn save(&self) -> Vec<u8> {
        self.kappa.iter().chain(&self.wall_kappa).flat_map(|k| k.to_le_bytes()).collect()
    }

    pub fn restore(&mut self, bytes: &[u8]) -> bool {
        if bytes.len() != 4 * (self.kappa.len() + self.wall_kappa.len()) {
            return false;
        }
        let columns = self.kappa.iter_mut().chain(&mut self.wall_kappa);
        for (kappa, bytes) in columns.zip(bytes.chunks_exact(4)) {
            *kappa = f32::from_le_bytes(bytes.try_into().expect("four bytes by construction"));
        }
        true
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        let columns = self.kappa.len() * (5 * 4 + 8) + self.held.len() * size_of::<Vec3>();
        let forces = self.forces.as_ref().map_or(0, FlowForces::bytes);
        columns
            + forces
            + self.neighbors.bytes()
            + self.walls.bytes()
            + self.system.bytes()
            + self.solver.bytes()
    }
}

/// V0 Σ_j W_ij of each point, itself included.
fn densities(points: &[Vec3], kernel: Kernel, spacing: Real) -> Vec<f32> {
    let mut cells = Cells::default();
    cells.build(points.len(), kernel.h, |k| points[k]);
    let cell = 1.0 / kernel.lattice_sum(spacing);
    let density = |p: &Vec3| {
        let mut sum = 0.0;
        cells.for_each_run(*p, |run| {
            sum += cells.order[run].iter().map(|&j| kernel.w(points[j as usize].distance(*p))).sum::<Real>();
        });
        (cell * sum) as f32
    };
    points.par_iter().with_min_len(256).map(density).collect()
}
