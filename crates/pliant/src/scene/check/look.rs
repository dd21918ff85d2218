//! How pictures look: camera, colours, size.

use super::super::error::SceneError;
use super::super::file::{ColorByWord, ColorFile, SceneFile};
use super::super::read::At;
use super::super::suggest::quoted;
use super::super::{Camera, ColorBy, ColorField, Look};
use super::numbers::FARTHEST;
use super::rigids;
use crate::math::{Real, Vec3};

/// Body colours where none are given: soft, told apart also without red and green.
const PALETTE: [[u8; 3]; 8] = [
    [0x4C, 0x8B, 0xC9],
    [0xE8, 0x9C, 0x3F],
    [0x5B, 0xB0, 0x8E],
    [0xC9, 0x6B, 0xA4],
    [0xD8, 0xC4, 0x4A],
    [0x7C, 0x72, 0xC4],
    [0xD3, 0x6A, 0x50],
    [0x8A, 0x9A, 0xA6],
];

/// `at` is the whole scene.
pub(super) fn look(at: At<'_>, file: &SceneFile, body_colors: Vec<[f32; 3]>) -> Result<Look, SceneError> {
    let written = file.render.as_ref();
    let render = at.key("render");
    let range = written.and_then(|render| render.range);
    let size = written.and_then(|render| render.size).unwrap_or([640, 360]);
    let mut pixels = [0; 2];
    for (index, &side) in size.iter().enumerate() {
        // the range leaves whole numbers far below the limit of u32
        pixels[index] = render.key("size").index(index).range(side as Real, 16.0, 8192.0, "pixels")? as u32;
    }
    Ok(Look {
        camera: camera(at, file)?,
        color_by: color_by(render, written.and_then(|render| render.color_by), range)?,
        size: pixels,
        body_colors,
        rigid_colors: rigids::colors(at.key("rigids"), file.rigids.as_deref().unwrap_or_default())?,
    })
}

fn camera(at: At<'_>, file: &SceneFile) -> Result<Camera, SceneError> {
    let at = at.key("camera");
    let written = file.camera.as_ref();
    let point = |key: &'static str, parts: Option<[Real; 3]>| -> Result<Option<Vec3>, SceneError> {
        parts.map(|parts| at.key(key).vector(parts, FARTHEST, "m")).transpose()
    };
    let position = point("position", written.and_then(|camera| camera.position))?;
    let look_at = point("look_at", written.and_then(|camera| camera.look_at))?;
    if let (Some(from), Some(to)) = (position, look_at)
        && from.distance(to) < 1e-9
    {
        let message = "the camera looks at the point where it stands";
        return Err(at.key("look_at").error(message, "move position or look_at"));
    }
    let angle = written.and_then(|camera| camera.field_of_view).unwrap_or(35.0);
    let field_of_view = at.key("field_of_view").range(angle, 1.0, 170.0, "degrees")?;
    let orbit = written.and_then(|camera| camera.orbit).unwrap_or(0.0);
    let orbit = at.key("orbit").range(orbit, -36000.0, 36000.0, "degrees/s")?;
    Ok(Camera { position, look_at, field_of_view, orbit })
}

fn color_by(at: At<'_>, word: Option<ColorByWord>, range: Option<[Real; 2]>) -> Result<ColorBy, SceneError> {
    let place = at.key("range");
    if let Some([low, high]) = range {
        place.index(0).range(low, -1e15, 1e15, "")?;
        place.index(1).range(high, -1e15, 1e15, "")?;
        if low >= high {
            return Err(
                place.error("\"range\" must rise from its first to its second number", "write [low, high]")
            );
        }
    }
    let field = match word {
        None | Some(ColorByWord::Body) => {
            return match range {
                None => Ok(ColorBy::Body),
                Some(_) => Err(place.error(
                    "\"range\" means nothing when colours show the body",
                    "set color_by = \"speed\", \"stress\" or \"volume\", or remove the range",
                )),
            };
        }
        Some(ColorByWord::Speed) => ColorField::Speed,
        Some(ColorByWord::Stress) => ColorField::Stress,
        Some(ColorByWord::Volume) => ColorField::Volume,
    };
    Ok(ColorBy::Field { field, range })
}

pub(super) fn color(at: At<'_>, written: &ColorFile) -> Result<[f32; 3], SceneError> {
    match written {
        ColorFile::Parts(parts) => {
            for (index, &part) in parts.iter().enumerate() {
                at.index(index).range(part, 0.0, 1.0, "")?;
            }
            Ok(parts.map(|part| part as f32))
        }
        ColorFile::Hex(text) => hex(text).map(srgb).ok_or_else(|| {
            let message = format!("{} is not a colour", quoted(text));
            at.error(message, "write \"#rrggbb\" with hexadecimal digits, or [r, g, b] from 0 to 1")
        }),
    }
}

fn hex(text: &str) -> Option<[u8; 3]> {
    let digits = text.strip_prefix('#')?;
    if digits.len() != 6 || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let number = u32::from_str_radix(digits, 16).ok()?;
    let [_, red, green, blue] = number.to_be_bytes();
    Some([red, green, blue])
}

fn srgb(bytes: [u8; 3]) -> [f32; 3] {
    bytes.map(|byte| f32::from(byte) / 255.0)
}

/// Colour of the body with this index.
pub(super) fn palette(body: usize) -> [f32; 3] {
    srgb(PALETTE[body % PALETTE.len()])
}
