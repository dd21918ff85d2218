//! Forces and impulses that are not elastic.

pub mod adhesion;
pub mod contact;
pub mod drag;
pub mod fields;
pub mod near;
pub mod rigid_contact;
pub mod surface_tension;
#[cfg(test)]
mod tests;
pub mod viscosity;
pub mod xsph;
