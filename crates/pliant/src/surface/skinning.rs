//! A mesh that follows particles [W06, Eq. 17-19]:
//!   x_v = Σ_j w_vj (x_j + F_j (X_v - X_j)),   Σ_j w_vj = 1,
//! over the particles near the vertex at rest. Affine motion is reproduced exactly, whatever the weights.
//!
//! Written as x_v = (Σ_j w_vj F_j) X_v + Σ_j w_vj a_j with a_j = x_j - F_j X_j, a vertex is a blend of affine maps: two
//! lanes are gathered and added for each of its particles.
#![allow(non_snake_case)] // F, X as in the theory

use super::Matter;
use crate::elasticity::AffineFit;
use crate::math::{Lane, Real, Vec3, sum};
use crate::neighbors::Grid;
use rayon::prelude::*;

/// Particles a vertex follows at most: the nearest.
const MOST: usize = 32;
/// Vertices a task works on.
const CHUNK: usize = 2048;

/// Which particles each vertex follows, as compressed rows. All of it is constant.
pub struct Skin {
    /// Rest vertices, from the centre of the rest particles.
    vertices: Vec<glam::Vec3>,
    center: Vec3,
    /// First entry of each vertex; one more at the end.
    starts: Vec<u32>,
    /// Particles with their weights, which add up to one for each vertex.
    entries: Vec<(u32, f32)>,
}

/// F by columns, a, and the velocity of one particle.
type Map = [Lane; 2];

impl Skin {
    /// Vertices and particles at rest; `radius` is how far a vertex looks. Where it finds nothing it looks farther.
    pub fn new(vertices: &[Vec3], particles: &[Vec3], radius: Real) -> Skin {
        let mut rows: Vec<Vec<(u32, f32)>> = vec![Vec::new(); vertices.len()];
        let (mut grid, mut radius) = (Grid::default(), radius);
        while !particles.is_empty() && rows.iter().any(Vec::is_empty) {
            grid.build(particles, radius);
            let look = |(row, x): (&mut Vec<(u32, f32)>, &Vec3)| *row = weights(&grid, *x, radius);
            rows.par_iter_mut().zip(vertices).filter(|(row, _)| row.is_empty()).for_each(look);
            radius *= 2.0;
        }
        let center = mean(particles);
        let mut starts = vec![0];
        let mut entries = Vec::new();
        for row in rows {
            entries.extend(row);
            starts.push(entries.len() as u32);
        }
        let vertices = vertices.iter().map(|x| (*x - center).as_vec3()).collect();
        Skin { vertices, center, starts, entries }
    }

    /// Where the vertices are, and their velocities. `rest` are the particles that the skin was made with, `fits`
    /// their affine maps.
    pub fn place(&self, rest: &[Vec3], matter: Matter, fits: &[AffineFit]) -> (Vec<[f32; 3]>, Vec<[f32; 3]>) {
        let origin = mean(matter.positions);
        let map = |j: usize| -> Map {
            let F = fits[j].gradient.as_mat3();
            let a = (matter.positions[j] - origin - fits[j].gradient * (rest[j] - self.center)).as_vec3();
            let (f, v) = (F.to_cols_array(), matter.velocities[j].as_vec3());
            let [f0, f1, f2, f3, f4, f5, f6, f7, f8] = f;
            [
                Lane::from([f0, f1, f2, f3, f4, f5, f6, f7]),
                Lane::from([f8, a.x, a.y, a.z, v.x, v.y, v.z, 0.0]),
            ]
        };
        let maps: Vec<Map> = (0..rest.len()).into_par_iter().with_min_len(1024).map(map).collect();
        let mut positions = vec![[0.0; 3]; self.vertices.len()];
        let mut velocities = positions.clone();
        let origin = origin.as_vec3();
        positions.par_chunks_mut(CHUNK).zip(velocities.par_chunks_mut(CHUNK)).enumerate().for_each(
            |(chunk, (positions, velocities))| {
                for (k, (x, v)) in positions.iter_mut().zip(velocities).enumerate() {
                    let vertex = chunk * CHUNK + k;
                    let [low, high] = self.blend(vertex, &maps);
                    let [f0, f1, f2, f3, f4, f5, f6, f7] = low.to_array();
                    let [f8, ax, ay, az, vx, vy, vz, _] = high.to_array();
                    let F = glam::Mat3::from_cols_array(&[f0, f1, f2, f3, f4, f5, f6, f7, f8]);
                    let moved = origin + (F * self.vertices[vertex] + glam::Vec3::new(ax, ay, az));
                    (*x, *v) = (moved.to_array(), [vx, vy, vz]);
                }
            },
        );
        (positions, velocities)
    }

    #[inline]
    fn blend(&self, vertex: usize, maps: &[Map]) -> Map {
        let [mut low, mut high] = [Lane::ZERO; 2];
        for &(j, w) in &self.entries[self.starts[vertex] as usize..self.starts[vertex + 1] as usize] {
            let (w, map) = (Lane::splat(w), &maps[j as usize]);
            low += w * map[0];
            high += w * map[1];
        }
        [low, high]
    }
}

/// The nearest particles within the radius, with weights (1 - r²/R²)³ that add up to one.
fn weights(grid: &Grid, x: Vec3, radius: Real) -> Vec<(u32, f32)> {
    let mut near: Vec<(Real, u32)> = Vec::new();
    grid.for_each_within(x, radius, |j, x_j| near.push((x_j.distance_squared(x), j)));
    near.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    near.truncate(MOST);
    let weight = |r2: Real| (1.0 - r2 / (radius * radius)).powi(3);
    let total: Real = near.iter().map(|(r2, _)| weight(*r2)).sum();
    // A particle on the very edge of the radius alone has no weight.
    if total <= 1e-12 {
        return Vec::new();
    }
    near.iter().map(|&(r2, j)| (j, (weight(r2) / total) as f32)).collect()
}

fn mean(points: &[Vec3]) -> Vec3 {
    sum(points.len(), Vec3::ZERO, |i| points[i]) / points.len().max(1) as Real
}
