//! `pliant sample`: a mesh filled with particles.

use crate::complain::BadInput;
use anyhow::Context;
use clap::{Args, ValueEnum};
use pliant::geometry::{Sampling, SamplingReport, Shape, SolidMesh};
use pliant::math::Vec3;
use pliant::output::{Field, Frame, FrameBody, Values, encode, extension, write_atomically};
use pliant::scene::{Format, OutputSettings};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

/// Particles of one file.
const MOST_PARTICLES: f64 = 50e6;

#[derive(Args)]
pub struct Arguments {
    /// Mesh file: .obj, .ply, .stl, .gltf or .glb
    mesh: PathBuf,
    /// Particle spacing [m]
    #[arg(long)]
    spacing: f64,
    /// Where to write the particles; the end of the name tells the format: .vtu, .ply, .csv, .npz, .bgeo, ...
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// How the mesh is filled
    #[arg(long, value_enum, default_value = "relaxed")]
    sampling: Way,
    /// Metres for one unit of the file
    #[arg(long, default_value_t = 1.0)]
    scale: f64,
    /// Seed of random choices
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// One JSON object instead of words
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum Way {
    Lattice,
    Ccp,
    Poisson,
    Relaxed,
}

pub fn run(arguments: Arguments) -> anyhow::Result<ExitCode> {
    let start = Instant::now();
    let format = format(&arguments.output)?;
    let spacing = positive(arguments.spacing, "--spacing")?;
    let scale = positive(arguments.scale, "--scale")?;
    let mesh = SolidMesh::load(&arguments.mesh, Vec3::splat(scale), false)
        .map_err(|error| BadInput(error.to_string()))?;
    refuse_too_many(&mesh, spacing)?;
    let seed = arguments.seed;
    let sampling = match arguments.sampling {
        Way::Lattice => Sampling::Lattice,
        Way::Ccp => Sampling::Ccp,
        Way::Poisson => Sampling::Poisson { seed },
        Way::Relaxed => Sampling::Relaxed { seed },
    };
    let warnings = mesh.warnings().to_vec();
    let shape = Shape::Mesh { mesh };
    let points = shape.sample(spacing, sampling);
    if points.is_empty() {
        return Err(BadInput("the mesh is thinner than a spacing; use a smaller --spacing".into()).into());
    }
    let report = SamplingReport::new(&shape, spacing, &points);
    let settings = OutputSettings { fps: 1.0, formats: vec![format], compress: false, checkpoint_every: 1.0 };
    let bytes = encode(&frame(&points, spacing), format, &settings);
    write_atomically(&arguments.output, &bytes).context("the particles could not be written")?;
    print(&arguments, &report, &warnings, start.elapsed().as_secs_f64());
    Ok(ExitCode::SUCCESS)
}

/// Of the box around the mesh as well: it is what the mesh is sampled on.
fn refuse_too_many(mesh: &SolidMesh, spacing: f64) -> anyhow::Result<()> {
    let (lo, hi) = mesh.bounds();
    let box_volume = (hi - lo).element_product();
    let number = mesh.volume().max(box_volume / 64.0) / spacing.powi(3);
    if number < MOST_PARTICLES {
        return Ok(());
    }
    let message = format!("the mesh would hold about {number:.1e} particles; use a larger --spacing");
    Err(BadInput(message).into())
}

fn positive(number: f64, flag: &str) -> anyhow::Result<f64> {
    if (1e-9..1e9).contains(&number) {
        return Ok(number);
    }
    Err(BadInput(format!("{flag} must be a number above zero, but is {number}; write {flag} 0.02")).into())
}

fn format(path: &Path) -> anyhow::Result<Format> {
    let end = path.extension().and_then(|end| end.to_str()).unwrap_or_default();
    let known = Format::ALL.iter().find(|(format, _)| extension(*format) == end);
    let ends = || Format::ALL.map(|(format, _)| format!(".{}", extension(format))).join(", ");
    let unknown =
        || BadInput(format!("{}: no format known here; end the name in {}", path.display(), ends()));
    Ok(known.ok_or_else(unknown)?.0)
}

fn frame(points: &[Vec3], spacing: f64) -> Frame {
    Frame {
        index: 0,
        time: 0.0,
        bodies: vec![FrameBody { name: "particles".into(), count: points.len() }],
        positions: points.iter().map(|p| p.to_array().map(|x| x as f32)).collect(),
        fields: vec![Field {
            name: "id".into(),
            values: Values::Integers((0..points.len() as i32).collect()),
        }],
        spacing: Some(spacing as f32),
        faces: None,
    }
}

fn print(arguments: &Arguments, report: &SamplingReport, warnings: &[String], seconds: f64) {
    if arguments.json {
        say!(
            "{}",
            json!({
                "particles": report.particles, "volume": report.volume, "volume_error": report.volume_error,
                "density_spread": report.density_spread, "surface_depth": report.surface_depth,
                "surface_spread": report.surface_spread, "nearest": report.nearest, "seconds": seconds,
                "warnings": warnings,
            })
        );
        return;
    }
    let percent = |x: f64| 100.0 * x;
    let SamplingReport { surface_depth, surface_spread, .. } = report;
    say!("{} particles in {}", report.particles, arguments.output.display());
    say!("  volume          {:.4e} m3, met to {:.2} %", report.volume, percent(report.volume_error));
    say!("  density         even to {:.2} %", percent(report.density_spread));
    say!("  outer layer     {surface_depth:.2} ± {surface_spread:.2} spacings below the surface");
    say!("  nearest pair    {:.2} spacings", report.nearest);
    say!("  wall time       {seconds:.2} s");
    for warning in warnings {
        say!("  warning         {warning}");
    }
}
