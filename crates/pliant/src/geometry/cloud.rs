//! Particles that are given rather than sampled.

use crate::math::Vec3;
use std::fmt;
use std::sync::Arc;
use xxhash_rust::xxh3::Xxh3;

/// Points in body coordinates. Clones share them; two are equal if their points are.
#[derive(Clone)]
pub struct Cloud {
    points: Arc<[Vec3]>,
    hash: u64,
    bounds: (Vec3, Vec3),
}

impl Cloud {
    pub fn new(points: Vec<Vec3>) -> Cloud {
        let mut hash = Xxh3::new();
        points.iter().flat_map(|p| p.to_array()).for_each(|x| hash.update(&x.to_le_bytes()));
        let start = (Vec3::INFINITY, Vec3::NEG_INFINITY);
        let bounds = points.iter().fold(start, |(lo, hi), p| (lo.min(*p), hi.max(*p)));
        Cloud { points: points.into(), hash: hash.digest(), bounds }
    }

    pub fn points(&self) -> &[Vec3] {
        &self.points
    }

    /// Lower and upper corner of the box around the points.
    pub fn bounds(&self) -> (Vec3, Vec3) {
        self.bounds
    }
}

impl PartialEq for Cloud {
    fn eq(&self, other: &Self) -> bool {
        self.hash == other.hash && self.points.len() == other.points.len()
    }
}

impl fmt::Debug for Cloud {
    /// What decides the shape, not the data: it enters the hash of a scene.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Cloud({:016x}, {} points)", self.hash, self.points.len())
    }
}
