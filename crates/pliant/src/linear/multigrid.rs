//! A multigrid for bodies of particles: what a particle cannot see of a system is solved on grids around it.
//!
//! Conjugate gradients with a diagonal preconditioner need more iterations the stiffer a body is: information travels
//! one neighbourhood an iteration, while an implicit step couples particles over sqrt(S) spacings, S = dt² E / (rho s²).
//! So smooth changes are solved for on a background grid of spacing H = `CELL` particle spacings. A grid function
//! v(X) = Σ_n w_n(X) v_n, w trilinear, has at the particles nearly the energy
//!   Σ_k ½ m_k |v(X_k)|² + V_k ψ_k(∇v(X_k)),
//! with the exact gradient of v in place of the SPH one. Its matrix couples a node with the 26 around it and needs no
//! pair of particles. The functions of a grid of twice the spacing are functions of the grid, so each coarser matrix is
//! Pᵀ A P exactly; cell by cell it is a sum over eight cells. One V-cycle over the grids serves as their inverse.
//! Added to a diagonal preconditioner of the particles it bounds the iterations whatever the size and the stiffness:
//!   M⁻¹ = D⁻¹ + P (V-cycle) Pᵀ.
//! docs/theory/solvers.md has the numbers.
//!
//! Held particles (identity rows) take no part in P. The matrix must still know of them: give them as mass the entry
//! of A's diagonal that they would have if they were free, as that is what moving a neighbour costs.
//!
//! The grids lie in the rest shape and are laid once. Another step, other moduli or rotations need `update`, which
//! costs about as much as one product with A.

use super::block::{Block, CORNER_PAIRS, CORNERS, Element, add_mass, slopes_of, weights};
use super::dense::DenseFactor;
use super::lattice::{Lattice, find, key};
use super::level::{Level, NODES_PER_TASK};
use crate::math::{CHUNK, Real, Vec3};
use glam::{Mat3A, Vec3A};
use rayon::prelude::*;

/// Cells of the finest grid are this many particle spacings wide.
const CELL: Real = 4.0;

/// Unknowns that are solved for directly.
const COARSEST: usize = 128;

/// Cells a task works on.
const CELLS_PER_TASK: usize = 32;

/// The grids of a body: P (V-cycle) Pᵀ.
#[derive(Clone, Debug)]
pub struct Multigrid<B> {
    /// Particles cell by cell, the held ones last in each.
    order: Vec<u32>,
    /// First of each cell in `order`, and the first held one.
    starts: Vec<u32>,
    held: Vec<u32>,
    /// Cell and place in it of each particle; held particles are in no cell.
    places: Vec<Place>,
    /// Σ g_a ⊗ g_b over the particles of each cell, g the gradients of its corners' functions.
    slopes: Vec<Element<Mat3A>>,
    /// Sums over the particles of each cell for its corners; one more, zero.
    sums: Vec<[Vec3A; CORNERS]>,
    levels: Vec<Level<B>>,
    coarsest: DenseFactor,
}

#[derive(Clone, Copy, Debug)]
struct Place {
    cell: u32,
    fractions: [f32; 3],
}

impl<B: Block> Multigrid<B> {
    /// Grids around rest positions of a spacing s; `is_held` names the particles that do not move. The matrices are set
    /// by `update`.
    pub fn new(rest: &[Vec3], s: Real, is_held: impl Fn(usize) -> bool + Sync) -> Self {
        let size = CELL * s;
        let low = rest.iter().fold(Vec3::INFINITY, |low, x| low.min(*x)) - Vec3::splat(0.5 * s);
        let cell_of = |x: &Vec3| ((*x - low) / size).floor();
        let coordinates = |x: &Vec3| cell_of(x).as_ivec3().to_array();
        let lattice = Lattice::new(rest.par_iter().map(|x| key(coordinates(x))).collect());
        let cells = lattice.cells.len();
        let cell_numbers: Vec<u32> = rest.par_iter().map(|x| find(&lattice.cells, coordinates(x))).collect();
        let mut order: Vec<u32> = (0..rest.len() as u32).collect();
        order.par_sort_unstable_by_key(|&i| (cell_numbers[i as usize], is_held(i as usize), i));
        let place = |(i, x): (usize, &Vec3)| Place {
            cell: if is_held(i) { cells as u32 } else { cell_numbers[i] },
            fractions: ((*x - low) / size - cell_of(x)).as_vec3().to_array(),
        };
        let before = |limit: (u32, bool)| {
            order.partition_point(|&i| (cell_numbers[i as usize], is_held(i as usize)) < limit) as u32
        };
        let starts: Vec<u32> = (0..=cells as u32).map(|c| before((c, false))).collect();
        let places: Vec<Place> = rest.par_iter().enumerate().map(place).collect();
        let slopes = |c: usize| {
            let particles = &order[starts[c] as usize..starts[c + 1] as usize];
            let slopes = slopes_of(particles.iter().map(|&i| places[i as usize].fractions));
            slopes.map(|slope| slope * (1.0 / (size * size)) as f32)
        };
        Multigrid {
            slopes: (0..cells).into_par_iter().with_min_len(CELLS_PER_TASK).map(slopes).collect(),
            starts,
            held: (0..cells as u32).map(|c| before((c, true))).collect(),
            places,
            sums: vec![[Vec3A::ZERO; CORNERS]; cells + 1],
            levels: levels_from(lattice),
            coarsest: DenseFactor::default(),
            order,
        }
    }

    /// Takes the coefficients of every particle.
    pub fn update(&mut self, point: impl Fn(usize) -> B::Point + Sync) {
        let mut elements = self.elements(point);
        for l in 0..self.levels.len() {
            self.levels[l].assemble(&elements);
            elements = self.levels[l].coarsen(&elements);
        }
        let last = &self.levels[self.levels.len() - 1];
        self.coarsest.set(last);
    }

    /// The elements of the finest grid. The particles of a cell share the mean of their coefficients, masses excepted.
    fn elements(&self, point: impl Fn(usize) -> B::Point + Sync) -> Vec<Element<B>> {
        let element = |c: usize| {
            let particles = &self.order[self.starts[c] as usize..self.starts[c + 1] as usize];
            let mut masses = [0.0; CORNER_PAIRS];
            let mut sum: Option<B::Point> = None;
            for &i in particles {
                let point = point(i as usize);
                add_mass(&mut masses, &weights(self.places[i as usize].fractions), B::mass(&point));
                match &mut sum {
                    Some(sum) => *sum += point,
                    None => sum = Some(point),
                }
            }
            let mut element = masses.map(B::multiple);
            if let (Some(sum), Some(&first)) = (sum, particles.first()) {
                let mean = B::mean(sum, particles.len(), point(first as usize));
                B::add_stiffness(&mut element, &self.slopes[c], mean);
            }
            element
        };
        (0..self.held.len()).into_par_iter().with_min_len(CELLS_PER_TASK).map(element).collect()
    }

    /// z += P (V-cycle) Pᵀ r. One scope, as the many small passes would each wake the pool from outside.
    pub fn add(&mut self, r: &[glam::Vec3], z: &mut [glam::Vec3]) {
        rayon::scope(|_| {
            self.approximate(|i| r[i]);
            z.par_iter_mut().with_min_len(CHUNK).enumerate().for_each(|(i, z)| *z += self.value_at(i));
        });
    }

    /// g = P (V-cycle) Pᵀ r, to be read with `value_at`; returns r·g.
    pub fn approximate(&mut self, r: impl Fn(usize) -> glam::Vec3 + Sync) -> f64 {
        self.gather(r);
        self.cycle(0);
        let finest = &self.levels[0];
        finest.b.iter().zip(&finest.x).map(|(b, x)| b.as_dvec3().dot(x.as_dvec3())).sum()
    }

    /// P x of the finest grid at particle i.
    #[inline(always)]
    pub fn value_at(&self, i: usize) -> glam::Vec3 {
        let (finest, place) = (&self.levels[0], &self.places[i]);
        let nodes = &finest.lattice.corners[place.cell as usize];
        let terms = weights(place.fractions).into_iter().zip(nodes);
        terms.map(|(w, &n)| finest.x[n as usize] * w).sum::<Vec3A>().into()
    }

    /// Right-hand side of the finest grid: Pᵀ r. Summed by cells, then by nodes: in an order that no thread changes.
    fn gather(&mut self, r: impl Fn(usize) -> glam::Vec3 + Sync) {
        let Multigrid { order, starts, held, places, sums, levels, .. } = self;
        let cells = held.len();
        sums[..cells].par_iter_mut().with_min_len(CELLS_PER_TASK).enumerate().for_each(|(c, sums)| {
            *sums = [Vec3A::ZERO; CORNERS];
            for &i in &order[starts[c] as usize..held[c] as usize] {
                let r = Vec3A::from(r(i as usize));
                for (sum, w) in sums.iter_mut().zip(weights(places[i as usize].fractions)) {
                    *sum += r * w;
                }
            }
        });
        let finest = &mut levels[0];
        let columns = finest.b.par_iter_mut().with_min_len(NODES_PER_TASK).zip(&finest.lattice.cells_around);
        columns.for_each(|(b, cells)| {
            *b = cells.iter().enumerate().map(|(corner, &c)| sums[c as usize][corner]).sum();
        });
    }

    /// Approximates x = A⁻¹ b of level l.
    fn cycle(&mut self, l: usize) {
        if l + 1 == self.levels.len() {
            let last = &mut self.levels[l];
            self.coarsest.solve(&last.b, &mut last.x);
            return;
        }
        if let [fine, coarse, ..] = &mut self.levels[l..] {
            fine.smooth_from_zero();
            fine.restrict(coarse);
        }
        self.cycle(l + 1);
        if let [fine, coarse, ..] = &mut self.levels[l..] {
            fine.correct(coarse);
            fine.smooth();
        }
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        (self.order.len() + self.starts.len() + self.held.len()) * size_of::<u32>()
            + self.places.len() * size_of::<Place>()
            + self.sums.len() * (size_of::<[Vec3A; CORNERS]>() + size_of::<Element<Mat3A>>())
            + self.levels.iter().map(Level::bytes).sum::<usize>()
            + self.coarsest.bytes()
    }
}

/// All grids down to one that is solved for directly.
fn levels_from<B: Block>(finest: Lattice) -> Vec<Level<B>> {
    let mut levels = Vec::new();
    let mut lattice = finest;
    while lattice.nodes.len() * B::WIDTH > COARSEST && lattice.cells.len() > 1 {
        let coarse = lattice.coarser();
        let nesting = lattice.nesting(&coarse);
        levels.push(Level::new(lattice, nesting));
        lattice = coarse;
    }
    levels.push(Level::new(lattice, Default::default()));
    levels
}

#[cfg(test)]
mod tests {
    use super::super::block::{CorotatedPoint, ScalarPoint};
    use super::super::lattice::coordinates;
    use super::*;
    use glam::Mat3A;

    const S: Real = 0.1;

    fn rest() -> Vec<Vec3> {
        let wobble = |i: usize| {
            0.2 * Vec3::new((1.3 * i as f64).sin(), (2.7 * i as f64).cos(), (0.7 * i as f64).sin())
        };
        let lattice = |i: usize| Vec3::new((i / 200) as f64, (i / 10 % 20) as f64, (i % 10) as f64);
        (0..8_000).map(|i| (lattice(i) + wobble(i)) * S).collect()
    }

    fn affine(x: Vec3A) -> Vec3A {
        Vec3A::new(0.3, -1.0, 2.0) + GRADIENT * x
    }

    const GRADIENT: Mat3A =
        Mat3A::from_cols(Vec3A::new(0.5, 0.2, -1.0), Vec3A::new(1.5, -0.3, 0.4), Vec3A::new(0.0, 0.7, 0.9));

    /// v·A v on every level for the affine field above.
    fn energies<B: Block>(grids: &Multigrid<B>, rest: &[Vec3]) -> Vec<f64> {
        let low = rest.iter().fold(Vec3::INFINITY, |low, x| low.min(*x)) - Vec3::splat(0.5 * S);
        let energy = |(l, level): (usize, &Level<B>)| {
            let size = CELL * S * (1 << l) as f64;
            let position = |&node: &u64| low + glam::IVec3::from(coordinates(node)).as_dvec3() * size;
            let mut v: Vec<Vec3A> =
                level.lattice.nodes.iter().map(|n| affine(position(n).as_vec3a())).collect();
            v.push(Vec3A::ZERO);
            let row = |i: usize| -> f64 {
                let terms = level.rows[i].iter().zip(&level.lattice.neighbors[i]);
                v[i].dot(terms.map(|(block, &j)| block.times(v[j as usize])).sum()) as f64
            };
            (0..level.len()).map(row).sum()
        };
        grids.levels.iter().enumerate().map(energy).collect()
    }

    #[test]
    fn every_level_knows_the_energy_of_affine_fields() {
        let rest = rest();
        let mass = |i: usize| 1.0 + 0.1 * (i % 7) as f32;
        let inertia: f64 = rest
            .iter()
            .enumerate()
            .map(|(i, x)| (mass(i) * affine(x.as_vec3a()).length_squared()) as f64)
            .sum();
        let mut scalar = Multigrid::<f32>::new(&rest, S, |i| i % 50 == 0);
        scalar.update(|i| ScalarPoint { mass: mass(i), stiffness: 3.0 });
        let squared =
            |m: Mat3A| m.x_axis.length_squared() + m.y_axis.length_squared() + m.z_axis.length_squared();
        let stretching = 3.0 * (rest.len() as f32 * squared(GRADIENT)) as f64;
        let rotation = Mat3A::from_rotation_x(0.7);
        let mut corotated = Multigrid::<Mat3A>::new(&rest, S, |i| i % 50 == 0);
        corotated.update(|i| CorotatedPoint { mass: mass(i), mu: 2.0, lambda: 5.0, rotation });
        let local = rotation.transpose() * GRADIENT;
        let strain = (local + local.transpose()) * 0.5;
        let tr = local.x_axis.x + local.y_axis.y + local.z_axis.z;
        let elastic = rest.len() as f64 * (4.0 * squared(strain) + 5.0 * tr * tr) as f64;
        let found = [(energies(&scalar, &rest), stretching), (energies(&corotated, &rest), elastic)];
        for (levels, stiffness) in found {
            assert!(levels.len() > 1);
            // Sums of many terms in single precision.
            assert!(levels.iter().all(|e| (e / (inertia + stiffness) - 1.0).abs() < 1e-4), "{levels:?}");
        }
    }
}
