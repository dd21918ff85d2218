//! Drag of the air on liquids [Gissler et al. 2017, simplified].
//!
//! A particle is a ball of its own volume in a wind of relative velocity u,
//!   f = share · exposed · ½ rho_air C_d pi r² |u| u,   C_d = 24/Re (1 + 0.15 Re^0.687), at least 0.44 [Schiller & Naumann],
//! Re = 2 r |u|/nu_air. Neighbours on the side the wind comes from shield it, as in the paper: exposed = 1 - the largest
//! cosine between the wind's direction and that of a neighbour. Left out are the deformation of drops and its blend with
//! the drag of the neighbourhood. The air takes the momentum and is not moved.

use super::near::Near;
use crate::math::{LANES, Lane, Real, Vec3, Vec3x8, gather8};
use crate::neighbors::{CHUNK_PARTICLES, Slice, offset};
use rayon::prelude::*;

/// Kinematic viscosity of air [m2/s].
const NU_AIR: Real = 1.5e-5;

/// The air that liquids fly through.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Air {
    /// [kg/m3]
    pub density: Real,
    /// Wind [m/s].
    pub velocity: Vec3,
}

impl Default for Air {
    fn default() -> Self {
        Air { density: 1.2, velocity: Vec3::ZERO }
    }
}

impl Air {
    /// Drag of a ball over its speed: f = -rate m u, as a rate [1/s].
    fn rate(&self, radius: Real, mass: Real, speed: Real) -> Real {
        let reynolds = (2.0 * radius * speed / NU_AIR).max(1e-9);
        let coefficient = (24.0 / reynolds * (1.0 + 0.15 * reynolds.powf(0.687))).max(0.44);
        0.5 * self.density * coefficient * std::f64::consts::PI * radius * radius * speed / mass
    }
}

/// Slows liquids down to the wind; keeps its columns between steps.
#[derive(Debug)]
pub struct Drag {
    air: Air,
    /// Of a ball with the volume of a particle [m].
    radius: Real,
    /// Position and direction the wind comes from.
    records: Vec<[f32; 8]>,
    exposed: Vec<f32>,
}

impl Drag {
    pub fn new(air: Air, spacing: Real) -> Self {
        let radius = spacing * (0.75 / std::f64::consts::PI).cbrt();
        Drag { air, radius, records: Vec::new(), exposed: Vec::new() }
    }

    /// Changes velocities (by index in the store). `share(m)` of a member is zero for solids.
    pub fn slow(
        &mut self,
        near: &Near,
        dt: Real,
        share: impl Fn(usize) -> Real + Sync,
        velocities: &mut [Vec3],
    ) {
        let (n, members, air) = (near.len(), &near.neighbors.members, self.air);
        self.records.resize(n, [0.0; 8]);
        self.exposed.resize(n, 0.0);
        self.records.par_iter_mut().with_min_len(CHUNK_PARTICLES).enumerate().for_each(|(m, record)| {
            let [x, y, z] = near.neighbors.bits(m);
            let upwind = (velocities[members[m] as usize] - air.velocity).normalize_or_zero().as_vec3();
            *record = [x, y, z, upwind.x, upwind.y, upwind.z, 0.0, 0.0];
        });
        let records = &self.records;
        self.exposed.par_chunks_mut(CHUNK_PARTICLES).enumerate().for_each(|(c, exposed)| {
            for slice in near.neighbors.slices(c) {
                let shielded = shield_of_slice(records, slice);
                for lane in 0..LANES.min(n - slice.first) {
                    exposed[slice.first - c * CHUNK_PARTICLES + lane] = 1.0 - shielded.as_array()[lane];
                }
            }
        });
        for (m, &i) in members.iter().enumerate() {
            let share = share(m) * self.exposed[m] as Real;
            if share > 0.0 {
                let u = velocities[i as usize] - air.velocity;
                let rate = share * air.rate(self.radius, near.masses[m] as Real, u.length());
                // implicit, with the rate of the start: it never turns the motion round
                velocities[i as usize] = air.velocity + u / (1.0 + dt * rate);
            }
        }
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.records.capacity() * (32 + 4)
    }
}

/// Largest cosine between the way the wind comes from and that to a neighbour, at least 0.
#[inline(always)]
fn shield_of_slice(records: &[[f32; 8]], slice: Slice) -> Lane {
    let [xi, yi, zi, u, v, w, _, _] = gather8(records, &slice.own(records.len()));
    let upwind = Vec3x8::new(u, v, w);
    let mut shield = Lane::ZERO;
    for row in slice.rows {
        let [x, y, z, ..] = gather8(records, row);
        let e = offset([xi, yi, zi], [x, y, z]);
        let distance = e.dot(e).sqrt().max(Lane::splat(1e-6));
        shield = shield.max(-(e.dot(upwind)) / distance);
    }
    shield.min(Lane::ONE)
}
