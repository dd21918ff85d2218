//! What a run writes, and in which formats.

use crate::math::Real;

/// What a run writes.
#[derive(Clone, Debug, PartialEq)]
pub struct OutputSettings {
    /// Frames per second of simulated time.
    pub fps: Real,
    pub formats: Vec<Format>,
    /// Frames are compressed, in formats that can be.
    pub compress: bool,
    /// Simulated time between checkpoints [s].
    pub checkpoint_every: Real,
}

/// Format of stored frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Vtk,
    Ply,
    Obj,
    Bgeo,
    Usd,
    Csv,
    Npz,
}

impl Format {
    /// Every format with its word in scene files and on the command line.
    pub const ALL: [(Format, &str); 7] = [
        (Format::Vtk, "vtk"),
        (Format::Ply, "ply"),
        (Format::Obj, "obj"),
        (Format::Bgeo, "bgeo"),
        (Format::Usd, "usd"),
        (Format::Csv, "csv"),
        (Format::Npz, "npz"),
    ];

    pub fn word(self) -> &'static str {
        Format::ALL[self as usize].1
    }
}
