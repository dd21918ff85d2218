//! One store for the particles of all bodies: structure of arrays, bodies as contiguous ranges.

mod hilbert;
mod lines;

pub use hilbert::hilbert_order;
pub use lines::line_order;

use crate::math::{Real, Vec3};
use std::ops::Range;

/// Free, or moved by the pin with this number (index into the body's pins).
pub const FREE: u32 = u32::MAX;

macro_rules! columns {
    ($($(#[$doc:meta])* $name:ident : $type:ty,)*) => {
        /// The particle columns. Declared here once: sorting, removal and growth reach every one of them.
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct Particles {
            $($(#[$doc])* pub $name: Vec<$type>,)*
        }

        /// One row of the store.
        #[derive(Clone, Copy, Debug)]
        pub struct Particle {
            $($(#[$doc])* pub $name: $type,)*
        }

        impl Particles {
            /// Appends a body's rows in the order given and returns their range.
            pub fn append(&mut self, rows: &[Particle]) -> Range<usize> {
                let start = self.len();
                $(self.$name.extend(rows.iter().map(|row| row.$name));)*
                start..self.len()
            }

            /// Two rows change places.
            pub fn swap(&mut self, i: usize, j: usize) {
                $(self.$name.swap(i, j);)*
            }
        }
    };
}

columns! {
    /// Current positions x [m].
    positions: Vec3,
    /// Current velocities v [m/s].
    velocities: Vec3,
    /// Rest positions X in body coordinates [m].
    rest_positions: Vec3,
    /// Masses m = rho0 V [kg].
    masses: Real,
    /// Pin that moves the particle, or [`FREE`].
    pins: u32,
}

impl Particles {
    pub fn len(&self) -> usize {
        self.positions.len()
    }

    pub fn is_empty(&self) -> bool {
        self.positions.is_empty()
    }
}
