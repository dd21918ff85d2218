//! One grid of the multigrid: its matrix, its smoother, its way to the next.
//!
//! Smoother: Chebyshev iterations on D⁻¹A, D_i = Σ_j |A_ij| the sum of the magnitudes of a row. Then no eigenvalue of
//! D⁻¹A exceeds one, whatever the body, and a cycle with the same polynomial before and after is symmetric and
//! positive definite without any estimate.

use super::block::{Block, CORNERS, Element, pair, weights};
use super::lattice::{AROUND, Lattice, Nesting, SELF};
use glam::Vec3A;
use rayon::prelude::*;

/// Nodes a task works on.
pub(super) const NODES_PER_TASK: usize = 256;

/// Iterations of the smoother.
const SMOOTHING: usize = 2;

/// The smoother treats eigenvalues of D⁻¹A from this to one; the next grid those below.
const SMOOTH_FROM: f32 = 0.15;

#[derive(Clone, Debug)]
pub(super) struct Level<B> {
    pub lattice: Lattice,
    /// To the next coarser level; empty in the last.
    pub nesting: Nesting,
    /// The matrix A: blocks of each node with those around it; zero where there is none.
    pub rows: Vec<[B; AROUND]>,
    /// 1 / D.
    inverse: Vec<Vec3A>,
    /// Right-hand side, solution, last change and residual. The solution has one entry more, which stays zero: nodes
    /// that do not exist.
    pub b: Vec<Vec3A>,
    pub x: Vec<Vec3A>,
    d: Vec<Vec3A>,
    r: Vec<Vec3A>,
}

impl<B: Block> Level<B> {
    pub fn new(lattice: Lattice, nesting: Nesting) -> Self {
        let n = lattice.nodes.len();
        let column = vec![Vec3A::ZERO; n];
        Level {
            lattice,
            nesting,
            rows: vec![[B::ZERO; AROUND]; n],
            inverse: column.clone(),
            b: column.clone(),
            x: vec![Vec3A::ZERO; n + 1],
            d: column.clone(),
            r: column,
        }
    }

    /// Number of nodes.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// The matrix from the elements of all cells.
    pub fn assemble(&mut self, elements: &[Element<B>]) {
        let cells_around = &self.lattice.cells_around;
        let columns = self.rows.par_iter_mut().zip(&mut self.inverse).zip(cells_around).with_min_len(64);
        columns.for_each(|((row, inverse), cells)| {
            *row = [B::ZERO; AROUND];
            for (a, &cell) in cells.iter().enumerate() {
                let Some(element) = elements.get(cell as usize) else { continue };
                for b in 0..CORNERS {
                    let at = |d: usize| (b >> d & 1) + 1 - (a >> d & 1);
                    row[at(0) + 3 * at(1) + 9 * at(2)] += block_of(element, a, b);
                }
            }
            *inverse = row.iter().map(|block| block.row_sums()).sum::<Vec3A>().recip();
        });
    }

    /// x ≈ A⁻¹ b, started from zero.
    pub fn smooth_from_zero(&mut self) {
        self.x.fill(Vec3A::ZERO);
        self.smooth();
    }

    /// Chebyshev iterations on x; error polynomial T_k((c - λ)/e) / T_k(c/e) for the interval c ± e.
    pub fn smooth(&mut self) {
        let (center, extent) = (0.5 * (1.0 + SMOOTH_FROM), 0.5 * (1.0 - SMOOTH_FROM));
        let sigma = center / extent;
        let mut rho = 1.0 / sigma;
        self.change(0.0, 1.0 / center);
        for _ in 1..SMOOTHING {
            let next = 1.0 / (2.0 * sigma - rho);
            self.change(next * rho, 2.0 * next / extent);
            rho = next;
        }
    }

    /// d = keep d + step D⁻¹ (b - A x), x += d.
    fn change(&mut self, keep: f32, step: f32) {
        let Level { rows, lattice, inverse, b, x, d, .. } = self;
        let x_old = &*x;
        d.par_chunks_mut(NODES_PER_TASK).enumerate().for_each(|(t, d)| {
            for (k, d) in d.iter_mut().enumerate() {
                let i = t * NODES_PER_TASK + k;
                let r = b[i] - product(&rows[i], &lattice.neighbors[i], x_old);
                *d = *d * keep + inverse[i] * r * step;
            }
        });
        x.par_iter_mut().with_min_len(NODES_PER_TASK).zip(d).for_each(|(x, d)| *x += *d);
    }

    /// Right-hand side of the next coarser level: Pᵀ (b - A x).
    pub fn restrict(&mut self, coarse: &mut Level<B>) {
        let Level { rows, lattice, nesting, b, x, r, .. } = self;
        r.par_chunks_mut(NODES_PER_TASK).enumerate().for_each(|(t, r)| {
            for (k, r) in r.iter_mut().enumerate() {
                let i = t * NODES_PER_TASK + k;
                *r = b[i] - product(&rows[i], &lattice.neighbors[i], x);
            }
        });
        let r = &*r;
        coarse.b.par_iter_mut().with_min_len(NODES_PER_TASK).zip(&nesting.children).for_each(
            |(b, children)| {
                let present =
                    children.iter().enumerate().filter_map(|(k, &child)| Some((k, r.get(child as usize)?)));
                *b = present.map(|(k, r)| *r * RESTRICTION[k]).sum();
            },
        );
    }

    /// x += P x_coarse.
    pub fn correct(&mut self, coarse: &Level<B>) {
        let columns = self.x.par_iter_mut().with_min_len(NODES_PER_TASK).zip(&self.nesting.parents);
        columns.for_each(|(x, parents)| {
            *x += parents.iter().map(|&parent| coarse.x[parent as usize]).sum::<Vec3A>() * 0.125;
        });
    }

    /// The elements of the next coarser level, Pᵀ E P summed over the cells in each of its cells.
    pub fn coarsen(&self, elements: &[Element<B>]) -> Vec<Element<B>> {
        let coarse = |cells: &[u32; CORNERS]| {
            let mut sum = [B::ZERO; _];
            for (place, &cell) in cells.iter().enumerate() {
                if let Some(element) = elements.get(cell as usize) {
                    add_element(&mut sum, element, place);
                }
            }
            sum
        };
        self.nesting.cells.par_iter().with_min_len(16).map(coarse).collect()
    }

    pub fn bytes(&self) -> usize {
        let tables = self.nesting.parents.len() + self.nesting.cells.len();
        self.lattice.bytes()
            + tables * size_of::<[u32; CORNERS]>()
            + self.nesting.children.len() * size_of::<[u32; AROUND]>()
            + self.len() * (size_of::<[B; AROUND]>() + 5 * size_of::<Vec3A>())
    }
}

/// Weights of the nodes around a coarse node: 1/2 for each axis along which they lie beside it.
const RESTRICTION: [f32; AROUND] = {
    let mut weights = [1.0; AROUND];
    let mut k = 0;
    while k < AROUND {
        let beside = (k % 3 != 1) as u32 + (k / 3 % 3 != 1) as u32 + (k / 9 != 1) as u32;
        weights[k] /= (1 << beside) as f32;
        k += 1;
    }
    assert!(weights[SELF] == 1.0);
    weights
};

/// One row of A x.
#[inline(always)]
fn product<B: Block>(row: &[B; AROUND], neighbors: &[u32; AROUND], x: &[Vec3A]) -> Vec3A {
    row.iter().zip(neighbors).fold(Vec3A::ZERO, |sum, (block, &j)| sum + block.times(x[j as usize]))
}

/// Block (a, b) of a symmetric element.
#[inline(always)]
fn block_of<B: Block>(element: &Element<B>, a: usize, b: usize) -> B {
    if a <= b { element[pair(a, b)] } else { element[pair(b, a)].transposed() }
}

/// sum += Pᵀ E P for a cell at corner `place` of the coarse one.
fn add_element<B: Block>(sum: &mut Element<B>, element: &Element<B>, place: usize) {
    // Values of the coarse corners' functions at the cell's own corners.
    let p: [[f32; CORNERS]; CORNERS] =
        std::array::from_fn(|k| weights([0, 1, 2].map(|d| 0.5 * ((place >> d & 1) + (k >> d & 1)) as f32)));
    // E P, then Pᵀ (E P).
    let mut half = [[B::ZERO; CORNERS]; CORNERS];
    for a in 0..CORNERS {
        for b in 0..CORNERS {
            let block = block_of(element, a, b);
            for (q, &weight) in p[b].iter().enumerate().filter(|&(_, &weight)| weight != 0.0) {
                half[a][q] += block.scaled(weight);
            }
        }
    }
    for a in 0..CORNERS {
        for (q, &weight) in p[a].iter().enumerate().filter(|&(_, &weight)| weight != 0.0) {
            for b in q..CORNERS {
                sum[pair(q, b)] += half[a][b].scaled(weight);
            }
        }
    }
}
