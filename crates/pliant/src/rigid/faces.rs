//! Planes and the faces of containers: even layers without bumps, along which liquid glides.
//!
//! A face that has an end presses back with a pressure of its own, a smooth field: quadratic B-splines N_b on a grid of
//! nodes, which sum to one everywhere. A node is compressed by
//!   c_b = Σ_j N_b(x_j) rho(z_j) - room_b,
//! where z_j is the height of a particle of liquid and room_b the sum of a full lattice. Its pressure is not an unknown but
//! the mean of those it covers, weighted by N_b rho. With pressures free to choose, layers of a liquid that is near a
//! lattice would alternate: a mode no force sees. Where pressure varies along a wall, as with depth, the field pushes
//! along it by rho ∇kappa, what the liquid's missing half would do.
//!
//! Planes, which have no end, and solids, whose insides have no pressure that balances such forces, have
//! phi = rho²/rho_1 instead, where rho_1 is rho one spacing away: there phi = rho, and its slope is twice that of rho, as
//! if the layer pressed back alike.
//!
//! Where faces of a container meet, what is below two or three of them is counted once.

use super::WallBody;
use crate::kernel::Kernel;
use crate::math::{Real, Vec3};

/// Distance of nodes [spacings].
const PITCH: Real = 2.0;
/// Most nodes of a container. A larger one has none.
const MOST_NODES: Real = 1e6;

/// The half space x·normal < -offset in the body's own coordinates.
#[derive(Clone, Copy, Debug)]
pub(super) struct Face {
    pub normal: Vec3,
    pub offset: Real,
    /// Nodes of its pressure, if it has an end.
    pub grid: Option<Grid>,
}

impl Face {
    pub fn plane(normal: Vec3) -> Self {
        Face { normal, offset: 0.0, grid: None }
    }

    /// The six faces of a container; their nodes count from `first`.
    pub fn of_container(size: Vec3, spacing: Real, mut first: usize) -> Vec<Face> {
        let mut faces = Vec::new();
        for k in 0..3 {
            let grid = Grid::new([(k + 1) % 3, (k + 2) % 3], size, spacing);
            let axis = Vec3::AXES[k];
            faces.extend([axis, -axis].map(|normal| Face {
                normal,
                offset: 0.5 * size[k],
                grid: Some(grid),
            }));
        }
        let total: Real = faces.iter().filter_map(|face| face.grid).map(|grid| grid.size()).sum();
        for face in &mut faces {
            match &mut face.grid {
                Some(grid) if total <= MOST_NODES => {
                    grid.first = first;
                    first += grid.len();
                }
                grid => *grid = None,
            }
        }
        faces
    }

    /// Height of a point above the face, and its normal, in the world.
    pub fn height(&self, body: &WallBody, x: Vec3) -> (Real, Vec3) {
        let n = body.to_world * self.normal;
        ((x - body.position).dot(n) + self.offset, n)
    }
}

/// Nodes on a face, in rows along its first axis: one in the middle of each cell, and one beyond either end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Grid {
    axes: [Vec3; 2],
    lengths: [Real; 2],
    /// Cells along each axis, a whole number.
    cells: [Real; 2],
    /// Number of its first node.
    first: usize,
}

impl Grid {
    fn new(axes: [usize; 2], size: Vec3, spacing: Real) -> Self {
        let lengths = axes.map(|k| size[k]);
        let cells = lengths.map(|length| (length / (PITCH * spacing)).round().max(1.0));
        Grid { axes: axes.map(|k| Vec3::AXES[k]), lengths, cells, first: 0 }
    }

    /// Number of nodes, which may be more than can be counted.
    fn size(&self) -> Real {
        (self.cells[0] + 2.0) * (self.cells[1] + 2.0)
    }

    pub fn len(&self) -> usize {
        self.size() as usize
    }

    /// Σ_j N_b over the first layer of a lattice, for each node.
    pub fn coverages(&self, spacing: Real) -> impl Iterator<Item = Real> {
        let [a, b] = [0, 1].map(|d| {
            let (cells, pitch) = (self.cells[d], self.lengths[d] / self.cells[d]);
            let last = cells as usize + 1;
            let mut sums = vec![0.0; last + 1];
            for k in 0..(self.lengths[d] / spacing).round().max(1.0) as usize {
                let Splines { first, values, .. } = Splines::at((k as Real + 0.5) * spacing / pitch, cells);
                for (sum, value) in sums[first..].iter_mut().zip(values) {
                    *sum += value;
                }
            }
            // the lattice begins at the nearer end
            (0..=last).map(|k| sums[k.min(last - k)]).collect::<Vec<Real>>()
        });
        b.into_iter().flat_map(move |b| a.clone().into_iter().map(move |a| a * b))
    }

    /// Calls `node(b, N_b, ∇N_b)` for the nodes that cover x.
    pub fn for_each_node(&self, body: &WallBody, x: Vec3, mut node: impl FnMut(usize, Real, Vec3)) {
        let axes = self.axes.map(|axis| body.to_world * axis);
        let scales = [0, 1].map(|d| self.cells[d] / self.lengths[d]);
        let [a, b] = [0, 1].map(|d| {
            let along = (x - body.position).dot(axes[d]) + 0.5 * self.lengths[d];
            Splines::at(along * scales[d], self.cells[d])
        });
        let row = self.cells[0] as usize + 2;
        for (j, i) in (0..3).flat_map(|j| (0..3).map(move |i| (j, i))) {
            let gradient = axes[0] * (a.slopes[i] * b.values[j] * scales[0])
                + axes[1] * (a.values[i] * b.slopes[j] * scales[1]);
            node(self.first + (b.first + j) * row + a.first + i, a.values[i] * b.values[j], gradient);
        }
    }
}

/// The three quadratic B-splines that are not zero at a place.
struct Splines {
    first: usize,
    values: [Real; 3],
    slopes: [Real; 3],
}

impl Splines {
    /// At u cells from the end; beyond the ends they are as at the ends.
    fn at(u: Real, cells: Real) -> Self {
        let cell = u.floor().clamp(0.0, cells - 1.0);
        let f = (u - cell).clamp(0.0, 1.0);
        let moves = if f == u - cell { 1.0 } else { 0.0 };
        Splines {
            first: cell as usize,
            values: [0.5 * (1.0 - f) * (1.0 - f), 0.5 + f * (1.0 - f), 0.5 * f * f],
            slopes: [f - 1.0, 1.0 - 2.0 * f, f].map(|slope| slope * moves),
        }
    }
}

/// Even layers one spacing apart, as many as the kernel reaches.
#[derive(Clone, Copy, Debug)]
pub(super) struct FlatLayers {
    kernel: Kernel,
    spacing: Real,
    /// rho at one spacing, that of a lattice.
    pub one: Real,
    /// V0/s² as scaled.
    scale: Real,
    /// Of a lattice below two faces that meet, and below three: density and virial for a particle one spacing from the
    /// first layer of each.
    below: [[Real; 2]; 2],
}

/// A face near a particle.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct NearFace {
    pub normal: Vec3,
    /// rho or phi, and its derivative.
    pub density: Real,
    pub slope: Real,
}

impl FlatLayers {
    pub fn new(kernel: Kernel, spacing: Real) -> Self {
        let sum = |layer: &dyn Fn(Real) -> Real| heights(spacing, spacing, kernel.h).map(layer).sum::<Real>();
        let one = sum(&|z| kernel.layer_sum(spacing, z)) / kernel.lattice_sum(spacing);
        let scale = one / sum(&|z| plane_integral(kernel, z));
        let below = [2, 3].map(|faces| {
            let [density, virial] = below_faces(kernel, spacing, faces);
            [density, virial].map(|part| part / kernel.lattice_sum(spacing))
        });
        FlatLayers { kernel, spacing, one, scale, below }
    }

    /// Density, gradient and virial of what is below all of two or three faces: that of a lattice one spacing away, and as
    /// the product of their densities elsewhere.
    pub fn below_all(&self, faces: &[NearFace]) -> (Real, Vec3, Real) {
        let [density, virial] = self.below[faces.len() - 2];
        let product = |but: Option<usize>| -> Real {
            let others = faces.iter().enumerate().filter(|(k, _)| Some(*k) != but);
            others.map(|(_, face)| face.density / self.one).product()
        };
        let along = |(k, face): (usize, &NearFace)| face.normal * (face.slope / self.one * product(Some(k)));
        let gradient: Vec3 = faces.iter().enumerate().map(along).sum();
        (density * product(None), gradient * density, virial * product(None))
    }

    /// rho at this height above the first layer, its derivative, and its virial:
    ///   rho = V0/s² Σ ∫ W dA,   d/dz ∫ W dA = -2 pi z W(z),   -∫ r W' dA = 2 pi z² W(z) + 2 ∫ W dA.
    pub fn rho(&self, z: Real) -> (Real, Real, Real) {
        let FlatLayers { kernel, spacing, scale, .. } = *self;
        let (mut rho, mut slope, mut virial) = (0.0, 0.0, 0.0);
        for z in heights(z, spacing, kernel.h) {
            let integral = plane_integral(kernel, z);
            let steep = std::f64::consts::TAU * z * kernel.w(z);
            rho += scale * integral;
            slope -= scale * steep;
            virial += scale * (2.0 * integral + z * steep);
        }
        (rho, slope, virial)
    }

    /// Σ rho of a column of a lattice that begins half a spacing above the face.
    pub fn column(&self) -> Real {
        heights(self.spacing, self.spacing, self.kernel.h).map(|z| self.rho(z).0).sum()
    }

    /// phi and its derivative.
    pub fn phi(&self, rho: Real, slope: Real) -> (Real, Real) {
        (rho * rho / self.one, 2.0 * rho / self.one * slope)
    }
}

/// Σ W and -Σ r W' over the lattice points below this many faces that meet, from a point one spacing above the first layer
/// of each.
fn below_faces(kernel: Kernel, spacing: Real, faces: usize) -> [Real; 2] {
    let reach = (kernel.h / spacing).ceil() as i64;
    let range = |axis: usize| if axis < faces { 1..=reach } else { -reach..=reach };
    let mut sums = [0.0; 2];
    for (i, j, k) in range(0).flat_map(|i| range(1).flat_map(move |j| range(2).map(move |k| (i, j, k)))) {
        let r = spacing * Vec3::new(i as Real, j as Real, k as Real).length();
        if r < kernel.h {
            sums[0] += kernel.w(r);
            sums[1] += kernel.slope_over_r(r) * r * r;
        }
    }
    sums
}

/// Heights above layers one spacing apart, as far as the kernel reaches.
fn heights(z: Real, spacing: Real, h: Real) -> impl Iterator<Item = Real> {
    (0..).map(move |k| z + k as Real * spacing).take_while(move |&z| z < h)
}

/// ∫ W dA over a plane at distance z: 2 pi ∫_z^h r W(r) dr, by Gauss-Legendre, exact for polynomials of degree nine.
fn plane_integral(kernel: Kernel, z: Real) -> Real {
    const NODES: [(Real, Real); 5] = [
        (0.0, 0.568_888_888_888_888_9),
        (0.538_469_310_105_683_1, 0.478_628_670_499_366_5),
        (-0.538_469_310_105_683_1, 0.478_628_670_499_366_5),
        (0.906_179_845_938_664, 0.236_926_885_056_189_1),
        (-0.906_179_845_938_664, 0.236_926_885_056_189_1),
    ];
    let over = |a: Real, b: Real| {
        let (middle, half) = (0.5 * (a + b), 0.5 * (b - a));
        let at = |&(x, weight): &(Real, Real)| {
            let r = middle + half * x;
            weight * r * kernel.w(r)
        };
        half * NODES.iter().map(at).sum::<Real>()
    };
    let knot = z.max(0.5 * kernel.h); // where the pieces of the cubic spline meet
    std::f64::consts::TAU * (over(z, knot) + over(knot, kernel.h.max(z)))
}
