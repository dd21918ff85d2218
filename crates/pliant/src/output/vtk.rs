//! VTK XML unstructured grids (`.vtu`): raw appended data, little endian, one vertex cell per point.
//!
//! ParaView, PyVista and meshio read these. The last asks for more than the format does: blocks follow one another
//! without gaps in the order of their offsets, and a newline ends them.

use super::legend::{self, Kind, Legend};
use super::xml::{self, Item, attribute};
use super::{Field, Frame, FrameBody, Values};
use std::fmt::{Display, Write};

/// Cell type of a single point.
const VTK_VERTEX: u8 = 1;

/// The frame as a file; it must pass [`Frame::check`].
pub fn encode(frame: &Frame) -> Vec<u8> {
    let mut blocks = Blocks::default();
    let points = frame.positions.len();
    let mut head = String::from(
        "<?xml version=\"1.0\"?>\n\
         <VTKFile type=\"UnstructuredGrid\" version=\"1.0\" byte_order=\"LittleEndian\" header_type=\"UInt64\">\n\
         <!--\n",
    );
    for line in legend::lines(frame) {
        put(&mut head, format_args!("{line}\n"));
    }
    head.push_str("-->\n<UnstructuredGrid>\n<FieldData>\n");
    head.push_str(&blocks.array("Float64", "TimeValue", "NumberOfTuples=\"1\"", 8));
    put(
        &mut head,
        format_args!(
            "</FieldData>\n<Piece NumberOfPoints=\"{points}\" NumberOfCells=\"{points}\">\n<Points>\n"
        ),
    );
    head.push_str(&blocks.array("Float32", "Points", "NumberOfComponents=\"3\"", 12 * points));
    head.push_str("</Points>\n<Cells>\n");
    // 32-bit cells are half the size; beyond 2^31 points they would overflow.
    let wide = i32::try_from(points).is_err();
    let (cell_type, cell_bytes) = if wide { ("Int64", 8) } else { ("Int32", 4) };
    head.push_str(&blocks.array(cell_type, "connectivity", "", cell_bytes * points));
    head.push_str(&blocks.array(cell_type, "offsets", "", cell_bytes * points));
    head.push_str(&blocks.array("UInt8", "types", "", points));
    head.push_str("</Cells>\n<PointData>\n");
    for Field { name, values } in &frame.fields {
        let number = if let Values::Integers(_) = values { "Int32" } else { "Float32" };
        let components = format!("NumberOfComponents=\"{}\"", values.components());
        let bytes = 4 * values.components() * points;
        head.push_str(&blocks.array(number, &xml::escaped(name), &components, bytes));
    }
    head.push_str("</PointData>\n</Piece>\n</UnstructuredGrid>\n<AppendedData encoding=\"raw\">\n_");

    let tail = b"\n</AppendedData>\n</VTKFile>\n";
    let mut out = Vec::with_capacity(head.len() + blocks.end + tail.len());
    out.extend_from_slice(head.as_bytes());
    put_block(&mut out, [frame.time.to_le_bytes()].into_iter());
    put_block(&mut out, frame.positions.as_flattened().iter().map(|x| x.to_le_bytes()));
    if wide {
        put_block(&mut out, (0..points).map(|n| (n as i64).to_le_bytes()));
        put_block(&mut out, (0..points).map(|n| (n as i64 + 1).to_le_bytes()));
    } else {
        put_block(&mut out, (0..points).map(|n| (n as i32).to_le_bytes()));
        put_block(&mut out, (0..points).map(|n| (n as i32 + 1).to_le_bytes()));
    }
    put_block(&mut out, (0..points).map(|_| [VTK_VERTEX]));
    for Field { values, .. } in &frame.fields {
        match values {
            Values::Integers(values) => put_block(&mut out, values.iter().map(|n| n.to_le_bytes())),
            Values::Scalars(values) => put_block(&mut out, values.iter().map(|a| a.to_le_bytes())),
            Values::Vectors(values) => {
                put_block(&mut out, values.as_flattened().iter().map(|a| a.to_le_bytes()))
            }
        }
    }
    out.extend_from_slice(tail);
    out
}

/// Where the next block of the appended data starts.
#[derive(Default)]
struct Blocks {
    end: usize,
}

impl Blocks {
    /// The tag of an array whose values are the next block.
    fn array(&mut self, number: &str, name: &str, attributes: &str, bytes: usize) -> String {
        let offset = self.end;
        self.end += 8 + bytes;
        let space = if attributes.is_empty() { "" } else { " " };
        format!(
            "<DataArray type=\"{number}\" Name=\"{name}\"{space}{attributes} format=\"appended\" offset=\"{offset}\"/>\n"
        )
    }
}

/// Writing to a string cannot fail.
fn put(text: &mut String, what: impl Display) {
    let _ = write!(text, "{what}");
}

/// Appends the length in bytes, then the numbers.
fn put_block<const N: usize>(out: &mut Vec<u8>, numbers: impl ExactSizeIterator<Item = [u8; N]>) {
    let bytes = N * numbers.len();
    out.extend_from_slice(&(bytes as u64).to_le_bytes());
    let start = out.len();
    out.resize(start + bytes, 0);
    for (place, number) in out[start..].as_chunks_mut::<N>().0.iter_mut().zip(numbers) {
        *place = number;
    }
}

/// Reads a frame. Also takes files of others, as long as their arrays are raw, appended, little endian and not
/// compressed; these come as one body, and arrays that are neither scalars nor 3-vectors are left out.
pub fn decode(bytes: &[u8]) -> Result<Frame, String> {
    if !bytes.trim_ascii_end().ends_with(b"</VTKFile>") {
        return Err("the end of the file is missing".into());
    }
    let tag = b"<AppendedData";
    let start = bytes.windows(tag.len()).position(|w| w == tag).ok_or("it has no appended data")?;
    let head = std::str::from_utf8(&bytes[..start]).map_err(|_| "its header is not text")?;
    let head = Head::parse(head)?;
    let opening = bytes[start..].iter().position(|b| *b == b'>').ok_or("it has no appended data")?;
    let (opening, rest) = bytes[start..].split_at(opening);
    if !opening.windows(5).any(|w| w == b"\"raw\"") {
        return Err("its appended data is not raw".into());
    }
    let underscore = rest.iter().position(|b| *b == b'_').ok_or("its appended data does not start")?;
    head.frame(Appended { bytes: &rest[underscore + 1..], wide: head.wide, budget: rest.len() })
}

/// One `DataArray` of the header.
struct Array {
    section: String,
    number: String,
    name: String,
    components: usize,
    offset: usize,
}

struct Head {
    legend: Option<Legend>,
    points: usize,
    arrays: Vec<Array>,
    /// Lengths of blocks have 64 bits, not 32.
    wide: bool,
}

impl Head {
    fn parse(text: &str) -> Result<Head, String> {
        let mut head = Head { legend: None, points: 0, arrays: Vec::new(), wide: false };
        let mut section = "";
        let mut pieces = 0;
        for item in xml::items(text)? {
            match item {
                Item::Comment(comment) if head.legend.is_none() => {
                    head.legend = legend::parse(comment.lines())?
                }
                Item::Open { name: "VTKFile", attributes } => head.wide = check_file(&attributes)?,
                Item::Open { name: "Piece", attributes } => {
                    pieces += 1;
                    head.points = number(&attributes, "NumberOfPoints")?;
                }
                Item::Open { name: "DataArray", attributes } => {
                    head.arrays.push(Array::parse(section, &attributes)?);
                }
                Item::Open { name, .. } => section = name,
                Item::Comment(_) | Item::Close => {}
            }
        }
        if pieces != 1 {
            return Err(format!("it has {pieces} pieces, not one"));
        }
        Ok(head)
    }

    fn frame(&self, mut data: Appended) -> Result<Frame, String> {
        let mut frame = Frame {
            index: 0,
            time: 0.0,
            bodies: vec![FrameBody { name: "points".into(), count: self.points }],
            positions: Vec::new(),
            fields: Vec::new(),
        };
        for array in &self.arrays {
            match array.section.as_str() {
                "Points" => match data.values(array, self.points)? {
                    Some(Values::Vectors(positions)) => frame.positions = positions,
                    _ => return Err("its points are not three numbers each".into()),
                },
                "PointData" => {
                    if let Some(values) = data.values(array, self.points)? {
                        frame.fields.push(Field { name: array.name.clone(), values });
                    }
                }
                "FieldData" if array.name == "TimeValue" => frame.time = data.time(array)?,
                _ => {}
            }
        }
        if frame.positions.len() != self.points {
            return Err("its points are missing".into());
        }
        if let Some(legend) = &self.legend {
            restore(&mut frame, legend)?;
        }
        Ok(frame)
    }
}

/// Checks the attributes of the root; tells whether lengths of blocks have 64 bits.
fn check_file(attributes: &[(&str, String)]) -> Result<bool, String> {
    if attribute(attributes, "type") != Some("UnstructuredGrid") {
        return Err("it is not an UnstructuredGrid".into());
    }
    if attribute(attributes, "byte_order") != Some("LittleEndian") {
        return Err("it is not little endian".into());
    }
    if attribute(attributes, "compressor").is_some() {
        return Err("it is compressed".into());
    }
    match attribute(attributes, "header_type").unwrap_or("UInt32") {
        "UInt64" => Ok(true),
        "UInt32" => Ok(false),
        _ => Err("its header type is unknown".into()),
    }
}

fn number(attributes: &[(&str, String)], key: &str) -> Result<usize, String> {
    attribute(attributes, key).and_then(|n| n.parse().ok()).ok_or_else(|| format!("{key} is not a number"))
}

/// Puts what the legend knows in the place of what the arrays told.
fn restore(frame: &mut Frame, legend: &Legend) -> Result<(), String> {
    let same_kinds = legend.fields.len() == frame.fields.len()
        && legend.fields.iter().zip(&frame.fields).all(|((kind, _), f)| *kind == Kind::of(&f.values));
    if !same_kinds {
        return Err("its arrays are not those its comment names".into());
    }
    for (field, (_, name)) in frame.fields.iter_mut().zip(&legend.fields) {
        field.name.clone_from(name);
    }
    frame.index = legend.frame;
    frame.time = legend.time;
    frame.bodies.clone_from(&legend.bodies);
    Ok(())
}

impl Array {
    fn parse(section: &str, attributes: &[(&str, String)]) -> Result<Array, String> {
        let text = |key| attribute(attributes, key).unwrap_or_default().to_string();
        if text("format") != "appended" {
            return Err(format!("its array \"{}\" is not appended", text("Name")));
        }
        let components = match attribute(attributes, "NumberOfComponents") {
            None => 1,
            Some(_) => number(attributes, "NumberOfComponents")?,
        };
        let offset = number(attributes, "offset")?;
        Ok(Array { section: section.into(), number: text("type"), name: text("Name"), components, offset })
    }
}

/// The raw blocks.
struct Appended<'a> {
    bytes: &'a [u8],
    wide: bool,
    /// Bytes that may still be read: blocks do not overlap, so together they are no longer than the file.
    budget: usize,
}

impl<'a> Appended<'a> {
    fn block(&mut self, array: &Array) -> Result<&'a [u8], String> {
        let cut = || format!("its array \"{}\" reaches beyond the file", array.name);
        let rest = self.bytes.get(array.offset..).ok_or_else(cut)?;
        let (length, rest) = if self.wide {
            let (length, rest) = rest.split_first_chunk().ok_or_else(cut)?;
            (u64::from_le_bytes(*length), rest)
        } else {
            let (length, rest) = rest.split_first_chunk().ok_or_else(cut)?;
            (u64::from(u32::from_le_bytes(*length)), rest)
        };
        let block = usize::try_from(length).ok().and_then(|length| rest.get(..length)).ok_or_else(cut)?;
        self.budget = self.budget.checked_sub(block.len()).ok_or("its arrays overlap")?;
        Ok(block)
    }

    /// The column of a field; `None` for kinds of arrays a frame does not have.
    fn values(&mut self, array: &Array, points: usize) -> Result<Option<Values>, String> {
        let block = self.block(array)?;
        let column = match array.number.as_str() {
            "Float32" => Column::Reals(numbers(block, f32::from_le_bytes)),
            "Float64" => Column::Reals(numbers(block, |b| f64::from_le_bytes(b) as f32)),
            "Int32" => Column::Integers(numbers(block, i32::from_le_bytes)),
            "UInt8" => Column::Integers(numbers(block, |[n]: [u8; 1]| i32::from(n))),
            _ => return Ok(None),
        };
        let values = match (column, array.components) {
            (Column::Reals(column), 1) => Values::Scalars(column),
            (Column::Integers(column), 1) => Values::Integers(column),
            (Column::Reals(column), 3) => Values::Vectors(column.as_chunks().0.to_vec()),
            _ => return Ok(None),
        };
        if values.len() != points {
            return Err(format!(
                "its array \"{}\" has {} values for {points} points",
                array.name,
                values.len()
            ));
        }
        Ok(Some(values))
    }

    fn time(&mut self, array: &Array) -> Result<f64, String> {
        match (array.number.as_str(), <[u8; 8]>::try_from(self.block(array)?)) {
            ("Float64", Ok(bytes)) => Ok(f64::from_le_bytes(bytes)),
            _ => Err("its TimeValue is not one number".into()),
        }
    }
}

enum Column {
    Reals(Vec<f32>),
    Integers(Vec<i32>),
}

fn numbers<const N: usize, T>(block: &[u8], read: impl Fn([u8; N]) -> T) -> Vec<T> {
    block.as_chunks::<N>().0.iter().map(|bytes| read(*bytes)).collect()
}
