//! Rigid bodies as pressure sees them: one layer of points half a spacing below the surface, which continues the
//! lattice of the matter outside, with volumes that make up for its curvature [Akinci et al. 2012]. The points have
//! pressures of their own [Band et al. 2018].
//!
//! The layers of planes and of the faces of containers are smooth: liquid glides along them. Their pressure is that of
//! the particle they touch. A layer contributes phi = rho²/rho_1, where rho is what points would and rho_1 the same one
//! spacing away: there phi = rho, and its slope is twice that of rho, as if the layer pressed back alike. They have as
//! many layers as the kernel reaches.

use super::RigidShape;
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
    /// Points in the body's own coordinates.
    Points(Vec<BoundaryPoint>),
    /// Even layers below flat faces, with no bumps and no end.
    Faces(Vec<Face>),
}

/// The half space x·normal < -offset in the body's own coordinates.
#[derive(Clone, Copy, Debug)]
struct Face {
    normal: Vec3,
    offset: Real,
}

impl Face {
    /// Height of a point above the face, and its normal, in the world.
    fn height(&self, body: &WallBody, x: Vec3) -> (Real, Vec3) {
        let n = body.to_world * self.normal;
        ((x - body.position).dot(n) + self.offset, n)
    }
}

/// How a rigid body presses on a particle.
#[derive(Clone, Copy, Debug)]
pub struct Touch {
    pub member: u32,
    pub rigid: u32,
    /// Σ_b V_b W_ib.
    pub density: Real,
    /// g = Σ_b V_b ∇W_ib [1/m].
    pub gradient: Vec3,
    /// Σ_b (x_b - center) x V_b ∇W_ib.
    pub moment: Vec3,
    /// -Σ_b V_b x_ib·∇W_ib.
    pub virial: Real,
}

/// How a particle presses on a boundary point.
#[derive(Clone, Copy, Debug)]
pub struct Press {
    pub member: u32,
    pub point: u32,
    /// V0 W_ib.
    density: f32,
    /// V0 ∇W_ib, by the particle's position.
    pub gradient: [f32; 3],
}

/// The boundary points of all rigid bodies, and the particles near them.
#[derive(Debug)]
pub struct Walls {
    kernel: Kernel,
    spacing: Real,
    /// Volume V0 of a particle in sums.
    cell: Real,
    /// rho_1 of a face, and V0/s² as scaled.
    one: Real,
    scale: Real,
    layers: Vec<Layer>,
    pub bodies: Vec<WallBody>,
    /// Boundary points in the world.
    pub points: Vec<BoundaryPoint>,
    cells: Cells,
    /// Touches of the members of each chunk, by member, then by rigid body.
    pub touches: Vec<Vec<Touch>>,
    /// What the members of each chunk do to boundary points, by member.
    pub presses: Vec<Vec<Press>>,
    /// The same by point: the first of each point, one more at the end.
    starts: Vec<u32>,
    by_point: Vec<Press>,
}

#[derive(Clone, Copy, Debug, Default)]
pub struct BoundaryPoint {
    pub position: Vec3,
    volume: Real,
    /// Σ_j V0 W_bj of a lattice outside.
    room: Real,
    pub rigid: u32,
}

impl Walls {
    pub fn new(kernel: Kernel, spacing: Real) -> Self {
        let cell = 1.0 / kernel.lattice_sum(spacing);
        let one =
            cell * heights(spacing, spacing, kernel.h).map(|z| kernel.layer_sum(spacing, z)).sum::<Real>();
        let flat: Real = heights(spacing, spacing, kernel.h).map(|z| plane_integral(kernel, z)).sum();
        Walls {
            kernel,
            spacing,
            cell,
            one,
            scale: one / flat,
            layers: Vec::new(),
            bodies: Vec::new(),
            points: Vec::new(),
            cells: Cells::default(),
            touches: Vec::new(),
            presses: Vec::new(),
            starts: Vec::new(),
            by_point: Vec::new(),
        }
    }

    /// Adds a rigid body.
    pub fn add(&mut self, shape: &RigidShape) {
        let layer = match shape {
            RigidShape::Plane { normal } => Layer::Faces(vec![Face { normal: *normal, offset: 0.0 }]),
            RigidShape::Container { size } => {
                let pair =
                    |axis: Vec3| [axis, -axis].map(|n| Face { normal: n, offset: 0.5 * size.dot(axis) });
                Layer::Faces(Vec3::AXES.into_iter().flat_map(pair).collect())
            }
            shape => Layer::Points(self.layer(shape)),
        };
        self.layers.push(layer);
    }

    /// Boundary points of a shape that has an end. Those of boxes are a lattice.
    fn layer(&self, shape: &RigidShape) -> Vec<BoundaryPoint> {
        let is_lattice = matches!(shape, RigidShape::Box { .. });
        let points = shape.boundary_points(self.spacing);
        let mut cells = Cells::default();
        cells.build(points.len(), self.kernel.h, |k| points[k]);
        let flat = self.kernel.layer_sum(self.spacing, 0.0) * self.cell;
        let point = |&position: &Vec3| {
            let mut sum = 0.0;
            cells.for_each_run(position, |run| {
                let w = |&b: &u32| self.kernel.w(points[b as usize].distance(position));
                sum += cells.order[run].iter().map(w).sum::<Real>();
            });
            let (volume, axis) = match is_lattice {
                true => (self.cell, Vec3::Z),
                false => (flat / sum, shape.surface(position).normal),
            };
            BoundaryPoint { position, volume, room: self.room(shape, position, axis), rigid: 0 }
        };
        points.par_iter().map(point).collect()
    }

    /// Σ V0 W about a boundary point over a lattice with this axis, as far as it is outside the shape.
    fn room(&self, shape: &RigidShape, position: Vec3, axis: Vec3) -> Real {
        let reach = (self.kernel.h / self.spacing).ceil() as i64;
        let range = || -reach..=reach;
        let (t, u) = if axis == Vec3::Z { (Vec3::X, Vec3::Y) } else { axis.any_orthonormal_pair() };
        let mut sum = 0.0;
        for (i, j, k) in range().flat_map(|i| range().flat_map(move |j| range().map(move |k| (i, j, k)))) {
            let offset = (t * i as Real + u * j as Real + axis * k as Real) * self.spacing;
            let w = self.kernel.w(offset.length());
            if w > 0.0 && shape.surface(position + offset).distance > 0.0 {
                sum += self.cell * w;
            }
        }
        sum
    }

    pub fn is_empty(&self) -> bool {
        self.layers.is_empty()
    }

    /// Number of boundary points.
    pub fn len(&self) -> usize {
        let count = |layer: &Layer| match layer {
            Layer::Points(points) => points.len(),
            Layer::Faces(_) => 0,
        };
        self.layers.iter().map(count).sum()
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
                self.points.extend(points.iter().map(|point| BoundaryPoint {
                    position: body.position + body.to_world * point.position,
                    rigid: rigid as u32,
                    ..*point
                }));
            }
        }
        let points = &self.points;
        self.cells.build(points.len(), self.kernel.h, |k| points[k].position);
    }

    /// Finds what touches the members at their present positions.
    pub fn touch(&mut self, neighbors: &CurrentNeighbors, positions: &[Vec3]) {
        let (mut touches, mut presses) =
            (std::mem::take(&mut self.touches), std::mem::take(&mut self.presses));
        let chunks = neighbors.len().div_ceil(CHUNK_PARTICLES);
        touches.resize_with(chunks, Vec::new);
        presses.resize_with(chunks, Vec::new);
        touches.par_iter_mut().zip(&mut presses).enumerate().for_each(|(c, (touches, presses))| {
            touches.clear();
            presses.clear();
            let members = c * CHUNK_PARTICLES..((c + 1) * CHUNK_PARTICLES).min(neighbors.len());
            for m in members {
                self.touches_of(m as u32, positions[neighbors.members[m] as usize], touches, presses);
            }
        });
        (self.touches, self.presses) = (touches, presses);
        self.sort_presses();
    }

    /// Sorts what presses on the boundary points by point, then by member.
    fn sort_presses(&mut self) {
        let all = || self.presses.iter().flatten();
        self.starts.clear();
        self.starts.resize(self.points.len() + 1, 0);
        for press in all() {
            self.starts[press.point as usize + 1] += 1;
        }
        for b in 0..self.points.len() {
            self.starts[b + 1] += self.starts[b];
        }
        let none = Press { member: 0, point: 0, density: 0.0, gradient: [0.0; 3] };
        self.by_point.resize(self.presses.iter().map(Vec::len).sum(), none);
        // `starts[point]` runs ahead while it is filled and is moved back afterwards
        for press in all() {
            let at = &mut self.starts[press.point as usize];
            self.by_point[*at as usize] = *press;
            *at += 1;
        }
        self.starts.copy_within(0..self.points.len(), 1);
        self.starts[0] = 0;
    }

    /// What presses on a boundary point.
    #[inline]
    pub fn presses_on(&self, point: usize) -> &[Press] {
        &self.by_point[self.starts[point] as usize..self.starts[point + 1] as usize]
    }

    /// Compression at a boundary point.
    pub fn compression(&self, point: usize) -> f32 {
        let density: f32 = self.presses_on(point).iter().map(|press| press.density).sum();
        density - self.points[point].room as f32
    }

    /// Appends the touches of a member at x, by rising rigid body, and what it does to boundary points.
    fn touches_of(&self, member: u32, x: Vec3, touches: &mut Vec<Touch>, presses: &mut Vec<Press>) {
        let first = touches.len();
        let Kernel { h, .. } = self.kernel;
        let mut add = |rigid: u32, at: Vec3, density: Real, gradient: Vec3, virial: Real| {
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
                let BoundaryPoint { position, volume, rigid, .. } = self.points[b as usize];
                let x_ib = x - position;
                let r = x_ib.length();
                if r < h {
                    let (w, slope) = (self.kernel.w(r), self.kernel.slope_over_r(r));
                    let gradient = x_ib * -slope;
                    add(rigid, position, volume * w, gradient * volume, volume * slope * r * r);
                    let density = (self.cell * w) as f32;
                    let gradient = (gradient * self.cell).as_vec3().to_array();
                    presses.push(Press { member, point: b, density, gradient });
                }
            }
        });
        for (rigid, (layer, body)) in self.layers.iter().zip(&self.bodies).enumerate() {
            let Layer::Faces(faces) = layer else { continue };
            for face in faces {
                let (height, n) = face.height(body, x);
                let above = height + 0.5 * self.spacing; // the layer
                if above < h {
                    let (density, slope, virial) = self.flat(above.max(0.0));
                    add(rigid as u32, x - n * above, density, n * slope, virial);
                }
            }
        }
        touches[first..].sort_unstable_by_key(|touch| touch.rigid);
    }

    /// The boundary points within h of x: rigid body, position, volume over V0. Of a face they are the points of a square
    /// lattice, one of them right below x, as far as no other face is in the way.
    pub(super) fn for_each_point(&self, x: Vec3, mut point: impl FnMut(u32, Vec3, Real)) {
        let (h, s) = (self.kernel.h, self.spacing);
        self.cells.for_each_run(x, |run| {
            for &b in &self.cells.order[run] {
                let BoundaryPoint { position, volume, rigid, .. } = self.points[b as usize];
                if position.distance_squared(x) < h * h {
                    point(rigid, position, volume / self.cell);
                }
            }
        });
        for (rigid, (layer, body)) in self.layers.iter().zip(&self.bodies).enumerate() {
            let Layer::Faces(faces) = layer else { continue };
            for (f, face) in faces.iter().enumerate() {
                let (height, n) = face.height(body, x);
                let above = (height + 0.5 * s).max(0.0);
                if above >= h {
                    continue;
                }
                let reach = ((h * h - above * above).sqrt() / s) as i64;
                let (t, u) = n.any_orthonormal_pair();
                for (i, j) in (-reach..=reach).flat_map(|i| (-reach..=reach).map(move |j| (i, j))) {
                    let position = x - n * above + (t * i as Real + u * j as Real) * s;
                    let others = faces.iter().enumerate().filter(|(g, _)| *g != f);
                    let is_free =
                        others.into_iter().all(|(_, face)| face.height(body, position).0 > -0.25 * s);
                    if is_free && position.distance_squared(x) < h * h {
                        point(rigid as u32, position, 1.0);
                    }
                }
            }
        }
    }

    /// phi of even layers at this height above the first, its derivative, and the virial of rho. They are one spacing
    /// apart and scaled so that rho is that of the lattice at one spacing:
    ///   rho = V0/s² Σ ∫ W dA,   d/dz ∫ W dA = -2 pi z W(z),   -∫ r W' dA = 2 pi z² W(z) + 2 ∫ W dA.
    fn flat(&self, z: Real) -> (Real, Real, Real) {
        let Walls { kernel, spacing, one, scale, .. } = *self;
        let (mut rho, mut slope, mut virial) = (0.0, 0.0, 0.0);
        for z in heights(z, spacing, kernel.h) {
            let integral = plane_integral(kernel, z);
            let steep = std::f64::consts::TAU * z * kernel.w(z);
            rho += scale * integral;
            slope -= scale * steep;
            virial += scale * (2.0 * integral + z * steep);
        }
        (rho * rho / one, 2.0 * rho / one * slope, virial)
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        let layer = |layer: &Layer| match layer {
            Layer::Points(points) => points.capacity() * size_of::<BoundaryPoint>(),
            Layer::Faces(faces) => faces.capacity() * size_of::<Face>(),
        };
        self.layers.iter().map(layer).sum::<usize>()
            + self.points.capacity() * size_of::<BoundaryPoint>()
            + self.touches.iter().map(|t| t.capacity() * size_of::<Touch>()).sum::<usize>()
            + self.by_point.capacity() * 2 * size_of::<Press>()
            + self.cells.bytes()
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::KernelKind;
    use crate::math::Quat;

    fn neighbors_of(points: &[Vec3], h: Real) -> CurrentNeighbors {
        let all: Vec<u32> = (0..points.len() as u32).collect();
        let mut neighbors = CurrentNeighbors::default();
        neighbors.build(points, &all, h, |_, _| true);
        neighbors
    }

    fn placed(shape: &RigidShape, spacing: Real, kind: KernelKind, turn: Quat) -> Walls {
        let mut walls = Walls::new(Kernel::new(kind, 2.0 * spacing), spacing);
        walls.add(shape);
        let body = WallBody {
            position: Vec3::new(0.3, -0.2, 0.1),
            to_world: Mat3::from_quat(turn),
            center: Vec3::ZERO,
            inverse_mass: 0.0,
            inverse_inertia: Mat3::ZERO,
        };
        walls.place([body].into_iter());
        walls
    }

    /// Forces are those of a potential: what else they were, a liquid at rest would be stirred by them.
    #[test]
    fn gradients_are_derivatives_of_densities() {
        let turn = Quat::from_scaled_axis(Vec3::new(0.4, -0.9, 0.3));
        for (shape, inside) in [
            (RigidShape::Plane { normal: Vec3::Y }, Vec3::ZERO),
            (RigidShape::Container { size: Vec3::new(0.6, 0.5, 0.7) }, Vec3::new(-0.29, -0.24, 0.335)),
            (RigidShape::Box { size: Vec3::splat(0.4) }, Vec3::new(0.21, 0.19, 0.05)),
            (RigidShape::Sphere { radius: 0.2 }, Vec3::new(0.12, 0.11, 0.13)),
        ] {
            for (spacing, kind) in [(0.05, KernelKind::WendlandC2), (0.03, KernelKind::CubicSpline)] {
                let walls = placed(&shape, spacing, kind, turn);
                for (k, away) in [0.2, 0.5, 0.9].into_iter().enumerate() {
                    let outward = shape.surface(inside).normal * (away * spacing);
                    let x = walls.bodies[0].position + turn * (inside + outward);
                    let at = |x: Vec3| {
                        let (mut touches, mut presses) = (Vec::new(), Vec::new());
                        walls.touches_of(0, x, &mut touches, &mut presses);
                        touches.first().map_or((0.0, Vec3::ZERO), |t| (t.density, t.gradient))
                    };
                    let step = 1e-6 * spacing;
                    let slope = |d: Vec3| (at(x + d * step).0 - at(x - d * step).0) / (2.0 * step);
                    let derivative = Vec3::new(slope(Vec3::X), slope(Vec3::Y), slope(Vec3::Z));
                    let gradient = at(x).1;
                    assert!(k > 0 || gradient.length() > 0.1 / spacing, "{shape:?} is felt");
                    let error = (gradient - derivative).length();
                    let rounding = 1e-5 * gradient.length() + 1e-7 / spacing;
                    assert!(error < rounding, "{shape:?} {k}: {gradient} is not {derivative}");
                }
            }
        }
    }

    /// A lattice of particles at a smooth face, and on top of a sampled one, compresses nothing.
    #[test]
    fn a_lattice_at_a_wall_is_at_rest() {
        for spacing in [0.05, 0.02] {
            let kernel = Kernel::new(KernelKind::WendlandC2, 2.0 * spacing);
            let cell = 1.0 / kernel.lattice_sum(spacing);
            let layers = |x: Real| cell * (kernel.layer_sum(spacing, 0.0) + kernel.layer_sum(spacing, x));
            let walls = placed(
                &RigidShape::Plane { normal: Vec3::Y },
                spacing,
                KernelKind::WendlandC2,
                Quat::IDENTITY,
            );
            let (mut touches, mut presses) = (Vec::new(), Vec::new());
            let above = walls.bodies[0].position + Vec3::Y * (0.5 * spacing);
            walls.touches_of(0, above, &mut touches, &mut presses);
            assert!((touches[0].density + layers(spacing) - 1.0).abs() < 1e-9, "{}", touches[0].density);

            let shape = RigidShape::Box { size: Vec3::splat(8.0 * spacing) };
            let mut walls = placed(&shape, spacing, KernelKind::WendlandC2, Quat::IDENTITY);
            let at = |k: i64| (k as Real + 0.5) * spacing;
            let lattice = (-6..6).flat_map(|i| (-6..6).flat_map(move |j| (-6..6).map(move |k| [i, j, k])));
            let outside: Vec<Vec3> = lattice
                .map(|p| Vec3::from_array(p.map(at)))
                .filter(|p| shape.surface(*p).distance > 0.0)
                .map(|p| p + walls.bodies[0].position)
                .collect();
            walls.touch(&neighbors_of(&outside, kernel.h), &outside);
            let worst = (0..walls.len()).map(|b| walls.compression(b).abs()).fold(0.0, f32::max);
            assert!(worst < 1e-5, "{worst}");
        }
    }
}
