//! Laws of the forces between near particles, over every one of them.

use super::adhesion::{Adhesion, Attraction, spline};
use super::drag::{Air, Drag};
use super::near::{Near, lattice_neighbors};
use super::surface_tension::{MEASURED, Pulled, SurfaceTension};
use super::viscosity::{ShearWeight, Viscosity};
use super::xsph::Xsph;
use crate::kernel::{Kernel, KernelKind};
use crate::math::{Mat3, Real, Vec3};
use crate::neighbors::CurrentNeighbors;
use crate::rigid::{Grips, RigidShape, WallBody, Walls};

const S: Real = 0.1;
const SUPPORT: Real = 2.0;
const H: Real = SUPPORT * S;

/// A disordered block of particles of three kinds (two liquids, a solid) around a dynamic ball.
struct Cloud {
    positions: Vec<Vec3>,
    velocities: Vec<Vec3>,
    neighbors: CurrentNeighbors,
    walls: Walls,
    grips: Grips,
    masses: Vec<f32>,
    held: Vec<bool>,
    /// Velocity and angular velocity of the ball.
    ball: Vec<[Vec3; 2]>,
}

const BALL: WallBody = WallBody {
    position: Vec3::ZERO,
    to_world: Mat3::IDENTITY,
    center: Vec3::ZERO,
    inverse_mass: 1.0 / 3.0,
    inverse_inertia: Mat3::from_cols(
        Vec3::new(20.0, 3.0, 0.0),
        Vec3::new(3.0, 30.0, 0.0),
        Vec3::new(0.0, 0.0, 25.0),
    ),
};

/// Numbers between -1 and 1 that look random.
fn noise(k: usize) -> Vec3 {
    let part = |a: f64| ((k as f64 + 1.0) * a).sin() * 43758.5453;
    Vec3::new(part(12.9898).fract(), part(78.233).fract(), part(39.425).fract())
}

impl Cloud {
    fn new(velocity: impl Fn(usize, Vec3) -> Vec3) -> Self {
        let kernel = Kernel::new(KernelKind::WendlandC2, H);
        let line = || -6..=6;
        let lattice = line().flat_map(|i| line().flat_map(move |j| line().map(move |k| [i, j, k])));
        let positions: Vec<Vec3> = lattice
            .enumerate()
            .map(|(k, p)| (Vec3::from_array(p.map(Real::from)) + 0.2 * noise(k)) * S)
            .filter(|x| x.length() > 0.35)
            .collect();
        let velocities = positions.iter().enumerate().map(|(k, x)| velocity(k, *x)).collect();
        let mut neighbors = CurrentNeighbors::default();
        let all: Vec<u32> = (0..positions.len() as u32).collect();
        neighbors.build(&positions, &all, H, None);
        let mut walls = Walls::new(kernel, S);
        walls.add(&RigidShape::Sphere { radius: 0.3 });
        walls.place([BALL].into_iter());
        walls.touch(&neighbors, &positions, |_| true);
        let mut grips = Grips::default();
        let shear = ShearWeight::new(SUPPORT);
        grips.find(&walls, &neighbors, &positions, H, |q| (shear.at(q), spline(q)));
        assert!(grips.0.iter().flatten().count() > 50, "the ball is touched");
        let density = |i: u32| [1000.0, 300.0, 2000.0][kind(i)];
        let masses = neighbors.members.iter().map(|&i| (density(i) * S.powi(3)) as f32).collect();
        let held = vec![false; positions.len()];
        let ball = vec![[noise(1), 5.0 * noise(2)]];
        Cloud { positions, velocities, neighbors, walls, grips, masses, held, ball }
    }

    fn near(&self) -> Near<'_> {
        Near {
            neighbors: &self.neighbors,
            grips: &self.grips,
            bodies: &self.walls.bodies,
            positions: &self.positions,
            masses: &self.masses,
            held: &self.held,
        }
    }

    /// Momentum, angular momentum and kinetic energy of particles and ball.
    fn totals(&self) -> (Vec3, Vec3, Real) {
        let [v, w] = self.ball[0];
        let (mass, spin) = (1.0 / BALL.inverse_mass, BALL.inverse_inertia.inverse() * w);
        let start = (v * mass, spin, 0.5 * (mass * v.length_squared() + w.dot(spin)));
        self.neighbors.members.iter().zip(&self.masses).fold(start, |(p, l, e), (&i, &m)| {
            let (x, v, m) = (self.positions[i as usize], self.velocities[i as usize], m as Real);
            (p + v * m, l + x.cross(v) * m, e + 0.5 * m * v.length_squared())
        })
    }

    fn solve(&mut self, viscosity: Real, dt: Real) -> crate::linear::Solved {
        let mut velocities = self.velocities.clone();
        let mut ball = self.ball.clone();
        let members = self.neighbors.members.clone();
        let mu = |m: usize| [Some(viscosity), Some(0.1 * viscosity), None][kind(members[m])];
        let solved = Viscosity::new(S, SUPPORT).solve(&self.near(), dt, mu, &mut velocities, &mut ball);
        (self.velocities, self.ball) = (velocities, ball);
        solved
    }

    /// The liquids among the particles.
    fn pulled(&self) -> impl Iterator<Item = Pulled> {
        let members = self.neighbors.members.iter().zip(&self.masses);
        members.map(|(&particle, &mass)| Pulled {
            particle,
            tension: [2.0, 0.5, 0.0][kind(particle)],
            inverse_mass: 1.0 / mass as Real,
        })
    }

    fn pull(&mut self, dt: Real) {
        let mut velocities = self.velocities.clone();
        SurfaceTension::new(S).pull(self.pulled(), dt, &self.positions, &mut velocities);
        let members = &self.neighbors.members;
        let attraction = |m: usize| attraction(members[m]);
        let impulse = Adhesion::new(S, SUPPORT).pull(&self.near(), dt, attraction, &mut velocities)[0];
        self.velocities = velocities;
        let [v, w] = &mut self.ball[0];
        *v += impulse[0] * BALL.inverse_mass;
        *w += BALL.inverse_inertia * impulse[1];
    }

    fn smooth(&mut self) {
        let mut velocities = self.velocities.clone();
        let members = self.neighbors.members.clone();
        let kernel = Kernel::new(KernelKind::WendlandC2, H);
        let share = |m: usize| [1.0, 0.5, 0.0][kind(members[m])];
        Xsph::new(kernel, S).smooth(&self.near(), share, &mut velocities);
        self.velocities = velocities;
    }
}

fn kind(i: u32) -> usize {
    (i as usize / 7) % 3
}

fn attraction(i: u32) -> Attraction {
    [Attraction::Adhesion(1.0), Attraction::Adhesion(3.0), Attraction::Solid][kind(i)]
}

fn random(k: usize, _: Vec3) -> Vec3 {
    noise(k + 17)
}

#[test]
fn viscosity_keeps_both_momenta_and_takes_energy_from_water_to_tar() {
    for viscosity in [1e-3, 10.0, 1e4, 1e6, 1e8] {
        for dt in [1e-4, 1e-2, 1.0] {
            let mut cloud = Cloud::new(random);
            let before = cloud.totals();
            let solved = cloud.solve(viscosity, dt);
            let after = cloud.totals();
            assert!(solved.breakdown.is_none(), "{viscosity} Pa s, {dt} s: {solved:?}");
            // single precision: 1e-7 of the sum of all |m v|, some 700 kg m/s
            assert!((after.0 - before.0).length() < 1e-3, "{viscosity} Pa s: {before:?} {after:?}");
            assert!((after.1 - before.1).length() < 1e-3, "{viscosity} Pa s: {before:?} {after:?}");
            assert!(after.2 < before.2, "{viscosity} Pa s: {before:?} {after:?}");
        }
    }
}

#[test]
fn what_turns_as_a_whole_feels_no_viscosity() {
    let (v, w) = (Vec3::new(1.0, -2.0, 0.5), Vec3::new(0.3, 1.0, -0.7));
    let mut cloud = Cloud::new(|_, x| v + w.cross(x));
    cloud.ball = vec![[v, w]];
    cloud.solve(100.0, 1e-2);
    for (x, u) in cloud.positions.iter().zip(&cloud.velocities) {
        assert!((*u - v - w.cross(*x)).length() < 1e-6 * v.length(), "rounding of velocities");
    }
}

#[test]
fn very_viscous_liquids_move_as_a_whole() {
    let mut cloud = Cloud::new(random);
    let before = cloud.totals();
    cloud.solve(1e7, 1.0);
    let after = cloud.totals();
    let mass = cloud.masses.iter().map(|&m| m as Real).sum::<Real>() + 1.0 / BALL.inverse_mass;
    let whole = 0.5 * before.0.length_squared() / mass;
    // what is left over that of the centre is the turning of the whole
    assert!(after.2 < 1e-2 * before.2 + whole, "{} of {}", after.2, before.2);
}

#[test]
fn shear_of_a_lattice_dissipates_the_viscosity_in_all_directions() {
    for (support, tolerance) in [(2.0, 1e-9), (2.5, 1e-9), (3.0, 0.02), (4.0, 0.01)] {
        let weight = ShearWeight::new(support);
        for k in 0..20 {
            let a = noise(k).normalize();
            let b = a.cross(noise(k + 50)).normalize();
            let rate = |e: Vec3| (a.dot(e) * b.dot(e)).powi(2); // (e·L e)² of shear along a, with gradient along b
            let sum: Real = lattice_neighbors(support).map(|e| weight.at(e.length()) * rate(e)).sum();
            let viscosity = 0.5 * support * support * sum;
            assert!((viscosity - 1.0).abs() < tolerance, "h = {support} s along {a}: {viscosity}");
        }
    }
}

#[test]
fn tension_and_adhesion_keep_both_momenta() {
    let mut cloud = Cloud::new(|_, _| Vec3::ZERO);
    cloud.ball = vec![[Vec3::ZERO; 2]];
    cloud.pull(1.0);
    let (momentum, spin, energy) = cloud.totals();
    assert!(energy > 1.0, "something pulls: {energy}");
    // single precision: 1e-7 of the sum of all impulses, some tens of kg m/s
    assert!(momentum.length() < 1e-4 && spin.length() < 1e-4, "{momentum} {spin}");
}

#[test]
fn the_bonds_that_a_cut_breaks_cost_twice_the_adhesion() {
    // the mean over cuts in all directions of the energy of bonds that cross them, by area
    for support in [2.0, 2.5, 3.0] {
        let adhesion = Adhesion::new(S, support);
        let energy = |e: Vec3| {
            let (q, parts) = (e.length(), 500);
            let step = (1.0 - q) / parts as Real;
            let at = |k: usize| spline(q + (k as Real + 0.5) * step) * step;
            adhesion.force() * support * S * (0..parts).map(at).sum::<Real>()
        };
        let (mut total, cuts) = (0.0, 400);
        for k in 0..cuts {
            let (z, turn) = (1.0 - 2.0 * (k as Real + 0.5) / cuts as Real, k as Real * 2.399963);
            let normal = Vec3::new((1.0 - z * z).sqrt() * turn.cos(), (1.0 - z * z).sqrt() * turn.sin(), z);
            let crossing = |e: Vec3| (e.dot(normal)).max(0.0) * support * S / S.powi(3);
            total += lattice_neighbors(support).map(|e| crossing(e) * energy(e)).sum::<Real>();
        }
        let surface = total / cuts as Real / 2.0;
        assert!((surface - 1.0).abs() < 1e-3, "h = {support} s: {surface}"); // of 400 directions
    }
}

#[test]
fn xsph_keeps_momentum_and_smooths() {
    let mut cloud = Cloud::new(random);
    let before = cloud.totals();
    cloud.smooth();
    let after = cloud.totals();
    assert!((after.0 - before.0).length() < 1e-4, "rounding of single precision");
    assert!(after.2 < 0.9 * before.2, "{} of {}", after.2, before.2);
}

#[test]
fn forces_do_not_depend_on_the_thread_count() {
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a thread pool");
        pool.install(|| {
            let mut cloud = Cloud::new(random);
            cloud.pull(1e-3);
            cloud.smooth();
            cloud.solve(100.0, 1e-2);
            (cloud.velocities, cloud.ball)
        })
    };
    let one = run(1);
    assert!([2, 7].iter().all(|&threads| run(threads) == one));
}

/// Σ_i f_i·x_i is half the sum of Σ_j f_ij·x_ij: what the pressure of a liquid is read from.
#[test]
fn virials_are_those_of_the_forces() {
    let (cloud, dt) = (Cloud::new(|_, _| Vec3::ZERO), 0.001);
    let grips = Grips::default();
    let near = Near { grips: &grips, bodies: &[], ..cloud.near() };
    let check = |velocities: &[Vec3], virials: &[f32]| {
        let (mut wanted, mut found, mut size) = (0.0, 0.0, 0.0);
        for (m, &i) in cloud.neighbors.members.iter().enumerate() {
            let force = velocities[i as usize] * (cloud.masses[m] as Real / dt);
            wanted += force.dot(cloud.positions[i as usize]);
            found += 0.5 * virials[i as usize] as Real;
            size += virials[i as usize].abs() as Real;
        }
        assert!(wanted.abs() > 0.01 * size, "{wanted} of {size}");
        assert!((found - wanted).abs() < 1e-4 * size, "{found} for {wanted}");
    };
    let (mut tension, mut velocities) = (SurfaceTension::new(S), cloud.velocities.clone());
    let mut virials = vec![0.0; velocities.len()];
    tension.pull(cloud.pulled(), dt, &cloud.positions, &mut velocities);
    tension.virials().for_each(|(i, virial)| virials[i as usize] = virial);
    check(&velocities, &virials);
    let members = &cloud.neighbors.members;
    let (mut adhesion, mut velocities) = (Adhesion::new(S, SUPPORT), cloud.velocities.clone());
    adhesion.pull(&near, dt, |m| attraction(members[m]), &mut velocities);
    members.iter().enumerate().for_each(|(m, &i)| virials[i as usize] = adhesion.virial(m));
    check(&velocities, &virials);
}

/// Forces of tension are the slope of its energy, which is that of the area where surfaces are flat.
#[test]
fn tension_pulls_down_the_slope_of_its_energy() {
    let cloud = Cloud::new(|_, _| Vec3::ZERO);
    let pulled: Vec<Pulled> = cloud.pulled().collect();
    let (mut tension, mut velocities) = (SurfaceTension::new(S), cloud.velocities.clone());
    tension.pull(pulled.iter().copied(), 1.0, &cloud.positions, &mut velocities);
    for k in [3, 40, 200, 411] {
        let i = pulled[k].particle as usize;
        let along = noise(k).normalize();
        let energy = |by: Real| {
            let mut positions = cloud.positions.clone();
            positions[i] += along * by;
            tension.energies(&pulled, &positions).iter().sum::<Real>()
        };
        let step = 1e-5 * S;
        let slope = (energy(step) - energy(-step)) / (2.0 * step);
        let force = velocities[i] / pulled[k].inverse_mass;
        assert!(
            (force.dot(along) + slope).abs() < 1e-4 * force.length() + 1e-6,
            "{force} along {along}: {slope}"
        );
    }
}

#[test]
fn a_flat_surface_costs_its_area_and_a_single_particle_that_of_a_ball() {
    const SIDE: i32 = 15; // the middle is seven spacings from each face, two reaches
    let line = || 0..SIDE;
    let lattice = line().flat_map(|i| line().flat_map(move |j| line().map(move |k| [i, j, k])));
    let mut positions: Vec<Vec3> = lattice.map(|p| Vec3::from_array(p.map(Real::from)) * S).collect();
    positions.push(Vec3::splat(-10.0 * S));
    let water = |particle: usize| Pulled { particle: particle as u32, tension: 0.07, inverse_mass: 1.0 };
    let pulled: Vec<Pulled> = (0..positions.len()).map(water).collect();
    let energies = SurfaceTension::new(S).energies(&pulled, &positions);
    let middle = (SIDE / 2) as Real * S;
    let inside = positions.iter().position(|x| x.distance(Vec3::splat(middle)) < 0.1 * S).expect("a middle");
    let over = |i: usize| (energies[i] - energies[inside]) / (0.07 * S * S);
    let in_column = |x: &Vec3| (x.x - middle).hypot(x.y - middle) < 0.1 * S;
    let column: Real = (0..positions.len()).filter(|&i| in_column(&positions[i])).map(over).sum();
    let lattice = 1.0 / MEASURED; // two ends of one spacing squared each
    assert!((column / 2.0 - lattice).abs() < 1e-3, "{column}");
    let ball = (36.0 * std::f64::consts::PI).cbrt();
    assert!((over(positions.len() - 1) - ball).abs() < 1e-3, "{}", over(positions.len() - 1));
}

#[test]
fn two_liquids_meet_with_the_step_of_the_roots_of_their_tensions() {
    const LONG: i32 = 20; // surfaces at both ends, and where the liquids meet in the middle, are two reaches apart
    let lattice = (0..9).flat_map(|i| (0..9).flat_map(move |j| (0..LONG).map(move |k| [i, j, k])));
    let cells: Vec<[i32; 3]> = lattice.collect();
    let positions: Vec<Vec3> = cells.iter().map(|p| Vec3::from_array(p.map(Real::from)) * S).collect();
    let energies = |tensions: [Real; 2]| -> Real {
        let side = |k: i32| (k >= LONG / 2) as usize;
        let pulled: Vec<Pulled> = (0..cells.len())
            .map(|i| Pulled { particle: i as u32, tension: tensions[side(cells[i][2])], inverse_mass: 1.0 })
            .collect();
        let energies = SurfaceTension::new(S).energies(&pulled, &positions);
        let column = |k: i32| energies[((4 * 9 + 4) * LONG + k) as usize];
        let inside = [column(5), column(LONG - 6)];
        (6..LONG - 6).map(|k| column(k) - inside[side(k)]).sum::<Real>() / (S * S)
    };
    assert!(energies([0.09, 0.09]).abs() < 1e-9, "no surface within a liquid");
    let found = energies([0.09, 0.01]) * MEASURED;
    assert!((0.9..1.0).contains(&(found / 0.04)), "{found}");
}

/// Velocities after a step of drag, of particles on a line that moves along itself.
fn blown(air: Air, dt: Real, speed: Real) -> Vec<Vec3> {
    let positions: Vec<Vec3> = (0..3).map(|k| Vec3::X * (k as Real * S)).collect();
    let mut velocities = vec![Vec3::X * speed; 3];
    let mut neighbors = CurrentNeighbors::default();
    neighbors.build(&positions, &[0, 1, 2], H, None);
    let masses = [(1000.0 * S.powi(3)) as f32; 3];
    let grips = Grips::default();
    let near = Near {
        neighbors: &neighbors,
        grips: &grips,
        bodies: &[],
        positions: &positions,
        masses: &masses,
        held: &[false; 3],
    };
    Drag::new(air, S).slow(&near, dt, |_| 1.0, &mut velocities);
    velocities
}

#[test]
fn the_air_slows_the_first_and_not_who_flies_behind() {
    let v = blown(Air::default(), 0.01, 10.0);
    assert_eq!((v[0], v[1]), (Vec3::X * 10.0, Vec3::X * 10.0));
    // ½ 1.2 0.44 pi r² u²/m with r³ = 3 s³/(4 pi), for 0.01 s
    let slowed = 0.5 * 1.2 * 0.44 * std::f64::consts::PI * 0.0620350f64.powi(2) * 100.0 * 0.01;
    assert!((10.0 - v[2].x - slowed).abs() < 1e-3 * slowed, "{}", v[2].x);
}

#[test]
fn the_wind_carries_along_however_long_the_step() {
    let air = Air { density: 1.2, velocity: Vec3::X * 30.0 };
    let v = blown(air, 1e9, 0.0);
    assert!((v[0] - air.velocity).length() < 1e-3, "{}", v[0]);
}
