//! Neighbours of moving points, kept while nothing has moved far.

use crate::math::{Real, Vec3};
use crate::neighbors::Grid;
use rayon::prelude::*;

/// Points of a chunk, whose lists lie together.
const CHUNK: usize = 256;

/// For each point, itself and those that may be within reach until some point has moved half of `skin`.
pub(super) struct Candidates {
    reach: Real,
    skin: Real,
    grid: Grid,
    /// Where the points were when they were looked for.
    found_at: Vec<Vec3>,
    chunks: Vec<Lists>,
}

#[derive(Default)]
struct Lists {
    /// One end for each point, into `members`.
    ends: Vec<u32>,
    members: Vec<u32>,
}

impl Candidates {
    pub fn new(reach: Real, skin: Real) -> Candidates {
        Candidates { reach, skin, grid: Grid::default(), found_at: Vec::new(), chunks: Vec::new() }
    }

    /// Looks for neighbours again if points have moved.
    pub fn update(&mut self, points: &[Vec3]) {
        let far = 0.25 * self.skin * self.skin;
        let stays = |(x, y): (&Vec3, &Vec3)| x.distance_squared(*y) < far;
        if self.found_at.len() == points.len() && points.par_iter().zip(&self.found_at).all(stays) {
            return;
        }
        let radius = self.reach + self.skin;
        self.grid.build(points, radius);
        self.found_at.clear();
        self.found_at.extend_from_slice(points);
        let find = |points: &[Vec3]| {
            let mut lists = Lists::default();
            for &x in points {
                self.grid.for_each_within(x, radius, |j, _| lists.members.push(j));
                lists.ends.push(lists.members.len() as u32);
            }
            lists
        };
        self.chunks = points.par_chunks(CHUNK).map(find).collect();
    }

    /// Itself and its possible neighbours.
    pub fn of(&self, i: usize) -> &[u32] {
        let Lists { ends, members } = &self.chunks[i / CHUNK];
        let k = i % CHUNK;
        let start = if k == 0 { 0 } else { ends[k - 1] };
        &members[start as usize..ends[k] as usize]
    }
}
