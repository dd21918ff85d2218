//! Pictures as an MP4, encoded by the ffmpeg program where there is one.

use super::Picture;
use crate::output::OutputError;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

const REMEDY: &str = "install ffmpeg so that it is found on the PATH, or write a .gif";

/// A movie under way: raw pictures are piped to ffmpeg, which writes beside the final name.
pub struct Mp4Movie {
    encoder: Child,
    path: PathBuf,
    hidden: PathBuf,
    size: [u32; 2],
}

impl Mp4Movie {
    /// A movie of `size` pixels that ends up under `path`.
    pub fn start(path: &Path, size: [u32; 2], fps: f64) -> Result<Mp4Movie, OutputError> {
        // Named as one of ours, so that the next run cleans up after one that was killed.
        let hidden = path.with_file_name(format!(".pliant-{}-movie.part", std::process::id()));
        let pixels = format!("{}x{}", size[0], size[1]);
        let encoder = Command::new("ffmpeg")
            .args(["-y", "-loglevel", "error", "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", &pixels])
            .args(["-r", &format!("{fps}"), "-i", "-", "-an"])
            // Players want even sizes and colours at half resolution.
            .args(["-vf", "pad=ceil(iw/2)*2:ceil(ih/2)*2", "-pix_fmt", "yuv420p", "-f", "mp4"])
            .arg(&hidden)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| failure(path, format!("ffmpeg cannot be started: {error}")))?;
        Ok(Mp4Movie { encoder, path: path.to_path_buf(), hidden, size })
    }

    /// Adds a picture of the size of the movie.
    pub fn push(&mut self, picture: &Picture) -> Result<(), OutputError> {
        assert_eq!([picture.width, picture.height], self.size, "all pictures of a movie have its size");
        let pipe = self.encoder.stdin.as_mut();
        let written = pipe.map_or(Ok(()), |pipe| pipe.write_all(&picture.rgb));
        written.or_else(|_| self.end())
    }

    /// Waits until the movie is written, and gives it its name.
    pub fn finish(mut self) -> Result<(), OutputError> {
        self.end()?;
        std::fs::rename(&self.hidden, &self.path).map_err(OutputError::io(&self.path, "write"))
    }

    /// Closes the pipe and asks ffmpeg how it went.
    fn end(&mut self) -> Result<(), OutputError> {
        drop(self.encoder.stdin.take());
        let mut words = String::new();
        if let Some(errors) = &mut self.encoder.stderr {
            // What is not text is no help either.
            let _ = errors.read_to_string(&mut words);
        }
        let status = self.encoder.wait().map_err(OutputError::io(&self.path, "encode"))?;
        if status.success() {
            return Ok(());
        }
        let said = words.lines().next().unwrap_or("it says nothing");
        Err(failure(&self.path, format!("ffmpeg failed: {said}")))
    }
}

impl Drop for Mp4Movie {
    /// A movie that was not finished leaves nothing behind.
    fn drop(&mut self) {
        drop(self.encoder.stdin.take());
        let _ = self.encoder.wait();
        let _ = std::fs::remove_file(&self.hidden);
    }
}

fn failure(path: &Path, reason: String) -> OutputError {
    OutputError::Unwritable { path: path.to_path_buf(), what: "movie", reason, remedy: REMEDY }
}
