//! Dart throwing: random points of which no two are nearer than a distance.

use super::random::Random;
use super::{DistanceGrid, Field, Shape};
use crate::math::{Real, Vec3};

/// Distance between points at first [spacings]; it shrinks where they do not all find room.
const APART: Real = 0.86;
const SHRINK: Real = 0.97;
/// Smallest distance [spacings]: below it, the shape has no room for its particles.
const LEAST_APART: Real = 0.4;
/// Depth that no point goes beneath [spacings]: about half the distance between points.
const DEPTH: Real = 0.4;
/// Darts for each wanted point before the distance shrinks.
const DARTS: usize = 30;

pub(super) fn sample(shape: &Shape, spacing: Real, seed: u64) -> Vec<Vec3> {
    throw(shape, &shape.grid(0.5 * spacing), spacing, seed, APART)
}

/// As many points as spacing³ fits into the volume, at first so many spacings apart. `grid` holds the shape in cells of
/// half a spacing.
pub(super) fn throw(shape: &Shape, grid: &DistanceGrid, spacing: Real, seed: u64, apart: Real) -> Vec<Vec3> {
    let volume = shape.exact_volume().unwrap_or_else(|| grid.volume());
    let wanted = (volume / spacing.powi(3)).round().max(1.0) as usize;
    // cells of which some point may be deep enough, and whether all are
    let cell = 0.5 * spacing;
    let reach = shape.steepness() * 0.5 * 3f64.sqrt() * cell;
    let mut cells = Vec::new();
    grid.for_each_cell(|center, distance| {
        let over = distance + DEPTH * spacing;
        if over < reach {
            cells.push((center, over < -reach));
        }
    });
    let mut random = Random::new(seed);
    let mut thrown = Thrown::new(shape.bounds(), spacing);
    let (mut apart, mut darts) = (apart * spacing, 0);
    while thrown.points.len() < wanted && !cells.is_empty() {
        let (center, is_deep) = cells[(random.unit() * cells.len() as Real) as usize];
        let p = center + random.in_cube() * cell;
        if thrown.has_room(p, apart) && (is_deep || shape.distance(p) <= -DEPTH * spacing) {
            thrown.add(p);
        }
        darts += 1;
        if darts == DARTS * wanted {
            darts = 0;
            apart *= SHRINK;
            if apart < LEAST_APART * spacing {
                break;
            }
        }
    }
    thrown.points
}

/// Points in cells of one spacing, as linked lists.
struct Thrown {
    origin: Vec3,
    cell: Real,
    counts: [usize; 3],
    first: Vec<u32>,
    next: Vec<u32>,
    points: Vec<Vec3>,
}

const END: u32 = u32::MAX;

impl Thrown {
    fn new((lo, hi): (Vec3, Vec3), cell: Real) -> Thrown {
        // one cell of room on each side, so that neighbours need no check
        let counts = ((hi - lo) / cell).to_array().map(|n| n.ceil() as usize + 4);
        let first = vec![END; counts.iter().product()];
        Thrown { origin: lo - 2.0 * cell, cell, counts, first, next: Vec::new(), points: Vec::new() }
    }

    fn cell_of(&self, p: Vec3) -> [usize; 3] {
        let q = (p - self.origin) / self.cell;
        std::array::from_fn(|axis| (q[axis] as usize).clamp(1, self.counts[axis] - 2))
    }

    fn index(&self, [x, y, z]: [usize; 3]) -> usize {
        x + self.counts[0] * (y + self.counts[1] * z)
    }

    /// Is no point nearer than `apart`, which is at most a cell?
    fn has_room(&self, p: Vec3, apart: Real) -> bool {
        let [cx, cy, cz] = self.cell_of(p);
        for z in cz - 1..=cz + 1 {
            for y in cy - 1..=cy + 1 {
                for x in cx - 1..=cx + 1 {
                    let mut at = self.first[self.index([x, y, z])];
                    while at != END {
                        if self.points[at as usize].distance_squared(p) < apart * apart {
                            return false;
                        }
                        at = self.next[at as usize];
                    }
                }
            }
        }
        true
    }

    fn add(&mut self, p: Vec3) {
        let cell = self.index(self.cell_of(p));
        self.next.push(self.first[cell]);
        self.first[cell] = self.points.len() as u32;
        self.points.push(p);
    }
}
