//! All assignments by closed walks, as published.

use rand::RngExt;
use rand_chacha::ChaCha20Rng;

use super::{Graph, Watch, shuffled};
use crate::control::Control;
use crate::error::Result;
use crate::rng::{Stream, Streams};

/// Extracts m disjoint assignments by closed walks. Quadratic at worst; in practice near to linear.
///
/// Algorithm 1 of Xue, Karras, Raïssi, Vaidya, Tan: "Anonymizing set-valued data by nonreciprocal recoding", KDD 2012, with
/// random picks. One assignment after another starts with everyone in their own place. A walk leaves a random node that no
/// cycle has covered, takes edges it has not taken yet, to nodes it has not visited where there are any, and ends where it
/// began; the nodes on its cycle change places.
pub fn closed_walk(graph: &Graph, streams: &Streams, control: &Control) -> Result<Vec<Vec<u32>>> {
    let mut targets = graph.targets_for(NEEDS)?;
    control.begin(targets.len() as u64);
    for round in 0..graph.m() {
        let mut rng = streams.generator(Stream::ClosedWalk, round as u32);
        extract(&mut targets, graph.m(), graph.m() - round, &mut rng, control)?;
        control.advance(graph.n() as u64)?;
    }
    Ok(graph.publish_columns(&targets))
}

/// Bytes for each node that an assignment takes while it is extracted.
const NEEDS: usize = 21;

/// Extracts an assignment from the first `degree` columns and swaps it into the last of these.
fn extract(targets: &mut [u32], m: usize, degree: usize, rng: &mut ChaCha20Rng, control: &Control) -> Result<()> {
    let n = targets.len() / m;
    let mut mates: Vec<u32> = (0..n as u32).collect();
    let mut covered = vec![false; n];
    // Walks are numbered from 1. The last walk that came to each node, and the last that left it together with how many of
    // its edges that one has taken. These are the first in its row.
    let mut visited = vec![0u32; n];
    let mut taken = vec![(0u32, 0u32); n];
    let mut watch = Watch::new(control);
    let mut walk = 0;
    for start in shuffled(n, rng) {
        if covered[start as usize] {
            continue;
        }
        walk += 1;
        let mut node = start;
        loop {
            watch.step()?;
            let edges = &mut taken[node as usize];
            if edges.0 != walk {
                *edges = (walk, 0);
            }
            // In and out of each node lead equally many edges, so there is one left wherever the walk has come in.
            let free = &mut targets[node as usize * m..][edges.1 as usize..degree];
            let next = pick(free, |next| visited[next as usize] == walk, rng);
            edges.1 += 1;
            visited[next as usize] = walk;
            if next == start {
                break;
            }
            node = mates[next as usize];
        }
        // The last edges taken make up the cycle; what was walked in between were deviations.
        node = start;
        loop {
            covered[node as usize] = true;
            let next = targets[node as usize * m + taken[node as usize].1 as usize - 1];
            let mate = std::mem::replace(&mut mates[next as usize], node);
            if next == start {
                break;
            }
            node = mate;
        }
    }
    settle(targets, m, degree, &mates);
    Ok(())
}

/// Picks a random edge to a node that was not visited, or if there is none, any edge, and puts it first.
fn pick(free: &mut [u32], visited: impl Fn(u32) -> bool, rng: &mut ChaCha20Rng) -> u32 {
    // Nodes found visited gather at the end.
    let mut left = free.len();
    while left > 0 {
        let i = rng.random_range(0..left as u32) as usize;
        if !visited(free[i]) {
            free.swap(0, i);
            return free[0];
        }
        left -= 1;
        free.swap(left, i);
    }
    let i = rng.random_range(0..free.len() as u32) as usize;
    free.swap(0, i);
    free[0]
}

/// Swaps a matching, given by the node that each target is matched with, into the last of `degree` columns.
pub(super) fn settle(targets: &mut [u32], m: usize, degree: usize, mates: &[u32]) {
    for (target, &node) in mates.iter().enumerate() {
        let row = &mut targets[node as usize * m..][..degree];
        if let Some(i) = row.iter().position(|&t| t == target as u32) {
            row.swap(i, degree - 1);
        }
    }
}
