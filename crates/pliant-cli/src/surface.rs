//! `pliant surface`: surfaces of bodies from the stored frames of a run.

use crate::complain::BadInput;
use clap::{Args, ValueEnum};
use indicatif::ProgressBar;
use pliant::output::{OutputError, read_index};
use pliant::run::surface_run;
use pliant::scene::{Format, OutputSettings, Scene};
use pliant::surface::{SurfaceKind, SurfaceWish};
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Args)]
pub struct Arguments {
    /// Folder of a run
    dir: PathBuf,
    /// Only this body; may be given several times [default: those with a surface in the scene, or all]
    #[arg(long, value_name = "NAME")]
    body: Vec<String>,
    /// A skin or an isosurface [default: that of the scene, or what suits the body]
    #[arg(long, value_enum)]
    kind: Option<Kind>,
    /// Edge of the cells the surface is made with [m] [default: that of the scene, or half a spacing]
    #[arg(long, value_name = "METRES")]
    cell: Option<f64>,
    /// Format to write; may be given several times [default: those of the scene]
    #[arg(long, value_parser = crate::convert::format_of_word)]
    format: Vec<Format>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Kind {
    Skin,
    Isosurface,
}

pub fn run(arguments: Arguments) -> anyhow::Result<ExitCode> {
    let dir = &arguments.dir;
    let file = dir.join("scene.toml");
    if !file.exists() {
        return Err(BadInput(format!("{} has no scene.toml: it is no folder of a run", dir.display())).into());
    }
    let scene = Scene::load(&file.to_string_lossy(), &[])?;
    let wishes = arguments.wishes(&scene)?;
    let stored = read_index(dir).map_err(bad_input)?;
    if stored.iter().all(|entry| entry.files.is_empty()) {
        return Err(BadInput(format!("{} holds no stored frames", dir.display())).into());
    }
    let settings = arguments.settings(&scene)?;
    let simulation = scene.build()?;
    let bar = ProgressBar::new(stored.len() as u64);
    surface_run(dir, &simulation, &wishes, &settings, &mut |_| bar.inc(1)).map_err(bad_input)?;
    bar.finish_and_clear();
    let after = read_index(dir).map_err(bad_input)?;
    let files: usize = after.iter().flat_map(|entry| &entry.surfaces).map(|s| s.files.len()).sum();
    say!("{files} surfaces in {}", dir.join("frames").display());
    Ok(ExitCode::SUCCESS)
}

fn bad_input(error: OutputError) -> BadInput {
    BadInput(error.to_string())
}

impl Arguments {
    /// The surface of each body.
    fn wishes(&self, scene: &Scene) -> Result<Vec<Option<SurfaceWish>>, BadInput> {
        let bodies = &scene.setup.bodies;
        let names: Vec<&str> = bodies.iter().map(|body| body.name.as_str()).collect();
        if let Some(unknown) = self.body.iter().find(|name| !names.contains(&name.as_str())) {
            let known = names.iter().take(20).copied().collect::<Vec<_>>().join(", ");
            return Err(BadInput(format!("there is no body \"{unknown}\"; the bodies are: {known}")));
        }
        let spacing = scene.setup.spacing;
        if let Some(cell) = self.cell
            && !(0.2 * spacing..=4.0 * spacing).contains(&cell)
        {
            let (least, most) = (0.2 * spacing, 4.0 * spacing);
            return Err(BadInput(format!("--cell is {cell} m; use {least:.3e} to {most:.3e} m")));
        }
        let in_scene = scene.surfaces.iter().any(Option::is_some);
        let wish = |(body, wish): (&pliant::simulation::BodySetup, &Option<SurfaceWish>)| {
            let wanted = match self.body.is_empty() {
                true => wish.is_some() || !in_scene,
                false => self.body.contains(&body.name),
            };
            if !wanted {
                return Ok(None);
            }
            let suiting = SurfaceKind::suiting(body);
            let kind = match self.kind {
                Some(Kind::Skin) if suiting != SurfaceKind::Skin => {
                    let problem = "a liquid, a sheet or a rod has no skin; use --kind isosurface";
                    return Err(BadInput(format!("body \"{}\": {problem}", body.name)));
                }
                Some(Kind::Skin) => SurfaceKind::Skin,
                Some(Kind::Isosurface) => SurfaceKind::Isosurface,
                None => wish.map_or(suiting, |wish| wish.kind),
            };
            Ok(Some(SurfaceWish { kind, cell: self.cell.or(wish.and_then(|wish| wish.cell)) }))
        };
        bodies.iter().zip(&scene.surfaces).map(wish).collect()
    }

    fn settings(&self, scene: &Scene) -> Result<OutputSettings, BadInput> {
        let mut settings = scene.output.clone();
        if !self.format.is_empty() {
            settings.formats = self.format.clone();
        }
        settings.formats.retain(|format| *format != Format::Csv);
        match settings.formats.is_empty() {
            true => Err(BadInput("no format that holds triangles; use --format vtk, ply or obj".into())),
            false => Ok(settings),
        }
    }
}
