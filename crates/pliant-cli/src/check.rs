//! `pliant check`: what would run.

use clap::Args;
use pliant::geometry::Shape;
use pliant::scene::Scene;
use pliant::simulation::Simulation;
use serde_json::json;
use std::process::ExitCode;
use std::time::Instant;

/// Steps taken to learn how long one takes.
const TRIAL_STEPS: u64 = 20;
/// ... but no longer than this [s].
const TRIAL_SECONDS: f64 = 1.0;

#[derive(Args)]
pub struct Arguments {
    /// Scene file (.toml, or .json of SPlisHSPlasH) or name of a bundled scene
    scene: String,
    /// Override a key: --set materials.jelly.youngs_modulus=1e6
    #[arg(long, value_name = "KEY.PATH=VALUE")]
    set: Vec<String>,
    /// One JSON object instead of words
    #[arg(long)]
    json: bool,
}

pub fn run(arguments: Arguments) -> anyhow::Result<ExitCode> {
    let scene = Scene::load(&arguments.scene, &arguments.set)?;
    let mut simulation = scene.build()?;
    let limit = simulation.time_step_limit();
    let words = simulation.describe(&limit);
    let particles: Vec<(String, usize)> =
        simulation.bodies().iter().map(|b| (b.name.clone(), b.range.len())).collect();
    let total = simulation.particles().len();
    let steps = (scene.duration / limit.dt).ceil();
    let stable: Vec<(String, Option<f64>)> = simulation
        .bodies()
        .iter()
        .map(|b| (b.name.clone(), b.solid.as_ref().and_then(|s| s.stable).map(|s| s.time_step(1.0))))
        .collect();
    let solvers: Vec<Option<&str>> =
        (0..stable.len()).map(|k| simulation.describe_solver(k, limit.dt)).collect();
    let warnings = warnings(&scene, &simulation);
    let ms = milliseconds_per_step(&mut simulation, scene.duration);
    let bytes = simulation.bytes(); // with the factors the first step made
    if arguments.json {
        say!(
            "{}",
            json!({
                "scene": scene.name, "particles": total, "bodies": particles.into_iter().collect::<std::collections::BTreeMap<_, _>>(),
                "memory_bytes": bytes, "bytes_per_particle": bytes / total.max(1),
                "time_step": limit.dt, "limit": words, "criterion": limit.criterion.name(),
                "solvers": names(&simulation).zip(&solvers).collect::<std::collections::BTreeMap<_, _>>(),
                "stable_time_steps": stable.into_iter().collect::<std::collections::BTreeMap<_, _>>(),
                "steps": steps, "ms_per_step": ms, "warnings": warnings, "notes": scene.notes(),
            })
        );
        return Ok(ExitCode::SUCCESS);
    }
    say!("{} ({})", scene.title, scene.name);
    say!("  particles   {total}");
    for (((name, n), (_, dt)), solver) in particles.iter().zip(&stable).zip(&solvers).take(12) {
        match (solver, dt) {
            (Some(solver), _) => say!("    {name:<20} {n:>9}   implicit, solved by {solver}"),
            (None, Some(dt)) => say!("    {name:<20} {n:>9}   stable step {dt:.3e} s"),
            (None, None) => say!("    {name:<20} {n:>9}"),
        }
    }
    if particles.len() > 12 {
        say!("    ... and {} more bodies", particles.len() - 12);
    }
    say!("  memory      {:.1} MB ({} bytes a particle)", bytes as f64 / 1e6, bytes / total.max(1));
    say!("  time step   {:.3e} s, limited by {words}", limit.dt);
    say!("  steps       about {steps:.0} for {} s", scene.duration);
    match ms {
        Some(ms) => say!("  wall time   about {:.1} s ({ms:.3} ms a step)", steps * ms * 1e-3),
        None => say!("  wall time   unknown: the first steps fail"),
    }
    for warning in &warnings {
        say!("  warning     {warning}");
    }
    for note in scene.notes() {
        say!("  note        {note}");
    }
    Ok(ExitCode::SUCCESS)
}

fn names(simulation: &Simulation) -> impl Iterator<Item = &str> {
    simulation.bodies().iter().map(|body| body.name.as_str())
}

fn milliseconds_per_step(simulation: &mut Simulation, until: f64) -> Option<f64> {
    let start = Instant::now();
    while simulation.steps() < TRIAL_STEPS && simulation.time() < until {
        simulation.step(until).ok()?;
        if start.elapsed().as_secs_f64() > TRIAL_SECONDS {
            break;
        }
    }
    Some(start.elapsed().as_secs_f64() * 1e3 / simulation.steps().max(1) as f64)
}

/// What a careful user would want to hear.
fn warnings(scene: &Scene, simulation: &Simulation) -> Vec<String> {
    let mut warnings = Vec::new();
    for (k, solid) in simulation.solids() {
        let body = &simulation.bodies()[k];
        let name = &body.name;
        if solid.method.model == pliant::elasticity::Model::Solenthaler2007 {
            warnings
                .push(format!("\"{name}\" uses solenthaler2007, which resists rotation; mls2004 does not"));
        }
        if body.range.len() > 1 && solid.elastic.pairs() == 0 {
            warnings.push(format!("particles of \"{name}\" have no neighbours: it has no stiffness"));
        }
    }
    for body in &scene.setup.bodies {
        if let Shape::Mesh { mesh } = &body.shape {
            warnings.extend(mesh.warnings().iter().map(|warning| format!("\"{}\": {warning}", body.name)));
        }
    }
    if scene.output.formats.is_empty() {
        warnings.push("output.formats is empty: no frames and no movie, only preview.png".into());
    }
    warnings
}
