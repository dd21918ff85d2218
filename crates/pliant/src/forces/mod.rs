//! forces
