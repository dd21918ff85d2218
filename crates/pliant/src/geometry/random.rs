//! Random numbers that are the same on every machine.

use crate::math::{Real, Vec3};

/// SplitMix64 [Steele et al. 2014].
pub(super) struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// From zero to one, one excluded.
    pub fn unit(&mut self) -> Real {
        (self.next() >> 11) as Real / (1u64 << 53) as Real
    }

    /// Each coordinate from -0.5 to 0.5.
    pub fn in_cube(&mut self) -> Vec3 {
        Vec3::new(self.unit(), self.unit(), self.unit()) - 0.5
    }

    pub fn shuffle(&mut self, list: &mut [u32]) {
        for k in (1..list.len()).rev() {
            list.swap(k, (self.unit() * (k + 1) as Real) as usize);
        }
    }
}
