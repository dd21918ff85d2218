//! Settings given beside the file: `key.path=value`.

use toml::de::DeValue;

use super::error::SceneError;
use super::suggest::{did_you_mean, quoted};
use super::tree::{Grower, Kind, Node, Place, Source};

/// Keys of one path; no key of a scene lies deeper.
const LONGEST_PATH: usize = 16;

const FORM: &str =
    "write --set key.path=value, as in --set simulation.spacing=0.01 or --set bodies.cube.velocity=[0,1,0]";

/// Merges one override into the tree; everything it sets points back to it.
pub(super) fn apply(source: &mut Source, index: usize) -> Result<(), SceneError> {
    let setting = source.overrides[index].clone();
    let whole = Place { overridden_by: Some(index), span: 0..setting.len() };
    let Some((path, value)) = setting.split_once('=') else {
        return Err(source.error(&whole).saying("this setting has no value", FORM));
    };
    let keys: Vec<&str> = path.split('.').map(|key| key.trim().trim_matches(['"', '\''])).collect();
    let key_place = Place { overridden_by: Some(index), span: 0..path.len() };
    if keys.iter().any(|key| key.is_empty()) || keys.len() > LONGEST_PATH {
        return Err(source.error(&key_place).saying("this is not a path of keys", FORM));
    }
    let mut node = value_node(source, index, path.len() + 1, value)?;
    node.key = Some(key_place.clone());
    let mut root =
        std::mem::replace(&mut source.root, Node { key: None, place: whole, kind: Kind::Bool(false) });
    let placed = put(&mut root, &keys, node, &key_place);
    source.root = root;
    placed.map_err(|(message, help)| source.error(&key_place).saying(message, help))
}

/// The value as TOML, or as bare text where it does not look like TOML.
fn value_node(source: &Source, index: usize, start: usize, value: &str) -> Result<Node, SceneError> {
    let trimmed = value.trim();
    let offset = start + (value.len() - value.trim_start().len());
    let place = Place { overridden_by: Some(index), span: offset..offset + trimmed.len() };
    if trimmed.is_empty() {
        return Err(source.error(&place).saying("this setting has no value", FORM));
    }
    match DeValue::parse(trimmed) {
        Ok(parsed) => Grower { source, overridden_by: Some(index), offset }.node(parsed),
        Err(error) if trimmed.starts_with(['[', '{', '"', '\'']) => {
            let message =
                format!("the value is not valid TOML: {}", error.message().lines().next().unwrap_or(""));
            Err(source.error(&place).saying(message, FORM))
        }
        Err(_) => Ok(Node { key: None, place, kind: Kind::Text(trimmed.to_owned()) }),
    }
}

type Refusal = (String, String);

/// Walks down the path, making tables where there are none, and puts the value at its end.
fn put(root: &mut Node, keys: &[&str], value: Node, place: &Place) -> Result<(), Refusal> {
    let mut at = root;
    let mut name = "";
    for &key in keys {
        at = match &mut at.kind {
            Kind::Table(entries) => match entries.iter().position(|(entry, _)| entry == key) {
                Some(found) => &mut entries[found].1,
                None => {
                    let kind = Kind::Table(Vec::new());
                    entries.push((
                        key.to_owned(),
                        Node { key: Some(place.clone()), place: place.clone(), kind },
                    ));
                    let last = entries.len() - 1;
                    &mut entries[last].1
                }
            },
            Kind::List(nodes) => element(nodes, name, key)?,
            other => {
                let message =
                    format!("{} is {}, and has no key {}", quoted(name), other.describe(), quoted(key));
                return Err((message, "shorten the path, or set the whole value".into()));
            }
        };
        name = key;
    }
    *at = Node { key: at.key.take(), ..value };
    Ok(())
}

/// An element by its number from 0, or by its name.
fn element<'a>(nodes: &'a mut [Node], list: &str, key: &str) -> Result<&'a mut Node, Refusal> {
    let names: Vec<String> =
        nodes.iter().enumerate().map(|(index, node)| name_of(node, list, index)).collect();
    let by_number = key.parse::<usize>().ok().filter(|&index| index < nodes.len());
    match by_number.or_else(|| names.iter().position(|name| name == key)) {
        Some(index) => Ok(&mut nodes[index]),
        None => {
            let near = did_you_mean(key, names.iter().map(String::as_str));
            let message = format!("{} has no element {}{near}", quoted(list), quoted(key));
            let shown: Vec<&str> = names.iter().take(10).map(String::as_str).collect();
            let help = match nodes.len() {
                0 => "the list is empty; set all of it".into(),
                count => format!("use a number from 0 to {} or a name: {}", count - 1, shown.join(", ")),
            };
            Err((message, help))
        }
    }
}

fn name_of(node: &Node, list: &str, index: usize) -> String {
    match node.child("name").map(|name| &name.kind) {
        Some(Kind::Text(name)) => name.clone(),
        _ => default_name(list, index),
    }
}

/// Name of a nameless element: `body1`, `rigid2`, ...
pub(super) fn default_name(list: &str, index: usize) -> String {
    let one = match list {
        "bodies" => "body",
        other => other.strip_suffix('s').unwrap_or(other),
    };
    format!("{one}{}", index + 1)
}
