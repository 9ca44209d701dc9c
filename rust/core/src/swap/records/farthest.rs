//! The farthest record that is not done.

use std::collections::BinaryHeap;

use rand::RngExt;
use rand_chacha::ChaCha20Rng;

use super::groups::Groups;
use super::scale::{Distance, Space};
use super::tree::Tree;

/// Tuples in a leaf.
const LEAF: usize = 8;
/// Records drawn from the nodes that can hold the farthest, before these are divided.
const TRIALS: usize = 4;

/// Records that are not done, in a tree that finds the farthest of them.
///
/// The distance from a reference to a node has an upper bound. All records at the largest distance lie in the nodes
/// with the largest bound; so a record drawn from these that attains the bound is one of the farthest, and each of the
/// farthest is as likely. Where none attains it, the nodes are replaced by their parts.
pub(super) struct Ends<'a> {
    spaces: &'a [Space],
    codes: &'a [Vec<u32>],
    starts: &'a [u32],
    tree: Tree,
    /// Leaf of each tuple.
    leaves: Vec<u32>,
    groups: Vec<usize>,
    /// Largest distance from each category to each group, by attribute.
    bounds: Vec<Vec<Distance>>,
    /// Records below each node that are not done.
    below: Vec<u32>,
    /// Records of each tuple that are not done.
    left: Vec<u32>,
    /// Places, those of each tuple that are not done before those that are.
    places: Vec<u32>,
    /// Where each place stands there.
    seats: Vec<u32>,
    pub stats: [u64; 3],
    // Room for one search.
    open: BinaryHeap<(Distance, u32)>,
    tied: Vec<(u32, u32)>,
}

impl<'a> Ends<'a> {
    /// All records not done.
    pub fn new(spaces: &'a [Space], codes: &'a [Vec<u32>], starts: &'a [u32]) -> Self {
        let groups: Vec<Groups> = spaces.iter().map(Groups::by_reach).collect();
        let tree = Tree::new(&groups, codes, LEAF);
        let bounds = groups.iter().zip(spaces).map(|(g, space)| g.table(space, |x| x, Distance::max)).collect();
        let leaves = tree.leaves();
        let left: Vec<u32> = starts.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let mut below = vec![0; tree.nodes.len()];
        for (index, node) in tree.nodes.iter().enumerate().rev() {
            below[index] = if node.children == 0 {
                tree.tuples(index as u32).iter().map(|&t| left[t as usize]).sum()
            } else {
                below[node.children as usize] + below[node.children as usize + 1]
            };
        }
        let places: Vec<u32> = (0..starts.last().copied().unwrap_or(0)).collect();
        Self {
            spaces,
            codes,
            starts,
            leaves,
            groups: groups.iter().map(Groups::len).collect(),
            bounds,
            below,
            left,
            seats: places.clone(),
            places,
            tree,
            stats: [0; 3],
            open: BinaryHeap::new(),
            tied: Vec::new(),
        }
    }

    /// Records that are not done.
    pub fn len(&self) -> usize {
        self.below[0] as usize
    }

    /// Records of a tuple that are not done.
    pub fn left(&self, tuple: usize) -> u32 {
        self.left[tuple]
    }

    /// The place of the `nth` of these.
    pub fn nth_of(&self, tuple: usize, nth: u32) -> u32 {
        self.places[(self.starts[tuple] + nth) as usize]
    }

    pub fn report(&self) { eprintln!("draws {} rounds {} divided {}", self.stats[0], self.stats[1], self.stats[2]); }

    /// Marks a record as done.
    pub fn remove(&mut self, place: u32, tuple: usize) {
        let seat = self.seats[place as usize];
        let last = self.starts[tuple] + self.left[tuple] - 1;
        let moved = self.places[last as usize];
        self.places[seat as usize] = moved;
        self.places[last as usize] = place;
        self.seats[moved as usize] = seat;
        self.seats[place as usize] = last;
        self.left[tuple] -= 1;
        let mut node = self.leaves[tuple];
        while node != 0 {
            self.below[node as usize] -= 1;
            node = self.tree.nodes[node as usize].parent;
        }
        self.below[0] -= 1;
    }

    /// Draws one of the records that are farthest from a tuple: its place and its tuple. There must be one.
    pub fn draw(&mut self, from: usize, rng: &mut ChaCha20Rng) -> (u32, usize) {
        let mut open = std::mem::take(&mut self.open);
        let mut tied = std::mem::take(&mut self.tied);
        open.clear(); self.stats[0] += 1;
        open.push((Distance::MAX, 0));
        let found = loop {
            // Of nodes with equal bounds those that are no single tuple come first here, in any order.
            let Some(&(bound, _)) = open.peek() else { unreachable!("nobody is left") };
            tied.clear(); self.stats[1] += 1;
            let mut records = 0;
            while let Some(&(equal, item)) = open.peek() {
                if equal < bound {
                    break;
                }
                open.pop();
                records += self.records(item);
                tied.push((records, item));
            }
            let mut drawn = None;
            if bound < Distance::MAX {
                for _ in 0..TRIALS {
                    let nth = rng.random_range(0..records);
                    let item = tied.partition_point(|x| x.0 <= nth);
                    let before = if item == 0 { 0 } else { tied[item - 1].0 };
                    let (place, tuple) = self.nth(tied[item].1, nth - before);
                    if self.distance(from, tuple) == bound {
                        drawn = Some((place, tuple));
                        break;
                    }
                }
            }
            if let Some(found) = drawn {
                break found;
            }
            self.stats[2] += tied.len() as u64;
            for &(_, item) in &tied {
                self.divide(from, item, bound, &mut open);
            }
        };
        (self.open, self.tied) = (open, tied);
        found
    }

    /// Replaces a node by its children or its tuples; a tuple, whose distance is its bound, stays.
    fn divide(&self, from: usize, item: u32, bound: Distance, open: &mut BinaryHeap<(Distance, u32)>) {
        let nodes = self.tree.nodes.len() as u32;
        if item >= nodes {
            open.push((bound, item));
            return;
        }
        let children = self.tree.nodes[item as usize].children;
        if children == 0 {
            for &tuple in self.tree.tuples(item) {
                if self.left[tuple as usize] > 0 {
                    open.push((self.distance(from, tuple as usize), nodes + tuple));
                }
            }
            return;
        }
        for child in [children, children + 1] {
            if self.below[child as usize] > 0 {
                open.push((self.bound(from, child), child));
            }
        }
    }

    fn records(&self, item: u32) -> u32 {
        let nodes = self.tree.nodes.len() as u32;
        if item < nodes { self.below[item as usize] } else { self.left[(item - nodes) as usize] }
    }

    /// The `nth` of the records of a node or tuple that are not done: its place and its tuple.
    fn nth(&self, mut item: u32, mut nth: u32) -> (u32, usize) {
        let nodes = self.tree.nodes.len() as u32;
        if item < nodes {
            let mut children = self.tree.nodes[item as usize].children;
            while children != 0 {
                let first = self.below[children as usize];
                item = children + u32::from(nth >= first);
                nth -= if nth >= first { first } else { 0 };
                children = self.tree.nodes[item as usize].children;
            }
            for &tuple in self.tree.tuples(item) {
                let left = self.left[tuple as usize];
                if nth < left {
                    item = nodes + tuple;
                    break;
                }
                nth -= left;
            }
        }
        let tuple = (item - nodes) as usize;
        (self.nth_of(tuple, nth), tuple)
    }

    #[inline]
    fn bound(&self, from: usize, node: u32) -> Distance {
        let each = self.tree.groups(node).iter().enumerate();
        each.map(|(a, &group)| {
            let row = self.codes[a][from] as usize * self.groups[a];
            self.bounds[a][row + group as usize]
        })
        .sum()
    }

    #[inline]
    fn distance(&self, a: usize, b: usize) -> Distance {
        self.spaces.iter().zip(self.codes).map(|(space, codes)| space.row(codes[a])[codes[b] as usize]).sum()
    }
}
