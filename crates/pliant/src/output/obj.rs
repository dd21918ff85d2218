//! Wavefront OBJ: `v` lines for points; with triangles also `vt`, `vn` (the field `normal`) and `f`.
//!
//! There is no place for other fields. Frame, time and bodies are in comments.

use super::text::{put_number, put_rows};
use super::{Faces, Field, Frame, Values, fan, legend};
use std::fmt::Write;

/// The frame as a file; it must pass [`Frame::check`].
pub fn encode(frame: &Frame) -> Vec<u8> {
    let mut out = Vec::new();
    for line in legend::lines(frame).iter().filter(|line| !line.starts_with("field ")) {
        out.extend_from_slice(format!("# {line}\n").as_bytes());
    }
    put_vectors(&mut out, "v", &frame.positions);
    let Some(faces) = &frame.faces else { return out };
    if let Some(texture) = &faces.texture {
        put_rows(&mut out, texture.len(), |text, row| put_line(text, "vt", &texture[row]));
    }
    let normals =
        if let Some(Values::Vectors(normals)) = frame.field("normal") { Some(normals) } else { None };
    if let Some(normals) = normals {
        put_vectors(&mut out, "vn", normals);
    }
    put_rows(&mut out, faces.triangles.len(), |text, row| {
        text.push('f');
        for corner in faces.triangles[row].map(|corner| corner + 1) {
            // Writing to a string cannot fail.
            let _ = match (&faces.texture, normals) {
                (None, None) => write!(text, " {corner}"),
                (Some(_), None) => write!(text, " {corner}/{corner}"),
                (None, Some(_)) => write!(text, " {corner}//{corner}"),
                (Some(_), Some(_)) => write!(text, " {corner}/{corner}/{corner}"),
            };
        }
        text.push('\n');
    });
    out
}

fn put_vectors(out: &mut Vec<u8>, word: &str, vectors: &[[f32; 3]]) {
    put_rows(out, vectors.len(), |text, row| put_line(text, word, &vectors[row]));
}

fn put_line(text: &mut String, word: &str, numbers: &[f32]) {
    text.push_str(word);
    for number in numbers {
        text.push(' ');
        put_number(text, *number);
    }
    text.push('\n');
}

/// Does the first line that is no comment start with a word of this format?
pub fn is_one(text: &str) -> bool {
    let words = ["v", "vt", "vn", "f", "o", "g", "mtllib", "usemtl", "s"];
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    match lines.next() {
        Some(line) => words.contains(&line.split_ascii_whitespace().next().unwrap_or_default()),
        None => text.starts_with("# pliant "),
    }
}

/// Reads points and polygons. Texture coordinates and normals count if each vertex has one of its own number.
pub fn decode(text: &str) -> Result<Frame, String> {
    let legend = legend::parse(text.lines().map_while(|line| line.strip_prefix("# ")))?;
    if legend.is_some() && !text.ends_with('\n') {
        return Err("its last line does not end".into());
    }
    let mut read = Reader::default();
    for (k, line) in text.lines().enumerate() {
        read.line(line).ok_or_else(|| format!("cannot read its line {}", k + 1))?;
    }
    let mut frame = Frame { positions: read.positions, ..Frame::default() };
    let points = frame.positions.len();
    if read.has_faces {
        let texture = Some(read.texture).filter(|texture| read.same_numbers && texture.len() == points);
        frame.faces = Some(Faces { triangles: read.triangles, texture: texture.filter(|t| !t.is_empty()) });
    }
    match legend {
        Some(legend) => legend.restore(&mut frame)?,
        None if points == 0 => return Err("it has no points".into()),
        None => frame.find_bodies(),
    }
    if read.same_numbers && !read.normals.is_empty() && read.normals.len() == points {
        frame.fields.push(Field { name: "normal".into(), values: Values::Vectors(read.normals) });
    }
    Ok(frame)
}

struct Reader {
    positions: Vec<[f32; 3]>,
    texture: Vec<[f32; 2]>,
    normals: Vec<[f32; 3]>,
    triangles: Vec<[u32; 3]>,
    has_faces: bool,
    /// All corners name texture coordinates and normals by the number of their point.
    same_numbers: bool,
    corners: Vec<u32>,
}

impl Default for Reader {
    fn default() -> Self {
        Reader {
            positions: Vec::new(),
            texture: Vec::new(),
            normals: Vec::new(),
            triangles: Vec::new(),
            has_faces: false,
            same_numbers: true,
            corners: Vec::new(),
        }
    }
}

impl Reader {
    fn line(&mut self, line: &str) -> Option<()> {
        let mut words = line.split_ascii_whitespace();
        match words.next() {
            Some("v") => self.positions.push(numbers(words)?),
            Some("vt") => self.texture.push(numbers(words)?),
            Some("vn") => self.normals.push(numbers(words)?),
            Some("f") => {
                self.has_faces = true;
                self.corners.clear();
                for word in words {
                    let corner = self.corner(word)?;
                    self.corners.push(corner);
                }
                self.triangles.extend(fan(&self.corners));
            }
            _ => {}
        }
        Some(())
    }

    /// The point of a corner such as `3`, `3/3`, `3//3` or `-1`.
    fn corner(&mut self, word: &str) -> Option<u32> {
        let mut parts = word.split('/');
        let first = parts.next()?;
        self.same_numbers &= parts.all(|part| part.is_empty() || part == first);
        let number: i64 = first.parse().ok()?;
        let points = self.positions.len() as i64;
        let index = if number < 0 { points.checked_add(number)? } else { number.checked_sub(1)? };
        u32::try_from(index).ok()
    }
}

fn numbers<'a, const N: usize>(mut words: impl Iterator<Item = &'a str>) -> Option<[f32; N]> {
    let mut numbers = [0.0; N];
    for number in &mut numbers {
        *number = words.next()?.parse().ok()?;
    }
    Some(numbers)
}
