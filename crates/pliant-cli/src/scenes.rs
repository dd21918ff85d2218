//! `pliant scenes`, `pliant new` and `pliant schema`.

use crate::complain::BadInput;
use clap::Args;
use pliant::scene::{self, BUNDLED};
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Args)]
pub struct ScenesArguments {
    /// Print this scene
    name: Option<String>,
}

#[derive(Args)]
pub struct NewArguments {
    /// File to write
    file: PathBuf,
}

pub fn list(arguments: ScenesArguments) -> anyhow::Result<ExitCode> {
    match arguments.name {
        None => {
            let width = BUNDLED.iter().map(|s| s.name.len()).max().unwrap_or(0);
            for scene in BUNDLED {
                let mark = if scene.name == scene::default_scene() { " (default)" } else { "" };
                say!("{:width$}  {}{mark}", scene.name, scene.summary);
            }
            say!("\npliant run NAME runs one, pliant scenes NAME prints it.");
        }
        Some(name) => match BUNDLED.iter().find(|s| s.name == name) {
            Some(scene) => say!("{}", scene.text.trim_end()),
            None => {
                let names: Vec<&str> = BUNDLED.iter().map(|s| s.name).collect();
                return Err(
                    BadInput(format!("no bundled scene \"{name}\"; there are {}", names.join(", "))).into()
                );
            }
        },
    }
    Ok(ExitCode::SUCCESS)
}

pub fn new(arguments: NewArguments) -> anyhow::Result<ExitCode> {
    let file = &arguments.file;
    if file.exists() {
        return Err(BadInput(format!("{} exists already; choose another name", file.display())).into());
    }
    pliant::output::write_atomically(file, scene::starter().as_bytes())
        .map_err(|error| BadInput(error.to_string()))?;
    say!("wrote {}; run it with: pliant run {}", file.display(), file.display());
    Ok(ExitCode::SUCCESS)
}

pub fn schema() -> anyhow::Result<ExitCode> {
    say!("{}", serde_json::to_string_pretty(&scene::schema())?);
    Ok(ExitCode::SUCCESS)
}
