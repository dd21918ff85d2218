//! Files a run leaves behind: frames, tables, checkpoints.
//!
//! | file | what | module |
//! |---|---|---|
//! | `frames/NAME_0000.EXT` | one stored [`Frame`], points or a mesh | a module for each format |
//! | `frames/index.json`, `frames/NAME.pvd`, `NAME.usda` | the frames in order, with their times | [`index`] |
//! | `stats.csv`, `probes.csv` | time series | [`tables`] |
//! | `checkpoints/000012.ckpt` | the exact state, to resume from | [`checkpoint`] |
//!
//! Invariants: a file under its final name is whole ([`atomic`]); a reader given damaged bytes returns an error,
//! and allocates no more than a small multiple of the bytes it was given.

pub mod atomic;
mod bgeo;
pub mod checkpoint;
mod csv;
mod deflate;
mod error;
mod frame;
pub mod index;
mod legend;
mod npz;
mod obj;
mod ply;
mod settings;
pub mod tables;
mod text;
mod usd;
mod vtk;
pub mod writer;
mod xml;
mod zip;

#[cfg(test)]
mod tests;

use std::path::Path;

pub use atomic::{clean_temporaries, is_temporary, write_atomically};
pub use checkpoint::Checkpoint;
pub use error::OutputError;
pub use frame::{Faces, Field, Frame, FrameBody, Values};
pub use index::{IndexEntry, SurfaceFiles, SurfaceFrame, read_index};
pub use settings::{Format, OutputSettings};
pub use tables::Table;
pub use usd::write_film;
pub use writer::{FrameWriter, add_surfaces, run_name};

/// How the names of files in this format end, without the dot.
pub fn extension(format: Format) -> &'static str {
    match format {
        Format::Vtk => "vtu",
        Format::Ply => "ply",
        Format::Obj => "obj",
        Format::Bgeo => "bgeo",
        Format::Usd => "usdc",
        Format::Csv => "csv",
        Format::Npz => "npz",
    }
}

/// Writes a frame, which must pass [`Frame::check`], under `path`.
pub fn write_frame(
    path: &Path,
    frame: &Frame,
    format: Format,
    settings: &OutputSettings,
) -> Result<(), OutputError> {
    if format == Format::Npz && !npz::has_room(frame) {
        return Err(OutputError::TooLarge { path: path.to_path_buf(), points: frame.positions.len() });
    }
    write_atomically(path, &encode(frame, format, settings))
}

/// The frame as the bytes of a file. The frame must pass [`Frame::check`]. Fields that a format has no place for are
/// left out ([`left_out`]); the settings say how times are counted and whether to compress.
pub fn encode(frame: &Frame, format: Format, settings: &OutputSettings) -> Vec<u8> {
    if let Err(problem) = frame.check() {
        panic!("frame {} cannot be stored: {problem}", frame.index);
    }
    match format {
        Format::Vtk => vtk::encode(frame, settings.compress),
        Format::Ply => ply::encode(frame),
        Format::Obj => obj::encode(frame),
        Format::Bgeo => bgeo::encode(frame, settings.compress),
        Format::Usd => usd::encode(frame, settings.fps),
        Format::Csv => csv::encode(frame),
        Format::Npz => npz::encode(frame, settings.compress),
    }
}

/// What of this frame has no place in a format, in words.
pub fn left_out(frame: &Frame, format: Format) -> Vec<String> {
    let mut parts = Vec::new();
    if let (Some(_), Format::Csv) = (&frame.faces, format) {
        parts.push("triangles".to_string());
    }
    if format == Format::Obj {
        let known = |field: &&Field| frame.faces.is_some() && field.name == "normal";
        parts.extend(frame.fields.iter().filter(|field| !known(field)).map(|field| field.name.clone()));
    }
    parts
}

/// Reads a stored frame; the format is told from the first bytes of the file.
pub fn read_frame(path: &Path) -> Result<Frame, OutputError> {
    let bytes = atomic::read_whole(path)?;
    decode(&bytes).map_err(|reason| OutputError::Damaged {
        path: path.to_path_buf(),
        what: "frame",
        reason,
        remedy: "write it again (pliant run --resume), or convert it to a .vtu or a binary .ply",
    })
}

/// The frame stored in these bytes, or why they are none.
pub fn decode(bytes: &[u8]) -> Result<Frame, String> {
    let starts_with = |words: &[&[u8]]| words.iter().any(|word| bytes.starts_with(word));
    let frame = if starts_with(&[b"ply\n", b"ply\r"]) {
        ply::decode(bytes)?
    } else if starts_with(&[b"<?xml", b"<VTKFile"]) {
        vtk::decode(bytes)?
    } else if starts_with(&[b"PK"]) {
        npz::decode(bytes)?
    } else if starts_with(&[b"Bgeo", &[0x1f, 0x8b]]) {
        bgeo::decode(bytes)?
    } else if starts_with(&[b"PXR-USDC"]) {
        usd::decode(bytes)?
    } else if bytes.is_empty() {
        return Err("the file is empty".into());
    } else {
        let text = std::str::from_utf8(bytes).map_err(|_| NO_FORMAT)?;
        if obj::is_one(text) { obj::decode(text)? } else { csv::decode(text)? }
    };
    frame.check()?;
    Ok(frame)
}

const NO_FORMAT: &str = "no file of a format it could be: vtk, ply, obj, bgeo, usd, csv, npz";

/// The triangles of a polygon, all from its first corner.
fn fan(corners: &[u32]) -> impl Iterator<Item = [u32; 3]> {
    corners.windows(2).skip(1).map(|pair| [corners[0], pair[0], pair[1]])
}
