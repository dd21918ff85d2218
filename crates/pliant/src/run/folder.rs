//! The folder of a run.

use crate::output::{OutputError, clean_temporaries, write_atomically};
use crate::scene::Scene;
use std::path::{Path, PathBuf};

/// Files that say how a run ended; a run that starts or goes on takes them away first.
pub(super) const RESULTS: [&str; 3] = ["summary.json", "preview.png", "movie.gif"];
/// Files that grow with a run; a new run over an old folder may not write all of them.
pub(super) const TABLES: [&str; 3] = ["stats.csv", "probes.csv", "rigids.csv"];

pub(super) struct Folder {
    pub dir: PathBuf,
}

impl Folder {
    /// Makes the folder, clears what a killed run left half-written, and stores the scene as resolved.
    pub fn open(dir: &Path, scene: &Scene) -> Result<Folder, OutputError> {
        // With `frames` beside it the scene is known as that of a run, not one that somebody wrote.
        for folder in [dir, &dir.join("frames")] {
            std::fs::create_dir_all(folder).map_err(OutputError::io(folder, "create"))?;
        }
        clean_temporaries(dir)?;
        write_atomically(&dir.join("scene.toml"), scene.resolved_toml().as_bytes())?;
        Ok(Folder { dir: dir.to_path_buf() })
    }

    /// Removes files of an earlier run, where they are.
    pub fn remove(&self, names: &[&str]) -> Result<(), OutputError> {
        for name in names {
            let path = self.dir.join(name);
            if path.exists() {
                std::fs::remove_file(&path).map_err(OutputError::io(&path, "remove"))?;
            }
        }
        Ok(())
    }
}
