//! From set-up to simulation: sampling, ordering, rest neighbourhoods, stable steps.

use super::attached::attach;
use super::flow::Flow;
use super::occupied::Occupied;
use super::sub_steps::SubSteps;
use super::{
    Body, BodySetup, PlacedLoad, Pressure, PressureTotals, Removed, Setup, Simulation, Solid, SolverTotals,
    StageTimes,
};
use crate::elasticity::{ElasticBody, FactorShelf, ImplicitSolver, Method, Solver, StableStep};
use crate::forces::contact::{ContactBody, ParticleContacts, SurfaceLaw};
use crate::forces::rigid_contact::RigidContacts;
use crate::geometry::{Region, Sampling};
use crate::kernel::Kernel;
use crate::math::{Mat3, Real, Vec3};
use crate::particles::{FREE, Particle, Particles, hilbert_order, line_order};
use crate::rigid::RigidWorld;
use thiserror::Error;

/// What cannot be known before a shape is sampled. Indices are those of the set-up.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum BuildError {
    #[error("body \"{name}\" holds no particle at this spacing")]
    NoParticles { body: usize, name: String },
    #[error("the region of pin {pin} of body \"{name}\" holds no particle")]
    EmptyPin { body: usize, name: String, pin: usize },
    #[error("the region of load {load} of body \"{name}\" holds no particle")]
    EmptyLoad { body: usize, name: String, load: usize },
    #[error("the region of probe \"{name}\" holds no particle")]
    EmptyProbe { probe: usize, name: String },
}

impl Simulation {
    pub fn new(setup: Setup) -> Result<Simulation, BuildError> {
        let kernel = Kernel::new(setup.kernel, setup.support * setup.spacing);
        let mut particles = Particles::default();
        let occupied = Occupied::by(&setup);
        let mut removed = Removed::default();
        let mut bodies: Vec<Body> = Vec::with_capacity(setup.bodies.len());
        for (index, body) in setup.bodies.iter().enumerate() {
            let twin = setup.bodies[..index].iter().position(|b| b.is_twin_of(body)).map(|k| &bodies[k]);
            let rest =
                match setup.bodies[..index].iter().position(|b| b.method.is_some() && b.fills_space_as(body))
                {
                    _ if body.emitter.is_some() => Vec::new(),
                    Some(first) if body.method.is_some() => {
                        particles.rest_positions[bodies[first].range.clone()].to_vec()
                    }
                    _ => body.in_order(body.shape.sample(setup.spacing, body.sampling), setup.spacing),
                };
            let (built, overlapping) =
                build_body(index, &setup, rest, kernel, twin, &occupied, &mut particles)?;
            bodies.push(built);
            removed.overlapping += overlapping as u64;
        }
        for (probe, p) in setup.probes.iter().enumerate() {
            let range = bodies[p.body].range.clone();
            if p.target.particles(&particles.rest_positions[range]).is_empty() {
                return Err(BuildError::EmptyProbe { probe, name: p.name.clone() });
            }
        }
        let flow = match setup.pressure {
            Pressure::None => None,
            _ => Some(Flow::new(&setup, kernel, &bodies, &particles)),
        };
        let contact_bodies =
            bodies.iter().map(|b| ContactBody { surface: b.surface(), law: b.surface_law() }).collect();
        let contacts = ParticleContacts::new(
            setup.spacing,
            kernel.h,
            setup.contact.between_bodies && flow.is_none(),
            setup.contact.within_body && flow.is_none(),
            contact_bodies,
        );
        let mut simulation = Simulation {
            time: 0.0,
            steps: 0,
            last_dt: 0.0,
            effort_dt: Real::INFINITY,
            next_velocities: vec![Vec3::ZERO; particles.len()],
            before_pressure: Vec::new(),
            rigids: RigidWorld::new(&setup.rigids, &setup.joints, setup.gravity),
            attached: attach(&setup, &bodies, &particles),
            rigid_contacts: RigidContacts::new(setup.spacing),
            bodies,
            contacts,
            flow,
            factors: FactorShelf::default(),
            times: StageTimes::default(),
            solvers: SolverTotals::default(),
            pressures: PressureTotals::default(),
            removed,
            domain: setup.domain.clone().unwrap_or_else(|| ten_times(&setup, &particles)),
            particles,
            setup,
        };
        simulation.set_moduli();
        simulation.load_rigids();
        Ok(simulation)
    }
}

/// The body, and the number of its particles left out where solids and rigid bodies are.
/// `rest` are its rest positions; `twin` is a body that is alike: what is constant is shared with it.
fn build_body(
    index: usize,
    setup: &Setup,
    mut rest: Vec<Vec3>,
    kernel: Kernel,
    twin: Option<&Body>,
    occupied: &Occupied,
    particles: &mut Particles,
) -> Result<(Body, usize), BuildError> {
    let (s, body) = (setup.spacing, &setup.bodies[index]);
    let name = || body.name.clone();
    let sampled = rest.len();
    if body.method.is_none() {
        rest.retain(|&p| occupied.has_room(body.start_position(p)));
    }
    let overlapping = sampled - rest.len();
    if rest.is_empty() && body.emitter.is_none() {
        return Err(BuildError::NoParticles { body: index, name: name() });
    }
    let volume = s.powi(3);
    let rows = place_particles(body, &rest, body.material.density * volume)
        .map_err(|pin| BuildError::EmptyPin { body: index, name: name(), pin })?;
    let loads =
        place_loads(body, &rest).map_err(|load| BuildError::EmptyLoad { body: index, name: name(), load })?;
    let pinned = (0..).zip(&rows).filter(|(_, row)| row.pins != FREE).map(|(i, _)| i).collect();
    let range = particles.append(&rows);
    drop((rest, rows)); // what follows needs the memory more
    let mut room = range.clone();
    if let Some(emitter) = &body.emitter {
        let waiting = Particle {
            positions: emitter.pose.position,
            velocities: Vec3::ZERO,
            rest_positions: Vec3::ZERO,
            masses: body.material.density * volume,
            pins: FREE,
        };
        room.end = particles.append(&vec![waiting; emitter.capacity]).end;
    }
    let material = body.material.clone();
    let mut built = Body { name: name(), range, room, emitted: 0, material, solid: None, loads, pinned };
    if let Some(method) = body.method {
        built.solid = Some(build_solid(index, setup, kernel, method, twin, &built, particles));
    }
    Ok((built, overlapping))
}

fn build_solid(
    index: usize,
    setup: &Setup,
    kernel: Kernel,
    method: Method,
    twin: Option<&Body>,
    built: &Body,
    particles: &Particles,
) -> Solid {
    let (body, Body { material, range, .. }) = (&setup.bodies[index], built);
    let masses = &particles.masses[range.clone()];
    let (elastic, stable) = match twin.and_then(|twin| twin.solid.as_ref()) {
        Some(twin) => (twin.elastic.twin(), twin.stable),
        None => {
            // The rest shape is turned as the body stands: a method without rotations starts at rest, too.
            let turn = Mat3::from_quat(body.pose.rotation);
            let turned = particles.rest_positions[range.clone()].iter().map(|x| turn * *x).collect();
            let volume = setup.spacing.powi(3);
            let mut elastic =
                ElasticBody::new(turned, volume, material.density, kernel, method, material.moduli);
            let stable = (!method.model.is_implicit()).then(|| StableStep::estimate(&mut elastic, masses));
            (elastic, stable)
        }
    };
    let family = setup.bodies.iter().position(|b| b.is_alike(body)).unwrap_or(index);
    let implicit = method.model.is_implicit().then(|| ImplicitSolver::new(&elastic, masses, family));
    Solid {
        method,
        elastic,
        implicit,
        stable,
        most_deformed: 0,
        max_stretch_squared: 1.0,
        stiffening: 1.0,
        sub_steps: SubSteps::default(),
    }
}

/// A box ten times as large as that of all particles and rigid bodies.
fn ten_times(setup: &Setup, particles: &Particles) -> Region {
    let reach =
        |rigid: &crate::rigid::Rigid| rigid.shape.reach().map(|r| (rigid.pose.position, Vec3::splat(r)));
    let points = particles.positions.iter().map(|&x| (x, Vec3::ZERO));
    let corners = points.chain(setup.rigids.iter().filter_map(reach)).flat_map(|(x, r)| [x - r, x + r]);
    let (min, max) = corners.fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(lo, hi), x| (lo.min(x), hi.max(x)));
    let (center, half) = (0.5 * (min + max), Vec3::splat((max - min).max_element() * 5.0 + 1.0));
    Region::Box { min: center - half, max: center + half }
}

/// The particles at t = 0, or the number of a pin that holds none.
fn place_particles(body: &BodySetup, rest: &[Vec3], mass: Real) -> Result<Vec<Particle>, usize> {
    let center = rest.iter().sum::<Vec3>() / rest.len() as Real;
    let mut pin_used = vec![false; body.pins.len()];
    let place = |&rest_position: &Vec3| {
        let pin = body.pins.iter().position(|p| p.region.contains(rest_position));
        if let Some(pin) = pin {
            pin_used[pin] = true;
        }
        let start = body.start_position(rest_position);
        let arm = start - body.pose.to_world(body.initial_stretch * center);
        Particle {
            positions: start,
            velocities: body.velocity + body.angular_velocity.cross(arm),
            rest_positions: rest_position,
            masses: mass,
            pins: pin.map_or(FREE, |p| p as u32),
        }
    };
    let rows = rest.iter().map(place).collect();
    pin_used.iter().position(|used| !used).map_or(Ok(rows), Err)
}

/// The loads with their particles, or the number of one that has none.
fn place_loads(body: &BodySetup, rest: &[Vec3]) -> Result<Vec<PlacedLoad>, usize> {
    let place = |(number, load): (usize, &super::Load)| {
        let inside = |&i: &u32| load.region.contains(rest[i as usize]);
        let particles: Vec<u32> = (0..rest.len() as u32).filter(inside).collect();
        if particles.is_empty() {
            return Err(number);
        }
        let force_each = load.force / particles.len() as Real;
        Ok(PlacedLoad { particles, force_each, until: load.until })
    };
    body.loads.iter().enumerate().map(place).collect()
}

impl BodySetup {
    /// Its points in the order in which they are stored.
    fn in_order(&self, points: Vec<Vec3>, spacing: Real) -> Vec<Vec3> {
        let order = match self.is_in_lines() {
            true => line_order(&points, spacing),
            false => hilbert_order(&points),
        };
        order.into_iter().map(|i| points[i as usize]).collect()
    }

    /// Is it solved over cells, which lie in lines? Others follow a curve that keeps neighbours near.
    fn is_in_lines(&self) -> bool {
        let over_cells = |m: Method| m.model.is_implicit() && m.solver == Solver::Linear;
        self.sampling == Sampling::Lattice && self.method.is_some_and(over_cells)
    }

    /// Has the same rest positions, in the same order.
    fn fills_space_as(&self, o: &BodySetup) -> bool {
        self.shape == o.shape && self.sampling == o.sampling && self.is_in_lines() == o.is_in_lines()
    }

    /// Has the same rest state but for a rotation, and the same stiffness for its mass.
    fn is_alike(&self, o: &BodySetup) -> bool {
        let rest = |b: &BodySetup| (b.method, b.material.moduli, b.material.density, b.sampling);
        rest(self) == rest(o) && self.shape == o.shape
    }

    /// Has the same rest state, and the same stiffness for its mass.
    fn is_twin_of(&self, o: &BodySetup) -> bool {
        self.is_alike(o) && self.pose.rotation == o.pose.rotation
    }

    /// World position at t = 0 of the particle with this rest position.
    pub fn start_position(&self, rest: Vec3) -> Vec3 {
        self.pose.to_world(self.initial_stretch * rest)
    }
}

impl Body {
    /// Surface particles by their index in the store.
    fn surface(&self) -> Vec<u32> {
        let surface = |solid: &Solid| solid.elastic.surface_particles();
        let particles = self.solid.as_ref().map_or_else(Vec::new, surface);
        particles.into_iter().map(|i| (self.range.start + i) as u32).collect()
    }

    pub(super) fn surface_law(&self) -> SurfaceLaw {
        SurfaceLaw { friction: self.material.friction, restitution: self.material.restitution }
    }
}
