//! Do the programs people use read what we write, and do we read what they write? Needs `python3` with numpy, meshio,
//! PyVista, pysplashsurf and usd-core to say so; `.ci/run` installs them.

use super::{Folder, mesh, settings};
use crate::output::{Format, OutputSettings};
use crate::output::{
    Frame, FrameWriter, Values, encode, extension, read_frame, write_atomically, write_film,
};
use std::path::Path;
use std::process::Command;

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/output/tests/other_programs.py");

/// `PLIANT_PYTHON`, or `python3`, if it has the module.
fn python_with(module: &str) -> Option<String> {
    let python = std::env::var("PLIANT_PYTHON").unwrap_or_else(|_| "python3".into());
    let found = Command::new(&python).args(["-c", &format!("import {module}, numpy")]).output();
    if found.is_ok_and(|output| output.status.success()) {
        return Some(python);
    }
    println!("skipped: {python} has no {module} and numpy (see .ci/run, or set PLIANT_PYTHON)");
    None
}

/// A mesh at 0.6 s, and its points alone.
fn frames() -> [(&'static str, Frame); 2] {
    let mesh = Frame { time: 0.6000000000000001, ..mesh(4, 1000) };
    [("points", Frame { faces: None, ..mesh.clone() }), ("mesh", mesh)]
}

/// Stores frames in all formats, and their columns as bare numbers to compare with.
fn store(folder: &Path) {
    for (name, frame) in frames() {
        for (format, _) in Format::ALL {
            for (prefix, compress) in [("", false), ("small_", true)] {
                let path = folder.join(format!("{prefix}{name}.{}", extension(format)));
                let settings = OutputSettings { compress, ..settings(&[]) };
                write_atomically(&path, &encode(&frame, format, &settings)).unwrap();
            }
        }
    }
    let [(_, points), (_, mesh)] = frames();
    let put = |name: &str, bytes: Vec<u8>| write_atomically(&folder.join(name), &bytes).unwrap();
    let floats = |values: &[f32]| values.iter().flat_map(|a| a.to_le_bytes()).collect::<Vec<_>>();
    put("positions", floats(mesh.positions.as_flattened()));
    for (k, field) in mesh.fields.iter().enumerate() {
        let bytes = match &field.values {
            Values::Vectors(values) => floats(values.as_flattened()),
            Values::Scalars(values) => floats(values),
            Values::Integers(values) => values.iter().flat_map(|n| n.to_le_bytes()).collect(),
        };
        put(&format!("{k}"), bytes);
    }
    let faces = mesh.faces.unwrap();
    put("triangles", faces.triangles.as_flattened().iter().flat_map(|n| n.to_le_bytes()).collect());
    put("texture", floats(faces.texture.unwrap().as_flattened()));
    store_runs(folder, &points);
}

/// Several frames: a run, and a film in one file; of a surface, too, which has other triangles at every time.
fn store_runs(folder: &Path, points: &Frame) {
    let at = |k: u32| Frame { index: k, time: 0.6 + 0.02 * f64::from(k), ..points.clone() };
    let mut writer = FrameWriter::new(folder, &settings(&[Format::Usd]), "run").unwrap();
    (0..3).for_each(|k| writer.submit(at(k)).unwrap());
    writer.finish().unwrap();
    write_film(&folder.join("film.usdc"), 50.0, (0..2).map(|k| Ok(at(k)))).unwrap();
    let surface =
        |k: u32| Frame { index: k, time: 0.6 + 0.02 * f64::from(k), ..mesh(4, 900 + 60 * k as usize) };
    let mut writer = FrameWriter::new(&folder.join("surface"), &settings(&[Format::Usd]), "surface").unwrap();
    (0..3).for_each(|k| writer.submit(surface(k)).unwrap());
    writer.finish().unwrap();
    write_film(&folder.join("surface.usdc"), 50.0, (0..3).map(|k| Ok(surface(k)))).unwrap();
}

/// Lets a reader look at the stored files, then compares what it has written itself with the same frame.
fn check(module: &str, reader: &str, foreign: &[&str]) {
    let Some(python) = python_with(module) else { return };
    let folder = Folder::new();
    store(folder.path());
    let output = Command::new(&python).arg(SCRIPT).arg(folder.path()).arg(reader).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let [(_, points), (_, mesh)] = frames();
    for name in foreign {
        let found = read_frame(&folder.path().join(name)).unwrap();
        assert_eq!(found.positions, points.positions, "{name}");
        assert_eq!(found.field("velocity"), points.field("velocity"), "{name}");
        assert_eq!(found.field("body"), points.field("body"), "{name}");
        if let Some(faces) = found.faces {
            assert_eq!(Some(faces.triangles), mesh.faces.clone().map(|faces| faces.triangles), "{name}");
        }
    }
}

#[test]
fn meshio_and_we_read_the_same_numbers() {
    check("meshio", "meshio", &["meshio.vtu"]);
}

#[test]
fn pyvista_and_we_read_the_same_numbers() {
    check("pyvista", "pyvista", &["pyvista.vtu", "pyvista.vtp", "pyvista_text.vtp"]);
}

#[test]
fn numpy_and_we_read_the_same_numbers() {
    check("numpy", "numpy", &["numpy.npz", "numpy_small.npz"]);
}

#[test]
fn geometry_of_houdini_is_as_described() {
    check("numpy", "bgeo", &[]);
}

#[test]
fn the_sequence_loader_of_blender_reads_the_same_numbers() {
    check("pysplashsurf", "pysplashsurf", &[]);
}

#[test]
fn usd_reads_the_same_numbers_at_all_times() {
    check("pxr", "pxr", &[]);
}
