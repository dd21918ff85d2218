//! STL, binary and text. Corners at exactly the same place become one vertex.

use super::{MOST_TRIANGLES, TriangleMesh, too_many};
use crate::math::Vec3;
use std::collections::HashMap;

/// Header and number of triangles; one triangle.
const HEAD: usize = 84;
const ROW: usize = 50;

pub(super) fn decode(bytes: &[u8]) -> Result<TriangleMesh, String> {
    let count = bytes.get(80..HEAD).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]) as usize);
    // Some binary files begin with the word of text files, too: their length tells them apart.
    let is_binary = count.is_some_and(|count| bytes.len() == HEAD + ROW * count);
    let corners = if !is_binary && bytes.trim_ascii_start().starts_with(b"solid") {
        text(bytes)?
    } else {
        let count = count.ok_or("it is shorter than its header")?;
        if count > (bytes.len() - HEAD) / ROW {
            return Err(format!("it is shorter than the {count} triangles its header says"));
        }
        bytes[HEAD..HEAD + ROW * count].chunks_exact(ROW).flat_map(row).collect()
    };
    if corners.len() > 3 * MOST_TRIANGLES {
        return Err(too_many());
    }
    Ok(joined(&corners))
}

/// Three corners, after the normal.
fn row(row: &[u8]) -> [[f32; 3]; 3] {
    let float = |at: usize| f32::from_le_bytes([row[at], row[at + 1], row[at + 2], row[at + 3]]);
    [12, 24, 36].map(|at| [float(at), float(at + 4), float(at + 8)])
}

/// `vertex x y z` lines, three a facet; the words around them say nothing else.
fn text(bytes: &[u8]) -> Result<Vec<[f32; 3]>, String> {
    let text = String::from_utf8_lossy(bytes);
    let mut words = text.split_whitespace();
    let mut corners = Vec::new();
    while words.any(|word| word == "vertex") {
        let mut number = || {
            let word = words.next().unwrap_or_default();
            word.parse::<f32>().map_err(|_| format!("vertex {}: {word:.40} is no number", corners.len()))
        };
        let corner = [number()?, number()?, number()?];
        corners.push(corner);
    }
    if corners.len() % 3 != 0 {
        return Err("it ends within a triangle".into());
    }
    Ok(corners)
}

fn joined(corners: &[[f32; 3]]) -> TriangleMesh {
    let mut mesh = TriangleMesh::default();
    let mut known = HashMap::new();
    let mut vertex = |corner: &[f32; 3]| {
        let bits = corner.map(|x| (x + 0.0).to_bits()); // 0.0 and -0.0 are one place
        *known.entry(bits).or_insert_with(|| {
            mesh.vertices.push(Vec3::from_array(corner.map(f64::from)));
            mesh.vertices.len() as u32 - 1
        })
    };
    mesh.triangles = corners.chunks_exact(3).map(|c| [vertex(&c[0]), vertex(&c[1]), vertex(&c[2])]).collect();
    mesh
}
