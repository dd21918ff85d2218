//! Reads JSON so that no key is overlooked: every key is taken, or left with a reason, or told as unknown.

use std::cell::RefCell;
use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::math::Vec3;
use crate::scene::error::SceneError;
use crate::scene::suggest::did_you_mean;

/// What could not be taken over: where it was written, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Note {
    pub path: String,
    pub reason: String,
}

/// The notes of one import, and the name of its file.
pub(super) struct Notes {
    pub file: String,
    pub list: RefCell<Vec<Note>>,
}

impl Notes {
    pub fn add(&self, path: impl Into<String>, reason: impl Into<String>) {
        self.list.borrow_mut().push(Note { path: path.into(), reason: reason.into() });
    }

    /// A scene that cannot be taken over.
    pub fn error(&self, path: &str, what: &str, help: &str) -> SceneError {
        SceneError::unread(&self.file, format!("\"{path}\" {what}"), help)
    }
}

/// One object of the file. Dropping it tells of the keys nobody asked for.
pub(super) struct Block<'a> {
    pub path: String,
    pub notes: &'a Notes,
    entries: &'a Map<String, Value>,
    seen: RefCell<BTreeSet<&'a str>>,
    asked: RefCell<BTreeSet<&'static str>>,
}

impl<'a> Block<'a> {
    pub fn new(path: impl Into<String>, value: &'a Value, notes: &'a Notes) -> Result<Block<'a>, SceneError> {
        let path = path.into();
        let Value::Object(entries) = value else {
            return Err(notes.error(&path, "must be an object", "write it in braces: { ... }"));
        };
        Ok(Block { path, notes, entries, seen: RefCell::default(), asked: RefCell::default() })
    }

    /// Whole path of a key.
    pub fn at(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) }
    }

    pub fn keys(&self) -> impl Iterator<Item = &'a str> {
        self.entries.keys().map(String::as_str)
    }

    pub fn has(&self, key: &str) -> bool {
        self.entries.contains_key(key)
    }

    /// Takes a key by any name.
    pub fn take(&self, key: &str) -> Option<&'a Value> {
        let (key, value) = self.entries.get_key_value(key)?;
        self.seen.borrow_mut().insert(key);
        Some(value)
    }

    /// Takes every key.
    pub fn take_all(&self) {
        self.seen.borrow_mut().extend(self.keys());
    }

    fn ask(&self, key: &'static str) -> Option<&'a Value> {
        self.asked.borrow_mut().insert(key);
        self.take(key).filter(|value| !value.is_null())
    }

    pub fn number(&self, key: &'static str) -> Result<Option<f64>, SceneError> {
        let read = |value: &Value| {
            let wrong = || self.notes.error(&self.at(key), "must be a number", "write a number");
            value.as_f64().ok_or_else(wrong)
        };
        self.ask(key).map(read).transpose()
    }

    /// The number of a method.
    pub fn method(&self, key: &'static str) -> Result<Option<usize>, SceneError> {
        Ok(self.number(key)?.map(|number| if number >= 0.0 { number as usize } else { usize::MAX }))
    }

    /// true, false, 1 or 0.
    pub fn flag(&self, key: &'static str) -> Result<Option<bool>, SceneError> {
        let read = |value: &Value| match (value, value.as_f64()) {
            (Value::Bool(flag), _) => Ok(*flag),
            (_, Some(number)) => Ok(number != 0.0),
            _ => Err(self.notes.error(&self.at(key), "must be true or false", "write true or false")),
        };
        self.ask(key).map(read).transpose()
    }

    pub fn text(&self, key: &'static str) -> Result<Option<&'a str>, SceneError> {
        let wrong = || self.notes.error(&self.at(key), "must be text", "write it in quotes");
        self.ask(key).map(|value| value.as_str().ok_or_else(wrong)).transpose()
    }

    /// The first three numbers of a list.
    pub fn vector(&self, key: &'static str) -> Result<Option<Vec3>, SceneError> {
        let read = |value: &Value| {
            let part = |k: usize| value.get(k)?.as_f64();
            let parts = (part(0), part(1), part(2));
            let (Some(x), Some(y), Some(z)) = parts else {
                let help = "write three numbers in brackets: [0, 1, 0]";
                return Err(self.notes.error(&self.at(key), "must be three numbers", help));
            };
            Ok(Vec3::new(x, y, z))
        };
        self.ask(key).map(read).transpose()
    }

    /// One number for all axes, or three.
    pub fn scale(&self, key: &'static str) -> Result<Vec3, SceneError> {
        match self.entries.get(key).and_then(Value::as_f64) {
            Some(_) => Ok(Vec3::splat(self.number(key)?.unwrap_or(1.0))),
            None => Ok(self.vector(key)?.unwrap_or(Vec3::ONE)),
        }
    }

    /// The objects of a list.
    pub fn list(&self, key: &'static str) -> Result<Vec<Block<'a>>, SceneError> {
        let path = self.at(key);
        let Some(value) = self.ask(key) else { return Ok(Vec::new()) };
        let Value::Array(values) = value else {
            return Err(self.notes.error(&path, "must be a list", "write it in brackets: [ ... ]"));
        };
        let block = |(k, value): (usize, &'a Value)| Block::new(format!("{path}[{k}]"), value, self.notes);
        values.iter().enumerate().map(block).collect()
    }

    /// An object inside this one.
    pub fn inner(&self, key: &str) -> Result<Option<Block<'a>>, SceneError> {
        match self.entries.get(key) {
            Some(Value::Object(_)) => {
                let value = self.take(key).filter(|value| value.is_object());
                value.map(|value| Block::new(self.at(key), value, self.notes)).transpose()
            }
            _ => Ok(None),
        }
    }

    /// Tells that these keys, where they are given, are not taken over.
    pub fn leave(&self, keys: &[&'static str], reason: &str) {
        for &key in keys {
            let told = self.seen.borrow().contains(key);
            if self.ask(key).is_some() && !told {
                self.notes.add(self.at(key), reason);
            }
        }
    }

    /// Tells something about a key.
    pub fn note(&self, key: &str, reason: impl Into<String>) {
        self.notes.add(self.at(key), reason);
    }
}

impl Drop for Block<'_> {
    fn drop(&mut self) {
        let (seen, asked) = (self.seen.borrow(), self.asked.borrow());
        for key in self.entries.keys().filter(|key| !seen.contains(key.as_str())) {
            // who misspells a key has not given the right one
            let free = asked.iter().copied().filter(|key| !self.entries.contains_key(*key));
            let near = did_you_mean(key, free);
            self.notes.add(self.at(key), format!("this key is not known{near}"));
        }
    }
}
