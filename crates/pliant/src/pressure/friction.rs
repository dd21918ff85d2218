//! Friction of solids against one another and against rigid bodies, and the last guard of rigid surfaces.
//!
//! Pressure gives the normal impulse of every pair, dt (kappa_i + kappa_j) |V0 ∇W_ij|, and of every touch. Sliding is stopped as far as Coulomb's law lets it: by at most mu times that. Impulses are equal and
//! opposite to the last bit; each contact takes its share, so that many together do not push the sliding back.

use super::PressureSystem;
use crate::math::{Real, Vec3};
use crate::neighbors::{CHUNK_PARTICLES, CurrentNeighbors};
use crate::rigid::{RigidNow, Walls};
use rayon::prelude::*;

/// Nearest a particle may come to a rigid surface, in spacings; pressure holds it at one half.
const NEAREST: Real = 0.2;
/// Part of a penetration that is undone in a step.
const RELEASE: Real = 0.2;
/// Fastest release of a penetration, in spacings per second.
const RELEASE_SPEED: Real = 20.0;

/// What friction reads.
pub struct FrictionInput<'a> {
    pub neighbors: &'a CurrentNeighbors,
    pub walls: &'a Walls,
    pub rigids: &'a [RigidNow],
    pub positions: &'a [Vec3],
    /// Coulomb coefficient of a particle by its index in the store; none for liquids.
    pub coefficient: &'a (dyn Fn(u32) -> Option<Real> + Sync),
    pub spacing: Real,
    pub dt: Real,
}

/// Columns in the order of the members.
#[derive(Debug, Default)]
pub struct Friction {
    /// Surface normal of a solid's particle towards what presses on it; not normalised.
    normals: Vec<Vec3>,
    /// Contacts of a solid's particle.
    counts: Vec<u32>,
    changes: Vec<Vec3>,
}

impl Friction {
    /// Changes velocities (by index in the store); gives the impulse and the angular impulse about its centre that each
    /// rigid body takes.
    pub fn act(
        &mut self,
        system: &PressureSystem,
        input: &FrictionInput,
        velocities: &mut [Vec3],
    ) -> Vec<[Vec3; 2]> {
        let n = input.neighbors.len();
        self.normals.resize(n, Vec3::ZERO);
        self.counts.resize(n, 0);
        self.changes.resize(n, Vec3::ZERO);
        self.find_normals(system, input);
        self.rub_pairs(system, input, velocities);
        let impulses = self.meet_rigids(system, input, velocities);
        for (m, &i) in input.neighbors.members.iter().enumerate() {
            velocities[i as usize] += self.changes[m];
        }
        impulses
    }

    /// Normals and numbers of the contacts of each solid's particle with other solids.
    fn find_normals(&mut self, system: &PressureSystem, input: &FrictionInput) {
        let neighbors = input.neighbors;
        let chunks =
            self.normals.par_chunks_mut(CHUNK_PARTICLES).zip(self.counts.par_chunks_mut(CHUNK_PARTICLES));
        chunks.enumerate().for_each(|(c, (normals, counts))| {
            normals.fill(Vec3::ZERO);
            counts.fill(0);
            for slice in neighbors.slices(c).filter(|slice| !slice.rows.is_empty()) {
                for lane in 0..slice.lanes(neighbors.len()) {
                    let m = slice.first + lane;
                    if (input.coefficient)(neighbors.members[m]).is_none() {
                        continue;
                    }
                    for j in slice.neighbors(lane) {
                        let presses = system.kappa(m) + system.kappa(j) > 0.0;
                        if presses && (input.coefficient)(neighbors.members[j]).is_some() {
                            normals[m - c * CHUNK_PARTICLES] += system.gradient(neighbors, m, j);
                            counts[m - c * CHUNK_PARTICLES] += 1;
                        }
                    }
                }
            }
        });
    }

    /// Friction among solids.
    fn rub_pairs(&mut self, system: &PressureSystem, input: &FrictionInput, velocities: &[Vec3]) {
        let (neighbors, normals, counts) = (input.neighbors, &self.normals, &self.counts);
        let members = &neighbors.members;
        self.changes.par_chunks_mut(CHUNK_PARTICLES).enumerate().for_each(|(c, changes)| {
            changes.fill(Vec3::ZERO);
            for slice in neighbors.slices(c).filter(|slice| !slice.rows.is_empty()) {
                for lane in 0..slice.lanes(neighbors.len()) {
                    let m = slice.first + lane;
                    let Some(own) = (input.coefficient)(members[m]).filter(|_| counts[m] > 0) else {
                        continue;
                    };
                    for j in slice.neighbors(lane) {
                        let Some(other) = (input.coefficient)(members[j]) else { continue };
                        let kappa = (system.kappa(m) + system.kappa(j)) as Real;
                        let normal = (normals[m] - normals[j]).normalize_or_zero();
                        let inverse = (system.inverse_mass(m) + system.inverse_mass(j)) as Real;
                        if kappa <= 0.0 || normal == Vec3::ZERO || inverse <= 0.0 {
                            continue;
                        }
                        let press = input.dt * kappa * system.gradient(neighbors, m, j).length();
                        let relative = velocities[members[m] as usize] - velocities[members[j] as usize];
                        let slide = relative - normal * relative.dot(normal);
                        let speed = slide.length();
                        if speed > 0.0 {
                            let stop = speed / (inverse * counts[m].max(counts[j]) as Real);
                            let impulse = stop.min(0.5 * (own + other) * press);
                            let inverse = system.inverse_mass(m) as Real;
                            changes[m - c * CHUNK_PARTICLES] -= slide * (impulse / speed * inverse);
                        }
                    }
                }
            }
        });
    }

    /// Friction against rigid bodies, and their guard: nothing comes nearer to a surface than a fifth of a spacing.
    fn meet_rigids(
        &mut self,
        system: &PressureSystem,
        input: &FrictionInput,
        velocities: &[Vec3],
    ) -> Vec<[Vec3; 2]> {
        let FrictionInput { neighbors, walls, rigids, positions, dt, .. } = *input;
        let mut touched = vec![0u32; rigids.len()];
        for touch in walls.touches.iter().flatten() {
            touched[touch.rigid as usize] += 1;
        }
        let chunk = |(c, changes): (usize, &mut [Vec3])| {
            let mut impulses: Vec<(u32, [Vec3; 2])> = Vec::new();
            for touch in &walls.touches[c] {
                let (m, rigid) = (touch.member as usize, &rigids[touch.rigid as usize]);
                let i = neighbors.members[m];
                let (inverse, x) = (system.inverse_mass(m) as Real, positions[i as usize]);
                if inverse <= 0.0 {
                    continue;
                }
                let change = &mut changes[m - c * CHUNK_PARTICLES];
                let relative = velocities[i as usize] + *change - rigid.velocity_at(x);
                let arm = x - rigid.center;
                // how much one unit of impulse changes the relative velocity, if all that touch push alike
                let yields = |d: Vec3| {
                    let turn = (rigid.inverse_inertia * arm.cross(d)).cross(arm).dot(d);
                    inverse + touched[touch.rigid as usize] as Real * (rigid.inverse_mass + turn)
                };
                let mut impulse = Vec3::ZERO;
                if let Some(own) = (input.coefficient)(i) {
                    let push = system.force_of(walls, touch, &walls.presses[c]);
                    let normal = touch.gradient.normalize_or_zero();
                    let slide = relative - normal * relative.dot(normal);
                    let speed = slide.length();
                    let press = dt * push.dot(normal).abs();
                    if speed > 0.0 {
                        let stop = speed / yields(slide / speed);
                        impulse -= slide / speed * stop.min(0.5 * (own + rigid.friction) * press);
                    }
                }
                let surface = rigid.surface(x);
                let gap = surface.distance - NEAREST * input.spacing;
                let needed = match gap < 0.0 {
                    true => (-gap * RELEASE / dt).min(RELEASE_SPEED * input.spacing),
                    false => -gap / dt,
                };
                let missing = needed - (relative + impulse * inverse).dot(surface.normal);
                if missing > 0.0 {
                    impulse += surface.normal * (missing / yields(surface.normal));
                }
                if impulse != Vec3::ZERO {
                    *change += impulse * inverse;
                    if rigid.is_dynamic() {
                        let push = [-impulse, -arm.cross(impulse)];
                        match impulses.iter_mut().find(|(rigid, _)| *rigid == touch.rigid) {
                            Some((_, sum)) => *sum = [sum[0] + push[0], sum[1] + push[1]],
                            None => impulses.push((touch.rigid, push)),
                        }
                    }
                }
            }
            impulses
        };
        let parts: Vec<_> = self.changes.par_chunks_mut(CHUNK_PARTICLES).enumerate().map(chunk).collect();
        let mut sums = vec![[Vec3::ZERO; 2]; rigids.len()];
        for (rigid, [push, turn]) in parts.into_iter().flatten() {
            let sum = &mut sums[rigid as usize];
            *sum = [sum[0] + push, sum[1] + turn];
        }
        sums
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.normals.capacity() * (2 * size_of::<Vec3>() + 4)
    }
}
