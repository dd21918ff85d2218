//! Wavefront OBJ: `v`, `vt`, `f`, `g`, `o`, `usemtl`; everything else is passed over.
//!
//! Read here and not by a crate: vertices keep their order, and materials their names where the .mtl file is missing.

use super::{MOST_TRIANGLES, MeshGroup, TextureMap, TriangleMesh, fan, too_many};
use crate::math::Vec3;

#[derive(Default)]
struct Reading {
    mesh: TriangleMesh,
    coordinates: Vec<[f32; 2]>,
    texture_triangles: Vec<[u32; 3]>,
    /// Does every corner so far have texture coordinates?
    textured: bool,
    name: String,
    material: String,
    /// First triangle of the present group.
    start: usize,
}

pub(super) fn decode(bytes: &[u8]) -> Result<TriangleMesh, String> {
    let text = String::from_utf8_lossy(bytes);
    let mut reading = Reading { textured: true, ..Reading::default() };
    for (number, line) in text.lines().enumerate() {
        reading.line(line).map_err(|problem| format!("line {}: {problem}", number + 1))?;
    }
    reading.close_group();
    let Reading { mut mesh, coordinates, texture_triangles, textured, .. } = reading;
    if textured && !coordinates.is_empty() {
        mesh.texture = Some(TextureMap { coordinates, triangles: texture_triangles });
    }
    if mesh.groups.iter().all(|group| group.name.is_empty() && group.material.is_empty()) {
        mesh.groups.clear();
    }
    Ok(mesh)
}

impl Reading {
    fn line(&mut self, line: &str) -> Result<(), String> {
        let mut words = line.split_whitespace();
        match words.next() {
            Some("v") => self.mesh.vertices.push(Vec3::from_array(numbers(&mut words)?)),
            Some("vt") => {
                let u = number(words.next())? as f32;
                let v = words.next().map_or(Ok(0.0), |word| number(Some(word)))? as f32;
                self.coordinates.push([u, v]);
            }
            Some("f") => self.face(words)?,
            Some("g" | "o") => {
                self.close_group();
                self.name = words.collect::<Vec<_>>().join(" ");
            }
            Some("usemtl") => {
                self.close_group();
                self.material = words.collect::<Vec<_>>().join(" ");
            }
            _ => {}
        }
        Ok(())
    }

    fn face<'a>(&mut self, words: impl Iterator<Item = &'a str>) -> Result<(), String> {
        let (mut polygon, mut texture) = (Vec::new(), Vec::new());
        for word in words.take_while(|word| !word.starts_with('#')) {
            let mut parts = word.split('/');
            polygon.push(index(parts.next(), self.mesh.vertices.len())?);
            match parts.next().filter(|part| !part.is_empty()) {
                Some(part) => texture.push(index(Some(part), self.coordinates.len())?),
                None => self.textured = false,
            }
        }
        if polygon.len() < 3 {
            return Err("a face needs three corners or more".into());
        }
        if self.mesh.triangles.len() + polygon.len() > MOST_TRIANGLES {
            return Err(too_many());
        }
        self.mesh.triangles.extend(fan(&polygon));
        if self.textured {
            self.texture_triangles.extend(fan(&texture));
        }
        Ok(())
    }

    fn close_group(&mut self) {
        let end = self.mesh.triangles.len();
        if end > self.start {
            let (name, material) = (self.name.clone(), self.material.clone());
            self.mesh.groups.push(MeshGroup { name, material, triangles: self.start..end });
            self.start = end;
        }
    }
}

fn number(word: Option<&str>) -> Result<f64, String> {
    let word = word.ok_or("a number is missing")?;
    word.parse().map_err(|_| format!("{word:.40} is no number"))
}

fn numbers<'a>(words: &mut impl Iterator<Item = &'a str>) -> Result<[f64; 3], String> {
    Ok([number(words.next())?, number(words.next())?, number(words.next())?])
}

/// Indices count from one, or backwards from the last one read.
fn index(word: Option<&str>, count: usize) -> Result<u32, String> {
    let word = word.unwrap_or_default();
    let index: i64 = word.parse().map_err(|_| format!("{word:.40} is no index"))?;
    let from_zero = if index < 0 { index.checked_add(count as i64) } else { index.checked_sub(1) };
    match from_zero {
        Some(at) if at >= 0 && at < count as i64 && at < u32::MAX as i64 => Ok(at as u32),
        _ => Err(format!("index {index} names nothing: {count} are defined before it")),
    }
}
