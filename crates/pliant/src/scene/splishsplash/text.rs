//! Writes TOML.

use crate::math::{Real, Vec3};
use crate::scene::resolved::quoted;

/// A scene as it grows.
#[derive(Default)]
pub(super) struct Text(String);

impl Text {
    pub fn line(&mut self, line: &str) {
        self.0 += line;
        self.0.push('\n');
    }

    /// A heading, such as `[[bodies]]`.
    pub fn heading(&mut self, heading: &str) {
        self.line(&format!("\n{heading}"));
    }

    /// A key with a value that is TOML already.
    pub fn entry(&mut self, key: &str, value: &str) {
        self.line(&format!("{key} = {value}"));
    }

    pub fn number(&mut self, key: &str, x: Real) {
        self.entry(key, &number(x));
    }

    /// A number where there is one.
    pub fn number_if(&mut self, key: &str, x: Option<Real>) {
        if let Some(x) = x {
            self.number(key, x);
        }
    }

    pub fn word(&mut self, key: &str, word: &str) {
        self.entry(key, &quoted(word));
    }

    pub fn vector(&mut self, key: &str, x: Vec3) {
        self.entry(key, &vector(x));
    }

    /// A vector unless it is zero.
    pub fn vector_if(&mut self, key: &str, x: Vec3) {
        if x != Vec3::ZERO {
            self.vector(key, x);
        }
    }

    pub fn into_string(self) -> String {
        self.0
    }
}

/// A number as TOML: the shortest that reads back the same after rounding to twelve digits, which hides what arithmetic
/// left over.
pub(super) fn number(x: Real) -> String {
    let rounded: Real = format!("{x:.11e}").parse().unwrap_or(x);
    if rounded.is_nan() { "nan".into() } else { format!("{rounded:?}") }
}

pub(super) fn vector(x: Vec3) -> String {
    format!("[{}]", x.to_array().map(number).join(", "))
}

pub(super) fn name(text: &str) -> String {
    quoted(text)
}
