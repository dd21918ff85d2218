//! Constants of a body's rest state, eight particles at a time.

use super::cells::Cells;
use super::{Method, Model};
use crate::kernel::Kernel;
use crate::math::{LANES, Lane, Mat3, Real, Sym3x8, Vec3, max_with_index, outer, pseudo_inverse, sum};
use crate::neighbors::RestNeighbors;
use rayon::prelude::*;

/// Singular values of a moment matrix below this part of the largest are a missing dimension. A flat neighbourhood has
/// none at all across it; a curved sheet has a little, (curvature s)², which must not be mistaken for a thickness: its
/// inverse would blow the deformation gradient up. Two full layers have a third.
const FLAT: Real = 0.05;

/// Part of the support within which corrected gradients of a lattice weigh their neighbours. The smaller, the less a
/// surface particle sees of the next layer, which is strained less in bending and torsion (docs/theory/accuracy.md).
const LATTICE_REACH: Real = 0.8;
/// And at least so many spacings, if the support allows: particles that stick out need their diagonal neighbours.
const LEAST_REACH: Real = 1.6;

/// Per-slice constants.
#[derive(Clone, Copy, Debug)]
pub(super) struct SliceRest {
    /// C_i = (Σ_j b_ij ⊗ X_ji)⁺: makes F_i = B_i C_i exact for affine maps.
    pub correction: Sym3x8,
    /// D_i = Σ_j V_j ∇W_ij ⊗ X_ji, what uncorrected gradients make of the rest shape (the identity, ideally).
    pub rest_gradient: Sym3x8,
    pub volume: Lane,
    pub inverse_volume: Lane,
}

/// The constant side of an elastic body.
#[derive(Clone, Debug)]
pub(super) struct Rest {
    pub neighbors: RestNeighbors,
    /// Neighbours inside a full lattice.
    pub lattice_neighbors: usize,
    pub slices: Vec<SliceRest>,
    /// Projectors onto the missing dimensions of each neighbourhood; empty if all are three-dimensional.
    pub null: Vec<Sym3x8>,
    /// Dimensions that each neighbourhood spans; empty if all are three-dimensional.
    pub ranks: Vec<[u8; LANES]>,
    /// W/(-W'/r) of every pair [m2], for shape matching and XSPH; empty for bodies that use neither.
    pub ratios: Vec<[f32; LANES]>,
    /// Shape matching only: Σ_j V_i V_j W_ij X_ji ⊗ X_ji.
    pub matching: Vec<Sym3x8>,
    /// Rest positions, turned as the body stands at the start.
    pub positions: Vec<Vec3>,
    /// The particle nearest to the centre.
    pub middle: usize,
    pub volumes: Vec<Real>,
    /// The layout of an implicit body on a lattice.
    pub cells: Option<Cells>,
}

impl Rest {
    /// `volume` is the lattice volume m / rho0 of a particle; uncorrected methods replace it by their papers' SPH
    /// volumes V_i = 1 / Σ_j W_ij.
    pub fn build(positions: Vec<Vec3>, volume: Real, kernel: Kernel, method: Method) -> Self {
        let volumes = if method.model.is_corrected() {
            vec![volume; positions.len()]
        } else {
            sph_volumes(&positions, kernel)
        };
        let (neighbors, lattice_neighbors) = if method.model.is_corrected() {
            fitted_neighbors(&positions, &volumes, kernel, method.is_split())
        } else {
            (RestNeighbors::build(&positions, &volumes, kernel), kernel.lattice_neighbors(volume.cbrt()))
        };
        let moments = neighbors.moments(&positions);
        let slice_count = positions.len().div_ceil(LANES);
        let mut slices = Vec::with_capacity(slice_count);
        let mut null = Vec::with_capacity(slice_count);
        let mut ranks = vec![[3; LANES]; slice_count];
        let mut flat = false;
        for s in 0..slice_count {
            let mut slice = SliceRest {
                correction: Sym3x8::ZERO,
                rest_gradient: Sym3x8::ZERO,
                volume: Lane::ONE,
                inverse_volume: Lane::ONE,
            };
            let mut slice_null = Sym3x8::ZERO;
            for lane in 0..LANES.min(positions.len() - s * LANES) {
                let i = s * LANES + lane;
                let (inverse, rank, projector) = pseudo_inverse(moments[i], FLAT);
                slice.correction.set(lane, inverse);
                slice.rest_gradient.set(lane, moments[i] * (1.0 / volumes[i]));
                slice.volume.as_mut_array()[lane] = volumes[i] as f32;
                slice.inverse_volume.as_mut_array()[lane] = (1.0 / volumes[i]) as f32;
                ranks[s][lane] = rank as u8;
                slice_null.set(lane, projector);
                flat |= rank < 3;
            }
            slices.push(slice);
            null.push(slice_null);
        }
        if !flat {
            (null, ranks) = (Vec::new(), Vec::new());
        }
        let matching = match method.model {
            Model::Becker2009 => matching_moments(&neighbors, &positions, &volumes, kernel),
            _ => Vec::new(),
        };
        let ratios = if method.model == Model::Becker2009 || method.xsph > 0.0 {
            neighbors.weight_ratios(&positions, &volumes, kernel)
        } else {
            Vec::new()
        };
        let mut rest = Rest {
            neighbors,
            lattice_neighbors,
            slices,
            null,
            ranks,
            ratios,
            matching,
            middle: nearest_to_center(&positions),
            positions,
            volumes,
            cells: None,
        };
        rest.cells = if method.model.is_implicit() { Cells::of(&rest) } else { None };
        rest
    }
}

impl Rest {
    /// Calls `f(j, V_i V_j W_ij)` for each neighbour of i, if `ratios` are kept.
    pub fn for_each_weight(&self, i: usize, mut f: impl FnMut(usize, Real)) {
        let (s, lane) = (i / LANES, i % LANES);
        let rows = self.neighbors.range(s).zip(self.neighbors.slice(s));
        for (k, row) in rows.filter(|(k, row)| row.j[lane] as usize != i && *k < self.ratios.len()) {
            let weight = self.ratios[k][lane] * self.neighbors.betas[k][lane];
            f(row.j[lane] as usize, weight as Real);
        }
    }
}

fn nearest_to_center(positions: &[Vec3]) -> usize {
    let center = sum(positions.len(), Vec3::ZERO, |i| positions[i]) / positions.len().max(1) as Real;
    max_with_index(positions.len(), |i| -positions[i].distance_squared(center)).1
}

/// Neighbours with the weights of corrected gradients, and how many there are inside a lattice. The fit does not ask for
/// the scale of its weights, the zero-energy control does: in a lattice Σ_j b_ij ⊗ X_ji is V_i at any reach.
fn fitted_neighbors(
    positions: &[Vec3],
    volumes: &[Real],
    kernel: Kernel,
    whole_support: bool,
) -> (RestNeighbors, usize) {
    let spacing = volumes.first().map_or(0.0, |v| v.cbrt());
    let build = |kernel: Kernel| {
        let mut neighbors = RestNeighbors::build(positions, volumes, kernel);
        neighbors.scale(1.0 / (kernel.lattice_moment(spacing) * spacing.powi(3)));
        (neighbors, kernel.lattice_neighbors(spacing))
    };
    if whole_support {
        return build(kernel);
    }
    let reach = (LATTICE_REACH * kernel.h).max(LEAST_REACH * spacing).min(kernel.h);
    let near = build(Kernel::new(kernel.kind, reach));
    // Points at random need more neighbours than a lattice, or their errors do not average out.
    let in_lattice = near.0.count_in_lattice(positions, spacing);
    if in_lattice * 10 >= positions.len() * 9 { near } else { build(kernel) }
}

/// Σ_j V_i V_j W_ij X_ji ⊗ X_ji of every particle.
fn matching_moments(
    neighbors: &RestNeighbors,
    positions: &[Vec3],
    volumes: &[Real],
    kernel: Kernel,
) -> Vec<Sym3x8> {
    let mut moments = vec![Sym3x8::ZERO; positions.len().div_ceil(LANES)];
    for i in 0..positions.len() {
        let mut m = Mat3::ZERO;
        neighbors.for_each_of(i, |j, _, _| {
            let x_ji = positions[j] - positions[i];
            m += outer(x_ji, x_ji) * (volumes[i] * volumes[j] * kernel.w(x_ji.length()));
        });
        moments[i / LANES].set(i % LANES, m);
    }
    moments
}

/// V_i = 1 / Σ_j W_ij, itself included: the volume m_i / rho_i of plain SPH for equal masses [B09].
fn sph_volumes(positions: &[Vec3], kernel: Kernel) -> Vec<Real> {
    let mut grid = crate::neighbors::Grid::default();
    grid.build(positions, kernel.h);
    let volume = |x: &Vec3| {
        let mut density = 0.0;
        grid.for_each_within(*x, kernel.h, |_, x_j| density += kernel.w(x.distance(x_j)));
        1.0 / density
    };
    positions.par_iter().with_min_len(128).map(volume).collect()
}

impl Rest {
    /// Null projector of particle i.
    pub fn null_of(&self, i: usize) -> Mat3 {
        self.null.get(i / LANES).map_or(Mat3::ZERO, |n| symmetric(n, i % LANES))
    }

    pub fn correction_of(&self, i: usize) -> Mat3 {
        symmetric(&self.slices[i / LANES].correction, i % LANES)
    }

    pub fn rest_gradient_of(&self, i: usize) -> Mat3 {
        symmetric(&self.slices[i / LANES].rest_gradient, i % LANES)
    }

    pub fn bytes(&self) -> usize {
        self.neighbors.bytes()
            + self.slices.len() * size_of::<SliceRest>()
            + (self.null.len() + self.matching.len()) * size_of::<Sym3x8>()
            + self.ranks.len() * size_of::<[u8; LANES]>()
            + self.ratios.len() * size_of::<[f32; LANES]>()
            + self.positions.len() * (size_of::<Vec3>() + size_of::<Real>())
            + self.cells.as_ref().map_or(0, Cells::bytes)
    }
}

fn symmetric(m: &Sym3x8, lane: usize) -> Mat3 {
    let at = |v: &Lane| v.as_array()[lane] as Real;
    let (xx, yy, zz) = (at(&m.xx), at(&m.yy), at(&m.zz));
    let (xy, xz, yz) = (at(&m.xy), at(&m.xz), at(&m.yz));
    Mat3::from_cols(Vec3::new(xx, xy, xz), Vec3::new(xy, yy, yz), Vec3::new(xz, yz, zz))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::elasticity::Solver;
    use crate::kernel::KernelKind;

    const S: Real = 0.1;
    const ACROSS: usize = 7;
    /// The particle in the middle.
    const MIDDLE: usize = ACROSS * ACROSS * ACROSS / 2;

    /// A cube of a lattice whose particles are moved by up to this part of the spacing.
    fn cube(jitter: Real, method: Method, support: Real) -> Rest {
        let at = |k: usize| {
            let place =
                Vec3::new((k % ACROSS) as Real, (k / ACROSS % ACROSS) as Real, (k / ACROSS.pow(2)) as Real);
            let (a, b, c) = ((7 * k) as Real, (11 * k) as Real, (13 * k) as Real);
            (place + Vec3::new(a.sin(), b.sin(), c.sin()) * jitter) * S
        };
        let positions = (0..ACROSS.pow(3)).map(at).collect();
        Rest::build(positions, S.powi(3), Kernel::new(KernelKind::WendlandC2, support * S), method)
    }

    #[test]
    fn lattices_reach_less_far_than_other_points_and_other_methods() {
        let neighbors = |jitter, method, support| cube(jitter, method, support).neighbors.counts()[MIDDLE];
        for method in [Model::Mls2004, Model::Peer2018, Model::Kugelstadt2021].map(Method::of) {
            assert_eq!(neighbors(0.0, method, 2.0), 18);
            assert_eq!(neighbors(0.005, method, 2.0), 18);
            assert!(neighbors(0.1, method, 2.0) >= 26);
        }
        let split = Method { solver: Solver::Split, ..Method::of(Model::Kugelstadt2021) };
        assert_eq!(neighbors(0.0, Method::of(Model::Becker2009), 2.0), 26);
        assert_eq!(neighbors(0.0, split, 2.0), 26);
        // The diagonals remain as long as the support has them.
        for (support, count) in [(1.05, 6), (1.5, 18), (1.8, 18), (2.5, 26)] {
            let method = Method::of(Model::Mls2004);
            assert_eq!(neighbors(0.0, method, support), count, "support {support}");
            assert_eq!(cube(0.0, method, support).lattice_neighbors, count, "support {support}");
        }
    }

    #[test]
    fn weights_of_a_lattice_have_its_volume_as_moment() {
        for support in [1.05, 1.5, 2.0, 3.0] {
            let rest = cube(0.0, Method::of(Model::Mls2004), support);
            let moment = rest.neighbors.moments(&rest.positions)[MIDDLE] * (1.0 / S.powi(3));
            let error =
                (moment - Mat3::IDENTITY).to_cols_array().iter().fold(0.0, |a: Real, b| a.max(b.abs()));
            assert!(error < 1e-6, "support {support}: {moment}");
        }
    }
}
