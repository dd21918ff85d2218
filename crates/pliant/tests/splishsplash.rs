//! The scenes that come with SPlisHSPlasH, where its Python package is installed.
//!
//! `PLIANT_SPLISHSPLASH` names the folder `data` with `Scenes` and `models`; else the environment of the peers is
//! looked into.

use pliant::scene::Scene;
use std::fs;
use std::path::{Path, PathBuf};

/// Folder of the scenes, or nothing and a message.
fn scenes() -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let peers = root.join("benchmarks/peers/.venv/bin/data");
    let named = std::env::var_os("PLIANT_SPLISHSPLASH").map(PathBuf::from);
    let found =
        [named, Some(peers)].into_iter().flatten().map(|data| data.join("Scenes")).find(|path| path.is_dir());
    if found.is_none() {
        eprintln!(
            "skipped: the scenes of pysplishsplash are not installed; set PLIANT_SPLISHSPLASH to their folder data"
        );
    }
    found
}

fn load(path: &Path) -> Scene {
    Scene::load(&path.to_string_lossy(), &[]).unwrap_or_else(|error| panic!("{error}\n{}", error.help))
}

#[test]
fn the_scenes_of_the_peer_run_from_their_files() {
    let Some(folder) = scenes() else { return };
    for name in ["Beam", "DeformableModel", "DoubleDamBreak", "DamBreakModel"] {
        let scene = load(&folder.join(format!("{name}.json")));
        let mut simulation = scene.build().unwrap_or_else(|error| panic!("{error}"));
        for _ in 0..5 {
            simulation.step(scene.duration).unwrap_or_else(|error| panic!("{name}: {error}"));
        }
        assert!(simulation.particles().len() > 700, "{name}");
    }
}

#[test]
fn every_scene_of_the_peer_with_matter_is_taken_over() {
    let Some(folder) = scenes() else { return };
    let mut paths: Vec<PathBuf> =
        fs::read_dir(&folder).expect("a folder").map(|entry| entry.expect("a file").path()).collect();
    paths.sort();
    paths.retain(|path| path.extension().is_some_and(|end| end == "json") && !path.ends_with("Empty.json"));
    assert!(paths.len() > 40);
    for path in &paths {
        assert!(!load(path).notes().is_empty());
    }
}
