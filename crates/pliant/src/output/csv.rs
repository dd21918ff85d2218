//! A table: one row a point, named columns, numbers with the shortest digits that read back exactly.
//!
//! Columns are `x,y,z`, then the fields; a vector is `NAME.x,NAME.y,NAME.z`. Whole numbers have no point, others do.
//! There is no place for the time, the names of bodies and triangles.

use super::text::{put_number, put_rows};
use super::{Field, Frame, NO_FORMAT, Values};
use std::fmt::Write;

const AXES: [&str; 3] = ["x", "y", "z"];
/// Columns at most: more are no table of points.
const MOST_COLUMNS: usize = 10_000;

/// The frame as a file; it must pass [`Frame::check`].
pub fn encode(frame: &Frame) -> Vec<u8> {
    let mut out = head(frame).into_bytes();
    put_rows(&mut out, frame.positions.len(), |text, row| {
        put_vector(text, frame.positions[row]);
        for Field { values, .. } in &frame.fields {
            text.push(',');
            match values {
                // Writing to a string cannot fail.
                Values::Integers(values) => drop(write!(text, "{}", values[row])),
                Values::Scalars(values) => put_number(text, values[row]),
                Values::Vectors(values) => put_vector(text, values[row]),
            }
        }
        text.push('\n');
    });
    out
}

fn head(frame: &Frame) -> String {
    let mut columns = AXES.map(String::from).to_vec();
    for Field { name, values } in &frame.fields {
        match values {
            Values::Vectors(_) => columns.extend(AXES.map(|axis| quoted(&format!("{name}.{axis}")))),
            _ => columns.push(quoted(name)),
        }
    }
    columns.join(",") + "\n"
}

/// A name that readers of tables take: in quotes where it has to be, without line breaks.
fn quoted(name: &str) -> String {
    let name: String = name.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    if name.contains([',', '"']) { format!("\"{}\"", name.replace('"', "\"\"")) } else { name }
}

fn put_vector(text: &mut String, [x, y, z]: [f32; 3]) {
    put_number(text, x);
    text.push(',');
    put_number(text, y);
    text.push(',');
    put_number(text, z);
}

/// Reads a table with a row of names. Positions are `x y z`, or a vector `position`, `positions` or `Points`; the
/// parts of a vector end in `.x .y .z`, `_x _y _z` or, as ParaView writes them, `:0 :1 :2`.
pub fn decode(text: &str) -> Result<Frame, String> {
    let mut lines = text.lines();
    let names = names(lines.next().unwrap_or_default())?;
    let mut columns: Vec<Column> = names.iter().map(|_| Column::default()).collect();
    for (k, line) in lines.enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let problem = |what: &str| format!("its line {} {what}", k + 2);
        let mut words = line.split(',');
        for column in &mut columns {
            let word = words.next().ok_or_else(|| problem("has too few numbers"))?;
            column.push(word.trim()).ok_or_else(|| problem("has a value that is not a number"))?;
        }
        if words.next().is_some() {
            return Err(problem("has too many numbers"));
        }
    }
    assemble(names, columns)
}

fn names(line: &str) -> Result<Vec<String>, String> {
    let mut names = vec![String::new()];
    let mut in_quotes = false;
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            // Two in a row within quotes stand for one.
            '"' if in_quotes && chars.next_if_eq(&'"').is_some() => push(&mut names, '"'),
            '"' => in_quotes = !in_quotes,
            ',' if !in_quotes => names.push(String::new()),
            c => push(&mut names, c),
        }
        if names.len() > MOST_COLUMNS {
            return Err(format!("it has more than {MOST_COLUMNS} columns"));
        }
    }
    names.iter_mut().for_each(|name| *name = name.trim().to_string());
    Ok(names)
}

fn push(names: &mut [String], c: char) {
    if let Some(name) = names.last_mut() {
        name.push(c);
    }
}

/// Numbers read so far: whole until the first that is not.
enum Column {
    Whole(Vec<i32>),
    Real(Vec<f32>),
}

impl Default for Column {
    fn default() -> Self {
        Column::Whole(Vec::new())
    }
}

impl Column {
    fn push(&mut self, word: &str) -> Option<()> {
        if let Column::Whole(numbers) = self {
            if let Ok(number) = word.parse() {
                numbers.push(number);
                return Some(());
            }
            *self = Column::Real(numbers.iter().map(|n| *n as f32).collect());
        }
        if let Column::Real(numbers) = self {
            numbers.push(word.parse().ok()?);
        }
        Some(())
    }

    fn values(self) -> Values {
        match self {
            Column::Whole(numbers) => Values::Integers(numbers),
            Column::Real(numbers) => Values::Scalars(numbers),
        }
    }

    fn reals(self) -> Vec<f32> {
        match self {
            Column::Whole(numbers) => numbers.into_iter().map(|n| n as f32).collect(),
            Column::Real(numbers) => numbers,
        }
    }
}

/// Puts the parts of vectors together.
fn assemble(names: Vec<String>, columns: Vec<Column>) -> Result<Frame, String> {
    let mut frame = Frame::default();
    let mut columns: Vec<(String, Column)> = names.into_iter().zip(columns).collect();
    let mut found = None;
    while !columns.is_empty() {
        let first = stem(&columns[0].0, 0).filter(|name| {
            columns.len() >= 3 && (1..3).all(|axis| stem(&columns[axis].0, axis).as_ref() == Some(name))
        });
        match first {
            Some(name) => {
                let [x, y, z] = std::array::from_fn(|_| columns.remove(0).1.reals());
                let vectors = x.into_iter().zip(y).zip(z).map(|((x, y), z)| [x, y, z]).collect();
                if found.is_none() && ["", "position", "positions", "Points"].contains(&name.as_str()) {
                    found = Some(vectors);
                } else {
                    frame.fields.push(Field { name, values: Values::Vectors(vectors) });
                }
            }
            None => {
                let (name, column) = columns.remove(0);
                frame.fields.push(Field { name, values: column.values() });
            }
        }
    }
    frame.positions = found.ok_or_else(|| format!("{NO_FORMAT}; a table needs columns x, y, z"))?;
    frame.find_bodies();
    Ok(frame)
}

/// The vector whose part along this axis has such a name; the positions have none.
fn stem(name: &str, axis: usize) -> Option<String> {
    if name == AXES[axis] {
        return Some(String::new());
    }
    let endings = [format!(".{}", AXES[axis]), format!("_{}", AXES[axis]), format!(":{axis}")];
    endings.iter().find_map(|ending| name.strip_suffix(ending)).map(String::from)
}
