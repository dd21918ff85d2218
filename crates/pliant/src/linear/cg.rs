//! Preconditioned conjugate gradients on one vector a particle.
//!
//! Vectors are in single precision, their products are summed in double precision, in chunks whose order is fixed: the
//! result is the same for any number of threads. An iteration reads and writes the vectors in three passes besides the
//! operator and the preconditioner:
//!   q = A p, with p·q;   x += a p, r -= a q, with |r|²;   z = M⁻¹ r, with r·z;   p = z + b p.
//! The residual is the recursive one. It follows the true residual b - A x down to about eps |A| |x|, the rounding of x
//! itself; so solve for a small change of the state, not for the state.

use crate::math::{CHUNK, sum_by_chunk};
use glam::Vec3;
use rayon::prelude::*;

/// A symmetric positive definite matrix A.
pub trait Operator {
    /// Number of particles.
    fn len(&self) -> usize;

    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// y = A x.
    fn apply(&mut self, x: &[Vec3], y: &mut [Vec3]);
}

/// A symmetric positive definite approximation M⁻¹ of A⁻¹.
pub trait Preconditioner {
    /// z = M⁻¹ r.
    fn apply(&mut self, r: &[Vec3], z: &mut [Vec3]);

    /// z = M⁻¹ r and the product r·z; in one pass where the preconditioner can.
    fn apply_with_product(&mut self, r: &[Vec3], z: &mut [Vec3]) -> f64 {
        self.apply(r, z);
        product(r, z)
    }
}

/// When a residual r is small enough.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Tolerance<'a> {
    /// |r| <= value |b|.
    Relative(f64),
    /// Mean over the particles of |r_i| <= value, in the units of b.
    Absolute(f64),
    /// Mean over the particles of |r_i| / m_i <= value, for these masses.
    AbsolutePerMass(f64, &'a [f32]),
}

/// Why an iteration cannot go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Breakdown {
    /// A number is infinite or not a number.
    NotFinite,
    /// p·A p <= 0 or r·M⁻¹ r <= 0: the operator or the preconditioner is not positive definite.
    NotPositive,
}

/// How a solve ended. After a breakdown x holds the last iterate that was finite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Solved {
    pub iterations: usize,
    /// Directions that were searched: one an iteration, or many at once.
    pub directions: usize,
    /// Products with the matrix, those of preconditioners included.
    pub products: usize,
    /// The residual in the measure of the tolerance: relative, mean, or mean per mass.
    pub residual: f64,
    pub converged: bool,
    pub breakdown: Option<Breakdown>,
}

impl Solved {
    /// Nothing was asked, nothing is left.
    pub const NOTHING: Solved =
        Solved { iterations: 0, directions: 0, products: 0, residual: 0.0, converged: true, breakdown: None };
}

/// The solver's vectors, kept between solves.
#[derive(Clone, Debug, Default)]
pub struct ConjugateGradients {
    /// Residual r = b - A x.
    r: Vec<Vec3>,
    /// Search direction.
    p: Vec<Vec3>,
    /// M⁻¹ r, and A p: never needed at the same time.
    q: Vec<Vec3>,
}

impl ConjugateGradients {
    pub fn new(particles: usize) -> Self {
        let mut solver = Self::default();
        solver.resize(particles);
        solver
    }

    fn resize(&mut self, particles: usize) {
        for column in [&mut self.r, &mut self.p, &mut self.q] {
            column.resize(particles, Vec3::ZERO);
        }
    }

    /// Solves A x = b from the x given. At least one of |r| <= tolerance, `max_iterations` or a breakdown ends it.
    pub fn solve(
        &mut self,
        a: &mut impl Operator,
        m: &mut impl Preconditioner,
        b: &[Vec3],
        x: &mut [Vec3],
        tolerance: Tolerance,
        max_iterations: usize,
    ) -> Solved {
        assert!(
            a.len() == b.len() && b.len() == x.len(),
            "operator, right-hand side and solution differ in size"
        );
        self.resize(b.len());
        let b_norm = product(b, b).sqrt();
        let bound = tolerance.value();
        let mut solved = Solved::NOTHING;
        if b_norm == 0.0 && matches!(tolerance, Tolerance::Relative(_)) {
            x.fill(Vec3::ZERO);
            return solved;
        }
        a.apply(x, &mut self.r);
        solved.products = 1;
        self.r.par_iter_mut().with_min_len(CHUNK).zip(b).for_each(|(r, b)| *r = *b - *r);
        solved.residual = tolerance.measure(&self.r, product(&self.r, &self.r), b_norm);
        let mut rz = 0.0;
        while solved.residual > bound && solved.iterations < max_iterations {
            let next = m.apply_with_product(&self.r, &mut self.q);
            solved.breakdown = Breakdown::of(next);
            if solved.breakdown.is_some() {
                break;
            }
            direct(&mut self.p, &self.q, if rz == 0.0 { 0.0 } else { (next / rz) as f32 });
            rz = next;
            a.apply(&self.p, &mut self.q);
            solved.products += 1;
            let curvature = product(&self.p, &self.q);
            solved.breakdown = Breakdown::of(curvature);
            if solved.breakdown.is_some() {
                break;
            }
            let r_squared = self.advance(x, (rz / curvature) as f32);
            solved.iterations += 1;
            solved.directions += 1;
            solved.residual = tolerance.measure(&self.r, r_squared, b_norm);
        }
        if !solved.residual.is_finite() {
            solved.breakdown = Some(Breakdown::NotFinite);
        }
        solved.converged = solved.breakdown.is_none() && solved.residual <= bound;
        solved
    }

    /// x += a p, r -= a q; |r|².
    fn advance(&mut self, x: &mut [Vec3], a: f32) -> f64 {
        let chunks = self.r.par_chunks_mut(CHUNK).zip(x.par_chunks_mut(CHUNK));
        let chunks = chunks.zip(self.p.par_chunks(CHUNK).zip(self.q.par_chunks(CHUNK)));
        let parts: Vec<f64> = chunks
            .map(|((r, x), (p, q))| {
                for (((r, x), p), q) in r.iter_mut().zip(x).zip(p).zip(q) {
                    *x += *p * a;
                    *r -= *q * a;
                }
                product_of_chunk(r, r)
            })
            .collect();
        parts.into_iter().sum()
    }
}

/// p = z + b p.
fn direct(p: &mut [Vec3], z: &[Vec3], b: f32) {
    p.par_iter_mut().with_min_len(CHUNK).zip(z).for_each(|(p, z)| *p = *z + *p * b);
}

impl Breakdown {
    /// What is wrong with p·A p or r·M⁻¹ r, if anything is.
    pub fn of(curvature: f64) -> Option<Breakdown> {
        match curvature {
            c if !c.is_finite() => Some(Breakdown::NotFinite),
            c if c <= 0.0 => Some(Breakdown::NotPositive),
            _ => None,
        }
    }
}

impl Tolerance<'_> {
    fn value(self) -> f64 {
        match self {
            Tolerance::Relative(value)
            | Tolerance::Absolute(value)
            | Tolerance::AbsolutePerMass(value, _) => value,
        }
    }

    /// The size of a residual whose square is known.
    fn measure(self, r: &[Vec3], r_squared: f64, b_norm: f64) -> f64 {
        let count = r.len().max(1) as f64;
        let mean = |length: &(dyn Fn(usize) -> f32 + Sync)| {
            sum_by_chunk(r.len(), 0.0, |range| range.map(|i| length(i) as f64).sum::<f64>()) / count
        };
        match self {
            Tolerance::Relative(_) => r_squared.sqrt() / b_norm,
            Tolerance::Absolute(_) => mean(&|i| r[i].length()),
            Tolerance::AbsolutePerMass(_, masses) => mean(&|i| r[i].length() / masses[i]),
        }
    }
}

/// a·b, summed in double precision in an order fixed by the length alone.
pub(crate) fn product(a: &[Vec3], b: &[Vec3]) -> f64 {
    sum_by_chunk(a.len(), 0.0, |range| product_of_chunk(&a[range.clone()], &b[range]))
}

/// a·b of one chunk, in four interleaved sums.
pub(super) fn product_of_chunk(a: &[Vec3], b: &[Vec3]) -> f64 {
    let mut sums = [glam::DVec3::ZERO; 4];
    let (a_fours, b_fours) = (a.chunks_exact(4), b.chunks_exact(4));
    for (a, b) in a_fours.remainder().iter().zip(b_fours.remainder()) {
        sums[0] += a.as_dvec3() * b.as_dvec3();
    }
    for (a, b) in a_fours.zip(b_fours) {
        for ((sum, a), b) in sums.iter_mut().zip(a).zip(b) {
            *sum += a.as_dvec3() * b.as_dvec3();
        }
    }
    ((sums[0] + sums[1]) + (sums[2] + sums[3])).element_sum()
}

#[cfg(test)]
mod tests {
    use super::super::{BlockJacobi, Identity, Jacobi};
    use super::*;

    /// A chain of springs: m x_i + k (2 x_i - x_(i-1) - x_(i+1)), coupled between components by a block.
    struct Chain {
        masses: Vec<f32>,
        k: f32,
        block: glam::Mat3,
    }

    impl Operator for Chain {
        fn len(&self) -> usize {
            self.masses.len()
        }

        fn apply(&mut self, x: &[Vec3], y: &mut [Vec3]) {
            let at = |i: usize| x.get(i).copied().unwrap_or(Vec3::ZERO);
            for (i, y) in y.iter_mut().enumerate() {
                let stretch = 2.0 * x[i] - at(i + 1) - at(i.wrapping_sub(1));
                *y = self.masses[i] * x[i] + self.k * (self.block * stretch);
            }
        }
    }

    const BLOCK: glam::Mat3 =
        glam::Mat3::from_cols(Vec3::new(3.0, 1.0, 0.5), Vec3::new(1.0, 2.0, 0.3), Vec3::new(0.5, 0.3, 1.0));

    fn chain(n: usize, k: f32) -> Chain {
        Chain { masses: (0..n).map(|i| 1.0 + (i % 5) as f32).collect(), k, block: BLOCK }
    }

    fn wave(n: usize) -> Vec<Vec3> {
        (0..n).map(|i| i as f32).map(|i| Vec3::new((0.1 * i).sin(), (0.37 * i).cos(), 1.0)).collect()
    }

    fn true_residual(a: &mut Chain, x: &[Vec3], b: &[Vec3]) -> f64 {
        let mut y = vec![Vec3::ZERO; x.len()];
        a.apply(x, &mut y);
        let r: Vec<Vec3> = y.iter().zip(b).map(|(y, b)| *b - *y).collect();
        (product(&r, &r) / product(b, b)).sqrt()
    }

    fn blocks(a: &Chain) -> Vec<glam::Mat3> {
        a.masses.iter().map(|&m| glam::Mat3::from_diagonal(Vec3::splat(m)) + a.block * (2.0 * a.k)).collect()
    }

    /// Iterations from zero to a relative residual of 1e-5, which is checked.
    fn iterations(a: &mut Chain, m: &mut impl Preconditioner, b: &[Vec3]) -> usize {
        let mut x = vec![Vec3::ZERO; b.len()];
        let solved = ConjugateGradients::new(b.len()).solve(a, m, b, &mut x, Tolerance::Relative(1e-5), 200);
        assert!(solved.converged && solved.residual <= 1e-5, "{solved:?}");
        // Rounding of x: eps |A| |x| / |b| is some 1e-7.
        assert!(true_residual(a, &x, b) < 1.1e-5);
        solved.iterations
    }

    #[test]
    fn every_preconditioner_reaches_the_tolerance() {
        let (mut a, b) = (chain(9_000, 4.0), wave(9_000));
        let diagonal: Vec<f32> = a.masses.iter().map(|m| m + 8.0).collect();
        let plain = iterations(&mut a, &mut Identity, &b);
        iterations(&mut a, &mut Jacobi::new(&diagonal), &b);
        let mut block = BlockJacobi::new(&blocks(&a));
        assert!(iterations(&mut a, &mut block, &b) <= plain);
    }

    #[test]
    fn a_good_start_takes_fewer_iterations_and_the_solution_none() {
        let (mut a, b) = (chain(3_000, 10.0), wave(3_000));
        let mut solver = ConjugateGradients::new(b.len());
        let mut x = vec![Vec3::ZERO; b.len()];
        let mut solve = |x: &mut [Vec3], tolerance: f64| {
            solver.solve(&mut a, &mut Identity, &b, x, Tolerance::Relative(tolerance), 500).iterations
        };
        let cold = solve(&mut x, 1e-5);
        assert_eq!(solve(&mut x, 1e-4), 0);
        for x in &mut x {
            *x += Vec3::splat(1e-4);
        }
        assert!(solve(&mut x, 1e-5) < cold);
    }

    #[test]
    fn no_load_gives_no_motion() {
        let (mut a, b) = (chain(100, 1.0), vec![Vec3::ZERO; 100]);
        for tolerance in [Tolerance::Relative(1e-4), Tolerance::Absolute(1e-6)] {
            let mut x = wave(100);
            let solved =
                ConjugateGradients::new(100).solve(&mut a, &mut Identity, &b, &mut x, tolerance, 500);
            assert!(solved.converged && solved.residual.is_finite(), "{solved:?}");
            assert!(x.iter().all(|x| x.length() < 1e-5));
        }
    }

    #[test]
    fn absolute_tolerances_bound_the_mean_residual() {
        let (mut a, b) = (chain(5_000, 4.0), wave(5_000));
        let masses = a.masses.clone();
        for tolerance in [Tolerance::Absolute(1e-3), Tolerance::AbsolutePerMass(1e-3, &masses)] {
            let mut x = vec![Vec3::ZERO; b.len()];
            let solved =
                ConjugateGradients::new(b.len()).solve(&mut a, &mut Identity, &b, &mut x, tolerance, 500);
            let mut y = vec![Vec3::ZERO; b.len()];
            a.apply(&x, &mut y);
            let weight = |i: usize| if tolerance == Tolerance::Absolute(1e-3) { 1.0 } else { masses[i] };
            let mean = (0..b.len()).map(|i| (b[i] - y[i]).length() / weight(i)).sum::<f32>() / b.len() as f32;
            assert!(solved.converged && mean < 1.01e-3, "{solved:?}: {mean}");
        }
    }

    #[test]
    fn indefinite_and_infinite_systems_end_with_a_breakdown() {
        let b = wave(100);
        let solve = |mut a: Chain, b: &[Vec3]| {
            let mut x = vec![Vec3::ZERO; b.len()];
            let solved = ConjugateGradients::default().solve(
                &mut a,
                &mut Identity,
                b,
                &mut x,
                Tolerance::Relative(1e-6),
                1_000,
            );
            assert!(!solved.converged && x.iter().all(|x| x.is_finite()), "{solved:?}");
            solved.breakdown
        };
        assert_eq!(solve(chain(100, -5.0), &b), Some(Breakdown::NotPositive));
        assert_eq!(solve(chain(100, f32::INFINITY), &b), Some(Breakdown::NotFinite));
        let mut infinite = b.clone();
        infinite[7].x = f32::NAN;
        assert_eq!(solve(chain(100, 1.0), &infinite), Some(Breakdown::NotFinite));
    }

    #[test]
    fn the_iteration_limit_is_kept() {
        let (mut a, b) = (chain(3_000, 100.0), wave(3_000));
        let mut x = vec![Vec3::ZERO; b.len()];
        let tolerance = Tolerance::Relative(1e-6);
        let solved = ConjugateGradients::new(b.len()).solve(&mut a, &mut Identity, &b, &mut x, tolerance, 3);
        assert_eq!((solved.iterations, solved.converged, solved.breakdown), (3, false, None));
    }

    #[test]
    fn solutions_do_not_depend_on_the_thread_count() {
        let b = wave(20_003);
        let solve = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a thread pool");
            pool.install(|| {
                let mut a = chain(b.len(), 30.0);
                let mut m = BlockJacobi::new(&blocks(&a));
                let mut x = vec![Vec3::ZERO; b.len()];
                let tolerance = Tolerance::Relative(1e-5);
                ConjugateGradients::new(b.len()).solve(&mut a, &mut m, &b, &mut x, tolerance, 500);
                x
            })
        };
        let one = solve(1);
        assert!([2, 3, 7].iter().all(|&threads| solve(threads) == one));
    }
}
