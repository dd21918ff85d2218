//! neighbors
