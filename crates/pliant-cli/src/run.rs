//! `pliant run`: a scene into a folder, with a progress bar or JSON lines.

use crate::complain::{self, BadInput};
use clap::Args;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use pliant::run::{Event, Observer, RunOptions, Summary};
use pliant::scene::{self, Scene};
use serde_json::json;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

#[derive(Args, Default)]
pub struct Arguments {
    /// Scene file (.toml, or .json of SPlisHSPlasH) or name of a bundled scene; none: the bundled default
    scene: Option<String>,
    /// Folder for the results [default: runs/SCENE]
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Stop after this many frames
    #[arg(long)]
    frames: Option<u32>,
    /// Threads [default: one per core]
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
    /// Override a key: --set materials.jelly.youngs_modulus=1e6
    #[arg(long, value_name = "KEY.PATH=VALUE")]
    set: Vec<String>,
    /// Go on from the last checkpoint in the folder
    #[arg(long)]
    resume: bool,
    /// One JSON object a line on standard output
    #[arg(long)]
    json: bool,
}

pub fn run(arguments: Arguments) -> anyhow::Result<ExitCode> {
    let json = arguments.json;
    let result = run_scene(&arguments);
    if let (true, Err(error)) = (json, &result) {
        say!(
            "{}",
            json!({ "event": "error", "message": complain::words(error), "exit_code": complain::code(error) })
        );
    }
    result
}

fn run_scene(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let name = arguments.scene.as_deref().unwrap_or(scene::default_scene());
    let scene = Scene::load(name, &arguments.set)?;
    tell_notes(&scene, arguments.json);
    let dir = arguments.output.clone().unwrap_or_else(|| Path::new("runs").join(&scene.name));
    refuse_foreign_folder(&dir)?;
    let options = RunOptions {
        dir: dir.clone(),
        frames: arguments.frames,
        resume: arguments.resume,
        factor_cache: factor_cache(),
    };
    let stop = stop_flag();
    let mut watcher = Watcher::new(arguments.json, &scene, stop);
    let summary = pliant::run::run(&scene, &options, &mut watcher)?;
    watcher.bar.finish_and_clear();
    if arguments.json {
        say!("{}", json!({ "event": "done", "dir": dir, "summary": summary }));
    } else {
        print_end(&summary, &dir);
        if summary.stopped_early {
            say!("stopped; go on with:  {}", resuming(name, &dir, arguments));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// What could not be taken over from the scene of another program.
fn tell_notes(scene: &Scene, json: bool) {
    for note in scene.notes() {
        match json {
            true => say!("{}", json!({ "event": "note", "message": note })),
            false => eprintln!("note: {note}"),
        }
    }
}

/// Nothing of a user's is overwritten: a folder that holds something else than a run is refused.
fn refuse_foreign_folder(dir: &Path) -> anyhow::Result<()> {
    let refuse = |why: String| Err(BadInput(why).into());
    if dir.exists() && !dir.is_dir() {
        return refuse(format!("{} is a file; -o takes a folder", dir.display()));
    }
    let mut entries = match std::fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return refuse(format!("{}: {error}; choose another folder with -o", dir.display())),
    };
    // A run makes `frames` before it stores its scene, and may have been killed between the two.
    let of_a_run = dir.join("scene.toml").exists() && dir.join("frames").exists();
    let foreign = |name: &OsStr| name != "frames" && !pliant::output::is_temporary(Path::new(name));
    if !of_a_run && entries.any(|entry| entry.is_ok_and(|entry| foreign(&entry.file_name()))) {
        return refuse(format!(
            "{} holds other files and is no folder of a run; choose another with -o",
            dir.display()
        ));
    }
    Ok(())
}

/// Set by the first Ctrl-C; the second ends the program at once.
fn stop_flag() -> Arc<AtomicBool> {
    let stop = Arc::new(AtomicBool::new(false));
    let flag = stop.clone();
    let handler = move || {
        if flag.swap(true, Ordering::SeqCst) {
            std::process::exit(130);
        }
        eprintln!("\nfinishing this frame and writing a checkpoint; Ctrl-C again ends at once");
    };
    // Without a handler Ctrl-C ends the program, and the last checkpoint still serves.
    let _ = ctrlc::set_handler(handler);
    stop
}

/// Draws the progress bar or prints the events.
struct Watcher {
    json: bool,
    bar: ProgressBar,
    stop: Arc<AtomicBool>,
    duration: f64,
    drawing: bool,
}

impl Watcher {
    fn new(json: bool, scene: &Scene, stop: Arc<AtomicBool>) -> Self {
        let bar = ProgressBar::with_draw_target(
            Some(1),
            if json { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() },
        );
        let style = ProgressStyle::with_template("{prefix} [{bar:30}] {percent:>3} %  {msg}  {eta} left");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("=> "));
        bar.set_prefix(scene.name.clone());
        Watcher { json, bar, stop, duration: scene.duration, drawing: false }
    }
}

impl Observer for Watcher {
    fn stop_requested(&self) -> bool {
        self.stop.load(Ordering::SeqCst)
    }

    fn on(&mut self, event: Event<'_>) {
        match event {
            Event::Started { simulation, frames, resumed_at } => {
                let particles = simulation.active_particles();
                self.bar.set_length(1000 * frames as u64);
                if self.json {
                    say!(
                        "{}",
                        json!({ "event": "started", "particles": particles, "frames": frames,
                                "duration": self.duration, "resumed_at": resumed_at })
                    );
                } else {
                    match resumed_at {
                        Some(t) => eprintln!("{particles} particles, going on from t = {t:.4} s"),
                        None => eprintln!("{particles} particles"),
                    }
                }
            }
            Event::Step(p) => {
                let part = p.simulation.time() / self.duration;
                self.bar.set_position((part * 1000.0 * p.frames as f64) as u64);
                if !self.json && p.simulation.steps() % 16 == 0 {
                    self.bar.set_message(format!(
                        "t = {:.3} s  step {}  {} particles  {:.2} ms/step  dt {:.1e} s ({})",
                        p.simulation.time(),
                        p.simulation.steps(),
                        p.simulation.active_particles(),
                        p.ms_per_step,
                        p.dt,
                        p.simulation.describe(p.limit),
                    ));
                }
                if self.json && p.simulation.steps() % 256 == 0 {
                    say!(
                        "{}",
                        json!({ "event": "progress", "time": p.simulation.time(), "step": p.simulation.steps(),
                                "frame": p.frame, "dt": p.dt, "ms_per_step": p.ms_per_step,
                                "limit": p.simulation.describe(p.limit) })
                    );
                }
            }
            Event::Frame { frame, time } if self.json => {
                say!("{}", json!({ "event": "frame", "frame": frame, "time": time }));
            }
            Event::Frame { .. } => {}
            Event::Warning(text) if self.json => {
                say!("{}", json!({ "event": "warning", "message": text }))
            }
            Event::Warning(text) => self.bar.suspend(|| eprintln!("warning: {text}")),
            Event::Drawing { done, of } => {
                if !self.drawing {
                    self.drawing = true;
                    self.bar.set_length(of as u64);
                    self.bar.reset();
                }
                self.bar.set_position(done as u64);
                self.bar.set_message("drawing the movie");
                if self.json {
                    say!("{}", json!({ "event": "drawing", "done": done, "of": of }));
                }
            }
        }
    }
}

/// The command that goes on with a stopped run.
fn resuming(scene: &str, dir: &Path, arguments: &Arguments) -> String {
    let mut command = format!("pliant run {} -o {}", shell_word(scene), shell_word(&dir.to_string_lossy()));
    for setting in &arguments.set {
        command += &format!(" --set {}", shell_word(setting));
    }
    if let Some(frames) = arguments.frames {
        command += &format!(" --frames {frames}");
    }
    command + " --resume"
}

/// The text as one word of a shell.
fn shell_word(text: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "_-./=,:+@%".contains(c);
    match !text.is_empty() && text.chars().all(is_plain) {
        true => text.to_string(),
        false => format!("'{}'", text.replace('\'', "'\\''")),
    }
}

fn print_end(summary: &Summary, dir: &Path) {
    let total = summary.ms_per_step.get("total").copied().unwrap_or(0.0);
    say!(
        "{:.3} s simulated in {:.1} s: {} steps of {} particles, {total:.3} ms a step",
        summary.simulated_seconds,
        summary.wall_seconds,
        summary.steps,
        summary.total_particles
    );
    let body = summary.limit.body.as_ref().map_or(String::new(), |body| format!(" of \"{body}\""));
    say!("time step {:.2e} s, limited by {}{body}", summary.limit.dt, summary.limit.criterion);
    for warning in &summary.warnings {
        say!("warning: {warning}");
    }
    if summary.stopped_early {
        return;
    }
    for (what, file) in [
        ("movie", "movie.gif"),
        ("picture", "preview.png"),
        ("frames", "frames"),
        ("statistics", "stats.csv"),
        ("probes", "probes.csv"),
        ("summary", "summary.json"),
    ] {
        let path = dir.join(file);
        if path.exists() {
            say!("{what:<11} {}", path.display());
        }
    }
}

/// `PLIANT_CACHE`, where empty means none, or the user's folder for caches.
fn factor_cache() -> Option<PathBuf> {
    let folder = |name: &str| std::env::var_os(name).map(PathBuf::from);
    match folder("PLIANT_CACHE") {
        Some(folder) => (!folder.as_os_str().is_empty()).then_some(folder),
        None => folder("XDG_CACHE_HOME")
            .or_else(|| folder("HOME").map(|home| home.join(".cache")))
            .map(|caches| caches.join("pliant")),
    }
}
