//! What is wrong with a scene, where, and what to do about it.

use std::ops::Range;
use std::sync::Arc;

/// A scene that cannot be run: one message with its place and its remedy.
///
/// Displays as `scene.toml:14:9: body "beam" uses material "ruber", which is not defined; did you mean "rubber"?`
/// or, for a setting given on the command line, `--set simulation.spacing=-1: spacing must be ...`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}: {message}", self.place())]
pub struct SceneError {
    /// The scene file as the user named it, or `--set key=value`.
    pub file: String,
    /// What is wrong.
    pub message: String,
    /// What to do about it; never empty.
    pub help: String,
    /// Bytes of `text` that are wrong.
    pub span: Range<usize>,
    /// The scene file or the setting, whole.
    pub text: Arc<str>,
    /// Line of the start of `span` in `text`, from 1.
    pub line: u32,
    /// Column of the start of `span` [characters], from 1.
    pub column: u32,
    pub origin: Origin,
}

/// Who said the wrong thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The scene file, at the place told.
    File,
    /// A setting given beside the file.
    Override,
    /// Nobody: the file could not be read.
    Unread,
}

impl SceneError {
    /// An error at some bytes of a text; the span is moved to lie within the text, on whole characters.
    pub(super) fn new(origin: Origin, file: String, text: Arc<str>, span: Range<usize>) -> Self {
        let start = floor_to_char(&text, span.start);
        let end = floor_to_char(&text, span.end).max(start);
        let before = &text[..start];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let line = 1 + before.bytes().filter(|&byte| byte == b'\n').count();
        let column = 1 + before[line_start..].chars().count();
        SceneError {
            file,
            message: String::new(),
            help: String::new(),
            span: start..end,
            text,
            line: saturating(line),
            column: saturating(column),
            origin,
        }
    }

    /// A file that cannot be read at all.
    pub(super) fn unread(file: &str, message: impl Into<String>, help: impl Into<String>) -> Self {
        SceneError::new(Origin::Unread, file.to_owned(), "".into(), 0..0).saying(message, help)
    }

    pub(super) fn saying(mut self, message: impl Into<String>, help: impl Into<String>) -> Self {
        self.message = message.into();
        self.help = help.into();
        self
    }

    /// `file:line:column`, or only the file where no line is meant.
    pub fn place(&self) -> String {
        match self.origin {
            Origin::File => format!("{}:{}:{}", self.file, self.line, self.column),
            Origin::Override | Origin::Unread => self.file.clone(),
        }
    }
}

fn floor_to_char(text: &str, mut index: usize) -> usize {
    index = index.min(text.len());
    while !text.is_char_boundary(index) {
        index -= 1;
    }
    index
}

fn saturating(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
