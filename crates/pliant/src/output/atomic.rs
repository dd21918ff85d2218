//! Whole files or none: bytes go to a hidden name in the same folder, reach the disk, and are then renamed.

use super::OutputError;
use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

const TEMPORARY_PREFIX: &str = ".pliant-";
const TEMPORARY_SUFFIX: &str = ".part";

/// Writes `bytes` under `path`, replacing what is there. At every moment, also after a crash, the file under
/// `path` is the old one or the new one, whole.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> Result<(), OutputError> {
    write_atomically_with(path, |file| file.write_all(bytes))
}

/// Like [`write_atomically`], for contents that are produced piece by piece.
pub fn write_atomically_with(
    path: &Path,
    contents: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> Result<(), OutputError> {
    let folder = folder_of(path);
    let temporary = folder.join(temporary_name());
    write_through(&temporary, contents)
        .and_then(|()| fs::rename(&temporary, path))
        .inspect_err(|_| drop(fs::remove_file(&temporary)))
        .and_then(|()| sync_folder(folder))
        .map_err(OutputError::io(path, "write"))
}

fn write_through(
    temporary: &Path,
    contents: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> io::Result<()> {
    let mut file = BufWriter::with_capacity(1 << 16, File::create_new(temporary)?);
    contents(&mut file)?;
    file.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()
}

/// Makes a rename or removal in this folder lasting. Only Unix lets one do that; elsewhere the file system orders
/// it.
fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// A name that no other write of this or another process uses.
fn temporary_name() -> String {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    let count = COUNTER.fetch_add(1, Ordering::Relaxed);
    format!("{TEMPORARY_PREFIX}{}-{count}{TEMPORARY_SUFFIX}", std::process::id())
}

/// Removes what a killed run left half-written in its folder, `frames/` and `checkpoints/`; returns what was
/// removed. Folders that do not exist are fine.
pub fn clean_temporaries(dir: &Path) -> Result<Vec<PathBuf>, OutputError> {
    let mut removed = Vec::new();
    for folder in [dir.to_path_buf(), dir.join("frames"), dir.join("checkpoints")] {
        for path in files_in(&folder)? {
            if is_temporary(&path) {
                fs::remove_file(&path).map_err(OutputError::io(&path, "remove"))?;
                removed.push(path);
            }
        }
    }
    Ok(removed)
}

/// Is this the name of a file that was never finished?
pub fn is_temporary(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    name.starts_with(TEMPORARY_PREFIX) && name.ends_with(TEMPORARY_SUFFIX)
}

/// Paths of the entries of a folder, sorted; none if the folder does not exist.
pub(super) fn files_in(folder: &Path) -> Result<Vec<PathBuf>, OutputError> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(OutputError::io(folder, "list"))?,
    };
    let mut paths = Vec::new();
    for entry in entries {
        paths.push(entry.map_err(OutputError::io(folder, "list"))?.path());
    }
    paths.sort();
    Ok(paths)
}

/// Opens a regular file (a pipe or a device could be read for ever) and tells its length.
pub(super) fn open_regular(path: &Path) -> Result<(File, u64), OutputError> {
    let metadata = fs::metadata(path).map_err(OutputError::io(path, "read"))?;
    if !metadata.is_file() {
        let source = io::Error::new(io::ErrorKind::InvalidData, "not a regular file");
        return Err(OutputError::Io { path: path.to_path_buf(), action: "read", source });
    }
    let file = File::open(path).map_err(OutputError::io(path, "read"))?;
    Ok((file, metadata.len()))
}

/// All bytes of a regular file, as many as it had when opened.
pub(super) fn read_whole(path: &Path) -> Result<Vec<u8>, OutputError> {
    let (file, length) = open_regular(path)?;
    let mut bytes = Vec::new();
    let reserved = usize::try_from(length).is_ok_and(|length| bytes.try_reserve_exact(length).is_ok());
    if !reserved {
        let source =
            io::Error::new(io::ErrorKind::OutOfMemory, format!("{length} bytes do not fit into memory"));
        return Err(OutputError::Io { path: path.to_path_buf(), action: "read", source });
    }
    file.take(length).read_to_end(&mut bytes).map_err(OutputError::io(path, "read"))?;
    Ok(bytes)
}
