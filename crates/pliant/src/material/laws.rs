//! Elastic laws: energies Ψ of the signed singular values σ of F, and their derivatives.
//!
//! F = U diag(σ) Vᵀ with det U = det V = 1, so that only the last σ may be negative: there the matter is turned inside
//! out. Every isotropic law is Ψ(σ), with P = U diag(∂Ψ/∂σ_k) Vᵀ. Derivatives are taken from Ψ: those printed in K16,
//! Eq. 14, lack a factor. For small strains each law is the linear one with the same mu and lambda.
#![allow(non_snake_case)] // F, J, K, P, U, V as in the theory

use crate::math::{Mat3, Real, Svd, Vec3, svd};

/// An elastic law.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Law {
    /// Ψ = mu Σ(σ_k - 1)² + lambda/2 (Σ(σ_k - 1))². Valid through inversion.
    Corotated,
    /// Ψ = mu/4 Σ(σ_k² - 1)² + lambda/8 (Σ(σ_k² - 1))². Under compression its stiffness is gone at σ = 1/√3.
    StVenantKirchhoff,
    /// Ψ = mu/2 Σ(σ_k² - 1) - mu ln J + lambda/2 ln² J, J = σ_1 σ_2 σ_3. Infinite at J = 0.
    NeoHookean,
    /// Ψ = mu/2 Σ(σ_k² - 1) - mu ln J + lambda/2 (J - 1)² [K16, Eq. 16].
    NeoHookeanQuadratic,
    /// Ψ = mu/2 Σ(σ_k² - 1) - mu L + lambda/2 L², L = Σ l(σ_k). Valid through inversion.
    ///
    /// l is ln σ down to a = `min_stretch` and goes on, C², as a cubic to zero and as a straight line below it:
    ///   l = ln a - 4/3 + 3/2 t - max(t, 0)³/6,   t = σ/a < 1.
    /// So Ψ is symmetric and C², P is C¹ and linear in each inverted stretch, and its stiffness is bounded. K16, Fig. 7
    /// continues each ∂Ψ/∂σ_k by itself; such stresses have no common energy, or one without a lower bound. This one is
    /// nowhere below -3/2 mu - mu²/(2 lambda).
    NeoHookeanBounded { min_stretch: Real },
    /// Ψ = c10 (J^(-2/3) I1 - 3) + c01 (J^(-4/3) I2 - 3) + K/2 (J - 1)², I1 = Σ σ_k², I2 = Σ_(k<l) σ_k² σ_l² [K16, §3].
    ///
    /// The moduli stay those of the material: K = lambda + 2/3 mu, c01 = second_invariant mu/2 and
    /// c10 = (1 - second_invariant) mu/2. With 0 it is neo-Hookean, split into shape and volume.
    MooneyRivlin { second_invariant: Real },
}

/// Sums σ_k + σ_l are kept above this. At zero, which only inverted matter reaches, the rotation jumps.
const SMALLEST_SUM: Real = 1e-6;
/// Stretches nearer to one another than this have the derivative for their difference quotient.
const NEAR: Real = 1e-5;

impl Law {
    pub const DEFAULT_MIN_STRETCH: Real = 0.3;
    pub const DEFAULT_SECOND_INVARIANT: Real = 0.2;

    /// Every law, with the default of its own number.
    pub const ALL: [Law; 6] = [
        Law::Corotated,
        Law::StVenantKirchhoff,
        Law::NeoHookean,
        Law::NeoHookeanQuadratic,
        Law::NeoHookeanBounded { min_stretch: Law::DEFAULT_MIN_STRETCH },
        Law::MooneyRivlin { second_invariant: Law::DEFAULT_SECOND_INVARIANT },
    ];

    /// The word for it in scenes.
    pub fn name(self) -> &'static str {
        match self {
            Law::Corotated => "corotated",
            Law::StVenantKirchhoff => "st_venant_kirchhoff",
            Law::NeoHookean => "neo_hookean",
            Law::NeoHookeanQuadratic => "neo_hookean_quadratic",
            Law::NeoHookeanBounded { .. } => "neo_hookean_bounded",
            Law::MooneyRivlin { .. } => "mooney_rivlin",
        }
    }

    /// Whether matter can be in this state. Some laws cannot be inverted: their energy is infinite at J = 0.
    pub fn allows(self, sigma: Vec3) -> bool {
        match self {
            Law::Corotated | Law::StVenantKirchhoff | Law::NeoHookeanBounded { .. } => true,
            Law::NeoHookean | Law::NeoHookeanQuadratic | Law::MooneyRivlin { .. } => {
                sigma.min_element() > 0.0
            }
        }
    }

    /// Energy density Ψ(σ) [J/m3]; infinite where the law does not allow the state.
    pub fn energy(self, mu: Real, lambda: Real, sigma: Vec3) -> Real {
        if !self.allows(sigma) {
            return Real::INFINITY;
        }
        let I1 = sigma.length_squared();
        let J = sigma.element_product();
        match self {
            Law::Corotated => {
                let e = sigma - 1.0;
                mu * e.length_squared() + 0.5 * lambda * e.element_sum().powi(2)
            }
            Law::StVenantKirchhoff => {
                let e = sigma * sigma - 1.0;
                0.25 * mu * e.length_squared() + 0.125 * lambda * e.element_sum().powi(2)
            }
            Law::NeoHookean => 0.5 * mu * (I1 - 3.0) - mu * J.ln() + 0.5 * lambda * J.ln().powi(2),
            Law::NeoHookeanQuadratic => {
                0.5 * mu * (I1 - 3.0) - mu * J.ln() + 0.5 * lambda * (J - 1.0).powi(2)
            }
            Law::NeoHookeanBounded { min_stretch } => {
                let L = sum_of_logs(sigma, min_stretch);
                0.5 * mu * (I1 - 3.0) - mu * L + 0.5 * lambda * L * L
            }
            Law::MooneyRivlin { second_invariant } => {
                let Rivlin { c10, c01, K } = Rivlin::new(mu, lambda, second_invariant);
                let I2 = second(sigma);
                let third = J.cbrt();
                c10 * (I1 / third.powi(2) - 3.0)
                    + c01 * (I2 / third.powi(4) - 3.0)
                    + 0.5 * K * (J - 1.0).powi(2)
            }
        }
    }

    /// ∂Ψ/∂σ_k [Pa], the principal values of P; not numbers where the law does not allow the state.
    pub fn stress(self, mu: Real, lambda: Real, sigma: Vec3) -> Vec3 {
        if !self.allows(sigma) {
            return Vec3::NAN;
        }
        let J = sigma.element_product();
        match self {
            Law::Corotated => {
                let e = sigma - 1.0;
                e * (2.0 * mu) + lambda * e.element_sum()
            }
            Law::StVenantKirchhoff => {
                let e = sigma * sigma - 1.0;
                sigma * (e * mu + 0.5 * lambda * e.element_sum())
            }
            Law::NeoHookean => sigma * mu + (lambda * J.ln() - mu) / sigma,
            Law::NeoHookeanQuadratic => sigma * mu + (lambda * (J - 1.0) * J - mu) / sigma,
            Law::NeoHookeanBounded { min_stretch } => {
                let odd = lambda * sum_of_logs(sigma, min_stretch) - mu;
                sigma.map(|x| mu * x + odd * bounded_log(x, min_stretch)[1])
            }
            Law::MooneyRivlin { second_invariant } => {
                let Rivlin { c10, c01, K } = Rivlin::new(mu, lambda, second_invariant);
                let (I1, I2, third) = (sigma.length_squared(), second(sigma), J.cbrt());
                let shape = (sigma * 2.0 - 2.0 / 3.0 * I1 / sigma) * (c10 / third.powi(2));
                let others = I1 - sigma * sigma;
                let shape_2 = (sigma * others * 2.0 - 4.0 / 3.0 * I2 / sigma) * (c01 / third.powi(4));
                shape + shape_2 + K * (J - 1.0) * J / sigma
            }
        }
    }

    /// ∂²Ψ/∂σ_k∂σ_l [Pa], symmetric.
    pub fn stiffness(self, mu: Real, lambda: Real, sigma: Vec3) -> Mat3 {
        if !self.allows(sigma) {
            return Mat3::NAN;
        }
        let s = sigma;
        let J = s.element_product();
        match self {
            Law::Corotated => matrix(|k, l| lambda + if k == l { 2.0 * mu } else { 0.0 }),
            Law::StVenantKirchhoff => {
                let common = 0.5 * lambda * (s.length_squared() - 3.0) - mu;
                matrix(|k, l| {
                    lambda * s[k] * s[l] + if k == l { 3.0 * mu * s[k] * s[k] + common } else { 0.0 }
                })
            }
            Law::NeoHookean => {
                let own = mu - lambda * J.ln();
                matrix(|k, l| lambda / (s[k] * s[l]) + if k == l { mu + own / (s[k] * s[k]) } else { 0.0 })
            }
            Law::NeoHookeanQuadratic => {
                let own = |k: usize| mu + (mu + lambda * J * J) / (s[k] * s[k]);
                let mixed = lambda * (2.0 * J - 1.0) * J;
                matrix(|k, l| if k == l { own(k) } else { mixed / (s[k] * s[l]) })
            }
            Law::NeoHookeanBounded { min_stretch } => {
                let odd = lambda * sum_of_logs(s, min_stretch) - mu;
                let [_, dl, ddl] = [0, 1, 2].map(|n| s.map(|x| bounded_log(x, min_stretch)[n]));
                matrix(|k, l| lambda * dl[k] * dl[l] + if k == l { mu + odd * ddl[k] } else { 0.0 })
            }
            Law::MooneyRivlin { second_invariant } => {
                Rivlin::new(mu, lambda, second_invariant).stiffness(sigma)
            }
        }
    }

    /// Stiffness of the pair of singular directions that the third, m, leaves: (twist, flip) with
    /// twist = (Ψ_k + Ψ_l)/(σ_k + σ_l) and flip = (Ψ_k - Ψ_l)/(σ_k - σ_l), divided out where that can be done.
    fn pair(self, mu: Real, lambda: Real, sigma: Vec3, m: usize) -> (Real, Real) {
        let (k, l) = ((m + 1) % 3, (m + 2) % 3);
        let (a, b, c) = (sigma[k], sigma[l], sigma[m]);
        let (I1, J) = (sigma.length_squared(), sigma.element_product());
        // Where Ψ_k = even σ_k + odd/σ_k the two are even ± odd/(σ_k σ_l).
        let split = |even: Real, odd: Real| (even + odd / (a * b), even - odd / (a * b));
        match self {
            Law::Corotated => {
                let volume = lambda * (a + b + c - 3.0);
                (2.0 * mu + 2.0 * (volume - 2.0 * mu) / (a + b).max(SMALLEST_SUM), 2.0 * mu)
            }
            Law::StVenantKirchhoff => {
                let even = mu * (a * a + b * b - 1.0) + 0.5 * lambda * (I1 - 3.0);
                (even - mu * a * b, even + mu * a * b)
            }
            Law::NeoHookean => split(mu, lambda * J.ln() - mu),
            Law::NeoHookeanQuadratic => split(mu, lambda * (J - 1.0) * J - mu),
            Law::NeoHookeanBounded { .. } => {
                let stress = self.stress(mu, lambda, sigma);
                let twist = (stress[k] + stress[l]) / (a + b).max(SMALLEST_SUM);
                if (a - b).abs() > NEAR * a.abs().max(b.abs()) {
                    return (twist, (stress[k] - stress[l]) / (a - b));
                }
                // Ψ_k - Ψ_l is odd in a - b: the derivative at the mean is the quotient up to second order.
                let mean = vector(|n| if n == m { c } else { 0.5 * (a + b) });
                let H = self.stiffness(mu, lambda, mean);
                (twist, H.col(k)[k] - H.col(l)[k])
            }
            Law::MooneyRivlin { second_invariant } => {
                let Rivlin { c10, c01, K } = Rivlin::new(mu, lambda, second_invariant);
                let third = J.cbrt();
                let (c10, c01) = (c10 / third.powi(2), c01 / third.powi(4));
                let odd = -2.0 / 3.0 * c10 * I1 - 4.0 / 3.0 * c01 * second(sigma) + K * (J - 1.0) * J;
                let (twist, flip) = split(2.0 * c10 + 2.0 * c01 * c * c, odd);
                (twist + 2.0 * c01 * a * b, flip - 2.0 * c01 * a * b)
            }
        }
    }

    /// Stiffness against plane waves [Pa], at rest lambda + 2 mu; infinite where the law does not allow the state.
    ///
    /// The largest coefficient of dF : dP for dF = a ⊗ n in the singular basis, softening twists and flips left out,
    ///   max(Ψ_kk, (flip + twist)/2, |Ψ_kl + (flip - twist)/2|).
    /// No wave is stiffer than twice this; along the singular directions none is stiffer than this.
    pub fn wave_stiffness(self, mu: Real, lambda: Real, sigma: Vec3) -> Real {
        if !self.allows(sigma) {
            return Real::INFINITY;
        }
        let H = self.stiffness(mu, lambda, sigma);
        (0..3).fold(0.0, |largest: Real, m| {
            let (k, l) = ((m + 1) % 3, (m + 2) % 3);
            let (twist, flip) = self.pair(mu, lambda, sigma, m);
            let (twist, flip) = (twist.max(0.0), flip.max(0.0));
            let mixed = (H.col(l)[k] + 0.5 * (flip - twist)).abs();
            largest.max(H.col(m)[m]).max(0.5 * (flip + twist)).max(mixed)
        })
    }
}

/// The numbers of Mooney-Rivlin [Pa].
struct Rivlin {
    c10: Real,
    c01: Real,
    K: Real,
}

impl Rivlin {
    fn new(mu: Real, lambda: Real, second_invariant: Real) -> Self {
        Rivlin {
            c10: 0.5 * mu * (1.0 - second_invariant),
            c01: 0.5 * mu * second_invariant,
            K: lambda + 2.0 / 3.0 * mu,
        }
    }

    fn stiffness(&self, s: Vec3) -> Mat3 {
        let (I1, I2, J) = (s.length_squared(), second(s), s.element_product());
        let (c10, c01) = (self.c10 / J.cbrt().powi(2), self.c01 / J.cbrt().powi(4));
        let others = |k: usize| I1 - s[k] * s[k];
        let own = |k: usize| {
            let square = s[k] * s[k];
            c10 * (10.0 / 9.0 * I1 / square - 2.0 / 3.0)
                + c01 * (28.0 / 9.0 * I2 / square - 10.0 / 3.0 * others(k))
                + self.K * J * J / square
        };
        let mixed = |k: usize, l: usize| {
            let (product, ratio) = (s[k] * s[l], s[k] / s[l]);
            c10 * (4.0 / 9.0 * I1 / product - 4.0 / 3.0 * (ratio + 1.0 / ratio))
                + c01
                    * (16.0 / 9.0 * I2 / product + 4.0 * product
                        - 8.0 / 3.0 * (ratio * others(k) + others(l) / ratio))
                + self.K * (2.0 * J - 1.0) * J / product
        };
        matrix(|k, l| if k == l { own(k) } else { mixed(k, l) })
    }
}

/// l(σ) of the bounded law, with two derivatives.
fn bounded_log(sigma: Real, a: Real) -> [Real; 3] {
    if sigma >= a {
        return [sigma.ln(), 1.0 / sigma, -1.0 / (sigma * sigma)];
    }
    let t = sigma / a;
    let up = t.max(0.0);
    [a.ln() - 4.0 / 3.0 + 1.5 * t - up.powi(3) / 6.0, (3.0 - up * up) / (2.0 * a), -up / (a * a)]
}

/// L = Σ l(σ_k), ln J where no stretch is below the bound.
fn sum_of_logs(sigma: Vec3, a: Real) -> Real {
    sigma.map(|x| bounded_log(x, a)[0]).element_sum()
}

/// I2 = Σ_(k<l) σ_k² σ_l².
fn second(sigma: Vec3) -> Real {
    let square = sigma * sigma;
    square.x * square.y + square.y * square.z + square.z * square.x
}

fn vector(of: impl Fn(usize) -> Real) -> Vec3 {
    Vec3::new(of(0), of(1), of(2))
}

fn matrix(of: impl Fn(usize, usize) -> Real) -> Mat3 {
    let column = |l: usize| vector(|k| of(k, l));
    Mat3::from_cols(column(0), column(1), column(2))
}

/// First Piola-Kirchhoff stress P = U diag(∂Ψ/∂σ_k) Vᵀ [Pa].
pub fn first_piola(law: Law, mu: Real, lambda: Real, F: Mat3) -> Mat3 {
    let d = svd(F);
    d.u * Mat3::from_diagonal(law.stress(mu, lambda, d.sigma)) * d.v.transpose()
}

/// The tangent ∂P/∂F in the basis of the singular vectors, where it falls into a 3x3 matrix on the diagonal of
/// A = Uᵀ dF V and six numbers off it. Entry m of `twist` and `flip` is for the pair without direction m.
#[derive(Clone, Copy, Debug)]
pub struct Tangent {
    pub u: Mat3,
    pub v: Mat3,
    /// Acts on the diagonal of A [Pa].
    pub stretch: Mat3,
    /// Acts on (A_kl - A_lk)/2, which turns one direction to the other [Pa].
    pub twist: Vec3,
    /// Acts on (A_kl + A_lk)/2 [Pa].
    pub flip: Vec3,
}

impl Tangent {
    /// With `projected`, negative eigenvalues are replaced by zero: what Newton's method needs.
    pub fn new(law: Law, mu: Real, lambda: Real, F: Mat3, projected: bool) -> Tangent {
        Tangent::of(law, mu, lambda, svd(F), projected)
    }

    /// The same for an F that is decomposed already.
    pub fn of(law: Law, mu: Real, lambda: Real, d: Svd, projected: bool) -> Tangent {
        let pairs = [0, 1, 2].map(|m| law.pair(mu, lambda, d.sigma, m));
        let (twist, flip) = (vector(|m| pairs[m].0), vector(|m| pairs[m].1));
        let stretch = law.stiffness(mu, lambda, d.sigma);
        if !projected {
            return Tangent { u: d.u, v: d.v, stretch, twist, flip };
        }
        Tangent {
            u: d.u,
            v: d.v,
            stretch: positive_part(stretch),
            twist: twist.max(Vec3::ZERO),
            flip: flip.max(Vec3::ZERO),
        }
    }

    /// dP for a change dF.
    pub fn apply(&self, dF: Mat3) -> Mat3 {
        let A = self.u.transpose() * dF * self.v;
        let diagonal = self.stretch * Vec3::new(A.x_axis.x, A.y_axis.y, A.z_axis.z);
        let mut dP = Mat3::from_diagonal(diagonal);
        for m in 0..3 {
            let (k, l) = ((m + 1) % 3, (m + 2) % 3);
            let (a, b) = (A.col(l)[k], A.col(k)[l]);
            let (turned, sheared) = (0.5 * (a - b) * self.twist[m], 0.5 * (a + b) * self.flip[m]);
            dP.col_mut(l)[k] = sheared + turned;
            dP.col_mut(k)[l] = sheared - turned;
        }
        self.u * dP * self.v.transpose()
    }
}

/// A symmetric matrix without its negative eigenvalues: (A + |A|)/2, |A| = V |sigma| Vᵀ.
fn positive_part(A: Mat3) -> Mat3 {
    let d = svd(A);
    (A + d.v * Mat3::from_diagonal(d.sigma.abs()) * d.v.transpose()) * 0.5
}

#[cfg(test)]
mod tests;
