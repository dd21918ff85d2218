//! Do the programs people use read what we write? Needs `python3` with meshio (and PyVista) to say so.

use super::{Folder, frame};
use crate::output::{Values, encode, extension, write_atomically};
use crate::scene::Format;
use std::path::Path;
use std::process::Command;

/// `PLIANT_PYTHON`, or `python3`, if it has the module.
fn python_with(module: &str) -> Option<String> {
    let python = std::env::var("PLIANT_PYTHON").unwrap_or_else(|_| "python3".into());
    let found = Command::new(&python).args(["-c", &format!("import {module}")]).output();
    if found.is_ok_and(|output| output.status.success()) {
        return Some(python);
    }
    println!("skipped: {python} has no {module} (pip install {module}, or set PLIANT_PYTHON)");
    None
}

fn run(python: &str, script: &str, folder: &Path) {
    let output = Command::new(python).arg("-c").arg(script).arg(folder).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Stores a frame in both formats, and its columns as bare numbers to compare with.
fn store(folder: &Path) {
    let frame = frame(4, 1000);
    for format in [Format::Vtk, Format::Ply] {
        let path = folder.join(format!("frame.{}", extension(format)));
        write_atomically(&path, &encode(&frame, format)).unwrap();
    }
    let floats = |name: &str, values: &[f32]| {
        let bytes: Vec<u8> = values.iter().flat_map(|a| a.to_le_bytes()).collect();
        write_atomically(&folder.join(name), &bytes).unwrap();
    };
    floats("positions", frame.positions.as_flattened());
    for (k, field) in frame.fields.iter().enumerate() {
        match &field.values {
            Values::Vectors(values) => floats(&format!("{k}"), values.as_flattened()),
            Values::Scalars(values) => floats(&format!("{k}"), values),
            Values::Integers(values) => {
                let bytes: Vec<u8> = values.iter().flat_map(|n| n.to_le_bytes()).collect();
                write_atomically(&folder.join(format!("{k}")), &bytes).unwrap();
            }
        }
    }
}

const COLUMNS: &str = r#"
import sys, numpy as np
folder = sys.argv[1]
def column(name, width=1, dtype='<f4'):
    values = np.fromfile(f'{folder}/{name}', dtype)
    return values.reshape(-1, 3) if width == 3 else values
def same(found, expected):
    assert np.array_equal(np.asarray(found).reshape(expected.shape), expected), (found, expected)
"#;

const VTU_FIELDS: &str = r#"
def check(fields):
    assert len(fields) == 5, list(fields)
    same(fields['velocity'], column('0', 3))
    same(fields['body'], column('1', 1, '<i4'))
    same(fields['von Mises stress <Pa>'], column('2'))
    same(fields['x'], column('3'))
    same(fields['normal & "tangent"'], column('4', 3))
"#;

#[test]
fn meshio_reads_the_same_numbers() {
    let Some(python) = python_with("meshio") else { return };
    let folder = Folder::new();
    store(folder.path());
    let script = r#"
import meshio
mesh = meshio.read(f'{folder}/frame.vtu')
same(mesh.points, column('positions', 3))
check(mesh.point_data)
same(mesh.field_data['TimeValue'], np.array([0.6000000000000001]))
same(mesh.cells_dict['vertex'].ravel(), np.arange(1000))
mesh = meshio.read(f'{folder}/frame.ply')
same(mesh.points, column('positions', 3))
velocity = column('0', 3)
for k, name in enumerate(['vx', 'vy', 'vz']):
    same(mesh.point_data[name], velocity[:, k])
same(mesh.point_data['body'], column('1', 1, '<i4'))
same(mesh.point_data['von_Mises_stress__Pa_'], column('2'))
same(mesh.point_data['x_'], column('3'))
"#;
    run(&python, &[COLUMNS, VTU_FIELDS, script].concat(), folder.path());
}

#[test]
fn vtk_reads_the_same_numbers() {
    let Some(python) = python_with("pyvista") else { return };
    let folder = Folder::new();
    store(folder.path());
    let script = r#"
import pyvista
mesh = pyvista.read(f'{folder}/frame.vtu')
assert mesh.n_cells == 1000 and set(mesh.celltypes) == {1}
same(mesh.points, column('positions', 3))
check(mesh.point_data)
assert mesh.field_data['TimeValue'][0] == 0.6000000000000001
mesh = pyvista.read(f'{folder}/frame.ply')
same(mesh.points, column('positions', 3))
"#;
    run(&python, &[COLUMNS, VTU_FIELDS, script].concat(), folder.path());
}
