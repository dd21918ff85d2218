//! `pliant bench`: how fast, how linear, how near the memory's limit, how much memory.

mod against_explicit;
mod formats;
mod peers;
mod surfaces;

use crate::complain::BadInput;
use clap::Args;
use pliant::elasticity::{Model, PartReport, SolvePart};
use pliant::scene::Scene;
use pliant::simulation::{Simulation, SolverTotals};
use serde_json::{Value, json};
use std::process::ExitCode;
use std::time::Instant;

#[derive(Args)]
pub struct Arguments {
    /// Benchmarks to run [default: all but those of minutes]: becker_beam, peer_beam, kugelstadt_beam, cuboids,
    /// stiffness, scaling, threads, bandwidth, memory, formats, surfaces; of minutes: against_explicit, peers
    names: Vec<String>,
    /// One JSON object a line
    #[arg(long)]
    json: bool,
    /// Threads [default: one per core]
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
    /// Particles of the beam or of a frame, about
    #[arg(long, default_value_t = 10_976, value_parser = clap::value_parser!(u32).range(32..=20_000_000))]
    particles: u32,
    /// Zero-energy control of the beam [default: 0, kugelstadt2021 0.1]
    #[arg(long, value_parser = non_negative)]
    zero_energy: Option<f64>,
    /// Relative residual of implicit solves
    #[arg(long, default_value_t = 1e-4, value_parser = tolerance)]
    tolerance: f64,
    /// Instead of it, mean residual of a particle over its mass [m/s]
    #[arg(long, value_parser = tolerance)]
    absolute_tolerance: Option<f64>,
    /// Young's modulus of the beam [Pa]
    #[arg(long, default_value_t = 5e6, value_parser = modulus)]
    youngs_modulus: f64,
    /// How particles meet in against_explicit: by impulses (none), or by the pressure that the paper has, which takes long
    #[arg(long, default_value = "none", value_parser = ["none", "iisph"])]
    pressure: String,
    /// Time until which against_explicit goes [s]: the body is as soft as it gets at 1.6, and done at 4.2
    #[arg(long, default_value_t = 1.6, value_parser = end_time)]
    until: f64,
}

fn non_negative(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if (0.0..=10.0).contains(&value) => Ok(value),
        _ => Err("a number from 0 to 10".into()),
    }
}

fn tolerance(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if (1e-6..=0.1).contains(&value) => Ok(value),
        _ => Err("a number from 1e-6 to 0.1".into()),
    }
}

fn modulus(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if (1.0..=1e12).contains(&value) => Ok(value),
        _ => Err("a number from 1 to 1e12".into()),
    }
}

fn end_time(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if (0.04..=4.2).contains(&value) => Ok(value),
        _ => Err("a number from 0.04 to 4.2".into()),
    }
}

type Bench = fn(&Arguments) -> anyhow::Result<Vec<Value>>;
const BENCHES: [(&str, Bench); 11] = [
    ("becker_beam", becker_beam),
    ("peer_beam", peer_beam),
    ("kugelstadt_beam", kugelstadt_beam),
    ("cuboids", cuboids),
    ("stiffness", stiffness),
    ("scaling", scaling),
    ("threads", threads),
    ("bandwidth", bandwidth),
    ("memory", memory),
    ("formats", formats::run),
    ("surfaces", surfaces::run),
];

/// Those that run only if they are named.
const LONG_BENCHES: [(&str, Bench); 2] = [("against_explicit", against_explicit::run), ("peers", peers::run)];

pub fn run(arguments: Arguments) -> anyhow::Result<ExitCode> {
    for name in &arguments.names {
        let known: Vec<&str> = BENCHES.iter().chain(&LONG_BENCHES).map(|(name, _)| *name).collect();
        if !known.contains(&name.as_str()) {
            return Err(BadInput(format!("no benchmark \"{name}\"; there are {}", known.join(", "))).into());
        }
    }
    let is_named = |name: &str| arguments.names.iter().any(|n| n == name);
    let short = BENCHES.iter().filter(|(name, _)| arguments.names.is_empty() || is_named(name));
    for (_, bench) in short.chain(LONG_BENCHES.iter().filter(|(name, _)| is_named(name))) {
        for row in bench(&arguments)? {
            if arguments.json {
                say!("{row}");
                continue;
            }
            let words: Vec<String> =
                row.as_object().into_iter().flatten().map(|(k, v)| format!("{k} {v}")).collect();
            say!("{}", words.join("  "));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// A time no benchmark reaches [s].
const FAR: f64 = 1e6;

fn build(text: &str) -> anyhow::Result<Simulation> {
    Ok(Scene::from_toml("bench", "bench", text, &[])?.build()?)
}

/// Milliseconds of the quickest and of the middle of `repeats` runs.
fn best_and_median(repeats: usize, mut work: impl FnMut()) -> (f64, f64) {
    let mut times: Vec<f64> = (0..repeats)
        .map(|_| {
            let start = Instant::now();
            work();
            start.elapsed().as_secs_f64() * 1e3
        })
        .collect();
    times.sort_by(f64::total_cmp);
    (times[0], times[repeats / 2])
}

fn rounded(x: f64) -> f64 {
    (x * 1e4).round() / 1e4
}

fn repeats(particles: usize) -> usize {
    (4_000_000 / particles).clamp(10, 400)
}

/// Steps; milliseconds (best, median) of the elastic force and of the whole step.
fn step_times(simulation: &mut Simulation) -> anyhow::Result<[(f64, f64); 2]> {
    let repeats = repeats(simulation.particles().len());
    let (mut force, mut step) = (Vec::new(), Vec::new());
    for _ in 0..repeats {
        let (before, start) = (simulation.stage_times().elasticity, Instant::now());
        simulation.step(FAR)?;
        step.push(start.elapsed().as_secs_f64() * 1e3);
        force.push(simulation.stage_times().elasticity - before);
    }
    Ok([force, step].map(|mut times| {
        times.sort_by(f64::total_cmp);
        (times[0], times[repeats / 2])
    }))
}

fn becker_beam(arguments: &Arguments) -> anyhow::Result<Vec<Value>> {
    beam("becker_beam", Model::Becker2009, arguments)
}

fn peer_beam(arguments: &Arguments) -> anyhow::Result<Vec<Value>> {
    beam("peer_beam", Model::Peer2018, arguments)
}

fn kugelstadt_beam(arguments: &Arguments) -> anyhow::Result<Vec<Value>> {
    beam("kugelstadt_beam", Model::Kugelstadt2021, arguments)
}

/// A clamped beam 4:1:1: the comparison with peers. Implicit models take steps of 2 ms.
fn beam(name: &str, model: Model, arguments: &Arguments) -> anyhow::Result<Vec<Value>> {
    let zero_energy = arguments.zero_energy.unwrap_or(if model == Model::Kugelstadt2021 { 0.1 } else { 0.0 });
    let across = (arguments.particles as f64 / 4.0).cbrt().round().max(2.0);
    let start = Instant::now();
    let tolerance = match arguments.absolute_tolerance {
        _ if !model.is_implicit() => String::new(),
        Some(absolute) => format!("absolute_tolerance = {absolute:?}, "),
        None => format!("tolerance = {:?}, ", arguments.tolerance),
    };
    let mut simulation = build(&format!(
        "simulation = {{ spacing = {}, duration = 10, time_step = 0.002, kernel = \"cubic_spline\",
                         contact = {{ between_bodies = false, within_body = false }} }}
         materials.beam = {{ model = \"{}\", {tolerance}youngs_modulus = {:?}, poisson_ratio = 0.33, zero_energy = {:?} }}
         bodies = [{{ name = \"beam\", material = \"beam\", shape = {{ type = \"box\", size = [4, 1, 1] }},
                     pins = [{{ region = {{ type = \"box\", min = [-9, -9, -9], max = [-1, 9, 9] }} }}] }}]",
        1.0 / across,
        model.name(),
        arguments.youngs_modulus,
        zero_energy
    ))?;
    simulation.step(FAR)?; // makes the factor
    let setup_s = start.elapsed().as_secs_f64();
    for _ in 0..20 {
        simulation.step(FAR)?;
    }
    let before = simulation.solver_totals();
    let [(ms_force, ms_force_median), (ms_step, ms_step_median)] = step_times(&mut simulation)?;
    let pairs = simulation.elastic(0).expect("the scene has one solid").pairs();
    Ok(vec![json!({
        "name": name, "particles": simulation.particles().len(), "pairs": pairs,
        "threads": rayon::current_num_threads(), "zero_energy": zero_energy,
        "youngs_modulus": arguments.youngs_modulus,
        "ms_force": rounded(ms_force), "ms_force_median": rounded(ms_force_median),
        "ms_step": rounded(ms_step), "ms_step_median": rounded(ms_step_median),
        "ns_per_pair": rounded(ms_force * 1e6 / pairs as f64), "setup_s": rounded(setup_s),
        "peak_memory_mb": pliant::run::peak_memory_mb(),
        "iterations": iterations(&before, &simulation.solver_totals()),
        "products": products(&before, &simulation.solver_totals()),
    })])
}

/// A cube held at one side, of constant spacing and stiffness, in steps of 2 ms.
fn held_cube(model: Model, across: usize, youngs_modulus: f64) -> anyhow::Result<Simulation> {
    let side = 0.05 * across as f64;
    let mut simulation = build(&format!(
        "simulation = {{ spacing = 0.05, duration = 10, time_step = 0.002,
                         contact = {{ between_bodies = false, within_body = false }} }}
         materials.m = {{ model = \"{}\", youngs_modulus = {youngs_modulus:?} }}
         bodies = [{{ name = \"cube\", material = \"m\", shape = {{ type = \"box\", size = [{side}, {side}, {side}] }},
                     pins = [{{ region = {{ type = \"box\", min = [-99, -99, -99], max = [{}, 99, 99] }} }}] }}]",
        model.name(),
        0.1 - 0.5 * side,
    ))?;
    for _ in 0..3 {
        simulation.step(FAR)?;
    }
    Ok(simulation)
}

/// Milliseconds of the quickest of so many steps.
fn best_step(simulation: &mut Simulation, steps: usize) -> anyhow::Result<f64> {
    let mut best = f64::INFINITY;
    for _ in 0..steps {
        let start = Instant::now();
        simulation.step(FAR)?;
        best = best.min(start.elapsed().as_secs_f64() * 1e3);
    }
    Ok(best)
}

/// Implicit solves from soft to stiff, at a fixed step.
fn stiffness(_: &Arguments) -> anyhow::Result<Vec<Value>> {
    let mut rows = Vec::new();
    for model in Model::IMPLICIT {
        for youngs_modulus in [1e4, 1e5, 1e6, 1e7, 1e8] {
            let mut simulation = held_cube(model, 22, youngs_modulus)?;
            let before = simulation.solver_totals();
            let started = Instant::now();
            let best = best_step(&mut simulation, 200)?;
            let mean = started.elapsed().as_secs_f64() * 1e3 / 200.0;
            rows.push(json!({ "name": "stiffness", "model": model.name(), "youngs_modulus": youngs_modulus,
                "solver": simulation.describe_solver(0, 0.002), "ms_step": rounded(best),
                "ms_step_mean": rounded(mean), "particles": simulation.particles().len(),
                "iterations": iterations(&before, &simulation.solver_totals()),
                "products": products(&before, &simulation.solver_totals()) }));
        }
    }
    Ok(rows)
}

/// Implicit steps from ten thousand particles to a million, of constant spacing and stiffness: the mean of the same 50 steps
/// of every size, each step as quick as in the quickest of several runs. Sizes take turns: what slows the machine for a
/// while slows all of them.
fn scaling(_: &Arguments) -> anyhow::Result<Vec<Value>> {
    const ROUNDS: usize = 4;
    let mut rows = Vec::new();
    for model in Model::IMPLICIT {
        let mut sizes = [22, 37, 51, 100].map(|across| SteppedCube {
            across,
            quickest: [f64::INFINITY; _],
            peak_memory_mb: None,
            row: Value::Null,
        });
        for _ in 0..ROUNDS {
            for size in &mut sizes {
                size.run(model)?;
            }
        }
        let ns = sizes.each_ref().map(SteppedCube::ns_per_particle);
        let (least, most) =
            (ns.into_iter().fold(f64::INFINITY, f64::min), ns.into_iter().fold(0.0, f64::max));
        rows.extend(sizes.map(|size| size.row));
        rows.push(json!({ "name": "scaling_linearity", "model": model.name(),
            "largest_deviation": rounded((most - least) / (most + least)) }));
    }
    Ok(rows)
}

/// The first steps of a held cube, in several runs.
struct SteppedCube {
    across: usize,
    /// Milliseconds of each step in the run where it was quickest.
    quickest: [f64; 50],
    /// After the first run: that of the larger sizes comes later.
    peak_memory_mb: Option<f64>,
    /// What the last run tells.
    row: Value,
}

impl SteppedCube {
    fn particles(&self) -> usize {
        self.across.pow(3)
    }

    fn ms_step(&self) -> f64 {
        self.quickest.iter().sum::<f64>() / self.quickest.len() as f64
    }

    fn ns_per_particle(&self) -> f64 {
        self.ms_step() * 1e6 / self.particles() as f64
    }

    /// Steps it as often as takes about as long as any other size.
    fn run(&mut self, model: Model) -> anyhow::Result<()> {
        for _ in 0..(300_000 / self.particles()).clamp(1, 8) {
            let mut simulation = held_cube(model, self.across, 1e6)?;
            let before = simulation.solver_totals();
            for quickest in &mut self.quickest {
                *quickest = quickest.min(best_step(&mut simulation, 1)?);
            }
            self.peak_memory_mb = self.peak_memory_mb.or_else(pliant::run::peak_memory_mb);
            self.row = json!({ "name": "scaling", "model": model.name(), "particles": self.particles(),
                "ms_step": rounded(self.ms_step()), "ns_per_particle": rounded(self.ns_per_particle()),
                "solver": simulation.describe_solver(0, 0.002),
                "iterations": iterations(&before, &simulation.solver_totals()),
                "peak_memory_mb": self.peak_memory_mb });
        }
        Ok(())
    }
}

/// One thread against two, in turns.
fn threads(_: &Arguments) -> anyhow::Result<Vec<Value>> {
    let mut rows = Vec::new();
    let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let (one, two) = (pool(1)?, pool(2)?);
    for model in [Model::Mls2004, Model::Becker2009, Model::Peer2018, Model::Kugelstadt2021] {
        let mut simulation = held_cube(model, 51, 1e6)?;
        let (mut on_one, mut on_two) = (f64::INFINITY, f64::INFINITY);
        for _ in 0..12 {
            for (pool, best) in [(&one, &mut on_one), (&two, &mut on_two)] {
                let start = Instant::now();
                pool.install(|| simulation.step(FAR))?;
                *best = best.min(start.elapsed().as_secs_f64() * 1e3);
            }
        }
        rows.push(
            json!({ "name": "threads", "model": model.name(), "particles": simulation.particles().len(),
            "ms_step_one_thread": rounded(on_one), "ms_step_two_threads": rounded(on_two),
            "ratio": rounded(on_one / on_two) }),
        );
    }
    Ok(rows)
}

/// Mean iterations a solve of each system, between two moments.
fn iterations(before: &SolverTotals, after: &SolverTotals) -> Value {
    mean_of(before, after, |report| report.iterations)
}

/// Mean products a solve of each system with its matrix.
fn products(before: &SolverTotals, after: &SolverTotals) -> Value {
    mean_of(before, after, |report| report.products)
}

fn mean_of(before: &SolverTotals, after: &SolverTotals, count: fn(&PartReport) -> usize) -> Value {
    let mean = |part: SolvePart| {
        let (a, b) = (before.part(part), after.part(part));
        let solves = (b.solves - a.solves) as f64;
        (solves > 0.0).then(|| (part.name(), rounded((count(&b) - count(&a)) as f64 / solves)))
    };
    SolvePart::ALL.into_iter().filter_map(mean).map(|(k, v)| (k.to_string(), json!(v))).collect()
}

/// B09 fig. 2: cuboids of 1000 particles, spacing 0.1, support 0.2, linear strain.
fn cuboids(_: &Arguments) -> anyhow::Result<Vec<Value>> {
    let mut rows = Vec::new();
    let mut at_most = Vec::new();
    for model in Model::EXPLICIT {
        let (mut least, mut most) = (f64::INFINITY, 0.0f64);
        for count in [10usize, 25, 50, 100] {
            let mut simulation = build(&format!(
                "simulation = {{ spacing = 0.1, duration = 10, contact = {{ between_bodies = false, within_body = false }} }}
                 materials.m = {{ model = \"{}\", youngs_modulus = 1e5, zero_energy = 0 }}
                 bodies = [{{ name = \"c\", material = \"m\", shape = {{ type = \"box\", size = [1, 1, 1] }},
                             array = {{ count = [{count}, 1, 1], step = [2, 0, 0] }} }}]",
                model.name()
            ))?;
            let [(best, _), _] = step_times(&mut simulation)?;
            let ns = best * 1e6 / (1000 * count) as f64;
            rows.push(json!({ "name": "cuboids", "model": model.name(), "cuboids": count,
                "particles": 1000 * count, "ms_force": rounded(best), "ns_per_particle": rounded(ns) }));
            (least, most) = (least.min(ns), most.max(ns));
            if count == 100 {
                at_most.push(best);
            }
        }
        // From the line through the origin that fits best.
        rows.push(json!({ "name": "cuboids_linearity", "model": model.name(),
            "largest_deviation": rounded((most - least) / (most + least)) }));
    }
    let ratio = |k: usize| rounded(at_most[k] / at_most[0]);
    rows.push(
        json!({ "name": "cuboids_ratio", "solenthaler2007": 1.0, "mls2004": ratio(1), "becker2009": ratio(2),
        "paper": "Becker 2.0 times Solenthaler (B09, section 6.1); MLS only drawn" }),
    );
    Ok(rows)
}

/// Bytes the force streams per second, next to what the memory gives a plain triad in the same process.
fn bandwidth(_: &Arguments) -> anyhow::Result<Vec<Value>> {
    let triad = triad_gb_per_s();
    let mut rows = Vec::new();
    for model in Model::EXPLICIT {
        let mut simulation = build(&format!(
            "simulation = {{ spacing = 0.02, duration = 1 }}
             materials.m = {{ model = \"{}\", youngs_modulus = 1e6 }}
             bodies = [{{ material = \"m\", shape = {{ type = \"box\", size = [1, 1, 1] }} }}]",
            model.name()
        ))?;
        let [(ms, _), _] = step_times(&mut simulation)?;
        let elastic = simulation.elastic(0).expect("the scene has one solid");
        // Pair rows are read in both passes; per particle, what each pass reads and writes once.
        let pairs = elastic.padded_pairs() * (16 + 20);
        let columns = simulation.particles().len() * (48 + 24 + 16 + 64 + 60 + 16 + 64 + 12);
        let rate = (pairs + columns) as f64 / ms * 1e-6;
        rows.push(
            json!({ "name": "bandwidth", "model": model.name(), "particles": simulation.particles().len(),
            "ms_force": rounded(ms), "gb_per_s": rounded(rate), "triad_gb_per_s": rounded(triad),
            "share_of_triad": rounded(rate / triad) }),
        );
    }
    Ok(rows)
}

fn triad_gb_per_s() -> f64 {
    use rayon::prelude::*;
    let n = 8 << 20;
    let (b, c) = (vec![1f64; n], vec![2f64; n]);
    let mut a = vec![0f64; n];
    let (ms, _) = best_and_median(10, || {
        a.par_chunks_mut(1 << 16).zip(b.par_chunks(1 << 16)).zip(c.par_chunks(1 << 16)).for_each(
            |((a, b), c)| {
                for ((a, b), c) in a.iter_mut().zip(b).zip(c) {
                    *a = b + 3.0 * c;
                }
            },
        );
    });
    std::hint::black_box(&a);
    (3 * 8 * n) as f64 / ms * 1e-6
}

/// Peak memory per particle of an explicit body in a whole run: steps, contact, frames, checkpoint, pictures.
fn memory(_: &Arguments) -> anyhow::Result<Vec<Value>> {
    struct Silent;
    impl pliant::run::Observer for Silent {
        fn on(&mut self, _: pliant::run::Event<'_>) {}
    }
    let before = resident_mb();
    let text = "simulation = { spacing = 0.0125, duration = 0.004 }
         output = { fps = 500 }
         materials.m = { model = \"becker2009\", youngs_modulus = 1e6 }
         bodies = [{ material = \"m\", shape = { type = \"box\", size = [1, 1, 1] }, position = [0, 0.505, 0] }]
         rigids = [{ shape = { type = \"plane\", normal = [0, 1, 0] } }]";
    let scene = Scene::from_toml("memory", "memory", text, &[])?;
    let dir = std::env::temp_dir().join(format!("pliant-bench-{}", std::process::id()));
    let options =
        pliant::run::RunOptions { dir: dir.clone(), frames: None, resume: false, factor_cache: None };
    let summary = pliant::run::run(&scene, &options, &mut Silent);
    std::fs::remove_dir_all(&dir).ok();
    let n = summary?.total_particles;
    let peak = pliant::run::peak_memory_mb();
    let bytes = peak.zip(before).map(|(peak, before)| (peak - before) * 1024.0 * 1024.0 / n as f64);
    Ok(vec![json!({ "name": "memory", "particles": n, "peak_bytes_per_particle": bytes.map(rounded) })])
}

fn resident_mb() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
    line.split_whitespace().nth(1)?.parse::<f64>().ok().map(|kb| kb / 1024.0)
}
