//! Slices that are alike.
//!
//! What is constant of eight cells depends on who of their neighbours is missing, and in most bodies there are few ways. So
//! slices that are alike share it: the loops find it in the cache, where slices at the ends of lines would else fetch it from
//! everywhere in memory.
#![allow(non_snake_case)] // C, N as in the theory

use super::{NOBODY, Slice, symmetric};
use crate::elasticity::rest::Rest;
use crate::math::{LANES, Lane, Mat3, Sym3x8, Vec3};
use rayon::prelude::*;
use std::collections::HashMap;
use std::ops::Range;

/// Constants of a particle, and those of one sort.
const CONSTANTS: usize = 17;
const SORTS: [Range<usize>; 5] = [0..6, 6..9, 9..10, 10..11, 11..CONSTANTS];
/// Constants that differ by less than this part of the largest of their sort are taken for the same: they differ by
/// rounding.
const SAME: f32 = 1e-6;

/// What is constant of eight cells; of nobody, zero.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kind {
    /// C'.
    pub correction: Sym3x8,
    /// Σ_j b'_ij.
    pub missing: [Lane; 3],
    /// Σ_j beta_ij.
    pub beta_sum: Lane,
    /// Σ_j V_i V_j W_ij, of bodies that smooth their velocities.
    pub xsph_sum: Lane,
    /// Projector N' onto the missing dimensions of a neighbourhood.
    pub null: Sym3x8,
}

impl Kind {
    fn new(constants: [Lane; CONSTANTS]) -> Kind {
        let [xx, yy, zz, xy, xz, yz, mx, my, mz, beta_sum, xsph_sum, null @ ..] = constants;
        let correction = Sym3x8 { xx, yy, zz, xy, xz, yz };
        let [xx, yy, zz, xy, xz, yz] = null;
        let null = Sym3x8 { xx, yy, zz, xy, xz, yz };
        Kind { correction, missing: [mx, my, mz], beta_sum, xsph_sum, null }
    }
}

/// The kinds of these slices, which are told theirs and whether they have all their neighbours; and c, if there is a
/// particle with all its neighbours: its C' = c I.
pub(super) fn kinds_of(
    rest: &Rest,
    axes: Mat3,
    particle_of: &[u32],
    slices: &mut [Slice],
) -> (Vec<Kind>, Option<f32>) {
    let constants = |slice: &Slice| {
        let particles = &particle_of[slice.cell as usize..][..LANES];
        let mut lanes = [[0.0; LANES]; CONSTANTS];
        let mut inside = [false; LANES];
        for (k, &i) in particles.iter().enumerate().filter(|(_, i)| **i != NOBODY) {
            let (constants, is_inside) = constants_of(rest, axes, i as usize);
            lanes.iter_mut().zip(constants).for_each(|(lane, constant)| lane[k] = constant);
            inside[k] = is_inside;
        }
        (lanes, inside)
    };
    let of_slices: Vec<_> = slices.par_iter().with_min_len(256).map(constants).collect();
    let mut units = [0.0; CONSTANTS];
    for sort in SORTS {
        let numbers = of_slices.iter().flat_map(|(lanes, _)| &lanes[sort.clone()]).flatten();
        let largest = numbers.fold(f32::MIN_POSITIVE / SAME, |most, number| most.max(number.abs()));
        units[sort].fill(SAME * largest);
    }
    let mut numbers = HashMap::new();
    let (mut kinds, mut c) = (Vec::new(), None);
    for (slice, (lanes, inside)) in slices.iter_mut().zip(&of_slices) {
        let rounded: [[i32; LANES]; CONSTANTS] =
            std::array::from_fn(|k| lanes[k].map(|number| (number / units[k]).round() as i32));
        slice.kind = *numbers.entry(rounded).or_insert(kinds.len() as u32);
        if slice.kind as usize == kinds.len() {
            kinds.push(Kind::new(lanes.map(Lane::from)));
        }
        slice.is_inside = inside.iter().all(|inside| *inside);
        if let (None, Some(k)) = (c, inside.iter().position(|inside| *inside)) {
            c = Some((lanes[0][k] + lanes[1][k] + lanes[2][k]) / 3.0);
        }
    }
    (kinds, c)
}

/// Constants of particle i in the order of `Kind`; has it all its neighbours?
fn constants_of(rest: &Rest, axes: Mat3, i: usize) -> ([f32; CONSTANTS], bool) {
    let (mut missing, mut beta_sum, mut count) = (Vec3::ZERO, 0.0, 0);
    rest.neighbors.for_each_of(i, |_, b, beta| {
        missing += b;
        beta_sum += beta;
        count += 1;
    });
    let is_inside = count == rest.lattice_neighbors;
    if is_inside {
        missing = Vec3::ZERO;
    }
    let mut xsph_sum = 0.0;
    rest.for_each_weight(i, |_, weight| xsph_sum += weight);
    let to_axes = axes.transpose();
    let mut constants = [0.0; CONSTANTS];
    constants[..6].copy_from_slice(&symmetric(to_axes * rest.correction_of(i) * axes));
    constants[6..9].copy_from_slice(&(to_axes * missing).as_vec3().to_array());
    (constants[9], constants[10]) = (beta_sum as f32, xsph_sum as f32);
    if !rest.null.is_empty() {
        constants[11..].copy_from_slice(&symmetric(to_axes * rest.null_of(i) * axes));
    }
    (constants, is_inside)
}
