//! Scene files: as written → checked → built.
//!
//! `tree` knows where every value was written, `overrides` change it, `read` turns it into the types of `file`,
//! `check` turns those into a [`Scene`]. Every refusal is a [`SceneError`] with its place and its remedy.

mod build;
mod bundled;
mod check;
mod error;
mod estimate;
mod file;
mod load;
mod overrides;
mod read;
mod resolved;
mod splishsplash;
mod suggest;
mod tree;

#[cfg(test)]
mod tests;

pub use bundled::{BUNDLED, Bundled, default_scene, starter};
pub use error::{Origin, SceneError};
pub use estimate::Estimate;
pub use file::schema;
use load::Provenance;
pub use splishsplash::{Imported, folder_seen_from, import_splishsplash};

pub use crate::output::{Format, OutputSettings};

use crate::math::{Real, Vec3};
use crate::simulation::Setup;
use crate::surface::SurfaceWish;

/// A checked scene: everything a run needs.
#[derive(Clone, Debug, PartialEq)]
pub struct Scene {
    /// Short name: the file's stem or the bundled name.
    pub name: String,
    pub title: String,
    /// Simulated time [s].
    pub duration: Real,
    pub setup: Setup,
    /// The surface of each body, if it has one.
    pub surfaces: Vec<Option<SurfaceWish>>,
    pub output: OutputSettings,
    pub look: Look,
    /// Seed of random choices; lattice sampling makes none.
    pub seed: u64,
    /// Where it was written; two scenes that say the same are equal wherever they were written.
    provenance: Provenance,
}

/// How pictures of the scene look.
#[derive(Clone, Debug, PartialEq)]
pub struct Look {
    pub camera: Camera,
    pub color_by: ColorBy,
    /// Width and height of pictures and movies [pixels].
    pub size: [u32; 2],
    /// Base colours of the bodies, by body index; sRGB 0..1.
    pub body_colors: Vec<[f32; 3]>,
    /// Colours of the rigid bodies, where given.
    pub rigid_colors: Vec<Option<[f32; 3]>>,
}

/// Where one looks from; `None` is chosen to see all that happens.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Camera {
    pub position: Option<Vec3>,
    pub look_at: Option<Vec3>,
    /// Vertical opening angle [degrees].
    pub field_of_view: Real,
    /// How fast it turns about the vertical through what it looks at [degrees/s].
    pub orbit: Real,
}

/// What the colour of a particle shows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ColorBy {
    Body,
    /// A field of the frames, between two values or the range found in the frames.
    Field {
        field: ColorField,
        range: Option<[Real; 2]>,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColorField {
    Speed,
    /// Von Mises stress [Pa].
    Stress,
    /// Volume ratio J = det F.
    Volume,
}
