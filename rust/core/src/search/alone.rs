//! The same search for one tuple at a time, where attributes without a matrix are among them or there is little to look at.
//!
//! Distances are exact from the beginning: those on a line may need more bits than a lane has.

use super::ordered::{Ordered, Span};
use super::scale::Distance;
use super::{Found, Index};
use crate::control::Control;
use crate::error::Result;

/// An index of tuples that have attributes without a matrix too.
pub(crate) struct Alone<'a> {
    /// The attributes that have matrices.
    pub index: Index<'a>,
    ordered: &'a [Ordered<'a>],
    /// Categories of the tuples by those without, tuple after tuple.
    numbers: Vec<u32>,
    /// What each node of the tree holds of them, node after node.
    spans: Vec<Span>,
}

/// A tuple: its categories as the index numbers them, and those by attributes without a matrix.
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
    /// Adds to an index attributes without a matrix, and the codes of its tuples there, in the order of the tree.
    pub fn new(index: Index<'a>, ordered: &'a [Ordered<'a>], codes: &[Vec<u32>]) -> Self {
        let numbers = numbers(codes);
        let (nodes, m) = (&index.tree.nodes, ordered.len());
        let mut spans = vec![Span::EMPTY; nodes.len() * m];
        // Children come after their parents.
        for (i, node) in nodes.iter().enumerate().rev() {
            for a in 0..m {
                spans[i * m + a] = if node.children > 0 {
                    let child = node.children as usize;
                    spans[child * m + a].joined(spans[(child + 1) * m + a])
                } else {
                    ordered[a].span_of(codes[a][node.start as usize..node.end as usize].iter().copied())
                };
            }
        }
        Self { index, ordered, numbers, spans }
    }

    /// One of the tuples.
    #[inline]
    pub fn tuple(&self, tuple: u32) -> Tuple<'_> {
        let m = self.ordered.len();
        Tuple { categories: self.index.tuple(tuple), numbers: &self.numbers[tuple as usize * m..][..m] }
    }

    /// The distance of two tuples.
    #[inline]
    pub fn distance(&self, from: Tuple<'_>, to: Tuple<'_>) -> Distance {
        let ordered = self.ordered.iter().zip(from.numbers.iter().zip(to.numbers));
        let without: Distance = ordered.map(|(ordered, (&from, &to))| ordered.distance(from, to)).sum();
        without + self.index.scale.exact(from.categories, to.categories)
    }

    /// Searches all tuples for one of them, beginning at its leaf.
    pub fn search_from<F: Found>(
        &self,
        leaf: u32,
        from: Tuple<'_>,
        found: &mut F,
        stack: &mut Vec<Near>,
        control: &Control,
    ) -> Result<()> {
        self.search(leaf, from, found, stack, control)?;
        let mut node = leaf;
        while node != 0 {
            let (parent, sibling) = self.index.above(node);
            self.search(sibling, from, found, stack, control)?;
            node = parent;
        }
        Ok(())
    }

    /// Whether all attributes have matrices.
    pub fn is_by_matrices(&self) -> bool {
        self.ordered.is_empty()
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
        let spans = &self.spans[node as usize * self.ordered.len()..];
        for ((ordered, &from), span) in self.ordered.iter().zip(from.numbers).zip(spans) {
            let (nearest, alike) = ordered.nearest(from, span);
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
