//! Writes `.vtu` files.

use super::{TEXTURE, TRIANGLE, VERTEX};
use crate::output::{Field, Frame, Values, deflate, legend, xml};
use std::fmt::{Display, Write};

/// The frame as a file; it must pass [`Frame::check`].
pub fn encode(frame: &Frame, compress: bool) -> Vec<u8> {
    let mut file = File { head: String::new(), data: Vec::new(), compress };
    let compressor = if compress { " compressor=\"vtkZLibDataCompressor\"" } else { "" };
    file.line("<?xml version=\"1.0\"?>");
    file.line(format_args!(
        "<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" byte_order=\"LittleEndian\" header_type=\"UInt64\"{compressor}>"
    ));
    file.line("<!--");
    legend::lines(frame).iter().for_each(|line| file.line(line));
    file.line("-->\n<UnstructuredGrid>\n<FieldData>");
    file.array("Float64", "TimeValue", "NumberOfTuples=\"1\"", [frame.time.to_le_bytes()].into_iter());
    let points = frame.positions.len();
    let cells = frame.faces.as_ref().map_or(points, |faces| faces.triangles.len());
    file.line(format_args!(
        "</FieldData>\n<Piece NumberOfPoints=\"{points}\" NumberOfCells=\"{cells}\">\n<Points>"
    ));
    file.floats("Points", frame.positions.as_flattened(), 3);
    file.line("</Points>\n<Cells>");
    file.cells(frame);
    file.line("</Cells>");
    file.point_data(frame);
    file.line("</Piece>\n</UnstructuredGrid>");
    file.finish()
}

/// Header and appended data, growing side by side.
struct File {
    head: String,
    data: Vec<u8>,
    compress: bool,
}

impl File {
    fn line(&mut self, what: impl Display) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.head, "{what}");
    }

    /// An array: its tag in the header, its numbers as the next block.
    fn array<const N: usize>(
        &mut self,
        number: &str,
        name: &str,
        attributes: &str,
        numbers: impl ExactSizeIterator<Item = [u8; N]>,
    ) {
        let offset = self.data.len();
        let name = xml::escaped(name);
        let space = if attributes.is_empty() { "" } else { " " };
        self.line(format_args!(
            "<DataArray type=\"{number}\" Name=\"{name}\"{space}{attributes} format=\"appended\" offset=\"{offset}\"/>"
        ));
        if self.compress {
            let mut bytes = Vec::new();
            put_numbers(&mut bytes, numbers);
            put_compressed(&mut self.data, &bytes);
        } else {
            self.data.extend_from_slice(&((N * numbers.len()) as u64).to_le_bytes());
            put_numbers(&mut self.data, numbers);
        }
    }

    fn floats(&mut self, name: &str, values: &[f32], components: usize) {
        let components = format!("NumberOfComponents=\"{components}\"");
        self.array("Float32", name, &components, values.iter().map(|x| x.to_le_bytes()));
    }

    fn cells(&mut self, frame: &Frame) {
        let (corners, kind, cells) = match &frame.faces {
            Some(faces) => (3, TRIANGLE, faces.triangles.len()),
            None => (1, VERTEX, frame.positions.len()),
        };
        match &frame.faces {
            Some(faces) => {
                let corners = faces.triangles.as_flattened().iter();
                self.array("Int32", "connectivity", "", corners.map(|n| n.to_le_bytes()));
            }
            None => self.array("Int32", "connectivity", "", (0..cells).map(|n| (n as i32).to_le_bytes())),
        }
        self.array("Int32", "offsets", "", (0..cells).map(|n| (corners * (n as i32 + 1)).to_le_bytes()));
        self.array("UInt8", "types", "", (0..cells).map(|_| [kind]));
    }

    fn point_data(&mut self, frame: &Frame) {
        let texture = frame.faces.as_ref().and_then(|faces| faces.texture.as_deref());
        let mut active = String::new();
        if let Some(Values::Vectors(_)) = frame.field("normal") {
            active += " Normals=\"normal\"";
        }
        if texture.is_some() {
            active += &format!(" TCoords=\"{TEXTURE}\"");
        }
        self.line(format_args!("<PointData{active}>"));
        for Field { name, values } in &frame.fields {
            match values {
                Values::Scalars(values) => self.floats(name, values, 1),
                Values::Vectors(values) => self.floats(name, values.as_flattened(), 3),
                Values::Integers(values) => {
                    let numbers = values.iter().map(|n| n.to_le_bytes());
                    self.array("Int32", name, "NumberOfComponents=\"1\"", numbers);
                }
            }
        }
        if let Some(texture) = texture {
            self.floats(TEXTURE, texture.as_flattened(), 2);
        }
        self.line("</PointData>");
    }

    fn finish(self) -> Vec<u8> {
        let (start, end) = (b"<AppendedData encoding=\"raw\">\n_", b"\n</AppendedData>\n</VTKFile>\n");
        [self.head.as_bytes(), start, &self.data, end].concat()
    }
}

fn put_numbers<const N: usize>(out: &mut Vec<u8>, numbers: impl ExactSizeIterator<Item = [u8; N]>) {
    let start = out.len();
    out.resize(start + N * numbers.len(), 0);
    for (place, number) in out[start..].as_chunks_mut::<N>().0.iter_mut().zip(numbers) {
        *place = number;
    }
}

/// Number of blocks, bytes of a block, bytes of the last one if it is shorter, compressed bytes of each; the blocks.
fn put_compressed(out: &mut Vec<u8>, bytes: &[u8]) {
    let blocks = deflate::zlib_blocks(bytes);
    let head = [blocks.len(), deflate::BLOCK, bytes.len() % deflate::BLOCK];
    for number in head.into_iter().chain(blocks.iter().map(Vec::len)) {
        out.extend_from_slice(&(number as u64).to_le_bytes());
    }
    blocks.iter().for_each(|block| out.extend_from_slice(block));
}
