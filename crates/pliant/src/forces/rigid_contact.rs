//! Contacts of particles with rigid bodies, by impulses.
//!
//! Dynamic bodies get the opposite impulse at the same point, so that momentum and angular momentum are kept. All
//! contacts of a pass act at once: each sees a body as heavy as its share of the contacts, and so together they never
//! push further than needed.

use super::contact::{NormalVelocity, SurfaceLaw, friction, needed_velocity};
use crate::math::{Real, Vec3};
use crate::rigid::{RigidNow, RigidWorld, Surface};
use rayon::prelude::*;
use std::ops::Range;

/// Times the contacts with dynamic bodies are gone through in a step.
const PASSES: usize = 8;
/// Particles a task works on.
const TASK: usize = 512;
/// Particles that are looked at together before each is: neighbours in space.
const NEIGHBORS: usize = 64;

/// Everything these contacts read of the particles.
pub struct RigidContactInput<'a> {
    pub positions: &'a [Vec3],
    /// Velocities of the step before.
    pub arriving: &'a [Vec3],
    /// 1/m, zero for held particles [1/kg].
    pub inverse_mass: &'a (dyn Fn(usize) -> Real + Sync),
    /// Rigid body that carries a particle: they do not meet.
    pub carrier: &'a (dyn Fn(usize) -> Option<usize> + Sync),
    /// Bodies as ranges of particles, and what their surfaces are like.
    pub bodies: &'a [(Range<usize>, SurfaceLaw)],
    pub dt: Real,
}

/// A particle about to touch a dynamic body.
#[derive(Clone, Copy, Debug)]
struct Touch {
    particle: usize,
    rigid: usize,
    /// Out of the rigid body.
    normal: Vec3,
    /// Normal velocity the particle needs at least.
    target: Real,
    friction: Real,
    /// Impulse of a pass on the particle [N s].
    impulse: Vec3,
}

/// Contacts of particles with rigid bodies.
#[derive(Debug)]
pub struct RigidContacts {
    spacing: Real,
    /// With dynamic bodies, in the order of the particles.
    touches: Vec<Touch>,
}

impl RigidContacts {
    pub fn new(spacing: Real) -> Self {
        RigidContacts { spacing, touches: Vec::new() }
    }

    /// Changes the velocities of the coming step, of particles and of dynamic bodies.
    pub fn resolve(&mut self, input: &RigidContactInput, rigids: &mut RigidWorld, velocities: &mut [Vec3]) {
        if rigids.has_dynamic() {
            self.find_touches(input, rigids.now(), velocities);
            for _ in 0..PASSES {
                if !self.share_impulses(input, rigids.now(), velocities) {
                    break;
                }
                self.apply(input, rigids, velocities);
            }
        }
        self.meet_told(input, rigids.now(), velocities);
    }

    fn find_touches(&mut self, input: &RigidContactInput, rigids: &[RigidNow], velocities: &[Vec3]) {
        self.touches.clear();
        for (range, law) in input.bodies {
            let tasks: Vec<Range<usize>> = tasks(range).collect();
            let find = |task: &Range<usize>| {
                let bounds = bounds_of(&input.positions[task.clone()]);
                let is_near = |rigid: &RigidNow| rigid.is_dynamic() && !self.is_far(rigid, bounds);
                let near: Vec<usize> = (0..rigids.len()).filter(|&k| is_near(&rigids[k])).collect();
                let pairs = task.clone().flat_map(|i| near.iter().map(move |&k| (i, k)));
                pairs
                    .filter_map(|(i, k)| self.touch(input, (i, *law), (k, &rigids[k]), velocities[i]))
                    .collect()
            };
            let found: Vec<Vec<Touch>> = tasks.par_iter().map(find).collect();
            self.touches.extend(found.into_iter().flatten());
        }
    }

    /// The contact of a particle with a dynamic body, if they are near.
    fn touch(
        &self,
        input: &RigidContactInput,
        (i, law): (usize, SurfaceLaw),
        (k, rigid): (usize, &RigidNow),
        v: Vec3,
    ) -> Option<Touch> {
        let x = input.positions[i];
        let (normal, law, target) = self.target(input, (i, law), rigid)?;
        if (input.carrier)(i) == Some(k) {
            return None;
        }
        // a bounce is decided once; later passes only see to it
        let v_n = (v - rigid.velocity_at(x)).dot(normal);
        let least = if v_n < target.least { target.after } else { target.least };
        Some(Touch {
            particle: i,
            rigid: k,
            normal,
            target: least,
            friction: law.friction,
            impulse: Vec3::ZERO,
        })
    }

    /// Computes the impulse of every contact; false if none is needed.
    fn share_impulses(
        &mut self,
        input: &RigidContactInput,
        rigids: &[RigidNow],
        velocities: &[Vec3],
    ) -> bool {
        let missing = |touch: &Touch| {
            let x = input.positions[touch.particle];
            let relative = velocities[touch.particle] - rigids[touch.rigid].velocity_at(x);
            (touch.target - relative.dot(touch.normal), relative)
        };
        let mut on_rigid = vec![0u32; rigids.len()];
        let active = self.touches.iter().filter(|touch| missing(touch).0 > 0.0);
        active.for_each(|touch| on_rigid[touch.rigid] += 1);
        let before = &self.touches;
        let on_particle = |at: usize| {
            // the contacts of a particle follow one another
            let i = before[at].particle;
            let first = before[..at].iter().rev().take_while(|touch| touch.particle == i).count();
            (first + before[at..].iter().take_while(|touch| touch.particle == i).count()) as Real
        };
        let impulse = |at: usize| {
            let touch = &before[at];
            let (lacks, relative) = missing(touch);
            if lacks <= 0.0 {
                return Vec3::ZERO;
            }
            let rigid = &rigids[touch.rigid];
            let arm = input.positions[touch.particle] - rigid.center;
            let share = on_rigid[touch.rigid] as Real;
            let light = (input.inverse_mass)(touch.particle) * on_particle(at);
            let ease = |n: Vec3| light + share * inverse_mass_at(rigid, arm, n);
            let n = touch.normal;
            let push = lacks / ease(n);
            let slide = relative - n * relative.dot(n);
            let speed = slide.length();
            if speed <= 0.0 {
                return n * push;
            }
            let t = slide / speed;
            n * push - t * (touch.friction * push).min(speed / ease(t))
        };
        let impulses: Vec<Vec3> = (0..before.len()).into_par_iter().with_min_len(256).map(impulse).collect();
        self.touches.iter_mut().zip(impulses).for_each(|(touch, impulse)| touch.impulse = impulse);
        on_rigid.iter().any(|&n| n > 0)
    }

    fn apply(&self, input: &RigidContactInput, rigids: &mut RigidWorld, velocities: &mut [Vec3]) {
        let mut sums = vec![(Vec3::ZERO, Vec3::ZERO); rigids.now().len()];
        for touch in &self.touches {
            velocities[touch.particle] += touch.impulse * (input.inverse_mass)(touch.particle);
            let arm = input.positions[touch.particle] - rigids.now()[touch.rigid].center;
            sums[touch.rigid].0 -= touch.impulse;
            sums[touch.rigid].1 -= arm.cross(touch.impulse);
        }
        for (k, (impulse, angular)) in sums.into_iter().enumerate() {
            rigids.apply_impulse(k, impulse, angular);
        }
    }

    /// Contacts with bodies that are told their motion: these have the last word.
    fn meet_told(&self, input: &RigidContactInput, rigids: &[RigidNow], velocities: &mut [Vec3]) {
        if rigids.iter().all(RigidNow::is_dynamic) {
            return;
        }
        for (range, law) in input.bodies {
            let chunks = velocities[range.clone()].par_chunks_mut(NEIGHBORS).with_min_len(TASK / NEIGHBORS);
            chunks.zip(input.positions[range.clone()].par_chunks(NEIGHBORS)).enumerate().for_each(
                |(chunk, (velocities, x))| {
                    let bounds = bounds_of(x);
                    let told = rigids.iter().enumerate().filter(|(_, rigid)| !rigid.is_dynamic());
                    for (k, rigid) in told.filter(|(_, rigid)| !self.is_far(rigid, bounds)) {
                        for (i, v) in (range.start + chunk * NEIGHBORS..).zip(&mut *velocities) {
                            if (input.carrier)(i) != Some(k) {
                                *v = self.meet(input, rigid, (i, *law), *v);
                            }
                        }
                    }
                },
            );
        }
    }

    /// Is no point of a box near enough to a body for a contact?
    fn is_far(&self, rigid: &RigidNow, bounds: (Vec3, Vec3)) -> bool {
        rigid.is_farther_than(1.5 * self.spacing, bounds)
    }

    /// Velocity of a particle after its contact with a body that nothing moves.
    fn meet(
        &self,
        input: &RigidContactInput,
        rigid: &RigidNow,
        (i, law): (usize, SurfaceLaw),
        v: Vec3,
    ) -> Vec3 {
        let Some((n, law, target)) = self.target(input, (i, law), rigid) else { return v };
        let relative = v - rigid.velocity_at(input.positions[i]);
        let v_n = relative.dot(n);
        if v_n >= target.least {
            return v;
        }
        let missing = target.after - v_n;
        v + n * missing + friction(relative - n * v_n, missing, law.friction)
    }

    /// Normal, law and normal velocities of the contact of a particle with a body, if they are near.
    fn target(
        &self,
        input: &RigidContactInput,
        (i, law): (usize, SurfaceLaw),
        rigid: &RigidNow,
    ) -> Option<(Vec3, SurfaceLaw, NormalVelocity)> {
        let x = input.positions[i];
        let Surface { distance, normal } = rigid.surface(x);
        let gap = distance - 0.5 * self.spacing;
        if gap > self.spacing {
            return None;
        }
        let law = law.mean(SurfaceLaw { friction: rigid.friction, restitution: rigid.restitution });
        let arrives = || (input.arriving[i] - rigid.velocity_at(x)).dot(normal);
        let target = needed_velocity(gap, arrives, law.restitution, self.spacing, input.dt);
        Some((normal, law, target))
    }
}

/// A box around points.
fn bounds_of(x: &[Vec3]) -> (Vec3, Vec3) {
    x.iter().fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(lo, hi), x| (lo.min(*x), hi.max(*x)))
}

fn tasks(range: &Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let end = range.end;
    range.clone().step_by(TASK).map(move |start| start..(start + TASK).min(end))
}

/// Velocity change along n of the point at `arm` from the centre, for a unit impulse along n there [1/kg].
fn inverse_mass_at(rigid: &RigidNow, arm: Vec3, n: Vec3) -> Real {
    let lever = arm.cross(n);
    rigid.inverse_mass + lever.dot(rigid.inverse_inertia * lever)
}

#[cfg(test)]
#[path = "rigid_contact_tests.rs"]
mod tests;
