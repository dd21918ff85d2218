//! Cholesky factors of sparse matrices, in single precision.
//!
//! Multifrontal [Duff, Reid 1983]: each front gathers its columns of the matrix and the updates of its children,
//! factors its pivots and hands an update to its parent. What is done in parallel follows from the pattern alone and
//! every sum has a fixed order, so that the factor has the same bits for any number of threads.

use super::elimination::Ordered;
use super::front::factor_front;
use super::structure::{Plan, Structure};
use super::{SymmetricMatrix, nested_dissection, sweep_order};
use crate::math::{Lane, Vec3};
use rayon::prelude::*;

/// A sweep may have a factor larger by this ratio: its few large fronts stream faster, and are made faster.
const SWEEP_BONUS: f64 = 1.2;

/// Why there is no factor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FactorError {
    #[error(
        "the matrix, in single precision, is not positive definite: no positive pivot at particle {particle}"
    )]
    NotPositiveDefinite { particle: usize },
    #[error("the factor would take {bytes} bytes")]
    TooLarge { bytes: usize },
}

/// What a factor costs, known before it is made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FactorCost {
    /// Bytes of the factor.
    pub bytes: usize,
    /// Most bytes alive while it is made, without the matrix itself.
    pub peak_bytes: usize,
    /// Multiplications and additions.
    pub flops: f64,
}

/// L with A = L Lᵀ, in an order of little fill.
#[derive(Debug)]
pub struct Factor {
    pub(super) structure: Structure,
    pub(super) plan: Plan,
    /// Panels of each front.
    pub(super) values: Vec<Vec<Lane>>,
    /// Place of each particle in the working memory of a solution, counted in single numbers.
    pub(super) places: Vec<u32>,
}

impl Factor {
    /// Cost of the factor for an order of elimination.
    pub fn cost(matrix: &SymmetricMatrix, order: &[u32]) -> FactorCost {
        let (structure, ordered) = Structure::new(matrix, order);
        cost(&structure, &ordered)
    }

    /// Factors the matrix in the cheaper of two orders. `positions` are where the rows of the matrix lie in space.
    pub fn new(matrix: &SymmetricMatrix, positions: &[Vec3]) -> Result<Factor, FactorError> {
        Factor::within(usize::MAX, matrix, positions)
    }

    /// The same, unless it would take more than `most` bytes.
    pub fn within(most: usize, matrix: &SymmetricMatrix, positions: &[Vec3]) -> Result<Factor, FactorError> {
        let (dissected, swept) = rayon::join(
            || Structure::new(matrix, &nested_dissection(positions, matrix)),
            || Structure::new(matrix, &sweep_order(positions, matrix)),
        );
        let (structure, ordered) = if dissected.0.bytes() as f64 * SWEEP_BONUS <= swept.0.bytes() as f64 {
            dissected
        } else {
            swept
        };
        if structure.bytes() > most {
            return Err(FactorError::TooLarge { bytes: structure.bytes() });
        }
        Factor::with_structure(structure, &ordered)
    }

    /// Factors the matrix in the given order of elimination.
    pub fn in_order(matrix: &SymmetricMatrix, order: &[u32]) -> Result<Factor, FactorError> {
        let (structure, ordered) = Structure::new(matrix, order);
        Factor::with_structure(structure, &ordered)
    }

    fn with_structure(mut structure: Structure, ordered: &Ordered) -> Result<Factor, FactorError> {
        let columns = structure.rows_to_places();
        let plan = Plan::new(&structure);
        let mut values = vec![Vec::new(); structure.fronts.len()];
        let work = Numeric { structure: &structure, ordered, columns: &columns };
        work.branch(&plan, &mut values).map_err(|column| FactorError::NotPositiveDefinite {
            particle: structure.order[column as usize] as usize,
        })?;
        Ok(Factor::from_parts(structure, values))
    }

    pub(super) fn from_parts(structure: Structure, values: Vec<Vec<Lane>>) -> Factor {
        let plan = Plan::new(&structure);
        let places = structure.particle_places();
        Factor { structure, plan, values, places }
    }

    /// Rows of the matrix.
    pub fn rows(&self) -> usize {
        self.places.len()
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.structure.bytes()
    }

    /// Multiplications and additions it took.
    pub fn flops(&self) -> f64 {
        flops(&self.structure)
    }
}

fn cost(structure: &Structure, ordered: &Ordered) -> FactorCost {
    let bytes = structure.bytes();
    FactorCost {
        bytes,
        peak_bytes: bytes + structure.peak_update_bytes() + ordered.rows.len() * 8 + structure.rows.len() * 4,
        flops: flops(structure),
    }
}

fn flops(structure: &Structure) -> f64 {
    (0..structure.fronts.len()).map(|f| structure.work(f)).sum::<f64>() * crate::math::LANES as f64
}

/// Update matrices not yet taken by a parent, with their fronts.
type Updates = Vec<(usize, Vec<Lane>)>;

struct Numeric<'a> {
    structure: &'a Structure,
    ordered: &'a Ordered,
    columns: &'a [u32],
}

impl Numeric<'_> {
    /// Factors the fronts of a plan into `values`, which begin with the first of them.
    fn branch(&self, plan: &Plan, values: &mut [Vec<Lane>]) -> Result<Updates, u32> {
        let mut updates = Updates::new();
        let (before, rest) = values.split_at_mut(plan.before.len());
        self.sequence(plan.before.start, before, &mut updates)?;
        let (mut parts, mut left) = (Vec::new(), rest);
        for branch in &plan.branches {
            let (part, rest) = left.split_at_mut(branch.range().len());
            parts.push((branch, part));
            left = rest;
        }
        let branches: Vec<Result<Updates, u32>> =
            parts.into_par_iter().with_max_len(1).map(|(branch, part)| self.branch(branch, part)).collect();
        for branch in branches {
            updates.extend(branch?);
        }
        self.sequence(plan.after.start, left, &mut updates)?;
        Ok(updates)
    }

    /// Factors fronts one after the other. Children come last among the updates, in order.
    fn sequence(&self, first: usize, values: &mut [Vec<Lane>], updates: &mut Updates) -> Result<(), u32> {
        let s = self.structure;
        for (f, values) in (first..).zip(values) {
            let children = updates.split_off(updates.len() - s.children_of(f).len());
            let front = &s.fronts[f];
            let columns = &self.columns[front.rows_start..front.rows_start + front.rows as usize];
            let factored = factor_front(s, self.ordered, (f, columns), &children)?;
            *values = factored.values;
            updates.push((f, factored.update));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::SolveWork;
    use super::super::matrix::tests::{lattice, stretching_matrix};
    use super::*;
    use glam::Vec3 as Single;

    fn right_hand_side(n: usize) -> Vec<Single> {
        let wave = |i: usize, k: usize| ((i * (k + 3) + k) as f32 * 0.37).sin();
        (0..n).map(|i| Single::new(wave(i, 0), wave(i, 1), wave(i, 2))).collect()
    }

    /// |A x - b| / |b|, the product in double precision.
    fn residual(matrix: &SymmetricMatrix, x: &[Single], b: &[Single]) -> f64 {
        let mut r: Vec<glam::DVec3> = b.iter().map(|v| v.as_dvec3()).collect();
        for j in 0..matrix.n {
            for (i, a) in matrix.entries(j) {
                r[i] -= f64::from(a) * x[j].as_dvec3();
                if i != j {
                    r[j] -= f64::from(a) * x[i].as_dvec3();
                }
            }
        }
        let norm: f64 = b.iter().map(|v| v.as_dvec3().length_squared()).sum();
        (r.iter().map(|v| v.length_squared()).sum::<f64>() / norm).sqrt()
    }

    /// Bodies of different shapes: a beam, a cube, a plate, a row, two pieces, one particle.
    fn bodies() -> Vec<Vec<Vec3>> {
        let pieces = |gap: f64| {
            let mut points = lattice([7, 4, 4], 0.1);
            points.extend(lattice([5, 5, 5], 0.1).iter().map(|x| *x + Vec3::new(gap, 0.03, 0.0)));
            points
        };
        let mut bodies: Vec<Vec<Vec3>> =
            [[20, 5, 5], [9, 9, 9], [16, 16, 2], [40, 1, 1], [1, 1, 1]].map(|c| lattice(c, 0.1)).into();
        bodies.push(pieces(3.0));
        bodies
    }

    /// A grid matrix: one plus the Laplacian of pairs nearer than 2.1 spacings.
    fn grid_matrix(positions: &[Vec3]) -> SymmetricMatrix {
        let n = positions.len();
        let near = |i: usize, j: usize| positions[i].distance(positions[j]) < 0.21;
        let (mut starts, mut rows, mut values) = (vec![0], Vec::new(), Vec::new());
        for j in 0..n {
            for i in (j..n).filter(|&i| near(i, j)) {
                let count = (0..n).filter(|&k| near(k, j)).count();
                rows.push(i as u32);
                values.push(if i == j { count as f32 } else { -1.0 });
            }
            starts.push(rows.len());
        }
        SymmetricMatrix::new(starts, rows, values)
    }

    #[test]
    fn small_solutions_are_those_of_a_dense_solver() {
        let positions = lattice([4, 3, 3], 0.1);
        let matrix = stretching_matrix(&positions, 0.1, 1e5);
        let (n, b) = (matrix.n, right_hand_side(matrix.n));
        let mut x = b.clone();
        Factor::new(&matrix, &positions).unwrap().solve(&mut x, &mut SolveWork::default());
        // Gaussian elimination in double precision.
        let mut a = vec![vec![0f64; n]; n];
        for j in 0..n {
            for (i, value) in matrix.entries(j) {
                (a[i][j], a[j][i]) = (f64::from(value), f64::from(value));
            }
        }
        let mut y: Vec<glam::DVec3> = b.iter().map(|b| b.as_dvec3()).collect();
        for k in 0..n {
            for i in k + 1..n {
                let ratio = a[i][k] / a[k][k];
                (k..n).for_each(|j| a[i][j] -= ratio * a[k][j]);
                let y_k = y[k];
                y[i] -= ratio * y_k;
            }
        }
        for k in (0..n).rev() {
            let known: glam::DVec3 = (k + 1..n).map(|j| a[k][j] * y[j]).sum();
            y[k] = (y[k] - known) / a[k][k];
        }
        let size = y.iter().map(|y| y.length()).fold(0.0, f64::max);
        let error = x.iter().zip(&y).map(|(x, y)| x.as_dvec3().distance(*y)).fold(0.0, f64::max);
        assert!(error < 1e-4 * size, "{error} of {size}"); // condition number of some hundreds times 6e-8
    }

    #[test]
    fn any_number_of_threads_gives_the_same_bits() {
        let beam = lattice([40, 9, 9], 0.1);
        let cube = lattice([15, 15, 15], 0.1);
        for positions in [beam, cube] {
            let matrix = stretching_matrix(&positions, 0.1, 1e6);
            let run = |threads: usize| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                pool.install(|| {
                    let mut x = right_hand_side(matrix.n);
                    let factor = Factor::new(&matrix, &positions).unwrap();
                    assert!(!factor.plan.branches.is_empty(), "something to do in parallel");
                    factor.solve(&mut x, &mut SolveWork::default());
                    x.iter().flat_map(|x| x.to_array().map(f32::to_bits)).collect::<Vec<u32>>()
                })
            };
            let one = run(1);
            assert!(run(2) == one && run(7) == one);
        }
    }

    #[test]
    fn stretching_systems_are_solved_to_single_precision() {
        let positions = lattice([24, 6, 6], 1.0 / 6.0);
        for stiffness in [1e3, 1e6, 1e9] {
            let matrix = stretching_matrix(&positions, 1.0 / 6.0, stiffness);
            let factor = Factor::new(&matrix, &positions).unwrap();
            let mut work = SolveWork::default();
            let b = right_hand_side(matrix.n);
            let mut x = b.clone();
            factor.solve(&mut x, &mut work);
            // Backward stable: |A x - b| is some 1e-7 |A| |x|; here |A| |x| / |b| is at most the condition number.
            let scale = matrix.values.iter().fold(0f32, |a, v| a.max(v.abs())) as f64;
            let norm = |v: &[Single]| v.iter().map(|v| v.as_dvec3().length_squared()).sum::<f64>().sqrt();
            let error = residual(&matrix, &x, &b) * norm(&b) / (scale * norm(&x));
            assert!(error < 3e-6, "stiffness {stiffness}: {error}");
        }
    }

    #[test]
    fn an_indefinite_matrix_is_refused() {
        let positions = lattice([10, 4, 4], 0.1);
        let mut matrix = grid_matrix(&positions);
        let start = matrix.starts[77];
        matrix.values[start] = -3.0;
        let error = Factor::new(&matrix, &positions).unwrap_err();
        assert!(error.to_string().contains("not positive definite"), "{error}");
        matrix.values[start] = f32::NAN;
        assert!(Factor::new(&matrix, &positions).is_err());
        let missing = SymmetricMatrix::new(vec![0, 1], vec![0], vec![0.0]);
        assert_eq!(
            Factor::new(&missing, &[Vec3::ZERO]).unwrap_err(),
            FactorError::NotPositiveDefinite { particle: 0 }
        );
    }

    #[test]
    fn nothing_has_an_empty_factor() {
        let nothing = SymmetricMatrix::new(vec![0], Vec::new(), Vec::new());
        Factor::new(&nothing, &[]).unwrap().solve(&mut [], &mut SolveWork::default());
    }

    #[test]
    fn solutions_satisfy_the_system_for_every_shape_and_order() {
        for positions in bodies() {
            let matrix = grid_matrix(&positions);
            let natural: Vec<u32> = (0..matrix.n as u32).collect();
            for order in [nested_dissection(&positions, &matrix), sweep_order(&positions, &matrix), natural] {
                let factor = Factor::in_order(&matrix, &order).unwrap();
                let b = right_hand_side(matrix.n);
                let mut x = b.clone();
                factor.solve(&mut x, &mut SolveWork::default());
                let error = residual(&matrix, &x, &b);
                // Some rounding errors of 6e-8, the matrix being well-conditioned.
                assert!(error < 2e-6, "{} particles: {error}", matrix.n);
                let mut one: Vec<f32> = b.iter().map(|b| b.y).collect();
                factor.solve_one(&mut one, &mut SolveWork::default());
                assert!(x.iter().zip(&one).all(|(x, one)| x.y.to_bits() == one.to_bits()));
                let cost = Factor::cost(&matrix, &order);
                let built: usize = factor.values.iter().map(|v| v.len() * 32).sum();
                assert!(built < cost.bytes && cost.bytes == factor.bytes() && cost.bytes < cost.peak_bytes);
            }
        }
    }
}
