//! Classic Houdini geometry, version 5, as Partio writes and reads it: big endian, in a gzip envelope.
//!
//! Blender's sequence loader wants the envelope, and nothing after the points but the two bytes of an empty extra
//! section: there is no place for the time and the names of bodies. Attributes have the names Houdini gives them:
//! `v` is the velocity, `N` the normal, `uv` the texture coordinates. Houdini turns polygons clockwise.

use super::deflate::{self, Inflater};
use super::frame::plain_name;
use super::{Faces, Field, Frame, Values, fan};

const MAGIC: &[u8] = b"BgeoV";
const VERSION: u32 = 5;
/// Types of attributes.
const FLOAT: u32 = 0;
const INTEGER: u32 = 1;
const INDEX: u32 = 4;
const VECTOR: u32 = 5;
/// A run of primitives of one type.
const RUN: u32 = u32::MAX;
const POLYGON: u32 = 1;
const CLOSED: u8 = b'<';
const PARTICLES: u32 = 0x8000;
/// What ends a file: an extra section without contents.
const EXTRA: [u8; 2] = [0, 0xff];
/// Our names and those of Houdini.
const NAMES: [(&str, &str); 2] = [("velocity", "v"), ("normal", "N")];
const TEXTURE: &str = "uv";

/// The frame as a file; it must pass [`Frame::check`].
pub fn encode(frame: &Frame, compress: bool) -> Vec<u8> {
    let bytes = plain(frame);
    let mut out = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]; // deflate, no name, no time, any system
    out.extend(if compress { deflate::deflated(&bytes) } else { deflate::stored(&bytes) });
    out.extend(deflate::crc32(&bytes).to_le_bytes());
    out.extend((bytes.len() as u32).to_le_bytes());
    out
}

/// The file in its envelope.
fn plain(frame: &Frame) -> Vec<u8> {
    let points = frame.positions.len();
    let triangles = frame.faces.as_ref().map_or(&[][..], |faces| &faces.triangles);
    let texture = frame.faces.as_ref().and_then(|faces| faces.texture.as_deref());
    let attributes = frame.fields.len() + usize::from(texture.is_some());
    let mut out = MAGIC.to_vec();
    // Points, primitives, groups of both; attributes of points, vertices, primitives, and of all.
    for number in [VERSION as usize, points, triangles.len(), 0, 0, attributes, 0, 0, 0] {
        out.extend((number as u32).to_be_bytes());
    }
    let mut names = vec!["P".to_string(), TEXTURE.to_string()];
    for Field { name, values } in &frame.fields {
        let known = NAMES.iter().find(|(ours, _)| ours == name).map(|(_, houdini)| *houdini);
        let name = plain_name(known.unwrap_or(name), &names);
        let kind = match values {
            Values::Integers(_) => INTEGER,
            Values::Scalars(_) => FLOAT,
            Values::Vectors(_) => VECTOR,
        };
        put_attribute(&mut out, &name, values.components(), kind);
        names.push(name);
    }
    if texture.is_some() {
        put_attribute(&mut out, TEXTURE, 3, FLOAT);
    }
    put_points(&mut out, frame, texture);
    put_triangles(&mut out, triangles, points);
    out.extend(EXTRA);
    out
}

/// Name, size, type, default values.
fn put_attribute(out: &mut Vec<u8>, name: &str, size: usize, kind: u32) {
    out.extend((name.len() as u16).to_be_bytes());
    out.extend(name.as_bytes());
    out.extend((size as u16).to_be_bytes());
    out.extend(kind.to_be_bytes());
    out.resize(out.len() + 4 * size, 0);
}

/// Positions with a fourth coordinate of one, then the attributes.
fn put_points(out: &mut Vec<u8>, frame: &Frame, texture: Option<&[[f32; 2]]>) {
    let numbers: usize = frame.fields.iter().map(|field| field.values.components()).sum();
    let stride = 4 * (4 + numbers + texture.map_or(0, |_| 3));
    let start = out.len();
    out.resize(start + stride * frame.positions.len(), 0);
    let mut rows = Rows { bytes: &mut out[start..], stride, at: 0 };
    rows.put(frame.positions.iter().map(|[x, y, z]| [*x, *y, *z, 1.0].map(f32::to_be_bytes)));
    for Field { values, .. } in &frame.fields {
        match values {
            Values::Integers(values) => rows.put(values.iter().map(|n| [n.to_be_bytes()])),
            Values::Scalars(values) => rows.put(values.iter().map(|x| [x.to_be_bytes()])),
            Values::Vectors(values) => rows.put(values.iter().map(|v| v.map(f32::to_be_bytes))),
        }
    }
    if let Some(texture) = texture {
        rows.put(texture.iter().map(|[u, v]| [*u, *v, 0.0].map(f32::to_be_bytes)));
    }
}

struct Rows<'a> {
    bytes: &'a mut [u8],
    stride: usize,
    /// Where the next column starts in a row.
    at: usize,
}

impl Rows<'_> {
    fn put<const N: usize>(&mut self, column: impl Iterator<Item = [[u8; 4]; N]>) {
        for (row, numbers) in self.bytes.chunks_exact_mut(self.stride).zip(column) {
            row[self.at..self.at + 4 * N].copy_from_slice(numbers.as_flattened());
        }
        self.at += 4 * N;
    }
}

/// Runs of closed polygons.
fn put_triangles(out: &mut Vec<u8>, triangles: &[[u32; 3]], points: usize) {
    for run in triangles.chunks(usize::from(u16::MAX)) {
        out.extend(RUN.to_be_bytes());
        out.extend((run.len() as u16).to_be_bytes());
        out.extend(POLYGON.to_be_bytes());
        for [a, b, c] in run {
            out.extend(3u32.to_be_bytes());
            out.push(CLOSED);
            for corner in [c, b, a] {
                if has_short_indices(points) {
                    out.extend((*corner as u16).to_be_bytes());
                } else {
                    out.extend(corner.to_be_bytes());
                }
            }
        }
    }
}

/// Points are counted with 16 bits where these suffice.
fn has_short_indices(points: usize) -> bool {
    points < 1 << 16
}

/// Reads points, their attributes and polygons, in an envelope or without. Particle systems and groups are skipped.
pub fn decode(bytes: &[u8]) -> Result<Frame, String> {
    if bytes.starts_with(MAGIC) {
        return read(bytes);
    }
    read(&Inflater::default().gzip(bytes)?)
}

fn read(bytes: &[u8]) -> Result<Frame, String> {
    if bytes.starts_with(b"\x7fNSJ") {
        return Err("it is of the newer kind of .bgeo: write .bhclassic from Houdini".into());
    }
    let mut input = Input { bytes: bytes.strip_prefix(MAGIC).ok_or("it is no classic .bgeo")? };
    let head = input.head().ok_or(CUT)?;
    let attributes = (0..head.point_attributes).map(|_| input.attribute()).collect::<Result<Vec<_>, _>>()?;
    let width = attributes.iter().fold(4usize, |sum, attribute| sum.saturating_add(attribute.size));
    let length = head.points.checked_mul(width).and_then(|n| n.checked_mul(4));
    let rows = length.and_then(|length| input.take(length)).ok_or(CUT)?;
    let columns = Columns { rows, width };
    let mut frame = Frame { positions: columns.vectors(0), ..Frame::default() };
    let mut at = 4;
    let mut texture = None;
    for attribute in attributes {
        match (attribute.name.as_str(), attribute.kind, attribute.size) {
            (TEXTURE, FLOAT | VECTOR, 2 | 3) => texture = Some(columns.pairs(at)),
            (name, kind, size) => {
                if let Some(values) = columns.values(at, kind, size) {
                    frame.fields.push(Field { name: our_name(name), values });
                }
            }
        }
        at += attribute.size;
    }
    let triangles = input.triangles(&head)?;
    if head.primitives > 0 && !triangles.is_empty() {
        frame.faces = Some(Faces { triangles, texture });
    }
    frame.find_bodies();
    Ok(frame)
}

const CUT: &str = "it is shorter than its header says";

fn our_name(houdini: &str) -> String {
    NAMES.iter().find(|(_, known)| *known == houdini).map_or(houdini, |(ours, _)| ours).to_string()
}

struct Head {
    points: usize,
    primitives: usize,
    point_attributes: usize,
    vertex_attributes: usize,
    primitive_attributes: usize,
}

struct Attribute {
    name: String,
    size: usize,
    kind: u32,
}

struct Input<'a> {
    bytes: &'a [u8],
}

impl<'a> Input<'a> {
    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        self.bytes.split_off(..length)
    }

    fn u16(&mut self) -> Option<usize> {
        self.take(2)?.first_chunk().map(|bytes| usize::from(u16::from_be_bytes(*bytes)))
    }

    fn u32(&mut self) -> Option<u32> {
        self.take(4)?.first_chunk().map(|bytes| u32::from_be_bytes(*bytes))
    }

    fn head(&mut self) -> Option<Head> {
        let mut numbers = [0; 9];
        for number in &mut numbers {
            *number = self.u32()?;
        }
        let [version, points, primitives, _, _, of_points, of_vertices, of_primitives, _] =
            numbers.map(|number| number as usize);
        (version == VERSION as usize).then_some(Head {
            points,
            primitives,
            point_attributes: of_points,
            vertex_attributes: of_vertices,
            primitive_attributes: of_primitives,
        })
    }

    fn attribute(&mut self) -> Result<Attribute, String> {
        let length = self.u16().ok_or(CUT)?;
        let name = String::from_utf8_lossy(self.take(length).ok_or(CUT)?).into_owned();
        let size = self.u16().ok_or(CUT)?;
        let kind = self.u32().ok_or(CUT)?;
        match kind {
            FLOAT | INTEGER | VECTOR => drop(self.take(4 * size).ok_or(CUT)?),
            INDEX => {
                for _ in 0..self.u32().ok_or(CUT)? {
                    let length = self.u16().ok_or(CUT)?;
                    self.take(length).ok_or(CUT)?;
                }
            }
            _ => return Err(format!("its attribute {name} is of a type that is not known")),
        }
        Ok(Attribute { name, size, kind })
    }

    /// The polygons as triangles.
    fn triangles(&mut self, head: &Head) -> Result<Vec<[u32; 3]>, String> {
        let mut triangles = Vec::new();
        if head.primitives == 0 {
            return Ok(triangles);
        }
        let mut width = |count: usize| -> Result<usize, String> {
            let attributes = (0..count).map(|_| self.attribute()).collect::<Result<Vec<_>, _>>()?;
            Ok(attributes.iter().fold(0usize, |sum, attribute| sum.saturating_add(4 * attribute.size)))
        };
        let (of_vertex, of_primitive) = (width(head.vertex_attributes)?, width(head.primitive_attributes)?);
        let index = if has_short_indices(head.points) { 2 } else { 4 };
        let mut left = head.primitives;
        while left > 0 {
            let (run, kind) = match self.u32().ok_or(CUT)? {
                RUN => (self.u16().ok_or(CUT)?, self.u32().ok_or(CUT)?),
                kind => (1, kind),
            };
            // An empty run would be read for ever.
            left = left.checked_sub(run.max(1)).ok_or("it has more primitives than its header says")?;
            for _ in 0..run {
                let corners = self.u32().ok_or(CUT)? as usize;
                match kind {
                    POLYGON => drop(self.take(1).ok_or(CUT)?),
                    PARTICLES => {}
                    _ => return Err("it has primitives that are neither polygons nor particles".into()),
                }
                let stride = index + of_vertex;
                let vertices = corners.checked_mul(stride).and_then(|n| self.take(n)).ok_or(CUT)?;
                self.take(of_primitive).ok_or(CUT)?;
                if kind == POLYGON {
                    let number = |bytes: &[u8]| bytes.iter().fold(0, |sum, byte| sum << 8 | u32::from(*byte));
                    let corners = vertices.chunks_exact(stride).rev().map(|vertex| number(&vertex[..index]));
                    triangles.extend(fan(&corners.collect::<Vec<_>>()));
                }
            }
        }
        Ok(triangles)
    }
}

/// Rows of numbers of four bytes.
struct Columns<'a> {
    rows: &'a [u8],
    width: usize,
}

impl Columns<'_> {
    /// So many numbers of each row, from this one on.
    fn numbers<const N: usize>(&self, at: usize) -> impl Iterator<Item = [[u8; 4]; N]> {
        let rows = self.rows.chunks_exact(4 * self.width);
        rows.filter_map(move |row| row.as_chunks::<4>().0.get(at..)?.first_chunk::<N>().copied())
    }

    fn vectors(&self, at: usize) -> Vec<[f32; 3]> {
        self.numbers::<3>(at).map(|numbers| numbers.map(f32::from_be_bytes)).collect()
    }

    fn pairs(&self, at: usize) -> Vec<[f32; 2]> {
        self.numbers::<2>(at).map(|numbers| numbers.map(f32::from_be_bytes)).collect()
    }

    /// The column of an attribute; `None` for kinds a frame does not have.
    fn values(&self, at: usize, kind: u32, size: usize) -> Option<Values> {
        match (kind, size) {
            (FLOAT | VECTOR, 3) => Some(Values::Vectors(self.vectors(at))),
            (FLOAT, 1) => Some(Values::Scalars(self.numbers(at).map(|[n]| f32::from_be_bytes(n)).collect())),
            (INTEGER | INDEX, 1) => {
                Some(Values::Integers(self.numbers(at).map(|[n]| i32::from_be_bytes(n)).collect()))
            }
            _ => None,
        }
    }
}
