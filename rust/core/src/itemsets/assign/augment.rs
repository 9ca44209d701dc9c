//! All assignments by random walks that each match one node more.

use rand::RngExt;
use rand_chacha::ChaCha20Rng;

use super::{AUGMENT, Graph, NONE, Watch, shuffled};
use crate::control::Control;
use crate::error::Result;
use crate::rng::Streams;

/// Extracts m disjoint assignments by random-walk augmentation. O(n·m·log n) expected.
///
/// Goel, Kapralov, Khanna: "Perfect matchings in O(n log n) time in regular bipartite graphs", STOC 2010.
pub fn augment(graph: &Graph, streams: &Streams, control: &Control) -> Result<Vec<Vec<u32>>> {
    let mut targets = graph.targets()?;
    all_matchings(&mut targets, graph.m(), &mut streams.generator(AUGMENT, 0), control)?;
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

/// Finds a perfect matching in the first `degree` of the `m` columns and swaps it into the last of these.
///
/// From an unmatched node a walk takes random edges to the right, and edges of the matching to the left, until it comes to
/// an unmatched node. The last edge by which it left each node makes a path without loops. Nodes start in random order:
/// on a ring, starting along the ring would make walks a thousand times longer.
pub(super) fn match_all(
    targets: &mut [u32],
    m: usize,
    degree: usize,
    rng: &mut ChaCha20Rng,
    control: &Control,
) -> Result<()> {
    let n = targets.len() / m;
    let mut mates = vec![NONE; n];
    let mut exits = vec![0u32; n];
    let mut watch = Watch::new(control);
    let last = degree - 1;
    for start in shuffled(n, rng) {
        let mut node = start;
        let mut exit = rng.random_range(0..degree as u32);
        loop {
            watch.step()?;
            exits[node as usize] = exit;
            let mate = mates[targets[node as usize * m + exit as usize] as usize];
            if mate == NONE {
                break;
            }
            node = mate;
            // The edge of the matching is in the last column: never back by it.
            exit = rng.random_range(0..last as u32);
        }
        node = start;
        while node != NONE {
            let row = &mut targets[node as usize * m..][..degree];
            row.swap(exits[node as usize] as usize, last);
            node = std::mem::replace(&mut mates[row[last] as usize], node);
        }
    }
    Ok(())
}
