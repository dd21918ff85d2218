//! The folder of a run.

use crate::output::{OutputError, clean_temporaries, write_atomically};
use crate::scene::Scene;
use std::path::{Path, PathBuf};

/// Files that say how a run ended; a new run over an old folder takes them away first.
const RESULTS: [&str; 3] = ["summary.json", "preview.png", "movie.gif"];

pub(super) struct Folder {
    pub dir: PathBuf,
}

impl Folder {
    /// Makes the folder, clears what a killed run left half-written, and stores the scene as resolved.
    pub fn open(dir: &Path, scene: &Scene) -> Result<Folder, OutputError> {
        std::fs::create_dir_all(dir).map_err(OutputError::io(dir, "create"))?;
        clean_temporaries(dir)?;
        write_atomically(&dir.join("scene.toml"), scene.resolved_toml().as_bytes())?;
        Ok(Folder { dir: dir.to_path_buf() })
    }

    /// Removes the results of an earlier run.
    pub fn remove_results(&self) -> Result<(), OutputError> {
        for name in RESULTS {
            let path = self.dir.join(name);
            if path.exists() {
                std::fs::remove_file(&path).map_err(OutputError::io(&path, "remove"))?;
            }
        }
        Ok(())
    }
}
