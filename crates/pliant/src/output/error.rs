//! What can go wrong with files: where, what, and what to do.

use std::io;
use std::path::{Path, PathBuf};

/// A file could not be written, read or trusted.
#[derive(Debug, thiserror::Error)]
pub enum OutputError {
    #[error("{}: cannot {action}: {source}; {}", path.display(), remedy(source))]
    Io { path: PathBuf, action: &'static str, source: io::Error },

    #[error("{}: not a usable {what}: {reason}; {remedy}", path.display())]
    Damaged { path: PathBuf, what: &'static str, reason: String, remedy: &'static str },

    #[error(
        "{}: the columns are not those of this run: {reason}; \
         move the file away, or resume with the scene that wrote it",
        path.display()
    )]
    OtherColumns { path: PathBuf, reason: String },

    #[error("{}: no usable checkpoint{}; start the run anew, without --resume", path.display(), listed(reasons))]
    NoCheckpoint { path: PathBuf, reasons: Vec<String> },

    #[error("{}: frame {frame} cannot be stored: {reason}; this is a mistake in Pliant, please report it", path.display())]
    BadFrame { path: PathBuf, frame: u32, reason: String },

    #[error("{}: {points} points are too many for this format; store them as vtk", path.display())]
    TooLarge { path: PathBuf, points: usize },

    #[error("{}: the {what} cannot be written: {reason}; {remedy}", path.display())]
    Unwritable { path: PathBuf, what: &'static str, reason: String, remedy: &'static str },

    #[error("{}: the frame writer has stopped: {reason}; resume the run from its last checkpoint", path.display())]
    WriterStopped { path: PathBuf, reason: String },
}

impl OutputError {
    /// For `map_err`: the path and what was tried with it.
    pub(crate) fn io(path: &Path, action: &'static str) -> impl FnOnce(io::Error) -> OutputError {
        let path = path.to_path_buf();
        move |source| OutputError::Io { path, action, source }
    }
}

fn remedy(source: &io::Error) -> &'static str {
    use io::ErrorKind::*;
    match source.kind() {
        StorageFull | QuotaExceeded | FileTooLarge => "free some space, or store fewer frames and formats",
        PermissionDenied | ReadOnlyFilesystem => "choose a folder you may write to (-o DIR)",
        NotFound | NotADirectory => "check that the folder and the file are still there",
        IsADirectory | AlreadyExists | DirectoryNotEmpty => {
            "move away what stands there, or choose another folder (-o DIR)"
        }
        OutOfMemory => "the file is larger than the free memory",
        InvalidInput | InvalidFilename => "choose a shorter or plainer name",
        _ => "check the disk and its connection, then resume",
    }
}

fn listed(reasons: &[String]) -> String {
    if reasons.is_empty() { " there".into() } else { format!(" ({})", reasons.join("; ")) }
}
