//! Nothing a user can write makes the scene reader panic, hang or point outside the file.

use std::time::{Duration, Instant};

use pliant::scene::{BUNDLED, Scene, SceneError, starter};

const SCENES: usize = 120_000;

/// Longest time one small scene may take; thousands of times the usual, for busy machines.
const LONGEST: Duration = Duration::from_secs(5);

/// Pieces of scenes: numbers at the edges, values, punctuation, keys, headings.
#[rustfmt::skip]
const WORDS: &[&str] = &[
    "nan", "-nan", "inf", "-inf", "1e308", "-1e308", "1e999", "1e-320", "-0", "-0.0", "0", "1", "-1", "0.5", "1e-6",
    "1_000", "0xff", "9223372036854775807", "99999999999999999999", "true", "\"\"", "\"all\"", "\"mesh\"", "''", "[]",
    "{}", "[0, 0, 0]", "[1, 2]", "[nan, 0, 0]", "[[1], 2]", "[3, 2, 1]", "[1000000, 1000000, 1000000]", "1979-05-27",
    "\"#ff00ff\"", "\"é😀\"", "\"a,b\"", "\"\\u0000\"", "\"\"\"", "'", "\"", "#", "=", ".", ",", "[", "]", "{", "}",
    "\n", "\r\n", "\t", "\u{feff}", "\u{0}", "spacing", "duration", "gravity", "time_step", "pressure = \"iisph\"",
    "kernel = \"cubic_spline\"", "support = 4.0001", "seed = -1", "fps", "formats = [\"vtk\", \"vtk\"]",
    "checkpoint_every", "model = \"becker2009\"", "strain = \"green\"", "law = \"corotated\"", "youngs_modulus",
    "poisson_ratio = 0.5", "shear_modulus", "bulk_modulus", "zero_energy", "damping", "xsph", "friction",
    "restitution", "name", "material", "shape", "sampling", "position", "rotation", "velocity", "angular_velocity",
    "initial_stretch", "color", "array = { count = [2, 3, 2], step = [1, 1, 1] }", "region", "motion", "until",
    "force", "at", "record", "every", "center", "inside_out = true", "axis", "degrees", "type", "size", "radius",
    "height", "length", "tube_radius", "outline", "relief", "wavelength", "\"sphere\"", "\"torus\"", "\"sheet\"",
    "\"rod\"", "\"cylinder\"", "\"capsule\"", "\"plane\"", "\"box\"", "[[bodies]]", "[[bodies.pins]]",
    "[[bodies.loads]]", "[[rigids]]", "[[probes]]", "[materials.x]", "[camera]", "[render]", "[simulation.contact]",
    "contact", "within_body", "a.b.c", "region = { type = \"sphere\", center = [0, 0, 0], radius = 1 }",
    "motion = { velocity = [0, 1, 0] }", "rotation = [{ axis = [0, 1, 0], degrees = 9 }]", "color_by = \"stress\"",
];

#[rustfmt::skip]
const PATHS: &[&str] = &[
    "simulation.spacing", "simulation.duration", "simulation", "title", "bodies", "bodies.0", "bodies.9.name",
    "bodies.cube.velocity", "bodies.0.shape.size", "bodies.0.pins.0.region", "bodies.0.array", "materials",
    "materials.jelly.youngs_modulus", "materials.x", "output.fps", "output.formats", "rigids.0.shape", "rigids.floor",
    "probes.0.record", "render.range", "camera.position", "", ".", "a..b", "é.ü", "\"simulation\".seed", "a.b.c.d",
];

/// A small generator of its own, so that every run sees the same scenes.
struct Xorshift(u64);

impl Xorshift {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() >> 11) as usize % end.max(1)
    }

    fn pick<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[self.below(list.len())]
    }
}

/// Scenes to start from: the bundled ones, the starter, and one that uses every table.
fn seeds() -> Vec<String> {
    let mut seeds: Vec<String> = BUNDLED.iter().map(|bundled| bundled.text.to_owned()).collect();
    seeds.push(starter().to_owned());
    seeds.push(include_str!("scene_full.toml").to_owned());
    seeds
}

fn mutated(random: &mut Xorshift, seeds: &[String]) -> String {
    let mut text = seeds[random.below(seeds.len())].clone();
    for _ in 0..1 + random.below(4) {
        text = match random.below(8) {
            0 => flipped(random, text),
            1 | 2 => with_token(random, &text),
            3 => with_value(random, &text),
            4..=6 => with_lines(random, &text, seeds),
            _ => {
                let at = boundary(&text, random.below(text.len() + 1));
                format!("{}{}{}", &text[..at], random.pick(WORDS), &text[at..])
            }
        };
    }
    text
}

/// A few bits changed; what is no longer UTF-8 becomes replacement characters.
fn flipped(random: &mut Xorshift, text: String) -> String {
    let mut bytes = text.into_bytes();
    for _ in 0..1 + random.below(4) {
        let at = random.below(bytes.len());
        if let Some(byte) = bytes.get_mut(at) {
            *byte ^= 1 << random.below(8);
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// One token replaced by a word.
fn with_token(random: &mut Xorshift, text: &str) -> String {
    let tokens: Vec<&str> = text.split_inclusive([' ', ',', '\n', '=']).collect();
    let at = random.below(tokens.len());
    let word = random.pick(WORDS);
    let mut out = String::with_capacity(text.len() + word.len());
    for (index, token) in tokens.iter().enumerate() {
        if index == at {
            out.push_str(word);
            out.extend(token.chars().next_back());
        } else {
            out.push_str(token);
        }
    }
    out
}

/// The value of one line replaced by a word: most of these are still TOML.
fn with_value(random: &mut Xorshift, text: &str) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let at = random.below(lines.len());
    if let Some(line) = lines.get_mut(at)
        && let Some(equals) = line.find('=')
    {
        line.truncate(equals + 1);
        line.push_str(random.pick(WORDS));
    }
    lines.join("\n")
}

/// A line doubled or removed, the end cut off, or lines taken from another scene.
fn with_lines(random: &mut Xorshift, text: &str, seeds: &[String]) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    if lines.is_empty() {
        return text.to_owned();
    }
    let at = random.below(lines.len());
    match random.below(4) {
        0 => lines.insert(at, lines[at]),
        1 => {
            lines.remove(at);
        }
        2 => lines.truncate(at),
        _ => {
            let other: Vec<&str> = seeds[random.below(seeds.len())].lines().collect();
            let from = random.below(other.len());
            let to = (from + 1 + random.below(6)).min(other.len());
            lines.splice(at..at, other[from..to].iter().copied());
        }
    }
    lines.join("\n")
}

fn boundary(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// Half of the scenes have a setting or two.
fn settings(random: &mut Xorshift) -> Vec<String> {
    let number = random.below(6).saturating_sub(3);
    (0..number).map(|_| format!("{}={}", random.pick(PATHS), random.pick(WORDS))).collect()
}

fn assert_exact(error: &SceneError, text: &str) {
    let lines = error.text.split('\n').count();
    assert!(
        error.line >= 1 && error.line as usize <= lines,
        "line {} of {lines}: {error}\n{text}",
        error.line
    );
    let line = error.text.split('\n').nth(error.line as usize - 1).unwrap_or("");
    assert!(error.column >= 1 && error.column as usize <= line.chars().count() + 1, "{error}\n{text}");
    assert!(error.text.get(error.span.clone()).is_some(), "the span lies in the text: {error}\n{text}");
    assert!(!error.message.is_empty() && !error.help.is_empty(), "{error}\n{text}");
    assert!(error.message.len() < 2000, "one message, not a book: {error}");
    assert!(!error.to_string().contains('\n'), "one line: {error}");
}

#[test]
fn no_scene_makes_the_reader_panic_hang_or_point_outside() {
    let seeds = seeds();
    let mut random = Xorshift(0x9E37_79B9_7F4A_7C15);
    let (mut accepted, mut refused) = (0, 0);
    for number in 0..SCENES {
        let text = mutated(&mut random, &seeds);
        let settings = settings(&mut random);
        let start = Instant::now();
        match Scene::from_toml("fuzz", "fuzz.toml", &text, &settings) {
            Ok(scene) => {
                accepted += 1;
                let again = Scene::from_toml("fuzz", "fuzz.toml", &scene.resolved_toml(), &[]);
                assert_eq!(
                    again.as_ref(),
                    Ok(&scene),
                    "scene {number} changes when resolved:\n{text}\n{settings:?}"
                );
            }
            Err(error) => {
                refused += 1;
                assert_exact(&error, &text);
            }
        }
        assert!(start.elapsed() < LONGEST, "scene {number} took {:?}:\n{text}", start.elapsed());
    }
    // both kinds must be common, or the mutations test nothing
    assert!(accepted > SCENES / 50 && refused > SCENES / 4, "{accepted} accepted, {refused} refused");
}
