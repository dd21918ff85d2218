//! `pliant convert`: stored frames in another format, scenes of SPlisHSPlasH as scenes of Pliant.

use crate::complain::BadInput;
use clap::Args;
use indicatif::ProgressBar;
use pliant::output::{
    Frame, FrameWriter, IndexEntry, OutputError, extension, left_out, read_frame, read_index, run_name,
    write_atomically, write_film, write_frame,
};
use pliant::scene::{Format, OutputSettings, Scene, folder_seen_from};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Frames per second where nothing tells.
const FPS: f64 = 50.0;

#[derive(Args)]
pub struct Arguments {
    /// A frame (vtk, ply, obj, bgeo, csv, npz, usdc), the folder of a run, or a scene of SPlisHSPlasH (.json)
    #[arg(value_name = "IN")]
    input: PathBuf,
    /// File to write; for a run a new folder, or one .usdc for all frames; for a scene a .toml file
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,
    /// Format to write [default: by the ending of OUT]
    #[arg(long, value_parser = format_of_word)]
    format: Option<Format>,
    /// Compress, where the format can be (vtk, bgeo, npz)
    #[arg(long)]
    compress: bool,
    /// Frames per second, by which USD counts time [default: that of the run, or 50]
    #[arg(long, value_parser = frames_per_second)]
    fps: Option<f64>,
}

pub fn format_of_word(word: &str) -> Result<Format, String> {
    let words = Format::ALL.map(|(_, word)| word);
    let found = Format::ALL.iter().find(|(_, known)| *known == word);
    found.map(|(format, _)| *format).ok_or_else(|| format!("use one of: {}", words.join(", ")))
}

fn frames_per_second(text: &str) -> Result<f64, String> {
    text.parse().ok().filter(|fps| (1e-6..=1e6).contains(fps)).ok_or("a number from 1e-6 to 1e6".into())
}

pub fn run(arguments: Arguments) -> anyhow::Result<ExitCode> {
    if arguments.input.is_dir() {
        convert_run(&arguments)?
    } else if ends_in(&arguments.input, "json") {
        convert_scene(&arguments)?
    } else {
        convert_frame(&arguments)?
    }
    Ok(ExitCode::SUCCESS)
}

impl Arguments {
    fn settings(&self, format: Format, fps: f64) -> OutputSettings {
        let fps = self.fps.unwrap_or(fps);
        OutputSettings { fps, formats: vec![format], compress: self.compress, checkpoint_every: 1.0 }
    }

    /// The wish, or the format of files that end as the output does.
    fn format(&self) -> Result<Format, BadInput> {
        let ending = self.output.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        let known = Format::ALL.iter().find(|(format, _)| extension(*format) == ending.to_lowercase());
        self.format.or(known.map(|(format, _)| *format)).ok_or_else(|| {
            let endings = Format::ALL.map(|(format, _)| format!(".{}", extension(format)));
            let output = self.output.display();
            BadInput(format!("{output}: no format ends like this; use {}, or --format", endings.join(", ")))
        })
    }
}

fn bad_input(error: OutputError) -> BadInput {
    BadInput(error.to_string())
}

/// Says once what the format has no place for.
fn warn_of_loss(frame: &Frame, format: Format) {
    let lost = left_out(frame, format);
    if !lost.is_empty() {
        eprintln!("warning: {} files have no place for: {}", format.word(), lost.join(", "));
    }
}

fn ends_in(path: &Path, ending: &str) -> bool {
    path.extension().is_some_and(|end| end.eq_ignore_ascii_case(ending))
}

/// A scene of SPlisHSPlasH as TOML; what could not be taken over is told.
fn convert_scene(arguments: &Arguments) -> anyhow::Result<()> {
    let (input, output) = (&arguments.input, &arguments.output);
    if !ends_in(output, "toml") {
        return Err(BadInput(format!("{}: a scene becomes a .toml file", output.display())).into());
    }
    let imported = Scene::import(&input.to_string_lossy(), &folder_seen_from(input, output))?;
    write_atomically(output, imported.toml.as_bytes())?;
    for note in &imported.notes {
        eprintln!("note: {note}");
    }
    say!("{}", output.display());
    Ok(())
}

fn convert_frame(arguments: &Arguments) -> anyhow::Result<()> {
    let output = &arguments.output;
    if output.is_dir() {
        let problem = format!(
            "{} is a folder; name a file, as {} is one frame",
            output.display(),
            arguments.input.display()
        );
        return Err(BadInput(problem).into());
    }
    let format = arguments.format()?;
    let frame = read_frame(&arguments.input).map_err(bad_input)?;
    warn_of_loss(&frame, format);
    write_frame(output, &frame, format, &arguments.settings(format, FPS))?;
    say!("{}", output.display());
    Ok(())
}

fn convert_run(arguments: &Arguments) -> anyhow::Result<()> {
    let (dir, output) = (&arguments.input, &arguments.output);
    let mut entries = read_index(dir).map_err(bad_input)?;
    entries.retain(|entry| entry.file().is_some());
    let Some(first) = entries.first().and_then(|entry| entry.read(dir)) else {
        return Err(BadInput(format!("{} holds no stored frames to convert", dir.display())).into());
    };
    let first = first.map_err(bad_input)?;
    let bar = ProgressBar::new(entries.len() as u64);
    let frames = entries.iter().filter_map(|entry| {
        bar.inc(1);
        entry.read(dir)
    });
    let fps = arguments.fps.unwrap_or_else(|| frames_a_second(&entries));
    if output.extension().is_some_and(|ending| ending == extension(Format::Usd)) {
        write_film(output, fps, frames)?;
        bar.finish_and_clear();
        say!("{}", output.display());
        return Ok(());
    }
    let Some(format) = arguments.format else {
        let problem =
            "a run becomes a folder of frames; name their format with --format, or a .usdc file as OUT";
        return Err(BadInput(format!("{}: {problem}", output.display())).into());
    };
    refuse_used_folder(output)?;
    warn_of_loss(&first, format);
    let name = run_name(&entries);
    let mut writer = FrameWriter::new(output, &arguments.settings(format, fps), &name)?;
    for (entry, frame) in entries.iter().zip(frames) {
        writer.submit_with(frame.map_err(bad_input)?, entry.read_surfaces(dir).map_err(bad_input)?)?;
    }
    let written = writer.finish()?;
    bar.finish_and_clear();
    say!("{} files in {}", written.len(), output.join("frames").display());
    Ok(())
}

/// Frames of another run are not written over.
fn refuse_used_folder(folder: &Path) -> Result<(), BadInput> {
    let is_used = match fs::read_dir(folder) {
        Ok(mut entries) => entries.next().is_some(),
        Err(_) => folder.exists(),
    };
    match is_used {
        true => Err(BadInput(format!("{} is not empty; choose a new folder", folder.display()))),
        false => Ok(()),
    }
}

/// Frames a second, by the first two; their times are rounded.
fn frames_a_second(entries: &[IndexEntry]) -> f64 {
    let [first, second, ..] = entries else { return FPS };
    let frames = f64::from(second.frame) - f64::from(first.frame);
    let fps = frames / (second.time - first.time);
    let whole = fps.round();
    match (1e-6..=1e6).contains(&fps) {
        true if (fps - whole).abs() < 1e-6 * fps => whole,
        true => fps,
        false => FPS,
    }
}
