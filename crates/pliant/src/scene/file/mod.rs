//! The scene file as it is written: every table and key, with the words that describe it in the JSON schema.

mod bodies;
mod fields;
mod liquids;
mod materials;
mod rigids;

pub(super) use bodies::*;
pub(super) use fields::*;
pub(super) use liquids::*;
pub(super) use materials::*;
pub(super) use rigids::*;

use super::error::SceneError;
use super::read::{At, Read, table, words};
use super::tree::Kind;

/// Three numbers: x, y, z.
type Vector = [f64; 3];

table! {
    /// A Pliant scene. All numbers are in SI units.
    SceneFile {
        /// What the scene shows, in a few words.
        title: Option<String>,
        /// Space, time and forces.
        simulation: SimulationFile,
        /// What a run writes.
        output: Option<OutputFile>,
        /// Where pictures are taken from.
        camera: Option<CameraFile>,
        /// How pictures look.
        render: Option<RenderFile>,
        /// What bodies are made of, by name.
        materials: Option<MaterialsFile>,
        /// Deformable bodies.
        bodies: Option<Vec<BodyFile>>,
        /// Mouths from which liquid flows.
        emitters: Option<Vec<EmitterFile>>,
        /// Regions in which liquid is taken out.
        drains: Option<Vec<DrainFile>>,
        /// Rigid bodies: at rest, driven, or moved by forces.
        rigids: Option<Vec<RigidFile>>,
        /// Joints between rigid bodies.
        joints: Option<Vec<JointTable>>,
        /// Fields that push all matter, besides gravity.
        fields: Option<Vec<FieldFile>>,
        /// Time series written to probes.csv.
        probes: Option<Vec<ProbeFile>>,
    }
}

table! {
    /// Space, time and forces.
    SimulationFile {
        /// Particle spacing [m].
        spacing: f64,
        /// Simulated time [s].
        duration: f64,
        /// Acceleration of gravity [m/s2]; default [0, -9.81, 0].
        gravity: Option<Vector>,
        /// A fixed step [s], or { max, cfl }; default { max = 1 / fps, cfl = 0.4 }.
        time_step: Option<TimeStepFile>,
        /// How matter resists overlap; "none": solids meet by impulse contacts; default "iisph" with liquids, else "none".
        pressure: Option<PressureWord>,
        /// Mean density error at which the pressure solve ends, 1e-6 to 0.1; default 0.001.
        density_error: Option<f64>,
        /// Speed of sound of "wcsph" [m/s]: densities vary by about the square of speed over it; default 50.
        sound_speed: Option<f64>,
        /// Liquid outside this box is taken out; default ten times as large as all there is at the start.
        domain: Option<RegionBoxFile>,
        /// The air that liquids with drag fly through.
        air: Option<AirFile>,
        /// Smoothing kernel; default "wendland_c2".
        kernel: Option<KernelWord>,
        /// Support radius over spacing, 1.05 to 4; default 2.
        support: Option<f64>,
        /// Seed of random choices, a whole number; default 1.
        seed: Option<u64>,
        /// Which contacts are looked for.
        contact: Option<ContactFile>,
    }
}

/// A fixed time step, or the limits of an adaptive one.
#[derive(Clone, Debug, PartialEq, schemars::JsonSchema)]
#[schemars(untagged)]
pub(super) enum TimeStepFile {
    Fixed(f64),
    Adaptive(AdaptiveFile),
}

impl Read for TimeStepFile {
    fn read(at: At<'_>) -> Result<Self, SceneError> {
        match at.node.kind {
            Kind::Table(_) => AdaptiveFile::read(at).map(TimeStepFile::Adaptive),
            Kind::Integer(_) | Kind::Float(_) => f64::read(at).map(TimeStepFile::Fixed),
            _ => Err(at.wrong_type("a number or a table", "{ max = 0.002, cfl = 0.4 }")),
        }
    }
}

table! {
    /// Limits of the adaptive time step.
    AdaptiveFile {
        /// Longest step [s]; default 1 / fps.
        max: Option<f64>,
        /// Spacings a particle may move in a step, above 0 to 1; default 0.4.
        cfl: Option<f64>,
    }
}

words! {
    /// Pressure solver.
    PressureWord {
        /// Solids meet by impulse contacts.
        None = "none",
        /// One implicit pressure for all matter.
        Iisph = "iisph",
        /// One explicit pressure for all matter, which gives way a little.
        Wcsph = "wcsph",
    } later []
}

words! {
    /// Smoothing kernel.
    KernelWord { WendlandC2 = "wendland_c2", CubicSpline = "cubic_spline", } later []
}

table! {
    /// The air that liquids with drag fly through.
    AirFile {
        /// [kg/m3]; default 1.2.
        density: Option<f64>,
        /// Wind [m/s]; default none.
        velocity: Option<Vector>,
    }
}

table! {
    /// Which contacts are looked for.
    ContactFile {
        /// Between particles of different bodies; default true.
        between_bodies: Option<bool>,
        /// Between particles of one body that are not neighbours at rest; default true.
        within_body: Option<bool>,
    }
}

table! {
    /// What a run writes.
    OutputFile {
        /// Frames per second of simulated time; default 50.
        fps: Option<f64>,
        /// Formats of the frames; [] for none; default ["vtk"].
        formats: Option<Vec<FormatWord>>,
        /// Makes frames in "vtk", "bgeo" and "npz" smaller, and slower to write; default false.
        compress: Option<bool>,
        /// Simulated time between checkpoints [s]; default 1.
        checkpoint_every: Option<f64>,
    }
}

words! {
    /// Format of stored frames.
    FormatWord {
        /// VTK XML (.vtu) with a time series (.pvd), for ParaView.
        Vtk = "vtk",
        /// Binary PLY.
        Ply = "ply",
        /// Wavefront OBJ, without fields.
        Obj = "obj",
        /// Classic Houdini geometry, as Partio reads it.
        Bgeo = "bgeo",
        /// Universal Scene Description: binary layers (.usdc) and a scene that plays them (.usda).
        Usd = "usd",
        /// A table of numbers.
        Csv = "csv",
        /// NumPy arrays.
        Npz = "npz",
    } later []
}

table! {
    /// Where pictures are taken from; what is not given is chosen to see the whole first frame.
    CameraFile {
        /// Where the camera stands [m].
        position: Option<Vector>,
        /// The point in the middle of the picture [m].
        look_at: Option<Vector>,
        /// Vertical opening angle [degrees], 1 to 170; default 35.
        field_of_view: Option<f64>,
        /// Turns about the vertical through look_at, to the right as seen from above [degrees/s]; default 0.
        orbit: Option<f64>,
    }
}

table! {
    /// How pictures look.
    RenderFile {
        /// What the colour of a particle shows; default "body".
        color_by: Option<ColorByWord>,
        /// Values of the first and the last colour; default: the range found in the frames.
        range: Option<[f64; 2]>,
        /// Width and height [pixels], 16 to 8192; default [640, 360].
        size: Option<[u64; 2]>,
    }
}

words! {
    /// What the colour of a particle shows.
    ColorByWord {
        Body = "body",
        /// Speed [m/s].
        Speed = "speed",
        /// Von Mises stress [Pa].
        Stress = "stress",
        /// Volume ratio.
        Volume = "volume",
    } later ["temperature"]
}

table! {
    /// A time series of one particle, or of the mean over a region.
    ProbeFile {
        /// Name in probes.csv; default probe1, probe2, ...
        name: Option<String>,
        /// Name of the body.
        body: String,
        /// The particle nearest to this point at rest, in body coordinates [m].
        at: Option<Vector>,
        /// The mean over the particles of this region.
        region: Option<RegionFile>,
        /// What is recorded; default ["position"].
        record: Option<Vec<RecordWord>>,
        /// Time between samples [s]; default 1 / fps.
        every: Option<f64>,
    }
}

words! {
    /// What a probe records.
    RecordWord {
        Position = "position",
        Velocity = "velocity",
        DeformationGradient = "deformation_gradient",
        /// Cauchy stress [Pa].
        Stress = "stress",
    } later ["temperature"]
}

/// JSON schema of the scene file, for editors.
pub fn schema() -> serde_json::Value {
    schemars::schema_for!(SceneFile).to_value()
}
