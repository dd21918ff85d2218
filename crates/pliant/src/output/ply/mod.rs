//! Binary little-endian PLY: points `x y z`, then the fields as further properties of the vertices; triangles as lists.
//!
//! The field `velocity` is `vx vy vz`, `normal` is `nx ny nz`, any other vector `name` is `name_x name_y name_z`;
//! texture coordinates are `s t`. Header lines stay short: some readers have room for a thousand characters.

mod read;
mod write;

pub use read::decode;
pub use write::encode;

/// Vectors with names of their own.
const VECTORS: [(&str, [&str; 3]); 2] = [("velocity", ["vx", "vy", "vz"]), ("normal", ["nx", "ny", "nz"])];
/// Texture coordinates.
const TEXTURE: [&str; 2] = ["s", "t"];
