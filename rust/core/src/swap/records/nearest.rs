//! The `k` nearest records of every distinct tuple.
//!
//! Distances are those of the original records, so a tuple's cluster never changes but for the ties at its boundary:
//! it is worked out once, for all tuples in parallel, as ranges of places in the order of the tree.

use std::collections::BinaryHeap;

use rayon::prelude::*;

use super::groups::Groups;
use super::scale::{Distance, Space};
use super::tree::Tree;
use crate::control::Control;
use crate::error::Result;

/// Tuples whose clusters are stored together.
const CHUNK: usize = 256;
/// Ranges that are stored for one tuple; longer lists are worked out again when they are needed.
const STORED: usize = 512;

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

/// What a search needs: tuples in the order of the tree, and bounds of distances.
pub(super) struct Search<'a> {
    spaces: &'a [Space],
    tree: &'a Tree,
    /// Codes in the order of the tree, by attribute.
    codes: &'a [Vec<u32>],
    /// Place of the first record of each tuple, and the number of records.
    starts: &'a [u32],
    groups: Vec<usize>,
    /// Smallest and largest distance from each category to each group, by attribute.
    bounds: Vec<Vec<(Distance, Distance)>>,
    k: usize,
    /// Whether different tuples may have distance 0.
    twins: bool,
}

/// Room for one search, used again for the next.
#[derive(Default)]
pub(super) struct Room<'a> {
    rows: Vec<&'a [Distance]>,
    bounds: Vec<&'a [(Distance, Distance)]>,
    /// Nodes to look at, with the bounds of their distances.
    stack: Vec<((Distance, Distance), u32)>,
    distances: Vec<Distance>,
    /// Distance, first place and end of what has been found.
    found: Vec<(Distance, u32, u32)>,
    nearest: Nearest,
    inside: Vec<Range>,
    boundary: Vec<Range>,
    drawn: usize,
}

impl Room<'_> {
    /// The result of the last search.
    pub fn cluster(&self) -> Cluster<'_> {
        Cluster { inside: &self.inside, boundary: &self.boundary, drawn: self.drawn }
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
        groups: &[Groups],
        tree: &'a Tree,
        codes: &'a [Vec<u32>],
        starts: &'a [u32],
        k: usize,
    ) -> Self {
        let both = |x: Distance| (x, x);
        let join = |a: (Distance, Distance), b: (Distance, Distance)| (a.0.min(b.0), a.1.max(b.1));
        let bounds = groups.iter().zip(spaces).map(|(groups, space)| groups.table(space, both, join)).collect();
        let twins = spaces.iter().any(Space::has_twins);
        Self { spaces, tree, codes, starts, groups: groups.iter().map(Groups::len).collect(), bounds, k, twins }
    }

    /// Finds the cluster of a tuple, whose leaf is known.
    pub fn cluster(&'a self, tuple: usize, leaf: u32, room: &mut Room<'a>) {
        room.inside.clear();
        room.boundary.clear();
        let (start, end) = (self.starts[tuple], self.starts[tuple + 1]);
        if (end - start) as usize > self.k + 1 && !self.twins {
            room.boundary.push((start, end - start));
            room.drawn = self.k;
            return;
        }
        room.rows.clear();
        room.bounds.clear();
        for (a, codes) in self.codes.iter().enumerate() {
            let code = codes[tuple];
            room.rows.push(self.spaces[a].row(code));
            room.bounds.push(&self.bounds[a][code as usize * self.groups[a]..][..self.groups[a]]);
        }
        room.found.clear();
        // The tuple is found together with its reference, which is no member.
        room.nearest.restart(self.k + 1);
        self.scan(leaf, room);
        // From the leaf upwards: the nearest come first, and everything else can be told to be too far.
        let mut node = leaf;
        while node != 0 {
            let parent = self.tree.nodes[node as usize].parent;
            let children = self.tree.nodes[parent as usize].children;
            self.below(if children == node { node + 1 } else { children }, room);
            node = parent;
        }
        self.finish(room);
    }

    /// Searches a node and all below it, nearer parts first.
    fn below(&self, node: u32, room: &mut Room<'a>) {
        let bounds = self.bound(node, room);
        room.stack.push((bounds, node));
        while let Some(((least, most), index)) = room.stack.pop() {
            if least > room.nearest.limit {
                continue;
            }
            let node = self.tree.nodes[index as usize];
            if least == most {
                let (start, end) = (self.starts[node.start as usize], self.starts[node.end as usize]);
                room.found.push((least, start, end));
                room.nearest.add(least, end - start);
            } else if node.children == 0 {
                self.scan(index, room);
            } else {
                let children = [node.children, node.children + 1].map(|child| (self.bound(child, room), child));
                let nearer = usize::from(children[1].0 < children[0].0);
                room.stack.extend([children[1 - nearer], children[nearer]]);
            }
        }
    }

    #[inline]
    fn bound(&self, node: u32, room: &Room<'a>) -> (Distance, Distance) {
        let groups = self.tree.groups(node).iter().zip(&room.bounds);
        groups.fold((0, 0), |(least, most), (&group, bounds)| {
            let (low, high) = bounds[group as usize];
            (least + low, most + high)
        })
    }

    /// Looks at every tuple of a leaf.
    fn scan(&self, leaf: u32, room: &mut Room<'a>) {
        let node = self.tree.nodes[leaf as usize];
        let tuples = node.start as usize..node.end as usize;
        room.distances.clear();
        room.distances.resize(tuples.len(), 0);
        for (row, codes) in room.rows.iter().zip(self.codes) {
            for (distance, &code) in room.distances.iter_mut().zip(&codes[tuples.clone()]) {
                *distance += row[code as usize];
            }
        }
        for (tuple, &distance) in tuples.zip(&room.distances) {
            if distance <= room.nearest.limit {
                let (start, end) = (self.starts[tuple], self.starts[tuple + 1]);
                room.found.push((distance, start, end));
                room.nearest.add(distance, end - start);
            }
        }
    }

    /// Sorts what has been found into members and boundary.
    fn finish(&self, room: &mut Room<'a>) {
        let limit = room.nearest.limit;
        room.found.retain(|x| x.0 <= limit);
        room.found.sort_unstable_by_key(|x| x.1);
        let count = |records: &[Range]| records.last().map_or(0, |r| r.1 as usize);
        for &(distance, start, end) in &room.found {
            append(if distance < limit { &mut room.inside } else { &mut room.boundary }, start, end);
        }
        if count(&room.inside) + count(&room.boundary) <= self.k + 1 {
            // Everybody at the boundary belongs to the cluster, or there are not so many records.
            room.inside.clear();
            room.boundary.clear();
            for &(_, start, end) in &room.found {
                append(&mut room.inside, start, end);
            }
            room.drawn = 0;
        } else {
            // The reference is inside unless the boundary is at distance 0.
            room.drawn = self.k + usize::from(limit > 0) - count(&room.inside);
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

/// The clusters of all tuples, as far as they are short enough to be stored.
pub(super) struct Clusters {
    chunks: Vec<Chunk>,
}

#[derive(Default)]
struct Chunk {
    ranges: Vec<Range>,
    clusters: Vec<Stored>,
}

#[derive(Clone, Copy)]
struct Stored {
    /// Ends of its two lists among the ranges of the chunk; the first begins where the one before ends.
    inside: u32,
    boundary: u32,
    /// None if the lists are too long.
    drawn: Option<u32>,
}

impl Clusters {
    /// Works out all clusters in parallel.
    pub fn new(search: &Search<'_>, leaves: &[u32], control: &Control) -> Result<Self> {
        let chunks = leaves.par_chunks(CHUNK).enumerate().map_init(Room::default, |room, (index, leaves)| {
            let mut chunk = Chunk::default();
            for (tuple, &leaf) in (index * CHUNK..).zip(leaves) {
                control.check()?;
                search.cluster(tuple, leaf, room);
                chunk.push(room.cluster());
            }
            chunk.ranges.shrink_to_fit();
            control.advance(leaves.len() as u64)?;
            Ok(chunk)
        });
        Ok(Self { chunks: chunks.collect::<Result<_>>()? })
    }

    /// The cluster of a tuple, if it is stored.
    #[inline]
    pub fn of(&self, tuple: usize) -> Option<Cluster<'_>> {
        let (chunk, index) = (&self.chunks[tuple / CHUNK], tuple % CHUNK);
        let before = if index == 0 { 0 } else { chunk.clusters[index - 1].boundary as usize };
        let Stored { inside, boundary, drawn } = chunk.clusters[index];
        let (inside, boundary) = (inside as usize, boundary as usize);
        let drawn = drawn? as usize;
        Some(Cluster { inside: &chunk.ranges[before..inside], boundary: &chunk.ranges[inside..boundary], drawn })
    }
}

impl Chunk {
    fn push(&mut self, cluster: Cluster<'_>) {
        let short = cluster.inside.len() + cluster.boundary.len() <= STORED;
        if short {
            self.ranges.extend_from_slice(cluster.inside);
        }
        let inside = self.ranges.len() as u32;
        if short {
            self.ranges.extend_from_slice(cluster.boundary);
        }
        let boundary = self.ranges.len() as u32;
        self.clusters.push(Stored { inside, boundary, drawn: short.then_some(cluster.drawn as u32) });
    }
}
