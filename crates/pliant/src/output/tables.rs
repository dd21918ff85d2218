//! Time series as CSV: one row at a time, the time first; resumable.

use super::OutputError;
use super::atomic::{read_whole, write_atomically};
use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// A CSV file that grows by whole rows.
#[derive(Debug)]
pub struct Table {
    path: PathBuf,
    file: File,
    columns: usize,
    /// The row being formatted; kept for its allocation.
    line: String,
}

/// One value of a row.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    Number(f64),
    /// A word without commas, quotes or line breaks.
    Word(String),
}

impl Table {
    /// Starts a table, replacing what is there. The first column is the time.
    pub fn create(path: &Path, header: &[String]) -> Result<Table, OutputError> {
        write_atomically(path, format!("{}\n", header_line(header)).as_bytes())?;
        Table::open(path, header.len())
    }

    /// Goes on with a table as it was at a time: later rows, and rows that were not written to their end, are
    /// dropped. A table that does not exist is created.
    pub fn resume(path: &Path, header: &[String], keep_rows_up_to_time: f64) -> Result<Table, OutputError> {
        let bytes = match read_whole(path) {
            Err(OutputError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                return Table::create(path, header);
            }
            bytes => bytes?,
        };
        let header_line = header_line(header);
        let kept = rows_up_to(&bytes, &header_line, header.len(), keep_rows_up_to_time)
            .map_err(|reason| OutputError::OtherColumns { path: path.to_path_buf(), reason })?;
        if kept != bytes {
            write_atomically(path, &kept)?;
        }
        Table::open(path, header.len())
    }

    fn open(path: &Path, columns: usize) -> Result<Table, OutputError> {
        assert!(columns > 0, "a table has a column for the time");
        let file = OpenOptions::new().append(true).open(path).map_err(OutputError::io(path, "open"))?;
        Ok(Table { path: path.to_path_buf(), file, columns, line: String::new() })
    }

    /// Adds a row of numbers, the time first, in one write.
    pub fn append(&mut self, row: &[f64]) -> Result<(), OutputError> {
        let cells: Vec<Cell> = row.iter().map(|value| Cell::Number(*value)).collect();
        self.append_cells(&cells)
    }

    /// Adds a row, the time first, in one write.
    pub fn append_cells(&mut self, row: &[Cell]) -> Result<(), OutputError> {
        assert_eq!(row.len(), self.columns, "a row of {} has a value for each column", self.path.display());
        self.line.clear();
        for (k, cell) in row.iter().enumerate() {
            self.line.push_str(if k == 0 { "" } else { "," });
            match cell {
                Cell::Number(value) => put_number(&mut self.line, *value),
                Cell::Word(word) => self.line.push_str(word),
            }
        }
        self.line.push('\n');
        self.file.write_all(self.line.as_bytes()).map_err(OutputError::io(&self.path, "write"))
    }

    /// Makes all rows so far last through a power failure; to be called before a checkpoint is stored.
    pub fn sync(&self) -> Result<(), OutputError> {
        self.file.sync_data().map_err(OutputError::io(&self.path, "write"))
    }
}

/// `NAME.x`, `NAME.y`, `NAME.z`.
pub fn vector_columns(name: &str) -> [String; 3] {
    ["x", "y", "z"].map(|axis| format!("{name}.{axis}"))
}

/// `NAME.xx`, `NAME.xy`, ... `NAME.zz`, row by row.
pub fn tensor_columns(name: &str) -> [String; 9] {
    ["xx", "xy", "xz", "yx", "yy", "yz", "zx", "zy", "zz"].map(|axes| format!("{name}.{axes}"))
}

/// The header as one line; names with commas or quotes are quoted, control characters become `_`.
fn header_line(header: &[String]) -> String {
    let names: Vec<String> = header
        .iter()
        .map(|name| {
            let name: String = name.chars().map(|c| if c.is_control() { '_' } else { c }).collect();
            if name.contains([',', '"']) { format!("\"{}\"", name.replace('"', "\"\"")) } else { name }
        })
        .collect();
    names.join(",")
}

/// The shortest digits that read back as the same number.
fn put_number(line: &mut String, value: f64) {
    let magnitude = value.abs();
    let plain = magnitude == 0.0 || (1e-5..1e16).contains(&magnitude);
    // Writing to a string cannot fail.
    let _ = match value {
        value if value.is_nan() => write!(line, "nan"),
        value if plain || value.is_infinite() => write!(line, "{value}"),
        value => write!(line, "{value:e}"),
    };
}

/// The bytes of the table without rows after `time`, torn rows and rows with a wrong number of columns.
fn rows_up_to(bytes: &[u8], header: &str, columns: usize, time: f64) -> Result<Vec<u8>, String> {
    // The same sum of time steps, read back from the shortest digits, is the same number; the slack is for tables
    // edited or rounded by others.
    let latest = time + 1e-12 * time.abs();
    let mut kept = Vec::with_capacity(bytes.len());
    let mut lines = bytes.split_inclusive(|byte| *byte == b'\n');
    let first = lines.next().unwrap_or_default().trim_ascii_end();
    if first != header.as_bytes() {
        return Err(first_difference(&String::from_utf8_lossy(first), header));
    }
    kept.extend_from_slice(header.as_bytes());
    kept.push(b'\n');
    for line in lines {
        let Some(row) = line.strip_suffix(b"\n").and_then(|row| std::str::from_utf8(row).ok()) else {
            continue;
        };
        let row = row.trim_end();
        let is_whole = row.split(',').count() == columns;
        let row_time = row.split(',').next().and_then(|t| t.trim().parse::<f64>().ok());
        if is_whole && row_time.is_some_and(|row_time| row_time <= latest) {
            kept.extend_from_slice(row.as_bytes());
            kept.push(b'\n');
        }
    }
    Ok(kept)
}

fn first_difference(found: &str, expected: &str) -> String {
    let (mut found, mut expected) = (found.split(','), expected.split(','));
    loop {
        match (found.next(), expected.next()) {
            (Some(a), Some(b)) if a == b => {}
            (a, b) => {
                let short =
                    |name: Option<&str>| name.unwrap_or("nothing").chars().take(60).collect::<String>();
                return format!("found `{}` where `{}` belongs", short(a), short(b));
            }
        }
    }
}
