//! Forces and impulses that are not elastic.

pub mod contact;
pub mod fields;
pub mod rigid_contact;
