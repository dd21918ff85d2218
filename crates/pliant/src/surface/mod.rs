//! Surfaces of matter: meshes that follow solids, and isosurfaces of what flows. See `docs/theory/surfaces.md`.

mod isosurface;
mod melting;
mod rest_mesh;
mod skinning;

#[cfg(test)]
mod tests;

pub use isosurface::isosurface;
pub use rest_mesh::RestMesh;
pub use skinning::Skin;

use crate::elasticity::AffineFit;
use crate::geometry::Shape;
use crate::math::{Mat3, Real, Vec3, sum};
use crate::simulation::{BodySetup, Simulation};

/// Which surface a body has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SurfaceWish {
    pub kind: SurfaceKind,
    /// Edge of the cells it is marched with [m]; half a spacing if not given.
    pub cell: Option<Real>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SurfaceKind {
    /// A mesh of the rest shape that follows the particles.
    Skin,
    /// Where the density of the particles falls.
    Isosurface,
}

impl SurfaceKind {
    /// What suits a body: sheets, rods and liquids have no inside that a skin could close.
    pub fn suiting(body: &BodySetup) -> SurfaceKind {
        let is_thin = matches!(body.shape, Shape::Sheet { .. } | Shape::Rod { .. });
        if body.method.is_none() || is_thin { SurfaceKind::Isosurface } else { SurfaceKind::Skin }
    }
}

/// A surface at one time. Triangles are counter-clockwise seen from outside.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SurfaceMesh {
    pub positions: Vec<[f32; 3]>,
    pub normals: Vec<[f32; 3]>,
    pub velocities: Vec<[f32; 3]>,
    pub triangles: Vec<[u32; 3]>,
    /// Texture coordinates of each vertex.
    pub texture: Option<Vec<[f32; 2]>>,
    /// Named parts and their numbers of vertices, in order; all of them, or none.
    pub groups: Vec<(String, usize)>,
    /// How much it looks like a liquid, from 0 to 1.
    pub liquid: f32,
}

/// A surface and whose it is.
#[derive(Clone, Debug, PartialEq)]
pub struct Surface {
    /// Numbers of the bodies it is the surface of.
    pub bodies: Vec<usize>,
    pub mesh: SurfaceMesh,
}

/// Particles of one body at one time.
#[derive(Clone, Copy, Debug)]
pub struct Matter<'a> {
    pub positions: &'a [Vec3],
    pub velocities: &'a [Vec3],
}

/// What makes the surfaces of a simulation: all that does not change is computed once.
pub struct Surfacer {
    spacing: Real,
    parts: Vec<Part>,
}

/// One surface.
struct Part {
    bodies: Vec<usize>,
    cell: Real,
    skin: Option<Covering>,
    is_liquid: bool,
    /// Its schedule makes it liquid at some time.
    melts: bool,
}

/// A skin with the mesh it moves.
struct Covering {
    mesh: RestMesh,
    skin: Skin,
    /// Rest positions of the particles, turned as the body stands at the start.
    rest: Vec<Vec3>,
}

impl Surfacer {
    /// `wishes` has an entry for each body. Liquids of one material and cell share one surface.
    pub fn new(simulation: &Simulation, wishes: &[Option<SurfaceWish>]) -> Surfacer {
        let setup = simulation.setup();
        let spacing = setup.spacing;
        let mut parts: Vec<Part> = Vec::new();
        for (k, (body, wish)) in setup.bodies.iter().zip(wishes).enumerate() {
            let Some(wish) = wish else { continue };
            let cell = wish.cell.unwrap_or(0.5 * spacing);
            let is_liquid = body.method.is_none();
            let same = |part: &&mut Part| {
                let first = &setup.bodies[part.bodies[0]];
                is_liquid && part.is_liquid && first.material == body.material && part.cell == cell
            };
            if let Some(part) = parts.iter_mut().find(same) {
                part.bodies.push(k);
                continue;
            }
            let skin = match wish.kind {
                SurfaceKind::Skin => Some(Covering::new(simulation, k, cell)),
                SurfaceKind::Isosurface => None,
            };
            let points = body.material.schedule.as_ref().map_or(&[][..], |schedule| schedule.points());
            let melts = points.iter().any(|point| point.moduli.is_liquid());
            parts.push(Part { bodies: vec![k], cell, skin, is_liquid, melts });
        }
        Surfacer { spacing, parts }
    }

    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// The surfaces of matter; `matter` has an entry for each body of the simulation.
    pub fn surfaces(&self, simulation: &Simulation, matter: &[Matter]) -> Vec<Surface> {
        let surface = |part: &Part| Surface {
            bodies: part.bodies.clone(),
            mesh: self.surface(part, simulation, matter),
        };
        self.parts.iter().map(surface).collect()
    }

    /// The surfaces of the present state.
    pub fn present(&self, simulation: &Simulation) -> Vec<Surface> {
        let particles = simulation.particles();
        let matter = |body: &crate::simulation::Body| Matter {
            positions: &particles.positions[body.range.clone()],
            velocities: &particles.velocities[body.range.clone()],
        };
        self.surfaces(simulation, &simulation.bodies().iter().map(matter).collect::<Vec<_>>())
    }

    fn surface(&self, part: &Part, simulation: &Simulation, matter: &[Matter]) -> SurfaceMesh {
        let skin = part.skin.as_ref().zip(simulation.elastic(part.bodies[0]));
        let Some((covering, elastic)) = skin else { return self.flowing(part, matter) };
        let matter_of_body = matter[part.bodies[0]];
        let fits = elastic.affine_fits(matter_of_body.positions);
        let molten = if part.melts { melting::share(mean_misfit(&fits)) } else { 0.0 };
        if molten >= 1.0 {
            return SurfaceMesh { liquid: melting::LOOK, ..self.flowing(part, matter) };
        }
        let skin = covering.at(matter_of_body, &fits);
        if molten <= 0.0 {
            return skin;
        }
        melting::between(&skin, self.flowing(part, matter), molten, self.spacing as f32)
    }

    fn flowing(&self, part: &Part, matter: &[Matter]) -> SurfaceMesh {
        let gathered = |column: fn(&Matter) -> Vec<Vec3>| {
            part.bodies.iter().flat_map(|&k| column(&matter[k])).collect::<Vec<_>>()
        };
        let positions = gathered(|matter| matter.positions.to_vec());
        let velocities = gathered(|matter| matter.velocities.to_vec());
        let mesh = isosurface(&positions, &velocities, self.spacing, part.cell);
        SurfaceMesh { liquid: if part.is_liquid { 1.0 } else { 0.0 }, ..mesh }
    }
}

fn mean_misfit(fits: &[AffineFit]) -> Real {
    sum(fits.len(), 0.0, |i| fits[i].misfit) / fits.len().max(1) as Real
}

impl Covering {
    fn new(simulation: &Simulation, k: usize, cell: Real) -> Covering {
        let setup = simulation.setup();
        let (body, range) = (&setup.bodies[k], simulation.bodies()[k].range.clone());
        let mut mesh = match &body.shape {
            Shape::Mesh { mesh } => RestMesh::of_triangles(mesh.mesh()),
            shape => RestMesh::of_field(shape, cell),
        };
        let turn = Mat3::from_quat(body.pose.rotation);
        mesh.vertices.iter_mut().for_each(|x| *x = turn * *x);
        let rest = simulation.particles().rest_positions[range].iter().map(|x| turn * *x).collect::<Vec<_>>();
        let skin = Skin::new(&mesh.vertices, &rest, setup.support * setup.spacing);
        Covering { mesh, skin, rest }
    }

    fn at(&self, matter: Matter, fits: &[AffineFit]) -> SurfaceMesh {
        let (positions, velocities) = self.skin.place(&self.rest, matter, fits);
        SurfaceMesh {
            normals: rest_mesh::normals(&positions, &self.mesh.triangles, Some(&self.mesh.joined)),
            positions,
            velocities,
            triangles: self.mesh.triangles.clone(),
            texture: self.mesh.texture.clone(),
            groups: self.mesh.groups.clone(),
            liquid: 0.0,
        }
    }
}
