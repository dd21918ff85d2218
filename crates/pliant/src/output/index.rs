//! The frames of a run in order: `frames/index.json` for us, `frames/NAME.pvd` for ParaView, `frames/NAME.usda` for USD.

use super::atomic::{files_in, read_whole, write_atomically};
use super::writer::file_stem;
use super::{Frame, OutputError, extension, read_frame, usd, xml};
use crate::output::Format;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

const VERSION: u32 = 1;

/// One stored frame.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct IndexEntry {
    pub frame: u32,
    /// Simulated time [s].
    pub time: f64,
    /// Names of the frame's files in `frames/`, one per format.
    pub files: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub surfaces: Vec<SurfaceFiles>,
}

/// A stored surface of bodies.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SurfaceFiles {
    /// Names of the bodies it is the surface of; it is named after the first.
    pub bodies: Vec<String>,
    /// Names of its files in `frames/`, one per format.
    pub files: Vec<String>,
}

impl SurfaceFiles {
    fn name(&self) -> &str {
        self.bodies.first().map_or("", String::as_str)
    }
}

/// A surface of bodies in a frame.
#[derive(Clone, Debug, PartialEq)]
pub struct SurfaceFrame {
    /// Names of the bodies it is the surface of; it is named after the first.
    pub bodies: Vec<String>,
    /// A mesh.
    pub frame: Frame,
}

impl IndexEntry {
    /// Name of the file that keeps most of the frame, if it was stored at all.
    pub fn file(&self) -> Option<&str> {
        IndexEntry::best(&self.files)
    }

    fn best(files: &[String]) -> Option<&str> {
        let worth = |file: &str| {
            let ending = Path::new(file).extension().and_then(|extension| extension.to_str());
            BY_WORTH.iter().position(|format| Some(extension(*format)) == ending)
        };
        files.iter().map(String::as_str).min_by_key(|file| worth(file).unwrap_or(BY_WORTH.len()))
    }

    /// Reads the frame of the run in `dir` from this file; `None` if it was not stored.
    pub fn read(&self, dir: &Path) -> Option<Result<Frame, OutputError>> {
        let frame = read_frame(&frames_folder(dir).join(self.file()?));
        // Not all formats have a place for these.
        Some(frame.map(|frame| Frame { index: self.frame, time: self.time, ..frame }))
    }

    /// Reads the surfaces of the frame.
    pub fn read_surfaces(&self, dir: &Path) -> Result<Vec<SurfaceFrame>, OutputError> {
        let stored = self.surfaces.iter().filter_map(|surface| {
            let path = frames_folder(dir).join(IndexEntry::best(&surface.files)?);
            Some((surface.bodies.clone(), read_frame(&path)))
        });
        let whole = |frame: Frame| Frame { index: self.frame, time: self.time, ..frame };
        stored.map(|(bodies, frame)| Ok(SurfaceFrame { bodies, frame: whole(frame?) })).collect()
    }

    /// The names of all files of the frame.
    pub(super) fn all_files(&self) -> impl Iterator<Item = &String> {
        self.files.iter().chain(self.surfaces.iter().flat_map(|surface| &surface.files))
    }
}

/// Formats from those that keep all of a frame to those that keep little.
const BY_WORTH: [Format; 7] =
    [Format::Vtk, Format::Ply, Format::Npz, Format::Usd, Format::Bgeo, Format::Csv, Format::Obj];

#[derive(Serialize, Deserialize)]
struct Index<Entries> {
    version: u32,
    frames: Entries,
}

/// The stored frames of the run in `dir`, in order.
pub fn read_index(dir: &Path) -> Result<Vec<IndexEntry>, OutputError> {
    let path = index_path(dir);
    let bytes = read_whole(&path)?;
    let damaged = |reason: String| OutputError::Damaged {
        path: path.clone(),
        what: "list of frames",
        reason,
        remedy: "run the scene again",
    };
    let index: Index<Vec<IndexEntry>> =
        serde_json::from_slice(&bytes).map_err(|error| damaged(error.to_string()))?;
    if index.version != VERSION {
        return Err(damaged(format!("version {} is not known to this Pliant", index.version)));
    }
    let is_name =
        |file: &String| Path::new(file).components().count() == 1 && Path::new(file).file_name().is_some();
    if let Some(file) = index.frames.iter().flat_map(IndexEntry::all_files).find(|file| !is_name(file)) {
        return Err(damaged(format!("`{file}` is not the name of a file in this folder")));
    }
    Ok(index.frames)
}

pub(super) fn write_index(dir: &Path, entries: &[IndexEntry]) -> Result<(), OutputError> {
    let path = index_path(dir);
    let mut text = format!("{{ \"version\": {VERSION}, \"frames\": [");
    for (k, entry) in entries.iter().enumerate() {
        text.push_str(if k == 0 { "\n  " } else { ",\n  " });
        let entry = serde_json::to_string(entry).map_err(|error| OutputError::Io {
            path: path.clone(),
            action: "write",
            source: error.into(),
        })?;
        text.push_str(&entry);
    }
    text.push_str("\n] }\n");
    write_atomically(&path, text.as_bytes())
}

/// Writes the time series that ParaView opens and the scene that plays layers of USD, where there are such files;
/// returns their paths.
pub(super) fn write_series(
    dir: &Path,
    name: &str,
    entries: &[IndexEntry],
    fps: f64,
) -> Result<Vec<PathBuf>, OutputError> {
    let mut written = write_one_series(dir, name, entries, fps)?;
    let names = |entry: &IndexEntry| entry.surfaces.iter().map(|s| s.name().to_owned()).collect::<Vec<_>>();
    let bodies: BTreeSet<String> = entries.iter().flat_map(names).collect();
    for body in bodies {
        let alone = |entry: &IndexEntry| IndexEntry {
            files: entry.surfaces.iter().filter(|s| s.name() == body).flat_map(|s| s.files.clone()).collect(),
            surfaces: Vec::new(),
            ..*entry
        };
        let alone: Vec<IndexEntry> = entries.iter().map(alone).collect();
        written.extend(write_one_series(dir, &surface_name(name, &body), &alone, fps)?);
    }
    Ok(written)
}

fn write_one_series(
    dir: &Path,
    name: &str,
    entries: &[IndexEntry],
    fps: f64,
) -> Result<Vec<PathBuf>, OutputError> {
    let mut written = Vec::new();
    for (extension, text) in [("pvd", collection(entries)), ("usda", usd::scene(entries, fps))] {
        if let Some(text) = text {
            let path = frames_folder(dir).join(format!("{name}.{extension}"));
            write_atomically(&path, text.as_bytes())?;
            written.push(path);
        }
    }
    Ok(written)
}

/// What the files of a body's surface start with.
pub(super) fn surface_name(name: &str, body: &str) -> String {
    format!("{name}.surface_{}", file_stem(body))
}

/// The `.vtu` files with their times, if there are any.
fn collection(entries: &[IndexEntry]) -> Option<String> {
    let mut text = String::from(
        "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"1.0\" byte_order=\"LittleEndian\">\n<Collection>\n",
    );
    let mut any = false;
    for entry in entries {
        for file in entry.files.iter().filter(|file| file.ends_with(".vtu")) {
            any = true;
            let file = xml::escaped(file);
            text += &format!("<DataSet timestep=\"{:?}\" part=\"0\" file=\"{file}\"/>\n", entry.time);
        }
    }
    text.push_str("</Collection>\n</VTKFile>\n");
    any.then_some(text)
}

/// Removes the files of frames from this one on, and the time series, which names them.
pub(super) fn remove_frames(dir: &Path, first_frame: u32) -> Result<(), OutputError> {
    for path in files_in(&frames_folder(dir))? {
        let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        let number = stem.rsplit_once('_').and_then(|(_, digits)| digits.parse::<u32>().ok());
        let is_removed = match path.extension().and_then(|extension| extension.to_str()) {
            Some("pvd" | "usda") => true,
            Some(known) if Format::ALL.iter().any(|(format, _)| extension(*format) == known) => {
                number.is_some_and(|frame| frame >= first_frame)
            }
            _ => false,
        };
        if is_removed {
            fs::remove_file(&path).map_err(OutputError::io(&path, "remove"))?;
        }
    }
    Ok(())
}

pub(super) fn frames_folder(dir: &Path) -> PathBuf {
    dir.join("frames")
}

pub(super) fn index_path(dir: &Path) -> PathBuf {
    frames_folder(dir).join("index.json")
}
