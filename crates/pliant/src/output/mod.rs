//! Files a run leaves behind: frames, tables, checkpoints.

/// One stored picture of the state: points with named fields.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    pub index: u32,
    pub time: f64,
    /// Bodies as contiguous ranges of the points, in order.
    pub bodies: Vec<FrameBody>,
    pub positions: Vec<[f32; 3]>,
    pub fields: Vec<Field>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrameBody {
    pub name: String,
    pub count: usize,
}

/// A named column of a frame.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    pub name: String,
    pub values: Values,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    Integers(Vec<i32>),
    Scalars(Vec<f32>),
    Vectors(Vec<[f32; 3]>),
}
