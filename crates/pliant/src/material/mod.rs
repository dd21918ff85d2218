//! What stuff is: pure functions and numbers, no particles, no methods.

mod laws;
mod schedule;

pub use laws::{Law, Tangent, first_piola};
pub use schedule::{Phase, Schedule, SchedulePoint};

use crate::math::Real;

/// A material: density, stiffness, losses and surface. All SI.
#[derive(Clone, Debug, PartialEq)]
pub struct Material {
    pub name: String,
    /// Rest density rho0 [kg/m3].
    pub density: Real,
    /// The largest it ever has; zero for liquids.
    pub moduli: Moduli,
    /// How the moduli change with time, if they do.
    pub schedule: Option<Schedule>,
    /// Mass-proportional damping [1/s]: dv/dt = -damping v.
    pub damping: Real,
    /// Coulomb coefficient of the surface; a contact takes the mean of its two sides.
    pub friction: Real,
    /// Restitution of a particle contact, 0 to 1; a contact takes the mean of its two sides.
    pub restitution: Real,
    pub flow: FlowLaw,
}

/// How a liquid flows, clings and drags; all zero for solids.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FlowLaw {
    /// Dynamic viscosity mu [Pa s].
    pub viscosity: Real,
    /// Share of the difference to the neighbours' velocities that is lost in a step, 0 to 1.
    pub xsph: Real,
    /// Surface tension [N/m].
    pub surface_tension: Real,
    /// Attraction to walls and solids [N/m].
    pub adhesion: Real,
    /// Share of the drag of air that is felt, 0 to 1.
    pub drag: Real,
}

/// Shear modulus G = mu and bulk modulus K of an isotropic solid [Pa].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moduli {
    pub shear: Real,
    pub bulk: Real,
}

impl Material {
    /// Is it a liquid at some time of its schedule?
    pub fn melts(&self) -> bool {
        self.schedule.as_ref().is_some_and(|schedule| schedule.points().iter().any(|p| p.moduli.is_liquid()))
    }

    /// The largest dynamic viscosity it ever has [Pa s].
    pub fn most_viscous(&self) -> Real {
        let points = self.schedule.as_ref().map_or(&[][..], |schedule| schedule.points());
        points.iter().map(|point| point.viscosity).fold(self.flow.viscosity, Real::max)
    }

    /// Dynamic viscosity at a time [Pa s].
    pub fn viscosity_at(&self, time: Real) -> Real {
        self.schedule.as_ref().map_or(self.flow.viscosity, |schedule| schedule.viscosity_at(time))
    }
}

impl Moduli {
    /// Has matter of these moduli no stiffness at all?
    pub fn is_liquid(self) -> bool {
        self.shear <= 0.0 && self.bulk <= 0.0
    }

    /// Of liquids.
    pub const ZERO: Moduli = Moduli { shear: 0.0, bulk: 0.0 };

    /// G = E / (2 (1 + nu)),  K = E / (3 (1 - 2 nu)).
    pub fn from_young_poisson(youngs_modulus: Real, poisson_ratio: Real) -> Self {
        let (e, nu) = (youngs_modulus, poisson_ratio);
        Moduli { shear: e / (2.0 * (1.0 + nu)), bulk: e / (3.0 * (1.0 - 2.0 * nu)) }
    }

    /// First Lamé parameter lambda = K - 2/3 G [Pa].
    pub fn lame_lambda(self) -> Real {
        self.bulk - 2.0 / 3.0 * self.shear
    }

    /// E = 9 K G / (3 K + G) [Pa].
    pub fn youngs_modulus(self) -> Real {
        9.0 * self.bulk * self.shear / (3.0 * self.bulk + self.shear)
    }

    /// nu = (3 K - 2 G) / (2 (3 K + G)).
    pub fn poisson_ratio(self) -> Real {
        (3.0 * self.bulk - 2.0 * self.shear) / (2.0 * (3.0 * self.bulk + self.shear))
    }

    /// The larger of the ratios of the two moduli to others. No strain costs more than this times its energy with them:
    /// the energy is a sum of a part of the shear modulus and one of the bulk modulus.
    pub fn stiffness_over(self, other: Moduli) -> Real {
        (self.shear / other.shear).max(self.bulk / other.bulk)
    }

    /// Modulus of a confined (pressure) wave, K + 4/3 G = lambda + 2 mu [Pa].
    pub fn p_wave_modulus(self) -> Real {
        self.bulk + 4.0 / 3.0 * self.shear
    }
}
