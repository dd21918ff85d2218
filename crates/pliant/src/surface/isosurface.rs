//! Where the density of particles falls: the only file that knows splashsurf, and nalgebra through it.

use super::SurfaceMesh;
use super::rest_mesh::normals;
use crate::math::{Real, Vec3, sum};
use crate::neighbors::Grid;
use rayon::prelude::*;
use splashsurf_lib::nalgebra::Vector3;
use splashsurf_lib::{GridDecompositionParameters, Parameters, SpatialDecomposition, reconstruct_surface};

/// Radius of the density kernel, in spacings.
const SUPPORT: Real = 2.0;
/// Density of the surface over that inside: a lattice is then met at about half a spacing outside its last layer.
const LEVEL: f32 = 0.55;
/// Passes of smoothing, and the share of the way to the mean of its neighbours that a vertex goes in each.
const PASSES: usize = 12;
const STEP: f32 = 0.5;
/// Vertices with fewer particles around them stay, so that drops do not shrink; those with as many more go all the way.
const LONELY: f32 = 6.0;
/// Particles farther than this from the middle are left out [cells]: singles cannot tell their cells apart.
const FARTHEST: Real = 1e5;
/// Cells along the side of a part that is marched at once.
const PART: u32 = 64;

/// The surface of particles, smoothed, with velocities; `liquid` is left at zero. Closed; its triangles are bounded by
/// a multiple of the particles times (spacing / cell)². The same for any number of threads.
pub fn isosurface(positions: &[Vec3], velocities: &[Vec3], spacing: Real, cell: Real) -> SurfaceMesh {
    let middle = sum(positions.len(), Vec3::ZERO, |i| positions[i]) / positions.len().max(1) as Real;
    let kept = |x: &Vec3| x.is_finite() && (*x - middle).abs().max_element() < FARTHEST * cell;
    let (positions, velocities): (Vec<Vec3>, Vec<Vec3>) =
        positions.iter().zip(velocities).filter(|(x, _)| kept(x)).unzip();
    if positions.is_empty() {
        return SurfaceMesh::default();
    }
    let (mut points, triangles) = marched(&positions, middle, spacing, cell);
    let field = Around::new(&positions, &velocities, SUPPORT * spacing);
    let around: Vec<(glam::Vec3, f32)> =
        points.par_iter().with_min_len(256).map(|x| field.at(middle + x.as_dvec3())).collect();
    smooth(&mut points, &triangles, |v| ((around[v].1 - LONELY) / LONELY).clamp(0.0, 1.0));
    let middle = middle.as_vec3();
    let positions: Vec<[f32; 3]> = points.iter().map(|x| (middle + *x).to_array()).collect();
    SurfaceMesh {
        normals: normals(&positions, &triangles, None),
        velocities: around.iter().map(|(v, _)| v.to_array()).collect(),
        positions,
        triangles,
        ..SurfaceMesh::default()
    }
}

/// Vertices from the middle, and triangles, in an order of their own.
fn marched(positions: &[Vec3], middle: Vec3, spacing: Real, cell: Real) -> (Vec<glam::Vec3>, Vec<[u32; 3]>) {
    let points: Vec<Vector3<f32>> =
        positions.iter().map(|x| Vector3::from((*x - middle).as_vec3().to_array())).collect();
    let mut parameters = Parameters::new(0.5 * spacing as f32, (SUPPORT * spacing) as f32, cell as f32);
    parameters.iso_surface_threshold = LEVEL;
    let parts = GridDecompositionParameters { subdomain_num_cubes_per_dim: PART, auto_disable: false };
    parameters.spatial_decomposition = SpatialDecomposition::UniformGrid(parts);
    // It fails only for grids that 64 bits cannot count, and `FARTHEST` is before them.
    let Ok(found) = reconstruct_surface::<i64, f32>(&points, &parameters) else { return Default::default() };
    let vertices: Vec<glam::Vec3> =
        found.mesh.vertices.iter().map(|x| glam::Vec3::new(x.x, x.y, x.z)).collect();
    in_order(&vertices, &found.mesh.triangles)
}

/// Vertices sorted by place, triangles by their vertices: threads find the parts in any order.
fn in_order(vertices: &[glam::Vec3], triangles: &[[usize; 3]]) -> (Vec<glam::Vec3>, Vec<[u32; 3]>) {
    let mut order: Vec<u32> = (0..vertices.len() as u32).collect();
    let place = |v: u32| vertices[v as usize];
    order.par_sort_unstable_by(|a, b| {
        let (a, b) = (place(*a), place(*b));
        a.x.total_cmp(&b.x).then(a.y.total_cmp(&b.y)).then(a.z.total_cmp(&b.z))
    });
    let mut rank = vec![0u32; vertices.len()];
    for (k, v) in (0..).zip(&order) {
        rank[*v as usize] = k;
    }
    let turned = |triangle: &[usize; 3]| {
        let [a, b, c] = triangle.map(|v| rank[v]);
        let turns = [[a, b, c], [b, c, a], [c, a, b]];
        *turns.iter().min().expect("three turns")
    };
    let mut triangles: Vec<[u32; 3]> = triangles.par_iter().map(turned).collect();
    triangles.par_sort_unstable();
    (order.into_iter().map(place).collect(), triangles)
}

/// Particles by place, to ask for what is around a vertex.
struct Around<'a> {
    grid: Grid,
    velocities: &'a [Vec3],
    radius: Real,
}

impl<'a> Around<'a> {
    fn new(positions: &[Vec3], velocities: &'a [Vec3], radius: Real) -> Self {
        let mut grid = Grid::default();
        grid.build(positions, radius);
        Around { grid, velocities, radius }
    }

    /// Mean velocity of the particles around x, near ones counting more, and their number.
    fn at(&self, x: Vec3) -> (glam::Vec3, f32) {
        let (mut velocity, mut total, mut number) = (Vec3::ZERO, 1e-12, 0.0);
        self.grid.for_each_within(x, self.radius, |j, x_j| {
            let w = (1.0 - x_j.distance_squared(x) / (self.radius * self.radius)).powi(3);
            velocity += w * self.velocities[j as usize];
            total += w;
            number += 1.0;
        });
        ((velocity / total).as_vec3(), number)
    }
}

/// Moves vertices towards the mean of their neighbours, and half of it back (Taubin): the volume is kept.
fn smooth(points: &mut Vec<glam::Vec3>, triangles: &[[u32; 3]], share: impl Fn(usize) -> f32 + Sync) {
    let (starts, neighbors) = neighbors_of(points.len(), triangles);
    let mut before = points.clone();
    for pass in 0..PASSES {
        std::mem::swap(&mut before, points);
        let step = if pass % 2 == 0 { STEP } else { -STEP * 1.04 };
        points.par_iter_mut().with_min_len(1024).enumerate().for_each(|(v, x)| {
            let around = &neighbors[starts[v] as usize..starts[v + 1] as usize];
            let sum: glam::Vec3 = around.iter().map(|u| before[*u as usize]).sum();
            let mean = sum / around.len().max(1) as f32;
            let step = if around.is_empty() { 0.0 } else { step * share(v) };
            *x = before[v] + step * (mean - before[v]);
        });
    }
}

/// The neighbours of each vertex as compressed rows: in a closed mesh each edge a → b is that of one triangle.
fn neighbors_of(vertices: usize, triangles: &[[u32; 3]]) -> (Vec<u32>, Vec<u32>) {
    let mut starts = vec![0u32; vertices + 1];
    for v in triangles.as_flattened() {
        starts[*v as usize + 1] += 1;
    }
    for v in 0..vertices {
        starts[v + 1] += starts[v];
    }
    let mut ends = starts.clone();
    let mut neighbors = vec![0u32; 3 * triangles.len()];
    for [a, b, c] in triangles {
        for (from, to) in [(a, b), (b, c), (c, a)] {
            neighbors[ends[*from as usize] as usize] = *to;
            ends[*from as usize] += 1;
        }
    }
    (starts, neighbors)
}
