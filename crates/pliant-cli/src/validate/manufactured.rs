//! A motion put in by hand, and the load that makes it a solution.

use super::record::{Recorder, Resolution, odd_turn};
use pliant::elasticity::{ElasticBody, FactorShelf, ImplicitSolver, Method, Model, Solver, StepInput};
use pliant::kernel::{Kernel, KernelKind};
use pliant::material::{Law, Moduli};
use pliant::math::{Quat, Vec3};
use std::f64::consts::PI;

const YOUNG: f64 = 1e5;
const DENSITY: f64 = 1000.0;
const AMPLITUDE: f64 = 0.05;
const PERIOD: f64 = 0.2;
/// Layers beyond a face that mirror those within: pairs reach to the next layer, and so do those of its stress.
const IMAGES: i64 = 2;

/// C15c.
pub fn neo_hookean(r: &mut Recorder) {
    r.compare("period", "closed form", &[2.0 / (YOUNG / DENSITY).sqrt()]);
    for (zero_energy, turn) in [(0.0, Quat::IDENTITY), (0.1, Quat::IDENTITY), (0.1, odd_turn())] {
        let turned = if turn == Quat::IDENTITY { "" } else { ", turned" };
        let variant = format!("mls2004 neo_hookean, alpha {zero_energy}{turned}");
        let mut errors = Vec::new();
        for (across, resolution, quantity) in [
            (20, Resolution::L20, "max displacement error / A over one period, dx=1/20"),
            (40, Resolution::L40, "same dx=1/40"),
        ] {
            r.resolution = resolution;
            let (error, centre) = Square::new(Model::Mls2004, across, zero_energy, turn).one_period();
            r.compare(quantity, &variant, &[error]);
            let quantity = "displacement u_x at X=(0.5,0.5), t=T/4";
            r.compare(quantity, &format!("{variant}, {across} across"), &[centre]);
            errors.push(error);
        }
        let order = (errors[0] / errors[1]).log2();
        r.compare("observed order between 1/20 and 1/40 at least", &variant, &[order]);
    }
    implicit(r);
}

/// Newton's method between layers that move as the solution does.
fn implicit(r: &mut Recorder) {
    r.resolution = Resolution::L20;
    for steps in [100, 200] {
        let variant = format!("peer2018 newton neo_hookean, alpha 0.1, {steps} steps");
        let mut square = Square::new(Model::Peer2018, 20, 0.1, Quat::IDENTITY);
        let (error, centre) = square.one_period_implicit(steps);
        r.compare("max displacement error / A over one period, dx=1/20", &variant, &[error]);
        let quantity = "displacement u_x at X=(0.5,0.5), t=T/4";
        r.compare(quantity, &format!("{variant}, 20 across"), &[centre]);
    }
}

/// sin(w t + phi) along x and y, phi = 0 and pi; nothing moves along z.
fn swing(t: f64) -> Vec3 {
    let w = 2.0 * PI / PERIOD;
    Vec3::new((w * t).sin(), (w * t + PI).sin(), 0.0)
}

/// u_i = A sin(pi X_i) sin(w t + phi_i).
fn displacement(rest: Vec3, t: f64) -> Vec3 {
    rest.map(|x| (PI * x).sin()) * swing(t) * AMPLITUDE
}

/// b_i = (pi² u_i/rho) (lambda (1 - ln J)/F_ii² + mu (1 + 1/F_ii²) - E).
#[allow(non_snake_case)] // F, J as in the theory
fn load(rest: Vec3, t: f64, moduli: Moduli) -> Vec3 {
    let F = 1.0 + rest.map(|x| (PI * x).cos()) * swing(t) * (AMPLITUDE * PI);
    let J = F.element_product();
    let (mu, lambda) = (moduli.shear, moduli.lame_lambda());
    let stiffness = lambda * (1.0 - J.ln()) / (F * F) + mu * (1.0 + 1.0 / (F * F)) - YOUNG;
    displacement(rest, t) * stiffness * (PI * PI / DENSITY)
}

/// A particle within the square, or its image beyond a face.
struct Image {
    /// The particle of the square.
    of: usize,
    /// What its displacement is multiplied by.
    signs: Vec3,
}

/// A square in plane strain between mirrors.
struct Square {
    body: ElasticBody,
    images: Vec<Image>,
    /// Rest positions of all, turned.
    placed: Vec<Vec3>,
    /// Rest positions of the particles of the square, and which of the images are they themselves.
    rest: Vec<Vec3>,
    own: Vec<usize>,
    turn: Quat,
    moduli: Moduli,
    across: usize,
}

impl Square {
    fn new(model: Model, across: usize, zero_energy: f64, turn: Quat) -> Self {
        let (n, s) = (across as i64, 1.0 / across as f64);
        let (mut images, mut placed, mut own) = (Vec::new(), Vec::new(), vec![0; across * across]);
        let mut rest = vec![Vec3::ZERO; across * across];
        for z in -IMAGES..=IMAGES {
            for y in -IMAGES..n + IMAGES {
                for x in -IMAGES..n + IMAGES {
                    let ((column, sign_x), (row, sign_y)) = (mirrored(x, n), mirrored(y, n));
                    let of = row * across + column;
                    let at = Vec3::new(x as f64 + 0.5, y as f64 + 0.5, z as f64) * s;
                    if z == 0 && sign_x > 0.0 && sign_y > 0.0 {
                        (own[of], rest[of]) = (images.len(), at);
                    }
                    images.push(Image { of, signs: Vec3::new(sign_x, sign_y, 0.0) });
                    placed.push(turn * at);
                }
            }
        }
        let moduli = Moduli::from_young_poisson(YOUNG, 0.3);
        let kernel = Kernel::new(KernelKind::WendlandC2, 2.0 * s);
        let solver = if model.is_implicit() { Solver::Newton } else { Solver::Linear };
        let method = Method { law: Law::NeoHookean, zero_energy, solver, ..Method::of(model) };
        let body = ElasticBody::new(placed.clone(), s.powi(3), DENSITY, kernel, method, moduli);
        Square { body, images, placed, rest, own, turn, moduli, across }
    }

    /// Accelerations of the particles of the square with these displacements.
    fn accelerations(&mut self, u: &[Vec3], t: f64) -> Vec<Vec3> {
        let place = |(at, image): (&Vec3, &Image)| *at + self.turn * (u[image.of] * image.signs);
        let positions: Vec<Vec3> = self.placed.iter().zip(&self.images).map(place).collect();
        self.body.compute_forces(&positions, &[]);
        let mass = DENSITY * (self.across as f64).powi(-3);
        let back = self.turn.inverse();
        let elastic = self.own.iter().map(|&i| back * self.body.forces[i].as_dvec3() / mass);
        elastic.zip(&self.rest).map(|(a, rest)| a + load(*rest, t, self.moduli)).collect()
    }

    /// Largest error over one period, relative to the amplitude, and u_x at the centre after a quarter of it.
    fn one_period(&mut self) -> (f64, f64) {
        let steps = 10 * self.across;
        let dt = PERIOD / steps as f64;
        let mut u: Vec<Vec3> = self.rest.iter().map(|rest| displacement(*rest, 0.0)).collect();
        // A quarter of the period on, sin is cos; the first kick carries v to half a step.
        let start = |rest: &Vec3| displacement(*rest, 0.25 * PERIOD) * (2.0 * PI / PERIOD);
        let mut v: Vec<Vec3> = self.rest.iter().map(start).collect();
        let (mut worst, mut centre) = (0.0f64, 0.0);
        for step in 0..steps {
            let a = self.accelerations(&u, step as f64 * dt);
            let kick = if step == 0 { 0.5 * dt } else { dt };
            for i in 0..u.len() {
                v[i] += a[i] * kick;
                u[i] += v[i] * dt;
            }
            let exact = |rest: &Vec3| displacement(*rest, (step + 1) as f64 * dt);
            let errors = u.iter().zip(&self.rest).map(|(u, rest)| (*u - exact(rest)).length());
            worst = errors.fold(worst, f64::max);
            if 4 * (step + 1) == steps {
                centre = self.centre(&u);
            }
        }
        (worst / AMPLITUDE, centre)
    }

    /// u_x at the centre, the mean of the four particles around it.
    fn centre(&self, u: &[Vec3]) -> f64 {
        let n = self.across;
        let around = [(n - 1) * n / 2 - 1, (n - 1) * n / 2, (n + 1) * n / 2 - 1, (n + 1) * n / 2];
        around.iter().map(|&i| u[i].x).sum::<f64>() / 4.0
    }

    /// The same by implicit steps: the images are held, and carried along the solution.
    fn one_period_implicit(&mut self, steps: usize) -> (f64, f64) {
        let dt = PERIOD / steps as f64;
        let mass = DENSITY * (self.across as f64).powi(-3);
        let mut free = vec![false; self.placed.len()];
        self.own.iter().for_each(|&i| free[i] = true);
        let exact = |t: f64| -> Vec<Vec3> {
            let at = |(placed, image): (&Vec3, &Image)| {
                *placed + displacement(self.rest[image.of], t) * image.signs
            };
            self.placed.iter().zip(&self.images).map(at).collect()
        };
        let mut solver = ImplicitSolver::new(&self.body, &vec![mass; free.len()], 0);
        let (mut shelf, mut x) = (FactorShelf::default(), exact(0.0));
        let start = |image: &Image| displacement(self.rest[image.of], 0.25 * PERIOD) * image.signs;
        let mut v: Vec<Vec3> = self.images.iter().map(|image| start(image) * (2.0 * PI / PERIOD)).collect();
        let (mut worst, mut centre) = (0.0f64, 0.0);
        for step in 1..=steps {
            let t = step as f64 * dt;
            let target = exact(t);
            let pushed = |i: usize| match free[i] {
                true => v[i] + load(self.rest[self.images[i].of], t, self.moduli) * dt,
                false => (target[i] - x[i]) / dt,
            };
            let pushed: Vec<Vec3> = (0..x.len()).map(pushed).collect();
            solver.prepare(&self.body, dt, (0..free.len()).filter(|&i| !free[i]), &mut shelf);
            let input = StepInput { dt, positions: &x, velocities: &v, pushed: &pushed };
            solver.solve(&mut self.body, &input);
            for i in 0..x.len() {
                v[i] = if free[i] { v[i] + solver.change[i].as_dvec3() } else { pushed[i] };
                x[i] += v[i] * dt;
            }
            worst = self.own.iter().map(|&i| (x[i] - target[i]).length()).fold(worst, f64::max);
            if 4 * step == steps {
                let u: Vec<Vec3> = self.own.iter().map(|&i| x[i] - self.placed[i]).collect();
                centre = self.centre(&u);
            }
        }
        (worst / AMPLITUDE, centre)
    }
}

/// The cell that a cell beyond a face mirrors, and the sign of its normal displacement.
fn mirrored(cell: i64, n: i64) -> (usize, f64) {
    match cell {
        _ if cell < 0 => ((-1 - cell) as usize, -1.0),
        _ if cell >= n => ((2 * n - 1 - cell) as usize, -1.0),
        _ => (cell as usize, 1.0),
    }
}
