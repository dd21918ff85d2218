//! From a path, a bundled name or a text to a checked scene, and back to text.

use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use super::bundled::{self, BUNDLED};
use super::error::{Origin, SceneError};
use super::estimate::{self, Estimate};
use super::read::At;
use super::splishsplash::{Imported, import_splishsplash};
use super::suggest::{did_you_mean, quoted};
use super::tree::Source;
use super::{Scene, check, resolved};

/// Longest scene file [bytes].
const LONGEST_FILE: usize = 16 << 20;

/// Where a scene was written. It says nothing about what the scene is: all are equal.
#[derive(Clone, Debug)]
pub(super) struct Provenance {
    source: Arc<Source>,
    /// Bodies made from each `[[bodies]]` table.
    copies: Vec<usize>,
    /// What an import could not take over.
    notes: Vec<String>,
}

impl PartialEq for Provenance {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Provenance {
    pub fn new(source: Source, copies: Vec<usize>) -> Self {
        Provenance { source: Arc::new(source), copies, notes: Vec::new() }
    }
}

impl Scene {
    /// Reads a scene from text. `file` stands in messages; `overrides` are `key.path=value` settings.
    pub fn from_toml(name: &str, file: &str, text: &str, overrides: &[String]) -> Result<Scene, SceneError> {
        if text.len() > LONGEST_FILE {
            return Err(too_long(file));
        }
        check::check(name, Source::parse(file, text, overrides)?)
    }

    /// Reads the scene at a path (.json: one of SPlisHSPlasH), or the bundled scene of this name.
    pub fn load(path_or_name: &str, overrides: &[String]) -> Result<Scene, SceneError> {
        let path = Path::new(path_or_name);
        if path.exists() && !(path.is_dir() && bundled::find(path_or_name).is_some()) {
            let text = read_text(path_or_name)?;
            let stem = path.file_stem().map_or("scene".into(), |stem| stem.to_string_lossy());
            if path.extension().is_some_and(|end| end.eq_ignore_ascii_case("json")) {
                return Scene::from_splishsplash(&stem, path_or_name, &text, overrides);
            }
            return Scene::from_toml(&stem, path_or_name, &text, overrides);
        }
        match bundled::find(path_or_name) {
            Some(scene) => {
                Scene::from_toml(scene.name, &format!("{}.toml", scene.name), scene.text, overrides)
            }
            None => Err(not_found(path_or_name)),
        }
    }

    /// Takes over the scene of SPlisHSPlasH at a path; files it names get `folder` before their names.
    pub fn import(path: &str, folder: &Path) -> Result<Imported, SceneError> {
        import_splishsplash(path, &read_text(path)?, folder)
    }

    /// Reads a scene of SPlisHSPlasH; places in messages are those of the scene it is turned into.
    pub fn from_splishsplash(
        name: &str,
        file: &str,
        text: &str,
        overrides: &[String],
    ) -> Result<Scene, SceneError> {
        let imported = import_splishsplash(file, text, Path::new(""))?;
        let mut scene = Scene::from_toml(name, &format!("{file} (as TOML)"), &imported.toml, overrides)?;
        scene.provenance.notes = imported.notes;
        Ok(scene)
    }

    /// What could not be taken over from the scene of another program, one line a reason.
    pub fn notes(&self) -> &[String] {
        &self.provenance.notes
    }

    /// The scene as TOML with its overrides merged in; it reads back as an equal scene.
    pub fn resolved_toml(&self) -> String {
        resolved::text(&self.provenance.source)
    }

    /// Particles and memory of a run, about.
    pub fn estimate(&self) -> Estimate {
        let spacing = self.setup.spacing;
        let particles = self.setup.bodies.iter().map(|body| estimate::particles(&body.shape, spacing)).sum();
        Estimate::new(particles, self.setup.support)
    }

    /// An error found after the scene was checked, at a key such as `bodies.0.pins.1.region`.
    ///
    /// Numbers count the tables of the file; [`Scene::body_key`] gives the one of a body. Where the key is not
    /// written, the error points at the table it would be in.
    pub fn error_at(
        &self,
        key_path: &str,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> SceneError {
        let mut at = At::root(&self.provenance.source);
        for key in key_path.split('.').filter(|key| !key.is_empty()) {
            match (at.node.child(key), key.parse::<usize>()) {
                (Some(_), _) => at = at.key(key),
                (None, Ok(index)) => at = at.index(index),
                (None, Err(_)) => break,
            }
        }
        at.error(message, help)
    }

    /// Key path of the table that a body of `setup.bodies` comes from; copies share one table.
    pub fn body_key(&self, body: usize) -> String {
        let mut end = 0;
        for (table, &copies) in self.provenance.copies.iter().enumerate() {
            end += copies;
            if body < end {
                return format!("bodies.{table}");
            }
        }
        "bodies".to_owned()
    }
}

fn read_text(path: &str) -> Result<String, SceneError> {
    let unreadable = |error: std::io::Error| {
        SceneError::unread(
            path,
            format!("cannot read the scene: {error}"),
            "check the path and its permissions",
        )
    };
    if Path::new(path).is_dir() {
        return Err(SceneError::unread(
            path,
            "this is a folder, not a scene file",
            "name a .toml file in it",
        ));
    }
    let file = std::fs::File::open(path).map_err(unreadable)?;
    let mut bytes = Vec::new();
    file.take(LONGEST_FILE as u64 + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() > LONGEST_FILE {
        return Err(too_long(path));
    }
    String::from_utf8(bytes).map_err(|error| {
        let start = error.utf8_error().valid_up_to();
        let text = String::from_utf8_lossy(error.as_bytes()).into_owned();
        SceneError::new(Origin::File, path.to_owned(), text.into(), start..start + 1)
            .saying("the file is not text: here is a byte that is not UTF-8", "save the scene as UTF-8 text")
    })
}

fn too_long(file: &str) -> SceneError {
    let message = format!("the scene is longer than {} MB", LONGEST_FILE >> 20);
    SceneError::unread(file, message, "use array = { ... } for copies of a body")
}

fn not_found(name: &str) -> SceneError {
    let stem = Path::new(name).file_stem().map_or(name.into(), |stem| stem.to_string_lossy());
    let names = || BUNDLED.iter().map(|bundled| bundled.name);
    let near = did_you_mean(&stem, names());
    let message = format!("there is no file and no bundled scene {}{near}", quoted(name));
    let help = format!(
        "name a .toml file, or one of the bundled scenes: {}",
        names().collect::<Vec<_>>().join(", ")
    );
    SceneError::unread(name, message, help)
}
