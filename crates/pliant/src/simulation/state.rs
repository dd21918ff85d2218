//! Saving and restoring the exact state.

use super::Simulation;
use crate::math::Vec3;
use xxhash_rust::xxh3::Xxh3;

/// Saved columns by name.
pub type Columns = Vec<(String, Vec<u8>)>;

impl Simulation {
    /// Hash of the exact positions, velocities and time: the same for any number of threads.
    pub fn state_hash(&self) -> u64 {
        let mut hash = Xxh3::new();
        hash.update(&self.time.to_le_bytes());
        for column in [&self.particles.positions, &self.particles.velocities] {
            for v in column.iter().flat_map(|v| v.to_array()) {
                hash.update(&v.to_le_bytes());
            }
        }
        if self.rigids.has_dynamic() {
            hash.update(&self.rigids.exact_state());
        }
        hash.digest()
    }

    /// All that changes in a run, besides time and step number.
    pub fn save(&self) -> Columns {
        let mut columns = vec![
            ("positions".to_string(), to_bytes(&self.particles.positions)),
            ("velocities".to_string(), to_bytes(&self.particles.velocities)),
            ("last_dt".to_string(), self.last_dt.to_le_bytes().to_vec()),
            ("effort_dt".to_string(), self.effort_dt.to_le_bytes().to_vec()),
        ];
        if self.rigids.has_dynamic() {
            columns.push(("rigids".to_string(), self.rigids.save()));
        }
        for body in &self.bodies {
            columns.push((format!("rotations/{}", body.name), body.elastic.save_rotations()));
            if let Some(implicit) = &body.implicit {
                columns.push((format!("solver/{}", body.name), implicit.save()));
            }
        }
        columns
    }

    /// Puts back what `save` gave; an error names the column that does not fit this simulation.
    pub fn restore(&mut self, time: f64, steps: u64, columns: &Columns) -> Result<(), String> {
        let find = |name: &str| {
            let found = columns.iter().find(|(n, _)| n == name);
            found.map(|(_, bytes)| bytes.as_slice()).ok_or_else(|| format!("column \"{name}\" is missing"))
        };
        let n = self.particles.len();
        let vectors = |name: &str| {
            from_bytes(find(name)?, n).ok_or_else(|| format!("column \"{name}\" is not of {n} particles"))
        };
        let number = |name: &str| {
            let bytes = find(name)?.try_into().map_err(|_| format!("column \"{name}\" is not one number"))?;
            Ok::<f64, String>(f64::from_le_bytes(bytes))
        };
        let (positions, velocities) = (vectors("positions")?, vectors("velocities")?);
        for body in &mut self.bodies {
            let name = format!("rotations/{}", body.name);
            if !body.elastic.restore_rotations(find(&name)?) {
                return Err(format!("column \"{name}\" is not of this body"));
            }
            if let Some(implicit) = &mut body.implicit {
                let name = format!("solver/{}", body.name);
                if !implicit.restore(find(&name)?, &body.elastic, &mut self.factors) {
                    return Err(format!("column \"{name}\" is not of this body"));
                }
            }
        }
        self.time = time;
        self.load_rigids();
        if self.rigids.has_dynamic() {
            let misfit = |error| format!("column \"rigids\": {error}");
            self.rigids.restore(time, find("rigids")?).map_err(misfit)?;
        }
        self.last_dt = number("last_dt")?;
        self.effort_dt = number("effort_dt")?;
        (self.particles.positions, self.particles.velocities) = (positions, velocities);
        (self.time, self.steps) = (time, steps);
        self.set_moduli();
        Ok(())
    }
}

fn to_bytes(vectors: &[Vec3]) -> Vec<u8> {
    vectors.iter().flat_map(|v| v.to_array()).flat_map(f64::to_le_bytes).collect()
}

fn from_bytes(bytes: &[u8], n: usize) -> Option<Vec<Vec3>> {
    let number = |b: &[u8]| f64::from_le_bytes(b.try_into().expect("eight bytes by construction"));
    let vector = |b: &[u8]| Vec3::new(number(&b[0..8]), number(&b[8..16]), number(&b[16..24]));
    (bytes.len() == n * 24).then(|| bytes.chunks_exact(24).map(vector).collect())
}
