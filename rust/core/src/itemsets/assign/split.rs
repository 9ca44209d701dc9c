//! One assignment by halving the graph.

use rand::RngExt;
use rand::seq::SliceRandom;
use rayon::prelude::*;

use super::augment::{self, match_all};
use super::{BLOCK, Graph, MATCHES, Watch, edges};
use crate::control::Control;
use crate::error::Result;
use crate::memory;
use crate::rng::{Stream, Streams};

/// Extracts one assignment, in which each edge of the graph is with probability exactly 1/m. O(n·m), and O(n·log n) expected
/// for each odd degree above 1 on the way.
///
/// At an even degree the edges fall into circuits, and every second edge of each circuit is kept, the odd or the even ones by the
/// toss of a coin: half the degree, and each edge with probability 1/2. At an odd degree d a perfect matching is found by random
/// walks. With probability 1/d it is the answer, otherwise it is taken away: whatever the law of the matching, if an edge is in it
/// with probability q, it is in the answer with probability q/d + (1−q)·(1−1/d)·1/(d−1) = 1/d. (Euler splitting goes back to
/// Gabow 1976, random walks to Goel, Kapralov, Khanna 2010.)
pub fn split(graph: &Graph, streams: &Streams, control: &Control) -> Result<Vec<u32>> {
    let (n, mut degree) = (graph.n(), graph.m());
    let count = n.saturating_mul(degree);
    // The edges; beside them a matching, or the other ends of the edges and which of them are kept.
    let needs = (augment::NEEDS * n).max(count.saturating_mul(5).saturating_add(4 * n));
    memory::require(needs.saturating_add(count.saturating_mul(4)), MATCHES)?;
    let mut targets = graph.targets()?;
    control.begin(targets.len() as u64);
    let mut rng = streams.generator(Stream::Split, 0);
    let mut pairings = 0;
    loop {
        if degree % 2 == 1 {
            if degree > 1 {
                match_all(&mut targets, degree, degree, &mut rng, control)?;
            }
            if rng.random_range(0..degree) == 0 {
                return Ok(graph.publish(targets.iter().skip(degree - 1).step_by(degree).copied()));
            }
            let mut column = 0..targets.len();
            targets.retain(|_| column.next().is_some_and(|edge| edge % degree != degree - 1));
            degree -= 1;
            control.advance(n as u64)?;
        }
        let shuffle = |rows: &mut [u32], degree: usize, side: u32| {
            rows.par_chunks_mut(BLOCK * degree).enumerate().try_for_each(|(block, rows)| {
                // There are at most 2^20 blocks, and degrees are odd at most 32 times.
                let generator = 1 + (((2 * pairings + side) << 21) | block as u32);
                let mut rng = streams.generator(Stream::Split, generator);
                rows.chunks_exact_mut(degree).for_each(|row| row.shuffle(&mut rng));
                control.check()
            })
        };
        shuffle(&mut targets, degree, 0)?;
        let mut circuits = Circuits::new(targets, degree, control)?;
        let mut mixed = false;
        while degree % 2 == 0 {
            if degree <= MIXED && !mixed {
                shuffle(&mut circuits.left, degree, 1)?;
                circuits.reindex();
                mixed = true;
            }
            circuits.halve(|| rng.random(), control)?;
            degree /= 2;
            control.advance((n * degree) as u64)?;
        }
        pairings += 1;
        targets = circuits.into_targets(degree);
    }
}

/// Up to this degree edges are paired at random on both sides, so that every assignment is possible. Above it, only on the left:
/// on the right neighbours in the order are paired. Circuits then wander slowly, and memory is read where it was read
/// before (at degree 64 in a quarter of the time), and at such degrees the choice on the left is wide enough.
const MIXED: usize = 16;

/// The edges with both of their ends. Edges 2i and 2i+1 on the left are of one node and follow each other on a circuit; so do
/// those on the right.
struct Circuits {
    /// The place on the right of each edge on the left: of a target t and a degree d, one of t·d..(t+1)·d.
    right: Vec<u32>,
    /// The place on the left of each edge on the right.
    left: Vec<u32>,
}

impl Circuits {
    /// Pairs the edges of each node: on the left as they are given, on the right by where they come from.
    fn new(mut targets: Vec<u32>, degree: usize, control: &Control) -> Result<Self> {
        let n = targets.len() / degree;
        let mut left = edges(n, degree)?;
        left.resize(targets.len(), 0);
        let mut next: Vec<u32> = (0..n).map(|target| (target * degree) as u32).collect();
        for (edge, target) in targets.iter_mut().enumerate() {
            let place = &mut next[*target as usize];
            left[*place as usize] = edge as u32;
            *target = *place;
            *place += 1;
        }
        control.check()?;
        Ok(Self { right: targets, left })
    }

    /// Follows a change of places on the right.
    fn reindex(&mut self) {
        for (place, &edge) in self.left.iter().enumerate() {
            self.right[edge as usize] = place as u32;
        }
    }

    /// Keeps every second edge of each circuit. Of each pair, on the left and on the right, one edge is left; its place is that
    /// of the pair. So edges that were in random order still are, and the new pairs are as random as the old.
    fn halve(&mut self, mut coin: impl FnMut() -> bool, control: &Control) -> Result<()> {
        let half = self.right.len() / 2;
        let mut kept = vec![NOT_YET; half];
        let mut watch = Watch::new(control);
        for start in 0..half {
            if kept[start] != NOT_YET {
                continue;
            }
            let back = u32::from(coin());
            let mut edge = 2 * start as u32;
            while kept[edge as usize / 2] == NOT_YET {
                watch.step()?;
                kept[edge as usize / 2] = ((edge ^ back) & 1) as u8;
                let place = self.right[edge as usize];
                edge = self.left[(place ^ 1) as usize] ^ 1;
            }
        }
        for (pair, &kept) in kept.iter().enumerate() {
            self.right[pair] = self.right[2 * pair + kept as usize] / 2;
        }
        self.right.truncate(half);
        self.left.truncate(half);
        for (edge, &place) in self.right.iter().enumerate() {
            self.left[place as usize] = edge as u32;
        }
        control.check()
    }

    fn into_targets(self, degree: usize) -> Vec<u32> {
        let mut targets = self.right;
        for place in &mut targets {
            *place /= degree as u32;
        }
        targets
    }
}

/// Of a pair of edges, neither was come by yet.
const NOT_YET: u8 = 2;
