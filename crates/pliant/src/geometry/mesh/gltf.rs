//! glTF 2.0: all triangles of the default scene, in scene coordinates.
//!
//! The few tables needed are read here: the crate for this format panics on indices that name nothing.

use super::{MOST_TRIANGLES, MeshGroup, TextureMap, TriangleMesh, fan, read_bounded, too_many};
use crate::math::{Quat, Vec3};
use glam::DMat4;
use serde::Deserialize;
use std::borrow::Cow;
use std::collections::HashMap;
use std::path::Path;

/// Types of numbers.
const BYTE: u32 = 5121;
const SHORT: u32 = 5123;
const INTEGER: u32 = 5125;
const FLOAT: u32 = 5126;
/// Kinds of parts.
const TRIANGLES: u32 = 4;
const STRIP: u32 = 5;
const FAN: u32 = 6;

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Document {
    scene: Option<usize>,
    scenes: Vec<Scene>,
    nodes: Vec<Node>,
    meshes: Vec<Mesh>,
    materials: Vec<Named>,
    accessors: Vec<Accessor>,
    buffer_views: Vec<View>,
    buffers: Vec<Buffer>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Scene {
    nodes: Vec<usize>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Node {
    name: String,
    mesh: Option<usize>,
    children: Vec<usize>,
    matrix: Option<[f64; 16]>,
    translation: Option<[f64; 3]>,
    rotation: Option<[f64; 4]>,
    scale: Option<[f64; 3]>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Mesh {
    name: String,
    primitives: Vec<Primitive>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Primitive {
    attributes: HashMap<String, usize>,
    indices: Option<usize>,
    material: Option<usize>,
    mode: Option<u32>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Named {
    name: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Accessor {
    buffer_view: Option<usize>,
    #[serde(default)]
    byte_offset: usize,
    component_type: u32,
    count: usize,
    #[serde(rename = "type")]
    kind: String,
    sparse: Option<serde::de::IgnoredAny>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct View {
    buffer: usize,
    #[serde(default)]
    byte_offset: usize,
    byte_length: usize,
    byte_stride: Option<usize>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Buffer {
    uri: Option<String>,
}

pub(super) fn decode(bytes: &[u8], folder: &Path) -> Result<TriangleMesh, String> {
    let (text, blob) = chunks(bytes)?;
    let document: Document = serde_json::from_slice(text).map_err(|error| error.to_string())?;
    let mut buffers = Vec::new();
    for buffer in &document.buffers {
        buffers.push(match &buffer.uri {
            None => Cow::from(blob),
            Some(uri) => Cow::from(resource(uri, folder)?),
        });
    }
    let texture = Some(TextureMap::default());
    let mut reading = Reading { document: &document, buffers, mesh: TriangleMesh::default(), texture };
    reading.walk()?;
    let Reading { mut mesh, texture, .. } = reading;
    mesh.texture = texture.filter(|texture| !texture.coordinates.is_empty());
    Ok(mesh)
}

/// The text and the binary part. A binary file is a header of twelve bytes and chunks: length, type, bytes.
fn chunks(bytes: &[u8]) -> Result<(&[u8], &[u8]), String> {
    if !bytes.starts_with(b"glTF") {
        return Ok((bytes, &[]));
    }
    let (text, rest) = bytes.get(12..).and_then(chunk).ok_or("it is shorter than its header says")?;
    Ok((text, chunk(rest).map_or(&[], |(blob, _)| blob)))
}

/// One chunk, and what follows it.
fn chunk(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = bytes.split_first_chunk::<4>()?;
    rest.get(4..)?.split_at_checked(u32::from_le_bytes(*length) as usize)
}

/// Bytes named by a buffer: written into the file itself, or a file beside it.
fn resource(uri: &str, folder: &Path) -> Result<Vec<u8>, String> {
    if let Some(data) = uri.strip_prefix("data:") {
        let (_, text) = data.split_once(";base64,").ok_or("a buffer is not written in base64")?;
        return base64(text).ok_or_else(|| "a buffer is not valid base64".into());
    }
    if uri.contains("://") {
        return Err("a buffer lies on the network: export with buffers in files or inside".into());
    }
    let name = unescaped(uri);
    read_bounded(&folder.join(&name)).map_err(|problem| format!("buffer {name:.80}: {problem}"))
}

fn base64(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut held) = (0u32, 0);
    for c in text.trim_end_matches('=').bytes() {
        let six = match c {
            b'A'..=b'Z' => c - b'A',
            b'a'..=b'z' => c - b'a' + 26,
            b'0'..=b'9' => c - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        bits = (bits << 6) | u32::from(six);
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held) as u8);
        }
    }
    Some(bytes)
}

/// `%20` is a space.
fn unescaped(uri: &str) -> String {
    let mut bytes = Vec::with_capacity(uri.len());
    let mut rest = uri.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        let code = tail.get(..2).and_then(|hex| u8::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok());
        match (first, code) {
            (b'%', Some(code)) => {
                bytes.push(code);
                rest = &tail[2..];
            }
            _ => {
                bytes.push(first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

struct Reading<'a> {
    document: &'a Document,
    buffers: Vec<Cow<'a, [u8]>>,
    mesh: TriangleMesh,
    /// None as soon as one part has no texture coordinates.
    texture: Option<TextureMap>,
}

impl Node {
    fn pose(&self) -> DMat4 {
        if let Some(matrix) = &self.matrix {
            return DMat4::from_cols_array(matrix);
        }
        let rotation = self.rotation.map_or(Quat::IDENTITY, Quat::from_array);
        let scale = Vec3::from_array(self.scale.unwrap_or([1.0; 3]));
        let turn = if rotation.length_squared() > 0.0 { rotation.normalize() } else { Quat::IDENTITY };
        DMat4::from_scale_rotation_translation(
            scale,
            turn,
            Vec3::from_array(self.translation.unwrap_or_default()),
        )
    }
}

impl Reading<'_> {
    /// All nodes of the scene; each once, so that a file whose nodes hold one another ends, too.
    fn walk(&mut self) -> Result<(), String> {
        let document = self.document;
        let mut seen = vec![false; document.nodes.len()];
        let scene = document.scenes.get(document.scene.unwrap_or(0));
        let roots = scene.map_or_else(|| (0..document.nodes.len()).collect(), |scene| scene.nodes.clone());
        let mut waiting: Vec<(usize, DMat4)> =
            roots.into_iter().rev().map(|n| (n, DMat4::IDENTITY)).collect();
        while let Some((index, outer)) = waiting.pop() {
            let node = document.nodes.get(index).ok_or_else(|| format!("node {index} is not there"))?;
            if std::mem::replace(&mut seen[index], true) {
                continue;
            }
            let pose = outer * node.pose();
            if let Some(index) = node.mesh {
                let mesh = document.meshes.get(index).ok_or_else(|| format!("mesh {index} is not there"))?;
                let name = if mesh.name.is_empty() { &node.name } else { &mesh.name };
                for primitive in &mesh.primitives {
                    self.take(primitive, pose, name)?;
                }
            }
            waiting.extend(node.children.iter().rev().map(|&child| (child, pose)));
        }
        Ok(())
    }

    fn take(&mut self, primitive: &Primitive, pose: DMat4, name: &str) -> Result<(), String> {
        let mode = primitive.mode.unwrap_or(TRIANGLES);
        if !(TRIANGLES..=FAN).contains(&mode) {
            return Ok(());
        }
        let positions = *primitive.attributes.get("POSITION").ok_or("a part has no positions")?;
        let positions = self.floats::<3>(positions, "VEC3")?;
        let corners = match primitive.indices {
            Some(accessor) => self.integers(accessor)?,
            None => (0..positions.len() as u32).collect(),
        };
        let most =
            (self.mesh.triangles.len() + corners.len()).max(self.mesh.vertices.len() + positions.len());
        if most > MOST_TRIANGLES {
            return Err(too_many());
        }
        if corners.iter().any(|&v| v as usize >= positions.len()) {
            return Err(format!("part {name:.40} names a vertex that is not there"));
        }
        self.take_texture(primitive, positions.len())?;
        let (first, start) = (self.mesh.vertices.len() as u32, self.mesh.triangles.len());
        let place = |p: [f32; 3]| pose.transform_point3(Vec3::from_array(p.map(f64::from)));
        self.mesh.vertices.extend(positions.into_iter().map(place));
        let mirrored = pose.determinant() < 0.0;
        let turned = |[a, b, c]: [u32; 3]| if mirrored { [a, c, b] } else { [a, b, c] };
        let triangles = triangles(mode, &corners);
        self.mesh.triangles.extend(triangles.into_iter().map(|t| turned(t.map(|v| first + v))));
        if let Some(texture) = &mut self.texture {
            texture.triangles.extend_from_slice(&self.mesh.triangles[start..]);
        }
        let material = primitive.material.and_then(|index| self.document.materials.get(index));
        self.mesh.groups.push(MeshGroup {
            name: name.to_owned(),
            material: material.map(|material| material.name.clone()).unwrap_or_default(),
            triangles: start..self.mesh.triangles.len(),
        });
        Ok(())
    }

    /// Texture coordinates lie beside the vertices: both are named by the same index.
    fn take_texture(&mut self, primitive: &Primitive, vertices: usize) -> Result<(), String> {
        let accessor = primitive.attributes.get("TEXCOORD_0");
        let coordinates = match accessor.and_then(|&k| Some((k, self.document.accessors.get(k)?))) {
            Some((k, accessor)) if accessor.component_type == FLOAT => self.floats::<2>(k, "VEC2")?,
            _ => Vec::new(),
        };
        match &mut self.texture {
            Some(texture) if coordinates.len() == vertices => texture.coordinates.extend(coordinates),
            texture => *texture = None,
        }
        Ok(())
    }

    /// Rows of `size` bytes, all within their buffer.
    fn rows(&self, accessor: &Accessor, size: usize) -> Result<impl Iterator<Item = &[u8]>, String> {
        if accessor.sparse.is_some() || accessor.buffer_view.is_none() {
            return Err("it holds sparse or compressed data, which is not read here".into());
        }
        let view = accessor.buffer_view.and_then(|k| self.document.buffer_views.get(k));
        let bytes = view.and_then(|view| {
            let end = view.byte_offset.checked_add(view.byte_length)?;
            self.buffers.get(view.buffer)?.get(view.byte_offset..end)?.get(accessor.byte_offset..)
        });
        let count = accessor.count;
        let stride = view.and_then(|view| view.byte_stride).unwrap_or(size).max(size);
        let length = count.saturating_sub(1).checked_mul(stride).and_then(|length| length.checked_add(size));
        match (bytes, length) {
            (Some(bytes), Some(length)) if length <= bytes.len() => {
                Ok((0..count).map(move |row| &bytes[row * stride..row * stride + size]))
            }
            _ => Err("a buffer is shorter than what is read from it".into()),
        }
    }

    fn accessor(&self, index: usize) -> Result<&Accessor, String> {
        self.document.accessors.get(index).ok_or_else(|| format!("accessor {index} is not there"))
    }

    fn floats<const N: usize>(&self, index: usize, kind: &str) -> Result<Vec<[f32; N]>, String> {
        let accessor = self.accessor(index)?;
        if accessor.component_type != FLOAT || accessor.kind != kind {
            return Err(format!("accessor {index} should be {kind} of floats"));
        }
        let float = |row: &[u8], k: usize| {
            f32::from_le_bytes([row[4 * k], row[4 * k + 1], row[4 * k + 2], row[4 * k + 3]])
        };
        Ok(self.rows(accessor, 4 * N)?.map(|row| std::array::from_fn(|k| float(row, k))).collect())
    }

    fn integers(&self, index: usize) -> Result<Vec<u32>, String> {
        let accessor = self.accessor(index)?;
        match (accessor.kind.as_str(), accessor.component_type) {
            ("SCALAR", BYTE) => Ok(self.rows(accessor, 1)?.map(|row| row[0].into()).collect()),
            ("SCALAR", SHORT) => {
                Ok(self.rows(accessor, 2)?.map(|row| u16::from_le_bytes([row[0], row[1]]).into()).collect())
            }
            ("SCALAR", INTEGER) => {
                let integer = |row: &[u8]| u32::from_le_bytes([row[0], row[1], row[2], row[3]]);
                Ok(self.rows(accessor, 4)?.map(integer).collect())
            }
            _ => Err("indices must be whole numbers without sign".into()),
        }
    }
}

fn triangles(mode: u32, corners: &[u32]) -> Vec<[u32; 3]> {
    match mode {
        STRIP => {
            let turned =
                |(k, w): (usize, &[u32])| if k % 2 == 0 { [w[0], w[1], w[2]] } else { [w[1], w[0], w[2]] };
            corners.windows(3).enumerate().map(turned).collect()
        }
        FAN => fan(corners).collect(),
        _ => corners.chunks_exact(3).map(|c| [c[0], c[1], c[2]]).collect(),
    }
}
