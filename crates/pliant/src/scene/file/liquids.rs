//! Liquid that comes and goes, as written.

use super::{ColorFile, RegionFile, SurfaceWord, Vector};
use crate::scene::read::{table, typed};

table! {
    /// A mouth from which liquid flows: a liquid body of its own that starts empty.
    EmitterFile {
        /// Name in tables and messages; default emitter1, emitter2, ...
        name: Option<String>,
        /// Name of a liquid material.
        material: String,
        /// Cross-section of the flow.
        mouth: MouthFile,
        /// Centre of the mouth [m]; default [0, 0, 0].
        position: Option<Vector>,
        /// Where the liquid flows to, a direction of any length but zero.
        direction: Vector,
        /// Speed of the liquid [m/s].
        speed: f64,
        /// When it begins to flow [s]; default 0.
        start: Option<f64>,
        /// When it ends [s]; default never.
        end: Option<f64>,
        /// Particles it may emit in all; default what flows until the end.
        max_particles: Option<u64>,
        /// Colour in pictures, "#rrggbb" or [r, g, b] from 0 to 1.
        color: Option<ColorFile>,
        /// Mesh that is written beside the particles and shown in pictures, "none" or "isosurface"; default "none".
        surface: Option<SurfaceWord>,
        /// Edge of the cells the surface is made with [m], 0.2 to 4 spacings; default half a spacing.
        surface_cell: Option<f64>,
    }
}

table! { CircleFile {
    /// Radius [m].
    radius: f64,
} }
table! { SlotFile {
    /// Width and height [m].
    size: [f64; 2],
} }

typed! {
    /// Cross-section of an emitter.
    MouthFile { Circle(CircleFile) = "circle", Box(SlotFile) = "box", } later []
}

table! {
    /// Liquid in this region is taken out.
    DrainFile {
        /// Where, in world coordinates.
        region: RegionFile,
    }
}
