//! The pressure problem on its own: the solver against the conditions it must meet, grids against the operator.

use super::coarse::Coarse;
use super::{PressureSystem, Problem, ProjectedGradients, Settings};
use crate::kernel::{Kernel, KernelKind};
use crate::math::{Mat3, Real, Vec3};
use crate::neighbors::CurrentNeighbors;
use crate::rigid::{RigidShape, WallBody, Walls};

const SPACING: Real = 0.1;
const DT: Real = 0.005;

/// A block of liquid on a floor, with a pit in its surface; not quite a lattice.
struct Tank {
    neighbors: CurrentNeighbors,
    walls: Walls,
    system: PressureSystem,
    positions: Vec<Vec3>,
}

impl Tank {
    fn new(across: i64) -> Self {
        let kernel = Kernel::new(KernelKind::CubicSpline, 2.0 * SPACING);
        let at = |k: i64| (k as Real + 0.5) * SPACING;
        let lattice =
            (0..across).flat_map(|x| (0..across).flat_map(move |y| (0..across).map(move |z| [x, y, z])));
        let in_pit = |[x, y, z]: [i64; 3]| x.min(y) >= across - 3 && z < across / 2;
        let positions: Vec<Vec3> = lattice
            .filter(|p| !in_pit(*p))
            .map(|p| {
                let wobble = [p[1], p[2], p[0]].map(|k| 0.02 * SPACING * (7.3 * k as Real).sin());
                Vec3::from_array(p.map(at)) + Vec3::from_array(wobble)
            })
            .collect();
        let all: Vec<u32> = (0..positions.len() as u32).collect();
        let mut neighbors = CurrentNeighbors::default();
        neighbors.build(&positions, &all, kernel.h, None);
        let mut walls = Walls::new(kernel, SPACING);
        walls.add(&RigidShape::Plane { normal: Vec3::Y });
        let floor = WallBody {
            position: Vec3::ZERO,
            to_world: Mat3::IDENTITY,
            center: Vec3::ZERO,
            inverse_mass: 0.0,
            inverse_inertia: Mat3::ZERO,
        };
        walls.place([floor].into_iter());
        walls.touch(&neighbors, &positions, |_| true);
        let mut system = PressureSystem::new(kernel, SPACING);
        system.measure(&neighbors, &walls, |_| 0.0, |_| 0.0, |i| 1.0 + 0.5 * (i % 3) as f32);
        system.set_time_step(DT);
        Tank { neighbors, walls, system, positions }
    }

    /// Compressions at the end of a step in which everything falls.
    fn compressions(&mut self) -> Vec<f32> {
        let falls = vec![Vec3::Y * (-9.81 * DT); self.positions.len()];
        let mut rates = vec![0.0; self.positions.len()];
        self.system.rates(&self.neighbors, &self.walls, &falls, &[[Vec3::ZERO; 2]], &mut rates);
        rates.iter().map(|rate| rate * DT as f32).collect()
    }

    fn product(&mut self, x: &[f32]) -> Vec<f32> {
        let mut y = vec![0.0; x.len()];
        self.system.apply(&self.neighbors, &self.walls, |m| x[m], &mut y);
        y
    }
}

/// kappa >= 0, nothing is compressed, and what presses is not pressed apart, with and without coarse grids.
#[test]
fn the_solution_meets_its_conditions() {
    for (across, has_grids) in [(6, false), (24, true)] {
        let mut tank = Tank::new(across);
        let compressions = tank.compressions();
        let work: Real = compressions.iter().map(|c| c.abs() as Real).sum();
        let settings = Settings { density_error: 1e-6, max_iterations: 500 };
        let mut kappa = vec![0.0; compressions.len()];
        let mut solver = ProjectedGradients::default();
        let Tank { system, neighbors, walls, .. } = &mut tank;
        let problem = Problem { dt: DT, compressions: &compressions, settings };
        let first = solver.solve(system, neighbors, walls, problem, &mut kappa);
        assert!(first.converged, "{across} across: {first:?}");
        // once more from there, with grids if many press
        assert_eq!(kappa.iter().filter(|kappa| **kappa > 0.0).count() > 5000, has_grids);
        let again = solver.solve(system, neighbors, walls, problem, &mut kappa);
        assert!(again.converged && again.iterations < 40, "{across} across: {again:?}");
        let pushed = tank.product(&kappa);
        let mut wrong = 0.0;
        for ((kappa, pushed), c) in kappa.iter().zip(&pushed).zip(&compressions) {
            let left = (c - pushed) as Real;
            assert!(*kappa >= 0.0);
            wrong += if *kappa > 0.0 { left.abs() } else { left.max(0.0) };
        }
        assert!(wrong < 0.01 * work, "{across} across: {wrong} of {work}");
    }
}

/// However few iterations there are and wherever they begin, energies do not rise.
#[test]
fn energies_never_rise() {
    let mut tank = Tank::new(10);
    // compressed on one side and thinned on the other
    let slope = |x: &Vec3| 0.01 * (0.3 + (0.3 * (x.x - x.y)).sin()) as f32;
    let compressions: Vec<f32> = tank.positions.iter().map(slope).collect();
    let energy = |tank: &mut Tank, kappa: &[f32]| {
        let pushed = tank.product(kappa);
        let columns = kappa.iter().zip(&pushed).zip(&compressions);
        columns.map(|((k, p), c)| (k * (0.5 * p - c)) as Real).sum::<Real>()
    };
    let rough = |m: usize| (((7 * m + 3) as f32 * 12.9898).sin() * 43758.547 % 1.0).max(0.0);
    let mut kappa: Vec<f32> = (0..compressions.len()).map(rough).collect();
    let mut before = energy(&mut tank, &kappa);
    for iterations in [1, 2, 4, 8, 8, 8] {
        let settings = Settings { density_error: 1e-9, max_iterations: iterations };
        let Tank { system, neighbors, walls, .. } = &mut tank;
        let problem = Problem { dt: DT, compressions: &compressions, settings };
        ProjectedGradients::default().solve(system, neighbors, walls, problem, &mut kappa);
        let now = energy(&mut tank, &kappa);
        assert!(now < before + 1e-6 * before.abs(), "{iterations} iterations: from {before} to {now}");
        before = now;
    }
}

/// A row of the finest grid is what the operator does to a block: Pᵀ A P.
#[test]
fn grids_are_sums_of_the_operator_over_blocks() {
    let mut tank = Tank::new(11);
    let n = tank.positions.len();
    let free: Vec<bool> = (0..n).map(|m| m % 7 != 0).collect();
    let kappa: Vec<f32> = free.iter().map(|free| *free as u32 as f32).collect();
    let mut coarse = Coarse::default();
    assert!(coarse.weigh(&tank.neighbors, &tank.walls, &free));
    tank.system.coarsen(&tank.neighbors, &tank.walls, &mut coarse);
    let blocks: Vec<usize> = (0..n).map(|m| coarse.block_of(m)).collect();
    let of_blocks = |values: &[f32]| {
        let mut sums = vec![0.0f32; blocks.iter().max().unwrap() + 1];
        for (m, &block) in blocks.iter().enumerate() {
            sums[block] += values[m] * kappa[m];
        }
        sums
    };
    let mut wanted: Vec<usize> = blocks.clone();
    wanted.sort_unstable();
    wanted.dedup();
    assert!(wanted.len() > 20);
    for &block in &wanted {
        let x: Vec<f32> = (0..n).map(|m| if blocks[m] == block { kappa[m] } else { 0.0 }).collect();
        let sums = of_blocks(&tank.product(&x));
        let largest = sums[block];
        for &other in &wanted {
            let (entry, sum) = (coarse.entry(block, other), sums[other]);
            assert!((entry - sum).abs() < 1e-4 * largest, "{block} {other}: {entry} is not {sum}");
        }
    }
}

/// What the grids answer is symmetric and positive, as conjugate gradients need it.
#[test]
fn grids_answer_symmetrically() {
    let mut tank = Tank::new(14);
    let n = tank.positions.len();
    let mut coarse = Coarse::default();
    assert!(coarse.weigh(&tank.neighbors, &tank.walls, &vec![true; n]));
    tank.system.coarsen(&tank.neighbors, &tank.walls, &mut coarse);
    let (a, b): (Vec<f32>, Vec<f32>) =
        (0..n).map(|m| ((1.7 * m as f32).sin(), (0.013 * m as f32).cos())).unzip();
    let mut answer = |r: &[f32]| {
        let mut z = vec![0.0; n];
        coarse.correct(&tank.neighbors, |_| 1.0, r, &mut z);
        z
    };
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| (a * b) as Real).sum::<Real>();
    let (of_a, of_b) = (answer(&a), answer(&b));
    let (one, other) = (dot(&of_a, &b), dot(&of_b, &a));
    let (aa, bb) = (dot(&of_a, &a), dot(&of_b, &b));
    assert!(aa > 0.0 && bb > 0.0);
    assert!((one - other).abs() < 1e-4 * (aa * bb).sqrt(), "{one} {other}");
}
