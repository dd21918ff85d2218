//! Scenes of SPlisHSPlasH, in JSON, as scenes of Pliant.
//!
//! The import writes a scene in TOML, which is then read and checked like any other, and notes of all that it could not
//! take over. Both forms of the format are read: coefficients in a block named after their method, or beside it.

mod block;
mod configuration;
mod geometry;
mod materials;
mod matter;
mod methods;
mod rigids;
#[cfg(test)]
mod tests;
mod text;

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::error::{Origin, SceneError};
use block::{Block, Note, Notes};
use configuration::Configuration;
use text::Text;

/// Paths told for one reason before the rest is only counted.
const MOST_PATHS: usize = 6;

/// A scene taken over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Imported {
    /// The scene as Pliant reads it.
    pub toml: String,
    /// What was not taken over, or not exactly: one line a reason.
    pub notes: Vec<String>,
}

/// Takes a scene over. `file` is where it was read from; files it names lie beside it, and get `folder` before their
/// paths in the new scene.
pub fn import_splishsplash(file: &str, text: &str, folder: &Path) -> Result<Imported, SceneError> {
    let value: Value = serde_json::from_str(text).map_err(|error| syntax_error(file, text, &error))?;
    let notes = Notes { file: file.to_owned(), list: RefCell::default() };
    let toml = scene(&value, &notes, folder)?;
    Ok(Imported { toml, notes: grouped(&notes.list.into_inner()) })
}

fn syntax_error(file: &str, text: &str, error: &serde_json::Error) -> SceneError {
    let before: usize = text.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum();
    let at = before + error.column().saturating_sub(1);
    let message = error.to_string();
    let message = message.split(" at line").next().unwrap_or_default();
    SceneError::new(Origin::File, file.to_owned(), text.into(), at..at + 1)
        .saying(format!("this is not JSON: {message}"), "check brackets, quotes and commas here")
}

fn scene(value: &Value, notes: &Notes, folder: &Path) -> Result<String, SceneError> {
    let empty = Value::Object(serde_json::Map::new());
    let root = Block::new("", value, notes)?;
    let of_scene = ["Configuration", "FluidBlocks", "FluidModels", "Emitters", "RigidBodies", "Materials"];
    if !of_scene.iter().any(|key| root.has(key)) {
        let message = "this is not a scene of SPlisHSPlasH: it has no Configuration, FluidBlocks, FluidModels, \
                       Emitters, RigidBodies or Materials";
        return Err(SceneError::unread(&notes.file, message, "name a scene in TOML, or one of SPlisHSPlasH"));
    }
    let written = match root.inner("Configuration")? {
        Some(block) => block,
        None => Block::new("Configuration", &empty, notes)?,
    };
    let own_folder = Path::new(&notes.file).parent().unwrap_or(Path::new("")).to_path_buf();
    let files = geometry::Files::new(own_folder, folder.to_path_buf());
    let configuration = Configuration::read(&written)?;
    let matter = matter::read(&root, &configuration, &files)?;
    let materials = materials::read(&root, (&written, &configuration), &matter)?;
    let rigids = rigids::read(&root, &matter, &files)?;
    root.leave(
        &["AnimationFields"],
        "fields by formulas have no counterpart here; [[fields]] of Pliant turn matter about an axis",
    );
    root.leave(&["Simulation"], "settings of its engine for rigid bodies");
    let mut out = Text::default();
    out.line(&format!("# Taken over from {}", one_line(&notes.file)));
    configuration.write(&mut out, &materials, &notes.file);
    materials.write(&mut out);
    matter.write(&mut out, &materials);
    rigids.write(&mut out);
    Ok(out.into_string())
}

fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// One line a reason, with the places it is given for.
fn grouped(notes: &[Note]) -> Vec<String> {
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    for note in notes {
        match reasons.iter_mut().find(|(reason, _)| *reason == note.reason) {
            Some((_, paths)) => paths.push(&note.path),
            None => reasons.push((&note.reason, vec![&note.path])),
        }
    }
    let line = |(reason, paths): &(&str, Vec<&str>)| {
        let mut places = paths[..paths.len().min(MOST_PATHS)].join(", ");
        if paths.len() > MOST_PATHS {
            places += &format!(" and {} more", paths.len() - MOST_PATHS);
        }
        one_line(&format!("{places}: {reason}"))
    };
    reasons.iter().map(line).collect()
}

/// Where the files of an imported scene are found from a scene at `output`: as they are named if both lie in one
/// folder, else by whole paths.
pub fn folder_seen_from(input: &Path, output: &Path) -> PathBuf {
    let folder = |path: &Path| {
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        std::fs::canonicalize(parent).unwrap_or_else(|_| parent.to_path_buf())
    };
    let (from, to) = (folder(input), folder(output));
    if from == to { PathBuf::new() } else { from }
}
