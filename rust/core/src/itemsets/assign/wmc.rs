//! All assignments by walks that go back at dead ends: the baseline.

use rand::RngExt;
use rand_chacha::ChaCha20Rng;

use super::closed_walk::settle;
use super::{Graph, Watch, shuffled};
use crate::control::Control;
use crate::error::Result;
use crate::rng::{Stream, Streams};

/// Extracts m disjoint assignments by random walks with backtracking. O(n²·m²) at worst.
///
/// Wong, Mamoulis, Cheung: "Non-homogeneous generalization in privacy preserving data publishing", SIGMOD 2010, as the paper of
/// [`super::closed_walk`] describes it. A walk never visits a node twice; where all next nodes were visited it goes back one step and
/// tries another edge.
pub fn wmc(graph: &Graph, streams: &Streams, control: &Control) -> Result<Vec<Vec<u32>>> {
    let mut targets = graph.targets_for(NEEDS)?;
    control.begin(targets.len() as u64);
    for round in 0..graph.m() {
        let mut rng = streams.generator(Stream::Wmc, round as u32);
        extract(&mut targets, graph.m(), graph.m() - round, &mut rng, control)?;
        control.advance(graph.n() as u64)?;
    }
    Ok(graph.publish_columns(&targets))
}

/// Bytes for each node, at most, that an assignment takes while it is extracted; most of them for the path.
const NEEDS: usize = 41;

/// Extracts an assignment from the first `degree` columns and swaps it into the last of these.
fn extract(targets: &mut [u32], m: usize, degree: usize, rng: &mut ChaCha20Rng, control: &Control) -> Result<()> {
    let n = targets.len() / m;
    let mut mates: Vec<u32> = (0..n as u32).collect();
    let mut covered = vec![false; n];
    let mut visited = vec![0u32; n];
    // How many edges of each node on the walk are still to be tried. These are the first in its row.
    let mut untried = vec![0u32; n];
    let mut path: Vec<(u32, u32)> = Vec::new();
    let mut watch = Watch::new(control);
    let mut walk = 0;
    for start in shuffled(n, rng) {
        if covered[start as usize] {
            continue;
        }
        walk += 1;
        let mut node = start;
        untried[node as usize] = degree as u32;
        path.clear();
        loop {
            watch.step()?;
            let left = &mut untried[node as usize];
            if *left == 0 {
                // A dead end. Nodes that have led to one stay visited: whatever they could reach is reached from the walk.
                // The start is no dead end, since edges into what the walk can reach are as many as edges out of it.
                node = path.pop().map_or(start, |(before, _)| before);
                continue;
            }
            let row = &mut targets[node as usize * m..][..degree];
            let i = rng.random_range(0..*left);
            *left -= 1;
            row.swap(i as usize, *left as usize);
            let next = row[*left as usize];
            if std::mem::replace(&mut visited[next as usize], walk) == walk {
                continue;
            }
            path.push((node, next));
            if next == start {
                break;
            }
            node = mates[next as usize];
            untried[node as usize] = degree as u32;
        }
        for &(node, next) in &path {
            covered[node as usize] = true;
            mates[next as usize] = node;
        }
    }
    settle(targets, m, degree, &mates);
    Ok(())
}
