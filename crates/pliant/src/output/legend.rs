//! The part of a frame that frame formats have no place for: lines of text, kept in a comment of the file.
//!
//! ```text
//! pliant 1
//! points 1000
//! frame 12
//! time 0.24
//! spacing 0.02
//! body 1000 "cube"
//! field vectors "velocity"
//! triangles 12
//! ```
//! Points have no line `triangles`, and frames of unknown spacing no line `spacing`. Names are JSON strings in pure ASCII without two hyphens in a row, so they fit in any comment of XML and PLY.

use super::{Faces, Frame, FrameBody, Values};
use std::fmt::Write;

const VERSION: &str = "1";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Integers,
    Scalars,
    Vectors,
}

impl Kind {
    const ALL: [(Kind, &str); 3] =
        [(Kind::Integers, "integers"), (Kind::Scalars, "scalars"), (Kind::Vectors, "vectors")];

    pub(super) fn of(values: &Values) -> Kind {
        match values {
            Values::Integers(_) => Kind::Integers,
            Values::Scalars(_) => Kind::Scalars,
            Values::Vectors(_) => Kind::Vectors,
        }
    }

    fn word(self) -> &'static str {
        Kind::ALL[self as usize].1
    }

    fn from_word(word: &str) -> Option<Kind> {
        Kind::ALL.iter().find(|(_, known)| *known == word).map(|(kind, _)| *kind)
    }
}

#[derive(Debug, Default)]
pub(super) struct Legend {
    points: Option<usize>,
    pub(super) frame: u32,
    pub(super) time: f64,
    spacing: Option<f32>,
    pub(super) bodies: Vec<FrameBody>,
    pub(super) fields: Vec<(Kind, String)>,
    triangles: Option<usize>,
}

impl Legend {
    /// Puts what the legend knows in the place of what the rest of the file told.
    pub(super) fn restore(self, frame: &mut Frame) -> Result<(), String> {
        if self.points.is_some_and(|points| points != frame.positions.len()) {
            return Err("its points are not those its comment counts".into());
        }
        let same_kinds = self.fields.len() == frame.fields.len()
            && self.fields.iter().zip(&frame.fields).all(|((kind, _), f)| *kind == Kind::of(&f.values));
        if !same_kinds {
            return Err("its columns are not those its comment names".into());
        }
        for (field, (_, name)) in frame.fields.iter_mut().zip(self.fields) {
            field.name = name;
        }
        match (self.triangles, &frame.faces) {
            (Some(0), None) => frame.faces = Some(Faces::default()),
            (Some(count), Some(faces)) if faces.triangles.len() == count => {}
            (None, None) => {}
            _ => return Err("its triangles are not those its comment counts".into()),
        }
        (frame.index, frame.time, frame.spacing) = (self.frame, self.time, self.spacing);
        frame.bodies = self.bodies;
        Ok(())
    }
}

pub(super) fn lines(frame: &Frame) -> Vec<String> {
    let points = frame.positions.len();
    let mut lines = vec![
        format!("pliant {VERSION}"),
        format!("points {points}"),
        format!("frame {}", frame.index),
        format!("time {:?}", frame.time),
    ];
    lines.extend(frame.spacing.map(|spacing| format!("spacing {spacing:?}")));
    lines.extend(frame.bodies.iter().map(|body| format!("body {} {}", body.count, quoted(&body.name))));
    lines.extend(
        frame.fields.iter().map(|f| format!("field {} {}", Kind::of(&f.values).word(), quoted(&f.name))),
    );
    lines.extend(frame.faces.as_ref().map(|faces| format!("triangles {}", faces.triangles.len())));
    lines
}

/// The legend in these lines; `None` if they are somebody else's comment.
pub(super) fn parse<'a>(lines: impl Iterator<Item = &'a str>) -> Result<Option<Legend>, String> {
    let mut lines = lines.map(str::trim).skip_while(|line| !line.starts_with("pliant "));
    match lines.next().and_then(|line| line.strip_prefix("pliant ")) {
        None => return Ok(None),
        Some(VERSION) => {}
        Some(version) => return Err(format!("frame format version {version} is not known to this Pliant")),
    }
    let mut legend = Legend::default();
    let (mut has_frame, mut has_time) = (false, false);
    for line in lines {
        let bad = || format!("cannot read the comment line `{}`", line.chars().take(80).collect::<String>());
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            "points" => legend.points = Some(rest.parse().map_err(|_| bad())?),
            "frame" => legend.frame = rest.parse().map_err(|_| bad())?,
            "time" => legend.time = rest.parse().map_err(|_| bad())?,
            "spacing" => legend.spacing = Some(rest.parse().map_err(|_| bad())?),
            "triangles" => legend.triangles = Some(rest.parse().map_err(|_| bad())?),
            "body" => {
                let (count, name) = rest.split_once(' ').ok_or_else(bad)?;
                let count = count.parse().map_err(|_| bad())?;
                legend.bodies.push(FrameBody { name: unquoted(name).ok_or_else(bad)?, count });
            }
            "field" => {
                let (kind, name) = rest.split_once(' ').ok_or_else(bad)?;
                let kind = Kind::from_word(kind).ok_or_else(bad)?;
                legend.fields.push((kind, unquoted(name).ok_or_else(bad)?));
            }
            _ => {} // a comment somebody added
        }
        has_frame |= word == "frame";
        has_time |= word == "time";
    }
    if !(has_frame && has_time) {
        return Err("the comment that names frame and time is incomplete".into());
    }
    Ok(Some(legend))
}

/// JSON string in ASCII, without `--`.
fn quoted(name: &str) -> String {
    let mut text = String::from("\"");
    for unit in name.encode_utf16() {
        match u8::try_from(unit) {
            Ok(byte @ (b'"' | b'\\')) => text.extend(['\\', byte as char]),
            Ok(b'-') if text.ends_with('-') => text.push_str("\\u002d"),
            Ok(byte @ b' '..=b'~') => text.push(byte as char),
            _ => {
                // Writing to a string cannot fail.
                let _ = write!(text, "\\u{unit:04x}");
            }
        }
    }
    text.push('"');
    text
}

fn unquoted(text: &str) -> Option<String> {
    serde_json::from_str(text).ok()
}
