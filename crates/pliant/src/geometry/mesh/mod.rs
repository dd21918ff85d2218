//! Triangle meshes: files in, inside test and signed distance out.
//!
//! Every reader checks counts and indices against the bytes it was given before it allocates: a damaged file gives a
//! [`MeshError`], never a panic and never more memory than a small multiple of the file.

mod gltf;
mod obj;
mod ply;
mod repair;
mod solid;
mod stl;
mod tree;

#[cfg(test)]
pub(crate) mod tests;

pub use solid::SolidMesh;

use crate::math::Vec3;
use std::io::Read;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Largest mesh file [bytes].
const LARGEST_FILE: u64 = 1 << 30;
/// Triangles of one mesh.
const MOST_TRIANGLES: usize = 20_000_000;
/// Farthest coordinate [m]; squares and products of three stay finite.
const FARTHEST: f64 = 1e9;

/// Triangles as a file holds them. Vertices keep the order of the file, so that a mesh can be written back.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TriangleMesh {
    pub vertices: Vec<Vec3>,
    /// Corners by vertex, counter-clockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
    pub texture: Option<TextureMap>,
    /// Named parts in the order of the triangles; together they are all of them, or there are none.
    pub groups: Vec<MeshGroup>,
}

/// Texture coordinates of the corners of all triangles.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TextureMap {
    pub coordinates: Vec<[f32; 2]>,
    /// Corners by coordinate, one row for each triangle of the mesh.
    pub triangles: Vec<[u32; 3]>,
}

/// Triangles that share a name and a material.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MeshGroup {
    pub name: String,
    /// Name of its material; empty where the file names none.
    pub material: String,
    pub triangles: Range<usize>,
}

/// Format of a mesh file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MeshFormat {
    Obj,
    Ply,
    Stl,
    /// glTF 2.0 as text or binary (.glb).
    Gltf,
}

/// A mesh that cannot be used: where, what, and what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}: {message}; {help}", path.display())]
pub struct MeshError {
    pub path: PathBuf,
    pub message: String,
    /// What to do about it; never empty.
    pub help: String,
}

impl MeshError {
    fn new(path: &Path, message: impl Into<String>, help: impl Into<String>) -> Self {
        MeshError { path: path.to_path_buf(), message: message.into(), help: help.into() }
    }
}

impl MeshFormat {
    pub const ALL: [MeshFormat; 4] = [MeshFormat::Obj, MeshFormat::Ply, MeshFormat::Stl, MeshFormat::Gltf];

    /// The format of a file, by how its name ends.
    pub fn of(path: &Path) -> Option<MeshFormat> {
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "obj" => Some(MeshFormat::Obj),
            "ply" => Some(MeshFormat::Ply),
            "stl" => Some(MeshFormat::Stl),
            "gltf" | "glb" => Some(MeshFormat::Gltf),
            _ => None,
        }
    }
}

impl TriangleMesh {
    /// Reads a mesh file; the format is told by how its name ends.
    pub fn read(path: &Path) -> Result<TriangleMesh, MeshError> {
        let Some(format) = MeshFormat::of(path) else {
            let message = "this is no mesh format known here";
            return Err(MeshError::new(
                path,
                message,
                "use a file that ends in .obj, .ply, .stl, .gltf or .glb",
            ));
        };
        let bytes = read_bounded(path).map_err(|problem| {
            MeshError::new(path, problem, "check the path, its permissions and its size")
        })?;
        let folder = path.parent().unwrap_or(Path::new(""));
        TriangleMesh::decode(&bytes, format, folder).map_err(|problem| {
            MeshError::new(path, problem, "export it again, as triangles, from the program that made it")
        })
    }

    /// The mesh in these bytes, or why there is none. `folder` is where files named inside a glTF file lie.
    pub fn decode(bytes: &[u8], format: MeshFormat, folder: &Path) -> Result<TriangleMesh, String> {
        let mesh = match format {
            MeshFormat::Obj => obj::decode(bytes),
            MeshFormat::Ply => ply::decode(bytes),
            MeshFormat::Stl => stl::decode(bytes),
            MeshFormat::Gltf => gltf::decode(bytes, folder),
        }?;
        mesh.check()?;
        Ok(mesh)
    }

    /// What keeps this mesh from being used by anyone.
    fn check(&self) -> Result<(), String> {
        if self.triangles.is_empty() {
            return Err("it holds no triangles".into());
        }
        let n = self.vertices.len() as u32;
        if let Some(at) = self.triangles.iter().position(|t| t.iter().any(|&v| v >= n)) {
            return Err(format!("triangle {at} names a vertex that is not there; there are {n}"));
        }
        let far = |v: &Vec3| !v.is_finite() || v.abs().max_element() > FARTHEST;
        if let Some(at) = self.vertices.iter().position(far) {
            return Err(format!(
                "vertex {at} is at {}, which is no place within {FARTHEST:e}",
                self.vertices[at]
            ));
        }
        Ok(())
    }

    /// Corners of a triangle.
    pub fn corners(&self, triangle: usize) -> [Vec3; 3] {
        self.triangles[triangle].map(|v| self.vertices[v as usize])
    }

    /// Lower and upper corner of the bounding box of all vertices.
    pub fn bounds(&self) -> (Vec3, Vec3) {
        let start = (Vec3::INFINITY, Vec3::NEG_INFINITY);
        self.vertices.iter().fold(start, |(lo, hi), v| (lo.min(*v), hi.max(*v)))
    }
}

/// A whole file, unless it is too large or no file at all.
fn read_bounded(path: &Path) -> Result<Vec<u8>, String> {
    let unreadable = |error: std::io::Error| format!("cannot read it: {error}");
    let length = std::fs::metadata(path).map_err(unreadable)?;
    if !length.is_file() {
        return Err("this is not a file".into());
    }
    if length.len() > LARGEST_FILE {
        return Err(format!("it is larger than {} MB", LARGEST_FILE >> 20));
    }
    let mut bytes = Vec::new();
    std::fs::File::open(path)
        .and_then(|file| file.take(LARGEST_FILE).read_to_end(&mut bytes))
        .map_err(unreadable)?;
    Ok(bytes)
}

/// Cuts a polygon into a fan of triangles.
fn fan(polygon: &[u32]) -> impl Iterator<Item = [u32; 3]> {
    (2..polygon.len()).map(|k| [polygon[0], polygon[k - 1], polygon[k]])
}

fn too_many() -> String {
    format!("it has more than {MOST_TRIANGLES} triangles")
}
