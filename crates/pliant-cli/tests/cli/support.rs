//! A folder of its own for each test, the program, and what a run left behind.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

/// Liquid from an emitter and a block in a container, with a soft cube and a rigid ball: enough liquid for coarse grids.
pub const WET: &str = r#"
title = "Pouring"

[simulation]
spacing = 0.04
duration = 0.4
pressure = "iisph"
time_step = { max = 0.004 }

[output]
fps = 50
checkpoint_every = 0.04

[render]
size = [96, 54]

[materials.water]
model = "fluid"
density = 1000

[materials.jelly]
density = 800
youngs_modulus = 5e4
model = "peer2018"

[[bodies]]
name = "pool"
material = "water"
shape = { type = "box", size = [0.8, 0.64, 0.8] }
position = [0, 0.32, 0]

[[bodies]]
name = "cube"
material = "jelly"
shape = { type = "box", size = [0.16, 0.16, 0.16] }
position = [0.1, 0.8, 0.1]

[[emitters]]
name = "tap"
material = "water"
mouth = { type = "circle", radius = 0.08 }
position = [-0.2, 1.0, 0]
direction = [0, -1, 0]
speed = 2
end = 0.3

[[rigids]]
name = "tank"
shape = { type = "box", size = [0.8, 1.2, 0.8], inside_out = true }
position = [0, 0.6, 0]

[[rigids]]
name = "ball"
shape = { type = "sphere", radius = 0.1 }
position = [0.15, 1.02, -0.15]
motion = "dynamic"
density = 400
"#;

/// Everything at once, in about four hundred particles: two bodies that collide, a pinned and loaded sheet, probes
/// of both kinds, a driven rigid, a floor. 30 frames a second do not divide the duration.
pub const BUSY: &str = r#"
title = "Collision under an awning"

[simulation]
spacing = 0.05
duration = 0.95

[output]
fps = 30
checkpoint_every = 0.1

[render]
size = [96, 54]

[materials.rubber]
density = 1000
youngs_modulus = 4e5
poisson_ratio = 0.3
friction = 0.4

[materials.cloth]
density = 800
model = "becker2009"
youngs_modulus = 1e5
damping = 1.0

[[bodies]]
name = "cube"
material = "rubber"
shape = { type = "box", size = [0.25, 0.25, 0.25] }
position = [-0.3, 0.3, 0]
rotation = { axis = [0, 0, 1], degrees = 20 }
velocity = [1.5, 0, 0]

[[bodies]]
name = "ball"
material = "rubber"
shape = { type = "sphere", radius = 0.15 }
position = [0.2, 0.35, 0]
velocity = [-1, 0, 0]
angular_velocity = [0, 0, 4]

[[bodies]]
name = "awning"
material = "cloth"
shape = { type = "sheet", size = [0.4, 0.3] }
position = [0, 0.8, 0]

[[bodies.pins]]
region = { type = "box", min = [-1, -1, -1], max = [-0.15, 1, 1] }

[[bodies.pins]]
region = { type = "box", min = [0.15, -1, -1], max = [1, 1, 1] }
motion = { velocity = [0, 0.1, 0] }
until = 0.4

[[bodies.loads]]
region = { type = "sphere", center = [0, 0, 0], radius = 0.1 }
force = [0, 1, 0]
until = 0.3

[[rigids]]
name = "floor"
shape = { type = "plane", normal = [0, 1, 0] }
friction = 0.4

[[rigids]]
name = "paddle"
shape = { type = "box", size = [0.1, 0.4, 0.4] }
position = [-0.8, 0.2, 0]
motion = { velocity = [0.5, 0, 0] }

[[probes]]
name = "corner"
body = "cube"
at = [0.1, 0.1, 0.1]
record = ["position", "velocity", "deformation_gradient", "stress"]
every = 0.004

[[probes]]
name = "middle"
body = "awning"
region = { type = "sphere", center = [0, 0, 0], radius = 0.1 }
"#;

/// One cube that falls a little: the quickest run there is.
pub const SMALL: &str = r#"
[simulation]
spacing = 0.1
duration = 0.1

[output]
fps = 50

[render]
size = [96, 54]

[materials.rubber]
youngs_modulus = 1e5

[[bodies]]
name = "cube"
material = "rubber"
shape = { type = "box", size = [0.3, 0.3, 0.3] }
"#;

/// One end is held, the other is pulled away at 300 m/s: after some frames the body has come apart.
pub const EXPLODING: &str = r#"
[simulation]
spacing = 0.05
duration = 1.0

[output]
fps = 200
checkpoint_every = 0.01

[render]
size = [96, 54]

[materials.glass]
youngs_modulus = 1e5

[[bodies]]
name = "splinter"
material = "glass"
shape = { type = "box", size = [0.3, 0.2, 0.2] }

[[bodies.pins]]
region = { type = "box", min = [-1, -1, -1], max = [-0.1, 1, 1] }

[[bodies.pins]]
region = { type = "box", min = [0.1, -1, -1], max = [1, 1, 1] }
motion = { velocity = [300, 0, 0] }
"#;

/// A folder that is removed with its contents at the end of the test.
pub struct Place(PathBuf);

impl Place {
    pub fn new(name: &str) -> Place {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let dir = std::env::temp_dir().join(format!("pliant-cli-{}-{number}-{name}", std::process::id()));
        std::fs::create_dir_all(&dir).expect("the folder for temporary files can be written");
        Place(dir)
    }

    /// A place with `scene.toml`'s text in `busy.toml` or whatever it is called.
    pub fn with_scene(name: &str, text: &str) -> Place {
        let place = Place::new(name);
        place.write(&format!("{name}.toml"), text);
        place
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).expect("a file in the test's own folder");
    }

    /// The program, started here.
    pub fn pliant(&self, arguments: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_pliant"));
        command.args(arguments.split_whitespace()).current_dir(&self.0).stdin(Stdio::null());
        command
    }

    pub fn end_of(&self, arguments: &str) -> End {
        End::of(self.pliant(arguments).output().expect("the program starts"))
    }

    /// Runs a command that must end well; gives its standard output.
    pub fn succeed(&self, arguments: &str) -> End {
        let end = self.end_of(arguments);
        assert_eq!(end.code, Some(0), "pliant {arguments}\n{}\n{}", end.stdout, end.stderr);
        end
    }

    /// Runs a command that must end with this code; gives its one error.
    pub fn fail(&self, arguments: &str, code: i32) -> String {
        let end = self.end_of(arguments);
        assert_eq!(end.code, Some(code), "pliant {arguments}\n{}\n{}", end.stdout, end.stderr);
        assert!(!end.stderr.contains("panicked"), "{}", end.stderr);
        end.stderr
    }

    /// The results of a run's folder.
    pub fn results(&self, dir: &str) -> Results {
        Results::of(&self.path(dir))
    }

    pub fn names_in(&self, dir: &str) -> Vec<String> {
        names_in(&self.path(dir))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// How the program ended.
pub struct End {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl End {
    pub fn of(output: Output) -> End {
        End {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).expect("text on standard output"),
            stderr: String::from_utf8(output.stderr).expect("text on standard error"),
        }
    }

    /// Standard output as JSON lines.
    pub fn events(&self) -> Vec<Value> {
        let parse = |line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"));
        self.stdout.lines().map(parse).collect()
    }
}

/// What two runs of one scene have in common to the last bit.
#[derive(Debug, PartialEq)]
pub struct Results {
    pub state_hash: String,
    pub steps: u64,
    pub retries: u64,
    /// `stats.csv` without its columns of wall time.
    pub stats: Vec<Vec<String>>,
    pub probes: String,
    /// Frame, time and files of `frames/index.json`.
    pub frames: Value,
}

impl Results {
    pub fn of(dir: &Path) -> Results {
        let summary = json(&dir.join("summary.json"));
        Results {
            state_hash: summary["state_hash"].as_str().expect("a state_hash").to_string(),
            steps: summary["steps"].as_u64().expect("a number of steps"),
            retries: summary["retries"].as_u64().expect("a number of retries"),
            stats: physical_columns(&text(&dir.join("stats.csv"))),
            probes: std::fs::read_to_string(dir.join("probes.csv")).unwrap_or_default(),
            frames: json(&dir.join("frames/index.json")),
        }
    }
}

fn physical_columns(table: &str) -> Vec<Vec<String>> {
    let rows: Vec<Vec<String>> =
        table.lines().map(|row| row.split(',').map(str::to_string).collect()).collect();
    let physical: Vec<bool> = rows[0].iter().map(|name| !name.starts_with("ms_")).collect();
    let keep = |row: &Vec<String>| {
        assert_eq!(row.len(), physical.len(), "a whole row: {row:?}");
        row.iter().zip(&physical).filter(|(_, keep)| **keep).map(|(cell, _)| cell.clone()).collect()
    };
    rows.iter().map(keep).collect()
}

/// The cells of a column of `stats.csv` or `probes.csv`, without its head.
pub fn column(path: &Path, name: &str) -> Vec<String> {
    let table = text(path);
    let mut rows = table.lines().map(|row| row.split(','));
    let head = rows.next().expect("a header");
    let number = head.into_iter().position(|head| head == name);
    let number = number.unwrap_or_else(|| panic!("{} has a column {name}", path.display()));
    rows.map(|mut row| row.nth(number).expect("a whole row").to_string()).collect()
}

pub fn text(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

pub fn json(path: &Path) -> Value {
    serde_json::from_str(&text(path)).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// Names of the entries of a folder, sorted; none if there is no folder.
pub fn names_in(dir: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries.map(|e| e.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}
