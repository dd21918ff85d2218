//! How long the surfaces of a frame take.

use super::{Arguments, best_and_median, build, rounded};
use pliant::surface::{Matter, RestMesh, Skin, isosurface};
use serde_json::{Value, json};

/// Vertices of the skin, about.
const VERTICES: f64 = 1e5;

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<Vec<Value>> {
    let particles = f64::from(arguments.particles);
    // A ball of radius 1/2: as many spacings across, and cells such that the skin has so many vertices.
    let spacing = (std::f64::consts::PI / 6.0 / particles).cbrt();
    let cell = (1.5 * std::f64::consts::PI / VERTICES).sqrt();
    let simulation = build(&format!(
        "[simulation]\nspacing = {spacing}\nduration = 1\n[materials.m]\nyoungs_modulus = 1e5\npoisson_ratio = 0.3\n\
         [[bodies]]\nmaterial = \"m\"\nshape = {{ type = \"sphere\", radius = 0.5 }}\n"
    ))?;
    let (setup, columns) = (simulation.setup(), simulation.particles());
    let mesh = RestMesh::of_field(&setup.bodies[0].shape, cell);
    let skin = Skin::new(&mesh.vertices, &columns.rest_positions, 2.0 * spacing);
    let matter = Matter { positions: &columns.positions, velocities: &columns.velocities };
    let Some(elastic) = simulation.elastic(0) else { return Ok(Vec::new()) };
    let fits = elastic.affine_fits(matter.positions);
    let (fit_ms, _) = best_and_median(5, || drop(elastic.affine_fits(matter.positions)));
    let (skin_ms, _) = best_and_median(9, || drop(skin.place(&columns.rest_positions, matter, &fits)));
    let flowing = || isosurface(matter.positions, matter.velocities, spacing, 0.5 * spacing);
    let (iso_ms, _) = best_and_median(5, || drop(flowing()));
    Ok(vec![
        json!({
            "bench": "skin", "particles": columns.positions.len(), "vertices": mesh.vertices.len(),
            "ms_affine_maps": rounded(fit_ms), "ms_vertices": rounded(skin_ms),
        }),
        json!({
            "bench": "isosurface", "particles": columns.positions.len(),
            "triangles": flowing().triangles.len(), "ms": rounded(iso_ms),
        }),
    ])
}
