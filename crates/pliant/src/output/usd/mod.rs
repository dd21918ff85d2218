//! Universal Scene Description: points and meshes with time samples, in binary layers (`.usdc`).
//!
//! A layer holds one frame or many. `/scene` has a prim for each body, `Points` or `Mesh`, with fields as primvars;
//! the velocity is `velocities`, the normal `normals`, the texture coordinates are `primvars:st`. A run is a layer
//! for each frame, and a small `.usda` that plays them as value clips: so a killed run leaves whole files only.

mod binary;
mod prims;
mod read;

pub use read::decode;

use super::atomic::write_atomically_with;
use super::{Frame, IndexEntry, OutputError, legend};
use binary::{Layer, Value};
use prims::Prims;
use std::fmt::Write as _;
use std::io::{self, Cursor, Seek, Write};
use std::path::Path;

/// The prim that holds all others.
const ROOT: &str = "scene";

/// The frame as a layer with one time sample; it must pass [`Frame::check`].
pub fn encode(frame: &Frame, fps: f64) -> Vec<u8> {
    let bytes = Series::start(Cursor::new(Vec::new()), fps).and_then(|mut series| {
        series.push(frame)?;
        series.finish()
    });
    // Writing to memory cannot fail.
    bytes.map(Cursor::into_inner).unwrap_or_default()
}

/// Writes frames, which must pass [`Frame::check`] and come in order, as one layer. They are asked for one at a time,
/// so that a long run need not fit into memory; an error among them leaves no file.
pub fn write_film(
    path: &Path,
    fps: f64,
    frames: impl IntoIterator<Item = Result<Frame, OutputError>>,
) -> Result<(), OutputError> {
    let mut failed = None;
    let written = write_atomically_with(path, |file| {
        let mut series = Series::start(file, fps)?;
        for frame in frames {
            match frame {
                Ok(frame) => series.push(&frame)?,
                Err(error) => {
                    failed = Some(error);
                    return Err(io::Error::other("a frame is missing"));
                }
            }
        }
        series.finish().map(|_| ())
    });
    failed.map_or(written, Err)
}

/// A layer that grows by a frame at a time.
struct Series<W> {
    layer: Layer<W>,
    prims: Prims,
    fps: f64,
    /// Time codes of the first and the last frame.
    range: Option<(f64, f64)>,
    legend: String,
}

impl<W: Write + Seek> Series<W> {
    fn start(out: W, fps: f64) -> io::Result<Series<W>> {
        Ok(Series {
            layer: Layer::start(out)?,
            prims: Prims::default(),
            fps,
            range: None,
            legend: String::new(),
        })
    }

    /// Adds a frame, which comes after those before it.
    fn push(&mut self, frame: &Frame) -> io::Result<()> {
        let code = time_code(frame.time, self.fps);
        self.range = Some((self.range.map_or(code, |(first, _)| first), code));
        self.legend = legend::lines(frame).join("\n");
        self.prims.push(&mut self.layer, frame, code)
    }

    /// Writes the structure; the layer is whole only after this.
    fn finish(mut self) -> io::Result<W> {
        let (start, end) = self.range.unwrap_or_default();
        let children = self.layer.tokens(&[ROOT.to_string()])?;
        let doc = self.layer.string(&self.legend);
        let (root, y) = (self.layer.token(ROOT), self.layer.token("Y"));
        let root = vec![
            ("defaultPrim", root),
            ("documentation", doc),
            ("endTimeCode", self.layer.double(end)?),
            ("framesPerSecond", self.layer.double(self.fps)?),
            ("metersPerUnit", self.layer.double(1.0)?),
            ("startTimeCode", self.layer.double(start)?),
            ("timeCodesPerSecond", self.layer.double(self.fps)?),
            ("upAxis", y),
            ("primChildren", children),
        ];
        let tree = self.prims.tree(&mut self.layer, root)?;
        self.layer.finish(&tree)
    }
}

/// Frames count as time codes; rounding does not make 3 of 2.9999999999.
fn time_code(time: f64, fps: f64) -> f64 {
    let code = time * fps;
    if (code - code.round()).abs() < 1e-6 { code.round() } else { code }
}

/// The scene that plays the layers of these frames, or `None` if there are none.
pub(super) fn scene(entries: &[IndexEntry], fps: f64) -> Option<String> {
    let layer = |entry: &IndexEntry| entry.files.iter().find(|file| file.ends_with(".usdc")).cloned();
    let layers: Vec<(String, f64)> =
        entries.iter().filter_map(|entry| Some((layer(entry)?, time_code(entry.time, fps)))).collect();
    let ((first, start), (_, end)) = (layers.first()?, layers.last()?);
    let mut text = format!(
        "#usda 1.0\n(\n    defaultPrim = \"{ROOT}\"\n    startTimeCode = {start}\n    endTimeCode = {end}\n    \
         timeCodesPerSecond = {fps}\n    framesPerSecond = {fps}\n    metersPerUnit = 1\n    upAxis = \"Y\"\n)\n\n\
         def Xform \"{ROOT}\" (\n    references = @./{first}@</{ROOT}>\n    clips = {{\n        \
         dictionary default = {{\n            string primPath = \"/{ROOT}\"\n            \
         asset manifestAssetPath = @./{first}@\n"
    );
    // Writing to a string cannot fail.
    let mut list = |head: &str, item: &dyn Fn(usize) -> String| {
        let items: Vec<String> = (0..layers.len()).map(item).collect();
        let _ = writeln!(text, "            {head} = [{}]", items.join(", "));
    };
    list("asset[] assetPaths", &|k| format!("@./{}@", layers[k].0));
    list("double2[] active", &|k| format!("({}, {k})", layers[k].1));
    list("double2[] times", &|k| format!("({0}, {0})", layers[k].1));
    text.push_str("        }\n    }\n)\n{\n}\n");
    Some(text)
}

/// Fields of a spec, by name.
type Fields = Vec<(&'static str, Value)>;
