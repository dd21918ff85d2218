//! Particles attached to rigid bodies: they are carried along, and what pushes them pushes the body.
//!
//! While attached, their mass is part of the body's. Forces, contacts and implicit solves change their velocities as
//! if they were free; the difference to what the body told them goes to the body as impulses, so that momentum is kept.

use super::{Body, PinMotion, Setup, Simulation};
use crate::math::{Real, Vec3};
use crate::particles::Particles;
use crate::rigid::MassPart;

/// A particle that a rigid body carries.
#[derive(Clone, Copy, Debug)]
pub(super) struct Attached {
    /// Index in the store.
    pub particle: usize,
    pub rigid: usize,
    /// Where it sits, in the coordinates of the rigid body.
    place: Vec3,
    /// Released at this time [s].
    until: Option<Real>,
    /// Velocity it has if nothing but the body moves it.
    told: Vec3,
}

impl Attached {
    pub fn is_held(&self, time: Real) -> bool {
        self.until.is_none_or(|until| time < until)
    }
}

/// The attached particles of a scene, in the order of the store.
pub(super) fn attach(setup: &Setup, bodies: &[Body], particles: &Particles) -> Vec<Attached> {
    let mut attached = Vec::new();
    for (body, own) in bodies.iter().zip(&setup.bodies) {
        for i in body.range.clone() {
            let Some(pin) = own.pins.get(particles.pins[i] as usize) else { continue };
            if let PinMotion::Attached { rigid } = pin.motion {
                let place = setup.rigids[rigid].pose.to_body(particles.positions[i]);
                attached.push(Attached { particle: i, rigid, place, until: pin.until, told: Vec3::ZERO });
            }
        }
    }
    attached
}

/// The rigid body that carries a particle at a time.
pub(super) fn carrier(attached: &[Attached], i: usize, time: Real) -> Option<usize> {
    let at = attached.binary_search_by_key(&i, |a| a.particle).ok()?;
    attached[at].is_held(time).then_some(attached[at].rigid)
}

impl Simulation {
    /// Rigid bodies weigh what is attached to them at the present time, too.
    pub(super) fn load_rigids(&mut self) {
        if self.attached.is_empty() {
            return;
        }
        let mut loads = vec![MassPart::NOTHING; self.setup.rigids.len()];
        for a in self.attached.iter().filter(|a| a.is_held(self.time)) {
            loads[a.rigid] = loads[a.rigid].with(MassPart::point(self.particles.masses[a.particle], a.place));
        }
        for (k, load) in loads.into_iter().enumerate() {
            self.rigids.attach(k, load);
        }
    }

    /// Notes what attached particles do in the coming step if nothing but gravity pushes them, for `kick` [m/s] of it.
    pub(super) fn note_attached(&mut self, kick: Vec3) {
        for a in &mut self.attached {
            a.told = self.particles.velocities[a.particle] + kick;
        }
    }

    /// What has pushed the attached particles since pushes the bodies that carry them, and these tell the particles.
    pub(super) fn push_carriers(&mut self) {
        let (time, x) = (self.time, &self.particles.positions);
        let mut impulses = vec![
            (Vec3::ZERO, Vec3::ZERO);
            if self.attached.is_empty() { 0 } else { self.rigids.now().len() }
        ];
        for a in self.attached.iter().filter(|a| a.is_held(time)) {
            let impulse = (self.next_velocities[a.particle] - a.told) * self.particles.masses[a.particle];
            let arm = x[a.particle] - self.rigids.now()[a.rigid].center;
            impulses[a.rigid].0 += impulse;
            impulses[a.rigid].1 += arm.cross(impulse);
        }
        for (k, (impulse, angular)) in impulses.into_iter().enumerate() {
            self.rigids.apply_impulse(k, impulse, angular);
        }
        self.tell_attached();
    }

    /// What implicit solves have pushed free particles with pushes the carriers back. The forces at the end of the step
    /// say where; what they miss of `gains`, the momentum each body's free particles got, is shared evenly.
    pub(super) fn push_carriers_by_solves(&mut self, dt: Real, gains: &[Vec3]) {
        let (time, x) = (self.time, &self.particles.positions);
        for (body, gain) in self.bodies.iter_mut().zip(gains) {
            let own = |a: &&Attached| body.range.contains(&a.particle) && a.is_held(time);
            let attached: Vec<Attached> = self.attached.iter().filter(own).copied().collect();
            let Some(solid) = body.solid.as_mut().filter(|_| !attached.is_empty()) else { continue };
            let Some(implicit) = &solid.implicit else { continue };
            let first = body.range.start;
            let end: Vec<Vec3> = body.range.clone().map(|i| x[i] + self.next_velocities[i] * dt).collect();
            solid.elastic.compute_forces(&end, &self.particles.velocities[body.range.clone()]);
            let force = |i: usize| solid.elastic.forces[i].as_dvec3();
            let held: Vec<usize> = (0..end.len()).filter(|&i| implicit.is_held(i)).collect();
            let missed = -*gain - held.iter().map(|&i| force(i)).sum::<Vec3>() * dt;
            let share = missed / held.len() as Real;
            for a in attached {
                let impulse = force(a.particle - first) * dt + share;
                let arm = x[a.particle] - self.rigids.now()[a.rigid].center;
                self.rigids.apply_impulse(a.rigid, impulse, arm.cross(impulse));
            }
        }
        self.tell_attached();
    }

    /// The bodies that carry particles take what the answer of elasticity to pressure put on these.
    pub(super) fn push_carriers_by_answers(&mut self, gains: &[Vec3]) {
        if self.attached.is_empty() {
            return;
        }
        let (time, x) = (self.time, &self.particles.positions);
        for (body, gain) in self.bodies.iter().zip(gains).filter(|(_, gain)| **gain != Vec3::ZERO) {
            let Some(implicit) = body.solid.as_ref().and_then(|solid| solid.implicit.as_ref()) else {
                continue;
            };
            let held = (0..body.range.len()).filter(|&i| implicit.is_held(i)).count();
            let own = |a: &&Attached| body.range.contains(&a.particle) && a.is_held(time);
            for a in self.attached.iter().filter(own) {
                let impulse = -*gain / held as Real;
                let arm = x[a.particle] - self.rigids.now()[a.rigid].center;
                self.rigids.apply_impulse(a.rigid, impulse, arm.cross(impulse));
            }
        }
    }

    /// Attached particles move with their bodies.
    pub(super) fn tell_attached(&mut self) {
        for a in self.attached.iter_mut().filter(|a| a.is_held(self.time)) {
            a.told = self.rigids.now()[a.rigid].velocity_at(self.particles.positions[a.particle]);
            self.next_velocities[a.particle] = a.told;
        }
    }

    /// Velocities that take attached particles to where their bodies are at the end of the step.
    pub(super) fn carry_attached(&mut self, dt: Real) {
        for a in self.attached.iter().filter(|a| a.is_held(self.time)) {
            let target = self.rigids.now()[a.rigid].pose.to_world(a.place);
            self.next_velocities[a.particle] = (target - self.particles.positions[a.particle]) / dt;
        }
    }
}
