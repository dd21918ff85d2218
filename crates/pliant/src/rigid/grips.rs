//! How rigid bodies drag and draw the liquid at their surface: sums over boundary points.

use super::Walls;
use crate::math::{Mat3, Real, Vec3, outer};
use crate::neighbors::CurrentNeighbors;
use rayon::prelude::*;

/// Sums over the boundary points b of a rigid body near a particle i, with e = x_ib/h, q = |e| and v_b = V_b/V0.
/// All pair forces are along e, so that the point they act on may be the particle: what turns the body is the arm.
#[derive(Clone, Copy, Debug)]
pub struct Grip {
    pub member: u32,
    pub rigid: u32,
    /// From the centre of the rigid body to the particle [m].
    pub arm: Vec3,
    /// Σ_b v_b shear(q) e ⊗ e.
    pub shear: Mat3,
    /// Σ_b v_b pull(q) e/q.
    pub pull: Vec3,
}

/// The grips of the members of each chunk, by member, then by rigid body.
#[derive(Debug, Default)]
pub struct Grips(pub Vec<Vec<Grip>>);

impl Grips {
    /// Finds the grips of what touches the walls, for pair weights (shear, pull) of q.
    pub fn find(
        &mut self,
        walls: &Walls,
        neighbors: &CurrentNeighbors,
        positions: &[Vec3],
        h: Real,
        weights: impl Fn(Real) -> (Real, Real) + Sync,
    ) {
        self.0.resize_with(walls.touches.len(), Vec::new);
        self.0.par_iter_mut().zip(&walls.touches).for_each(|(grips, touches)| {
            grips.clear();
            for of_member in touches.chunk_by(|a, b| a.member == b.member) {
                let first = grips.len();
                let member = of_member[0].member;
                let x = positions[neighbors.members[member as usize] as usize];
                grips.extend(of_member.iter().map(|touch| Grip {
                    member,
                    rigid: touch.rigid,
                    arm: x - walls.bodies[touch.rigid as usize].center,
                    shear: Mat3::ZERO,
                    pull: Vec3::ZERO,
                }));
                walls.for_each_point(x, |rigid, position, volume| {
                    let Some(grip) = grips[first..].iter_mut().find(|grip| grip.rigid == rigid) else {
                        return;
                    };
                    let e = (x - position) / h;
                    let q = e.length();
                    let (shear, pull) = weights(q);
                    grip.shear += outer(e, e) * (volume * shear);
                    if q > 0.0 {
                        grip.pull += e * (volume * pull / q);
                    }
                });
            }
        });
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.0.iter().map(|grips| grips.capacity() * size_of::<Grip>()).sum()
    }
}
