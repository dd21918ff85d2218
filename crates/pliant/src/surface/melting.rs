//! From a skin to an isosurface without a jump: what has just begun to flow is an isosurface drawn onto the skin, and
//! is let go as the particles leave their rest neighbours.

use super::SurfaceMesh;
use super::rest_mesh::normals;
use crate::math::{Real, Vec3};
use crate::neighbors::Grid;
use rayon::prelude::*;

/// Mean misfits between which a body turns from a solid to a liquid: elastic bodies stay far below the first.
const SOLID: Real = 0.25;
const MOLTEN: Real = 0.7;
/// How far from the skin an isosurface may be and is still drawn onto it [spacings].
const REACH: f32 = 2.0;
/// Points of a skin at most, about: one that is torn apart has large triangles.
const MOST_POINTS: f32 = 4e6;

/// How much of a liquid's look a molten solid gets: wax is no water.
pub(super) const LOOK: f32 = 0.25;

/// How much of a body has melted, from 0 to 1, by the mean misfit of its neighbourhoods.
pub(super) fn share(misfit: Real) -> f32 {
    let t = ((misfit - SOLID) / (MOLTEN - SOLID)).clamp(0.0, 1.0);
    (t * t * (3.0 - 2.0 * t)) as f32
}

/// The isosurface with its vertices on the way from the skin: on it for `molten` = 0, their own for 1.
pub(super) fn between(
    skin: &SurfaceMesh,
    mut flowing: SurfaceMesh,
    molten: f32,
    spacing: f32,
) -> SurfaceMesh {
    let points = Points::of(skin, 0.5 * spacing);
    let mut grid = Grid::default();
    grid.build(&points.positions, Real::from(REACH * spacing));
    flowing.positions.par_iter_mut().with_min_len(256).for_each(|x| {
        let own = glam::Vec3::from(*x);
        if let Some(on_skin) = points.nearest(&grid, own, REACH * spacing) {
            *x = on_skin.lerp(own, molten).to_array();
        }
    });
    flowing.normals = normals(&flowing.positions, &flowing.triangles, None);
    SurfaceMesh { liquid: LOOK * molten, ..flowing }
}

/// Points of a mesh, no farther apart than a distance, with the normals of their triangles.
struct Points {
    positions: Vec<Vec3>,
    normals: Vec<glam::Vec3>,
}

impl Points {
    fn of(mesh: &SurfaceMesh, distance: f32) -> Points {
        let mut points = Points { positions: Vec::new(), normals: Vec::new() };
        let most = (2.0 * MOST_POINTS / mesh.triangles.len().max(1) as f32).sqrt();
        for triangle in &mesh.triangles {
            let [a, b, c] = triangle.map(|v| glam::Vec3::from(mesh.positions[v as usize]));
            let normal = (b - a).cross(c - a).normalize_or_zero();
            let longest = a.distance(b).max(b.distance(c)).max(c.distance(a));
            let n = (longest / distance).ceil().min(most).max(1.0) as usize;
            for i in 0..n {
                for j in 0..n - i {
                    let at = |k: usize| (k as f32 + 1.0 / 3.0) / n as f32;
                    points.positions.push((a + at(i) * (b - a) + at(j) * (c - a)).as_dvec3());
                    points.normals.push(normal);
                }
            }
        }
        points
    }

    /// The point of the nearest triangle's plane below x.
    fn nearest(&self, grid: &Grid, x: glam::Vec3, radius: f32) -> Option<glam::Vec3> {
        let mut best: Option<(Real, u32)> = None;
        let at = x.as_dvec3();
        grid.for_each_within(at, Real::from(radius), |j, x_j| {
            let distance = x_j.distance_squared(at);
            if best.is_none_or(|(least, _)| distance < least) {
                best = Some((distance, j));
            }
        });
        let (_, j) = best?;
        let (p, n) = (self.positions[j as usize].as_vec3(), self.normals[j as usize]);
        Some(x - n * (x - p).dot(n))
    }
}
