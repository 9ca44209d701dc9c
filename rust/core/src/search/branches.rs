//! Concepts of a tree, in the order of a walk down it, with distances in a common unit.
//!
//! Every distance follows from three numbers: one of each concept and one of the concept where they meet. Of depths there
//! are few, so that the distances of all triples are a small table; contents of information are measured pair by pair.
//! A distance grows with the numbers of the concepts and falls with that of the subsumer: this bounds the distances to what is
//! between two places, given the numbers that occur there.

use rayon::prelude::*;

use super::scale::Distance;
use crate::control::Control;
use crate::error::Result;
use crate::meaning::Tree;
use crate::memory;

/// Different numbers of concepts, and of subsumers, for which distances are a table.
const FEW: usize = 64;

/// The used concepts of a tree.
#[derive(Debug)]
pub(crate) struct Branches<'a> {
    tree: &'a Tree,
    /// The different numbers of concepts, ascending, and of subsumers,
    numbers: Vec<f64>,
    subsumers: Vec<f64>,
    /// and which of these the concept at each place, and each node of the tree, has.
    class: Vec<u32>,
    subsumer: Vec<u32>,
    /// Distances by both concepts and the subsumer; none if there are too many.
    table: Vec<Distance>,
    /// Units in a distance of 1.
    scale: f64,
    twins: bool,
}

impl<'a> Branches<'a> {
    /// The concepts before they have a unit, and the different distances between them; none if those are not known to be
    /// fractions.
    pub fn new(tree: &'a Tree) -> Result<(Self, Option<Vec<f64>>)> {
        let (own, of_subsumer) = tree.numbers();
        memory::require(20 * own.len() + 28 * of_subsumer.len() + 16 * FEW.pow(3), "the concepts of a tree")?;
        let (numbers, class) = classes(own);
        let (subsumers, subsumer) = classes(of_subsumer);
        let mut branches =
            Self { tree, numbers, subsumers, class, subsumer, table: Vec::new(), scale: 1.0, twins: false };
        let levels = if branches.is_small() {
            let levels = branches.levels();
            branches.twins = levels.contains(&0.0);
            Some(levels)
        } else {
            branches.twins = !tree.tells_apart();
            tree.counts_links().then(|| vec![1.0, tree.gap()])
        };
        Ok((branches, levels))
    }

    fn is_small(&self) -> bool {
        self.numbers.len() <= FEW && self.subsumers.len() <= FEW
    }

    /// The different distances between concepts, from the triples of numbers that occur; the largest is one of them.
    fn levels(&self) -> Vec<f64> {
        let (nodes, parents) = self.tree.nodes();
        // The classes of the concepts at or below each node.
        let mut below = vec![0u64; parents.len()];
        for (&node, &class) in nodes.iter().zip(&self.class) {
            below[node as usize] |= 1 << class;
        }
        let mut occurs = vec![false; self.cells()];
        for node in (1..parents.len()).rev() {
            let parent = parents[node] as usize;
            for a in bits(below[node]) {
                for b in bits(below[parent]) {
                    occurs[self.cell(a.min(b), a.max(b), self.subsumer[parent])] = true;
                }
            }
            below[parent] |= below[node];
        }
        let mut levels: Vec<f64> = vec![self.tree.gap()];
        for (cell, _) in occurs.iter().enumerate().filter(|(_, occurs)| **occurs) {
            let (a, b, subsumer) = self.triple(cell);
            levels.push(self.measured(a, b, subsumer));
        }
        levels.sort_unstable_by(f64::total_cmp);
        levels.dedup();
        levels
    }

    /// Gives distances a unit.
    pub fn scaled(mut self, scale: f64) -> Self {
        self.scale = scale;
        if self.is_small() {
            let scaled = |cell| {
                let (a, b, subsumer) = self.triple(cell);
                self.whole(a, b, subsumer)
            };
            self.table = (0..self.cells()).map(scaled).collect();
        }
        self
    }

    fn cells(&self) -> usize {
        self.numbers.len().pow(2) * self.subsumers.len()
    }

    #[inline]
    fn cell(&self, a: u32, b: u32, subsumer: u32) -> usize {
        (a as usize * self.numbers.len() + b as usize) * self.subsumers.len() + subsumer as usize
    }

    fn triple(&self, cell: usize) -> (u32, u32, u32) {
        let (pair, subsumer) = (cell / self.subsumers.len(), cell % self.subsumers.len());
        ((pair / self.numbers.len()) as u32, (pair % self.numbers.len()) as u32, subsumer as u32)
    }

    /// The distance by classes.
    fn measured(&self, a: u32, b: u32, subsumer: u32) -> f64 {
        let sum = self.numbers[a as usize] + self.numbers[b as usize];
        self.tree.of_numbers(sum, self.subsumers[subsumer as usize])
    }

    /// The distance by classes in the common unit. No concept is above its subsumer; where a bound takes them from different
    /// pairs, what would be negative is 0.
    fn whole(&self, a: u32, b: u32, subsumer: u32) -> Distance {
        (self.measured(a, b, subsumer) * self.scale).round() as Distance
    }

    #[inline]
    fn of_classes(&self, a: u32, b: u32, subsumer: u32) -> Distance {
        match self.table.get(self.cell(a, b, subsumer)) {
            Some(&distance) => distance,
            None => self.whole(a, b, subsumer),
        }
    }

    /// The class of the subsumer of two places, the first not after the second.
    #[inline]
    fn meet(&self, first: u32, last: u32) -> u32 {
        self.subsumer[self.tree.meet(first, last) as usize]
    }

    /// Number of places.
    pub fn places(&self) -> u32 {
        self.class.len() as u32
    }

    /// The place of each category of the tree; `missing` for none.
    pub fn categories(&self, missing: u32) -> Vec<u32> {
        (0..self.tree.categories() as u32).map(|category| self.tree.place(category).unwrap_or(missing)).collect()
    }

    /// The class of the concept at a place; those of larger numbers are larger.
    #[inline]
    pub fn class(&self, place: u32) -> u32 {
        self.class[place as usize]
    }

    /// Where to divide, beside these two: places of different classes that were put beside each other first, then those
    /// that meet highest.
    pub fn division(&self, a: u32, b: u32) -> (bool, u32) {
        let alike = self.class(a) == self.class(b) || a + 1 == b;
        (alike, if alike { self.tree.meet(a.min(b), a.max(b)) } else { 0 })
    }

    /// Whether different concepts may lie at distance 0.
    pub fn has_twins(&self) -> bool {
        self.twins
    }

    /// The distance of two different places.
    #[inline]
    pub fn distance(&self, a: u32, b: u32) -> Distance {
        self.of_classes(self.class(a), self.class(b), self.meet(a.min(b), a.max(b)))
    }

    /// What is between two places, with concepts of these classes, is no nearer; and whether all is equally distant.
    #[inline]
    pub fn nearest(&self, from: u32, (first, last): (u32, u32), (low, high): (u32, u32)) -> (Distance, bool) {
        if first == last {
            return (if from == first { 0 } else { self.distance(from, first) }, true);
        }
        // The meeting point rises with the way to go in the order of the walk.
        let (deep, shallow) = if from < first {
            (self.meet(from, first), self.meet(from, last))
        } else if from > last {
            (self.meet(last, from), self.meet(first, from))
        } else {
            return (0, false);
        };
        (self.of_classes(self.class(from), low, deep), deep == shallow && low == high)
    }

    /// What is between two places, with concepts of at most this class, is no farther.
    #[inline]
    pub fn farthest(&self, from: u32, (first, last): (u32, u32), high: u32) -> Distance {
        if (first, last) == (from, from) {
            return 0;
        }
        self.of_classes(self.class(from), high, self.meet(first.min(from), last.max(from)))
    }

    /// No two different places of a range are farther apart.
    pub fn width(&self, (first, last): (u32, u32), high: u32) -> Distance {
        self.of_classes(high, high, self.meet(first, last))
    }

    /// The sum of the distances from each place to all records, given how many there are of each.
    pub fn sums(&self, counts: &[u64], control: &Control) -> Result<Vec<u128>> {
        let (nodes, parents) = self.tree.nodes();
        if self.table.is_empty() {
            let sum = |a: u32| {
                control.check()?;
                let others = (0..self.places()).zip(counts).filter(|&(b, &n)| n > 0 && b != a);
                Ok(others.map(|(b, &n)| u128::from(self.distance(a, b)) * u128::from(n)).sum())
            };
            return (0..self.places()).into_par_iter().map(sum).collect();
        }
        // Records of each class at or below each node.
        let classes = self.numbers.len();
        memory::require(8 * classes * parents.len(), "the concepts of a tree")?;
        let mut below = vec![0u64; classes * parents.len()];
        for ((&node, &class), &count) in nodes.iter().zip(&self.class).zip(counts) {
            below[node as usize * classes + class as usize] += count;
        }
        for node in (1..parents.len()).rev() {
            let (above, own) = below.split_at_mut(node * classes);
            let parent = parents[node] as usize * classes;
            above[parent..parent + classes].iter_mut().zip(own).for_each(|(all, own)| *all += *own);
        }
        let sum = |place: u32| {
            control.check()?;
            let class = self.class(place);
            let of_node = |node: u32, subsumer: u32| -> u128 {
                let records = (0..).zip(&below[node as usize * classes..][..classes]).filter(|(_, n)| **n > 0);
                records.map(|(b, &n)| u128::from(self.of_classes(class, b, subsumer)) * u128::from(n)).sum()
            };
            let mut node = nodes[place as usize];
            let subsumer = self.subsumer[node as usize];
            let own = u128::from(self.of_classes(class, class, subsumer)) * u128::from(counts[place as usize]);
            let mut sum = of_node(node, subsumer) - own;
            while node > 0 {
                let parent = parents[node as usize];
                let subsumer = self.subsumer[parent as usize];
                sum += of_node(parent, subsumer) - of_node(node, subsumer);
                node = parent;
            }
            Ok(sum)
        };
        (0..self.places()).into_par_iter().map(sum).collect()
    }
}

/// The different numbers, ascending, and which of them each is.
fn classes(numbers: &[f64]) -> (Vec<f64>, Vec<u32>) {
    let mut distinct = numbers.to_vec();
    distinct.sort_unstable_by(f64::total_cmp);
    distinct.dedup();
    let class = |x: &f64| distinct.partition_point(|y| y < x) as u32;
    let classes = numbers.iter().map(class).collect();
    (distinct, classes)
}

/// The places of the bits that are set.
fn bits(mut mask: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let bit = mask.trailing_zeros();
        mask &= mask.wrapping_sub(1);
        (bit < u64::BITS).then_some(bit)
    })
}
