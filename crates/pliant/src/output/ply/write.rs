//! Writes PLY files.

use super::{TEXTURE, VECTORS};
use crate::output::frame::plain_name;
use crate::output::{Field, Frame, Values, legend};

/// The frame as a file; it must pass [`Frame::check`].
pub fn encode(frame: &Frame) -> Vec<u8> {
    let points = frame.positions.len();
    let mut head = String::from("ply\nformat binary_little_endian 1.0\n");
    for line in legend::lines(frame) {
        head += &format!("comment {line}\n");
    }
    head += &format!("element vertex {points}\n");
    for (number, name) in properties(frame) {
        head += &format!("property {number} {name}\n");
    }
    if let Some(faces) = &frame.faces {
        let triangles = faces.triangles.len();
        head += &format!("element face {triangles}\nproperty list uchar int vertex_indices\n");
    }
    head += "end_header\n";

    let texture = texture(frame);
    let numbers: usize = frame.fields.iter().map(|field| field.values.components()).sum();
    let stride = 12 + texture.map_or(0, |_| 8) + 4 * numbers;
    let mut out = Vec::with_capacity(head.len() + stride * points);
    out.extend_from_slice(head.as_bytes());
    out.resize(head.len() + stride * points, 0);
    let rows = &mut out[head.len()..];
    put_vectors(rows, stride, 0, &frame.positions);
    let mut at = 12;
    if let Some(texture) = texture {
        put(rows, stride, at, texture.iter().map(|[u, _]| u.to_le_bytes()));
        put(rows, stride, at + 4, texture.iter().map(|[_, v]| v.to_le_bytes()));
        at += 8;
    }
    for Field { values, .. } in &frame.fields {
        match values {
            Values::Integers(values) => put(rows, stride, at, values.iter().map(|n| n.to_le_bytes())),
            Values::Scalars(values) => put(rows, stride, at, values.iter().map(|a| a.to_le_bytes())),
            Values::Vectors(values) => put_vectors(rows, stride, at, values),
        }
        at += 4 * values.components();
    }
    if let Some(faces) = &frame.faces {
        put_triangles(&mut out, &faces.triangles);
    }
    out
}

/// Writes one number into each row, `at` bytes from its start.
fn put(rows: &mut [u8], stride: usize, at: usize, numbers: impl Iterator<Item = [u8; 4]>) {
    for (row, number) in rows.chunks_exact_mut(stride).zip(numbers) {
        row[at..at + 4].copy_from_slice(&number);
    }
}

fn put_vectors(rows: &mut [u8], stride: usize, at: usize, vectors: &[[f32; 3]]) {
    for (row, [x, y, z]) in rows.chunks_exact_mut(stride).zip(vectors) {
        row[at..at + 4].copy_from_slice(&x.to_le_bytes());
        row[at + 4..at + 8].copy_from_slice(&y.to_le_bytes());
        row[at + 8..at + 12].copy_from_slice(&z.to_le_bytes());
    }
}

/// Number type and name of each property, all names different and without spaces.
fn properties(frame: &Frame) -> Vec<(&'static str, String)> {
    let mut names = ["x", "y", "z"].map(String::from).to_vec();
    let mut numbers = vec!["float"; 3];
    if texture(frame).is_some() {
        names.extend(TEXTURE.map(String::from));
        numbers.extend(["float"; 2]);
    }
    for Field { name, values } in &frame.fields {
        let (number, wanted) = match values {
            Values::Integers(_) => ("int", vec![name.clone()]),
            Values::Scalars(_) => ("float", vec![name.clone()]),
            Values::Vectors(_) => ("float", vector_names(name).to_vec()),
        };
        for name in wanted {
            names.push(plain_name(&name, &names));
            numbers.push(number);
        }
    }
    numbers.into_iter().zip(names).collect()
}

fn vector_names(name: &str) -> [String; 3] {
    match VECTORS.iter().find(|(known, _)| *known == name) {
        Some((_, names)) => names.map(String::from),
        None => ["x", "y", "z"].map(|axis| format!("{name:.90}_{axis}")),
    }
}

fn texture(frame: &Frame) -> Option<&[[f32; 2]]> {
    frame.faces.as_ref().and_then(|faces| faces.texture.as_deref())
}

/// A count of one byte and three corners of four for each triangle.
fn put_triangles(out: &mut Vec<u8>, triangles: &[[u32; 3]]) {
    out.reserve(13 * triangles.len());
    for triangle in triangles {
        out.push(3);
        triangle.iter().for_each(|corner| out.extend_from_slice(&corner.to_le_bytes()));
    }
}
