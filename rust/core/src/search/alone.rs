//! The same search for one tuple at a time, where lines are among the attributes or there is little to look at.
//!
//! Distances are exact from the beginning: those on a line may need more bits than a lane has.

use super::line::Line;
use super::scale::Distance;
use super::{Found, Index};
use crate::control::Control;
use crate::error::Result;

/// An index of tuples that have numbers too.
pub(crate) struct Alone<'a> {
    /// The attributes that have matrices.
    pub index: Index<'a>,
    lines: &'a [Line],
    /// Categories of the tuples on the lines, tuple after tuple.
    numbers: Vec<u32>,
    /// The first and the last category on each line that a node of the tree holds, node after node.
    ranges: Vec<(u32, u32)>,
}

/// A tuple: its categories as the index numbers them, and those on the lines.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tuple<'a> {
    pub categories: &'a [u32],
    pub numbers: &'a [u32],
}

/// A node to look at: the distance to the nearest that it may hold, and whether all of it is equally distant.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Near {
    least: Distance,
    node: u32,
    even: bool,
}

impl<'a> Alone<'a> {
    /// Adds to an index the lines, and the codes of its tuples there, in the order of the tree.
    pub fn new(index: Index<'a>, lines: &'a [Line], codes: &[Vec<u32>]) -> Self {
        let numbers = numbers(codes);
        let (nodes, m) = (&index.tree.nodes, lines.len());
        let mut ranges = vec![(u32::MAX, 0); nodes.len() * m];
        // Children come after their parents.
        for (i, node) in nodes.iter().enumerate().rev() {
            for a in 0..m {
                let join = |x: (u32, u32), y: (u32, u32)| (x.0.min(y.0), x.1.max(y.1));
                ranges[i * m + a] = if node.children > 0 {
                    let child = node.children as usize;
                    join(ranges[child * m + a], ranges[(child + 1) * m + a])
                } else {
                    let codes = &codes[a][node.start as usize..node.end as usize];
                    codes.iter().fold((u32::MAX, 0), |range, &code| join(range, (code, code)))
                };
            }
        }
        Self { index, lines, numbers, ranges }
    }

    /// One of the tuples.
    #[inline]
    pub fn tuple(&self, tuple: u32) -> Tuple<'_> {
        let m = self.lines.len();
        Tuple { categories: self.index.tuple(tuple), numbers: &self.numbers[tuple as usize * m..][..m] }
    }

    /// The distance of two tuples.
    #[inline]
    pub fn distance(&self, from: Tuple<'_>, to: Tuple<'_>) -> Distance {
        let lines = self.lines.iter().zip(from.numbers.iter().zip(to.numbers));
        let along: Distance = lines.map(|(line, (&from, &to))| line.distance(from, to)).sum();
        along + self.index.scale.exact(from.categories, to.categories)
    }

    /// Searches a node of the tree and all below it, nearer parts first.
    pub fn search<F: Found>(
        &self,
        node: u32,
        from: Tuple<'_>,
        found: &mut F,
        stack: &mut Vec<Near>,
        control: &Control,
    ) -> Result<()> {
        let Index { tree, starts, .. } = &self.index;
        stack.clear();
        stack.push(self.near(node, from));
        while let Some(Near { least, node, even }) = stack.pop() {
            if least > found.limit() {
                continue;
            }
            let node = tree.nodes[node as usize];
            if even || node.children == 0 {
                control.check()?;
                // Of equally distant tuples one tells the distance of all.
                let tuples = if even { node.end - node.start } else { 1 };
                for first in (node.start..node.end).step_by(tuples as usize) {
                    let distance = self.distance(from, self.tuple(first));
                    if distance <= found.limit() {
                        found.take(distance, (starts[first as usize], starts[(first + tuples) as usize]));
                    }
                }
                continue;
            }
            let [a, b] = [node.children, node.children + 1].map(|child| self.near(child, from));
            stack.extend(if a.least <= b.least { [b, a] } else { [a, b] });
        }
        Ok(())
    }

    #[inline]
    fn near(&self, node: u32, from: Tuple<'_>) -> Near {
        let (mut least, mut even) = self.index.scale.nearest(from.categories, self.index.tree.groups(node));
        let ranges = &self.ranges[node as usize * self.lines.len()..];
        for ((line, &from), &range) in self.lines.iter().zip(from.numbers).zip(ranges) {
            let (nearest, alike) = line.nearest(from, range);
            least += nearest;
            even &= alike;
        }
        Near { least, node, even }
    }
}

/// The codes of tuples, given by attribute, tuple after tuple.
pub(crate) fn numbers(codes: &[Vec<u32>]) -> Vec<u32> {
    let tuples = codes.first().map_or(0, Vec::len);
    (0..tuples).flat_map(|tuple| codes.iter().map(move |codes| codes[tuple])).collect()
}
