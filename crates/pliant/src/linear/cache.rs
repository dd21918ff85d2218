//! Factors kept on disk. A file is trusted only if it is whole and belongs to the same matrix; else the factor is
//! built again and the file replaced. Failures of the disk only mean that nothing is kept.
//!
//! A file is: magic, version, key of the matrix, number of rows, order of elimination, panels of all fronts, checksum
//! of all before. Lengths follow from the matrix, not from the file.

use super::structure::Structure;
use super::{Factor, FactorError, SymmetricMatrix};
use crate::math::{LANES, Lane, Vec3};
use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};
use xxhash_rust::xxh3::Xxh3;

const MAGIC: [u8; 8] = *b"PLIANTFA";
/// Changes whenever orders, panels or arithmetic do.
const VERSION: u32 = 1;
const HEADER: usize = MAGIC.len() + 4 + 16 + 8;
const CHECKSUM: usize = 8;
const EXTENSION: &str = "factor";
const TEMPORARY: &str = "part";
/// Bytes a folder may hold unless told otherwise.
const DEFAULT_LIMIT: u64 = 2 << 30;
/// Half-written files of this age were left behind.
const ABANDONED: Duration = Duration::from_secs(3600);

/// Where a factor came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    Cached,
    Built,
}

/// A folder of factors.
#[derive(Clone, Debug)]
pub struct FactorCache {
    folder: PathBuf,
    limit: u64,
}

impl FactorCache {
    /// A cache in a folder, which is created when the first factor is kept.
    pub fn open(folder: impl Into<PathBuf>) -> Self {
        FactorCache { folder: folder.into(), limit: DEFAULT_LIMIT }
    }

    /// The same cache holding at most so many bytes.
    pub fn with_limit(self, limit: u64) -> Self {
        FactorCache { limit, ..self }
    }

    /// The factor of a matrix, of at most so many bytes: read if it is kept, else built and kept.
    pub fn factor(
        &self,
        most: usize,
        matrix: &SymmetricMatrix,
        positions: &[Vec3],
    ) -> Result<(Factor, Origin), FactorError> {
        let key = key(matrix, positions);
        let path = self.folder.join(format!("{key:032x}.{EXTENSION}"));
        if let Ok(factor) = read(&path, key, matrix) {
            return Ok((factor, Origin::Cached));
        }
        let factor = Factor::within(most, matrix, positions)?;
        // Without a working disk there is no cache, and nothing else is lost.
        drop(self.keep(&factor, key, &path));
        Ok((factor, Origin::Built))
    }

    fn keep(&self, factor: &Factor, key: u128, path: &Path) -> io::Result<()> {
        let length = file_length(&factor.structure);
        if length > self.limit {
            return Ok(());
        }
        fs::create_dir_all(&self.folder)?;
        self.make_room(length, path)?;
        static COUNTER: AtomicU64 = AtomicU64::new(0);
        let count = COUNTER.fetch_add(1, Ordering::Relaxed);
        let temporary = self.folder.join(format!(".{}-{count}.{TEMPORARY}", std::process::id()));
        write(&temporary, factor, key)
            .and_then(|()| fs::rename(&temporary, path))
            .inspect_err(|_| drop(fs::remove_file(&temporary)))?;
        if cfg!(unix) { File::open(&self.folder)?.sync_all() } else { Ok(()) }
    }

    /// Removes abandoned files, and the least recently used factors until `length` more bytes fit.
    fn make_room(&self, length: u64, path: &Path) -> io::Result<()> {
        let mut kept: Vec<(SystemTime, u64, PathBuf)> = Vec::new();
        for entry in fs::read_dir(&self.folder)?.flatten() {
            let (Ok(metadata), file) = (entry.metadata(), entry.path()) else { continue };
            let modified = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
            let old = modified.elapsed().is_ok_and(|age| age > ABANDONED);
            match file.extension().and_then(|e| e.to_str()) {
                _ if !metadata.is_file() => {}
                Some(TEMPORARY) if old => drop(fs::remove_file(&file)),
                Some(EXTENSION) if file != path => kept.push((modified, metadata.len(), file)),
                _ => {}
            }
        }
        kept.sort();
        let mut total: u64 = kept.iter().map(|(_, bytes, _)| bytes).sum();
        for (_, bytes, file) in kept {
            if total + length <= self.limit {
                break;
            }
            fs::remove_file(&file)?;
            total -= bytes;
        }
        Ok(())
    }
}

/// Content hash of all that decides on the factor, including the arithmetic of this build.
fn key(matrix: &SymmetricMatrix, positions: &[Vec3]) -> u128 {
    let mut hash = Xxh3::new();
    hash.update(env!("CARGO_PKG_VERSION").as_bytes());
    hash.update(&VERSION.to_le_bytes());
    hash.update(&[u8::from(cfg!(target_feature = "fma"))]);
    hash.update(&(matrix.n as u64).to_le_bytes());
    update(&mut hash, &matrix.starts, |start| (*start as u64).to_le_bytes());
    update(&mut hash, &matrix.rows, |row| row.to_le_bytes());
    update(&mut hash, &matrix.values, |value| value.to_le_bytes());
    for axis in 0..3 {
        update(&mut hash, positions, |x| x[axis].to_le_bytes());
    }
    hash.digest128()
}

/// Feeds numbers to a hash, a block at a time.
fn update<T, const N: usize>(hash: &mut Xxh3, items: &[T], bytes: impl Fn(&T) -> [u8; N]) {
    let mut block = Vec::with_capacity(1024 * N);
    for items in items.chunks(1024) {
        block.clear();
        items.iter().for_each(|item| block.extend(bytes(item)));
        hash.update(&block);
    }
}

/// Bytes of the file of a factor.
fn file_length(structure: &Structure) -> u64 {
    let lanes: usize = (0..structure.fronts.len()).map(|f| structure.value_lanes(f)).sum();
    (HEADER + structure.order.len() * 4 + lanes * LANES * 4 + CHECKSUM) as u64
}

fn header(key: u128, rows: usize) -> Vec<u8> {
    let mut header = MAGIC.to_vec();
    header.extend(VERSION.to_le_bytes());
    header.extend(key.to_le_bytes());
    header.extend((rows as u64).to_le_bytes());
    header
}

/// Writes a file and brings it to the disk.
fn write(path: &Path, factor: &Factor, key: u128) -> io::Result<()> {
    let mut file =
        Hashed { inner: BufWriter::with_capacity(1 << 16, File::create_new(path)?), hash: Xxh3::new() };
    file.write(&header(key, factor.rows()))?;
    let mut block = Vec::new();
    for column in factor.structure.order.chunks(4096) {
        block.clear();
        column.iter().for_each(|particle| block.extend(particle.to_le_bytes()));
        file.write(&block)?;
    }
    for lanes in factor.values.iter().flat_map(|values| values.chunks(1024)) {
        block.clear();
        lanes.iter().flat_map(Lane::as_array).for_each(|value| block.extend(value.to_le_bytes()));
        file.write(&block)?;
    }
    let checksum = file.hash.digest();
    let mut inner = file.inner;
    inner.write_all(&checksum.to_le_bytes())?;
    inner.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()
}

/// Reads the factor of a matrix. Anything that is not exactly what `write` writes for it is an error.
fn read(path: &Path, key: u128, matrix: &SymmetricMatrix) -> io::Result<Factor> {
    let refused = |what: &'static str| io::Error::new(io::ErrorKind::InvalidData, what);
    let metadata = fs::metadata(path)?;
    // The order comes first: a shorter file is not even opened.
    if !metadata.is_file() || metadata.len() < (HEADER + matrix.n * 4 + CHECKSUM) as u64 {
        return Err(refused("not a factor of this matrix"));
    }
    let handle = File::options().read(true).open(path)?;
    let mut file = Hashed { inner: BufReader::with_capacity(1 << 16, &handle), hash: Xxh3::new() };
    let expected = header(key, matrix.n);
    let mut block = vec![0; HEADER];
    file.read(&mut block)?;
    if block != expected {
        return Err(refused("another version or another matrix"));
    }
    block.resize(matrix.n * 4, 0);
    file.read(&mut block)?;
    let order: Vec<u32> = block.as_chunks().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect();
    let mut seen = vec![false; matrix.n];
    for &i in &order {
        let slot = seen.get_mut(i as usize).ok_or_else(|| refused("no such particle"))?;
        if std::mem::replace(slot, true) {
            return Err(refused("a particle twice"));
        }
    }
    let (mut structure, _) = Structure::new(matrix, &order);
    if structure.order != order || file_length(&structure) != metadata.len() {
        return Err(refused("another length"));
    }
    structure.rows_to_places();
    let mut values = Vec::with_capacity(structure.fronts.len());
    for f in 0..structure.fronts.len() {
        values.push(file.lanes(structure.value_lanes(f), &mut block)?);
    }
    let mut checksum = [0; CHECKSUM];
    file.inner.read_exact(&mut checksum)?;
    if file.hash.digest().to_le_bytes() != checksum {
        return Err(refused("damaged"));
    }
    // Used now, so removed later than others; only a matter of order.
    drop(File::options().append(true).open(path).and_then(|file| file.set_modified(SystemTime::now())));
    Ok(Factor::from_parts(structure, values))
}

/// A file whose contents are hashed on the way.
struct Hashed<F> {
    inner: F,
    hash: Xxh3,
}

impl<F: Write> Hashed<F> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.hash.update(bytes);
        self.inner.write_all(bytes)
    }
}

impl<F: Read> Hashed<F> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<()> {
        self.inner.read_exact(bytes)?;
        self.hash.update(bytes);
        Ok(())
    }

    fn lanes(&mut self, count: usize, block: &mut Vec<u8>) -> io::Result<Vec<Lane>> {
        let mut lanes = Vec::with_capacity(count);
        while lanes.len() < count {
            block.resize((count - lanes.len()).min(1024) * LANES * 4, 0);
            self.read(block)?;
            for lane in block.as_chunks::<{ LANES * 4 }>().0 {
                lanes.push(Lane::new(std::array::from_fn(|k| {
                    f32::from_le_bytes(std::array::from_fn(|byte| lane[4 * k + byte]))
                })));
            }
        }
        Ok(lanes)
    }
}

#[cfg(test)]
mod tests {
    use super::super::SolveWork;
    use super::super::matrix::tests::{lattice, stretching_matrix};
    use super::*;

    /// A folder of its own for each test, removed at the end.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let folder = std::env::temp_dir().join(format!("pliant-factors-{name}-{}", std::process::id()));
            drop(fs::remove_dir_all(&folder));
            Folder(folder)
        }

        fn files(&self) -> Vec<PathBuf> {
            let Ok(entries) = fs::read_dir(&self.0) else { return Vec::new() };
            entries.map(|entry| entry.unwrap().path()).collect()
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            drop(fs::remove_dir_all(&self.0));
        }
    }

    fn body(stiffness: f64) -> (SymmetricMatrix, Vec<Vec3>) {
        let positions = lattice([9, 4, 3], 0.1);
        (stretching_matrix(&positions, 0.1, stiffness), positions)
    }

    fn solution(factor: &Factor) -> Vec<glam::Vec3> {
        let mut x: Vec<glam::Vec3> =
            (0..factor.rows()).map(|i| glam::Vec3::splat((i as f32).cos())).collect();
        factor.solve(&mut x, &mut SolveWork::default());
        x
    }

    #[test]
    fn a_kept_factor_solves_to_the_same_bits() {
        let folder = Folder::new("round");
        let cache = FactorCache::open(&folder.0);
        let (matrix, positions) = body(1e6);
        let (built, origin) = cache.factor(usize::MAX, &matrix, &positions).unwrap();
        assert_eq!(origin, Origin::Built);
        let (cached, origin) = cache.factor(usize::MAX, &matrix, &positions).unwrap();
        assert_eq!(origin, Origin::Cached);
        assert_eq!(solution(&built), solution(&cached));
        assert_eq!(folder.files().len(), 1, "no temporary file stays");
    }

    #[test]
    fn a_damaged_file_is_replaced() {
        let folder = Folder::new("damage");
        let cache = FactorCache::open(&folder.0);
        let (matrix, positions) = body(1e6);
        let built = solution(&cache.factor(usize::MAX, &matrix, &positions).unwrap().0);
        let path = folder.files().remove(0);
        let whole = fs::read(&path).unwrap();
        let check = |bytes: &[u8], what: &str| {
            fs::write(&path, bytes).unwrap();
            let (factor, origin) = cache.factor(usize::MAX, &matrix, &positions).unwrap();
            assert_eq!((origin, solution(&factor)), (Origin::Built, built.clone()), "{what}");
            assert!(fs::read(&path).unwrap() == whole, "{what}: the file is whole again");
        };
        for length in [0, 1, 8, HEADER - 1, HEADER, HEADER + 5, whole.len() / 2, whole.len() - 1] {
            check(&whole[..length], &format!("cut to {length}"));
        }
        let step = whole.len() / 40;
        for place in
            (0..HEADER + 12).step_by(5).chain((HEADER..whole.len()).step_by(step)).chain([whole.len() - 1])
        {
            let mut bytes = whole.clone();
            bytes[place] ^= 0x10;
            check(&bytes, &format!("byte {place} flipped"));
        }
        check(&[&whole[..], &[0]].concat(), "a byte too many");
    }

    #[test]
    fn the_factor_of_another_matrix_is_refused() {
        let folder = Folder::new("foreign");
        let cache = FactorCache::open(&folder.0);
        let (matrix, positions) = body(1e6);
        cache.factor(usize::MAX, &matrix, &positions).unwrap();
        let (softer, _) = body(1e5);
        let foreign = folder.files().remove(0);
        let own = folder.0.join(format!("{:032x}.{EXTENSION}", key(&softer, &positions)));
        fs::copy(foreign, own).unwrap();
        assert_eq!(cache.factor(usize::MAX, &softer, &positions).unwrap().1, Origin::Built);
        assert_eq!(cache.factor(usize::MAX, &softer, &positions).unwrap().1, Origin::Cached);
    }

    #[test]
    fn the_folder_stays_below_its_limit() {
        let folder = Folder::new("limit");
        let (matrix, positions) = body(1e6);
        FactorCache::open(&folder.0).factor(usize::MAX, &matrix, &positions).unwrap();
        let bytes = fs::metadata(folder.files().remove(0)).unwrap().len();
        let cache = FactorCache::open(&folder.0).with_limit(2 * bytes);
        for stiffness in [1e5, 1e4, 1e3] {
            cache.factor(usize::MAX, &body(stiffness).0, &positions).unwrap();
        }
        assert_eq!(folder.files().len(), 2);
        assert_eq!(cache.factor(usize::MAX, &body(1e3).0, &positions).unwrap().1, Origin::Cached);
        let none = FactorCache::open(folder.0.join("none")).with_limit(bytes - 1);
        assert_eq!(none.factor(usize::MAX, &matrix, &positions).unwrap().1, Origin::Built);
        assert!(!folder.0.join("none").exists());
    }

    #[test]
    fn without_a_disk_factors_are_built() {
        let folder = Folder::new("nowhere");
        fs::write(&folder.0, b"a file, not a folder").unwrap();
        let (matrix, positions) = body(1e6);
        let cache = FactorCache::open(&folder.0);
        for _ in 0..2 {
            assert_eq!(cache.factor(usize::MAX, &matrix, &positions).unwrap().1, Origin::Built);
        }
        fs::remove_file(&folder.0).unwrap();
    }
}
