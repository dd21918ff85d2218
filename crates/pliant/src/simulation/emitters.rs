//! Liquid that comes and goes: emitters, drains, the domain.

use super::Simulation;
use crate::geometry::{Pose, Region};
use crate::math::{Real, Vec3};
use crate::particles::FREE;

/// A mouth from which liquid flows, as a body of its own.
#[derive(Clone, Debug, PartialEq)]
pub struct Emitter {
    /// Layers are emitted in the plane through the pose's position, along its x axis.
    pub pose: Pose,
    pub mouth: Mouth,
    /// Speed of the liquid [m/s].
    pub speed: Real,
    /// From when to when it flows [s].
    pub start: Real,
    pub end: Real,
    /// Particles it may emit.
    pub capacity: usize,
}

/// Cross-section of an emitter, in the y-z plane of its pose.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Mouth {
    Circle { radius: Real },
    Box { size: [Real; 2] },
}

/// Layers inside the mouth, which move as they are told and not by pressure.
pub(super) const TOLD_LAYERS: usize = 2;

impl Emitter {
    /// Number of points of a layer, about, without making them.
    pub fn particles_per_layer(&self, spacing: Real) -> Real {
        let area = match self.mouth {
            Mouth::Circle { radius } => std::f64::consts::PI * radius * radius,
            Mouth::Box { size } => size[0] * size[1],
        };
        (1.2 * area / (spacing * spacing)).max(1.0) + 4.0
    }

    /// Points of one layer, in the coordinates of the pose.
    pub fn layer(&self, spacing: Real) -> Vec<Vec3> {
        let half = match self.mouth {
            Mouth::Circle { radius } => [radius; 2],
            Mouth::Box { size } => [0.5 * size[0], 0.5 * size[1]],
        };
        let counts = half.map(|half| ((2.0 * half / spacing).round() as usize).max(1));
        let at = |k: usize, n: usize| (k as Real + 0.5 - 0.5 * n as Real) * spacing;
        let points = (0..counts[0]).flat_map(|j| (0..counts[1]).map(move |k| (j, k)));
        let inside = |p: &Vec3| match self.mouth {
            Mouth::Circle { radius } => p.y.hypot(p.z) <= radius.max(0.5 * spacing),
            Mouth::Box { .. } => true,
        };
        points.map(|(j, k)| Vec3::new(0.0, at(j, counts[0]), at(k, counts[1]))).filter(inside).collect()
    }

    /// Direction of the flow.
    pub fn direction(&self) -> Vec3 {
        self.pose.rotation * Vec3::X
    }

    /// Time at which layer k leaves the plane of the mouth.
    fn time_of(&self, layer: usize, spacing: Real) -> Real {
        self.start + layer as Real * spacing / self.speed
    }

    /// Layers that have come by this time.
    fn layers_by(&self, time: Real, spacing: Real) -> usize {
        let time = time.min(self.end);
        if time < self.start { 0 } else { ((time - self.start) * self.speed / spacing + 1e-9) as usize + 1 }
    }
}

impl Simulation {
    /// Emits the layers that are due, takes out what is in a drain or has left the domain.
    pub(super) fn emit_and_drain(&mut self) {
        if self.flow.is_none() {
            return;
        }
        let changed = self.emit() | self.drain();
        if changed && let Some(flow) = &mut self.flow {
            flow.take_part(&self.bodies);
        }
    }

    fn emit(&mut self) -> bool {
        let (time, spacing) = (self.time, self.setup.spacing);
        let mut changed = false;
        for (body, setup) in self.bodies.iter_mut().zip(&self.setup.bodies) {
            let Some(emitter) = &setup.emitter else { continue };
            let layer = emitter.layer(spacing);
            while body.emitted < emitter.layers_by(time, spacing) {
                if body.range.len() + layer.len() > body.room.len() {
                    break; // as many as there is room for
                }
                let ahead = emitter.speed * (time - emitter.time_of(body.emitted, spacing));
                for &p in &layer {
                    let i = body.range.end;
                    self.particles.positions[i] = emitter.pose.to_world(p + Vec3::X * ahead);
                    self.particles.velocities[i] = emitter.direction() * emitter.speed;
                    self.particles.rest_positions[i] = p;
                    self.particles.pins[i] = FREE;
                    body.range.end += 1;
                }
                body.emitted += 1;
                changed = true;
            }
        }
        changed
    }

    fn drain(&mut self) -> bool {
        let mut taken = 0;
        for k in 0..self.bodies.len() {
            if self.bodies[k].solid.is_some() {
                continue;
            }
            let mut i = self.bodies[k].range.start;
            while i < self.bodies[k].range.end {
                if self.leaves(self.particles.positions[i]) {
                    self.take_out(k, i);
                    taken += 1;
                } else {
                    i += 1;
                }
            }
        }
        self.removed.leaving += taken;
        taken > 0
    }

    fn leaves(&self, x: Vec3) -> bool {
        let inside = |region: &Region| region.contains(x);
        !self.domain.contains(x) || self.setup.drains.iter().any(inside)
    }

    /// Puts particle i of liquid k behind its range.
    fn take_out(&mut self, k: usize, i: usize) {
        let last = self.bodies[k].range.end - 1;
        self.particles.swap(i, last);
        if let Some(flow) = &mut self.flow {
            flow.swap(i, last);
        }
        self.particles.velocities[last] = Vec3::ZERO;
        self.next_velocities[last] = Vec3::ZERO;
        self.bodies[k].range.end -= 1;
    }

    /// Velocity of what liquid is still in the mouth of its emitter, where it moves as it is told.
    pub(super) fn told_velocity(&self, i: usize) -> Option<Vec3> {
        let emitter = self.setup.bodies[self.locate(i).0].emitter.as_ref()?;
        let p = emitter.pose.to_body(self.particles.positions[i]);
        let s = self.setup.spacing;
        let inside = match emitter.mouth {
            Mouth::Circle { radius } => p.y.hypot(p.z) <= radius + s,
            Mouth::Box { size } => 2.0 * p.y.abs() <= size[0] + s && 2.0 * p.z.abs() <= size[1] + s,
        };
        let told = inside && (-0.5 * s..TOLD_LAYERS as Real * s).contains(&p.x) && self.time < emitter.end;
        told.then(|| emitter.direction() * emitter.speed)
    }
}
