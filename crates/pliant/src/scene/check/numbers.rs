//! Numbers, vectors and names within the limits of what can be simulated.

use super::super::error::SceneError;
use super::super::read::At;
use super::super::suggest::quoted;
use super::SHORTEST_TIME;
use crate::math::{Real, Vec3};

/// Farthest position [m]: beyond, single precision loses the particles' spacing.
pub(super) const FARTHEST: Real = 1e6;
/// Fastest motion [m/s], and fastest rotation [rad/s].
pub(super) const FASTEST: Real = 1e5;
/// Longest name [characters].
const LONGEST_NAME: usize = 64;
const LONGEST_TITLE: usize = 200;

impl At<'_> {
    /// A number from `low` to `high`.
    pub(in crate::scene) fn range(
        self,
        x: Real,
        low: Real,
        high: Real,
        unit: &str,
    ) -> Result<Real, SceneError> {
        if (low..=high).contains(&x) {
            return Ok(x);
        }
        let limits = format!("from {} to {}{}", show(low), show(high), with_space(unit));
        Err(self.error(
            format!("{} must be {limits}, but is {}", quoted(self.label), show(x)),
            format!("write a number {limits}"),
        ))
    }

    /// A number above zero, to `high`.
    pub(in crate::scene) fn positive(self, x: Real, high: Real, unit: &str) -> Result<Real, SceneError> {
        if x > 0.0 && x <= high {
            return Ok(x);
        }
        let limits = format!("above 0, at most {}{}", show(high), with_space(unit));
        Err(self.error(
            format!("{} must be {limits}, but is {}", quoted(self.label), show(x)),
            format!("write a number {limits}"),
        ))
    }

    /// A length above zero [m].
    pub(in crate::scene) fn length(self, x: Real) -> Result<Real, SceneError> {
        self.positive(x, FARTHEST, "m")
    }

    /// A time above zero [s].
    pub(in crate::scene) fn time(self, x: Real, longest: Real) -> Result<Real, SceneError> {
        self.range(x, SHORTEST_TIME, longest, "s")
    }

    /// The time at which something ends [s].
    pub(in crate::scene) fn until(self, until: Option<Real>) -> Result<Option<Real>, SceneError> {
        match until {
            Some(time) if time <= 0.0 => Err(self.error(
                format!("{} must be after the start, t = 0, but is {} s", quoted(self.label), show(time)),
                "write a time above 0 s, or leave it out to hold for ever",
            )),
            Some(time) => self.positive(time, 1e9, "s").map(Some),
            None => Ok(None),
        }
    }

    /// A vector whose parts are at most `most` in size.
    pub(in crate::scene) fn vector(
        self,
        parts: [Real; 3],
        most: Real,
        unit: &str,
    ) -> Result<Vec3, SceneError> {
        for (index, &x) in parts.iter().enumerate() {
            self.index(index).range(x, -most, most, unit)?;
        }
        Ok(Vec3::from_array(parts))
    }

    /// A vector, zero where it is not given.
    pub(in crate::scene) fn vector_or_zero(
        self,
        parts: Option<[Real; 3]>,
        most: Real,
        unit: &str,
    ) -> Result<Vec3, SceneError> {
        parts.map_or(Ok(Vec3::ZERO), |parts| self.vector(parts, most, unit))
    }

    /// Three lengths above zero [m].
    pub(in crate::scene) fn lengths(self, parts: [Real; 3]) -> Result<Vec3, SceneError> {
        for (index, &x) in parts.iter().enumerate() {
            self.index(index).length(x)?;
        }
        Ok(Vec3::from_array(parts))
    }

    /// The unit vector along a vector that has a direction.
    pub(in crate::scene) fn direction(self, parts: [Real; 3]) -> Result<Vec3, SceneError> {
        let vector = self.vector(parts, 1e9, "")?;
        if vector.length() >= 1e-9 {
            return Ok(vector.normalize());
        }
        Err(self.error(
            format!("{} has no direction: its length is zero", quoted(self.label)),
            format!("write a vector of any other length, as in {} = [0, 1, 0]", self.label),
        ))
    }

    /// A name fit for table headings and file names.
    pub(in crate::scene) fn name(self, name: &str) -> Result<(), SceneError> {
        let forbidden =
            |c: char| c.is_control() || ".,;:\"'`/\\".contains(c) || (c.is_whitespace() && c != ' ');
        let message = if name.is_empty() {
            "a name is empty".to_owned()
        } else if name.chars().count() > LONGEST_NAME {
            format!("the name {} is longer than {LONGEST_NAME} characters", quoted(name))
        } else if let Some(c) = name.chars().find(|&c| forbidden(c)) {
            format!("the name {} contains {c:?}", quoted(name))
        } else if name.trim() != name {
            format!("the name {} begins or ends with a space", quoted(name))
        } else {
            return Ok(());
        };
        let help = "names head table columns and files: use 1 to 64 letters, digits, - and _";
        Err(self.key_or_value_error(message, help))
    }

    /// One short line.
    pub(in crate::scene) fn title(self, title: &str) -> Result<String, SceneError> {
        if title.chars().any(char::is_control) || title.chars().count() > LONGEST_TITLE {
            let message = "the title is not one short line".to_owned();
            return Err(
                self.error(message, format!("use at most {LONGEST_TITLE} characters, without line breaks"))
            );
        }
        Ok(title.to_owned())
    }

    /// A material's name is its key, any other name a value.
    fn key_or_value_error(self, message: String, help: &str) -> SceneError {
        if self.label == "name" { self.error(message, help) } else { self.key_error(message, help) }
    }
}

/// A number in the shorter of its two forms.
pub(in crate::scene) fn show(x: Real) -> String {
    if x == 0.0 || (1e-3..1e5).contains(&x.abs()) { format!("{x}") } else { format!("{x:e}") }
}

fn with_space(unit: &str) -> String {
    if unit.is_empty() { String::new() } else { format!(" {unit}") }
}
