//! Binary little-endian PLY: points `x y z`, then the fields as further properties of the vertices.
//!
//! The field `velocity` is `vx vy vz`; any other vector `name` is `name_x name_y name_z`. Header lines stay short:
//! some readers have room for a thousand characters.

use super::legend::{self, Kind, Legend};
use super::{Field, Frame, FrameBody, Values};

/// Headers are text of some lines; a file whose header does not end within this many bytes is none.
const LONGEST_HEADER: usize = 1 << 24;

/// The frame as a file; it must pass [`Frame::check`].
pub fn encode(frame: &Frame) -> Vec<u8> {
    let points = frame.positions.len();
    let mut head = String::from("ply\nformat binary_little_endian 1.0\n");
    for line in legend::lines(frame) {
        head += &format!("comment {line}\n");
    }
    head += &format!("element vertex {points}\n");
    for (number, name) in properties(frame) {
        head += &format!("property {number} {name}\n");
    }
    head += "end_header\n";

    let stride = 12 + frame.fields.iter().map(|field| 4 * field.values.components()).sum::<usize>();
    let mut out = Vec::with_capacity(head.len() + stride * points);
    out.extend_from_slice(head.as_bytes());
    out.resize(head.len() + stride * points, 0);
    let rows = &mut out[head.len()..];
    put_vectors(rows, stride, 0, &frame.positions);
    let mut at = 12;
    for Field { values, .. } in &frame.fields {
        match values {
            Values::Integers(values) => put(rows, stride, at, values.iter().map(|n| n.to_le_bytes())),
            Values::Scalars(values) => put(rows, stride, at, values.iter().map(|a| a.to_le_bytes())),
            Values::Vectors(values) => put_vectors(rows, stride, at, values),
        }
        at += 4 * values.components();
    }
    out
}

/// Writes one number into each row, `at` bytes from its start.
fn put(rows: &mut [u8], stride: usize, at: usize, numbers: impl Iterator<Item = [u8; 4]>) {
    for (row, number) in rows.chunks_exact_mut(stride).zip(numbers) {
        row[at..at + 4].copy_from_slice(&number);
    }
}

fn put_vectors(rows: &mut [u8], stride: usize, at: usize, vectors: &[[f32; 3]]) {
    for (row, [x, y, z]) in rows.chunks_exact_mut(stride).zip(vectors) {
        row[at..at + 4].copy_from_slice(&x.to_le_bytes());
        row[at + 4..at + 8].copy_from_slice(&y.to_le_bytes());
        row[at + 8..at + 12].copy_from_slice(&z.to_le_bytes());
    }
}

/// Number type and name of each property, all names different and without spaces.
fn properties(frame: &Frame) -> Vec<(&'static str, String)> {
    let mut properties = ["x", "y", "z"].map(|axis| ("float", axis.to_string())).to_vec();
    for Field { name, values } in &frame.fields {
        let plain = plain_name(name);
        let (number, wanted) = match values {
            Values::Integers(_) => ("int", vec![plain]),
            Values::Scalars(_) => ("float", vec![plain]),
            Values::Vectors(_) if name == "velocity" => {
                ("float", ["vx", "vy", "vz"].map(String::from).to_vec())
            }
            Values::Vectors(_) => ("float", ["x", "y", "z"].map(|axis| format!("{plain}_{axis}")).to_vec()),
        };
        for mut name in wanted {
            while properties.iter().any(|(_, taken)| *taken == name) {
                name.push('_');
            }
            properties.push((number, name));
        }
    }
    properties
}

/// Letters, digits and `_` only; the exact name is in the legend.
fn plain_name(name: &str) -> String {
    let plain = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' });
    let plain: String = plain.take(100).collect();
    if plain.is_empty() { "_".into() } else { plain }
}

/// Reads a frame. Also takes binary little-endian files of others, if their first element is the vertices and has
/// no lists; these come as one body, with `vx vy vz` as the velocity and all other properties as scalars.
pub fn decode(bytes: &[u8]) -> Result<Frame, String> {
    let (head, rows) = Head::parse(bytes)?;
    let length = head.points.checked_mul(head.stride).filter(|length| *length <= rows.len());
    let length = length.ok_or("it is shorter than its header says")?;
    if head.legend.is_some() && length != rows.len() {
        return Err("it is longer than its header says".into());
    }
    let rows = Rows { bytes: &rows[..length], stride: head.stride };
    let position = ["x", "y", "z"].map(|axis| head.properties.iter().find(|p| p.name == axis));
    let [Some(x), Some(y), Some(z)] = position else {
        return Err("its vertices have no x, y, z".into());
    };
    let positions = rows.vectors([x, y, z]);
    match &head.legend {
        Some(legend) => Ok(Frame {
            index: legend.frame,
            time: legend.time,
            bodies: legend.bodies.clone(),
            positions,
            fields: named_fields(&rows, &head.properties, legend)?,
        }),
        None => Ok(Frame {
            index: 0,
            time: 0.0,
            bodies: vec![FrameBody { name: "points".into(), count: head.points }],
            positions,
            fields: plain_fields(&rows, &head.properties),
        }),
    }
}

/// Fields of our own files: the properties after `x y z`, in the order of the legend.
fn named_fields(rows: &Rows, properties: &[Property], legend: &Legend) -> Result<Vec<Field>, String> {
    let other = || "its properties are not those its comments name".to_string();
    let expected =
        |property: &Property, number| if property.number == number { Ok(()) } else { Err(other()) };
    let (position, mut rest) = properties.split_at_checked(3).ok_or_else(other)?;
    if !position.iter().map(|p| p.name.as_str()).eq(["x", "y", "z"]) {
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

fn plain_fields(rows: &Rows, properties: &[Property]) -> Vec<Field> {
    let mut fields = Vec::new();
    let velocity = ["vx", "vy", "vz"].map(|name| properties.iter().find(|p| p.name == name));
    let known = if let [Some(x), Some(y), Some(z)] = velocity {
        fields.push(Field { name: "velocity".into(), values: Values::Vectors(rows.vectors([x, y, z])) });
        &["x", "y", "z", "vx", "vy", "vz"][..]
    } else {
        &["x", "y", "z"][..]
    };
    for property in properties.iter().filter(|p| !known.contains(&p.name.as_str())) {
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
        let mut head = Head { legend, points: 0, properties: Vec::new(), stride: 0 };
        let mut elements = 0;
        for line in text.lines() {
            let words: Vec<&str> = line.split_ascii_whitespace().take(4).collect();
            match words[..] {
                ["format", "binary_little_endian", _] | ["ply"] | ["comment", ..] | ["obj_info", ..] | [] => {
                }
                ["format", ..] => return Err("it is not binary little endian".into()),
                ["element", name, count] => {
                    elements += 1;
                    match (elements, name, count.parse()) {
                        (1, "vertex", Ok(count)) => head.points = count,
                        (1, ..) => return Err("it does not start with a count of vertices".into()),
                        _ => {}
                    }
                }
                ["property", ..] if elements > 1 => {}
                ["property", number, name] if elements == 1 => head.push(number, name)?,
                _ => return Err(format!("cannot read its header line `{}`", words.join(" "))),
            }
        }
        Ok((head, rows))
    }

    fn push(&mut self, number: &str, name: &str) -> Result<(), String> {
        let number =
            Number::from_word(number).ok_or_else(|| format!("the type of its property {name} is unknown"))?;
        self.properties.push(Property { name: name.into(), number, at: self.stride });
        self.stride += number.bytes();
        Ok(())
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

    fn column<const N: usize, T>(&self, property: &Property, read: impl Fn([u8; N]) -> T) -> Vec<T> {
        let number = |row: &[u8]| row[property.at..].first_chunk().map(|bytes| read(*bytes));
        self.bytes.chunks_exact(self.stride).filter_map(number).collect()
    }
}
