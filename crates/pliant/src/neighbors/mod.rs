//! Who is near whom: a grid over current positions, and rest neighbourhoods that never change.

mod grid;
mod rest;

pub use grid::Grid;
pub use rest::{PairRow, RestNeighbors};
