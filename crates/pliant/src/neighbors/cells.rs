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
        while cells(lo, hi) > CELLS_PER_POINT * n as Real + 1e3 {
            (lo, hi) = (mean + (lo - mean) * 0.8, mean + (hi - mean) * 0.8);
        }
        self.origin = lo;
        let dims = ((hi - lo) / self.size).floor();
        self.dims = [dims.x as i32 + 1, dims.y as i32 + 1, dims.z as i32 + 1];
    }

    fn cell(&self, p: Vec3) -> [i32; 3] {
        let q = (p - self.origin) / self.size;
        let along = |x: Real, n: i32| (x.floor().clamp(0.0, (n - 1) as Real)) as i32;
        [along(q.x, self.dims[0]), along(q.y, self.dims[1]), along(q.z, self.dims[2])]
    }

    fn index(&self, c: [i32; 3]) -> usize {
        (c[2] as usize * self.dims[1] as usize + c[1] as usize) * self.dims[0] as usize + c[0] as usize
    }

    /// Is the point so far out that its cell may hold others at any distance?
    pub fn is_outside(&self, p: Vec3) -> bool {
        let q = (p - self.origin) / self.size;
        let top = Vec3::new(self.dims[0] as Real, self.dims[1] as Real, self.dims[2] as Real);
        q.cmplt(Vec3::ONE).any() || q.cmpgt(top - Vec3::ONE).any()
    }

    /// Ranges of `order` that hold all points within a cell size of p, and others: at most nine.
    pub fn for_each_run(&self, p: Vec3, mut run: impl FnMut(Range<usize>)) {
        if self.order.is_empty() {
            return;
        }
        let [cx, cy, cz] = self.cell(p);
        let (x0, x1) = ((cx - 1).max(0), (cx + 1).min(self.dims[0] - 1));
        for z in (cz - 1).max(0)..=(cz + 1).min(self.dims[2] - 1) {
            for y in (cy - 1).max(0)..=(cy + 1).min(self.dims[1] - 1) {
                let (first, last) = (self.index([x0, y, z]), self.index([x1, y, z]));
                let range = self.starts[first] as usize..self.starts[last + 1] as usize;
                if !range.is_empty() {
                    run(range);
                }
            }
        }
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        4 * (self.starts.capacity() + self.order.capacity() + self.cell_of.capacity())
    }
}
