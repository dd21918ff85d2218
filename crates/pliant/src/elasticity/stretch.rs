//! The constant matrix of the stretching, M + dt² K_s, and its factors [K21].
//!
//! With g_k = Σ_l b_kl (e_l - e_k), the linear map from one coordinate of all positions to a row of B_k, the energy
//! mu V |F_k|² and the zero-energy control give, alike for the three coordinates,
//!   K_s = Σ_k g_kᵀ (2 mu V_k C_k² - z C_k) g_k + z Σ_k Σ_l beta_kl (e_k - e_l)(e_k - e_l)ᵀ.
//! Held particles are rows of the identity.
#![allow(non_snake_case)] // B, C, K as in the theory

use super::ElasticBody;
use super::rest::Rest;
use crate::linear::{Factor, FactorCache, FactorError, Origin, SolveWork, SymmetricMatrix};
use crate::math::{Mat3, Real, Vec3};
use rayon::prelude::*;
use std::sync::{Arc, Weak};

/// A larger factor is not made: its body is iterated.
const MOST_BYTES: usize = 1 << 30;
/// A body of more particles is not asked what its factor would cost.
const MOST_PARTICLES: usize = 150_000;

/// Does a factor solve faster than conjugate gradients, for n particles of stiffness number S?
///
/// Both read memory as fast as it gives: the factor about 0.11 n^(1/3) kB a particle, twice; an iteration 1.2 kB. There
/// are about 2 + 6 sqrt(S) iterations, with grids no more than 17 (docs/theory/solvers.md).
pub(super) fn factor_pays(n: usize, S: Real) -> bool {
    let iterations = (2.0 + 6.0 * S.sqrt()).min(17.0);
    n <= MOST_PARTICLES && 0.22 * (n as Real).cbrt() < 1.2 * iterations
}

/// What the matrix of a body is made from, besides its rest state and masses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Stiffnesses {
    /// dt² mu [Pa s2].
    pub shear: Real,
    /// dt² z [Pa s2].
    pub zero_energy: Real,
}

impl Stiffnesses {
    pub fn new(body: &ElasticBody, dt: Real) -> Self {
        Stiffnesses { shear: dt * dt * body.moduli.shear, zero_energy: dt * dt * body.constants.z }
    }
}

/// A factor, and what it was made from.
#[derive(Debug)]
pub(super) struct StretchFactor {
    pub stiffnesses: Stiffnesses,
    held: Vec<bool>,
    family: usize,
    pub factor: Factor,
    /// How many solves making it took, about.
    pub worth: Real,
    /// Relative residual of a solve with it.
    pub residual: Real,
}

/// The factors in use, to be shared: bodies of a family have the same rest state up to a rotation, and the same masses.
#[derive(Debug, Default)]
pub struct FactorShelf {
    factors: Vec<Weak<StretchFactor>>,
    /// Where factors are kept between runs.
    pub cache: Option<FactorCache>,
    /// Factors made.
    pub made: u64,
    /// Factors read from the cache.
    pub read: u64,
}

/// M + dt² K_s of a body of equal masses.
pub(super) struct Stretch<'a> {
    pub rest: &'a Rest,
    pub masses: &'a [f32],
    pub held: &'a [bool],
    pub stiffnesses: Stiffnesses,
}

impl FactorShelf {
    /// A factor that is there already.
    pub(super) fn find(&mut self, family: usize, stretch: &Stretch) -> Option<Arc<StretchFactor>> {
        self.factors.retain(|factor| factor.strong_count() > 0);
        self.factors.iter().filter_map(Weak::upgrade).find(|factor| {
            factor.family == family
                && factor.stiffnesses == stretch.stiffnesses
                && factor.held == stretch.held
        })
    }

    /// Factors the matrix.
    pub(super) fn make(
        &mut self,
        family: usize,
        stretch: &Stretch,
    ) -> Result<Arc<StretchFactor>, FactorError> {
        let matrix = stretch.assemble();
        let (factor, origin) = match &self.cache {
            Some(cache) => cache.factor(MOST_BYTES, &matrix, &stretch.rest.positions)?,
            None => (Factor::within(MOST_BYTES, &matrix, &stretch.rest.positions)?, Origin::Built),
        };
        match origin {
            Origin::Built => self.made += 1,
            Origin::Cached => self.read += 1,
        }
        // a core multiplies and adds about as fast as the memory gives it bytes twice
        let worth = factor.flops() / (2 * factor.bytes()) as Real;
        let residual = residual_of(&factor, &matrix);
        let factor = Arc::new(StretchFactor {
            stiffnesses: stretch.stiffnesses,
            held: stretch.held.to_vec(),
            family,
            factor,
            worth,
            residual,
        });
        self.factors.push(Arc::downgrade(&factor));
        Ok(factor)
    }
}

/// |A x - b| / |b| of a solve for a rough b.
fn residual_of(factor: &Factor, matrix: &SymmetricMatrix) -> Real {
    let rough = |i: usize| glam::Vec3::new(1.0, ((i * 7919) % 31) as f32 - 15.0, ((i * 104729) % 17) as f32);
    let b: Vec<glam::Vec3> = (0..matrix.n).map(rough).collect();
    let (mut x, mut Ax) = (b.clone(), b.clone());
    factor.solve(&mut x, &mut SolveWork::default());
    matrix.multiply(&x, &mut Ax);
    let squares =
        |v: &mut dyn Iterator<Item = glam::Vec3>| v.map(|v| v.as_dvec3().length_squared()).sum::<Real>();
    (squares(&mut Ax.iter().zip(&b).map(|(a, b)| *a - *b)) / squares(&mut b.iter().copied())).sqrt()
}

impl StretchFactor {
    pub fn holds(&self, held: &[bool]) -> bool {
        self.held == held
    }
}

impl Stretch<'_> {
    /// The lower triangle by columns.
    pub fn assemble(&self) -> SymmetricMatrix {
        let n = self.masses.len();
        let Stiffnesses { shear, zero_energy } = self.stiffnesses;
        let rest = self.rest;
        let inner: Vec<Mat3> = (0..n)
            .map(|k| {
                let C = rest.correction_of(k);
                C * C * (2.0 * shear * rest.volumes[k]) - C * zero_energy
            })
            .collect();
        let own: Vec<Vec3> = (0..n)
            .map(|k| {
                let mut sum = Vec3::ZERO;
                rest.neighbors.for_each_of(k, |_, b, _| sum -= b);
                sum
            })
            .collect();
        let column = |scratch: &mut Column, j: usize| {
            scratch.number = j as u32 + 1;
            let mut add = |i: usize, a: Real| {
                if i >= j && !(self.held[i] || self.held[j]) {
                    scratch.add(i, a);
                }
            };
            let mut through = |k: usize, b_kj: Vec3| {
                let h = inner[k] * b_kj;
                add(k, own[k].dot(h));
                rest.neighbors.for_each_of(k, |i, b, _| add(i, b.dot(h)));
            };
            through(j, own[j]);
            rest.neighbors.for_each_of(j, |k, b, _| through(k, -b));
            let mut diagonal = self.masses[j] as Real;
            rest.neighbors.for_each_of(j, |i, _, beta| {
                diagonal += 2.0 * zero_energy * beta;
                add(i, -2.0 * zero_energy * beta);
            });
            scratch.add(j, if self.held[j] { 1.0 } else { diagonal });
            scratch.take()
        };
        let columns: Vec<(Vec<u32>, Vec<f32>)> =
            (0..n).into_par_iter().with_min_len(512).map_init(|| Column::new(n), column).collect();
        let mut starts = vec![0];
        let (mut rows, mut values) = (Vec::new(), Vec::new());
        for (column_rows, column_values) in columns {
            rows.extend(column_rows);
            values.extend(column_values);
            starts.push(rows.len());
        }
        SymmetricMatrix::new(starts, rows, values)
    }
}

/// One column while it is summed.
struct Column {
    /// The column's number, from one.
    number: u32,
    /// The last column that has an entry in each row.
    seen: Vec<u32>,
    sums: Vec<Real>,
    rows: Vec<u32>,
}

impl Column {
    fn new(n: usize) -> Self {
        Column { number: 0, seen: vec![0; n], sums: vec![0.0; n], rows: Vec::new() }
    }

    fn add(&mut self, i: usize, a: Real) {
        if self.seen[i] != self.number {
            (self.seen[i], self.sums[i]) = (self.number, 0.0);
            self.rows.push(i as u32);
        }
        self.sums[i] += a;
    }

    /// Rows, rising, and values.
    fn take(&mut self) -> (Vec<u32>, Vec<f32>) {
        self.rows.sort_unstable();
        let values = self.rows.iter().map(|&i| self.sums[i as usize] as f32).collect();
        let rows = self.rows.clone();
        self.rows.clear();
        (rows, values)
    }
}
