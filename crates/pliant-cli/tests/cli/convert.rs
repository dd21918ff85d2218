//! `pliant convert`.

use crate::support::{Place, SMALL};
use pliant::output::{Frame, read_frame, read_index};
use pliant::scene::Format;

/// A run of a few frames in `out`.
fn ran() -> Place {
    let place = Place::with_scene("small", SMALL);
    place.succeed("run small.toml -o out --frames 3");
    place
}

fn frame(place: &Place, name: &str) -> Frame {
    read_frame(&place.path(name)).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn a_frame_keeps_its_numbers_in_every_format() {
    let place = ran();
    let original = frame(&place, "out/frames/small_0002.vtu");
    for (format, word) in Format::ALL {
        let file = format!("a.{}", pliant::output::extension(format));
        let said = place.succeed(&format!("convert out/frames/small_0002.vtu -o {file}"));
        assert_eq!(said.stdout.trim(), file);
        assert_eq!(said.stderr.contains("no place for: velocity"), format == Format::Obj, "{}", said.stderr);
        let found = frame(&place, &file);
        assert_eq!(found.positions, original.positions, "{word}");
        if format != Format::Obj {
            assert_eq!(found.fields, original.fields, "{word}");
        }
        place.succeed(&format!("convert {file} -o back.vtu"));
        assert_eq!(frame(&place, "back.vtu").positions, original.positions, "{word}");
    }
}

#[test]
fn a_run_becomes_a_folder_in_another_format() {
    let place = ran();
    for (_, word) in Format::ALL {
        place.succeed(&format!("convert out -o {word} --format {word} --compress"));
        let (old, new) = (read_index(&place.path("out")), read_index(&place.path(word)));
        let (old, new) = (old.expect("an index"), new.expect("an index"));
        assert_eq!(new.len(), 4);
        for (old, new) in old.iter().zip(&new) {
            assert_eq!((old.frame, old.time), (new.frame, new.time));
            let read = |entry: &pliant::output::IndexEntry, dir: &str| {
                entry.read(&place.path(dir)).expect("a file").expect("a frame").positions
            };
            assert_eq!(read(old, "out"), read(new, word), "{word}");
        }
    }
    assert!(place.path("usd/frames/small.usda").exists() && place.path("vtk/frames/small.pvd").exists());
    let film = place.succeed("convert out -o film.usdc").stdout;
    assert_eq!(film.trim(), "film.usdc");
}

#[test]
fn what_cannot_be_converted_is_refused_and_left_alone() {
    let place = ran();
    place.write("text.vtu", "hello");
    for (arguments, reason) in [
        ("convert none.vtu -o a.ply", "none.vtu"),
        ("convert text.vtu -o a.ply", "text.vtu"),
        ("convert out/frames/small_0000.vtu -o a.doc", ".bgeo"),
        ("convert out/frames/small_0000.vtu -o out", "is a folder"),
        ("convert out -o new", "--format"),
        ("convert out -o out --format ply", "not empty"),
        ("convert out/frames -o new --format ply", "index.json"),
        ("convert out -o new --format doc", "bgeo"),
        ("convert out -o new.usdc --fps 0", "number"),
    ] {
        let error = place.fail(arguments, 2);
        assert!(error.contains(reason), "{arguments}: {error}");
    }
    assert_eq!(place.names_in(""), ["out", "small.toml", "text.vtu"]);
    assert_eq!(read_index(&place.path("out")).expect("an index").len(), 4);
}
