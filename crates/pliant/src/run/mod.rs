//! A scene from start to folder: frames, tables, checkpoints, summary, pictures.

mod folder;
mod pictures;
mod rigids;
mod summary;
mod surfaces;
mod tables;

pub use pictures::{PictureRequest, draw};
pub use summary::{Limit, Summary, peak_memory_mb};
pub use surfaces::surface_run;

use crate::math::Real;
use crate::output::{Checkpoint, FrameWriter, OutputError, checkpoint};
use crate::scene::{Scene, SceneError};
use crate::simulation::{Simulation, StepError, TimeStepLimit};
use crate::surface::Surfacer;
use folder::{Folder, RESULTS, TABLES};
use std::path::{Path, PathBuf};
use std::time::Instant;
use tables::Tables;
use thiserror::Error;

/// What to do with a scene.
#[derive(Clone, Debug)]
pub struct RunOptions {
    pub dir: PathBuf,
    /// Stop after this many frames.
    pub frames: Option<u32>,
    /// Go on from the last checkpoint in `dir`.
    pub resume: bool,
    /// Folder where the factors of implicit bodies are kept between runs.
    pub factor_cache: Option<PathBuf>,
}

/// Who watches a run.
pub trait Observer {
    fn on(&mut self, event: Event<'_>);
    /// Asked after every frame: true ends the run with a checkpoint.
    fn stop_requested(&self) -> bool {
        false
    }
}

/// What happens in a run.
#[derive(Debug)]
pub enum Event<'a> {
    Started {
        simulation: &'a Simulation,
        frames: u32,
        resumed_at: Option<Real>,
    },
    Step(Progress<'a>),
    Frame {
        frame: u32,
        time: Real,
    },
    Warning(&'a str),
    /// A picture of the movie is drawn.
    Drawing {
        done: usize,
        of: usize,
    },
}

/// Where a run is.
#[derive(Debug)]
pub struct Progress<'a> {
    pub simulation: &'a Simulation,
    pub frame: u32,
    pub frames: u32,
    pub dt: Real,
    pub limit: &'a TimeStepLimit,
    /// Wall milliseconds per step so far.
    pub ms_per_step: f64,
}

impl std::fmt::Debug for Simulation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Simulation").field("time", &self.time()).field("steps", &self.steps()).finish()
    }
}

/// How a run ended, if not well.
#[derive(Debug, Error)]
pub enum RunError {
    #[error(transparent)]
    Scene(#[from] Box<SceneError>),
    #[error("{error}\nthe last good state is kept in {}", kept.display())]
    Step { error: StepError, kept: PathBuf },
    #[error(transparent)]
    Output(#[from] OutputError),
    /// The folder of the run cannot be used; nothing has run.
    #[error(transparent)]
    Folder(OutputError),
    #[error("the checkpoint in {} does not fit this scene: {reason}; run without --resume", dir.display())]
    Foreign { dir: PathBuf, reason: String },
}

/// Runs a scene into a folder.
pub fn run(scene: &Scene, options: &RunOptions, observer: &mut dyn Observer) -> Result<Summary, RunError> {
    let mut simulation = scene.build().map_err(Box::new)?;
    if let Some(folder) = &options.factor_cache {
        simulation.keep_factors_in(folder);
    }
    let run = Run::open(scene, options, &mut simulation, observer)?;
    run.go(simulation, observer)
}

/// Times that differ by less than this part are one: k samples of 1/60 s are k/60 s only up to rounding.
const SAME_TIME: Real = 1e-12;

/// The frames of a scene and their times.
#[derive(Clone, Copy, Debug)]
struct Schedule {
    fps: Real,
    duration: Real,
    /// Number of the frame at the end of the scene.
    end: u32,
    /// Number of the last frame to store.
    last: u32,
}

impl Schedule {
    fn new(scene: &Scene, frames: Option<u32>) -> Self {
        let (fps, duration) = (scene.output.fps, scene.duration);
        let end = (fps * duration * (1.0 - 1e-12) - 1e-9).ceil().max(1.0) as u32;
        Schedule { fps, duration, end, last: frames.map_or(end, |n| n.min(end)) }
    }

    fn time(&self, frame: u32) -> Real {
        if frame < self.end { frame as Real / self.fps } else { self.duration }
    }
}

/// A run under way.
struct Run<'a> {
    scene: &'a Scene,
    folder: Folder,
    schedule: Schedule,
    writer: FrameWriter,
    surfacer: Surfacer,
    tables: Tables,
    next_frame: u32,
    last_checkpoint: Real,
    warnings: Vec<String>,
    first_step: u64,
    started: Instant,
    limit: TimeStepLimit,
    retries: u64,
}

impl<'a> Run<'a> {
    fn open(
        scene: &'a Scene,
        options: &RunOptions,
        simulation: &mut Simulation,
        observer: &mut dyn Observer,
    ) -> Result<Self, RunError> {
        let schedule = Schedule::new(scene, options.frames);
        let mut warnings = Vec::new();
        let found = if options.resume { find_checkpoint(&options.dir, scene, &mut warnings)? } else { None };
        if let Some(saved) = &found {
            simulation
                .restore(saved.time, saved.step, &saved.columns)
                .map_err(|reason| RunError::Foreign { dir: options.dir.clone(), reason })?;
        }
        // Nothing is written before this: the folder of another scene stays as it is.
        let folder = Folder::open(&options.dir, scene).map_err(RunError::Folder)?;
        folder.remove(&RESULTS)?;
        let (writer, tables, next_frame) = match &found {
            Some(saved) => {
                let writer = FrameWriter::resume(&options.dir, &scene.output, &scene.name, saved.frame)?;
                (writer, Tables::resume(&options.dir, simulation, saved.time)?, saved.frame)
            }
            None => {
                checkpoint::remove_all(&options.dir)?;
                folder.remove(&TABLES)?;
                let writer = FrameWriter::new(&options.dir, &scene.output, &scene.name)?;
                (writer, Tables::create(&options.dir, simulation)?, 0)
            }
        };
        let overlapping = simulation.removed().overlapping;
        if overlapping > 0 && found.is_none() {
            let left_out = "of liquids started inside solids or rigid bodies and were left out";
            warnings.push(format!("{overlapping} particles {left_out}"));
        }
        for warning in &warnings {
            observer.on(Event::Warning(warning));
        }
        let resumed_at = found.as_ref().map(|saved| saved.time);
        let retries = found.and_then(|saved| saved.notes["retries"].as_u64()).unwrap_or(0);
        let limit = simulation.time_step_limit();
        observer.on(Event::Started { simulation, frames: schedule.last + 1, resumed_at });
        Ok(Run {
            scene,
            folder,
            schedule,
            writer,
            surfacer: Surfacer::new(simulation, &scene.surfaces),
            tables,
            next_frame,
            last_checkpoint: simulation.time(),
            warnings,
            first_step: simulation.steps(),
            started: Instant::now(),
            limit,
            retries,
        })
    }

    fn go(mut self, mut simulation: Simulation, observer: &mut dyn Observer) -> Result<Summary, RunError> {
        if self.next_frame == 0 {
            self.tables.sample_probes(&simulation)?;
            self.store_frame(&simulation, observer)?;
        }
        let mut stopped = false;
        while self.next_frame <= self.schedule.last && !stopped {
            if let Err(error) = self.simulate_frame(&mut simulation, observer) {
                return Err(self.keep_last_good_state(&simulation, error));
            }
            self.store_frame(&simulation, observer)?;
            stopped = observer.stop_requested();
            let due =
                simulation.time() - self.last_checkpoint >= self.scene.output.checkpoint_every * (1.0 - 1e-9);
            if due || stopped || self.next_frame > self.schedule.last {
                self.store_checkpoint(&simulation)?;
            }
        }
        self.finish(simulation, stopped, observer)
    }

    /// Steps to the next frame's time; steps land on the times of probes, too.
    fn simulate_frame(
        &mut self,
        simulation: &mut Simulation,
        observer: &mut dyn Observer,
    ) -> Result<(), FrameError> {
        let frame_time = self.schedule.time(self.next_frame);
        while simulation.time() < frame_time {
            let sample_time = self.tables.next_sample(simulation);
            // A sample that rounding alone keeps apart from the frame is taken with it.
            let until = if sample_time < frame_time * (1.0 - SAME_TIME) { sample_time } else { frame_time };
            let report = simulation.step(until)?;
            self.limit = report.limit;
            self.retries += report.retries as u64;
            self.tables.sample_probes(simulation)?;
            let steps = (simulation.steps() - self.first_step).max(1);
            observer.on(Event::Step(Progress {
                simulation,
                frame: self.next_frame,
                frames: self.schedule.last + 1,
                dt: report.dt,
                limit: &self.limit,
                ms_per_step: self.started.elapsed().as_secs_f64() * 1e3 / steps as f64,
            }));
        }
        Ok(())
    }

    fn store_frame(&mut self, simulation: &Simulation, observer: &mut dyn Observer) -> Result<(), RunError> {
        let frame = tables::record(simulation, self.next_frame, &self.limit, &mut self.tables)?;
        let surfaces = match self.scene.output.formats.is_empty() {
            true => Vec::new(),
            false => surfaces::present(&self.surfacer, simulation, self.next_frame),
        };
        self.writer.submit_with(frame, surfaces)?;
        observer.on(Event::Frame { frame: self.next_frame, time: simulation.time() });
        self.next_frame += 1;
        Ok(())
    }

    fn store_checkpoint(&mut self, simulation: &Simulation) -> Result<(), RunError> {
        self.writer.flush()?;
        self.tables.sync()?;
        let saved = Checkpoint {
            scene_hash: self.scene.physics_hash(),
            time: simulation.time(),
            step: simulation.steps(),
            frame: self.next_frame,
            notes: serde_json::json!({ "retries": self.retries }),
            columns: simulation.save(),
        };
        saved.save(&self.folder.dir)?;
        self.last_checkpoint = simulation.time();
        Ok(())
    }

    /// After a failed step: the state before it as a last frame.
    fn keep_last_good_state(mut self, simulation: &Simulation, error: FrameError) -> RunError {
        let error = match error {
            FrameError::Output(error) => return RunError::Output(error),
            FrameError::Step(error) => error,
        };
        let kept = tables::record(simulation, self.next_frame, &self.limit, &mut self.tables)
            .and_then(|frame| self.writer.submit(frame))
            .and_then(|()| self.writer.finish());
        match kept {
            Err(error) => RunError::Output(error),
            Ok(_) => RunError::Step { error, kept: self.folder.dir },
        }
    }

    fn finish(
        self,
        simulation: Simulation,
        stopped: bool,
        observer: &mut dyn Observer,
    ) -> Result<Summary, RunError> {
        self.writer.finish()?;
        let mut warnings = self.warnings;
        let leaving = simulation.removed().leaving;
        if leaving > 0 {
            let warning = format!("{leaving} particles of liquids left the domain or ran into a drain");
            observer.on(Event::Warning(&warning));
            warnings.push(warning);
        }
        let mut summary = Summary {
            stopped_early: stopped,
            retries: self.retries,
            warnings,
            ..Summary::of(self.scene, &simulation, &self.limit)
        };
        summary.wall_seconds = self.started.elapsed().as_secs_f64();
        summary.set_speed(&simulation, simulation.steps() - self.first_step);
        if !stopped {
            let mut request = PictureRequest::for_run(&self.folder.dir, self.scene);
            if self.scene.output.formats.is_empty() {
                let frame = tables::frame(&simulation, 0, &simulation.fields());
                request.last = Some((frame, surfaces::present(&self.surfacer, &simulation, 0)));
            }
            drop(simulation); // pictures need its memory
            summary.pictures = draw(&request, &mut |done, of| observer.on(Event::Drawing { done, of }))?;
        }
        summary.write(&self.folder.dir)?;
        Ok(summary)
    }
}

/// A frame that did not come about.
enum FrameError {
    Step(StepError),
    Output(OutputError),
}

impl From<StepError> for FrameError {
    fn from(error: StepError) -> Self {
        FrameError::Step(error)
    }
}

impl From<OutputError> for FrameError {
    fn from(error: OutputError) -> Self {
        FrameError::Output(error)
    }
}

/// The newest usable checkpoint; none in the folder means to start from the beginning.
fn find_checkpoint(
    dir: &Path,
    scene: &Scene,
    warnings: &mut Vec<String>,
) -> Result<Option<Checkpoint>, RunError> {
    if checkpoint::list(dir)?.is_empty() {
        warnings.push(format!("no checkpoint in {}: starting from the beginning", dir.display()));
        return Ok(None);
    }
    let (saved, refused) = checkpoint::load_latest(dir, scene.physics_hash())?;
    warnings.extend(refused);
    Ok(Some(saved))
}
