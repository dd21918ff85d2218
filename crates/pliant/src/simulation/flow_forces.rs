//! What acts between near particles of liquids besides pressure, in its order.

use super::{Body, Setup, ViscosityTotals};
use crate::forces::adhesion::{self, Adhesion, Attraction};
use crate::forces::drag::Drag;
use crate::forces::near::Near;
use crate::forces::surface_tension::{Pulled, SurfaceTension};
use crate::forces::viscosity::Viscosity;
use crate::forces::xsph::Xsph;
use crate::kernel::Kernel;
use crate::material::FlowLaw;
use crate::math::{Real, Vec3};
use crate::neighbors::CurrentNeighbors;
use crate::particles::Particles;
use crate::rigid::{Grips, RigidNow, Walls};

/// Tension, adhesion, drag, XSPH and viscosity, those that some liquid of the scene has.
pub(super) struct FlowForces {
    h: Real,
    /// Of each body; none for solids.
    laws: Vec<Option<FlowLaw>>,
    tension: Option<SurfaceTension>,
    adhesion: Option<Adhesion>,
    drag: Option<Drag>,
    xsph: Option<Xsph>,
    viscosity: Option<Viscosity>,
    grips: Grips,
    // in the order of the members
    masses: Vec<f32>,
    held: Vec<bool>,
    body_of: Vec<u32>,
    /// Changes of velocity and of angular velocity of each rigid body in the coming step.
    pub rigid_changes: Vec<[Vec3; 2]>,
    pub totals: ViscosityTotals,
}

/// What acts on the velocities of a step when the forces are asked.
pub(super) struct Acting<'a> {
    pub dt: Real,
    /// By index in the store.
    pub positions: &'a [Vec3],
    pub neighbors: &'a CurrentNeighbors,
    pub walls: &'a Walls,
    pub rigids: &'a [RigidNow],
    /// Accelerations by the pressure of the last step, of particles (by index in the store) and of rigid bodies.
    pub pressed: &'a [Vec3],
    pub pressed_rigids: &'a [[Vec3; 2]],
}

impl FlowForces {
    /// None if no liquid asks for any.
    pub fn new(setup: &Setup, kernel: Kernel, bodies: &[Body]) -> Option<Self> {
        let law = |body: &Body| body.solid.is_none().then_some(body.material.flow);
        let laws: Vec<Option<FlowLaw>> = bodies.iter().map(law).collect();
        let ever = |body: &Body| FlowLaw { viscosity: body.material.most_viscous(), ..body.material.flow };
        let any = |has: fn(&FlowLaw) -> bool| bodies.iter().map(ever).any(|law| has(&law));
        let (s, support) = (setup.spacing, setup.support);
        let tension = any(|law| law.surface_tension > 0.0).then(|| SurfaceTension::new(s));
        let adhesion = any(|law| law.adhesion > 0.0).then(|| Adhesion::new(s, support));
        let drag = any(|law| law.drag > 0.0).then(|| Drag::new(setup.air, s));
        let xsph = any(|law| law.xsph > 0.0).then(|| Xsph::new(kernel, s));
        let viscosity = any(|law| law.viscosity > 0.0).then(|| Viscosity::new(s, support));
        let some =
            [tension.is_some(), adhesion.is_some(), drag.is_some(), xsph.is_some(), viscosity.is_some()];
        if !some.contains(&true) {
            return None;
        }
        Some(FlowForces {
            h: kernel.h,
            laws,
            tension,
            adhesion,
            drag,
            xsph,
            viscosity,
            grips: Grips::default(),
            masses: Vec::new(),
            held: Vec::new(),
            body_of: Vec::new(),
            rigid_changes: Vec::new(),
            totals: ViscosityTotals::default(),
        })
    }

    /// How body k flows from now on; none if it is a solid.
    pub fn set_law(&mut self, k: usize, law: Option<FlowLaw>) {
        self.laws[k] = law;
    }

    /// Σ_j f_ij·x_ij by tension and adhesion in the last step [J], by index in the store.
    pub fn virials(&self, neighbors: &CurrentNeighbors, virials: &mut [f32]) {
        virials.fill(0.0);
        for (i, virial) in self.tension.iter().flat_map(SurfaceTension::virials) {
            virials[i as usize] = virial;
        }
        if let Some(adhesion) = &self.adhesion {
            for (m, &i) in neighbors.members.iter().enumerate() {
                virials[i as usize] += adhesion.virial(m);
            }
        }
    }

    pub fn has_viscosity(&self) -> bool {
        self.viscosity.is_some()
    }

    /// Takes down who the members are, and what walls do to them.
    pub fn survey(
        &mut self,
        neighbors: &CurrentNeighbors,
        walls: &Walls,
        particles: &Particles,
        body_of: &[u32],
        is_held: impl Fn(usize) -> bool,
    ) {
        let members = || neighbors.members.iter().map(|&i| i as usize);
        self.masses.clear();
        self.masses.extend(members().map(|i| particles.masses[i] as f32));
        self.held.clear();
        self.held.extend(members().map(is_held));
        self.body_of.clear();
        self.body_of.extend(members().map(|i| body_of[i]));
        let shear = self.viscosity.as_ref().map(|viscosity| viscosity.weight);
        let adheres = self.adhesion.is_some();
        self.grips.find(walls, neighbors, &particles.positions, self.h, |q| {
            let pull = if adheres { adhesion::spline(q) } else { 0.0 };
            (shear.map_or(0.0, |shear| shear.at(q)), pull)
        });
    }

    /// Changes the velocities of the coming step (by index in the store).
    pub fn act(&mut self, acting: &Acting, velocities: &mut [Vec3]) {
        let FlowForces { laws, masses, held, body_of, grips, .. } = self;
        let Acting { dt, positions, neighbors, walls, rigids, .. } = *acting;
        let near = Near { neighbors, grips, bodies: &walls.bodies, positions, masses, held };
        let law = |m: usize| laws[body_of[m] as usize];
        self.rigid_changes.clear();
        self.rigid_changes.resize(rigids.len(), [Vec3::ZERO; 2]);
        if let Some(tension) = &mut self.tension {
            let pulled = neighbors.members.iter().enumerate().map(|(m, &particle)| Pulled {
                particle,
                tension: law(m).map_or(0.0, |law| law.surface_tension),
                inverse_mass: if held[m] { 0.0 } else { 1.0 / masses[m] as Real },
            });
            tension.pull(pulled, dt, positions, velocities);
        }
        if let Some(adhesion) = &mut self.adhesion {
            let attraction =
                |m: usize| law(m).map_or(Attraction::Solid, |law| Attraction::Adhesion(law.adhesion));
            let impulses = adhesion.pull(&near, dt, attraction, velocities);
            for ((change, impulse), body) in self.rigid_changes.iter_mut().zip(impulses).zip(near.bodies) {
                *change = [impulse[0] * body.inverse_mass, body.inverse_inertia * impulse[1]];
            }
        }
        if let Some(drag) = &mut self.drag {
            drag.slow(&near, dt, |m| law(m).map_or(0.0, |law| law.drag), velocities);
        }
        if let Some(xsph) = &mut self.xsph {
            xsph.smooth(&near, |m| law(m).map_or(0.0, |law| law.xsph), velocities);
        }
        if let Some(viscosity) = &mut self.viscosity {
            let liquid = |m: usize| law(m).is_some();
            // Viscosity should know the pressure that it meets, or it would resist a fall that never happens.
            press(acting, liquid, dt, velocities);
            let before: Vec<[Vec3; 2]> = (0..rigids.len())
                .map(|k| {
                    let pressed = acting.pressed_rigids.get(k).copied().unwrap_or_default();
                    let RigidNow { velocity, angular_velocity, .. } = &rigids[k];
                    let [v, w] = self.rigid_changes[k];
                    [*velocity + v + pressed[0] * dt, *angular_velocity + w + pressed[1] * dt]
                })
                .collect();
            let mut after = before.clone();
            let mu = |m: usize| law(m).map(|law| law.viscosity);
            let solved = viscosity.solve(&near, dt, mu, velocities, &mut after);
            press(acting, liquid, -dt, velocities);
            for (change, (before, after)) in self.rigid_changes.iter_mut().zip(before.iter().zip(&after)) {
                *change = [change[0] + after[0] - before[0], change[1] + after[1] - before[1]];
            }
            self.totals.add(&solved);
        }
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        let parts = [
            self.tension.as_ref().map_or(0, SurfaceTension::bytes),
            self.adhesion.as_ref().map_or(0, Adhesion::bytes),
            self.drag.as_ref().map_or(0, Drag::bytes),
            self.xsph.as_ref().map_or(0, Xsph::bytes),
            self.viscosity.as_ref().map_or(0, Viscosity::bytes),
        ];
        parts.iter().sum::<usize>() + self.grips.bytes() + self.masses.capacity() * 9
    }
}

/// Adds the pressure of the last step to the velocities of liquids; that of solids is in them.
fn press(acting: &Acting, liquid: impl Fn(usize) -> bool, dt: Real, velocities: &mut [Vec3]) {
    for (m, &i) in acting.neighbors.members.iter().enumerate() {
        if liquid(m) {
            velocities[i as usize] += acting.pressed[i as usize] * dt;
        }
    }
}
