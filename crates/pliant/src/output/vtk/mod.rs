//! VTK XML files: unstructured grids (`.vtu`), one vertex cell per point or one triangle cell per triangle.
//!
//! Ours have raw appended data, little endian. ParaView, PyVista and meshio read these. The last asks for more than
//! the format does: blocks follow one another without gaps in the order of their offsets, and a newline ends them.
//! Files of others may also be poly data (`.vtp`), and hold their numbers as text or in base 64, within or after
//! the header, deflated or not.

mod blocks;
mod read;
mod write;

pub use read::decode;
pub use write::encode;

/// Types of cells.
const VERTEX: u8 = 1;
const TRIANGLE: u8 = 5;
const POLYGON: u8 = 7;
const QUAD: u8 = 9;

/// Name of the array of texture coordinates.
const TEXTURE: &str = "texture_coordinates";
