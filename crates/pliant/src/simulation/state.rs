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
            ("totals".to_string(), self.save_totals()),
        ];
        if self.rigids.has_dynamic() {
            columns.push(("rigids".to_string(), self.rigids.save()));
        }
        for (k, solid) in self.solids() {
            let name = &self.bodies[k].name;
            columns.push((format!("rotations/{name}"), solid.elastic.save_rotations()));
            if let Some(implicit) = &solid.implicit {
                columns.push((format!("solver/{name}"), implicit.save(&solid.elastic)));
            }
        }
        if let Some(flow) = &self.flow {
            columns.push(("ranges".to_string(), self.save_ranges()));
            columns.push(("pressure".to_string(), flow.save()));
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
            let Some(solid) = &mut body.solid else { continue };
            let name = format!("rotations/{}", body.name);
            if !solid.elastic.restore_rotations(find(&name)?) {
                return Err(format!("column \"{name}\" is not of this body"));
            }
            if let Some(implicit) = &mut solid.implicit {
                let name = format!("solver/{}", body.name);
                if !implicit.restore(find(&name)?, &solid.elastic, &mut self.factors) {
                    return Err(format!("column \"{name}\" is not of this body"));
                }
            }
        }
        if self.flow.is_some() && !self.restore_ranges(find("ranges")?) {
            return Err("column \"ranges\" is not of these bodies".into());
        }
        if let Some(flow) = &mut self.flow
            && !flow.restore(find("pressure")?)
        {
            return Err(format!("column \"pressure\" is not of {n} particles"));
        }
        self.time = time;
        self.load_rigids();
        if self.rigids.has_dynamic() {
            let misfit = |error| format!("column \"rigids\": {error}");
            self.rigids.restore(time, find("rigids")?).map_err(misfit)?;
        }
        if !self.restore_totals(find("totals")?) {
            return Err("column \"totals\" is not of this version".into());
        }
        self.last_dt = number("last_dt")?;
        self.effort_dt = number("effort_dt")?;
        (self.particles.positions, self.particles.velocities) = (positions, velocities);
        (self.time, self.steps) = (time, steps);
        self.set_moduli();
        Ok(())
    }
}

impl Simulation {
    /// Particles and emitted layers of each body, and what was taken out.
    fn save_ranges(&self) -> Vec<u8> {
        let bodies = self.bodies.iter().flat_map(|b| [b.range.len() as u64, b.emitted as u64]);
        bodies.chain([self.removed.leaving]).flat_map(u64::to_le_bytes).collect()
    }

    fn restore_ranges(&mut self, bytes: &[u8]) -> bool {
        let number = |b: &[u8]| u64::from_le_bytes(b.try_into().expect("eight bytes by construction"));
        let numbers: Vec<u64> = bytes.chunks_exact(8).map(number).collect();
        let pairs = numbers.chunks_exact(2).zip(&self.bodies);
        let fits = |(pair, body): (&[u64], &super::Body)| pair[0] <= body.room.len() as u64;
        if numbers.len() != 2 * self.bodies.len() + 1
            || !bytes.len().is_multiple_of(8)
            || !pairs.into_iter().all(fits)
        {
            return false;
        }
        for (body, pair) in self.bodies.iter_mut().zip(numbers.chunks_exact(2)) {
            body.range.end = body.room.start + pair[0] as usize;
            body.emitted = pair[1] as usize;
        }
        self.removed.leaving = numbers[2 * self.bodies.len()];
        if let Some(flow) = &mut self.flow {
            flow.take_part(&self.bodies);
        }
        true
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
