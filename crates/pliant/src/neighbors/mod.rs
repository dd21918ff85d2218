//! Who is near whom: searches over current positions, and rest neighbourhoods that never change.

mod cells;
mod current;
mod grid;
mod rest;

pub use cells::Cells;
pub use current::{Bond, CHUNK_PARTICLES, CurrentNeighbors, Slice, offset};
pub use grid::Grid;
pub use rest::{PairRow, RestNeighbors};
