//! `pliant render` and the formats of frames.

use crate::support::{Place, SMALL};
use pliant::output::read_frame;

fn is_png(bytes: &[u8]) -> bool {
    bytes.starts_with(b"\x89PNG\r\n\x1a\n") && bytes.ends_with(b"IEND\xaeB`\x82")
}

fn is_gif(bytes: &[u8]) -> bool {
    bytes.starts_with(b"GIF89a") && bytes.ends_with(b";")
}

fn bytes(place: &Place, name: &str) -> Vec<u8> {
    std::fs::read(place.path(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
}

#[test]
fn a_run_can_be_drawn_again() {
    let place = Place::with_scene("small", SMALL);
    place.succeed("run small.toml -o out");
    let (preview, movie) = (bytes(&place, "out/preview.png"), bytes(&place, "out/movie.gif"));
    assert!(is_png(&preview) && is_gif(&movie));

    let said = place.succeed("render out -o a.png").stdout;
    assert_eq!(said.trim(), "a.png");
    assert!(is_png(&bytes(&place, "a.png")));
    place.succeed("render out -o b.gif");
    assert!(is_gif(&bytes(&place, "b.gif")));
    assert!(!place.path("b.png").exists() && !place.path("a.gif").exists());

    std::fs::remove_file(place.path("out/movie.gif")).expect("a movie");
    place.succeed("render out");
    assert!(is_png(&bytes(&place, "out/preview.png")));
    assert_eq!(bytes(&place, "out/movie.gif").len(), movie.len());

    place.succeed("render out -o fast.png --set render.color_by=speed --set camera.position=[1,1,1]");
    assert_ne!(bytes(&place, "fast.png"), bytes(&place, "a.png"));
}

#[test]
fn pictures_of_another_kind_are_refused() {
    let place = Place::with_scene("small", SMALL);
    place.succeed("run small.toml -o out");
    for name in ["a.jpg", "a", "a.toml"] {
        let error = place.fail(&format!("render out -o {name}"), 2);
        assert!(error.contains(".png") && error.contains(".gif"), "{error}");
        assert!(!place.path(name).exists());
    }
    let error = place.fail("render out --set render.color_by=taste", 2);
    assert!(error.contains("taste"), "{error}");
}

#[test]
fn frames_are_stored_in_the_formats_asked_for() {
    let place = Place::with_scene("small", SMALL);
    for (dir, formats, endings) in [
        ("ply", "[\"ply\"]", vec!["ply"]),
        ("both", "[\"vtk\",\"ply\"]", vec!["vtu", "ply"]),
        ("turned", "[\"ply\",\"vtk\"]", vec!["ply", "vtu"]),
        ("artists", "[\"usd\",\"npz\"]", vec!["usdc", "npz"]),
    ] {
        place.succeed(&format!("run small.toml -o {dir} --set output.formats={formats}"));
        for entry in pliant::output::read_index(&place.path(dir)).expect("an index") {
            let expected: Vec<String> =
                endings.iter().map(|ending| format!("small_{:04}.{ending}", entry.frame)).collect();
            assert_eq!(entry.files, expected);
            for file in entry.files {
                let frame = read_frame(&place.path(dir).join("frames").join(file)).expect("a frame");
                assert_eq!((frame.index, frame.time, frame.positions.len()), (entry.frame, entry.time, 27));
            }
        }
        assert!(is_gif(&bytes(&place, &format!("{dir}/movie.gif"))));
        assert!(is_png(&bytes(&place, &format!("{dir}/preview.png"))));
    }
}

#[test]
fn a_run_without_frames_leaves_a_preview_and_no_movie() {
    let place = Place::with_scene("small", SMALL);
    place.succeed("run small.toml -o none --set output.formats=[]");
    assert_eq!(place.names_in("none/frames"), ["index.json"]);
    assert!(!place.path("none/movie.gif").exists());
    let preview = bytes(&place, "none/preview.png");
    assert!(is_png(&preview));
    // The preview shows the end of the run; there is nothing to draw a later picture from.
    for arguments in ["render none", "render none -o a.png", "render none -o a.gif"] {
        let error = place.fail(arguments, 2);
        assert!(error.contains("no stored frames"), "{error}");
    }
    assert_eq!(bytes(&place, "none/preview.png"), preview);
    assert_eq!(place.names_in(""), ["none", "small.toml"]);
}

#[test]
fn one_frame_is_a_picture_and_no_movie() {
    let place = Place::with_scene("small", SMALL);
    place.succeed("run small.toml -o out --frames 0");
    assert!(!place.path("out/movie.gif").exists());
    place.succeed("render out -o a.png");
    let error = place.fail("render out -o a.gif", 2);
    assert!(error.contains("one frame"), "{error}");
}
