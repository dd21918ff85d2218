//! Reads `.vtu` and `.vtp` files.

use super::blocks::{Place, Storage};
use super::{POLYGON, QUAD, TEXTURE, TRIANGLE};
use crate::output::deflate::Inflater;
use crate::output::legend::{self, Legend};
use crate::output::xml::{self, Item, attribute};
use crate::output::{Faces, Field, Frame, Values, fan};

/// What arrays can belong to; arrays may hold tags of other names.
const SECTIONS: [&str; 9] =
    ["FieldData", "Points", "PointData", "Cells", "CellData", "Verts", "Lines", "Strips", "Polys"];

/// Reads a frame. Files of others come as one body; arrays that are neither scalars nor 3-vectors are left out, and
/// so are cells other than triangles, quads and polygons.
pub fn decode(bytes: &[u8]) -> Result<Frame, String> {
    if !bytes.trim_ascii_end().ends_with(b"</VTKFile>") {
        return Err("the end of the file is missing".into());
    }
    let tag = b"<AppendedData";
    let start = bytes.windows(tag.len()).position(|w| w == tag).unwrap_or(bytes.len());
    let text = std::str::from_utf8(&bytes[..start]).map_err(|_| "its header is not text")?;
    let (appended, raw) = appended(&bytes[start..])?;
    let head = Head::parse(text)?;
    let (wide, compressed) = (head.wide, head.compressed);
    let budget = bytes.len();
    head.frame(Storage { appended, raw, wide, compressed, inflater: Inflater::default(), budget })
}

/// The appended data, and whether it is raw bytes.
fn appended(bytes: &[u8]) -> Result<(&[u8], bool), String> {
    if bytes.is_empty() {
        return Ok((bytes, true));
    }
    let end = bytes.iter().position(|b| *b == b'>').ok_or("its appended data does not start")?;
    let (opening, rest) = bytes.split_at(end);
    let underscore = rest.iter().position(|b| *b == b'_').ok_or("its appended data does not start")?;
    Ok((&rest[underscore + 1..], opening.windows(5).any(|w| w == b"\"raw\"")))
}

/// One `DataArray` of the header.
struct Array<'a> {
    section: &'a str,
    number: String,
    name: String,
    components: usize,
    place: Place<'a>,
}

impl<'a> Array<'a> {
    /// The array with these attributes, and `text` after its tag.
    fn parse(section: &'a str, attributes: &[(&str, String)], text: &'a str) -> Result<Array<'a>, String> {
        let word = |key| attribute(attributes, key).unwrap_or_default();
        let components = match attribute(attributes, "NumberOfComponents") {
            None => 1,
            Some(_) => number(attributes, "NumberOfComponents")?,
        };
        let place = match word("format") {
            "appended" => Place::Appended(number(attributes, "offset")?),
            "binary" => Place::Inline(text),
            "ascii" => Place::Text(text),
            _ => return Err(format!("the format of its array \"{}\" is unknown", word("Name"))),
        };
        Ok(Array { section, number: word("type").into(), name: word("Name").into(), components, place })
    }
}

fn number(attributes: &[(&str, String)], key: &str) -> Result<usize, String> {
    attribute(attributes, key).and_then(|n| n.parse().ok()).ok_or_else(|| format!("{key} is not a number"))
}

#[derive(Default)]
struct Head<'a> {
    legend: Option<Legend>,
    points: usize,
    arrays: Vec<Array<'a>>,
    /// Lengths of blocks have 64 bits, not 32.
    wide: bool,
    compressed: bool,
}

impl<'a> Head<'a> {
    fn parse(text: &'a str) -> Result<Head<'a>, String> {
        let mut head = Head::default();
        let mut section = "";
        let mut pieces = 0;
        let items = xml::items(text)?;
        for (k, item) in items.iter().enumerate() {
            match item {
                Item::Comment(comment) if head.legend.is_none() => {
                    head.legend = legend::parse(comment.lines())?
                }
                Item::Open { name: "VTKFile", attributes } => head.check_file(attributes)?,
                Item::Open { name: "Piece", attributes } => {
                    pieces += 1;
                    head.points = number(attributes, "NumberOfPoints")?;
                }
                Item::Open { name: "DataArray", attributes } => {
                    let text = if let Some(Item::Text(text)) = items.get(k + 1) { text } else { "" };
                    head.arrays.push(Array::parse(section, attributes, text)?);
                }
                Item::Open { name, .. } if SECTIONS.contains(name) => section = name,
                Item::Open { .. } | Item::Comment(_) | Item::Text(_) | Item::Close => {}
            }
        }
        if pieces != 1 {
            return Err(format!("it has {pieces} pieces, not one"));
        }
        Ok(head)
    }

    fn check_file(&mut self, attributes: &[(&str, String)]) -> Result<(), String> {
        if !matches!(attribute(attributes, "type"), Some("UnstructuredGrid" | "PolyData")) {
            return Err("it is neither an UnstructuredGrid nor PolyData".into());
        }
        if attribute(attributes, "byte_order") != Some("LittleEndian") {
            return Err("it is not little endian".into());
        }
        self.compressed = match attribute(attributes, "compressor") {
            None => false,
            Some("vtkZLibDataCompressor") => true,
            Some(_) => return Err("it is compressed by other means than zlib".into()),
        };
        self.wide = match attribute(attributes, "header_type").unwrap_or("UInt32") {
            "UInt64" => true,
            "UInt32" => false,
            _ => return Err("its header type is unknown".into()),
        };
        Ok(())
    }

    fn frame(self, mut storage: Storage) -> Result<Frame, String> {
        let mut frame = Frame::default();
        let (mut cells, mut texture) = (Cells::default(), None);
        for array in &self.arrays {
            let mut column =
                || storage.column(array).map_err(|problem| format!("its array \"{}\" {problem}", array.name));
            match (array.section, array.name.as_str()) {
                ("Points", _) => match points(column()?, array, self.points)? {
                    Some(Values::Vectors(positions)) => frame.positions = positions,
                    _ => return Err("its points are not three numbers each".into()),
                },
                ("PointData", TEXTURE) if array.components == 2 => texture = Some(column()?.pairs()),
                ("PointData", name) => {
                    if let Some(values) = points(column()?, array, self.points)? {
                        frame.fields.push(Field { name: name.into(), values });
                    }
                }
                ("FieldData", "TimeValue") => frame.time = column()?.time().ok_or("its TimeValue is none")?,
                ("Cells" | "Polys", "connectivity") => cells.corners = column()?.indices(),
                ("Cells" | "Polys", "offsets") => cells.ends = column()?.indices(),
                ("Cells", "types") => cells.kinds = Some(column()?.indices()),
                _ => {}
            }
        }
        if frame.positions.len() != self.points {
            return Err("its points are missing".into());
        }
        let triangles = cells.triangles()?;
        if !triangles.is_empty() || texture.is_some() {
            frame.faces = Some(Faces { triangles, texture });
        }
        match self.legend {
            Some(legend) => legend.restore(&mut frame)?,
            None => frame.find_bodies(),
        }
        Ok(frame)
    }
}

/// The column of a field of so many points; `None` for kinds of arrays a frame does not have.
fn points(column: Column, array: &Array, points: usize) -> Result<Option<Values>, String> {
    let values = match (column, array.components) {
        (Column::Reals(column), 1) => Values::Scalars(column.into_iter().map(|x| x as f32).collect()),
        (Column::Singles(column), 1) => Values::Scalars(column),
        (Column::Integers(column), 1) => Values::Integers(column),
        (column, 3) => Values::Vectors(column.singles().as_chunks().0.to_vec()),
        _ => return Ok(None),
    };
    let name = &array.name;
    match values.len() == points {
        true => Ok(Some(values)),
        false => Err(format!("its array \"{name}\" has {} values for {points} points", values.len())),
    }
}

/// Polygons as the file has them.
#[derive(Default)]
struct Cells {
    corners: Vec<u32>,
    /// Number of corners of all cells up to each.
    ends: Vec<u32>,
    /// Types of cells; poly data has only polygons here.
    kinds: Option<Vec<u32>>,
}

impl Cells {
    fn triangles(&self) -> Result<Vec<[u32; 3]>, String> {
        let mut triangles = Vec::new();
        let mut start = 0;
        for (k, end) in self.ends.iter().enumerate() {
            let kind = match &self.kinds {
                None => Some(u32::from(POLYGON)),
                Some(kinds) => kinds.get(k).copied(),
            };
            let corners = self.corners.get(start..*end as usize).ok_or("its cells have no corners")?;
            if [TRIANGLE, QUAD, POLYGON].iter().any(|known| kind == Some(u32::from(*known))) {
                triangles.extend(fan(corners));
            }
            start = *end as usize;
        }
        Ok(triangles)
    }
}

/// The numbers of an array.
enum Column {
    Singles(Vec<f32>),
    Reals(Vec<f64>),
    Integers(Vec<i32>),
}

impl Column {
    fn singles(self) -> Vec<f32> {
        match self {
            Column::Singles(column) => column,
            Column::Reals(column) => column.into_iter().map(|x| x as f32).collect(),
            Column::Integers(column) => column.into_iter().map(|n| n as f32).collect(),
        }
    }

    fn pairs(self) -> Vec<[f32; 2]> {
        self.singles().as_chunks().0.to_vec()
    }

    fn time(self) -> Option<f64> {
        match self {
            Column::Reals(column) if column.len() == 1 => column.first().copied(),
            _ => None,
        }
    }

    fn indices(self) -> Vec<u32> {
        match self {
            Column::Integers(column) => {
                column.into_iter().map(|n| u32::try_from(n).unwrap_or(u32::MAX)).collect()
            }
            _ => Vec::new(),
        }
    }
}

impl Storage<'_> {
    fn column(&mut self, array: &Array) -> Result<Column, String> {
        if let Place::Text(text) = array.place {
            return words(array, text);
        }
        let block = self.block(&array.place)?;
        // Whole numbers beyond 32 bits become the nearest that fits: they are no index and no label of ours.
        Ok(match array.number.as_str() {
            "Float32" => Column::Singles(numbers(&block, f32::from_le_bytes)),
            "Float64" => Column::Reals(numbers(&block, f64::from_le_bytes)),
            "Int8" => Column::Integers(numbers(&block, |[n]: [u8; 1]| i32::from(n as i8))),
            "UInt8" => Column::Integers(numbers(&block, |[n]: [u8; 1]| i32::from(n))),
            "Int16" => Column::Integers(numbers(&block, |n| i32::from(i16::from_le_bytes(n)))),
            "UInt16" => Column::Integers(numbers(&block, |n| i32::from(u16::from_le_bytes(n)))),
            "Int32" => Column::Integers(numbers(&block, i32::from_le_bytes)),
            "UInt32" => Column::Integers(numbers(&block, |n| nearest(i64::from(u32::from_le_bytes(n))))),
            "Int64" | "UInt64" => Column::Integers(numbers(&block, |n| nearest(i64::from_le_bytes(n)))),
            _ => return Err("has numbers of a type that is not known".into()),
        })
    }
}

fn nearest(n: i64) -> i32 {
    n.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32
}

fn words(array: &Array, text: &str) -> Result<Column, String> {
    let problem = |_| "is not made of numbers";
    let words = text.split_ascii_whitespace();
    Ok(match array.number.as_str() {
        "Float32" => Column::Singles(words.map(str::parse).collect::<Result<_, _>>().map_err(problem)?),
        "Float64" => Column::Reals(words.map(str::parse).collect::<Result<_, _>>().map_err(problem)?),
        _ => {
            let whole = |word: &str| word.parse().map(nearest).map_err(|_| "is not made of whole numbers");
            Column::Integers(words.map(whole).collect::<Result<_, _>>()?)
        }
    })
}

fn numbers<const N: usize, T>(block: &[u8], read: impl Fn([u8; N]) -> T) -> Vec<T> {
    block.as_chunks::<N>().0.iter().map(|bytes| read(*bytes)).collect()
}
