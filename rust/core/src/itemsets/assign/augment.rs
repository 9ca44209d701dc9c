//! All assignments by random walks that each match one node more.

use rand::RngExt;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha20Rng;

use super::{Graph, NONE, Watch};
use crate::control::Control;
use crate::error::Result;
use crate::rng::{Stream, Streams};

/// Extracts m disjoint assignments by random-walk augmentation. O(n·m·log n) expected.
///
/// Goel, Kapralov, Khanna: "Perfect matchings in O(n log n) time in regular bipartite graphs", STOC 2010.
pub fn augment(graph: &Graph, streams: &Streams, control: &Control) -> Result<Vec<Vec<u32>>> {
    let mut targets = graph.targets_for(NEEDS)?;
    all_matchings(&mut targets, graph.m(), &mut streams.generator(Stream::Augment, 0), control)?;
    Ok(graph.publish_columns(&targets))
}

/// Puts the edges of each node into such an order that every column is a perfect matching.
pub(in crate::itemsets) fn all_matchings(
    targets: &mut [u32],
    m: usize,
    rng: &mut ChaCha20Rng,
    control: &Control,
) -> Result<()> {
    control.begin(targets.len() as u64);
    // At degree 1 what is left is a matching.
    for degree in (2..=m).rev() {
        match_all(targets, m, degree, rng, control)?;
        control.advance((targets.len() / m) as u64)?;
    }
    Ok(())
}

/// Bytes for each node, at most, that a matching takes beside the edges: mates, exits, and nodes left over.
pub(in crate::itemsets) const NEEDS: usize = 20;

/// Longest walk of the first pass.
const FIRST: u64 = 32;

/// Finds a perfect matching in the first `degree` of the `m` columns and swaps it into the last of these.
///
/// From an unmatched node a walk takes random edges to the right, and edges of the matching to the left, until it comes to
/// an unmatched node. The last edge by which it left each node makes a path without loops. However the matching so far came
/// about, a walk from a random one of u unmatched nodes takes O(n/u) steps on average. So all but a few percent of the nodes are
/// first matched in turn, by walks that are short and near each other in memory; the rest start in random order, for in turn walks
/// on a ring would be a thousand times longer.
pub(super) fn match_all(
    targets: &mut [u32],
    m: usize,
    degree: usize,
    rng: &mut ChaCha20Rng,
    control: &Control,
) -> Result<()> {
    let n = targets.len() / m;
    let mut matching =
        Matching { targets, m, degree, mates: vec![NONE; n], exits: vec![0u32; n], watch: Watch::new(control) };
    let mut rest = Vec::new();
    for start in 0..n as u32 {
        if !matching.extend(start, FIRST, rng)? {
            rest.push(start);
        }
    }
    rest.shuffle(rng);
    for start in rest {
        matching.extend(start, u64::MAX, rng)?;
    }
    Ok(())
}

/// A matching; the edges that are in it are in the last of `degree` columns.
struct Matching<'a> {
    targets: &'a mut [u32],
    m: usize,
    degree: usize,
    /// The node that each target is matched with.
    mates: Vec<u32>,
    /// The column by which the walk has last left each node.
    exits: Vec<u32>,
    watch: Watch<'a>,
}

impl Matching<'_> {
    /// Matches a node by a walk of at most so many steps, and says whether it did.
    fn extend(&mut self, start: u32, steps: u64, rng: &mut ChaCha20Rng) -> Result<bool> {
        let last = self.degree - 1;
        let (mut node, mut left) = (start, steps);
        let mut exit = rng.random_range(0..self.degree as u32);
        loop {
            self.watch.step()?;
            self.exits[node as usize] = exit;
            let mate = self.mates[self.targets[node as usize * self.m + exit as usize] as usize];
            if mate == NONE {
                break;
            }
            left -= 1;
            if left == 0 {
                return Ok(false);
            }
            node = mate;
            // Never back by the edge of the matching.
            exit = rng.random_range(0..last as u32);
        }
        node = start;
        while node != NONE {
            let row = &mut self.targets[node as usize * self.m..][..self.degree];
            row.swap(self.exits[node as usize] as usize, last);
            node = std::mem::replace(&mut self.mates[row[last] as usize], node);
        }
        Ok(true)
    }
}
