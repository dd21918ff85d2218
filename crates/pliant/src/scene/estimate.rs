//! How large a scene is, before anything of it is built.

use super::check::Sketch;
use super::check::show;
use super::error::SceneError;
use super::read::At;
use super::suggest::quoted;
use crate::geometry::{Outline, Shape};
use crate::math::Real;
use std::f64::consts::PI;

/// Memory of one particle itself, and of its rest neighbourhood at a support of two spacings [bytes].
const BYTES_PER_PARTICLE: Real = 240.0;
const BYTES_PER_NEIGHBORHOOD: Real = 960.0;
/// Particles of one scene.
const MOST_PARTICLES: Real = 50e6;
/// Memory assumed where the system does not tell [bytes].
const ASSUMED_MEMORY: Real = 16e9;

/// Size of a scene, estimated from its shapes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    pub particles: Real,
    /// Memory of a run [bytes].
    pub bytes: Real,
}

impl Estimate {
    pub(super) fn new(particles: Real, support: Real) -> Self {
        Estimate { particles, bytes: particles * bytes_per_particle(support) }
    }
}

/// Neighbours grow with the volume of the support.
fn bytes_per_particle(support: Real) -> Real {
    BYTES_PER_PARTICLE + BYTES_PER_NEIGHBORHOOD * (support / 2.0).powi(3)
}

/// Particle spacing [m], and support radius over spacing.
#[derive(Clone, Copy)]
pub(super) struct Resolution {
    pub spacing: Real,
    pub support: Real,
}

/// Particles that fill a shape, about.
pub fn particles(shape: &Shape, spacing: Real) -> Real {
    let s = spacing;
    let number = match shape {
        Shape::Box { size } => size.to_array().iter().map(|side| (side / s).round().max(1.0)).product(),
        Shape::Sheet { size: [length, width], outline, .. } => {
            let filled = match outline {
                Outline::Rectangle => 1.0,
                Outline::Ellipse => PI / 4.0,
            };
            filled * (length / s) * (width / s)
        }
        Shape::Rod { length } => length / s,
        Shape::Particles { cloud } => cloud.points().len() as Real,
        solid => {
            // a thin mesh in a wide box is sampled on a grid over all of the box
            let box_volume = (2.0 * solid.half_extent()).element_product();
            solid.rough_volume().unwrap_or(box_volume).max(box_volume / 64.0) / s.powi(3)
        }
    };
    number.max(1.0)
}

/// Refuses bodies without a particle, and scenes that would not fit into memory. `at` is the whole scene.
pub(super) fn refuse_too_large(
    at: At<'_>,
    resolution: Resolution,
    sketches: &[Sketch],
) -> Result<(), SceneError> {
    let Resolution { spacing, support } = resolution;
    let bodies = at.key("bodies");
    for (index, sketch) in sketches.iter().enumerate() {
        let thickness = sketch.body.shape.thickness();
        // a shape exactly one spacing thick may come out a rounding error thinner
        if thickness < spacing * (1.0 - 1e-9) {
            let name = quoted(&sketch.body.name);
            let message = format!(
                "body {name} is thinner than the spacing of {} m: it holds no particle",
                show(spacing)
            );
            let help = format!("make it thicker, or set simulation.spacing to {} or less", show(thickness));
            return Err(bodies.index(index).key("shape").error(message, help));
        }
    }
    let total =
        |s| sketches.iter().map(|body| body.number() as Real * particles(&body.body.shape, s)).sum::<Real>();
    let most = MOST_PARTICLES.min(memory() / bytes_per_particle(support));
    let estimate = Estimate::new(total(spacing), support);
    if estimate.particles <= most {
        return Ok(());
    }
    let message = format!(
        "the scene would have about {:.2e} particles and need {:.1e} GB of memory; {most:.1e} particles fit here",
        estimate.particles,
        estimate.bytes / 1e9
    );
    let thinnest =
        sketches.iter().map(|sketch| sketch.body.shape.thickness()).fold(Real::INFINITY, Real::min);
    let mut fitting = spacing;
    while total(fitting) > most && fitting <= thinnest {
        fitting *= 1.05;
    }
    let help = match round_up(fitting) {
        fitting if fitting <= thinnest => {
            format!("use a spacing of {} m or more, or smaller bodies", show(fitting))
        }
        _ => "use fewer or smaller bodies".to_owned(),
    };
    Err(at.key("simulation").key("spacing").error(message, help))
}

/// The next number of two digits.
fn round_up(x: Real) -> Real {
    let unit = 10f64.powi(x.log10().floor() as i32 - 1);
    let rounded = (x / unit).ceil() * unit;
    // back through text, so that 0.30000000000000004 reads 0.3
    format!("{rounded:.1e}").parse().unwrap_or(rounded)
}

/// Memory of this machine [bytes].
fn memory() -> Real {
    static MEMORY: std::sync::OnceLock<Real> = std::sync::OnceLock::new();
    *MEMORY.get_or_init(|| {
        let total = std::fs::read_to_string("/proc/meminfo").ok().and_then(|text| total_of(&text));
        total.unwrap_or(ASSUMED_MEMORY)
    })
}

/// `MemTotal:  16384000 kB`
fn total_of(meminfo: &str) -> Option<Real> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kilobytes: Real = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    (kilobytes > 0.0).then_some(kilobytes * 1024.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_read_from_its_line() {
        assert_eq!(total_of("MemTotal:        2 kB\nMemFree: 1 kB\n"), Some(2048.0));
        assert_eq!(total_of("nothing"), None);
        assert!(memory() > 0.0);
    }

    #[test]
    fn a_box_has_the_particles_of_its_lattice() {
        let shape = Shape::Box { size: crate::math::Vec3::new(0.4, 0.2, 0.1) };
        assert_eq!(particles(&shape, 0.1), 8.0);
    }

    #[test]
    fn a_suggested_spacing_has_two_digits() {
        assert_eq!(round_up(0.03417), 0.035);
        assert_eq!(round_up(0.3), 0.3);
    }
}
