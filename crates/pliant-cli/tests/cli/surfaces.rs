//! Surfaces of runs: written, listed, drawn, made afterwards.

use crate::support::{Place, SMALL};
use pliant::output::{IndexEntry, read_index};
use std::fs;

/// The small scene with a surface.
fn with_surface(kind: &str) -> String {
    SMALL.replace("name = \"cube\"", &format!("name = \"cube\"\nsurface = \"{kind}\""))
}

fn index(place: &Place) -> Vec<IndexEntry> {
    read_index(&place.path("out")).expect("an index")
}

#[test]
fn surfaces_are_stored_beside_the_particles() {
    for kind in ["skin", "isosurface"] {
        let place = Place::with_scene("small", &with_surface(kind));
        place.succeed("run small.toml -o out --frames 2 --set output.formats=[\"vtk\",\"obj\",\"csv\"]");
        for entry in index(&place) {
            let [surface] = &entry.surfaces[..] else { panic!("one surface in {entry:?}") };
            assert_eq!(surface.bodies, ["cube"]);
            let expected = ["vtu", "obj"].map(|end| format!("small.surface_cube_{:04}.{end}", entry.frame));
            assert_eq!(surface.files, expected);
            for file in &surface.files {
                let path = place.path("out").join("frames").join(file);
                let mesh = pliant::output::read_frame(&path).expect("a mesh");
                assert!(mesh.faces.is_some_and(|faces| faces.triangles.len() > 50), "{file}");
            }
        }
        assert!(place.path("out/frames/small.surface_cube.pvd").exists());
        assert!(place.path("out/preview.png").exists());
    }
}

#[test]
fn surfaces_made_afterwards_are_those_of_the_run() {
    let place = Place::with_scene("small", SMALL);
    place.succeed("run small.toml -o out --frames 2");
    let plain = fs::read(place.path("out/preview.png")).expect("a preview");
    let said = place.succeed("surface out --body cube --format ply").stdout;
    assert!(said.contains("3 surfaces"), "{said}");
    assert!(place.path("out/frames/small.surface_cube_0002.ply").exists());
    let made = index(&place)[2].read_surfaces(&place.path("out")).expect("surfaces");
    place.succeed("render out");
    assert_ne!(fs::read(place.path("out/preview.png")).expect("a preview"), plain);
    place.write("small.toml", &with_surface("skin"));
    place.succeed("run small.toml -o out --frames 2");
    let written = index(&place)[2].read_surfaces(&place.path("out")).expect("surfaces");
    let (made, written) = (&made[0].frame, &written[0].frame);
    assert_eq!(made.faces, written.faces);
    for (a, b) in made.positions.iter().flatten().zip(written.positions.iter().flatten()) {
        // stored particles are single precision
        assert!((a - b).abs() < 1e-5, "{a} and {b}");
    }
}

#[test]
fn damaged_folders_and_wrong_wishes_are_refused() {
    let place = Place::with_scene("small", SMALL);
    place.succeed("run small.toml -o out --frames 1");
    for (arguments, reason) in [
        ("surface none", "no scene.toml"),
        ("surface out --body cub", "the bodies are: cube"),
        ("surface out --cell 99", "--cell"),
        ("surface out --cell nan", "--cell"),
        ("surface out --format csv", "triangles"),
    ] {
        let error = place.fail(arguments, 2);
        assert!(error.contains(reason), "{arguments}: {error}");
    }
    let frame = place.path("out/frames/small_0001.vtu");
    let whole = fs::read(&frame).expect("a frame");
    fs::write(&frame, &whole[..whole.len() / 2]).expect("half a frame");
    assert!(place.fail("surface out", 2).contains("small_0001.vtu"));
    fs::write(&frame, &whole).expect("a frame");
    let finer = SMALL.replace("spacing = 0.1", "spacing = 0.05");
    fs::write(place.path("out/scene.toml"), finer).expect("another scene");
    let error = place.fail("surface out", 2);
    assert!(error.contains("27 particles") && error.contains("run the scene again"), "{error}");
    fs::write(place.path("out/frames/index.json"), "{").expect("half an index");
    assert!(place.fail("surface out", 2).contains("index.json"));
}

#[cfg(unix)]
#[test]
fn a_movie_is_piped_to_ffmpeg_if_there_is_one() {
    use crate::support::End;
    use std::os::unix::fs::PermissionsExt;
    let place = Place::with_scene("small", SMALL);
    place.succeed("run small.toml -o out");
    let folder = place.path("programs");
    fs::create_dir(&folder).expect("a folder");
    let encode =
        || End::of(place.pliant("render out -o a.mp4").env("PATH", &folder).output().expect("it starts"));
    let End { code, stderr: error, .. } = encode();
    assert_eq!(code, Some(1));
    assert!(error.contains("install ffmpeg") && error.contains(".gif"), "{error}");
    // One that stores what it is given.
    let program = folder.join("ffmpeg");
    fs::write(&program, "#!/bin/sh\nfor last; do :; done\n/bin/cat > \"$last\"\n").expect("a program");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("a program");
    assert_eq!(encode().code, Some(0));
    let movie = fs::read(place.path("a.mp4")).expect("a movie");
    assert_eq!((movie.len() % (96 * 54 * 3), movie.is_empty()), (0, false));
    // And one that fails.
    fs::write(&program, "#!/bin/sh\necho no codec >&2\nexit 1\n").expect("a program");
    fs::remove_file(place.path("a.mp4")).expect("a movie");
    let End { code, stderr: error, .. } = encode();
    assert_eq!(code, Some(1));
    assert!(error.contains("no codec"), "{error}");
    assert_eq!(place.names_in(""), ["out", "programs", "small.toml"]);
}
