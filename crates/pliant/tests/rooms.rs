//! The rooms of the library: each uses only rooms listed above it in `lib.rs`, none prints or ends the program.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let listed = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<PathBuf> = listed.map(|entry| entry.expect("a readable folder").path()).collect();
    paths.sort();
    paths
}

/// Name of a room: the last part of the path, without its extension.
fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// The rooms in the order of the table in `lib.rs`: lines such as ``//! | [`math`] | numbers |``.
fn rooms_of_the_table() -> Vec<String> {
    let name = |line: &str| Some(line.strip_prefix("//! | [`")?.split_once("`]")?.0.to_owned());
    read(&source().join("lib.rs")).lines().filter_map(name).collect()
}

/// The Rust files of a room, without those that only hold tests.
fn files_of(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for path in entries(folder).into_iter().filter(|path| stem(path) != "tests") {
        if path.is_dir() {
            files.extend(files_of(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files
}

/// The lines of a file with their numbers, without comments and without its test module, which comes last.
fn code_lines(text: &str) -> Vec<(usize, &str)> {
    let numbered = (1..).zip(text.lines());
    let lines = numbered.take_while(|(_, line)| line.trim() != "#[cfg(test)]");
    lines.map(|(number, line)| (number, line.split("//").next().unwrap_or_default())).collect()
}

/// What follows each `crate::` of a line: the names of rooms.
fn named_rooms(line: &str) -> Vec<&str> {
    let end = |rest: &str| rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
    line.split("crate::").skip(1).map(|rest| &rest[..end(rest)]).collect()
}

/// Calls `check(room, place, line)` for each line of code of the library.
fn for_each_line(mut check: impl FnMut(&str, &str, &str)) {
    for room in rooms_of_the_table() {
        for file in files_of(&source().join(&room)) {
            let text = read(&file);
            for (number, line) in code_lines(&text) {
                check(&room, &format!("{}:{number}", file.display()), line);
            }
        }
    }
}

#[test]
fn every_room_uses_only_rooms_above_it() {
    let rooms = rooms_of_the_table();
    let position = |name: &str| rooms.iter().position(|room| room == name);
    let mut seen = 0;
    for_each_line(|room, place, line| {
        for name in named_rooms(line) {
            let Some(used) = position(name) else {
                panic!("{place}: `crate::{name}` names no room; write one `use crate::room` a line");
            };
            seen += 1;
            assert!(Some(used) <= position(room), "{place}: {room} uses {name}, which stands below it");
        }
    });
    assert!(seen > 50, "only {seen} uses found: does this test still read the sources?");
}

#[test]
fn the_table_of_the_library_lists_its_folders() {
    let table = rooms_of_the_table();
    let listed: BTreeSet<String> = table.iter().cloned().collect();
    assert_eq!(listed.len(), table.len(), "a room is listed twice");
    let others = entries(&source()).into_iter().filter(|path| stem(path) != "lib");
    let found: BTreeSet<String> = others.map(|path| stem(&path)).collect();
    assert_eq!(listed, found, "the table in lib.rs and the folders of src");
    let text = read(&source().join("lib.rs"));
    let declared = text.lines().filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';'));
    assert_eq!(listed, declared.map(str::to_owned).collect(), "the table in lib.rs and its modules");
}

#[test]
fn the_library_never_prints_and_never_exits() {
    let forbidden = ["println!", "eprintln!", "print!(", "eprint!(", "dbg!(", "process::exit"];
    for_each_line(|_, place, line| {
        for word in forbidden {
            assert!(!line.contains(word), "{place}: {word} belongs in the command line program");
        }
    });
}
