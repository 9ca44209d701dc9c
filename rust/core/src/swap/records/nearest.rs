//! The `k` nearest records of tuples.
//!
//! Distances are those of the original records, so a tuple's cluster never changes but for the ties at its boundary. It
//! is described by ranges of places in the order of the tree. Tuples that follow each other there are near each other
//! and come upon the same parts of the tree: they are searched for in batches.

use std::collections::BinaryHeap;

use super::groups::Groups;
use super::lanes::{self, ALL, LANES, Mask, NONE, Scale, Tables, Vector};
use super::scale::{Distance, Space};
use super::tree::Tree;
use crate::control::Control;
use crate::error::Result;

/// Ranges of places, one after another: where each begins, and how many places there are up to its end.
pub(super) type Range = (u32, u32);

/// The cluster of a tuple.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Cluster<'a> {
    /// Places of records that always belong to it; the reference itself may be among them.
    pub inside: &'a [Range],
    /// Places of the equally distant records of which only some belong to it; again with the reference,
    pub boundary: &'a [Range],
    /// and how many of them do.
    pub drawn: usize,
}

/// What a search needs: tuples in the order of the tree, and distances.
pub(super) struct Search<'a> {
    scale: Scale<'a>,
    tree: &'a Tree,
    /// Leaf of each tuple.
    leaves: &'a [u32],
    /// Categories of the tuples, tuple after tuple, as the scale numbers them.
    categories: Vec<u32>,
    attributes: usize,
    /// Place of the first record of each tuple, and the number of records.
    starts: &'a [u32],
    k: usize,
    /// Whether different tuples may have distance 0.
    twins: bool,
}

/// Room for one batch, used again for the next of the same search.
#[derive(Default)]
pub(super) struct Room {
    tables: Tables,
    /// Categories of the batch, lane after lane.
    from: Vec<u32>,
    /// Distances above which nothing is wanted; no distance at all in idle lanes.
    limits: Vector,
    /// The bit of each lane, none for idle ones.
    bits: [Mask; LANES],
    /// Nodes to look at.
    stack: Vec<Open>,
    lanes: [Lane; LANES],
}

struct Open {
    node: u32,
    /// Lanes that have to look at the node,
    lanes: Mask,
    /// those from which all of it is equally distant,
    even: Mask,
    /// and distances to the nearest that it may hold.
    least: Vector,
}

/// One tuple of a batch: what has been found for it.
#[derive(Default)]
struct Lane {
    /// Distance, first place and end.
    found: Vec<(Distance, u32, u32)>,
    nearest: Nearest,
    inside: Vec<Range>,
    boundary: Vec<Range>,
    drawn: usize,
}

impl Room {
    /// The result of the last search for one of its tuples.
    pub fn cluster(&self, lane: usize) -> Cluster<'_> {
        let Lane { inside, boundary, drawn, .. } = &self.lanes[lane];
        Cluster { inside, boundary, drawn: *drawn }
    }
}

/// The smallest distances found so far whose records suffice.
#[derive(Default)]
struct Nearest {
    heap: BinaryHeap<(Distance, u32)>,
    records: usize,
    wanted: usize,
    limit: Distance,
}

impl Nearest {
    fn restart(&mut self, wanted: usize) {
        self.heap.clear();
        (self.records, self.wanted, self.limit) = (0, wanted, Distance::MAX);
    }

    #[inline]
    fn add(&mut self, distance: Distance, records: u32) {
        if distance >= self.limit {
            return;
        }
        self.heap.push((distance, records));
        self.records += records as usize;
        while let Some(&(farthest, records)) = self.heap.peek() {
            if self.records < self.wanted {
                break;
            }
            self.limit = farthest;
            if self.records - (records as usize) < self.wanted {
                break;
            }
            self.records -= records as usize;
            self.heap.pop();
        }
    }
}

impl<'a> Search<'a> {
    pub fn new(
        spaces: &'a [Space],
        groups: &'a [Groups],
        (tree, leaves): (&'a Tree, &'a [u32]),
        codes: &[Vec<u32>],
        starts: &'a [u32],
        k: usize,
    ) -> Self {
        let scale = Scale::new(spaces, groups);
        let categories = scale.categories(codes);
        let twins = spaces.iter().any(Space::has_twins);
        Self { scale, tree, leaves, categories, attributes: spaces.len(), starts, k, twins }
    }

    /// Number of tuples.
    pub fn len(&self) -> usize {
        self.leaves.len()
    }

    /// The cluster of a tuple that has more records than are wanted, which needs no search: as a boundary of one range,
    /// and how many of its records are drawn.
    pub fn alone(&self, tuple: usize) -> Option<(Range, usize)> {
        let (start, end) = (self.starts[tuple], self.starts[tuple + 1]);
        ((end - start) as usize > self.k + 1 && !self.twins).then_some(((start, end - start), self.k))
    }

    /// Finds the clusters of some tuples, at most one for each lane and best near each other.
    pub fn find(&self, tuples: &[u32], room: &mut Room, control: &Control) -> Result<()> {
        let Some(&first) = tuples.first() else { return Ok(()) };
        room.tables.restart(&self.scale);
        room.from.clear();
        (room.limits, room.bits) = ([NONE; LANES], [0; LANES]);
        for (index, (&tuple, lane)) in tuples.iter().zip(&mut room.lanes).enumerate() {
            room.from.extend_from_slice(self.tuple(tuple));
            (room.limits[index], room.bits[index]) = (ALL, 1 << index);
            lane.found.clear();
            // The tuple is found together with its reference, which is no member.
            lane.nearest.restart(self.k + 1);
        }
        let leaf = self.leaves[first as usize];
        self.scan(leaf, Mask::MAX, room);
        // From the leaf upwards: the nearest come first, and everything else can be told to be too far.
        let mut node = leaf;
        while node != 0 {
            let parent = self.tree.nodes[node as usize].parent;
            let children = self.tree.nodes[parent as usize].children;
            let sibling = if children == node { node + 1 } else { children };
            let open = self.open(sibling, Mask::MAX, room);
            room.stack.extend(open);
            let searched = self.search(room, control);
            if searched.is_err() {
                room.stack.clear();
                return searched;
            }
            node = parent;
        }
        for lane in &mut room.lanes[..tuples.len()] {
            control.check()?;
            lane.finish(self.k);
        }
        Ok(())
    }

    /// Searches the nodes on the stack and all below them, nearer parts first.
    fn search(&self, room: &mut Room, control: &Control) -> Result<()> {
        while let Some(Open { node: index, mut lanes, even, least }) = room.stack.pop() {
            lanes &= lanes::within(&least, &room.limits, &room.bits);
            let node = self.tree.nodes[index as usize];
            if lanes & even != 0 {
                let places = (self.starts[node.start as usize], self.starts[node.end as usize]);
                for lane in lanes::lanes(lanes & even) {
                    let from = &room.from[lane * self.attributes..][..self.attributes];
                    let distance = self.scale.distance(least[lane], from, self.tuple(node.start));
                    self.note(lane, distance, places, room);
                }
                lanes &= !even;
            }
            if lanes == 0 {
                continue;
            }
            if node.children == 0 {
                control.check()?;
                self.scan(index, lanes, room);
                continue;
            }
            let [a, b] = [node.children, node.children + 1].map(|child| self.open(child, lanes, room));
            // On top comes the one that is nearer for more lanes.
            let swapped = match (&a, &b) {
                (Some(a), Some(b)) => {
                    let (a, b) =
                        (lanes::within(&a.least, &b.least, &room.bits), lanes::within(&b.least, &a.least, &room.bits));
                    (a & lanes).count_ones() >= (b & lanes).count_ones()
                }
                _ => false,
            };
            let (below, above) = if swapped { (b, a) } else { (a, b) };
            room.stack.extend(below);
            room.stack.extend(above);
        }
        Ok(())
    }

    /// A node, if any of some lanes has to look at it.
    #[inline]
    fn open(&self, node: u32, lanes: Mask, room: &mut Room) -> Option<Open> {
        let (least, even) = room.tables.bound(&self.scale, &room.from, self.tree.groups(node));
        let lanes = lanes & lanes::within(&least, &room.limits, &room.bits);
        (lanes != 0).then_some(Open { node, lanes, even, least })
    }

    /// Looks at every tuple of a leaf.
    fn scan(&self, leaf: u32, lanes: Mask, room: &mut Room) {
        room.tables.prepare(&self.scale, &room.from, self.tree.groups(leaf));
        let node = self.tree.nodes[leaf as usize];
        let mut limits = room.limits;
        for lane in lanes::lanes(!lanes) {
            limits[lane] = NONE;
        }
        let tuples = node.start as usize * self.attributes..node.end as usize * self.attributes;
        for (tuple, to) in (node.start as usize..).zip(self.categories[tuples].chunks_exact(self.attributes)) {
            let sums = room.tables.sum(to);
            if !lanes::any_within(&sums, &limits) {
                continue;
            }
            let places = (self.starts[tuple], self.starts[tuple + 1]);
            for lane in lanes::lanes(lanes::within(&sums, &limits, &room.bits)) {
                let from = &room.from[lane * self.attributes..][..self.attributes];
                self.note(lane, self.scale.distance(sums[lane], from, to), places, room);
                limits[lane] = room.limits[lane];
            }
        }
    }

    /// Notes records at one distance, if they are near enough.
    #[inline]
    fn note(&self, lane: usize, distance: Distance, places: (u32, u32), room: &mut Room) {
        let Lane { found, nearest, .. } = &mut room.lanes[lane];
        if distance <= nearest.limit {
            found.push((distance, places.0, places.1));
            nearest.add(distance, places.1 - places.0);
            room.limits[lane] = self.scale.limit(nearest.limit);
        }
    }

    fn tuple(&self, tuple: u32) -> &[u32] {
        &self.categories[tuple as usize * self.attributes..][..self.attributes]
    }
}

impl Lane {
    /// Sorts what has been found into members and boundary.
    fn finish(&mut self, k: usize) {
        let limit = self.nearest.limit;
        self.found.retain(|x| x.0 <= limit);
        self.found.sort_unstable_by_key(|x| x.1);
        self.inside.clear();
        self.boundary.clear();
        let count = |records: &[Range]| records.last().map_or(0, |r| r.1 as usize);
        for &(distance, start, end) in &self.found {
            append(if distance < limit { &mut self.inside } else { &mut self.boundary }, start, end);
        }
        if count(&self.inside) + count(&self.boundary) <= k + 1 {
            // Everybody at the boundary belongs to the cluster, or there are not so many records.
            self.inside.clear();
            self.boundary.clear();
            for &(_, start, end) in &self.found {
                append(&mut self.inside, start, end);
            }
            self.drawn = 0;
        } else {
            // The reference is inside unless the boundary is at distance 0.
            self.drawn = k + usize::from(limit > 0) - count(&self.inside);
        }
    }
}

/// Adds a range, joined with the last one where they touch.
fn append(ranges: &mut Vec<Range>, start: u32, end: u32) {
    let (before, touches) = match ranges[..] {
        [] => (0, false),
        [(first, all)] => (all, first + all == start),
        [.., (_, before), (first, all)] => (all, first + (all - before) == start),
    };
    let all = before + (end - start);
    match ranges.last_mut() {
        Some(last) if touches => last.1 = all,
        _ => ranges.push((start, all)),
    }
}
