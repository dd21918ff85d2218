//! Places, and the files that a scene names.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::block::Block;
use super::text::{Text, number, vector};
use crate::geometry::{Pose, TriangleMesh};
use crate::math::{Quat, Real, Vec3};
use crate::output::read_frame;
use crate::rigid::RigidShape;
use crate::scene::error::SceneError;

/// Angles below this are none [rad].
const NO_ANGLE: Real = 1e-9;
/// How far vertices may lie beside a form, in parts of its size.
const ON_SURFACE: Real = 2e-3;
/// Vertices of the coarsest mesh that is taken for something round.
const ROUND: usize = 24;

/// Where something stands: turned by an angle about an axis, then moved.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub position: Vec3,
    axis: Vec3,
    angle: Real,
}

impl Place {
    pub fn read(block: &Block) -> Result<Place, SceneError> {
        let position = block.vector("translation")?.unwrap_or(Vec3::ZERO);
        let axis = block.vector("rotationAxis")?.unwrap_or(Vec3::Z);
        let angle = block.number("rotationAngle")?.unwrap_or(0.0);
        if angle.abs() < NO_ANGLE || axis.length() < NO_ANGLE || !axis.length().is_finite() {
            return Ok(Place::at(position));
        }
        Ok(Place { position, axis, angle })
    }

    pub fn at(position: Vec3) -> Place {
        Place { position, axis: Vec3::Z, angle: 0.0 }
    }

    /// The same turned thing elsewhere.
    pub fn moved_to(self, position: Vec3) -> Place {
        Place { position, ..self }
    }

    pub fn pose(&self) -> Pose {
        let rotation = Quat::from_axis_angle(self.axis.normalize_or(Vec3::Z), self.angle);
        Pose { position: self.position, rotation }
    }

    pub fn is_turned(&self) -> bool {
        self.angle != 0.0
    }

    pub fn write(&self, out: &mut Text) {
        out.vector("position", self.position);
        if self.is_turned() {
            let (axis, degrees) = (vector(self.axis), number(self.angle.to_degrees()));
            out.entry("rotation", &format!("{{ axis = {axis}, degrees = {degrees} }}"));
        }
    }
}

/// A mesh that is a plain form, in the coordinates of its file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Form {
    /// Size and middle.
    Box(Vec3, Vec3),
    /// Radius and middle.
    Sphere(Real, Vec3),
    /// About the y axis: radius, height and middle.
    Cylinder(Real, Real, Vec3),
    Other,
}

/// The files beside a scene, each read once.
pub(super) struct Files {
    /// Where they lie.
    folder: PathBuf,
    /// What is put before their names in the new scene.
    prefix: PathBuf,
    forms: RefCell<HashMap<String, Option<Form>>>,
    points: RefCell<HashMap<String, Rc<Vec<Vec3>>>>,
}

impl Files {
    pub fn new(folder: PathBuf, prefix: PathBuf) -> Files {
        Files { folder, prefix, forms: RefCell::default(), points: RefCell::default() }
    }

    /// The path as the new scene names it.
    pub fn named(&self, file: &str) -> String {
        self.prefix.join(file.replace('\\', "/")).to_string_lossy().into_owned()
    }

    fn path(&self, file: &str) -> PathBuf {
        self.folder.join(file.replace('\\', "/"))
    }

    pub fn is_there(&self, file: &str) -> bool {
        self.path(file).is_file()
    }

    /// What a mesh is; none if it cannot be read. A unit box is known by its name.
    pub fn form(&self, file: &str) -> Option<Form> {
        let read = || match TriangleMesh::read(&self.path(file)) {
            Ok(mesh) => Some(form_of(&mesh)),
            Err(_) if is_unit_box(file) => Some(Form::Box(Vec3::ONE, Vec3::ZERO)),
            Err(_) => None,
        };
        *self.forms.borrow_mut().entry(file.to_owned()).or_insert_with(read)
    }

    /// Points of a particle file; none if it cannot be read.
    pub fn points(&self, file: &str) -> Rc<Vec<Vec3>> {
        let read = || {
            let frame = read_frame(&self.path(file)).unwrap_or_default();
            Rc::new(frame.positions.iter().map(|p| Vec3::from_array(p.map(Real::from))).collect())
        };
        self.points.borrow_mut().entry(file.to_owned()).or_insert_with(read).clone()
    }
}

fn is_unit_box(file: &str) -> bool {
    let stem = Path::new(file.rsplit(['/', '\\']).next().unwrap_or(file)).file_stem();
    stem.is_some_and(|stem| stem.eq_ignore_ascii_case("UnitBox"))
}

fn form_of(mesh: &TriangleMesh) -> Form {
    let (lo, hi) = mesh.bounds();
    let (size, middle) = (hi - lo, 0.5 * (lo + hi));
    let near = ON_SURFACE * size.max_element();
    let at_corner = |v: &Vec3| ((*v - middle).abs() - 0.5 * size).abs().max_element() < near;
    if size.min_element() > near && mesh.vertices.iter().all(at_corner) && has_eight_corners(mesh, middle) {
        return Form::Box(size, middle);
    }
    let lies_on = |shape: RigidShape| {
        mesh.vertices.len() >= ROUND
            && mesh.vertices.iter().all(|v| shape.surface(*v - middle).distance.abs() < near)
    };
    let is_round = |a: Real, b: Real| (a - b).abs() < 2.0 * near;
    let radius = 0.5 * size.x;
    if is_round(size.x, size.y) && is_round(size.x, size.z) && lies_on(RigidShape::Sphere { radius }) {
        return Form::Sphere(radius, middle);
    }
    if is_round(size.x, size.z) && lies_on(RigidShape::Cylinder { radius, height: size.y }) {
        return Form::Cylinder(radius, size.y, middle);
    }
    Form::Other
}

/// Is there a vertex in every corner? A wedge has some only.
fn has_eight_corners(mesh: &TriangleMesh, middle: Vec3) -> bool {
    let corner = |v: &Vec3| v.cmpgt(middle).bitmask();
    let found = mesh.vertices.iter().fold(0u32, |found, v| found | 1 << corner(v));
    found == 0xff && mesh.triangles.len() >= 12
}
