//! Background grids around a body: the cells that hold particles, their corners, and how one grid lies in the next
//! coarser one.

use super::block::CORNERS;
use rayon::prelude::*;

/// Nodes around a node, itself included: number x + 3 y + 9 z of the offsets plus one.
pub(super) const AROUND: usize = 27;

/// The middle one of `AROUND`: the node itself.
pub(super) const SELF: usize = 13;

/// The largest coordinate of a cell is below this.
const KEY_BITS: u32 = 20;

/// The cells of a grid that hold particles and the nodes at their corners, both in the order of their keys. Where a
/// table names a node or cell that does not exist it gives the number of them: one past the last.
#[derive(Clone, Debug)]
pub(super) struct Lattice {
    pub cells: Vec<u64>,
    pub nodes: Vec<u64>,
    /// Nodes at the corners of each cell; one more entry, for particles that are in none.
    pub corners: Vec<[u32; CORNERS]>,
    /// Cells around each node, by the number of the corner that the node is of the cell.
    pub cells_around: Vec<[u32; CORNERS]>,
    pub neighbors: Vec<[u32; AROUND]>,
}

/// How the nodes of a grid lie in the grid of twice its spacing.
#[derive(Clone, Debug, Default)]
pub(super) struct Nesting {
    /// Coarse nodes of each fine node, each of weight 1/8; several times the same where the node lies on a face, an
    /// edge or a coarse node.
    pub parents: Vec<[u32; CORNERS]>,
    /// Fine nodes around each coarse node.
    pub children: Vec<[u32; AROUND]>,
    /// Fine cells in each coarse cell, by the corner they lie at.
    pub cells: Vec<[u32; CORNERS]>,
}

/// A key that orders integer coordinates; -1 may occur beside the first.
pub(super) fn key(at: [i32; 3]) -> u64 {
    at.iter().fold(0, |key, &c| key << (KEY_BITS + 1) | (c + 1) as u64)
}

pub(super) fn coordinates(key: u64) -> [i32; 3] {
    let part = |k: u32| (key >> ((KEY_BITS + 1) * k) & ((1 << (KEY_BITS + 1)) - 1)) as i32 - 1;
    [part(2), part(1), part(0)]
}

/// Place of a coordinate among sorted keys, or their number.
pub(super) fn find(keys: &[u64], at: [i32; 3]) -> u32 {
    keys.binary_search(&key(at)).unwrap_or(keys.len()) as u32
}

/// The offset of a corner: 0 or 1 along each axis.
fn corner(k: usize) -> [i32; 3] {
    [0, 1, 2].map(|d| (k >> d & 1) as i32)
}

/// The offset of one of the nodes around a node.
fn offset(k: usize) -> [i32; 3] {
    [k % 3, k / 3 % 3, k / 9].map(|o| o as i32 - 1)
}

fn combine(a: [i32; 3], b: [i32; 3], by: impl Fn(i32, i32) -> i32) -> [i32; 3] {
    [by(a[0], b[0]), by(a[1], b[1]), by(a[2], b[2])]
}

/// A table with N places for each key.
fn table<const N: usize>(
    keys: &[u64],
    among: &[u64],
    place: impl Fn([i32; 3], usize) -> [i32; 3] + Sync,
) -> Vec<[u32; N]> {
    let row = |&key: &u64| std::array::from_fn(|k| find(among, place(coordinates(key), k)));
    keys.par_iter().with_min_len(256).map(row).collect()
}

impl Lattice {
    /// From the keys of the cells, in any order and with repetitions.
    pub fn new(mut cells: Vec<u64>) -> Self {
        cells.par_sort_unstable();
        cells.dedup();
        let corners_of =
            |&cell: &u64| (0..CORNERS).map(move |k| key(combine(coordinates(cell), corner(k), |c, o| c + o)));
        let mut nodes: Vec<u64> = cells.iter().flat_map(corners_of).collect();
        nodes.par_sort_unstable();
        nodes.dedup();
        let mut corners = table(&cells, &nodes, |cell, k| combine(cell, corner(k), |c, o| c + o));
        corners.push([nodes.len() as u32; CORNERS]);
        let cells_around = table(&nodes, &cells, |node, k| combine(node, corner(k), |c, o| c - o));
        let neighbors = table(&nodes, &nodes, |node, k| combine(node, offset(k), |c, o| c + o));
        Lattice { cells, nodes, corners, cells_around, neighbors }
    }

    /// The grid of twice the spacing.
    pub fn coarser(&self) -> Lattice {
        Lattice::new(self.cells.iter().map(|&cell| key(coordinates(cell).map(|c| c / 2))).collect())
    }

    pub fn nesting(&self, coarse: &Lattice) -> Nesting {
        Nesting {
            parents: table(&self.nodes, &coarse.nodes, |node, k| {
                combine(node, corner(k), |c, o| (c + o) / 2)
            }),
            children: table(&coarse.nodes, &self.nodes, |node, k| combine(node, offset(k), |c, o| 2 * c + o)),
            cells: table(&coarse.cells, &self.cells, |cell, k| combine(cell, corner(k), |c, o| 2 * c + o)),
        }
    }

    pub fn bytes(&self) -> usize {
        (self.cells.len() + self.nodes.len()) * size_of::<u64>()
            + (self.corners.len() + self.cells_around.len()) * size_of::<[u32; CORNERS]>()
            + self.neighbors.len() * size_of::<[u32; AROUND]>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ball() -> Lattice {
        let cells = (0..1000).map(|k| [k % 10, k / 10 % 10, k / 100]);
        let inside = |c: &[i32; 3]| c.iter().map(|&c| (2 * c - 9).pow(2)).sum::<i32>() < 90;
        Lattice::new(cells.filter(inside).map(key).collect())
    }

    #[test]
    fn keys_keep_coordinates() {
        for at in [[0, 0, 0], [-1, 5, 1 << 19], [7, -1, 3], [1_000_000, 2, -1]] {
            assert_eq!(coordinates(key(at)), at);
        }
    }

    #[test]
    fn nodes_and_cells_name_each_other() {
        let lattice = ball();
        let (cells, nodes) = (lattice.cells.len(), lattice.nodes.len());
        for c in 0..cells {
            for (k, &n) in lattice.corners[c].iter().enumerate() {
                assert_eq!(lattice.cells_around[n as usize][k] as usize, c);
            }
        }
        for (n, around) in lattice.neighbors.iter().enumerate() {
            assert_eq!(around[SELF] as usize, n);
            for (k, &m) in around.iter().enumerate().filter(|&(_, &m)| (m as usize) < nodes) {
                assert_eq!(lattice.neighbors[m as usize][AROUND - 1 - k] as usize, n);
            }
        }
    }

    #[test]
    fn every_node_has_all_its_parents() {
        let fine = ball();
        let coarse = fine.coarser();
        let nesting = fine.nesting(&coarse);
        assert!(nesting.parents.iter().flatten().all(|&p| (p as usize) < coarse.nodes.len()));
        let held = nesting.cells.iter().flatten().filter(|&&c| (c as usize) < fine.cells.len());
        assert_eq!(held.count(), fine.cells.len());
    }
}
