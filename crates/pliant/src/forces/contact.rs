//! Contact by impulses, predicted and corrected [B09 §5.4, after Guendelman et al. 2003].
//!
//! Velocities of the coming step are known; where they would bring two particles nearer than one spacing, impulses stop the approach: what is apart meets exactly, what overlaps is let go gently.
//! Coulomb friction acts against sliding. Impulses between particles are equal and opposite to the last bit.

use crate::math::{Real, Vec3, max_with_index, sum};
use crate::neighbors::Grid;
use rayon::prelude::*;

/// Candidates are kept while nothing has moved further than half of this, in spacings.
const SKIN: Real = 0.5;
/// Part of an overlap that is undone in a step.
const RELEASE: Real = 0.1;
/// Fastest release of an overlap, in spacings per second.
const RELEASE_SPEED: Real = 20.0;

/// Times the pairs are gone through in a step. One does for a pair; where a particle has several contacts, each pass
/// takes its share of what is left, so that light bodies do not sink through heavy ones however long the step is.
const PASSES: usize = 4;
/// Members a task works on.
const TASK: usize = 256;

/// What a body's surface is like.
#[derive(Clone, Copy, Debug)]
pub struct SurfaceLaw {
    pub friction: Real,
    pub restitution: Real,
}

impl SurfaceLaw {
    pub(super) fn mean(self, other: SurfaceLaw) -> SurfaceLaw {
        SurfaceLaw {
            friction: 0.5 * (self.friction + other.friction),
            restitution: 0.5 * (self.restitution + other.restitution),
        }
    }
}

/// A body as contact sees it.
#[derive(Clone, Debug)]
pub struct ContactBody {
    /// Particles at its surface, by their index in the store: the others cannot touch before these do.
    pub surface: Vec<u32>,
    pub law: SurfaceLaw,
}

/// Everything contact reads of the particles.
pub struct ContactInput<'a> {
    pub positions: &'a [Vec3],
    pub rest_positions: &'a [Vec3],
    /// Velocities of the step before.
    pub arriving: &'a [Vec3],
    /// 1/m, zero for pinned particles [1/kg].
    pub inverse_mass: &'a (dyn Fn(usize) -> Real + Sync),
    pub dt: Real,
}

/// Contacts between particles: candidates with a skin, searched again only when something has moved through it.
#[derive(Debug)]
pub struct ParticleContacts {
    spacing: Real,
    /// Particles of one body nearer than this at rest never collide.
    support_radius: Real,
    between_bodies: bool,
    within_body: bool,
    laws: Vec<SurfaceLaw>,
    /// The surface particles of all bodies, by their index in the store; below, "member" is an index into this.
    members: Vec<u32>,
    body_of: Vec<u32>,
    grid: Grid,
    /// Positions of the members at the last search.
    searched: Vec<Vec3>,
    starts: Vec<u32>,
    /// Candidate members, by member.
    candidates: Vec<u32>,
    /// The same as they are found, by tasks.
    found: Vec<Vec<u32>>,
    /// Those that may meet in this step: of member m the first `near[m]` from `starts[m]` on.
    pairs: Vec<Pair>,
    near: Vec<u32>,
    /// Of the members in this step: velocities, 1/m, contacts computed by `count`, and impulses.
    velocities: Vec<Vec3>,
    inverse_masses: Vec<Real>,
    counts: Vec<u32>,
    impulses: Vec<Vec3>,
}

/// Two members that may meet in this step, as one of them sees it.
#[derive(Clone, Copy, Debug)]
struct Pair {
    other: u32,
    normal: Vec3,
    target: NormalVelocity,
}

impl ParticleContacts {
    pub fn new(
        spacing: Real,
        support_radius: Real,
        between_bodies: bool,
        within_body: bool,
        bodies: Vec<ContactBody>,
    ) -> Self {
        let between_bodies = between_bodies && bodies.len() > 1;
        let used = if between_bodies || within_body { bodies.as_slice() } else { &[] };
        let body_numbers =
            used.iter().enumerate().flat_map(|(k, b)| std::iter::repeat_n(k as u32, b.surface.len()));
        let members: Vec<u32> = used.iter().flat_map(|b| &b.surface).copied().collect();
        ParticleContacts {
            spacing,
            support_radius,
            between_bodies,
            within_body,
            laws: bodies.iter().map(|b| b.law).collect(),
            body_of: body_numbers.collect(),
            grid: Grid::default(),
            searched: Vec::new(),
            starts: Vec::new(),
            candidates: Vec::new(),
            found: Vec::new(),
            pairs: Vec::new(),
            near: vec![0; members.len()],
            velocities: vec![Vec3::ZERO; members.len()],
            inverse_masses: vec![0.0; members.len()],
            counts: vec![0; members.len()],
            impulses: vec![Vec3::ZERO; members.len()],
            members,
        }
    }

    /// Changes the coming step's velocities so that particles do not approach through one another.
    /// Returns the number of contacts.
    pub fn resolve(&mut self, input: &ContactInput, velocities: &mut [Vec3]) -> usize {
        if self.members.is_empty() {
            return 0;
        }
        self.search_if_moved(input);
        if self.candidates.is_empty() {
            return 0;
        }
        self.pair(input);
        let members = self.members.iter().map(|&i| i as usize);
        for ((slot, inverse), i) in self.velocities.iter_mut().zip(&mut self.inverse_masses).zip(members) {
            (*slot, *inverse) = (velocities[i], (input.inverse_mass)(i));
        }
        let mut contacts = 0;
        for _ in 0..PASSES {
            let found = self.count();
            if found == 0 {
                break;
            }
            contacts = contacts.max(found);
            self.apply();
        }
        if contacts > 0 {
            let rows = self.members.iter().zip(&self.velocities);
            rows.for_each(|(&i, velocity)| velocities[i as usize] = *velocity);
        }
        contacts / 2
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        4 * (3 * self.members.len() + self.starts.len() + 2 * self.candidates.capacity() + self.counts.len())
            + size_of::<Vec3>() * (self.searched.len() + self.impulses.len() + self.velocities.len())
            + size_of::<Pair>() * self.pairs.len()
            + size_of::<Real>() * self.inverse_masses.len()
            + self.grid.bytes()
    }

    fn search_if_moved(&mut self, input: &ContactInput) {
        let n = self.members.len();
        if self.searched.len() == n {
            // A common translation changes no distance.
            let moved = |m: usize| input.positions[self.members[m] as usize] - self.searched[m];
            let drift = sum(n, Vec3::ZERO, moved) / n as Real;
            let (farthest, _) = max_with_index(n, |m| (moved(m) - drift).length_squared());
            if farthest.sqrt() < 0.5 * SKIN * self.spacing {
                return;
            }
        }
        self.search(input);
    }

    fn search(&mut self, input: &ContactInput) {
        let n = self.members.len();
        self.searched.clear();
        self.searched.extend(self.members.iter().map(|&i| input.positions[i as usize]));
        self.grid.build(&self.searched, (1.0 + SKIN) * self.spacing);

        let mut found = std::mem::take(&mut self.found);
        let mut starts = std::mem::take(&mut self.starts);
        found.resize(n.div_ceil(TASK), Vec::new());
        starts.resize(n + 1, 0);
        starts[0] = 0;
        let tasks = starts[1..].par_chunks_mut(TASK).zip(&mut found).enumerate();
        tasks.for_each(|(task, (counts, found))| {
            found.clear();
            for (m, count) in (task * TASK..).zip(counts) {
                let first = found.len();
                self.for_each_candidate(input, m, |other| found.push(other));
                found[first..].sort_unstable(); // sums do not depend on when the search was
                *count = (found.len() - first) as u32;
            }
        });
        for m in 0..n {
            starts[m + 1] += starts[m];
        }
        self.candidates.clear();
        found.iter().for_each(|found| self.candidates.extend(found));
        self.pairs.resize(self.candidates.len(), Pair::NONE);
        (self.starts, self.found) = (starts, found);
    }

    /// Members near member m that it may collide with.
    fn for_each_candidate(&self, input: &ContactInput, m: usize, mut found: impl FnMut(u32)) {
        let rest = |m: usize| input.rest_positions[self.members[m] as usize];
        let near = self.support_radius * (1.0 - 1e-6);
        self.grid.for_each_within(self.searched[m], (1.0 + SKIN) * self.spacing, |other, _| {
            let o = other as usize;
            let wanted = if self.body_of[m] == self.body_of[o] {
                self.within_body && rest(m).distance_squared(rest(o)) >= near * near
            } else {
                self.between_bodies
            };
            if wanted {
                found(other);
            }
        });
    }

    fn candidates_of(&self, m: usize) -> &[u32] {
        &self.candidates[self.starts[m] as usize..self.starts[m + 1] as usize]
    }

    /// Notes the pairs that are near enough to meet in this step.
    fn pair(&mut self, input: &ContactInput) {
        let (mut pairs, mut near) = (std::mem::take(&mut self.pairs), std::mem::take(&mut self.near));
        let (mut parts, mut left) = (Vec::with_capacity(near.len().div_ceil(TASK)), pairs.as_mut_slice());
        for (task, near) in near.chunks_mut(TASK).enumerate() {
            let first = task * TASK;
            let (part, rest) =
                left.split_at_mut((self.starts[first + near.len()] - self.starts[first]) as usize);
            parts.push((first, part, near));
            left = rest;
        }
        parts.into_par_iter().for_each(|(first, part, near)| {
            for (m, count) in (first..).zip(near) {
                let from = (self.starts[m] - self.starts[first]) as usize;
                let met = self.candidates_of(m).iter().filter_map(|&o| self.approach(input, m, o));
                *count = part[from..].iter_mut().zip(met).map(|(slot, pair)| *slot = pair).count() as u32;
            }
        });
        (self.pairs, self.near) = (pairs, near);
    }

    /// How member m sees member o, if they are near.
    fn approach(&self, input: &ContactInput, m: usize, other: u32) -> Option<Pair> {
        let o = other as usize;
        let (i, j) = (self.members[m] as usize, self.members[o] as usize);
        let x_ij = input.positions[i] - input.positions[j];
        let reach = (1.0 + SKIN) * self.spacing;
        if x_ij.length_squared() > reach * reach {
            return None;
        }
        let distance = x_ij.length();
        let normal = match distance > 1e-9 * self.spacing {
            true => x_ij / distance,
            false => Vec3::Y * if i < j { 1.0 } else { -1.0 }, // on top of each other: any direction, but opposite
        };
        let arrives = (input.arriving[i] - input.arriving[j]).dot(normal);
        let (gap, restitution) = (distance - self.spacing, self.law(m, o).restitution);
        let target = needed_velocity(gap, arrives, restitution, self.spacing, input.dt);
        Some(Pair { other, normal, target })
    }

    fn law(&self, m: usize, o: usize) -> SurfaceLaw {
        self.laws[self.body_of[m] as usize].mean(self.laws[self.body_of[o] as usize])
    }

    fn pairs_of(&self, m: usize) -> &[Pair] {
        &self.pairs[self.starts[m] as usize..][..self.near[m] as usize]
    }

    /// Normal velocity that a pair of member m lacks, if it has too little of it.
    fn lack(&self, m: usize, pair: &Pair) -> Option<Real> {
        let v_n = (self.velocities[m] - self.velocities[pair.other as usize]).dot(pair.normal);
        (v_n < pair.target.least).then_some(pair.target.after - v_n)
    }

    fn count(&mut self) -> usize {
        let mut counts = std::mem::take(&mut self.counts);
        let total = counts
            .par_iter_mut()
            .with_min_len(TASK)
            .enumerate()
            .map(|(m, count)| {
                *count = self.pairs_of(m).iter().filter(|pair| self.lack(m, pair).is_some()).count() as u32;
                *count as usize
            })
            .sum();
        self.counts = counts;
        total
    }

    /// Velocity changes of all pairs at once; a pair takes its share of the particle that has more contacts.
    fn apply(&mut self) {
        let mut impulses = std::mem::take(&mut self.impulses);
        impulses.par_iter_mut().with_min_len(TASK).enumerate().for_each(|(m, impulse)| {
            *impulse = Vec3::ZERO;
            if self.counts[m] > 0 {
                for pair in self.pairs_of(m) {
                    *impulse += self.pair_impulse(m, pair);
                }
            }
        });
        let rows = self.velocities.iter_mut().zip(&self.inverse_masses).zip(&impulses);
        rows.for_each(|((velocity, inverse), impulse)| *velocity += *impulse * *inverse);
        self.impulses = impulses;
    }

    /// Impulse on member m from another one [N s].
    fn pair_impulse(&self, m: usize, pair: &Pair) -> Vec3 {
        let (o, n) = (pair.other as usize, pair.normal);
        let Some(missing) = self.lack(m, pair) else { return Vec3::ZERO };
        let inverse = self.inverse_masses[m] + self.inverse_masses[o];
        if inverse == 0.0 {
            return Vec3::ZERO;
        }
        let share = 1.0 / (inverse * self.counts[m].max(self.counts[o]).max(1) as Real);
        let v_ij = self.velocities[m] - self.velocities[o];
        let slide = v_ij - n * v_ij.dot(n);
        (n * missing + friction(slide, missing, self.law(m, o).friction)) * share
    }
}

impl Pair {
    const NONE: Pair =
        Pair { other: 0, normal: Vec3::ZERO, target: NormalVelocity { least: 0.0, after: 0.0 } };
}

/// Normal velocities of a contact: one that brings it nearer than `least` is made `after`.
#[derive(Clone, Copy, Debug)]
pub(super) struct NormalVelocity {
    pub least: Real,
    pub after: Real,
}

/// A gap is closed and not crossed, an overlap is let go gently, and a bounce keeps its part of the velocity it arrives
/// with: that of the step before. Forces of the step that push into the contact do no work, and would if they bounced.
pub(super) fn needed_velocity(
    gap: Real,
    arrives: Real,
    restitution: Real,
    spacing: Real,
    dt: Real,
) -> NormalVelocity {
    let least = if gap >= 0.0 { -gap / dt } else { (-gap * RELEASE / dt).min(RELEASE_SPEED * spacing) };
    let bounce = if restitution > 0.0 && arrives < 0.0 { -restitution * arrives } else { least };
    NormalVelocity { least, after: least.max(bounce) }
}

/// Change of the sliding velocity: against it, at most mu times the normal change, never past rest.
pub(super) fn friction(slide: Vec3, normal_change: Real, mu: Real) -> Vec3 {
    let speed = slide.length();
    if speed <= 0.0 { Vec3::ZERO } else { -slide * (mu * normal_change / speed).min(1.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contacts(n: usize) -> ParticleContacts {
        let law = SurfaceLaw { friction: 0.4, restitution: 0.0 };
        let body = |range: std::ops::Range<u32>| ContactBody { surface: range.collect(), law };
        let n = n as u32;
        ParticleContacts::new(0.1, 0.2, true, true, vec![body(0..n / 2), body(n / 2..n)])
    }

    /// Two 5x5x2 slabs that interpenetrate a little and rush at each other.
    fn slabs() -> (Vec<Vec3>, Vec<Vec3>) {
        let slab = |y: f64| {
            (0..50).map(move |k| Vec3::new((k % 5) as f64, (k / 25) as f64 + y, (k / 5 % 5) as f64) * 0.1)
        };
        let x: Vec<Vec3> = slab(0.0).chain(slab(1.93).map(|p| p + Vec3::new(0.03, 0.0, 0.02))).collect();
        let v = (0..100)
            .map(|k| Vec3::new(0.3 * (k as f64).sin(), if k < 50 { 2.0 } else { -1.0 }, 0.2))
            .collect();
        (x, v)
    }

    #[test]
    fn momentum_is_kept_to_rounding_and_the_approach_is_stopped() {
        let (x, mut v) = slabs();
        let mass = |i: usize| 1.0 + (i % 3) as f64;
        let before: Vec3 = v.iter().enumerate().map(|(i, v)| *v * mass(i)).sum();
        let closing = |v: &[Vec3]| {
            v[25..50].iter().map(|v| v.y).sum::<f64>() - v[50..75].iter().map(|v| v.y).sum::<f64>()
        };
        let first = closing(&v);
        let inverse = |i: usize| 1.0 / mass(i);
        let input = ContactInput {
            positions: &x,
            rest_positions: &x,
            arriving: &v.clone(),
            inverse_mass: &inverse,
            dt: 1e-3,
        };
        let count = contacts(100).resolve(&input, &mut v);
        let after: Vec3 = v.iter().enumerate().map(|(i, v)| *v * mass(i)).sum();
        assert!(count >= 25);
        assert!((after - before).length() < 1e-12 * 100.0, "{before} {after}");
        assert!(closing(&v) < 0.3 * first, "{} of {first}", closing(&v));
    }

    #[test]
    fn rest_neighbours_never_collide_and_pinned_particles_do_not_move() {
        let (x, v0) = slabs();
        let mut alone = contacts(100);
        alone.between_bodies = false;
        let mut v = v0.clone();
        let free = |_: usize| 1.0;
        let input =
            ContactInput { positions: &x, rest_positions: &x, arriving: &v0, inverse_mass: &free, dt: 1e-3 };
        assert_eq!(alone.resolve(&input, &mut v), 0);
        let pinned = |i: usize| if i < 50 { 0.0 } else { 1.0 };
        let input = ContactInput { inverse_mass: &pinned, ..input };
        contacts(100).resolve(&input, &mut v);
        assert_eq!(v[..50], v0[..50]);
        assert_ne!(v[50..], v0[50..]);
    }
}
