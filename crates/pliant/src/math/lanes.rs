//! Eight particles at a time: vectors and matrices whose components are SIMD lanes.

use std::ops::{Add, AddAssign, Mul, Sub};

/// Eight single-precision numbers, one per particle.
pub type Lane = wide::f32x8;
/// Particles per lane.
pub const LANES: usize = 8;

/// The four numbers of eight records, as lanes.
#[inline(always)]
pub fn gather4(records: &[[f32; 4]], j: &[u32; LANES]) -> [Lane; 4] {
    let record = |lane: usize| wide::f32x4::from(records[j[lane] as usize]);
    let low = wide::f32x4::transpose([record(0), record(1), record(2), record(3)]);
    let high = wide::f32x4::transpose([record(4), record(5), record(6), record(7)]);
    let join = |k: usize| bytemuck::cast::<[wide::f32x4; 2], Lane>([low[k], high[k]]);
    [join(0), join(1), join(2), join(3)]
}

/// The eight numbers of eight records, as lanes.
#[inline(always)]
pub fn gather8(records: &[[f32; 8]], j: &[u32; LANES]) -> [Lane; 8] {
    let record = |lane: usize| Lane::from(records[j[lane] as usize]);
    let all = [record(0), record(1), record(2), record(3), record(4), record(5), record(6), record(7)];
    Lane::transpose(all)
}

#[derive(Clone, Copy, Debug)]
pub struct Vec3x8 {
    pub x: Lane,
    pub y: Lane,
    pub z: Lane,
}

impl Vec3x8 {
    pub const ZERO: Vec3x8 = Vec3x8 { x: Lane::ZERO, y: Lane::ZERO, z: Lane::ZERO };

    pub fn new(x: Lane, y: Lane, z: Lane) -> Self {
        Vec3x8 { x, y, z }
    }

    /// The vector of one lane.
    pub fn get(&self, lane: usize) -> glam::DVec3 {
        let at = |part: &Lane| part.as_array()[lane] as f64;
        glam::DVec3::new(at(&self.x), at(&self.y), at(&self.z))
    }

    /// Sets the vector of one lane.
    pub fn set(&mut self, lane: usize, v: glam::DVec3) {
        self.x.as_mut_array()[lane] = v.x as f32;
        self.y.as_mut_array()[lane] = v.y as f32;
        self.z.as_mut_array()[lane] = v.z as f32;
    }

    #[inline(always)]
    pub fn dot(self, o: Self) -> Lane {
        self.x.mul_add(o.x, self.y.mul_add(o.y, self.z * o.z))
    }

    #[inline(always)]
    pub fn cross(self, o: Self) -> Self {
        Vec3x8 {
            x: self.y * o.z - self.z * o.y,
            y: self.z * o.x - self.x * o.z,
            z: self.x * o.y - self.y * o.x,
        }
    }
}

impl Add for Vec3x8 {
    type Output = Self;
    #[inline(always)]
    fn add(self, o: Self) -> Self {
        Vec3x8 { x: self.x + o.x, y: self.y + o.y, z: self.z + o.z }
    }
}

impl Sub for Vec3x8 {
    type Output = Self;
    #[inline(always)]
    fn sub(self, o: Self) -> Self {
        Vec3x8 { x: self.x - o.x, y: self.y - o.y, z: self.z - o.z }
    }
}

impl Mul<Lane> for Vec3x8 {
    type Output = Self;
    #[inline(always)]
    fn mul(self, s: Lane) -> Self {
        Vec3x8 { x: self.x * s, y: self.y * s, z: self.z * s }
    }
}

/// 3x3 matrices by columns: `c[k]` is column k.
#[derive(Clone, Copy, Debug)]
pub struct Mat3x8 {
    pub c: [Vec3x8; 3],
}

impl Mat3x8 {
    /// self + s I.
    #[inline(always)]
    pub fn add_diagonal(self, s: Lane) -> Self {
        let [a, b, c] = self.c;
        Mat3x8 {
            c: [
                Vec3x8::new(a.x + s, a.y, a.z),
                Vec3x8::new(b.x, b.y + s, b.z),
                Vec3x8::new(c.x, c.y, c.z + s),
            ],
        }
    }
    pub const ZERO: Mat3x8 = Mat3x8 { c: [Vec3x8::ZERO; 3] };

    /// The same matrix in every lane.
    pub fn splat(m: glam::DMat3) -> Self {
        let column = |c: glam::DVec3| {
            Vec3x8::new(Lane::splat(c.x as f32), Lane::splat(c.y as f32), Lane::splat(c.z as f32))
        };
        Mat3x8 { c: [column(m.x_axis), column(m.y_axis), column(m.z_axis)] }
    }

    /// The matrix of one lane.
    pub fn get(&self, lane: usize) -> glam::DMat3 {
        glam::DMat3::from_cols(self.c[0].get(lane), self.c[1].get(lane), self.c[2].get(lane))
    }

    /// Sets the matrix of one lane.
    pub fn set(&mut self, lane: usize, m: glam::DMat3) {
        for (column, v) in self.c.iter_mut().zip([m.x_axis, m.y_axis, m.z_axis]) {
            column.x.as_mut_array()[lane] = v.x as f32;
            column.y.as_mut_array()[lane] = v.y as f32;
            column.z.as_mut_array()[lane] = v.z as f32;
        }
    }

    /// s I.
    #[inline(always)]
    pub fn diagonal(s: Lane) -> Self {
        let o = Lane::ZERO;
        Mat3x8 { c: [Vec3x8::new(s, o, o), Vec3x8::new(o, s, o), Vec3x8::new(o, o, s)] }
    }

    /// self += a ⊗ b.
    #[inline(always)]
    pub fn add_outer(&mut self, a: Vec3x8, b: Vec3x8) {
        for (c, b_k) in self.c.iter_mut().zip([b.x, b.y, b.z]) {
            c.x = a.x.mul_add(b_k, c.x);
            c.y = a.y.mul_add(b_k, c.y);
            c.z = a.z.mul_add(b_k, c.z);
        }
    }

    #[inline(always)]
    pub fn mul_vec(self, v: Vec3x8) -> Vec3x8 {
        let [a, b, c] = self.c;
        Vec3x8 {
            x: a.x.mul_add(v.x, b.x.mul_add(v.y, c.x * v.z)),
            y: a.y.mul_add(v.x, b.y.mul_add(v.y, c.y * v.z)),
            z: a.z.mul_add(v.x, b.z.mul_add(v.y, c.z * v.z)),
        }
    }

    #[inline(always)]
    pub fn mul_mat(self, o: Self) -> Self {
        Mat3x8 { c: [self.mul_vec(o.c[0]), self.mul_vec(o.c[1]), self.mul_vec(o.c[2])] }
    }

    #[inline(always)]
    pub fn transpose(self) -> Self {
        let [a, b, c] = self.c;
        Mat3x8 { c: [Vec3x8::new(a.x, b.x, c.x), Vec3x8::new(a.y, b.y, c.y), Vec3x8::new(a.z, b.z, c.z)] }
    }

    /// selfᵀ o.
    #[inline(always)]
    pub fn transpose_mul(self, o: Self) -> Self {
        let [a, b, c] = self.c;
        Mat3x8 { c: o.c.map(|k| Vec3x8 { x: a.dot(k), y: b.dot(k), z: c.dot(k) }) }
    }

    #[inline(always)]
    pub fn scale(self, s: Lane) -> Self {
        Mat3x8 { c: self.c.map(|k| k * s) }
    }

    /// Σ of the products of their entries, A : B.
    #[inline(always)]
    pub fn dot(self, o: Self) -> Lane {
        self.c[0].dot(o.c[0]) + self.c[1].dot(o.c[1]) + self.c[2].dot(o.c[2])
    }

    #[inline(always)]
    pub fn trace(self) -> Lane {
        self.c[0].x + self.c[1].y + self.c[2].z
    }

    /// Symmetric part (A + Aᵀ)/2.
    #[inline(always)]
    pub fn symmetric_part(self) -> Sym3x8 {
        let half = Lane::splat(0.5);
        let [a, b, c] = self.c;
        Sym3x8 {
            xx: a.x,
            yy: b.y,
            zz: c.z,
            xy: (a.y + b.x) * half,
            xz: (a.z + c.x) * half,
            yz: (b.z + c.y) * half,
        }
    }

    /// AᵀA.
    #[inline(always)]
    pub fn gram(self) -> Sym3x8 {
        let [a, b, c] = self.c;
        Sym3x8 { xx: a.dot(a), yy: b.dot(b), zz: c.dot(c), xy: a.dot(b), xz: a.dot(c), yz: b.dot(c) }
    }

    /// Squared Frobenius norm.
    #[inline(always)]
    pub fn norm_squared(self) -> Lane {
        self.c[0].dot(self.c[0]) + self.c[1].dot(self.c[1]) + self.c[2].dot(self.c[2])
    }
}

impl Add for Mat3x8 {
    type Output = Self;
    #[inline(always)]
    fn add(self, o: Self) -> Self {
        Mat3x8 { c: [self.c[0] + o.c[0], self.c[1] + o.c[1], self.c[2] + o.c[2]] }
    }
}

impl Sub for Mat3x8 {
    type Output = Self;
    #[inline(always)]
    fn sub(self, o: Self) -> Self {
        Mat3x8 { c: [self.c[0] - o.c[0], self.c[1] - o.c[1], self.c[2] - o.c[2]] }
    }
}

/// Symmetric 3x3 matrices.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Sym3x8 {
    pub xx: Lane,
    pub yy: Lane,
    pub zz: Lane,
    pub xy: Lane,
    pub xz: Lane,
    pub yz: Lane,
}

impl Sym3x8 {
    pub const ZERO: Sym3x8 = Sym3x8 {
        xx: Lane::ZERO,
        yy: Lane::ZERO,
        zz: Lane::ZERO,
        xy: Lane::ZERO,
        xz: Lane::ZERO,
        yz: Lane::ZERO,
    };

    #[inline(always)]
    pub fn full(self) -> Mat3x8 {
        Mat3x8 {
            c: [
                Vec3x8::new(self.xx, self.xy, self.xz),
                Vec3x8::new(self.xy, self.yy, self.yz),
                Vec3x8::new(self.xz, self.yz, self.zz),
            ],
        }
    }

    #[inline(always)]
    pub fn trace(self) -> Lane {
        self.xx + self.yy + self.zz
    }

    #[inline(always)]
    pub fn scale(self, s: Lane) -> Self {
        Sym3x8 {
            xx: self.xx * s,
            yy: self.yy * s,
            zz: self.zz * s,
            xy: self.xy * s,
            xz: self.xz * s,
            yz: self.yz * s,
        }
    }

    /// self + s I.
    #[inline(always)]
    pub fn add_diagonal(self, s: Lane) -> Self {
        Sym3x8 { xx: self.xx + s, yy: self.yy + s, zz: self.zz + s, ..self }
    }

    /// Squared Frobenius norm A : A.
    #[inline(always)]
    pub fn norm_squared(self) -> Lane {
        let off = self.xy * self.xy + self.xz * self.xz + self.yz * self.yz;
        self.xx * self.xx + self.yy * self.yy + self.zz * self.zz + off + off
    }

    /// A⁻¹ v by cofactors; A must not be singular.
    #[inline(always)]
    pub fn solve(self, v: Vec3x8) -> Vec3x8 {
        let Sym3x8 { xx, yy, zz, xy, xz, yz } = self;
        let (cxx, cxy, cxz) = (yy * zz - yz * yz, xz * yz - xy * zz, xy * yz - xz * yy);
        let (cyy, cyz, czz) = (xx * zz - xz * xz, xy * xz - xx * yz, xx * yy - xy * xy);
        let inverse = Lane::ONE / (xx * cxx + xy * cxy + xz * cxz);
        Vec3x8 {
            x: (cxx * v.x + cxy * v.y + cxz * v.z) * inverse,
            y: (cxy * v.x + cyy * v.y + cyz * v.z) * inverse,
            z: (cxz * v.x + cyz * v.y + czz * v.z) * inverse,
        }
    }

    /// Sets the matrix of one lane.
    pub fn set(&mut self, lane: usize, m: glam::DMat3) {
        let put = |slot: &mut Lane, v: f64| slot.as_mut_array()[lane] = v as f32;
        put(&mut self.xx, m.x_axis.x);
        put(&mut self.yy, m.y_axis.y);
        put(&mut self.zz, m.z_axis.z);
        put(&mut self.xy, 0.5 * (m.x_axis.y + m.y_axis.x));
        put(&mut self.xz, 0.5 * (m.x_axis.z + m.z_axis.x));
        put(&mut self.yz, 0.5 * (m.y_axis.z + m.z_axis.y));
    }
}

impl AddAssign for Sym3x8 {
    #[inline(always)]
    fn add_assign(&mut self, o: Self) {
        *self = Sym3x8 {
            xx: self.xx + o.xx,
            yy: self.yy + o.yy,
            zz: self.zz + o.zz,
            xy: self.xy + o.xy,
            xz: self.xz + o.xz,
            yz: self.yz + o.yz,
        };
    }
}

/// Unit quaternions w + x i + y j + z k.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Quatx8 {
    pub x: Lane,
    pub y: Lane,
    pub z: Lane,
    pub w: Lane,
}

impl Quatx8 {
    pub fn splat(q: glam::DQuat) -> Self {
        Quatx8 {
            x: Lane::splat(q.x as f32),
            y: Lane::splat(q.y as f32),
            z: Lane::splat(q.z as f32),
            w: Lane::splat(q.w as f32),
        }
    }

    /// Hamilton product self * o (o is applied first).
    #[inline(always)]
    pub fn mul_quat(self, o: Self) -> Self {
        Quatx8 {
            w: self.w * o.w - self.x * o.x - self.y * o.y - self.z * o.z,
            x: self.w * o.x + self.x * o.w + self.y * o.z - self.z * o.y,
            y: self.w * o.y - self.x * o.z + self.y * o.w + self.z * o.x,
            z: self.w * o.z + self.x * o.y - self.y * o.x + self.z * o.w,
        }
    }

    #[inline(always)]
    pub fn conjugate(self) -> Self {
        Quatx8 { x: -self.x, y: -self.y, z: -self.z, w: self.w }
    }

    #[inline(always)]
    pub fn normalize(self) -> Self {
        let n = (self.x * self.x + self.y * self.y + self.z * self.z + self.w * self.w).sqrt();
        let s = Lane::ONE / n;
        Quatx8 { x: self.x * s, y: self.y * s, z: self.z * s, w: self.w * s }
    }

    /// Rotation matrix R.
    #[inline(always)]
    pub fn matrix(self) -> Mat3x8 {
        self.bend().add_diagonal(Lane::ONE)
    }

    /// R - I, as exact as it is small.
    #[inline(always)]
    pub fn bend(self) -> Mat3x8 {
        let (x2, y2, z2) = (self.x + self.x, self.y + self.y, self.z + self.z);
        let (xx, yy, zz) = (self.x * x2, self.y * y2, self.z * z2);
        let (xy, xz, yz) = (self.x * y2, self.x * z2, self.y * z2);
        let (wx, wy, wz) = (self.w * x2, self.w * y2, self.w * z2);
        Mat3x8 {
            c: [
                Vec3x8::new(-yy - zz, xy + wz, xz - wy),
                Vec3x8::new(xy - wz, -xx - zz, yz + wx),
                Vec3x8::new(xz + wy, yz - wx, -xx - yy),
            ],
        }
    }

    /// The quaternion of one lane.
    pub fn get(&self, lane: usize) -> glam::DQuat {
        let f = |v: &Lane| v.as_array()[lane] as f64;
        glam::DQuat::from_xyzw(f(&self.x), f(&self.y), f(&self.z), f(&self.w))
    }
}
