//! The simulation: set-up, state, step, diagnostics.

mod setup;
pub use setup::*;
