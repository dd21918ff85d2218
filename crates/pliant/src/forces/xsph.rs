//! XSPH: a liquid loses a share of what tells its velocity from that of its neighbours [Monaghan 1989].
//!
//!   m_i dv_i = Σ_j share_ij min(m_i, m_j) w_ij (v_j - v_i),   w_ij = V0 W_ij, scaled so that Σ_j w_ij = 1 on the lattice.
//! The lighter mass of a pair keeps momentum and never overshoots. Shares of two liquids meet at their geometric mean.

use super::near::Near;
use crate::kernel::{Kernel, KernelLanes};
use crate::math::{CHUNK, Real, Vec3, Vec3x8, gather8};
use crate::neighbors::{Slice, offset};
use rayon::prelude::*;

/// Smooths velocities; keeps its columns between steps.
#[derive(Debug)]
pub struct Xsph {
    kernel: KernelLanes,
    /// Position, velocity, root of the share, mass.
    records: Vec<[f32; 8]>,
    changes: Vec<glam::Vec3>,
}

impl Xsph {
    pub fn new(kernel: Kernel, spacing: Real) -> Self {
        let others = kernel.lattice_sum(spacing) - kernel.w(0.0);
        let volume = if others > 0.0 { 1.0 / others } else { 0.0 };
        Xsph { kernel: kernel.lanes(volume), records: Vec::new(), changes: Vec::new() }
    }

    /// Changes velocities (by index in the store). `share(m)` of a member is zero for solids.
    pub fn smooth(&mut self, near: &Near, share: impl Fn(usize) -> Real + Sync, velocities: &mut [Vec3]) {
        let (n, members) = (near.len(), &near.neighbors.members);
        self.records.resize(n, [0.0; 8]);
        self.changes.resize(n, glam::Vec3::ZERO);
        self.records.par_iter_mut().with_min_len(CHUNK).enumerate().for_each(|(m, record)| {
            let [x, y, z] = near.neighbors.bits(m);
            let [u, v, w] = velocities[members[m] as usize].as_vec3().to_array();
            *record = [x, y, z, u, v, w, share(m).sqrt() as f32, near.masses[m]];
        });
        let (records, kernel) = (&self.records, self.kernel);
        near.sum_pairs(
            &mut self.changes,
            |slice| smooth_of_slice(&kernel, records, slice),
            |m, momentum| momentum / near.masses[m],
        );
        for (&i, change) in members.iter().zip(&self.changes) {
            velocities[i as usize] += change.as_dvec3();
        }
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.records.capacity() * (32 + 12)
    }
}

#[inline(always)]
fn smooth_of_slice(kernel: &KernelLanes, records: &[[f32; 8]], slice: Slice) -> Vec3x8 {
    let [xi, yi, zi, ui, vi, wi, share_i, mass_i] = gather8(records, &slice.own(records.len()));
    let v_i = Vec3x8::new(ui, vi, wi);
    let mut momentum = Vec3x8::ZERO;
    for row in slice.rows {
        let [x, y, z, u, v, w, share, mass] = gather8(records, row);
        let e = offset([xi, yi, zi], [x, y, z]);
        let weight = kernel.w(e.dot(e).sqrt()) * (share_i * share) * mass_i.min(mass);
        momentum = momentum + (Vec3x8::new(u, v, w) - v_i) * weight;
    }
    momentum
}
