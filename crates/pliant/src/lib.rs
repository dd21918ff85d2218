//! Pliant simulates matter that bends, flows, yields, breaks, melts and freezes, as particles.
//!
//! One library holds all physics. Its rooms, each of which uses only rooms above it (`tests/rooms.rs` checks):
//!
//! | room | what |
//! |---|---|
//! | [`math`] | numbers, small matrices, rotations, sums in a fixed order |
//! | [`kernel`] | smoothing kernels |
//! | [`material`] | what stuff is |
//! | [`particles`] | the columns, ordering |
//! | [`neighbors`] | grid search, rest neighbourhoods |
//! | [`geometry`] | shapes, meshes, regions, sampling |
//! | [`linear`] | sparse factors, conjugate gradients |
//! | [`rigid`] | rigid bodies |
//! | [`forces`] | contact, fields, viscosity, tension, drag |
//! | [`elasticity`] | one file a paper |
//! | [`pressure`] | one pressure for all matter |
//! | [`simulation`] | set-up, step, diagnostics |
//! | [`surface`] | skins and isosurfaces |
//! | [`output`] | frames, tables, checkpoints |
//! | [`scene`] | file → checked → built |
//! | [`render`] | pictures without a GPU |
//! | [`run`] | a scene from start to folder |

pub mod elasticity;
pub mod forces;
pub mod geometry;
pub mod kernel;
pub mod linear;
pub mod material;
pub mod math;
pub mod neighbors;
pub mod output;
pub mod particles;
pub mod pressure;
pub mod render;
pub mod rigid;
pub mod run;
pub mod scene;
pub mod simulation;
pub mod surface;
