//! Pliant simulates matter that bends, flows, yields, breaks, melts and freezes, as particles.
//!
//! One library holds all physics. Its rooms are listed below in the order in which they may use one another:
//! a room uses only rooms above it (`tests/rooms.rs` checks the direction).

pub mod elasticity;
pub mod forces;
pub mod geometry;
pub mod kernel;
pub mod material;
pub mod math;
pub mod neighbors;
pub mod output;
pub mod particles;
pub mod render;
pub mod rigid;
pub mod scene;
pub mod simulation;
