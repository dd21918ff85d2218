//! Laws of the systems that implicit steps solve.

use super::*;
use crate::elasticity::Method;
use crate::geometry::{Outline, Sampling, Shape};
use crate::kernel::{Kernel, KernelKind};
use crate::material::{Law, Moduli};
use crate::math::{Mat3, Quat};

const S: Real = 0.1;

fn cube() -> Vec<Vec3> {
    Shape::Box { size: Vec3::new(0.6, 0.5, 0.4) }.sample(S, Sampling::Lattice)
}

fn sheet() -> Vec<Vec3> {
    sheet_of([0.7, 0.6])
}

fn sheet_of(size: [Real; 2]) -> Vec<Vec3> {
    Shape::Sheet { size, outline: Outline::Rectangle, relief: None }.sample(S, Sampling::Lattice)
}

fn body(rest: &[Vec3], method: Method) -> ElasticBody {
    let kernel = Kernel::new(KernelKind::WendlandC2, 2.0 * S);
    let moduli = Moduli::from_young_poisson(1e5, 0.3);
    ElasticBody::new(rest.to_vec(), S.powi(3), 1000.0, kernel, method, moduli)
}

fn newton(law: Law) -> Method {
    Method { law, solver: Solver::Newton, ..Method::of(Model::Peer2018) }
}

/// Stretched, bent and turned.
fn deformed(rest: &[Vec3]) -> Vec<Vec3> {
    let turn = Mat3::from_quat(Quat::from_axis_angle(Vec3::new(0.3, -0.5, 0.8).normalize(), 0.7));
    let bend =
        |X: &Vec3| turn * Vec3::new(1.1 * X.x + 0.2 * X.x * X.y, 1.05 * X.y + 0.1 * X.x * X.x, 1.08 * X.z);
    rest.iter().map(bend).collect()
}

/// A wave of displacements, the same in every run.
fn wave(n: usize) -> Vec<glam::Vec3> {
    let of = |i: usize, k: f32| (i as f32 * 0.7 + k).sin();
    (0..n).map(|i| glam::Vec3::new(of(i, 1.0), of(i, 2.0), of(i, 3.0))).collect()
}

fn product(
    body: &mut ElasticBody,
    p: &[glam::Vec3],
    system: System,
    tangents: Option<&[SliceTangent]>,
) -> Vec<glam::Vec3> {
    let (masses, held) = (vec![0.0; p.len()], vec![false; p.len()]);
    let mut operator = Stiffness::new(body, &masses, &held, 1.0, system);
    operator.tangents = tangents;
    let mut y = vec![glam::Vec3::ZERO; p.len()];
    operator.apply(p, &mut y);
    y
}

fn distance(a: &[glam::Vec3], b: &[glam::Vec3]) -> f32 {
    let norm = |v: &mut dyn Iterator<Item = glam::Vec3>| v.map(|x| x.length_squared()).sum::<f32>().sqrt();
    norm(&mut a.iter().zip(b).map(|(a, b)| *a - *b)) / norm(&mut b.iter().copied())
}

#[test]
fn the_energy_is_that_of_the_reference() {
    for rest in [cube(), sheet()] {
        for law in Law::ALL {
            let (mut body, x) = (body(&rest, newton(law)), deformed(&rest));
            for _ in 0..3 {
                body.compute_forces(&x, &[]);
            }
            body.localize(|i| x[i], &[]);
            let (found, wanted) =
                (body.energy(None), body.point_states(&x).iter().map(|s| s.energy).sum::<Real>());
            assert!((found / wanted - 1.0).abs() < 1e-4, "{law:?}: {found} for {wanted}");
        }
    }
}

#[test]
fn the_hessian_is_the_derivative_of_the_force() {
    let rest = cube();
    for law in Law::ALL {
        let (mut body, x, p) = (body(&rest, newton(law)), deformed(&rest), wave(rest.len()));
        let mut tangents = vec![SliceTangent::ZERO; rest.len().div_ceil(crate::math::LANES)];
        let eps = 1e-3 * S;
        let mut force = |sign: Real| {
            let moved: Vec<Vec3> = x.iter().zip(&p).map(|(x, p)| *x + p.as_dvec3() * (sign * eps)).collect();
            for _ in 0..3 {
                body.compute_forces(&moved, &[]);
            }
            body.forces.clone()
        };
        let (plus, minus) = (force(1.0), force(-1.0));
        let wanted: Vec<glam::Vec3> =
            plus.iter().zip(&minus).map(|(a, b)| (*b - *a) / (2.0 * eps as f32)).collect();
        body.compute_forces(&x, &[]);
        body.localize(|i| x[i], &[]);
        body.energy(Some(&mut tangents));
        let found = product(&mut body, &p, System::Whole, Some(&tangents));
        let error = distance(&found, &wanted);
        assert!(error < 5e-3, "{law:?}: {error}");
    }
}

/// The velocities that the solve for the volume finds meet (M + dt² K_v) w = M w_s + dt f_v.
#[test]
fn the_volume_solve_meets_its_system() {
    for rest in [cube(), sheet()] {
        let split = Method { solver: Solver::Split, ..Method::of(Model::Kugelstadt2021) };
        let mut body = body(&rest, split);
        let (x, n, dt) = (deformed(&rest), rest.len(), 0.01);
        let masses: Vec<f32> = (0..n).map(|i| 1.0 + (i % 3) as f32).collect();
        let held: Vec<bool> = (0..n).map(|i| i % 11 == 0).collect();
        let stretch: Vec<glam::Vec3> = wave(n).iter().zip(&held).map(|(w, h)| *w * !h as u8 as f32).collect();
        for _ in 0..3 {
            body.compute_forces(&x, &[]);
        }
        let whole = body.forces.clone();
        body.compute_stretching_forces_at(n, |i| x[i], &[]);
        let volume_force: Vec<glam::Vec3> = whole.iter().zip(&body.forces).map(|(a, b)| *a - *b).collect();
        let mut volume = Volume::new(&body);
        let tolerance = SolveTolerance::Relative(1e-5);
        let step = VolumeStep { dt, masses: &masses, held: &held, tolerance, max_iterations: 200 };
        let mut w = stretch.clone();
        let first = volume.solve(&mut body, step, &mut w);
        assert!(first.converged && first.iterations > 3, "{first:?}");
        assert!(distance(&body.forces, &whole) < 1e-4);

        let lambda = body.lambda.clone();
        let mut stiffness = vec![glam::Vec3::ZERO; n];
        let stress = |s: usize, rest: &SliceRest, R: Mat3x8, U: Mat3x8| {
            let RC = R.mul_mat(rest.correction.full());
            RC.scale(lambda.of_slice(s) * rest.volume * RC.dot(U))
        };
        body.respond(&w, 0.0, stress, |_, f| -f, &mut stiffness);
        let of_free = |of: &dyn Fn(usize) -> glam::Vec3| -> Vec<glam::Vec3> {
            (0..n).map(|i| if held[i] { glam::Vec3::ZERO } else { of(i) }).collect()
        };
        let dt = dt as f32;
        let left = of_free(&|i| w[i] * masses[i] + stiffness[i] * (dt * dt));
        let right = of_free(&|i| stretch[i] * masses[i] + volume_force[i] * dt);
        assert!(distance(&left, &right) < 3e-5, "{}", distance(&left, &right));

        // from the solution there is nothing to do
        body.compute_stretching_forces_at(n, |i| x[i], &[]);
        let again = volume.solve(&mut body, step, &mut stretch.clone());
        assert!(again.converged && again.iterations <= 1, "{again:?}");
    }
}

/// Bodies on a lattice: a box, a ball, a turned box, one with gaps, a hole and a stray particle, and a sheet, with
/// the supports for which 18 and 26 neighbours have weight.
fn bodies_on_a_lattice() -> Vec<(Vec<Vec3>, Real)> {
    let block = Shape::Box { size: Vec3::new(1.9, 0.8, 0.7) }.sample(S, Sampling::Lattice);
    let ball = Shape::Sphere { radius: 0.55 }.sample(S, Sampling::Lattice);
    let turn = Quat::from_axis_angle(Vec3::new(0.3, -0.5, 0.8).normalize(), 0.7);
    let turned: Vec<Vec3> = block.iter().map(|x| turn * *x).collect();
    let is_left = |x: &Vec3| {
        let gap = (x.x - 0.2).abs() < 0.15 && x.y > 0.0;
        let hole = x.abs().max_element() < 0.2;
        let notch = x.x < -0.5 && x.z > 0.0;
        !(gap || hole || notch)
    };
    let mut ragged: Vec<Vec3> = block.iter().copied().filter(is_left).collect();
    ragged.push(block[0] - Vec3::new(S, 0.0, 0.0));
    let sheet = sheet_of([4.0, 4.0]);
    [block, ball, turned, ragged, sheet]
        .into_iter()
        .flat_map(|rest| [(rest.clone(), 2.0), (rest, 2.5)])
        .collect()
}

/// Backward Euler over cells is that over pairs: what one finds, the other confirms.
#[test]
fn a_solution_over_cells_solves_the_system_of_pairs() {
    for (rest, support) in bodies_on_a_lattice() {
        let n = rest.len();
        let kernel = Kernel::new(KernelKind::WendlandC2, support * S);
        let moduli = Moduli::from_young_poisson(1e5, 0.3);
        let method = Method { tolerance: SolveTolerance::Relative(1e-5), ..Method::of(Model::Peer2018) };
        let mut body = ElasticBody::new(rest.clone(), S.powi(3), 1000.0, kernel, method, moduli);
        let x = deformed(&rest);
        for _ in 0..3 {
            body.compute_forces(&x, &[]);
        }
        let mut shelf = FactorShelf::default();
        // the second step is so long that grids help; masses that are alike are read from one place
        for (dt, variation) in [(0.01, 0.1), (0.5, 0.1), (0.01, 0.0), (0.5, 0.0)] {
            let masses: Vec<Real> = (0..n).map(|i| 1.0 + variation * (i % 3) as Real).collect();
            let mut solver = ImplicitSolver::new(&body, &masses, 0);
            assert!(solver.cells.is_some(), "{n} particles, support {support}");
            solver.prepare(&body, dt, (0..body.len()).step_by(11), &mut shelf);
            let free = |i: usize| !i.is_multiple_of(11) as u8 as f32;
            solver.right = wave(n).iter().enumerate().map(|(i, w)| *w * free(i)).collect();
            solver.set_cells(&body, dt);
            solver.load_cells(&body);
            let solved = solver.iterate(&mut body, dt, System::Whole, Start::Zero);
            assert!(solved.converged && solved.products > 3, "{solved:?}");
            let mut found = vec![glam::Vec3::ZERO; n];
            let mut pairs = Stiffness::new(&mut body, &solver.masses, &solver.held, dt, System::Whole);
            pairs.apply(&solver.change, &mut found);
            // tolerance, and the rounding of the solution times the stiffness
            let error = distance(&found, &solver.right);
            assert!(error < 5e-5, "{n} particles, support {support}, dt {dt}: {error}");
        }
    }
}

/// However stiff and large a body is, cycles solve for it in a few iterations.
#[test]
fn cycles_bound_the_iterations() {
    for size in [Vec3::new(1.0, 0.9, 0.8), Vec3::new(4.0, 1.0, 1.0), Vec3::new(2.0, 1.9, 2.1)] {
        let rest = Shape::Box { size }.sample(S, Sampling::Lattice);
        for nu in [0.0, 0.3, 0.45] {
            let mut body = bent_body(&rest, nu);
            for stiffness in [1e2, 1e3, 1e4, 1e5] {
                let (mut solver, dt) = loaded_solver(&body, &rest, stiffness, size);
                assert!(solver.describe(&body, dt).ends_with("with grids"));
                let solved = solver.iterate(&mut body, dt, System::Whole, Start::Zero);
                assert!(
                    solved.converged && solved.iterations <= 20,
                    "{size}, {nu}, S = {stiffness}: {solved:?}"
                );
            }
        }
    }
}

/// Leaps find what conjugate gradients find: they need hardly more products, and few of them are enough.
#[test]
fn leaps_take_the_products_of_conjugate_gradients() {
    for size in [Vec3::new(1.0, 0.9, 0.8), Vec3::new(4.0, 1.0, 1.0)] {
        let rest = Shape::Box { size }.sample(S, Sampling::Lattice);
        for nu in [0.0, 0.3, 0.45] {
            let mut body = bent_body(&rest, nu);
            for stiffness in [0.01, 0.1, 1.0, 10.0, 35.0] {
                let (mut solver, dt) = loaded_solver(&body, &rest, stiffness, size);
                let leaps = solver.iterate(&mut body, dt, System::Whole, Start::Zero);
                solver.cells = None;
                let steps = solver.iterate(&mut body, dt, System::Whole, Start::Zero);
                let told = format!("{size}, nu {nu}, S = {stiffness}: {leaps:?}, {steps:?}");
                assert!(leaps.converged && steps.converged, "{told}");
                // leaps start anew after so many products, and forget the directions that they went
                assert!(leaps.products as Real <= 1.4 * steps.iterations as Real + 2.0, "{told}");
                assert!(leaps.iterations <= 2 + steps.iterations / 12, "{told}");
            }
        }
    }
}

/// A right-hand side that is made of those of the last steps is solved for by making the solution of theirs.
#[test]
fn what_the_last_steps_knew_is_not_solved_for_again() {
    let size = Vec3::new(1.9, 0.8, 0.7);
    let rest = Shape::Box { size }.sample(S, Sampling::Lattice);
    let mut body = bent_body(&rest, 0.3);
    for stiffness in [0.1, 10.0, 100.0] {
        let (mut solver, dt) = loaded_solver(&body, &rest, stiffness, size);
        let load = |k: usize| -> Vec<glam::Vec3> {
            let of = |i: usize, x: &Vec3| {
                let x = x.as_vec3();
                glam::Vec3::new((k as f32 * x.x).sin(), -1.0 + x.y * k as f32, 0.3 * (i % (k + 2)) as f32)
            };
            rest.iter().enumerate().map(|(i, x)| of(i, x)).collect()
        };
        let mut iterations = |parts: [f32; 4], tolerance: Real| {
            solver.tolerance = SolveTolerance::Relative(tolerance);
            let loads = [load(0), load(1), load(2), load(3)];
            let sum = |i: usize| (0..4).map(|k| loads[k][i] * parts[k]).sum::<glam::Vec3>();
            solver.right = (0..rest.len()).map(|i| sum(i) * !solver.held[i] as u8 as f32).collect();
            solver.set_cells(&body, dt);
            solver.load_cells(&body);
            solver.iterate(&mut body, dt, System::Whole, Start::LastStep).iterations
        };
        for parts in [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]]
        {
            assert!(iterations(parts, 1e-5) > 0, "S = {stiffness}: {parts:?} is new");
        }
        // solved ten times less exactly, as the sum has the errors of all; the first is told again by the fifth
        for parts in [[0.4, -0.7, 0.5, 0.2], [0.1, 0.2, -0.3, 0.9]] {
            assert_eq!(iterations(parts, 1e-4), 0, "S = {stiffness}: {parts:?}");
        }
    }
}

/// A body that is stretched, bent and turned, with its rotations.
fn bent_body(rest: &[Vec3], nu: Real) -> ElasticBody {
    let kernel = Kernel::new(KernelKind::WendlandC2, 2.0 * S);
    let (method, moduli) = (Method::of(Model::Peer2018), Moduli::from_young_poisson(1e6, nu));
    let mut body = ElasticBody::new(rest.to_vec(), S.powi(3), 1000.0, kernel, method, moduli);
    let x = deformed(rest);
    for _ in 0..3 {
        body.compute_forces(&x, &[]);
    }
    body
}

/// Its solver with the first layers held, a load, and the step that makes it so stiff.
fn loaded_solver(body: &ElasticBody, rest: &[Vec3], stiffness: Real, size: Vec3) -> (ImplicitSolver, Real) {
    let dt = (stiffness * S * S * 1000.0 / 1e6 as Real).sqrt();
    let mut solver = ImplicitSolver::new(body, &vec![1.0; rest.len()], 0);
    let held = (0..rest.len()).filter(|&i| rest[i].x < 0.15 - 0.5 * size.x);
    solver.prepare(body, dt, held, &mut FactorShelf::default());
    let load = |wave: glam::Vec3| glam::Vec3::new(0.1, -1.0, 0.2) + wave * 0.1;
    let rows = wave(rest.len()).into_iter().zip(&solver.held);
    solver.right = rows.map(|(wave, held)| load(wave) * !held as u8 as f32).collect();
    solver.set_cells(body, dt);
    solver.load_cells(body);
    (solver, dt)
}

/// Large bodies are gone through band by band. What comes out does not depend on how wide the bands are, whether their
/// lines are alike or not.
#[test]
fn bands_do_not_change_a_solution() {
    let size = Vec3::new(2.0, 1.3, 2.4);
    for (shape, lines_differ) in [(Shape::Box { size }, false), (Shape::Sphere { radius: 1.0 }, true)] {
        let rest = shape.sample(S, Sampling::Lattice);
        let kernel = Kernel::new(KernelKind::WendlandC2, 2.0 * S);
        // far below the difference that is looked for: sums in another order may end solves elsewhere
        let tolerance = SolveTolerance::Relative(2e-6);
        let method = Method { tolerance, ..Method::of(Model::Peer2018) };
        let moduli = Moduli::from_young_poisson(1e6, 0.3);
        let wide = ElasticBody::new(rest.clone(), S.powi(3), 1000.0, kernel, method, moduli);
        let mut narrow = wide.clone();
        let cells = wide.rest.cells.as_ref().map(|cells| cells.in_narrow_bands()).expect("a lattice");
        assert!(cells.band_count() > 5, "{} bands", cells.band_count());
        assert_eq!(cells.clears_slots(), lines_differ);
        Arc::make_mut(&mut narrow.rest).cells = Some(cells);
        let x = deformed(&rest);
        // without grids, and with cycles
        for dt in [0.005, 0.05] {
            let solve = |mut body: ElasticBody| {
                let mut solver = ImplicitSolver::new(&body, &vec![1.0; rest.len()], 0);
                let held = (0..rest.len()).filter(|&i| rest[i].x < -0.85);
                solver.prepare(&body, dt, held, &mut FactorShelf::default());
                let step = StepInput {
                    dt,
                    positions: &x,
                    velocities: &vec![Vec3::ZERO; rest.len()],
                    pushed: &vec![Vec3::new(0.1, -0.2, 0.3); rest.len()],
                };
                let report = solver.solve(&mut body, &step).1;
                (body.forces, solver.change, report.parts[SolvePart::Whole as usize].products)
            };
            let (wide, narrow) = (solve(wide.clone()), solve(narrow.clone()));
            assert_eq!(wide.0, narrow.0, "forces");
            assert!(wide.2.min(narrow.2) > 3, "{} and {} products", wide.2, narrow.2);
            let error = distance(&wide.1, &narrow.1);
            assert!(error < 1e-5, "dt {dt}: {error:e}");
        }
    }
}

/// Slices that are alike share their constants: a larger box has no more kinds of them.
#[test]
fn a_larger_box_has_no_more_kinds_of_slices() {
    let kinds = |across: f64| {
        let rest = Shape::Box { size: Vec3::splat(across * S) }.sample(S, Sampling::Lattice);
        let body = body(&rest, Method::of(Model::Peer2018));
        body.rest.cells.as_ref().map(|cells| cells.kind_count())
    };
    // first, inner and last slices of lines at corners, at edges, in faces and inside
    assert_eq!((kinds(24.0), kinds(32.0)), (Some(27), Some(27)));
}

/// A step is tried again after numbers that are not finite: the next try finds what it would have found without.
#[test]
fn a_solve_that_fails_leaves_no_trace() {
    let rest = cube();
    let n = rest.len();
    let solve = |solver: &mut ImplicitSolver, body: &mut ElasticBody, push: Real| {
        solver.prepare(body, 0.01, std::iter::empty(), &mut FactorShelf::default());
        let (still, pushed) = (vec![Vec3::ZERO; n], vec![Vec3::new(push, 0.0, 0.2 * push); n]);
        let step = StepInput { dt: 0.01, positions: &rest, velocities: &still, pushed: &pushed };
        solver.solve(body, &step);
        solver.change.clone()
    };
    let mut body = body(&rest, Method::of(Model::Peer2018));
    let mut solver = ImplicitSolver::new(&body, &vec![1.0; n], 0);
    assert!(solver.cells.is_some());
    let expected = solve(&mut solver, &mut body, 0.3);
    let failed = solve(&mut solver, &mut body, Real::NAN);
    assert!(failed.iter().any(|change| !change.is_finite()));
    let again = solve(&mut solver, &mut body, 0.3);
    assert!(distance(&again, &expected) < 1e-4);
}

/// Forces and rotations over cells are those over pairs.
#[test]
fn forces_over_cells_are_those_over_pairs() {
    let mut compared = 0;
    for (rest, support) in bodies_on_a_lattice() {
        let kernel = Kernel::new(KernelKind::WendlandC2, support * S);
        let moduli = Moduli::from_young_poisson(1e5, 0.3);
        let method =
            Method { xsph: if compared % 3 == 1 { 30.0 } else { 0.0 }, ..Method::of(Model::Peer2018) };
        let mut pairs = ElasticBody::new(rest.clone(), S.powi(3), 1000.0, kernel, method, moduli);
        if !CellSolver::deforms(&pairs) {
            continue;
        }
        let (x, mut body) = (deformed(&rest), pairs.twin());
        let velocities: Vec<Vec3> = wave(rest.len()).iter().map(|v| v.as_dvec3()).collect();
        let mut solver = ImplicitSolver::new(&body, &vec![1.0; rest.len()], 0);
        let cells = body.rest.clone();
        // the rotations start from those of the last time
        for _ in 0..3 {
            pairs.compute_forces(&x, &velocities);
            solver.set_cells(&body, 0.01);
            if let (Some(cells), Some(over_cells)) = (&cells.cells, &mut solver.cells) {
                over_cells.deform(cells, &mut body, |i| x[i], &velocities);
            }
        }
        let error = distance(&body.forces, &pairs.forces);
        assert!(error < 1e-4, "{} particles, support {support}: {error}", rest.len());
        let turned = |i: usize| body.rotation(i).angle_between(pairs.rotation(i));
        assert!((0..rest.len()).all(|i| turned(i) < 1e-3), "{} particles", rest.len());
        compared += 1;
    }
    assert!(compared >= 10, "{compared} bodies compared");
}

/// Stiff bodies are strained little: their forces must not be lost in the rounding of rotations, which are not small.
#[test]
fn small_strains_keep_their_digits_over_cells() {
    let (E, turn) = (1e7, Quat::from_axis_angle(Vec3::new(0.6, 0.2, -0.4).normalize(), 1.1));
    for (rest, support) in bodies_on_a_lattice() {
        let kernel = Kernel::new(KernelKind::WendlandC2, support * S);
        let moduli = Moduli::from_young_poisson(E, 0.3);
        let method = Method::of(Model::Peer2018);
        let mut body = ElasticBody::new(rest.clone(), S.powi(3), 1000.0, kernel, method, moduli);
        if !body.rest.null.is_empty() {
            continue; // flat neighbourhoods turn as they did before
        }
        let x: Vec<Vec3> = rest.iter().zip(deformed(&rest)).map(|(X, x)| turn * X.lerp(x, 1e-3)).collect();
        let mut solver = ImplicitSolver::new(&body, &vec![1.0; rest.len()], 0);
        let cells = body.rest.clone();
        for _ in 0..8 {
            solver.set_cells(&body, 0.01);
            if let (Some(cells), Some(over_cells)) = (&cells.cells, &mut solver.cells) {
                over_cells.deform(cells, &mut body, |i| x[i], &[]);
            }
        }
        // weights of pairs are rounded: at rest their forces are not quite zero
        let unstrained: Vec<Vec3> = rest.iter().map(|X| turn * *X).collect();
        let exact = body.reference_forces(&x).into_iter().zip(body.reference_forces(&unstrained));
        let errors = body.forces.iter().zip(exact).map(|(f, (x, rest))| (f.as_dvec3() - (x - rest)).length());
        let error = errors.fold(0.0, Real::max) / (E * S * S);
        assert!(error < 4e-9, "{} particles, support {support}: {error:e}", rest.len());
    }
}

#[test]
fn points_off_the_lattice_have_no_cells() {
    let moved = |jitter: Real| -> Vec<Vec3> {
        let at = |(i, x): (usize, &Vec3)| *x + Vec3::splat((7.0 * i as Real).sin() * jitter * S);
        cube().iter().enumerate().map(at).collect()
    };
    let has_cells = |rest: &[Vec3]| body(rest, Method::of(Model::Peer2018)).rest.cells.is_some();
    assert!(has_cells(&moved(0.0)) && !has_cells(&moved(1e-3)));
}

#[test]
fn the_assembled_stretching_matrix_is_its_operator() {
    for rest in [cube(), sheet()] {
        let mut body = body(&rest, Method::of(Model::Kugelstadt2021));
        let n = rest.len();
        let (masses, held): (Vec<f32>, Vec<bool>) =
            ((0..n).map(|i| 1.0 + (i % 3) as f32).collect(), (0..n).map(|i| i % 11 == 0).collect());
        let dt = 0.01;
        let mut p = wave(n);
        for (p, held) in p.iter_mut().zip(&held) {
            *p *= !held as u8 as f32;
        }
        let matrix = Stretch {
            rest: &body.rest,
            masses: &masses,
            held: &held,
            stiffnesses: Stiffnesses::new(&body, dt),
        }
        .assemble();
        let (mut by_matrix, mut by_operator) = (p.clone(), p.clone());
        matrix.multiply(&p, &mut by_matrix);
        Stiffness::new(&mut body, &masses, &held, dt, System::Stretch).apply(&p, &mut by_operator);
        assert!(distance(&by_operator, &by_matrix) < 1e-5);
    }
}
