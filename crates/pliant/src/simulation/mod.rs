//! The simulation: set-up, state, step, diagnostics.

mod attached;
mod build;
mod diagnostics;
mod emitters;
mod error;
mod flow;
mod flow_forces;
mod occupied;
mod probes;
mod setup;
mod solver_totals;
mod state;
mod step;
mod sub_steps;
mod time_step;

pub use build::BuildError;
pub use diagnostics::{BodyDiagnostics, PointFields};
pub use emitters::{Emitter, Mouth};
pub use error::{Stage, StepError, Trouble};
pub use setup::*;
pub use solver_totals::{PressureTotals, SolverTotals, ViscosityTotals};
pub use step::{StageTimes, StepReport};
pub use time_step::{Criterion, TimeStepLimit};

use crate::elasticity::{ElasticBody, FactorShelf, ImplicitSolver, Method, StableStep};
use crate::forces::contact::ParticleContacts;
use crate::forces::rigid_contact::RigidContacts;
use crate::geometry::Region;
use crate::material::Material;
use crate::math::{Real, Vec3};
use crate::particles::Particles;
use crate::rigid::RigidWorld;
use attached::Attached;
use flow::Flow;
use std::ops::Range;
use sub_steps::SubSteps;

/// Matter in motion: particles, bodies and obstacles at a time.
pub struct Simulation {
    setup: Setup,
    time: Real,
    /// Steps taken so far, sub-steps counted one by one.
    steps: u64,
    /// Length of the last step, zero before the first: velocities live half of it behind the positions.
    last_dt: Real,
    /// Longest step the effort of the implicit solves admits, if steps are adaptive.
    effort_dt: Real,
    particles: Particles,
    bodies: Vec<Body>,
    rigids: RigidWorld,
    /// Particles that rigid bodies carry.
    attached: Vec<Attached>,
    contacts: ParticleContacts,
    /// Present neighbours and pressure, if the scene has one.
    flow: Option<Flow>,
    rigid_contacts: RigidContacts,
    /// Factors that implicit bodies share.
    factors: FactorShelf,
    /// Velocities of the coming step, computed before anything is committed.
    next_velocities: Vec<Vec3>,
    /// The same before pressure.
    before_pressure: Vec<Vec3>,
    times: StageTimes,
    solvers: SolverTotals,
    /// Liquid outside is taken out.
    domain: Region,
    /// Particles of liquids taken out: overlapping others at the start, and outside the domain since.
    removed: Removed,
    pressures: PressureTotals,
}

/// A body: a range of the store and what computes its forces.
pub struct Body {
    pub name: String,
    /// Its particles in the store.
    pub range: Range<usize>,
    /// All rows of the store kept for it: those behind `range` wait to be emitted, or were removed.
    room: Range<usize>,
    /// Layers its emitter has emitted.
    emitted: usize,
    pub material: Material,
    /// None for liquids.
    pub solid: Option<Solid>,
    loads: Vec<PlacedLoad>,
    /// Its particles that have a pin, in rising order.
    pinned: Vec<u32>,
}

/// What makes a body solid.
pub struct Solid {
    pub method: Method,
    pub elastic: ElasticBody,
    /// Of implicit methods.
    implicit: Option<ImplicitSolver>,
    /// Of explicit methods.
    pub stable: Option<StableStep>,
    /// Particle with the largest deformation in the last step.
    most_deformed: usize,
    /// Largest squared stretch in the last step.
    max_stretch_squared: Real,
    /// Stiffness over that at rest in the last step.
    stiffening: Real,
    sub_steps: SubSteps,
}

/// A load with the particles (of the body) it acts on.
struct PlacedLoad {
    particles: Vec<u32>,
    force_each: Vec3,
    until: Option<Real>,
}

/// Particles of liquids that were taken out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Removed {
    /// At the start, inside solids and rigid bodies.
    pub overlapping: u64,
    /// Outside the domain, or in a drain.
    pub leaving: u64,
}

impl Simulation {
    /// Particles of liquids taken out so far.
    pub fn removed(&self) -> Removed {
        self.removed
    }

    /// Number of particles in motion.
    pub fn active_particles(&self) -> usize {
        self.bodies.iter().map(|body| body.range.len()).sum()
    }

    /// Time [s].
    pub fn time(&self) -> Real {
        self.time
    }

    /// Steps taken, sub-steps counted one by one.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    pub fn setup(&self) -> &Setup {
        &self.setup
    }

    pub fn particles(&self) -> &Particles {
        &self.particles
    }

    /// Positions and velocities, to set up a state by hand.
    pub fn particles_mut(&mut self) -> &mut Particles {
        &mut self.particles
    }

    pub fn rigids(&self) -> &RigidWorld {
        &self.rigids
    }

    pub fn bodies(&self) -> &[Body] {
        &self.bodies
    }

    /// The solid bodies with their numbers.
    pub fn solids(&self) -> impl Iterator<Item = (usize, &Solid)> {
        self.bodies.iter().enumerate().filter_map(|(k, body)| body.solid.as_ref().map(|solid| (k, solid)))
    }

    /// The elasticity of body `k`; none for liquids.
    pub fn elastic(&self, k: usize) -> Option<&ElasticBody> {
        self.bodies[k].solid.as_ref().map(|solid| &solid.elastic)
    }

    /// Index of the body with this name.
    pub fn body_index(&self, name: &str) -> Option<usize> {
        self.bodies.iter().position(|b| b.name == name)
    }

    /// Wall time by stage since the start [ms].
    pub fn stage_times(&self) -> StageTimes {
        self.times
    }

    /// Bytes held by the particles and what moves them.
    pub fn bytes(&self) -> usize {
        let columns = 3 * size_of::<Vec3>() + size_of::<Real>() + 4;
        let solver = |s: &Solid| s.implicit.as_ref().map_or(0, ImplicitSolver::bytes);
        let elastic: usize = self.solids().map(|(_, s)| s.elastic.bytes() + solver(s)).sum();
        self.particles.len() * (columns + size_of::<Vec3>())
            + elastic
            + self.contacts.bytes()
            + self.flow.as_ref().map_or(0, Flow::bytes)
    }
}
