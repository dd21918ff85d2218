//! The moduli of a body, which may change while it moves.

use super::ElasticBody;
use crate::material::Moduli;
use crate::math::{LANES, Lane, Real};
use std::sync::Arc;

/// First Lamé parameter lambda of every particle [Pa]; in sheets and rods the one for which no stress acts across them.
#[derive(Clone, Debug)]
pub(super) struct Lambda {
    /// Of neighbourhoods that span three dimensions.
    solid: Lane,
    /// By slice; empty if all neighbourhoods span three dimensions.
    by_slice: Arc<[Lane]>,
}

impl Lambda {
    /// Matter whose volume costs nothing.
    pub fn none() -> Self {
        Lambda { solid: Lane::ZERO, by_slice: Arc::new([]) }
    }

    /// `ranks` are the dimensions that the neighbourhoods span; none if all span three.
    pub fn new(moduli: Moduli, ranks: &[[u8; LANES]]) -> Self {
        let of_rank = [0, 1, 2, 3].map(|rank| lambda_of_rank(moduli, rank) as f32);
        let of_slice = |ranks: &[u8; LANES]| Lane::from(ranks.map(|rank| of_rank[rank as usize]));
        Lambda { solid: Lane::splat(of_rank[3]), by_slice: ranks.iter().map(of_slice).collect() }
    }

    #[inline(always)]
    pub fn of_slice(&self, s: usize) -> Lane {
        self.by_slice.get(s).copied().unwrap_or(self.solid)
    }
}

/// First Lamé parameter of a neighbourhood that spans `rank` dimensions.
///
/// The strain across a sheet or rod is not seen by its particles. Setting it to zero would stiffen a rod to lambda +
/// 2 mu; instead the stress across it is zero: lambda' = 2 mu lambda/(lambda + 2 mu) for a sheet (plane stress) and
/// lambda' = E - 2 mu for a rod, so that its modulus is E.
fn lambda_of_rank(moduli: Moduli, rank: usize) -> Real {
    let (mu, lambda) = (moduli.shear, moduli.lame_lambda());
    match rank {
        3 => lambda,
        2 => 2.0 * mu * lambda / (lambda + 2.0 * mu),
        _ => moduli.youngs_modulus() - 2.0 * mu,
    }
}

impl ElasticBody {
    /// Present moduli.
    pub fn moduli(&self) -> Moduli {
        self.moduli
    }

    /// Gives the body other moduli; rest shape, rotations and positions stay.
    pub fn set_moduli(&mut self, moduli: Moduli) {
        if moduli == self.moduli {
            return;
        }
        self.moduli = moduli;
        self.constants.set_moduli(moduli);
        self.lambda = Lambda::new(moduli, &self.rest.ranks);
    }

    /// First Lamé parameter of particle i [Pa].
    pub(super) fn lambda_of(&self, i: usize) -> Real {
        self.lambda.of_slice(i / LANES).as_array()[i % LANES] as Real
    }
}
