//! The rigid bodies of a scene in motion.
//!
//! Like the particles they leap: velocities and spins live half a step behind the poses. A step begins with
//! velocities pushed by gravity; impulses change them; the engine solves contacts and joints, and all move.
//!
//! Free rotation keeps the spin L (angular momentum) to the last bit. Over a step a body turns with the angular velocity
//! it has at the orientation in the middle, omega = I(R_mid)⁻¹ L with R_mid = exp(omega dt/2) R: second order, and
//! without a drift of the energy.

use super::engine::Engine;
use super::{Joint, MassPart, Rigid, RigidMotion, RigidNow};
use crate::geometry::Pose;
use crate::math::{Mat3, Quat, Real, Vec3};
use thiserror::Error;
use xxhash_rust::xxh3::xxh3_64;

/// Iterations for the angular velocity in the middle of a step; each gains a factor of the angle turned.
const MIDPOINT_ITERATIONS: usize = 12;

/// Rigid bodies in motion.
pub struct RigidWorld {
    rigids: Vec<Rigid>,
    gravity: Vec3,
    /// At the present time; velocities are those of the coming step.
    now: Vec<RigidNow>,
    /// The dynamic ones.
    moving: Vec<Moving>,
    /// None where nothing is dynamic.
    engine: Option<Engine>,
    /// Length of the last step, zero before the first.
    last_dt: Real,
}

/// What changes of a dynamic body besides its pose.
struct Moving {
    /// Index of the rigid body.
    rigid: usize,
    /// With all that is attached.
    mass: MassPart,
    /// Velocity of the centre of mass and angular momentum about it, as the last step left them.
    velocity: Vec3,
    spin: Vec3,
    /// The same in the coming step.
    next_velocity: Vec3,
    next_spin: Vec3,
}

/// Bytes that are not the state of these rigid bodies.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum RestoreError {
    #[error("the state of the rigid bodies is damaged")]
    Damaged,
    #[error("the state is of other rigid bodies")]
    OtherBodies,
}

impl RigidWorld {
    pub fn new(rigids: &[Rigid], joints: &[Joint], gravity: Vec3) -> Self {
        let now: Vec<RigidNow> = rigids.iter().map(|rigid| rigid.at(0.0)).collect();
        let start = |(k, rigid): (usize, &Rigid)| match rigid.motion {
            RigidMotion::Told(_) => None,
            RigidMotion::Dynamic(dynamic) => Some(Moving::new(k, rigid.shape.mass(dynamic.density), &now[k])),
        };
        let moving: Vec<Moving> = rigids.iter().enumerate().filter_map(start).collect();
        let mut engine = (!moving.is_empty()).then(|| Engine::new(rigids, joints));
        if let Some(engine) = &mut engine {
            moving.iter().for_each(|body| engine.set_mass(body.rigid, &body.mass));
        }
        RigidWorld { rigids: rigids.to_vec(), gravity, now, moving, engine, last_dt: 0.0 }
    }

    /// Every rigid body at the present time, in the order of the scene; velocities are those of the coming step.
    pub fn now(&self) -> &[RigidNow] {
        &self.now
    }

    /// A rigid body as the scene tells it.
    pub fn rigid(&self, k: usize) -> &Rigid {
        &self.rigids[k]
    }

    /// Does anything move by forces?
    pub fn has_dynamic(&self) -> bool {
        self.engine.is_some()
    }

    /// Mass of a dynamic body with all that is attached, in its own coordinates.
    pub fn mass(&self, k: usize) -> Option<&MassPart> {
        self.moving.iter().find(|body| body.rigid == k).map(|body| &body.mass)
    }

    /// Angular momentum of a body about its centre of mass [kg m2/s]; zero unless dynamic.
    pub fn spin(&self, k: usize) -> Vec3 {
        self.moving.iter().find(|body| body.rigid == k).map_or(Vec3::ZERO, |body| body.next_spin)
    }

    /// Mass that is attached to a dynamic body from now on, in its coordinates, in place of what was.
    /// What joins has the body's velocity, what leaves keeps it.
    pub fn attach(&mut self, k: usize, attached: MassPart) {
        let RigidMotion::Dynamic(dynamic) = self.rigids[k].motion else { return };
        let mass = self.rigids[k].shape.mass(dynamic.density).with(attached);
        let (now, index) = (&mut self.now[k], self.moving.partition_point(|body| body.rigid < k));
        let body = &mut self.moving[index];
        if body.mass == mass {
            return;
        }
        now.velocity = now.velocity_at(now.pose.to_world(mass.center));
        now.place(now.pose, &mass);
        *body = Moving::new(k, mass, now);
        if let Some(engine) = &mut self.engine {
            engine.set_mass(k, &mass);
        }
    }

    /// Begins a step, or begins it again: velocities are those the last step left, pushed by gravity over the time from
    /// the middle of the last step to the middle of this one. What was applied since is forgotten.
    pub fn begin(&mut self, time: Real, dt: Real) {
        for (now, rigid) in self.now.iter_mut().zip(&self.rigids) {
            if !rigid.is_dynamic() {
                *now = rigid.at(time);
            }
        }
        let kick = self.gravity * (0.5 * (dt + self.last_dt));
        for body in &mut self.moving {
            body.next_velocity = body.velocity + kick;
            body.next_spin = body.spin;
            body.tell(&mut self.now[body.rigid]);
        }
    }

    /// Changes the velocities of the coming step at once, by an impulse [N s] and an angular impulse about the centre of
    /// mass [N m s]. Nothing for static and driven ones.
    pub fn apply_impulse(&mut self, k: usize, impulse: Vec3, angular: Vec3) {
        let index = self.moving.partition_point(|body| body.rigid < k);
        if let Some(body) = self.moving.get_mut(index).filter(|body| body.rigid == k) {
            body.next_velocity += impulse / body.mass.mass;
            body.next_spin += angular;
            body.tell(&mut self.now[k]);
        }
    }

    /// Moves all to time + dt: contacts among rigid bodies with friction and restitution, joints, driven motions
    /// exactly as told.
    pub fn step(&mut self, time: Real, dt: Real) {
        if let Some(engine) = &mut self.engine {
            let turning: Vec<Vec3> = self.moving.iter().map(|body| body.middle(&self.now, dt)).collect();
            for (body, omega) in self.moving.iter().zip(&turning) {
                engine.set_velocities(body.rigid, body.next_velocity, *omega);
            }
            for (k, rigid) in self.rigids.iter().enumerate() {
                if matches!(rigid.motion, RigidMotion::Told(super::Motion::Driven { .. })) {
                    engine.set_target(k, rigid.pose_at(time + dt));
                }
            }
            engine.step(dt);
            for (body, omega) in self.moving.iter_mut().zip(&turning) {
                let (pose, velocity, angular_velocity) = engine.state(body.rigid);
                let now = &mut self.now[body.rigid];
                let inertia = world_inertia(&body.mass, now.pose.rotation);
                body.velocity = velocity;
                // what contacts and joints gave
                body.spin = body.next_spin + inertia * (angular_velocity - *omega);
                now.place(pose, &body.mass);
            }
        }
        self.last_dt = dt;
        self.show(time + dt);
    }

    /// Every body as it is, before anything pushes it.
    fn show(&mut self, time: Real) {
        for (now, rigid) in self.now.iter_mut().zip(&self.rigids) {
            if !rigid.is_dynamic() {
                *now = rigid.at(time);
            }
        }
        for body in &mut self.moving {
            (body.next_velocity, body.next_spin) = (body.velocity, body.spin);
            body.tell(&mut self.now[body.rigid]);
        }
    }

    /// Fastest motion of any point of a dynamic body [m/s], and which body's.
    pub fn fastest(&self) -> Option<(Real, usize)> {
        let speed = |k: usize| {
            let (now, reach) = (&self.now[k], self.rigids[k].shape.reach().unwrap_or(0.0));
            (now.velocity.length() + now.angular_velocity.length() * reach, k)
        };
        self.moving
            .iter()
            .map(|body| speed(body.rigid))
            .reduce(|a, b| if b.0 > a.0 || b.0.is_nan() { b } else { a })
    }

    /// Poses and velocities of the dynamic bodies, to the last bit: position, rotation, velocity, spin of each.
    pub fn exact_state(&self) -> Vec<u8> {
        let mut numbers = vec![self.last_dt];
        for body in &self.moving {
            let pose = self.now[body.rigid].pose;
            numbers.extend(pose.position.to_array());
            numbers.extend(pose.rotation.to_array());
            numbers.extend(body.velocity.to_array());
            numbers.extend(body.spin.to_array());
        }
        numbers.into_iter().flat_map(Real::to_le_bytes).collect()
    }

    /// Exact state for checkpoints: a run continues from it to the same bits. A checksum, the length of the bodies'
    /// state, that state, the engine's.
    pub fn save(&self) -> Vec<u8> {
        let state = self.exact_state();
        let mut rest = (state.len() as u64).to_le_bytes().to_vec();
        rest.extend(state);
        rest.extend(self.engine.as_ref().map(Engine::save).unwrap_or_default());
        let mut bytes = xxh3_64(&rest).to_le_bytes().to_vec();
        bytes.extend(rest);
        bytes
    }

    /// Puts back what `save` gave, at the time it was saved.
    pub fn restore(&mut self, time: Real, bytes: &[u8]) -> Result<(), RestoreError> {
        let (checksum, rest) = bytes.split_first_chunk().ok_or(RestoreError::Damaged)?;
        if u64::from_le_bytes(*checksum) != xxh3_64(rest) {
            return Err(RestoreError::Damaged);
        }
        let (length, rest) = rest.split_first_chunk().ok_or(RestoreError::Damaged)?;
        let length = u64::from_le_bytes(*length) as usize;
        if length != 8 * (1 + 13 * self.moving.len()) || rest.len() < length {
            return Err(RestoreError::OtherBodies);
        }
        let (state, engine) = rest.split_at(length);
        if let Some(own) = &mut self.engine
            && !own.restore(engine)
        {
            return Err(RestoreError::OtherBodies);
        }
        let numbers: Vec<Real> = state.chunks_exact(8).map(number).collect();
        self.last_dt = numbers[0];
        for (body, row) in self.moving.iter_mut().zip(numbers[1..].chunks_exact(13)) {
            let pose = Pose { position: Vec3::from_slice(row), rotation: Quat::from_slice(&row[3..]) };
            (body.velocity, body.spin) = (Vec3::from_slice(&row[7..]), Vec3::from_slice(&row[10..]));
            self.now[body.rigid].place(pose, &body.mass);
        }
        self.show(time);
        Ok(())
    }
}

fn number(bytes: &[u8]) -> Real {
    Real::from_le_bytes(bytes.try_into().expect("eight bytes by construction"))
}

impl Moving {
    fn new(rigid: usize, mass: MassPart, now: &RigidNow) -> Self {
        let (velocity, spin) = (now.velocity, world_inertia(&mass, now.pose.rotation) * now.angular_velocity);
        Moving { rigid, mass, velocity, spin, next_velocity: velocity, next_spin: spin }
    }

    /// Writes the velocities of the coming step.
    fn tell(&self, now: &mut RigidNow) {
        now.velocity = self.next_velocity;
        now.angular_velocity = now.inverse_inertia * self.next_spin;
    }

    /// Angular velocity that turns the body through the step.
    fn middle(&self, now: &[RigidNow], dt: Real) -> Vec3 {
        let now = &now[self.rigid];
        let mut omega = now.angular_velocity;
        let inverse = self.mass.inertia.inverse();
        for _ in 0..MIDPOINT_ITERATIONS {
            let turned = Mat3::from_quat(Quat::from_scaled_axis(omega * (0.5 * dt)) * now.pose.rotation);
            omega = turned * (inverse * (turned.transpose() * self.next_spin));
        }
        omega
    }
}

/// Inertia about the centre of mass in world axes.
fn world_inertia(mass: &MassPart, rotation: Quat) -> Mat3 {
    let turn = Mat3::from_quat(rotation);
    turn * mass.inertia * turn.transpose()
}
