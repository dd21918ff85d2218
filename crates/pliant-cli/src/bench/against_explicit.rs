//! [P18, Fig. 5] by implicit and by explicit steps, those of its Table 1. Both kinds take turns: what slows the machine for a
//! while slows both.

use super::{Arguments, iterations, products, rounded};
use pliant::elasticity::Model;
use pliant::scene::{BUNDLED, Scene};
use pliant::simulation::Simulation;
use serde_json::{Value, json};
use std::time::Instant;

const SCENE: &str = "stiff_soft_stiff";
/// The implicit step is that of the scene.
const EXPLICIT_STEP: &str = "simulation.time_step = 1e-5";
/// A part of the motion [s].
const PART: f64 = 0.04;
/// Implicit runs; each has its turn after another quarter of the explicit part.
const RUNS: usize = 4;

/// A simulation and the seconds that its steps took.
struct Timed {
    simulation: Simulation,
    seconds: f64,
}

impl Timed {
    fn new(model: Model, others: &[String]) -> anyhow::Result<Timed> {
        let scene = BUNDLED.iter().find(|scene| scene.name == SCENE).expect("a bundled scene");
        let model = format!("materials.flesh.model = {}", model.name());
        let settings = [&[model], others].concat();
        let scene = Scene::from_toml(SCENE, SCENE, scene.text, &settings)?;
        Ok(Timed { simulation: scene.build()?, seconds: 0.0 })
    }

    fn advance_to(&mut self, time: f64) -> anyhow::Result<()> {
        let start = Instant::now();
        self.simulation.advance_to(time)?;
        self.seconds += start.elapsed().as_secs_f64();
        Ok(())
    }
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<Vec<Value>> {
    let pressure = format!("simulation.pressure = {}", arguments.pressure);
    let mut explicit = Timed::new(Model::Becker2009, &[pressure.clone(), EXPLICIT_STEP.into()])?;
    let mut implicit = Vec::new();
    for model in Model::IMPLICIT {
        let runs: Result<Vec<Timed>, _> =
            (0..RUNS).map(|_| Timed::new(model, std::slice::from_ref(&pressure))).collect();
        implicit.push((model, runs?));
    }
    let parts = (arguments.until / PART).round().max(1.0) as usize;
    for part in 1..=parts {
        let end = part as f64 * PART;
        for run in 0..RUNS {
            explicit.advance_to(end - PART * (RUNS - 1 - run) as f64 / RUNS as f64)?;
            for (_, runs) in &mut implicit {
                runs[run].advance_to(end)?;
            }
        }
    }
    let row = |model: Model, timed: &Timed, seconds: f64| {
        let totals = timed.simulation.solver_totals();
        json!({ "name": "against_explicit", "model": model.name(),
            "pressure": arguments.pressure, "until": rounded(timed.simulation.time()),
            "particles": timed.simulation.particles().len(), "steps": timed.simulation.steps(),
            "seconds": rounded(seconds), "iterations": iterations(&Default::default(), &totals),
            "products": products(&Default::default(), &totals),
            "times_as_fast": rounded(explicit.seconds / seconds) })
    };
    let mut rows = vec![row(Model::Becker2009, &explicit, explicit.seconds)];
    for (model, runs) in &implicit {
        let mean = runs.iter().map(|run| run.seconds).sum::<f64>() / RUNS as f64;
        rows.push(row(*model, &runs[0], mean));
    }
    Ok(rows)
}
