//! Scenes that come with the program.

/// A scene of the `scenes` folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bundled {
    pub name: &'static str,
    /// What one should see: the first line of the file.
    pub summary: &'static str,
    pub text: &'static str,
}

/// One line for each file `scenes/NAME.toml`.
macro_rules! bundled {
    ($( $name:literal ),* $(,)?) => {
        &[$( Bundled::new($name, include_str!(concat!("../../../../scenes/", $name, ".toml"))) ),*]
    };
}

pub const BUNDLED: &[Bundled] = bundled![
    "playground", // the default
    "falling_cuboid",
    "cantilever",
    "twist",
    "tumble",
    "sombrero",
    "membrane",
    "rods",
    "spin",
    "cuboids_plane",
    "versus_stvk",
    "stiff_soft_stiff",
    "armadillo_trio",
    "dominoes",
    "honey",
    "droplet",
    "dam_break",
    "pool",
    "capsule_shot",
    "cloth",
    "dissolve",
    "four_in_a_box",
    "ducks",
    "hairball",
];

/// The scene that runs where none is named.
pub const fn default_scene() -> &'static str {
    "playground"
}

/// A commented scene to start from; it runs as it is.
pub const fn starter() -> &'static str {
    include_str!("starter.toml")
}

/// A bundled scene by its name.
pub fn find(name: &str) -> Option<&'static Bundled> {
    BUNDLED.iter().find(|bundled| bundled.name == name)
}

impl Bundled {
    const fn new(name: &'static str, text: &'static str) -> Self {
        Bundled { name, summary: first_comment(text), text }
    }
}

/// The words of the first line, without its `#`.
const fn first_comment(text: &'static str) -> &'static str {
    let bytes = text.as_bytes();
    let mut start = 0;
    while start < bytes.len() && (bytes[start] == b'#' || bytes[start] == b' ') {
        start += 1;
    }
    let mut end = start;
    while end < bytes.len() && bytes[end] != b'\n' {
        end += 1;
    }
    text.split_at(end).0.split_at(start).1
}
