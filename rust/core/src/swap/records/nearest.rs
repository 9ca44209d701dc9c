//! The `k` nearest records of tuples.
//!
//! Distances are those of the original records, so a tuple's cluster never changes but for the ties at its boundary. It
//! is described by ranges of places in the order of the tree. Tuples that follow each other there are near each other
//! and come upon the same parts of the tree: they are searched for in batches.

use std::collections::BinaryHeap;

use crate::control::Control;
use crate::error::Result;
use crate::search::alone::Alone;
use crate::search::hierarchy::Hierarchy;
use crate::search::lanes::{LANES, Scale};
use crate::search::scale::{Distance, Measured};
use crate::search::tree::Tree;
use crate::search::{self, Found, Index};

/// Tuples that can be looked at, for a batch, while one bound is found and used.
const LOOKS: usize = 8;

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
    all: Alone<'a>,
    /// Leaf of each tuple.
    leaves: &'a [u32],
    /// Place of the first record of each tuple, and the number of records.
    starts: &'a [u32],
    k: usize,
    /// Whether different tuples may have distance 0.
    twins: bool,
}

/// Room for one batch, used again for the next of the same search.
pub(super) type Room = search::Room<Lane>;

/// One tuple of a batch: what has been found for it.
#[derive(Default)]
pub(super) struct Lane {
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
        measured: &'a Measured<'a>,
        hierarchies: &'a [Hierarchy],
        (tree, leaves): (&'a Tree, &'a [u32]),
        codes: &[Vec<u32>],
        starts: &'a [u32],
        (k, twins): (usize, bool),
    ) -> Result<Self> {
        let Measured { spaces, ordered, .. } = measured;
        let (with, without) = codes.split_at(spaces.len());
        let hierarchies = &hierarchies[..spaces.len()];
        // To look at few tuples takes less than to find the bounds of what need not be looked at.
        let looks = leaves.len().div_ceil(LANES) * leaves.len();
        let bounded = !ordered.is_empty() || looks > LOOKS * Scale::cells(spaces, hierarchies);
        let index = Index::new(spaces, hierarchies, tree, with, starts, bounded)?;
        Ok(Self { all: Alone::new(index, ordered, without), leaves, starts, k, twins })
    }

    /// Distances between categories.
    pub fn scale(&self) -> &Scale<'a> {
        &self.all.index.scale
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
        for lane in &mut room.lanes[..tuples.len()] {
            lane.found.clear();
            // The tuple is found together with its reference, which is no member.
            lane.nearest.restart(self.k + 1);
        }
        let index = &self.all.index;
        if self.all.is_by_matrices() {
            index.begin(tuples.iter().map(|&tuple| index.tuple(tuple)), room);
            let leaf = self.leaves[first as usize];
            if index.looks_at_all(self.k + 1) {
                let limits = index.look_at_all(leaf, self.k + 1, room, |lane, distance, (start, end)| {
                    lane.found.push((distance, start, end));
                });
                for (lane, limit) in room.lanes.iter_mut().zip(limits) {
                    lane.nearest.limit = limit;
                }
            } else {
                index.search_from(leaf, room, control)?;
            }
        } else {
            for (lane, &tuple) in room.lanes.iter_mut().zip(tuples) {
                let leaf = self.leaves[tuple as usize];
                self.all.search_from(leaf, self.all.tuple(tuple), lane, &mut room.near, control)?;
            }
        }
        for lane in &mut room.lanes[..tuples.len()] {
            control.check()?;
            lane.finish(self.k);
        }
        Ok(())
    }
}

impl Found for Lane {
    #[inline]
    fn limit(&self) -> Distance {
        self.nearest.limit
    }

    #[inline]
    fn take(&mut self, distance: Distance, (start, end): (u32, u32)) {
        self.found.push((distance, start, end));
        self.nearest.add(distance, end - start);
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
