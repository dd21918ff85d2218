//! `pliant render`: pictures of a run's folder.

use crate::complain::BadInput;
use clap::Args;
use pliant::output::read_index;
use pliant::run::{PictureRequest, draw};
use pliant::scene::Scene;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Args)]
pub struct Arguments {
    /// Folder of a run
    dir: PathBuf,
    /// Picture (.png) or movie (.gif; .mp4 where ffmpeg is installed) to write [default: DIR/preview.png and DIR/movie.gif]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Change the look: --set camera.position=[2,1,3] --set render.color_by=stress
    #[arg(long, value_name = "KEY.PATH=VALUE")]
    set: Vec<String>,
}

pub fn run(arguments: Arguments) -> anyhow::Result<ExitCode> {
    let dir = &arguments.dir;
    let file = dir.join("scene.toml");
    if !file.exists() {
        return Err(BadInput(format!("{} has no scene.toml: it is no folder of a run", dir.display())).into());
    }
    let scene = Scene::load(&file.to_string_lossy(), &arguments.set)?;
    let stored = read_index(dir).map_err(|error| BadInput(error.to_string()))?;
    if stored.iter().all(|frame| frame.files.is_empty()) {
        return Err(BadInput(format!("{} holds no stored frames to draw", dir.display())).into());
    }
    let mut request = PictureRequest::for_run(dir, &scene);
    if let Some(output) = arguments.output {
        match output.extension().and_then(|e| e.to_str()) {
            Some("png") => (request.still, request.movie) = (Some(output), None),
            Some("gif" | "mp4") => (request.still, request.movie) = (None, Some(output)),
            _ => {
                return Err(
                    BadInput(format!("{}: -o takes a .png, a .gif or a .mp4", output.display())).into()
                );
            }
        }
    }
    let bar = indicatif::ProgressBar::new(1);
    let written = draw(&request, &mut |done, of| {
        bar.set_length(of as u64);
        bar.set_position(done as u64);
    })?;
    bar.finish_and_clear();
    if written.is_empty() {
        return Err(BadInput(format!("{} holds one frame, too few for a movie", dir.display())).into());
    }
    for path in written {
        say!("{}", path.display());
    }
    Ok(ExitCode::SUCCESS)
}
