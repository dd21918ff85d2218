//! What a factor looks like, found from the pattern alone: elimination tree, fronts, panels.
//!
//! Columns that are eliminated together form a front: its pivot columns and the rows below them, which are columns of
//! fronts nearer to the root. Fronts are numbered in postorder, children before parents. In a front, places are
//! counted over the pivots, padded to eights, and then the rows. The pivots are stored in panels of eight columns (the
//! last may have fewer), in strips of eight rows, from the diagonal down to the last row that the panel reaches.

use super::SymmetricMatrix;
use super::elimination::{NONE, Ordered, column_counts, elimination_tree, inverse, postorder, reorder};
use crate::math::LANES;
use std::ops::Range;

/// Chains of columns are merged into fronts of at most this many.
const MAX_MERGED: usize = 384;
/// Share of zeros a merger of columns may store.
const COLUMN_ZEROS: f64 = 0.05;
/// Share of bytes a merger of fronts may add.
const FRONT_ZEROS: f64 = 0.02;

#[derive(Clone, Debug, PartialEq)]
pub struct Front {
    /// First pivot column.
    pub first: u32,
    /// Number of pivot columns.
    pub pivots: u32,
    /// First entry of `Structure::rows`.
    pub rows_start: usize,
    /// Number of rows below the pivots.
    pub rows: u32,
    pub parent: u32,
    /// Panels in `Structure::panels`.
    pub panels: Range<usize>,
    /// First strip in the working memory of a solution.
    pub local: usize,
}

/// Up to eight columns of a front.
#[derive(Clone, Debug, PartialEq)]
pub struct Panel {
    /// First strip, at the diagonal; also the number of the panel in its front.
    pub first: usize,
    pub width: usize,
    /// One past the last strip of the front that is stored.
    pub reach: usize,
    /// First lane in the values of the front.
    pub offset: usize,
}

impl Panel {
    /// Where a strip begins; it has a lane for each column.
    #[inline(always)]
    pub fn strip(&self, strip: usize) -> usize {
        self.offset + (strip - self.first) * self.width
    }

    pub fn end(&self) -> usize {
        self.strip(self.reach)
    }
}

impl Front {
    /// Strips of the pivots.
    pub fn pivot_strips(&self) -> usize {
        (self.pivots as usize).div_ceil(LANES)
    }

    /// Strips of the rows below.
    pub fn row_strips(&self) -> usize {
        (self.rows as usize).div_ceil(LANES)
    }

    pub fn strips(&self) -> usize {
        self.pivot_strips() + self.row_strips()
    }

    /// Place of the first row below the pivots.
    pub fn rows_place(&self) -> usize {
        self.pivot_strips() * LANES
    }

    /// Lanes of the update matrix: strip I of its lower triangle has 8 (I + 1) columns.
    pub fn update_lanes(&self) -> usize {
        update_offset(self.row_strips())
    }
}

/// First lane of strip I of an update matrix.
#[inline(always)]
pub fn update_offset(strip: usize) -> usize {
    LANES * strip * (strip + 1) / 2
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Structure {
    /// Particle of each column.
    pub order: Vec<u32>,
    pub fronts: Vec<Front>,
    pub panels: Vec<Panel>,
    /// Columns of the rows of each front; their places in the parent after `rows_to_places`.
    pub rows: Vec<u32>,
    /// Children of front f: `children[child_starts[f]..child_starts[f + 1]]`, rising.
    pub child_starts: Vec<u32>,
    pub children: Vec<u32>,
}

impl Structure {
    /// Structure of the factor for this order, and the order made a postorder of the elimination tree.
    pub fn new(matrix: &SymmetricMatrix, order: &[u32]) -> (Structure, Ordered) {
        let parents = elimination_tree(matrix, order);
        let post = postorder(&parents);
        let order: Vec<u32> = post.iter().map(|&j| order[j as usize]).collect();
        let place = inverse(&post);
        let mut renamed = vec![NONE; parents.len()];
        for (j, &parent) in parents.iter().enumerate() {
            renamed[place[j] as usize] = if parent == NONE { NONE } else { place[parent as usize] };
        }
        let ordered = reorder(matrix, &order);
        let nodes = merge_columns(&renamed, &column_counts(&renamed, &ordered));
        let structure = merge_fronts(order, &renamed, &nodes, &ordered);
        (structure, ordered)
    }

    pub fn children_of(&self, f: usize) -> &[u32] {
        &self.children[self.child_starts[f] as usize..self.child_starts[f + 1] as usize]
    }

    pub fn panels_of(&self, f: usize) -> &[Panel] {
        &self.panels[self.fronts[f].panels.clone()]
    }

    pub fn rows_of(&self, f: usize) -> &[u32] {
        let front = &self.fronts[f];
        &self.rows[front.rows_start..front.rows_start + front.rows as usize]
    }

    /// Lanes of the panels of front f.
    pub fn value_lanes(&self, f: usize) -> usize {
        self.panels_of(f).last().map_or(0, Panel::end)
    }

    /// Strips of working memory of a solution.
    pub fn local_strips(&self) -> usize {
        self.fronts.last().map_or(0, |front| front.local + front.strips())
    }

    /// Multiplications of eight numbers at a time to factor front f.
    pub fn work(&self, f: usize) -> f64 {
        let front = &self.fronts[f];
        let column = |panel: &Panel| {
            let rows = ((panel.reach - panel.first) * LANES) as f64;
            panel.width as f64 * rows * rows
        };
        self.panels_of(f).iter().map(column).sum::<f64>() / LANES as f64 + 4.0 * f64::from(front.rows)
    }

    /// Turns the columns of the rows of each front into places in its parent; returns the columns.
    pub fn rows_to_places(&mut self) -> Vec<u32> {
        let columns = self.rows.clone();
        for f in 0..self.fronts.len() {
            let front = &self.fronts[f];
            if front.parent == NONE {
                continue;
            }
            let parent = &self.fronts[front.parent as usize];
            let of_parent = &columns[parent.rows_start..parent.rows_start + parent.rows as usize];
            let mut next = 0;
            for r in front.rows_start..front.rows_start + front.rows as usize {
                let column = columns[r];
                self.rows[r] = if column < parent.first + parent.pivots {
                    column - parent.first
                } else {
                    next += of_parent[next..]
                        .iter()
                        .position(|&c| c == column)
                        .expect("rows of a child are its parent's");
                    (parent.rows_place() + next) as u32
                };
            }
        }
        columns
    }

    /// Place of each particle in the working memory of a solution, counted in single numbers.
    pub fn particle_places(&self) -> Vec<u32> {
        let mut places = vec![0; self.order.len()];
        for front in &self.fronts {
            for k in 0..front.pivots as usize {
                places[self.order[front.first as usize + k] as usize] = (front.local * LANES + k) as u32;
            }
        }
        places
    }

    /// Bytes of panels, places and tables of a factor.
    pub fn bytes(&self) -> usize {
        let lanes: usize = (0..self.fronts.len()).map(|f| self.value_lanes(f)).sum();
        lanes * 4 * LANES
            + (self.rows.len() + 2 * self.order.len() + self.children.len() + self.child_starts.len()) * 4
            + self.fronts.len() * size_of::<Front>()
            + self.panels.len() * size_of::<Panel>()
    }

    /// Most bytes of update matrices alive at a time, fronts taken one after the other.
    pub fn peak_update_bytes(&self) -> usize {
        let (mut alive, mut peak) = (0, 0);
        for f in 0..self.fronts.len() {
            alive += self.fronts[f].update_lanes();
            peak = peak.max(alive);
            alive -=
                self.children_of(f).iter().map(|&c| self.fronts[c as usize].update_lanes()).sum::<usize>();
        }
        peak * 4 * LANES
    }
}

/// Which fronts are done in parallel: those before one after the other, then the branches, then those after.
/// Depends on the structure alone.
#[derive(Debug)]
pub struct Plan {
    pub before: Range<usize>,
    pub branches: Vec<Plan>,
    pub after: Range<usize>,
}

impl Plan {
    /// Branches as long as two subtrees have more than a share of the work.
    pub fn new(s: &Structure) -> Plan {
        let mut subtrees: Vec<(usize, f64)> = (0..s.fronts.len()).map(|f| (f, s.work(f))).collect();
        for f in 0..subtrees.len() {
            if let Some(parent) = subtrees.get(s.fronts[f].parent as usize).copied() {
                let (first, work) = subtrees[f];
                subtrees[s.fronts[f].parent as usize] = (parent.0.min(first), parent.1 + work);
            }
        }
        let roots = subtrees.iter().zip(&s.fronts).filter(|(_, front)| front.parent == NONE);
        let heavy = roots.map(|(tree, _)| tree.1).sum::<f64>() / 24.0;
        Plan::of(s, &subtrees, 0..s.fronts.len(), heavy)
    }

    fn of(s: &Structure, subtrees: &[(usize, f64)], range: Range<usize>, heavy: f64) -> Plan {
        let is_root = |&f: &usize| !range.contains(&(s.fronts[f].parent as usize));
        let mut roots: Vec<usize> = range.clone().filter(is_root).collect();
        let mut top = range.end;
        loop {
            roots.retain(|&f| subtrees[f].1 > heavy);
            match roots[..] {
                [] => {
                    return Plan { before: range.clone(), branches: Vec::new(), after: range.end..range.end };
                }
                [f] => {
                    top = f;
                    roots = s.children_of(f).iter().map(|&c| c as usize).collect();
                }
                _ => break,
            }
        }
        let start = if top == range.end { range.start } else { subtrees[top].0 };
        let ends = roots.iter().enumerate().map(|(k, &f)| if k + 1 == roots.len() { top } else { f + 1 });
        let mut from = start;
        let branches =
            ends.map(|end| Plan::of(s, subtrees, std::mem::replace(&mut from, end)..end, heavy)).collect();
        Plan { before: range.start..start, branches, after: top..range.end }
    }

    /// All fronts of the plan.
    pub fn range(&self) -> Range<usize> {
        self.before.start..self.after.end
    }
}

/// Chains of columns of nearly equal structure, as ranges.
fn merge_columns(parents: &[u32], counts: &[u32]) -> Vec<Range<u32>> {
    let mut nodes: Vec<Range<u32>> = Vec::new();
    let mut entries = 0u64;
    for j in 0..parents.len() as u32 {
        let count = u64::from(counts[j as usize]);
        if let Some(node) = nodes.last_mut()
            && parents[j as usize - 1] == j
        {
            let columns = u64::from(j - node.start);
            let stored = (columns + 1) * count + columns * (columns + 1) / 2;
            let zeros = stored - (entries + count).min(stored);
            // Multiples of eight keep the strips of a chain of fronts aligned.
            let allowed =
                if columns.is_multiple_of(LANES as u64) { COLUMN_ZEROS } else { 2.0 * COLUMN_ZEROS };
            if (zeros as f64) < allowed * stored as f64 || stored < 400 {
                node.end = j + 1;
                entries += count;
                continue;
            }
        }
        nodes.push(j..j + 1);
        entries = count;
    }
    nodes
}

/// Rows below each node: those of the matrix and of its children.
fn rows_below(parents: &[u32], nodes: &[Range<u32>], matrix: &Ordered) -> (Vec<Vec<u32>>, Vec<u32>) {
    let mut node_of = vec![0u32; parents.len()];
    for (k, node) in nodes.iter().enumerate() {
        node_of[node.start as usize..node.end as usize].fill(k as u32);
    }
    let mut children = vec![Vec::new(); nodes.len()];
    let mut node_parents = vec![NONE; nodes.len()];
    let mut marks = vec![NONE; parents.len()];
    let mut lists: Vec<Vec<u32>> = Vec::with_capacity(nodes.len());
    for (k, node) in nodes.iter().enumerate() {
        let mut list = Vec::new();
        let mut add = |i: u32| {
            if i >= node.end && marks[i as usize] != k as u32 {
                marks[i as usize] = k as u32;
                list.push(i);
            }
        };
        let entries = matrix.starts[node.start as usize]..matrix.starts[node.end as usize];
        matrix.rows[entries].iter().for_each(|&i| add(i));
        for &child in &children[k] {
            let child: &Vec<u32> = &lists[child as usize];
            child.iter().for_each(|&i| add(i));
        }
        list.sort_unstable();
        if let Some(&i) = list.first() {
            node_parents[k] = node_of[i as usize];
            children[node_of[i as usize] as usize].push(k as u32);
        }
        lists.push(list);
    }
    (lists, node_parents)
}

/// Panels of the columns from `first` on, for the rows below them and the last row each column reaches.
fn panels_of(columns: Range<u32>, rows: &[u32], last: &[u32]) -> Vec<Panel> {
    let pivots = columns.len();
    let pivot_strips = pivots.div_ceil(LANES);
    let (mut panels, mut offset, mut reach) = (Vec::new(), 0, 0);
    for start in (0..pivots).step_by(LANES) {
        let width = LANES.min(pivots - start);
        let in_panel = columns.start as usize + start..columns.start as usize + start + width;
        let last_row = last[in_panel].iter().copied().max().unwrap_or(0);
        let last_strip = if last_row < columns.end {
            (last_row - columns.start) as usize / LANES
        } else {
            pivot_strips + (rows.partition_point(|&i| i <= last_row) - 1) / LANES
        };
        reach = reach.max(last_strip + 1);
        let panel = Panel { first: start / LANES, width, reach, offset };
        offset = panel.end();
        panels.push(panel);
    }
    panels
}

/// Merges chains of nodes into fronts as long as that stores little more.
fn merge_fronts(order: Vec<u32>, parents: &[u32], nodes: &[Range<u32>], matrix: &Ordered) -> Structure {
    let (mut lists, _) = rows_below(parents, nodes, matrix);
    // Last row that each column reaches.
    let n = parents.len();
    let mut last: Vec<u32> = (0..n as u32).collect();
    for j in 0..n {
        let entries = &matrix.rows[matrix.starts[j]..matrix.starts[j + 1]];
        last[j] = entries.iter().copied().fold(last[j], u32::max);
        if parents[j] != NONE {
            let parent = parents[j] as usize;
            last[parent] = last[parent].max(last[j]);
        }
    }
    let lanes = |panels: &[Panel]| panels.last().map_or(0, Panel::end);
    let mut fronts: Vec<(Range<u32>, Vec<u32>, Vec<Panel>)> = Vec::new();
    for (k, node) in nodes.iter().enumerate() {
        let (mut columns, list) = (node.clone(), std::mem::take(&mut lists[k]));
        let mut panels = panels_of(columns.clone(), &list, &last);
        while let Some((child, rows, child_panels)) = fronts.last() {
            let in_chain = rows.first().is_some_and(|&i| columns.contains(&i));
            let merged = child.start..columns.end;
            if !in_chain || merged.len() > MAX_MERGED {
                break;
            }
            let merged_panels = panels_of(merged.clone(), &list, &last);
            let apart = lanes(child_panels) + lanes(&panels);
            if lanes(&merged_panels) as f64 > apart as f64 * (1.0 + FRONT_ZEROS) && merged.len() > LANES {
                break;
            }
            (columns, panels) = (merged, merged_panels);
            fronts.pop();
        }
        fronts.push((columns, list, panels));
    }
    assemble(order, fronts)
}

fn assemble(order: Vec<u32>, fronts: Vec<(Range<u32>, Vec<u32>, Vec<Panel>)>) -> Structure {
    let mut front_of = vec![0u32; order.len()];
    for (f, (columns, ..)) in fronts.iter().enumerate() {
        front_of[columns.start as usize..columns.end as usize].fill(f as u32);
    }
    let mut s = Structure { order, child_starts: vec![0; fronts.len() + 1], ..Structure::default() };
    let mut local = 0;
    for (columns, list, panels) in fronts {
        let parent = list.first().map_or(NONE, |&i| front_of[i as usize]);
        let panel_range = s.panels.len()..s.panels.len() + panels.len();
        let front = Front {
            first: columns.start,
            pivots: columns.len() as u32,
            rows_start: s.rows.len(),
            rows: list.len() as u32,
            parent,
            panels: panel_range,
            local,
        };
        local += front.strips();
        s.fronts.push(front);
        s.panels.extend(panels);
        s.rows.extend(list);
    }
    for front in s.fronts.iter().filter(|front| front.parent != NONE) {
        s.child_starts[front.parent as usize + 1] += 1;
    }
    for f in 0..s.fronts.len() {
        s.child_starts[f + 1] += s.child_starts[f];
    }
    let mut next = s.child_starts.clone();
    s.children = vec![0; s.child_starts[s.fronts.len()] as usize];
    for (f, front) in s.fronts.iter().enumerate().filter(|(_, front)| front.parent != NONE) {
        let slot = &mut next[front.parent as usize];
        s.children[*slot as usize] = f as u32;
        *slot += 1;
    }
    s
}
