//! Pieces of a body that hang together, and the momenta that elastic forces may not give them.
//!
//! At the end x⁺ = x + dt v⁺ of an implicit step forces have no torque, Σ x⁺ × f = 0. What counts is the torque at its
//! start: the momentum Σ x⁺ × m v⁺ = Σ x × m v⁺ changes by Σ x × f dt = -dt² Σ v⁺ × f, and a free rotation by phi a step
//! loses phi² of its spin. It is given back as a rotation of each piece that nothing holds.
#![allow(non_snake_case)] // I, L as in the theory

use crate::math::{Mat3, Real, Vec3, outer, pseudo_inverse, sum};
use crate::neighbors::RestNeighbors;

/// Moments of inertia below this part of the largest are those of a line about itself.
const THIN: Real = 1e-9;

/// Particles of each piece, in order.
#[derive(Clone, Debug)]
pub(super) struct Pieces(Vec<Vec<u32>>);

impl Pieces {
    pub fn of(neighbors: &RestNeighbors, particles: usize) -> Self {
        let mut seen = vec![false; particles];
        let mut pieces = Vec::new();
        for first in 0..particles {
            if seen[first] {
                continue;
            }
            seen[first] = true;
            let (mut piece, mut next) = (vec![first as u32], 0);
            while let Some(&i) = piece.get(next) {
                next += 1;
                neighbors.for_each_of(i as usize, |j, _, _| {
                    if !std::mem::replace(&mut seen[j], true) {
                        piece.push(j as u32);
                    }
                });
            }
            piece.sort_unstable();
            pieces.push(piece);
        }
        Pieces(pieces)
    }

    /// Takes the momenta of `gained`, velocities that elastic forces gave, out of the changes of all pieces that are free.
    pub fn keep_momenta(
        &self,
        masses: &[f32],
        positions: &[Vec3],
        is_held: impl Fn(usize) -> bool,
        gained: impl Fn(usize) -> Vec3 + Sync,
        changes: &mut [glam::Vec3],
    ) {
        for piece in self.0.iter().filter(|piece| !piece.iter().any(|&i| is_held(i as usize))) {
            let at = |k: usize| piece[k] as usize;
            let mass = |k: usize| masses[at(k)] as Real;
            let total = sum(piece.len(), 0.0, mass);
            let mean = |of: &(dyn Fn(usize) -> Vec3 + Sync)| {
                sum(piece.len(), Vec3::ZERO, |k| of(at(k)) * mass(k)) / total
            };
            let (center, drift) = (mean(&|i| positions[i]), mean(&gained));
            let arm = |i: usize| positions[i] - center;
            let L = sum(piece.len(), Vec3::ZERO, |k| arm(at(k)).cross(gained(at(k)) - drift) * mass(k));
            let I = sum(piece.len(), Mat3::ZERO, |k| {
                let r = arm(at(k));
                (Mat3::from_diagonal(Vec3::splat(r.length_squared())) - outer(r, r)) * mass(k)
            });
            let spin = pseudo_inverse(I, THIN).0 * L;
            for &i in piece {
                let i = i as usize;
                changes[i] -= (drift + spin.cross(arm(i))).as_vec3();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{Kernel, KernelKind};

    const S: Real = 0.1;

    /// A block, a second one far from it, and a rod.
    fn three() -> (Vec<Vec3>, Pieces) {
        let block = |at: Real| {
            (0..27).map(move |k| {
                Vec3::new((k % 3) as Real * S + at, (k / 3 % 3) as Real * S, (k / 9) as Real * S)
            })
        };
        let rod = (0..9).map(|k| Vec3::new(0.0, 5.0 + k as Real * S, 0.0));
        let positions: Vec<Vec3> = block(0.0).chain(block(3.0)).chain(rod).collect();
        let volumes = vec![S.powi(3); positions.len()];
        let neighbors =
            RestNeighbors::build(&positions, &volumes, Kernel::new(KernelKind::WendlandC2, 2.0 * S));
        let pieces = Pieces::of(&neighbors, positions.len());
        (positions, pieces)
    }

    #[test]
    fn free_pieces_gain_no_momentum_and_no_angular_momentum() {
        let (positions, pieces) = three();
        assert_eq!(pieces.0.iter().map(Vec::len).collect::<Vec<_>>(), [27, 27, 9]);
        let masses: Vec<f32> = (0..positions.len()).map(|i| 1.0 + (i % 5) as f32).collect();
        let gained: Vec<glam::Vec3> = (0..positions.len())
            .map(|i| glam::Vec3::new((i as f32).sin(), (2.0 * i as f32).cos(), 1.0 + (3.0 * i as f32).sin()))
            .collect();
        let mut changes = gained.clone();
        let is_held = |i: usize| i == 30;
        pieces.keep_momenta(&masses, &positions, is_held, |i| gained[i].as_dvec3(), &mut changes);
        for (k, piece) in pieces.0.iter().enumerate() {
            let sum = |term: fn(Vec3, Vec3) -> Vec3| -> Vec3 {
                let of = |&i: &u32| {
                    let i = i as usize;
                    term(positions[i], changes[i].as_dvec3()) * masses[i] as Real
                };
                piece.iter().map(of).sum()
            };
            let (momentum, angular) = (sum(|_, v| v).length(), sum(|x, v| x.cross(v)).length());
            if k == 1 {
                assert!(piece.iter().all(|&i| changes[i as usize] == gained[i as usize]), "held");
            } else {
                assert!(momentum < 1e-4 && angular < 1e-4, "piece {k}: {momentum} {angular}");
            }
        }
    }
}
