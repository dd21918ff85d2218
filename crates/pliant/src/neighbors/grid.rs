//! Uniform grid search by counting sort.

use crate::math::{Real, Vec3};
use rayon::prelude::*;

/// Points sorted into cells. Cells are numbered row by row and wrapped onto a table of about twice as many slots as
/// points, so that memory is linear in the points wherever they fly. Cells that share a slot are never neighbours of one
/// cell: what is near enough is looked at once.
#[derive(Debug, Default)]
pub struct Grid {
    /// Cells per length.
    per_length: Real,
    origin: Vec3,
    /// Slots per step in y and z.
    stride: [i64; 2],
    /// First entry of each slot; one more at the end. A power of two of slots.
    starts: Vec<u32>,
    /// Points by slot, in rising index within a slot.
    entries: Vec<Entry>,
    slots: Vec<u32>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    position: Vec3,
    index: u32,
}

impl Grid {
    /// Sorts the points into cells of this size; reuses the allocations of the last build. Points are finite.
    pub fn build(&mut self, points: &[Vec3], cell: Real) {
        assert!(points.len() < u32::MAX as usize, "indices are 32 bits wide");
        let (lo, hi) = points
            .par_iter()
            .with_min_len(8192)
            .fold(|| (Vec3::INFINITY, Vec3::NEG_INFINITY), |b, p| (b.0.min(*p), b.1.max(*p)))
            .reduce(|| (Vec3::INFINITY, Vec3::NEG_INFINITY), |a, b| (a.0.min(b.0), a.1.max(b.1)));
        self.per_length = 1.0 / cell;
        self.origin = if points.is_empty() { Vec3::ZERO } else { lo };
        // Rows of the bounding box while it is compact, shorter rows (more wrapping) where points are spread far.
        let widest = (points.len() as Real).cbrt() * 8.0 + 8.0;
        let row = |length: Real| (length / cell + 2.0).min(widest) as i64;
        let extent = if points.is_empty() { Vec3::ZERO } else { hi - lo };
        let table = (2 * points.len()).next_power_of_two().max(64);
        self.stride = strides([row(extent.x), row(extent.y)], table);

        self.slots.resize(points.len(), 0);
        let mut slots = std::mem::take(&mut self.slots);
        slots
            .par_iter_mut()
            .with_min_len(4096)
            .zip(points)
            .for_each(|(slot, p)| *slot = self.slot(self.cell_of(*p), table));
        self.slots = slots;
        self.starts.clear();
        self.starts.resize(table + 1, 0);
        for &slot in &self.slots {
            self.starts[slot as usize + 1] += 1;
        }
        for k in 0..table {
            self.starts[k + 1] += self.starts[k];
        }
        self.entries.resize(points.len(), Entry::default());
        // `starts[slot]` runs ahead while it is filled and is moved back afterwards.
        for (i, (&slot, &position)) in self.slots.iter().zip(points).enumerate() {
            let at = &mut self.starts[slot as usize];
            self.entries[*at as usize] = Entry { position, index: i as u32 };
            *at += 1;
        }
        self.starts.copy_within(0..table, 1);
        self.starts[0] = 0;
    }

    fn cell_of(&self, p: Vec3) -> [i64; 3] {
        let q = (p - self.origin) * self.per_length;
        [q.x.floor() as i64, q.y.floor() as i64, q.z.floor() as i64]
    }

    fn slot(&self, c: [i64; 3], table: usize) -> u32 {
        let linear = c[0]
            .wrapping_add(c[1].wrapping_mul(self.stride[0]))
            .wrapping_add(c[2].wrapping_mul(self.stride[1]));
        (linear as u64 & (table as u64 - 1)) as u32
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.entries.capacity() * size_of::<Entry>() + 4 * (self.starts.capacity() + self.slots.capacity())
    }

    /// Calls `found(j, x_j)` for every point within `radius` (at most the cell size) of x, in a fixed order.
    pub fn for_each_within(&self, x: Vec3, radius: Real, mut found: impl FnMut(u32, Vec3)) {
        debug_assert!(radius * self.per_length <= 1.0 + 1e-12);
        if self.entries.is_empty() {
            return;
        }
        let table = self.starts.len() - 1;
        let center = self.cell_of(x);
        for dz in -1..=1 {
            for dy in -1..=1 {
                // three cells in a row are three slots in a row, unless the table ends between them
                let row = [center[0].wrapping_sub(1), center[1].wrapping_add(dy), center[2].wrapping_add(dz)];
                let slot = self.slot(row, table) as usize;
                let mut look = |slots: std::ops::Range<usize>| {
                    let entries = self.starts[slots.start] as usize..self.starts[slots.end] as usize;
                    for entry in &self.entries[entries] {
                        if entry.position.distance_squared(x) < radius * radius {
                            found(entry.index, entry.position);
                        }
                    }
                };
                look(slot..table.min(slot + 3));
                look(0..(slot + 3).saturating_sub(table));
            }
        }
    }
}

/// Slots per step in y and z for rows of these lengths, or a few more, with which no two of the 27 cells around a cell
/// share a slot. (Those at the end do for any table, and are not needed for any seen.)
fn strides([x, y]: [i64; 2], table: usize) -> [i64; 2] {
    let keep_apart = |stride: [i64; 2]| {
        let apart = |step: i64| {
            let [dx, dy, dz] = [step % 5 - 2, step / 5 % 5 - 2, step / 25 - 2];
            let slots = dx.wrapping_add(dy.wrapping_mul(stride[0])).wrapping_add(dz.wrapping_mul(stride[1]));
            [dx, dy, dz] == [0; 3] || slots as u64 & (table as u64 - 1) != 0
        };
        (0..125).all(apart)
    };
    let wider = (0..64).map(|more| [x + more, (x + more) * y + more]);
    wider.into_iter().find(|&stride| keep_apart(stride)).unwrap_or([5, 25])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn neighbors_of(grid: &Grid, x: Vec3, radius: f64) -> Vec<u32> {
        let mut found = Vec::new();
        grid.for_each_within(x, radius, |j, _| found.push(j));
        found.sort_unstable();
        found
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]
        #[test]
        fn the_grid_finds_what_brute_force_finds(
            points in prop::collection::vec(prop::array::uniform3(-1.0..1.0f64), 0..300),
            radius in 0.05..0.8f64,
            far in -1e6..1e6f64,
            extent in prop::array::uniform3(0..2u8), // bodies, sheets, rods, and all in one place
        ) {
            let extent = Vec3::from_array(extent.map(f64::from));
            let mut points: Vec<Vec3> = points.into_iter().map(|x| Vec3::from_array(x) * extent).collect();
            points.push(Vec3::new(far, 0.0, -far)); // one that flew away
            let mut grid = Grid::default();
            grid.build(&points, radius);
            for &x in &points {
                let brute: Vec<u32> = (0..points.len() as u32)
                    .filter(|&j| points[j as usize].distance_squared(x) < radius * radius).collect();
                prop_assert_eq!(neighbors_of(&grid, x, radius), brute);
            }
        }
    }

    #[test]
    fn an_empty_grid_finds_nothing() {
        let mut grid = Grid::default();
        grid.build(&[], 1.0);
        assert!(neighbors_of(&grid, Vec3::ZERO, 1.0).is_empty());
    }
}
