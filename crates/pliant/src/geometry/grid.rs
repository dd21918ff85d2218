//! A shape on a grid: signed distances at cell centres, stored only in blocks that the surface crosses.

use crate::math::{Real, Vec3};
use rayon::prelude::*;

/// Cells along the side of a block.
const SIDE: usize = 8;
const CELLS: usize = SIDE * SIDE * SIDE;

/// Signed distances at cell centres. Near the surface they are those of the shape; farther than a cell from it their
/// sign is, and the shape's are larger.
pub struct DistanceGrid {
    origin: Vec3,
    cell: Real,
    /// Blocks along each axis.
    counts: [usize; 3],
    blocks: Vec<Block>,
}

enum Block {
    Inside,
    Outside,
    Mixed(Box<[f32; CELLS]>),
}

impl DistanceGrid {
    /// Cells that cover `bounds`, centred over it. `distance` changes by at most `steepness` per metre.
    pub fn new(
        bounds: (Vec3, Vec3),
        cell: Real,
        steepness: Real,
        distance: &(dyn Fn(Vec3) -> Real + Sync),
    ) -> DistanceGrid {
        let extent = bounds.1 - bounds.0;
        // half a cell of room, so that whole spacings fit whole cells in spite of rounding
        let cells = extent.to_array().map(|length| ((length / cell).round() as usize).max(1) + 2);
        let cover = Vec3::new(cells[0] as Real, cells[1] as Real, cells[2] as Real) * cell;
        let origin = 0.5 * (bounds.0 + bounds.1 - cover);
        let counts = cells.map(|cells| cells.div_ceil(SIDE));
        let filling = Filling { origin, cell, steepness, distance };
        let blocks = (0..counts.iter().product())
            .into_par_iter()
            .map(|k| filling.block([k % counts[0], k / counts[0] % counts[1], k / (counts[0] * counts[1])]))
            .collect();
        DistanceGrid { origin, cell, counts, blocks }
    }

    /// Calls `found(centre, distance)` for each cell that lies inside or is crossed by the surface, in a fixed order.
    pub fn for_each_cell(&self, mut found: impl FnMut(Vec3, Real)) {
        for (k, block) in self.blocks.iter().enumerate() {
            let at = self.block_position(k);
            for c in 0..CELLS {
                let distance = match block {
                    Block::Outside => break,
                    Block::Inside => -Real::INFINITY,
                    Block::Mixed(values) => values[c] as Real,
                };
                if distance < self.cell {
                    found(self.center(at, c), distance);
                }
            }
        }
    }

    /// Volume inside: a cell crossed by the surface counts in part.
    pub fn volume(&self) -> Real {
        let fraction = |d: f32| self.fraction(d as Real);
        let cells: Real = self
            .blocks
            .iter()
            .map(|block| match block {
                Block::Inside => CELLS as Real,
                Block::Outside => 0.0,
                Block::Mixed(values) => values.iter().map(|d| fraction(*d)).sum(),
            })
            .sum();
        cells * self.cell.powi(3)
    }

    /// Part of a cell that lies inside, from the distance of its centre; exact for a surface along the axes.
    fn fraction(&self, distance: Real) -> Real {
        (0.5 - distance / self.cell).clamp(0.0, 1.0)
    }

    /// Calls `found(centre - x, part inside)` for each cell of a cube about x that is not all outside.
    pub fn for_each_near(&self, x: Vec3, radius: Real, mut found: impl FnMut(Vec3, Real)) {
        let low = ((x - radius - self.origin) / self.cell - 0.5).ceil().max(Vec3::ZERO);
        let high = ((x + radius - self.origin) / self.cell - 0.5).floor();
        let end = |axis: usize| (self.counts[axis] * SIDE) as Real - 1.0;
        let range = |axis: usize| low[axis] as usize..(high[axis].min(end(axis)) + 1.0).max(0.0) as usize;
        for iz in range(2) {
            for iy in range(1) {
                for ix in range(0) {
                    let fraction = self.cell_fraction([ix, iy, iz]);
                    if fraction > 0.0 {
                        let center = self.origin
                            + self.cell * Vec3::new(ix as Real + 0.5, iy as Real + 0.5, iz as Real + 0.5);
                        found(center - x, fraction);
                    }
                }
            }
        }
    }

    fn cell_fraction(&self, [ix, iy, iz]: [usize; 3]) -> Real {
        let block = ix / SIDE + self.counts[0] * (iy / SIDE + self.counts[1] * (iz / SIDE));
        match &self.blocks[block] {
            Block::Inside => 1.0,
            Block::Outside => 0.0,
            Block::Mixed(values) => {
                self.fraction(values[ix % SIDE + SIDE * (iy % SIDE + SIDE * (iz % SIDE))] as Real)
            }
        }
    }

    fn block_position(&self, k: usize) -> [usize; 3] {
        [k % self.counts[0], k / self.counts[0] % self.counts[1], k / (self.counts[0] * self.counts[1])]
    }

    fn center(&self, block: [usize; 3], c: usize) -> Vec3 {
        let within = [c % SIDE, c / SIDE % SIDE, c / (SIDE * SIDE)];
        let index = |axis: usize| (block[axis] * SIDE + within[axis]) as Real + 0.5;
        self.origin + self.cell * Vec3::new(index(0), index(1), index(2))
    }
}

/// What is the same for all blocks while they are filled.
struct Filling<'a> {
    origin: Vec3,
    cell: Real,
    steepness: Real,
    distance: &'a (dyn Fn(Vec3) -> Real + Sync),
}

impl Filling<'_> {
    fn block(&self, at: [usize; 3]) -> Block {
        let first = at.map(|k| k * SIDE);
        match self.sign(first, SIDE) {
            Some(d) if d < 0.0 => Block::Inside,
            Some(_) => Block::Outside,
            None => {
                let mut values = Box::new([0.0; CELLS]);
                self.halves(&mut values, first, [0; 3], SIDE);
                Block::Mixed(values)
            }
        }
    }

    /// Distance that every centre in a cube of cells has at least, if that is more than a cell.
    fn sign(&self, first: [usize; 3], side: usize) -> Option<Real> {
        let middle = |axis: usize| first[axis] as Real + 0.5 * side as Real;
        let d = (self.distance)(self.origin + self.cell * Vec3::new(middle(0), middle(1), middle(2)));
        let to_corner = 0.5 * (side - 1) as Real * 3f64.sqrt();
        let least = d.abs() - self.steepness * self.cell * to_corner;
        (least > self.steepness * self.cell).then_some(least * d.signum())
    }

    /// Fills a cube of cells by its eight halves, down to single cells.
    fn halves(&self, values: &mut [f32; CELLS], block: [usize; 3], within: [usize; 3], side: usize) {
        let half = side / 2;
        for k in 0..8 {
            let low: [usize; 3] = std::array::from_fn(|axis| within[axis] + half * (k >> axis & 1));
            let first: [usize; 3] = std::array::from_fn(|axis| block[axis] + low[axis]);
            if half == 1 {
                let middle = Vec3::new(first[0] as Real, first[1] as Real, first[2] as Real) + 0.5;
                values[low[0] + SIDE * (low[1] + SIDE * low[2])] =
                    (self.distance)(self.origin + self.cell * middle) as f32;
                continue;
            }
            match self.sign(first, half) {
                None => self.halves(values, block, low, half),
                Some(d) => {
                    for c in 0..half * half * half {
                        let at = [c % half, c / half % half, c / (half * half)];
                        let [x, y, z]: [usize; 3] = std::array::from_fn(|axis| low[axis] + at[axis]);
                        values[x + SIDE * (y + SIDE * z)] = d as f32;
                    }
                }
            }
        }
    }
}
