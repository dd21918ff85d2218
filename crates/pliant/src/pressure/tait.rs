//! Weakly compressible pressure [Becker & Teschner 2007], as in B09: p = B ((rho/rho0)^7 - 1), B = rho0 c²/7.

use crate::math::Real;

/// A liquid that gives way a little.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tait {
    /// Speed of sound c [m/s]; densities vary by about (v/c)².
    pub sound_speed: Real,
}

const EXPONENT: i32 = 7;

impl Tait {
    /// Pressure over the rest density at this compression rho/rho0 - 1 [Pa m3/kg]; never a pull.
    pub fn specific_pressure(&self, compression: Real) -> Real {
        let ratio = 1.0 + compression.max(0.0);
        self.sound_speed.powi(2) / EXPONENT as Real * (ratio.powi(EXPONENT) - 1.0)
    }

    /// The longest stable step for a spacing s [s]: sound crosses 0.4 of it.
    pub fn time_step(&self, spacing: Real) -> Real {
        0.4 * spacing / self.sound_speed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sound_has_its_speed_and_there_is_no_suction() {
        let tait = Tait { sound_speed: 30.0 };
        let slope = tait.specific_pressure(1e-6) / 1e-6; // dp/drho = c²
        assert!((slope / 900.0 - 1.0).abs() < 1e-5);
        assert_eq!(tait.specific_pressure(-0.5), 0.0);
    }
}
