//! NumPy arrays in a zip archive.
//!
//! `positions` (n, 3), then an array for each field, `time` and `frame`; for a mesh `triangles` (m, 3) and
//! `texture_coordinates` (n, 2). The array `pliant` is a text that names bodies and fields exactly.

use super::deflate::Inflater;
use super::legend;
use super::zip::{self, Archive, members};
use super::{Faces, Field, Frame, Values};

const LEGEND: &str = "pliant";
/// Names of arrays that are no fields; a field of such a name gets another.
const OURS: [&str; 6] = ["positions", "triangles", "texture_coordinates", "time", "frame", LEGEND];

/// Are the arrays of this frame small enough for an archive whose places have 32 bits?
pub fn has_room(frame: &Frame) -> bool {
    let numbers: usize = frame.fields.iter().map(|field| field.values.components()).sum();
    let corners = frame.faces.as_ref().map_or(0, |faces| 3 * faces.triangles.len());
    4 * (frame.positions.len() * (numbers + 5) + corners) < zip::LONGEST / 2
}

/// The frame as a file; it must pass [`Frame::check`] and have room.
pub fn encode(frame: &Frame, compress: bool) -> Vec<u8> {
    let mut file = File { archive: Archive::default(), names: OURS.map(String::from).to_vec(), compress };
    let legend = legend::lines(frame).join("\n");
    file.put(LEGEND, &format!("|S{}", legend.len()), "", legend.as_bytes());
    file.put("time", "<f8", "", &frame.time.to_le_bytes());
    file.put("frame", "<u4", "", &frame.index.to_le_bytes());
    let points = frame.positions.len();
    file.floats("positions", &format!("{points}, 3"), frame.positions.as_flattened());
    if let Some(faces) = &frame.faces {
        let corners = faces.triangles.as_flattened().iter().flat_map(|n| n.to_le_bytes());
        file.put("triangles", "<u4", &format!("{}, 3", faces.triangles.len()), &corners.collect::<Vec<_>>());
        if let Some(texture) = &faces.texture {
            file.floats("texture_coordinates", &format!("{points}, 2"), texture.as_flattened());
        }
    }
    for Field { name, values } in &frame.fields {
        let name = file.free_name(name);
        match values {
            Values::Scalars(values) => file.floats(&name, &format!("{points},"), values),
            Values::Vectors(values) => file.floats(&name, &format!("{points}, 3"), values.as_flattened()),
            Values::Integers(values) => {
                let bytes: Vec<u8> = values.iter().flat_map(|n| n.to_le_bytes()).collect();
                file.put(&name, "<i4", &format!("{points},"), &bytes);
            }
        }
    }
    file.archive.finish()
}

struct File {
    archive: Archive,
    names: Vec<String>,
    compress: bool,
}

impl File {
    fn floats(&mut self, name: &str, shape: &str, values: &[f32]) {
        let bytes: Vec<u8> = values.iter().flat_map(|x| x.to_le_bytes()).collect();
        self.put(name, "<f4", shape, &bytes);
    }

    /// An array of version 1.0: its header is padded so that the numbers start at a multiple of 64 bytes.
    fn put(&mut self, name: &str, number: &str, shape: &str, bytes: &[u8]) {
        let mut head = format!("{{'descr': '{number}', 'fortran_order': False, 'shape': ({shape}), }}");
        while (10 + head.len() + 1) % 64 != 0 {
            head.push(' ');
        }
        head.push('\n');
        let mut array = b"\x93NUMPY\x01\x00".to_vec();
        array.extend((head.len() as u16).to_le_bytes());
        array.extend(head.as_bytes());
        array.extend(bytes);
        self.archive.push(&format!("{name}.npy"), &array, self.compress);
    }

    /// A name no other array has, as short as names of files.
    fn free_name(&mut self, name: &str) -> String {
        let plain = |c: char| if c.is_control() || matches!(c, '/' | '\\') { '_' } else { c };
        let mut name: String = name.chars().map(plain).take(100).collect();
        while name.is_empty() || self.names.contains(&name) {
            name.push('_');
        }
        self.names.push(name.clone());
        name
    }
}

/// Reads a frame. Positions are the array `positions`, `position`, `points` or `x`; arrays of other lengths and
/// shapes than fields have are left out.
pub fn decode(bytes: &[u8]) -> Result<Frame, String> {
    let mut frame = Frame::default();
    let (mut legend, mut triangles, mut texture) = (None, None, None);
    let mut positions = None;
    let mut fields = Vec::new();
    let mut inflater = Inflater::default();
    for member in members(bytes)? {
        let Some(name) = member.name.strip_suffix(".npy") else { continue };
        let contents = member.contents(&mut inflater)?;
        let Some(array) = Array::parse(&contents).map_err(|problem| format!("its array {name} {problem}"))?
        else {
            continue;
        };
        match (name, array) {
            (LEGEND, Array { column: Column::Text(text), .. }) => legend = Some(text),
            ("time", Array { column: Column::Reals(time), .. }) => {
                frame.time = time.first().copied().unwrap_or_default();
            }
            ("positions" | "position" | "points" | "x", array) if array.width == 3 && positions.is_none() => {
                positions = Some(array.vectors());
            }
            ("triangles", array) if array.width == 3 => triangles = Some(array.indices()),
            ("texture_coordinates", array) if array.width == 2 => {
                texture = Some(array.singles().as_chunks().0.to_vec());
            }
            ("frame", Array { rank: 0, .. }) => {}
            (name, array) => fields.push((name.to_string(), array)),
        }
    }
    frame.positions = positions.ok_or("it has no array `positions` of three columns")?;
    frame.faces = triangles.map(|triangles| Faces { triangles, texture });
    let points = frame.positions.len();
    let fields = fields.into_iter().filter(|(_, array)| array.rank > 0 && array.rows == points);
    frame.fields = fields.filter_map(|(name, array)| Some(Field { name, values: array.values()? })).collect();
    match legend::parse(legend.unwrap_or_default().lines())? {
        Some(legend) => legend.restore(&mut frame)?,
        None => frame.find_bodies(),
    }
    Ok(frame)
}

/// An array with one or two dimensions, or none.
struct Array {
    column: Column,
    rank: usize,
    rows: usize,
    width: usize,
}

enum Column {
    Singles(Vec<f32>),
    Reals(Vec<f64>),
    Integers(Vec<i64>),
    Text(String),
}

impl Array {
    /// The array in these bytes; `None` for shapes and numbers that a frame does not have.
    fn parse(bytes: &[u8]) -> Result<Option<Array>, String> {
        let cut = "is cut off";
        let rest = bytes.strip_prefix(b"\x93NUMPY").ok_or("is no array")?;
        let (length, rest) = match rest {
            [1, 0, a, b, rest @ ..] => (usize::from(u16::from_le_bytes([*a, *b])), rest),
            [2 | 3, 0, a, b, c, d, rest @ ..] => (u32::from_le_bytes([*a, *b, *c, *d]) as usize, rest),
            _ => return Err("has a version that is not known".into()),
        };
        let (head, data) = rest.split_at_checked(length).ok_or(cut)?;
        let head = std::str::from_utf8(head).map_err(|_| "has a header that is no text")?;
        let number = between(head, "'descr': '", "'").unwrap_or_default();
        let shape = between(head, "'shape': (", ")").ok_or("has no shape")?;
        let words = shape.split(',').map(str::trim).filter(|word| !word.is_empty());
        let sizes: Vec<usize> =
            words.map(str::parse).collect::<Result<_, _>>().map_err(|_| "has a shape that is not known")?;
        let (rows, width) = match sizes[..] {
            [] => (1, 1),
            [rows] => (rows, 1),
            [rows, width] => (rows, width),
            _ => return Ok(None),
        };
        let Some(column) = Column::parse(number, data) else { return Ok(None) };
        if head.contains("'fortran_order': True") && width > 1 {
            return Err("is stored column by column: save np.ascontiguousarray(...) of it".into());
        }
        match rows.checked_mul(width) == Some(column.len()) {
            true => Ok(Some(Array { column, rank: sizes.len(), rows, width })),
            false => Err(cut.into()),
        }
    }

    fn singles(self) -> Vec<f32> {
        match self.column {
            Column::Singles(column) => column,
            Column::Reals(column) => column.into_iter().map(|x| x as f32).collect(),
            Column::Integers(column) => column.into_iter().map(|n| n as f32).collect(),
            Column::Text(_) => Vec::new(),
        }
    }

    fn vectors(self) -> Vec<[f32; 3]> {
        self.singles().as_chunks().0.to_vec()
    }

    fn indices(self) -> Vec<[u32; 3]> {
        let Column::Integers(column) = self.column else { return Vec::new() };
        let corners: Vec<u32> = column.into_iter().map(|n| u32::try_from(n).unwrap_or(u32::MAX)).collect();
        corners.as_chunks().0.to_vec()
    }

    fn values(self) -> Option<Values> {
        match (&self.column, self.width) {
            (Column::Integers(column), 1) => {
                let nearest = |n: &i64| (*n).clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32;
                Some(Values::Integers(column.iter().map(nearest).collect()))
            }
            (Column::Singles(_) | Column::Reals(_), 1) => Some(Values::Scalars(self.singles())),
            (Column::Singles(_) | Column::Reals(_) | Column::Integers(_), 3) => {
                Some(Values::Vectors(self.vectors()))
            }
            _ => None,
        }
    }
}

impl Column {
    fn parse(number: &str, data: &[u8]) -> Option<Column> {
        Some(match number {
            "<f4" => Column::Singles(numbers(data, f32::from_le_bytes)),
            "<f8" => Column::Reals(numbers(data, f64::from_le_bytes)),
            "|b1" | "|u1" => Column::Integers(numbers(data, |[n]: [u8; 1]| i64::from(n))),
            "|i1" => Column::Integers(numbers(data, |[n]: [u8; 1]| i64::from(n as i8))),
            "<i2" => Column::Integers(numbers(data, |n| i64::from(i16::from_le_bytes(n)))),
            "<u2" => Column::Integers(numbers(data, |n| i64::from(u16::from_le_bytes(n)))),
            "<i4" => Column::Integers(numbers(data, |n| i64::from(i32::from_le_bytes(n)))),
            "<u4" => Column::Integers(numbers(data, |n| i64::from(u32::from_le_bytes(n)))),
            "<i8" | "<u8" => Column::Integers(numbers(data, i64::from_le_bytes)),
            text if text.starts_with("|S") => Column::Text(String::from_utf8(data.to_vec()).ok()?),
            _ => return None,
        })
    }

    /// Number of values; a text counts as one.
    fn len(&self) -> usize {
        match self {
            Column::Singles(column) => column.len(),
            Column::Reals(column) => column.len(),
            Column::Integers(column) => column.len(),
            Column::Text(_) => 1,
        }
    }
}

fn between<'a>(text: &'a str, start: &str, end: &str) -> Option<&'a str> {
    text.split_once(start)?.1.split_once(end).map(|(inside, _)| inside)
}

fn numbers<const N: usize, T>(bytes: &[u8], read: impl Fn([u8; N]) -> T) -> Vec<T> {
    bytes.as_chunks::<N>().0.iter().map(|bytes| read(*bytes)).collect()
}
