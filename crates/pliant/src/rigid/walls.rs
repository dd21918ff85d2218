//! Rigid bodies as pressure sees them: one layer of points half a spacing below the surface, which continues the
//! lattice of the matter outside, with volumes that make up for its curvature [Akinci et al. 2012].

use crate::kernel::Kernel;
use crate::math::{Mat3, Real, Vec3};
use crate::neighbors::{CHUNK_PARTICLES, Cells, CurrentNeighbors};
use rayon::prelude::*;

/// A rigid body at the time of the step.
#[derive(Clone, Copy, Debug)]
pub struct WallBody {
    /// Where its own coordinates are, and how they are turned.
    pub position: Vec3,
    pub to_world: Mat3,
    /// The point it turns about: the centre of mass of a dynamic body.
    pub center: Vec3,
    /// Zero for bodies that nothing pushes.
    pub inverse_mass: Real,
    pub inverse_inertia: Mat3,
}

/// What samples a rigid body.
#[derive(Clone, Debug)]
enum Layer {
    /// Points in the body's own coordinates, with their volumes.
    Points(Vec<(Vec3, Real)>),
    /// An even layer below the plane through the origin, with no bumps and no end.
    Plane(Vec3),
}

/// How a rigid body presses on a particle.
#[derive(Clone, Copy, Debug)]
pub struct Touch {
    pub member: u32,
    pub rigid: u32,
    /// Σ_b V_b W_ib.
    pub density: Real,
    /// g = 2 Σ_b V_b ∇W_ib [1/m].
    pub gradient: Vec3,
    /// 2 Σ_b (x_b - center) x V_b ∇W_ib.
    pub moment: Vec3,
    /// -Σ_b V_b x_ib·∇W_ib.
    pub virial: Real,
}

/// A boundary point has the pressure of the particle it presses: their pair counts twice in forces, as pairs of
/// particles do, and in the rates the forces are dual to.
const MIRROR: Real = 2.0;

/// The boundary points of all rigid bodies, and the particles near them.
#[derive(Debug)]
pub struct Walls {
    kernel: Kernel,
    spacing: Real,
    layers: Vec<Layer>,
    pub bodies: Vec<WallBody>,
    /// Boundary points in the world.
    points: Vec<BoundaryPoint>,
    cells: Cells,
    /// Touches of the members of each chunk, by member, then by rigid body.
    pub touches: Vec<Vec<Touch>>,
}

#[derive(Clone, Copy, Debug, Default)]
struct BoundaryPoint {
    position: Vec3,
    volume: Real,
    rigid: u32,
}

impl Walls {
    pub fn new(kernel: Kernel, spacing: Real) -> Self {
        Walls {
            kernel,
            spacing,
            layers: Vec::new(),
            bodies: Vec::new(),
            points: Vec::new(),
            cells: Cells::default(),
            touches: Vec::new(),
        }
    }

    /// Adds a rigid body sampled by these points of a lattice, each with the volume of a cell.
    pub fn add_lattice(&mut self, points: &[Vec3]) {
        let volume = self.spacing.powi(3);
        self.layers.push(Layer::Points(points.iter().map(|&p| (p, volume)).collect()));
    }

    /// Adds a rigid body sampled by these points (own coordinates, half a spacing below its surface).
    pub fn add_points(&mut self, points: &[Vec3]) {
        let mut cells = Cells::default();
        cells.build(points.len(), self.kernel.h, |k| points[k]);
        let flat = self.kernel.layer_sum(self.spacing, 0.0) * self.spacing.powi(3);
        let volume = |&p: &Vec3| {
            let mut sum = 0.0;
            cells.for_each_run(p, |run| {
                let w = |&b: &u32| self.kernel.w(points[b as usize].distance(p));
                sum += cells.order[run].iter().map(w).sum::<Real>();
            });
            (p, flat / sum)
        };
        self.layers.push(Layer::Points(points.par_iter().map(volume).collect()));
    }

    /// Adds the half space below a plane through the origin of its own coordinates.
    pub fn add_plane(&mut self, normal: Vec3) {
        self.layers.push(Layer::Plane(normal));
    }

    pub fn is_empty(&self) -> bool {
        self.layers.is_empty()
    }

    /// Number of boundary points.
    pub fn len(&self) -> usize {
        self.points.len()
    }

    /// Puts the bodies where they are now; one for each layer, in the order they were added.
    pub fn place(&mut self, bodies: impl Iterator<Item = WallBody>) {
        let before = std::mem::take(&mut self.bodies);
        self.bodies.extend(bodies);
        let stands = |(a, b): (&WallBody, &WallBody)| a.position == b.position && a.to_world == b.to_world;
        if before.len() == self.bodies.len() && before.iter().zip(&self.bodies).all(stands) {
            return;
        }
        self.points.clear();
        for (rigid, (layer, body)) in self.layers.iter().zip(&self.bodies).enumerate() {
            if let Layer::Points(points) = layer {
                self.points.extend(points.iter().map(|&(p, volume)| BoundaryPoint {
                    position: body.position + body.to_world * p,
                    volume,
                    rigid: rigid as u32,
                }));
            }
        }
        let points = &self.points;
        self.cells.build(points.len(), self.kernel.h, |k| points[k].position);
    }

    /// Finds what touches the members at their present positions.
    pub fn touch(&mut self, neighbors: &CurrentNeighbors, positions: &[Vec3]) {
        let mut touches = std::mem::take(&mut self.touches);
        touches.resize_with(neighbors.len().div_ceil(CHUNK_PARTICLES), Vec::new);
        touches.par_iter_mut().enumerate().for_each(|(c, touches)| {
            touches.clear();
            let members = c * CHUNK_PARTICLES..((c + 1) * CHUNK_PARTICLES).min(neighbors.len());
            for m in members {
                self.touches_of(m as u32, positions[neighbors.members[m] as usize], touches);
            }
        });
        self.touches = touches;
    }

    /// Appends the touches of a member at x, by rising rigid body.
    fn touches_of(&self, member: u32, x: Vec3, touches: &mut Vec<Touch>) {
        let first = touches.len();
        let Kernel { h, .. } = self.kernel;
        let mut add = |rigid: u32, at: Vec3, density: Real, gradient: Vec3, virial: Real| {
            let gradient = gradient * MIRROR;
            let moment = (at - self.bodies[rigid as usize].center).cross(gradient);
            match touches[first..].iter_mut().find(|touch| touch.rigid == rigid) {
                Some(touch) => {
                    touch.density += density;
                    touch.gradient += gradient;
                    touch.moment += moment;
                    touch.virial += virial;
                }
                None => touches.push(Touch { member, rigid, density, gradient, moment, virial }),
            }
        };
        self.cells.for_each_run(x, |run| {
            for &b in &self.cells.order[run] {
                let BoundaryPoint { position, volume, rigid } = self.points[b as usize];
                let x_ib = x - position;
                let r = x_ib.length();
                if r < h {
                    let slope = volume * self.kernel.slope_over_r(r);
                    add(rigid, position, volume * self.kernel.w(r), x_ib * -slope, slope * r * r);
                }
            }
        });
        for (rigid, (layer, body)) in self.layers.iter().zip(&self.bodies).enumerate() {
            let Layer::Plane(normal) = layer else { continue };
            let n = body.to_world * *normal;
            let depth = (x - body.position).dot(n) + 0.5 * self.spacing; // from the layer
            if depth < h {
                let (density, slope, virial) = self.plane(depth.max(0.0));
                add(rigid as u32, x - n * depth, density, n * slope, virial);
            }
        }
        touches[first..].sort_unstable_by_key(|touch| touch.rigid);
    }

    /// The boundary points within h of x: rigid body, position, volume over s³. Of a plane they are the points of a
    /// square lattice, one of them right below x.
    pub(super) fn for_each_point(&self, x: Vec3, mut point: impl FnMut(u32, Vec3, Real)) {
        let (h, s) = (self.kernel.h, self.spacing);
        self.cells.for_each_run(x, |run| {
            for &b in &self.cells.order[run] {
                let BoundaryPoint { position, volume, rigid } = self.points[b as usize];
                if position.distance_squared(x) < h * h {
                    point(rigid, position, volume / s.powi(3));
                }
            }
        });
        for (rigid, (layer, body)) in self.layers.iter().zip(&self.bodies).enumerate() {
            let Layer::Plane(normal) = layer else { continue };
            let n = body.to_world * *normal;
            let depth = ((x - body.position).dot(n) + 0.5 * s).max(0.0);
            let reach = ((h * h - depth * depth).max(0.0).sqrt() / s) as i64;
            let (t, u) = n.any_orthonormal_pair();
            for (i, j) in (-reach..=reach).flat_map(|i| (-reach..=reach).map(move |j| (i, j))) {
                let position = x - n * depth + (t * i as Real + u * j as Real) * s;
                if depth < h && position.distance_squared(x) < h * h {
                    point(rigid as u32, position, 1.0);
                }
            }
        }
    }

    /// Σ_b V_b W at this height over an even layer, its derivative and its virial; scaled so that it is that of the
    /// lattice at one spacing: V_b/s² ∫ W dA,   d/dz ∫ W dA = -2 pi z W(z),   -∫ r W' dA = 2 pi z² W(z) + 2 ∫ W dA.
    fn plane(&self, z: Real) -> (Real, Real, Real) {
        let (s, kernel) = (self.spacing, self.kernel);
        let scale = s.powi(3) * kernel.layer_sum(s, s) / plane_integral(kernel, s);
        let density = scale * plane_integral(kernel, z);
        let slope = -scale * std::f64::consts::TAU * z * kernel.w(z);
        (density, slope, 2.0 * density - z * slope)
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        let layer = |layer: &Layer| match layer {
            Layer::Points(points) => points.capacity() * size_of::<(Vec3, Real)>(),
            Layer::Plane(_) => 0,
        };
        self.layers.iter().map(layer).sum::<usize>()
            + self.points.capacity() * size_of::<BoundaryPoint>()
            + self.touches.iter().map(|t| t.capacity() * size_of::<Touch>()).sum::<usize>()
            + self.cells.bytes()
    }
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
