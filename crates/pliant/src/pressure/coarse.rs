//! A coarse grid for the pressure problem: conjugate gradients carry pressure two support radii an iteration, a grid all
//! the way.
//!
//! Blocks of 2x2x2 cells, four spacings across, have one unknown each: by what all kappa in a block grow. Its matrix is
//! Pᵀ A P = Σ_i dt²/m_i f_iA·f_iB, with the force f_iA on particle i by a unit of block A. As blocks are as wide as
//! particles reach to both sides, a particle feels at most eight, and a block twenty-six others. Coarser grids halve it
//! again; a V-cycle goes through all. Rigid bodies are as heavy as the world here, and nodes of faces have the pressure of
//! the particle: a preconditioner may be a little wrong.

use crate::kernel::KernelLanes;
use crate::math::{CHUNK, LANES, Lane, Vec3x8, gather4};
use crate::neighbors::{CHUNK_PARTICLES, CurrentNeighbors, Slice, offset};
use crate::rigid::Walls;
use rayon::prelude::*;
use wide::i32x8;

/// Neighbours of a block and itself, and its place among them.
const STENCIL: usize = 27;
const SELF: usize = 13;
/// Bits of a coordinate of a block, and most blocks along an axis.
const MASK: u32 = 0x1ff;
const MOST: usize = MASK as usize;
/// Blocks of the coarsest grid, and the sweeps that solve it.
const COARSEST: usize = 64;
const SWEEPS: usize = 4;
/// Energy of a step from block to block over that of a ramp.
const STEEP: f32 = 2.0;

/// A grid of blocks with one row of empty blocks around it.
#[derive(Debug, Default)]
struct Level {
    dims: [usize; 3],
    rows: Vec<[f32; STENCIL]>,
    /// Unknowns and right-hand side.
    x: Vec<f32>,
    r: Vec<f32>,
}

/// The grids of a step.
#[derive(Debug, Default)]
pub struct Coarse {
    levels: Vec<Level>,
    /// Block of each member, then of each boundary point, and the half of it where it is: nine bits a coordinate of the
    /// block, from x on, then a bit for the upper half of each axis.
    codes: Vec<u32>,
    /// What a unit of its block adds to kappa.
    weights: Vec<f32>,
    parts: Vec<Part>,
    /// Place of a pair of eight blocks in the rows, by the side on which they lie.
    places: Vec<[Place; 36]>,
}

/// Where the force of a pair of blocks belongs: in the row of one of the eight, at a later place.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    block: u8,
    at: u8,
}

/// What the particles of a chunk add: rows of the blocks they touch, from the diagonal on.
#[derive(Debug, Default)]
struct Part {
    low: [i32; 3],
    dims: [i32; 3],
    /// Row of each block of the box, one-based.
    row_of: Vec<u32>,
    blocks: Vec<u32>,
    rows: Vec<[f32; STENCIL - SELF]>,
}

/// What the grids are made of.
pub struct CoarseInput<'a> {
    pub neighbors: &'a CurrentNeighbors,
    pub walls: &'a Walls,
    pub kernel: &'a KernelLanes,
    /// Coordinates and kappa.
    pub values: &'a [[f32; 4]],
    pub inverse_masses: &'a [f32],
    pub wall_gradients: &'a [[f32; 3]],
    pub dt: f32,
}

impl Coarse {
    /// Blocks of the members and boundary points; those that are free take part.
    /// False if particles are too far apart for a grid.
    pub fn weigh(&mut self, neighbors: &CurrentNeighbors, walls: &Walls, free: &[bool]) -> bool {
        let cells = &neighbors.cells;
        let dims = cells.dims().map(|n| n as usize / 2 + 3);
        if dims.iter().any(|&n| n > MOST) || dims.iter().product::<usize>() > free.len() {
            return false;
        }
        self.levels.resize_with(self.levels.len().max(1), Level::default);
        self.levels[0].resize(dims);
        let n = neighbors.len();
        let code = |cell: [i32; 3]| {
            let [x, y, z] = cell.map(|c| (c / 2 + 1) as u32);
            let side = |c: i32, axis: u32| ((c & 1) as u32) << axis;
            let sides = side(cell[0], 0) | side(cell[1], 1) | side(cell[2], 2);
            sides << 29 | z << 18 | y << 9 | x
        };
        self.codes.resize(free.len(), 0);
        self.codes.par_iter_mut().with_min_len(CHUNK).enumerate().for_each(|(m, out)| {
            *out = code(match m < n {
                true => cells.cell_of_sorted(m),
                false => cells.cell(walls.points[m - n].position),
            });
        });
        self.weights.resize(free.len(), 0.0);
        let columns = self.weights.par_iter_mut().with_min_len(CHUNK).zip(free);
        columns.for_each(|(weight, free)| *weight = if *free { 1.0 } else { 0.0 });
        true
    }

    /// What a unit of its block adds to kappa of a member or boundary point.
    pub fn weight(&self, m: usize) -> f32 {
        self.weights[m]
    }

    /// The matrices of all grids.
    pub fn assemble(&mut self, input: &CoarseInput) {
        if self.places.is_empty() {
            self.places = places();
        }
        let chunks = input.neighbors.len().div_ceil(CHUNK_PARTICLES);
        let mut parts = std::mem::take(&mut self.parts);
        parts.resize_with(chunks, Part::default);
        parts.par_iter_mut().enumerate().for_each(|(c, part)| self.add_chunk(input, c, part));
        let fine = &mut self.levels[0];
        for part in &parts {
            for (&block, row) in part.blocks.iter().zip(&part.rows) {
                let own = &mut fine.rows[block as usize];
                own[SELF..].iter_mut().zip(row).for_each(|(sum, a)| *sum += a);
            }
        }
        self.parts = parts;
        fine.mirror();
        let mut last = 0;
        while self.levels[last].x.len() > COARSEST && self.levels[last].dims.iter().any(|&n| n > 4) {
            if self.levels.len() == last + 1 {
                self.levels.push(Level::default());
            }
            let (finer, coarser) = self.levels.split_at_mut(last + 1);
            coarser[0].coarsen(&finer[last]);
            last += 1;
        }
        self.levels.truncate(last + 1);
    }

    /// z += P (Pᵀ A P)⁻¹ Pᵀ r, about, by member and boundary point. Variables are kappa times `unit`, zero for those held.
    pub fn correct(
        &mut self,
        neighbors: &CurrentNeighbors,
        unit: impl Fn(usize) -> f32 + Sync,
        r: &[f32],
        z: &mut [f32],
    ) {
        self.restrict(neighbors, |m| unit(m) * r[m]);
        cycle(&mut self.levels);
        let (fine, codes, weights) = (&self.levels[0], &self.codes, &self.weights);
        z.par_iter_mut().with_min_len(CHUNK).enumerate().for_each(|(m, z)| {
            *z += unit(m) * weights[m] * fine.x[fine.index(block(codes[m]))];
        });
    }

    /// Right-hand side of the finest grid: Σ weight r of each block.
    fn restrict(&mut self, neighbors: &CurrentNeighbors, r: impl Fn(usize) -> f32 + Sync) {
        let (cells, weights) = (&neighbors.cells, &self.weights);
        let Level { dims, r: sums, .. } = &mut self.levels[0];
        let ([nx, ny, _], fine) = (*dims, cells.dims());
        sums.par_iter_mut().with_min_len(64).enumerate().for_each(|(b, sum)| {
            let block = [b % nx, b / nx % ny, b / nx / ny].map(|c| c as i32 - 1);
            let first = block.map(|c| 2 * c);
            let last = [0, 1, 2].map(|k| (2 * block[k] + 1).min(fine[k] - 1));
            *sum = 0.0;
            if (0..3).all(|k| first[k] >= 0 && first[k] <= last[k]) {
                *sum = cells.runs(first, last).flatten().map(|m| weights[m] * r(m)).sum();
            }
        });
        for m in neighbors.len()..self.codes.len() {
            if weights[m] > 0.0 {
                let level = &mut self.levels[0];
                let b = level.index(block(self.codes[m]));
                level.r[b] += weights[m] * r(m);
            }
        }
    }

    fn add_chunk(&self, input: &CoarseInput, c: usize, part: &mut Part) {
        let CoarseInput { neighbors, walls, values, inverse_masses, wall_gradients, dt, .. } = *input;
        let (n, codes) = (neighbors.len(), &self.codes);
        let members = c * CHUNK_PARTICLES..((c + 1) * CHUNK_PARTICLES).min(n);
        part.begin(&codes[members]);
        let mut presses = walls.presses[c].as_slice();
        for slice in neighbors.slices(c) {
            let (mut f, total) = forces_of_slice(input.kernel, values, codes, slice);
            for lane in 0..slice.lanes(n) {
                let m = slice.first + lane;
                let wall = glam::Vec3::from_array(wall_gradients[m]).as_dvec3();
                let own = (total.get(lane) + wall) * values[m][3] as f64;
                f[0].set(lane, f[0].get(lane) + own);
                while let Some((press, rest)) = presses.split_first()
                    && press.member as usize == m
                {
                    presses = rest;
                    // the pressure of a face's node is about the particle's own
                    let b = if walls.share(press).is_some() { m } else { n + press.point as usize };
                    let part = glam::Vec3::from_array(press.gradient).as_dvec3() * self.weights[b] as f64;
                    let to = &mut f[corner(codes[m], codes[b])];
                    to.set(lane, to.get(lane) + part);
                }
            }
            let scale: [f32; LANES] = slice.own(n).map(|m| dt * dt * inverse_masses[m as usize]);
            let scale = Lane::from(scale);
            let mut products = [[0.0; LANES]; 36];
            let pairs = (0..8).flat_map(|a| (a..8).map(move |b| (a, b)));
            for (product, (a, b)) in products.iter_mut().zip(pairs) {
                *product = (f[a].dot(f[b]) * scale).to_array();
            }
            for lane in 0..slice.lanes(n) {
                let code = codes[slice.first + lane];
                let side = (code >> 29) as usize;
                let rows: [usize; 8] = std::array::from_fn(|b| {
                    // the product of a block with itself
                    let own = 8 * b - b * b.saturating_sub(1) / 2;
                    if products[own][lane] > 0.0 { part.row(&self.levels[0], neighbor(code, b)) } else { 0 }
                });
                for (product, place) in products.iter().zip(&self.places[side]) {
                    if product[lane] != 0.0 {
                        part.rows[rows[place.block as usize]][place.at as usize] += product[lane];
                    }
                }
            }
        }
    }

    /// Block of a member, and the entry of two blocks in the matrix.
    #[cfg(test)]
    pub(super) fn block_of(&self, m: usize) -> usize {
        self.levels[0].index(block(self.codes[m]))
    }

    #[cfg(test)]
    pub(super) fn entry(&self, a: usize, b: usize) -> f32 {
        let steps = self.levels[0].steps();
        let place = steps.iter().position(|&step| step == b as isize - a as isize);
        place.map_or(0.0, |k| self.levels[0].rows[a][k])
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        let level = |level: &Level| level.rows.capacity() * (4 * STENCIL + 8);
        let part = |part: &Part| part.row_of.capacity() * 4 + part.rows.capacity() * 60;
        8 * self.codes.capacity()
            + self.levels.iter().map(level).sum::<usize>()
            + self.parts.iter().map(part).sum::<usize>()
    }
}

impl Part {
    /// Empties it for particles of these blocks.
    fn begin(&mut self, codes: &[u32]) {
        let (mut low, mut high) = ([i32::MAX; 3], [0; 3]);
        for &code in codes {
            for (k, c) in block(code).into_iter().enumerate() {
                low[k] = low[k].min(c as i32 - 1);
                high[k] = high[k].max(c as i32 + 1);
            }
        }
        self.low = low;
        self.dims = [0, 1, 2].map(|k| high[k] - low[k] + 1);
        self.row_of.clear();
        self.row_of.resize(self.dims.iter().map(|&n| n as usize).product(), 0);
        self.blocks.clear();
        self.rows.clear();
    }

    /// The row of a block.
    #[inline(always)]
    fn row(&mut self, level: &Level, block: [u32; 3]) -> usize {
        let [x, y, z] = [0, 1, 2].map(|k| block[k] as i32 - self.low[k]);
        let row = &mut self.row_of[((z * self.dims[1] + y) * self.dims[0] + x) as usize];
        if *row == 0 {
            self.blocks.push(level.index(block) as u32);
            self.rows.push([0.0; STENCIL - SELF]);
            *row = self.rows.len() as u32;
        }
        *row as usize - 1
    }
}

impl Level {
    fn resize(&mut self, dims: [usize; 3]) {
        self.dims = dims;
        let n = dims.iter().product();
        self.rows.clear();
        self.rows.resize(n, [0.0; STENCIL]);
        self.x.resize(n, 0.0);
        self.r.resize(n, 0.0);
    }

    fn index(&self, [x, y, z]: [u32; 3]) -> usize {
        (z as usize * self.dims[1] + y as usize) * self.dims[0] + x as usize
    }

    /// Steps from a block to its neighbours.
    fn steps(&self) -> [isize; STENCIL] {
        let [nx, ny, _] = self.dims.map(|n| n as isize);
        std::array::from_fn(|k| {
            let [x, y, z] = [k % 3, k / 3 % 3, k / 9].map(|c| c as isize - 1);
            (z * ny + y) * nx + x
        })
    }

    /// Fills the first half of the rows from the other.
    fn mirror(&mut self) {
        let steps = self.steps();
        for b in 0..self.rows.len() {
            for k in SELF + 1..STENCIL {
                if self.rows[b][k] != 0.0 {
                    let other = b.wrapping_add_signed(steps[k]);
                    self.rows[other][STENCIL - 1 - k] = self.rows[b][k];
                }
            }
        }
    }

    /// The block of a finer grid's block, in this grid.
    fn parent(&self, finer: &Level, b: usize) -> usize {
        let [nx, ny, _] = finer.dims;
        self.index([b % nx, b / nx % ny, b / nx / ny].map(|c| c.div_ceil(2) as u32))
    }

    /// Makes this the grid of blocks twice as wide.
    fn coarsen(&mut self, finer: &Level) {
        self.resize(finer.dims.map(|n| (n - 2).div_ceil(2) + 2));
        let (steps, own) = (finer.steps(), self.steps());
        for (b, row) in finer.rows.iter().enumerate().filter(|(_, row)| row[SELF] > 0.0) {
            let parent = self.parent(finer, b);
            for (a, step) in row.iter().zip(steps).filter(|(a, _)| **a != 0.0) {
                let other = self.parent(finer, b.wrapping_add_signed(step));
                let apart = other as isize - parent as isize;
                let k = own.iter().position(|&o| o == apart).expect("neighbours have neighbouring parents");
                self.rows[parent][k] += a / STEEP;
            }
        }
    }

    /// r - A x of a block.
    #[inline(always)]
    fn residual(&self, steps: &[isize; STENCIL], b: usize) -> f32 {
        let row = &self.rows[b];
        let product = |(a, step): (&f32, &isize)| a * self.x[b.wrapping_add_signed(*step)];
        self.r[b] - row.iter().zip(steps).map(product).sum::<f32>()
    }

    /// A sweep of Gauss-Seidel.
    fn sweep(&mut self, blocks: impl Iterator<Item = usize>) {
        let steps = self.steps();
        for b in blocks {
            let diagonal = self.rows[b][SELF];
            if diagonal > 0.0 {
                self.x[b] += self.residual(&steps, b) / diagonal;
            }
        }
    }
}

/// x ← about A⁻¹ r, by a symmetric V-cycle.
fn cycle(levels: &mut [Level]) {
    let (fine, coarser) = levels.split_first_mut().expect("one level at least");
    let n = fine.x.len();
    fine.x.fill(0.0);
    let Some(coarse) = coarser.first_mut() else {
        for _ in 0..SWEEPS {
            fine.sweep(0..n);
            fine.sweep((0..n).rev());
        }
        return;
    };
    fine.sweep(0..n);
    coarse.r.fill(0.0);
    let steps = fine.steps();
    for b in (0..n).filter(|&b| fine.rows[b][SELF] > 0.0) {
        let parent = coarse.parent(fine, b);
        coarse.r[parent] += fine.residual(&steps, b);
    }
    cycle(coarser);
    let coarse = &coarser[0];
    for b in 0..n {
        if fine.rows[b][SELF] > 0.0 {
            fine.x[b] += coarse.x[coarse.parent(fine, b)];
        }
    }
    fine.sweep((0..n).rev());
}

/// The block of a code.
#[inline(always)]
fn block(code: u32) -> [u32; 3] {
    [code & MASK, code >> 9 & MASK, code >> 18 & MASK]
}

/// Which of the eight blocks a particle feels another is in: a bit for each axis.
fn corner(code: u32, other: u32) -> usize {
    let differs = |axis: u32| ((code ^ other) >> (9 * axis) & MASK != 0) as usize;
    differs(0) | differs(1) << 1 | differs(2) << 2
}

/// One of the eight blocks that a particle feels.
#[inline(always)]
fn neighbor(code: u32, corner: usize) -> [u32; 3] {
    let own = block(code);
    std::array::from_fn(|k| {
        let away = (corner >> k & 1) as u32;
        match code >> (29 + k) & 1 {
            0 => own[k] - away,
            _ => own[k] + away,
        }
    })
}

/// Places of the pairs of eight blocks, by the side on which they lie.
fn places() -> Vec<[Place; 36]> {
    let of_side = |side: usize| {
        let pairs = (0..8).flat_map(|a| (a..8).map(move |b| (a, b)));
        let mut places = [Place::default(); 36];
        for (place, (a, b)) in places.iter_mut().zip(pairs) {
            let step = |axis: usize| {
                let apart = (b >> axis & 1) - (a >> axis & 1);
                if side >> axis & 1 == 1 { apart } else { -apart }
            };
            let k = SELF as i32 + step(0) + 3 * step(1) + 9 * step(2);
            *place = match k >= SELF as i32 {
                true => Place { block: a as u8, at: (k - SELF as i32) as u8 },
                false => Place { block: b as u8, at: (SELF as i32 - k) as u8 },
            };
        }
        places
    };
    (0..8).map(of_side).collect()
}

/// Σ_j weight_j V0 ∇W_ij of the neighbours in each of eight blocks, and Σ_j V0 ∇W_ij.
#[inline(always)]
fn forces_of_slice(
    kernel: &KernelLanes,
    values: &[[f32; 4]],
    codes: &[u32],
    slice: Slice,
) -> ([Vec3x8; 8], Vec3x8) {
    let itself = slice.own(values.len());
    let [xi, yi, zi, _] = gather4(values, &itself);
    let code_i = i32x8::from(itself.map(|m| codes[m as usize] as i32));
    let (mut f, mut total) = ([Vec3x8::ZERO; 8], Vec3x8::ZERO);
    for row in slice.rows {
        let [x, y, z, weight] = gather4(values, row);
        let e = offset([xi, yi, zi], [x, y, z]);
        let d = e * -kernel.slope(e.dot(e).sqrt());
        total = total + d;
        let code_j = i32x8::from(std::array::from_fn(|lane| codes[row[lane] as usize] as i32));
        let differ = code_i ^ code_j;
        let same = |axis: u32| {
            let own = (differ & i32x8::splat((MASK << (9 * axis)) as i32)).simd_eq(i32x8::ZERO);
            bytemuck::cast::<i32x8, Lane>(own)
        };
        let (in_x, in_y, in_z) = (same(0), same(1), same(2));
        let split = |v: Vec3x8, own: Lane| {
            let near = Vec3x8::new(v.x & own, v.y & own, v.z & own);
            (near, v - near)
        };
        let (near, far) = split(d * weight, in_z);
        for (z, part) in [near, far].into_iter().enumerate() {
            let (near, far) = split(part, in_y);
            for (y, part) in [near, far].into_iter().enumerate() {
                let (near, far) = split(part, in_x);
                f[4 * z + 2 * y] = f[4 * z + 2 * y] + near;
                f[4 * z + 2 * y + 1] = f[4 * z + 2 * y + 1] + far;
            }
        }
    }
    (f, total)
}
