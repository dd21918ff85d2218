//! Makes triangles fit for an inside test: corners at one place are one, neighbours agree on which side is outside.

use super::TriangleMesh;
use crate::math::Vec3;
use std::collections::HashMap;

/// Triangles that agree with their neighbours, and what was found wrong with them.
pub(super) struct Repaired {
    pub triangles: Vec<[Vec3; 3]>,
    /// Edges of one triangle only: rims of holes.
    pub open_edges: usize,
    /// Triangles whose corners were put in the other order.
    pub turned: usize,
    /// Triangles without area, left out.
    pub degenerate: usize,
    /// Parts that share no edge with one another.
    pub parts: usize,
}

/// One side of a triangle, under the vertices it joins.
struct Side {
    vertices: [u32; 2],
    triangle: u32,
    /// Does the triangle run along it from the lower to the higher vertex?
    rising: bool,
}

/// A triangle across an edge, and whether both run along the edge in the same direction.
type Neighbor = (u32, bool);

pub(super) fn repair(mesh: &TriangleMesh) -> Repaired {
    let joined = joined_vertices(mesh);
    let has_area = |t: &usize| {
        let [a, b, c] = mesh.corners(*t);
        (b - a).cross(c - a).length_squared() > 0.0
    };
    let kept: Vec<usize> = (0..mesh.triangles.len()).filter(has_area).collect();
    let corners: Vec<[u32; 3]> =
        kept.iter().map(|&t| mesh.triangles[t].map(|v| joined[v as usize])).collect();
    let (neighbors, open_edges) = across_edges(&corners);
    let (turn, parts) = turns(&neighbors);
    let triangle = |(&t, &turn): (&usize, &bool)| {
        let [a, b, c] = mesh.corners(t);
        if turn { [a, c, b] } else { [a, b, c] }
    };
    Repaired {
        triangles: kept.iter().zip(&turn).map(triangle).collect(),
        open_edges,
        turned: turn.iter().filter(|turn| **turn).count(),
        degenerate: mesh.triangles.len() - kept.len(),
        parts,
    }
}

/// For each vertex the first one at exactly its place.
fn joined_vertices(mesh: &TriangleMesh) -> Vec<u32> {
    let mut known = HashMap::with_capacity(mesh.vertices.len());
    let bits = |v: &Vec3| (*v + Vec3::ZERO).to_array().map(f64::to_bits);
    mesh.vertices.iter().enumerate().map(|(k, v)| *known.entry(bits(v)).or_insert(k as u32)).collect()
}

/// The neighbours of each triangle across edges that exactly two share, and the number of edges that one has alone.
fn across_edges(corners: &[[u32; 3]]) -> (Vec<Vec<Neighbor>>, usize) {
    let mut sides = Vec::with_capacity(3 * corners.len());
    for (triangle, c) in corners.iter().enumerate() {
        for (a, b) in [(c[0], c[1]), (c[1], c[2]), (c[2], c[0])] {
            sides.push(Side { vertices: [a.min(b), a.max(b)], triangle: triangle as u32, rising: a < b });
        }
    }
    sides.sort_unstable_by_key(|side| (side.vertices, side.triangle));
    let mut neighbors = vec![Vec::new(); corners.len()];
    let mut open = 0;
    for edge in sides.chunk_by(|a, b| a.vertices == b.vertices) {
        match edge {
            [_] => open += 1,
            [a, b] => {
                let same = a.rising == b.rising;
                neighbors[a.triangle as usize].push((b.triangle, same));
                neighbors[b.triangle as usize].push((a.triangle, same));
            }
            _ => {}
        }
    }
    (neighbors, open)
}

/// Which triangles to turn so that neighbours run along their edges in opposite directions, fewer than half of each
/// part; and the number of parts.
fn turns(neighbors: &[Vec<Neighbor>]) -> (Vec<bool>, usize) {
    let mut turn: Vec<Option<bool>> = vec![None; neighbors.len()];
    let mut parts = 0;
    for first in 0..neighbors.len() {
        if turn[first].is_some() {
            continue;
        }
        parts += 1;
        turn[first] = Some(false);
        let mut part = vec![first];
        let mut next = 0;
        while let Some(&t) = part.get(next) {
            next += 1;
            let turned = turn[t] == Some(true);
            for &(o, same) in &neighbors[t] {
                if turn[o as usize].is_none() {
                    turn[o as usize] = Some(turned != same);
                    part.push(o as usize);
                }
            }
        }
        let most = part.iter().filter(|t| turn[**t] == Some(true)).count() * 2 > part.len();
        if most {
            part.iter().for_each(|t| turn[*t] = turn[*t].map(|turn| !turn));
        }
    }
    (turn.into_iter().map(|turn| turn == Some(true)).collect(), parts)
}
