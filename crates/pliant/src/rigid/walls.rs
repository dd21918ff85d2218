//! Rigid bodies as pressure sees them: one layer of points half a spacing below the surface, which continues the
//! lattice of the matter outside, with volumes that make up for its curvature [Akinci et al. 2012]. The points have
//! pressures of their own [Band et al. 2018]. Planes and the faces of containers are smooth (`faces`).

use super::RigidShape;
use super::faces::{Face, FlatLayers, NearFace};
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

/// How a particle presses on a boundary point, or on a node of a face.
#[derive(Clone, Copy, Debug)]
pub struct Press {
    pub member: u32,
    /// Nodes go on after the points.
    pub point: u32,
    /// V0 W_ib, or N_b rho.
    density: f32,
    /// V0 ∇W_ib, or ∇(N_b rho), by the particle's position.
    pub gradient: [f32; 3],
}

/// The boundary points of all rigid bodies, and the particles near them.
#[derive(Debug)]
pub struct Walls {
    kernel: Kernel,
    spacing: Real,
    /// Volume V0 of a particle in sums.
    cell: Real,
    flat: FlatLayers,
    layers: Vec<Layer>,
    pub bodies: Vec<WallBody>,
    /// Boundary points in the world.
    pub points: Vec<BoundaryPoint>,
    cells: Cells,
    nodes: Vec<Node>,
    /// Touches of the members of each chunk, by member, then by rigid body.
    pub touches: Vec<Vec<Touch>>,
    /// What the members of each chunk do to boundary points, by member.
    pub presses: Vec<Vec<Press>>,
    /// The same by point: the first of each point, one more at the end.
    starts: Vec<u32>,
    by_point: Vec<Press>,
    /// Σ of the gradients of what presses on each point and node, and of their moments about the body's centre.
    pub sums: Vec<[Vec3; 2]>,
}

/// A node of a face.
#[derive(Clone, Copy, Debug)]
struct Node {
    rigid: u32,
    /// Σ_j N_b rho of a lattice.
    room: f32,
    /// 1 / Σ_j N_b rho, zero if nothing is near.
    inverse: f32,
    /// c_b, not below that of a node that is a little uncovered.
    compression: f32,
}

/// Share of its room up to which a node takes part where it is not covered: a drop does not wait for it to be full.
const UNCOVERED: f32 = 0.2;
/// Nodes a task works on.
const NODES: usize = 1024;

#[derive(Clone, Copy, Debug, Default)]
pub struct BoundaryPoint {
    pub position: Vec3,
    volume: Real,
    /// Σ_j V0 W_bj of a lattice outside.
    room: Real,
    pub rigid: u32,
}

/// Calls `meeting` for every two and every three of these faces that meet.
fn for_each_meeting(faces: &[NearFace], mut meeting: impl FnMut(&[NearFace])) {
    let meet = |a: &NearFace, b: &NearFace| a.normal.dot(b.normal).abs() < 0.5;
    for (k, a) in faces.iter().enumerate() {
        for (l, b) in faces.iter().enumerate().skip(k + 1).filter(|(_, b)| meet(a, b)) {
            meeting(&[*a, *b]);
            for c in faces[l + 1..].iter().filter(|c| meet(a, c) && meet(b, c)) {
                meeting(&[*a, *b, *c]);
            }
        }
    }
}

impl Walls {
    pub fn new(kernel: Kernel, spacing: Real) -> Self {
        let cell = 1.0 / kernel.lattice_sum(spacing);
        Walls {
            kernel,
            spacing,
            cell,
            flat: FlatLayers::new(kernel, spacing),
            layers: Vec::new(),
            bodies: Vec::new(),
            points: Vec::new(),
            cells: Cells::default(),
            nodes: Vec::new(),
            touches: Vec::new(),
            presses: Vec::new(),
            starts: Vec::new(),
            by_point: Vec::new(),
            sums: Vec::new(),
        }
    }

    /// Adds a rigid body.
    pub fn add(&mut self, shape: &RigidShape) {
        let layer = match shape {
            RigidShape::Plane { normal } => Layer::Faces(vec![Face::plane(*normal)]),
            RigidShape::Container { size } => {
                let faces = Face::of_container(*size, self.spacing, self.nodes.len());
                for grid in faces.iter().filter_map(|face| face.grid) {
                    self.nodes.extend(grid.coverages(self.spacing).map(|coverage| Node {
                        rigid: self.layers.len() as u32,
                        room: (coverage * self.flat.column()) as f32,
                        inverse: 0.0,
                        compression: 0.0,
                    }));
                }
                Layer::Faces(faces)
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

    /// Finds what touches the members at their present positions. `is_liquid` is asked by index in the store.
    pub fn touch(
        &mut self,
        neighbors: &CurrentNeighbors,
        positions: &[Vec3],
        is_liquid: impl Fn(u32) -> bool + Sync,
    ) {
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
                let i = neighbors.members[m];
                self.touches_of(m as u32, positions[i as usize], is_liquid(i), touches, presses);
            }
        });
        (self.touches, self.presses) = (touches, presses);
        self.sort_presses();
        self.sum_presses(|member| positions[neighbors.members[member as usize] as usize]);
        self.cover();
    }

    /// Sorts what presses on the boundary points by point, then by member.
    fn sort_presses(&mut self) {
        let rows = self.rows();
        let all = || self.presses.iter().flatten();
        self.starts.clear();
        self.starts.resize(rows + 1, 0);
        for press in all() {
            self.starts[press.point as usize + 1] += 1;
        }
        for b in 0..rows {
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
        self.starts.copy_within(0..rows, 1);
        self.starts[0] = 0;
    }

    /// Gathers the gradients of what presses on each point and node.
    fn sum_presses(&mut self, position: impl Fn(u32) -> Vec3 + Sync) {
        let mut sums = std::mem::take(&mut self.sums);
        sums.resize(self.rows(), [Vec3::ZERO; 2]);
        sums.par_iter_mut().with_min_len(NODES).enumerate().for_each(|(b, sum)| {
            *sum = [Vec3::ZERO; 2];
            let presses = self.presses_on(b);
            if !presses.is_empty() {
                let center = self.bodies[self.rigid_of(b)].center;
                for press in presses {
                    let g = glam::Vec3::from_array(press.gradient).as_dvec3();
                    sum[0] += g;
                    sum[1] += (position(press.member) - center).cross(g);
                }
            }
        });
        self.sums = sums;
    }

    /// How far the nodes are covered.
    fn cover(&mut self) {
        let mut nodes = std::mem::take(&mut self.nodes);
        let first = self.points.len();
        nodes.par_iter_mut().with_min_len(NODES).enumerate().for_each(|(k, node)| {
            let sum: f32 = self.presses_on(first + k).iter().map(|press| press.density).sum();
            node.inverse = if sum > 0.0 { 1.0 / sum } else { 0.0 };
            node.compression = (sum - node.room).max(-UNCOVERED * node.room);
        });
        self.nodes = nodes;
    }

    /// Number of boundary points and nodes.
    pub fn rows(&self) -> usize {
        self.points.len() + self.nodes.len()
    }

    /// The rigid body that a point or node belongs to.
    pub fn rigid_of(&self, point: usize) -> usize {
        match point.checked_sub(self.points.len()) {
            None => self.points[point].rigid as usize,
            Some(node) => self.nodes[node].rigid as usize,
        }
    }

    /// What a member has to do with the pressure of a node it presses on: the node, and its share; none for points.
    #[inline]
    pub fn share(&self, press: &Press) -> Option<(usize, f32)> {
        let node = (press.point as usize).checked_sub(self.points.len())?;
        Some((node, press.density * self.nodes[node].inverse))
    }

    /// Mean of the values of the members that a node covers, by their shares.
    pub fn mean_at_node(&self, node: usize, value: impl Fn(u32) -> f32) -> f32 {
        let presses = self.presses_on(self.points.len() + node).iter();
        presses.map(|press| press.density * value(press.member)).sum::<f32>() * self.nodes[node].inverse
    }

    /// Compression of a node.
    pub fn compression_of_node(&self, node: usize) -> f32 {
        self.nodes[node].compression
    }

    /// What presses on a boundary point or node.
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
    fn touches_of(
        &self,
        member: u32,
        x: Vec3,
        is_liquid: bool,
        touches: &mut Vec<Touch>,
        presses: &mut Vec<Press>,
    ) {
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
            let (mut near, mut count) = ([NearFace::default(); 6], 0);
            for face in faces {
                let (height, n) = face.height(body, x);
                let above = height + 0.5 * self.spacing; // the layer
                if above < h {
                    let (rho, steep, virial) = self.flat.rho(above.max(0.0));
                    let (density, slope) = match &face.grid {
                        Some(grid) if is_liquid => {
                            grid.for_each_node(body, x, |node, part, along| {
                                let point = (self.points.len() + node) as u32;
                                let gradient = (n * (part * steep) + along * rho).as_vec3().to_array();
                                presses.push(Press { member, point, density: (part * rho) as f32, gradient });
                            });
                            (rho, steep)
                        }
                        _ => self.flat.phi(rho, steep),
                    };
                    add(rigid as u32, x - n * above, density, n * slope, virial);
                    near[count] = NearFace { normal: n, density, slope };
                    count += 1;
                }
            }
            // what is below several faces was counted with each
            for_each_meeting(&near[..count], |faces| {
                let (density, gradient, virial) = self.flat.below_all(faces);
                let sign = if faces.len() == 2 { -1.0 } else { 1.0 };
                add(rigid as u32, x, sign * density, gradient * sign, sign * virial);
            });
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
            + self.nodes.capacity() * size_of::<Node>()
            + self.sums.capacity() * (size_of::<[Vec3; 2]>() + 4)
            + self.cells.bytes()
    }
}

#[cfg(test)]
mod tests;
