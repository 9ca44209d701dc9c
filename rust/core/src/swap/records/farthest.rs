//! The farthest record that is not done.
//!
//! Records that are left have *seats*, in the order of a tree, so that every node of the tree is a range of seats. The
//! distance from a reference to the records of a node has an upper bound. All records at the largest distance sit in
//! the nodes with the largest bound; so a record drawn from these that attains the bound is one of the farthest, and
//! each of the farthest is as likely. Where none attains it, the nodes are replaced by their parts.

use std::collections::BinaryHeap;

use rand::RngExt;
use rand_chacha::ChaCha20Rng;

use super::groups::Groups;
use super::scale::{Distance, Space};
use super::tree::Tree;

/// Tuples in a leaf.
const LEAF: usize = 8;
/// Seats drawn from the nodes that can hold the farthest before these are divided: at most so many for few nodes.
const TRIALS: usize = 8;
/// The tree is built anew, and its bounds get tighter, when of its records less than this share is left.
const WORN: f64 = 0.8;
/// On a seat whose record is done.
const NOBODY: u32 = u32::MAX;

/// Distinct tuples: their categories by attribute, the first place of each, and the tuple at each place.
#[derive(Clone, Copy)]
pub(super) struct Places<'a> {
    pub spaces: &'a [Space],
    pub codes: &'a [Vec<u32>],
    pub starts: &'a [u32],
    pub tuples: &'a [u32],
}

/// The records that are not done.
pub(super) struct Ends<'a> {
    all: Places<'a>,
    groups: Vec<Groups>,
    /// Largest distance from each category to each group, by attribute.
    bounds: Vec<Vec<Distance>>,
    /// Number of records, now and when the tree was built.
    len: usize,
    built: usize,
    /// Records of each tuple. They have the first of the tuple's seats.
    left: Vec<u32>,
    tree: Tree,
    /// Leaf of each tuple.
    leaves: Vec<u32>,
    /// Children of each node, or tuples of each leaf, with anybody left.
    alive: Vec<u32>,
    /// How often all draws from each node failed since one succeeded: the oftener, the fewer are made.
    futile: Vec<u8>,
    /// First seat of each tuple.
    first: Vec<u32>,
    /// First seat of each tuple in the order of the tree, and the number of seats.
    bench: Vec<u32>,
    /// The place of the record on each seat.
    places: Vec<u32>,
    /// The seat of the record at each place.
    seats: Vec<u32>,
    // Room for one search. An item is a node or, from the number of nodes on, a tuple.
    /// Items with the bounds of their distances.
    open: BinaryHeap<(Distance, u32)>,
    /// Items with the largest bound, and the seats up to and including each.
    tied: Vec<(u32, u32)>,
}

impl<'a> Ends<'a> {
    /// The records at those places that are left.
    pub fn new(all: Places<'a>, is_left: impl Fn(u32) -> bool) -> Self {
        let groups: Vec<Groups> = all.spaces.iter().map(Groups::by_reach).collect();
        let bounds =
            groups.iter().zip(all.spaces).map(|(g, space)| g.table(space, |x| x, Distance::max, |x| x)).collect();
        let tuples = all.starts.len() - 1;
        let mut left = vec![0; tuples];
        let mut places = Vec::with_capacity(all.tuples.len());
        let mut first = Vec::with_capacity(tuples);
        for (tuple, range) in all.starts.windows(2).enumerate() {
            first.push(places.len() as u32);
            places.extend((range[0]..range[1]).filter(|&place| is_left(place)));
            left[tuple] = places.len() as u32 - first[tuple];
        }
        let mut ends = Self {
            all,
            tree: Tree::new(&groups, all.codes, Vec::new(), LEAF),
            groups,
            bounds,
            len: places.len(),
            built: 0,
            left,
            leaves: vec![0; tuples],
            alive: Vec::new(),
            futile: Vec::new(),
            first,
            bench: Vec::new(),
            places,
            seats: vec![0; all.tuples.len()],
            open: BinaryHeap::new(),
            tied: Vec::new(),
        };
        ends.build();
        ends
    }

    /// Gives the records that are left a new tree and new seats.
    fn build(&mut self) {
        let tuples = (0..self.left.len() as u32).filter(|&t| self.left[t as usize] > 0).collect();
        self.tree = Tree::new(&self.groups, self.all.codes, tuples, LEAF);
        self.tree.note_leaves(&mut self.leaves);
        self.alive = self.tree.nodes.iter().map(|n| if n.children == 0 { n.end - n.start } else { 2 }).collect();
        self.futile = vec![0; self.tree.nodes.len()];
        self.built = self.len;
        let mut places = Vec::with_capacity(self.len);
        self.bench = vec![0];
        for &tuple in &self.tree.order {
            let (first, left) = (self.first[tuple as usize] as usize, self.left[tuple as usize] as usize);
            self.first[tuple as usize] = places.len() as u32;
            places.extend_from_slice(&self.places[first..first + left]);
            self.bench.push(places.len() as u32);
        }
        for (seat, &place) in (0u32..).zip(&places) {
            self.seats[place as usize] = seat;
        }
        self.places = places;
    }

    /// Number of records.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Records of a tuple, as places.
    pub fn of(&self, tuple: usize) -> &[u32] {
        &self.places[self.first[tuple] as usize..][..self.left[tuple] as usize]
    }

    /// Marks a record as done.
    pub fn remove(&mut self, place: u32) {
        let tuple = self.all.tuples[place as usize] as usize;
        self.left[tuple] -= 1;
        self.len -= 1;
        let (seat, last) = (self.seats[place as usize], self.first[tuple] + self.left[tuple]);
        let moved = self.places[last as usize];
        self.places[seat as usize] = moved;
        self.seats[moved as usize] = seat;
        self.places[last as usize] = NOBODY;
        if self.left[tuple] == 0 {
            let mut node = self.leaves[tuple] as usize;
            self.alive[node] -= 1;
            while self.alive[node] == 0 && node != 0 {
                node = self.tree.nodes[node].parent as usize;
                self.alive[node] -= 1;
            }
        }
    }

    /// Draws one of the records that are farthest from a tuple; its place. There must be one.
    pub fn draw(&mut self, from: usize, rng: &mut ChaCha20Rng) -> u32 {
        if (self.len as f64) < WORN * self.built as f64 {
            self.build();
        }
        let mut open = std::mem::take(&mut self.open);
        let mut tied = std::mem::take(&mut self.tied);
        open.clear();
        self.divide(from, 0, 0, &mut open);
        let found = loop {
            let bound = open.peek().map_or(0, |top| top.0);
            tied.clear();
            let mut seats = 0;
            while let Some(&(equal, item)) = open.peek() {
                if equal < bound {
                    break;
                }
                open.pop();
                seats += self.seats_of(item).1;
                tied.push((seats, item));
            }
            if let Some(found) = self.try_seats(from, bound, &tied, rng) {
                break found;
            }
            for &(_, item) in &tied {
                self.divide(from, item, bound, &mut open);
            }
        };
        (self.open, self.tied) = (open, tied);
        found
    }

    /// Draws some of the seats of nodes with one bound, until a record attains it.
    fn try_seats(&mut self, from: usize, bound: Distance, tied: &[(u32, u32)], rng: &mut ChaCha20Rng) -> Option<u32> {
        let seats = tied.last()?.0;
        let first = tied[0].1 as usize;
        // Tuples attain their bound.
        let trials = match self.futile.get(first) {
            Some(futile) => (TRIALS >> futile).max(tied.len() / 4),
            None => TRIALS,
        };
        for _ in 0..trials {
            let nth = rng.random_range(0..seats);
            let index = tied.partition_point(|x| x.0 <= nth);
            let before = if index == 0 { 0 } else { tied[index - 1].0 };
            let place = self.places[(self.seats_of(tied[index].1).0 + nth - before) as usize];
            if place != NOBODY && self.distance(from, self.all.tuples[place as usize] as usize) == bound {
                if let Some(futile) = self.futile.get_mut(first) {
                    *futile = 0;
                }
                return Some(place);
            }
        }
        if let Some(futile) = self.futile.get_mut(first) {
            *futile = 7.min(*futile + 1);
        }
        None
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
            if self.alive[child as usize] > 0 {
                open.push((self.bound(from, child), child));
            }
        }
    }

    /// First seat and number of seats of a node or tuple.
    fn seats_of(&self, item: u32) -> (u32, u32) {
        if let Some(node) = self.tree.nodes.get(item as usize) {
            let first = self.bench[node.start as usize];
            (first, self.bench[node.end as usize] - first)
        } else {
            let tuple = item as usize - self.tree.nodes.len();
            (self.first[tuple], self.left[tuple])
        }
    }

    #[inline]
    fn bound(&self, from: usize, node: u32) -> Distance {
        let each = self.tree.groups(node).iter().enumerate();
        each.map(|(a, &group)| {
            let row = self.all.codes[a][from] as usize * self.groups[a].len();
            self.bounds[a][row + group as usize]
        })
        .sum()
    }

    #[inline]
    fn distance(&self, a: usize, b: usize) -> Distance {
        let each = self.all.spaces.iter().zip(self.all.codes);
        each.map(|(space, codes)| space.row(codes[a])[codes[b] as usize]).sum()
    }
}
