//! Force fields.

use super::super::error::SceneError;
use super::super::file::FieldFile;
use super::super::read::At;
use super::numbers::FARTHEST;
use crate::forces::fields::{Field, FieldKind};

/// Strongest rotation field [1/s2].
const STRONGEST: f64 = 1e6;

/// `at` is the list.
pub(super) fn fields(at: At<'_>, written: &[FieldFile]) -> Result<Vec<Field>, SceneError> {
    written.iter().enumerate().map(|(index, written)| field(at.index(index), written)).collect()
}

fn field(at: At<'_>, written: &FieldFile) -> Result<Field, SceneError> {
    match written {
        FieldFile::Rotation(written) => Ok(Field {
            kind: FieldKind::Rotation {
                axis: at.key("axis").direction(written.axis)?,
                center: at.key("center").vector_or_zero(written.center, FARTHEST, "m")?,
                strength: at.key("strength").range(written.strength, -STRONGEST, STRONGEST, "1/s2")?,
                radius: match written.radius {
                    Some(radius) => Some(at.key("radius").length(radius)?),
                    None => None,
                },
            },
            until: at.key("until").until(written.until)?,
        }),
    }
}
