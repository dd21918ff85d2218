//! The elimination tree of a matrix, and how many entries the columns of its factor have.

use super::SymmetricMatrix;

/// No parent.
pub const NONE: u32 = u32::MAX;

/// The lower triangle in the order of elimination, by columns, rows rising.
pub struct Ordered {
    pub starts: Vec<usize>,
    pub rows: Vec<u32>,
    pub values: Vec<f32>,
}

/// Place of each item in an order.
pub fn inverse(order: &[u32]) -> Vec<u32> {
    let mut place = vec![0; order.len()];
    for (k, &i) in order.iter().enumerate() {
        place[i as usize] = k as u32;
    }
    place
}

/// Parent of each column in the elimination tree: the first row below the diagonal of its factor [Liu 1990].
pub fn elimination_tree(matrix: &SymmetricMatrix, order: &[u32]) -> Vec<u32> {
    let place = inverse(order);
    let n = matrix.n;
    // Columns left of the diagonal, row by row.
    let mut starts = vec![0usize; n + 1];
    let pair = |i: u32, j: usize| {
        let (a, b) = (place[i as usize], place[j]);
        (a.max(b) as usize, a.min(b))
    };
    for j in 0..n {
        matrix.column(j)[1..].iter().for_each(|&i| starts[pair(i, j).0 + 1] += 1);
    }
    for i in 0..n {
        starts[i + 1] += starts[i];
    }
    let mut next = starts.clone();
    let mut columns = vec![0u32; starts[n]];
    for j in 0..n {
        for &i in &matrix.column(j)[1..] {
            let (row, column) = pair(i, j);
            columns[next[row]] = column;
            next[row] += 1;
        }
    }
    let mut parents = vec![NONE; n];
    let mut ancestors = vec![NONE; n];
    for i in 0..n {
        for &j in &columns[starts[i]..starts[i + 1]] {
            let mut k = j as usize;
            while k != i {
                let next = ancestors[k];
                ancestors[k] = i as u32;
                if next == NONE {
                    parents[k] = i as u32;
                    break;
                }
                k = next as usize;
            }
        }
    }
    parents
}

/// Columns in postorder, children in rising order.
pub fn postorder(parents: &[u32]) -> Vec<u32> {
    let n = parents.len();
    let (mut first, mut sibling) = (vec![NONE; n], vec![NONE; n]);
    let mut roots = Vec::new();
    for j in (0..n).rev() {
        if parents[j] == NONE {
            roots.push(j as u32);
        } else {
            sibling[j] = first[parents[j] as usize];
            first[parents[j] as usize] = j as u32;
        }
    }
    let (mut order, mut stack) = (Vec::with_capacity(n), roots);
    while let Some(&j) = stack.last() {
        let child = first[j as usize];
        if child == NONE {
            order.push(j);
            stack.pop();
        } else {
            first[j as usize] = sibling[child as usize];
            stack.push(child);
        }
    }
    order
}

/// The matrix with its rows and columns in the given order.
pub fn reorder(matrix: &SymmetricMatrix, order: &[u32]) -> Ordered {
    let place = inverse(order);
    let n = matrix.n;
    let mut starts = vec![0usize; n + 1];
    for j in 0..n {
        matrix.column(j).iter().for_each(|&i| starts[place[i as usize].min(place[j]) as usize + 1] += 1);
    }
    for j in 0..n {
        starts[j + 1] += starts[j];
    }
    let mut next = starts.clone();
    let (mut rows, mut values) = (vec![0u32; starts[n]], vec![0f32; starts[n]]);
    for j in 0..n {
        for (i, value) in matrix.entries(j) {
            let (a, b) = (place[i], place[j]);
            let slot = &mut next[a.min(b) as usize];
            (rows[*slot], values[*slot]) = (a.max(b), value);
            *slot += 1;
        }
    }
    Ordered { starts, rows, values }
}

/// Entries of each column of the factor, diagonal included, without forming it [Gilbert, Ng, Peyton 1994].
/// The columns are in postorder.
pub fn column_counts(parents: &[u32], matrix: &Ordered) -> Vec<u32> {
    let n = parents.len();
    let mut first = vec![NONE; n];
    let mut counts = vec![0i64; n];
    for j in 0..n {
        counts[j] = i64::from(first[j] == NONE);
        let mut k = j;
        while first[k] == NONE {
            first[k] = j as u32;
            if parents[k] == NONE {
                break;
            }
            k = parents[k] as usize;
        }
    }
    let (mut last_first, mut last_leaf) = (vec![NONE; n], vec![NONE; n]);
    let mut ancestors: Vec<u32> = (0..n as u32).collect();
    for j in 0..n {
        if parents[j] != NONE {
            counts[parents[j] as usize] -= 1;
        }
        for &i in &matrix.rows[matrix.starts[j]..matrix.starts[j + 1]] {
            let i = i as usize;
            if i == j || (last_first[i] != NONE && first[j] <= last_first[i]) {
                continue;
            }
            // Column j is a leaf of the subtree of row i.
            last_first[i] = first[j];
            counts[j] += 1;
            let previous = std::mem::replace(&mut last_leaf[i], j as u32);
            if previous != NONE {
                let mut root = previous;
                while ancestors[root as usize] != root {
                    root = ancestors[root as usize];
                }
                let mut k = previous;
                while k != root {
                    k = std::mem::replace(&mut ancestors[k as usize], root);
                }
                counts[root as usize] -= 1;
            }
        }
        if parents[j] != NONE {
            ancestors[j] = parents[j];
        }
    }
    for j in 0..n {
        if parents[j] != NONE {
            counts[parents[j] as usize] += counts[j];
        }
    }
    counts.iter().map(|&c| c as u32).collect()
}
