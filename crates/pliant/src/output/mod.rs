//! Files a run leaves behind: frames, tables, checkpoints.
//!
//! | file | what | module |
//! |---|---|---|
//! | `frames/NAME_0000.vtu`, `.ply` | one stored [`Frame`] | [`vtk`], [`ply`] |
//! | `frames/index.json`, `frames/NAME.pvd` | the frames in order, with their times | [`index`] |
//! | `stats.csv`, `probes.csv` | time series | [`tables`] |
//! | `checkpoints/000012.ckpt` | the exact state, to resume from | [`checkpoint`] |
//!
//! Invariants: a file under its final name is whole ([`atomic`]); a reader given damaged bytes returns an error,
//! and allocates no more than a small multiple of the bytes it was given.

pub mod atomic;
pub mod checkpoint;
mod error;
pub mod index;
mod legend;
pub mod ply;
pub mod tables;
pub mod vtk;
pub mod writer;
mod xml;

#[cfg(test)]
mod tests;

use crate::scene::Format;
use std::collections::HashSet;
use std::path::Path;

pub use atomic::{clean_temporaries, is_temporary, write_atomically};
pub use checkpoint::Checkpoint;
pub use error::OutputError;
pub use index::{IndexEntry, read_index};
pub use tables::Table;
pub use writer::FrameWriter;

/// One stored picture of the state: points with named fields.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    pub index: u32,
    pub time: f64,
    /// Bodies as contiguous ranges of the points, in order.
    pub bodies: Vec<FrameBody>,
    pub positions: Vec<[f32; 3]>,
    pub fields: Vec<Field>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrameBody {
    pub name: String,
    pub count: usize,
}

/// A named column of a frame.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    pub name: String,
    pub values: Values,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    Integers(Vec<i32>),
    Scalars(Vec<f32>),
    Vectors(Vec<[f32; 3]>),
}

impl Values {
    /// Number of points the column has values for.
    pub fn len(&self) -> usize {
        match self {
            Values::Integers(values) => values.len(),
            Values::Scalars(values) => values.len(),
            Values::Vectors(values) => values.len(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Numbers per point.
    fn components(&self) -> usize {
        match self {
            Values::Integers(_) | Values::Scalars(_) => 1,
            Values::Vectors(_) => 3,
        }
    }
}

impl Frame {
    /// The column with this name.
    pub fn field(&self, name: &str) -> Option<&Values> {
        self.fields.iter().find(|field| field.name == name).map(|field| &field.values)
    }

    /// What keeps this frame from being stored: columns of other lengths than the points, bodies that do not add
    /// up to the points (no bodies at all is fine), two fields of one name, a time that is not a number.
    pub fn check(&self) -> Result<(), String> {
        let points = self.positions.len();
        if !self.time.is_finite() {
            return Err(format!("its time is {}", self.time));
        }
        let mut names = HashSet::new();
        for Field { name, values } in &self.fields {
            if values.len() != points {
                return Err(format!("field \"{name}\" has {} values for {points} points", values.len()));
            }
            if !names.insert(name) {
                return Err(format!("two fields are called \"{name}\""));
            }
        }
        let in_bodies = self.bodies.iter().try_fold(0usize, |sum, body| sum.checked_add(body.count));
        if !self.bodies.is_empty() && in_bodies != Some(points) {
            return Err(format!("its bodies do not add up to its {points} points"));
        }
        Ok(())
    }
}

/// How the names of files in this format end, without the dot.
pub fn extension(format: Format) -> &'static str {
    match format {
        Format::Vtk => "vtu",
        Format::Ply => "ply",
    }
}

/// The frame as the bytes of a file. The frame must pass [`Frame::check`].
pub fn encode(frame: &Frame, format: Format) -> Vec<u8> {
    if let Err(problem) = frame.check() {
        panic!("frame {} cannot be stored: {problem}", frame.index);
    }
    match format {
        Format::Vtk => vtk::encode(frame),
        Format::Ply => ply::encode(frame),
    }
}

/// Reads a stored frame; the format is told from the first bytes of the file.
pub fn read_frame(path: &Path) -> Result<Frame, OutputError> {
    let bytes = atomic::read_whole(path)?;
    decode(&bytes).map_err(|reason| OutputError::Damaged {
        path: path.to_path_buf(),
        what: "frame",
        reason,
        remedy: "write it again (pliant run --resume), or convert it to .vtu (raw appended) or binary .ply",
    })
}

/// The frame stored in these bytes, or why they are none.
pub fn decode(bytes: &[u8]) -> Result<Frame, String> {
    let frame = if bytes.starts_with(b"ply") {
        ply::decode(bytes)?
    } else if bytes.starts_with(b"<?xml") || bytes.starts_with(b"<VTKFile") {
        vtk::decode(bytes)?
    } else if bytes.is_empty() {
        return Err("the file is empty".into());
    } else {
        return Err("neither a VTK XML file nor a PLY file".into());
    };
    frame.check()?;
    Ok(frame)
}
