//! Contact by impulses, predicted and corrected [B09 §5.4, after Guendelman et al. 2003].
//!
//! Velocities of the coming step are known; where they would bring two particles nearer than one spacing, impulses stop the approach: what is apart meets exactly, what overlaps is let go gently.
//! Coulomb friction acts against sliding. Impulses between particles are equal and opposite to the last bit.

use crate::math::{CHUNK, LANES, Real, Vec3};
use crate::neighbors::{Bond, CHUNK_PARTICLES, CurrentNeighbors};
use rayon::prelude::*;

/// Candidates are this near when they are searched for, in spacings. They are kept until others may have come near enough
/// to meet.
const SEARCH: Real = 2.0;
/// Particles further apart than this, in spacings, do not meet in a step, however fast they are.
const REACH: Real = 1.5;
/// Part of an overlap that is undone in a step.
const RELEASE: Real = 0.1;
/// Fastest release of an overlap, in spacings per second.
const RELEASE_SPEED: Real = 20.0;

/// Times the pairs are gone through in a step. One does for a pair; where a particle has several contacts, each pass
/// takes its share of what is left, so that light bodies do not sink through heavy ones however long the step is.
const PASSES: usize = 4;
/// Members of a group, which is what a task works on: a part of a chunk of neighbourhoods.
const GROUP: usize = CHUNK_PARTICLES / 4;

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

/// Contacts between particles: candidates with a skin, searched again only when something has moved through it. When that
/// is changes nothing but the time it takes.
#[derive(Debug)]
pub struct ParticleContacts {
    spacing: Real,
    /// Particles of one body nearer than this at rest never collide.
    support_radius: Real,
    between_bodies: bool,
    within_body: bool,
    laws: Vec<SurfaceLaw>,
    /// The surface particles of all bodies by their index in the store, their bodies, and their numbers: 0, 1, 2, ...
    surface: Vec<u32>,
    body_of: Vec<u32>,
    numbers: Vec<u32>,
    /// Candidates of the last search. It sorts the particles in space: below, "member" is a place in its order.
    neighbors: CurrentNeighbors,
    groups: Vec<Group>,
    /// Of the members: index in the store, body, where they were at the last search.
    members: Vec<u32>,
    bodies: Vec<u32>,
    searched: Vec<Vec3>,
    /// In this step: positions, velocities, those after a pass, 1/m, and contacts counted.
    positions: Vec<Vec3>,
    velocities: Vec<Vec3>,
    changed: Vec<Vec3>,
    inverse_masses: Vec<Real>,
    counts: Vec<u32>,
}

/// Members one after the other: whom they may meet before the next search, and whom in this step.
#[derive(Clone, Debug, Default)]
struct Group {
    candidates: Lists<u32>,
    /// Those who may meet someone in this step, counted within the group, and whom.
    active: Vec<u32>,
    pairs: Lists<Pair>,
    /// Pairs that lack normal velocity in this pass, one member's after the other's, and how much.
    lacking: Vec<(u32, Real)>,
}

impl Group {
    /// The active members of the `g`th group, each as its place in the group and as a member, and their pairs.
    fn meetings(&self, g: usize) -> impl Iterator<Item = (usize, usize, &[Pair])> {
        let active = self.active.iter().map(|&k| k as usize);
        active.zip(self.pairs.iter()).map(move |(k, pairs)| (k, g * GROUP + k, pairs))
    }
}

/// A list for each of several members.
#[derive(Clone, Debug, Default)]
struct Lists<T> {
    items: Vec<T>,
    ends: Vec<u32>,
}

impl<T> Lists<T> {
    fn clear(&mut self) {
        self.items.clear();
        self.ends.clear();
    }

    /// The next member's list is what came since the last one's.
    fn end(&mut self) {
        self.ends.push(self.items.len() as u32);
    }

    fn iter(&self) -> impl Iterator<Item = &[T]> {
        let starts = std::iter::once(&0).chain(&self.ends);
        starts.zip(&self.ends).map(|(&start, &end)| &self.items[start as usize..end as usize])
    }
}

/// Two members that may meet in this step, as one of them sees it.
#[derive(Clone, Copy, Debug, Default)]
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
        let surface: Vec<u32> = used.iter().flat_map(|b| &b.surface).copied().collect();
        let n = surface.len();
        ParticleContacts {
            spacing,
            support_radius,
            between_bodies,
            within_body,
            laws: bodies.iter().map(|b| b.law).collect(),
            surface,
            body_of: body_numbers.collect(),
            numbers: (0..n as u32).collect(),
            neighbors: CurrentNeighbors::default(),
            groups: vec![Group::default(); n.div_ceil(GROUP)],
            members: Vec::new(),
            bodies: Vec::new(),
            searched: Vec::new(),
            positions: vec![Vec3::ZERO; n],
            velocities: vec![Vec3::ZERO; n],
            changed: vec![Vec3::ZERO; n],
            inverse_masses: vec![0.0; n],
            counts: vec![0; n],
        }
    }

    /// Changes the coming step's velocities so that particles do not approach through one another.
    /// Returns the number of contacts.
    pub fn resolve(&mut self, input: &ContactInput, velocities: &mut [Vec3]) -> usize {
        if self.surface.is_empty() {
            return 0;
        }
        if self.members.is_empty() {
            self.search(input);
        }
        self.take(input.positions, velocities);
        let reach = self.reach(input.dt);
        if self.may_have_met(reach) {
            self.search(input);
            self.take(input.positions, velocities);
        }
        if !self.pair(input, reach) {
            return 0;
        }
        let rows = self.inverse_masses.par_chunks_mut(GROUP).zip(&self.groups).enumerate();
        rows.for_each(|(g, (inverse_masses, group))| {
            for (k, m, _) in group.meetings(g) {
                inverse_masses[k] = (input.inverse_mass)(self.members[m] as usize);
            }
        });
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
            for (g, group) in self.groups.iter().enumerate() {
                group
                    .meetings(g)
                    .for_each(|(_, m, _)| velocities[self.members[m] as usize] = self.velocities[m]);
            }
        }
        contacts / 2
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        let group = |group: &Group| {
            4 * (group.candidates.items.capacity() + group.candidates.ends.capacity())
                + 4 * (group.pairs.ends.capacity() + group.active.capacity())
                + size_of::<(u32, Real)>() * group.lacking.capacity()
                + size_of::<Pair>() * group.pairs.items.capacity()
        };
        let member = 6 * size_of::<u32>() + 4 * size_of::<Vec3>() + size_of::<Real>();
        self.surface.len() * member + self.groups.iter().map(group).sum::<usize>() + self.neighbors.bytes()
    }

    /// Takes the positions and velocities of the members.
    fn take(&mut self, positions: &[Vec3], velocities: &[Vec3]) {
        let rows = self.positions.par_iter_mut().zip(&mut self.velocities).zip(&self.members);
        rows.with_min_len(CHUNK)
            .for_each(|((x, v), &i)| (*x, *v) = (positions[i as usize], velocities[i as usize]));
    }

    /// Distance from which two members may meet in this step.
    fn reach(&self, dt: Real) -> Real {
        let closing = largest_difference(self.members.len(), |m| self.velocities[m]) * dt;
        (self.spacing + closing).min(REACH * self.spacing)
    }

    /// May two be this near that are no candidates?
    fn may_have_met(&self, reach: Real) -> bool {
        let nearer = largest_difference(self.members.len(), |m| self.positions[m] - self.searched[m]);
        nearer > SEARCH * (1.0 - 1e-4) * self.spacing - reach
    }

    fn search(&mut self, input: &ContactInput) {
        let near = self.support_radius * (1.0 - 1e-3); // those at this distance may meet
        let (surface, body_of, within_body) = (&self.surface, &self.body_of, self.within_body);
        let bond = |k: u32| {
            let k = k as usize;
            let rest = if within_body { input.rest_positions[surface[k] as usize] } else { Vec3::ZERO };
            Bond::new(body_of[k], rest, near)
        };
        // for now, by number
        self.positions.iter_mut().zip(surface).for_each(|(x, &i)| *x = input.positions[i as usize]);
        self.neighbors.build(&self.positions, &self.numbers, SEARCH * self.spacing, Some(&bond));
        let order = &self.neighbors.members;
        self.searched.clear();
        self.searched.extend(order.iter().map(|&k| self.positions[k as usize]));
        self.members.clear();
        self.members.extend(order.iter().map(|&k| surface[k as usize]));
        self.bodies.clear();
        self.bodies.extend(order.iter().map(|&k| body_of[k as usize]));

        let (neighbors, members, bodies) = (&self.neighbors, &self.members, &self.bodies);
        let between_bodies = self.between_bodies;
        self.groups.par_iter_mut().enumerate().for_each(|(g, Group { candidates, .. })| {
            candidates.clear();
            let mut sorted = Vec::new();
            let first = g * GROUP % CHUNK_PARTICLES / LANES;
            for slice in neighbors.slices(g * GROUP / CHUNK_PARTICLES).skip(first).take(GROUP / LANES) {
                for lane in 0..slice.lanes(bodies.len()) {
                    let body = bodies[slice.first + lane];
                    let may_meet = |other: &usize| between_bodies || bodies[*other] == body;
                    let by_index = |other: usize| (members[other] as u64) << 32 | other as u64;
                    // sums do not depend on when the search was
                    sorted.clear();
                    sorted.extend(slice.neighbors(lane).filter(may_meet).map(by_index));
                    sorted.sort_unstable();
                    candidates.items.extend(sorted.iter().map(|&other| other as u32));
                    candidates.end();
                }
            }
        });
    }

    /// Notes the pairs that are near enough to meet in this step; are there any?
    fn pair(&mut self, input: &ContactInput, reach: Real) -> bool {
        let mut groups = std::mem::take(&mut self.groups);
        let found = groups.par_iter_mut().enumerate().map(|(g, Group { candidates, active, pairs, .. })| {
            pairs.clear();
            active.clear();
            for (m, candidates) in (g * GROUP..).zip(candidates.iter()) {
                let start = pairs.items.len();
                for &other in candidates {
                    let x_ij = self.positions[m] - self.positions[other as usize];
                    if x_ij.length_squared() <= reach * reach {
                        pairs.items.push(self.approach(input, m, other, x_ij));
                    }
                }
                if pairs.items.len() > start {
                    pairs.end();
                    active.push((m - g * GROUP) as u32);
                }
            }
            !pairs.items.is_empty()
        });
        let found = found.reduce(|| false, |a, b| a | b);
        self.groups = groups;
        found
    }

    /// How member m sees another one at -x_ij.
    fn approach(&self, input: &ContactInput, m: usize, other: u32, x_ij: Vec3) -> Pair {
        let o = other as usize;
        let distance = x_ij.length();
        let (i, j) = (self.members[m] as usize, self.members[o] as usize);
        let normal = match distance > 1e-9 * self.spacing {
            true => x_ij * (1.0 / distance),
            false => Vec3::Y * if i < j { 1.0 } else { -1.0 }, // on top of each other: any direction, but opposite
        };
        let arrives = || (input.arriving[i] - input.arriving[j]).dot(normal);
        let (gap, restitution) = (distance - self.spacing, self.law(m, o).restitution);
        let target = needed_velocity(gap, arrives, restitution, self.spacing, input.dt);
        Pair { other, normal, target }
    }

    fn law(&self, m: usize, o: usize) -> SurfaceLaw {
        self.laws[self.bodies[m] as usize].mean(self.laws[self.bodies[o] as usize])
    }

    /// Normal velocity that a pair of member m lacks, if it has too little of it.
    fn lack(&self, m: usize, pair: &Pair) -> Option<Real> {
        let v_n = (self.velocities[m] - self.velocities[pair.other as usize]).dot(pair.normal);
        (v_n < pair.target.least).then_some(pair.target.after - v_n)
    }

    /// Finds who lacks velocity; how many pairs do, seen from both sides?
    fn count(&mut self) -> usize {
        let (mut counts, mut groups) = (std::mem::take(&mut self.counts), std::mem::take(&mut self.groups));
        let rows = counts.par_chunks_mut(GROUP).zip(&mut groups).enumerate();
        let total = rows.map(|(g, (counts, group))| {
            let mut lacking = std::mem::take(&mut group.lacking);
            lacking.clear();
            let mut number = 0;
            for (k, m, pairs) in group.meetings(g) {
                let before = lacking.len();
                let lacks = pairs.iter().zip(number..).filter_map(|(pair, n)| Some((n, self.lack(m, pair)?)));
                lacking.extend(lacks);
                number += pairs.len() as u32;
                counts[k] = (lacking.len() - before) as u32;
            }
            group.lacking = lacking;
            group.lacking.len()
        });
        let total = total.sum();
        (self.counts, self.groups) = (counts, groups);
        total
    }

    /// Velocity changes of all pairs at once; a pair takes its share of the particle that has more contacts.
    fn apply(&mut self) {
        let mut changed = std::mem::take(&mut self.changed);
        changed.par_chunks_mut(GROUP).zip(&self.groups).enumerate().for_each(|(g, (changed, group))| {
            let mut lacking = group.lacking.as_slice();
            for (k, m, _) in group.meetings(g) {
                let own;
                (own, lacking) = lacking.split_at(self.counts[m] as usize);
                let impulse = |&(pair, missing): &(u32, Real)| {
                    self.pair_impulse(m, &group.pairs.items[pair as usize], missing)
                };
                changed[k] = self.velocities[m];
                if !own.is_empty() {
                    changed[k] += own.iter().map(impulse).sum::<Vec3>() * self.inverse_masses[m];
                }
            }
        });
        for (g, group) in self.groups.iter().enumerate() {
            group.meetings(g).for_each(|(_, m, _)| self.velocities[m] = changed[m]);
        }
        self.changed = changed;
    }

    /// Impulse on member m of a pair that lacks this velocity [N s].
    fn pair_impulse(&self, m: usize, pair: &Pair, missing: Real) -> Vec3 {
        let (o, n) = (pair.other as usize, pair.normal);
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

/// No two of n vectors differ by more: the diagonal of the box around them. What they have in common changes no distance.
fn largest_difference(n: usize, vector: impl Fn(usize) -> Vec3 + Sync) -> Real {
    let nothing = || (Vec3::INFINITY, Vec3::NEG_INFINITY);
    let box_of = |chunk: usize| {
        let vectors = (chunk * CHUNK..n.min((chunk + 1) * CHUNK)).map(&vector);
        vectors.fold(nothing(), |(low, high), v| (low.min(v), high.max(v)))
    };
    let boxes = (0..n.div_ceil(CHUNK)).into_par_iter().map(box_of);
    let (low, high) = boxes.reduce(nothing, |a, b| (a.0.min(b.0), a.1.max(b.1)));
    (high - low).length()
}

/// Normal velocities of a contact: one that brings it nearer than `least` is made `after`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct NormalVelocity {
    pub least: Real,
    pub after: Real,
}

/// A gap is closed and not crossed, an overlap is let go gently, and a bounce keeps its part of the velocity it arrives
/// with: that of the step before. Forces of the step that push into the contact do no work, and would if they bounced.
pub(super) fn needed_velocity(
    gap: Real,
    arrives: impl FnOnce() -> Real,
    restitution: Real,
    spacing: Real,
    dt: Real,
) -> NormalVelocity {
    let least = if gap >= 0.0 { -gap / dt } else { (-gap * RELEASE / dt).min(RELEASE_SPEED * spacing) };
    let bounce = if restitution > 0.0 { -restitution * arrives() } else { 0.0 };
    NormalVelocity { least, after: if bounce > 0.0 { least.max(bounce) } else { least } }
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
    #[test]
    fn it_does_not_matter_when_candidates_were_searched_for() {
        let (x0, v) = slabs();
        // within the skin, and further towards each other than two particles of the slabs are apart
        let shift = |k: usize| Vec3::new(0.15 * (k as f64).sin(), if k < 50 { 0.2 } else { -0.1 }, 0.1) * 0.1;
        let x: Vec<Vec3> = x0.iter().enumerate().map(|(k, x)| *x + shift(k)).collect();
        let free = |_: usize| 1.0;
        let of = |positions| ContactInput {
            positions,
            rest_positions: &x0,
            arriving: &v,
            inverse_mass: &free,
            dt: 2e-2,
        };
        let (mut known, mut found) = (contacts(100), contacts(100));
        known.resolve(&of(&x0), &mut v.clone());
        let (mut by_known, mut by_found) = (v.clone(), v.clone());
        let count = known.resolve(&of(&x), &mut by_known);
        assert_eq!(known.searched[0], x0[known.members[0] as usize], "searched again");
        assert!(count > 0);
        assert_eq!(count, found.resolve(&of(&x), &mut by_found));
        assert_eq!(by_known, by_found);
    }
}
