//! Reads PLY files.

use super::{TEXTURE, VECTORS};
use crate::output::legend::{self, Kind, Legend};
use crate::output::{Faces, Field, Frame, Values, fan};

/// Headers are text of some lines; a file whose header does not end within this many bytes is none.
const LONGEST_HEADER: usize = 1 << 24;

/// Reads a frame. Also takes binary little-endian files of others, if their first element is the vertices and has
/// no lists; these come as one body, with `vx vy vz` as the velocity, `nx ny nz` as the normal and all other
/// properties as scalars.
pub fn decode(bytes: &[u8]) -> Result<Frame, String> {
    let (head, rows) = Head::parse(bytes)?;
    let length = head.points.checked_mul(head.stride).filter(|length| *length <= rows.len());
    let (rows, rest) = rows.split_at(length.ok_or("it is shorter than its header says")?);
    let rows = Rows { bytes: rows, stride: head.stride };
    let mut frame = Frame {
        positions: rows.vectors(head.named(["x", "y", "z"]).ok_or("its vertices have no x, y, z")?),
        ..Frame::default()
    };
    let rest = match &head.faces {
        Some(faces) => {
            let (triangles, rest) = faces.triangles(rest)?;
            let texture = head.named(TEXTURE).map(|[u, v]| rows.pairs(u, v));
            frame.faces = Some(Faces { triangles, texture });
            rest
        }
        None => rest,
    };
    match head.legend {
        Some(_) if !rest.is_empty() => Err("it is longer than its header says".to_string()),
        Some(legend) => {
            let texture = frame.faces.as_ref().is_some_and(|faces| faces.texture.is_some());
            let skipped = if texture { 5 } else { 3 };
            frame.fields = named_fields(&rows, &head.properties, skipped, &legend)?;
            legend.restore(&mut frame)?;
            Ok(frame)
        }
        None => {
            frame.fields = plain_fields(&rows, &head);
            frame.find_bodies();
            Ok(frame)
        }
    }
}

/// Fields of our own files: the properties after positions and texture coordinates, in the order of the legend.
fn named_fields(
    rows: &Rows,
    properties: &[Property],
    skipped: usize,
    legend: &Legend,
) -> Result<Vec<Field>, String> {
    let other = || "its properties are not those its comments name".to_string();
    let expected =
        |property: &Property, number| if property.number == number { Ok(()) } else { Err(other()) };
    let (position, mut rest) = properties.split_at_checked(skipped).ok_or_else(other)?;
    if !position.iter().take(3).map(|p| p.name.as_str()).eq(["x", "y", "z"]) {
        return Err(other());
    }
    let mut fields = Vec::new();
    for (kind, name) in &legend.fields {
        let values = match (kind, rest) {
            (Kind::Vectors, [a, b, c, after @ ..]) => {
                rest = after;
                [a, b, c].iter().try_for_each(|p| expected(p, Number::Float))?;
                Values::Vectors(rows.vectors([a, b, c]))
            }
            (Kind::Scalars, [a, after @ ..]) => {
                rest = after;
                expected(a, Number::Float)?;
                Values::Scalars(rows.reals(a))
            }
            (Kind::Integers, [a, after @ ..]) => {
                rest = after;
                expected(a, Number::Int)?;
                Values::Integers(rows.integers(a))
            }
            _ => return Err(other()),
        };
        fields.push(Field { name: name.clone(), values });
    }
    if rest.is_empty() { Ok(fields) } else { Err(other()) }
}

fn plain_fields(rows: &Rows, head: &Head) -> Vec<Field> {
    let mut fields = Vec::new();
    let mut known = vec!["x", "y", "z"];
    for (name, axes) in VECTORS {
        if let Some(axes_found) = head.named(axes) {
            fields.push(Field { name: name.into(), values: Values::Vectors(rows.vectors(axes_found)) });
            known.extend(axes);
        }
    }
    if head.faces.is_some() && head.named(TEXTURE).is_some() {
        known.extend(TEXTURE);
    }
    for property in head.properties.iter().filter(|p| !known.contains(&p.name.as_str())) {
        let values = match property.number {
            Number::Float | Number::Double | Number::Uint => Values::Scalars(rows.reals(property)),
            _ => Values::Integers(rows.integers(property)),
        };
        fields.push(Field { name: property.name.clone(), values });
    }
    fields
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Number {
    Char,
    Uchar,
    Short,
    Ushort,
    Int,
    Uint,
    Float,
    Double,
}

impl Number {
    fn from_word(word: &str) -> Option<Number> {
        Some(match word {
            "char" | "int8" => Number::Char,
            "uchar" | "uint8" => Number::Uchar,
            "short" | "int16" => Number::Short,
            "ushort" | "uint16" => Number::Ushort,
            "int" | "int32" => Number::Int,
            "uint" | "uint32" => Number::Uint,
            "float" | "float32" => Number::Float,
            "double" | "float64" => Number::Double,
            _ => return None,
        })
    }

    fn bytes(self) -> usize {
        match self {
            Number::Char | Number::Uchar => 1,
            Number::Short | Number::Ushort => 2,
            Number::Int | Number::Uint | Number::Float => 4,
            Number::Double => 8,
        }
    }

    /// A whole number from the start of the bytes; one that is none of ours becomes the largest.
    fn take(self, bytes: &mut &[u8]) -> Option<u32> {
        let stored = bytes.split_off(..self.bytes())?;
        let whole = stored.iter().rev().fold(0u64, |sum, byte| sum << 8 | u64::from(*byte));
        let is_whole = !matches!(self, Number::Float | Number::Double);
        Some(u32::try_from(whole).ok().filter(|_| is_whole).unwrap_or(u32::MAX))
    }
}

struct Property {
    name: String,
    number: Number,
    /// Bytes from the start of the row.
    at: usize,
}

struct Head {
    legend: Option<Legend>,
    points: usize,
    properties: Vec<Property>,
    /// Bytes of a row.
    stride: usize,
    faces: Option<FaceList>,
}

impl Head {
    /// Splits the file into header and rows.
    fn parse(bytes: &[u8]) -> Result<(Head, &[u8]), String> {
        let end = b"\nend_header";
        let searched = &bytes[..bytes.len().min(LONGEST_HEADER)];
        let length = searched.windows(end.len()).position(|w| w == end).ok_or("its header does not end")?;
        let text = std::str::from_utf8(&bytes[..length]).map_err(|_| "its header is not text")?;
        let rest = &bytes[length + end.len()..];
        let rows = rest.strip_prefix(b"\r\n").or_else(|| rest.strip_prefix(b"\n"));
        let rows = rows.ok_or("its header does not end with a line")?;

        let comments = text.lines().filter_map(|line| line.strip_prefix("comment "));
        let legend = legend::parse(comments)?;
        let mut head = Head { legend, points: 0, properties: Vec::new(), stride: 0, faces: None };
        let mut elements = 0;
        for line in text.lines() {
            let words: Vec<&str> = line.split_ascii_whitespace().take(6).collect();
            match words[..] {
                ["format", "binary_little_endian", _] | ["ply"] | ["comment", ..] | ["obj_info", ..] | [] => {
                }
                ["format", ..] => return Err("it is not binary little endian".into()),
                ["element", name, count] => {
                    elements += 1;
                    match (elements, name, count.parse()) {
                        (1, "vertex", Ok(count)) => head.points = count,
                        (2, "face", Ok(count)) => head.faces = Some(FaceList { count, columns: Vec::new() }),
                        (1, ..) => return Err("it does not start with a count of vertices".into()),
                        _ => {}
                    }
                }
                ["property", number, name] if elements == 1 => head.push(number, name)?,
                ["property", ref words @ ..] if elements == 2 => {
                    if let Some(faces) = &mut head.faces {
                        faces
                            .columns
                            .push(FaceColumn::parse(words).ok_or("a property of its faces is unknown")?);
                    }
                }
                ["property", ..] if elements > 2 => {}
                _ => return Err(format!("cannot read its header line `{}`", words.join(" "))),
            }
        }
        Ok((head, rows))
    }

    /// The properties with these names, if all are there.
    fn named<const N: usize>(&self, names: [&str; N]) -> Option<[&Property; N]> {
        let found = names.map(|name| self.properties.iter().find(|p| p.name == name));
        found.iter().all(Option::is_some).then(|| found.map(|p| p.expect("all are there")))
    }

    fn push(&mut self, number: &str, name: &str) -> Result<(), String> {
        let number =
            Number::from_word(number).ok_or_else(|| format!("the type of its property {name} is unknown"))?;
        self.properties.push(Property { name: name.into(), number, at: self.stride });
        self.stride += number.bytes();
        Ok(())
    }
}

/// The element `face`.
struct FaceList {
    count: usize,
    columns: Vec<FaceColumn>,
}

/// A property of the faces.
enum FaceColumn {
    Corners { count: Number, corner: Number },
    OtherList { count: Number, item: Number },
    Single(Number),
}

impl FaceColumn {
    fn parse(words: &[&str]) -> Option<FaceColumn> {
        Some(match words {
            ["list", count, corner, "vertex_indices" | "vertex_index"] => {
                FaceColumn::Corners { count: Number::from_word(count)?, corner: Number::from_word(corner)? }
            }
            ["list", count, item, _] => {
                FaceColumn::OtherList { count: Number::from_word(count)?, item: Number::from_word(item)? }
            }
            [number, _] => FaceColumn::Single(Number::from_word(number)?),
            _ => return None,
        })
    }
}

impl FaceList {
    /// The faces as triangles, and the bytes after them.
    fn triangles<'a>(&self, mut bytes: &'a [u8]) -> Result<(Vec<[u32; 3]>, &'a [u8]), String> {
        let cut = "it is shorter than its header says";
        if !self.columns.iter().any(|column| matches!(column, FaceColumn::Corners { .. })) {
            return Err("its faces have no vertex_indices".into());
        }
        let mut triangles = Vec::new();
        let mut corners = Vec::new();
        for _ in 0..self.count {
            for column in &self.columns {
                let (length, number) = match *column {
                    FaceColumn::Corners { count, corner: item } | FaceColumn::OtherList { count, item } => {
                        (count.take(&mut bytes).ok_or(cut)? as usize, item)
                    }
                    FaceColumn::Single(number) => (1, number),
                };
                let row = length.checked_mul(number.bytes()).and_then(|n| bytes.split_off(..n)).ok_or(cut)?;
                if let FaceColumn::Corners { .. } = column {
                    let mut row = row;
                    corners.clear();
                    corners.extend((0..length).map_while(|_| number.take(&mut row)));
                    triangles.extend(fan(&corners));
                }
            }
        }
        Ok((triangles, bytes))
    }
}

struct Rows<'a> {
    bytes: &'a [u8],
    stride: usize,
}

impl Rows<'_> {
    fn reals(&self, property: &Property) -> Vec<f32> {
        match property.number {
            Number::Float => self.column(property, f32::from_le_bytes),
            Number::Double => self.column(property, |b| f64::from_le_bytes(b) as f32),
            Number::Uint => self.column(property, |b| u32::from_le_bytes(b) as f32),
            _ => self.integers(property).into_iter().map(|n| n as f32).collect(),
        }
    }

    /// Whole numbers; those beyond 32 bits become the nearest that fits.
    fn integers(&self, property: &Property) -> Vec<i32> {
        match property.number {
            Number::Char => self.column(property, |b| i32::from(i8::from_le_bytes(b))),
            Number::Uchar => self.column(property, |b| i32::from(u8::from_le_bytes(b))),
            Number::Short => self.column(property, |b| i32::from(i16::from_le_bytes(b))),
            Number::Ushort => self.column(property, |b| i32::from(u16::from_le_bytes(b))),
            Number::Int => self.column(property, i32::from_le_bytes),
            Number::Uint => {
                self.column(property, |b| i32::try_from(u32::from_le_bytes(b)).unwrap_or(i32::MAX))
            }
            Number::Float => self.column(property, |b| f32::from_le_bytes(b) as i32),
            Number::Double => self.column(property, |b| f64::from_le_bytes(b) as i32),
        }
    }

    fn vectors(&self, [x, y, z]: [&Property; 3]) -> Vec<[f32; 3]> {
        let (x, y, z) = (self.reals(x), self.reals(y), self.reals(z));
        x.into_iter().zip(y).zip(z).map(|((x, y), z)| [x, y, z]).collect()
    }

    fn pairs(&self, u: &Property, v: &Property) -> Vec<[f32; 2]> {
        self.reals(u).into_iter().zip(self.reals(v)).map(|(u, v)| [u, v]).collect()
    }

    fn column<const N: usize, T>(&self, property: &Property, read: impl Fn([u8; N]) -> T) -> Vec<T> {
        let number = |row: &[u8]| row[property.at..].first_chunk().map(|bytes| read(*bytes));
        self.bytes.chunks_exact(self.stride).filter_map(number).collect()
    }
}
