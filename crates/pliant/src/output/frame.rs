//! What a frame file holds: points with named fields, and triangles between them if it is a mesh.

use std::collections::HashSet;

/// One stored picture of the state: points with named fields.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Frame {
    pub index: u32,
    pub time: f64,
    /// Particle spacing [m], where it is known: balls of this diameter touch.
    pub spacing: Option<f32>,
    /// Bodies as contiguous ranges of the points, in order.
    pub bodies: Vec<FrameBody>,
    pub positions: Vec<[f32; 3]>,
    /// Columns of the points. Formats know what `velocity` and `normal` mean.
    pub fields: Vec<Field>,
    /// Makes the points the vertices of a mesh.
    pub faces: Option<Faces>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrameBody {
    pub name: String,
    pub count: usize,
}

/// Triangles between the points of a frame.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Faces {
    /// Points of each triangle, counter-clockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
    /// Texture coordinates u, v of each point.
    pub texture: Option<Vec<[f32; 2]>>,
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

impl Values {
    /// Number of points the column has values for.
    pub fn len(&self) -> usize {
        match self {
            Values::Integers(values) => values.len(),
            Values::Scalars(values) => values.len(),
            Values::Vectors(values) => values.len(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Numbers per point.
    pub(super) fn components(&self) -> usize {
        match self {
            Values::Integers(_) | Values::Scalars(_) => 1,
            Values::Vectors(_) => 3,
        }
    }
}

impl Frame {
    /// The column with this name.
    pub fn field(&self, name: &str) -> Option<&Values> {
        self.fields.iter().find(|field| field.name == name).map(|field| &field.values)
    }

    /// What keeps this frame from being stored: columns of other lengths than the points, bodies that do not add
    /// up to the points (no bodies at all is fine), two fields of one name, triangles between points that are not
    /// there or of different bodies, more points than files can count, a time that is not a number.
    pub fn check(&self) -> Result<(), String> {
        let points = self.positions.len();
        if !self.time.is_finite() {
            return Err(format!("its time is {}", self.time));
        }
        if i32::try_from(points).is_err() {
            return Err(format!("{points} points are too many for one file"));
        }
        let mut names = HashSet::new();
        for Field { name, values } in &self.fields {
            if values.len() != points {
                return Err(format!("field \"{name}\" has {} values for {points} points", values.len()));
            }
            if !names.insert(name) {
                return Err(format!("two fields are called \"{name}\""));
            }
        }
        let in_bodies = self.bodies.iter().try_fold(0usize, |sum, body| sum.checked_add(body.count));
        if !self.bodies.is_empty() && in_bodies != Some(points) {
            return Err(format!("its bodies do not add up to its {points} points"));
        }
        self.faces.as_ref().map_or(Ok(()), |faces| self.check_faces(faces))
    }

    fn check_faces(&self, faces: &Faces) -> Result<(), String> {
        let points = self.positions.len();
        if i32::try_from(faces.triangles.len().saturating_mul(3)).is_err() {
            return Err(format!("{} triangles are too many for one file", faces.triangles.len()));
        }
        if let Some(texture) = &faces.texture
            && texture.len() != points
        {
            return Err(format!("it has {} texture coordinates for {points} points", texture.len()));
        }
        if faces.triangles.as_flattened().iter().any(|corner| *corner as usize >= points) {
            return Err(format!("a triangle joins points beyond its {points} points"));
        }
        let ends = self.body_ranges().map(|(_, range)| range.end as u32).collect::<Vec<_>>();
        let body = |corner: u32| ends.partition_point(|end| *end <= corner);
        if faces.triangles.iter().any(|[a, b, c]| body(*a) != body(*b) || body(*a) != body(*c)) {
            return Err("a triangle joins points of different bodies".into());
        }
        Ok(())
    }

    /// Each body with the range of its points; all points as one body without a name if there are none.
    pub(super) fn body_ranges(&self) -> impl Iterator<Item = (&str, std::ops::Range<usize>)> {
        let whole = self.bodies.is_empty().then_some(("", 0..self.positions.len()));
        let ranges = self.bodies.iter().scan(0, |start, body| {
            let range = *start..*start + body.count;
            *start = range.end;
            Some((body.name.as_str(), range))
        });
        whole.into_iter().chain(ranges)
    }

    /// Gives points that came without bodies one body, or those that an integer field `body` counts.
    pub(super) fn find_bodies(&mut self) {
        let mut bodies: Vec<FrameBody> = Vec::new();
        if let (Some(Values::Integers(numbers)), None) = (self.field("body"), &self.faces)
            && numbers.is_sorted()
            && numbers.first().is_none_or(|first| *first >= 0)
            && numbers.last().is_none_or(|last| (*last as usize) < numbers.len())
        {
            for number in numbers {
                while bodies.len() <= *number as usize {
                    bodies.push(FrameBody { name: format!("body{}", bodies.len()), count: 0 });
                }
                bodies[*number as usize].count += 1;
            }
        }
        if bodies.is_empty() {
            bodies.push(FrameBody { name: "points".into(), count: self.positions.len() });
        }
        self.bodies = bodies;
    }
}

/// A name in letters, digits and `_` only, that starts with no digit and is not yet `taken`.
pub(super) fn plain_name(name: &str, taken: &[String]) -> String {
    let plain = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' });
    let mut plain: String = plain.take(100).collect();
    if plain.is_empty() || plain.starts_with(|c: char| c.is_ascii_digit()) {
        plain.insert(0, '_');
    }
    while taken.contains(&plain) {
        plain.push('_');
    }
    plain
}
