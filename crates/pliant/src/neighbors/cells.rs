//! A box of cubic cells and the points in it, sorted by cell.

use crate::math::{Real, Vec3};
use rayon::prelude::*;
use std::ops::Range;

/// Cells a point may have on average; more make the sorting slow where points are spread far.
const CELLS_PER_POINT: Real = 8.0;

/// Points sorted by cell, x running fastest. Points outside the box belong to its border cells: whoever is within one
/// cell size of a point is in its cell or in one next to it, wherever they fly.
#[derive(Clone, Debug, Default)]
pub struct Cells {
    size: Real,
    origin: Vec3,
    dims: [i32; 3],
    /// Are all points in the box?
    holds_all: bool,
    /// First sorted point of each cell; one more at the end.
    starts: Vec<u32>,
    /// Points by cell, rising within a cell.
    pub order: Vec<u32>,
    cell_of: Vec<u32>,
}

impl Cells {
    /// Sorts n finite points into cells of this size; reuses the allocations of the last time.
    pub fn build(&mut self, n: usize, size: Real, point: impl Fn(usize) -> Vec3 + Sync) {
        assert!(n < u32::MAX as usize, "indices are 32 bits wide");
        self.size = size;
        self.choose_box(n, &point);
        let mut cell_of = std::mem::take(&mut self.cell_of);
        cell_of.resize(n, 0);
        cell_of.par_iter_mut().with_min_len(4096).enumerate().for_each(|(i, cell)| {
            *cell = self.index(self.cell(point(i))) as u32;
        });
        let count = self.dims.iter().map(|&d| d as usize).product::<usize>();
        self.starts.clear();
        self.starts.resize(count + 1, 0);
        for &cell in &cell_of {
            self.starts[cell as usize + 1] += 1;
        }
        for k in 0..count {
            self.starts[k + 1] += self.starts[k];
        }
        self.order.resize(n, 0);
        // `starts[cell]` runs ahead while it is filled and is moved back afterwards
        for (i, &cell) in cell_of.iter().enumerate() {
            let at = &mut self.starts[cell as usize];
            self.order[*at as usize] = i as u32;
            *at += 1;
        }
        self.starts.copy_within(0..count, 1);
        self.starts[0] = 0;
        self.cell_of = cell_of;
    }

    /// The bounding box, made smaller about the mean where it would have too many cells.
    fn choose_box(&mut self, n: usize, point: &(impl Fn(usize) -> Vec3 + Sync)) {
        let mut lo = Vec3::INFINITY;
        let mut hi = Vec3::NEG_INFINITY;
        let mut mean = Vec3::ZERO;
        for i in 0..n {
            let p = point(i);
            lo = lo.min(p);
            hi = hi.max(p);
            mean += p;
        }
        if n == 0 {
            (lo, hi) = (Vec3::ZERO, Vec3::ZERO);
        }
        let mean = mean / n.max(1) as Real;
        let cells = |lo: Vec3, hi: Vec3| ((hi - lo) / self.size + Vec3::ONE).element_product();
        self.holds_all = true;
        while cells(lo, hi) > CELLS_PER_POINT * n as Real + 1e3 {
            self.holds_all = false;
            (lo, hi) = (mean + (lo - mean) * 0.8, mean + (hi - mean) * 0.8);
        }
        self.origin = lo;
        let dims = ((hi - lo) / self.size).floor();
        self.dims = [dims.x as i32 + 1, dims.y as i32 + 1, dims.z as i32 + 1];
    }

    /// Number of cells along each axis.
    pub fn dims(&self) -> [i32; 3] {
        self.dims
    }

    /// The cell of a point, or the border cell next to it.
    pub fn cell(&self, p: Vec3) -> [i32; 3] {
        let q = (p - self.origin) / self.size;
        let along = |x: Real, n: i32| (x.floor().clamp(0.0, (n - 1) as Real)) as i32;
        [along(q.x, self.dims[0]), along(q.y, self.dims[1]), along(q.z, self.dims[2])]
    }

    /// The cell of a point by its place in `order`.
    pub fn cell_of_sorted(&self, at: usize) -> [i32; 3] {
        let cell = self.number_of_sorted(at) as i32;
        let [nx, ny, _] = self.dims;
        [cell % nx, cell / nx % ny, cell / nx / ny]
    }

    /// The number of this cell.
    #[inline(always)]
    pub fn number_of_sorted(&self, at: usize) -> u32 {
        self.cell_of[self.order[at] as usize]
    }

    /// Ranges of `order` that hold the points of a box of cells, its last cell included.
    pub fn runs(&self, first: [i32; 3], last: [i32; 3]) -> impl Iterator<Item = Range<usize>> {
        let rows = (first[2]..=last[2]).flat_map(move |z| (first[1]..=last[1]).map(move |y| (y, z)));
        rows.map(move |(y, z)| {
            let (a, b) = (self.index([first[0], y, z]), self.index([last[0], y, z]));
            self.starts[a] as usize..self.starts[b + 1] as usize
        })
    }

    fn index(&self, c: [i32; 3]) -> usize {
        (c[2] as usize * self.dims[1] as usize + c[1] as usize) * self.dims[0] as usize + c[0] as usize
    }

    /// Is the point, by its place in `order`, in a cell that may hold others at any distance?
    #[inline(always)]
    pub fn is_outside(&self, at: usize) -> bool {
        !self.holds_all && {
            let cell = self.cell_of_sorted(at);
            (0..3).any(|k| cell[k] == 0 || cell[k] == self.dims[k] - 1)
        }
    }

    /// Ranges of `order` that hold all points within a cell size of p, and others: at most nine.
    pub fn for_each_run(&self, p: Vec3, run: impl FnMut(Range<usize>)) {
        if !self.order.is_empty() {
            self.for_each_run_around(self.cell(p), run);
        }
    }

    /// The same of a cell.
    pub fn for_each_run_around(&self, [cx, cy, cz]: [i32; 3], mut run: impl FnMut(Range<usize>)) {
        let [nx, ny, nz] = self.dims;
        let first = [(cx - 1).max(0), (cy - 1).max(0), (cz - 1).max(0)];
        let last = [(cx + 1).min(nx - 1), (cy + 1).min(ny - 1), (cz + 1).min(nz - 1)];
        self.runs(first, last).filter(|range| !range.is_empty()).for_each(&mut run);
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        4 * (self.starts.capacity() + self.order.capacity() + self.cell_of.capacity())
    }
}
