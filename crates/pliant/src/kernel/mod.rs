//! Smoothing kernels W(r) of compact support h.

/// Which kernel; zero at distance h, the support radius.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KernelKind {
    WendlandC2,
    CubicSpline,
}
