//! Writes the merged tree back as TOML.

use std::fmt::Write;
use std::path::Path;

use super::suggest::one_line;
use super::tree::{Kind, Node, Source};

/// The scene with its overrides merged in; the text itself where there are none. Files of shapes get whole paths, so that
/// the text can be read from another folder.
pub(super) fn text(source: &Source) -> String {
    if source.overrides.is_empty() {
        return with_whole_paths(source);
    }
    let mut out = String::new();
    for setting in &source.overrides {
        let _ = writeln!(out, "# with --set {}", one_line(setting));
    }
    let mut root = source.root.clone();
    for node in shape_files(&mut root) {
        if let Kind::Text(path) = &mut node.kind {
            *path = whole_path(source, path);
        }
    }
    body(&mut out, &root, "");
    out
}

/// The text with other words where files are named.
fn with_whole_paths(source: &Source) -> String {
    let mut root = source.root.clone();
    let mut text = source.text.to_string();
    let mut files = shape_files(&mut root);
    files.sort_by_key(|node| std::cmp::Reverse(node.place.span.start));
    for node in files {
        if let Kind::Text(path) = &node.kind {
            text.replace_range(node.place.span.clone(), &quoted(&whole_path(source, path)));
        }
    }
    text
}

/// The values of `file` in shapes of bodies and rigid bodies.
fn shape_files(root: &mut Node) -> Vec<&mut Node> {
    let Kind::Table(entries) = &mut root.kind else { return Vec::new() };
    let lists = entries.iter_mut().filter(|(key, _)| key == "bodies" || key == "rigids");
    let bodies = lists.flat_map(|(_, list)| match &mut list.kind {
        Kind::List(bodies) => bodies.as_mut_slice(),
        _ => &mut [],
    });
    bodies.filter_map(|body| body.child_mut("shape")?.child_mut("file")).collect()
}

/// A path that means the same from everywhere; the path itself where the system knows no folder.
fn whole_path(source: &Source, path: &str) -> String {
    let folder = Path::new(&source.file).parent().unwrap_or(Path::new(""));
    let whole = std::path::absolute(folder.join(path)).ok();
    whole.and_then(|whole| Some(whole.to_str()?.to_owned())).unwrap_or_else(|| path.to_owned())
}

/// Plain entries first, then the tables that get headings of their own.
fn body(out: &mut String, node: &Node, path: &str) {
    let Kind::Table(entries) = &node.kind else { return };
    for (key, node) in entries.iter().filter(|(key, node)| !has_heading(path, key, node)) {
        let _ = writeln!(out, "{} = {}", bare_or_quoted(key), inline(node));
    }
    for (key, node) in entries.iter().filter(|(key, node)| has_heading(path, key, node)) {
        let path =
            if path.is_empty() { bare_or_quoted(key) } else { format!("{path}.{}", bare_or_quoted(key)) };
        match &node.kind {
            Kind::List(nodes) => {
                for node in nodes {
                    let _ = writeln!(out, "\n[[{path}]]");
                    body(out, node, &path);
                }
            }
            _ => {
                // a table that only holds tables with headings needs none itself
                if path != "materials" {
                    let _ = writeln!(out, "\n[{path}]");
                }
                body(out, node, &path);
            }
        }
    }
}

/// Tables at the top, materials, and lists of tables at the top or of a body.
fn has_heading(path: &str, key: &str, node: &Node) -> bool {
    match &node.kind {
        Kind::Table(_) => path.is_empty() || path == "materials",
        Kind::List(nodes) => {
            let all_tables = nodes.iter().all(|node| matches!(node.kind, Kind::Table(_)));
            let place = path.is_empty() || (path == "bodies" && (key == "pins" || key == "loads"));
            place && all_tables && !nodes.is_empty()
        }
        _ => false,
    }
}

fn inline(node: &Node) -> String {
    match &node.kind {
        Kind::Text(text) => quoted(text),
        Kind::Integer(number) => number.to_string(),
        Kind::Float(number) if number.is_nan() => "nan".into(),
        Kind::Float(number) => format!("{number:?}"),
        Kind::Bool(flag) => flag.to_string(),
        Kind::Date(date) => date.clone(),
        Kind::List(nodes) => {
            let values: Vec<String> = nodes.iter().map(inline).collect();
            format!("[{}]", values.join(", "))
        }
        Kind::Table(entries) => {
            let pairs =
                entries.iter().map(|(key, node)| format!("{} = {}", bare_or_quoted(key), inline(node)));
            format!("{{ {} }}", pairs.collect::<Vec<_>>().join(", "))
        }
    }
}

fn bare_or_quoted(key: &str) -> String {
    let bare = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !key.is_empty() && key.chars().all(bare) { key.to_owned() } else { quoted(key) }
}

/// A TOML basic string.
pub(super) fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            c if c.is_control() => {
                let _ = write!(out, "\\u{:04X}", c as u32);
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
