//! Frames are encoded and written by a thread of their own while the run goes on.

use super::index::{self, IndexEntry, SurfaceFiles, SurfaceFrame};
use super::{Format, OutputSettings};
use super::{Frame, OutputError, extension, write_frame};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

/// Frames that may wait for the writer; one more makes [`FrameWriter::submit`] wait, so that memory is bounded.
const WAITING_FRAMES: usize = 2;
/// The time series is rewritten after this many frames, so that its cost stays small in long runs.
const FRAMES_PER_SERIES: usize = 20;

/// Writes frames in the background, in the order in which they are submitted.
///
/// Dropping it waits until all submitted frames are written; only [`FrameWriter::finish`] tells whether they were.
#[derive(Debug)]
pub struct FrameWriter {
    dir: PathBuf,
    work: Option<SyncSender<Work>>,
    thread: Option<JoinHandle<Result<Vec<PathBuf>, OutputError>>>,
}

/// What is handed to the thread.
enum Work {
    /// A frame and the surfaces of its bodies.
    Frame(Frame, Vec<SurfaceFrame>),
    /// Answer when everything before is written.
    Tell(SyncSender<()>),
}

impl FrameWriter {
    /// Starts the frames of a new run: `dir/frames/NAME_0000.EXT` and on. Those of an earlier run are removed.
    pub fn new(dir: &Path, settings: &OutputSettings, name: &str) -> Result<FrameWriter, OutputError> {
        let writer = FrameWriter::start(dir, settings, name, Vec::new())?;
        index::remove_frames(dir, 0)?;
        Ok(writer)
    }

    /// Goes on with the frames of a run: those from `first_frame` on are written anew.
    pub fn resume(
        dir: &Path,
        settings: &OutputSettings,
        name: &str,
        first_frame: u32,
    ) -> Result<FrameWriter, OutputError> {
        let mut entries = if index::index_path(dir).exists() { index::read_index(dir)? } else { Vec::new() };
        entries.retain(|entry| entry.frame < first_frame);
        let writer = FrameWriter::start(dir, settings, name, entries)?;
        index::remove_frames(dir, first_frame)?;
        Ok(writer)
    }

    fn start(
        dir: &Path,
        settings: &OutputSettings,
        name: &str,
        entries: Vec<IndexEntry>,
    ) -> Result<FrameWriter, OutputError> {
        let folder = index::frames_folder(dir);
        fs::create_dir_all(&folder).map_err(OutputError::io(&folder, "create"))?;
        index::write_index(dir, &entries)?;
        let (sender, receiver) = sync_channel(WAITING_FRAMES);
        let series = Series {
            dir: dir.to_path_buf(),
            name: file_stem(name),
            settings: settings.clone(),
            entries,
            written: Vec::new(),
        };
        let thread = thread::Builder::new()
            .name("frame writer".into())
            .spawn(move || series.write_all(receiver))
            .map_err(OutputError::io(&folder, "start a thread for"))?;
        Ok(FrameWriter { dir: dir.to_path_buf(), work: Some(sender), thread: Some(thread) })
    }

    /// Hands a frame to the writer; waits while two are waiting already. An error of an earlier frame is returned
    /// here, once; after it the writer takes no more frames.
    pub fn submit(&mut self, frame: Frame) -> Result<(), OutputError> {
        self.submit_with(frame, Vec::new())
    }

    /// Hands over a frame with the surfaces of its bodies.
    pub fn submit_with(&mut self, frame: Frame, surfaces: Vec<SurfaceFrame>) -> Result<(), OutputError> {
        for part in std::iter::once(&frame).chain(surfaces.iter().map(|surface| &surface.frame)) {
            if let Err(reason) = part.check() {
                return Err(OutputError::BadFrame { path: self.dir.clone(), frame: frame.index, reason });
            }
        }
        self.hand_over(Work::Frame(frame, surfaces))
    }

    /// Waits until all submitted frames are safely on the disk. To be called before a checkpoint is stored: a run
    /// resumed from it does not write these frames again.
    pub fn flush(&mut self) -> Result<(), OutputError> {
        let (sender, told) = sync_channel(1);
        self.hand_over(Work::Tell(sender))?;
        told.recv().or_else(|_| self.fail())
    }

    fn hand_over(&mut self, work: Work) -> Result<(), OutputError> {
        match &self.work {
            Some(queue) if queue.send(work).is_ok() => Ok(()),
            _ => self.fail(),
        }
    }

    /// The error that made the thread end.
    fn fail(&mut self) -> Result<(), OutputError> {
        self.stop().and(Err(self.stopped("it takes no more frames")))
    }

    /// Waits until all frames are written; returns the files written by this writer.
    pub fn finish(mut self) -> Result<Vec<PathBuf>, OutputError> {
        self.stop()
    }

    fn stop(&mut self) -> Result<Vec<PathBuf>, OutputError> {
        self.work = None; // the thread ends when it has written what waits
        match self.thread.take().map(JoinHandle::join) {
            Some(Ok(result)) => result,
            Some(Err(_)) => Err(self.stopped("its thread has ended unexpectedly")),
            None => Err(self.stopped("an earlier frame could not be written")),
        }
    }

    fn stopped(&self, reason: &str) -> OutputError {
        OutputError::WriterStopped { path: index::frames_folder(&self.dir), reason: reason.into() }
    }
}

impl Drop for FrameWriter {
    fn drop(&mut self) {
        if self.thread.is_some() {
            let _ = self.stop();
        }
    }
}

/// What the thread owns.
struct Series {
    dir: PathBuf,
    name: String,
    settings: OutputSettings,
    entries: Vec<IndexEntry>,
    written: Vec<PathBuf>,
}

impl Series {
    fn write_all(mut self, queue: Receiver<Work>) -> Result<Vec<PathBuf>, OutputError> {
        for work in queue {
            match work {
                Work::Frame(frame, surfaces) => self.write(&frame, &surfaces)?,
                // Whoever asked may be gone.
                Work::Tell(sender) => drop(sender.send(())),
            }
        }
        self.written.push(index::index_path(&self.dir));
        self.written.extend(index::write_series(&self.dir, &self.name, &self.entries, self.settings.fps)?);
        Ok(self.written)
    }

    fn write(&mut self, frame: &Frame, surfaces: &[SurfaceFrame]) -> Result<(), OutputError> {
        let files = write_files(&self.dir, &self.name, frame, &self.settings)?;
        let surfaces = write_surfaces(&self.dir, &self.name, surfaces, &self.settings)?;
        let entry = IndexEntry { frame: frame.index, time: frame.time, files, surfaces };
        let folder = index::frames_folder(&self.dir);
        self.written.extend(entry.all_files().map(|file| folder.join(file)));
        self.entries.retain(|entry| entry.frame < frame.index);
        self.entries.push(entry);
        index::write_index(&self.dir, &self.entries)?;
        if self.entries.len().is_multiple_of(FRAMES_PER_SERIES) {
            index::write_series(&self.dir, &self.name, &self.entries, self.settings.fps)?;
        }
        Ok(())
    }
}

/// Writes one file a format; gives their names.
fn write_files(
    dir: &Path,
    name: &str,
    frame: &Frame,
    settings: &OutputSettings,
) -> Result<Vec<String>, OutputError> {
    let mut files = Vec::new();
    for format in settings.formats.iter().copied().filter(|format| has_room(*format, frame)) {
        let file = format!("{name}_{:04}.{}", frame.index, extension(format));
        write_frame(&index::frames_folder(dir).join(&file), frame, format, settings)?;
        files.push(file);
    }
    Ok(files)
}

/// A table of points is no surface.
fn has_room(format: Format, frame: &Frame) -> bool {
    frame.faces.is_none() || format != Format::Csv
}

/// Writes the surfaces of bodies, `frames/NAME.surface_BODY_0000.EXT`; gives the names of the files.
fn write_surfaces(
    dir: &Path,
    name: &str,
    surfaces: &[SurfaceFrame],
    settings: &OutputSettings,
) -> Result<Vec<SurfaceFiles>, OutputError> {
    let write = |SurfaceFrame { bodies, frame }: &SurfaceFrame| {
        let name = index::surface_name(name, bodies.first().map_or("", String::as_str));
        Ok(SurfaceFiles { bodies: bodies.clone(), files: write_files(dir, &name, frame, settings)? })
    };
    surfaces.iter().map(write).collect()
}

/// Adds surfaces to the frames that a run has stored; `surfaces` is asked for those of each frame.
pub fn add_surfaces(
    dir: &Path,
    settings: &OutputSettings,
    mut surfaces: impl FnMut(&IndexEntry) -> Result<Vec<SurfaceFrame>, OutputError>,
) -> Result<(), OutputError> {
    let mut entries = index::read_index(dir)?;
    let name = run_name(&entries);
    for k in 0..entries.len() {
        let made = surfaces(&entries[k])?;
        let files = write_surfaces(dir, &name, &made, settings)?;
        let entry = &mut entries[k];
        entry.surfaces.retain(|old| files.iter().all(|new| old.bodies.first() != new.bodies.first()));
        entry.surfaces.extend(files);
    }
    index::write_index(dir, &entries)?;
    index::write_series(dir, &name, &entries, settings.fps)?;
    Ok(())
}

/// What the names of the frames start with.
pub fn run_name(entries: &[IndexEntry]) -> String {
    let file = entries.iter().find_map(IndexEntry::file).unwrap_or_default();
    file.rsplit_once('_').map_or("frame", |(name, _)| name).to_string()
}

/// The name as the start of file names on any system: letters, digits, `-`, `_`, and `.` inside.
pub(super) fn file_stem(name: &str) -> String {
    let plain = |c: char| if c.is_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '_' };
    let stem: String = name.trim_matches('.').chars().map(plain).take(50).collect();
    if stem.is_empty() { "frame".into() } else { stem }
}
