//! Laws of the output room, and what they share: folders and frames to try.

mod atomic;
mod checkpoint;
mod frames;
mod other_programs;
mod tables;
mod writer;

use super::{Faces, Field, Frame, FrameBody, Values};
use crate::output::{Format, OutputSettings};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// Formats that hold all of a frame.
const WHOLE_FORMATS: [Format; 4] = [Format::Vtk, Format::Ply, Format::Usd, Format::Npz];

/// Every format in every way it is written.
fn every_way() -> Vec<(Format, OutputSettings)> {
    let ways = Format::ALL.iter().flat_map(|(format, _)| [(*format, false), (*format, true)]);
    ways.map(|(format, compress)| (format, OutputSettings { compress, ..settings(&[format]) })).collect()
}

fn settings(formats: &[Format]) -> OutputSettings {
    OutputSettings { fps: 50.0, formats: formats.to_vec(), compress: false, checkpoint_every: 1.0 }
}

/// An empty folder that goes when it is dropped.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Folder {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("pliant-output-{}-{count}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    fn path(&self) -> &Path {
        &self.0
    }

    fn names(&self, folder: &str) -> Vec<String> {
        let entries = fs::read_dir(self.0.join(folder)).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A frame with all kinds of fields, names that need care, and numbers that need all their bits.
fn frame(index: u32, points: usize) -> Frame {
    let number = |k: usize| ((k * 7919 % 1000) as f32 - 500.0) / 7.0;
    let vector = |k: usize| [number(3 * k), number(3 * k + 1), number(3 * k + 2)];
    let first = points / 3;
    let field = |name: &str, values| Field { name: name.into(), values };
    Frame {
        index,
        time: f64::from(index) * 0.1 + 0.2,
        bodies: vec![
            FrameBody { name: "cube".into(), count: first },
            FrameBody { name: "a--b ---> \"Würfel\" \u{1f600}\n\\&<x>".into(), count: points - first },
            FrameBody { name: String::new(), count: 0 },
        ],
        spacing: Some(0.1),
        positions: (0..points).map(|k| vector(k + 1)).collect(),
        fields: vec![
            field("velocity", Values::Vectors((0..points).map(|k| vector(k + 5)).collect())),
            field("body", Values::Integers((0..points).map(|k| k as i32 - 3).collect())),
            field("von Mises stress <Pa>", Values::Scalars((0..points).map(|k| number(k) * 1e-40).collect())),
            field("x", Values::Scalars((0..points).map(number).collect())),
            field("normal & \"tangent\"", Values::Vectors((0..points).map(|k| vector(k + 9)).collect())),
        ],
        faces: None,
    }
}

/// A mesh with normals and texture coordinates.
fn mesh(index: u32, points: usize) -> Frame {
    let mut mesh = frame(index, points);
    let number = |k: usize| (k * 31 % 17) as f32 / 16.0;
    mesh.fields[4].name = "normal".into();
    let ends: Vec<usize> = mesh.body_ranges().map(|(_, range)| range.end).collect();
    let whole = |corner: &usize| ends.iter().all(|end| *corner >= *end || corner + 2 < *end);
    let triangles = (0..points).filter(whole).map(|k| [k as u32, k as u32 + 2, k as u32 + 1]).collect();
    let texture = Some((0..points).map(|k| [number(k), number(k + 5)]).collect());
    mesh.faces = Some(Faces { triangles, texture });
    mesh
}

/// A repeatable stream of numbers (splitmix64).
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % limit as u64) as usize
    }
}
