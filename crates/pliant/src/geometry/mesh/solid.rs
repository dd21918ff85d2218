//! A mesh as a solid: which points are inside, and how far the surface is.

use super::repair::{Repaired, repair};
use super::tree::Tree;
use super::{MeshError, TriangleMesh};
use crate::geometry::grid::DistanceGrid;
use crate::math::{Real, Vec3};
use rayon::prelude::*;
use std::fmt;
use std::path::Path;
use std::sync::Arc;
use xxhash_rust::xxh3::Xxh3;

/// Cells along the longest side of the grid that a first volume is measured on.
const VOLUME_CELLS: Real = 64.0;
/// Smallest part of its bounding box that a solid may fill; a mesh without an inside fills nothing.
const LEAST_FILLED: Real = 1e-6;
/// Largest difference of the enclosed volume from the measured one, if they are the same.
const AGREES: Real = 0.02;
/// Depth, in parts of its size, that a mesh with holes must have somewhere.
const LEAST_DEPTH: Real = 1e-3;

/// A mesh with an inside. Clones share it; two are equal if their vertices and triangles are.
#[derive(Clone)]
pub struct SolidMesh(Arc<Solid>);

struct Solid {
    mesh: TriangleMesh,
    tree: Tree,
    hash: u64,
    /// Has no open edges: winding numbers are whole.
    closed: bool,
    bounds: (Vec3, Vec3),
    volume: Real,
    exact_volume: Option<Real>,
    warnings: Vec<String>,
}

impl PartialEq for SolidMesh {
    fn eq(&self, other: &Self) -> bool {
        self.0.hash == other.0.hash
    }
}

impl fmt::Debug for SolidMesh {
    /// What decides the shape, not the data: it enters the hash of a scene.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SolidMesh({:016x}, {} triangles)", self.0.hash, self.0.mesh.triangles.len())
    }
}

impl SolidMesh {
    /// Reads a mesh file. Its coordinates are multiplied by `scale`; with `center` the middle of its bounding box
    /// then becomes the origin.
    pub fn load(path: &Path, scale: Vec3, center: bool) -> Result<SolidMesh, MeshError> {
        let mut mesh = TriangleMesh::read(path)?;
        mesh.vertices.iter_mut().for_each(|v| *v *= scale);
        if center {
            let (lo, hi) = mesh.bounds();
            mesh.vertices.iter_mut().for_each(|v| *v -= 0.5 * (lo + hi));
        }
        SolidMesh::new(mesh).map_err(|problem| {
            MeshError::new(
                path,
                problem,
                "close its surface in the program that made it, and export it again",
            )
        })
    }

    /// Prepares the inside test, or says why there is no inside.
    pub fn new(mesh: TriangleMesh) -> Result<SolidMesh, String> {
        mesh.check()?;
        let found = repair(&mesh);
        if found.triangles.is_empty() {
            return Err("none of its triangles has an area".into());
        }
        let warnings = warnings(&found);
        let bounds = mesh.bounds();
        let parts = found.parts;
        let mut tree = Tree::new(found.triangles);
        if parts > 1 {
            bury(&mut tree, (bounds.1 - bounds.0).max_element());
        }
        let hash = content_hash(&mesh);
        let closed = found.open_edges == 0;
        let mut solid = Solid { mesh, tree, hash, closed, bounds, volume: 0.0, exact_volume: None, warnings };
        let size = (bounds.1 - bounds.0).max_element();
        let grid = DistanceGrid::new(bounds, size / VOLUME_CELLS, 1.0, &|p| solid.distance(p));
        solid.volume = grid.volume();
        // an open sheet has a winding number of a half on its surface, and less around it
        let mut deepest: Real = 0.0;
        grid.for_each_cell(|_, distance| deepest = deepest.min(distance));
        let is_open = found.open_edges > 0 && deepest > -LEAST_DEPTH * size;
        if is_open || solid.volume <= LEAST_FILLED * size.powi(3) {
            return Err(format!("it encloses no volume ({} open edges)", found.open_edges));
        }
        // parts that overlap, or an inside that is turned out, enclose another volume than they fill
        let enclosed = enclosed_volume(solid.tree.triangles());
        let agrees = closed && (enclosed / solid.volume - 1.0).abs() < AGREES;
        solid.exact_volume = agrees.then_some(enclosed);
        Ok(SolidMesh(Arc::new(solid)))
    }

    /// The triangles as the file has them, scaled.
    pub fn mesh(&self) -> &TriangleMesh {
        &self.0.mesh
    }

    /// The triangles that have an area, neighbours of one part facing the same side.
    pub fn triangles(&self) -> &[[Vec3; 3]] {
        self.0.tree.triangles()
    }

    /// Lower and upper corner of the bounding box.
    pub fn bounds(&self) -> (Vec3, Vec3) {
        self.0.bounds
    }

    /// Volume inside [m3], to about a hundredth.
    pub fn volume(&self) -> Real {
        self.0.volume
    }

    /// Volume inside [m3] as its triangles enclose it, if they are closed and do not overlap.
    pub fn exact_volume(&self) -> Option<Real> {
        self.0.exact_volume
    }

    /// Memory held [bytes], about.
    pub fn bytes(&self) -> usize {
        self.0.tree.bytes() + 36 * self.0.mesh.vertices.len()
    }

    /// What is wrong with the mesh, though it can be used.
    pub fn warnings(&self) -> &[String] {
        &self.0.warnings
    }

    /// Signed distance to the surface, negative inside.
    ///
    /// d (1 - 2 |w|) with the distance d to the triangles and the winding number w: ±d where the surface is closed.
    /// Over a hole w passes through 1/2, and the distance passes through zero there with a slope of about one, as if
    /// the hole were covered.
    pub fn distance(&self, p: Vec3) -> Real {
        self.0.distance(p)
    }

    /// The distance, and the unit vector along which it grows: from the nearest point of the surface, or towards it
    /// from inside.
    pub fn surface(&self, p: Vec3) -> (Real, Vec3) {
        self.0.surface(p)
    }

    /// Where a ray first crosses the surface: the distance along it, and a unit normal on the side it comes from.
    pub fn first_crossing(&self, origin: Vec3, direction: Vec3) -> Option<(Real, Vec3)> {
        self.0.tree.first_crossing(origin, direction)
    }
}

impl Solid {
    fn distance(&self, p: Vec3) -> Real {
        self.surface(p).0
    }

    fn surface(&self, p: Vec3) -> (Real, Vec3) {
        let away = self.tree.nearest(p, Real::INFINITY).map_or(Vec3::INFINITY, |q| p - q);
        let outside = 1.0 - 2.0 * self.tree.winding_number(p).abs();
        let part = if self.closed { outside.signum() } else { outside.clamp(-1.0, 1.0) };
        (away.length() * part, away.normalize_or_zero() * part.signum())
    }
}

/// Volume that closed triangles enclose, by the divergence theorem.
fn enclosed_volume(triangles: &[[Vec3; 3]]) -> Real {
    let origin = triangles[0][0];
    let cone = |t: &[Vec3; 3]| (t[0] - origin).dot((t[1] - origin).cross(t[2] - origin)) / 6.0;
    triangles.iter().map(cone).sum::<Real>().abs()
}

/// Where parts overlap, what lies inside another part is no surface.
fn bury(tree: &mut Tree, size: Real) {
    let inside = |p: Vec3| tree.winding_number(p).abs() > 0.75;
    let is_buried = |triangle: &[Vec3; 3]| {
        let [a, b, c] = triangle;
        let step = (b - a).cross(c - a).normalize_or_zero() * (1e-5 * size);
        let middle = (a + b + c) / 3.0;
        inside(middle + step) && inside(middle - step)
    };
    let buried: Vec<bool> = tree.triangles().par_iter().map(is_buried).collect();
    if buried.iter().any(|buried| !buried) {
        tree.bury(buried);
    }
}

fn warnings(found: &Repaired) -> Vec<String> {
    let mut warnings = Vec::new();
    if found.open_edges > 0 {
        warnings
            .push(format!("the mesh has {} open edges; its holes are taken as covered", found.open_edges));
    }
    if found.turned > 0 {
        warnings.push(format!("{} triangles of the mesh face the wrong way; they are turned", found.turned));
    }
    if found.degenerate > 0 {
        warnings.push(format!("{} triangles of the mesh have no area; they are left out", found.degenerate));
    }
    warnings
}

fn content_hash(mesh: &TriangleMesh) -> u64 {
    let mut hash = Xxh3::new();
    for v in &mesh.vertices {
        v.to_array().iter().for_each(|x| hash.update(&x.to_le_bytes()));
    }
    for t in &mesh.triangles {
        t.iter().for_each(|v| hash.update(&v.to_le_bytes()));
    }
    hash.digest()
}
