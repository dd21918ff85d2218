//! The mesh that a skin moves: that of a file, or one marched around a shape.

use crate::geometry::Field;
use crate::geometry::TriangleMesh;
use crate::math::{Real, Vec3};
use rayon::prelude::*;
use std::collections::HashMap;

/// Triangles that meet at a smaller angle than this share a normal: cosine of 50 degrees.
const CREASE: Real = 0.643;
/// Cells that a marched shape may cross; more make the cells larger.
const MOST_CELLS: usize = 4_000_000;

/// Triangles at rest, with one vertex for each combination of place, texture coordinate, part and side of a crease.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RestMesh {
    pub vertices: Vec<Vec3>,
    pub triangles: Vec<[u32; 3]>,
    pub texture: Option<Vec<[f32; 2]>>,
    /// Named parts and their numbers of vertices, in order; all of them, or none.
    pub groups: Vec<(String, usize)>,
    /// Vertices with the same number lie on one another and share a normal.
    pub joined: Vec<u32>,
}

impl RestMesh {
    /// The mesh of a file. Its triangles keep their order.
    pub fn of_triangles(mesh: &TriangleMesh) -> RestMesh {
        let sides = sides_of_creases(mesh);
        let texture = mesh.texture.as_ref();
        let mut made = RestMesh { texture: texture.map(|_| Vec::new()), ..RestMesh::default() };
        let whole = mesh.groups.is_empty().then_some(0..mesh.triangles.len());
        let ranges = whole.into_iter().chain(mesh.groups.iter().map(|group| group.triangles.clone()));
        for (k, range) in ranges.enumerate() {
            let first = made.vertices.len();
            let mut known = HashMap::new();
            for t in range {
                let corner = |c: usize| {
                    let side = sides[t][c];
                    let place = texture.map(|texture| texture.triangles[t][c]);
                    *known.entry((side, place)).or_insert_with(|| {
                        made.vertices.push(mesh.corners(t)[c]);
                        made.joined.push(side);
                        if let (Some(all), Some(texture), Some(at)) = (&mut made.texture, texture, place) {
                            all.push(texture.coordinates.get(at as usize).copied().unwrap_or_default());
                        }
                        made.vertices.len() as u32 - 1
                    })
                };
                let corners = [0, 1, 2].map(corner);
                made.triangles.push(corners);
            }
            if let Some(group) = mesh.groups.get(k) {
                made.groups.push((group.name.clone(), made.vertices.len() - first));
            }
        }
        made
    }

    /// The surface of a shape, marched with cells of this size: a vertex in each cell that the surface crosses, a
    /// quad around each edge of cells that it crosses (surface nets). Vertices are then moved onto the surface.
    pub fn of_field(field: &impl Field, cell: Real) -> RestMesh {
        let mut cell = cell;
        let crossed = loop {
            match crossed_cells(field, cell) {
                Some(cells) => break cells,
                None => cell *= 2.0,
            }
        };
        let vertices: Vec<Vec3> = crossed.par_iter().map(|crossed| crossed.vertex(field, cell)).collect();
        let numbers: HashMap<[i32; 3], u32> = crossed.iter().map(|crossed| crossed.at).zip(0..).collect();
        let mut triangles = Vec::new();
        for Crossed { at, distances } in &crossed {
            for axis in 0..3 {
                let (inside, beyond) = (distances[0] < 0.0, distances[1 << axis] < 0.0);
                if inside == beyond {
                    continue;
                }
                let (u, w) = ((axis + 1) % 3, (axis + 2) % 3);
                let around = [(0, 0), (-1, 0), (-1, -1), (0, -1)].map(|(du, dw)| {
                    let mut near = *at;
                    near[u] += du;
                    near[w] += dw;
                    numbers.get(&near).copied()
                });
                // Cells around a crossed edge are crossed themselves.
                let [Some(a), Some(b), Some(c), Some(d)] = around else { continue };
                let [b, d] = if inside { [b, d] } else { [d, b] };
                triangles.extend([[a, b, c], [a, c, d]]);
            }
        }
        let joined = (0..vertices.len() as u32).collect();
        RestMesh { vertices, triangles, joined, ..RestMesh::default() }
    }
}

/// A cell that the surface crosses, and the distances at its corners; bit k of a corner's number is its axis k.
struct Crossed {
    at: [i32; 3],
    distances: [Real; 8],
}

impl Crossed {
    fn vertex(&self, field: &impl Field, cell: Real) -> Vec3 {
        let corner = |k: usize| corner_of(self.at, k, cell);
        let (mut sum, mut count) = (Vec3::ZERO, 0.0);
        for k in 0..8usize {
            for axis in (0..3).filter(|axis| k >> axis & 1 == 0) {
                let (a, b) = (self.distances[k], self.distances[k | 1 << axis]);
                if (a < 0.0) != (b < 0.0) {
                    sum += corner(k).lerp(corner(k | 1 << axis), a / (a - b));
                    count += 1.0;
                }
            }
        }
        let mean = sum / count;
        let moved = field.onto_level(mean, 0.0, 2);
        if moved.distance(mean) < cell { moved } else { mean }
    }
}

fn corner_of(at: [i32; 3], k: usize, cell: Real) -> Vec3 {
    let along = |axis: usize| Real::from(at[axis]) + (k >> axis & 1) as Real;
    Vec3::new(along(0), along(1), along(2)) * cell
}

/// The cells that the surface crosses, in a fixed order; none if they are too many.
fn crossed_cells(field: &impl Field, cell: Real) -> Option<Vec<Crossed>> {
    let (lo, hi) = field.bounds();
    let most = Real::from(1 << 20);
    if (lo.abs().max(hi.abs()) / cell).max_element() > most {
        return None;
    }
    let low = (lo / cell).floor() - 1.0;
    let extent = ((hi / cell).ceil() + 1.0 - low).max_element();
    let side = (extent as u32).next_power_of_two();
    let mut near = Vec::new();
    let mut cubes = vec![(low.to_array().map(|x| x as i32), side as i32)];
    while let Some((at, side)) = cubes.pop() {
        let half_side = 0.5 * Real::from(side) * cell;
        let middle = corner_of(at, 0, cell) + half_side;
        if field.distance(middle).abs() > field.steepness() * half_side * 1.74 {
            continue;
        }
        if side == 1 {
            near.push(at);
            if near.len() > MOST_CELLS {
                return None;
            }
            continue;
        }
        let half = side / 2;
        let part = |k: usize| std::array::from_fn(|axis| at[axis] + half * (k as i32 >> axis & 1));
        cubes.extend((0..8).map(|k| (part(k), half)));
    }
    near.sort_unstable();
    let crossed = near.into_par_iter().filter_map(|at| {
        let distances: [Real; 8] = std::array::from_fn(|k| field.distance(corner_of(at, k, cell)));
        let inside = distances.iter().filter(|d| **d < 0.0).count();
        (1..8).contains(&inside).then_some(Crossed { at, distances })
    });
    Some(crossed.collect())
}

/// A number for each corner of each triangle: equal where corners lie on one another without a crease between them.
fn sides_of_creases(mesh: &TriangleMesh) -> Vec<[u32; 3]> {
    let mut places: HashMap<[u64; 3], Vec<(Vec3, u32)>> = HashMap::new();
    let mut next = 0;
    let triangle = |t: usize| {
        let corners = mesh.corners(t);
        let normal = (corners[1] - corners[0]).cross(corners[2] - corners[0]).normalize_or_zero();
        corners.map(|corner| {
            let sides = places.entry(corner.to_array().map(|x| (x + 0.0).to_bits())).or_default();
            match sides.iter().find(|(other, _)| other.dot(normal) > CREASE) {
                Some((_, side)) => *side,
                None => {
                    sides.push((normal, next));
                    next += 1;
                    next - 1
                }
            }
        })
    };
    (0..mesh.triangles.len()).map(triangle).collect()
}

/// Normals of vertices: those of their triangles, weighted by area. Vertices with the same number in `joined` share
/// theirs.
pub(super) fn normals(
    positions: &[[f32; 3]],
    triangles: &[[u32; 3]],
    joined: Option<&[u32]>,
) -> Vec<[f32; 3]> {
    let number = |v: u32| joined.map_or(v, |joined| joined[v as usize]) as usize;
    let count = joined.map_or(positions.len(), |joined| joined.iter().max().map_or(0, |n| *n as usize + 1));
    let mut sums = vec![glam::Vec3::ZERO; count];
    for triangle in triangles {
        let [a, b, c] = triangle.map(|v| glam::Vec3::from(positions[v as usize]));
        let normal = (b - a).cross(c - a);
        triangle.iter().for_each(|v| sums[number(*v)] += normal);
    }
    (0..positions.len() as u32).map(|v| sums[number(v)].normalize_or(glam::Vec3::Y).to_array()).collect()
}
