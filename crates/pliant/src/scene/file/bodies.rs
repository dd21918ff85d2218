//! Deformable bodies as written.

use super::{PinMotionFile, Vector};
use crate::scene::error::SceneError;
use crate::scene::read::{At, Read, table, typed, words};
use crate::scene::tree::Kind;

table! {
    /// A deformable body.
    BodyFile {
        /// Name in tables and messages; default body1, body2, ...
        name: Option<String>,
        /// Name of one of the materials.
        material: String,
        /// Shape at rest, centred at the origin of body coordinates.
        shape: ShapeFile,
        /// How the shape is filled with particles; default "lattice".
        sampling: Option<SamplingWord>,
        /// Where the body's centre starts [m]; default [0, 0, 0].
        position: Option<Vector>,
        /// How the body is turned: one rotation, or several applied in order.
        rotation: Option<RotationFile>,
        /// Initial velocity [m/s]; default [0, 0, 0].
        velocity: Option<Vector>,
        /// Initial angular velocity about the body's centre [rad/s]; default [0, 0, 0].
        angular_velocity: Option<Vector>,
        /// Initial stretch along the body's axes; default [1, 1, 1].
        initial_stretch: Option<Vector>,
        /// Colour in pictures, "#rrggbb" or [r, g, b] from 0 to 1.
        color: Option<ColorFile>,
        /// Mesh that is written beside the particles and shown in pictures; default "none".
        surface: Option<SurfaceWord>,
        /// Edge of the cells the surface is made with [m], 0.2 to 4 spacings; default half a spacing.
        surface_cell: Option<f64>,
        /// Copies on a grid, named NAME_1, NAME_2, ...
        array: Option<ArrayFile>,
        /// Particles held or driven.
        pins: Option<Vec<PinFile>>,
        /// Forces on particles.
        loads: Option<Vec<LoadFile>>,
    }
}

table! { BoxFile {
    /// Edge lengths [m].
    size: Vector,
} }
table! { SphereFile {
    /// Radius [m].
    radius: f64,
} }
table! { CylinderFile {
    /// Radius [m].
    radius: f64,
    /// Length along y [m].
    height: f64,
} }
table! { TorusFile {
    /// Radius of the ring's centre line [m].
    radius: f64,
    /// Radius of the tube [m].
    tube_radius: f64,
} }
table! { BeastFile {
    /// From tail to snout [m].
    length: f64,
} }
table! { DuckFile {
    /// From tail to bill [m].
    length: f64,
} }
table! { BunnyFile {
    /// From paws to ears [m].
    height: f64,
} }
table! { ArmadilloFile {
    /// From feet to ears [m].
    height: f64,
} }
table! { GearFile {
    /// To the tips of the teeth [m].
    radius: f64,
    /// Length along y [m].
    height: f64,
    /// Number of teeth; default 12.
    teeth: Option<u64>,
} }
table! { HairballFile {
    /// To the tips of the strands [m].
    radius: f64,
    /// Number of strands; default 60.
    strands: Option<u64>,
    /// Thickness of a strand [m]; default an eighth of the radius.
    thickness: Option<f64>,
} }
table! { MeshFile {
    /// An .obj, .ply, .stl, .gltf or .glb file, relative to the scene file.
    file: String,
    /// Metres for one unit of the file, alike or along x, y and z; default 1.
    scale: Option<ScaleFile>,
    /// Moves the middle of the mesh's bounding box to the origin; default false: the mesh keeps its own coordinates.
    center: Option<bool>,
} }
table! { ParticlesFile {
    /// A .bgeo, .vtu, .ply, .csv, .npz or .usdc file of points, relative to the scene file.
    file: String,
    /// Metres for one unit of the file, alike or along x, y and z; default 1.
    scale: Option<ScaleFile>,
} }
table! { CapsuleFile {
    /// Radius [m].
    radius: f64,
    /// Length of the straight part along y [m].
    height: f64,
} }
table! { RodFile {
    /// Length along x [m].
    length: f64,
} }
table! { SheetFile {
    /// Lengths along x and z [m].
    size: [f64; 2],
    /// Outline inside the size; default "rectangle".
    outline: Option<OutlineWord>,
    /// Rest height over the plane.
    relief: Option<ReliefFile>,
} }
table! {
    /// Rest height of a sheet: y(r) = height * sinc(2 pi r / wavelength).
    ReliefFile {
        /// Height at the centre [m].
        height: f64,
        /// Wavelength of the rings [m].
        wavelength: f64,
    }
}

words! {
    /// Outline of a sheet.
    OutlineWord { Rectangle = "rectangle", Ellipse = "ellipse", } later []
}

typed! {
    /// Shape of a deformable body.
    ShapeFile {
        Box(BoxFile) = "box",
        Sphere(SphereFile) = "sphere",
        /// Axis along y.
        Cylinder(CylinderFile) = "cylinder",
        /// One layer of particles in the x-z plane.
        Sheet(SheetFile) = "sheet",
        /// One line of particles along x.
        Rod(RodFile) = "rod",
        /// Ring about the y axis.
        Torus(TorusFile) = "torus",
        /// A four-legged animal, its snout along x, its back up along y.
        Beast(BeastFile) = "beast",
        /// Axis along y.
        Capsule(CapsuleFile) = "capsule",
        /// A duck as it swims along x.
        Duck(DuckFile) = "duck",
        /// A rabbit that sits, its nose along x.
        Bunny(BunnyFile) = "bunny",
        /// An armoured animal that stands upright, facing x.
        Armadillo(ArmadilloFile) = "armadillo",
        /// A ball with strands on it.
        Hairball(HairballFile) = "hairball",
        /// A wheel with teeth and a bore about the y axis.
        Gear(GearFile) = "gear",
        /// The inside of a mesh file.
        Mesh(MeshFile) = "mesh",
        /// Particles as a file gives them, one spacing apart.
        Particles(ParticlesFile) = "particles",
    } later []
}

words! {
    /// Surface of a body.
    SurfaceWord {
        None = "none",
        /// A mesh of the rest shape that follows the particles: the body's own mesh, or one made around its shape.
        Skin = "skin",
        /// Where the density of the particles falls.
        Isosurface = "isosurface",
    } later []
}

words! {
    /// How a shape is filled with particles.
    SamplingWord {
        /// Cubic lattice, particles at the centres of cells.
        Lattice = "lattice",
        /// Cubic closest packing.
        Ccp = "ccp",
        /// Thrown at random, no two near one another.
        Poisson = "poisson",
        /// Thrown at random, then moved until the density is even.
        Relaxed = "relaxed",
    } later []
}

/// One number, or one for each axis.
#[derive(Clone, Debug, PartialEq, schemars::JsonSchema)]
#[schemars(untagged)]
pub(in crate::scene) enum ScaleFile {
    Alike(f64),
    Axes(Vector),
}

impl Read for ScaleFile {
    fn read(at: At<'_>) -> Result<Self, SceneError> {
        match at.node.kind {
            Kind::List(_) => Vector::read(at).map(ScaleFile::Axes),
            _ => f64::read(at).map(ScaleFile::Alike),
        }
    }
}

table! {
    /// A rotation about an axis.
    TurnFile {
        /// Axis of any length but zero.
        axis: Vector,
        /// Angle [degrees].
        degrees: f64,
    }
}

/// One rotation, or several applied in order.
#[derive(Clone, Debug, PartialEq, schemars::JsonSchema)]
#[schemars(untagged)]
pub(in crate::scene) enum RotationFile {
    One(TurnFile),
    Several(Vec<TurnFile>),
}

impl Read for RotationFile {
    fn read(at: At<'_>) -> Result<Self, SceneError> {
        match at.node.kind {
            Kind::Table(_) => TurnFile::read(at).map(RotationFile::One),
            Kind::List(_) => Vec::read(at).map(RotationFile::Several),
            _ => Err(at.wrong_type("a table or a list of tables", "{ axis = [0, 0, 1], degrees = 30 }")),
        }
    }
}

/// "#rrggbb", or red, green and blue from 0 to 1.
#[derive(Clone, Debug, PartialEq, schemars::JsonSchema)]
#[schemars(untagged)]
pub(in crate::scene) enum ColorFile {
    Hex(String),
    Parts([f64; 3]),
}

impl Read for ColorFile {
    fn read(at: At<'_>) -> Result<Self, SceneError> {
        match at.node.kind {
            Kind::Text(_) => String::read(at).map(ColorFile::Hex),
            Kind::List(_) => <[f64; 3]>::read(at).map(ColorFile::Parts),
            _ => Err(at.wrong_type("a colour", "\"#3366cc\"")),
        }
    }
}

table! {
    /// Copies of a body on a grid.
    ArrayFile {
        /// Copies along x, y and z.
        count: [u64; 3],
        /// Distance between copies along x, y and z [m].
        step: Vector,
    }
}

table! {
    /// Particles held or driven.
    PinFile {
        /// Which particles, by their rest position in body coordinates.
        region: RegionFile,
        /// "fixed", or how they are driven; default "fixed".
        motion: Option<PinMotionFile>,
        /// Time of release [s]; default never.
        until: Option<f64>,
    }
}

table! {
    /// A force spread evenly over the particles of a region.
    LoadFile {
        /// Which particles, by their rest position in body coordinates.
        region: RegionFile,
        /// Force in total [N].
        force: Vector,
        /// Time at which it ends [s]; default never.
        until: Option<f64>,
    }
}

table! { RegionBoxFile {
    /// Lower corner [m].
    min: Vector,
    /// Upper corner [m].
    max: Vector,
} }
table! { RegionSphereFile {
    /// Centre [m].
    center: Vector,
    /// Radius [m].
    radius: f64,
} }

typed! {
    /// Part of a body, in body coordinates.
    RegionTable { Box(RegionBoxFile) = "box", Sphere(RegionSphereFile) = "sphere", } later []
}

words! {
    /// The whole body.
    AllWord { All = "all", } later []
}

/// "all", or a part of the body in body coordinates.
#[derive(Clone, Debug, PartialEq, schemars::JsonSchema)]
#[schemars(untagged)]
pub(in crate::scene) enum RegionFile {
    All(AllWord),
    Part(RegionTable),
}

impl Read for RegionFile {
    fn read(at: At<'_>) -> Result<Self, SceneError> {
        match at.node.kind {
            Kind::Text(_) => AllWord::read(at).map(RegionFile::All),
            _ => RegionTable::read(at).map(RegionFile::Part),
        }
    }
}
